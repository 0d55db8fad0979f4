"""What a user can set once: goldseam.toml, over it GOLDSEAM_* variables, over both the flags of a command."""

from __future__ import annotations

import fnmatch
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, ValidationInfo, field_validator

from harness.analysis.gate.config import GateRules, parse
from harness.config import ChosenFile
from harness.core import files, wording
from harness.core.errors import InputError
from harness.core.instance import PLACEHOLDER
from harness.core.records import StrictRecord
from harness.core.wording import did_you_mean, nearest
from harness.dataset.policy import Policy, parse_policy

SETTINGS_FILE = "goldseam.toml"
_PLATFORM = re.compile(r"linux/[a-z0-9_]+(/[a-z0-9.]+)?")
_REPOSITORY = re.compile(r"[A-Za-z0-9.-]+(:[0-9]+)?(/[a-z0-9]+((\.|__?|-+)[a-z0-9]+)*)+")
"""A repository with its registry's host: docs.docker.com, and `reference` of the distribution project."""

_HOST = re.compile(r"(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?|\[[0-9A-Fa-f:]+\]:[0-9]{1,5}")
_HEADER = re.compile(r"\s*\[([^\[\]]+)\]\s*(#.*)?$")
_KEY = re.compile(r"\s*([\w.\-\"']+)\s*=")


_TOOLCHAINS = {
    "pythons": ("Python", ".*", "", ("python{}",)),
    "nodes": ("Node", ".*", "", ("node",)),
    "gos": ("Go", ".*", "", ("go",)),
    "jdks": ("JDK", r"\d+", "a major version such as 21", ("javac",)),
    "gradles": ("Gradle", r"\d+(\.\d+)+(-[\w-]+)?", "a version such as 8.5", ("gradle",)),
    "rusts": ("Rust", r"1\.\d+", "a version such as 1.85", ("rustc", "cargo")),
}
"""By setting: a toolchain, the form of its versions, one of these, and the programs in its `bin`."""


