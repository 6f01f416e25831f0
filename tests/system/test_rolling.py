# SPDX-License-Identifier: MIT
"""Slots roll: a free one takes the next task at once, and a slow task leaves no other slot idle."""
import heapq
import json
import random

import pytest
from outer import NOTE, Beads, bead, done, reasons, states, submit, tasks_done, with_bd

GATED = {"implement": NOTE + 'gate "$RL_TASK_ID"\necho "$RL_TASK_ID" > "$RL_TASK_ID.txt"\nanswer done\n'}


def stories(*names):
    return json.dumps({"userStories": [{"id": name, "title": f"do {name}", "passes": False, "priority": n}
                                        for n, name in enumerate(names)]})


def start(make_daemon, repo, *names, parallel=2, **given):
    daemon = make_daemon(scripts=GATED, gates=names, config={"parallel": 8})
    return daemon, daemon.submit(str(repo.path), task=None, stories=stories(*names), isolation="worktree",
                                 parallel=parallel, **given)


def start_beads(make_daemon, repo, tasks, parallel):
    """tasks: {name: what it waits for}"""
    Beads(repo.path, *(bead(name, on=on) for name, on in tasks.items()))
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "beads")
    daemon = make_daemon(scripts=GATED, gates=tasks, config={"parallel": 8})
    return daemon, submit(daemon, repo.path, parallel=parallel, isolation="worktree")


def arrive_and_go(daemon, *names):
    for name in names:
        daemon.play.arrived(name)
        daemon.play.go(name)


def test_a_slow_task_leaves_no_other_slot_idle(make_daemon, repo):
    """All of it is one iteration; each task has a slot number of its own."""
    daemon, run = start_beads(make_daemon, repo, {"a-slow": (), "b": (), "c": (), "d": ("c",)}, 2)
    daemon.play.arrived("a-slow")
    arrive_and_go(daemon, "b", "c", "d")
    with daemon.events(since=0, run=run) as events:
        events.until("slot.phase", lambda e: e["slot"] == 4 and e["phase"] == "passed")
    assert [s["slot"] for s in daemon.run(run)["slots"]] == [1, 4], "each slot shows its last task"
    daemon.play.go("a-slow")
    row = daemon.ended(run)
    assert row["state"] == "succeeded" and (row["iteration"], len(row["history"])) == (1, 1), row
    assert sorted((d.iteration, d.slot, d.task) for d in done(daemon.play)) == [
        (1, 1, "a-slow"), (1, 2, "b"), (1, 3, "c"), (1, 4, "d")]


@pytest.mark.parametrize("on_failure", ["stop", "continue"])
def test_a_failure_beside_a_slot_at_work(make_daemon, repo, on_failure):
    fails = GATED["implement"].replace("echo", '[ "$RL_TASK_ID" = b ] && exit 3\necho')
    daemon = make_daemon(scripts={"implement": fails}, gates=["a", "b", "c"], config={"parallel": 4})
    run = daemon.submit(str(repo.path), task=None, stories=stories("a", "b", "c"), isolation="worktree", parallel=2,
                        on_failure=on_failure)
    daemon.play.arrived("a")
    with daemon.events(run=run) as events:
        arrive_and_go(daemon, "b")
        events.until("slot.phase", lambda e: e["slot"] == 2 and e["phase"] == "failed")
    if on_failure == "continue":
        arrive_and_go(daemon, "c")
    daemon.play.go("a")
    assert daemon.ended(run)["state"] == "failed"
    assert states(daemon, run) == {"a": "passed", "b": "failed",
                                   "c": "passed" if on_failure == "continue" else "cancelled"}
    assert ("c" in tasks_done(daemon.play)) == (on_failure == "continue"), reasons(daemon, run)


def test_killed_while_slots_roll(make_daemon, repo):
    daemon, run = start(make_daemon, repo, "slow", "b", "c", "d")
    daemon.play.arrived("slow")
    for name in ("b", "c", "d"):
        daemon.play.arrived(name)
        daemon.kill()
        daemon.play.go(name)
        daemon.start()
    daemon.play.go("slow")
    assert daemon.ended(run)["state"] == "succeeded"
    assert sorted(tasks_done(daemon.play)) == ["b", "c", "d", "slow"], "each once"


