"""Who is on call, and until when."""

from datetime import timedelta


def due(start, days):
    """The date so many working days after `start`."""
    return start + timedelta(days=days)


def on_call(names, day):
    """Whose week it is; weeks begin on Mondays and follow each other without a gap."""
    return names[day.isocalendar()[1] % len(names)]


def initials(name):
    """`Ada Lovelace` as `AL`."""
    return name[:1]


def roster(names):
    """Every name once, in order, on one line."""
    return ", ".join(names)


def hours(minutes):
    """Minutes as hours and minutes, `1:05`."""
    return f"{minutes // 60}:{minutes % 60}"
