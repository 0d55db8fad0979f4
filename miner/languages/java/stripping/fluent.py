"""What chains of AssertJ and Truth, and matchers of Hamcrest, say of one value. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from harness.core.syntax import arguments_of, bare, field_of, text_of, words
from miner.languages.java.stripping.scopes import name_of
from miner.languages.stripping.sites import AS_IT_IS, NOT, Options, contrary

_EACH: Options = {"each": True}
_ARRAYS: Options = {"arrays": True, "typed": True}
_OF: Options = {"of": True}
_CONVERTS: Options = {"converts": True}
"""Texts may stand for dates, dates be compared by what instant they are, and 0.0 be -0.0."""
_WIDENS: Options = {"promotes": "widening"}
"""Numbers are taken as those of the type of the value."""
_ANY: Options = {"any": True}
_TIMES: Options = {"times": True}
_NONE: Options = {**_ANY, **NOT}
CALLED: Options = {"called": True}
"""It is the collection itself that is asked, which may refuse null."""
OBJECTS: Options = {"boxed": True}
"""What is given is boxed where it is primitive."""
FLAT: Options = {"flat": True}
"""An array in something is not what it holds."""
_ORDER: Options = {"total": True, **_WIDENS}
"""Numbers are in the order of `compareTo`: NaN is the last, and -0.0 comes before 0.0."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What is said of a value, in the terms of the host's judge."""

    op: str
    nodes: tuple[Node, ...] = ()
    """What it is compared with."""
    options: Options


