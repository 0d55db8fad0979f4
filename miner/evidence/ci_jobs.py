"""The jobs of CI files as values: their commands, Pythons, variables and services. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness.quality import sensitive
from miner.evidence import ci_services, shell
from miner.evidence.ci_services import DeclaredService
from miner.evidence.shell import followed
from miner.evidence.tree import Tree
from miner.evidence.yamlfile import mapping, sequence, strings, walk

_EXPRESSION = re.compile(r"\$|\{\{")
_SECRET = re.compile(r"secret|token|password|passwd|api_?key|credential|_pwd$|_pass$", re.IGNORECASE)
_NO_VALUE = re.compile(r"\$|\{\{|secret|token|password|api_?key", re.IGNORECASE)
_NAME = re.compile(r"[A-Z][A-Z0-9_]{1,60}$")
_OF_TOOLS = re.compile(
    r"(?:PIP|UV|TOX|COVERAGE|CODECOV|COVERALLS|TWINE|CI|GITHUB|TRAVIS|CACHE|POETRY|PYTHON)_?|PATH$|LD_"
)
_OF_RUNS = re.compile(
    r"(?:COV|PYTEST|PY|VIRTUAL|GOLDSEAM|SETUPTOOLS|PRE_COMMIT|NOX|CONDA|MAMBA|ACTIONS|RUNNER|AZURE|CIRCLE|APPVEYOR)(?:_|$)"
    r"|(?:HOME|USER|LOGNAME|TMPDIR|TZ|LANG|LANGUAGE|LC_[A-Z]+|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|DISPLAY|TERM|COLUMNS)$"
    r"|(?:FORCE_COLOR|NO_COLOR|PY_COLORS|CLICOLOR[A-Z_]*|SKIP|BROWSER|DOCKER_[A-Z_]+|CIBW_[A-Z_]+)$"
)
"""What a run of a task sets itself, or what is about installing, measuring and reporting."""
_WORD = re.compile(r"[A-Za-z_-]{0,32}\d{0,4}$")
"""A word that somebody thought of, and no key."""
_ADDRESS = re.compile(r"[\w+.-]+://[^/\s]*@(?P<host>[^/\s:@?]*)")
_HERE = re.compile(r"localhost$|127\.|0\.0\.0\.0$|\[?::1\]?$|$")
_MINOR = re.compile(r"(?<![\d.])3\.(\d{1,2})(?:\.\d+)?(?![\d-])(?!\.?x?-(?:dev|alpha|beta|rc))")
_TOX_MINOR = re.compile(r"\b(?:py|python)-?3(\d{1,2})\b")
_PYTHON_PATH = re.compile(r"[Pp]ython3(\d{1,2})\b")
_RUNNERS = frozenset({"pytest", "py.test", "tox", "nox", "nosetests", "nosetests3", "trial", "stestr", "green", "ward"})
_MODULES = frozenset({"pytest", "unittest", "tox", "nox", "nose", "twisted.trial", "stestr"})
_NODE_RUNNERS = "mocha|_mocha|jest|vitest|ava|tap|tape|jasmine|uvu|qunit|lab"
_OF_NODE = re.compile(rf"t|tst|(?:[\w:=-]*[:=-])?tests?(?:[:-]\S*)?|{_NODE_RUNNERS}")
_OF_MAVEN = re.compile(r"(?:\S*:)?(?:test|verify|integration-test|package|install)")
_OF_GRADLE = re.compile(r"(?:\S*:)?(?:test|check|build|[a-z]\w*Tests?)")
_GOALS = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "npx", "pnpx", "bunx", "lerna", "nx", "turbo", "nyc", "c8"), _OF_NODE),
    "node": re.compile(rf"--test|(?:\S*/)?tests?(?:/\S*|\.[cm]?js)?|\S*/(?:{_NODE_RUNNERS})(?:\.[cm]?js)?"),
    **dict.fromkeys(("go", "richgo"), re.compile("test")),
    **dict.fromkeys(("mvn", "mvnw", "mvnd"), _OF_MAVEN),
    **dict.fromkeys(("gradle", "gradlew"), _OF_GRADLE),
    **dict.fromkeys(("cargo", "cross"), re.compile("test|nextest")),
}
"""What tools of other languages are asked for where they run tests."""
_RUNS_ALONE = frozenset({*_NODE_RUNNERS.split("|"), "gotestsum", "ginkgo"})
_NO_GOALS = frozenset({"i", "install", "add", "remove", "config", "publish", "cache", "get", "uninstall"})
_SKIPS_TESTS = re.compile(
    r"(?:^|.* )(?:-D(?:skipTests|maven\.test\.skip)(?:=true)?|(?:-x|--exclude-task) (?:\S*:)?test)(?: |$)"
)
_PLACES = 12
_OF_TRAVIS = {"node_js": "npm test", "go": "go test", "java": "mvn test", "rust": "cargo test"}
"""What Travis runs by language, where a file names no script (its documentation of each language)."""
WORKFLOWS = re.compile(r"\.github/workflows/[^/]+\.ya?ml|\.travis\.yml|\.circleci/config\.yml|\.gitlab-ci\.yml")
"""The files of CI that say which version of a language tests run on."""
_SCRIPT_KEYS = frozenset(
    {"script", "before_script", "install", "before_install", "before_test", "test_script", "build_script", "run",
     "command", "bash", "before_tests", "after_install", "steps"}
)  # fmt: skip
_VERSION_KEYS = frozenset(
    {"python", "python-version", "python_version", "python.version", "pythonversion", "py", "pyversion", "versionspec",
     "toxenv", "tox_env", "tox-env", "tox", "image", "uv_python", "python-versions", "version", "nox-session"}
)  # fmt: skip
_ENV_KEYS = frozenset({"env", "environment", "variables", "global"})
_LONGEST_VALUE = 200
_OTHER_SYSTEMS = re.compile(r"windows|macos|osx", re.IGNORECASE)


@dataclass(kw_only=True)
class Variables:
    """Variables of a file in which one name may have several values, as for the jobs of a matrix."""

    last: dict[str, Any] = field(default_factory=dict)
    _values: dict[str, set[str]] = field(default_factory=dict)

    def add(self, more: Mapping[str, Any]) -> None:
        """What one place of the file sets."""
        self.last |= more
        for name, value in more.items():
            self._values.setdefault(name, set()).add(str(value))

    @property
    def certain(self) -> dict[str, Any]:
        """Those with one value."""
        return {name: value for name, value in self.last.items() if len(self._values[name]) == 1}


def for_record(variables: Mapping[str, Any]) -> dict[str, str]:
    """Literal variables; none that is a secret, an expression, or a setting of a tool."""
    return {name: text for name, text in _usual(variables).items() if not _NO_VALUE.search(f"{name} {text}")}


def literal(
    variables: Mapping[str, Any], services: Iterable[DeclaredService] = (), *, secrets: bool = False
) -> dict[str, str]:
    """What tests may be given: literal variables that are about what is tested.

    A password passes where it is a word, or one that a service of the same file has: such a service is reached by
    nobody else. What looks like a real key, or opens something elsewhere, never does. With `secrets`, that is left to
    whoever asks again.
    """
    beside = tuple(services)
    theirs = {value for service in beside for value in service.env.values()}
    hosts = {host for service in beside for host in (service.name, *service.hosts)}
    return {
        name: text
        for name, text in _usual(variables).items()
        if not _OF_RUNS.match(name)
        and not _EXPRESSION.search(text)
        and (secrets or _is_open(name, text, theirs, hosts))
    }


def _is_open(name: str, text: str, theirs: set[str], hosts: set[str]) -> bool:
    """Whether a value may be known to whoever knows the repository."""
    elsewhere = any(not _HERE.match(match["host"]) and match["host"] not in hosts for match in _ADDRESS.finditer(text))
    if elsewhere or any(find.kind not in {"basic_auth_credentials", sensitive.EMAIL} for find in sensitive.find(text)):
        return False
    return not _SECRET.search(name) or text in theirs or bool(_WORD.match(text) or _ADDRESS.match(text))


def _usual(variables: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: text
        for name, text in variables.items()
        if isinstance(text, str)
        and isinstance(name, str)
        and _NAME.match(name)
        and not _OF_TOOLS.match(name)
        and len(text) <= _LONGEST_VALUE
        and "\n" not in text
    }


@dataclass(frozen=True, kw_only=True)
class CiJob:
    """One job of a CI file."""

    name: str = ""
    scripts: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    """Minor versions, such as `3.9`."""
    apt: tuple[str, ...] = ()
    services: tuple[DeclaredService, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    """What may stand in a record: nothing that holds a secret or an expression."""
    variables: dict[str, str] = field(default_factory=dict)
    """What its tests may be given."""

    def commands(self, tree: Tree) -> list[tuple[str, ...]]:
        """Its commands, and those of the make targets and scripts of the repository that it calls."""
        return followed(tree, (words for script in self.scripts for words in shell.commands(script)))

    def runs_tests(self, tree: Tree, is_run: Callable[[tuple[str, ...]], bool]) -> bool:
        """Whether one of its commands is a test runner's, as `is_run` knows them."""
        return any(is_run(words) for words in self.commands(tree))

    def weight(self, path: str) -> tuple[int, int, int]:
        """What decides between several jobs that run tests: how sure it is the main one."""
        name = f"{path.rpartition('/')[2]} {self.name}".lower()
        sure = bool(re.search(r"test|unit|\bci\b|build|check", name))
        other = bool(re.search(r"doc|lint|min|nightly|upstream|downstream|bench|release|publish|style|cov|slow", name))
        return sure - other, len(self.pythons), -len(name)


