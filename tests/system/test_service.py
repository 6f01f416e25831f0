# SPDX-License-Identifier: MIT
"""rld under a service manager: the watchdog, a refused configuration, a refused reload."""
import configparser
import contextlib
import ctypes
import json
import os
import pwd
import select
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rld import RLCTL, SOURCE, Rpc

SEIZE, INTERRUPT, DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000     # of ptrace(2) and waitpid(2)
UNITS = ("systemd/rld.service", "systemd/rld@.service", "systemd/user/rld.service")


def told(daemon, words, count):
    """What the manager is told until it was told words count times."""
    lines = []
    while lines.count(words) < count:
        lines += daemon.notify.recv(4096).decode().split("\n")
    return lines


def test_the_watchdog_is_fed(make_daemon, repo):
    """When rld is ready, again and again, and agents have nothing of it."""
    daemon = make_daemon(start=False, scripts={"implement": "env > env.txt\nanswer done\n"})
    daemon.spawn(environment={"WATCHDOG_USEC": "60000"})
    lines = told(daemon, "WATCHDOG=1", 3)
    assert lines.index("READY=1") < lines.index("WATCHDOG=1")
    daemon.pid = daemon.process.pid
    run = daemon.submit(repo.path)
    assert daemon.ended(run)["state"] == "succeeded"
    assert "WATCHDOG" not in (repo.path / "env.txt").read_text()
    daemon.stop()
    daemon.notify.close()


@contextlib.contextmanager
def only_the_loop(pid):
    """All threads but the first, which has the loop, are stopped."""
    def ptrace(request, thread):
        return ctypes.CDLL(None).ptrace(*map(ctypes.c_long, (request, thread, 0, 0)))

    others, stopped = [int(name) for name in os.listdir(f"/proc/{pid}/task") if int(name) != pid], []
    try:
        for thread in others:
            while open(f"/proc/{pid}/task/{thread}/stat").read().rsplit(")", 1)[1].split()[0] != "S":
                pass        # it may hold a lock
            if ptrace(SEIZE, thread) != 0:
                pytest.skip("may not trace here")
            ptrace(INTERRUPT, thread)
            os.waitpid(thread, WALL)
            stopped.append(thread)
        yield
    finally:
        for thread in stopped:
            ptrace(DETACH, thread)


def test_the_watchdog_starves_with_the_database(make_daemon):
    """The loop goes round and answers, but nothing more is recorded."""
    daemon = make_daemon(start=False)
    daemon.spawn(environment={"WATCHDOG_USEC": "3000"})
    told(daemon, "WATCHDOG=1", 3)
    daemon.pid = daemon.process.pid
    with daemon.connect() as rpc:
        with only_the_loop(daemon.pid):
            for _ in range(3):          # what the database has said before is told
                rpc.call("group.list")
            while select.select([daemon.notify], [], [], 0)[0]:
                daemon.notify.recv(4096)
            for _ in range(500):        # many of the watchdog's intervals
                rpc.call("group.list")
            assert not select.select([daemon.notify], [], [], 0)[0], daemon.notify.recv(4096)
        told(daemon, "WATCHDOG=1", 2)
    daemon.stop()
    daemon.notify.close()


@pytest.mark.parametrize("environment", [{}, {"WATCHDOG_USEC": "60000", "WATCHDOG_PID": "1"},
                                         {"WATCHDOG_USEC": "0"}, {"WATCHDOG_USEC": "soon"}],
                         ids=["none", "of another process", "zero", "no number"])
def test_no_watchdog(make_daemon, environment):
    daemon = make_daemon(start=False)
    daemon.spawn(environment=environment)
    told(daemon, "READY=1", 1)
    daemon.pid = daemon.process.pid
    daemon.stop()
    lines = told(daemon, "STOPPING=1", 1)
    assert "WATCHDOG=1" not in lines
    daemon.notify.close()


