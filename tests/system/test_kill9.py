# SPDX-License-Identifier: MIT
"""kill -9 of the daemon at random moments of one review: nothing is lost, nothing is paid twice.
KILLS=n, SEED=n."""
import collections
import os
import random
import select
import signal

import pytest
from rld import DRIFT_THEN_PASS, Closed, Events, Repo, alive, carriers, command_of

KILLS = int(os.environ.get("KILLS", "200"))
SEED = int(os.environ.get("SEED", str(random.randrange(1 << 32))))
FEWEST = 5 if KILLS >= 200 else 0

# A few milliseconds of work, so that the agents' own phases are hit too.
WORK = "i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done\n"
PHASES = ["starting", "implementing", "measuring", "reviewing", "verifying", "fixing", "pinning"]


def where(daemon, number):
    """The phase that the dead daemon left on disk."""
    run = daemon.query("SELECT state FROM run WHERE id = ?", number)[0]["state"]
    if run in ("succeeded", "failed", "cancelled"):
        return "ended"
    slots = daemon.query("SELECT stage FROM slot WHERE run = ?", number)
    return slots[-1]["stage"] if slots else "starting"	# queued, or its base is being taken


def wait_at_most(daemon, seconds):
    """Let the daemon live on for a random moment; it must not end by itself meanwhile."""
    pidfd = os.pidfd_open(daemon.pid)
    try:
        ready, _, _ = select.select([pidfd], [], [], seconds)
        assert not ready, f"rld ended by itself:\n{daemon.log()[-4000:]}"
    finally:
        os.close(pidfd)


# What is told just before a phase begins, or as it begins.
HERALDS = {"starting": ("run.state", "queued"), "implementing": ("attempt.started", "implement"),
           "measuring": ("attempt.ended", "implement"), "reviewing": ("attempt.started", "review"),
           "verifying": ("attempt.ended", "review"),
           "fixing": ("attempt.started", "fix"), "pinning": ("review.decided", "pass")}


def reach(daemon, number, phase, since):
    """Wait until something behind since heralds the phase: True; or the run has
    ended first: False."""
    kind, word = HERALDS[phase]
    with Events(daemon, since=since, run=number) as events:
        while True:
            event = events.next()
            if event["type"] == "run.state" and event["state"] in ("succeeded", "failed", "held"):
                return False
            if event["type"] == kind and word in (event.get("state"), event.get("role"), event.get("decision")):
                return True


@pytest.mark.broad
@pytest.mark.deadline(60 + KILLS * 3)
def test_random_kills(make_daemon, repo):
    print(f"SEED={SEED} KILLS={KILLS}")
    chance = random.Random(SEED)
    scripts = {name: WORK + text for name, text in DRIFT_THEN_PASS.items()}
    daemon = make_daemon(scripts=scripts, config={"limits": {"grace": "2s"}})
    hits, kills = collections.Counter(), 0
    number, runs = None, []
    while kills < KILLS or (kills < 2 * KILLS and min(hits[p] for p in PHASES) < FEWEST):
        since = daemon.call("daemon.status")["events"]["last"]
        if number is None:
            (repo.path / "work.txt").unlink(missing_ok=True)
            number = daemon.review(repo.path, f"task {len(runs)}", key=f"k{len(runs)}")
            runs.append(number)
        rare = min(PHASES, key=lambda p: (hits[p], chance.random()))
        if chance.random() < 0.7:
            if not reach(daemon, number, rare, since):
                number = None
                continue
            wait_at_most(daemon, chance.random() * chance.choice([0, 0.001, 0.005]))
        else:
            wait_at_most(daemon, chance.random() * 0.1)
        daemon.kill()
        kills += 1
        hits[where(daemon, number)] += 1
        daemon.start()
        row = daemon.run(number)
        assert row["state"] not in ("failed", "held", "cancelled"), (row, daemon.log()[-3000:])
        if row["state"] == "succeeded":
            number = None
    if number is not None:
        daemon.ended(number)
    print(f"{kills} kills in {len(runs)} runs; hits per phase: " +
          ", ".join(f"{p} {hits[p]}" for p in [*PHASES, "ended"]))
    for run in runs:
        row = daemon.run(run)
        assert row["state"] == "succeeded", row
        assert [s[1] for s in daemon.play.starts(run=run)] == [
            "implement", "review", "fix", "review"], f"run {run}: {daemon.play.starts(run=run)}"
        assert [(a["role"], a["state"], a["exit_code"]) for a in daemon.attempts(run)] == [
            (role, "exited", 0) for role in ("implement", "review", "fix", "review")]
        assert [r["decision"] for r in daemon.reviews(run)] == ["drift", "pass"]
        assert repo.git("rev-parse", daemon.ref("passed", run, "t1") + "^{tree}")
    assert [r["id"] for r in all_runs(daemon)] == sorted(runs, reverse=True), "acknowledged runs are there, once each"
    sequence = all_events(daemon)
    assert sequence == list(range(1, len(sequence) + 1))
    assert all(hits[p] >= FEWEST for p in PHASES), hits


