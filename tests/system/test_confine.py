# SPDX-License-Identifier: MIT
"""What rl-shim's confinement by Landlock keeps from happening, and what it lets happen: as root
and as an ordinary user, in the agent, in its children, and in those that have fled into a
session of their own.

Each attempt at harm is also made unconfined, where it must work: so a harm that fails for another
reason is no proof.
"""
import ctypes
import errno
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import test_shim
from rld import SHIM
from terminal import open_terminal
from test_shim import PYTHON, Attempt, how, python, sh

OPEN, TRY, REQUIRE = 0, 1, 2
NEWEST = 6		# CONFINE_LEVEL of daemon/shim/confine.h
SOMEBODY = 54321
CREATE_RULESET, RESTRICT_SELF = 444, 446

KERNEL = ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, 1)
needs_landlock = pytest.mark.skipif(KERNEL < 1, reason="this kernel has no Landlock")
LEVEL = str(min(KERNEL, NEWEST))

# Harms to o, a folder of its own outside of what may be written, with a file f, an empty folder d
# and a link l to the file f of i; i is a folder of its own that may be written, with a file f. The
# last word: from which ABI on it is denied.
HARMS = {
    "write": ("open(o + '/f', 'w').write('x')", 1),
    "append": ("open(o + '/f', 'a').write('x')", 1),
    "read and write": ("open(o + '/f', 'r+').write('x')", 1),
    "open with truncation": ("os.open(o + '/f', os.O_RDONLY | os.O_TRUNC)", 3),
    "truncate": ("os.truncate(o + '/f', 0)", 3),
    "make a file": ("open(o + '/new', 'x')", 1),
    "make a nameless file": ("os.open(o, os.O_TMPFILE | os.O_RDWR)", 1),
    "remove a file": ("os.unlink(o + '/f')", 1),
    "remove a folder": ("os.rmdir(o + '/d')", 1),
    "make a folder": ("os.mkdir(o + '/new')", 1),
    "make a link": ("os.symlink('f', o + '/new')", 1),
    "make a hard link": ("os.link(o + '/f', o + '/new')", 1),
    "make a pipe": ("os.mkfifo(o + '/new')", 1),
    "make a socket": ("s = socket.socket(socket.AF_UNIX); s.bind(o + '/new')", 1),
    "rename": ("os.rename(o + '/f', o + '/new')", 1),
    "rename a folder": ("os.rename(o + '/d', o + '/new')", 1),
    "replace": ("open(i + '/t', 'w').close(); os.replace(i + '/t', o + '/f')", 1),
    "take out": ("os.rename(o + '/f', i + '/new')", 1),
    "bring in": ("os.rename(i + '/f', o + '/new')", 1),
    "hard link from outside, written": ("os.link(o + '/f', i + '/new'); open(i + '/new', 'w').write('x')", 1),
    "hard link to outside": ("os.link(i + '/f', o + '/new')", 1),
    "through a link": ("os.symlink(o + '/f', i + '/new'); open(i + '/new', 'w').write('x')", 1),
    "through a parent": ("open(i + '/' + os.path.relpath(o, i) + '/f', 'w').write('x')", 1),
    "through the working directory": ("os.chdir(o); open('/proc/self/cwd/f', 'w').write('x')", 1),
    "through an open folder": ("d = os.open(o, os.O_RDONLY); os.unlink('f', dir_fd=d)", 1),
    "through a descriptor": ("d = os.open(o + '/f', os.O_RDONLY); open(f'/proc/self/fd/{d}', 'w').write('x')", 1),
    "by another program": ("subprocess.run(['/bin/cp', i + '/f', o + '/new'], check=True, "
                           "stderr=subprocess.DEVNULL)", 1),
    "order a device": ("fcntl.ioctl(os.open('/dev/urandom', os.O_RDONLY), 0x80045200, bytes(4))", 5),
    "git commit": ("subprocess.run(['git', '-C', o + '/repo', 'commit', '-qam', 'x'], check=True, "
                   "capture_output=True)", 1),
}

