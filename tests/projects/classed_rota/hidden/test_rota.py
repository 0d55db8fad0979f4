from datetime import date

import rota


def test_due_within_a_week():
    assert rota.due(date(2024, 3, 4), 2) == date(2024, 3, 6)


def test_one_name_is_always_on_call():
    assert rota.on_call(["Ada"], date(2024, 3, 4)) == "Ada"


def test_initials_of_one_name():
    assert rota.initials("Ada") == "A"


def test_roster_of_one_name():
    assert rota.roster(["Ada"]) == "Ada"


def test_hours_of_many_minutes():
    assert rota.hours(95) == "1:35"


def test_due_leaves_out_a_weekend():
    assert rota.due(date(2024, 3, 7), 2) == date(2024, 3, 11)


def test_due_from_a_saturday():
    assert rota.due(date(2024, 3, 9), 1) == date(2024, 3, 11)


def test_on_call_goes_on_over_the_turn_of_the_year():
    days = [date(2020, 12, 28), date(2021, 1, 4), date(2021, 1, 11)]
    assert len({rota.on_call(["Ada", "Bob", "Cy"], day) for day in days}) == 3


def test_initials_of_two_names():
    assert rota.initials("Ada Lovelace") == "AL"


def test_roster_has_every_name_once():
    assert rota.roster(["Bob", "Ada", "Bob"]) == "Ada, Bob"


def test_hours_are_padded():
    assert rota.hours(65) == "1:05"