def all_runs(daemon):
    rows, cursor = [], None
    while True:
        page = daemon.call("run.list", limit=100, **({"cursor": cursor} if cursor is not None else {}))
        rows += page["runs"]
        cursor = page.get("next")
        if cursor is None:
            return rows


def all_events(daemon):
    sequence, since = [], 0
    while True:
        page = daemon.call("event.list", since=since, limit=256)
        if not page["events"]:
            return sequence
        sequence += [e["seq"] for e in page["events"]]
        since = page["events"][-1]["seq"]


@pytest.mark.broad
@pytest.mark.deadline(180)
def test_kills_while_clients_submit(make_daemon, tmp_path):
    """A submit that was answered is there after the kill; one that was not is there
    once or not at all."""
    chance = random.Random(SEED + 1)
    daemon = make_daemon(scripts={"implement": "answer ok\n"}, config={"parallel": 8})
    repos = [Repo(tmp_path / f"r{i}").path for i in range(8)]
    asked, acked = 0, {}
    for _ in range(max(KILLS // 10, 3)):
        with daemon.connect() as rpc:
            wave = {}
            for i in range(8):
                request = rpc.request("run.submit", {"task": f"task {asked}",
                                                     "workdir": str(repos[i]), "key": f"key {asked}"})
                wave[request["id"]] = f"key {asked}"
                asked += 1
                rpc.send(request)
            for _ in range(chance.randrange(0, 9)):
                reply = rpc.reply()
                acked[wave[reply["id"]]] = reply["result"]["id"]
            daemon.kill()
            try:
                while True:
                    reply = rpc.reply()
                    acked[wave[reply["id"]]] = reply["result"]["id"]
            except (Closed, ConnectionError):
                pass
        daemon.start()
    rows = all_runs(daemon)
    numbers = [r["id"] for r in rows]
    assert len(numbers) == len(set(numbers)) and set(acked.values()) <= set(numbers)
    assert len(numbers) <= asked
    for start in range(0, len(numbers), 50):
        daemon.call("run.wait", ids=numbers[start:start + 50])
    counts = collections.Counter(s[0] for s in daemon.play.starts())
    assert counts == {n: 1 for n in numbers}, "each run's agent is paid for exactly once"
    assert {r["state"] for r in all_runs(daemon)} == {"succeeded"}
    print(f"{asked} submits, {len(acked)} answered, {len(numbers)} recorded")


@pytest.mark.broad
@pytest.mark.deadline(60 + KILLS * 3)
def test_kills_of_a_shim(make_daemon, repo):
    """A shim dies at random moments. An agent's: the run is held, and the agent dies with it. A git
    step's: it is run again."""
    chance = random.Random(SEED + 2)
    daemon = make_daemon(scripts={name: WORK * 3 + text for name, text in DRIFT_THEN_PASS.items()},
                         config={"run": {"on_lost": "hold"}})
    ends, hits = collections.Counter(), collections.Counter()
    wanted = max(KILLS // 10, 4)
    for _ in range(wanted * 10):
        if sum(hits.values()) >= wanted and all(hits[k] for k in ("implement", "review", "fix", "step")):
            break
        (repo.path / "work.txt").unlink(missing_ok=True)
        with daemon.events() as events:
            number = daemon.review(repo.path)
            for _ in range(chance.randrange(1, 5)):
                started = events.until("attempt.started", lambda e: e["run"] == number)
        if chance.random() < 0.5:
            wait_at_most(daemon, chance.random() * 0.1)
        newest = sorted((int(name) for name in os.listdir(daemon.state / "attempts")), reverse=True)[:4]
        for path in [daemon.state / "attempts" / str(n) / "shim" for n in newest]:
            victim = pid_in(path)
            if victim is not None and alive(victim) and "rl-shim" in command_of(victim):
                os.kill(victim, signal.SIGKILL)
                hits[started["role"] if int(path.parent.name) == started["attempt"] else "step"] += 1
                break
        row = daemon.ended(number)
        ends[row["state"]] += 1
        assert row["state"] in ("held", "succeeded"), row
        attempts = daemon.attempts(number)
        assert carriers([a["uuid"] for a in attempts]) == []
        if row["state"] == "held":
            assert attempts[-1]["state"] == "lost" and row["reason"], (row, attempts[-1])
            daemon.cancelled(number)
    print(f"shims killed: {dict(hits)}; runs: {dict(ends)}")
    assert ends["held"] >= 1 and sum(hits.values()) >= wanted


def pid_in(path):
    """The pid that a shim has written down; None when it is gone by now."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return None
    return next(int(line[4:]) for line in lines if line.startswith("pid "))
