# SPDX-License-Identifier: MIT
"""What docs/scale.md counts with: what one reviewed run of four attempts costs, what waits and what
works costs in memory, and what those cost who look on. These rows have no peer, and a bar only
where growth would break it."""
import os
import subprocess

import rld as harness
from bench_daemon import (HERE, Pipe, copy_run, line, make_daemon, make_repo, own_processor, processor_of, start,
                          started, written_by)
from review_rows import rld_review
from rld import rss_kib
from table import Row

REVIEWS = 20
QUEUED = 20_000
WORKING = 64
SCRAPES = 20

# as bench/agent, but the work of each run is another
AGENT = f"""{HERE}/agent
case $RL_ROLE in implement|fix) echo "$RL_ROLE $RL_ATTEMPT_UUID" >> work.txt ;; esac"""

ROWS = [
    Row("a run, processor of rld", "", unit="ms"),
    Row("a run, processor below rld", "", unit="ms"),
    Row("a run, written by rld", "", unit="KiB"),
    Row("a run, database", "", unit="KiB"),
    Row("a run, attempts", "", unit="KiB"),
    Row("a run, evidence", "", unit="KiB"),
    Row("a run, commits", "", unit="n"),
    Row("a run, events", "", unit="n"),
    Row("queued run, resident", "limit", at_most=32, unit="KiB"),
    Row("running attempt, resident", "limit", at_most=256, unit="KiB"),
    Row("rlctl metrics, processor of rld", "limit: 64 at work, and history", at_most=20, unit="ms"),
    Row("rlctl metrics, processor", "", unit="ms"),
    Row("rlctl report, processor", "", unit="ms"),
    Row("rlctl review export, processor", "", unit="ms"),
    Row("rlctl attest, processor", "", unit="ms"),
]
OF_A_RUN = [row.name for row in ROWS if row.name.startswith("a run, ")]
CLIENTS = [row.name for row in ROWS if row.name.startswith("rlctl ")]


def disk_kib(path):
    """What it takes up, with its directories."""
    return int(subprocess.run(["du", "-sk", str(path)], capture_output=True, text=True, check=True).stdout.split()[0])


def database_kib(daemon):
    """Of a copy, which has no free pages and no journal."""
    copy = daemon.path / "copy.db"
    copy.unlink(missing_ok=True)
    client(daemon, "backup", str(copy))
    return copy.stat().st_size / 1024


def client(daemon, *words):
    subprocess.run([str(harness.RLCTL), "--socket", str(daemon.socket), *words], check=True, capture_output=True,
                   env={"PATH": os.environ["PATH"], "HOME": str(daemon.path)}, stdin=subprocess.DEVNULL)


def totals(daemon, rpc):
    status = rpc.call("daemon.status")
    own = processor_of(daemon, children=False)
    return {"processor of rld": own * 1000, "processor below rld": (processor_of(daemon) - own) * 1000,
            "written by rld": written_by(daemon) / 1024, "database": database_kib(daemon),
            "attempts": disk_kib(daemon.state / "attempts"), "evidence": disk_kib(daemon.state / "evidence"),
            "commits": status["commits"], "events": status["events"]["last"]}


def reviews(bench, daemon, rpc, repo):
    """Number of one after them, whose work is committed."""
    rld_review(daemon, rpc, repo)	# the base is fetched, and the journal has its size
    count = bench.size(REVIEWS, 2)
    before = totals(daemon, rpc)
    for _ in range(count):
        rld_review(daemon, rpc, repo)
    after = totals(daemon, rpc)
    for name in OF_A_RUN:
        what = name.split(", ")[1]
        bench.row(name, [(after[what] - before[what]) / count])
    (repo.path / "work.txt").unlink()
    last = rpc.call("run.submit", task="do it", workdir=str(repo.path), review={"enabled": True}, commit="auto")["id"]
    rpc.call("run.wait", ids=[last])
    return last


def client_cost(daemon, *words, count):
    """Processor milliseconds of such a command: of rld, and with its own."""
    rld, own = processor_of(daemon, children=False), own_processor()
    for _ in range(count):
        client(daemon, *words)
    rld, own = processor_of(daemon, children=False) - rld, own_processor() - own
    return rld / count * 1000, (rld + own) / count * 1000


def key_of(directory):
    key = directory / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    return key


def of_a_run(bench):
    directory = bench.directory / "scale"
    directory.mkdir()
    repo = make_repo(directory / "repo")
    config = {"attest_key": str(key_of(directory)), "default_agent": "other",
              "agent.other": {"command": ["/bin/sh", "-c", AGENT], "reader": "text"}}
    with started(directory / "d", config) as daemon, daemon.connect() as rpc:
        last = str(reviews(bench, daemon, rpc, repo))
        for name in CLIENTS:
            words = name.split(",")[0].split()[1:]
            if words[0] == "metrics" or not bench.wants(name):
                continue
            bench.row(name, [client_cost(daemon, *words, last, count=bench.size(10, 1))[1]])


def waiting(bench):
    """What a queued run takes up."""
    directory = bench.directory / "scale-queue"
    daemon = start(make_daemon(directory, {"parallel": 1}))
    for name in ("first", "w"):
        (directory / name).mkdir()
    daemon.submit(directory / "first", agent="wait", priority=9)
    queued = daemon.submit(directory / "w", agent="true")
    daemon.stop()
    sizes = []
    for count in (0, bench.size(QUEUED, 500)):
        copy_run(daemon, queued, count, workdir=f"'{directory}/none/' || :n", workspace=f"'{directory}/none/' || :n")
        start(daemon)
        with Pipe(daemon) as pipe:
            pipe.call("daemon.status")
            sizes.append(rss_kib(daemon.pid))
        if count == 0:
            daemon.stop()
    daemon.kill()
    bench.row("queued run, resident", [(sizes[1] - sizes[0]) / bench.size(QUEUED, 500)])


def working(bench):
    """What an attempt at work takes up in rld, and what it costs to look at so many."""
    directory = bench.directory / "scale-work"
    count = bench.size(WORKING, 3)
    with started(directory, {"parallel": count + 1}) as daemon, Pipe(daemon) as pipe:
        for n in range(count + 1):
            (directory / f"w{n}").mkdir()
        pipe.wait(pipe.submit([{"task": "x", "workdir": str(directory / "w0"), "agent": "true"}]))
        before = rss_kib(daemon.pid)
        running = pipe.submit([{"task": "x", "workdir": str(directory / f"w{n}"), "agent": "wait"}
                               for n in range(count)])
        with daemon.events(types=["attempt.started"]) as events:
            for _ in range(count):
                events.next()
        bench.row("running attempt, resident", [(rss_kib(daemon.pid) - before) / count])
        rld, both = client_cost(daemon, "metrics", count=bench.size(SCRAPES, 2))
        bench.row("rlctl metrics, processor of rld", [rld])
        bench.row("rlctl metrics, processor", [both])
        pipe.all([line("run.cancel", {"id": run}) for run in running])
        pipe.wait(running)


def measure(bench):
    if bench.wants(*OF_A_RUN, "rlctl report, processor", "rlctl review export, processor", "rlctl attest, processor"):
        of_a_run(bench)
    if bench.wants("queued run, resident"):
        waiting(bench)
    if bench.wants("running attempt, resident", *(name for name in CLIENTS if "metrics" in name)):
        working(bench)