class ImageSettings(StrictRecord):
    """`[images]`: how task images are built."""

    base: str | None = None
    """Image to start from, such as one of a company registry; None means Debian's own, see miner/layers/base.py."""
    platform: str | None = None
    """`os/architecture[/variant]` of images to build, such as `linux/arm64`; None means the base's own."""
    pythons: dict[str, Path] = Field(default_factory=dict)
    """Interpreters of this machine that may be copied into images: minor version to installation folder."""
    python_downloads: bool = True
    """May uv download an interpreter that neither the base nor `pythons` has?"""
    nodes: dict[str, Path] = Field(default_factory=dict)
    """Installations of Node of this machine that may be copied into images: major version to folder; npm's others."""
    gos: dict[str, Path] = Field(default_factory=dict)
    """Installations of Go of this machine that may be copied into images: minor version to folder; the module proxy's
    others."""
    jdks: dict[str, Path] = Field(default_factory=dict)
    """JDKs of this machine that may be copied into images: major version to folder; Debian has others."""
    gradles: dict[str, Path] = Field(default_factory=dict)
    """Gradle's distributions of this machine that may be copied into images: version to folder; the wrapper's and
    Debian's others."""
    rusts: dict[str, Path] = Field(default_factory=dict)
    """Toolchains of Rust of this machine that may be copied into images: minor version to folder; Debian has one."""
    registry: str | None = None
    """Repository that images are pushed to, such as `registry.example/team/goldseam`; None means that none is."""
    services: bool | dict[str, str] = True
    """Whether the services that CI declares run beside the tests that need them; or under which names their images are
    to be had, see miner/images/service_images.py."""
    cache_dir: Path = Field(default_factory=files.default_cache_dir)
    """Downloads and locks that runs share; the engine has to see it at the same path."""
    network: Literal["bridge", "host"] = "bridge"
    """The network of builds; `host` for a proxy or an index on this machine's loopback."""
    build_seconds: float = Field(default=1200.0, gt=0)
    """Wall time of one build step."""
    build_memory_mb: int = Field(default=4096, gt=0)
    """Memory of one build step."""
    build_disk_mb: int = Field(default=20480, gt=0)
    """What one build step may write: its layer, its results, what it adds to the cache."""
    egress: Literal["index", "open"] = "index"
    """What build steps that run foreign code may reach: the package index and hosts that requirements name, or all."""
    allow_hosts: tuple[str, ...] = ()
    """What they may reach besides: `host` (on ports 80 and 443), `host:port` or `*.host`."""

    @field_validator(*_TOOLCHAINS)
    @classmethod
    def _installations(cls, value: dict[str, Path], info: ValidationInfo) -> dict[str, Path]:
        name, form, versions, programs = _TOOLCHAINS[str(info.field_name)]
        for version, folder in value.items():
            paths = [f"bin/{program.format(version)}" for program in programs]
            if re.fullmatch(form, version) and all((folder.expanduser() / path).exists() for path in paths):
                continue
            wish = f"expected {versions}, and" if versions else "no"
            raise ValueError(f"{name} {version}: {wish} {' and '.join(paths)} in {folder}")
        return {version: folder.expanduser().resolve() for version, folder in value.items()}

    @field_validator("platform")
    @classmethod
    def _os_and_architecture(cls, value: str | None) -> str | None:
        if value is not None and not _PLATFORM.fullmatch(value):
            raise ValueError(f"expected os/architecture, such as linux/arm64, found {value!r}")
        return value

    @field_validator("allow_hosts", mode="before")
    @classmethod
    def _hosts(cls, value: object) -> object:
        """Of a variable: separated by commas or spaces."""
        names = tuple(re.split(r"[,\s]+", value.strip())) if isinstance(value, str) else value
        for name in names if isinstance(names, (list, tuple)) else ():
            if not isinstance(name, str) or not _HOST.fullmatch(name):
                raise ValueError(f"expected host, host:port or *.host, found {name!r}")
        return names

    @field_validator("services", mode="before")
    @classmethod
    def _no_guesses(cls, value: object) -> object:
        """TOML's own true and false, or a table: `services = "no"` would be taken for a word."""
        if isinstance(value, bool | dict):
            return value
        raise ValueError(f"expected true, false or a table of images by name, found {value!r}")

    @field_validator("registry")
    @classmethod
    def _repository(cls, value: str | None) -> str | None:
        if value is not None and not _REPOSITORY.fullmatch(value):
            raise ValueError(f"expected host/name, such as registry.example/team/goldseam, found {value!r}")
        return value

    @field_validator("cache_dir")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()


class GithubSettings(StrictRecord):
    """`[github]`: which GitHub, as whom, and how patiently. Tokens are read from the environment only."""

    api_url: str | None = None
    """An Enterprise server's API, such as `https://github.example.com/api/v3`; None means github.com."""
    app_id: str = ""
    """Id of a GitHub App to log in as."""
    app_installation_id: int = Field(default=0, ge=0)
    """Id of its installation in the organisation."""
    app_private_key_file: Path | None = None
    """PEM file with its private key."""
    page_size: int = Field(default=50, ge=1, le=100)
    """Pull requests a page; halved where the server can't answer."""
    max_wait_seconds: float = Field(default=7200.0, ge=0)
    """How long one request may wait for rate limits and faults to pass, in all."""


