# SPDX-License-Identifier: MIT
"""Durable submits, 32 in flight on one connection, against one fsync for each of as many requests.

The peer appends 4 KiB to a journal and calls fdatasync, once for each: what a service does that
answers each request by itself. In the second row each fsync of both sides takes 5 ms more."""
import subprocess
import sys
import time

import rld as harness
from bench_daemon import Pipe, make_daemon, start
from table import Row

SLOW = ["strace", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e",
        "inject=fsync,fdatasync:delay_exit=5000"]
LOOP = """
import os, sys, time
fd, count = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), int(sys.argv[2])
begin = time.monotonic()
for _ in range(count):
    os.write(fd, bytes(4096))
    os.fdatasync(fd)
print(count / (time.monotonic() - begin))
"""
FSYNC = "a loop of one fsync each"
BOUND = "a submit is bound by the processor: its settings are resolved, checked and stored for each"
ROWS = [
    Row("submit, 32 in flight", FSYNC, why=BOUND),
    Row("submit, 32 in flight, 5 ms a sync", FSYNC, at_least=10, why=BOUND),
]


def loop(bench, count, prefix):
    done = subprocess.run([*prefix, sys.executable, "-c", LOOP, str(bench.directory / "journal"), str(count)],
                          capture_output=True, text=True, check=True)
    return float(done.stdout)


def pairs(bench, name, prefix, count, syncs):
    if not bench.wants(name):
        return
    ours, peer = [], []
    workdir = bench.directory / "submit-workdir"
    workdir.mkdir(exist_ok=True)
    daemon = start(make_daemon(bench.directory / f"submit-{len(prefix)}", {"parallel": 1}, prefix=prefix))
    try:
        daemon.call("group.pause", name="default")
        with Pipe(daemon) as pipe:
            for _ in range(bench.rounds(5)):
                runs = [{"task": "do it", "workdir": str(workdir), "agent": "true"}] * count
                begin = time.monotonic()
                pipe.submit(runs)
                ours.append(count / (time.monotonic() - begin))
                peer.append(loop(bench, syncs, prefix))
    finally:
        daemon.stop()
    bench.row(name, ours=ours, peer=peer)


def measure(bench):
    pairs(bench, "submit, 32 in flight", [], bench.size(2000, 40), bench.size(500, 10))
    if bench.wants("submit, 32 in flight, 5 ms a sync") and not harness.can_trace():
        bench.lacks("submit, 32 in flight, 5 ms a sync", "strace")
    else:
        pairs(bench, "submit, 32 in flight, 5 ms a sync", SLOW, bench.size(2000, 40), bench.size(100, 10))
