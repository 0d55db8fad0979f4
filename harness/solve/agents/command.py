"""Any agent that is a program: run in the task's container, or on a checkout; its patch is what it changed.

It asks the model through `harness.solve.proxy`, which it finds in the variables that the OpenAI clients read.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from harness.core import process
from harness.core.errors import InputError, InterruptedRunError
from harness.sandbox.session import WorkspaceLostError
from harness.solve.agents.ending import ending, lost
from harness.solve.base import Agent, Attempt, Message, Model, SolveJob, Workspace
from harness.solve.proxy import Gateway, host_and_port
from harness.solve.workspace.workspace import ROOT, Checkout, ImageWorkspace

SECONDS = 1800.0
MOUNT = "/opt/agent"
"""Where the folder of the agent's own program is in the container."""
_DOOR = "/run/goldseam"
_SOCKET = "model.sock"
_PORT = 8111
_STATEMENT = "/tmp/problem_statement.md"  # noqa: S108 - in the container
_MAX_OUTPUT = 200_000
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_KNOWN = ("statement_file", "model", "base_url", "repo")
_PLAIN = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE")


class Where(StrEnum):
    """Where the program runs."""

    CONTAINER = "container"
    """In the task's image, locked, with no network but the way to the model."""
    HOST = "host"
    """On this machine, unlocked, in a plain checkout."""


@dataclass(frozen=True, kw_only=True)
class CommandSettings:
    """What a user says of the program."""

    command: str
    """Words as a shell would part them; `{statement_file}`, `{model}`, `{base_url}` and `{repo}` are filled in."""
    where: Where = Where.CONTAINER
    mount: Path | None = None
    """A folder that the container finds at /opt/agent, read-only."""
    allow: tuple[str, ...] = ()
    """`HOST:PORT` that it may reach besides the model."""
    seconds: float = SECONDS