class MiningSettings(StrictRecord):
    """`[mining]`: what is taken for a bug fix."""

    min_score: float = 2.0
    """A change whose signals sum to this or more is a candidate."""
    secrets: Literal["mask", "reject", "keep"] = "mask"
    """What becomes of secrets: `mask` takes them and e-mail addresses out of statements and rejects patches with a
    private key; `reject` rejects a task with any secret; `keep` only counts them."""
    package_index: str | None = None
    """Address of a simple API that is asked whether the fix has been released; None means the index that the
    environment names for builds, and where it names none, nobody is asked."""
    mutants: int = Field(default=20, ge=0)
    """How many mutants of a fix are tried at most, to see how strong the hidden tests are; 0 measures no strength."""
    proof_budget_runs: float = Field(default=15.0, gt=0)
    """What proof and strength of a task may take in the containers, as a multiple of one plain run of its tests."""
    proof_budget_seconds: float = Field(default=30.0, ge=0)
    """Seconds on top of that."""
    p2p: Literal["touched", "all"] = "touched"
    """Which tests PASS_TO_PASS is taken from: those of the files that the change touches, or the whole suite's."""
    near_duplicates: Literal["reject", "mark"] = "reject"
    """What becomes of a change that is nearly one of the rows given with `--against`."""
    statement_model: str | None = None
    """A model that writes the statement of a change without an issue; None leaves the change's own words."""
    repair_model: str | None = None
    """A model that proposes a recipe where no rung of the ladder gives an environment; None rejects the change."""


class SignalsSettings(StrictRecord):
    """`[signals]`: what is measured beside a verdict."""

    semgrep_rules: Path | None = None
    """A file or a folder of semgrep rules on this machine."""


class SolveSettings(StrictRecord):
    """`[solve]`: what asking models costs, and how much of their answers is kept."""

    prices: Path | None = None
    """A price table that goes before ours, see docs/solve.md."""
    cache_max_mb: int = Field(default=512, ge=1)
    """Size that kept answers may have."""


_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]{1,99}")


class DeclaredSettings(StrictRecord):
    """`[declared."OWNER/NAME"]`: how a repository's tests are run, for a runner that goldseam does not know."""

    packages: tuple[str, ...] = ()
    """Debian packages that its image has besides the base's; all of them have to be there."""
    install: tuple[str, ...] = ()
    """Commands for `sh` that are run in the tree while its image is built. What they leave in the tree stays there."""
    tests: tuple[str, ...] = ()
    """Patterns of test files, such as `spec_*.rb` or `tests/*.c`; none for what goldseam takes for tests by itself."""
    protect: tuple[str, ...] = ()
    """Patterns of further files that a model's patch may not change, unless the fix does."""
    build: tuple[str, ...] = ()
    """Commands that are run in each trial before the tests, with the patch and the hidden tests in place."""
    test: str = Field(min_length=1)
    """The command that runs the tests. `{files}` stands for the test files; with `{file}` it is run once for each."""
    results: str
    """Where it leaves its results: a pattern of files below the root of the tree, such as `build/results/*.xml`."""
    format: Literal["junit", "tap", "ctrf", "trx", "rspec"]
    """What they are: JUnit XML, TAP, CTRF, TRX, or the output of RSpec's JSON formatter."""
    env: dict[str, str] = Field(default_factory=dict)
    """Variables of `install`, `build` and `test`."""

    @field_validator("packages")
    @classmethod
    def _packages(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if not _PACKAGE.fullmatch(name):
                raise ValueError(f"expected names of Debian packages, such as ruby-minitest, found {name!r}")
        return value

    @field_validator("test")
    @classmethod
    def _placeholders(cls, value: str) -> str:
        if len(set(PLACEHOLDER.findall(value))) > 1:
            raise ValueError("expected {files} or {file}, found both")
        return value

    @field_validator("results")
    @classmethod
    def _within_tree(cls, value: str) -> str:
        if not {"", ".", ".."}.isdisjoint(value.split("/")):
            raise ValueError(f"expected a path below the root of the tree, such as results.xml, found {value!r}")
        return value


class Settings(StrictRecord):
    """All of goldseam.toml."""

    images: ImageSettings = Field(default_factory=ImageSettings)
    github: GithubSettings = Field(default_factory=GithubSettings)
    mining: MiningSettings = Field(default_factory=MiningSettings)
    signals: SignalsSettings = Field(default_factory=SignalsSettings)
    solve: SolveSettings = Field(default_factory=SolveSettings)
    gate: GateRules = Field(default_factory=GateRules)
    holdout: Policy = Field(default_factory=Policy)
    declared: dict[str, DeclaredSettings] = Field(default_factory=dict)
    """By repository, `OWNER/NAME`, or a pattern of such names; the first that fits holds."""

    def declared_for(self, repo: str) -> DeclaredSettings | None:
        """What is declared for a repository."""
        fitting = (table for name, table in self.declared.items() if fnmatch.fnmatchcase(repo, name))
        return next(fitting, None)


def settings_file(path: Path | None = None) -> Path:
    """The settings file that is read: the one named, that of `--config`, or goldseam.toml of the current folder."""
    return path or ChosenFile.path or Path(SETTINGS_FILE)


def _from_file(path: Path | None) -> dict[str, Any]:
    file = settings_file(path)
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        if path is None and ChosenFile.path is None:
            return {}
        raise InputError(f"no settings file at {file}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file} is {wording.not_readable('valid TOML', error)}") from error
    except OSError as error:
        raise InputError(f"{file} can't be read: {error.strerror}") from error


def _pairs(text: str) -> dict[str, str]:
    """`3.9=/path:3.8=/path`, split at the path separator of the system."""
    pairs = [part.partition("=") for part in text.split(os.pathsep) if part]
    if any(not sign for _, sign, _ in pairs):
        raise InputError(f"a list of installations should look like 3.9=/path{os.pathsep}3.8=/path, not {text!r}")
    return {version: folder for version, _, folder in pairs}


def _services(text: str) -> bool | dict[str, str]:
    """`on`, `off`, or `postgres=registry.example/postgres:{tag},redis=…`."""
    word = text.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if any(not sign for _, sign, _ in pairs):
        raise InputError(f"GOLDSEAM_IMAGES_SERVICES should be on, off or like postgres=IMAGE,redis=IMAGE, not {text!r}")
    return {name.strip(): image.strip() for name, _, image in pairs}


_WORDS = {"on": True, "true": True, "1": True, "yes": True, "off": False, "false": False, "0": False, "no": False}


def _share(text: str) -> float | str:
    """A number; of other text the rules say what they expect."""
    try:
        return float(text)
    except ValueError:
        return text


_READERS: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(_TOOLCHAINS, _pairs),
    "services": _services,
    "max_drop": _share,
}
_OTHER_VARIABLES = {"cache_dir": "GOLDSEAM_CACHE_DIR"}
_GATE_VARIABLES = ("max_drop", "mode", "require")


