# SPDX-License-Identifier: MIT
"""The rl-shim here dies, and the agent works on where its launcher has placed it, under an rl-shim
there: it is followed by another one, and never paid for twice. ssh is a script, see
test_launcher.py; test_ssh.py has sshd."""
import os
import re
import signal
import time

import pytest
from rld import wait_gone
from test_launcher import attempts, far_shim, launcher, near_shim, output, ssh, until_printed  # noqa: F401
from test_restart import OTHER_BOOT
from test_shim import checksum, decode, encode

WORK = "echo before\necho problem >&2\ngate here\necho one > work.txt\nseq 1 60000\necho after >&2\nanswer done\n"
PRINTED = "before\n" + "".join(f"{n}\n" for n in range(1, 60001)) + "done\n"
AGAIN = {"run.on_lost": "retry"}


def kill(pid):
    os.kill(pid, signal.SIGKILL)
    wait_gone(pid)


def at_work(daemon, repo, **options):
    """A run whose agent works, and its attempt."""
    run = daemon.submit(repo.path, **options)
    daemon.play.arrived("here")
    row, = attempts(daemon, run)
    until_printed(daemon, row["id"], "stdout", "before")
    return run, row["id"]


def kill_near(daemon, attempt):
    """Returns when there is another one."""
    pid, _ = near_shim(daemon, attempt)
    kill(pid)
    until_another(daemon, attempt, pid)


def until_another(daemon, attempt, pid):
    while True:
        try:
            if near_shim(daemon, attempt)[0] != pid:
                return
        except (OSError, IndexError):
            continue


def is_whole(daemon, run, attempt):
    """The agent was paid for once, and what is kept of it is as if nothing had happened."""
    assert daemon.ended(run)["state"] == "succeeded"
    row, = attempts(daemon, run)
    assert (row["id"], row["state"], row["exit_code"], len(daemon.play.starts())) == (attempt, "exited", 0, 1)
    directory = daemon.state / "attempts" / str(attempt)
    assert "".join(path.read_text() for path in sorted(directory.glob("stdout.*"))) == PRINTED
    assert output(daemon, attempt, "stderr") == "problem\nafter\n"
    assert not list((directory / "place").glob("std*"))
    assert daemon.run(run)["warnings"] == []
    assert decode("exit", (directory / "exit").read_bytes())["dropped"] == "0"


@pytest.mark.parametrize("times", [1, 3])
def test_killed(ssh, repo, times):
    daemon = ssh(scripts={"implement": WORK}, gates=["here"], config=AGAIN)
    run, attempt = at_work(daemon, repo)
    for _ in range(times):
        kill_near(daemon, attempt)
    until_printed(daemon, attempt, "stderr", "problem")
    daemon.play.go("here")
    is_whole(daemon, run, attempt)


def reboot(daemon, attempt):
    """As after a restart of the machine, which the agent is not on."""
    database = daemon.database()
    database.execute("UPDATE attempt SET boot_id = ?", (OTHER_BOOT,))
    database.close()
    identity = daemon.state / "attempts" / str(attempt) / "shim"
    rows = [(k, OTHER_BOOT if k == "boot_id" else v) for k, v in decode("shim", identity.read_bytes()).items()]
    identity.write_bytes(encode("shim", rows))


def until_ended(daemon, attempt):
    far = daemon.state / "attempts" / str(attempt) / "far"
    while "\nended " not in far.read_text():
        pass


@pytest.mark.parametrize("rebooted, meanwhile", [(True, True), (False, False), (True, False), (False, True)])
def test_the_daemon_is_down(ssh, repo, rebooted, meanwhile):
    """The agent may have ended before it is back."""
    daemon = ssh(scripts={"implement": WORK}, gates=["here"], config=AGAIN)
    run, attempt = at_work(daemon, repo)
    daemon.kill()
    kill(near_shim(daemon, attempt)[0])
    if rebooted:
        reboot(daemon, attempt)
    if meanwhile:
        daemon.play.go("here")
        until_ended(daemon, attempt)
    daemon.start()
    if not meanwhile:
        daemon.play.go("here")
    is_whole(daemon, run, attempt)


@pytest.mark.parametrize("left", ["nothing", "shim"])
def test_rld_is_killed_while_it_makes_room(ssh, repo, left):
    """Between its steps, the output and then the identity of the first one are gone. No identity
    is not the same as never started."""
    daemon = ssh(scripts={"implement": WORK}, gates=["here"], config=AGAIN)
    run, attempt = at_work(daemon, repo)
    daemon.kill()
    kill(near_shim(daemon, attempt)[0])
    directory = daemon.state / "attempts" / str(attempt)
    for path in [*directory.glob("std*"), *([] if left == "shim" else [directory / "shim"])]:
        path.unlink()
    daemon.start()
    daemon.play.go("here")
    is_whole(daemon, run, attempt)


def test_killed_before_its_record(ssh, repo):
    """All is copied, and nothing of that is recorded."""
    daemon = ssh(scripts={"implement": WORK}, gates=["here"], config=AGAIN)
    run, attempt = at_work(daemon, repo)
    pid, follower = near_shim(daemon, attempt)
    until_printed(daemon, attempt, "stderr", "problem")
    os.kill(follower, signal.SIGSTOP)
    daemon.play.go("here")
    until_ended(daemon, attempt)
    daemon.kill()
    os.kill(pid, signal.SIGSTOP)
    os.kill(follower, signal.SIGCONT)
    kill(pid)
    wait_gone(follower)
    daemon.start()
    is_whole(daemon, run, attempt)


