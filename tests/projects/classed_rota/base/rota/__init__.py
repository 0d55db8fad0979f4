from rota.shifts import due, hours, initials, on_call, roster

__all__ = ["due", "hours", "initials", "on_call", "roster"]