def _layers(
    section: str, keys: Iterable[str], env: Mapping[str, str], flags: Mapping[str, object] | None
) -> tuple[dict[str, Any], dict[str, str]]:
    """GOLDSEAM_<SECTION>_<KEY> for these keys, and over them the flags, but for those that are None.

    With who set each of them: the flag or the variable, as a user writes it.
    """
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for key in keys:
        for variable in (f"GOLDSEAM_{section.upper()}_{key.upper()}", _OTHER_VARIABLES.get(key, "")):
            if text := env.get(variable):
                values[key], sources[key] = _READERS.get(key, str)(text), variable
        if flags and flags.get(key) is not None:
            values[key], sources[key] = flags[key], f"--{key.replace('_', '-')}"
    return values, sources


def load_settings(
    path: Path | None = None,
    *,
    env: Mapping[str, str] | None = None,
    images: Mapping[str, object] | None = None,
    github: Mapping[str, object] | None = None,
    mining: Mapping[str, object] | None = None,
) -> Settings:
    """Read the settings that hold here: flags (by section, None values ignored) over variables over the file.

    Without `path`, goldseam.toml of the current folder is read if there is one.

    Raises:
        InputError: the file can't be read, a key is unknown or a value does not fit; the key is named.

    """
    data = _from_file(path)
    sources: dict[tuple[str, ...], str] = {}
    for section, model, flags in (
        ("images", ImageSettings, images),
        ("github", GithubSettings, github),
        ("mining", MiningSettings, mining),
        ("signals", SignalsSettings, None),
        ("solve", SolveSettings, None),
    ):
        written = data.get(section, {})
        if isinstance(written, dict):
            over, set_by = _layers(section, model.model_fields, os.environ if env is None else env, flags)
            data[section] = {**written, **over}
            sources.update({(section, key): source for key, source in set_by.items()})
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        where = _places(path)
        problems = [(tuple(str(part) for part in problem["loc"]), problem) for problem in error.errors()]
        raise InputError(
            "\n  ".join(
                f"{sources.get(place[:2]) or where(place)}: {'.'.join(place)}: {_plain(place, problem)}"
                for place, problem in problems
            )
        ) from error