_BOTH = 2
Form = tuple[str, Options, int]
"""Operator, options, and how many values it takes; -1 for one or more."""
_MANY = -1
_OF_ONE_CLASS: Options = {"total": True, **OBJECTS}
_COMMON: Mapping[str, Form] = {
    "isNull": ("java.null", {}, 0), "isNotNull": ("java.null", NOT, 0),
    "isTrue": ("java.truth", {}, 0), "isFalse": ("java.truth", NOT, 0),
    "isEmpty": ("java.empty", {}, 0), "isNotEmpty": ("java.empty", NOT, 0),
    "isPresent": ("java.empty", NOT, 0), "hasSize": ("java.size", {}, 1),
    "contains": ("java.contains", {}, _MANY), "doesNotContain": ("java.contains", NOT, 1),
    "hasValue": ("java.contains", {}, 1), "containsKey": ("java.contains", {"keys": True}, 1),
    "startsWith": ("java.starts", {}, 1), "endsWith": ("java.ends", {}, 1),
    "isGreaterThan": ("java.>", _ORDER, 1), "isLessThan": ("java.<", _ORDER, 1), "isInstanceOf": ("java.kind", {}, 1),
    "isNotInstanceOf": ("java.kind", NOT, 1), "doesNotContainKey": ("java.contains", {"keys": True, "not": True}, 1),
    "containsEntry": ("java.entry", {}, 2), "matches": ("java.matches", {}, 1),
    "doesNotMatch": ("java.matches", NOT, 1), "isNaN": ("java.number", {"is": "nan"}, 0),
    "isNotNaN": ("java.number", {"is": "nan", "not": True}, 0), "isFinite": ("java.number", {"is": "finite"}, 0),
}  # fmt: skip
_ASSERTJ: Mapping[str, Form] = {
    **_COMMON,
    "isEqualTo": ("java.equals", {**_ARRAYS, **_CONVERTS, **_WIDENS}, 1),
    "isNotEqualTo": ("java.equals", {**_ARRAYS, **_CONVERTS, **_WIDENS, **NOT}, 1),
    "isSameAs": ("java.same", OBJECTS, 1), "isNotSameAs": ("java.same", {**OBJECTS, **NOT}, 1),
    "hasLength": ("java.size", {}, 1),
    "isNotPresent": ("java.empty", {}, 0), "containsExactly": ("java.items", _EACH, _MANY),
    "containsExactlyInAnyOrder": ("java.items", {"each": True, "sorted": True}, _MANY),
    "containsOnly": ("java.items", {"each": True, "only": True}, _MANY),
    "containsExactlyElementsOf": ("java.items", {}, 1), "isGreaterThanOrEqualTo": ("java.>=", _WIDENS, 1),
    "isLessThanOrEqualTo": ("java.<=", _WIDENS, 1), "isExactlyInstanceOf": ("java.kind", {"exact": True}, 1),
    "containsPattern": ("java.matches", {"part": True}, 1), "containsValue": ("java.contains", {"values": True}, 1),
    "doesNotContain": ("java.contains", _NONE, _MANY), "containsAnyOf": ("java.contains", _ANY, _MANY),
    "containsAll": ("java.contains", _OF, 1), "containsSequence": ("java.contains", {}, 1),
    "containsKeys": ("java.contains", {"keys": True}, _MANY), "isZero": ("java.number", {"is": "zero"}, 0),
    "isNotZero": ("java.number", {"is": "zero", "not": True}, 0), "isOne": ("java.number", {"is": "one"}, 0),
    "isPositive": ("java.number", {"is": "positive"}, 0), "isNegative": ("java.number", {"is": "negative"}, 0),
}  # fmt: skip
_ASSERTJ_MESSAGES: Mapping[str, Form] = {
    f"{verb}Message{end}": ("java.message", {"by": by}, 1)
    for verb in ("has", "with")
    for end, by in (("", "equals"), ("Containing", "contains"), ("StartingWith", "starts"), ("EndingWith", "ends"))
}
_INTEGRAL: Options = {**_ARRAYS, **_WIDENS, "integral": True}
_TRUTH: Mapping[str, Form] = {
    **_COMMON,
    "isEqualTo": ("java.equals", _INTEGRAL, 1), "isNotEqualTo": ("java.equals", {**_INTEGRAL, "not": True}, 1),
    "isSameInstanceAs": ("java.same", OBJECTS, 1), "isNotSameInstanceAs": ("java.same", {**OBJECTS, **NOT}, 1),
    "contains": ("java.contains", {}, 1), "containsExactly": ("java.items", {"each": True, "sorted": True}, _MANY),
    "containsExactlyElementsIn": ("java.items", {"sorted": True}, 1), "isAtLeast": ("java.>=", _ORDER, 1),
    "isAtMost": ("java.<=", _ORDER, 1), "hasLength": ("java.size", {}, 1),
    "containsMatch": ("java.matches", {"part": True}, 1),
    "doesNotContainMatch": ("java.matches", {"part": True, "not": True}, 1),
    "isPositiveInfinity": ("java.number", {"is": "infinity"}, 0), "isAnyOf": ("java.among", {}, _MANY),
    "isNegativeInfinity": ("java.number", {"is": "-infinity"}, 0), "isNoneOf": ("java.among", NOT, _MANY),
    "isIn": ("java.among", _OF, 1), "isNotIn": ("java.among", {**_OF, **NOT}, 1),
    "containsAnyOf": ("java.contains", _ANY, _MANY), "containsAnyIn": ("java.contains", {**_ANY, **_OF}, 1),
    "containsNoneOf": ("java.contains", {**_NONE, **CALLED}, _MANY),
    "containsNoneIn": ("java.contains", {**_NONE, **_OF, **CALLED}, 1),
    "containsAtLeast": ("java.contains", _TIMES, _MANY),
    "containsAtLeastElementsIn": ("java.contains", {**_TIMES, **_OF}, 1),
    "hasCount": ("java.size", {}, 1), "containsExactlyEntriesIn": ("java.equals", {}, 1),
}  # fmt: skip
_OF_MESSAGES = {"isEqualTo": "equals", "contains": "contains", "startsWith": "starts", "endsWith": "ends"}
SAYING = frozenset({"as", "describedAs", "withFailMessage", "overridingErrorMessage"})
_LEADING = dict.fromkeys(("hasCauseThat", "cause"), ("(", ").getCause()")) | {
    "asString": ("(", ").toString()"),
    "asList": ("(java.util.List<?>) (", ")"),
}
"""Calls that lead from a value to one of its own, and what asks for that."""
_MATCHERS: Mapping[str, Form] = {
    "equalTo": ("java.equals", {"arrays": True, "boxed": True}, 1), "nullValue": ("java.null", {}, 0),
    "notNullValue": ("java.null", NOT, 0), "sameInstance": ("java.same", OBJECTS, 1),
    "containsString": ("java.contains", {}, 1), "startsWith": ("java.starts", {}, 1), "endsWith": ("java.ends", {}, 1),
    "hasSize": ("java.size", {}, 1), "empty": ("java.empty", {}, 0), "hasItem": ("java.contains", {}, 1),
    "hasItems": ("java.contains", {}, _MANY), "hasKey": ("java.contains", {"keys": True}, 1),
    "contains": ("java.items", _EACH, _MANY), "greaterThan": ("java.>", _OF_ONE_CLASS, 1),
    "lessThan": ("java.<", _OF_ONE_CLASS, 1), "greaterThanOrEqualTo": ("java.>=", _OF_ONE_CLASS, 1),
    "containsInAnyOrder": ("java.items", {"each": True, "sorted": True}, _MANY),
    "lessThanOrEqualTo": ("java.<=", _OF_ONE_CLASS, 1), "closeTo": ("java.near", _WIDENS, 2),
    "hasEntry": ("java.entry", {}, 2), "instanceOf": ("java.kind", {}, 1),
    "hasValue": ("java.contains", {"values": True}, 1), "isA": ("java.kind", {}, 1), "any": ("java.kind", {}, 1),
    "matchesPattern": ("java.matches", {}, 1), "matchesRegex": ("java.matches", {}, 1),
    **dict.fromkeys(("emptyString", "isEmptyString", "emptyArray", "emptyIterable"), ("java.empty", {}, 0)),
    **dict.fromkeys(("arrayWithSize", "aMapWithSize", "iterableWithSize", "hasLength"), ("java.size", {}, 1)),
    "arrayContaining": ("java.items", _EACH, _MANY), "theInstance": ("java.same", OBJECTS, 1),
    "arrayContainingInAnyOrder": ("java.items", {"each": True, "sorted": True}, _MANY),
    "oneOf": ("java.among", {}, _MANY), "isOneOf": ("java.among", {}, _MANY),
    "notANumber": ("java.number", {"is": "nan"}, 0),
}  # fmt: skip
_OF_NULL = frozenset({"java.null", "java.equals", "java.same", "java.kind", "java.among"})
"""What is asked of null as well; other matchers take none."""
_NOT_NULL: Options = {"null": False}
_ITEMS, _TEXT, _MAP, _ARRAY = "ltTq", "s", "mM", "aB"
_TAKEN: Mapping[str, Mapping[str, str]] = {
    "assertj": {
        **dict.fromkeys(words("isPresent isNotPresent hasValue"), "O"),
        **dict.fromkeys(words("isNaN isNotNaN isFinite"), "f"),
        **dict.fromkeys(words("doesNotContain containsAnyOf containsAll containsSequence"), _TEXT + _ITEMS + _ARRAY),
        **dict.fromkeys(
            words("containsExactly containsExactlyInAnyOrder containsOnly containsExactlyElementsOf"), _ITEMS + _ARRAY
        ),
        "hasSize": _TEXT + _ITEMS + _ARRAY + _MAP,
    },
    "truth": {
        **dict.fromkeys(words("isPresent hasValue"), "O"),
        **dict.fromkeys(words("contains doesNotContain"), _TEXT + _ITEMS),
        **dict.fromkeys(words("containsExactly containsExactlyElementsIn containsAtLeast containsAnyOf"), _ITEMS),
        **dict.fromkeys(words("containsAtLeastElementsIn containsAnyIn containsNoneOf containsNoneIn"), _ITEMS),
        **dict.fromkeys(words("isAnyOf isNoneOf isIn isNotIn"), "bicfsenKaBmMO"),  # items fail it
        "hasSize": _ITEMS + _MAP,
        "hasLength": _TEXT + _ARRAY,
    },
    "hamcrest": {
        **dict.fromkeys(words("containsString startsWith endsWith hasLength matchesPattern matchesRegex"), _TEXT),
        **dict.fromkeys(words("emptyString isEmptyString"), _TEXT),
        **dict.fromkeys(words("hasSize empty hasItem hasItems contains containsInAnyOrder"), _ITEMS),
        **dict.fromkeys(words("iterableWithSize emptyIterable"), _ITEMS),
        **dict.fromkeys(words("arrayWithSize emptyArray arrayContaining arrayContainingInAnyOrder"), _ARRAY),
        "aMapWithSize": _MAP,
    },
}  # fmt: skip
"""By library and method: the kinds of values that it is there for, as a hand-out names them."""
_JOINING = ("allOf", "anyOf")
_WRAPPING = frozenset({"is", "not", "anyOf", "allOf", "both", "either", "everyItem"})