ATTEMPTED = {name: text for name, (text, _) in HARMS.items()}

# What must go on working.
USES = {
    "write": "open(i + '/f', 'w').write('x')",
    "truncate": "os.truncate(i + '/f', 0)",
    "make and remove": "os.mkdir(i + '/n'); open(i + '/n/x', 'x').close(); os.unlink(i + '/n/x'); os.rmdir(i + '/n')",
    "move between folders": "os.mkdir(i + '/a'); os.mkdir(i + '/b'); open(i + '/a/x', "
    "'x').close(); os.rename(i + '/a/x', i + '/b/x')",
    "links": "os.symlink('f', i + '/s'); os.link(i + '/f', i + '/h'); os.mkfifo(i + '/p')",
    "one file": "open(one, 'w').write('written'); open(one, 'a').write('!'); os.truncate(one, 8)",
    "read": "assert open(o + '/f').read() == 'outside' and os.listdir(o)",
    "read through a link": "assert open(o + '/l').read() == 'inside'",
    "write through a link": "open(o + '/l', 'w').write('x')",
    "devices": "open('/dev/null', 'w').write('x'); open('/dev/zero', 'r+b', 0).write(b'x'); "
    "open('/dev/urandom', 'rb').read(9)",
    "full device": "f = open('/dev/full', 'wb', 0)\ntry: f.write(b'x'); assert False\n"
    "except OSError as e: assert e.errno == 28",
    "standard output by name": "open('/dev/stdout', 'w').write('by name\\n'); "
    "open('/proc/self/fd/2', 'w').write('by number\\n')",
    "pipes": "assert subprocess.run(['/bin/sh', '-c', 'echo a | tr a b > /dev/stderr'], "
    "stderr=subprocess.PIPE).stderr == b'b\\n'",
    "git status": "assert b'M f' in subprocess.run(['git', '-C', o + '/repo', 'status', "
    "'--short'], check=True, capture_output=True).stdout",
    "git diff and log": "[subprocess.run(['git', '-C', o + '/repo', w], check=True, "
    "capture_output=True) for w in ('diff', 'log')]",
    "network": "s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname()).sendall(b'x')",
    "a signal to a child": "p = subprocess.Popen(['/bin/sleep', '1000']); p.kill(); assert p.wait() == -9",
    "a signal to a grandchild": "p = subprocess.Popen(['setsid', '-w', '/bin/sleep', '1000'], "
    "stdout=-1); os.kill(p.pid, 15); p.wait()",
    "a signal to its group": "os.killpg(0, signal.SIGCONT)",
}

TERMINALS = {
    "a terminal": "import pty, termios; m, s = pty.openpty(); t = open(os.ttyname(s), 'r+b', 0); "
    "termios.tcgetattr(t); t.write(b'hello'); assert os.read(m, 9) == b'hello'",
    "a terminal for a child": "import pty; assert pty.spawn(['/bin/sh', '-c', "
    "'test -t 0 && echo x > /dev/tty'], lambda fd: os.read(fd, 99)) == 0",
}

PLAYER = """
import fcntl, json, os, signal, socket, subprocess, sys
outside, inside, one = sys.argv[1:4]
texts = json.load(open(sys.argv[4]))
told = {}
for name, text in texts.items():
    place = name.replace(' ', '-')
    os.chdir('/')
    try:
        exec(text, globals() | {'o': f'{outside}/{place}', 'i': f'{inside}/{place}'})
        told[name] = 'done'
    except OSError as e:
        told[name] = os.strerror(e.errno)
    except Exception as e:
        told[name] = type(e).__name__ + ': ' + str(e)
with open(f'{inside}/told', 'w') as file:
    json.dump(told, file)
"""

