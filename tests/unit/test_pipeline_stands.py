"""Which earlier decisions of a mine still answer what is asked now."""

from __future__ import annotations

import pytest

from miner.candidates.funnel import FunnelLine
from miner.pipeline.mine import KEPT_ASIDE, NOT_VALIDATED, Options, _is_valid
from miner.sources.change import Stage
from miner.sources.history import ChangeFilter


def line(stage, reason, detail=""):
    return FunnelLine(repo="acme/calc", change="1" * 40, stage=stage, reason=reason, detail=detail)


@pytest.mark.parametrize(
    ("decided", "asked", "stands"),
    [
        (line(Stage.VALIDATION, "unstable_fail_to_pass", "1 of 1"), {}, True),
        (line(Stage.VALIDATION, "unstable_fail_to_pass", "1 of 1"), {"quarantine": True}, False),
        (line(Stage.VALIDATION, "unstable_fail_to_pass", KEPT_ASIDE), {"quarantine": True}, True),
        (line(Stage.VALIDATION, "gold_fails"), {"quarantine": True}, True),
        (line(Stage.ACCEPTED, "accepted", NOT_VALIDATED), {}, False),
        (line(Stage.ACCEPTED, "accepted"), {}, True),
        (line(Stage.RECOGNITION, "no_tests"), {}, False),
    ],
    ids=["left", "left, now to be kept", "kept", "wrong for another reason", "candidate", "proved", "not recognised"],
)
def test_a_decision_stands_unless_more_is_asked_now(decided, asked, stands):
    assert _is_valid(decided, Options(wanted=ChangeFilter(), **asked)) is stands


def test_asking_for_quarantine_makes_a_whole_mine_look_again():
    wanted = ChangeFilter()
    assert Options(wanted=wanted).rules != Options(wanted=wanted, quarantine=True).rules
