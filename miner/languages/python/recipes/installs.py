"""What commands install: pip, uv, poetry, pdm, pipenv, hatch, conda and apt, read and never run. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from packaging.requirements import InvalidRequirement, Requirement

from miner.evidence.tree import Evidence, Tree
from miner.languages.python.evidence import conda, extras
from miner.languages.python.evidence.metadata import pyproject, table

_PIP = re.compile(r"(?:.*/)?(?:pip|pip3|pip3?\.\d+|python\d?(?:\.\d+)?|py)(?:\.exe)?$|\$\{?\w*(?:PIP|PYTHON)\}?$")
_PIP_OPTIONS_WITH_VALUE = frozenset(
    {"-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-t", "--target", "--python", "-p", "--prefix",
     "--progress-bar", "--cache-dir", "--only-binary", "--no-binary", "--config-settings", "-C", "--src", "--retries",
     "--timeout", "--trusted-host", "--upgrade-strategy", "--implementation", "--platform", "--python-version",
     "--root", "--log", "--proxy", "--cert", "--global-option", "--install-option", "--resolution", "--torch-backend"}
)  # fmt: skip
_INSTALLERS = frozenset(
    {"pip", "setuptools", "wheel", "uv", "poetry", "pdm", "hatch", "pipenv", "tox", "tox-gh-actions", "tox-uv", "nox",
     "virtualenv", "codecov", "coveralls", "twine", "build", "pre-commit", "flit", "pipx", "tox-travis", "awscli",
     "codacy-coverage", "codeclimate-test-reporter", "python-coveralls", "tox-venv", "tox-gh", "conda", "certifi",
     "black", "flake8", "isort", "mypy", "pylint", "ruff", "sphinx", "bandit", "safety", "sphinx-rtd-theme",
     "sphinx_rtd_theme", "install", "requirements", "pytest-github-actions-annotate-failures"}
)  # fmt: skip
"""Tools of the workflow itself, no test needs them unless another kind of evidence says so."""
_APT_WITHOUT_MEANING = re.compile(
    r"^(?:python[\d.]*(?:-.+)?|pypy.*|tox|podman|msttcorefonts|ttf-mscorefonts.*|netcat.*|git|curl|wget|sudo|apt-utils|"
    r"software-properties-common|build-essential|ca-certificates|apt-transport-https|gnupg\d?|lsb-release|make|gcc|g\+\+|"
    r"linux-headers.*|docker.*|openssh-client|locales|xvfb|google-chrome.*|chromium.*|firefox.*|virtualbox.*|snapd)$"
)
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+$")


@dataclass(kw_only=True)
class Installed:
    """What a list of commands installs."""

    requirements: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    extras: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    apt: list[str] = field(default_factory=list)
    has_default_groups: bool = False
    """Whether uv installs the project's default groups."""

    def evidence(self, rung: str, tree: Tree, project_tree: Tree) -> Evidence | None:
        """What of it is there, each once: files of a tree, extras and groups of its project; None where nothing is."""
        extra_names = extras.declared(project_tree)
        groups = tuple(table(pyproject(project_tree), "dependency-groups"))
        evidence = Evidence(
            rung=rung,
            requirements=tuple(dict.fromkeys(self.requirements)),
            files=tuple(dict.fromkeys(path for path in self.files if tree.read(path) is not None)),
            constraints=tuple(dict.fromkeys(path for path in self.constraints if tree.read(path) is not None)),
            extras=tuple(dict.fromkeys(extra for extra in self.extras if not extra_names or extra in extra_names)),
            groups=tuple(dict.fromkeys(group for group in self.groups if group in groups)),
        )
        is_empty = not (evidence.requirements or evidence.files or evidence.extras or evidence.groups)
        return None if is_empty else evidence


def read(commands: Iterable[tuple[str, ...]]) -> Installed:
    """Everything that these commands install; words that hold a variable are left out."""
    installed = Installed()
    for words in commands:
        _command(words, installed)
    return installed


def _command(words: tuple[str, ...], installed: Installed) -> None:
    tool = words[0].rpartition("/")[2]
    if tool in {"uv", "uvx"}:
        _uv(words[1:], installed)
    elif tool in {"poetry", "pdm"}:
        _poetry(words[1:], installed)
    elif tool in {"apt-get", "apt", "aptitude"}:
        _apt(words[1:], installed)
    elif tool in {"conda", "mamba", "micromamba"}:
        _conda(words[1:], installed)
    elif _PIP.match(words[0]):
        rest = words[1:]
        if rest[:2] in {("-m", "pip"), ("-m", "uv")}:
            rest = rest[2:]
            if words[2] == "uv":
                _uv(rest, installed)
                return
        elif tool.startswith("py") and "pip" not in tool:
            return
        _pip(rest, installed)