def is_test_run(words: tuple[str, ...]) -> bool:
    """Whether a command runs Python's tests, by itself or through a tool that runs others."""
    names = [word.rpartition("/")[2] for word in words[:8]]
    if any(name in _RUNNERS for name in names[:4]) or names[:1] == ["runtests.py"]:
        return names[0] not in {"pip", "pip3", "echo", "apt-get", "conda", "which"} and "install" not in names
    for place, word in enumerate(words[:-1]):
        if word == "-m" and words[place + 1] in _MODULES:
            return True
    if any(name in {"manage.py", "setup.py", "runtests.py", "quicktest.py", "test.py"} for name in names[:3]):
        return "test" in words or any("test" in name for name in names[:3] if name != "setup.py")
    return (names[0] in {"make", "hatch", "pdm", "just", "invoke"} and any("test" in name for name in names[1:4])) or (
        names[:2] == ["coverage", "run"] and len(names) > 2  # noqa: PLR2004 - it runs something
    )


def is_test_run_elsewhere(words: tuple[str, ...]) -> bool:
    """Whether a command runs the tests of JavaScript, Go, Java or Rust."""
    names = [word.rpartition("/")[2] for word in words[:4]]
    if names[0] in _RUNS_ALONE:
        return True
    place = next((place for place, name in enumerate(names) if name in _GOALS), None)
    if place is None or names[0] in {"echo", "which"}:
        return False
    goals, rest = _GOALS[names[place]], words[place + 1 : place + _PLACES]
    verb = next((word for word in rest if not word.startswith(("-", "+"))), "")
    is_other = goals is not _OF_MAVEN and verb in _NO_GOALS
    return not (is_other or _SKIPS_TESTS.match(" ".join(words))) and any(map(goals.fullmatch, rest))


