# SPDX-License-Identifier: MIT
"""The daemon stops, dies, comes back: agents go on, and are taken back with their true exit."""
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from test_shim import decode, encode
from test_space import until_logged
from rld import DRIFT_THEN_PASS, Rpc, alive, carriers, proc_stat, wait_gone

OTHER_BOOT = "00000000-0000-4000-8000-000000000000"
GATED = {name: f"[ -e \"$PLAY/stop.{name}\" ] && gate g\n{text}" for name, text in DRIFT_THEN_PASS.items()}


def at(make_daemon, repo, script, **params):
    """A daemon whose run stands at the gate of a script: (daemon, run, pid of the agent)."""
    daemon = make_daemon(scripts=GATED, gates=["g"])
    (daemon.play.path / f"stop.{script}").touch()
    number = daemon.review(repo.path, **params)
    return daemon, number, daemon.play.arrived("g")


SCRIPTS = ["implement", "review.1", "fix", "review"]


@pytest.mark.parametrize("how", ["stop", "kill"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_running_agent_is_taken_back(make_daemon, repo, script, how):
    daemon, number, pid = at(make_daemon, repo, script)
    getattr(daemon, how)()
    assert alive(pid), "agents outlive the daemon"
    daemon.start()
    assert daemon.run(number)["state"] == "running"
    assert daemon.attempts(number)[-1]["state"] == "running"
    daemon.play.go("g")
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert [s[1] for s in daemon.play.starts()] == ["implement", "review", "fix", "review"], "nothing is paid for twice"


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_agent_that_ends_while_no_daemon_is_there(make_daemon, repo, script):
    daemon, number, pid = at(make_daemon, repo, script)
    shim = proc_stat(pid)[1]
    daemon.kill()
    daemon.play.go("g")
    wait_gone(shim)
    daemon.start()
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert [s[1] for s in daemon.play.starts()] == ["implement", "review", "fix", "review"]


@pytest.mark.parametrize("end,exit_code,sig",
                         [("exit 3", 3, None), ("kill -USR1 $$", None, 10), ("exit 255", 255, None)])
def test_the_exit_is_true_across_a_restart(make_daemon, repo, end, exit_code, sig):
    for meanwhile in (False, True):
        name = f"d{meanwhile}"
        daemon = make_daemon(name=name, scripts={"implement": f"answer text\ngate g\n{end}\n"}, gates=["g"])
        number = daemon.submit(repo.path)
        pid = daemon.play.arrived("g")
        shim = proc_stat(pid)[1]
        daemon.kill()
        if meanwhile:
            daemon.play.go("g")
            wait_gone(shim)
            daemon.start()
        else:
            daemon.start()
            daemon.play.go("g")
        row = daemon.ended(number)
        attempt = daemon.attempts(number)[0]
        assert (row["state"], attempt["state"], attempt["exit_code"],
                attempt["signal"]) == ("failed", "exited", exit_code, sig)
        assert attempt["bytes"] == 5


def test_output_written_meanwhile_is_whole(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "echo before\ngate a\nseq 1 20000\ngate b\necho after\n"},
                         gates=["a", "b"])
    number = daemon.submit(repo.path)
    daemon.play.arrived("a")
    daemon.kill()
    daemon.play.go("a")
    daemon.play.arrived("b")
    daemon.start()
    daemon.play.go("b")
    assert daemon.ended(number)["state"] == "succeeded"
    expected = "before\n" + "".join(f"{i}\n" for i in range(1, 20001)) + "after\n"
    done = daemon.rlctl("logs", f"{number}/1", check=0)
    assert done.out == expected


def test_a_tree_is_still_ended_after_a_restart(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "setsid sleep 1000 &\ngate g\n"}, gates=["g"])
    number = daemon.submit(repo.path)
    daemon.play.arrived("g")
    daemon.kill()
    daemon.start()
    daemon.call("run.cancel", id=number)
    assert daemon.ended(number)["state"] == "cancelled"
    assert carriers([a["uuid"] for a in daemon.attempts(number)]) == []


