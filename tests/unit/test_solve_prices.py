"""What tokens cost: the first entry that fits, dates, tiers, the cached part; unknown is None."""

from __future__ import annotations

from datetime import date

import pytest

from harness.core.errors import InputError
from harness.solve.base import Usage
from harness.solve.models import prices

DAY = date(2026, 11, 22)
HERE = "http://localhost:8000/v1"


def table(tmp_path, text: str) -> prices.Prices:
    file = tmp_path / "prices.yaml"
    file.write_text(f"prices:\n{text}")
    return prices.load(file)


def entry(**fields) -> str:
    given = {"model": "m", "input": 2, "output": 10, "source": "us", "seen": "2026-11-01", **fields}
    return "  - {" + ", ".join(f"{name}: {value}" for name, value in given.items()) + "}\n"


def used(read: int, written: int, cached: int | None = None) -> Usage:
    return Usage(input_tokens=read, output_tokens=written, cached_input_tokens=cached)


def test_cost_is_price_times_tokens(tmp_path):
    price = table(tmp_path, entry()).find(["m"], HERE, DAY)
    assert price.cost(used(1_000_000, 100_000)) == pytest.approx(2 + 1)


def test_the_cached_part_of_a_prompt_has_its_own_price(tmp_path):
    price = table(tmp_path, entry(cached_input=0.2)).find(["m"], HERE, DAY)
    assert price.cost(used(1_000_000, 0, 750_000)) == pytest.approx(0.25 * 2 + 0.75 * 0.2)


def test_without_a_price_for_it_the_cached_part_counts_in_full(tmp_path):
    assert table(tmp_path, entry()).find(["m"], HERE, DAY).cost(used(1_000_000, 0, 750_000)) == pytest.approx(2)


def test_a_long_prompt_puts_all_its_tokens_into_the_higher_tier(tmp_path):
    tiers = "[{above_input_tokens: 200000, input: 4, output: 15}]"
    price = table(tmp_path, entry(tiers=tiers)).find(["m"], HERE, DAY)
    assert price.cost(used(200_000, 1000)) == pytest.approx((200_000 * 2 + 1000 * 10) / 1e6)
    assert price.cost(used(200_001, 1000)) == pytest.approx((200_001 * 4 + 1000 * 15) / 1e6)


def test_the_highest_that_a_question_can_cost_takes_the_dearest_rates_it_can_reach(tmp_path):
    tiers = "[{above_input_tokens: 1000, input: 4, output: 5}]"
    price = table(tmp_path, entry(tiers=tiers)).find(["m"], HERE, DAY)
    assert price.highest(1000, 100) == pytest.approx((1000 * 2 + 100 * 10) / 1e6)
    assert price.highest(2000, 100) == pytest.approx((2000 * 4 + 100 * 10) / 1e6)


@pytest.mark.parametrize("usage", [Usage(), Usage(input_tokens=5), Usage(output_tokens=5)])
def test_unknown_tokens_cost_none_and_not_nothing(tmp_path, usage):
    assert table(tmp_path, entry()).find(["m"], HERE, DAY).cost(usage) is None


def test_an_unknown_model_has_no_price(tmp_path):
    assert table(tmp_path, entry()).find(["other"], HERE, DAY) is None


def test_a_price_holds_from_its_first_day_to_its_last(tmp_path):
    text = entry(until="2026-10-06") + entry(**{"from": "2026-10-07"}, input=1)
    found = table(tmp_path, text)
    days = (date(2026, 10, 6), date(2026, 10, 7))
    assert [found.find(["m"], HERE, day).input for day in days] == [2, 1]
    assert table(tmp_path, entry(until="2026-10-06")).find(["m"], HERE, DAY) is None


def test_the_first_entry_that_fits_is_the_price_and_patterns_count(tmp_path):
    found = table(tmp_path, entry(model='"m-mini*"', input=1) + entry(model='"m*"'))
    assert [found.find([name], HERE, DAY).input for name in ("m-mini-2026-01-01", "m-large")] == [1, 2]


def test_the_same_name_has_another_price_at_another_endpoint(tmp_path):
    found = table(tmp_path, entry(endpoint='"http://localhost:*"', input=0, output=0) + entry())
    assert found.find(["m"], HERE, DAY).cost(used(1000, 1000)) == 0
    assert found.find(["m"], "https://api.example.com/v1/", DAY).input == 2


def test_a_local_endpoint_is_free_only_where_a_table_says_so():
    assert prices.load().find(["qwen2.5-coder:7b"], "http://localhost:11434/v1", DAY) is None


def test_the_snapshot_goes_before_the_name_it_was_asked_by(tmp_path):
    found = table(tmp_path, entry(model="m-2026-01-01", input=1) + entry())
    assert found.find(["m-2026-01-01", "m"], HERE, DAY).input == 1
    assert found.find(["m-2030-01-01", "m"], HERE, DAY).input == 2


def test_a_users_own_entry_goes_before_ours(tmp_path):
    ours = prices.shipped().entries[0]
    name, endpoint = ours.model.replace("*", ""), ours.endpoint.replace("*", "v1")
    found = table(tmp_path, entry(model=name, input=77))
    assert found.find([name], endpoint, DAY).input == 77


def test_every_entry_of_ours_says_who_publishes_it_and_when_it_was_seen():
    for one in prices.shipped().entries:
        assert one.source.startswith("https://")
        assert one.endpoint.startswith("https://"), f"{one.model} would be priced at anybody's endpoint"
        assert one.seen <= DAY


@pytest.mark.parametrize(
    ("text", "rates"), [("0.5/1.5", (0.5, None, 1.5)), ("2/0.2/10", (2, 0.2, 10)), ("0/0", (0, None, 0))]
)
def test_a_user_may_say_what_an_unknown_model_costs(text, rates):
    found = prices.Prices().assuming(text, day=DAY).find(["m"], HERE, DAY)
    assert (found.input, found.cached_input, found.output) == rates


def test_what_a_table_knows_goes_before_what_is_assumed(tmp_path):
    assert table(tmp_path, entry()).assuming("7/7", day=DAY).find(["m"], HERE, DAY).input == 2


@pytest.mark.parametrize("text", ["", "5", "a/b", "-1/2", "1/2/3/4", "nan/1", "inf/1"])
def test_a_price_that_is_none_is_refused(text):
    with pytest.raises(InputError, match="IN/OUT"):
        prices.Prices().assuming(text, day=DAY)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "found nothing"),
        (b"prices: [", "not valid YAML"),
        (b"\xff\xfe", "not UTF-8"),
        (b"schema_version: 2\nprices: []", "reads up to 1"),
        (b"prices: [{model: m}]", r"entry 1 \(m\), input: is missing"),
        (b"prices: [7]", "entry 1: "),
        (b"prices: [{model: m, input: -1, output: 1, source: us, seen: 2026-01-01}]", "expected 0 or more, found -1"),
        (b"prices: [{model: m, input: .nan, output: 1, source: us, seen: 2026-01-01}]", "finite"),
        (b"prices: [{model: m, imput: 1, input: 1, output: 1, source: us, seen: 2026-01-01}]", "imput"),
        (("prices:\n" + entry(**{"from": "2027-01-01"}, until="2026-01-01")).encode(), "`until` is before `from`"),
    ],
)
def test_a_broken_price_file_is_refused_and_the_place_is_named(tmp_path, content, said):
    file = tmp_path / "prices.yaml"
    file.write_bytes(content)
    with pytest.raises(InputError, match=said):
        prices.load(file)


def test_a_price_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        prices.load(tmp_path / "none.yaml")
