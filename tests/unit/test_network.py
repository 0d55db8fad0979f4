"""Whether a failure tells of a network that is not there."""

from __future__ import annotations

import errno

import pytest

from harness.languages.base import Raised, TestReport
from miner.proof.network import lacking, refused


@pytest.mark.parametrize(
    "inner",
    [
        Raised(names=("gaierror", "OSError"), errno=-3),
        Raised(names=("OSError",), errno=errno.ENETUNREACH),
        Raised(names=("NameResolutionError", "HTTPError")),
    ],
)
def test_an_exception_behind_the_failure_tells(inner):
    chain = (Raised(names=("ConnectionError",)), inner)
    assert lacking(TestReport(raised={"t.py::a": chain}, collect_raised={"u.py": chain})) == ("t.py::a", "u.py")


@pytest.mark.parametrize(
    "text",
    [
        "<urlopen error [Errno -2] Name or service not known>",
        "(Caused by NewConnectionError(': Failed to establish a new connection: [Errno 101] Network is unreachable'))",
        "curl: (6) Could not resolve host: example.org",
        "TypeError: fetch failed\ncaused by: Error: getaddrinfo EAI_AGAIN example.org",
        "java.net.UnknownHostException: example.org",
        'Get "http://example.org/": dial tcp: lookup example.org on [::1]:53: read udp: connection refused',
        'Custom { kind: Uncategorized, error: "failed to lookup address information: Try again" }',
    ],
)
def test_the_words_of_a_failure_tell(text):
    assert lacking(TestReport(texts={"t.py::a": text}, collect_errors={"u.py": text})) == ("t.py::a", "u.py")


def test_a_refused_connection_to_this_machine_tells_nothing():
    refused = Raised(names=("ConnectionRefusedError", "ConnectionError", "OSError"), errno=errno.ECONNREFUSED)
    report = TestReport(raised={"t.py::a": (refused,)}, texts={"t.py::a": "[Errno 111] Connection refused"})
    assert lacking(report) == ()


def test_an_assertion_tells_nothing():
    assert (
        lacking(TestReport(raised={"t.py::a": (Raised(names=("AssertionError",)),)}, texts={"t.py::a": "1 != 2"})) == ()
    )


@pytest.mark.parametrize(
    "text",
    [
        "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.",
        'psycopg2.OperationalError: connection to server at "localhost" (127.0.0.1), port 5432 failed',
        "pymysql.err.OperationalError: (2003, \"Can't connect to MySQL server on 'localhost'\")",
        "pymongo.errors.ServerSelectionTimeoutError: localhost:27017",
        "AggregateError\ncaused by: Error: connect ECONNREFUSED ::1:6379",
        "org.postgresql.util.PSQLException: Connection to localhost:5432 refused.",
        "com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure",
        "dial tcp 127.0.0.1:6379: connect: connection refused",
        'Os { code: 111, kind: ConnectionRefused, message: "Connection refused" }',
        "java.lang.IllegalStateException: Could not find a valid Docker environment. Please see logs",
        "Error: Could not find a working container runtime strategy",
        "dial unix /var/run/docker.sock: connect: no such file or directory",
    ],
)
def test_a_service_that_is_not_there_tells(text):
    assert refused(TestReport(texts={"t.py::a": text}, collect_errors={"u.py": text})) == ("t.py::a", "u.py")
    behind = (Raised(names=("Odd",)), Raised(names=("OSError",), errno=errno.ECONNREFUSED))
    assert refused(TestReport(raised={"t.py::a": behind}, texts={"t.py::b": "assert 1 == 2"})) == ("t.py::a",)