def test_a_queued_run_survives(make_daemon, repo):
    daemon, first, _ = at(make_daemon, repo, "implement")
    second = daemon.submit(repo.path, "second")
    daemon.kill()
    daemon.start()
    assert daemon.run(second)["state"] == "queued"
    (daemon.play.path / "stop.implement").unlink()
    daemon.play.go("g")
    assert [r["state"] for r in daemon.ended(first, second)] == ["succeeded"] * 2


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_killed_shim_is_lost_and_held(make_daemon, repo, script):
    daemon, number, pid = at(make_daemon, repo, script)
    os.kill(proc_stat(pid)[1], signal.SIGKILL)
    row = daemon.ended(number)
    assert row["state"] == "held" and row["reason"], row
    assert not alive(pid), "the agent dies with its shim"
    last = daemon.attempts(number)[-1]
    assert (last["state"], last["exit_code"], last["signal"], last["process"]) == ("lost", None, None, "lost")
    daemon.restart()
    assert daemon.run(number)["state"] == "held", "held runs survive restarts"
    (daemon.play.path / f"stop.{script}").unlink()
    again = daemon.call("run.retry", id=number)["id"]
    assert daemon.ended(again)["state"] == "succeeded"


@pytest.mark.parametrize("script", SCRIPTS)
def test_lost_while_no_daemon_is_there(make_daemon, repo, script):
    daemon, number, pid = at(make_daemon, repo, script)
    shim = proc_stat(pid)[1]
    daemon.kill()
    os.kill(shim, signal.SIGKILL)
    wait_gone(shim)
    daemon.start()
    assert daemon.ended(number)["state"] == "held"
    assert daemon.attempts(number)[-1]["state"] == "lost"


@pytest.mark.parametrize("script", SCRIPTS)
def test_on_lost_retry(make_daemon, repo, script):
    daemon, number, pid = at(make_daemon, repo, script, on_lost="retry")
    (daemon.play.path / f"stop.{script}").unlink()
    role = script.split(".")[0]
    before = len(daemon.play.starts(role=role))
    if script == "review.1":
        daemon.play.set({"review.2": DRIFT_THEN_PASS["review.1"]})
    os.kill(proc_stat(pid)[1], signal.SIGKILL)
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    lost = [a for a in daemon.attempts(number) if a["state"] == "lost"]
    assert len(lost) == 1 and lost[0]["role"] == role
    assert len(daemon.play.starts(role=role)) > before
    told = [p.name for p in daemon.play.path.glob("prompt.*") if "was interrupted in the middle" in p.read_text()]
    assert told == [f"prompt.{number}.{role}.{before + 1}"], "the retry is told, and nobody after it"


@pytest.mark.parametrize("script", SCRIPTS)
def test_on_lost_fail(make_daemon, repo, script):
    daemon, number, pid = at(make_daemon, repo, script, on_lost="fail")
    os.kill(proc_stat(pid)[1], signal.SIGKILL)
    row = daemon.ended(number)
    assert row["state"] == "failed" and "lost" in row["cause"]
    daemon.rlctl("wait", number, check=12)


def test_a_shim_ended_by_a_stranger_is_no_cancel(make_daemon, repo):
    """SIGTERM to the shim without a recorded decision: interrupted, treated as lost."""
    daemon, number, pid = at(make_daemon, repo, "implement")
    os.kill(proc_stat(pid)[1], signal.SIGTERM)
    row = daemon.ended(number)
    assert row["state"] == "held", row
    attempt = daemon.attempts(number)[0]
    assert attempt["state"] == "lost" and str(os.getpid()) in attempt["cause"], attempt


def test_reboot(make_daemon, repo):
    """Rows of another boot: nothing of them can be running, whatever has their pids now."""
    daemon, number, pid = at(make_daemon, repo, "implement")
    shim = proc_stat(pid)[1]
    daemon.kill()
    os.kill(shim, signal.SIGKILL)
    wait_gone(shim)
    wait_gone(pid)
    database = daemon.database()
    (attempt,) = database.execute("SELECT id FROM attempt").fetchone()
    database.execute("UPDATE attempt SET boot_id = ?", (OTHER_BOOT,))
    database.close()
    identity = daemon.state / "attempts" / str(attempt) / "shim"
    rows = [(k, OTHER_BOOT if k == "boot_id" else v) for k, v in decode("shim", identity.read_bytes()).items()]
    identity.write_bytes(encode("shim", rows))
    daemon.start()
    assert daemon.ended(number)["state"] == "held"
    attempt = daemon.attempts(number)[0]
    assert attempt["state"] == "lost" and "restarted" in attempt["cause"], attempt