def calls_of(call: Node) -> list[Node]:
    """The calls of a chain, the first first."""
    chain = [call]
    while (holder := field_of(chain[-1], "object")) is not None and holder.type == "method_invocation":
        chain.append(holder)
    return chain[::-1]


def led(kind: str, calls: Sequence[Node]) -> tuple[tuple[str, str], Sequence[Node]]:
    """What the first calls of a chain ask of the value before something is said of it, and the other calls."""
    front, back = AS_IT_IS
    while calls and (name := name_of(calls[0])) in _LEADING and not arguments_of(calls[0]):
        before, after = _LEADING[name] if (kind, name) != ("truth", "asList") else AS_IT_IS
        front, back, calls = before + front, back + after, calls[1:]
    return (front, back), calls


def claims_of(kind: str, calls: Sequence[Node]) -> list[Claim] | None:
    """What the calls of a chain say, after that which is given the value; None where one is not known."""
    forms = _TRUTH if kind == "truth" else {**_ASSERTJ, **_ASSERTJ_MESSAGES}
    claims: list[Claim] = []
    of_message = False
    rest = list(calls)
    while rest:
        call = rest.pop(0)
        name, arguments = name_of(call), arguments_of(call)
        if name in SAYING:
            continue
        if kind == "truth" and name == "hasMessageThat" and not of_message:
            of_message = True
            continue
        if name == "isBetween" and len(arguments) == _BOTH and kind == "assertj":
            ends = zip(("java.>=", "java.<="), arguments, strict=True)
            claims += [Claim(op=op, nodes=(node,), options=_OF_ONE_CLASS) for op, node in ends]
            continue
        if name in ("isIn", "isNotIn") and kind == "assertj" and arguments:
            options = _CONVERTS | (_OF if len(arguments) == 1 else {}) | (NOT if name == "isNotIn" else {})
            claims.append(Claim(op="java.among", nodes=tuple(arguments), options=options))
            continue
        if kind == "truth" and name == "inOrder" and claims and claims[-1].options.get("sorted"):
            options = {key: value for key, value in claims[-1].options.items() if key != "sorted"}
            claims[-1] = Claim(op=claims[-1].op, nodes=claims[-1].nodes, options=options)
            continue
        if of_message:
            claim = _message(name, arguments)
        else:
            kinds = _TAKEN[kind].get(name, "")
            claim = _near(kind, name, arguments, rest) or _claim(forms.get(name), arguments, kinds)
        if claim is None:
            return None
        claims.append(claim)
    return claims