def github(document: Any) -> list[CiJob]:
    """The jobs of a GitHub Actions workflow; reusable ones (`uses`) say nothing."""
    top = mapping(document)
    jobs = []
    for name, raw in mapping(top.get("jobs")).items():
        job = mapping(raw)
        if not job or _only_elsewhere(job.get("runs-on")):
            continue
        steps = [mapping(step) for step in sequence(job.get("steps"))]
        steps_here = [step for step in steps if not _only_elsewhere(step.get("if"))]
        pythons = [*_pythons({"matrix": mapping(job.get("strategy")).get("matrix")}, anywhere=True)]
        pythons += [minor for step in steps_here for minor in _pythons(step.get("with"))]
        contexts = ci_services.contexts(top, job)
        services = ci_services.github(job, contexts)
        env = _of_steps([top, job, *steps_here])
        fields = {name: ci_services.resolved(text, contexts, services) for name, text in env.items()}
        packages = [
            package
            for step in steps_here
            if "apt" in str(step.get("uses"))
            for package in str(mapping(step.get("with")).get("packages", "")).split()
        ]
        jobs.append(
            CiJob(
                name=f"{name} {job.get('name', '')}",
                scripts=tuple(
                    ci_services.with_packages(script, contexts)
                    for step in steps_here
                    for script in strings(step.get("run"))
                ),
                pythons=tuple(dict.fromkeys(pythons)),
                apt=tuple(packages),
                services=services,
                env=for_record(env),
                variables=literal(fields, services),
            )
        )
    return jobs


def _of_steps(steps: Sequence[Any]) -> dict[str, Any]:
    """The variables of a workflow, its job and its steps; of several values, that of the step that runs tests."""
    runs = [(step, list(shell.commands(str(step.get("run", ""))))) for step in steps]
    testing = [step for step, commands in runs if any(map(is_test_run, commands))]
    testing = testing or [step for step, commands in runs if any(map(is_test_run_elsewhere, commands))]
    env: dict[str, Any] = {}
    for step in (*steps, *testing):
        env |= mapping(step.get("env"))
    return env