@pytest.mark.parametrize("rebooted,cause",
                         [(True, "the machine went down before the end of its output was on the disk of "),
                          (False, "is shorter than its exit record says: a file was truncated or removed there; ")])
def test_output_that_is_gone(make_daemon, repo, rebooted, cause):
    """The exit record vouches for more than there is: the cause says what became of it, and not
    that the disk was full."""
    daemon = make_daemon(scripts={"implement": "gate g\nseq 1 20000\n"}, gates=["g"])
    number = daemon.submit(repo.path)
    shim = proc_stat(daemon.play.arrived("g"))[1]
    daemon.kill()
    daemon.play.go("g")
    wait_gone(shim)
    database = daemon.database()
    (attempt,) = database.execute("SELECT id FROM attempt").fetchone()
    if rebooted:
        database.execute("UPDATE attempt SET boot_id = ?", (OTHER_BOOT,))
    database.close()
    os.truncate(daemon.state / "attempts" / str(attempt) / "stdout.0000000000000000", 4096)
    daemon.start()
    row = daemon.ended(number)
    assert row["state"] == "held" and row["reason"].startswith("host: ") and cause in row["reason"], row
    assert row["reason"].endswith("run it again with rlctl hold rework"), row
    daemon.cancelled(number)


def test_reboot_before_the_start(make_daemon, repo):
    """No lock, no file, but another boot: it may have run, so it is lost, not started again."""
    import shutil
    daemon, number, pid = at(make_daemon, repo, "implement")
    shim = proc_stat(pid)[1]
    daemon.kill()
    os.kill(shim, signal.SIGKILL)
    wait_gone(shim)
    database = daemon.database()
    (attempt,) = database.execute("SELECT id FROM attempt").fetchone()
    database.execute("UPDATE attempt SET boot_id = ?, state = 'starting'", (OTHER_BOOT,))
    database.close()
    shutil.rmtree(daemon.state / "attempts" / str(attempt))
    daemon.start()
    assert daemon.ended(number)["state"] == "held"
    assert daemon.attempts(number)[0]["state"] == "lost"
    assert len(daemon.play.starts()) == 1


def test_never_started_starts_again(make_daemon, repo):
    """Recorded, but nothing there in this boot: it has never run, so it may run now,
    and it is not lost."""
    import shutil
    daemon, number, pid = at(make_daemon, repo, "implement")
    shim = proc_stat(pid)[1]
    daemon.kill()
    os.kill(shim, signal.SIGKILL)
    wait_gone(shim)
    database = daemon.database()
    (attempt,) = database.execute("SELECT id FROM attempt").fetchone()
    database.execute("UPDATE attempt SET state = 'starting'")
    database.close()
    shutil.rmtree(daemon.state / "attempts" / str(attempt))
    (daemon.play.path / "stop.implement").unlink()
    daemon.start()
    assert daemon.ended(number)["state"] == "succeeded"
    assert [a["state"] for a in daemon.attempts(number)] == ["exited"] * 4


@pytest.mark.parametrize("content", [b"", b"garbage\n", b"\0" * 100, b"\xff" * 5000],
                         ids=["empty", "text", "zeros", "ones"])
def test_an_unreadable_exit_record_is_quarantined(make_daemon, repo, tmp_path, content):
    from rld import Repo
    daemon, number, pid = at(make_daemon, repo, "implement")
    shim = proc_stat(pid)[1]
    (daemon.play.path / "stop.implement").unlink()
    other = Repo(tmp_path / "other")
    daemon.kill()
    daemon.play.go("g")
    wait_gone(shim)
    (row,) = daemon.query("SELECT id FROM attempt")
    (daemon.state / "attempts" / str(row["id"]) / "exit").write_bytes(content)
    daemon.start()
    assert daemon.ended(number)["state"] == "held"
    assert daemon.attempts(number)[0]["state"] == "lost"
    unaffected = daemon.review(other.path)
    assert daemon.ended(unaffected)["state"] == "succeeded"


