#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Each restriction of rld.service, proven in the machine of the boot test.

    restrictions.py DIRECTIVE...      in the machine: a line "DIRECTIVE yes" or "DIRECTIVE no"

A probe does what its directive forbids and says whether that was refused. It must not be refused
without the directive, and be refused to root with nothing but the directive, and in the unit as it
is. Without the first the other two would say nothing, so that is told as skipped.
"""
import ctypes
import errno
import os
import re
import socket
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER, PER_LINUX32, PRIVATE, ANONYMOUS, SIZE_OF_LOG = 0x10000000, 8, 2, 0x20, 10
READ, WRITE, EXECUTE = 1, 2, 4
IPC_CREAT, IPC_KEY = 0o1000, 0x726C64
# exit(7) for i386: the header, one segment, mov eax,1; mov ebx,7; int 0x80
PROGRAM_32 = (b"\x7fELF\1\1\1" + bytes(9)
              + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, 0x8048054, 52, 0, 0, 52, 32, 1, 0, 0, 0)
              + struct.pack("<IIIIIIII", 1, 0, 0x8048000, 0x8048000, 96, 96, 5, 4096)
              + bytes.fromhex("b801000000bb07000000cd80"))


def refused(result):
    return result == -1


def in_child(work):
    """The exit status of a child that calls work; a signal counts as 1."""
    pid = os.fork()
    if pid == 0:
        os._exit(work())
    status = os.waitpid(pid, 0)[1]
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1


def cannot(*errors):
    """A decorator: the probe is refused when it fails with one of these."""
    def wrap(probe):
        def run():
            try:
                probe()
            except OSError as error:
                return error.errno in errors
            return False
        return run
    return wrap


def status_of(name):
    text = open("/proc/self/status").read()
    return re.search(rf"^{name}:\t(\w+)$", text, re.M).group(1)


@cannot(errno.EROFS)
def write_system():
    os.close(os.open("/usr/rld-probe", os.O_WRONLY | os.O_CREAT, 0o600))
    os.unlink("/usr/rld-probe")


@cannot(errno.EROFS)
def make_group():
    os.mkdir("/sys/fs/cgroup/rld-probe")
    os.rmdir("/sys/fs/cgroup/rld-probe")


@cannot(errno.EROFS, errno.EACCES)
def set_tunable():
    os.close(os.open("/proc/sys/net/ipv4/ip_forward", os.O_WRONLY))


def list_modules():
    """There is one, which another directory hides."""
    try:
        return not os.listdir("/usr/lib/modules")
    except PermissionError:
        return True


@cannot(errno.EAFNOSUPPORT)
def open_inet():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()


@cannot(errno.EPERM, errno.EAFNOSUPPORT)
def send_packet():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b"x", ("127.0.0.1", 9))


@cannot(errno.EPERM)
def mark_setuid():
    path = f"/tmp/rld-probe-{os.getpid()}"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.fchmod(fd, 0o4700)
    finally:
        os.close(fd)
        os.unlink(path)


@cannot(errno.EPERM)
def be_realtime():
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


@cannot(errno.EPERM)
def leave_root():
    os.chroot("/")


@cannot(errno.EPERM)
def be_nicer():
    os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0))


def call_filtered():
    return leave_root() and be_nicer()


def read_clock():
    """It sets nothing; the structure is large enough on all machines."""
    return refused(libc.adjtimex(ctypes.create_string_buffer(512)))


def run_foreign():
    path = f"/tmp/rld-probe-{os.getpid()}"
    with open(path, "wb") as program:
        program.write(PROGRAM_32)
    os.chmod(path, 0o700)

    def work():
        try:
            os.execv(path, [path])
        except OSError:
            return 1
    try:
        return in_child(work) != 7
    finally:
        os.unlink(path)


def write_and_execute():
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    return libc.mmap(None, 4096, READ | WRITE | EXECUTE, PRIVATE | ANONYMOUS, -1, 0) == ctypes.c_void_p(-1).value


def leave_memory():
    """Whether it goes with the service is seen afterwards: left_memory()."""
    return refused(libc.shmget(IPC_KEY, 4096, IPC_CREAT | 0o600))


def name_host():
    name = os.uname().nodename.encode()
    return refused(libc.sethostname(name, len(name)))


def is_apart(namespace):
    """OUTSIDE has the namespaces of process 1."""
    return os.readlink(f"/proc/self/ns/{namespace}") not in os.environ["OUTSIDE"]


PROBES = {
    "UMask": lambda: os.umask(0o077) == 0o077,
    "NoNewPrivileges": lambda: status_of("NoNewPrivs") == "1",
    "CapabilityBoundingSet": lambda: int(status_of("CapBnd"), 16) == 0,
    "ProtectSystem": write_system,
    "PrivateDevices": lambda: not os.path.exists("/dev/console"),
    "PrivateMounts": lambda: is_apart("mnt"),
    "PrivateNetwork": lambda: is_apart("net"),
    "ProtectClock": read_clock,
    "ProtectHostname": name_host,
    "ProtectKernelLogs": lambda: refused(libc.klogctl(SIZE_OF_LOG, None, 0)),
    "ProtectKernelModules": list_modules,
    "ProtectKernelTunables": set_tunable,
    "ProtectControlGroups": make_group,
    "RestrictAddressFamilies": open_inet,
    "IPAddressDeny": send_packet,
    "RestrictNamespaces": lambda: in_child(lambda: refused(libc.unshare(CLONE_NEWUSER))) != 0,
    "RestrictRealtime": be_realtime,
    "RestrictSUIDSGID": mark_setuid,
    "RemoveIPC": leave_memory,
    "LockPersonality": lambda: in_child(lambda: refused(libc.personality(PER_LINUX32))) != 0,
    "MemoryDenyWriteExecute": write_and_execute,
    "SystemCallArchitectures": run_foreign,
    "SystemCallFilter": call_filtered,
}
# what says how the service is run, not what it may not
OTHERS = set("""Type ExecStartPre TimeoutStartSec ExecStart Environment ExecReload KillMode Restart RestartSec
    RestartPreventExitStatus WatchdogSec OOMPolicy TimeoutStopSec User Group StateDirectory StateDirectoryMode
    RuntimeDirectory RuntimeDirectoryMode RuntimeDirectoryPreserve ConfigurationDirectory ConfigurationDirectoryMode
    LimitNOFILE OOMScoreAdjust ReadWritePaths AmbientCapabilities SystemCallErrorNumber""".split())


# ---- from outside --------------------------------------------------------------------------------

def directives(text):
    """The assignments of [Service], in order."""
    section = text.split("[Service]\n")[1].split("\n[")[0]
    return [tuple(line.split("=", 1)) for line in section.splitlines() if "=" in line and not line.startswith("#")]


def left_memory(host):
    """Whether memory of leave_memory() has outlived its service."""
    rows = [line.split() for line in host.sh("cat /proc/sysvipc/shm").out.splitlines()[1:]]
    mine = [row[1] for row in rows if int(row[0]) == IPC_KEY]
    for number in mine:
        host.run("ipcrm", "-m", number)
    return bool(mine)


def restrictions(host):
    rules = directives(host.sh("cat /lib/systemd/system/rld.service").out)
    names = {name for name, _ in rules}
    host.check("each directive of rld.service has a probe", names <= set(PROBES) | OTHERS, names - set(PROBES) - OTHERS)
    host.machine.write("/root/restrictions.py", open(__file__).read(), 0o755)
    host.sh("cp /root/restrictions.py /srv/; mkdir -p /usr/lib/modules/probe")
    outside = host.sh("readlink /proc/1/ns/mnt /proc/1/ns/net").out.replace("\n", " ")

    def probed(which, settings):
        """The directives of which that refuse something under these settings."""
        words = [word for name, value in settings for word in ("-p", f"{name}={value}")]
        done = host.run("systemd-run", "--quiet", "--wait", "--pipe", "--collect", "-E", f"OUTSIDE={outside}", *words,
                        "/usr/bin/python3", "/srv/restrictions.py", *which)
        refusals = {line.split()[0] for line in done.out.splitlines() if line.endswith(" yes")}
        if "RemoveIPC" in which and not left_memory(host):
            refusals.add("RemoveIPC")
        return refusals

    tested = [name for name in PROBES if name in names]
    errors = [rule for rule in rules if rule[0] == "SystemCallErrorNumber"]
    # Memory goes with the last service of its user, who must have no other then, and root's stays.
    users = {"RemoveIPC": "bea"}
    besides = {"Group", "AmbientCapabilities", "ReadWritePaths"}
    whole = [rule for rule in rules if rule[0] in besides.union(PROBES)]
    for name in tested:
        own = [rule for rule in rules if rule[0] == name]
        user = [("User", users.get(name, "root"))]
        if name in probed([name], [*user, ("RemoveIPC", "no")]):
            host.story.skip(f"{name}= alone", "what it forbids is refused here without it, too")
        else:
            host.check(f"{name}= refuses it alone", name in probed([name], [*own, *errors, *user]))
        host.check(f"{name}= refuses it in the unit",
                   name in probed([name], [*whole, *errors, ("User", users.get(name, "rld"))]))


if __name__ == "__main__":
    for directive in sys.argv[1:]:
        print(directive, "yes" if PROBES[directive]() else "no", flush=True)
