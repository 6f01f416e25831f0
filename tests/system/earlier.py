# SPDX-License-Identifier: MIT
"""State directories that earlier versions of rld left behind, made by tests/data/upgrade/make: each
with a run in every stage.

What was at work then is at work here too: its shims are started anew from the job files that the
older daemon wrote, before the new daemon is.

Since there is a record, the paths of that time are in its hashes, so such a directory must be
where it was. One test at a time has it there.
"""
import collections
import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tarfile
import time
import uuid
from pathlib import Path

import pytest
from rld import RL_GIT, SHIM, SOURCE, Daemon, Play, Repo

HERE = b"@DIR@"
UUID = re.compile(rb"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
SCHEMAS = (9, 5, 10, 14, 20, 24, 27, 28, 29)
RECORD = 10                 # since then there are products and evidence, and their hashes
# The gates at which agents and checks wait, by their run.
GATES = "7.implement 8.implement 9.implement 10.review 11.fix 12.implement 14.check 16.implement".split()
# Runs that there are since a schema, and what waits at a gate.
LATER = {18: (9, "18.review"), 19: (9, "19.review"), 20: (14, "20.review"), 21: (14, "21.setup"), 22: (15, None),
         23: (17, "23.check"), 24: (25, None), 25: (27, None)}
VOTERS = {25: "ab"}         # the reviewers of a panel, each with a gate of its own
# How often an implementer has started in the end, if not once: of 9 the work was lost, 16 and 23
# have two tasks, 20 is a retry that continues with the review, 24 was answered.
STARTS = {9: 2, 16: 2, 20: 0, 23: 2, 24: 2}


class Left:
    """What an rld with this schema has left."""

    def __init__(self, schema):
        self.schema = schema
        self.recorded = schema >= RECORD
        later = {run: gate for run, (since, gate) in LATER.items() if schema >= since}
        self.runs = range(1, 18 + len(later))
        self.gates = [*GATES, *filter(None, later.values())]
        self.voters = [name for run in self.runs for name in VOTERS.get(run, "")]
        self.starts = {run: STARTS.get(run, 1) for run in self.runs}

    def __str__(self):
        return f"schema-{self.schema}"


ARCHIVES = [Left(schema) for schema in SCHEMAS]
# The same as the parameter of a test.
each_archive = pytest.mark.parametrize("left", ARCHIVES, ids=str)


def lock_directory(path):
    """Make it and wait for its lock: the descriptor, or None when another has removed it
    meanwhile."""
    path.mkdir(exist_ok=True)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    fcntl.flock(fd, fcntl.LOCK_EX)
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.stat(path), os.fstat(fd)):
            return fd
    os.close(fd)
    return None


def remove_left(path):
    """Of a test that was killed: its daemon may be alive, and ends now, which removes files too."""
    while path.exists() or path.is_symlink():
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


@contextlib.contextmanager
def kept_path(path):
    """The path as an empty directory, which no other test has meanwhile."""
    fd = None
    while fd is None:
        fd = lock_directory(path)
    try:
        for each in path.iterdir():
            remove_left(each)
        yield path
        shutil.rmtree(path)
    finally:
        os.close(fd)