def test_a_second_instance_is_refused_and_told_who_holds_the_state(daemon):
    import subprocess
    started = time.monotonic()
    second = subprocess.run(daemon.argv(), env=daemon.environment, capture_output=True, text=True,
                            stdin=subprocess.DEVNULL)
    assert second.returncode != 0
    # not for the socket, which is taken as well
    assert (f"{daemon.state}/lock is locked by another rld (pid {daemon.pid}); "
            "stop that one" in second.stderr), second.stderr
    assert time.monotonic() - started < 30
    assert daemon.call("daemon.status")


def test_a_second_instance_waits_for_the_first_to_go(daemon):
    """An upgrade starts the new one before the old one is gone: the lock is waited for."""
    old = daemon.process
    pid = daemon.pid
    new = daemon.spawn()
    while "waiting up to 10 s for it to exit" not in daemon.log():
        assert new.poll() is None
    assert f"{daemon.state}/lock is locked by another rld (pid {pid})" in daemon.log(), (
        "told while it waits, not only at the end")
    os.kill(pid, signal.SIGTERM)
    assert old.wait() == 0
    while b"READY=1" not in daemon.notify.recv(4096).split(b"\n"):
        pass
    daemon.notify.close()
    with daemon.connect() as rpc:
        daemon.pid = rpc.peer_pid()
        assert daemon.pid == daemon.process.pid


# ---- what is removed under a daemon --------------------------------------------------------------

@pytest.mark.parametrize("what", ["all", "lock"])
def test_the_state_is_removed_under_a_daemon(make_daemon, repo, what):
    """It ends with a word, at once and without being asked anything; its agents are left alone."""
    daemon = make_daemon(scripts={"implement": "gate work\nanswer done\n"}, gates=["work"])
    daemon.submit(repo.path)
    agent = daemon.play.arrived("work")
    shim = proc_stat(agent)[1]
    if what == "all":
        subprocess.run(["rm", "-rf", str(daemon.state)], check=True)
    else:
        (daemon.state / "lock").unlink()
    assert daemon.exited() == 1
    assert f"{daemon.state}/lock was removed" in daemon.log() and alive(agent) and alive(shim)
    assert not daemon.socket.exists()
    daemon.play.go("work")
    wait_gone(shim)


def test_a_touched_lock_means_nothing(daemon):
    lock = daemon.state / "lock"
    for change in (lambda: lock.chmod(0o400), lambda: os.link(lock, daemon.state / "second"),
                   lambda: (daemon.state / "second").unlink(), lambda: os.utime(lock)):
        change()
        assert daemon.call("daemon.status")
    daemon.state.rename(daemon.path / "elsewhere")
    assert daemon.call("daemon.status")
    (daemon.path / "elsewhere").rename(daemon.state)


def test_sockets_that_were_removed_come_back(daemon):
    sockets = [daemon.socket, daemon.state / "rld.sock"]
    kept = daemon.connect()
    for path in sockets:
        path.unlink()
    os.kill(int((daemon.state / "lock").read_text()), signal.SIGHUP)
    until_logged(daemon, f"listening at {sockets[1]} again")
    for path in sockets:
        with Rpc(path) as rpc:
            assert rpc.call("daemon.status")["pid"] == daemon.pid
        assert path.lstat().st_mode & 0o777 == 0o600
    assert kept.call("daemon.status"), "who was connected still is"
    kept.close()
    made = [path.lstat().st_ino for path in sockets]
    daemon.call("daemon.reload")
    assert [path.lstat().st_ino for path in sockets] == made, "what is there stays"
    sockets[1].unlink()
    daemon.call("daemon.reload")
    with Rpc(sockets[1]) as rpc:
        assert rpc.call("daemon.status")


