"""What `@hapi/code` has a value be: `expect(x).to.be.an.array()`, as tests of lab ask for it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.core.syntax import words
from miner.languages.stripping.sites import NOT

if TYPE_CHECKING:
    from tree_sitter import Node

    from miner.languages.stripping.sites import Options

MODULES = ("@hapi/code", "code")
AWAITED = {"throw": "", "throws": "", "reject": "body", "rejects": "body"}
"""What asks for an error, and what of it is waited for."""
_GRAMMAR = words("a an and at be have in to")
_VALUES = words("true false null undefined NaN")
_KINDS = words("string number boolean array function")
"""Those of which it says the same as chai does."""
_COUNTED: Options = {"by": "keys", "rules": "code"}
_OF_TWO: Mapping[str, tuple[str, Options]] = {
    **dict.fromkeys(("equal", "equals"), ("js.deep", {"rules": "code"})), "length": ("js.length", _COUNTED),
    **dict.fromkeys(("above", "greaterThan"), ("js.>", {})), **dict.fromkeys(("below", "lessThan"), ("js.<", {})),
    **dict.fromkeys(("least", "min"), ("js.>=", {})), **dict.fromkeys(("most", "max"), ("js.<=", {})),
    **dict.fromkeys(("instanceof", "instanceOf"), ("js.instance", {})),
    **dict.fromkeys(("include", "includes", "contain", "contains"), ("js.contain", {})),
    **dict.fromkeys(("match", "matches"), ("js.match", {})),
}  # fmt: skip
_OF = {"js.contain": words("string number"), "js.match": words("regex")}
"""By operator: how its argument is written where it says the same as the host's."""


def flags_of(chain: Sequence[str]) -> list[str]:
    """The words of a chain before its last that turn it or change what it compares."""
    return [word for word in chain[:-1] if word not in _GRAMMAR]


def read(chain: Sequence[str], arguments: Sequence[Node]) -> tuple[str, Options, str] | None:
    """The operator, its options, and what the value is held against where that is no argument; None of other chains."""
    name, flags = chain[-1], flags_of(chain)
    turned: Options = NOT if "not" in flags else {}
    if len(set(flags)) < len(flags) or set(flags) - {"not", "shallow"}:
        return None
    if not arguments and "shallow" not in flags:
        if name in _VALUES:
            return "js.is", turned, name
        if name in ("exist", "exists"):
            return "js.==", {} if turned else NOT, "null"
        if name == "empty":
            return "js.length", {**_COUNTED, **turned}, "0"
        return ("js.kind", turned, f'"{name}"') if name in _KINDS else None
    if len(arguments) != 1 or name not in _OF_TWO:
        return None
    op, options = _OF_TWO[name]
    if "shallow" in flags:
        return ("js.===", turned, "") if op == "js.deep" else None
    is_known = op not in _OF or arguments[0].type in _OF[op]
    return (op, {**options, **turned}, "") if is_known else None