# A program that takes a system call away, and becomes another.
WITHOUT = """
import ctypes, os, struct, sys
number, action = int(sys.argv[1]), int(sys.argv[2], 0)
code = b''.join(struct.pack('HBBI', *line) for line in
                [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, action), (0x06, 0, 0, 0x7fff0000)])
kept = ctypes.create_string_buffer(code)
program = struct.pack('HxxxxxxP', 4, ctypes.addressof(kept))
prctl = ctypes.CDLL(None, use_errno=True).prctl
assert prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, program, 0, 0) == 0, os.strerror(ctypes.get_errno())
os.execv(sys.argv[3], sys.argv[3:])
"""


def refusing(number, error):
    return [PYTHON, "-c", WITHOUT, str(number), hex(0x50000 | error)]


def killing(number):
    return [PYTHON, "-c", WITHOUT, str(number), "0x80000000"]


class Place:
    """outside and inside, with a folder for each text; all of one user."""

    def __init__(self, path, uid):
        self.path, self.uid = Path(path), uid
        self.outside, self.inside, self.one = self.path / "outside", self.path / "inside", self.path / "outside" / "one"
        self.path.chmod(0o755)
        self.shim = self.path / "rl-shim"
        shutil.copy(SHIM, self.shim)
        for where in (self.outside, self.inside):
            where.mkdir()

    def fill(self, texts):
        repo = self.path / "repo"
        env = {"PATH": os.environ["PATH"], "HOME": str(self.path)}
        (self.path / ".gitconfig").write_text("[user]\n\tname = t\n\temail = t@example.org\n[safe]\n\tdirectory = *\n")
        for words in (["init", "-q", str(repo)], ["-C", str(repo), "commit", "-q", "--allow-empty", "-m", "start"]):
            subprocess.run(["git", *words], check=True, env=env)
        (repo / "f").write_text("1\n")
        for words in (["add", "f"], ["commit", "-qm", "f"]):
            subprocess.run(["git", "-C", str(repo), *words], check=True, env=env)
        (repo / "f").write_text("2\n")
        self.one.write_text("")
        for name in texts:
            o, i = self.outside / name.replace(" ", "-"), self.inside / name.replace(" ", "-")
            (o / "d").mkdir(parents=True)
            i.mkdir()
            (o / "f").write_text("outside")
            (i / "f").write_text("inside")
            (o / "l").symlink_to(i / "f")
            if "git" in name:
                shutil.copytree(repo, o / "repo")
        (self.path / "texts").write_text(json.dumps(texts))
        if self.uid:
            subprocess.run(["chown", "-R", f"{self.uid}:{self.uid}", str(self.path)], check=True)
        return self.look()

    def attempt(self, argv, before=(), **kwargs):
        """An attempt of this user; its directory is neither inside nor outside."""
        if self.uid:
            before = [*before, "/usr/bin/setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups"]
        one = Attempt(self.path, argv, before=before, env={"HOME": str(self.path)}, cwd="/", **kwargs)
        if self.uid:
            subprocess.run(["chown", "-R", f"{self.uid}:{self.uid}", str(one.dir)], check=True)
        return one

    def play(self, texts, way, **kwargs):
        """The record, and what became of each text."""
        argv = way + [PYTHON, "-c", PLAYER, str(self.outside), str(self.inside), str(self.one),
                      str(self.path / "texts")]
        one = self.attempt(argv, writable=[str(self.inside), str(self.one), str(self.path / "nothing-here")], **kwargs)
        record = one.run()
        assert how(record) == ("code", 0, "own"), one.output("stderr")
        self.said = one.output(), one.output("stderr")
        return record, json.loads((self.inside / "told").read_text())

    def look(self):
        """All that is outside, but what one file of it and what links stand for."""
        found = {}
        for folder, folders, files in os.walk(self.outside):
            for name in folders + files:
                path = Path(folder, name)
                if path != self.one:
                    found[str(path)] = (os.readlink(path) if path.is_symlink() else
                                        path.read_bytes() if path.is_file() else path.stat().st_mode)
        return found


