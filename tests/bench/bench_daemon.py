# SPDX-License-Identifier: MIT
"""A daemon for the bench, and a client that costs as little as possible."""
import contextlib
import json
import os
import re
import resource
import socket
import sqlite3
import statistics
import time
from pathlib import Path

from rld import Daemon, Play, Repo

HERE = Path(__file__).resolve().parent
PATH = "/usr/local/bin:/usr/bin:/bin"
FILES = 12		# in a repository


def make_repo(path, files=FILES):
    """The same commits each time."""
    os.environ.update(GIT_AUTHOR_DATE="2020-01-01T00:00:00Z", GIT_COMMITTER_DATE="2020-01-01T00:00:00Z")
    repo = Repo(path, commit=False)
    for i in range(files):
        repo.write(f"source/{i // 100:03}/{i:05}.c", f"int value_{i}(void)\n{{\n\treturn {i};\n}}\n" * 20)
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "start")
    return repo


def make_daemon(directory, config=None, **kwargs):
    agents = {"bench": [str(HERE / "agent")], "wait": ["sleep", "3600"], "true": ["/bin/true"]}
    tables = {f"agent.{name}": {"command": command, "reader": "text"} for name, command in agents.items()}
    return Daemon(directory, Play(Path(directory) / "play"), {"default_agent": "bench", **tables, **(config or {})},
                  {"PATH": PATH}, **kwargs)


def start(daemon, **environment):
    return daemon.start("--log-level", "warn", environment=environment)


@contextlib.contextmanager
def started(directory, config=None, **kwargs):
    daemon = start(make_daemon(directory, config, **kwargs))
    try:
        yield daemon
    finally:
        daemon.stop()


class Pipe:
    """Many requests in flight on one connection: nothing but the id of an answer is read."""

    ID = re.compile(rb'"result":\{"id":(\d+)')

    def __init__(self, daemon, deadline=600):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(deadline)
        self.socket.connect(str(daemon.socket))
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def lines(self):
        while b"\n" not in self.buffer:
            data = self.socket.recv(1 << 20)
            if not data:
                raise RuntimeError("the daemon closed the connection")
            self.buffer += data
        *lines, self.buffer = self.buffer.split(b"\n")
        return lines

    def call(self, method, **params):
        self.socket.sendall(line(method, params))
        # events may come before the answer
        answer = next(each for lines in iter(self.lines, None) for each in map(json.loads, lines) if "id" in each)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def all(self, requests, flight=32):
        """Send these, so many at a time: the answers, as they were written."""
        requests, answers = list(requests), []
        sent = min(flight, len(requests))
        self.socket.sendall(b"".join(requests[:sent]))
        while len(answers) < len(requests):
            answers += (lines := self.lines())
            more = requests[sent:sent + len(lines)]
            sent += len(more)
            if more:
                self.socket.sendall(b"".join(more))
        if bad := next((a for a in answers if b'"error"' in a), None):
            raise RuntimeError(bad.decode())
        return answers

    def submit(self, runs, flight=32):
        """Parameters of runs: their ids."""
        return [int(self.ID.search(answer)[1]) for answer in
                self.all((line("run.submit", params) for params in runs), flight)]

    def wait(self, ids):
        for at in range(0, len(ids), 200):
            self.call("run.wait", ids=ids[at:at + 200])


def line(method, params):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n"


def fields_of(daemon):
    return Path(f"/proc/{daemon.pid}/stat").read_text().rsplit(")", 1)[1].split()


def processor_of(daemon, children=True):
    """Seconds on processors, of the daemon and of all that has ended below it."""
    if children:
        return sum(map(int, fields_of(daemon)[11:15])) / os.sysconf("SC_CLK_TCK")
    # in ticks of the scheduler, not of the clock: short works count as well
    return sum(int(Path(f"/proc/{daemon.pid}/task/{thread}/schedstat").read_text().split()[0])
               for thread in os.listdir(f"/proc/{daemon.pid}/task")) / 1e9


def own_processor():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def written_by(daemon):
    """Bytes that the daemon has written."""
    return int(re.search(r"^wchar: (\d+)$", Path(f"/proc/{daemon.pid}/io").read_text(), re.M)[1])


def pss_kib(pid):
    return int(re.search(r"^Pss: +(\d+) kB$", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)[1])


def timed(call, *args):
    begin = time.monotonic()
    result = call(*args)
    return time.monotonic() - begin, result


def middle(values):
    return statistics.median(values)


# ---- many rows without many runs -----------------------------------------------------------------

OF_A_RUN = dict.fromkeys(["task", "task_text", "judge", "attempt", "slot", "iteration", "entry"], "run")


def copy_run(daemon, run, count, batch=20000, **changes):
    """Insert so many copies of a run with all its rows into the database of a stopped daemon.
    changes: columns of the run, in SQL, where :n is the number of the copy. Their records cannot be
    verified: no copy was run."""
    database = sqlite3.connect(daemon.state / "rld.db", isolation_level=None)
    database.execute("PRAGMA synchronous = OFF")
    first = database.execute("SELECT seq FROM sqlite_sequence WHERE name = 'run'").fetchone()[0] + 1
    attempts = database.execute("SELECT ifnull(max(seq), 0) FROM sqlite_sequence "
                                "WHERE name IN ('attempt', 'step')").fetchone()[0]
    database.execute("CREATE TEMP TABLE copy (n INTEGER PRIMARY KEY)")

    def columns_of(table, new):
        names = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        return (", ".join(f'"{name}"' for name in names),
                ", ".join(f"({new[name]})" if name in new else f'"{name}"' for name in names))

    database.execute("BEGIN")
    for at in range(0, count, batch):
        database.execute("DELETE FROM copy")
        database.executemany("INSERT INTO copy VALUES (?)", ((n,) for n in range(at, min(at + batch, count))))
        for table, key in {"run": "id", **OF_A_RUN}.items():
            new = {key: f"{first} + n"}
            if table == "run":
                new |= {"key": "NULL", **{name: sql.replace(":n", "n") for name, sql in changes.items()}}
            if table == "attempt":
                new |= {"id": f"{attempts} + n * 4 + number", "uuid": "printf('%08x', n) || substr(uuid, 9)"}
            into, values = columns_of(table, new)
            database.execute(f"INSERT INTO {table} ({into}) SELECT {values} FROM copy CROSS JOIN {table} "
                             f"WHERE {key} = {run}")
    database.execute("COMMIT")
    database.close()
    return range(first, first + count)