def begin_long_ago(daemon, attempt):
    """Before the machine did, as after its restart."""
    job = daemon.state / "attempts" / str(attempt) / "job"
    body = re.sub(rb"\nbegan_ms [0-9]+\n", b"\nbegan_ms 1\n", job.read_bytes()[:-21])
    job.write_bytes(body + b"end %016x\n" % checksum(body))


def test_words_of_the_log_in(ssh, repo):
    """They are nothing of the agent's. It was started once, so this is no first connection."""
    text = (ssh.log / "ssh").read_text()
    (ssh.log / "ssh").write_text(text.replace("exec env", "echo Welcome; echo Banner >&2\nexec env"))
    daemon = ssh(scripts={"implement": WORK}, gates=["here"], config=AGAIN)
    run, attempt = at_work(daemon, repo)
    assert "Welcome\n" in output(daemon, attempt, "stdout")
    kill_near(daemon, attempt)
    until_printed(daemon, attempt, "stderr", "problem")
    daemon.play.go("here")
    is_whole(daemon, run, attempt)


def restarted_long_after(daemon, repo):
    """When its limit has passed; until then the daemon is down."""
    run, attempt = at_work(daemon, repo, timeout="1h")
    daemon.kill()
    kill(near_shim(daemon, attempt)[0])
    begin_long_ago(daemon, attempt)
    return run, attempt


def test_its_limit_has_passed(ssh, repo):
    daemon = ssh(scripts={"implement": WORK}, gates=["here"])
    run, attempt = restarted_long_after(daemon, repo)
    daemon.start()
    assert daemon.ended(run)["state"] == "failed"
    row, = attempts(daemon, run)
    assert (row["state"], row["end_kind"]) == ("exited", "timeout")


def test_its_limit_has_passed_since_its_end(ssh, repo):
    """It had ended in time."""
    daemon = ssh(scripts={"implement": WORK}, gates=["here"])
    run, attempt = restarted_long_after(daemon, repo)
    daemon.play.go("here")
    until_ended(daemon, attempt)
    daemon.start()
    is_whole(daemon, run, attempt)


def test_its_limit_is_kept_there(ssh, repo):
    """While nobody is here, the rl-shim there keeps it, a minute later; here a second later."""
    text = (ssh.log / "ssh").read_text()
    (ssh.log / "ssh").write_text(text.replace("exec env", "sed -i 's/ 120000 / 2000 /' \"${1#sh }\"\nexec env"))
    daemon = ssh(scripts={"implement": "echo before\ngate here\n"}, gates=["here"])
    run, attempt = at_work(daemon, repo, timeout="60s")
    daemon.kill()
    kill(near_shim(daemon, attempt)[0])
    until_ended(daemon, attempt)
    daemon.start()
    assert daemon.ended(run)["state"] == "failed"
    row, = attempts(daemon, run)
    assert (row["state"], row["end_kind"]) == ("exited", "timeout")
    assert output(daemon, attempt, "stdout") == "before\n"


def test_a_limit_counts_from_the_start(ssh, repo):
    daemon = ssh(scripts={"implement": "echo before\ngate here\n"}, gates=["here"])
    run, attempt = at_work(daemon, repo, timeout="6s")
    time.sleep(4)
    kill_near(daemon, attempt)
    assert daemon.ended(run)["state"] == "failed"
    row, = attempts(daemon, run)
    assert (row["state"], row["end_kind"]) == ("exited", "timeout")
    record = decode("exit", (daemon.state / "attempts" / str(attempt) / "exit").read_bytes())
    assert 6000 <= int(record["signalled_ms"]) - int(record["started_ms"]) < 9000
    assert output(daemon, attempt, "stdout") == "before\n"


@pytest.mark.parametrize("down", [False, True])
def test_cancelled(ssh, repo, down):
    """Asked for while no rl-shim is here."""
    trap = "trap 'trap \"\" TERM; echo saved; touch $PLAY/signalled; exit 1' TERM\n"
    daemon = ssh(scripts={"implement": trap + WORK}, gates=["here"])
    run, attempt = at_work(daemon, repo)
    pid, _ = near_shim(daemon, attempt)
    if down:
        daemon.kill()
    kill(pid)
    if down:
        daemon.start()
    assert daemon.cancelled(run)["state"] == "cancelled"
    row, = attempts(daemon, run)
    assert (daemon.play.path / "signalled").exists() and row["state"] == "exited"
    assert output(daemon, attempt, "stdout") == "before\nsaved\n" and daemon.run(run)["warnings"] == []


def test_the_far_shim_is_gone_too(ssh, repo):
    """Nothing is left to be followed: lost, and over."""
    daemon = ssh(scripts={"implement.1": WORK, "implement.2": "answer done\n"}, gates=["here"], config=AGAIN)
    run, attempt = at_work(daemon, repo)
    near, _ = near_shim(daemon, attempt)
    daemon.kill()
    kill(far_shim(daemon, attempt))
    kill(near)
    daemon.start()
    assert daemon.ended(run)["state"] == "succeeded"
    assert [row["state"] for row in attempts(daemon, run)] == ["lost", "exited"]


def test_one_that_cannot_begin(ssh, repo):
    """It starts nothing; that is not recorded, because there is an agent."""
    daemon = ssh(scripts={"implement": WORK}, gates=["here"], config=AGAIN)
    run, attempt = at_work(daemon, repo)
    directory = daemon.state / "attempts" / str(attempt)
    (directory / "prompt").rename(directory / "hidden")
    pid, _ = near_shim(daemon, attempt)
    kill(pid)
    tried = set()
    while len(tried) < 2:
        try:
            tried.add(int(decode("shim", (directory / "shim").read_bytes())["pid"]))
        except OSError:
            continue
        tried.discard(pid)
    (directory / "hidden").rename(directory / "prompt")
    daemon.play.go("here")
    is_whole(daemon, run, attempt)
