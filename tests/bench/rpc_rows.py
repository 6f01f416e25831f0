# SPDX-License-Identifier: MIT
"""Reads from memory: answers per second against echo.c, and their delay while the disk is busy.

The peer is a server on the same libraries and the same kind of socket, which parses each line with
jansson and writes out the very object that rld answers, ready-made: what lies between the two is
rld's limits, method table, lookup and making of the object. Client and both servers share one
processor, so that it does not matter what runs on the others."""
import contextlib
import json
import os
import subprocess
import sys
import time

from bench_daemon import line, make_repo, started, Pipe
from table import Row

RPC_MS = 20
PAIRS = 60
FLOOD = """
import os
fd = os.open({path!r}, os.O_WRONLY | os.O_CREAT, 0o600)
print("ready", flush=True)
while True:
    os.pwrite(fd, b"x" * 4096, 0)
    os.fdatasync(fd)
"""
MADE = "the object is made for each answer, the peer has it ready-made"
ECHO = "bare libuv + jansson"
READS = 5000		# while the disk is flooded

ROWS = [
    Row("rpc daemon.status", ECHO, at_least=0.8, why=MADE),
    Row("rpc run.get, unfinished", ECHO, at_least=0.8, why=MADE),
    Row("rpc run.get, ended", ECHO, at_least=0.8, why=MADE),
    Row("rpc run.list, page of 20", ECHO, at_least=0.8, why=MADE),
    Row("rpc p99, disk flooded", "limit: 4 processes that fsync", at_most=5, unit="ms"),
]


class Echo:
    """The peer, with this object as its answer."""

    def __init__(self, tools, directory, result):
        self.socket = directory / "echo"
        result_file = directory / "echo.json"
        result_file.write_text(json.dumps(result))
        self.process = subprocess.Popen([tools / "echo", self.socket, result_file], stdout=subprocess.PIPE)

    def __enter__(self):
        if self.process.stdout.readline() != b"ready\n":
            raise RuntimeError("echo does not listen")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.socket.unlink()


def keep_on(cpus, pid):
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(thread), cpus)


def rate(bench, daemon, name, method, **params):
    if not bench.wants(name):
        return
    with Echo(bench.tools, daemon.path, daemon.call(method, **params)) as echo:
        everywhere = os.sched_getaffinity(daemon.pid)
        cpu = {max(everywhere)}
        for pid in (daemon.pid, echo.process.pid):
            keep_on(cpu, pid)
        request = line(method, params).decode().strip()
        with subprocess.Popen([bench.tools / "rate", daemon.socket, echo.socket, request, str(bench.rounds(PAIRS)),
                               str(RPC_MS)], stdout=subprocess.PIPE, text=True) as client:
            keep_on(cpu, client.pid)
            lines = client.stdout.read().splitlines()
        keep_on(everywhere, daemon.pid)
    if client.returncode != 0:
        raise RuntimeError(f"rate ended with {client.returncode}")
    rates = [[float(x) for x in pair.split()] for pair in lines]
    bench.row(name, ours=[a for a, _ in rates], peer=[b for _, b in rates])


def flooded(bench, daemon, name, run):
    """The slowest of a hundred reads, in ms."""
    if not bench.wants(name):
        return
    values = []
    with contextlib.ExitStack() as stack:
        for i in range(4):
            flood = stack.enter_context(subprocess.Popen(
                [sys.executable, "-c", FLOOD.format(path=str(bench.directory / f"flood-{i}"))], stdout=subprocess.PIPE))
            stack.callback(flood.kill)
            flood.stdout.readline()
        pipe = stack.enter_context(Pipe(daemon))
        for _ in range(bench.rounds(3)):
            delays = []
            for i in range(bench.size(READS, 100)):
                begin = time.monotonic()
                pipe.call("daemon.status") if i % 2 else pipe.call("run.get", id=run)
                delays.append(time.monotonic() - begin)
            values.append(sorted(delays)[len(delays) * 99 // 100] * 1000)
    bench.row(name, values)


def measure(bench):
    with started(bench.directory / "rpc", {"parallel": 1}) as daemon:
        workdir = make_repo(bench.directory / "rpc-repo").path
        ended = [daemon.submit(workdir, agent="true") for _ in range(20)]
        daemon.ended(*ended)
        waiting = daemon.submit(workdir, agent="wait")
        try:
            with daemon.events(run=waiting, types=["attempt.started"]) as events:
                events.until("attempt.started")
            rate(bench, daemon, "rpc daemon.status", "daemon.status")
            rate(bench, daemon, "rpc run.get, unfinished", "run.get", id=waiting)
            rate(bench, daemon, "rpc run.get, ended", "run.get", id=ended[0])
            rate(bench, daemon, "rpc run.list, page of 20", "run.list", limit=20)
            flooded(bench, daemon, "rpc p99, disk flooded", waiting)
        finally:
            daemon.cancelled(waiting)