def claims_of_matcher(matcher: Node) -> tuple[list[Claim], Options] | None:
    """What a matcher of Hamcrest says, and how that is joined; None where it is not known."""
    matcher = bare(matcher)
    first, *others = calls_of(matcher) if matcher.type == "method_invocation" else [matcher]
    name = name_of(first) if matcher.type == "method_invocation" else ""
    parts: list[Node] = []
    if name == "is" and [name_of(bare(part)) in _JOINING for part in arguments_of(first)] == [True]:
        return claims_of_matcher(arguments_of(first)[0])
    if name in ("allOf", "anyOf") and not others:
        parts = arguments_of(first)
    elif name in ("both", "either") and {name_of(call) for call in others} == {"and" if name == "both" else "or"}:
        parts = [part for call in (first, *others) for part in arguments_of(call)]
    claims = list(map(claim_of, parts or [matcher]))
    read = [claim for claim in claims if claim is not None]
    joined = (_ANY if name in ("anyOf", "either") else {}) | (_NOT_NULL if name in ("both", "either") else {})
    return (read, joined) if len(read) == len(claims) else None


def claim_of(matcher: Node, *, is_not: bool = False) -> Claim | None:
    """What a matcher of Hamcrest says; None where it is not known."""
    matcher = bare(matcher)
    name = name_of(matcher) if matcher.type == "method_invocation" else ""
    arguments = arguments_of(matcher) if name else []
    if name in ("is", "not") and len(arguments) == 1:
        is_turned = is_not is not (name == "not")
        if is_matcher(arguments[0]):
            return claim_of(arguments[0], is_not=is_turned)
        form: Form | None = _MATCHERS["equalTo"]
        is_not = is_turned
    else:
        form = _MATCHERS.get(name)
    if any(map(is_matcher, arguments)):
        return None
    claim = _claim(form, arguments, _TAKEN["hamcrest"].get(name, ""))
    if claim is not None and claim.op not in _OF_NULL:
        claim = replace(claim, options={**claim.options, **_NOT_NULL})
    return replace(claim, options=contrary(claim.options)) if claim is not None and is_not else claim


