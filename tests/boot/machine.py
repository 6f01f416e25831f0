# SPDX-License-Identifier: MIT
"""A machine for the boot test: a real systemd as process 1 of a container whose root is the root of
this host under an overlay in memory. Nothing that it writes reaches the host.

It needs root, systemd-nspawn, overlayfs and a hierarchy of cgroups of version 2. Mounts live in a
mount namespace of our own, and processes in a process namespace: both end with us.
"""
import ctypes
import os
import pty
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

CLONE_NEWNS = 0x20000
BOOT_S = 120            # until all units of the boot have started
REBOOTS = 133           # status of nspawn when the machine wants to be booted again
GUEST = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8",
         "TERM": "dumb", "DEBIAN_FRONTEND": "noninteractive"}
# of the host's root, not wanted there: what starts its services, and what forbids to start any
WITHOUT = ("etc/systemd/system", "etc/systemd/user", "var/lib/systemd/linger", "usr/sbin/policy-rc.d", "etc/rld",
           "var/lib/rld", "etc/machine-id", "var/log/journal")


class Unavailable(Exception):
    """This host cannot boot a machine, and why."""


def cgroup_root():
    mounts = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    return next((Path(words[1]) for words in mounts if words[2] == "cgroup2"), None)


def mount(*words):
    done = subprocess.run(["mount", *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable(f"mount {' '.join(map(str, words))}: {done.stderr.strip()}")


class Done:
    """The end of a command."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err
        self.text = out + err

    def __repr__(self):
        return f"exit status {self.status}: {self.text.strip()[-2000:]}"


class Machine:
    def __init__(self, console):
        """console: the file for what it says while it boots."""
        if os.geteuid() != 0:
            raise Unavailable("only root can boot a machine")
        if shutil.which("systemd-nspawn") is None:
            raise Unavailable("there is no systemd-nspawn; install systemd-container")
        if cgroup_root() is None:
            raise Unavailable("no hierarchy of cgroups of version 2 is mounted")
        self.console = open(console, "wb")
        self.nspawn = self.leader = None
        self.cgroup = cgroup_root() / f"rld-boot-{os.getpid()}"
        try:
            self.cgroup.mkdir()
        except OSError as error:
            raise Unavailable(f"no cgroup can be made: {error}") from None
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNS) != 0:
            raise Unavailable(f"no mount namespace: {os.strerror(ctypes.get_errno())}")
        mount("--make-rprivate", "/")
        self.make_root()

    def make_root(self):
        memory = Path("/mnt")
        mount("-t", "tmpfs", "-o", "size=1g,mode=755", "tmpfs", memory)
        for name in ("upper", "work", "root"):
            (memory / name).mkdir()
        self.root = memory / "root"
        mount("-t", "overlay", "-o", f"lowerdir=/,upperdir={memory}/upper,workdir={memory}/work", "overlay", self.root)
        mount("-t", "tmpfs", "tmpfs", "/run")      # nspawn notes its machines there
        for name in WITHOUT:
            path = self.root / name
            if path.is_dir():
                shutil.rmtree(path)
                path.mkdir()
            else:
                path.unlink(missing_ok=True)
        (self.root / "etc/machine-id").touch()
        (self.root / "etc/hostname").write_text("boot-test\n")

    def boot(self):
        """Start it. nspawn wants a terminal, and ends when the machine does."""
        ours, theirs = pty.openpty()
        self.nspawn = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "-D", str(self.root), "--register=no", "--keep-unit", "--private-network",
             "--console=interactive", "--machine=boot-test", "/lib/systemd/systemd", "systemd.unit=multi-user.target",
             "systemd.show_status=no"],
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            env={**GUEST, "SYSTEMD_SECCOMP": "0", "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"},
            preexec_fn=lambda: (self.cgroup / "cgroup.procs").write_text(str(os.getpid())))
        os.close(theirs)
        threading.Thread(target=self.copy_console, args=(ours,), daemon=True).start()
        self.wait_booted()

    def copy_console(self, terminal):
        while True:
            try:
                data = os.read(terminal, 4096)
            except OSError:
                return
            self.console.write(data)
            self.console.flush()

    def find_leader(self):
        """The process 1 of the machine, as it is called here; None: there is none."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                rows = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
                            if ":\t" in line)
                if rows["NSpid"].split()[1:] == ["1"] and self.is_below(int(rows["PPid"])):
                    return int(pid)
            except (OSError, KeyError, ValueError):
                continue
        return None

    def is_below(self, pid):
        while pid > 1:
            if pid == self.nspawn.pid:
                return True
            pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        return False

    def wait_booted(self):
        end = time.monotonic() + BOOT_S
        while time.monotonic() < end:
            if self.nspawn.poll() is not None:
                raise Unavailable(f"systemd-nspawn ended with {self.nspawn.returncode}; see {self.console.name}")
            self.leader = self.find_leader()
            if self.leader is not None:
                done = self.run("systemctl", "is-system-running", "--wait", check=False)
                if done.out.strip() in ("running", "degraded"):
                    return
            time.sleep(0.2)
        raise Unavailable(f"no boot within {BOOT_S} s; see {self.console.name}")

    def reboot(self):
        self.run("systemctl", "reboot", check=False)
        status = self.nspawn.wait(BOOT_S)
        assert status == REBOOTS, f"systemd-nspawn ended with {status} at a reboot"
        self.boot()

    def start(self, *argv, user=None, login=False, environment=None, cwd="/"):
        """A command there, as Popen. login: in a session of the user, as a terminal or ssh opens
        one; it ends with the command."""
        words = list(map(str, argv))
        if login:
            words = ["su", "-", user, "-c", " ".join(words)]
        elif user is not None:
            home = self.read("/etc/passwd").split(f"\n{user}:")[1].split(":")[4]
            environment = {"HOME": home, "USER": user, "LOGNAME": user, **(environment or {})}
            words = ["runuser", "-u", user, "--", *words]
        return subprocess.Popen(["nsenter", "-t", str(self.leader), "-m", "-u", "-i", "-n", "-p", "-C",
                                 "--", "env", "-C", str(cwd), *words],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                errors="replace", env={**GUEST, **(environment or {})}, start_new_session=True)

    def run(self, *argv, check=True, timeout=120, **kwargs):
        process = self.start(*argv, **kwargs)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            err += f"\n(ended after {timeout} s)"
        done = Done(process.returncode, out, err)
        if check and done.status != 0:
            raise AssertionError(f"{' '.join(map(str, argv))}: {done}")
        return done

    def sh(self, script, **kwargs):
        return self.run("sh", "-ec", script, **kwargs)

    def read(self, path):
        return (self.root / path.lstrip("/")).read_text()

    def write(self, path, text, mode=0o644):
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)

    def close(self):
        """End it, and what is left of it."""
        if self.nspawn is not None and self.nspawn.poll() is None:
            self.nspawn.terminate()
            try:
                self.nspawn.wait(30)
            except subprocess.TimeoutExpired:
                os.kill(self.find_leader() or self.nspawn.pid, signal.SIGKILL)
                self.nspawn.kill()
                self.nspawn.wait()
        for path, _, _ in os.walk(self.cgroup, topdown=False):
            try:
                os.rmdir(path)
            except OSError:
                pass
        self.console.close()
