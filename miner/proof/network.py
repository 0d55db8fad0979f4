"""Whether a failure tells of a network, or of a service, that is not there. Pure; a label, no part of a verdict."""

from __future__ import annotations

import errno
import re

from harness.languages.base import Chain, TestReport

_NAMES = frozenset({"gaierror", "NameResolutionError", "ServerNotFoundError"})
_NUMBERS = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN})
_WORDS = re.compile(
    r"gaierror|Temporary failure in name resolution|Name or service not known|nodename nor servname|getaddrinfo failed"
    r"|No address associated with hostname|Network is unreachable|No route to host|NameResolutionError"
    r"|Failed to establish a new connection: \[Errno (?:-\d|101|113)\]|Could not resolve host|[Nn]ame resolution"
    r"|urlopen error \[Errno (?:-\d|101|113)\]"
)
_REFUSED = re.compile(
    r"[Cc]onnection refused|ConnectionRefusedError|\[Errno 111\]|Error 111 connecting|could not connect to server"
    r"|connection to server (?:at|on) |Can't connect to (?:local |MySQL )?.{0,40}server|ServerSelectionTimeoutError"
    r"|NoBrokersAvailable|NoHostAvailable|No servers (?:found|available)|AMQPConnectionError"
)


def refused(report: TestReport) -> tuple[str, ...]:
    """The test ids, and the files that could not be collected, whose failure tells of nobody at a port; sorted."""
    number = errno.ECONNREFUSED
    raised = {**report.raised, **report.collect_raised}
    items = {test_id for test_id, chain in raised.items() if any(link.errno == number for link in chain)}
    texts = {**report.texts, **report.collect_errors}
    return tuple(sorted(items | {test_id for test_id, text in texts.items() if _REFUSED.search(text)}))


def lacking(report: TestReport) -> tuple[str, ...]:
    """The test ids, and the files that could not be collected, whose failure tells of a missing network; sorted."""
    items = {test_id for test_id, chain in report.raised.items() if _in_chain(chain)}
    items |= {test_id for test_id, chain in report.collect_raised.items() if _in_chain(chain)}
    items |= {test_id for test_id, text in report.texts.items() if _WORDS.search(text)}
    items |= {test_id for test_id, text in report.collect_errors.items() if _WORDS.search(text)}
    return tuple(sorted(items))


def _in_chain(chain: Chain) -> bool:
    return any(_NAMES & set(link.names) or link.errno in _NUMBERS for link in chain)
