"""Libraries of assertions in Go: what each function asks of the values that it is given. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from miner.languages.go.stripping.scopes import OWN
from miner.languages.stripping.sites import NOT

AROUND = {"v": ("", ""), "i": ("interface{}(", ")"), "e": ("error(", ")"), "t": ("(", ").Error()")}
"""What a value is looked at as: itself, an interface, an error, what an error says."""

ASKING = {"k": "GoldseamAs", "s": "GoldseamIs"}
"""What is asked inside of an error and of what stands beside it (harness/languages/go/inside/handout.go)."""

ERRORS: Mapping[str, str] = {
    "archive/tar": "ErrFieldTooLong ErrHeader ErrWriteAfterClose ErrWriteTooLong",
    "archive/zip": "ErrAlgorithm ErrChecksum ErrFormat",
    "bufio": "ErrBufferFull ErrFinalToken ErrNegativeCount ErrTooLong",
    "bytes": "ErrTooLarge",
    "compress/gzip": "ErrChecksum ErrHeader",
    "compress/zlib": "ErrChecksum ErrDictionary ErrHeader",
    "database/sql": "ErrConnDone ErrNoRows ErrTxDone",
    "encoding/csv": "ErrBareQuote ErrFieldCount ErrQuote",
    "encoding/hex": "ErrLength",
    "image": "ErrFormat",
    "mime/multipart": "ErrMessageTooLarge",
    "net/http": "ErrAbortHandler ErrBodyNotAllowed ErrBodyReadAfterClose ErrContentLength ErrHandlerTimeout ErrHijacked"
    " ErrMissingFile ErrNoCookie ErrNoLocation ErrServerClosed ErrUseLastResponse",
    "net/mail": "ErrHeaderNotPresent",
    "os/exec": "ErrNotFound",
    "path": "ErrBadPattern",
    "path/filepath": "ErrBadPattern SkipDir",
}
"""Errors of Go's own packages, by path, that a file which imports these has told apart, whichever it names."""


@dataclass(frozen=True)
class Form:
    """How a function compares."""

    op: str
    takes: str
    """A letter for each value, of `AROUND` or: `c` an error with what it wraps, `p` what may panic, `h` a condition,
    `x` a regular expression, `k` an error and what it is to be set to if it is of that kind, `s` an error and which it
    is to be."""
    options: Mapping[str, object] = field(default_factory=dict)
    is_all: bool = False
    """Whether what it is given more changes what it asks."""
    is_generic: bool = False
    """Whether a constant takes the type of the other value."""


@dataclass(frozen=True, kw_only=True)
class Library:
    """One library."""

    path: re.Pattern[str]
    forms: Mapping[str, Form]
    objects: frozenset[str] = frozenset()
    """Types that have its functions as methods."""
    checking: frozenset[str] = frozenset()
    """Functions that are given a checker: `c.Assert(got, qt.Equals, want)`."""
    checkers: re.Pattern[str] = re.compile("")
    """Packages of checkers."""
    is_plain: bool = False
    """Whether a condition may stand in place of a checker."""


HOLDS = Form("", "h")
_HOLDS_NOT = Form("", "h", NOT)
_TRUE, _FALSE = Form("", "h", {"types": "=="}), Form("", "h", {"types": "==", **NOT})
_NONE, _SOME = Form("go.nil", "e", {"by": "=="}), Form("go.nil", "e", {"by": "==", **NOT})
_IS, _IS_NOT = Form("go.is", "cv"), Form("go.is", "cv", NOT)
_ZERO, _NOT_ZERO = Form("go.zero", "v"), Form("go.zero", "v", NOT)
_SAYS, _SAYS_PART = Form("go.==", "tv"), Form("go.contains", "tv")
_PANICS, _NO_PANIC = Form("go.panics", "p"), Form("no_raise", "p")
_DEEP, _NOT_DEEP = Form("go.deep", "vv"), Form("go.deep", "vv", NOT)
_GENERIC, _NOT_GENERIC = Form("go.deep", "vv", is_generic=True), Form("go.deep", "vv", NOT, is_generic=True)
_KIND = Form("go.truth", "k")
_BY_TYPE = {"by": "type"}
_WHOLE = {"whole": True}
_SAME = Form("go.==", "ii")
_NIL, _NOT_NIL = Form("go.nil", "v"), Form("go.nil", "v", NOT)
_NO_ERROR_NIL = Form("go.nil", "v", {"by": "error"})
_KINDS = {"types": "kinds"}
_IN, _NOT_IN, _LENGTH = Form("go.in", "vv"), Form("go.in", "vv", NOT), Form("go.len", "vv")

