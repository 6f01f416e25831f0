# SPDX-License-Identifier: MIT
"""State directories that earlier versions left behind, with a run in every stage (earlier.py):
nothing of them is lost or done again."""
import os

import pytest
from earlier import ARCHIVES, Left, ends_well, implementers, make_left, open_gates, start_shims, starts_well
from rld import wait_gone


@pytest.fixture(params=ARCHIVES, ids=str)
def left(places, make_daemon, tmp_path, request):
    """The daemon of that state, not started; none of its agents runs."""
    return make_left(places, make_daemon, tmp_path, request.param)


@pytest.fixture
def old(left):
    """The daemon of that state, not started; its agents are at work."""
    start_shims(left)
    return left


@pytest.mark.each
def test_every_run_goes_on(old):
    old.start()
    starts_well(old)
    assert old.run(17)["state"] == "queued"
    open_gates(old)
    (old.path / "slow").unlink()
    ends_well(old)


def test_they_can_be_cancelled(old):
    daemon = old.start()
    with daemon.connect() as rpc:		# in one piece: none of them has time to begin
        rpc.batch([rpc.request("run.cancel", {"id": run}) for run in old.left.runs[5:]])
    rows = daemon.ended(*old.left.runs[5:])
    states = {row["id"]: row["state"] for row in rows}
    assert states.pop(8) in ("cancelled", "succeeded"), "its implementer had ended before"
    assert states == dict.fromkeys(states, "cancelled"), [(row["id"], row["state"], row["cause"]) for row in rows]
    assert {run: implementers(old, run) for run in (15, 17)} == {15: 0, 17: 0}


def test_killed_while_they_go_on(old):
    """The new daemon dies a few times before it has heard from any of them."""
    for _ in range(3):
        old.start()
        old.kill()
    test_every_run_goes_on(old)


def test_a_later_run_has_products_and_evidence(old, repo):
    """On the same state, while those that began without them are still at work."""
    daemon = old.start()
    (daemon.play.path / "implement").write_text("echo work > work.txt\nanswer done\n")
    (daemon.play.path / "review").write_text("pass\n")
    number = daemon.review(repo.path, review={"profile": "verdict"}, checks=["test -e work.txt || exit 1"])
    assert daemon.ended(number)["state"] == "succeeded"
    products = daemon.call("product.list", run=number)["products"]
    assert [p["kind"] for p in products][:2] == ["base", "work"], products
    evidence = daemon.call("evidence.list", run=number)["evidence"]
    assert [e["kind"] for e in evidence if e["product"] == products[1]["number"]] == ["check", "review"], evidence
    shown = daemon.rlctl("evidence", number, check=0).out
    assert all(str(row["tree"])[:7] in shown for row in products), shown
    for run in old.left.runs:
        assert old.left.recorded or not daemon.call("product.list", run=run)["products"], run
    assert daemon.call("review.verify", run=number)["ok"]


# ---- run 13: a git of its measure is under way, as a step of one process, ------------------------
# ---- which no rl-git has started -----------------------------------------------------------------

STEP = "153"


@pytest.fixture
def waiting(places, make_daemon, tmp_path):
    """The daemon, the shim of that step, and a function that waits until the slow git
    is there: its pid."""
    left = make_left(places, make_daemon, tmp_path, Left(5))
    here, git = left.path / "slow.here", left.path / "bin/git"
    text = git.read_text()
    assert f"touch {here}" in text
    git.write_text(text.replace(f"touch {here}", f"echo $$ > {here}"))
    os.mkfifo(here)
    return left, start_shims(left)[STEP], lambda: int(here.read_text())


def measured_anew(daemon):
    """Run 13 ends well. Nothing of the old step was used: its work was measured once more. No
    attempt was made again."""
    row = daemon.ended(13)
    assert (row["state"], row["cause"]) == ("succeeded", None), row
    assert implementers(daemon, 13) == 1
    assert [a["role"] for a in daemon.attempts(13)] == ["implement", "review"]
    others = [run for run in range(6, 18) if run not in (8, 13)]	# run 8 ends by itself
    for run in others:
        daemon.call("run.cancel", id=run)
    daemon.ended(8, *others)
    daemon.stop()
    steps = daemon.query("SELECT id, name, state FROM step WHERE run = 13 AND id >= ? ORDER BY id", STEP)
    assert (steps[0]["id"], steps[0]["state"]) == (int(STEP), "lost"), steps
    assert [step["name"] for step in steps[1:]] == ["measure", "verify", "pin"], steps


def test_a_step_that_ended_while_no_daemon_ran(waiting):
    daemon, shim, slow_git = waiting
    slow_git()
    (daemon.path / "slow").unlink()
    shim.wait()
    assert (daemon.state / "attempts" / STEP / "exit").exists()
    measured_anew(daemon.start())


def test_a_step_that_is_gone_without_an_exit_record(waiting):
    daemon, shim, slow_git = waiting
    lost = slow_git()
    shim.kill()
    shim.wait()
    assert not (daemon.state / "attempts" / STEP / "exit").exists()
    daemon.start()
    assert slow_git() != lost
    wait_gone(lost)
    (daemon.path / "slow").unlink()
    measured_anew(daemon)
