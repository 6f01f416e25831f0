# SPDX-License-Identifier: MIT
"""One trial: a scenario in which one call of one program goes wrong, the same without the fault
afterwards, and what must hold then."""
import collections
import contextlib
import os
import pwd
import re
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))
import earlier  # noqa: E402
import kept  # noqa: E402
import rld as harness  # noqa: E402
from apart import AGENTS, RLD_UID, Starter, let_in  # noqa: E402
from rld import BUILD, ENDS, RLCTL, Closed, Daemon, Play, Repo, RpcError, Rpc, give  # noqa: E402

INJECT, MALLOC = BUILD / "fault" / "inject", BUILD / "fault" / "malloc.so"
PROGRAMS = ("rld", "rl-shim", "rl-git")
ANSWERS = 8         # seconds until a daemon in trouble counts as one that says nothing
NEVER_AGAIN = 78    # RestartPreventExitStatus= of rld-start.service
FAULTY = 25         # seconds that a scenario has while the fault lasts
DEADLINE = 150      # seconds of a trial

GO = 'while [ ! -e "$PLAY/go" ]; do sleep 0.01; done\n'


class Point(NamedTuple):
    """Where what goes wrong: "review:rl-git:openat@d:17:EIO:once"."""
    scenario: str
    program: str
    call: str           # a system call and its group in inject.c; "malloc": an allocation
    number: int         # which of them, 0: none
    action: str
    lasts: str          # once, sticky

    @classmethod
    def of(cls, text):
        scenario, program, call, number, action, lasts = text.split(":")
        return cls(scenario, program, call, int(number), action, lasts)

    def __str__(self):
        return ":".join(map(str, self))


class Late(BaseException):
    pass


@contextlib.contextmanager
def deadline(seconds):
    """Nothing here waits for time but this: what takes longer is late."""
    def late(signum, frame):
        raise Late(f"not done after {seconds} s")
    before = signal.signal(signal.SIGALRM, late)
    left = signal.setitimer(signal.ITIMER_REAL, seconds)[0]
    started = time.monotonic()
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - started), 0.01) if left else 0)


@contextlib.contextmanager
def no_deadline():
    """Waiting for another trial's end does not count."""
    left = signal.setitimer(signal.ITIMER_REAL, 0)[0]
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)


