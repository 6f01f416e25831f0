# SPDX-License-Identifier: MIT
"""The peer of the review: what somebody would write who knows beforehand how it will go.

What it does is taken from a review of rld under strace: the same agent, the same operations
of rl-git with the same words, environment and input, and as many fsyncs of files as large; no
supervision, no database, no rights to lose, no daemon. So there is nothing here to keep up
with rld. Processes are started by posix_spawn, and their output goes to files: nothing is
slow on purpose.
"""
import ast
import ctypes
import itertools
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

STRACE = ["strace", "-f", "-qq", "-y", "-z", "-v", "-s", "1000000", "-e", "signal=none", "-e",
          "trace=execve,fsync,fdatasync,sync,syncfs,unlink,unlinkat"]
STRING = r'"(?:[^"\\]|\\.)*"'
LIST = rf"\[(?:{STRING}(?:, )?)*\]"
EXEC = re.compile(rf"^(\d+) +execve\(({STRING}), ({LIST}), ({LIST})\) = 0$")
SYNC = re.compile(r"^(\d+) +(fsync|fdatasync|syncfs)\(\d+<(.*)>\) += 0$")
UNLINK = re.compile(rf"^(\d+) +unlink(?:at)?\((?:\w+<[^>]*>, )?({STRING})(?:, 0)?\) = 0$")
CALLS = {"fsync": os.fsync, "fdatasync": os.fdatasync, "syncfs": ctypes.CDLL(None).syncfs}
# its syncs are commits, which each pair counts for itself
DATABASE = re.compile(r"/rld\.db(?:-wal|-shm)?$")
# the instance of the state directory, what for, the run
REF = re.compile(r"\brefs/rl/([0-9a-f]{8})/([a-z-]+)/\d+")


@dataclass(frozen=True)
class Start:
    """A process: with the state directory and the workspace of the recorded review in its words."""
    argv: list
    environment: list
    cwd: str
    input: bytes		# or None
    output: bytes
    status: int


@dataclass(frozen=True)
class Sync:
    call: str		# one of CALLS
    path: str
    size: int		# None: a directory


@dataclass(frozen=True)
class Unlink:
    path: str


def texts(literal):
    """What strace writes for a string or a list of strings."""
    value = ast.literal_eval(literal)
    return [os.fsdecode(v.encode("latin-1"))
            for v in value] if isinstance(value, list) else os.fsdecode(value.encode("latin-1"))


def sealed(data):
    """An operation of rl-git whose text was changed, with the checksum that it has now: FNV-1a."""
    body, total = data[:data.rindex(b"end ")], 0xcbf29ce484222325
    for byte in body:
        total = (total ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return body + b"end %016x\n" % total


def rows_of(path):
    """[(name, value)] of a file that rld or a shim wrote about an attempt or step."""
    lines = path.read_text(errors="surrogateescape").splitlines()[1:-1]
    return [(name, re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], value))
            for name, _, value in (line.partition(" ") for line in lines)]


def argv_of(directory):
    """The command of an attempt or step as its shim was told."""
    return [value for name, value in rows_of(directory / "job") if name == "argv"]


def start_of(directory):
    """(uuid, Start) of an attempt or step, without its environment."""
    job, end = dict(rows_of(directory / "job")), dict(rows_of(directory / "exit"))
    if end["how"] != "code":
        raise RuntimeError(f"{argv_of(directory)} ended by {end['how']} {end['status']}")
    given = (directory / job["input"]).read_bytes() if "input" in job else None
    output = b"".join(path.read_bytes() for path in sorted(directory.glob("stdout.*")))
    return job["uuid"], Start(argv_of(directory), [], job["cwd"], given, output, int(end["status"]))


def kept_size(path):
    """Bytes of a file that was written under a name of its own until it was whole; it
    may be gone since."""
    for name in (path, re.sub(r"\.tmp\d*$", "", path)):
        if os.path.isdir(name):
            return None
        if os.path.isfile(name):
            return os.path.getsize(name)
    return 0


def recipe(lines, state):
    """What rld and its shims did, in order; what git and the agent did in them comes again by
    itself. lines: of strace."""
    jobs = dict(start_of(path.parent) for path in Path(state).glob("attempts/*/job"))
    programs, actions = {}, []	# by pid; what has not yet become a program is rld's or a shim's
    for line in lines:
        if match := EXEC.match(line):
            pid, program, argv, environment = match[1], *map(texts, match.groups()[1:])
            uuid = next((word.partition("=")[2] for word in environment if word.startswith("RL_ATTEMPT_UUID=")), None)
            programs[pid] = program
            if os.path.basename(program) == "rl-shim":
                del programs[pid]
            elif uuid in jobs:	# the first of its attempt: others are started by it
                job = jobs.pop(uuid)
                if argv != job.argv:
                    raise RuntimeError("rld started what its record does not say\n"
                                       f"started: {argv}\nrecord:  {job.argv}")
                actions.append(replace(job, environment=environment))
        elif match := SYNC.match(line):
            if match[1] not in programs and not DATABASE.search(match[3]):
                actions.append(Sync(match[2], match[3], kept_size(match[3])))
        elif match := UNLINK.match(line):
            if match[1] not in programs and texts(match[2]).startswith(str(state)):
                actions.append(Unlink(texts(match[2])))
        elif line.split()[0] not in programs and re.search(r" (execve|\w*sync\w*)\(", line):
            raise RuntimeError(f"strace wrote what is not understood: {line[:400]}")
    if jobs:
        raise RuntimeError(f"strace has not seen {[job.argv for job in jobs.values()]}")
    return actions


