# SPDX-License-Identifier: MIT
"""Tricks of a hostile coder, each once: none passes unseen. "make check-evidence" plays each in
every profile and isolation."""
import sys
from pathlib import Path

import pytest
from rld import Daemon

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "evidence"))
import random_runs  # noqa: E402
from trial import ISOLATIONS, KNOWN, PROFILES, Arena, Trial, rotated, tricks  # noqa: E402

PARTS = 4


@pytest.fixture
def arena(tmp_path):
    made = Arena(tmp_path)
    yield made
    assert made.finish() == []
    Daemon.processes.clear()


def trick(name):
    return next(each for each in tricks() if each.name == name)


@pytest.mark.each
@pytest.mark.deadline(300)
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_passes_unseen(arena, part):
    trials = [rotated(number, each) for number, each in enumerate(tricks())]
    played = arena.play(trials[part::PARTS])
    assert [(str(trial), wrong) for trial, _, wrong in played if wrong and trial.trick.name not in KNOWN] == []


def test_clean_clones_of_random_runs_build(arena):
    stories = [random_runs.story(f"check {number}") for number in range(12)]
    played = random_runs.play_all(arena, stories)
    assert [wrong for _, wrong in played if wrong] == []
    assert sum(row["state"] == "succeeded" for row, _ in played) >= 6, played


@pytest.mark.each
@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_pass_unseen_is_noticed(arena, isolation):
    """What is good passes, what is evil does not, and without an honest judge it does, unseen."""
    trials = [Trial(trick(f"control-{kind}"), profile, isolation, judge)
              for kind in ("good", "evil") for profile in PROFILES for judge in ("review", "check", "none")]
    for trial, row, wrong in arena.play(trials):
        evil = trial.trick.name == "control-evil"
        assert row["state"] == ("failed" if evil and trial.judge != "none" else row["state"]), (trial, row)
        assert evil or row["state"] == "succeeded", (trial, row)
        assert bool(wrong) == (evil and trial.judge == "none"), (trial, wrong)
