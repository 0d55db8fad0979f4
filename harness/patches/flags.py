"""Review flags: what in a patch a person should look at before believing a pass. Never part of the verdict. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from harness.patches.patch import Patch

_PYTHON = {
    "frames": rb"\b_getframe\b|\bf_(locals|globals|back|code)\b|\binspect\.(stack|currentframe)\b",
    "garbage_collector": rb"\bgc\.(get_objects|get_referrers|get_referents)\b",
    "ctypes": rb"\bctypes\b",
    "source_lines": rb"\blinecache\b|\binspect\.getsource",
    "test_runner": rb"\b(_pytest|pytest|pluggy|unittest)\b|PYTEST_CURRENT_TEST|__goldseam",
    "exit": rb"\bos\._exit\b|\bos\.(kill|abort)\b",
    "modules": rb"\bsys\.(modules|meta_path|path_hooks)\b|\b__import__\b",
    "tracing": rb"\b(settrace|setprofile|addaudithook)\b",
    "equality": rb"def __(eq|ne|bool|hash|instancecheck|subclasscheck)__\b",
    "descriptors": rb"\bos\.(write|dup2?|fdopen)\b|/proc/",
    "code_from_text": rb"\b(exec|eval|compile)\s*\(",
}
_JAVASCRIPT = {
    "frames": rb"\bprepareStackTrace\b|\bgetCallSites\b|\barguments\.callee\b",
    "test_runner": rb"['\"](node:test|@?jest|vitest|mocha|ava|tape?|jasmine|uvu|qunit|chai)['\"/]|__goldseam",
    "exit": rb"\bprocess\.(exit|reallyExit|abort|kill)\b",
    "modules": rb"\brequire\.(cache|extensions)\b|\bModule\._\w+|\bprocess\.(binding|dlopen|_linkedBinding)\b",
    "tracing": rb"['\"](node:)?(inspector|trace_events|v8)['\"]",
    "equality": rb"\bSymbol\.hasInstance\b|\b(Object|Array|String|Number|Promise|Map|Function)\.prototype\.\w+ *=[^=]",
    "descriptors": rb"\bfs\.writeSync\b|/proc/",
    "code_from_text": rb"\beval\s*\(|\bnew Function\b|['\"](node:)?vm['\"]",
}
_GO = {
    "frames": rb"\bruntime\.(Callers?|CallersFrames|Stack)\b",
    "memory": rb"\"(unsafe|syscall|C)\"|\bgolang\.org/x/sys\b|//go:linkname",
    "test_runner": rb"\"testing\"|\"test\.\w+\"|\bgoldseam",
    "exit": rb"\bos\.Exit\b|\bsyscall\.(Exit|Kill)\b|\bruntime\.Goexit\b",
    "tracing": rb"\"runtime/(debug|trace|pprof)\"",
    "equality": rb"\bfunc \([^)]*\) (Equal|Is)\(",
    "descriptors": rb"\bos\.NewFile\b|/proc/",
}
_JAVA = {
    "frames": rb"\bgetStackTrace\b|\bStackWalker\b",
    "memory": rb"\bUnsafe\b|\bjdk\.internal\b|\bSystem\.load(Library)?\b|\bsetAccessible\b|\bprivateLookupIn\b",
    "test_runner": rb"\borg\.(junit|testng|assertj|hamcrest|mockito)\b|\bjunit\.framework\b|\bgoldseam\b",
    "exit": rb"\bSystem\.exit\b|\bRuntime\.halt\b|\.halt\(|\bexitProcess\b",
    "modules": rb"\bInstrumentation\b|\bdefineClass\b|\b(pre|agent)main\b",
    "equality": rb"\b(boolean|fun) equals\s*\(|\b(int|fun) hashCode\s*\(",
    "descriptors": rb"\bFileDescriptor\b|/proc/",
    "code_from_text": rb"\bScriptEngine|\bJavaCompiler\b",
}
_RUST = {
    "frames": rb"\bBacktrace\b",
    "memory": rb"\blibc::|\basm!|\btransmute\b",
    "test_runner": rb"\bRUST_TEST|\bcfg!\(test\)|\bgoldseam",
    "exit": rb"\bprocess::(exit|abort)\b",
    "tracing": rb"\bpanic::(set_hook|take_hook|catch_unwind)\b",
    "equality": rb"\bimpl\b[^{]* PartialEq\b",
    "descriptors": rb"\bfrom_raw_fd\b|/proc/",
}
_BY_SUFFIX: Mapping[str, Mapping[str, bytes]] = {
    **dict.fromkeys((".py", ".pyi", ".pyw"), _PYTHON),
    **dict.fromkeys((".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx", ".vue", ".svelte"), _JAVASCRIPT),
    ".go": _GO,
    **dict.fromkeys((".java", ".kt", ".kts", ".groovy"), _JAVA),
    ".rs": _RUST,
}
"""What honest fixes rarely need and forgeries often do; by the threats of docs/security.md and the attack suite."""


@dataclass(frozen=True, kw_only=True)
class Flag:
    """One thing to look at."""

    path: str
    sign: str


def flags(patch: Patch) -> tuple[Flag, ...]:
    """The signs in the lines that a patch adds to source files, each once a file."""
    flags_found: list[Flag] = []
    for file in patch.files:
        signs = _BY_SUFFIX.get(PurePosixPath(file.path).suffix)
        if signs is None:
            continue
        added = b"\n".join(line[1:] for line in file.raw.split(b"\n") if line[:1] == b"+" and line[:4] != b"+++ ")
        flags_found += [Flag(path=file.path, sign=sign) for sign, words in signs.items() if re.search(words, added)]
    return tuple(flags_found)
