"""What differs between the runs of a proof."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from harness.sandbox.hardening import BASE_ENV
from miner.proof.variations import PINNED, PLAIN, Cause, Variation, schedule, variation


def test_the_first_run_is_as_evaluation_runs():
    assert schedule(1) == (PLAIN,)
    assert PLAIN.env() == {}


@pytest.mark.parametrize("runs", [2, 3, 59])
def test_with_two_runs_or_more_one_differs_in_order_hash_seed_zone_and_processor_at_once(runs):
    wanted = {Cause.ORDER, Cause.HASH_SEED, Cause.TIMEZONE, Cause.CPUS}
    assert any(wanted <= set(one.causes) and one.cpus is not None for one in schedule(runs))


def test_no_two_varied_runs_of_many_are_alike():
    varied = [one for one in schedule(59) if not one.is_plain]
    assert len(varied) == len(set(varied)) == 39


def test_the_date_is_varied_only_where_the_tests_can_be_told_another():
    assert Cause.CLOCK not in variation(1).causes
    assert variation(1, clock=True).clock_days > 365


@pytest.mark.parametrize("hour", range(24))
def test_at_any_hour_it_is_another_day_in_the_zone_of_a_varied_run(hour):
    now = datetime(2026, 6, 1, hour, 30, tzinfo=UTC)
    days = {now.astimezone(ZoneInfo(variation(number).timezone)).date() for number in (1, 2)}
    assert days != {now.date()}
    assert all(abs(day - now.date()) <= timedelta(days=1) for day in days)


def test_a_part_of_a_variation_is_varied_in_that_alone():
    whole = variation(1)
    assert whole.only(Cause.TIMEZONE) == Variation(timezone=whole.timezone)
    assert whole.only(Cause.CPUS) == Variation(cpus=whole.cpus)
    assert whole.only(Cause.PROCESSORS) == Variation(cpu_count=whole.cpu_count)
    assert whole.only(*whole.causes) == whole


def test_what_is_pinned_is_the_same_in_the_environment_of_every_container():
    varied = {name for cause in PINNED for name in variation(1).only(cause).env()}
    unset = {"LANGUAGE", "LC_CTYPE"}
    assert varied - unset == {"HOME", "LANG", "LC_ALL", "LOGNAME", "PYTHONHASHSEED", "TZ", "USER"}
    assert varied - unset <= BASE_ENV.keys()
    assert not unset & BASE_ENV.keys()


def test_every_field_belongs_to_a_cause():
    whole = Variation(
        order=1, hash_seed=1, timezone="UTC", clock_days=1, locale="de", home="/", user="u", cpus=0.5, cpu_count=1
    )
    assert whole.only(*whole.causes) == whole
    assert set(whole.causes) == set(Cause) - {Cause.NETWORK, Cause.SERVICE, Cause.RANDOM, Cause.UNKNOWN}
