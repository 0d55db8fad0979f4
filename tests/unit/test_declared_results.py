"""Results files of declared runners: what each format says, what is refused, and that no bytes break a reader."""

from __future__ import annotations

import json
import random
import time

import pytest

from harness.core.instance import TestStatus
from harness.languages.declared import results

PHPUNIT = b"""<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="" tests="3"><testsuite name="A\\SumTest" file="/testbed/tests/SumTest.php">
<testcase name="testSum" class="A\\SumTest" classname="A.SumTest" file="/testbed/tests/SumTest.php" time="0.01"/>
<testsuite name="A\\SumTest::testRow"><testcase name="testRow with data set #0" classname="A.SumTest" time="1,234.5">
<failure type="X">Failed asserting &lt;1&gt;</failure></testcase></testsuite>
<testcase name="testLater" classname="A.SumTest"><skipped/></testcase></testsuite></testsuite></testsuites>"""
CTEST = b"""<testsuite name="Linux-c++" tests="3"><testcase name="parse" classname="parse" time="0.001" status="run"/>
<testcase name="print" classname="print" status="fail"><failure message="Exit code 1"/></testcase>
<testcase name="later" classname="later" status="notrun"><skipped message="no file"/></testcase></testsuite>"""
TAP = b"""TAP version 14
1..4
# Subtest: nested
    ok 1 - inner
    1..1
ok 1 - nested
not ok 2 - handles issue #12
ok 3 - later # SKIP no network
not ok 4 - some day # TODO
okay then
"""
CTRF = json.dumps(
    {
        "results": {
            "tool": {"name": "x"},
            "tests": [
                {"name": "adds", "status": "passed", "duration": 1500, "suite": ["sums", "plain"], "filePath": "a.ts"},
                {"name": "breaks", "status": "failed", "duration": 1, "message": "no", "suite": "sums"},
                {"name": "odd", "status": "other", "duration": 0},
            ],
        }
    }
).encode()
RSPEC = json.dumps(
    {
        "examples": [
            {"full_description": "Sum adds", "status": "passed", "file_path": "./spec/sum_spec.rb", "run_time": 0.5},
            {"full_description": "Sum breaks", "status": "failed", "exception": {"message": "expected 2"}},
            {"full_description": "Sum waits", "status": "pending"},
        ]
    }
).encode()
TRX = b"""<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"><Results>
<UnitTestResult testId="1" testName="N.Sums.Adds" outcome="Passed" duration="00:00:01.5"/>
<UnitTestResult testId="2" testName="Breaks(1)" outcome="Failed">
<Output><ErrorInfo><Message>no</Message></ErrorInfo></Output>
</UnitTestResult></Results><TestDefinitions><UnitTest id="1"><TestMethod className="N.Sums" name="Adds"/></UnitTest>
<UnitTest id="2"><TestMethod className="N.Sums" name="Breaks"/></UnitTest></TestDefinitions></TestRun>"""
WHOLE = {"junit": PHPUNIT, "tap": TAP, "ctrf": CTRF, "rspec": RSPEC, "trx": TRX}
P, F, E, S = TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR, TestStatus.SKIPPED


def told(form, data):
    return {result.names: result.status for result in results.read(form, data)}


def why_not(form, data):
    with pytest.raises(results.UnreadableError) as caught:
        results.read(form, data)
    return str(caught.value)


def test_junit_of_phpunit():
    suite = "A.SumTest"
    assert told("junit", PHPUNIT) == {
        (suite, "testSum"): P,
        (suite, "testRow with data set #0"): F,
        (suite, "testLater"): S,
    }
    rows = {result.names[-1]: result for result in results.read("junit", PHPUNIT)}
    assert {result.file for result in rows.values()} == {"/testbed/tests/SumTest.php"}
    assert rows["testRow with data set #0"].seconds == 1234.5
    assert rows["testRow with data set #0"].text == "Failed asserting <1>"


def test_junit_of_ctest():
    assert told("junit", CTEST) == {("parse",): P, ("print",): F, ("later",): S}


def test_what_an_attribute_says_was_not_run_has_not_passed():
    data = b'<testsuite><testcase name="a" status="notrun"/><testcase name="b" result="suppressed"/></testsuite>'
    assert told("junit", data) == {("a",): S, ("b",): S}


def test_tap_points_of_the_outermost_level():
    assert told("tap", TAP) == {("nested",): P, ("handles issue #12",): F, ("later",): S, ("some day",): S}


