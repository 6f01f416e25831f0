# SPDX-License-Identifier: MIT
"""A daemon without work: its memory, and how often it is woken up."""
import re
import time
from pathlib import Path

from bench_daemon import pss_kib, started
from rld import rss_kib
from table import Row

ROWS = [
    Row("idle, resident", "limit", at_most=8, unit="MiB"),
    Row("idle, PSS", "", unit="MiB"),
    Row("idle, wakeups a second", "limit", at_most=0, unit="1/s"),
]


def switches(pid):
    return sum(int(count) for status in Path(f"/proc/{pid}/task").glob("*/status")
               for count in re.findall(r"^\w*voluntary_ctxt_switches:\t(\d+)$", status.read_text(), re.M))


def measure(bench):
    if not bench.wants(*(row.name for row in ROWS)):
        return
    with started(bench.directory / "idle") as daemon:
        seconds = bench.size(10, 1)
        time.sleep(bench.size(2, 1))	# what the start has left to do
        before = switches(daemon.pid)
        time.sleep(seconds)
        bench.row("idle, wakeups a second", [(switches(daemon.pid) - before) / seconds])
        bench.row("idle, resident", [rss_kib(daemon.pid) / 1024])
        bench.row("idle, PSS", [pss_kib(daemon.pid) / 1024])