def test_a_refused_configuration_has_a_status_of_its_own(make_daemon):
    daemon = make_daemon(start=False)
    daemon.write_config({"parallel": "many"})
    daemon.spawn()
    assert daemon.exited() == 78 and "parallel" in daemon.log()
    daemon.notify.close()


@pytest.mark.parametrize("unit", UNITS)
def test_units(unit, make_daemon):
    """They name that status, and what a reload runs fails when the file is refused."""
    text = (SOURCE / unit).read_text()
    rows = configparser.ConfigParser(strict=False, interpolation=None)
    rows.optionxform = str
    rows.read_string(text)
    service = rows["Service"]
    assert service["RestartPreventExitStatus"] == "78" and service["Type"] == "notify"
    assert int(service["WatchdogSec"]) >= 60 and service["OOMPolicy"] == "continue"
    # rld looks at the ancestors of each client: where they are hidden, it refuses root
    assert not {"ProtectProc", "ProcSubset"} & set(service)
    program, *words = service["ExecReload"].split()
    if "--socket" in words:     # else the user's own places are searched
        at = words.index("--socket")
        assert words[at + 1].startswith("%t/") and words[at + 1].endswith("rld.sock")
        del words[at:at + 2]
    assert os.path.basename(program) == "rlctl" and words == ["--no-start", "rpc", "daemon.reload"]
    daemon = make_daemon()
    command = [str(RLCTL), "--socket", str(daemon.socket), *words]
    assert subprocess.run(command, capture_output=True).returncode == 0
    daemon.write_config({"parallel": "many"})
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and "parallel" in done.stderr
    assert daemon.call("daemon.status")["state"] == "running"


@pytest.mark.parametrize("unit, path, mode", [("systemd/rld.socket", "%t/rld/rld.sock", "0666"),
                                              ("systemd/user/rld.socket", "%t/rld.sock", "0600")])
def test_socket_units(unit, path, mode):
    """Where the daemon would listen itself, and as open as its checks allow."""
    rows = configparser.ConfigParser(interpolation=None)
    rows.optionxform = str
    rows.read_string((SOURCE / unit).read_text())
    assert rows["Socket"]["ListenStream"] == path and rows["Socket"]["SocketMode"] == mode
    assert rows["Install"]["WantedBy"] == "sockets.target"


# ---- the socket of the service manager -----------------------------------------------------------

# Puts a descriptor at 3, and at 4 for two, and starts the rest: descriptor, $LISTEN_FDS,
# $LISTEN_PID or "".
PASS = """import os, sys
fd, count, pid, *argv = sys.argv[1:]
for place in (3, 4) if count == "2" else (3,):
    os.dup2(int(fd), place)
    os.set_inheritable(place, True)
if int(fd) > 4:
    os.close(int(fd))
os.environ.update(LISTEN_FDS=count, LISTEN_PID=pid or str(os.getpid()), LISTEN_FDNAMES="rld.socket")
os.execv(argv[0], argv)
"""


def unix_socket(path, kind=socket.SOCK_STREAM, listening=True):
    made = socket.socket(socket.AF_UNIX, kind)
    made.bind(str(path))
    if listening:
        made.listen(16)
    return made


@pytest.fixture
def activated(make_daemon):
    """A daemon that is not started yet, with a socket as systemd passes it."""
    def make(made, count=1, pid=""):
        daemon = make_daemon(start=False)
        made = made(daemon) if callable(made) else made
        daemon.inherited = (made.fileno(),)
        daemon.prefix = [sys.executable, "-c", PASS, str(made.fileno()), str(count), pid]
        daemon.made = made
        return daemon
    return make


def hello(client):
    client.sendall(b'{"jsonrpc": "2.0", "id": 1, "method": "daemon.status"}\n')
    return json.loads(client.makefile().readline())