class Victim(Daemon):
    """rld under a fault: it may end at any moment."""

    def come_up(self):
        """Whether it is ready; else it has ended."""
        self.pid = self.spawn().pid
        pidfd = os.pidfd_open(self.pid)
        try:
            while True:
                ready, _, _ = select.select([self.notify, pidfd], [], [])
                if self.notify in ready and b"READY=1" in self.notify.recv(4096).split(b"\n"):
                    self.fds = self.count_fds()
                    return True
                if pidfd in ready:
                    self.process.wait()
                    return False
        finally:
            os.close(pidfd)
            self.notify.close()

    def connect(self, framing="line"):
        rpc = Rpc(self.socket, framing)
        if self.prefix:
            rpc.socket.settimeout(ANSWERS)
        return rpc

    def end(self, gently=False, died=False):
        """No fault from now on, and no daemon."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1 if died else 0)
        status = self.process.returncode
        if status is None:
            self.process.send_signal(signal.SIGTERM if gently else signal.SIGKILL)
            self.process.wait()
        self.prefix, self.pid, self.fds = [], None, None
        return status


def prefix_of(point, directory, log, flag):
    if point.call == "malloc":
        words = {"LD_PRELOAD": MALLOC, "FAULT_PROGRAM": point.program, "FAULT_AT": point.number, "FAULT_FLAG": flag,
                 "FAULT_COUNT": log, "FAULT_HIT": log, **({"FAULT_STICKY": 1} if point.lasts == "sticky" else {})}
        return ["env", *(f"{name}={value}" for name, value in words.items())]
    call, _, group = point.call.partition("@")
    options = ["-d", directory, "-f", flag, "-l", log, "-g", group or "drspm"]
    if point.number:
        options += ["-p", point.program, "-c", call, "-n", point.number, "-a", point.action]
    return [str(word) for word in [INJECT, *options, *(["-k"] if point.lasts == "sticky" else [])]]


class Trial:
    """self.wrong: sentences about what does not hold; self.end: a word about what the fault did.
    places: an exit stack, of what is needed until the log was read."""

    def __init__(self, point, directory, places):
        self.point, self.path, self.places = point, Path(directory), places
        self.below = self.path          # of files here calls are counted
        self.log, self.flag = self.path / "calls", self.path / "flag"
        self.flag.touch()
        self.wrong, self.end = [], "unnoticed"
        self.acked, self.key = None, "key"
        self.starter = None             # rl-start, where it is the victim
        self.reason = ""                # why the run waits
        self.of_commands = None         # calls of the command that makes most of each

    def prefix(self):
        return prefix_of(self.point, self.below, self.log, self.flag)

    def calls(self):
        """Counter of (program, call) that were counted."""
        if self.of_commands is not None:
            return self.of_commands
        if not self.log.exists():
            return collections.Counter()
        if self.point.call == "malloc":
            number = self.log.read_text().strip()
            return collections.Counter({(self.point.program, "malloc"): int(number) if number else 1})
        words = [line.split(" ", 4) for line in self.log.read_text().splitlines()]
        return collections.Counter((program, f"{call}@{group}") for _, program, call, group, _ in words)

    def play(self):
        try:
            with deadline(DEADLINE):
                SCENARIOS[self.point.scenario](self)
        except Late as error:
            self.wrong.append(f"it hangs: {error}")
        except (AssertionError, OSError, RpcError, Closed, sqlite3.Error, KeyError) as error:
            self.wrong.append(f"{type(error).__name__}: {error}")
        finally:
            harness.close_clients()
            for pid in harness.descendants():
                if not harness.command_of(pid).startswith(str(INJECT)):
                    self.wrong += [f"process {pid} is left: {harness.command_of(pid)}"] if not self.wrong else []
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            for process in Daemon.processes:
                process.wait()
            Daemon.processes.clear()
            with contextlib.suppress(ChildProcessError):
                while True:             # the tracer, and orphans
                    os.waitpid(-1, 0)
        return self


# ---- one reviewed run ---------------------------------------------------------------------------

def make(trial, scripts=kept.SCRIPTS, **kwargs):
    trial.play_ = Play(trial.path / "play", scripts)
    trial.daemon = Victim(trial.path / "d", trial.play_, config={"limits": {"grace": "2s"}}, **kwargs)
    trial.repo = kept.fill_repository(Repo(trial.path / "repo"))
    trial.repo.write("mine.txt", "mine\n")


def submit(trial, kind):
    return trial.daemon.review(trial.repo.path, key=trial.key, on_lost="retry", **kept.KINDS[kind])


def waits_for_host(row):
    return "host" in [row.get("wait"), *(slot.get("wait") for slot in row.get("slots", []))]


def follow(trial, number):
    """Until the run has ended, the daemon has, or it waits for the host: a word for that."""
    while trial.daemon.running():
        row = trial.daemon.run(number)
        if row["state"] in (*ENDS, "held"):
            return "unnoticed" if row["state"] == "succeeded" else row["state"]
        if waits_for_host(row):
            trial.reason = str([row.get("reason"), *(slot.get("reason") for slot in row.get("slots", []))])
            return "waits"
        time.sleep(0.02)
    return "died"


def under_fault(trial, kind):
    """What happens while the fault lasts: whatever it is, it is no false promise."""
    try:
        with deadline(FAULTY):
            if trial.starter is not None:
                trial.starter.start()
            if not trial.daemon.come_up():
                return "no start"
            trial.acked = submit(trial, kind)
            return follow(trial, trial.acked)
    except (Closed, ConnectionError, FileNotFoundError):
        return "died"
    except (RpcError, AssertionError):      # an answer to nothing: the connection was refused
        return "refused"
    except (Late, socket.timeout):
        return "mute"


def faulty(trial, kind):
    trial.daemon.prefix = trial.prefix()
    trial.end = under_fault(trial, kind)
    if trial.end == "refused":
        # it is refused, and the daemon lives: others must be able to ask
        trial.end = "refused" if trial.daemon.running() else "died"
    trial.flag.unlink()
    harness.close_clients()
    status = trial.daemon.end(gently=trial.point.number == 0, died=trial.end == "died")
    if status is not None:
        trial.end += f" {status}"


def finish(trial, kind):
    """The same daemon without a fault: the run that was promised is there, once, and ends well."""
    daemon, wrong = trial.daemon, trial.wrong
    if not daemon.running():
        daemon.start()
    number = submit(trial, kind)
    if trial.acked not in (None, number):
        wrong.append(f"the submit was answered with run {trial.acked}, and the same key gives {number}")
    reworked = 0
    while reworked < 6:
        row = daemon.ended(number)
        holds = [hold for hold in daemon.call("hold.list", state="open")["holds"] if hold["kind"] == "lost"]
        if row["state"] != "held" or not holds:
            break
        reworked += 1
        trial.end += " held"
        daemon.call("hold.rework", id=holds[0]["id"])
    if row["state"] != "succeeded":
        wrong.append(f"the run is {row['state']}: {row.get('cause') or row.get('reason')}")
    else:
        wrong += kept.passed_is_whole(daemon, trial.repo, row)
    wrong += kept.paid_once(daemon, number, reworked) + kept.nothing_has_gone(trial.repo)
    runs = [run["id"] for run in daemon.call("run.list", limit=100)["runs"]]
    if runs != [number]:
        wrong.append(f"there are the runs {runs}")
    events = [event["seq"] for event in daemon.call("event.list", since=0, limit=256)["events"]]
    if events != list(range(1, len(events) + 1)):
        wrong.append(f"events have gaps: {events}")
    wrong += daemon.finish() + kept.sound(trial.repo.path / ".git") + kept.evidence_is_sound(daemon)


def review(trial, kind):
    make(trial)
    faulty(trial, kind)
    finish(trial, kind)


def recover(trial, kind):
    """The daemon was killed while the fixer was at work: the next one takes it back, under the
    fault."""
    make(trial, {**kept.SCRIPTS, "fix": GO + kept.SCRIPTS["fix"]})
    trial.daemon.start()
    with trial.daemon.events() as events:
        trial.acked = submit(trial, kind)
        events.until("attempt.started", lambda e: e["role"] == "fix")
    trial.daemon.kill()
    (trial.play_.path / "go").touch()
    faulty(trial, kind)
    finish(trial, kind)


# ---- agents of another user ---------------------------------------------------------------------

def apart(trial, kind):
    """What goes wrong is in rl-start. It and rld go on when that is over; what has ended by itself
    comes up again, as systemd has it."""
    trial.path.chmod(0o777)
    trial.below = "/"
    make(trial, uid=RLD_UID)
    daemon = trial.daemon
    trial.starter = starter = Starter(trial.path / "starter", prefix=trial.prefix(), start=False)
    trial.places.callback(starter.remove_groups)
    daemon.groups = [starter.agents.pw_gid]
    daemon.environment["RLD_STARTER"] = str(starter.socket)
    for path in (daemon.path, trial.play_.path):
        path.chmod(0o755)
    give(trial.play_.path, starter.agents.pw_uid)
    let_in(trial.repo.path, starter.agents)
    trial.end = under_fault(trial, kind)
    trial.flag.unlink()
    harness.close_clients()
    if trial.end == "died":
        trial.wrong.append("rld has ended")
    if trial.end == "waits" and not re.search("rl-(start|shim)", trial.reason):
        trial.wrong.append(f"rld does not say what failed: {trial.reason}")
    if trial.end == "mute" and daemon.process is not None:
        daemon.end()
    elif trial.end == "mute":           # it does not say that it is ready, and systemd ends it
        starter.process.kill()
        starter.process.wait()
    status = starter.process.poll()
    if status is not None:
        trial.end += f" {status}"
        # of passwd, glibc does not tell what cannot be read from what is not there
        if status == NEVER_AGAIN and "there is no such user" not in starter.log.read_text():
            trial.wrong.append("systemd does not start rl-start again: it says that its settings are wrong")
        if status >= 0 and starter.log.read_text() == "":
            trial.wrong.append(f"rl-start ended with {status} without a word")
        starter.prefix = []
        starter.start()
    finish(trial, kind)
    if starter.stop() != 0:
        trial.wrong.append(f"rl-start ended with {starter.process.returncode}")
    starter.finish()


# What is handed over, and what stays.
HANDED = ("evidence/a.git/HEAD", "worktrees/1/t1/file", "runs/1/tree-1/file", "runs/1/scratch/1/file")
OWN = ("rld.db", "runs/1/task")
OWN_DIRECTORIES = ("runs", "runs/1", "runs/1/scratch", "runs/1/scratch/1")


def handed_over(state, agents):
    """What is wrong with a state directory of which rl-start says that it is handed over."""
    return [f"{name} belongs to {(state / name).stat().st_uid}" for name in (*HANDED, *OWN, *OWN_DIRECTORIES)
            if (state / name).stat().st_uid != (agents.pw_uid if name in HANDED else RLD_UID)]


def hand_over(trial, _):
    """The state of an rld whose agents were itself, and of which one is at work still: until that
    has ended nothing is moved, and what is called done is done."""
    trial.path.chmod(0o777)
    trial.below = "/"
    state, agents = trial.path / "state", pwd.getpwnam(AGENTS)
    for name in (*HANDED, *OWN):
        (state / name).parent.mkdir(parents=True, exist_ok=True)
        (state / name).write_text("text\n")
    shutil.copy("/bin/cat", trial.path / "rl-shim")
    give(state, RLD_UID)
    shim = subprocess.Popen([trial.path / "rl-shim"], stdin=subprocess.PIPE, cwd=state / "runs", user=RLD_UID,
                            group=RLD_UID, extra_groups=[])
    argv = [str(BUILD / "rl-start"), "--user", AGENTS, "--hand-over", str(state)]
    process = subprocess.Popen([*trial.prefix(), *argv], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = ""
    try:
        with contextlib.suppress(Late), deadline(ANSWERS):      # what it writes may be lost
            for line in process.stderr:
                said += line
                if "waiting for their end" in line:
                    break
            else:
                process.wait()
        if process.poll() == 0 or handed_over(state, agents) == []:
            trial.wrong.append("it was handed over while an agent was at work")
    finally:
        shim.stdin.close()
        shim.wait()
    said += process.stderr.read()
    process.wait()
    trial.end = str(process.returncode)
    if process.returncode == 0:
        trial.wrong += handed_over(state, agents)
    elif not said:
        trial.wrong.append(f"rl-start ended without a word: {process.returncode}")
    trial.flag.unlink()
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        trial.wrong.append(f"it cannot be completed: {done.stderr}")
    trial.wrong += handed_over(state, agents)


# ---- migration ----------------------------------------------------------------------------------

def migrate(trial, schema):
    """The state of an older rld: under the fault its migration happens, or does not; without it
    everything is there."""
    with no_deadline():
        left = earlier.make_left(
            trial.places, lambda where, **kwargs: Victim(where, kwargs["play"], kwargs["config"]), trial.path,
            earlier.Left(schema))
    trial.below = left.path
    before = {row["id"]: row["state"] for row in left.query("SELECT id, state FROM run")}
    trial.daemon, left.prefix = left, trial.prefix()
    try:
        with deadline(FAULTY):
            trial.end = "unnoticed" if left.come_up() else "no start"
    except Late:
        trial.end = "mute"
    trial.flag.unlink()
    left.end()
    left.start()
    for run, state in before.items():
        now = left.run(run)["state"]
        if state in ENDS and now != state:
            trial.wrong.append(f"run {run} was {state}, and is {now}")
    if [run["id"] for run in left.call("run.list", limit=100)["runs"]] != sorted(before, reverse=True):
        trial.wrong.append("not all runs are there")
    trial.wrong += left.finish()
    newest = max(int(path.name[:4]) for path in (harness.SOURCE / "sql").glob("[0-9]*.sql"))
    if left.query("PRAGMA user_version") != [{"user_version": newest}]:
        trial.wrong.append(f"the schema is not {newest}")


# ---- the client ---------------------------------------------------------------------------------

COMMANDS = (["status"], ["list", "--json"], ["show", "1"], ["logs", "1"], ["diff", "1"], ["report", "1"],
            ["review", "export", "1"], ["backup", "@/backup.db"], ["submit", "-C", "@/repo", "--key", "other", "work"])
AGO = re.compile(rb"\w+ ago")


def client(trial, _):
    """Each command, its output going to a file: an exit status of 0 means that all of it is
    there."""
    make(trial)
    daemon = trial.daemon.start()
    number = submit(trial, "shared")
    daemon.ended(number)
    with daemon.connect() as rpc:       # what is kept of it is measured later, and then listed
        while rpc.call("run.get", id=number)["bytes"] is None:
            rpc.call("daemon.status")
    trial.end, most = "", collections.Counter()
    for argv in COMMANDS:
        trial.log.unlink(missing_ok=True)
        argv = [word.replace("@", str(trial.path)) for word in argv]
        out = trial.path / "out"
        harness.note_command(tuple(argv))

        def run(prefix):
            with open(out, "wb") as file:
                done = subprocess.run([*prefix, str(RLCTL), *argv], stdin=subprocess.DEVNULL, stdout=file,
                                      stderr=subprocess.PIPE, cwd=daemon.path, timeout=60,
                                      env={**daemon.environment, "RLD_SOCKET": str(daemon.socket),
                                           "RLD_ANSWER_TIMEOUT": "3"})
            return done.returncode, out.read_bytes(), done.stderr.decode(errors="replace")
        status, said, errors = run(trial.prefix())
        most |= trial.calls()
        if not trial.calls():
            continue
        trial.end += f" {argv[0]} {status}"
        if argv[0] == "backup":
            (trial.path / "backup.db").unlink(missing_ok=True)
        # of glibc's own start, before main()
        if status == -signal.SIGSEGV and trial.point.call == "brk@m" and not said:
            continue
        if status < 0 and status != -signal.SIGKILL and not (status == -signal.SIGABRT and errors):
            trial.wrong.append(f"rlctl {argv[0]} died of signal {-status}: {errors[-300:]}")
        if status > 0 and not errors.strip():
            trial.wrong.append(f"rlctl {argv[0]} ended with {status} without a word")
        if status == 0 and argv[0] not in ("status", "backup"):
            again = run([])
            if again[0] != 0 or AGO.sub(b"", again[1]) != AGO.sub(b"", said):
                trial.wrong.append(f"rlctl {argv[0]} ended with 0, and its output is not whole: {said[-200:]!r}")
    trial.flag.unlink()
    trial.of_commands = most
    daemon.call("run.wait", ids=[run["id"] for run in daemon.call("run.list")["runs"]])
    if len(daemon.call("run.list")["runs"]) > 2:
        trial.wrong.append("a submit with a key made more than one run")
    trial.wrong += daemon.finish()


SCENARIOS = {
    "review": lambda trial: review(trial, "checked"),
    "merge": lambda trial: review(trial, "worktree"),
    "commit": lambda trial: review(trial, "committed"),
    "recover": lambda trial: recover(trial, "checked"),
    "client": lambda trial: client(trial, None),
    "apart": lambda trial: apart(trial, "worktree"),
    "hand-over": lambda trial: hand_over(trial, None),
}
MIGRATIONS = {f"migrate{schema}": partial(migrate, schema=schema) for schema in sorted(earlier.SCHEMAS)}
SCENARIOS.update(MIGRATIONS)


def play(text):
    """(point, calls that were hit, end, what is wrong, log): for a worker process."""
    harness.become_subreaper()
    directory = tempfile.mkdtemp(prefix="rl-fault-", dir=os.environ.get("TMPDIR"))
    with contextlib.ExitStack() as places:
        trial = Trial(Point.of(text), directory, places).play()
        log = trial.daemon.log()[-3000:] if trial.wrong and hasattr(trial, "daemon") else ""
    hit = trial.calls()
    lines = trial.log.read_text().splitlines()[:3] if trial.log.exists() and trial.point.number else []
    if os.environ.get("KEEP") != "1":
        shutil.rmtree(directory, ignore_errors=True)
    return text, hit, lines, trial.end.strip(), trial.wrong, log
