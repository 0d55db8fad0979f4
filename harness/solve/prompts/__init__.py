"""Prompts as templates with a name and a version; what is recorded of one is its name and the SHA-256 of its text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from harness.core.errors import InputError
from harness.core.instance import Instance
from harness.core.wording import did_you_mean
from harness.dataset.model_files import read_text
from harness.solve.base import Message
from harness.solve.retrieve import Excerpt

DEFAULT = "single-edits-v1"
_FOLDER = Path(__file__).parent
_ENDING = ".j2"
_BLOCKS = ("system", "user")


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A template: `{% block system %}` and `{% block user %}`, or without blocks the user's message alone."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the template."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def messages(
        self, instance: Instance, excerpts: Sequence[Excerpt], *, paths: Sequence[str], header: str
    ) -> tuple[Message, ...]:
        """The conversation's beginning; `header` stands at its head.

        Raises:
            InputError: the template cannot be filled in.

        """
        names = {
            "statement": instance.problem_statement,
            "repo": instance.repo,
            "language": instance.language,
            "version": instance.version,
            "files": list(excerpts),
            "paths": list(paths),
        }
        parts = [(role, text.strip()) for role, text in self._parts(names) if text.strip()]
        if not parts:
            raise InputError(f"the prompt {self.name} says nothing", hint="see docs/solve.md for how one is written")
        first = f"{header}\n\n{parts[0][1]}" if header else parts[0][1]
        filled = [(parts[0][0], first), *parts[1:]]
        return tuple(Message(role="system" if role == "system" else "user", content=text) for role, text in filled)

    def _parts(self, names: dict[str, Any]) -> list[tuple[str, str]]:
        environment = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
        try:
            template = environment.from_string(self.text)
            if not template.blocks:
                return [("user", template.render(names))]
            context = template.new_context(names)
            return [(role, "".join(template.blocks[role](context))) for role in _BLOCKS if role in template.blocks]
        except TemplateError as error:
            raise InputError(f"the prompt {self.name} cannot be filled in: {error}") from error


def shipped() -> tuple[str, ...]:
    """Names of the prompts that come with goldseam."""
    return tuple(sorted(path.name.removesuffix(_ENDING) for path in _FOLDER.glob(f"*{_ENDING}")))


def load(name: str = DEFAULT) -> Prompt:
    """A shipped prompt by its name, or one's own by the path of its file.

    Raises:
        InputError: there is neither, the file cannot be read, or it is no template.

    """
    path = _FOLDER / f"{name}{_ENDING}" if name in shipped() else Path(name)
    if not path.is_file():
        hint = did_you_mean(name, shipped(), otherwise=f"give a file, or one of {', '.join(shipped())}")
        raise InputError(f"there is no prompt {name!r}", hint=hint)
    text = read_text(path)
    try:
        SandboxedEnvironment(autoescape=False).parse(text)
    except TemplateError as error:
        raise InputError(f"{path} is not a template: {error}") from error
    return Prompt(name=name if name in shipped() else path.name, text=text)