def test_what_stands_in_a_sockets_place_is_left(daemon):
    second = daemon.state / "rld.sock"
    second.unlink()
    second.write_text("mine")
    daemon.call("daemon.reload")
    assert second.read_text() == "mine"
    second.unlink()
    second.symlink_to("nowhere")
    daemon.call("daemon.reload")
    assert os.readlink(second) == "nowhere"
    second.unlink()


# ---- who can write the state ---------------------------------------------------------------------

@pytest.mark.parametrize("place, mode", [(".", 0o770), (".", 0o707), ("attempts", 0o777),
                                         ("runs", 0o720), ("env", 0o702), ("blobs", 0o1777)])
def test_a_state_that_others_can_write_is_refused(make_daemon, place, mode):
    daemon = make_daemon(start=False)
    path = daemon.state / place
    path.mkdir(exist_ok=True)
    path.chmod(mode)
    assert daemon.spawn().wait() == 1
    daemon.notify.close()
    assert (f"chmod go-w {path if place != '.' else daemon.state}" in daemon.log()
            and not (daemon.state / "rld.db").exists())
    path.chmod(mode & 0o755)
    daemon.start()


@pytest.mark.skipif(os.geteuid() != 0, reason="takes a second user")
@pytest.mark.parametrize("place", [".", "attempts"])
def test_a_state_of_another_user_is_refused(make_daemon, place):
    daemon = make_daemon(start=False)
    path = daemon.state / place
    path.mkdir(exist_ok=True)
    os.chown(path, 65534, 65534)
    assert daemon.spawn().wait() == 1
    daemon.notify.close()
    assert "belongs to uid 65534" in daemon.log() and "--state-dir" in daemon.log()
    os.chown(path, 0, 0)
    daemon.start()


def test_a_dead_socket_is_replaced(make_daemon):
    daemon = make_daemon()
    daemon.kill()
    assert daemon.socket.exists()
    daemon.start()
    assert daemon.call("daemon.status")


def test_state_is_private(daemon, repo):
    daemon.ended(daemon.review(repo.path))
    for path in daemon.state.rglob("*"):
        assert (path.lstat().st_mode & 0o077 == 0 or path.is_symlink()
                or path.parent != daemon.state), f"{path}: {oct(path.lstat().st_mode)}"
    assert daemon.state.stat().st_mode & 0o077 == 0
    assert daemon.socket.stat().st_mode & 0o007 == 0


def test_a_damaged_database_stops_the_start_and_is_named(make_daemon):
    daemon = make_daemon()
    daemon.stop()
    whole = (daemon.state / "rld.db").read_bytes()
    (daemon.state / "rld.db").write_bytes(b"this is no database at all " * 400)
    process = daemon.spawn()
    assert process.wait() != 0
    daemon.notify.close()
    assert "rld.db" in daemon.log()
    (daemon.state / "rld.db").write_bytes(whole)
    for leftover in daemon.state.glob("rld.db-*"):
        leftover.unlink()
    daemon.start()


def test_a_copy_of_a_state_directory_in_use_is_refused(make_daemon, repo):
    """Its rld would take the agents for what killed shims have left, and end them."""
    daemon = make_daemon(scripts={"implement": "gate g\nanswer done\n"}, gates=["g"])
    run = daemon.submit(repo.path)
    agent = daemon.play.arrived("g")
    copy = make_daemon("copy", start=False)
    shutil.copytree(daemon.state, copy.state, dirs_exist_ok=True, ignore=lambda _,
                    names: [n for n in names if n.endswith(".sock")])
    process = copy.spawn()
    assert process.wait() == 1
    copy.notify.close()
    # a thread says it, and may do so before the daemon says that it is ready
    assert any(line.startswith("<3>fatal: ") and "belongs to another state directory, so this one is a copy" in line
               for line in copy.log().splitlines())
    assert alive(agent)
    daemon.play.go("g")
    assert daemon.ended(run)["state"] == "succeeded"


