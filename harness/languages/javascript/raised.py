"""What a failure in JavaScript came of, read from its text: a label, no part of a verdict. Pure.

Runners hand on what was thrown as text alone: its stack, or what they make of it.
"""

from __future__ import annotations

import errno
import re

from harness.languages.base import Chain, Raised

_MOST = 4000
_ASSERTION = re.compile(
    r"\s*(?:AssertionError\b|Assertion: |Error: expect(?:\(|ed )|assert\.\w+\(received|(?:Died on [^:]*: )?Expected )"
)
"""How those of node, chai, uvu, jest, expect.js and jasmine begin."""
_ERROR = re.compile(
    r"^(?:not ok \d+ - |[ \w]*: )?(\w*(?:Error|Exception))(?: \[\w+\])?: "
    r"|Error thrown in test:'?: \|-\s+(\w+) \{|^    (?:name: )?(SyntaxError)\b|(Died on test)",
    re.MULTILINE,
)
"""A stack's first line, also within what Node prints of one that nobody catches; ava's and QUnit's forms."""
_MODULE = re.compile(r"Cannot find (?:module|package) \\?'([^'\\]+)|does not provide an export named")
_UNPARSED = re.compile(r"(/testbed/[^\s:'\"]+):\d+$|^ *SyntaxError: (/testbed/[^\s:'\"]+):", re.MULTILINE)
"""The file that Node or Babel names above or in a syntax error; `JSON.parse` names none."""
_CODE = re.compile(r"(?:: |code: '|getaddrinfo )(E[A-Z_]{2,})\b")
_NO_NETWORK = frozenset({"ENOTFOUND", "EAI_AGAIN"})


def raised(text: str) -> Chain:
    """What was thrown, by the text of a failing test or of a file that could not be loaded; empty if it shows none."""
    text = text[:_MOST]
    if _ASSERTION.match(text):
        return (Raised(names=("AssertionError",)),)
    if module := _MODULE.search(text):
        name = module[1] or ""
        is_package = not name.startswith((".", "/", "file:", "#"))
        return (Raised(names=("ImportError",), missing=name if is_package else ""),)
    match = _ERROR.search(text)
    if match is None:
        return ()
    name = match[1] or match[2] or match[3] or "Error"
    file = _UNPARSED.search(text) if name == "SyntaxError" else None
    code = _CODE.search(text, match.start())
    return (
        Raised(
            names=("gaierror",) if code and code[1] in _NO_NETWORK else (name,),
            errno=getattr(errno, code[1], None) if code else None,
            file=(file[1] or file[2]) if file else "",
        ),
    )