@pytest.fixture(params=["root", "somebody"])
def place(request):
    if os.getuid() != 0 and request.param == "root":
        pytest.skip("only root can be root")
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="confine-") as path:
        made = Place(path, SOMEBODY if os.getuid() == 0 and request.param == "somebody" else 0)
        shim, test_shim.SHIM = test_shim.SHIM, made.shim	# where its user finds it
        yield made
        test_shim.SHIM = shim


WAYS = {
    "itself": [],
    "a child": ["/bin/sh", "-c", '"$@"; exit $?', "sh"],
    "an orphan in a session of its own": ["/bin/sh", "-c", 'exec 4>&1; (setsid "$@" 3>&1 >&4 &) | cat', "sh"],
}


@needs_landlock
@pytest.mark.parametrize("way", WAYS)
def test_nothing_outside_changes(place, way):
    before = place.fill(ATTEMPTED)
    record, told = place.play(ATTEMPTED, WAYS[way], sandbox=REQUIRE)
    assert record["sandbox"] == LEVEL
    denied = {name for name, (_, since) in HARMS.items() if since <= KERNEL}
    assert {name for name in told if told[name] != "done"} == denied, told
    if KERNEL >= 3:
        assert place.look() == before


def test_each_harm_is_one(place):
    """Unconfined all of them work, so what denies them above is the confinement."""
    place.fill(ATTEMPTED)
    record, told = place.play(ATTEMPTED, [], sandbox=OPEN)
    assert "sandbox" not in record
    assert {name: said for name, said in told.items() if said != "done"} == {}


@pytest.mark.parametrize("sandbox", [OPEN, pytest.param(REQUIRE, marks=needs_landlock)])
@pytest.mark.parametrize("way", WAYS)
def test_what_goes_on_working(place, way, sandbox):
    place.fill(USES)
    record, told = place.play(USES, WAYS[way], sandbox=sandbox)
    assert {name: said for name, said in told.items() if said != "done"} == {}
    assert b"by name\n" in place.said[0] and b"by number\n" in place.said[1]
    assert place.one.read_text() == "written!"


@pytest.mark.parametrize("sandbox", [OPEN, pytest.param(REQUIRE, marks=needs_landlock)])
@pytest.mark.parametrize("way", WAYS)
def test_terminals_go_on_working(place, way, sandbox):
    for fd in open_terminal():      # there may be none
        os.close(fd)
    place.fill(TERMINALS)
    record, told = place.play(TERMINALS, WAYS[way], sandbox=sandbox)
    assert {name: said for name, said in told.items() if said != "done"} == {}


# Signals

@needs_landlock
def test_signals_stay_inside(place):
    """Nobody who is not confined with it hears of it, not even its shim."""
    one = place.attempt(python("import os\n"
                               "for pid in (os.getppid(), int(open('%s/victim').read())):\n"
                               "    for number in (0, 15, 9):\n"
                               "        try: os.kill(pid, number); print('sent')\n"
                               "        except PermissionError: print('denied')\n" % place.path), sandbox=REQUIRE)
    victim = subprocess.Popen(["/bin/sleep", "1000"], **({"user": place.uid, "group": place.uid} if place.uid else {}))
    try:
        (place.path / "victim").write_text(str(victim.pid))
        if KERNEL >= NEWEST:
            assert how(one.run()) == ("code", 0, "own")
            assert one.output() == b"denied\n" * 6
            assert victim.poll() is None
        else:
            pytest.skip(f"Landlock ABI {KERNEL} knows nothing of signals")
    finally:
        victim.kill()
        victim.wait()


@needs_landlock
def test_confined_trees_end_as_others_do(place):
    one = place.attempt(sh("setsid sh -c \"trap '' TERM; while :; do sleep 1000; "
                           "done\" & trap 'exit 7' TERM; echo up; sleep 1000 & wait"),
                        sandbox=REQUIRE, grace=10_000)
    one.start()
    while b"up" not in one.output():
        pass
    one.end()
    record = one.record()
    assert how(record) in (("code", 7, "term"), ("signal", 9, "term")) and record["sandbox"] == LEVEL


# Levels

