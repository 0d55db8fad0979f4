"""`[gate]` of goldseam.toml: what it may hold, and what is said of anything else."""

from __future__ import annotations

import pytest

from harness.analysis.cohorts import CohortKey
from harness.analysis.gate.config import COHORTS, GateRules, Mode
from harness.config.settings import load_gate_rules, load_settings
from harness.core.errors import InputError


def write(folder, text, name="rules.toml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refused(folder, text):
    path = write(folder, text)
    with pytest.raises(InputError) as error:
        load_gate_rules(path)
    assert str(path) in error.value.message
    return error.value.message


def test_every_rule_can_be_set(tmp_path):
    rules = load_gate_rules(
        write(
            tmp_path,
            '[gate]\nmode = "no-worse-than"\nmax_drop = 0.02\nconfidence = 0.99\ninconclusive = "fail"\n'
            'min_tasks = 30\nmin_coverage = 1\nmust_pass = ["a__b-1"]\nno_new_security = true\nmax_cost = 20\n'
            'max_cost_per_resolved = 0.5\n[gate.floors]\n"repo:acme/widgets" = 0.4\n',
        )
    )

    assert rules == GateRules(
        mode=Mode.NO_WORSE_THAN,
        max_drop=0.02,
        confidence=0.99,
        inconclusive="fail",
        min_tasks=30,
        min_coverage=1,
        must_pass=("a__b-1",),
        no_new_security=True,
        max_cost=20,
        max_cost_per_resolved=0.5,
        floors={"repo:acme/widgets": 0.4},
    )


def test_the_other_sections_are_not_looked_into(tmp_path):
    path = write(tmp_path, '[images.pythons]\n"3.9" = "/nowhere"\n[gate]\nmin_tasks = 7\n')

    assert load_gate_rules(path).min_tasks == 7


def test_other_commands_accept_the_section(tmp_path):
    assert load_settings(write(tmp_path, "[gate]\nmin_tasks = 7\n"), env={}).gate.min_tasks == 7


def test_flags_win_over_the_file(tmp_path):
    path = write(tmp_path, "[gate]\nmax_drop = 0.1\nmin_tasks = 7\n")

    rules = load_gate_rules(path, flags={"max_drop": 0.2, "mode": None})

    assert (rules.max_drop, rules.min_tasks) == (0.2, 7)


def test_an_unknown_key_is_named_with_the_nearest_known_one(tmp_path):
    assert "gate.max_dorp: unknown key; did you mean max_drop?" in refused(tmp_path, "[gate]\nmax_dorp = 0.1\n")


def test_tasks_have_to_be_judged_on_the_host_unless_told_otherwise():
    assert GateRules().require == "host"


def test_a_place_that_is_none_is_refused(tmp_path):
    told = refused(tmp_path, '[gate]\nrequire = "outside"\n')

    assert 'gate.require: expected "host", "mixed", "inside", "declared" or "own_runner", found' in told


def test_a_key_like_no_other_lists_the_known_ones(tmp_path):
    assert "known are mode, require, max_drop" in refused(tmp_path, "[gate]\nzzz = 0.1\n")


def test_an_unknown_section_is_named_with_the_nearest_known_one(tmp_path):
    assert "'gates' is not a section; did you mean [gate]?" in refused(tmp_path, "[gates]\nmax_drop = 0.1\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("max_drop = 5", "gate.max_drop: expected a share from 0 to 1 (0.05 is five points), found 5"),
        ('max_drop = "0.1"', "gate.max_drop: expected a share from 0 to 1"),
        ("max_drop = true", "gate.max_drop: expected a share from 0 to 1 (0.05 is five points), found True"),
        ("max_drop = nan", "gate.max_drop: expected a share from 0 to 1"),
        ("confidence = 0.5", "gate.confidence: expected a share above 0.5 and below 1"),
        ("min_tasks = 2.5", "gate.min_tasks: expected a whole number from 1, found 2.5"),
        ("min_tasks = 0", "gate.min_tasks: expected a whole number from 1, found 0"),
        ('mode = "strict"', 'gate.mode: expected "no-worse-than" or "no-regression", found \'strict\''),
        ("mode = 3", "gate.mode: expected"),
        ('inconclusive = "green"', 'gate.inconclusive: expected "inconclusive" (exit code 3)'),
        ('must_pass = "a__b-1"', "gate.must_pass: expected a list of instance ids, found 'a__b-1'"),
        ("must_pass = [1]", "gate.must_pass.0: expected a list of instance ids, found 1"),
        ("no_new_security = 1", "gate.no_new_security: expected true or false, found 1"),
        ("max_cost = -1", "gate.max_cost: expected a number from 0, in US dollars, found -1"),
        ("floors = 3", "gate.floors: expected a table of shares by cohort"),
        ('floors = { "repo:a/b" = 50 }', "gate.floors.repo:a/b: expected a share from 0 to 1"),
        ('floors = { "repos:a/b" = 0.5 }', "did you mean repo:?"),
        ('floors = { "python" = 0.5 }', "expected a cohort such as"),
        ('floors = { "repo:" = 0.5 }', "expected a cohort such as"),
    ],
)
def test_a_wrong_value_is_told_with_what_was_expected_and_found(tmp_path, line, expected):
    assert expected in refused(tmp_path, f"[gate]\n{line}\n")


def test_floors_are_for_the_cohorts_that_scores_are_broken_down_by():
    assert set(COHORTS) == {*CohortKey} - {CohortKey.MODEL, CohortKey.WINDOW, CohortKey.CUTOFF}


def test_all_problems_are_told_at_once(tmp_path):
    message = refused(tmp_path, "[gate]\nmax_dorp = 1\nmin_tasks = 0\n")

    assert "max_dorp" in message
    assert "min_tasks" in message


@pytest.mark.parametrize("text", ["gate = 3\n", "[[gate]]\nmax_drop = 0.1\n"])
def test_a_section_that_is_no_table_is_refused(tmp_path, text):
    assert "expected [gate] to be a table" in refused(tmp_path, text)


@pytest.mark.parametrize("data", [b"[gate\n", b"\xff\xfe", b"[gate]\nmax_drop = 1\nmax_drop = 1\n"])
def test_a_file_that_is_no_toml_is_refused(tmp_path, data):
    path = tmp_path / "rules.toml"
    path.write_bytes(data)

    with pytest.raises(InputError, match=r"not valid TOML|is not UTF-8"):
        load_gate_rules(path)


def test_a_file_that_is_not_there_is_refused_where_it_was_named(tmp_path):
    with pytest.raises(InputError, match="no settings file"):
        load_gate_rules(tmp_path / "none.toml")
