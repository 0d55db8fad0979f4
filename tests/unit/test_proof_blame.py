"""On what an unstable test hangs, found by further runs."""

from __future__ import annotations

from harness.core.instance import TestStatus
from miner.proof.flakiness_causes import blame
from miner.proof.notebook import ObservedRun
from miner.proof.variations import PLAIN, Cause, schedule

ALL = ("order", "hash_seed", "timezone", "locale", "home", "user", "processors", "cpus")


def hangs_on(*causes):
    """A test that passes as long as none of these is varied."""
    return lambda variation, _turn: not set(causes) & set(variation.causes)


def needs_both(one, other):
    return lambda variation, _turn: not {one, other} <= set(variation.causes)


class World:
    """Tests by id, each a function of how the run is varied and of how many runs there were."""

    def __init__(self, **tests):
        self.tests = tests
        self.looks = []
        self.turn = 0

    def observe(self, state, variation, number, **more):
        self.turn += 1
        statuses = {
            name: TestStatus.PASSED if passes(variation, self.turn) else TestStatus.FAILED
            for name, passes in self.tests.items()
        }
        return ObservedRun(state=state, number=number, variation=variation, statuses=statuses, **more)

    def found(self, runs=3, states=("after", "before", "base")):
        return [
            self.observe(state, variation, number)
            for number, variation in enumerate(schedule(runs))
            for state in states
        ]

    def look(self, state, variation, repeat):
        self.looks.append((state, variation, repeat))
        return self.observe(state, variation, 1000 + repeat)

    def causes(self, **options):
        return {name: str(cause) for name, cause in blame(self.found(), self.look, **options).causes.items()}


def test_each_test_is_blamed_on_what_it_hangs_on():
    world = World(**{cause: hangs_on(cause) for cause in ALL}, steady=hangs_on())
    assert world.causes() == {cause: cause for cause in ALL}


def test_stable_tests_cost_no_further_run():
    world = World(one=hangs_on())
    assert world.causes() == {}
    assert world.looks == []


def test_one_cause_costs_three_plain_runs_one_in_all_that_is_not_pinned_one_that_finds_it_and_two_that_confirm_it():
    world = World(one=hangs_on("order"))
    assert world.causes() == {"one": "order"}
    assert len(world.looks) == 7
    assert {state for state, _, _ in world.looks} == {"after"}


def test_no_two_further_runs_are_taken_for_the_same():
    world = World(**{cause: hangs_on(cause) for cause in ALL}, both=needs_both("home", "user"))
    world.causes()
    assert len(world.looks) == len(set(world.looks))


def test_what_differs_between_equal_runs_is_random():
    world = World(coin=lambda variation, turn: variation.is_plain and turn % 2 == 1)
    assert world.causes() == {"coin": "random"}


def test_what_no_further_run_shows_again_is_random():
    world = World(rare=lambda _variation, turn: turn != 4)
    assert world.causes() == {"rare": "random"}


def test_what_one_thing_alone_brings_about_once_and_not_again_is_random():
    alone = []

    def passes(variation, _turn):
        if variation.causes == (Cause.ORDER,):
            alone.append(variation)
            return len(alone) > 1
        return len(variation.causes) <= 1

    assert World(odd=passes).causes() == {"odd": "random"}


def test_what_only_several_things_together_bring_about_is_unknown():
    world = World(both=needs_both("timezone", "locale"))
    assert world.causes() == {"both": "unknown"}


def test_what_either_of_two_things_brings_about_is_blamed_on_the_likelier():
    world = World(either=hangs_on("timezone", "locale"), home=hangs_on("home"))
    assert world.causes() == {"either": "timezone", "home": "home"}


def test_what_evaluation_pins_makes_a_test_sensitive_and_anything_else_makes_it_unstable():
    world = World(**{cause: hangs_on(cause) for cause in ALL})
    blamed = blame(world.found(), world.look)
    assert blamed.sensitive == {"hash_seed", "timezone", "locale", "home", "user"}
    assert blamed.unstable == {"order", "processors", "cpus"}


