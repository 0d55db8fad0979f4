from dataclasses import replace
from datetime import date

import pytest

from miner.evidence.tree import Detection
from miner.languages.python.recipes.interpreter import allows, bound_in, least_in, preference, versions_in


def wants(requires=None, classifiers=()):
    return Detection(recipes=(), name=None, requires_python=requires, classifiers=classifiers)


ALL = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")


def test_no_version_released_after_the_commit_goes_first():
    assert preference(wants(), date(2021, 6, 1), ALL)[0] == "3.9"


def test_versions_released_later_come_last_and_the_oldest_of_them_first():
    assert preference(wants(">=3.12"), date(2021, 6, 1), ALL) == ("3.12", "3.13")


def test_a_version_that_a_classifier_names_is_preferred_to_a_newer_one():
    assert preference(wants(classifiers=("3.7", "3.8")), date(2021, 6, 1), ALL)[0] == "3.8"


def test_a_version_that_the_change_names_goes_first_whenever_it_was_released():
    of_change = versions_in("py312 fixes (#244)\n\nAlso works on Python 3.8 and python3, not on pypy39; python-3.12")
    assert of_change == ("3.12", "3.8")
    assert preference(replace(wants(), of_change=of_change), date(2021, 6, 1), ALL)[:3] == ("3.12", "3.8", "3.9")


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("@skipIf(version_info < (3, 12), 'new in Python 3.12')", "3.12"),
        ("@pytest.mark.skipif(sys.version_info[:2] < (3, 13), reason='new')", "3.13"),
        ("@unittest.skipUnless(sys.version_info >= (3, 12), 'new')", "3.12"),
        ("if sys.version_info >= (3,12):", "3.12"),
        ("@pytest.mark.skipif(sys.version_info >= (3, 12), reason='gone')", ""),
        ("@skipIf(version_info < (2, 7), 'old')", ""),
        ("@pytest.mark.skipif(not PY38_PLUS, reason='Requires Python 3.8 or higher')", "3.8"),
        ("@pytest.mark.skipif(PY310_PLUS, reason='gone')", ""),
        ("# move it behind sys.version_info >= (3, 8)", ""),
    ],
)
def test_a_version_that_new_lines_of_tests_ask_for_is_read(line, asked):
    assert least_in(["import sys", line]) == asked


def test_what_is_older_than_tests_ask_for_comes_last_but_for_what_the_change_names():
    wanted = replace(wants(classifiers=("3.9", "3.10")), at_least=least_in(["version_info < (3, 12)"]))
    assert preference(wanted, date(2024, 1, 1), ALL)[:4] == ("3.12", "3.13", "3.10", "3.9")
    assert preference(replace(wanted, of_change=("3.9",)), date(2024, 1, 1), ALL)[:2] == ("3.9", "3.12")


@pytest.mark.parametrize(
    ("lines", "bound"),
    [
        (["import sys", "if sys.version_info < (3, 11) and text.endswith('Z'):", "    text = text[:-1]"], "3.11"),
        (["if sys.version_info < (3, 11):", "    from exceptiongroup import ExceptionGroup"], ""),
        (["if sys.version_info >= (3, 11):", "    pass"], ""),
        (["if sys.version_info < (3, 11):"], "3.11"),
        (["# TODO: move it behind a sys.version_info < (3, 8) guard", "class old: ..."], ""),
        (["if not PY310_PLUS:", "    patch()"], "3.10"),
    ],
)
def test_a_version_that_is_too_new_for_what_new_code_does_is_read(lines, bound):
    assert bound_in(lines) == bound


def test_what_is_too_new_for_what_the_code_does_comes_last_but_not_before_what_tests_ask_for():
    wanted = replace(wants(classifiers=("3.10", "3.11", "3.12")), below="3.11")
    assert preference(wanted, date(2024, 5, 1), ALL)[:3] == ("3.10", "3.9", "3.8")
    assert preference(replace(wanted, at_least="3.12"), date(2024, 5, 1), ALL)[0] == "3.12"


def test_what_is_at_hand_is_preferred_to_a_download_of_the_same_kind():
    assert preference(wants(), date(2025, 1, 1), ALL, at_hand=("3.11",))[0] == "3.11"


def test_a_later_version_at_hand_comes_after_a_download_of_the_day():
    assert preference(wants(), date(2021, 6, 1), ("3.9", "3.11"), at_hand=("3.11",)) == ("3.9", "3.11")


def test_requires_python_is_an_absolute_bound():
    assert preference(wants("<3.8"), date(2025, 1, 1), ("3.11", "3.12")) == ()


def test_a_lower_bound_on_a_patch_release_does_not_exclude_its_minor_version():
    assert allows(">=3.9.2", "3.9")


def test_a_specifier_that_cannot_be_read_excludes_nothing():
    assert allows("three", "3.9")
