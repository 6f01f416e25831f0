# SPDX-License-Identifier: MIT
"""Many short runs, from the first submit to the last exit, against queues of jobs that keep no
record: task-spooler and nq, a shell loop and posix_spawn; and the delay of a single one.

What rld does more: each state is committed before its effect, each run has a supervisor that
outlives the daemon, and prompt, job and result are synced to disk."""
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from bench_daemon import Pipe, started
from table import Row

RECORD = "commits, syncs and a supervisor for each run"
SLOTS = 4
TMPFS = Path("/dev/shm")

# name: whether the state is in memory, whether all runs want one workdir, the peer
KINDS = {
    "runs, tmpfs, tsp": (True, False, "tsp"),
    "runs, disk, tsp": (False, False, "tsp"),
    "runs, one workdir, tmpfs, tsp": (True, True, "tsp"),
    "runs, one workdir, tmpfs, nq": (True, True, "nq"),
    "runs, tmpfs, shell loop": (True, False, "shell"),
    "runs, tmpfs, posix_spawn": (True, False, "spawn"),
}
PEERS = {"tsp": "task-spooler, as many slots", "nq": "nq, one at a time", "shell": "for i in ...; do /bin/true; done",
         "spawn": "posix_spawn and waitpid"}
ROWS = [Row(name, PEERS[peer], at_most=1 if name == "runs, tmpfs, tsp" else None, why=RECORD)
        for name, (_, _, peer) in KINDS.items()] + [
    Row("rlctl run -q", "tsp -f", why=RECORD),
    Row("submit to main()", "posix_spawn to main()", why=RECORD),
]


def tsp(directory, count, slots):
    environment = {**os.environ, "TS_SOCKET": str(directory / "tsp"), "TMPDIR": str(directory),
                   "TS_MAXFINISHED": "20000"}

    def call(*words):
        return subprocess.run(["tsp", *words], env=environment, check=True, capture_output=True, text=True).stdout

    call("-S", str(slots))
    try:
        begin = time.monotonic()
        for _ in range(count):
            call("-n", "/bin/true")
        # the last of the queue need not be the last to end
        while re.search(r"^\d+ +(queued|running)", call(), re.M):
            call("-w")
        return time.monotonic() - begin
    finally:
        call("-K")


def nq(directory, count, slots):
    environment = {**os.environ, "NQDIR": str(directory)}
    begin = time.monotonic()
    for _ in range(count):
        subprocess.run(["nq", "-q", "/bin/true"], env=environment, check=True, capture_output=True)
    subprocess.run(["nq", "-w"], env=environment, check=True, capture_output=True)
    return time.monotonic() - begin


def shell(directory, count, slots):
    begin = time.monotonic()
    subprocess.run(["sh", "-c", f"i=0; while [ $i -lt {count} ]; do /bin/true; i=$((i+1)); done"], check=True)
    return time.monotonic() - begin


def spawn(directory, count, slots):
    begin = time.monotonic()
    for _ in range(count):
        os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
    return time.monotonic() - begin


CALLS = {"tsp": tsp, "nq": nq, "shell": shell, "spawn": spawn}


def many(directory, count, one):
    """Seconds of so many runs."""
    places = [directory / f"w{0 if one else n % 64}" for n in range(count)]
    for place in set(places):
        place.mkdir(exist_ok=True)
    runs = [{"task": "x", "workdir": str(place), "agent": "true"} for place in places]
    with started(directory / "d", {"parallel": SLOTS}) as daemon, Pipe(daemon) as pipe:
        begin = time.monotonic()
        pipe.wait(pipe.submit(runs))
        seconds = time.monotonic() - begin
        counts = pipe.call("run.list", state="succeeded", limit=1)
        if len(counts["runs"]) != 1 or sum(pipe.call("daemon.status")["runs"].values()):
            raise RuntimeError("the runs did not end as planned")
    return seconds


def throughput(bench, name):
    memory, one, peer = KINDS[name]
    if not bench.wants(name):
        return
    if peer in ("tsp", "nq") and shutil.which(peer) is None:
        bench.lacks(name, peer)
        return
    ours, theirs = [], []
    for _ in range(bench.rounds(3)):
        for call, seconds in ((many, ours), (CALLS[peer], theirs)):
            base = TMPFS if memory and TMPFS.is_dir() else bench.directory
            with tempfile.TemporaryDirectory(prefix="rld-bench-", dir=base) as directory:
                seconds.append(call(Path(directory), bench.size(1000, 10), one if call == many else SLOTS))
    bench.row(name, ours=ours, peer=theirs)


def single(bench, name):
    if not bench.wants(name):
        return
    if shutil.which("tsp") is None:
        bench.lacks(name, "tsp")
        return
    ours, theirs = [], []
    environment = {**os.environ, "TS_SOCKET": str(bench.directory / "tsp1"), "TMPDIR": str(bench.directory)}
    workdir = bench.directory / "single"
    workdir.mkdir()
    with started(bench.directory / "single-d") as daemon:
        try:
            for n in range(-1, bench.rounds(20)):
                begin = time.monotonic()
                daemon.rlctl("run", "-q", "--agent", "true", "-C", workdir, "x", check=0)
                between = time.monotonic()
                subprocess.run(["tsp", "-f", "/bin/true"], env=environment, check=True, capture_output=True)
                if n >= 0:
                    ours.append((between - begin) * 1000)
                    theirs.append((time.monotonic() - between) * 1000)
        finally:
            subprocess.run(["tsp", "-K"], env=environment, check=True, capture_output=True)
    bench.row(name, ours=ours, peer=theirs)


def to_main(bench, name):
    """Until the agent's program runs: it writes a byte into a pipe of files."""
    if not bench.wants(name):
        return
    fifo, workdir = bench.directory / "fifo", bench.directory / "main"
    os.mkfifo(fifo)
    workdir.mkdir()
    words = ["/bin/sh", "-c", f"echo > {fifo}"]
    ours, theirs = [], []
    with started(bench.directory / "main-d", {"agent.fifo": {"command": words, "reader": "text"}}) as daemon, \
            Pipe(daemon) as pipe:
        for n in range(-1, bench.rounds(20)):
            begin = time.monotonic()
            run = pipe.submit([{"task": "x", "workdir": str(workdir), "agent": "fifo"}])
            fifo.read_bytes()
            ours.append((time.monotonic() - begin) * 1000)
            pipe.wait(run)
            begin = time.monotonic()
            pid = os.posix_spawn(words[0], words, {})
            fifo.read_bytes()
            theirs.append((time.monotonic() - begin) * 1000)
            os.waitpid(pid, 0)
    bench.row(name, ours=ours[1:], peer=theirs[1:])


def measure(bench):
    for name in KINDS:
        throughput(bench, name)
    single(bench, "rlctl run -q")
    to_main(bench, "submit to main()")