@needs_landlock
def test_without_a_path_nothing_can_be_written(place):
    one = place.attempt(sh(f"echo x > {place.inside}/f; echo said"), sandbox=REQUIRE)
    record = one.run()
    assert how(record) == ("code", 0, "own") and record["sandbox"] == LEVEL
    assert one.output() == b"said\n" and list(place.inside.iterdir()) == []


@needs_landlock
def test_a_missing_program_is_told_all_the_same(place):
    record = place.attempt(["/no/such/program"], sandbox=REQUIRE).run()
    assert how(record) == ("not-started", 2, "own")
    assert record["error"] == "exec /no/such/program: No such file or directory" and record["sandbox"] == LEVEL


@needs_landlock
def test_the_shim_itself_is_free(place):
    """Its output segments and its record lie where the agent may not write; and only who asked
    for it is confined."""
    one = place.attempt(sh("echo out; echo x > /proc/self/cwd/here; cat /proc/$PPID/status | grep NoNewPrivs"),
                        sandbox=TRY)
    record = one.run()
    assert record["sandbox"] == LEVEL
    assert one.output() == b"out\nNoNewPrivs:\t0\n"


NO_LANDLOCK = {
    "not in the kernel": (refusing(CREATE_RULESET, errno.ENOSYS), errno.ENOSYS),
    "switched off at boot": (refusing(CREATE_RULESET, errno.EOPNOTSUPP), errno.EOPNOTSUPP),
    "refused by a container": (refusing(CREATE_RULESET, errno.EPERM), errno.EPERM),
    "deadly": (killing(CREATE_RULESET), errno.ENOSYS),
    "too many layers": (refusing(RESTRICT_SELF, errno.E2BIG), errno.E2BIG),
    "deadly at last": (killing(RESTRICT_SELF), errno.ENOSYS),
}


@pytest.mark.parametrize("why", NO_LANDLOCK)
def test_try_goes_on_without(place, why):
    before, _ = NO_LANDLOCK[why]
    target = place.inside / "f"
    place.inside.chmod(0o777)
    record = (one := place.attempt(sh(f"echo x > {target}; exit 3"), before, sandbox=TRY)).run()
    assert how(record) == ("code", 3, "own"), one.output("stderr")
    assert "sandbox" not in record
    assert target.read_text() == "x\n"


@pytest.mark.parametrize("why", NO_LANDLOCK)
def test_require_is_not_started(place, why):
    before, error = NO_LANDLOCK[why]
    if KERNEL < 1:
        error = errno.ENOSYS
    place.inside.chmod(0o777)
    record = place.attempt(sh(f"echo x > {place.inside}/f"), before, sandbox=REQUIRE).run()
    assert how(record) == ("not-started", error, "own")
    assert record["error"] == (f"sandbox: Landlock is not available ({os.strerror(error)}): set "
                               "review.sandbox = \"try\" to continue without it, or run rld on a "
                               "kernel that supports it")
    assert "sandbox" not in record
    assert list(place.inside.iterdir()) == []


@needs_landlock
def test_confined_within_the_confined(place):
    """Sixteen layers are the kernel's limit: the one more is refused and told."""
    nest = ("import ctypes, os, sys\n"
            "libc = ctypes.CDLL(None); libc.prctl(38, 1, 0, 0, 0)\n"
            "for _ in range(int(sys.argv[1])):\n"
            "    attr = ctypes.create_string_buffer((1 << 6).to_bytes(8, 'little'), 8)\n"
            "    fd = libc.syscall(444, attr, 8, 0); assert libc.syscall(446, fd, 0) == 0; os.close(fd)\n"
            "os.execv(sys.argv[2], sys.argv[2:])\n")
    assert place.attempt(["/bin/true"], [PYTHON, "-c", nest, "15"], sandbox=REQUIRE).run()["sandbox"] == LEVEL
    record = place.attempt(["/bin/true"], [PYTHON, "-c", nest, "16"], sandbox=REQUIRE).run()
    assert how(record) == ("not-started", errno.E2BIG, "own")
