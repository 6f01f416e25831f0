# SPDX-License-Identifier: MIT
"""Directories of git steps: those that succeeded are gone, but for patches; others stay."""
import contextlib
import sqlite3

import pytest

from test_rolling import stories

FIXED = {"implement": "echo one > work.txt\nanswer done\n", "fix": "echo two >> work.txt\nanswer fixed\n",
         "review": "[ $RL_REVIEW_ROUND = 1 ] && drift more || pass\n"}


def directories(daemon):
    return {int(path.name) for path in (daemon.state / "attempts").iterdir()}


def steps(daemon):
    """The rows of steps, and the attempts, with the daemon stopped."""
    daemon.stop()
    with contextlib.closing(sqlite3.connect(daemon.state / "rld.db")) as db:
        return (db.execute("SELECT id, name, exit_code FROM step").fetchall(),
                {row[0] for row in db.execute("SELECT id FROM attempt")})


@pytest.mark.parametrize("tasks", [1, 3])
def test_a_reviewed_run(make_daemon, repo, tasks):
    daemon = make_daemon(scripts=FIXED)
    source = {"task": "do it"} if tasks == 1 else {"stories": stories(*"abc"[:tasks]), "parallel": 2,
                                                   "isolation": "worktree"}
    run = daemon.call("run.submit", workdir=str(repo.path), review={"enabled": True, "profile": "verdict"},
                      **source)["id"]
    assert daemon.ended(run)["state"] == "succeeded"
    assert tasks > 1 or "work.txt" in daemon.call("run.diff", id=run)["diff"]
    assert daemon.call("review.verify", run=run)["ok"]
    there = directories(daemon)
    rows, attempts = steps(daemon)
    assert {name for _, name, _ in rows} > {"measure", "checkout"}
    patches = {number for number, name, _ in rows if name in ("measure", "merge")}
    assert there == attempts | patches, [row for row in rows if row[0] in there - attempts - patches]


def test_an_operation_that_failed_stays(make_daemon, repo):
    """With what git said, to be looked at."""
    daemon = make_daemon()
    run = daemon.submit(repo.path, isolation="worktree", base="nowhere")
    assert daemon.ended(run)["state"] == "failed"
    there = directories(daemon)
    rows, attempts = steps(daemon)
    assert rows and there == {number for number, _, _ in rows} | attempts, rows


def test_a_kill_after_each_removal(make_daemon, repo):
    """The daemon dies when the directory of a step is gone and its end is not recorded."""
    daemon = make_daemon(scripts=FIXED)
    run = daemon.review(repo.path, review={"enabled": True, "profile": "verdict"})
    seen, kills = set(), 0
    while daemon.run(run)["state"] not in ("succeeded", "failed", "held"):
        now = directories(daemon)
        if seen - now and kills < 6:
            daemon.kill()
            daemon.start()
            kills += 1
        seen = now
    assert daemon.run(run)["state"] == "succeeded" and kills > 0
    assert [a["role"] for a in daemon.attempts(run)] == ["implement", "review", "fix", "review"]
