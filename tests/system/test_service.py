# SPDX-License-Identifier: MIT
"""rld under a service manager: the watchdog, a refused configuration, a refused reload."""
import configparser
import contextlib
import ctypes
import json
import os
import pwd
import select
import subprocess
from pathlib import Path

import pytest

from rld import RLCTL, SOURCE

SEIZE, INTERRUPT, DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000     # of ptrace(2) and waitpid(2)
UNITS = ("systemd/rld.service", "systemd/user/rld.service")


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
    words = service["ExecReload"].split()
    assert os.path.basename(words[0]) == "rlctl" and words[3].startswith("%t/") and words[3].endswith("rld.sock")
    daemon = make_daemon()
    command = [str(RLCTL), *words[1:3], str(daemon.socket), *words[4:]]
    assert subprocess.run(command, capture_output=True).returncode == 0
    daemon.write_config({"parallel": "many"})
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and "parallel" in done.stderr
    assert daemon.call("daemon.status")["state"] == "running"


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
    assert daemon.call("run.submit", workdir=str(repo.path), task="do it")["warnings"] == []