TESTIFY = Library(
    path=re.compile(r".*/testify(?:/v\d+)?/(?:assert|require)"),
    objects=frozenset({"Assertions"}),
    forms={
        "Equal": _DEEP, "NotEqual": _NOT_DEEP, "Exactly": _DEEP,
        "EqualValues": Form("go.values", "vv"), "NotEqualValues": Form("go.values", "vv", NOT),
        "Greater": Form("go.>", "vv", _KINDS), "GreaterOrEqual": Form("go.<", "vv", {**_KINDS, **NOT}),
        "Less": Form("go.<", "vv", _KINDS), "LessOrEqual": Form("go.>", "vv", {**_KINDS, **NOT}),
        "Len": _LENGTH, "Contains": _IN, "NotContains": _NOT_IN,
        "ElementsMatch": Form("go.elements", "vv"), "JSONEq": Form("go.json", "vv"),
        "InDelta": Form("go.near", "vvv"), "IsType": Form("go.type", "ii"),
        "True": _TRUE, "False": _FALSE, "Nil": _NIL, "NotNil": _NOT_NIL,
        "Empty": Form("go.empty", "v"), "NotEmpty": Form("go.empty", "v", NOT),
        "Zero": _ZERO, "NotZero": _NOT_ZERO,
        "NoError": _NONE, "Error": _SOME, "EqualError": _SAYS, "ErrorContains": _SAYS_PART,
        "ErrorIs": _IS, "NotErrorIs": _IS_NOT, "ErrorAs": _KIND,
        "Regexp": Form("go.matches", "xv", {"first": "pattern"}),
        "NotRegexp": Form("go.matches", "xv", {"first": "pattern", **NOT}),
        "Panics": _PANICS, "NotPanics": _NO_PANIC, "PanicsWithValue": Form("go.panics", "vp"),
        "PanicsWithError": Form("go.panics", "vp", {"by": "text"}),
    },
)  # fmt: skip
_MATRYER = Library(
    path=re.compile(r".*/matryer/is"),
    objects=frozenset({"I"}),
    forms={"Equal": _DEEP, "True": _TRUE, "NoErr": _NONE},
)
_ALECTHOMAS = Library(
    path=re.compile(r".*/alecthomas/assert(?:/v\d+)?"),
    forms={
        "Equal": _GENERIC, "NotEqual": _NOT_GENERIC, "True": _TRUE, "False": _FALSE,
        "Zero": Form("go.zero", "v", _BY_TYPE), "NotZero": Form("go.zero", "v", {**_BY_TYPE, **NOT}),
        "NoError": _NONE, "Error": _SOME, "EqualError": _SAYS, "IsError": _IS,
        "NotIsError": _IS_NOT, "Contains": Form("go.contains", "vv"), "NotContains": Form("go.contains", "vv", NOT),
        "HasPrefix": Form("go.prefix", "vv"), "HasSuffix": Form("go.suffix", "vv"), "SliceContains": _IN,
        "Panics": _PANICS, "NotPanics": _NO_PANIC,
    },
)  # fmt: skip
_PLAYGROUND = Library(
    path=re.compile(r".*/go-playground/assert(?:/v\d+|\.v\d+)?"),
    forms={"Equal": _DEEP, "NotEqual": _NOT_DEEP, "PanicMatches": Form("go.panics", "pv")},
)
_GOTEST = Library(
    path=re.compile(r"gotest\.tools(?:/v\d+)?/assert"),
    checking=frozenset({"Assert", "Check"}),
    checkers=re.compile(r"gotest\.tools(?:/v\d+)?/assert/cmp"),
    is_plain=True,
    forms={
        "Equal": _SAME, "DeepEqual": Form("go.cmp", "vv", is_all=True), "NilError": _NONE, "Error": _SAYS,
        "ErrorContains": _SAYS_PART, "ErrorIs": _IS, "Len": _LENGTH, "Contains": _IN, "Nil": _NIL,
    },
)  # fmt: skip
_CHECKERS: Mapping[str, Form] = {
    "Equals": _SAME, "DeepEquals": _DEEP, "IsNil": _NIL, "IsNotNil": _NOT_NIL, "NotNil": _NOT_NIL, "ErrorIsNil": _NIL,
    "IsTrue": HOLDS, "IsFalse": _HOLDS_NOT, "HasLen": _LENGTH, "ErrorIs": _IS,
    "StringContains": Form("go.contains", "vv"), "Matches": Form("go.matches", "vx", _WHOLE),
    "ErrorMatches": Form("go.matches", "tx", _WHOLE), "ErrorAs": _KIND,
}  # fmt: skip
_GOCHECK = Library(
    path=re.compile(r"gopkg\.in/check\.v\d|launchpad\.net/gocheck|.*/go-check/check"),
    objects=frozenset({"C"}),
    checking=frozenset({"Assert", "Check"}),
    checkers=re.compile(r"gopkg\.in/check\.v\d|launchpad\.net/gocheck|.*/go-check/check|.*/juju/testing/checkers"),
    forms=_CHECKERS,
)
_QUICKTEST = Library(
    path=re.compile(r".*/frankban/quicktest|.*/go-quicktest/qt"),
    objects=frozenset({"C"}),
    checking=frozenset({"Assert", "Check"}),
    checkers=re.compile(r".*/frankban/quicktest|.*/go-quicktest/qt"),
    forms={
        **_CHECKERS, "DeepEquals": Form("go.cmp", "vv"), "Contains": _IN, "IsNil": _NO_ERROR_NIL,
        "IsNotNil": Form("go.nil", "v", {**_NO_ERROR_NIL.options, **NOT}),
    },
)  # fmt: skip
_ALL = (TESTIFY, _MATRYER, _ALECTHOMAS, _PLAYGROUND, _GOTEST, _GOCHECK, _QUICKTEST)


def called(path: str) -> Library | None:
    """The library whose functions a package has."""
    return next((library for library in _ALL if library.path.fullmatch(path) and not path.startswith(OWN)), None)


def form_of(library: Library, name: str) -> Form | None:
    """How a function of a library compares; `…f` is the same with a message that is put together."""
    if name not in library.forms and name.endswith("f"):
        name = name[:-1]
    return library.forms.get(name)
