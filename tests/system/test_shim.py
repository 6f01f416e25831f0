# SPDX-License-Identifier: MIT
"""rl-shim alone: exits are told exactly, trees end and are seen to be empty, output is
kept to its cap.

Every wait here is for an event: a FIFO that the agent opens, or the end of the shim by its pidfd.
"""
import fcntl
import os
import re
import select
import shutil
import signal
import time
import uuid
from pathlib import Path

import pytest

from rld import SANITIZED, SHIM, alive, proc_stat

PYTHON = "/usr/bin/python3"
PATIENCE_MS = 120_000


def checksum(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return h


def encode(kind, rows):
    """The form of the files in an attempt's directory, written from its description and not
    from the C code."""
    text = f"rl-{kind} 1\n".encode()
    for name, value in rows:
        value = value if isinstance(value, bytes) else str(value).encode()
        text += name.encode() + b" " + value.replace(b"\\", b"\\\\").replace(b"\n", b"\\n") + b"\n"
    return text + b"end %016x\n" % checksum(text)


def decode(kind, data):
    body, end = data[:-21], data[-21:]
    assert end == b"end %016x\n" % checksum(body), data
    lines = body.decode("utf-8", "surrogateescape").split("\n")
    assert lines[0] == f"rl-{kind} 1" and lines[-1] == ""
    return dict(line.split(" ", 1) for line in lines[1:-1])


class Attempt:
    """One directory, one shim."""

    def __init__(self, where, argv, *, cwd=None, stdin=None, env=(), wall=0, idle=0, grace=10_000, cap=0, nofile=0,
                 umask=0o022, argument=True, sandbox=0, writable=(), before=(), post_result=0, marks=0, idle_stdout=0,
                 names=0, syncs=0):
        self.dir = Path(where) / uuid.uuid4().hex
        self.dir.mkdir(mode=0o700)
        self.uuid = str(uuid.uuid4())
        self.argument = argument
        self.before = list(before)
        self.env = {"PATH": os.environ["PATH"], "RL_ATTEMPT_UUID": self.uuid, **dict(env)}
        rows = [("argv", a) for a in argv] + [("cwd", cwd or self.dir)]
        if stdin is not None:
            (self.dir / "prompt").write_bytes(stdin)
            rows.append(("input", "prompt"))
        rows += [("uuid", self.uuid), ("wall_ms", wall), ("idle_ms", idle), ("grace_ms", grace), ("output_bytes", cap),
                 ("nofile", nofile), ("umask", umask), ("durable", 1)]
        rows += [("sandbox", sandbox)] * bool(sandbox) + [("writable", path) for path in writable]
        rows += [("post_result_ms",
                  post_result)] * bool(post_result) + [("idle_stdout", idle_stdout)] * bool(idle_stdout)
        rows += [("marks_signal", marks)] * bool(marks) + [("names_step", names)] * bool(names)
        rows += [("syncs_work", syncs)] * bool(syncs)
        (self.dir / "job").write_bytes(encode("job", rows))
        self.pid = self.pidfd = None

    def fifo(self, name):
        os.mkfifo(self.dir / name)
        return self.dir / name

    def start(self):
        lock = os.open(self.dir / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.spawn(lock)
        os.close(lock)
        return self

    def spawn(self, lock):
        null = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in range(3)]
        """before: a program that becomes the shim, with its words."""
        argv = [*self.before, str(SHIM)] if self.before else ["rl-shim"]
        argv += [str(self.dir)] * self.argument
        here = os.open(".", os.O_RDONLY)
        if not self.argument:
            os.chdir(self.dir)
        try:
            self.pid = os.posix_spawn(self.before[0] if self.before else SHIM, argv, self.env,
                                      file_actions=[(os.POSIX_SPAWN_DUP2, lock, 3)] + null,
                                      setsid=True, setsigmask=[signal.SIGTERM, signal.SIGUSR1],
                                      setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
        finally:
            os.fchdir(here)
            os.close(here)
        self.pidfd = os.pidfd_open(self.pid)

    def wait(self):
        """The shim's own exit status."""
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        assert poll.poll(PATIENCE_MS), "the shim did not end"
        os.close(self.pidfd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def end(self, sig=signal.SIGTERM):
        signal.pidfd_send_signal(self.pidfd, sig)

    def record(self):
        assert self.wait() == 0
        record = decode("exit", (self.dir / "exit").read_bytes())
        assert record["tree_empty"] == "1"
        assert self.survivors() == []
        assert not (self.dir / "exit.tmp").exists()
        assert int(record["started_ms"]) <= int(record["ended_ms"])
        return record

    def run(self):
        return self.start().record()

    def survivors(self):
        mark = f"RL_ATTEMPT_UUID={self.uuid}".encode()
        found = []
        for proc in Path("/proc").iterdir():
            try:
                if proc.name.isdigit() and mark in (proc / "environ").read_bytes().split(b"\0"):
                    found.append((int(proc.name), (proc / "cmdline").read_bytes()))
            except OSError:
                continue
        return found

    def segments(self, stream="stdout"):
        return {int(p.name.split(".")[1], 16): p.read_bytes() for p in sorted(self.dir.glob(stream + ".*"))}

    def output(self, stream="stdout"):
        whole = b""
        for start, data in self.segments(stream).items():
            assert start == len(whole), "a hole"
            whole += data
        return whole


@pytest.fixture
def attempt(tmp_path):
    made = []

    def make(argv, **kwargs):
        made.append(Attempt(tmp_path, argv, **kwargs))
        return made[-1]
    yield make
    left = [found for one in made for found in one.survivors()]
    for pid, _ in left:
        os.kill(pid, signal.SIGKILL)
    assert left == [], "a process was left behind"


def sh(text):
    return ["/bin/sh", "-c", text]


def python(text):
    return [PYTHON, "-c", text]


def how(record):
    return record["how"], int(record["status"]), record["by"]


# Exits

@pytest.mark.broad
def test_every_exit_code(attempt):
    for first in range(0, 256, 32):
        batch = [(code, attempt(sh(f"exit {code}")).start()) for code in range(first, first + 32)]
        for code, one in batch:
            assert how(one.record()) == ("code", code, "own")


@pytest.mark.parametrize("number", [1, 2, 3, 6, 9, 11, 13, 14, 15, 34, 64])
def test_signals_are_told(attempt, number):
    text = f"import os, signal; {number} == 13 and signal.signal(13, signal.SIG_DFL); os.kill(os.getpid(), {number})"
    assert how(attempt(python(text)).run()) == ("signal", number, "own")


def test_missing_program(attempt):
    record = attempt(["/no/such/program", "x"]).run()
    assert how(record) == ("not-started", 2, "own")
    assert record["error"] == "exec /no/such/program: No such file or directory"


def test_program_without_permission(attempt, tmp_path):
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    record = attempt([str(tmp_path / "plain")]).run()
    assert how(record) == ("not-started", 13, "own")
    assert record["error"] == f"exec {tmp_path}/plain: Permission denied"


def test_program_is_looked_up_on_the_path_of_the_job(attempt, tmp_path):
    (tmp_path / "only-here").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "only-here").chmod(0o755)
    assert how(attempt(["only-here"], env={"PATH": str(tmp_path)}).run()) == ("code", 9, "own")
    assert attempt(["only-here"]).run()["error"] == "exec only-here: No such file or directory"


def test_missing_directory(attempt):
    record = attempt(["/bin/true"], cwd="/no/such/place").run()
    assert how(record) == ("not-started", 2, "own")
    assert record["error"] == "chdir /no/such/place: No such file or directory"


@pytest.mark.parametrize("step,argv,place", [
    ("exec", "/no/such/program", None), ("chdir", "/bin/true", "/no/such/place"), ("input", "/bin/true", None),
    (None, "/bin/true", None), (None, "/bin/false", None)])
def test_the_failed_step_is_named_on_request(attempt, step, argv, place):
    """An older daemon does not ask, and cannot read a record with a line that it does not know."""
    for asks in (1, 0):
        one = attempt([argv], cwd=place, stdin=b"x", names=asks)
        if step == "input":
            (one.dir / "prompt").unlink()
        assert one.run().get("step") == (step if asks else None)


def test_directory_is_a_file(attempt):
    assert attempt(["/bin/true"], cwd="/etc/passwd").run()["error"] == "chdir /etc/passwd: Not a directory"


def test_missing_input(attempt):
    one = attempt(["/bin/cat"], stdin=b"x")
    (one.dir / "prompt").unlink()
    record = one.run()
    assert how(record) == ("not-started", 2, "own")
    assert record["error"] == "input prompt: No such file or directory"


@pytest.mark.parametrize("harm", ["cut", "flip", "empty", "missing", "version", "relative"])
def test_bad_job(attempt, harm):
    one = attempt(["/bin/true"])
    job = one.dir / "job"
    data = job.read_bytes()
    if harm == "missing":
        job.unlink()
    else:
        job.write_bytes({
            "cut": data[:-1], "flip": data.replace(b"true", b"trua"), "empty": b"",
            "version": encode("job", []).replace(b"job 1", b"job 2"),
            "relative": encode("job", [(n, "x" if n == "cwd" else v) for n, v in decode("job", data).items()]),
        }[harm])
    record = one.run()
    assert record["how"] == "not-started" and record["error"].startswith("job: ")
    assert not (one.dir / "shim").exists(), "nothing was started, and that must show"


# Limits and endings

def test_wall_limit(attempt):
    assert how(attempt(["/bin/sleep", "1000"], wall=200).run()) == ("signal", 15, "wall")


def test_idle_limit_is_rearmed_by_output(attempt):
    record = attempt(sh("for i in 1 2 3 4 5 6; do sleep 0.2; echo $i; done; sleep 1000"), idle=900).run()
    assert how(record) == ("signal", 15, "idle")
    assert record["stdout_bytes"] == "12"


def test_idle_limit_counts_stderr(attempt):
    assert how(attempt(sh("for i in 1 2 3 4 5 6; do sleep 0.2; echo $i >&2; done"),
                       idle=900).run()) == ("code", 0, "own")


NOISE = "while :; do sleep 0.1; echo retry >&2; done"


def test_idle_limit_of_stdout_alone(attempt):
    """Noise on stderr does not put it off, and what is told on stdout does."""
    record = attempt(sh(f"({NOISE}) & for i in 1 2 3 4 5 6; do sleep 0.2; echo $i; done; sleep 1000"),
                     idle=900, idle_stdout=1).run()
    assert how(record) == ("signal", 15, "idle") and record["stdout_bytes"] == "12" and int(record["stderr_bytes"]) > 0


def stalled(attempt, text, **limits):
    """A shim that is told again and again, as long as it is there, that its agent
    makes no progress."""
    one = attempt(sh(f": > up; {text}"), **limits)
    up = one.fifo("up")
    one.start()
    open(up).close()
    poll = select.poll()
    poll.register(one.pidfd, select.POLLIN)
    while not poll.poll(50):
        one.end(signal.SIGUSR2)
    return one.record()


def test_no_progress(attempt):
    began = time.monotonic()
    assert how(stalled(attempt, "while :; do sleep 0.1; echo noise; done", idle=1500)) == ("signal", 15, "idle")
    assert time.monotonic() - began >= 1.5, "nothing stands still for longer than it runs"


def test_no_progress_means_nothing_without_a_limit(attempt):
    assert how(stalled(attempt, "sleep 1; exit 3")) == ("code", 3, "own")
    assert how(stalled(attempt, "sleep 1; exit 3", idle=100_000)) == ("code", 3, "own")


def test_no_progress_of_one_that_has_given_its_result(attempt):
    one = wind_up(attempt, "sleep 1.5; exit 3", idle=500, post_result=100_000)
    poll = select.poll()
    poll.register(one.pidfd, select.POLLIN)
    while not poll.poll(50):
        one.end(signal.SIGUSR2)
    assert how(one.record()) == ("code", 3, "own")


def test_wind_up_is_not_put_off_by_noise(attempt):
    assert how(wind_up(attempt, NOISE, post_result=500, idle_stdout=1).record()) == ("signal", 15, "result")


def test_term_is_told_with_its_sender(attempt):
    one = attempt(["/bin/sleep", "1000"]).start()
    one.end()
    record = one.record()
    assert how(record) == ("signal", 15, "term")
    assert (int(record["sender_pid"]), int(record["sender_uid"])) == (os.getpid(), os.getuid())


def test_term_before_the_shim_has_come_up(attempt):
    """SIGTERM is blocked from the spawn on, so it can come at any moment and is never lost."""
    for _ in range(50):
        one = attempt(["/bin/sleep", "1000"]).start()
        one.end()
        assert how(one.record()) == ("signal", 15, "term")


def told_with_its_shim(attempt, text, first):
    """The record of an agent that somebody ends together with its shim, as systemd does at a
    shutdown: the shim hears of both at one time, or first of the end of the agent."""
    a = attempt(sh(f"{text}; echo $$ > up; read x < go"))
    up, _ = a.fifo("up"), a.fifo("go")
    a.start()
    agent = int(up.read_text())
    if first == "both":
        a.end(signal.SIGSTOP)
        wait_state(a.pid, "T")
    os.kill(agent, signal.SIGTERM)
    if first == "both":
        wait_state(agent, "Z")
    else:
        while proc_stat(agent) is not None or reads(a.pid):     # the shim is through with it
            pass
    a.end()
    a.end(signal.SIGCONT)
    return a.record()


def reads(pid):
    """Whether the process has a pipe open."""
    try:
        return any(os.readlink(entry).startswith("pipe:") for entry in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:     # one of them has just been closed
        return alive(pid)


def wait_state(pid, wanted):
    while proc_stat(pid)[0] != wanted:
        pass


@pytest.mark.each
@pytest.mark.parametrize("first", ["both", "agent"])
@pytest.mark.parametrize("text, end", [(":", ("signal", 15)), ("trap 'exit 143' TERM", ("code", 143))])
def test_ended_together_with_its_shim(attempt, text, end, first):
    """This is no end of the agent's own: its work was interrupted."""
    for _ in range(5):      # the second that the shim waits may pass between our two signals
        record = told_with_its_shim(attempt, text, first)
        if record["by"] == "term":
            break
    assert how(record) == (*end, "term") and record["sender_pid"] == str(os.getpid())


def test_ended_by_itself_before_its_shim(attempt):
    """One that was through when the shim was told to end has ended well."""
    a = attempt(sh("echo $$ > up; read x < go; exit 0"))
    up, go = a.fifo("up"), a.fifo("go")
    a.start()
    agent = int(up.read_text())
    a.end(signal.SIGSTOP)
    wait_state(a.pid, "T")
    go.write_text("go\n")
    wait_state(agent, "Z")
    a.end()
    a.end(signal.SIGCONT)
    assert how(a.record()) == ("code", 0, "own")


def test_agent_that_answers_term_with_exit_0(attempt):
    one = attempt(sh("trap 'exit 0' TERM; echo up; : > up; while :; do sleep 0.05; done"))
    up = one.fifo("up")
    one.start()
    open(up).close()
    one.end()
    assert how(one.record()) == ("code", 0, "term")


def test_term_goes_to_the_whole_group(attempt):
    """An agent that goes on in spite of SIGTERM: its children have had it all the same."""
    one = attempt(sh("trap : TERM; sh -c \"trap 'echo asked; exit' TERM; : > up; while :; "
                     "do sleep 0.05; done\" & while :; do sleep 0.05; done"), grace=2000)
    up = one.fifo("up")
    one.start()
    open(up).close()
    one.end()
    assert how(one.record()) == ("signal", 9, "term")
    assert one.output() == b"asked\n"


def test_term_ignored(attempt):
    one = attempt(sh("trap '' TERM; : > up; while :; do sleep 1000; done"), grace=200)
    up = one.fifo("up")
    one.start()
    open(up).close()
    one.end()
    assert how(one.record()) == ("signal", 9, "term")


def test_second_term_changes_nothing(attempt):
    one = attempt(sh("trap 'echo t' TERM; : > up; for i in 1 2 3 4 5 6 7 8; do sleep 0.1; done; exit 3"))
    up = one.fifo("up")
    one.start()
    open(up).close()
    one.end()
    one.end()
    assert how(one.record()) == ("code", 3, "term")
    assert one.output() == b"t\n"


def test_signals_that_must_not_end_paid_work(attempt):
    one = attempt(sh(": > up; read x < go; exit 4"))
    up, go = one.fifo("up"), one.fifo("go")
    one.start()
    open(up).close()
    for sig in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE):
        one.end(sig)
    go.write_text("x\n")
    assert how(one.record()) == ("code", 4, "own")


def wind_up(attempt, text, **limits):
    """A shim that is told, when its agent has come so far, that the agent's result
    has been read."""
    one = attempt(sh(f": > up; {text}"), **limits)
    up = one.fifo("up")
    one.start()
    open(up).close()
    one.end(signal.SIGUSR1)
    return one


def test_wind_up(attempt):
    record = wind_up(attempt, "exec sleep 1000", post_result=200).record()
    assert how(record) == ("signal", 15, "result") and record["sender_pid"] == "0"


def test_wind_up_of_one_that_ignores_term(attempt):
    assert how(wind_up(attempt, "trap '' TERM; while :; do sleep 1000; done", post_result=200,
                       grace=200).record()) == ("signal", 9, "result")


def test_wind_up_of_one_that_answers_term_with_exit_0(attempt):
    assert how(wind_up(attempt, "trap 'exit 0' TERM; while :; do sleep 0.05; done",
                       post_result=200).record()) == ("code", 0, "result")


def test_wind_up_of_one_that_goes(attempt):
    assert how(wind_up(attempt, "exit 7", post_result=100_000).record()) == ("code", 7, "own")


def test_wind_up_is_rearmed_by_output(attempt):
    """Who goes on to print has been misunderstood."""
    record = wind_up(attempt, "for i in 1 2 3 4 5 6; do sleep 0.2; echo $i; done; exit 3", post_result=900).record()
    assert how(record) == ("code", 3, "own")


def test_wind_up_ends_the_idle_limit(attempt):
    assert how(wind_up(attempt, "sleep 1.2; exit 3", idle=600, post_result=100_000).record()) == ("code", 3, "own")


def test_wind_up_and_the_wall_limit(attempt):
    assert how(wind_up(attempt, "exec sleep 1000", wall=1000, post_result=100_000).record()) == ("signal", 15, "wall")


def test_wind_up_and_term(attempt):
    one = wind_up(attempt, "exec sleep 1000", post_result=100_000)
    one.end()
    assert how(one.record()) == ("signal", 15, "term")


def test_wind_up_that_means_nothing(attempt):
    """The job has no such limit, as those of before: its other limits stay."""
    assert how(wind_up(attempt, "exec sleep 1000", idle=500).record()) == ("signal", 15, "idle")


@pytest.mark.broad
def test_wind_up_before_the_shim_has_come_up(attempt):
    for _ in range(20):
        one = attempt(["/bin/sleep", "1000"], post_result=1).start()
        one.end(signal.SIGUSR1)
        assert how(one.record()) == ("signal", 15, "result")


# What was written before the shim's first signal

def marks(record):
    assert int(record["started_ms"]) <= int(record["signalled_ms"]) <= int(record["ended_ms"])
    return int(record.get("stdout_signalled", 0)), int(record.get("stderr_signalled", 0))


LATE = "trap 'echo late; echo later >&2; exit 0' TERM; echo early; echo e >&2; : > up; while :; do sleep 0.05; done"


@pytest.mark.parametrize("by,limits", [("wall", {"wall": 2000}), ("idle", {"idle": 1000}), ("term", {})])
def test_what_came_before_the_first_signal(attempt, by, limits):
    one = attempt(sh(LATE), marks=1, **limits)
    up = one.fifo("up")
    one.start()
    open(up).close()
    if by == "term":
        one.end()
    record = one.record()
    assert how(record) == ("code", 0, by)
    assert one.output() == b"early\nlate\n" and one.output("stderr").endswith(b"later\n")
    assert marks(record) == (6, 2)


def test_what_came_before_the_signal_for_its_result(attempt):
    one = wind_up(attempt, "trap 'echo late; exit 0' TERM; while :; do sleep 0.05; done", post_result=200, marks=1)
    record = one.record()
    assert how(record) == ("code", 0, "result")
    assert (one.output(), marks(record)) == (b"late\n", (0, 0))


def test_what_a_pipe_has_when_the_signal_comes(attempt):
    """More than the shim reads at once was written before SIGTERM came."""
    one = attempt(python("import fcntl, os, signal\n"
                         "signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b'late'), os._exit(0)))\n"
                         "fcntl.fcntl(1, 1031, 1 << 20)\n"
                         "open('up', 'w').close(); open('go').close()\n"
                         "assert os.write(1, bytes(300000)) == 300000\n"
                         "open('up', 'w').close()\n"
                         "while True: signal.pause()"), marks=1)
    up, go = one.fifo("up"), one.fifo("go")
    one.start()
    open(up).close()
    one.end(signal.SIGSTOP)
    open(go, "w").close()
    open(up).close()
    one.end()
    one.end(signal.SIGCONT)
    record = one.record()
    assert how(record) == ("code", 0, "term")
    assert (len(one.output()), marks(record)) == (300004, (300000, 0))


def test_what_is_left_behind_gets_the_first_signal(attempt):
    one = attempt(sh("(trap 'echo stray; exit' TERM; : > up; while :; do sleep 0.05; "
                     "done) & read x < go; echo done"), marks=1)
    up, go = one.fifo("up"), one.fifo("go")
    one.start()
    open(up).close()
    go.write_text("x\n")
    record = one.record()
    assert how(record) == ("code", 0, "own")
    assert (one.output(), marks(record)) == (b"done\nstray\n", (5, 0))


@pytest.mark.parametrize("text,wanted", [("echo x; exit 3", 1), ("kill -9 $$", 1), (LATE, 0)])
def test_no_mark_without_a_signal_or_a_wish(attempt, text, wanted):
    one = attempt(sh(text), marks=wanted, wall=2000)
    if text == LATE:
        one.fifo("up")
    one.start()
    if text == LATE:
        open(one.dir / "up").close()
    assert not [name for name in one.record() if "signalled" in name]


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_output_is_on_the_disk_before_the_record(attempt, tmp_path):
    """With a cap of which segments are left: each of them, then their names, then the record that
    vouches for them. The work comes first."""
    trace = tmp_path / "trace"
    one = attempt(sh("head -c 300000 /dev/zero; echo e >&2"), cap=131072, cwd=tmp_path, syncs=1,
                  # LeakSanitizer cannot work under a tracer
                  env={"ASAN_OPTIONS": "detect_leaks=0"},
                  before=[shutil.which("strace"), "-f", "-qq", "-y", "-e",
                          "trace=fsync,fdatasync,syncfs,renameat", "-e", "signal=none", "-o", str(trace)])
    one.run()
    calls = [re.sub(r"^\d+ +", "", line) for line in trace.read_text().splitlines() if str(tmp_path) in line]
    work = next(n for n, line in enumerate(calls) if line.startswith("syncfs") and f"<{tmp_path}>" in line)
    synced = {Path(re.search(r"<(.*?)>", line).group(1)).name: n
              for n, line in enumerate(calls) if line.startswith("fdatasync")}
    assert set(synced) == {p.name for stream in ("stdout", "stderr")
                           for p in one.dir.glob(stream + ".*")} and len(synced) > 2
    record = next(n for n, line in enumerate(calls) if line.startswith("fsync") and "/exit.tmp>" in line)
    names = [n for n, line in enumerate(calls) if line.startswith("fsync") and f"<{one.dir}>" in line]
    renamed = next(n for n, line in enumerate(calls) if line.startswith("renameat") and '"exit.tmp"' in line)
    assert work < min(synced.values())
    assert max(synced.values()) < max(n for n in names if n < record) < record < renamed < max(names)


def test_agent_dies_with_its_shim(attempt):
    one = attempt(["/bin/sh", "-c", ": > up; exec sleep 1000"])
    up = one.fifo("up")
    one.start()
    open(up).close()
    # in the middle of its exec it has no environment
    while len(found := [pid for pid, _ in one.survivors() if pid != one.pid]) != 1:
        pass
    agent, = found
    agent = os.pidfd_open(agent)
    one.end(signal.SIGKILL)
    assert one.wait() == -9
    poll = select.poll()
    poll.register(agent, select.POLLIN)
    assert poll.poll(PATIENCE_MS), "the agent outlived its shim"
    os.close(agent)
    assert not (one.dir / "exit").exists()


# Hostile trees

TREES = {
    "setsid": "setsid sh -c \"trap '' TERM; : > up; sleep 1000; sleep 1000\" & wait",
    "double fork": "(setsid sh -c '(sleep 1000 & sleep 1000 & : > up) & exit' &) ; sleep 1000",
    "stopped": "trap '' TERM; sh -c 'kill -STOP $$' & setsid sh -c 'trap \"\" TERM; "
    "kill -STOP $$' & : > up; kill -STOP $$",
    "200 processes": "trap '' TERM; i=0; while [ $i -lt 200 ]; do setsid sleep 1000 & i=$((i+1)); "
    "done; : > up; sleep 1000; sleep 1000",
}


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.deadline(120)
def test_hostile_tree_on_cancel(attempt, tree):
    for _ in range(5):
        one = attempt(sh(TREES[tree]), grace=100)
        up = one.fifo("up")
        one.start()
        open(up).close()
        one.end()
        begun = time.monotonic()
        assert one.record()["by"] == "term"
        assert time.monotonic() - begun < 2 + 0.1, "more than 2 s after the KILL"


def test_deep_stopped_chain(attempt):
    """Each has a session of its own, ignores TERM and stands still, 60 deep."""
    one = attempt(python(
        "import os, signal\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "for i in range(60):\n"
        "    if os.fork():\n"
        "        while True: os.kill(os.getpid(), signal.SIGSTOP)\n"
        "    os.setsid()\n"
        "open('up', 'w').close()\n"
        "signal.pause()\n"), grace=100)
    up = one.fifo("up")
    one.start()
    open(up).close()
    assert len(one.survivors()) == 62
    one.end()
    assert how(one.record()) == ("signal", 9, "term")


def test_processes_that_flee_by_forking(attempt):
    """Each forks and exits at once: no list of processes is ever true when it has been read."""
    one = attempt(python(
        "import os, signal\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "for i in range(3):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        while True:\n"
        "            if os.fork():\n"
        "                os._exit(0)\n"
        "open('up', 'w').close()\n"
        "signal.pause()\n"), grace=50)
    up = one.fifo("up")
    one.start()
    open(up).close()
    one.end()
    assert how(one.record()) == ("signal", 9, "term")


def test_background_process_does_not_outlive_a_good_exit(attempt):
    one = attempt(sh("nohup sleep 1000 > /dev/null 2>&1 & setsid sh -c \"trap '' TERM; : > up; "
                     "while :; do sleep 1000; done\" "
                     "> /dev/null 2>&1 & read x < go; exit 5"), grace=300)
    up, go = one.fifo("up"), one.fifo("go")
    one.start()
    open(up).close()
    go.write_text("x\n")
    assert how(one.record()) == ("code", 5, "own")


@pytest.mark.parametrize("still", ["while :; do sleep 0.05; done", "kill -STOP $$"])
def test_strays_are_asked_before_they_are_killed(attempt, still):
    """Also one that stands still: it gets SIGCONT with the SIGTERM."""
    one = attempt(sh("setsid sh -c \"trap 'echo asked > answer; exit' TERM; : > up; "
                     f"{still.replace('$', chr(92) + '$')}\" "
                     "> /dev/null 2>&1 & read x < go; exit 5"))
    up, go = one.fifo("up"), one.fifo("go")
    one.start()
    open(up).close()
    go.write_text("x\n")
    assert how(one.record()) == ("code", 5, "own")
    assert (one.dir / "answer").read_text() == "asked\n"


# Pipes and output

@pytest.mark.deadline(120)
def test_grandchild_holds_the_pipe_and_writes(attempt):
    record = attempt(sh("(for i in 1 2 3; do sleep 1.2; echo line $i; done) & exit 6")).run()
    assert how(record) == ("code", 6, "own")
    assert record["stdout_bytes"] == str(len("line 1\n") * 3), "every second is within the two of the rule"


def test_grandchild_holds_the_pipe_in_silence(attempt):
    begun = time.monotonic()
    assert how(attempt(sh("sleep 1000 & exit 7")).run()) == ("code", 7, "own")
    assert 2 <= time.monotonic() - begun < 20


@pytest.mark.broad
@pytest.mark.deadline(120)
def test_grandchild_that_never_stops_writing(attempt):
    begun = time.monotonic()
    assert how(attempt(sh("(while :; do echo on; sleep 0.5; done) & exit 8")).run()) == ("code", 8, "own")
    assert 30 <= time.monotonic() - begun < 60


def test_cancel_ends_the_wait_for_a_held_pipe(attempt):
    one = attempt(sh("(: > up; while :; do echo on; sleep 0.1; done) & exit 9"))
    up = one.fifo("up")
    one.start()
    open(up).close()
    while b"on" not in one.output():
        pass
    one.end()
    assert how(one.record())[:2] in (("code", 9), ("signal", 15))


def test_output_is_closed_early(attempt):
    one = attempt(sh("echo begin; exec > /dev/null 2>&1 < /dev/null; : > up; read x < go; exit 11"))
    up, go = one.fifo("up"), one.fifo("go")
    one.start()
    open(up).close()
    go.write_text("x\n")
    assert how(one.record()) == ("code", 11, "own")
    assert one.output() == b"begin\n"


def test_output_by_the_name_of_its_descriptor(attempt):
    one = attempt(sh("echo one > /dev/stdout; echo two > /dev/stderr; echo three > /proc/self/fd/1"))
    one.run()
    assert (one.output(), one.output("stderr")) == (b"one\nthree\n", b"two\n")


FLOOD = ("import os\n"
         "open('up', 'w').close()\n"
         "open('go').close()\n"
         "for i in range(%d):\n"
         "    block = memoryview(i.to_bytes(8, 'big') * 8192)\n"
         "    while block:\n"
         "        block = block[os.write(1, block):]\n"
         "open('up', 'w').close()\n"
         "open('go').close()\n")


def flood_bytes(first, last):
    first_block, last_block = first // 65536, (last + 65535) // 65536
    whole = b"".join(i.to_bytes(8, "big") * 8192 for i in range(first_block, last_block))
    return whole[first - first_block * 65536:last - first_block * 65536]


def memory(pid, key):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(key)


@pytest.mark.broad
@pytest.mark.parametrize("cap", [1 << 20, 1_000_003, 100])
@pytest.mark.deadline(180)
def test_200_mib_keep_head_and_tail(attempt, cap):
    size = 200 << 20
    one = attempt(python(FLOOD % (size // 65536)), cap=cap)
    up, go = one.fifo("up"), one.fifo("go")
    one.start()
    open(up).close()
    before = memory(one.pid, "VmRSS")
    open(go, "w").close()
    open(up).close()
    grown = memory(one.pid, "VmHWM") - before
    open(go, "w").close()
    record = one.record()
    print(f"shim: {before >> 10} KiB before, grown by {grown >> 10} KiB")
    assert how(record) == ("code", 0, "own")
    assert int(record["stdout_bytes"]) == size
    segments = one.segments()
    kept = sum(map(len, segments.values()))
    assert size - int(record["dropped"]) == kept
    assert cap <= kept <= cap + max(cap // 16, 65536)
    for start, data in segments.items():
        assert data == flood_bytes(start, start + len(data)), f"bytes at {start} are not what was written there"
    starts = sorted(segments)
    head = len(segments[0])
    tail = size - starts[1]
    assert starts[0] == 0 and head >= cap // 2 and tail >= cap // 2
    assert starts[-1] + len(segments[starts[-1]]) == size
    if not SANITIZED:
        assert grown < 2 << 20


def test_output_below_the_cap_is_whole(attempt):
    one = attempt(python("import os\nfor i in range(1000): os.write(1, b'%06d\\n' % i)"), cap=7000)
    assert one.run()["dropped"] == "0"
    assert one.output() == b"".join(b"%06d\n" % i for i in range(1000))


# What the agent finds

def test_standard_input_is_exact(attempt):
    data = bytes(range(256)) * 20_000
    one = attempt(["/bin/cat"], stdin=data)
    one.run()
    assert one.output() == data


def test_no_input_is_the_null_device(attempt):
    one = attempt(sh("readlink /proc/self/fd/0; cat"))
    one.run()
    assert one.output() == b"/dev/null\n"


def test_only_three_descriptors(attempt):
    one = attempt(python("import os; print(sorted(int(f) for f in os.listdir('/proc/self/fd'))[:-1])"))
    one.run()
    assert one.output() == b"[0, 1, 2]\n"


def test_shim_keeps_nothing_that_it_was_given(attempt):
    """A descriptor that leaks into the shim is closed: whoever waits for its end is not held up."""
    one = attempt(["/bin/sleep", "1000"])
    read, write = os.pipe()
    os.set_inheritable(write, True)
    one.start()
    os.close(write)
    poll = select.poll()
    poll.register(read, select.POLLHUP)
    assert poll.poll(PATIENCE_MS)
    os.close(read)
    one.end()
    one.record()


def test_environment_and_arguments_are_exact(attempt):
    words = ["-x", "", "two\nlines", "back\\slash\\n", "é漢", " ", "*?", b"\xff\xfe"]
    one = attempt([PYTHON, "-c", "import os,sys; os.write(1, b'\\0'.join(map(os.fsencode, sys.argv[1:])))", *words],
                  env={"A": "1", "B": "x=y\nz"})
    one.run()
    assert one.output().split(b"\0") == [w if isinstance(w, bytes) else w.encode() for w in words]
    one = attempt(["/usr/bin/env", "-0"], env={"A": "1", "B": "x=y\nz"})
    one.run()
    assert sorted(one.output().split(b"\0")[:-1]) == sorted(f"{k}={v}".encode() for k, v in one.env.items())


def test_signals_limits_session(attempt):
    one = attempt(python(
        "import os, resource\n"
        "s = dict(l.split(':\\t') for l in open('/proc/self/status').read().splitlines() if ':\\t' in l)\n"
        "print(s['SigBlk'], hex(int(s['SigIgn'], 16) & 0x7fffffff), "
        "os.getpid() == os.getpgid(0) == os.getsid(0), s['Umask'],\n"
        "      resource.getrlimit(resource.RLIMIT_NOFILE)[0], "
        "int(open('/proc/self/oom_score_adj').read()) > 0, os.getcwd())\n"),
        cwd="/usr", nofile=77, umask=0o027, argument=False)
    one.run()
    # Python itself ignores PIPE and XFSZ; 32 and 33 belong to the C library
    assert one.output() == b"0000000000000000 0x1001000 True 0027 77 True /usr\n"


# A start that must not be

def test_wrong_starts_touch_nothing(attempt):
    one = attempt(["/bin/true"])
    lock = os.open(one.dir / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    null = os.open("/dev/null", os.O_RDWR)
    one.spawn(null)
    assert one.wait() == 2, "descriptor 3 is not the lock"
    of_another = os.open(one.dir.parent / "lock", os.O_RDWR | os.O_CREAT)
    one.spawn(of_another)
    assert one.wait() == 2, "descriptor 3 is the lock of another directory"
    os.close(of_another)
    other = os.open(one.dir / "lock", os.O_RDWR)
    fcntl.flock(other, fcntl.LOCK_EX)
    one.spawn(lock)
    assert one.wait() == 2, "another holds the lock"
    os.close(other)
    os.close(null)
    assert sorted(p.name for p in one.dir.iterdir()) == ["job", "lock"]
    one.spawn(lock)
    os.close(lock)
    assert how(one.record()) == ("code", 0, "own")
    first = (one.dir / "exit").read_bytes()
    for name in "shim", "exit":
        (one.dir / name).rename(one.dir.parent / name)
        assert one.start().wait() == 2, "the directory has been used"
        (one.dir.parent / name).rename(one.dir / name)
    assert (one.dir / "exit").read_bytes() == first


def test_lock_is_held_until_the_end(attempt):
    one = attempt(sh(": > up; sleep 1000"))
    up = one.fifo("up")
    one.start()
    open(up).close()
    with open(one.dir / "lock") as probe:
        with pytest.raises(BlockingIOError):
            fcntl.flock(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        identity = decode("shim", (one.dir / "shim").read_bytes())
        assert int(identity["pid"]) == one.pid
        assert identity["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        one.end()
        one.record()
        fcntl.flock(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_files_are_private(attempt):
    one = attempt(sh("echo x; echo y >&2"), umask=0)
    one.run()
    for path in one.dir.iterdir():
        if path.name not in ("job", "lock"):
            assert path.stat().st_mode & 0o777 == 0o600, path.name