def test_a_test_that_hangs_on_the_clock_of_its_time_zone_too_is_unstable():
    world = World(both=hangs_on("cpus", "timezone"), pinned=hangs_on("timezone"))
    blamed = blame(world.found(), world.look)
    assert (blamed.sensitive, blamed.unstable) == ({"pinned"}, {"both"})


def test_without_the_run_in_all_that_is_not_pinned_nothing_is_called_sensitive():
    world = World(one=hangs_on("timezone"))

    def look(state, variation, repeat):
        lost = set(variation.causes) == {Cause.ORDER, Cause.PROCESSORS, Cause.CPUS}
        return world.observe(state, variation, 1000 + repeat, trouble="crashed" if lost else "")

    blamed = blame(world.found(), look)
    assert (blamed.sensitive, blamed.unstable) == (set(), {"one"})


def test_a_test_that_only_some_states_have_is_looked_into_there():
    world = World(one=hangs_on("user"))
    found = world.found(states=("before",)) + World(two=hangs_on()).found(states=("after",))
    assert dict(blame(found, world.look).causes) == {"one": Cause.USER}


def test_the_search_is_bounded_and_says_what_it_left():
    world = World(**{cause: hangs_on(cause) for cause in ALL})
    assert set(world.causes(most=5).values()) == {"unknown"}
    assert len(world.looks) == 5


def test_the_search_ends_when_it_has_taken_too_long():
    world = World(one=hangs_on("cpus"))
    slow = [*world.found()]

    def look(state, variation, repeat):
        world.looks.append(repeat)
        return world.observe(state, variation, repeat, seconds=61.0)

    assert dict(blame(slow, look, seconds=120).causes) == {"one": Cause.UNKNOWN}
    assert len(world.looks) == 2


def test_without_further_runs_equal_runs_still_tell_what_is_random():
    world = World(coin=lambda _variation, turn: turn % 2 == 1)
    found = [world.observe("after", PLAIN, number) for number in range(3)]
    assert dict(blame(found).causes) == {"coin": Cause.RANDOM}


def test_a_further_run_that_gives_no_full_answer_says_nothing():
    world = World(one=hangs_on("order"))

    def look(state, variation, repeat):
        return world.observe(state, variation, repeat, trouble="crashed" if variation.causes else "")

    assert dict(blame(world.found(), look).causes) == {"one": Cause.UNKNOWN}


def test_what_never_passes_for_want_of_a_network_is_named_and_not_unstable():
    found = [
        ObservedRun(state="after", number=0, statuses={"far": TestStatus.FAILED}, network=("far",)),
        ObservedRun(state="before", number=0, statuses={"far": TestStatus.FAILED}, network=("far",)),
    ]
    blamed = blame(found)
    assert dict(blamed.causes) == {"far": Cause.NETWORK}
    assert not blamed.unstable


def test_what_never_passes_for_want_of_a_service_is_named_and_not_unstable():
    lost = {"db": TestStatus.ERROR}
    found = blame([ObservedRun(state="after", number=0, statuses=lost, refused=("db",))])

    assert (found.causes, found.unstable) == ({"db": Cause.SERVICE}, frozenset())


def test_what_needs_a_network_only_before_the_fix_is_not_named():
    found = [
        ObservedRun(state="after", number=0, statuses={"far": TestStatus.PASSED}),
        ObservedRun(state="before", number=0, statuses={"far": TestStatus.FAILED}, network=("far",)),
    ]
    assert dict(blame(found).causes) == {}


def test_a_table_that_is_called_by_the_time_costs_one_further_run_of_each_state():
    def observe(state, variation, number):
        name = f"t.py::test_now[{variation.clock_days or 0}-{state}-{number}]"
        return ObservedRun(state=state, number=number, variation=variation, statuses={name: TestStatus.PASSED})

    states = ("after", "before")
    found = [observe(state, one, number) for number, one in enumerate(schedule(3, clock=True)) for state in states]
    looks = []

    def look(state, variation, repeat):
        looks.append(variation)
        return observe(state, variation, 1000 + repeat)

    blamed = blame(found, look)

    assert looks == [PLAIN, PLAIN]
    assert set(blamed.causes.values()) == {Cause.RANDOM}
