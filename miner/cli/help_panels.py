"""The order in which help lists the commands: by what somebody is about to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import typer
    from typer.models import CommandInfo, TyperInfo

PANELS = {
    "Begin": ("doctor", "demo"),
    "Make tasks and keep them": ("mine", "holdout", "images"),
    "Let models try": ("solve", "judge"),
    "Score": ("evaluate", "scores", "report"),
    "Decide": ("compare", "gate", "history"),
}
HOLDOUT_PANELS = {
    "Look at it": ("check", "stats", "quality", "difficulty", "strength", "calls", "log"),
    "Keep it private": ("seal", "open", "bind", "canary", "scan"),
    "Keep it healthy": ("refresh", "strip", "quarantine", "release", "retire", "rotate", "dedupe"),
    "Part and share it": ("split", "reveal", "merge", "import", "export", "push", "pull"),
}


def arrange(app: typer.Typer, panels: Mapping[str, tuple[str, ...]]) -> None:
    """Put an app's commands and groups into panels of its help, in their order; one in no panel comes first."""
    for group in [group for group in app.registered_groups if not group.name and group.typer_instance]:
        assert group.typer_instance is not None  # noqa: S101 - narrows the type
        app.registered_commands += group.typer_instance.registered_commands
        app.registered_groups.remove(group)
    panel_of = {name: panel for panel, names in panels.items() for name in names}
    ranks = {name: rank for rank, name in enumerate(panel_of)}
    infos: tuple[CommandInfo | TyperInfo, ...] = (*app.registered_commands, *app.registered_groups)
    for info in infos:
        info.rich_help_panel = panel_of.get(_name(info), info.rich_help_panel)
    app.registered_commands.sort(key=lambda info: ranks.get(_name(info), -1))


def _name(info: CommandInfo | TyperInfo) -> str:
    return info.name or str(getattr(info.callback, "__name__", ""))