def test_socket_activation(activated, repo):
    """A client that came before the daemon is served, the socket outlives it, and the next daemon
    takes it again; agents know nothing of it."""
    daemon = activated(lambda daemon: unix_socket(daemon.socket))
    daemon.play.set({"implement": "env > env.txt\nanswer done\n"})
    inode = daemon.socket.stat().st_ino
    for _ in range(2):
        with socket.socket(socket.AF_UNIX) as early:
            early.connect(str(daemon.socket))
            daemon.start()
            assert hello(early)["result"]["state"] == "running"
        assert (daemon.state / "rld.sock").is_socket() and daemon.socket.stat().st_ino == inode
        run = daemon.submit(repo.path)
        assert daemon.ended(run)["state"] == "succeeded" and "LISTEN" not in (repo.path / "env.txt").read_text()
        assert next(check for check in daemon.call("daemon.doctor")["checks"]
                    if check["name"] == "socket")["text"] == f"{daemon.socket}, {daemon.state}/rld.sock"
        daemon.stop()
        assert not (daemon.state / "rld.sock").exists() and daemon.socket.stat().st_ino == inode
    daemon.made.close()


def test_an_inherited_socket_whose_file_is_gone(activated):
    """SIGHUP makes one again, and that one is the daemon's to remove."""
    daemon = activated(lambda daemon: unix_socket(daemon.socket)).start()
    daemon.socket.unlink()
    with Rpc(daemon.state / "rld.sock") as rpc:
        rpc.call("daemon.reload")
    assert daemon.call("daemon.status")["state"] == "running"
    daemon.stop()
    assert not daemon.socket.exists()
    daemon.made.close()


def tcp(_):
    made = socket.socket()
    made.bind(("127.0.0.1", 0))
    made.listen()
    return made


@pytest.mark.parametrize("make, count, says", [
    (lambda daemon: unix_socket(daemon.socket), 2, "passed 2 sockets, and rld takes one"),
    (lambda daemon: unix_socket(daemon.socket, socket.SOCK_DGRAM, False), 1, "other than a listening Unix stream"),
    (lambda daemon: unix_socket(daemon.socket, listening=False), 1, "other than a listening Unix stream"),
    (lambda daemon: unix_socket(daemon.socket, socket.SOCK_SEQPACKET), 1, "other than a listening Unix stream"),
    (tcp, 1, "other than a listening Unix stream"),
    (lambda daemon: open("/dev/null"), 1, "other than a listening Unix stream"),
    (lambda daemon: unix_socket(f"\0{daemon.path}"), 1, "a socket without a path"),
    (lambda daemon: unix_socket(daemon.path / "other"), 1, "but --socket names"),
], ids=["two", "datagram", "not listening", "packets", "tcp", "no socket", "abstract", "another path"])
def test_other_sockets_are_refused(activated, make, count, says):
    """With the status that ends the restarts."""
    daemon = activated(make, count)
    daemon.spawn()
    assert daemon.exited() == 78 and says in daemon.log()
    daemon.notify.close()
    daemon.made.close()


@pytest.mark.parametrize("count, pid", [(1, "1"), (0, ""), ("x", ""), (-1, "")])
def test_sockets_that_are_not_for_us(activated, count, pid):
    """They are left alone, and the daemon makes its own."""
    daemon = activated(lambda daemon: unix_socket(daemon.path / "other"), count, pid).start()
    assert daemon.socket.is_socket()
    daemon.stop()
    assert not daemon.socket.exists() and (daemon.path / "other").exists()
    daemon.made.close()


def test_clients_that_wait_are_told_why(activated):
    """A refused configuration: who waits is answered, so that nothing starts the daemon again."""
    daemon = activated(lambda daemon: unix_socket(daemon.socket))
    daemon.write_config({"parallel": "many"})
    waiting = daemon.rlctl_start("list")
    while not select.select([daemon.made], [], [], 0.1)[0]:
        assert waiting.poll() is None
    daemon.spawn()
    assert daemon.exited() == 78
    told = waiting.communicate()[1].decode()
    assert waiting.returncode == 1 and "parallel" in told and str(daemon.config) in told
    assert not select.select([daemon.made], [], [], 0)[0]
    daemon.notify.close()
    daemon.made.close()


