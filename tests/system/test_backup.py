# SPDX-License-Identifier: MIT
"""rlctl backup: a copy of the database, made while work continues, from which a daemon starts."""
import contextlib
import os
import resource
import shutil
import signal
import sqlite3
import threading

import pytest

from rld import RLCTL, RpcError

WORK = {"implement": "echo one > work.txt\nanswer done\n", "review": "pass\n"}


@pytest.fixture
def daemon(make_daemon):
    return make_daemon(scripts=WORK)


def count(path, table):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def fill(daemon, rows):
    """A larger database than one step copies."""
    daemon.stop()
    with contextlib.closing(sqlite3.connect(daemon.state / "rld.db")) as db:
        db.execute("CREATE TABLE ballast (number INTEGER PRIMARY KEY, text TEXT)")
        db.executemany("INSERT INTO ballast VALUES (?, ?)", ((n, f"{n}" * 400) for n in range(rows)))
        db.commit()
    daemon.start()


def test_restored(daemon, repo, tmp_path):
    """As the guide says: with the daemon stopped, the copy takes the place of rld.db."""
    run = daemon.review(repo.path)
    assert daemon.ended(run)["state"] == "succeeded"
    daemon.call("state.prune", check=True)	# what it keeps is measured
    before = daemon.run(run), daemon.reviews(run)
    said = daemon.rlctl("backup", "copy.db", cwd=tmp_path, check=0)
    copy = tmp_path / "copy.db"
    assert said.out.startswith(f"{copy}: ") and said.err == ""
    assert copy.stat().st_mode & 0o777 == 0o600 and not (tmp_path / "copy.db.partial").exists()
    later = daemon.review(repo.path)
    daemon.ended(later)
    daemon.stop()
    for name in ("rld.db-wal", "rld.db-shm"):
        (daemon.state / name).unlink(missing_ok=True)
    shutil.copy(copy, daemon.state / "rld.db")
    daemon.start()
    assert (daemon.run(run), daemon.reviews(run)) == before
    assert daemon.call("review.verify", run=run)["ok"]
    # the run that came after the copy is not there, and its number is not used again
    again = daemon.review(repo.path)
    assert again > later and daemon.ended(again)["state"] == "succeeded"


def test_while_work_is_recorded(daemon, repo, tmp_path):
    """What is committed while pages are copied is in the copy, or came after it."""
    fill(daemon, 20000)
    stop, runs = threading.Event(), []

    def work():
        rpc = daemon.connect()
        while not stop.is_set():
            runs.append(rpc.call("run.submit", workdir=str(repo.path), task="do it", group="later")["id"])
        rpc.close()

    daemon.call("group.set", name="later", slots=1)
    daemon.call("group.pause", name="later")
    thread = threading.Thread(target=work)
    thread.start()
    try:
        done = daemon.call("daemon.backup", path=str(tmp_path / "copy.db"))
    finally:
        stop.set()
        thread.join()
    assert done == {"path": str(tmp_path / "copy.db"), "bytes": (tmp_path / "copy.db").stat().st_size}
    assert count(tmp_path / "copy.db", "ballast") == 20000
    assert 0 < count(tmp_path / "copy.db", "run") <= len(runs)
    for run in runs:
        daemon.call("run.cancel", id=run)


def test_killed_in_between(daemon, tmp_path):
    """A part of a copy never has the name of one, and the next backup says what lies there."""
    fill(daemon, 20000)
    copy = tmp_path / "copy.db"
    rpc = daemon.connect()
    rpc.send({"jsonrpc": "2.0", "id": 1, "method": "daemon.backup", "params": {"path": str(copy)}})
    while not (tmp_path / "copy.db.partial").exists() and not copy.exists():
        pass
    daemon.kill()
    rpc.close()
    if copy.exists():
        assert count(copy, "ballast") == 20000
        return
    daemon.start()
    said = daemon.rlctl("backup", copy, check=1)
    assert "copy.db.partial: File exists: another backup is being written, or was cut off: remove it then" in said.err
    (tmp_path / "copy.db.partial").unlink()
    daemon.rlctl("backup", copy, check=0)
    assert count(copy, "ballast") == 20000


def test_a_name_that_is_taken_meanwhile(daemon, tmp_path):
    """A file that comes while pages are copied stays, and what was copied is removed."""
    fill(daemon, 20000)
    copy, partial = tmp_path / "copy.db", tmp_path / "copy.db.partial"
    mine = False
    while not mine:
        copy.unlink(missing_ok=True)
        said = daemon.rlctl_start("backup", copy)
        while not partial.exists() and said.poll() is None:
            pass
        os.kill(daemon.pid, signal.SIGSTOP)     # as a rule it is in the middle of its work then
        with contextlib.suppress(FileExistsError), open(copy, "x") as file:
            mine = file.write("mine") > 0
        os.kill(daemon.pid, signal.SIGCONT)
        _, err = said.communicate()
    assert said.returncode == 1 and b"another process has created it meanwhile: name another file" in err
    assert copy.read_text() == "mine" and not partial.exists()


def test_refused(daemon, tmp_path):
    (tmp_path / "there").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "copy.db.partial").write_text("of another backup")
    rows = {
        tmp_path / "copy.db": "copy.db.partial: File exists: another backup is being written, or was cut off",
        tmp_path / "there": "it exists: name another file, or remove this one",
        tmp_path / "link": "it exists",
        tmp_path / "no" / "dir": "dir: No such file or directory: its directory does not exist: create it",
        tmp_path: "it exists: name a new file in it",
        tmp_path / "there" / "x": "Not a directory",
    }
    for path, words in rows.items():
        said = daemon.rlctl("backup", path, check=1)
        assert words in said.err, (path, said.err)
    with pytest.raises(RpcError) as error:
        daemon.call("daemon.backup", path="copy.db")
    assert error.value.data["field"] == "path"
    daemon.rlctl("backup", check=2)
    assert (tmp_path / "there").read_text() == "mine" and not (tmp_path / "nowhere").exists()
    assert {path.name: path.read_text() for path in tmp_path.glob("*.partial")} == {
        "copy.db.partial": "of another backup"}


def test_no_space(daemon, tmp_path):
    """A copy that does not fit is removed, and the daemon works on."""
    fill(daemon, 20000)
    pid, none = daemon.call("daemon.status")["pid"], resource.getrlimit(resource.RLIMIT_FSIZE)
    size = (daemon.state / "rld.db").stat().st_size
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size // 2, none[1]))
    said = daemon.rlctl("backup", tmp_path / "copy.db", check=1)
    assert "copy.db: " in said.err and "no copy was made" in said.err, said.err
    assert not list(tmp_path.glob("copy.db*"))
    resource.prlimit(pid, resource.RLIMIT_FSIZE, none)
    daemon.rlctl("backup", tmp_path / "copy.db", check=0)
    assert count(tmp_path / "copy.db", "ballast") == 20000


def test_agents_may_not(make_daemon, repo, tmp_path):
    daemon = make_daemon(scripts={
        "implement": f"{RLCTL} backup {tmp_path}/stolen.db > {tmp_path}/said 2>&1\nanswer done\n"})
    run = daemon.submit(repo.path)
    daemon.ended(run)
    assert "leave that to the user of the daemon" in (tmp_path / "said").read_text()
    assert not os.path.exists(tmp_path / "stolen.db")
