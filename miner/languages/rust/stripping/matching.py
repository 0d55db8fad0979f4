"""What a call of a macro gives the parameters of a rule, as stretches of the source. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from harness.core.syntax import COMMENTS, Place, field_of, field_text, text_of
from miner.languages.rust.stripping.static import LITERALS

Pairs = list[tuple[str, Place]]
"""By the name of a parameter, `$` and all: what it is given, as often as it is repeated."""
_BEHIND_EXPRESSIONS = ("=>", ",", ";")
_WORD = re.compile(r"\w+")


def matched(rule: Node, tree: Node) -> Pairs | None:
    """What the tokens of a call give the parameters of a rule; None where they are not of it."""
    pattern = field_of(rule, "left")
    return _matched_in(pattern, tree) if pattern is not None else None


def _matched_in(pattern: Node, tree: Node) -> Pairs | None:
    tokens = _tokens_of(tree)
    step = _matched(_tokens_of(pattern), tokens, 0, ())
    return step[0] if step is not None and step[1] == len(tokens) else None


def _tokens_of(tree: Node) -> list[Node]:
    """What is between the brackets of a tree of tokens, or of a part of a pattern that may be repeated."""
    start = next(place for place, child in enumerate(tree.children) if child.type in ("(", "[", "{")) + 1
    end = next(place for place, child in enumerate(tree.children) if child.type in (")", "]", "}"))
    return [child for child in tree.children[start:end] if child.type not in COMMENTS]


def _matched(
    pattern: Sequence[Node], tokens: Sequence[Node], at: int, behind: tuple[str, ...]
) -> tuple[Pairs, int] | None:
    """What the tokens from one on give, and where that ends; `behind` are tokens that may come after it."""
    pairs: Pairs = []
    for place, part in enumerate(pattern):
        rest = pattern[place + 1 :]
        step: tuple[Pairs, int] | None
        if part.type == "token_repetition_pattern":
            step = _repeated(part, tokens, at, _beginnings(rest, behind))
        elif part.type == "token_binding_pattern":
            end = _end_of(field_text(part, "type"), tokens, at, _beginnings(rest, behind))
            stretch = (tokens[at].start_byte, tokens[end - 1].end_byte) if end > at else None
            step = ([(field_text(part, "name"), stretch)], end) if stretch is not None else None
        elif at == len(tokens):
            step = None
        elif part.type == "token_tree_pattern":
            is_alike = tokens[at].type == "token_tree" and text_of(tokens[at])[0] == text_of(part)[0]
            inner = _matched_in(part, tokens[at]) if is_alike else None
            step = (inner, at + 1) if inner is not None else None
        else:
            step = ([], at + 1) if text_of(tokens[at]) == text_of(part) else None
        if step is None:
            return None
        pairs += step[0]
        at = step[1]
    return pairs, at


def _beginnings(pattern: Sequence[Node], behind: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens that what is matched next may begin with."""
    if not pattern:
        return behind
    if pattern[0].type == "token_repetition_pattern":
        inner = (_between(pattern[0]),) if _between(pattern[0]) else ()
        return (*inner, *_beginnings(_tokens_of(pattern[0]), ()), *_beginnings(pattern[1:], behind))
    return (text_of(pattern[0]),)


def _between(repetition: Node) -> str:
    """The token that stands between two turns of a part that may be repeated; empty where there is none."""
    end = max(child.end_byte for child in repetition.children if child.type == ")")
    return text_of(repetition)[end - repetition.end_byte : -1].strip()


def _repeated(repetition: Node, tokens: Sequence[Node], at: int, behind: tuple[str, ...]) -> tuple[Pairs, int] | None:
    inner, between = _tokens_of(repetition), _between(repetition)
    following = (between, *behind) if between else (*_beginnings(inner, ()), *behind)
    pairs: Pairs = []
    turns = 0
    while at < len(tokens):
        start = at
        if turns and between:
            start = at + 1 if text_of(tokens[at]) == between else len(tokens)
        step = _matched(inner, tokens, start, following) if start < len(tokens) else None
        if step is None or step[1] == start:
            break
        pairs += step[0]
        at, turns = step[1], turns + 1
    return (pairs, at) if turns or not text_of(repetition).endswith("+") else None


def _end_of(kind: str, tokens: Sequence[Node], at: int, behind: tuple[str, ...]) -> int:
    """The place behind what a parameter of a kind takes of tokens; where it begins if that is nothing of it."""
    if at == len(tokens):
        return at
    text = text_of(tokens[at])
    if kind in ("ident", "tt", "block"):
        is_word = _WORD.fullmatch(text) is not None and tokens[at].type not in LITERALS
        return at + 1 if {"ident": is_word, "tt": True, "block": text.startswith("{")}[kind] else at
    if kind == "literal":
        end = at + 1 if text == "-" else at
        return end + 1 if end < len(tokens) and tokens[end].type in LITERALS else at
    ends = {*behind, *_BEHIND_EXPRESSIONS} if kind == "expr" else {*behind}
    depth = 0
    for end in range(at, len(tokens)):
        text = text_of(tokens[end])
        if depth or (text == "<" and (kind == "ty" or text_of(tokens[max(at, end - 1)]) == "::")):
            depth += text.count("<") - (text.count(">") if text in (">", ">>") else 0)
        elif text in ends:
            return end
    return len(tokens)
