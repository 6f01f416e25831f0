# SPDX-License-Identifier: MIT
"""State directories that two rlds of November 2026 left behind, with a run in every stage: nothing
of them is lost or done again.

tests/data/upgrade/make has made them with the programs of that time. What was at work then is at
work here too: its shims are started anew from the job files that the older daemon wrote, before
the new daemon is.
"""
import collections
import fcntl
import hashlib
import os
import re
import signal
import sqlite3
import subprocess
import tarfile
import time
import uuid

import pytest
from rld import RL_GIT, SHIM, SOURCE, Daemon, Play, Repo, wait_gone

HERE = b"@DIR@"
UUID = re.compile(rb"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
GATES = "7.implement 8.implement 9.implement 10.review 11.fix 12.implement 14.check 16.implement".split()
# What the archive of a later schema has besides: runs whose reviewers have a checkout of their own.
ALSO = {"schema-9": ["18.review", "19.review"], "schema-5": []}


def checksum(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return h


def unpack(directory, name):
    """Every path of that time becomes one of this test, and every uuid a new one: processes are
    found and ended by it. The file that a shim reads ends with the sum of what is before it."""
    uuids = collections.defaultdict(lambda: str(uuid.uuid4()).encode())
    with tarfile.open(SOURCE / f"tests/data/upgrade/{name}.tar.xz") as archive:
        for entry in archive:
            path = directory / entry.name
            if entry.isdir():
                path.mkdir(parents=True)
            else:
                data = archive.extractfile(entry).read()
                text = data.replace(HERE, bytes(directory)).replace(b"@RL_GIT@", bytes(RL_GIT))
                if ".git/" not in entry.name:
                    text = UUID.sub(lambda found: uuids[found.group()], text)
                if text != data and path.name == "job":
                    text = text[:text.rindex(b"end ")]
                    text += b"end %016x\n" % checksum(text)
                path.write_bytes(text)
            path.chmod(entry.mode)


def restore_database(state):
    rows = (state / "rld.sql").read_text()
    # with the paths of this test, an environment has another hash, which is its name
    for path in list((state / "env").iterdir()):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        rows = rows.replace(path.name, digest)
        path.rename(path.with_name(digest))
    database = sqlite3.connect(state / "rld.db", isolation_level=None)
    database.executescript(rows)
    database.execute("UPDATE run SET owner = ?", (os.getuid(),))
    # an hour from when the archive was made: whoever waited then still waits
    database.execute("UPDATE cooldown SET until = ?", ((int(time.time()) + 3600) * 1000,))
    assert database.execute("PRAGMA journal_mode = wal").fetchone() == ("wal",)
    database.close()
    (state / "rld.sql").unlink()
    (state / "rld.db").chmod(0o600)


def start_shim(attempt):
    """As rld starts one: the directory's lock as descriptor 3, the signals blocked that
    it will wait for."""
    for name in ("shim", "exit.tmp"):
        (attempt / name).unlink(missing_ok=True)
    for output in attempt.glob("std*"):
        output.unlink()
    environ = dict(entry.split(b"=", 1) for entry in (attempt / "environ").read_bytes().split(b"\0") if entry)
    (attempt / "environ").unlink()
    lock = os.open(attempt / "lock", os.O_RDWR | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX)

    def prepare():
        os.dup2(lock, 3)
        signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2})

    shim = subprocess.Popen([str(SHIM), str(attempt)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environ,
                            start_new_session=True, close_fds=False, preexec_fn=prepare)
    os.close(lock)
    Daemon.processes.append(shim)
    return shim


def make_left(make_daemon, tmp_path, name):
    directory = tmp_path / "d"
    directory.mkdir()
    unpack(directory, name)
    live = (directory / "live").read_text().split()
    starts = directory / "play/starts"
    starts.write_text("".join(line for line in starts.read_text().splitlines(True) if line.split()[2] not in live))
    restore_database(directory / "state")
    play = Play(directory / "play", {name: (directory / "play" / name).read_text()
                                     for name in ("implement", "fix", "review")}).gates(*GATES, *ALSO[name])
    daemon = make_daemon("d", start=False, play=play,
                       config={"parallel": 20, "agent.paid": {"command": play.command(),
                                                              "reader": "text", "account": "paid"}})
    daemon.gates = [*GATES, *ALSO[name]]
    daemon.runs = 17 + len(ALSO[name])
    daemon.ref_of_7 = {"schema-5": "refs/rl/passed/7/t1", "schema-9": "refs/rl/8947c56d/passed/7/t1"}[name]
    return daemon


@pytest.fixture(params=ALSO)
def left(make_daemon, tmp_path, request):
    """The daemon of that state, not started; none of its agents runs."""
    return make_left(make_daemon, tmp_path, request.param)


def start_shims(daemon):
    """The shims by the name of their attempt, when all agents are at work."""
    shims = {name: start_shim(daemon.state / "attempts" / name) for name in (daemon.path / "live").read_text().split()}
    for gate in [g for g in daemon.gates if not g.startswith(("8.", "9.", "14."))]:
        daemon.play.arrived(gate)
    return shims


@pytest.fixture
def old(left):
    """The daemon of that state, not started; its agents are at work."""
    start_shims(left)
    return left


def implementers(old, run):
    return len(old.play.starts(run, "implement"))


def test_every_run_goes_on(old):
    ends = {1: "succeeded", 2: "failed", 3: "succeeded", 4: "succeeded", 5: "failed"}
    causes = {1: None, 2: "implementer process exited with status 3: cannot do it",
              3: "accepted: drift unresolved after 0 fix attempt(s)",
              5: "drift unresolved after 0 fix attempt(s)"}
    daemon, play = old.start(), old.play
    for run, state in ends.items():
        row = daemon.run(run)
        assert row["state"] == state and row["cause"] == causes.get(run, row["cause"]), row
    assert (daemon.run(6)["state"], daemon.ended(9)["state"], daemon.run(17)["state"]) == ("held", "held", "queued")
    for gate in [g for g in old.gates if not g.startswith(("8.", "9."))]:
        play.go(gate)
    play.arrived("16.implement")        # its second story
    play.go("16.implement")
    (old.path / "slow").unlink()
    assert daemon.run(15)["slots"][0]["phase"] == "cooling" and implementers(old, 15) == 0
    daemon.call("cooldown.clear", account="paid")
    daemon.call("hold.approve", id=daemon.call("hold.list", run=6)["holds"][0]["id"], message="good enough")
    daemon.call("hold.rework", id=daemon.call("hold.list", run=9)["holds"][0]["id"])
    play.arrived("9.implement")
    play.go("9.implement")
    rows = daemon.ended(*range(6, old.runs + 1))
    assert [row["state"] for row in rows] == ["succeeded"] * len(rows), [(row["id"], row["state"],
                                                                   row["cause"]) for row in rows]
    # nobody is paid twice but the one whose work was lost, once somebody had said so; run
    # 16 has two tasks
    assert {run: implementers(old, run) for run in range(1, old.runs + 1)} == {
        **dict.fromkeys(range(1, old.runs + 1), 1), 9: 2, 16: 2}
    assert [role for _, role, *_ in play.starts(11)] == ["implement", "review", "fix", "review"]
    by_run = {row["id"]: row for row in rows}
    assert by_run[7]["result_ref"] == old.ref_of_7, "it keeps the name that it began with"
    assert by_run[10]["result_commit"] == Repo(old.path / "r10", commit=False).git("rev-parse", "HEAD")
    for run in range(1, old.runs + 1):
        assert daemon.call("review.verify", run=run)["ok"], run


def test_they_can_be_cancelled(old):
    daemon = old.start()
    with daemon.connect() as rpc:		# in one piece: none of them has time to begin
        rpc.batch([rpc.request("run.cancel", {"id": run}) for run in range(6, old.runs + 1)])
    rows = daemon.ended(*range(6, old.runs + 1))
    assert [row["state"] for row in rows] == ["cancelled"] * len(rows), [(row["id"], row["state"],
                                                                   row["cause"]) for row in rows]
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
    for run in range(1, old.runs + 1):
        assert not daemon.call("product.list", run=run)["products"], run
    assert daemon.call("review.verify", run=number)["ok"]
    others = [run for run in range(6, old.runs + 1) if run != 8]	# run 8 ends by itself
    for run in others:
        daemon.call("run.cancel", id=run)
    daemon.ended(8, *others)


# ---- run 13: a git of its measure is under way, as a step of one process, ------------------------
# ---- which no rl-git has started -----------------------------------------------------------------

STEP = "153"


@pytest.fixture
def waiting(make_daemon, tmp_path):
    """The daemon, the shim of that step, and a function that waits until the slow git
    is there: its pid."""
    left = make_left(make_daemon, tmp_path, "schema-5")
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