def is_matcher(node: Node) -> bool:
    """Whether a node is called like a matcher of Hamcrest."""
    holder = field_of(node, "object") if node.type == "method_invocation" else None
    is_free = holder is None or text_of(holder).rpartition(".")[2] in ("Matchers", "CoreMatchers")
    return node.type == "method_invocation" and is_free and name_of(node) in {*_MATCHERS, *_WRAPPING}


def _claim(form: Form | None, arguments: Sequence[Node], kinds: str = "") -> Claim | None:
    if form is None:
        return None
    op, options, count = form
    if len(arguments) != count and not (count == _MANY and arguments):
        return None
    options = {**options, "takes": kinds} if kinds else options
    is_alone = count == _MANY and len(arguments) == 1  # an array is taken for several then
    return Claim(op=op, nodes=tuple(arguments), options={**options, "spread": True} if is_alone else options)


def _message(name: str, arguments: Sequence[Node]) -> Claim | None:
    by = _OF_MESSAGES.get(name)
    return _claim(("java.message", {"by": by}, 1) if by is not None else None, arguments)


def _near(kind: str, name: str, arguments: Sequence[Node], rest: list[Node]) -> Claim | None:
    """`isCloseTo(x, within(d))` of AssertJ, `isWithin(d).of(x)` of Truth."""
    if kind == "truth" and name == "isWithin" and rest and name_of(rest[0]) == "of":
        return _claim(("java.near", _WIDENS, 2), [*arguments_of(rest.pop(0)), *arguments])
    limits = [name_of(bare(argument)) for argument in arguments[1:]]
    if kind == "assertj" and name == "isCloseTo" and limits in (["within"], ["offset"]):
        return _claim(("java.near", _WIDENS, 2), [arguments[0], *arguments_of(bare(arguments[1]))])
    return None
