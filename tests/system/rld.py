# SPDX-License-Identifier: MIT
"""The real rld, rlctl, rl-shim and rl-git under test: a private daemon, a socket client, a scratch
repository, a scripted agent.

Nothing here waits for time: readiness is a datagram, progress is an event, an end is an exited
process. Every wait ends by the deadline of the test (conftest.py raises in the middle of it).
"""
import ctypes
import json
import os
import pwd
import select
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import weakref
from pathlib import Path

from contract import Contract

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("RLD_BUILD") or SOURCE / ("build-san" if os.environ.get("SAN") else "build")).resolve()
FAKES = SOURCE / "tests" / "fakes"
RLD, RLCTL, SHIM, RL_GIT = BUILD / "rld", BUILD / "rlctl", BUILD / "rl-shim", BUILD / "rl-git"
SANITIZED = "san" in BUILD.name or bool(os.environ.get("SAN"))

# What the session has exercised; test_zz_coverage.py compares it with what the product offers.
METHODS_CALLED = set()
COMMANDS_USED = set()

ENDS = ("succeeded", "failed", "cancelled")
ANOTHER_UID = 65534		# a user that is neither root nor us


class RpcError(Exception):
    def __init__(self, error):
        super().__init__(f"{error.get('code')}: {error.get('message')} {error.get('data')}")
        self.code = error.get("code")
        self.message = error.get("message")
        self.data = error.get("data") or {}


class Closed(Exception):
    """The daemon closed the connection."""


def note_command(args):
    """Remember what an rlctl was asked to do."""
    if args[:1] == ("rpc",) and len(args) > 1:
        METHODS_CALLED.add(args[1])
    if args:
        COMMANDS_USED.add(" ".join(args[:2]) if args[0] in ("review", "config", "hold", "group", "cooldown",
                                                            "salvage", "completion") else args[0])


def toml(value):
    """A value in TOML; strings and numbers of JSON are valid there."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def toml_document(config):
    """{"a": 1, "agent.x": {...}} as a document: plain values first, then one table
    for each dict."""
    lines = [f"{k} = {toml(v)}" for k, v in config.items() if not isinstance(v, dict)]
    for name, table in config.items():
        if isinstance(table, dict):
            lines += ["", f"[{name}]"] + [f"{k} = {toml(v)}" for k, v in table.items()]
    return "\n".join(lines) + "\n"


def user_name():
    """Our name as the daemon tells it, whatever the variables of the environment say."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def can_trace():
    """Whether strace works: it may be missing, or not be let by a container."""
    argv = ["strace", "-f", "-qq", "-o", "/dev/null", "true"]
    return shutil.which("strace") is not None and subprocess.run(argv, capture_output=True).returncode == 0


# ---- processes -----------------------------------------------------------------------------------

def become_subreaper():
    """Whatever a daemon leaves behind becomes our child, so that it can be found by
    kinship, not by name."""
    PR_SET_CHILD_SUBREAPER = 36
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def proc_stat(pid):
    """(state, parent) or None when the process is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text[text.rindex(")") + 2:].split()
    return fields[0], int(fields[1])


def alive(pid):
    stat = proc_stat(pid)
    return stat is not None and stat[0] not in "ZX"


def wait_gone(pid):
    """Return when the process has ended; a zombie has."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        select.select([fd], [], [])
    finally:
        os.close(fd)


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def environ_of(pid):
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def carriers(uuids):
    """Living processes that carry one of these attempt uuids."""
    wanted = {f"RL_ATTEMPT_UUID={u}".encode() for u in uuids}
    return [pid for pid in pids() if wanted.intersection(environ_of(pid)) and alive(pid)]


def descendants(root=None, but=()):
    """Living processes below root (ourselves by default), without those in but and
    what is below them."""
    parents = {}
    for pid in pids():
        stat = proc_stat(pid)
        if stat and stat[0] not in "ZX":
            parents.setdefault(stat[1], []).append(pid)
    found, todo = [], [root or os.getpid()]
    while todo:
        for pid in parents.get(todo.pop(), []):
            if pid not in but:
                found.append(pid)
                todo.append(pid)
    return found


