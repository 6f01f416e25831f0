# SPDX-License-Identifier: MIT
"""What grows: history, queue, slots and followers. Each row is the cost at one size in relation to
that of the smallest: 1 is flat.

Histories and queues are inserted as copies of one run (bench_daemon.copy_run). What is measured is
the processor time of the daemon alone, which other work on the machine hardly disturbs."""
import contextlib
import time

from bench_daemon import Pipe, copy_run, line, make_daemon, processor_of, pss_kib, start, started, written_by
from rld import descendants, rss_kib
from table import Row

HISTORY = (1000, 10_000, 100_000, 1_000_000)
QUEUE = (10, 1000, 10_000, 100_000)
LONG_HISTORY, LONG_QUEUE = 1_000_000, 100_000	# only with LONG=1
SLOTS = (1, 64, 256)		# one more runs beside them
FOLLOWERS = (1, 100, 1000)
CONNECTIONS = 250	# of followers
ENDS = 40		# runs that end in front of a queue

HISTORY_ROWS = {
    "start, ms": (1000, "limit: a clean stop before it", "ms"),
    "page of 50, ms": (5, "limit: run.list", "ms"),
    "cold run.get, ms": (5, "limit", "ms"),
    "RSS, MiB": (32, "limit", "MiB"),
}
QUEUE_ROWS = {"processor": 2.0, "events": 1.5, "written": 2.0}
PLACES = ("own workdirs", "one workdir")


def history_name(what, size):
    return f"history {size}, {what}"


def queue_name(place, what, size):
    return f"queue {size}, {place}, {what}"


ROWS = [Row(history_name(what, size), peer, at_most=bar, unit=unit, long=size >= LONG_HISTORY)
        for size in HISTORY for what, (bar, peer, unit) in HISTORY_ROWS.items()]
ROWS += [Row(queue_name(place, what, size), f"the same before {QUEUE[0]} queued runs", at_most=bar,
             long=size >= LONG_QUEUE, why="something walks what waits")
         for place in PLACES for size in QUEUE[1:] for what, bar in QUEUE_ROWS.items()]
ROWS += [Row(f"slots {size}, processor", "a run in one slot", at_most=2.0, why="something walks the fleet")
         for size in SLOTS[1:]]
ROWS += [Row(f"slots {SLOTS[-1]}, rl-shim PSS", "limit", at_most=1.5, unit="MiB")]
ROWS += [Row(f"followers {size}, processor", "events to one follower: for each one more", at_most=0.1,
             why="writing to each socket") for size in FOLLOWERS[1:]]


def one_run(directory):
    """A daemon with one ended run, stopped."""
    daemon = start(make_daemon(directory))
    workdir = directory / "w"
    workdir.mkdir()
    daemon.ended(daemon.submit(workdir, agent="true"))
    # what it has kept is measured, so that the copies need not be
    with daemon.connect() as rpc:
        while rpc.call("run.get", id=1)["bytes"] is None:
            rpc.call("daemon.status")
    daemon.stop()
    return daemon


def history(bench, size):
    names = {what: history_name(what, size) for what in HISTORY_ROWS}
    if not bench.wants(*names.values()):
        return
    daemon = one_run(bench.directory / f"history-{size}")
    copies = copy_run(daemon, 1, size)
    values = {what: [] for what in HISTORY_ROWS}
    for _ in range(bench.rounds(3)):
        begin = time.monotonic()
        start(daemon)
        values["start, ms"].append((time.monotonic() - begin) * 1000)
        with Pipe(daemon) as pipe:
            for n in range(bench.rounds(20)):
                begin = time.monotonic()
                pipe.call("run.list", limit=50)
                values["page of 50, ms"].append((time.monotonic() - begin) * 1000)
                run = copies[(n * 7919 + 13) % size]
                begin = time.monotonic()
                pipe.call("run.get", id=run)
                values["cold run.get, ms"].append((time.monotonic() - begin) * 1000)
        values["RSS, MiB"].append(rss_kib(daemon.pid) / 1024)
        daemon.stop()
    for what, name in names.items():
        bench.row(name, values[what])


def spent(daemon, pipe):
    """So far: processor seconds, events, bytes written."""
    return processor_of(daemon, children=False), pipe.call("daemon.status")["events"]["last"], written_by(daemon)


def settled(daemon, pipe):
    """What was spent when no more events come: the reason of a copy is another one now, and each is
    told once."""
    while True:
        before = spent(daemon, pipe)
        time.sleep(0.2)
        after = spent(daemon, pipe)
        if after[1] == before[1]:
            return after


def made(path):
    path.mkdir()
    return path


