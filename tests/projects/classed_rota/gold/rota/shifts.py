"""Who is on call, and until when."""

from datetime import timedelta


def due(start, days):
    """The date so many working days after `start`."""
    day = start
    while days > 0:
        day += timedelta(days=1)
        if day.weekday() < 5:
            days -= 1
    return day


def on_call(names, day):
    """Whose week it is; weeks begin on Mondays and follow each other without a gap."""
    return names[(day.toordinal() - 1) // 7 % len(names)]


def initials(name):
    """`Ada Lovelace` as `AL`."""
    return "".join(part[0] for part in name.split())


def roster(names):
    """Every name once, in order, on one line."""
    return ", ".join(sorted(set(names)))


def hours(minutes):
    """Minutes as hours and minutes, `1:05`."""
    return f"{minutes // 60}:{minutes % 60:02}"
