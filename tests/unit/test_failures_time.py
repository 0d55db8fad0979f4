"""Which hidden tests are about time, from their source and the fix."""

from __future__ import annotations

import pytest

from harness.core.expectations import Expectations
from harness.core.instance import Hidden
from harness.grading.time_words import time_tests
from tests import tiny

PATH = "tests/test_t.py"


def looked(after: str, *names: str, before: str | None = None, gold: str = tiny.GOLD, **hidden):
    """What is known of FAIL_TO_PASS tests in a file that the test patch brings or changes."""
    return time_tests(
        Hidden(
            gold_patch=gold.encode(),
            test_patch=tiny.diff(PATH, before, after).encode(),
            fail_to_pass=tuple(f"{PATH}::{name}" for name in names),
            **hidden,
        )
    )


def timed(*arguments, **more) -> set[str]:
    return {test_id.removeprefix(f"{PATH}::") for test_id in looked(*arguments, **more).about_time}


@pytest.mark.parametrize(
    "line",
    [
        "assert f() == datetime(2024, 1, 1)",
        "assert f(time.time()) == 1",
        "assert f(date(2024, 1, 1)) == 1",
        "assert f(date.today()) == 1",
        "assert f(dt.timedelta(days=1)) == 1",
        "with freeze_time('2024-01-01'): assert f() == 1",
        "assert f(tz=zoneinfo.ZoneInfo('UTC')) == 1",
        "assert f(arrow.utcnow()) == 1",
        "time.sleep(1)",
    ],
)
def test_a_time_word_in_the_body_makes_a_test_one_about_time(line):
    assert timed(f"def test_a():\n    {line}\n", "test_a") == {"test_a"}


@pytest.mark.parametrize(
    "line",
    [
        "assert f('update') == 1",
        "assert f.timeout == 3",
        "assert f(candidate=1).nowhere",
        "assert f('sometimes', runtime=3)",
        "import datetime",
    ],
)
def test_other_words_do_not(line):
    assert timed(f"def test_a():\n    {line}\n", "test_a") == set()


def test_each_test_stands_for_itself():
    text = "def test_a():\n    assert f(timedelta(1))\n\n\ndef test_b():\n    assert f(2)\n"
    found = looked(text, "test_a", "test_b")
    assert found.about_time == {f"{PATH}::test_a"}
    assert found.about_else == {f"{PATH}::test_b"}


def test_rows_of_a_table_above_a_test_are_its_own():
    text = (
        "def test_a():\n    assert f(2)\n\n\n"
        '@pytest.mark.parametrize("value", [\n    timedelta(1),\n    3,\n])\ndef test_b(value):\n    assert f(value)\n'
    )
    assert timed(text, "test_a", "test_b[value0]", "test_b[3]") == {"test_b[value0]", "test_b[3]"}


def test_a_name_given_by_the_clock_at_module_level_counts_where_it_is_used():
    text = "START = datetime(2024, 1, 1)\n\n\ndef test_a():\n    assert f(START)\n\n\ndef test_b():\n    assert f(2)\n"
    assert timed(text, "test_a", "test_b") == {"test_a"}


def test_a_fixture_about_time_counts_where_it_is_used():
    text = "@pytest.fixture\ndef clock():\n    return datetime.now()\n\n\ndef test_a(clock):\n    assert f(clock)\n"
    assert timed(text, "test_a") == {"test_a"}


def test_methods_of_a_class_are_told_apart():
    text = (
        "class TestIt:\n    def test_a(self):\n        assert f(timedelta(1))\n\n"
        "    def test_b(self):\n        assert f(2)\n"
    )
    assert timed(text, "TestIt::test_a", "TestIt::test_b") == {"TestIt::test_a"}


def test_a_function_within_a_test_is_part_of_it():
    text = "def test_a():\n    def later():\n        return datetime.now()\n    assert f(later)\n"
    assert timed(text, "test_a") == {"test_a"}


def test_a_fix_about_time_makes_tests_so_that_do_not_tell():
    gold = tiny.diff("m.py", "def f(t):\n    return t\n", "def f(t):\n    return timedelta(seconds=t)\n")
    assert timed("def test_a():\n    assert str(f(3))\n", "test_a", gold=gold) == {"test_a"}


def test_a_fix_about_time_does_not_where_one_of_the_tests_tells():
    gold = tiny.diff("m.py", "def f(t):\n    return t\n", "def f(t):\n    return timedelta(seconds=t)\n")
    text = "def test_a():\n    assert f(timedelta(1))\n\n\ndef test_b():\n    assert f(2)\n"
    assert timed(text, "test_a", "test_b", gold=gold) == {"test_a"}


def test_nothing_is_known_of_a_test_that_the_patch_does_not_show():
    held = "def test_held():\n    assert g(1)\n" + "\n\n# a line between\n" * 8
    hidden = {"pass_to_pass": (f"{PATH}::test_held",)}
    found = looked(held + "def test_a():\n    assert f(2)\n", "test_a", before=held, **hidden)
    assert found.about_else == {f"{PATH}::test_a"}


def test_the_whole_file_is_read_where_it_is_part_of_the_task():
    held = "def test_held():\n    assert g(timedelta(1))\n" + "\n\n# a line between\n" * 8
    after = held + "def test_a():\n    assert f(2)\n"
    expectations = Expectations(files={PATH: after})
    hidden = {"pass_to_pass": (f"{PATH}::test_held",), "expectations": expectations}
    found = looked(after, "test_a", before=held, **hidden)
    assert found.about_time == {f"{PATH}::test_held"}


def test_the_function_that_a_hunk_begins_in_is_named_by_its_header():
    patch = (
        f"--- a/{PATH}\n+++ b/{PATH}\n@@ -40,4 +40,5 @@ def test_a():\n     x = 1\n+    y = datetime.now()\n"
        "     assert f(x)\n \n \n"
    )
    hidden = Hidden(gold_patch=tiny.GOLD.encode(), test_patch=patch.encode(), fail_to_pass=(f"{PATH}::test_a",))
    assert time_tests(hidden).about_time == {f"{PATH}::test_a"}


def test_of_a_function_that_only_a_header_names_nothing_is_known():
    patch = (
        f"--- a/{PATH}\n+++ b/{PATH}\n@@ -40,3 +40,4 @@ def test_a():\n     x = 1\n+    y = 2\n     assert f(x)\n \n"
    )
    hidden = Hidden(gold_patch=tiny.GOLD.encode(), test_patch=patch.encode(), fail_to_pass=(f"{PATH}::test_a",))
    assert time_tests(hidden).about_else == frozenset()


def test_a_task_without_hidden_tests_has_none():
    assert time_tests(Hidden(gold_patch=b"", test_patch=b"")).about_time == frozenset()


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.js", "return new Date(2024, 0, 1);"),
        ("a.ts", "return dayjs(text);"),
        ("a.go", "return time.Now().UTC()"),
        ("A.java", "return LocalDate.of(2024, 1, 1);"),
        ("a.rs", "let began = Instant::now();"),
    ],
)
def test_a_time_word_of_another_language_in_the_fix_makes_its_tests_ones_about_time(path, line):
    assert timed("x", "adds", gold=tiny.diff(path, "one\n", f"{line}\n")) == {"adds"}
    assert timed("x", "adds", gold=tiny.diff(path, "one\n", "two\n")) == set()
