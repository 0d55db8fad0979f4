"""Fixes that are nearly one, and mines that leave what a public dataset has."""

from __future__ import annotations

import json
import random
import time
from array import array
from dataclasses import replace

import pytest

from harness.core.errors import InputError
from harness.dataset.similarity.near import Fix, FixIndex, fix_of, twins
from miner.quality.known_duplicates import Neighbours, shelf_of_rows, shelf_of_tasks
from tests import repos, tiny
from tests.quality_parts import CODE, OLD

BODY = OLD.replace(
    "        return sum(self.items)",
    "        known = [item for item in self.items if item.price is not None]\n"
    "        for item in known:\n"
    "            item.price = round(item.price * item.rate, 2)\n"
    "        return sum(item.price for item in known)",
)
GOLD = tiny.diff(CODE, OLD, BODY)
MOVED = tiny.diff("lib/basket.py", f"import this\n\n{OLD}", f"import this\n\n{BODY}")
OTHER = tiny.diff(CODE, OLD, OLD.replace("empty():", "empty(kind, *, name=None, colour=None, size=None, weight=None):"))


def fix(name: str, patch: str = GOLD, statement: str = "The total is wrong."):
    return fix_of(name, patch.encode(), statement)


def shelf(*fixes):
    made = FixIndex()
    for one in fixes:
        made.add(one)
    return made


def test_the_same_fix_is_known_by_its_patch():
    (found,) = shelf(fix("public-1")).near(fix("mine"))

    assert (found.name, found.same_patch, found.why) == ("public-1", True, "the same fix")


def test_a_fix_that_was_moved_and_grew_is_known_by_its_code():
    (found,) = shelf(fix("public-1", MOVED)).near(fix("mine"))

    assert not found.same_patch
    assert found.share > 0.8


def test_another_fix_of_the_same_file_is_none():
    assert shelf(fix("public-1", OTHER)).near(fix("mine")) == ()


def test_a_small_fix_is_one_only_with_the_same():
    small = tiny.diff(CODE, OLD, OLD.replace("return Cart([])", "return Cart(())"))
    moved = tiny.diff("lib/basket.py", OLD, OLD.replace("return Cart([])", "return Cart(())"))

    assert shelf(fix("public-1", moved)).near(fix("mine", small)) == ()
    assert len(shelf(fix("public-1", small)).near(fix("mine", small))) == 1


def test_half_of_the_code_is_enough_where_half_of_the_statement_is_there_too():
    said = "When an item of the cart has no price the total of the cart fails with a type error."
    line = "        known = [item for item in self.items if item.price is not None]\n"
    half = tiny.diff("lib/basket.py", OLD, BODY.replace(line, "        known = tuple(filter(bool, self.items))\n"))

    share = shelf(fix("public-1", half, said)).near(fix("mine", GOLD, said))
    assert share
    assert 0.5 <= share[0].share < 0.8
    assert shelf(fix("public-1", half, "Something else entirely.")).near(fix("mine", GOLD, said)) == ()


def test_a_task_is_never_its_own_double():
    assert shelf(fix("mine")).near(fix("mine")) == ()


def test_a_patch_that_is_none_is_near_to_nothing_else():
    assert shelf(fix("public-1")).near(fix("mine", "no patch")) == ()


def rows(path, *lines: object):
    path.write_text(
        "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), encoding="utf-8"
    )
    return path


def test_rows_are_read_in_the_form_of_swe_bench(tmp_path):
    row = {"instance_id": "acme__shop-1", "patch": GOLD, "problem_statement": None, "FAIL_TO_PASS": "[]"}
    (found,) = shelf_of_rows([rows(tmp_path / "rows.jsonl", row, "", {"patch": OTHER})]).near(fix("mine"))

    assert found.name == "acme__shop-1 (rows.jsonl:1)"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "has no row"),
        (["{"], "line 1 is not a row"),
        ([{"patch": GOLD}, {"instance_id": "x"}], "line 2 is not a row: patch"),
        (["[]"], "line 1 is not a row"),
    ],
)
def test_a_file_that_is_no_public_dataset_is_refused(tmp_path, lines, said):
    with pytest.raises(InputError, match=said):
        shelf_of_rows([rows(tmp_path / "rows.jsonl", *lines)])


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="can't be read"):
        shelf_of_rows([tmp_path / "rows.jsonl"])


