"""A stripped test file in Go without what a tree lacks the names for, so that the rest can be run. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from harness.core.syntax import field_of, field_text, is_in, named, place_of, text_of, upward, walk, with_next
from miner.languages.go.stripping.scopes import FUNCTIONS, listed, parse
from miner.languages.stripping.source import Edits, lines_of, rewritten

TRYING = "Try"
"""Behind the name of what hands out: that of what gives it an operand which may panic where it does not count."""
_AT = r"(?:^|/)%s:(\d+)(?::(\d+))?:? ?(.*)"
"""Where the compiler complains of a file and of what, or a panic came through it."""
_MISMATCH = re.compile(r"assignment mismatch: (\d+) variables? but .* returns (\d+) value")
_GOES_ON = {"Fatal": "Error", "Fatalf": "Errorf", "FailNow": "Fail", "require": "assert"}
_ZEROS = {"nil": "0", "0": '""', '""': ""}
"""Zero values by the outer that was tried before."""
_BLOCKS = frozenset({"block", "statement_list"})


def unstopped(text: str, name: str, output: str, *, is_first: bool, hand_out: str) -> str:
    """The file without what the compiler complains of in it, or a panic came from; the same where it is nothing.

    `output` is what a run of that text printed, `name` what the file is called without its folders. At first what ends
    a test is made to go on as well.
    """
    return rewritten(text, parse, lambda root: _edits(root, name, output, hand_out, is_first=is_first))


def _edits(root: Node, name: str, output: str, hand_out: str, *, is_first: bool) -> Edits:
    edits = _going_on(root) if is_first else {}
    for line, column, words in re.findall(_AT % re.escape(name), output, re.MULTILINE):
        row, at = int(line) - 1, int(column or 1) - 1
        node = root.descendant_for_point_range((row, at), (row, at + 1)) if column else _statement_on(root, row)
        for place, pieces in _without(node, words, hand_out).items() if node is not None else ():
            edits[place] = pieces if place[0] < place[1] else (*edits.get(place, ()), *pieces)
        if not column:  # what a panic came through before that is what called it
            break
    return edits


def _going_on(root: Node) -> Edits:
    edits: Edits = {}
    for node in walk(root):
        word = text_of(node)
        if node.type == "field_identifier" and word in _GOES_ON and _is_called(node):
            edits[place_of(node)] = (_GOES_ON[word],)
        if node.type == "import_spec" and (path := field_of(node, "path")) is not None:
            package = text_of(path).strip('"`')
            if package.endswith("/testify/require") and field_of(node, "name") is None:
                edits[place_of(node)] = (f'require "{package.removesuffix("require")}assert"',)
    return edits


def _is_called(field: Node) -> bool:
    """Whether the selector of a field is called."""
    called = field.parent.parent if field.parent is not None else None
    return called is not None and field_text(called, "function") == text_of(field.parent)


def _statement_on(root: Node, row: int) -> Node | None:
    """The innermost statement that stands on a line."""
    on_line = (
        node
        for node in walk(root)
        if node.parent is not None
        and node.parent.type in _BLOCKS
        and node.is_named
        and node.type != "statement_list"
        and node.start_point[0] <= row <= node.end_point[0]
    )
    return min(on_line, key=lambda node: node.end_byte - node.start_byte, default=None)


def _without(node: Node, words: str, hand_out: str) -> Edits:
    """What takes away the reason of a complaint about a node."""
    around = list(upward(node))
    for part in (_fewer_names, _used_names, _fewer_arguments, _shorter_chain):
        if edits := part(node, words, around):
            return edits
    return next((edits for outer in around if (edits := _dropped(outer, hand_out))), {})


def _fewer_names(_node: Node, words: str, around: Sequence[Node]) -> Edits:
    match = _MISMATCH.search(words)
    statements = [outer for outer in around if outer.type == "short_var_declaration"] if match is not None else []
    return _fewer(statements[0], int(match[2])) if match is not None and statements else {}


def _used_names(node: Node, words: str, around: Sequence[Node]) -> Edits:
    if "declared and not used" in words or "declared but not used" in words:
        return _used(node)
    if "imported" in words and "not used" in words:
        specs = (outer for outer in around if outer.type == "import_spec")
        return {place_of(spec): (f"_ {field_text(spec, 'path')}",) for spec in specs}
    return {(node.start_byte, node.start_byte): ('; panic("")',)} if words.startswith("missing return") else {}


def _fewer_arguments(_node: Node, words: str, around: Sequence[Node]) -> Edits:
    for outer in around if words.startswith("too many arguments") else ():
        if outer.parent is not None and outer.parent.type == "argument_list":
            return {(outer.start_byte, outer.parent.end_byte - 1): ("",)}
    return {}


def _shorter_chain(node: Node, words: str, around: Sequence[Node]) -> Edits:
    """A chain of methods without the one that is missing, as if that gave what it is called on."""
    for outer in around if "has no field or method" in words and _is_called(node) else ():
        operand = field_of(outer, "operand") if outer.type == "selector_expression" else None
        if operand is not None:
            return {place_of(outer.parent or outer): (place_of(operand),)}
    return {}


def _dropped(node: Node, hand_out: str) -> Edits:
    """The edit that drops a node, where something stands without it; none where only more can go."""
    around = node.parent
    if around is None or not node.is_named:
        return {}
    if around.type == "argument_list" and not _is_of_hand_out(around.parent, hand_out):
        return {with_next(node, ","): ("",)}
    if node.type == "keyed_element":
        return {with_next(node, ","): ("",)}
    if node.type == "literal_element" and around.type == "literal_value":
        zero = _ZEROS.get(text_of(node), "nil")  # of its type, whatever that is
        return {place_of(node): (zero,)} if zero else {place_of(around): ("{}",)}
    if _is_hand_out(node, hand_out):
        return {} if around.type == "expression_statement" else {place_of(node): ("false",)}
    if around.type in _BLOCKS and node.type != "statement_list" and not _is_handed(around, hand_out):
        return {place_of(node): (_in_place_of(node),)}
    if node.type == "import_spec" or around.type == "source_file":
        return {place_of(node): (lines_of(node),)}
    return {}


def _is_hand_out(node: Node | None, hand_out: str) -> bool:
    return node is not None and field_text(node, "function").endswith(f".{hand_out}")


def _is_of_hand_out(node: Node | None, hand_out: str) -> bool:
    """Whether a call hands out, or gives one operand of what does."""
    return _is_hand_out(node, hand_out) or _is_hand_out(node, hand_out + TRYING)


def _is_handed(block: Node, hand_out: str) -> bool:
    """Whether a block is that of a function which hands out operands."""
    function = next((outer for outer in upward(block) if outer.type in FUNCTIONS), None)
    given = function.parent if function is not None else None
    return given is not None and given.type == "argument_list" and _is_of_hand_out(given.parent, hand_out)


def _in_place_of(statement: Node) -> str:
    lines = lines_of(statement)
    if statement.type == "return_statement":
        return f'panic(""){lines}'
    names = listed(field_of(statement, "left")) if statement.type == "short_var_declaration" else []
    return f"var err error; _ = err{lines}" if "err" in map(text_of, names) else lines


def _fewer(statement: Node, count: int) -> Edits:
    """Names that are set to what a call gives, where it gives fewer values: those that are left over are `nil`."""
    left, right = field_of(statement, "left"), field_of(statement, "right")
    outer = statement.parent
    names = list(map(text_of, listed(left)))
    if left is None or right is None or outer is None or not 0 < count < len(names):
        return {}
    rest = (f"var {name} {'error' if name == 'err' else 'interface{}'}; _ = {name}; " for name in names[count:])
    more = "".join(declared for declared in rest if not declared.startswith("var _ "))
    sign = "=" if set(names[:count]) == {"_"} else ":="
    edits: Edits = {(left.start_byte, right.start_byte): (f"{', '.join(names[:count])} {sign} ",)}
    if outer.type in _BLOCKS:
        return edits | {(statement.start_byte, statement.start_byte): (more,)}
    return edits | {(outer.start_byte, outer.start_byte): (f"{{ {more}",), (outer.end_byte, outer.end_byte): (" }",)}


def _used(node: Node) -> Edits:
    """The use of a name that is declared."""
    for outer in upward(node):
        if outer.parent is None or outer.parent.type not in _BLOCKS or outer.type == "statement_list":
            continue
        use = f"_ = {text_of(node)}"
        if outer.type in ("short_var_declaration", "var_declaration"):
            return {(outer.end_byte, outer.end_byte): (f"; {use}",)}
        bodies = [child for child in named(outer) if child.type == "block"]
        if bodies and not is_in(node, [place_of(bodies[0])]):
            return {(bodies[0].start_byte + 1, bodies[0].start_byte + 1): (f" {use};",)}
        return {place_of(outer): (lines_of(outer),)}
    return {}