class CommandAgent(Agent):
    """Somebody else's agent."""

    name = "command"
    version = 1
    asks_itself = True

    def __init__(self, settings: CommandSettings) -> None:
        self._settings = settings
        self._words = _words(settings.command)
        self._allow = tuple(host_and_port(text) for text in settings.allow)
        if settings.mount is not None:
            _check_mount(settings.mount)
        if settings.where is Where.HOST and (settings.mount or settings.allow):
            raise InputError("a program on this machine is not isolated: it needs no mount, and reaches every host")

    def settings(self) -> dict[str, Any]:
        """What else its results depend on."""
        settings = self._settings
        return {
            "command": settings.command,
            "where": settings.where.value,
            "allow": list(settings.allow),
            "seconds": settings.seconds,
        }

    def attempt(self, job: SolveJob, model: Model) -> Attempt:
        with job.open_workspace() as workspace:
            if not isinstance(workspace, ImageWorkspace):
                raise InputError("`--agent command` needs a workspace of an image")
            run = self._in_container if self._settings.where is Where.CONTAINER else self._on_host
            return run(job, model, workspace)

    def _in_container(self, job: SolveJob, model: Model, plain: ImageWorkspace) -> Attempt:
        with _folder() as door, contextlib.ExitStack() as stack:
            inside: list[ImageWorkspace] = []

            def end() -> None:
                for workspace in inside:
                    workspace.end_commands()

            gateway = self._gateway(job, model, on_end=end)
            mounts = {_DOOR: str(door)} | ({MOUNT: str(self._settings.mount.resolve())} if self._settings.mount else {})
            stack.enter_context(gateway.at_socket(door / _SOCKET))
            env = _variables(f"http://127.0.0.1:{_PORT}", gateway.key, is_proxy=bool(self._allow))
            workspace = stack.enter_context(
                plain.equipped(env=env, mounts=mounts, forward=(f"{_DOOR}/{_SOCKET}", _PORT))
            )
            inside.append(workspace)
            words = self._filled(model, _STATEMENT, env["OPENAI_BASE_URL"], ROOT)
            try:
                workspace.leave(_STATEMENT, _statement(job).encode("utf-8", "surrogatepass"))
                ran = workspace.run(words, seconds=self._settings.seconds, max_output=_MAX_OUTPUT)
            except WorkspaceLostError as error:
                return lost(error, replies=gateway.passed.replies, messages=gateway.passed.messages)
            return self._ended(workspace, gateway, exit_code=ran.exit_code, output=ran.output, timed_out=ran.timed_out)

    def _on_host(self, job: SolveJob, model: Model, plain: ImageWorkspace) -> Attempt:
        with _folder() as folder, self._gateway(job, model).at_port() as gateway:
            (repo := folder / "repo").mkdir()
            (home := folder / "home").mkdir()
            checkout = plain.check_out(repo)
            statement = folder / "problem_statement.md"
            statement.write_bytes(_statement(job).encode("utf-8", "surrogatepass"))
            address = f"http://127.0.0.1:{gateway.port}"
            env = {name: os.environ[name] for name in _PLAIN if name in os.environ}
            env |= {"HOME": str(home), **_variables(address, gateway.key, is_proxy=False)}
            words = self._filled(model, str(statement), env["OPENAI_BASE_URL"], str(repo))
            ran = process.run_bounded(
                words,
                env=env,
                cwd=repo,
                seconds=self._settings.seconds,
                max_output=_MAX_OUTPUT,
                stop=lambda: gateway.passed.over.is_set() or plain.is_cancelled,
            )
            if plain.is_cancelled:
                raise InterruptedRunError("the run was interrupted")
            output = ran.output.decode("utf-8", "replace")
            return self._ended(checkout, gateway, exit_code=ran.returncode, output=output, timed_out=ran.timed_out)

    def _ended(
        self, tree: Workspace | Checkout, gateway: Gateway, *, exit_code: int, output: str, timed_out: bool
    ) -> Attempt:
        """What its work came to.

        Raises:
            ModelError: the model could not be asked.

        """
        passed = gateway.passed
        if passed.trouble is not None:
            raise passed.trouble
        message = Message(role="user", content=f"[the program ended with {exit_code}; its output:]\n{output}")
        stopped = passed.limit.limit if passed.limit else "task_time" if timed_out else None
        attempt = ending(
            tree,
            replies=passed.replies,
            messages=(*passed.messages, message),
            detail=f"the program ended with {exit_code}: {output[-500:].strip()}",
            stopped=stopped,
        )
        facts = {"exit_code": exit_code, "refused": list(passed.refused)}
        return replace(
            attempt, facts={**attempt.facts, **{name: value for name, value in facts.items() if value != []}}
        )

    def _gateway(self, job: SolveJob, model: Model, **options: Any) -> Gateway:
        return Gateway(model, sampling=job.sampling, sample=job.sample, allow=self._allow, **options)

    def _filled(self, model: Model, statement: str, base_url: str, repo: str) -> tuple[str, ...]:
        values = {"statement_file": statement, "model": model.name, "base_url": base_url, "repo": repo}
        return tuple(_PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in self._words)


def _words(command: str) -> Sequence[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"the agent's command cannot be read: {error}") from error
    if not words:
        raise InputError("the agent's command is empty")
    for word in words:
        if unknown := sorted(set(_PLACEHOLDER.findall(word)) - set(_KNOWN)):
            text = ", ".join(f"{{{name}}}" for name in _KNOWN)
            raise InputError(f"the agent's command has {{{unknown[0]}}}; there are {text}")
    return words


def _check_mount(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder")
    if folder.stat().st_mode & 0o005 != 0o005:  # noqa: PLR2004 - read and enter, for others
        raise InputError(
            f"{folder} can't be read by the container's unprivileged user",
            hint=f"open it with `chmod -R o+rX {folder}`, and keep nothing secret in it",
        )


def _statement(job: SolveJob) -> str:
    return f"{job.header}\n\n{job.instance.problem_statement}".strip() + "\n"


def _variables(address: str, key: str, *, is_proxy: bool) -> Mapping[str, str]:
    variables = {
        "OPENAI_BASE_URL": f"{address}/v1",
        "OPENAI_API_BASE": f"{address}/v1",
        "OPENAI_API_KEY": key,
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }
    names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
    return variables | (dict.fromkeys(names, address) if is_proxy else {})


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """A folder whose content the container's user may see, in one that only we can enter."""
    with tempfile.TemporaryDirectory(prefix="goldseam-") as outer:
        inner = Path(outer, "door")
        inner.mkdir()
        inner.chmod(0o755)
        yield inner
