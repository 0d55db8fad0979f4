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