def test_the_source_is_asked_beside_a_slot_at_work(make_daemon, tmp_path):
    """What is new in it begins there."""
    daemon, _ = with_bd(make_daemon, tmp_path, scripts=GATED, gates=["x-1", "x-2", "x-3"], config={"parallel": 4})
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"))
    run = submit(daemon, beads.path, parallel=2)
    daemon.play.arrived("x-1")
    daemon.play.arrived("x-2")
    beads.bd("create", "new", "--id=x-3")
    daemon.play.go("x-2")
    arrive_and_go(daemon, "x-3")
    daemon.play.go("x-1")
    row = daemon.ended(run)
    assert row["state"] == "succeeded" and row["iteration"] == 1, row


def test_iterations_wait_where_they_are_asked_for(make_daemon, repo):
    daemon, run = start(make_daemon, repo, "slow", "b", "c", iterations=9)
    daemon.play.arrived("slow")
    with daemon.events(run=run) as events:
        arrive_and_go(daemon, "b")
        events.until("slot.phase", lambda e: e["slot"] == 2 and e["phase"] == "passed")
    assert tasks_done(daemon.play, run).count("c") == 0
    daemon.play.go("slow")
    arrive_and_go(daemon, "c")
    assert daemon.ended(run)["iteration"] == 2


# ---- the length of a night -----------------------------------------------------------------------

def draw(count, seed):
    """{task: (length, dependencies)}: most are short, few are long."""
    r = random.Random(seed)
    names = [f"t{n:03}" for n in range(count)]
    return {name: (r.choice([1, 1, 1, 2, 3, 5, 8, 21]), r.sample(names[:n], min(n, r.choice([0, 0, 1, 2]))))
            for n, name in enumerate(names)}


def bound(tasks, slots):
    """No schedule is shorter than the longest chain, nor than all work by all slots."""
    chain = {}
    for name, (length, on) in tasks.items():
        chain[name] = length + max((chain[o] for o in on), default=0)
    return max(max(chain.values()), -(-sum(length for length, _ in tasks.values()) // slots))


def list_schedule(tasks, slots):
    """The length, if each task starts when it is ready and a slot is free, in order of the list."""
    now, at_work, passed, left = 0, [], set(), list(tasks)
    while left or at_work:
        for name in [n for n in left if passed >= set(tasks[n][1])][:slots - len(at_work)]:
            left.remove(name)
            heapq.heappush(at_work, (now + tasks[name][0], name))
        now, name = heapq.heappop(at_work)
        passed.add(name)
    return now


@pytest.mark.parametrize("count", [12, pytest.param(30, marks=pytest.mark.broad),
                                   pytest.param(100, marks=pytest.mark.broad)])
def test_makespan(make_daemon, repo, count):
    """In virtual time: whoever ends first by its length is let go, when all that list scheduling
    has at work by then has arrived. A slot that stays idle would be waited for in vain."""
    slots, tasks = 4 if count < 50 else 8, draw(count, count)
    daemon, run = start_beads(make_daemon, repo, {name: on for name, (_, on) in tasks.items()}, slots)
    now, at_work, passed, left = 0, [], set(), list(tasks)
    while left or at_work:
        for name in [n for n in left if passed >= set(tasks[n][1])][:slots - len(at_work)]:
            daemon.play.arrived(name)
            left.remove(name)
            heapq.heappush(at_work, (now + tasks[name][0], name))
        now, name = heapq.heappop(at_work)
        daemon.play.go(name)
        passed.add(name)
    row = daemon.ended(run)
    assert row["state"] == "succeeded" and set(tasks_done(daemon.play, run)) == set(tasks), row
    print(f"{count} tasks, {slots} slots: {now}, list scheduling {list_schedule(tasks, slots)}, "
          f"no schedule below {bound(tasks, slots)}")
    assert now <= 1.1 * list_schedule(tasks, slots)
