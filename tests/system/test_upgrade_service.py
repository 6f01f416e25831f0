# SPDX-License-Identifier: MIT
"""State directories that earlier versions left behind as a service of the system, whose agents were
rld's user (earlier.py): handed over to the agents' user, nothing of them is lost or done again."""
import contextlib
import shutil
import subprocess

import pytest
from apart import AGENTS, RLD_UID, Starter
from earlier import each_archive, ends_well, make_left, open_gates, start_shims, starts_well
from rld import BUILD, Repo, give
from test_upgrade import downgrade
from users import needs_root

pytestmark = needs_root


def chown(name, *paths):
    subprocess.run(["chown", "-R", f"{name}:{name}", *paths], check=True)


def make_service(places, make_daemon, tmp_path, left):
    """It has the user of rld."""
    daemon = make_left(places, make_daemon, tmp_path, left, "rl-git")
    daemon.path.chmod(0o755)
    for program in ("rld", "rl-shim", "rl-git"):
        shutil.copy(BUILD / program, daemon.path)
    daemon.program = daemon.path / "rld"
    chown(RLD_UID, daemon.path)
    return daemon


def hand_over(daemon, *paths):
    """When its agents have ended; with the paths."""
    subprocess.run([str(BUILD / "rl-start"), "--user", AGENTS, "--hand-over", str(daemon.state)], check=True)
    paths = [*paths, *daemon.path.glob("r[0-9]*"), *daemon.path.glob("play*"), *daemon.path.glob("slow*")]
    chown(AGENTS, *paths)
    subprocess.run(["chmod", "-R", "g+rwX", *paths], check=True)


@contextlib.contextmanager
def with_starter(daemon, tmp_path):
    """The daemon, started beside what starts its agents."""
    starter = Starter(tmp_path / "starter")
    try:
        gid = starter.agents.pw_gid
        daemon.uid, daemon.prefix_sets_uid = RLD_UID, True
        daemon.prefix = ["setpriv", f"--reuid={RLD_UID}", f"--regid={RLD_UID}", f"--groups={gid}"]
        daemon.environment["RLD_STARTER"] = str(starter.socket)
        yield daemon.start()
        daemon.stop()
    finally:
        starter.finish()


@each_archive
@pytest.mark.each
def test_every_run_goes_on(places, make_daemon, tmp_path, another_user, left):
    """What was at work ends as the user of rld, and the hand-over waits for it."""
    daemon = make_service(places, make_daemon, tmp_path, left)
    start_shims(daemon, user=RLD_UID, group=RLD_UID, extra_groups=[])
    open_gates(daemon)
    (daemon.path / "slow").unlink()
    hand_over(daemon)
    with with_starter(daemon, tmp_path):
        starts_well(daemon)
        ends_well(daemon)


@each_archive
def test_without_any_agent(places, make_daemon, tmp_path, another_user, left):
    """None is alive: nothing is done again unless somebody says so, and what is retried works as
    the other user."""
    daemon = make_service(places, make_daemon, tmp_path, left)
    paid = [len(daemon.play.starts(run, "implement")) for run in range(1, 15)]
    hand_over(daemon)
    with with_starter(daemon, tmp_path):
        rows = {run: daemon.run(run) for run in left.runs}
        assert [rows[run]["state"] for run in range(1, 6)] == ["succeeded", "failed", "succeeded", "succeeded",
                                                               "failed"]
        for run in rows:
            assert daemon.call("review.verify", run=run)["ok"], run
        for run in (9, 12):
            lost = daemon.ended(run)
            assert lost["state"] == "held" and "lost" in str(lost), lost
        assert [len(daemon.play.starts(run, "implement")) for run in range(1, 15)] == paid
        daemon.play.set({"implement": "echo again >> work.txt\n", "review": "pass\n", "fix": "true\n"})
        chown(AGENTS, daemon.play.path)
        again = daemon.call("run.retry", id=2)["id"]
        assert daemon.ended(again)["state"] == "succeeded"
        # in the work tree that the user of rld had made
        daemon.call("hold.rework", id=daemon.call("hold.list", run=12)["holds"][0]["id"])
        row = daemon.ended(12)
        assert row["state"] == "succeeded", row
        for run in rows:
            daemon.no_longer_under_way(run)


def test_the_second_schema(make_daemon, tmp_path, another_user):
    """What had failed is there, and its retry works as the other user."""
    daemon = make_daemon(uid=RLD_UID, scripts={"implement": "echo one > work.txt\nexit 3\n"})
    daemon.path.chmod(0o755)
    repo = Repo(tmp_path / "work")
    give(repo.path, RLD_UID)
    run = daemon.review(repo.path)
    assert daemon.ended(run)["state"] == "failed"
    daemon.stop()
    downgrade(daemon)
    give(daemon.state, RLD_UID)
    daemon.play.set({"implement": "echo two > work.txt\n", "review": "pass\n"})
    hand_over(daemon, repo.path, daemon.play.path)
    with with_starter(daemon, tmp_path):
        assert daemon.run(run)["state"] == "failed" and daemon.call("review.verify", run=run)["ok"]
        row = daemon.ended(daemon.call("run.retry", id=run)["id"])
        assert row["state"] == "succeeded", row
