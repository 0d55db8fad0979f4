"""What the commands of care show, for a person and for a program. Prints nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from harness.dataset.needles import Kind

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.dataset.leaks import Answer
    from harness.dataset.scan import Find

SCHEMA_VERSION = 1
_SHOWN = 100
_WARN = "yellow"


def scan_text(answer: Answer) -> RenderableType:
    """All that `holdout scan` shows; nothing of what was found is quoted."""
    parts: list[RenderableType] = []
    if answer.finds:
        parts += [_find(find) for find in answer.finds[:_SHOWN]]
        if answer.found > _SHOWN:
            parts.append(Text(f"… and {answer.found - _SHOWN} more (--json has up to 10,000)"))
    else:
        parts.append(Text("nothing of the dataset was found"))
    parts.append(Text(f"searched {answer.sources} source(s), {answer.bytes / 1e6:.1f} MB, for {_sought(answer)}"))
    parts += [Text(f"! {unread.name}: not read to its end: {unread.why}", style=_WARN) for unread in answer.unread]
    return Group(*parts)


def _find(find: Find) -> Text:
    where = Text(f"{find.source}:{find.line}: ", style="bold")
    if find.kind is Kind.CANARY:
        return where + Text("the canary" if find.matched == 1 else f"the canary, {find.matched} times")
    amount = f"{find.share:.0%} ({find.matched} of {find.of} shingles)"
    return where + Text(f"{_FOUND[find.kind]} of {find.task}: {amount}")


_FOUND = {Kind.STATEMENT: "statement", Kind.GOLD: "gold code", Kind.TESTS: "hidden tests"}


def _sought(answer: Answer) -> str:
    what = "the canary, statements and hidden code" if answer.code else "the canary and statements"
    text = f"{what} of {answer.tasks} task(s)"
    if not answer.code:
        text += "; hidden code was not looked for, since the dataset is sealed (--identity opens it)"
    if answer.untold:
        counts = ", ".join(f"{count} {_NAMES[kind]}" for kind, count in sorted(answer.untold.items()))
        text += f". Too short or too ordinary to be told from other text: {counts}"
    return text


_NAMES = {Kind.STATEMENT: "statement(s)", Kind.GOLD: "fix(es)", Kind.TESTS: "test patch(es)"}


def scan_json(answer: Answer) -> dict[str, Any]:
    """What `holdout scan --json` prints; docs/holdout.md names its fields."""
    return {
        "schema_version": SCHEMA_VERSION,
        "found": answer.found,
        "finds": [
            {
                "source": find.source,
                "line": find.line,
                "offset": find.offset,
                "kind": find.kind.value,
                "task": find.task,
                "matched": find.matched,
                "of": find.of,
                "share": round(find.share, 4),
            }
            for find in answer.finds
        ],
        "sources": answer.sources,
        "bytes": answer.bytes,
        "tasks": answer.tasks,
        "code": answer.code,
        "untold": {kind.value: count for kind, count in sorted(answer.untold.items())},
        "unread": [{"source": unread.name, "why": unread.why} for unread in answer.unread],
    }