def checksum(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return h


def unpack(directory, left, rl_git):
    """Every path of that time becomes one of this test, and, unless a record has their hashes,
    every uuid a new one: processes are found and ended by it. The file that a shim reads ends with
    the sum of what is before it."""
    uuids = collections.defaultdict(lambda: str(uuid.uuid4()).encode())
    with tarfile.open(SOURCE / f"tests/data/upgrade/{left}.tar.xz") as archive:
        for entry in archive:
            path = directory / entry.name
            if entry.isdir():
                path.mkdir(parents=True)
            else:
                data = archive.extractfile(entry).read()
                text = data.replace(HERE, bytes(directory)).replace(b"@RL_GIT@", bytes(rl_git))
                if ".git/" not in entry.name and not left.recorded:
                    text = UUID.sub(lambda found: uuids[found.group()], text)
                if text != data and path.name == "job":
                    text = text[:text.rindex(b"end ")]
                    text += b"end %016x\n" % checksum(text)
                path.write_bytes(text)
            path.chmod(entry.mode)


def restore_database(state, left):
    rows = (state / "rld.sql").read_text()
    # with the paths of this test, an environment has another hash, which is its name
    for path in list((state / "env").iterdir()):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        rows = rows.replace(path.name, digest)
        path.rename(path.with_name(digest))
    database = sqlite3.connect(state / "rld.db", isolation_level=None)
    database.executescript(rows)
    if not left.recorded:
        database.execute("UPDATE run SET owner = ?", (os.getuid(),))
    # an hour from when the archive was made: whoever waited then still waits
    database.execute("UPDATE cooldown SET until = ?", ((int(time.time()) + 3600) * 1000,))
    assert database.execute("PRAGMA journal_mode = wal").fetchone() == ("wal",)
    database.close()
    (state / "rld.sql").unlink()
    (state / "rld.db").chmod(0o600)


def play_of(directory, *roles):
    """With the scripts that are there."""
    return Play(directory, {role: (directory / role).read_text() for role in roles})


def make_left(places, make_daemon, tmp_path, left, rl_git=RL_GIT):
    """The daemon of that state, not started; none of its agents runs. places: a fixture. rl_git: a
    path, from the directory of the daemon."""
    if left.recorded:
        directory = places.enter_context(kept_path(Path(f"/tmp/rl-{left}")))
    else:
        directory = tmp_path / "d"
        directory.mkdir()
    unpack(directory, left, directory / rl_git)
    live = (directory / "live").read_text().split()
    starts = directory / "play/starts"
    starts.write_text("".join(line for line in starts.read_text().splitlines(True) if line.split()[2] not in live))
    restore_database(directory / "state", left)
    play = play_of(directory / "play", "implement", "review", "fix").gates(*left.gates)
    daemon = make_daemon(directory, start=False, play=play,
                         config={"parallel": 30, "agent.paid": {"command": play.command(),
                                                                "reader": "text", "account": "paid"}})
    daemon.left, daemon.places = left, places
    daemon.voters = [play_of(directory / f"play.{name}", "review").gates("here") for name in left.voters]
    instance = daemon.query("SELECT * FROM run")[0].get("instance")
    daemon.ref_of_7 = "/".join(part for part in ("refs/rl", instance, "passed/7/t1") if part)
    return daemon


def start_shim(attempt, **user):
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

    shim = subprocess.Popen([str(attempt.parents[2] / "rl-shim" if user else SHIM), str(attempt)],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            env=environ, start_new_session=True, close_fds=False, preexec_fn=prepare, **user)
    os.close(lock)
    Daemon.processes.append(shim)
    return shim


def start_shims(daemon, **user):
    """The shims by the name of their attempt, when all agents are at work. user: the arguments of
    Popen for another than us, who has rl-shim in the directory of the daemon."""
    shims = {name: start_shim(daemon.state / "attempts" / name, **user)
             for name in (daemon.path / "live").read_text().split()}
    for gate in daemon.left.gates:
        if gate.endswith((".implement", ".review", ".fix")) and not gate.startswith(("8.", "9.")):
            daemon.play.arrived(gate)
    for voter in daemon.voters:
        voter.arrived("here")
    return shims


def open_gates(daemon):
    """All but of the runs that have lost an agent; those of checks and of set-up commands also for
    what comes there later."""
    for gate in daemon.left.gates:
        if gate.endswith((".check", ".setup")):
            fifo = daemon.places.enter_context(open(daemon.play.path / f"{gate}.go", "r+b", buffering=0))
            fifo.write(b"go\n" * 8)
        elif not gate.startswith(("8.", "9.")):
            daemon.play.go(gate)
    for voter in daemon.voters:
        voter.go("here")


# What is decided about the runs that are held.
DECISIONS = {6: ("hold.approve", {"message": "good enough"}), 9: ("hold.rework", {}),
             22: ("hold.approve", {"message": "as agreed"}), 24: ("hold.answer", {"message": "B"})}
ENDED = {1: ("succeeded", None), 2: ("failed", "implementer process exited with status 3: cannot do it"),
         3: ("succeeded", "accepted: drift unresolved after 0 fix attempt(s)"), 4: ("succeeded", None),
         5: ("failed", "drift unresolved after 0 fix attempt(s)")}
# What doctor finds in a state directory, whatever else runs on this host.
OF_STATE = ("database", "numbers", "results", "state", "attempts", "reviews", "refs", "compare")


def implementers(daemon, run):
    return len(daemon.play.starts(run, "implement"))


def starts_well(daemon):
    """What had ended is as it was, and what must wait for somebody waits."""
    for run, (state, cause) in ENDED.items():
        row = daemon.run(run)
        assert row["state"] == state and (run == 4 or row["cause"] == cause), row
    held = [run for run in DECISIONS if run in daemon.left.runs]
    assert daemon.ended(9)["state"] == "held"
    assert {run: daemon.run(run)["state"] for run in held} == dict.fromkeys(held, "held")
    assert daemon.run(15)["slots"][0]["phase"] == "cooling" and implementers(daemon, 15) == 0


def ends_well(daemon):
    """All gates are open. Nothing is lost or paid for twice, and the record is in order."""
    play, left = daemon.play, daemon.left
    play.arrived("16.implement")        # its second story
    play.go("16.implement")
    daemon.call("cooldown.clear", account="paid")
    for run, (method, params) in DECISIONS.items():
        if run in left.runs:
            daemon.call(method, id=daemon.call("hold.list", run=run)["holds"][0]["id"], **params)
    play.arrived("9.implement")
    play.go("9.implement")
    rows = {run: daemon.run(run) for run in left.runs if daemon.ended(run)}
    states = {run: rows[run]["state"] for run in left.runs[5:]}
    assert states == dict.fromkeys(states, "succeeded"), [(run, rows[run]["cause"]) for run in states]
    # nobody is paid twice but the one whose work was lost, once somebody had said so
    assert {run: implementers(daemon, run) for run in left.runs} == left.starts
    assert [role for _, role, *_ in play.starts(11)] == ["implement", "review", "fix", "review"]
    assert rows[7]["result_ref"] == daemon.ref_of_7, "it keeps the name that it began with"
    assert rows[10]["result_commit"] == Repo(daemon.path / "r10", commit=False).git("rev-parse", "HEAD")
    for run in left.runs:
        assert daemon.call("review.verify", run=run)["ok"], run
    found = [check for check in daemon.call("daemon.doctor", deep=True)["checks"]
             if check["name"] in OF_STATE and check["state"] != "ok"]
    assert not found, found
