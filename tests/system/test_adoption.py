# SPDX-License-Identifier: MIT
"""What a start finds that no daemon has left so: a state directory that was moved or cannot be
written, directories of strangers beside the attempts, shims that stand still."""
import os
import shutil
import signal
import subprocess

import pytest
from rld import alive, proc_stat, wait_gone

PASS = {"implement": "gate here\necho one > work.txt\nanswer done\n", "review": "pass\n"}
READ_ONLY = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"']


def at_work(make_daemon, repo):
    """A daemon whose implementer is at its gate: with the run, and the shim."""
    daemon = make_daemon(scripts=PASS, gates=["here"])
    run = daemon.review(repo.path)
    return daemon, run, proc_stat(daemon.play.arrived("here"))[1]


def ends_well(daemon, run):
    row = daemon.ended(run)
    assert row["state"] == "succeeded", row
    assert [s[1] for s in daemon.play.starts(run)] == ["implement", "review"], "paid once"
    assert [a["state"] for a in daemon.attempts(run)] == ["exited"] * 2


def test_a_state_directory_that_was_moved(make_daemon, repo):
    """Its agents go on, and are taken back in the new place."""
    daemon, run, shim = at_work(make_daemon, repo)
    daemon.stop()
    daemon.state = daemon.state.rename(daemon.path / "moved")
    daemon.start()
    assert alive(shim)
    daemon.play.go("here")
    ends_well(daemon, run)


def test_a_state_directory_that_cannot_be_written(make_daemon, repo):
    """The start says so, and touches nothing: the next one takes all back."""
    if os.geteuid() != 0 or subprocess.run([*READ_ONLY, str(repo.path), "true"], capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    daemon, run, shim = at_work(make_daemon, repo)
    daemon.kill()
    daemon.prefix = [*READ_ONLY, str(daemon.state)]
    daemon.spawn()
    assert daemon.exited() not in (0, None)
    assert "Read-only file system" in daemon.log(), daemon.log()[-500:]
    assert alive(shim)
    daemon.prefix = []
    daemon.start()
    daemon.play.go("here")
    ends_well(daemon, run)


def test_directories_that_no_daemon_has_made(make_daemon, repo):
    """They are no attempts of ours, and no number of theirs is used."""
    daemon, run, _ = at_work(make_daemon, repo)
    daemon.kill()
    attempts = daemon.state / "attempts"
    newest = max(int(path.name) for path in attempts.iterdir())
    (attempts / "notes").mkdir()
    (attempts / str(newest + 1)).mkdir()                          # half made
    shutil.copytree(attempts / str(newest), attempts / str(newest + 2), symlinks=True)
    (attempts / str(newest + 3)).write_text("no directory\n")
    (attempts / str(newest + 4)).symlink_to("/")
    before = sorted(path.name for path in attempts.iterdir())
    daemon.start()
    daemon.play.go("here")
    ends_well(daemon, run)
    assert min(a["id"] for a in daemon.attempts(run)[1:]) > newest + 2
    assert set(before) <= {path.name for path in attempts.iterdir()}, "what is not ours stays"


@pytest.mark.parametrize("how", ["cancel", "finish", "kill"])
def test_a_shim_that_stands_still(make_daemon, repo, how):
    """It was stopped while no daemon ran: it is taken back, a cancel moves it, and what happens to
    it in the end is told as it is."""
    daemon, run, shim = at_work(make_daemon, repo)
    daemon.kill()
    os.kill(shim, signal.SIGSTOP)
    daemon.start()
    assert daemon.attempts(run)[0]["state"] == "running"
    if how == "cancel":
        assert daemon.cancelled(run)["state"] == "cancelled"
        wait_gone(shim)
        return
    if how == "kill":
        os.kill(shim, signal.SIGKILL)
        row = daemon.ended(run)
        assert row["state"] == "held" and daemon.attempts(run)[0]["state"] == "lost", row
        return
    daemon.play.go("here")      # the agent ends, and nobody hears of it yet
    os.kill(shim, signal.SIGCONT)
    ends_well(daemon, run)


@pytest.mark.parametrize("restart", [False, True], ids=["started", "adopted"])
def test_an_agent_that_stops_its_shim(make_daemon, repo, restart):
    """Its time limit holds."""
    daemon = make_daemon(scripts={"implement": "kill -STOP $PPID\ngate here\n"}, gates=["here"],
                         config={"limits": {"timeout": "1s", "grace": "1s"}})
    run = daemon.submit(repo.path)
    agent = daemon.play.arrived("here")
    if restart:
        daemon.kill()
        daemon.start()
    assert daemon.ended(run)["state"] == "failed"
    assert daemon.attempts(run)[0]["process"] == "timeout"
    wait_gone(agent)
