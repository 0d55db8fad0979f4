"""A place to solve in without containers: a dataset of small tasks, their trees in memory, a scripted endpoint."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.dataset.folder import Dataset
from harness.solve import call as calls
from harness.solve import plan as plans
from harness.solve import prompts
from harness.solve.agents.single import SingleAgent
from harness.solve.models.endpoint import Api, Endpoint
from harness.solve.models.meter import Limits
from harness.solve.models.prices import Prices
from tests import tiny
from tests.model_server import Asked, ModelServer, Say

EDIT = f"{tiny.CALC}\n<<<<<<< SEARCH\n    return a - b\n=======\n    return a + b\n>>>>>>> REPLACE\n"
GOOD = Say(text=f"The sign is wrong.\n\n{EDIT}")


@dataclass
class MemoryWorkspaces:
    """Stands for harness.solve.workspace.workspace.Workspaces: trees that can only be read."""

    files: dict = field(default_factory=lambda: dict(tiny.FILES))
    opened: int = 0
    trouble: Exception | None = None

    def __call__(self, **_: Any) -> MemoryWorkspaces:
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def cancel(self):
        pass

    @contextlib.contextmanager
    def open(self, instance):
        self.opened += 1
        if self.trouble is not None:
            raise self.trouble
        yield _Workspace(self.files)


@dataclass
class _Workspace:
    texts: dict

    def files(self):
        return tuple(sorted(self.texts))

    def read(self, path):
        return self.texts[path].encode()


@dataclass
class Watcher:
    """Remembers what it was told."""

    warnings: list = field(default_factory=list)
    finished: list = field(default_factory=list)
    begun: tuple = ()

    def warn(self, text):
        self.warnings.append(text)

    def note(self, text):
        pass

    def begin(self, *, planned, earlier):
        self.begun = (planned, earlier)

    def started(self, unit):
        pass

    def done(self, done, *, spent):
        self.finished.append(done)


def which_task(asked: Asked) -> str:
    """The statement's last word, which tells the tasks of a room apart."""
    return asked.text.split("Adding subtracts in ")[1].split(".")[0]


@dataclass
class Room:
    """A dataset and an endpoint, ready to be called."""

    folder: Path
    server: ModelServer
    dataset: Dataset
    workspaces: MemoryWorkspaces
    watcher: Watcher = field(default_factory=Watcher)
    environment: dict = field(default_factory=dict)

    @property
    def out(self) -> Path:
        return self.folder / "predictions.jsonl"

    def run(self, **asked):
        """One call of `solve`."""
        return calls.run(self.call(**asked), self.out, environment=self.environment, watcher=self.watcher)

    def look_ahead(self, **asked):
        """The same, as a dry run."""
        return calls.look_ahead(self.call(**asked), self.out, environment=self.environment, watcher=self.watcher)

    def call(
        self,
        *,
        model: str = "m",
        jobs: int = 1,
        limits: Limits | None = None,
        ids=(),
        keep=False,
        prices: Prices | None = None,
        **plan,
    ) -> calls.Call:
        """What a command line asks for."""
        prompt = plan.pop("template", None) or prompts.load()
        agent = plan.pop("agent", None) or SingleAgent(prompt)
        endpoint = Endpoint(base_url=self.server.base_url, api=Api.CHAT)
        return calls.Call(
            dataset=self.dataset,
            instances=plans.chosen(self.dataset, ids=ids),
            plan=plans.Plan(
                model=model,
                name=plan.pop("name", model),
                endpoint=endpoint.host,
                base_url=endpoint.base_url,
                prompt=prompt.name,
                prompt_sha256=prompt.digest,
                **plan,
            ),
            agent=agent,
            endpoint=endpoint,
            limits=limits or Limits(),
            prices=prices or Prices(),
            cache=self.folder / "answers" if keep else None,
            cache_max_mb=8,
            jobs=jobs,
        )


def make_dataset(folder: Path, count: int, *, image: str | None = tiny.NO_IMAGE) -> Dataset:
    """Tasks `tiny__calc-1`… whose statements end in `task1`…"""
    made = []
    for number in range(1, count + 1):
        task = tiny.task(image, instance_id=f"tiny__calc-{number}")
        instance = replace(task.instance, problem_statement=f"Adding subtracts in task{number}.")
        made.append(replace(task, instance=instance))
    return tiny.dataset(folder, *made)
