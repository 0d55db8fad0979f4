"""Plots as inline SVG. Places are percentages, so that the text keeps its size however wide the page is. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from harness.core.wording import percent
from harness.report.text import visible
from harness.report.words import dollars
from harness.stats import Interval

_LABEL_HEIGHT = 7.0
_LABEL_WIDTH = 4.0
"""Per cent of the plot's height and width that a letter takes."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One model in the plot of cost against rate."""

    label: str
    cost: float
    """US dollars a prediction."""
    rate: float
    interval: Interval | None
    letter: str = ""


def cost_against_score(points: Sequence[Point]) -> Markup:
    """Score over cost a prediction, with the scores' 95% intervals; nothing for no points."""
    if not points:
        return Markup("")
    ticks = _ticks(max(point.cost for point in points))
    most = ticks[-1]
    parts = [_grid(ticks, most)]
    for point, label_at in zip(points, _label_places(points, most), strict=True):
        parts.append(_point(point, 100 * point.cost / most, label_at))
    text = "; ".join(f"{point.label}: {dollars(point.cost)}, {percent(point.rate)}" for point in points)
    return Markup('<svg class="scatter" width="100%" height="300" role="img" aria-label="{}">{}</svg>').format(
        f"Share resolved against US dollars a prediction. {text}",
        Markup('<svg x="52" y="4%" width="100%" height="80%" overflow="visible" class="frame">{}</svg>').format(
            Markup('<svg width="88%" height="100%" overflow="visible">{}</svg>').format(Markup("").join(parts))
        ),
    )


def _ticks(most: float) -> list[float]:
    """From 0 in round steps to at least the largest value."""
    if most <= 0:
        return [0.0, 1.0]
    step = 10 ** math.floor(math.log10(most))
    step = next(size for factor in (0.25, 0.5, 1, 2.5) if most / (size := step * factor) <= 5)  # noqa: PLR2004 - few lines
    return [number * step for number in range(math.ceil(most / step - 1e-9) + 1)]


_ACROSS = Markup(
    '<line class="grid" x1="0" x2="100%" y1="{0}%" y2="{0}%"/><text x="-8" y="{0}%" dy="4" class="end">{1}</text>'
)
_UP = Markup(
    '<line class="grid" y1="0" y2="100%" x1="{0}%" x2="{0}%"/><text x="{0}%" y="100%" dy="18" class="mid">{1}</text>'
)


def _grid(ticks: Sequence[float], most: float) -> Markup:
    lines = [_ACROSS.format(100 - share, f"{share}%") for share in (0, 25, 50, 75, 100)]
    lines += [_UP.format(f"{100 * tick / most:.2f}", _dollars(tick)) for tick in ticks]
    return Markup("").join(
        [*lines, Markup('<text x="50%" y="100%" dy="38" class="mid">US dollars a prediction</text>')]
    )


def _dollars(value: float) -> str:
    return f"${value:.4f}".rstrip("0").rstrip(".") if value else "$0"


def _point(point: Point, x: float, label_at: float) -> Markup:
    whisker = Markup("")
    if point.interval:
        whisker = Markup('<line class="whisker" x1="{0}%" x2="{0}%" y1="{1}%" y2="{2}%"/>').format(
            f"{x:.2f}", f"{100 - 100 * point.interval.low:.2f}", f"{100 - 100 * point.interval.high:.2f}"
        )
    return Markup(
        '<g class="model">{}<circle cx="{x}%" cy="{y}%" r="5"/>'
        '<text x="{x}%" y="{at}%" dx="10" dy="4"><title>{}</title>{}</text></g>'
    ).format(
        whisker,
        visible(point.label).striptags(),
        visible(point.letter or point.label).striptags(),
        x=f"{x:.2f}",
        y=f"{100 - 100 * point.rate:.2f}",
        at=f"{label_at:.2f}",
    )


def _label_places(points: Sequence[Point], most: float) -> list[float]:
    """A height for each letter, per cent from the top: at its point, or pushed down off those that are near."""
    places = [0.0] * len(points)
    across = [100 * point.cost / most for point in points]
    placed: list[int] = []
    for number in sorted(range(len(points)), key=lambda number: -points[number].rate):
        near = sorted(places[other] for other in placed if abs(across[other] - across[number]) < _LABEL_WIDTH)
        place = 100 - 100 * points[number].rate
        for occupied in near:
            if abs(occupied - place) < _LABEL_HEIGHT:
                place = occupied + _LABEL_HEIGHT
        places[number] = place
        placed.append(number)
    return places