def gitlab(document: Any) -> list[CiJob]:
    """The jobs of a GitLab pipeline, with what it sets for all of them."""
    top = mapping(document)
    default = mapping(top.get("default"))
    shared = {key: top.get(key, default.get(key)) for key in ("before_script", "image", "services", "variables")}
    jobs = {name: mapping(raw) for name, raw in top.items() if "script" in mapping(raw)}
    for name, job in jobs.items():
        for parent in strings(job.get("extends"))[:3]:
            jobs[name] = {**mapping(top.get(parent)), **jobs[name]}
    jobs_found = []
    for name, job in jobs.items():
        whole_job = {**{key: value for key, value in shared.items() if value}, **job}
        variables = {**mapping(shared["variables"]), **mapping(job.get("variables"))}
        services = ci_services.gitlab(whole_job.get("services"), literal(variables, secrets=True))
        read = replace(_any(whole_job, name), services=services, variables=literal(variables, services))
        jobs_found += [read] if read.scripts else []
    return jobs_found


def circle(document: Any) -> list[CiJob]:
    """The jobs of a CircleCI configuration; commands shared by several are put into each."""
    top = mapping(document)
    shared = _any(top.get("commands"), "").scripts
    matrix = tuple(_pythons(top.get("workflows"), anywhere=True))
    jobs = []
    for name, raw in mapping(top.get("jobs")).items():
        job = _any(raw, name)
        executor = mapping(mapping(top.get("executors")).get(str(mapping(raw).get("executor"))))
        images = sequence(mapping(raw).get("docker")) or sequence(executor.get("docker"))
        services = ci_services.circle(images)
        env = {**mapping(mapping(sequence(images)[0] if images else {}).get("environment")),
               **mapping(mapping(raw).get("environment"))}  # fmt: skip
        jobs.append(
            CiJob(
                name=job.name,
                scripts=(*shared, *job.scripts),
                pythons=tuple(dict.fromkeys((*job.pythons, *matrix))),
                services=services,
                env=job.env,
                variables=literal(env, services),
            )
        )
    return jobs


def azure(document: Any) -> list[CiJob]:
    """A pipeline as one job, whatever its stages."""
    return [_with_services(_any(document, ""), ci_services.azure(document))]


def travis(document: Any) -> list[CiJob]:
    """A file as one job, whatever its stages."""
    job = _any(document, "")
    top = mapping(document)
    default = "" if "script" in top else _OF_TRAVIS.get(str(top.get("language")), "")
    job = replace(job, scripts=(*job.scripts, default)) if default else job
    return [_with_services(job, ci_services.travis(document))]


def whole(document: Any) -> list[CiJob]:
    """A file as one job, without what it has beside it."""
    return [_any(document, "")]


def _with_services(job: CiJob, services: tuple[DeclaredService, ...]) -> CiJob:
    return replace(job, services=services, variables=literal(job.variables, services))


def _any(document: Any, name: str) -> CiJob:
    """Everything in a document that looks like a script, a Python, a service or a variable, by its key."""
    scripts: list[str] = []
    packages: list[str] = []
    env = Variables()
    for keys, node in walk(document):
        last = keys[-1].lower() if keys else ""
        if isinstance(node, dict) and last in _ENV_KEYS:
            env.add(mapping(node))
        if not isinstance(node, str):
            continue
        if last in _SCRIPT_KEYS:
            scripts.append(node)
        elif last in {"packages", "apt_packages"} and "apt" in "".join(keys):
            packages.append(node)
        elif last in _ENV_KEYS:
            env.add(dict(pair.split("=", 1) for pair in node.split() if "=" in pair))
    return CiJob(
        name=name,
        scripts=tuple(scripts),
        pythons=tuple(dict.fromkeys(_pythons(document, anywhere=True))),
        apt=tuple(packages),
        env=for_record(env.last),
        variables=literal(env.certain, secrets=True),
    )


def _pythons(document: Any, *, anywhere: bool = False) -> Iterator[str]:
    """The minor versions of Python 3 that stand under keys which name a Python, in order."""
    for keys, node in walk(document):
        if not isinstance(node, str) or len(node) > _LONGEST_VALUE or "exclude" in keys:
            continue
        last = keys[-1].lower() if keys else ""
        if last == "image" and "python" not in node and "conda" not in node:
            continue
        is_version = last in _VERSION_KEYS or "py" in last
        if is_version:
            yield from (f"3.{minor}" for minor in _MINOR.findall(node))
        if is_version or (anywhere and ("env" in "".join(keys).lower() or "tox" in node.lower())):
            yield from (f"3.{minor}" for minor in _TOX_MINOR.findall(node))
            yield from (f"3.{minor}" for minor in _PYTHON_PATH.findall(node))


def _only_elsewhere(value: Any) -> bool:
    """Whether a condition or a machine's name is of another system than Linux alone."""
    text = value if isinstance(value, str) else ""
    return bool(_OTHER_SYSTEMS.search(text)) and not re.search(r"ubuntu|linux|!=|matrix\.os\s*}", text, re.IGNORECASE)