def load_gate_rules(
    path: Path | None = None, *, flags: Mapping[str, object] | None = None, env: Mapping[str, str] | None = None
) -> GateRules:
    """Read `[gate]` alone, so that a CI job needs nothing that the other sections name.

    Flags go before GOLDSEAM_GATE_MAX_DROP, _MODE and _REQUIRE, and these before the file.

    Raises:
        InputError: the file can't be read, or a section or key is unknown or a value does not fit; all are named, each
            with who set it.

    """
    data, where = _from_file(path), _places(path)
    for name in data:
        if name not in Settings.model_fields:
            likely = nearest(name, Settings.model_fields)
            hint = f"did you mean [{likely}]?" if likely else f"known are {', '.join(Settings.model_fields)}"
            raise InputError(f"{where((name,))}: {name!r} is not a section; {hint}")
    over, set_by = _layers("gate", _GATE_VARIABLES, os.environ if env is None else env, flags)
    section = data.get("gate", {})
    lines = {key: where(("gate", key)) for key in section} if isinstance(section, dict) else {}
    return parse(section, where=where(("gate",)), over=over, sources={**lines, **set_by})


def load_policy(path: Path | None = None) -> Policy:
    """Read `[holdout]` alone, as `load_gate_rules` does `[gate]`.

    Raises:
        InputError: the file can't be read, or a rule is unknown or a value does not fit; all are named.

    """
    written = _from_file(path).get("holdout", {})
    where = f"{_places(path)(('holdout',))}: [holdout]"
    if not isinstance(written, dict):
        raise InputError(f"{where}: expected a table, found {wording.kind_of(written)}")
    return parse_policy(written, where=where)


def _places(path: Path | None) -> Callable[[tuple[str, ...]], str]:
    """Names the file and line of a key, or of the nearest table around it."""
    file = settings_file(path)
    try:
        lines = lines_of(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        lines = {}

    def place_of(key: tuple[str, ...]) -> str:
        depths = range(len(key), 0, -1)
        return next((f"{file}:{lines[key[:depth]]}" for depth in depths if key[:depth] in lines), str(file))

    return place_of


def _plain(place: tuple[str, ...], problem: Any) -> str:
    if problem["type"] == "missing":
        return "is missing"
    if problem["type"] != "extra_forbidden":
        return wording.problem(problem["msg"], problem["input"])
    fields: Iterable[str] = Settings.model_fields
    if place[0] == "declared":
        fields = DeclaredSettings.model_fields
    elif place[:-1]:
        fields = getattr(Settings.model_fields[place[0]].annotation, "model_fields", ())
    hint = did_you_mean(place[-1], fields)
    return "unknown key" + (f"; {hint}" if hint else "")


def lines_of(text: str) -> dict[tuple[str, ...], int]:
    """Lines, from 1, by key with its sections: `("mining", "min_score")`; sections themselves are among the keys.

    Keys inside multi-line values may be listed too; nobody asks for these.
    """
    lines: dict[tuple[str, ...], int] = {}
    section: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            section = _parts(header[1])
            for depth in range(1, len(section) + 1):
                lines.setdefault(section[:depth], number)
        elif key := _KEY.match(line):
            lines.setdefault((*section, *_parts(key[1])), number)
    return lines


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in name.strip().split("."))
