"""What a pass has to withstand: rounds, blind values compared on the host, forged passes."""

from __future__ import annotations

import pytest

from harness import trust
from harness.frameworks.base import TestReport
from harness.instance import TestStatus, TrustMaterial
from harness.trial import Trial
from harness.trust import Trust, Variant

FORMS = {"t.py": {"real": "r", "twin": "t", "blind": "b", "blind_twin": "bt"}}
TWINNED = TrustMaterial(files=FORMS, twinned=("a", "b"))
BLIND_A = TrustMaterial(files=FORMS, twinned=("a", "b"), blinded={"a": {"0": "'right'"}}, renamed={"a[g0x0]": "a"})
ALL_BLIND = TrustMaterial(files=FORMS, twinned=("a",), blinded={"a": {"0": "'right'"}})


def trial(statuses=None, values=None) -> Trial:
    report = TestReport(statuses=statuses or {}, values=values or {}, finished=True, exit_code=0)
    return Trial(
        report=report,
        violations=(),
        model_apply_error=None,
        test_apply_error=None,
        setup_error=None,
        ran=True,
        exited=True,
        child_exit=0,
        child_signal=None,
        timed_out=False,
        oom_killed=False,
        seconds=0.1,
        cpu_seconds=0.1,
        max_rss_kb=1,
        output=b"",
        output_size=0,
        timings={},
    )


def test_a_task_without_material_is_run_once_as_it_is():
    assert trust.rounds(TrustMaterial(), Trust.BLIND, pairs=2) == (Variant.PLAIN,)


def test_twins_come_in_pairs_after_the_real_tests():
    assert trust.rounds(TWINNED, Trust.TWINS, pairs=2) == (Variant.REAL, Variant.TWIN) * 2


def test_blind_tests_alone_need_one_round():
    assert trust.rounds(ALL_BLIND, Trust.BLIND, pairs=3) == (Variant.BLIND,)


def test_tests_that_are_not_blind_are_twinned_beside_the_blind_ones():
    assert trust.rounds(BLIND_A, Trust.BLIND, pairs=1) == (Variant.BLIND, Variant.BLIND_TWIN)
    assert trust.must_fail(BLIND_A, Variant.BLIND_TWIN) == {"b"}


def test_the_standard_level_asks_for_the_plain_tests():
    assert trust.rounds(BLIND_A, Trust.STANDARD, pairs=1) == (Variant.PLAIN,)


@pytest.mark.parametrize(
    ("material", "level"), [(TrustMaterial(), Trust.STANDARD), (TWINNED, Trust.TWINS), (BLIND_A, Trust.BLIND)]
)
def test_the_strongest_level_is_what_was_prepared(material, level):
    assert trust.strongest(material) is level


def test_a_pass_in_a_twin_is_forged():
    found = trial({"a": TestStatus.PASSED, "b": TestStatus.FAILED})

    assert trust.forged(TWINNED, Variant.TWIN, found) == "1 test(s) passed although what they expect is wrong"
    assert trust.forged(TWINNED, Variant.REAL, found) is None


def test_a_blind_test_passes_with_the_right_value():
    found = trial({"a": TestStatus.PASSED}, {"a": ((0, {"str": "right"}),)})

    assert trust.with_blind_results(BLIND_A, Variant.BLIND, found).report.statuses["a"] is TestStatus.PASSED


@pytest.mark.parametrize(
    "values",
    [
        (),
        ((0, {"str": "wrong"}),),
        ((0, {"str": "right"}), (0, {"str": "wrong"})),
        ((5, {"str": "right"}), (0, {"str": "right"})),
        ((0, {"opaque": "AlwaysEqual"}),),
        ((0, {"str": "right", "int": "1"}),),
        ((0, {}),),
    ],
)
def test_a_blind_test_fails_with_anything_else(values):
    found = trial({"a": TestStatus.PASSED}, {"a": values})

    assert trust.with_blind_results(BLIND_A, Variant.BLIND, found).report.statuses["a"] is TestStatus.FAILED


@pytest.mark.parametrize(
    ("encoded", "value"),
    [
        ({"const": "None"}, None),
        ({"const": "True"}, True),
        ({"int": "-ff"}, -255),
        ({"float": (1.5).hex()}, 1.5),
        ({"str": "\u00e9"}, "\u00e9"),
        ({"bytes": "00ff"}, b"\x00\xff"),
        ({"list": [{"int": "1"}, {"str": "a"}]}, [1, "a"]),
        ({"tuple": [{"int": "1"}]}, (1,)),
        ({"set": [{"int": "1"}]}, {1}),
        ({"dict": [[{"str": "k"}, {"list": []}]]}, {"k": []}),
    ],
)
def test_encoded_values_come_back(encoded, value):
    assert trust.decoded(encoded) == value
    assert type(trust.decoded(encoded)) is type(value)


@pytest.mark.parametrize("encoded", [None, 3, [], {}, {"list": 3}, {"int": "x"}, {"set": [{"list": []}]}, {"new": 1}])
def test_what_cannot_be_decoded_equals_nothing(encoded):
    found = trust.decoded(encoded)

    assert found != found  # noqa: PLR0124 - that is the point


def test_a_value_of_an_unknown_type_is_left_to_twins():
    assert trust.has_opaque_values(BLIND_A, Variant.BLIND, trial(values={"a": ((0, {"list": [{"opaque": "Money"}]}),)}))
    assert not trust.has_opaque_values(BLIND_A, Variant.BLIND, trial(values={"a": ((0, {"list": [{"int": "1"}]}),)}))


def test_a_row_of_a_blind_table_counts_for_the_test_it_stands_for():
    found = trial({"a[g0x0]": TestStatus.PASSED}, {"a[g0x0]": ((0, {"str": "right"}),)})

    assert trust.with_blind_results(BLIND_A, Variant.BLIND, found).report.statuses == {"a": TestStatus.PASSED}
