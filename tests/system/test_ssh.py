# SPDX-License-Identifier: MIT
"""Two hosts: an sshd each, on loopback, started here: make check-launchers."""
import getpass
import os
import pwd
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from rld import Repo, wait_gone

pytestmark = pytest.mark.skipif("RLD_SSHD" not in os.environ, reason="only in make check-launchers")
SSHD = os.environ.get("RLD_SSHD")


def parents():
    """{pid: parent} of all processes."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found[int(pid)] = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
    return found


def below(pid):
    """All descendants, the children first."""
    known, found = parents(), [pid]
    for each in found:
        found += [child for child, parent in known.items() if parent == each]
    return found[1:]


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    for pid in pids:
        wait_gone(pid)


# the script that starts an agent finds no rl-shim there
WITHOUT_SHIM = """ForceCommand f=${SSH_ORIGINAL_COMMAND#sh }; sed -i 's,^s=.*,s=/nonexistent,' "$f"; exec sh "$f"
"""


class Host:
    def __init__(self, path, name, has_shim):
        self.path, self.name, self.process = path, name, None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path / f"key.{name}"], check=True)
        (path / f"sshd.{name}").write_text(
            f"ListenAddress 127.0.0.1\nPort {self.port}\nHostKey {path}/key.{name}\nPidFile none\nUsePAM no\n"
            f"AuthorizedKeysFile {path}/key.pub\nStrictModes no\nPasswordAuthentication no\nMaxStartups 100\n"
            + ("" if has_shim else WITHOUT_SHIM))

    def start(self):
        # with mounts of its own
        self.process = subprocess.Popen(["unshare", "-m", SSHD, "-D", "-E", self.path / f"log.{self.name}", "-f",
                                         self.path / f"sshd.{self.name}"])
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                assert self.process.poll() is None, (self.path / f"log.{self.name}").read_text()
                time.sleep(0.02)

    def cut(self):
        """What serves its connections; what they have started goes on."""
        pids = []
        while not pids:
            pids = [pid for pid in below(self.process.pid)
                    if os.path.basename(os.path.realpath(f"/proc/{pid}/exe")).startswith("sshd")]
        kill(pids)

    def share_nothing(self, *paths):
        for path in paths:
            subprocess.run(["nsenter", "-m", "-t", str(self.process.pid), "mount", "-t", "tmpfs", "none", path],
                           check=True)

    def disappear(self):
        kill([self.process.pid, *below(self.process.pid)])
        self.process.wait()


@pytest.fixture(params=[True])
def hosts(request):
    os.makedirs("/run/sshd", exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="rld-ssh.") as path:
        path = Path(path)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path / "key"], check=True)
        made = [Host(path, name, request.param) for name in ("n1", "n2")]
        (path / "config").write_text("\n".join(
            f"Host {host.name}\n HostName 127.0.0.1\n Port {host.port}" for host in made) +
            f"\nHost *\n User {getpass.getuser()}\n IdentityFile {path}/key\n IdentitiesOnly yes\n"
            " StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n")
        for host in made:
            host.start()
        yield made
        for host in made:
            if host.process.poll() is None:
                host.disappear()


@pytest.fixture
def start(make_daemon, hosts):
    def make(script, gates=(), files="shared", **config):
        scripts = script if isinstance(script, dict) else {"implement": script, "review": "pass\n"}
        return make_daemon(scripts=scripts, gates=gates, config={
            "run.launcher": "farm", "parallel": 8, "launcher.farm": {
                "preset": "ssh", "files": files, "options": ["-F", str(hosts[0].path / "config")],
                "hosts": [{"name": host.name, "slots": 2} for host in hosts]}, **config})
    return make


def ends(daemon, run):
    daemon.call("run.wait", ids=[run])
    return daemon.run(run)["state"]


# the first says who it is, and works as long as it can
FIRST = {"implement.1": "echo $$ > $PLAY/pid\ngate here\nanswer done\n", "implement.2": "answer done\n"}


def pid_of(daemon):
    return int((daemon.play.path / "pid").read_text())


def states(daemon, run):
    return [(row["node"], row["state"]) for row in daemon.attempts(run)]


def test_a_reviewed_run(start, repo):
    daemon = start("echo one > work.txt\nenv > $PLAY/env\nanswer done\n")
    run = daemon.review(repo.path)
    assert ends(daemon, run) == "succeeded"
    assert [(row["node"], row["exit_code"]) for row in daemon.attempts(run)] == [("n1", 0)] * 2
    env = dict(line.split("=", 1) for line in (daemon.play.path / "env").read_text().splitlines() if "=" in line)
    assert env["RL_RUN"] == str(run) and env["HOME"] != pwd.getpwuid(os.getuid()).pw_dir


def test_an_exit_status(start, repo):
    daemon = start("exit 7\n")
    run = daemon.submit(repo.path)
    assert ends(daemon, run) == "failed" and daemon.attempts(run)[0]["exit_code"] == 7


def test_a_limit(start, repo):
    daemon = start("echo $$ > $PLAY/pid\ngate here\n", gates=["here"])
    run = daemon.submit(repo.path, timeout="2s")
    assert ends(daemon, run) == "failed"
    attempt, = daemon.attempts(run)
    assert attempt["state"] == "exited" and attempt["end_kind"] == "timeout"
    wait_gone(pid_of(daemon))


def test_cancelled(start, repo):
    daemon = start("echo $$ > $PLAY/pid\ntrap 'touch $PLAY/signalled; exit 1' TERM\ngate here\n", gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    assert daemon.cancelled(run)["state"] == "cancelled"
    assert (daemon.play.path / "signalled").exists() and daemon.run(run)["warnings"] == []
    wait_gone(pid_of(daemon))


def output(daemon, attempt, stream):
    return daemon.call("attempt.output", id=attempt, stream=stream, offset=0)["data"]


def until_lost(daemon, attempt):
    while "the connection to the agent is lost" not in output(daemon, attempt, "stderr"):
        pass


def far_shim(daemon, attempt):
    """The pid of the rl-shim where the agent was placed."""
    text = (daemon.state / "attempts" / str(attempt) / "place" / "shim").read_text()
    return int(dict(line.split(" ", 1) for line in text.splitlines())["pid"])


def test_the_connection_breaks(start, repo, hosts):
    """The agent works on; the connection is made again, to the same agent."""
    daemon = start("gate here\necho after >&2\nanswer done\n", gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    hosts[0].disappear()
    row, = daemon.attempts(run)
    until_lost(daemon, row["id"])
    hosts[0].start()
    while "a connection to the agent again" not in output(daemon, row["id"], "stderr"):
        pass
    daemon.play.go("here")
    assert ends(daemon, run) == "succeeded" and states(daemon, run) == [("n1", "exited")]
    assert output(daemon, row["id"], "stdout") == "done\n"
    assert output(daemon, row["id"], "stderr").endswith("after\n")


def test_a_host_that_shares_no_directory(start, repo, hosts):
    """The work tree goes there and comes back; the connection may break meanwhile."""
    daemon = start("echo one > work.txt; echo before\ngate here\necho two >> work.txt; git log --format=%s > log.txt\n"
                   "echo after >&2\nanswer done\n", gates=["here"], files="copied")
    for host in hosts:
        host.share_nothing(daemon.state, repo.path)
    run = daemon.review(repo.path)
    daemon.play.arrived("here")
    row, = daemon.attempts(run)
    while "before" not in output(daemon, row["id"], "stdout"):
        pass
    hosts[0].cut()
    until_lost(daemon, row["id"])
    daemon.play.go("here")
    assert ends(daemon, run) == "succeeded", daemon.run(run)["cause"]
    assert states(daemon, run) == [("n1", "exited")] * 2
    assert output(daemon, row["id"], "stdout") == "before\ndone\n"
    commit = daemon.run(run)["result_commit"]
    assert repo.git("show", f"{commit}:work.txt") == "one\ntwo" and repo.git("show", f"{commit}:log.txt") == "start"


@pytest.mark.parametrize("hosts", [False], indirect=True)
def test_the_connection_breaks_without_rl_shim(start, repo, hosts):
    """It is made once more to end the agent; then another one begins, with on_lost = "retry"."""
    daemon = start(FIRST, gates=["here"], **{"run.on_lost": "retry"})
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    hosts[0].cut()
    assert ends(daemon, run) == "succeeded"
    assert [state for _, state in states(daemon, run)] == ["lost", "exited"]
    wait_gone(pid_of(daemon))


def test_the_daemon_is_killed(start, repo):
    daemon = start("gate here\nanswer done\n", gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    daemon.kill()
    daemon.start()
    daemon.play.go("here")
    assert ends(daemon, run) == "succeeded" and states(daemon, run) == [("n1", "exited")]


def kill_near(daemon, attempt):
    text = (daemon.state / "attempts" / str(attempt) / "shim").read_text()
    kill([int(dict(line.split(" ", 1) for line in text.splitlines())["pid"])])


@pytest.mark.parametrize("down, meanwhile", [(False, False), (True, False), (True, True)])
def test_the_shim_is_killed(start, repo, down, meanwhile):
    """Another one follows the agent, also if that has ended while the daemon was down."""
    daemon = start("echo before\ngate here\necho one > work.txt\necho after >&2\nanswer done\n", gates=["here"],
                   **{"run.on_lost": "retry"})
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    row, = daemon.attempts(run)
    pid = far_shim(daemon, row["id"])
    if down:
        daemon.kill()
    kill_near(daemon, row["id"])
    if meanwhile:
        daemon.play.go("here")
        wait_gone(pid)
    if down:
        daemon.start()
    if not meanwhile:
        daemon.play.go("here")
    assert ends(daemon, run) == "succeeded" and states(daemon, run) == [("n1", "exited")]
    assert output(daemon, row["id"], "stdout") == "before\ndone\n" and daemon.run(run)["warnings"] == []


def test_both_shims_are_killed(start, repo):
    """Nothing is left to be followed: lost, and over."""
    daemon = start(FIRST, gates=["here"], **{"run.on_lost": "retry"})
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    row, = daemon.attempts(run)
    daemon.kill()
    pid = far_shim(daemon, row["id"])
    kill([pid, *below(pid)])
    kill_near(daemon, row["id"])
    daemon.start()
    assert ends(daemon, run) == "succeeded"
    assert [state for _, state in states(daemon, run)] == ["lost", "exited"]
    wait_gone(pid_of(daemon))


@pytest.mark.parametrize("hosts", [False], indirect=True)
def test_the_shim_is_killed_without_rl_shim(start, repo, hosts):
    """Nothing is there that could be followed: the daemon has {end} end the agent."""
    daemon = start(FIRST, gates=["here"], **{"run.on_lost": "retry"})
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    kill_near(daemon, daemon.attempts(run)[0]["id"])
    assert ends(daemon, run) == "succeeded"
    assert [state for _, state in states(daemon, run)] == ["lost", "exited"]
    wait_gone(pid_of(daemon))


def test_the_shim_is_killed_while_a_host_is_gone(start, repo, hosts):
    """The agent is followed by its files, and its connection is made again when it can be."""
    daemon = start("echo before\ngate here\nanswer done\n", gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    row, = daemon.attempts(run)
    hosts[0].disappear()
    kill_near(daemon, row["id"])
    until_lost(daemon, row["id"])
    hosts[0].start()
    while "a connection to the agent again" not in output(daemon, row["id"], "stderr"):
        pass
    daemon.play.go("here")
    assert ends(daemon, run) == "succeeded" and states(daemon, run) == [("n1", "exited")]
    assert output(daemon, row["id"], "stdout") == "before\ndone\n"


def test_a_host_is_restarted(start, tmp_path, hosts):
    """While it is away, its run waits, since the agent may be at work; other runs have the other
    host. Nothing is left of the agent when it is back, and another one begins."""
    daemon = start({"implement.1": "[ $RL_RUN != 1 ] || gate here\nanswer done\n", "implement.2": "answer done\n"},
                   gates=["here"], **{"run.on_lost": "retry"})
    run = daemon.submit(Repo(tmp_path / "r1").path)
    daemon.play.arrived("here")
    row, = daemon.attempts(run)
    pid = far_shim(daemon, row["id"])
    hosts[0].disappear()
    kill([pid, *below(pid)])
    until_lost(daemon, row["id"])
    other = daemon.submit(Repo(tmp_path / "r2").path)
    assert ends(daemon, other) == "succeeded" and states(daemon, other)[-1] == ("n2", "exited")
    hosts[0].start()
    assert ends(daemon, run) == "succeeded" and [state for _, state in states(daemon, run)] == ["lost", "exited"]


@pytest.mark.deadline(300)
def test_cancelled_while_a_host_is_gone(start, repo, hosts):
    """Nothing is known of the agent then, and rld says so."""
    daemon = start("gate here\n", gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    row, = daemon.attempts(run)
    pid = far_shim(daemon, row["id"])
    hosts[0].disappear()
    assert daemon.cancelled(run)["state"] == "cancelled"
    row, = daemon.attempts(run)
    assert row["state"] == "lost" and "launcher failed: it may still run there" in row["cause"]
    kill([pid, *below(pid)])


def test_a_host_is_down(start, repo, hosts):
    hosts[0].disappear()
    daemon = start("answer done\n")
    run = daemon.submit(repo.path)
    assert ends(daemon, run) == "succeeded" and states(daemon, run) == [("n1", "exited"), ("n2", "exited")]
    assert "Connection refused" in daemon.attempts(run)[0]["cause"]