def test_ctrf():
    assert told("ctrf", CTRF) == {("sums", "plain", "adds"): P, ("sums", "breaks"): F, ("odd",): E}
    assert results.read("ctrf", CTRF)[0].seconds == 1.5


def test_rspec():
    assert told("rspec", RSPEC) == {("Sum adds",): P, ("Sum breaks",): F, ("Sum waits",): S}


def test_trx():
    assert told("trx", TRX) == {("N.Sums", "Adds"): P, ("N.Sums", "Breaks(1)"): F}
    assert results.read("trx", TRX)[0].seconds == 1.5


@pytest.mark.parametrize(
    ("form", "data", "why"),
    [
        ("junit", b"", "not valid XML"),
        ("junit", b"<testsuites><testsuite>", "not valid XML"),
        ("junit", b"<html/>", "its root is <html>"),
        ("junit", b'<!DOCTYPE x [<!ENTITY e "boo">]><testsuite><testcase name="&e;"/></testsuite>', "DOCTYPE"),
        ("junit", b'<?xml version="1.0" encoding="nobody"?><testsuite/>', "not valid XML"),
        ("junit", b"<testsuite><testcase/></testsuite>", "a test without a name"),
        ("tap", b"ok 1 - a\n", "no plan"),
        ("tap", b"1..2\nok 1 - a\n", "1 of 2 planned"),
        ("tap", b"1..1\nok 1 - a\nok 1 - a\n", "2 of 1 planned"),
        ("tap", b"1..1\n1..1\nok\n", "two plans"),
        ("tap", b"1..2\nok 1\nBail out! no database\n", "bailed out: no database"),
        ("ctrf", b"[" * 100_000, "nested too deep"),
        ("ctrf", b"{}", "no list at results.tests"),
        ("ctrf", b'{"results": {"tests": [3]}}', "an entry that is no object"),
        ("ctrf", b'{"results": {"tests": [{"name": "a", "status": "great"}]}}', "the status 'great'"),
        ("ctrf", b'{"results": {"tests": [{"status": "passed"}]}}', "without a name"),
        ("rspec", b"\xff", "not valid JSON"),
        ("trx", TRX.replace(b'"Passed"', b'"Splendid"'), "the status 'Splendid'"),
    ],
)
def test_what_is_refused_and_why(form, data, why):
    assert why in why_not(form, data)


def test_a_deeply_nested_suite_is_read():
    deep = b"<testsuite>" * 50_000 + b'<testcase name="a"/>' + b"</testsuite>" * 50_000
    assert told("junit", deep) == {("a",): P}


def test_more_tests_than_any_suite_has_are_refused(monkeypatch):
    monkeypatch.setattr(results, "MOST_TESTS", 3)
    assert "more than 3 tests" in why_not("tap", b"1..4\n" + b"ok\n" * 4)


PIECES = (
    b"<",
    b">",
    b"/>",
    b'"',
    b"</testsuite>",
    b"<!DOCTYPE a>",
    b"&e;",
    b"\0",
    b"\xff\xfe",
    b"{",
    b"]",
    b"null",
    b"1e999",
)
PIECES += (
    b"1..9",
    b"ok",
    b"Bail out!",
    b"#",
    b"\\",
    b"\n",
    b"-1",
    b'"status"',
    b"99999999999999999999",
    b"\xed\xa0\x80",
)


def changed(data, chance):
    """A file, cut and pasted at some places."""
    parts = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(parts) + 1)
        end = min(len(parts), at + chance.choice((0, 1, 1, 8, 64)))
        parts[at:end] = chance.choice((*PIECES, bytes(parts[end : end + 40]), bytes([chance.randrange(256)])))
    return bytes(parts)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("form", WHOLE)
def test_no_bytes_break_a_reader(form, seed):
    chance = random.Random(f"{form} {seed}")
    for _ in range(1500):
        data = changed(WHOLE[form], chance)
        try:
            found = results.read(form, data)
        except results.UnreadableError:
            continue
        assert all(result.names and all(result.names) and result.seconds >= 0 for result in found)


def test_a_tap_point_that_ends_in_a_backslash_takes_no_longer_than_others():
    data = b"1..1\nok 1 -" + b" " * 1_000_000 + b"\\\n"
    began = time.process_time()
    with pytest.raises(results.UnreadableError, match="0 of 1"):
        results.read("tap", data)
    assert time.process_time() - began < 5