@pytest.mark.parametrize("edit, said", [
    ("UPDATE run SET plan = '{}'", "run 1: cannot read its settings; restore a backup"),
    ("UPDATE run SET \"group\" = NULL", "run 1: it has no group; restore a backup"),
    ("UPDATE attempt SET agent = NULL", "has no agent; restore a backup"),
    ("UPDATE slot SET attempt = NULL", "run 1: slot 1 has stage implementing, but no attempt; restore a backup"),
    ("UPDATE slot SET attempt = 999", "run 1: slot 1 has attempt 999, which does not exist; restore a backup"),
    ("UPDATE slot SET task = 'none'", "run 1: slot 1 has task none, which does not exist; restore a backup"),
])
def test_a_damaged_row_stops_the_start_and_is_named(make_daemon, repo, edit, said):
    """Nobody knows what such a run has been paid for; its agent goes on, and is taken back
    with the backup."""
    daemon = make_daemon(scripts={"implement": "gate g\nanswer done\n"}, gates=["g"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("g")
    daemon.stop()
    whole = (daemon.state / "rld.db").read_bytes()
    connection = daemon.database()
    connection.execute(edit)
    connection.close()
    process = daemon.spawn()
    assert process.wait() == 1
    daemon.notify.close()
    assert said in daemon.log().splitlines()[-1]
    for path in daemon.state.glob("rld.db-*"):
        path.unlink()
    (daemon.state / "rld.db").write_bytes(whole)
    daemon.start()
    daemon.play.go("g")
    assert daemon.ended(run)["state"] == "succeeded"


def test_a_database_of_a_newer_version_is_refused(make_daemon):
    daemon = make_daemon()
    daemon.stop()
    database = daemon.database()
    version = database.execute("PRAGMA user_version").fetchone()[0]
    database.execute("PRAGMA user_version = 999")
    database.close()
    process = daemon.spawn()
    assert process.wait() != 0
    daemon.notify.close()
    assert "999" in daemon.log() or "newer" in daemon.log()
    database = daemon.database()
    database.execute(f"PRAGMA user_version = {version}")
    database.close()
    daemon.start()


def test_restart_ten_times_in_one_run(make_daemon, repo):
    daemon, number, pid = at(make_daemon, repo, "implement")
    for i in range(10):
        daemon.kill() if i % 2 else daemon.stop()
        daemon.start()
        assert daemon.attempts(number)[0]["state"] == "running"
    daemon.play.go("g")
    assert daemon.ended(number)["state"] == "succeeded"
    assert len(daemon.play.starts()) == 4


def test_a_started_attempt_whose_directory_was_removed_is_lost_not_started_again(make_daemon, repo):
    daemon, number, pid = at(make_daemon, repo, "implement")
    attempt = daemon.attempts(number)[-1]["id"]
    shim = proc_stat(pid)[1]
    daemon.kill()
    daemon.play.go("g")
    wait_gone(shim)
    shutil.rmtree(daemon.state / "attempts" / str(attempt))
    daemon.start()
    row = daemon.ended(number)
    assert row["state"] == "held" and "lost" in row["reason"], row
    assert [s[1] for s in daemon.play.starts()] == ["implement"], "nothing is paid for twice"


def test_what_is_lost_again_and_again_is_not_paid_for_without_end(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "kill -9 $PPID; gate never\n"}, gates=["never"])
    row = daemon.ended(daemon.submit(repo.path, on_lost="retry"))
    assert row["state"] == "held" and row["reason"].startswith("lost: "), row
    assert len(daemon.play.starts()) == 3


LISTEN = """import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
if sys.argv[2] == "ended" and os.fork():
    os._exit(0)
print("there", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("listener", ["alive", "ended"])
def test_a_socket_that_outlives_its_daemon(make_daemon, listener):
    """A daemon that is killed while it makes a process leaves its socket open for a moment, in a
    child that is not yet another program: nobody answers there."""
    daemon = make_daemon(start=False)
    keeper = subprocess.Popen([sys.executable, "-c", LISTEN, str(daemon.socket), listener],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert keeper.stdout.readline() == b"there\n"
        if listener == "ended":
            keeper.wait()
            daemon.start()
            assert daemon.call("daemon.hello")["instance"]
        else:
            daemon.spawn()
            daemon.notify.close()
            assert daemon.exited() == 1 and f"another daemon answers at {daemon.socket}" in daemon.log()
    finally:
        keeper.communicate()