def reap_adopted():
    """Collect orphans that ended below us; children of our own are left to subprocess."""
    own = {p.pid for p in Daemon.processes}
    for pid in pids():
        stat = proc_stat(pid)
        if stat == ("Z", os.getpid()) and pid not in own:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


def rss_kib(pid, field="VmRSS"):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise LookupError(field)


def cpu_seconds(pid):
    """What the process has used so far: a measure of work that a busy machine does not blur."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def give(path, uid):
    """Make the user the owner of all below; None: nothing changes."""
    if uid is None:
        return
    for at, folders, names in os.walk(path):
        for each in [at, *(os.path.join(at, name) for name in folders + names)]:
            os.chown(each, uid, uid, follow_symlinks=False)


# ---- repository ----------------------------------------------------------------------------------

class Repo:
    """A scratch git repository with one commit, unless told otherwise."""

    def __init__(self, path, commit=True):
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        if commit:
            self.write("README", "scratch\n")
            self.git("add", ".")
            self.git("commit", "-q", "-m", "start")

    def git(self, *args, check=True, **kwargs):
        env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1",
               "GIT_OPTIONAL_LOCKS": "0",
               "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_NAME": "t",
               "GIT_COMMITTER_EMAIL": "t@example.org", "GIT_CONFIG_COUNT": "1",
               "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        done = subprocess.run(["git", "-C", str(self.path), *args], capture_output=True, env=env, **kwargs)
        if check and done.returncode:
            raise AssertionError(f"git {args}: {done.stderr.decode()}")
        return done.stdout.decode(errors="surrogateescape").strip()

    def write(self, name, text):
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def read(self, name):
        return (self.path / name).read_text()

    def state(self):
        """What belongs to the user and must not change behind his back."""
        index = self.path / ".git" / "index"
        return {"HEAD": (self.path / ".git" / "HEAD").read_text(),
                "commit": self.git("rev-parse", "--verify", "-q", "HEAD", check=False),
                "index": index.read_bytes() if index.exists() else None,
                "stash": self.git("stash", "list", check=False),
                "branches": self.git("for-each-ref", "refs/heads", "refs/tags")}


# ---- scripted agent ------------------------------------------------------------------------------

DRIFT_THEN_PASS = {
    "implement": "echo one > work.txt\nanswer 'first answer'\n",
    "review.1": "drift 'add a second line'\n",
    "review": "pass\n",
    "fix": "echo two >> work.txt\nanswer 'second answer'\n",
}


class Play:
    """The scripts of one agent, see tests/fakes/play."""

    def __init__(self, directory, scripts=None):
        self.path = Path(directory)
        self.path.mkdir(parents=True, exist_ok=True)
        self.program = FAKES / "play"
        (self.path / "starts").touch()
        self.set(scripts or DRIFT_THEN_PASS)

    def set(self, scripts):
        for name, text in scripts.items():
            temporary = self.path / f".{name}"
            temporary.write_text(text)
            temporary.rename(self.path / name)

    def command(self):
        return [str(self.program), str(self.path)]

    def starts(self, run=None, role=None):
        """[(run, role, attempt, pid, uuid)] in order."""
        rows = []
        for line in (self.path / "starts").read_text().splitlines():
            a, b, c, d, e = line.split()
            if run in (None, int(a)) and role in (None, b):
                rows.append((int(a), b, int(c), int(d), e))
        return rows

    def prompt(self, run, role, nth=1):
        return (self.path / f"prompt.{run}.{role}.{nth}").read_bytes()

    def gates(self, *names):
        """Make the gates; a script passes one by "gate NAME"."""
        for name in names:
            os.mkfifo(self.path / f"{name}.here")
            os.mkfifo(self.path / f"{name}.go")
        return self

    def arrived(self, name):
        """Wait until an agent stands at the gate: its pid."""
        with open(self.path / f"{name}.here") as fifo:
            return int(fifo.readline())

    def go(self, name):
        with open(self.path / f"{name}.go", "w") as fifo:
            fifo.write("go\n")


# ---- socket client -------------------------------------------------------------------------------

class Rpc:
    """A connection. call() and batch() check what every reply must have; raw bytes
    for all the rest."""

    made = weakref.WeakSet()

    def __init__(self, path, framing="line"):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(str(path))
        self.framing = framing
        self.buffer = b""
        self.next_id = 0
        self.notifications = []
        Rpc.made.add(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def half_close(self):
        self.socket.shutdown(socket.SHUT_WR)

    def peer_pid(self):
        return struct.unpack("3i", self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]

    def frame(self, document):
        data = document if isinstance(document, bytes) else json.dumps(document, ensure_ascii=False).encode()
        if self.framing == "header":
            return b"Content-Length: %d\r\n\r\n%s" % (len(data), data)
        return data + b"\n"

    def send_raw(self, data):
        self.socket.sendall(data)

    def send(self, document):
        self.send_raw(self.frame(document))

    def _more(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise Closed(f"connection closed, {len(self.buffer)} bytes of an unfinished frame")
        self.buffer += data

    def receive(self):
        """The next document of any kind."""
        if self.framing == "line":
            while b"\n" not in self.buffer:
                self._more()
            line, self.buffer = self.buffer.split(b"\n", 1)
            return json.loads(line)
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        size = next(int(line.split(b":")[1])
                    for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        while len(self.buffer) < size:
            self._more()
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return json.loads(data)

    def receive_to_end(self):
        """Every byte until the daemon closes."""
        data = self.buffer
        while True:
            try:
                more = self.socket.recv(1 << 16)
            except ConnectionResetError:	# it closed without reading all that we sent
                return data
            if not more:
                return data
            data += more

    def reply(self, wanted=None):
        """The next reply; notifications on the way are kept."""
        while True:
            message = self.receive()
            if isinstance(message, dict) and "method" in message:
                self.notifications.append(message)
                continue
            if wanted is not None:
                assert message["id"] == wanted, message
            return message

    def request(self, method, params=None, positions=None):
        self.next_id += 1
        METHODS_CALLED.add(method)
        message = {"jsonrpc": "2.0", "id": self.next_id, "method": method}
        if positions is not None:
            message["params"] = positions
        elif params:
            message["params"] = params
        return message

    def call(self, method, *positions, **params):
        message = self.request(method, params, list(positions) if positions else None)
        self.send(message)
        answer = self.reply(message["id"])
        assert answer["jsonrpc"] == "2.0" and ("result" in answer) != ("error" in answer), answer
        if "error" in answer:
            raise RpcError(answer["error"])
        assert isinstance(answer["result"], dict), answer
        Contract.of(RLD).answer(method, answer["result"])
        return answer["result"]

    def batch(self, requests):
        self.send(requests)
        return self.reply()

    def notification(self):
        if self.notifications:
            return self.notifications.pop(0)
        while True:
            message = self.receive()
            if isinstance(message, dict) and "method" in message:
                Contract.of(RLD).notified(message)
                return message


class Events:
    """A subscription on a connection of its own: iterate, or wait for one. since:
    None is from now on."""

    def __init__(self, daemon, since=0, run=None, types=None):
        self.rpc = daemon.connect()
        params = {} if since is None else {"since": since}
        if run is not None:
            params["run"] = run
        if types is not None:
            params["types"] = types
        self.seen = []
        try:
            self.first = self.rpc.call("event.subscribe", **params)
        except RpcError:
            self.rpc.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.rpc.close()

    def next(self):
        message = self.rpc.notification()
        assert message["method"] == "event", message
        self.seen.append(message["params"])
        return message["params"]

    def until(self, kind, predicate=lambda event: True):
        """The first event of this type for which the predicate holds; what came
        before is passed over."""
        while True:
            event = self.next()
            if event["type"] == kind and predicate(event):
                return event

    def until_end(self):
        return self.until("run.state", lambda e: e["state"] in ENDS or e["state"] == "held")


# ---- sanitizers ----------------------------------------------------------------------------------

TRACERS = ("strace", "inject")


def sanitizer_variables(directory, prefix=()):
    """The variables with which what is started behind the prefix writes its reports below the
    directory, whichever user it has become."""
    place = Path(directory) / "reports"
    place.mkdir(exist_ok=True)
    place.chmod(0o1777)
    # LeakSanitizer cannot work under a tracer
    leaks = int(not any(Path(word).name in TRACERS for word in prefix))
    # disable_coredump: the limit of core files is rld's and rl-shim's to take away
    return {f"{kind}_OPTIONS": f"log_path={place}/{kind.lower()}:print_stacktrace=1:detect_leaks={leaks}:"
            "disable_coredump=0" for kind in ("ASAN", "UBSAN", "TSAN")}


# "Can't open file": a report that could not be written to its file
REPORTED = ("Sanitizer:", "runtime error:", "ERROR: Can't open file")


def sanitizer_reports(directory, log):
    """Sentences about the reports that programs have written, there or to the log."""
    said = [f"log: {line}" for line in log.splitlines() if any(word in line for word in REPORTED)]
    return said + [f"sanitizer: {report.read_text(errors='replace')[:6000]}"
                   for report in sorted((Path(directory) / "reports").glob("*"))]


# ---- daemon --------------------------------------------------------------------------------------

def close_clients():
    """Close the connections that a test has left open and end its rlctl processes: the commands of
    those that still ran."""
    for rpc in list(Rpc.made):
        rpc.close()
    left = [process for process in Daemon.processes if process.args[0] == str(RLCTL) and process.poll() is None]
    for process in left:
        process.kill()
        process.wait()
    return [" ".join(process.args) for process in left]


def unshare_plans(connection):
    """Rows have the text of their settings, as before schema 30."""
    for table in ("run", "task"):
        connection.execute(f"UPDATE {table} SET plan = (SELECT text FROM plan WHERE hash = {table}.plan) "
                           "WHERE plan IN (SELECT hash FROM plan)")


class Daemon:
    """A private rld: state, socket, config and home under one directory."""

    processes = []		# every Popen of ours that may still be a child

    def __init__(self, directory, play=None, config=None, environment=None, prefix=(), uid=None, prefix_sets_uid=False):
        self.path = Path(directory)
        self.state = self.path / "state"
        self.socket = self.path / "sock"
        self.config = self.path / "rld.toml"
        self.home = self.path / "home"
        self.log_path = self.path / "log"
        for each in (self.state, self.home):
            each.mkdir(parents=True, exist_ok=True)
        self.state.chmod(0o700)
        self.play = play or Play(self.path / "play")
        self.refs_removed = False   # by the test, which knows that they no longer match the record
        self.prefix = list(prefix)
        self.inherited = ()         # descriptors for what prefix starts
        self.uid, self.groups = uid, []
        self.prefix_sets_uid = prefix_sets_uid
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8",
                            **sanitizer_variables(self.path, prefix), **(environment or {})}
        self.process = None
        self.pid = None
        self.fds = None
        self.instance = None
        self.program = RLD
        if uid is not None:
            # another user need not be let into the directory of the source and of the build
            for each in (RLD, SHIM, RL_GIT, self.play.program):
                shutil.copy(each, self.path)
            self.program, self.play.program = self.path / RLD.name, self.path / self.play.program.name
            for each in (self.path, self.state, self.home):
                os.chown(each, uid, uid)
            give(self.play.path, uid)
        self.write_config(config or {})

    def write_config(self, config):
        """Replaces keys, and keys of tables, in what every test starts from."""
        base = {"default_agent": "play", "agent.play": {"command": self.play.command(), "reader": "text"}}
        if SANITIZED:
            base["agent.play"]["set"] = sanitizer_variables(self.path)      # for rl-shim
        for key, value in config.items():
            base[key] = {**base.get(key, {}), **value} if isinstance(value, dict) else value
        self.config.write_text(toml_document(base))

    def argv(self, *more):
        return [*self.prefix, str(self.program), "--config", str(self.config), "--state-dir",
                str(self.state), "--socket", str(self.socket), "--log-level", "debug", *more]

    def spawn(self, *more, environment=None):
        """Start without waiting for readiness; the notify socket is told either way."""
        notify = self.path / "notify"
        notify.unlink(missing_ok=True)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(str(notify))
        if self.uid is not None:
            os.chown(notify, self.uid, self.uid)
        with open(self.log_path, "ab") as log:
            becomes = self.uid is not None and not self.prefix_sets_uid
            extra = {"user": self.uid, "group": self.uid, "extra_groups": self.groups} if becomes else {}
            self.process = subprocess.Popen(self.argv(*more), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                                            pass_fds=self.inherited,
                                            env={**self.environment, "NOTIFY_SOCKET": str(notify),
                                                 **(environment or {})},
                                            start_new_session=True, **extra)
        Daemon.processes.append(self.process)
        return self.process

    def start(self, *more, environment=None):
        self.spawn(*more, environment=environment)
        pidfd = os.pidfd_open(self.process.pid)
        try:
            while True:
                ready, _, _ = select.select([self.notify, pidfd], [], [])
                if self.notify in ready:
                    if b"READY=1" in self.notify.recv(4096).split(b"\n"):
                        break
                elif pidfd in ready:
                    self.process.wait()
                    raise AssertionError(f"rld ended with {self.process.returncode} before it was ready:\n"
                                         f"{self.log()[-4000:]}")
        finally:
            os.close(pidfd)
            self.notify.close()
        with self.connect() as rpc:
            self.pid = rpc.peer_pid()
            rpc.call("daemon.status")
            count = self.count_fds() - 1
        if self.fds is None:
            self.fds = count
        return self

    def running(self):
        return self.process is not None and self.process.poll() is None

    def exited(self):
        """Wait for the end of the daemon: its status."""
        status = self.process.wait()
        self.pid = None
        return status

    def stop(self):
        """SIGTERM and the end; agents go on."""
        os.kill(self.pid, signal.SIGTERM)
        status = self.exited()
        assert status == 0, f"rld ended with {status} on SIGTERM:\n{self.log()[-4000:]}"

    def kill(self):
        """SIGKILL and the end; a tracer in front of it goes too, so that it does not
        wait for the agents."""
        os.kill(self.pid, signal.SIGKILL)
        wait_gone(self.pid)
        if self.prefix:
            self.process.kill()
        return self.exited()

    def restart(self, *more, environment=None):
        if self.running():
            self.stop()
        return self.start(*more, environment=environment)

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def count_fds(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def connect(self, framing="line"):
        return Rpc(self.socket, framing)

    def call(self, method, *positions, **params):
        with self.connect() as rpc:
            return rpc.call(method, *positions, **params)

    def events(self, since=0, run=None, types=None):
        return Events(self, since, run, types)

    # names in a repository

    def ref(self, kind, run=None, task=None):
        """"refs/rl/3f2a9c01/passed/42/t1": of a task, of a run, or what all of that
        kind begin with."""
        if self.instance is None:
            self.instance = self.call("daemon.hello")["instance"]
        return "/".join(str(part) for part in ("refs/rl", self.instance, kind, run, task) if part is not None)

    # runs

    def submit(self, workdir, task="do it", **params):
        return self.call("run.submit", task=task, workdir=str(workdir), **params)["id"]

    def review(self, workdir, task="do it", review=None, **params):
        """Submit with a review; every agent is the default one."""
        return self.submit(workdir, task, review={"enabled": True, **(review or {})}, **params)

    def run(self, number):
        return self.call("run.get", id=number)

    def ended(self, *numbers):
        """Wait until the runs have ended or are held: the rows, one when one was asked for."""
        self.call("run.wait", ids=list(numbers))
        rows = [self.run(n) for n in numbers]
        return rows[0] if len(rows) == 1 else rows

    def cancelled(self, number):
        """Cancel and wait for the end: the row. run.wait would answer at once for a held run."""
        with self.events(run=number, types=["run.state"]) as events:
            self.call("run.cancel", id=number)
            events.until("run.state", lambda e: e["state"] in ENDS)
        return self.run(number)

    def attempts(self, run):
        return self.call("attempt.list", run=run)["attempts"]

    def reviews(self, run):
        return self.call("review.list", run=run)["reviews"]

    def rlctl(self, *args, input=None, cwd=None, check=None, environment=None, **kwargs):
        """One rlctl command: CompletedProcess with text. check: the wanted exit status."""
        note_command(args)
        env = {**self.environment, "RLD_SOCKET": str(self.socket), **(environment or {})}
        done = subprocess.run([str(RLCTL), *map(str, args)], capture_output=True, env=env, cwd=cwd or self.path,
                              **({"input": input} if input is not None else {"stdin": subprocess.DEVNULL}), **kwargs)
        done.out, done.err = done.stdout.decode(errors="surrogateescape"), done.stderr.decode(errors="surrogateescape")
        if check is not None:
            assert done.returncode == check, (f"rlctl {args} ended with {done.returncode}\n"
                                              f"stdout: {done.out}\nstderr: {done.err}")
        return done

    def rlctl_start(self, *args, cwd=None, environment=None, **kwargs):
        """An rlctl that goes on; Popen with pipes."""
        note_command(args)
        env = {**self.environment, "RLD_SOCKET": str(self.socket), **(environment or {})}
        process = subprocess.Popen([str(RLCTL), *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=env, cwd=cwd or self.path, **kwargs)
        Daemon.processes.append(process)
        return process

    # the database, while no daemon holds it

    def database(self):
        assert not self.running(), "the database belongs to the daemon while it runs"
        connection = sqlite3.connect(self.state / "rld.db", isolation_level=None)
        connection.row_factory = sqlite3.Row
        return connection

    def plan(self, run):
        """The settings of a run, as they are stored."""
        return self.query("SELECT text FROM plan JOIN run ON run.plan = hash WHERE id = ?", run)[0]["text"]

    def query(self, sql, *binds):
        connection = self.database()
        try:
            return [dict(row) for row in connection.execute(sql, binds)]
        finally:
            connection.close()

    def uuids(self):
        if not (self.state / "rld.db").exists():
            return []
        return [row["uuid"] for row in self.query("SELECT uuid FROM attempt UNION SELECT uuid FROM step")]

    # the end of a test

    def finish(self):
        """What must hold after every test; a list of sentences about what does not."""
        wrong = []
        if self.running() and self.pid is not None:
            wrong += self.check_running()
            self.stop()
        elif self.running():
            self.process.kill()
            self.process.wait()
        if (self.state / "rld.db").exists():
            said = self.query("PRAGMA integrity_check")
            if said != [{"integrity_check": "ok"}]:
                wrong.append(f"integrity_check: {said}")
            left = carriers(self.uuids())
            wrong += [f"process {pid} of an attempt is left: {command_of(pid)}" for pid in left]
        wrong += [f"log: {line}" for line in self.log().splitlines() if "bug: " in line]
        # what rl-git says; its variables are those of a step
        for said in (self.state / "attempts").glob("*/stderr.*") if SANITIZED else ():
            text = said.read_text(errors="replace")
            wrong += [f"{said}: {text[:6000]}"] if any(word in text for word in REPORTED) else []
        return wrong + sanitizer_reports(self.path, self.log())

    def no_longer_under_way(self, run):
        """It may have ended since somebody looked."""
        try:
            self.cancelled(run)
        except RpcError as error:
            if error.code != 2:     # wrong state
                raise

    def check_running(self):
        wrong = []
        with self.connect() as rpc:
            cursor = None
            while True:
                page = rpc.call("run.list", limit=100, **({"cursor": cursor} if cursor is not None else {}))
                for run in page["runs"]:
                    if run["state"] not in ENDS:
                        self.no_longer_under_way(run["id"])
                    verified = rpc.call("review.verify", run=run["id"])
                    if not verified.get("chain" if self.refs_removed else "ok"):
                        wrong.append(f"review.verify {run['id']}: {verified}")
                cursor = page.get("next")
                if cursor is None:
                    break
            # What clients sent before they went is still done, what the runs left to write is
            # written, and then the daemon must be alone with us.
            while (status := rpc.call("daemon.status"))["clients"] > 1 or status["busy"]:
                pass
            # A reply follows what the loop had in hand when the question came: a few of
            # them are a rest.
            for _ in range(200):
                rpc.call("daemon.status")
                now = self.count_fds() - 1
                if now <= self.fds:	# at its start it may have been at its first sweep
                    break
            else:
                names = sorted(os.readlink(f"/proc/{self.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{self.pid}/fd"))
                wrong.append(f"{now} open files in the idle daemon, {self.fds} at start: {names}")
        return wrong