def test_a_task_is_marked_with_counts_in_public_and_names_in_hiding(tmp_path):
    first, second = tiny.task(instance_id="a__b-1", gold=GOLD), tiny.task(instance_id="a__b-2", gold=GOLD)
    bench = tiny.dataset(tmp_path / "bench", first)
    marked = Neighbours(public=shelf(fix("django-1")), own=shelf_of_tasks(bench)).marked(second)

    assert marked.instance.quality["near_duplicates"] == {"public": 1, "dataset": 1}
    assert [one["of"] for one in marked.hidden.evidence["near_duplicates"]] == ["django-1", "a__b-1"]


def test_a_task_is_known_to_those_that_come_after_it():
    neighbours = Neighbours(own=FixIndex())
    first, second = (neighbours.marked(tiny.task(instance_id=f"a__b-{n}", gold=GOLD)) for n in (1, 2))

    assert first.instance.quality["near_duplicates"] == {"public": None, "dataset": 0}
    assert second.instance.quality["near_duplicates"] == {"public": None, "dataset": 1}


def test_a_sealed_dataset_cannot_be_held_against(tmp_path):
    bench = tiny.dataset(tmp_path / "bench", tiny.task(gold=GOLD))

    assert shelf_of_tasks(replace(bench, recipients=("age1",))) is None


