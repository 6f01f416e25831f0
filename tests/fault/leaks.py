# SPDX-License-Identifier: MIT
"""Many short runs under one daemon: memory and descriptors come to a level and stay there."""
import collections
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))
import rld as harness  # noqa: E402
from rld import SANITIZED, Daemon, Repo, rss_kib  # noqa: E402


class Kind(NamedTuple):
    name: str
    help: str


KIND = Kind("leaks", "short runs, of which nothing stays in the memory and the descriptors of rld")
RUNS = 20_000       # without a count
AT_ONCE = 8
BATCH = 50          # runs of one connection
SAMPLES = 20
PER_RUN = 64        # bytes that it may have grown in the second half, for each run; and
AT_LEAST = 2048     # KiB, since an allocator keeps what it had at the worst moment
# Of ten runs one fails, and one has a second agent, which reviews it.
AGENT = ["sh", "-c", 'test $((RL_RUN % 10)) -ne 1 && echo "RL-VERDICT: PASS"']


class Sample(NamedTuple):
    runs: int
    resident: int       # KiB
    private: int        # KiB, of what is not a file
    descriptors: int
    threads: int
    seconds: float


def sample(daemon, runs, started):
    """Of the daemon at rest, with one connection of ours."""
    with daemon.connect() as rpc:
        while (status := rpc.call("daemon.status"))["clients"] > 1 or status["busy"]:
            pass
        return Sample(runs, rss_kib(daemon.pid), rss_kib(daemon.pid, "RssAnon"), daemon.count_fds(),
                      rss_kib(daemon.pid, "Threads"), time.monotonic() - started)


def batch(daemon, places, first, count):
    """So many runs, from their submits to their ends: how many of each state."""
    with daemon.connect() as rpc:
        numbers = [rpc.call("run.submit", task="do it", workdir=str(places[n % len(places)].path),
                            **({"review": {"enabled": True}} if n % 10 == 0 else {}))["id"]
                   for n in range(first, first + count)]
        rpc.call("run.wait", ids=numbers)
        return collections.Counter(rpc.call("run.get", id=number)["state"] for number in numbers)


def judged(samples):
    """Sentences about what has grown in the second half."""
    half = next(s for s in samples if s.runs >= samples[-1].runs / 2)
    last, wrong = samples[-1], []
    allowed = AT_LEAST + PER_RUN * (last.runs - half.runs) // 1024
    if not SANITIZED and last.private - half.private > allowed:
        wrong.append(f"{last.private - half.private} KiB more after {last.runs} runs than after {half.runs}")
    if last.descriptors > half.descriptors:
        wrong.append(f"{last.descriptors} descriptors after {last.runs} runs, {half.descriptors} after {half.runs}")
    return wrong


def run(count, _):
    """So many runs: how many sentences are wrong. With a sanitizer the daemon says at its end what
    it has lost."""
    count = count or RUNS
    harness.become_subreaper()
    path = Path(tempfile.mkdtemp(prefix="rl-fault-", dir=os.environ.get("TMPDIR")))
    daemon = Daemon(path / "d")
    daemon.write_config({"parallel": AT_ONCE, "agent.play": {"command": AGENT}})
    places = [Repo(path / f"r{i}") for i in range(2 * AT_ONCE)]
    print(f"== {KIND.name}: {count} runs", flush=True)
    started, states = time.monotonic(), collections.Counter()
    daemon.start()
    samples = [sample(daemon, 0, started)]
    print("    runs  resident   private  descriptors  threads  seconds")
    while (done := samples[-1].runs) < count:
        until = min(count, done + max(BATCH, count // SAMPLES))
        for first in range(done, until, BATCH):
            states += batch(daemon, places, first, min(BATCH, until - first))
        samples.append(sample(daemon, until, started))
        print("{:8} {:8}K {:8}K {:12} {:8} {:8.0f}".format(*samples[-1]), flush=True)
    wrong = judged(samples) + daemon.finish()
    print(f"  {', '.join(f'{state} {n}' for state, n in sorted(states.items()))}")
    print(f"{KIND.name}: {count} runs, {len(wrong)} wrong, {time.monotonic() - started:.0f} s")
    for sentence in wrong:
        print(f"WRONG {sentence}")
    if not wrong:
        shutil.rmtree(path, ignore_errors=True)
    return len(wrong)
