"""Whether a failure tells of a network, or of a service, that is not there. Pure; a label, no part of a verdict."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable

from harness.languages.base import Raised, TestReport

_NAMES = frozenset({"gaierror", "NameResolutionError", "ServerNotFoundError"})
_NUMBERS = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN})
_WORDS = re.compile(
    r"gaierror|Temporary failure in name resolution|Name or service not known|nodename nor servname|getaddrinfo failed"
    r"|No address associated with hostname|Network is unreachable|No route to host|NameResolutionError"
    r"|Failed to establish a new connection: \[Errno (?:-\d|101|113)\]|Could not resolve host|[Nn]ame resolution"
    r"|urlopen error \[Errno (?:-\d|101|113)\]"
    r"|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|UnknownHostException|UnresolvedAddressException"  # Node's, Java's
    r"|dial (?:tcp|udp)\d?: lookup |failed to lookup address information"  # Go's, Rust's
)
_DOCKER = (
    r"docker\.sock|[Vv]alid Docker environment|[Cc]annot connect to the Docker daemon|container runtime strategy"
    r"|[Rr]ootless Docker not found"
)
"""What clients of a container engine say that find none, such as Testcontainers in each of its languages."""
_REFUSED = re.compile(
    r"[Cc]onnection refused|ConnectionRefusedError|\[Errno 111\]|Error 111 connecting|could not connect to server"
    r"|connection to server (?:at|on) |Can't connect to (?:local |MySQL )?.{0,40}server|ServerSelectionTimeoutError"
    r"|NoBrokersAvailable|NoHostAvailable|No servers (?:found|available)|AMQPConnectionError"
    r"|ECONNREFUSED|Connection to \S{1,200} refused|Communications link failure|MongoTimeoutException"
    rf"|{_DOCKER}"
)


def refused(report: TestReport) -> tuple[str, ...]:
    """The test ids, and the files that could not be collected, whose failure tells of nobody at a port; sorted."""
    return _failing(report, lambda link: link.errno == errno.ECONNREFUSED, _REFUSED)


def lacking(report: TestReport) -> tuple[str, ...]:
    """The test ids, and the files that could not be collected, whose failure tells of a missing network; sorted."""
    return _failing(report, lambda link: bool(_NAMES & set(link.names)) or link.errno in _NUMBERS, _WORDS)


def _failing(report: TestReport, tells: Callable[[Raised], bool], words: re.Pattern[str]) -> tuple[str, ...]:
    """The test ids and files of which an exception `tells`, or what is printed has these words."""
    chains = (*report.raised.items(), *report.collect_raised.items())
    texts = (*report.texts.items(), *report.collect_errors.items())
    items = {test_id for test_id, chain in chains if any(map(tells, chain))}
    return tuple(sorted(items | {test_id for test_id, text in texts if words.search(text)}))
