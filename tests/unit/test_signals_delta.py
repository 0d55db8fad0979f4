"""What a patch brings and takes away, told from what the tools find before and after."""

from __future__ import annotations

import pytest

from harness.signals import delta
from harness.signals.delta import (
    BanditFinding,
    BanditSides,
    Function,
    LizardSides,
    RuffFinding,
    RuffSides,
    UnreadSides,
)


def ruff(line, text="import os", rule="F401", path="a.py"):
    return RuffFinding(rule=rule, path=path, line=line, message="m", text=text)


def bandit(line, text="eval(x)", rule="B307", cwe=78, severity="medium", path="a.py"):
    return BanditFinding(
        rule=rule, cwe=cwe, path=path, line=line, severity=severity, confidence="high", message="m", text=text
    )


def function(name, complexity, digest, path="a.py"):
    return Function(path=path, function=name, complexity=complexity, digest=digest)


def test_a_finding_whose_line_moved_is_neither_new_nor_gone():
    found = delta.lint(RuffSides(before=(ruff(3),), after=(ruff(40),)))
    assert (found.new, found.gone) == ((), ())


def test_a_second_finding_on_an_equal_line_is_new():
    found = delta.lint(RuffSides(before=(ruff(3),), after=(ruff(3), ruff(9))))
    assert [one.line for one in found.new] == [9]
    assert found.new_by_rule == {"F401": 1}


def test_a_finding_that_the_patch_takes_away_is_gone():
    found = delta.security(BanditSides(before=(bandit(5),), after=()))
    assert [one.line for one in found.gone] == [5]
    assert found.gone_by_cwe == {"95": 1}


@pytest.mark.parametrize(
    "change", [{"severity": "high"}, {"cwe": 79, "rule": "B999"}, {"text": "eval(y)"}, {"path": "b.py"}]
)
def test_a_finding_that_differs_in_what_it_is_is_new(change):
    found = delta.security(BanditSides(before=(bandit(5),), after=(bandit(5, **change),)))
    assert len(found.new) == len(found.gone) == 1


@pytest.mark.parametrize(("rule", "cwe"), [("B307", 95), ("B102", 95), ("B602", 78)])
def test_eval_and_exec_have_the_number_of_their_weakness(rule, cwe):
    found = delta.security(BanditSides(after=(bandit(1, rule=rule),)))
    assert found.new[0].cwe == cwe


def test_a_finding_without_a_number_is_counted_as_such():
    assert delta.security(BanditSides(after=(bandit(1, rule="B000", cwe=None),))).new_by_cwe == {"none": 1}


def test_more_findings_than_are_listed_are_counted():
    found = delta.lint(RuffSides(after=tuple(ruff(n, text=f"import x{n}") for n in range(delta.LISTED + 5))))
    assert len(found.new) == delta.LISTED
    assert found.new_by_rule == {"F401": delta.LISTED + 5}


def test_a_file_that_bandit_could_not_read_makes_security_not_measured():
    unread = UnreadSides(after=(delta.Unread(path="a.py", why="syntax error"),))
    found = delta.security(BanditSides(before=(bandit(1),), unread=unread))
    assert not found.measured
    assert "a.py" in found.why_not
    assert found.gone == ()


def test_findings_beside_an_unread_file_are_told():
    unread = UnreadSides(before=(delta.Unread(path="a.py", why="syntax error"),))
    found = delta.security(BanditSides(after=(bandit(1), bandit(2, path="b.py")), unread=unread))
    assert found.measured
    assert [one.path for one in found.new] == ["b.py"]


@pytest.mark.parametrize(
    ("measure", "sides", "tool"),
    [
        (delta.lint, RuffSides(error="it broke"), "ruff"),
        (delta.security, BanditSides(error="it broke"), "bandit"),
        (delta.complexity, LizardSides(error="it broke"), "lizard"),
    ],
)
def test_a_tool_that_failed_leaves_its_reason(measure, sides, tool):
    found = measure(sides)
    assert not found.measured
    assert found.why_not == f"{tool} failed: it broke"


def test_only_functions_whose_text_differs_count_for_complexity():
    same, old, new = function("same( )", 30, "s"), function("f( a )", 2, "1"), function("f( a , b )", 5, "2")
    found = delta.complexity(LizardSides(before=(same, old), after=(new, same)))
    assert (found.before, found.after, found.delta, found.highest) == (2, 5, 3, 5)
    assert [(one.function, one.before, one.after) for one in found.functions] == [("f", 2, 5)]


def test_a_new_function_has_no_complexity_before():
    found = delta.complexity(LizardSides(after=(function("f( )", 4, "1"),)))
    assert (found.functions[0].before, found.functions[0].after) == (None, 4)


def test_of_two_methods_with_one_name_only_the_changed_one_counts():
    before = (function("get( )", 1, "a"), function("get( )", 2, "b"))
    after = (function("get( )", 1, "a"), function("get( )", 7, "c"))
    found = delta.complexity(LizardSides(before=before, after=after))
    assert [(one.before, one.after) for one in found.functions] == [(2, 7)]
