"""The dataset's files as pydantic models: the one place that knows their fields. docs/formats.md is the reference."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from harness.core import clock as clocks

SCHEMA_VERSION = 1


class FileModel(BaseModel):
    """A file of the dataset: unknown fields are kept, a wrong type is an error."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True)

    def as_written(self) -> dict[str, Any]:
        """Every field, defaults included, in the order of declaration; unknown ones last."""
        return self.model_dump(mode="json", by_alias=True)


class BudgetsModel(FileModel):
    """`budgets` of task.yaml."""

    seconds: Annotated[float, Field(gt=0)] = 300.0
    memory_mb: Annotated[int, Field(ge=64)] = 2048
    cpus: Annotated[float, Field(gt=0)] = 1.0
    pids: Annotated[int, Field(ge=8)] = 256
    output_bytes: Annotated[int, Field(ge=1024)] = 4 * 1024 * 1024
    disk_mb: Annotated[int, Field(ge=16)] = 1024


_PORT = r"[1-9][0-9]{0,4}:[1-9][0-9]{0,4}"
_LARGEST_PORT = 65535
_HOST = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}"


class ServiceModel(FileModel):
    """One of `services` of `test`."""

    name: Annotated[str, Field(pattern=f"^{_HOST}$")]
    image: Annotated[str, Field(pattern=r"^([^@\s]+@)?sha256:[0-9a-f]{64}$")]
    hosts: tuple[Annotated[str, Field(pattern=f"^{_HOST}$")], ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    command: tuple[str, ...] = ()
    ports: tuple[Annotated[str, Field(pattern=f"^{_PORT}$")], ...] = ()
    health: str = ""
    folders: tuple[Annotated[str, Field(pattern=r"^/[^:,\s]+(:\d+:\d+:[0-7]{3,4})?$")], ...] = ()
    read_only: bool = True
    memory_mb: Annotated[int, Field(ge=16)] = 1024
    start_seconds: Annotated[float, Field(gt=0)] = 120.0

    @field_validator("ports")
    @classmethod
    def _in_range(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for port in value:
            if any(int(number) > _LARGEST_PORT for number in port.split(":")):
                raise ValueError(f"a port goes up to {_LARGEST_PORT}, found {port}")
        return value


_OPTIONAL = frozenset({"clock", "services", "build", "own_runner", "declared"})


def _within_tree(path: str) -> str:
    if path.startswith("/") or not {"", ".", ".."}.isdisjoint(path.removesuffix("/").split("/")):
        raise ValueError(f"a path below the root of the tree is expected, found {path}")
    return path


class BuildModel(FileModel):
    """`build` of `test`."""

    argv: Annotated[tuple[str, ...], Field(min_length=1)]
    inputs: Annotated[tuple[str, ...], Field(min_length=1)]
    outputs: Annotated[tuple[Annotated[str, AfterValidator(_within_tree)], ...], Field(min_length=1)]
    env: dict[str, str] = Field(default_factory=dict)
    seconds: Annotated[float, Field(gt=0)] = 600.0


class DeclaredModel(FileModel):
    """`declared` of `test`."""

    test: Annotated[str, Field(min_length=1)]
    results: Annotated[str, AfterValidator(_within_tree)]
    build: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()


class TestModel(FileModel):
    """`test` of task.yaml."""

    __test__ = False

    framework: str = "pytest"
    options: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    pythonpath: tuple[str, ...] = ()
    allowed_paths: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    clock: Annotated[str, AfterValidator(clocks.checked)] | None = None
    services: tuple[ServiceModel, ...] = ()
    own_runner: bool = False
    build: BuildModel | None = None
    declared: DeclaredModel | None = None

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [service.name for service in self.services]
        listens = [port.partition(":")[0] for service in self.services for port in service.ports]
        for label, names_of_kind in (("name", names), ("port on localhost", listens)):
            if twice := next((name for name in names_of_kind if names_of_kind.count(name) > 1), None):
                raise ValueError(f"two services have the same {label}, {twice}")
        return self

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without clock, services, build or the like where there is none, so that digests stay."""
        fields: dict[str, Any] = write(self)
        return {name: value for name, value in fields.items() if name not in _OPTIONAL or value}


class TaskModel(FileModel):
    """task.yaml: the public side of a task."""

    schema_version: Annotated[int, Field(ge=1)] = SCHEMA_VERSION
    instance_id: str
    repo: str
    base_commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
    created_at: str
    language: str = "python"
    version: str = ""
    image: str | None = None
    state: Literal["candidate", "proved", "quarantined", "retired"] = "candidate"
    split: str = "holdout"
    test: TestModel = Field(default_factory=TestModel)
    budgets: BudgetsModel = Field(default_factory=BudgetsModel)
    quality: dict[str, Any] = Field(default_factory=dict)


class TestsModel(FileModel):
    """tests.json: the hidden lists of a task, and what the proof saw."""

    __test__ = False

    schema_version: Annotated[int, Field(ge=1)] = SCHEMA_VERSION
    fail_to_pass: tuple[str, ...] = Field(default=(), alias="FAIL_TO_PASS")
    pass_to_pass: tuple[str, ...] = Field(default=(), alias="PASS_TO_PASS")
    flaky: tuple[str, ...] = ()
    test_files: tuple[str, ...] = ()
    evidence: dict[str, Any] = Field(default_factory=dict)
    judged: dict[str, Any] = Field(default_factory=dict)
    """Listed ids by where they are judged, told for readers: made from expectations.json, and ignored when read."""

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without `judged` where all tests are judged inside."""
        fields: dict[str, Any] = write(self)
        return {name: value for name, value in fields.items() if name != "judged" or value}


class DatasetModel(FileModel):
    """dataset.yaml."""

    schema_version: Annotated[int, Field(ge=1)] = SCHEMA_VERSION
    name: str
    version: int = 1
    content: str = ""
    canary: str = ""
    licence_note: str = ""
    splits: dict[str, Any] = Field(default_factory=dict)
    policy: dict[str, Any] = Field(default_factory=dict)
    recipients: tuple[str, ...] = ()
    ledger_keys: tuple[str, ...] = ()
