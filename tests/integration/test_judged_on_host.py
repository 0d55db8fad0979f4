"""A mined task's tests hold no expectations: the host judges what they hand out, and forging the rest gains nothing."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from harness.core.expectations import Expectations
from harness.core.instance import Outcome, TaskState, TestStatus
from harness.dataset.folder import create_dataset, open_dataset, write_task
from harness.grading import calibration, scoring
from harness.judging.places import Place, carded, place_of, place_of_test
from harness.patches.patch import parse
from harness.scaffold.reveal import reveal
from miner.pipeline import stages
from miner.proof import Notebook, Subject, validate
from miner.stripping import task as stripping
from tests import tiny
from tests.repos import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.core.instance import Task
    from harness.sandbox.job import Job, JobResult, Sandbox

pytestmark = pytest.mark.engine

LINES = "src/calc/lines.py"
LINE = """\
import dataclasses


@dataclasses.dataclass
class Line:
    cents: int
    words: str = ""
"""
WRONG = '''\
from calc.lines import Line


def price(cents, off=0):
    """Cents after a discount in percent."""
    return cents


def label(cents):
    return "%d" % cents


def line(cents):
    return Line(cents)


def cart(lines):
    return lines[:1]
'''
RIGHT = '''\
from calc.lines import Line


def price(cents, off=0):
    """Cents after a discount in percent."""
    if off > 100:
        raise ValueError("more than all of it: %d" % off)
    return cents - cents * off // 100


def label(cents):
    return "%d.%02d EUR" % divmod(cents, 100)


def line(cents):
    return Line(cents, label(cents))


def cart(lines):
    return list(lines)
'''
BEFORE = "import calc\n\n\ndef test_no_discount():\n    assert calc.price(4217) == 4217\n"
AFTER = '''\
import pytest

import calc
from calc.lines import Line


def test_no_discount():
    assert calc.price(4217) == 4217


@pytest.mark.parametrize("off, want", [(10, 9531), (50, 5295), (100, 0)], ids=["to 9531", "to half", "to nothing"])
def test_discount(off, want):
    """Ten percent off gives 9531."""
    assert calc.price(10590, off) == want


def test_label():
    want = "31.07 EUR"
    assert calc.label(3107) == want, "it is written as 31.07 EUR"


def test_line():
    assert calc.line(3107) == Line(3107, "31.07 EUR")


def test_too_much():
    with pytest.raises(ValueError, match="more than all") as caught:
        calc.price(1, 101)
    assert "101" in str(caught.value)


def test_rows():
    for _, (off, cases) in rows.items():
        for _, (cents, want) in enumerate(cases):
            assert calc.label(calc.price(cents, off)) == want


def test_condition():
    if calc.label(7) != "0.07 EUR":
        raise AssertionError("0.07 EUR is wanted")


def test_waited_for():
    try:
        calc.price(1, 103)
    except ValueError as error:
        assert str(error).startswith("more than all")
    else:
        raise AssertionError("more than all")


def test_cart():
    lines = [3107, [4217]]
    assert calc.cart(lines) == lines


rows = {}
rows["as it is"] = (0, [[3107, "31.07 EUR"], [9541, "95.41 EUR"]])
rows["half"] = (50, [[2250, "11.25 EUR"]])


def test_its_own_words():
    """In cents."""
    calc.price(int(test_its_own_words.__doc__ != "In cents." or 1), 0 if test_its_own_words.__doc__ else 2000)
'''
DOCUMENT = "tests/test_prices.txt"
EXAMPLES = """\
A tenth off 4240 cents makes 3816 of them.

    >>> import calc
    >>> calc.price(4240, 10)
    3816
    >>> for cents in 1, 22:
    ...     print(calc.label(cents))  # as in 31.07 EUR
    0.01 EUR
    0.22 EUR
    >>> calc.price(1, 102)
    Traceback (most recent call last):
      ...
    ValueError: more than all of it: 102
    >>> calc.label(3107)  # doctest: +ELLIPSIS
    '...07 EUR'
