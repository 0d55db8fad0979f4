"""Markdown as a tree of a few harmless elements, from which the page makes DOM nodes: HTML is never parsed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = str | list[Any]
"""A text, or `[tag, attributes or null, children…]`. docs/report.md has the tags."""

_READER = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
_TAGS = {
    "paragraph": "p",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "blockquote": "blockquote",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
    "em": "em",
    "strong": "strong",
    "s": "s",
    "inline": "",
    "root": "",
}
"""By the parser's name; an empty tag stands for its children."""
_HEADING = {"h1": "h4", "h2": "h4", "h3": "h5"}
"""A statement's headings come below those of the page."""
_SCHEMES = ("http://", "https://")


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