@pytest.mark.parametrize(("policy", "accepted"), [("reject", 0), ("mark", 1)])
def test_a_mine_leaves_or_marks_what_a_public_dataset_has(tmp_path, policy, accepted):
    repo = repos.Repository(tmp_path / "shop")
    repo.commit("Start", {CODE: OLD, "tests/test_cart.py": "def test_a():\n    pass\n"})
    repo.commit("Fix the total of a cart", {CODE: BODY, "tests/test_cart.py": "def test_b():\n    pass\n"})
    public = rows(tmp_path / "rows.jsonl", {"instance_id": "x", "patch": MOVED})
    done = tiny.goldseam(
        "mine", repo.path, "-o", tmp_path / "bench", "--no-validate", "--name", "acme/shop", "--json",
        "--against", public,
        env={"GOLDSEAM_CACHE_DIR": str(tmp_path / "cache"), "GOLDSEAM_MINING_NEAR_DUPLICATES": policy,
             "DOCKER_HOST": "tcp://127.0.0.1:1", "UV_DEFAULT_INDEX": "", "PIP_INDEX_URL": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.error_text
    summary = json.loads(done.stdout)

    assert summary["accepted"] == accepted
    reasons = [one["reason"] for one in summary["rejected"]]
    assert ("near_duplicate" in reasons) == (policy == "reject")
    if accepted:
        (folder,) = (tmp_path / "bench" / "tasks").iterdir()
        text = (folder / "task.yaml").read_text(encoding="utf-8")
        assert "public: 1" in text
        assert "overlap: 0.0" in text


def hashed(name: str, code, statement=(), patch_id: str | None = None) -> Fix:
    sides = [array("Q", sorted(values)) for values in (code, statement)]
    return Fix(name=name, patch_id=patch_id or name, code=sides[0], statement=sides[1])


def nearly(one: Fix, other: Fix) -> bool:
    """The rule as docs/quality.md states it, pair by pair."""

    def share(first, second):
        smaller = min(len(first), len(second))
        return len(set(first.tolist()) & set(second.tolist())) / smaller if smaller >= 6 else 0.0

    code, said = share(one.code, other.code), share(one.statement, other.statement)
    return one.patch_id == other.patch_id or code >= 0.8 or (code >= 0.5 and said >= 0.5)


def crowd(count: int, seed: int = 5) -> list[Fix]:
    """Fixes of all sizes, of which many share much, little or everything."""
    dice, made = random.Random(seed), []
    for number in range(count):
        code = {dice.getrandbits(64) for _ in range(int(dice.lognormvariate(3, 1.2)))}
        if made and dice.random() < 0.5:
            model = dice.choice(made)
            code |= set(dice.sample(model.code.tolist(), int(len(model.code) * dice.random())))
        statement = {dice.randrange(40) for _ in range(12)}
        made.append(hashed(f"fix-{number}", code, statement, f"patch-{dice.randrange(count * 4)}"))
    return made


def test_a_shelf_finds_what_comparing_each_with_each_finds():
    fixes = crowd(400)
    full = shelf(*fixes)

    found = {fix.name: {near.name for near in full.near(fix)} for fix in fixes}

    expected = {fix.name: {other.name for other in fixes if other is not fix and nearly(fix, other)} for fix in fixes}
    assert found == expected
    assert sum(map(len, expected.values())) > 40


def test_a_shelf_that_is_asked_between_finds_what_was_put_on_it_late_or_anew():
    growing, fixes = FixIndex(), crowd(300)
    for number, fix in enumerate(fixes):
        growing.add(fix)
        if number % 50 == 7:
            growing.near(fix)
    growing.add(hashed("fix-0", {1, 2, 3}))
    now = [hashed("fix-0", {1, 2, 3}), *fixes[1:]]

    assert len(growing) == len(fixes)
    for fix in now:
        expected = {other.name for other in now if other is not fix and nearly(fix, other)}
        assert {near.name for near in growing.near(fix)} == expected


def test_one_of_ten_thousand_is_found_within_a_blink():
    """Each with each would take a hundred times as long; the bound is loose, as machines are shared."""
    dice = random.Random(1)
    rows = [[dice.getrandbits(64) for _ in range(120)] for _ in range(10_000)]
    full = shelf(*(hashed(f"row-{number}", row) for number, row in enumerate(rows)))
    full.near(hashed("first", {1}))  # makes the index
    began = time.process_time()

    names = {full.near(hashed("mine", rows[row][:100]))[0].name for row in range(0, 10_000, 1000)}

    assert names == {f"row-{number}" for number in range(0, 10_000, 1000)}
    assert time.process_time() - began < 0.5


def test_two_tasks_with_one_fix_are_found_among_many_that_share_a_header():
    """What most tasks share finds no pair, however many there are."""
    header = "".join(f"+LICENCE_{word} = {word!r}\n" for word in ("permission", "granted", "charge", "person", "copy"))

    def gold(number: int) -> str:
        lines = [f"+value_{number}_{line} = compute_{number}(argument_{line}, other_{number})\n" for line in range(4)]
        body = header + "".join(lines)
        return f"--- /dev/null\n+++ b/src/m{number}.py\n@@ -0,0 +1,{body.count(chr(10))} @@\n{body}"

    tasks = [tiny.task(instance_id=f"a__b-{number}", gold=gold(number)) for number in range(12)]
    tasks.append(tiny.task(instance_id="a__b-99", gold=gold(3).replace("src/m3.py", "src/copy.py")))

    assert [(twin.first, twin.second) for twin in twins(tasks)] == [("a__b-3", "a__b-99")]


def test_a_fix_that_was_replaced_is_found_as_it_is_now():
    full = shelf(*(hashed(f"fix-{number}", range(number * 100, number * 100 + 50)) for number in range(100)))
    assert [near.name for near in full.near(hashed("mine", range(700, 750)))] == ["fix-7"]

    full.add(hashed("fix-7", range(90_000, 90_050)))

    assert full.near(hashed("mine", range(700, 750))) == ()
    assert [near.name for near in full.near(hashed("mine", range(90_000, 90_050)))] == ["fix-7"]


def test_code_that_moves_to_another_file_is_new_there():
    """Each hunk is told by itself: what another one takes away does not count against it."""
    block = "def known(items):\n    return [item for item in items if item.price is not None and item.name]\n"
    away, here = (
        tiny.diff("src/a.py", block + "a = 1\n", "a = 2\n"),
        tiny.diff("src/b.py", "b = 1\n", "b = 1\n" + block),
    )
    elsewhere = tiny.diff("lib/c.py", "c = 1\n", "c = 1\n" + block)

    (found,) = shelf(fix("public-1", elsewhere)).near(fix("mine", away + here))
    assert found.share > 0.8
