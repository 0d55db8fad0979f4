"""What a prediction says of its cost, and that what it does not say stays unknown."""

from __future__ import annotations

import pytest

from harness.analysis.usage import Usage, usage_of


def test_a_prediction_that_says_nothing_has_no_usage():
    assert usage_of({}) == Usage()


def test_our_fields_are_read():
    extra = {
        "cost_usd": 0.25,
        "latency_seconds": 12.5,
        "tokens": 900,
        "settings": {"temperature": 0.7, "prompt_version": "v3"},
    }

    assert usage_of(extra) == Usage(cost_usd=0.25, latency_seconds=12.5, tokens=900, temperature=0.7, prompt="v3")


@pytest.mark.parametrize(
    "extra",
    [
        {"tokens": {"input": 600, "output": 300}},
        {"tokens": {"total": 900, "input": 1}},
        {"usage": {"prompt_tokens": 600, "completion_tokens": 300}},
        {"usage": {"input_tokens": 600, "output_tokens": 300}},
        {"prompt_tokens": 600, "completion_tokens": 300},
        {"total_tokens": 900},
    ],
)
def test_tokens_are_read_from_the_forms_that_are_common(extra):
    assert usage_of(extra).tokens == 900


@pytest.mark.parametrize("value", ["0.25", None, True, float("nan"), float("inf"), -1, [1], {"usd": 1}], ids=repr)
def test_what_is_no_number_is_unknown_and_not_nothing(value):
    found = usage_of({"cost_usd": value, "latency_seconds": value, "tokens": value})

    assert (found.cost_usd, found.latency_seconds, found.tokens) == (None, None, None)


def test_nothing_spent_is_known():
    assert usage_of({"cost_usd": 0, "tokens": 0}) == Usage(cost_usd=0, tokens=0)


def test_half_of_the_tokens_are_not_all():
    assert usage_of({"usage": {"prompt_tokens": 600}}).tokens is None


def test_a_field_of_the_prediction_wins_over_its_settings():
    assert usage_of({"temperature": 0.2, "settings": {"temperature": 0.9}}).temperature == 0.2


@pytest.mark.parametrize("settings", [None, "hot", [0.7], 3])
def test_settings_that_are_no_mapping_say_nothing(settings):
    assert usage_of({"settings": settings}) == Usage()


@pytest.mark.parametrize(("value", "expected"), [(7, "7"), ("", None), ("  ", None), (True, None), (" v1 ", "v1")])
def test_a_prompt_has_a_name_or_a_number(value, expected):
    assert usage_of({"prompt_version": value}).prompt == expected