def _pip(words: tuple[str, ...], installed: Installed) -> None:
    plain = [word for word in words if not word.startswith("-")]
    if not plain or plain[0] != "install":
        return
    rest = iter(words[words.index("install") + 1 :])
    for word in rest:
        name, _, argument = word.partition("=")
        if word in {"-r", "--requirement", "--requirements", "-c", "--constraint", "--group"}:
            _option(word, next(rest, ""), installed)
        elif word in {"-e", "--editable"}:
            _target(next(rest, ""), installed)
        elif word in _PIP_OPTIONS_WITH_VALUE:
            next(rest, "")
        elif name in {"--requirement", "--constraint", "--group", "--editable"}:
            _target(argument, installed) if name == "--editable" else _option(name, argument, installed)
        elif word[:2] in {"-r", "-c", "-e"} and not word.startswith("--"):
            _target(word[2:], installed) if word[1] == "e" else _option(word[:2], word[2:], installed)
        elif not word.startswith("-"):
            _target(word, installed)


def _option(name: str, value: str, installed: Installed) -> None:
    if not _is_plain(value):
        return
    if name == "--group":
        installed.groups.append(value.rpartition(":")[2])
    elif name in {"-c", "--constraint"}:
        installed.constraints.append(_path(value))
    else:
        installed.files.append(_path(value))


def _path(value: str) -> str:
    return re.sub(r"^(?:\./|\$\{?(?:PWD|CI_PROJECT_DIR|TRAVIS_BUILD_DIR|GITHUB_WORKSPACE)\}?/)", "", value)


def _target(word: str, installed: Installed) -> None:
    """One thing that pip is told to install: the project with extras, or a requirement."""
    project = re.match(r"(?:\.|\.\.|(?:\./|file:)[^\[]*|[\w./-]*)?(?:\[([^\]]*)\])?$", word)
    if word.startswith((".", "file:")) or (project and "/" in word.partition("[")[0] and "://" not in word):
        if project and project[1]:
            installed.extras += [extra.strip() for extra in project[1].split(",") if _is_plain(extra.strip())]
        return
    if not _is_plain(word) or word.endswith((".whl", ".tar.gz", ".zip")):
        return
    try:
        requirement = Requirement(word)
    except InvalidRequirement:
        return
    if requirement.name.lower() not in _INSTALLERS and not requirement.name.lower().startswith("tox"):
        installed.requirements.append(word)


def _is_plain(word: str) -> bool:
    return bool(word) and not re.search(r"[$`*?%]|\{\{|<[A-Za-z]", word)


def _uv(words: tuple[str, ...], installed: Installed) -> None:
    if words[:1] == ("pip",):
        _pip(words[1:], installed)
    elif words and words[0] in {"sync", "run"}:
        _flags(words[1:], installed, {"--extra": "extras", "--group": "groups", "--with": "requirements"})
        installed.has_default_groups |= _WITHOUT_DEFAULTS.isdisjoint(word.partition("=")[0] for word in words)


_WITHOUT_DEFAULTS = frozenset({"--no-default-groups", "--no-dev", "--only-dev", "--only-group", "--no-project"})


def _poetry(words: tuple[str, ...], installed: Installed) -> None:
    if words and words[0] in {"install", "sync"}:
        flags = {"--extras": "extras", "-E": "extras", "--with": "groups", "-G": "groups", "--group": "groups",
                 "--only": "groups"}  # fmt: skip
        _flags(words[1:], installed, flags)


def _flags(words: tuple[str, ...], installed: Installed, targets: dict[str, str]) -> None:
    rest = iter(words)
    for option in rest:
        name, equals, argument = option.partition("=")
        if name in targets:
            value = argument if equals else next(rest, "")
            if targets[name] == "requirements":
                _target(value, installed)
            else:
                names = [word for word in re.split(r"[,\s]+", value.lstrip(":")) if _is_plain(word)]
                getattr(installed, targets[name]).extend(names)
        elif not name.startswith("-"):
            return  # a program, whose options are its own


def _apt(words: tuple[str, ...], installed: Installed) -> None:
    if "install" not in words:
        return
    for word in words[words.index("install") + 1 :]:
        name = word.partition("=")[0].partition(":")[0]
        if _PACKAGE.match(name) and not _APT_WITHOUT_MEANING.match(name):
            installed.apt.append(name)


def _conda(words: tuple[str, ...], installed: Installed) -> None:
    if not words or words[0] not in {"install", "create"}:
        return
    rest = iter(words[1:])
    for word in rest:
        if word in {"-n", "--name", "-c", "--channel", "-p", "--prefix", "--file", "-f"}:
            value = next(rest, "")
            if word == "--file":
                _option("-r", value, installed)
        elif not word.startswith("-") and _is_plain(word) and (requirement := conda.requirement(word)):
            installed.requirements.append(requirement)