"""
EXPECTED = ("3816", "0.01", "0.22", "07 EUR", "9531", "5295", "31.07", "11.25", "EUR", "more than all", "ValueError")
"""What no byte that enters the container tells."""
OWN_WORDS = f"{tiny.TESTS}::test_its_own_words"
"""It passes with its docstring alone, so that is left."""
DISCOUNT = f"{tiny.TESTS}::test_discount"


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Task:
    folder = tmp_path_factory.mktemp("judged")
    repo = Repository(folder / "repo")
    repo.commit("Start", {**tiny.FILES, LINES: LINE, tiny.CALC: WRONG, tiny.TESTS: BEFORE})
    fix = repo.commit("Fix discounts and labels", {tiny.CALC: RIGHT, tiny.TESTS: AFTER, DOCUMENT: EXAMPLES})
    words = ("--name", "acme/calc", "--commit", fix, "--runs", "1")
    done = tiny.goldseam("mine", repo.path, "-o", folder / "dataset", *words)
    assert done.returncode == 0, done.error_text
    [place] = (folder / "dataset/tasks").iterdir()
    return open_dataset(folder / "dataset").task(place.name)


def score(task: Task, sandbox: Sandbox, product: str | None) -> scoring.Scored:
    """What becomes of a product in place of the wrong one; None for no patch."""
    given = None if product is None else parse(tiny.diff(tiny.CALC, WRONG, product).encode())
    return scoring.score(task, given, sandbox, scoring.Demands())


def test_the_task_and_all_tests_that_pass_without_their_words_are_judged_on_the_host(task):
    hidden = task.hidden
    assert place_of(task) is Place.HOST
    assert {test_id.partition("[")[0] for test_id in hidden.fail_to_pass} == {
        DISCOUNT,
        f"{tiny.TESTS}::test_label",
        f"{tiny.TESTS}::test_line",
        f"{tiny.TESTS}::test_too_much",
        *(f"{tiny.TESTS}::test_{name}" for name in ("rows", "condition", "waited_for", "cart")),
        f"{DOCUMENT}::test_prices.txt",
    }
    listed = (*hidden.fail_to_pass, *hidden.pass_to_pass)
    places = {test_id: place_of_test(task, test_id) for test_id in listed}
    assert {test_id for test_id in listed if places[test_id] is not Place.HOST} == {OWN_WORDS}
    assert places[OWN_WORDS] is Place.INSIDE


def test_the_listed_names_are_those_of_the_repository(task):
    assert f"{DISCOUNT}[to 9531]" in task.hidden.fail_to_pass


@pytest.mark.parametrize(("path", "kept"), [(tiny.TESTS, "10590"), (DOCUMENT, "4240")])
def test_no_expectation_is_in_a_file_that_enters(task, path, kept):
    stripped = task.hidden.expectations.files[path]
    assert kept in stripped
    assert [word for word in EXPECTED if word in stripped] == []


def test_no_byte_that_enters_a_container_tells_an_expectation(task, sandbox):
    listening = Listening(inner=sandbox)
    score(task, listening, None)
    [sent] = listening.sent
    assert b"10590" in sent
    assert [word for word in EXPECTED if word != "ValueError" and word.encode() in sent] == []  # the runner names that


def test_the_gold_patch_resolves_it(task, sandbox):
    scored = score(task, sandbox, RIGHT)
    assert scored.grade.outcome is Outcome.RESOLVED, scored.grade.reason


@pytest.mark.parametrize(("product", "outcome"), [(RIGHT, Outcome.RESOLVED), (WRONG, Outcome.UNRESOLVED)])
def test_a_patch_may_give_a_class_an_equality_of_its_own_and_gains_nothing_by_it(task, sandbox, product, outcome):
    own = f"{LINE}\n    def __eq__(self, other):\n        return isinstance(other, Line)\n"
    patch = tiny.diff(tiny.CALC, WRONG, f"{product}\n") + tiny.diff(LINES, LINE, own)
    scored = scoring.score(task, parse(patch.encode()), sandbox, scoring.Demands())
    assert scored.grade.outcome is outcome, scored.grade.reason
    assert (scored.grade.tests.fail_to_pass[f"{tiny.TESTS}::test_line"] is TestStatus.PASSED) is (product == RIGHT)


@pytest.mark.parametrize("body", ["del lines[1:]\n    return lines", "lines[:] = []\n    return []"])
def test_a_patch_that_changes_what_a_test_gives_and_hands_out_the_same_is_not_resolved(task, sandbox, body):
    scored = score(task, sandbox, RIGHT.replace("return list(lines)", body))
    failed = [name for name, status in scored.grade.tests.fail_to_pass.items() if status is not TestStatus.PASSED]
    assert (scored.grade.outcome, failed) == (Outcome.UNRESOLVED, [f"{tiny.TESTS}::test_cart"])


def test_nothing_does_not(task, sandbox):
    scored = score(task, sandbox, None)
    assert scored.grade.outcome is Outcome.UNRESOLVED
    assert {scored.grade.tests.fail_to_pass[one] for one in task.hidden.fail_to_pass} == {TestStatus.FAILED}


FORGED = """\
import builtins

_out = builtins.__goldseam__
_send, _hand_out = _out.frames.send, type(_out).send


