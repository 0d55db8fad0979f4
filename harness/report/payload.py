"""What the page's script shows: an index of all tasks, and the details of each for when it is opened.

Markdown becomes a tree of a few harmless elements, from which the page makes DOM nodes: HTML is never parsed. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from harness.core.wording import words
from harness.report.data import PredictionView, ReportData, TaskView, TestRow, Transcript, Turn
from harness.report.matrix import PENDING
from harness.report.text import CutText
from harness.report.words import OUTCOMES, dollars, seconds

Node = str | list[Any]
"""A text, or `[tag, attributes or null, children…]`. docs/report.md has the tags."""

_READER = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
_TAGS = {
    **{tag: tag for tag in words("blockquote table thead tbody tr th td em strong s")},
    "paragraph": "p",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "inline": "",
    "root": "",
}
"""By the parser's name; an empty tag stands for its children."""
_HEADING = {"h1": "h4", "h2": "h4", "h3": "h5"}
"""A statement's headings come below those of the page."""
_SCHEMES = ("http://", "https://")


def index(report_data: ReportData) -> dict[str, Any]:
    """What filters, sorting and the names of models need. Keys are short: there may be thousands of each."""
    letters = report_data.letters()
    return {
        "models": [model.label for model in report_data.models],
        "names": [model.name for model in report_data.models],
        "letters": [letters[model.column] for model in report_data.models],
        "competitors": [model.column for model in report_data.competitors()],
        "words": {outcome.value: word for outcome, word in OUTCOMES.items()},
        "tasks": [
            {
                "id": task.instance_id,
                "name": task.name,
                "title": task.title,
                "groups": [f"{dimension}:{name}" for dimension, name in task.groups.items()],
                "predictions": [[view.column, _outcome(view), view.failure_class, bool(view.flags)] for view in views],
            }
            for task, views in report_data.by_task()
        ],
    }


def details(report_data: ReportData) -> list[dict[str, Any]]:
    """By task, in order: all that is shown when it is opened."""
    rank = {model.column: place for place, model in enumerate(report_data.ordered())}
    return [
        _task(task, sorted(views, key=lambda view: (rank[view.column], view.sample)))
        for task, views in report_data.by_task()
    ]


def _task(task: TaskView, views: list[PredictionView]) -> dict[str, Any]:
    """A task; its tests are named once, and each prediction's results say which by number."""
    tests = {row.test_id: row.group for view in views if view.hidden for row in view.hidden.tests}
    places = {test_id: place for place, test_id in enumerate(tests)}
    predictions = [_prediction(view, places) for view in views]
    return {
        "tests": list(tests.items()),
        "facts": [*task.facts, *([("not counted", task.aside)] if task.aside else [])],
        "statement": _statement(task.statement),
        "gold": _cut(task.gold_patch),
        "test": _cut(task.test_patch),
        "predictions": predictions,
    }


def _prediction(view: PredictionView, places: Mapping[str, int]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "column": view.column,
        "sample": view.sample,
        "outcome": _outcome(view),
        "class": view.failure_class,
        "reason": view.reason,
        "f2p": str(view.fail_to_pass),
        "p2p": str(view.pass_to_pass),
        "patch": _cut(view.patch),
        "note": view.patch_note,
        "dropped": view.dropped,
        "repairs": view.repairs,
        "flags": view.flags,
        "tripwires": view.tripwires,
        "replay": view.replay,
        "signals": view.signals,
        "timings": {name: round(value, 3) for name, value in view.timings.items()},
        "rss": view.max_rss_kb,
        "cpu": round(view.cpu_seconds, 3),
        "attempts": view.attempts,
        "place": view.place,
        "usage": _usage(view),
        "transcript": _transcript(view.transcript),
    }
    if view.hidden is not None:
        fields["tests"] = [_result(row, places[row.test_id]) for row in view.hidden.tests]
        fields["more"] = view.hidden.left_out
        fields["output"] = _cut(view.hidden.output)
        fields["notes"] = view.hidden.notes
    return fields


def _outcome(view: PredictionView) -> str:
    return view.outcome.value if view.outcome else PENDING


def _result(row: TestRow, place: int) -> list[Any]:
    """Number of the test, seconds, and where it did not pass, its status and text."""
    seconds_ = None if row.seconds is None else round(row.seconds, 3)
    return [place, seconds_] if row.status == "PASSED" else [place, seconds_, row.status, _cut(row.text)]


def _usage(view: PredictionView) -> list[tuple[str, str]]:
    usage = view.usage
    fields = {
        "cost": usage.cost_usd is not None and dollars(usage.cost_usd),
        "latency": usage.latency_seconds is not None and seconds(usage.latency_seconds),
        "tokens": usage.tokens is not None and f"{usage.tokens:,}",
        "temperature": usage.temperature is not None and f"{usage.temperature:g}",
        "prompt": usage.prompt,
    }
    return [(name, str(value)) for name, value in fields.items() if value]


def _statement(text: CutText | None) -> list[Any] | None:
    """A statement as its tree, with its size and how much of it is shown."""
    return None if text is None else [tree(text.text), text.size, text.shown]


def _transcript(transcript: Transcript | None) -> dict[str, Any] | None:
    if transcript is None:
        return None
    return {
        "first": [_turn(turn) for turn in transcript.first],
        "more": transcript.left_out,
        "last": [_turn(turn) for turn in transcript.last],
    }


def _turn(turn: Turn) -> list[Any]:
    return [turn.role, _cut(turn.text), [[name, _cut(arguments)] for name, arguments in turn.calls]]


def _cut(text: CutText | None) -> list[Any] | None:
    return None if text is None else [text.text, text.size, text.shown, text.end]


def tree(text: str) -> list[Node]:
    """The nodes of a Markdown text. HTML in it stays text, images become links, and links lead to HTTP alone."""
    return list(_children(SyntaxTreeNode(_READER.parse(text))))


def _children(parent: SyntaxTreeNode) -> Iterator[Node]:
    for child in parent.children:
        yield from _node(child)


def _node(node: SyntaxTreeNode) -> Iterator[Node]:
    kind = node.type
    if kind in ("text", "html_inline", "html_block"):
        yield node.content
    elif kind == "softbreak":
        yield "\n"
    elif kind in ("hardbreak", "hr"):
        yield ["br" if kind == "hardbreak" else "hr", None]
    elif kind == "code_inline":
        yield ["code", None, node.content]
    elif kind in ("fence", "code_block"):
        yield ["pre", None, node.content]
    elif kind == "heading":
        yield [_HEADING.get(node.tag, "h6"), None, *_children(node)]
    elif kind == "link":
        yield _link(str(node.attrs.get("href", "")), list(_children(node)))
    elif kind == "image":
        yield _link(str(node.attrs.get("src", "")), [f"[image: {node.content}]"])
    elif tag := _TAGS.get(kind, ""):
        start = node.attrs.get("start") if tag == "ol" else None
        yield [tag, {"start": start} if start is not None else None, *_children(node)]
    else:
        yield from _children(node) if node.children else [node.content]


def _link(address: str, children: list[Node]) -> Node:
    if not address.lower().startswith(_SCHEMES):
        return ["span", None, *children]
    return ["a", {"href": address}, *children]