def plain(argv, state, workspace):
    """A command without what must differ: the places, the instance, the run and the attempt. Trees
    must not differ."""
    words = [word.replace(str(state), "STATE").replace(str(workspace), "REPO") for word in argv]
    return [REF.sub(r"refs/rl/I/\2/N", re.sub(r"(STATE/runs/|STATE/attempts/)\d+", r"\1N", word)) for word in words]


def same_processes(rld, script):
    """rld, script: lists of commands."""
    for n, (ours, theirs) in enumerate(itertools.zip_longest(rld, script), 1):
        if ours != theirs:
            raise RuntimeError(f"the script does not do what rld does, process {n}\nrld:    {ours}\nscript: {theirs}")


class Script:
    """Does the recorded review again, in a workspace of its own with the same content."""

    def __init__(self, actions, state, workspace, directory, into):
        """state, workspace: of the recorded review; directory: instead of state; into:
        instead of workspace."""
        self.actions, self.state, self.recorded = actions, str(state), str(workspace)
        self.directory, self.workspace = Path(directory), str(into)
        self.directory.mkdir()
        self.runs, self.place = 0, None
        self.starts = sum(isinstance(action, Start) for action in actions)
        self.journal = os.open(self.directory / "journal", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.page = b"\0" * 4096

    def close(self):
        os.close(self.journal)

    def here(self, text):
        return REF.sub(rf"refs/rl/\1/\2/{self.runs}",
                       text.replace(self.state, self.place).replace(self.recorded, self.workspace))

    def here_bytes(self, data):
        text = self.here(data.decode(errors="surrogateescape")).encode(errors="surrogateescape")
        return sealed(text) if text.startswith(b"rl-git-operation ") else text

    def make_directories(self, cwd, given):
        """Those that rld makes before it starts rl-git."""
        scratch = re.search(rb"^scratch (.*)$", given or b"", re.M)
        for path in (cwd, os.fsdecode(scratch[1]) if scratch else cwd):
            if path.startswith(self.place):
                os.makedirs(path, exist_ok=True)

    def prepare(self):
        """Before the time is taken: the recorded words with the places of this review, and
        directories for its files."""
        self.runs += 1
        self.place = str(self.directory / str(self.runs))
        todo = []
        for action in self.actions:
            if isinstance(action, Start):
                environment = dict(self.here(word).split("=", 1) for word in action.environment)
                for name in ("GIT_INDEX_FILE", "TMPDIR"):
                    if name in environment:
                        os.makedirs(os.path.dirname(environment[name]), exist_ok=True)
                argv = [self.here(word) for word in action.argv]
                given = None if action.input is None else self.here_bytes(action.input)
                cwd = self.here(action.cwd)
                self.make_directories(cwd, given)
                todo.append((self.start, argv, environment, cwd, given, self.here_bytes(action.output), action.status))
            elif isinstance(action, Sync):
                path = self.here(action.path)
                os.makedirs(path if action.size is None else os.path.dirname(path), exist_ok=True)
                todo.append((self.sync, CALLS[action.call], path, action.size))
            else:
                path = self.here(action.path)
                todo.append((self.unlink, path))
        os.makedirs(f"{self.place}/output", exist_ok=True)
        return todo

    # what the time is taken of

    def review(self, todo, commits):
        """What was prepared, with this many commits spread over its processes."""
        started = made = 0
        for do, *words in todo:
            if do == self.start:
                while made * self.starts <= commits * started and made < commits:
                    self.commit()
                    made += 1
                started += 1
            do(*words)
        while made < commits:
            self.commit()
            made += 1

    def commit(self):
        """One record of a step that was taken."""
        os.write(self.journal, self.page)
        os.fdatasync(self.journal)

    def sync(self, call, path, size):
        """A file of the review that lasts; a directory, or a file in the workspace, as it is."""
        if size is None or path.startswith(self.workspace):
            fd = os.open(path, os.O_RDONLY)
        else:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.write(fd, b"\n" * size)
        call(fd)
        os.close(fd)

    def unlink(self, path):
        if os.path.exists(path):
            os.unlink(path)

    def start(self, argv, environment, cwd, given, said, ended):
        source, out = "/dev/null", f"{self.place}/output/stdout"
        if given is not None:
            source = f"{self.place}/output/input"
            with open(source, "wb", buffering=0) as file:
                file.write(given)
        write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        actions = [(os.POSIX_SPAWN_OPEN, 0, source, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, out, write, 0o600),
                   (os.POSIX_SPAWN_OPEN, 2, f"{self.place}/output/stderr", write, 0o600)]
        os.chdir(cwd)
        pid = os.posix_spawnp(argv[0], argv, environment, file_actions=actions)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with open(out, "rb", buffering=0) as file:
            output = file.readall()
        if (status, output) != (ended, said):
            raise RuntimeError(f"the script does not do what rld does: {argv} in {cwd}\n"
                               f"rld:    {ended}, {said[:1000]}\n" f"script: {status}, {output[:1000]} "
                               f"{Path(f'{self.place}/output/stderr').read_text(errors='replace')}")