# ---- a logout ------------------------------------------------------------------------------------

def cgroup_root():
    """Where cgroups of version 2 are made here."""
    mounts = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    return next((Path(words[1]) for words in mounts if words[2] == "cgroup2"), None)


@pytest.fixture
def make_daemon_in(make_daemon, tmp_path):
    """Start daemons in a cgroup of their own, and in a mount namespace whose /var/lib/systemd is
    empty. Ends them."""
    made = []

    def make(name):
        root = cgroup_root()
        place = root and root / f"rld-test-{os.getpid()}" / name
        try:
            place.mkdir(parents=True)
        except (AttributeError, OSError) as error:
            pytest.skip(f"no cgroup can be made here: {error}")
        made.append(place)
        if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/var/lib/systemd"],
                          capture_output=True).returncode != 0:
            pytest.skip("nothing can be mounted here")
        script = f'echo $$ > {place}/cgroup.procs && mount -t tmpfs none /var/lib/systemd && exec "$@"'
        daemon = make_daemon(prefix=["unshare", "-m", "sh", "-c", script, "sh"])
        made.append(daemon)
        return daemon

    yield make
    for each in reversed(made):
        if isinstance(each, Path):
            while (each / "cgroup.procs").read_text():      # what the daemon has left ends, too
                pass
            each.rmdir()
            each.parent.rmdir()
        elif each.running():
            each.stop()


def logout_check(daemon):
    return next(check for check in daemon.call("daemon.doctor")["checks"] if check["name"] == "logout")


def test_a_logout_is_told(make_daemon_in, repo):
    """In a unit of a user who does not linger: a row of doctor, and one warning of each submit,
    until the user lingers."""
    user = pwd.getpwuid(os.getuid()).pw_name
    daemon = make_daemon_in(f"user@{os.getuid()}.service")
    daemon.play.set({"implement": "answer done\n"})
    remedy = f"loginctl enable-linger {user}"
    check = logout_check(daemon)
    assert (check["state"], check["remedy"]) == ("warning", remedy) and f"a logout of {user} ends" in check["text"]
    told = daemon.rlctl("submit", "-C", str(repo.path), "do it", check=0)
    assert [line for line in told.err.splitlines() if "logout" in line] == [
        f'rlctl: warning: a logout of {user} ends the daemon and its agents; prevent it with "{remedy}"']
    as_json = json.loads(daemon.rlctl("--json", "submit", "-C", str(repo.path), "again", check=0).out)
    assert len(as_json["warnings"]) == 1 and remedy in as_json["warnings"][0]
    assert "logout" not in daemon.rlctl("submit", "-q", "-C", str(repo.path), "again", check=0).err
    linger = Path(f"/proc/{daemon.pid}/root/var/lib/systemd/linger")
    linger.mkdir()
    (linger / user).touch()
    check = logout_check(daemon)
    assert (check["state"], check["remedy"]) == ("ok", None) and f"units of {user} stay" in check["text"]
    run = daemon.call("run.submit", workdir=str(repo.path), task="do it")
    assert run["warnings"] == []
    assert daemon.ended(run["id"])["state"] == "succeeded"


@pytest.mark.parametrize("name, text", [("session-3.scope", "was started in a login session"),
                                        ("rld.service", "belongs to no login session")])
def test_a_logout_that_ends_nothing(make_daemon_in, repo, name, text):
    daemon = make_daemon_in(name)
    check = logout_check(daemon)
    assert (check["state"], check["remedy"]) == ("ok", None) and text in check["text"]
    run = daemon.call("run.submit", workdir=str(repo.path), task="do it")
    assert run["warnings"] == [] and daemon.ended(run["id"])["state"] == "succeeded"