def queue_cost(bench, place, size):
    """What one end costs before so many queued runs."""
    directory = bench.directory / f"queue-{PLACES.index(place)}-{size}"
    daemon = start(make_daemon(directory, {"parallel": 1}))
    shared = made(directory / "shared")
    ends = bench.size(ENDS, 4)
    places = [shared] * ends if place == "one workdir" else [directory / f"w{n}" for n in range(ends)]
    for each in places:
        each.mkdir(exist_ok=True)
    # it has the only slot until all are queued
    first = daemon.submit(made(directory / "first"), agent="wait", priority=9)
    with daemon.events(run=first, types=["attempt.started"]) as events:
        events.next()
    with Pipe(daemon) as pipe:
        last = pipe.submit([{"task": "x", "workdir": str(shared), "agent": "true", "priority": -5}])[0]
    daemon.stop()
    changes = {name: f"'{directory}/none/' || :n" for name in ("workdir", "workspace") if place != "one workdir"}
    copy_run(daemon, last, size, **changes)
    start(daemon)
    with Pipe(daemon) as pipe:
        ids = pipe.submit([{"task": "x", "workdir": str(each), "agent": "true", "priority": 5} for each in places])
        before = settled(daemon, pipe)
        pipe.call("run.cancel", id=first)
        pipe.wait(ids)
        after = spent(daemon, pipe)
    daemon.kill()	# its queue goes with its directory
    return [(b - a) / ends for a, b in zip(before, after)]


def queues(bench, place):
    sizes = [size for size in QUEUE[1:] if bench.wants(*(queue_name(place, what, size) for what in QUEUE_ROWS))]
    if bench.short:
        sizes = sizes[:1]
    if not sizes:
        return
    base = queue_cost(bench, place, QUEUE[0])
    for size in sizes:
        cost = queue_cost(bench, place, bench.size(size, 50))
        for at, what in enumerate(QUEUE_ROWS):
            scale = 1000 if what == "processor" else 1
            bench.row(queue_name(place, what, size), ours=[cost[at] * scale], peer=[base[at] * scale])


def slot_cost(bench, size):
    """Processor seconds of the daemon for a run among so many that run; MiB of each shim."""
    directory = bench.directory / f"slots-{size}"
    with started(directory, {"parallel": size + 1}) as daemon, Pipe(daemon) as pipe:
        for n in range(size + 1):
            (directory / f"w{n}").mkdir()
        running = pipe.submit([{"task": "x", "workdir": str(directory / f"w{n}"), "agent": "wait"}
                               for n in range(size)])
        with daemon.events(types=["attempt.started"]) as events:
            for _ in range(size):
                events.next()
        shims = [pss_kib(pid) / 1024 for pid in descendants(daemon.pid)
                 if b"rl-shim" in open(f"/proc/{pid}/cmdline", "rb").read()]
        count = bench.size(40, 4)
        before = processor_of(daemon, children=False)
        for _ in range(count):
            pipe.wait(pipe.submit([{"task": "x", "workdir": str(directory / f"w{size}"), "agent": "true"}]))
        cost = (processor_of(daemon, children=False) - before) / count
        pipe.all([line("run.cancel", {"id": run}) for run in running])
        pipe.wait(running)
    return cost, shims


def slots(bench):
    sizes = [size for size in SLOTS[1:] if bench.wants(f"slots {size}, processor", f"slots {SLOTS[-1]}, rl-shim PSS")]
    if bench.short:
        sizes = sizes[:1]
    if not sizes:
        return
    base, _ = slot_cost(bench, 1)
    for size in sizes:
        cost, shims = slot_cost(bench, 3 if bench.short else size)
        bench.row(f"slots {size}, processor", ours=[cost * 1000], peer=[base * 1000])
        if size == SLOTS[-1]:
            bench.row(f"slots {size}, rl-shim PSS", shims)


def follower_cost(bench, size):
    """Processor seconds of the daemon for a run that so many follow."""
    directory = bench.directory / f"followers-{size}"
    with started(directory) as daemon, contextlib.ExitStack() as stack:
        workdir = directory / "w"
        workdir.mkdir()
        # a daemon serves 512 connections
        pipes = [stack.enter_context(Pipe(daemon)) for _ in range(min(size, CONNECTIONS))]
        for n in range(size):
            pipes[n % len(pipes)].call("event.subscribe", subscription=f"s{n}")
        # each has read what it was told before the next is told: as a person's terminal does
        with Pipe(daemon) as pipe:
            count = bench.size(10, 2)
            before = processor_of(daemon, children=False)
            for _ in range(count):
                pipe.wait(pipe.submit([{"task": "x", "workdir": str(workdir), "agent": "true"}]))
                for each in pipes:
                    drain(each.socket)
            return (processor_of(daemon, children=False) - before) / count


def drain(sock):
    sock.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while sock.recv(1 << 16):
            pass


def followers(bench):
    sizes = [size for size in FOLLOWERS[1:] if bench.wants(f"followers {size}, processor")]
    if bench.short:
        sizes = sizes[:1]
    if not sizes:
        return
    base = follower_cost(bench, FOLLOWERS[0])
    for size in sizes:
        cost = follower_cost(bench, bench.size(size, 3))
        bench.row(f"followers {size}, processor", [(cost - base) / base / (size - 1)])


def measure(bench):
    for size in HISTORY[:1] if bench.short else HISTORY:
        history(bench, size)
    for place in PLACES:
        queues(bench, place)
    slots(bench)
    followers(bench)
