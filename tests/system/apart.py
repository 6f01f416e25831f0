# SPDX-License-Identifier: MIT
"""A daemon whose agents work as another user: rl-start beside it, as the system service has it."""
import os
import pwd
import select
import shutil
import socket
import subprocess
from pathlib import Path

from rld import BUILD, Daemon, sanitizer_reports, sanitizer_variables

RLD_UID, RLD_NAME = 1, "daemon"     # of Debian
AGENTS = "games"
CAPABILITIES = ["--inh-caps=+setuid,+setgid", "--ambient-caps=+setuid,+setgid"]


def cgroup_mount():
    for line in Path("/proc/self/mounts").read_text().splitlines():
        words = line.split()
        if words[2] == "cgroup2":
            return Path(words[1])
    return None


def own_cgroup():
    """A part of the hierarchy that belongs to the user of rld, as Delegate=yes gives it; None."""
    mount = cgroup_mount()
    if mount is None:
        return None
    inside = next(line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
    group = Path(f"{mount}{inside}/rld-test-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        group.mkdir()
    except OSError:
        return None
    for path in (group, *(group / name for name in ("cgroup.procs", "cgroup.subtree_control", "cgroup.threads"))):
        os.chown(path, RLD_UID, RLD_UID)
    return group


def let_in(path, agents):
    """Make all below the agents' own, and let their group read and write it."""
    for at, folders, names in os.walk(path):
        for each in (at, *(os.path.join(at, name) for name in (*folders, *names))):
            os.chown(each, agents.pw_uid, agents.pw_gid, follow_symlinks=False)
    subprocess.run(["chmod", "-R", "g+rwX", path], check=True)


class Starter:
    """rl-start at a socket of its own."""

    def __init__(self, directory, agents=AGENTS, cgroup=True, prefix=(), start=True):
        self.path, self.prefix = Path(directory), [*prefix]
        self.path.mkdir()
        os.chown(self.path, RLD_UID, RLD_UID)
        self.path.chmod(0o755)
        for name in ("rl-start", "rl-shim"):
            shutil.copy(BUILD / name, self.path)
        self.socket = self.path / "start.sock"
        self.agents = pwd.getpwnam(agents)
        self.cgroup = own_cgroup() if cgroup else None
        self.log = self.path / "log"
        self.environment = {"PATH": "/usr/bin:/bin", **sanitizer_variables(self.path, self.prefix)}
        self.process = None
        if start:
            self.start()

    def argv(self, user=None):
        return [*self.prefix, "setpriv", f"--reuid={RLD_UID}", f"--regid={RLD_UID}", "--clear-groups", *CAPABILITIES,
                str(self.path / "rl-start"), "--user", user or self.agents.pw_name, "--socket", str(self.socket)]

    def start(self):
        if self.cgroup is not None:     # as ExecStopPost= has it
            for name in (self.cgroup / "cgroup.subtree_control").read_text().split():
                (self.cgroup / "cgroup.subtree_control").write_text(f"-{name}")
        told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        name = self.path / "notify"
        name.unlink(missing_ok=True)
        told.bind(str(name))
        os.chown(name, RLD_UID, RLD_UID)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.argv(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                env={**self.environment, "NOTIFY_SOCKET": str(name)}, start_new_session=True,
                preexec_fn=lambda: self.cgroup and (self.cgroup / "cgroup.procs").write_text(str(os.getpid())))
        Daemon.processes.append(self.process)
        pidfd = os.pidfd_open(self.process.pid)
        ready, _, _ = select.select([told, pidfd], [], [])
        os.close(pidfd)
        if told not in ready:
            self.process.wait()
        assert told in ready, f"rl-start ended: {self.log.read_text()}"
        self.said = told.recv(4096).decode()
        told.close()

    def stop(self):
        self.process.terminate()
        return self.process.wait()

    def groups(self):
        return sorted(path.name for path in self.cgroup.glob("attempt-*"))

    def finish(self):
        if self.process.poll() is None:
            assert self.stop() == 0, self.log.read_text()
        self.remove_groups()
        reports = sanitizer_reports(self.path, self.log.read_text())
        assert not reports, "\n".join(reports)
        return self.log.read_text()

    def remove_groups(self):
        """When what was killed there has ended, which takes a moment."""
        if self.cgroup is not None and self.cgroup.exists():
            with open(self.cgroup / "cgroup.events") as events:
                poll = select.poll()
                poll.register(events, select.POLLPRI | select.POLLERR)
                while "populated 1" in events.read():
                    poll.poll()
                    events.seek(0)
            for group in self.cgroup.glob("*/"):
                group.rmdir()
            self.cgroup.rmdir()