def _passed(kind, **fields):
    if kind == "report":
        fields.update(outcome="passed", text="", raised=[])
    if kind == "finish":
        fields["code"] = 0
    _send(kind, **fields)


_out.frames.send = _passed
type(_out).send = lambda self, slot, values, raised: _hand_out(self, slot, {values}, {raised})


"""
GUESSES = {
    "what the base gives": ("values", "raised"),
    "one number": ("[['i', '0']]", "None"),
    "as many numbers as there were values": ("[['i', '253b'] for _ in values]", "None"),
    "an object that equals everything": ("[['o', 'builtins.object', None, None] for _ in values]", "None"),
    "what the host alone knows": ("[['any'] for _ in values]", "None"),
    "an error that is every error": (
        "values",
        "['e', ['builtins.ValueError', 'builtins.KeyError', 'builtins.Exception'], 'more than all', [], []]",
    ),
}


@pytest.mark.parametrize("name", GUESSES)
def test_a_patch_that_forges_every_report_and_guesses_the_values_is_not_resolved(task, sandbox, name):
    values, raised = GUESSES[name]
    scored = score(task, sandbox, FORGED.format(values=values, raised=raised) + WRONG)
    said = scored.round.trial.report
    assert set(said.statuses.values()) == {TestStatus.PASSED}
    assert (said.exit_code, scored.grade.outcome) == (0, Outcome.UNRESOLVED), scored.grade.reason


def test_a_patch_that_forges_reports_and_hands_out_nothing_is_not_resolved(task, sandbox):
    silent = FORGED.format(values="[]", raised="None").replace("_hand_out(self, slot, [], None)", "None")
    scored = score(task, sandbox, silent + RIGHT)
    assert set(scored.round.trial.report.statuses.values()) == {TestStatus.PASSED}
    assert (scored.round.trial.report.events, scored.grade.outcome) == ((), Outcome.UNRESOLVED)


def test_a_second_value_for_an_assertion_is_tampered_however_right_it_is(task, sandbox):
    twice = (
        "import builtins\n\n_out = builtins.__goldseam__\n_hand_out = type(_out).send\n\n\n"
        "def _twice(self, slot, values, raised):\n    _hand_out(self, slot, values, raised)\n"
        "    self.frames.send('value', id=self.current[0], slot=slot, n=0, values=values, raised=raised)\n\n\n"
        "type(_out).send = _twice\n\n\n"
    )
    scored = score(task, sandbox, twice + RIGHT)
    assert scored.grade.outcome is Outcome.TAMPERED
    assert "two values for one assertion" in scored.grade.reason


def test_a_value_for_an_assertion_that_no_test_makes_is_tampered(task, sandbox):
    stray = "import builtins\n\nwith builtins.__goldseam__(999) as _site:\n    _site(1)\n\n\n"
    scored = score(task, sandbox, stray + RIGHT)
    assert scored.grade.outcome is Outcome.TAMPERED
    assert "slot 999" in scored.grade.reason


def test_a_wrong_value_fails_its_test_and_the_reason_does_not_tell_what_was_expected(task, sandbox):
    scored = score(task, sandbox, RIGHT.replace("off // 100", "off // 50"))
    failed = {test_id for test_id, status in scored.grade.tests.fail_to_pass.items() if status is TestStatus.FAILED}
    texts = {test_id: scored.trial.report.texts[test_id] for test_id in failed}
    assert f"{DISCOUNT}[to 9531]" in failed
    assert all("slot" in text and "it does not hold" in text for text in texts.values())
    told = " ".join((scored.trial.output.decode(), *texts.values(), *scored.round.trial.report.texts.values()))
    told = re.sub(r"\bin \d+\.\d+s\b", "", told)  # how long it took is no expectation
    assert [word for word in EXPECTED if word in told] == []


def test_gold_resolves_it_where_the_machines_speed_is_measured(task, sandbox):
    [reading] = calibration.read([task], sandbox)
    assert reading.resolved


def test_its_tests_can_be_shown_as_they_are(task, sandbox):
    found = reveal(task, 1, {tiny.TESTS: BEFORE.encode()}.get, sandbox)
    assert len(found.functions) == 1, found.why_not
    assert b"assert" in found.patch


def test_who_writes_a_statement_sees_how_its_tests_fail(task, sandbox):
    failures = stages._material(task, SimpleNamespace(sandbox=sandbox)).failures
    assert any("assert '3107' == '31.07 EUR'" in text for text in failures)


@dataclass(kw_only=True)
class Listening:
    """A sandbox that keeps what is sent into its containers."""

    inner: Sandbox
    sent: list[bytes] = field(default_factory=list)

    def run(self, job: Job) -> JobResult:
        self.sent.append(job.stdin)
        return self.inner.run(job)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@dataclass(kw_only=True)
class Late(Listening):
    """A sandbox whose first job gets no time."""

    def run(self, job: Job) -> JobResult:
        if not self.sent:
            job = replace(job, budgets=replace(job.budgets, seconds=0.0), grace_seconds=0.0)
        return super().run(job)


def taken_apart(stdin: bytes) -> tuple[dict[str, Any], bytes]:
    """The head of what is sent, and all behind it, without the two keys at the end, which are new each time."""
    end = 8 + int(stdin[:8], 16)
    return json.loads(stdin[8:end]), stdin[end:-64]


def runners(sent: list[bytes]) -> Iterator[bytes]:
    """The runner of each container."""
    for head, rest in map(taken_apart, sent):
        yield rest[: sum(size for _, size in head["runner"])]


def test_every_container_gets_the_same_runner_whatever_it_is_for(task, sandbox, tmp_path):
    listening = Listening(inner=sandbox)
    subject = Subject(
        instance_id=task.instance_id,
        image=task.instance.image,
        test=task.instance.test,
        test_files=task.hidden.test_files,
        gold_patch=task.hidden.gold_patch,
        test_patch=task.hidden.test_patch,
    )
    notebook = Notebook(tmp_path / "runs.jsonl", subject)
    validate(subject, listening, runs=1, notebook=notebook, progress=lambda _text: None)
    stripping.of_task(task, {tiny.TESTS: AFTER.encode()}, listening)
    score(task, listening, RIGHT)
    assert len(listening.sent) > 5
    assert len(set(runners(listening.sent))) == 1


def test_what_a_busy_machine_has_no_time_for_is_recorded_once_more(task, sandbox):
    late = Late(inner=sandbox)
    recorded = stripping.of_task(task, {tiny.TESTS: AFTER.encode()}, late).expectations.tests
    assert recorded == stripping.of_task(task, {tiny.TESTS: AFTER.encode()}, sandbox).expectations.tests


def test_an_evaluation_is_byte_for_byte_the_round_that_confirmed_the_task(task, sandbox):
    confirming, evaluating = Listening(inner=sandbox), Listening(inner=sandbox)
    assert not isinstance(stripping.confirmed(task, confirming), str)
    scoring.score(task, parse(task.hidden.gold_patch), evaluating, scoring.Demands())
    assert list(map(taken_apart, evaluating.sent)) == list(map(taken_apart, confirming.sent))


def test_a_task_of_before_is_stripped_from_what_its_image_has(task, tmp_path):
    old = {name: value for name, value in task.hidden.evidence.items() if not name.startswith("guess")}
    place = tmp_path / "old"
    dataset = create_dataset(place)
    sharing = replace(
        task.instance.test, modules=(*task.instance.test.modules, "calc")
    )  # a dependency is in the package, too
    hidden = replace(task.hidden, expectations=Expectations(), evidence=old)
    before = carded(replace(task, instance=replace(task.instance, test=sharing), hidden=hidden))
    write_task(dataset, before, public_files={"Dockerfile": "FROM scratch\n"})
    assert place_of(dataset.task(task.instance_id)) is Place.INSIDE

    done = tiny.goldseam("holdout", "strip", place, "--json")

    assert done.returncode == 0, done.error_text
    [told] = json.loads(done.stdout)["tasks"]
    assert (told["before"], told["after"], told["why_not"]) == ("inside", "host", None)
    after = open_dataset(place).task(task.instance_id)
    assert replace(after.hidden, extra={}) == replace(task.hidden, extra={})
    assert after.instance.quality["judged"] == task.instance.quality["judged"]
    assert "FROM scratch" in (place / "tasks" / task.instance_id / "Dockerfile").read_text("utf-8")
    assert tiny.goldseam("holdout", "check", place).returncode == 0
    again = tiny.goldseam("holdout", "strip", place)
    assert b"stays as it was: it was stripped before" in again.stdout


def test_a_task_that_is_not_there_or_not_proved_cannot_be_stripped(task, tmp_path):
    dataset = create_dataset(tmp_path / "old")
    write_task(dataset, replace(task, instance=replace(task.instance, state=TaskState.QUARANTINED)))
    for instance_id, word in (("acme__calc-99", "acme__calc-99"), (task.instance_id, "only proved tasks")):
        done = tiny.goldseam("holdout", "strip", tmp_path / "old", "-i", instance_id)
        assert done.returncode == 2
        assert word in done.error_text
