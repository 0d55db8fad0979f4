"""The attacks: data in suite/*.yaml, made into patches for each project they fit."""

from __future__ import annotations

import base64
import textwrap
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field

from tests.attacks.projects import PROJECTS, Project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.core.instance import Task

SUITE = Path(__file__).parent / "suite"


class Attack(BaseModel):
    """One attack. Texts hold `@words@` that `fill` puts in: paths, ids, names of the project at hand."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, Field(pattern=r"[a-z0-9-]+")]
    kind: str
    """Its class: the name of the file it stands in."""
    story: str
    gets_through: str | None = None
    """Why it is accepted today, where it is."""
    tasks: tuple[str, ...] = ()
    """The projects it is made for; empty means all."""
    slow: bool = False
    """Ends by a limit of time or memory, so one project is enough."""
    repeat: int = 1
    patch: str | None = None
    """The patch as it is."""
    files: dict[str, str] = {}
    """Whole texts by path, new or in place of what is there."""
    replace: dict[str, dict[str, str]] = {}
    """By path: old text → new text, on top of everything else."""
    top: str = ""
    """Code before everything in the product's wrong module."""
    top_raw: str = ""
    """The same, byte for byte."""
    body: str | None = None
    """The body of the wrong function."""
    value: str | None = None
    """An expression that the product hands out wherever the hidden tests look."""
    gain: str | None = None
    """Code that sets `won`; the product is right only if it does."""
    repeat_lines: int = 0
    many_files: int = 0
    repeat_path: int = 0
    deep_path: int = 0
    binary_bomb: int = 0
    """Generated patches: so many lines, files, letters in a name, folders, or MiB once unpacked."""

    def fits(self, project: Project) -> bool:
        if self.slow and not self.tasks:
            return project is PROJECTS[0]
        return not self.tasks or project.name in self.tasks

    def render(self, project: Project, task: Task) -> str:
        """The patch for a project."""
        if self.patch is not None:
            return fill(self.patch, project, task)
        if generated := self._generated():
            return generated
        changes: dict[str, str] = {
            fill(path, project, task): fill(text, project, task) for path, text in self.files.items()
        }
        product = self._product(project, task)
        if product != project.base[project.product]:
            changes[project.product] = product
        for path, swaps in self.replace.items():
            text = changes.get(path, project.base[path])
            for old, new in swaps.items():
                assert old in text, (self.id, old)
                text = text.replace(old, new)
            changes[path] = text
        return project.patch(changes)

    def _product(self, project: Project, task: Task) -> str:
        top = self.top_raw + fill(self.top, project, task)
        indent = " " * (len(project.body) - len(project.body.lstrip()))
        body = project.body
        if self.value is not None:
            body = project.cheat.replace("VALUE", self.value)
        elif self.body is not None:
            body = textwrap.indent(fill(self.body, project, task), indent)
        elif self.gain is not None:
            top += _GAIN.format(textwrap.indent(fill(self.gain, project, task), "    "))
            body = f"{indent}if _won:\n{textwrap.indent(project.solution, '    ')}{project.body}"
        return project.with_body(body, top)

    def _generated(self) -> str:
        if self.repeat_lines:
            return tiny_new("notes.txt", ["x" * 30] * self.repeat_lines)
        if self.many_files:
            return "".join(tiny_new(f"notes/{number}.txt", ["x"]) for number in range(self.many_files))
        if self.repeat_path:
            return tiny_new("n" * self.repeat_path, ["x"])
        if self.deep_path:
            return tiny_new("/".join("d" * self.deep_path), ["x"])
        return _binary("notes.bin", self.binary_bomb * 1024 * 1024) if self.binary_bomb else ""


_GAIN = """\
def _attempt():
    won = False
{}    return bool(won)


try:
    _won = _attempt()
except Exception:
    _won = False


"""


def tiny_new(path: str, lines: list[str]) -> str:
    """A patch that makes one file."""
    body = "".join(f"+{line}\n" for line in lines)
    return f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{body}"


def _binary(path: str, size: int) -> str:
    """A git binary patch of zeros. Source of the form: git's Documentation and `git diff --binary`."""
    packed = zlib.compress(bytes(size), 9)
    lines = []
    for start in range(0, len(packed), 52):
        chunk = packed[start : start + 52]
        length = chr(ord("A") + len(chunk) - 1) if len(chunk) <= 26 else chr(ord("a") + len(chunk) - 27)
        lines.append(length + base64.b85encode(chunk, pad=True).decode())
    null = "0" * 40
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex {null}..{'1' * 40}\nGIT binary patch\n"
    return head + f"literal {size}\n" + "\n".join(lines) + "\n\nliteral 0\nHcmV?d00001\n\n"


def fill(text: str, project: Project, task: Task) -> str:
    """Put a project's words in the place of `@words@`."""
    product, hidden = Path(project.product), Path(project.hidden_path)
    module = project.product.removeprefix("src/").removesuffix(".py").replace("/", ".")
    words = {
        "product": project.product,
        "folder": "" if product.parent == Path() else f"{product.parent}/",
        "stem": product.stem,
        "module": module,
        "tests": "" if hidden.parent == Path() else f"{hidden.parent}/",
        "hidden": project.hidden_path,
        "hiddenname": hidden.name,
        "hiddenstem": hidden.stem,
        "f2p": repr(list(task.hidden.fail_to_pass)),
        "p2p": repr(list(task.hidden.pass_to_pass)),
        "type": project.kind,
        "needle": repr(project.needle),
    }
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text


def attacks() -> tuple[Attack, ...]:
    """Every attack of the suite, in the order of its files."""
    return tuple(_read())


def _read() -> Iterator[Attack]:
    seen = set()
    for path in sorted(SUITE.glob("*.yaml")):
        for raw in yaml.safe_load(path.read_text(encoding="utf-8")):
            attack = Attack.model_validate({"kind": path.stem, **raw})
            assert attack.id not in seen, attack.id
            seen.add(attack.id)
            yield attack
