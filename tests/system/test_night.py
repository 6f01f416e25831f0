# SPDX-License-Identifier: MIT
"""A night: thirty beads of a real repository, four slots, agents of every kind, and the daemon
killed again and again. In the morning each bead is done or has a true reason, and nothing was lost
or done twice. KILLS=n, SEED=n."""
import collections
import json
import os
import random
import re
import subprocess

import pytest
from night import Night, beads, beads_to_pick, belongings, hundred

KILLS = int(os.environ.get("KILLS", "50"))
SEED = int(os.environ.get("SEED", str(random.randrange(1 << 32))))

# Which operations of a source call a command of bd, once each.
CALLERS = {"ready": ["load"], "blocked": ["load"], "update": ["claim", "release"], "close": ["close"],
           "show": ["close", "release"]}


def check_run(night, row):
    """Each bead has come to the end that it had to come to, and the run to that of them all."""
    tasks = {t["id"]: t for t in row["tasks"]}
    failed = [b for b in night.beads if b.end]
    assert row["state"] == "failed" and row["cause"] in [b.end for b in failed], (row["state"],
                                                                                  row["cause"],
                                                                                  row["reason"])
    assert set(tasks) == {b.id for b in night.beads}, set(tasks)
    ends = {b.id: "failed" if b.end else "never starts" for b in night.beads if b.end or b.never}
    for bead in night.beads:
        if bead.never:
            on = next(i for i in bead.after if i in ends)
            assert (tasks[bead.id]["state"],
                    tasks[bead.id]["reason"]) == ("cancelled",
                                                  f"depends on {on}, which {ends[on]}"), tasks[bead.id]
        else:
            task = tasks[bead.id]
            assert (task["state"], task["reason"] or "") == ("failed" if bead.end else "passed", bead.end), task
            assert task["disk_bytes"] == 0 and (task["locked_ref"] is None) == bool(bead.end), task
    assert row["warnings"] == [] and row["holds"] == [], (row["warnings"], row["holds"])


def check_attempts(night):
    """Each agent that was started is on record, once; each record has its true end; nothing
    good was done again."""
    attempts = night.daemon.attempts(1)
    starts = night.starts()
    uuids = collections.Counter(uuid for _, _, uuid in starts)
    assert set(uuids.values()) == {1}, "no attempt is paid for twice"
    known = {a["uuid"]: (a["role"], a["task"]) for a in attempts}
    assert {u: (r, b) for r, b, u in starts}.items() <= known.items()
    lost = {a["id"] for a in attempts if a["state"] != "exited"}
    assert all(a["state"] in ("exited", "lost") and a["ended_at"] for a in attempts)
    assert lost <= set(night.victims), "only what was killed is lost"
    assert {a["uuid"] for a in attempts if a["state"] == "exited"} <= set(uuids)
    good = collections.Counter(a["task"] for a in attempts if a["role"] == "implement" and a["exit_code"] == 0)
    assert good == {b.id: 1 for b in night.beads if b.kind not in ("crash", "killed", "hang") and not b.never}
    # one whose shim died just after it was done is done once more: nobody knows
    killed = collections.Counter(night.victims.values())
    for bead, count in night.done("implement").items():
        assert count <= 1 + killed[bead], (bead, count)
    for bead in night.beads:
        started = sum((role, name) == ("implement", bead.id) for role, name, _ in starts)
        assert (started == 0) if bead.never else \
            (1 + bead.refused <= started <= 1 + bead.refused + killed[bead.id]), (bead, started)


def check_result(night, row):
    """One line of commits, one for each bead that has passed, with all of its work
    and nobody else's."""
    git, base, branch = night.repo.git, row["base_commit"], row["result_branch"]
    assert git("rev-list", "--merges", f"main..{branch}") == ""
    assert git("rev-parse", f"{base}^") == git("rev-parse", "main"), "the user's uncommitted work is the base"
    commits = git("log", "--reverse", "--format=%H|%(trailers:key=Rld-Run,valueonly,separator=%x2C)|"
                  "%(trailers:key=Rld-Task,valueonly,separator=%x2C)", f"{base}..{branch}").split("\n")
    passed = [b for b in night.beads if not b.end and not b.never]
    assert sorted(c.split("|")[1:] for c in commits) == sorted(["1", b.id] for b in passed)
    assert git("rev-parse", branch) == row["result_commit"] == commits[-1].split("|")[0]
    place = {c.split("|")[2]: i for i, c in enumerate(commits)}
    assert all(place[on] < place[b.id] for b in passed for on in b.after), "in the order of what depends on what"

    lines = collections.Counter()
    for line in git("grep", "-h", "/\\* night: ", branch, check=False).split("\n"):
        lines[line] += 1
    wanted = collections.Counter(f"/* night: {b.id} */" for b in passed)
    mended = {f"/* night: {b.id}, mended */": b.drifts for b in passed if b.drifts}
    assert {k: n for k, n in lines.items() if "mended" not in k} == wanted
    # a fixer that was killed behind its work has nothing left to resolve when it is asked again
    again = {f"/* night: {bead}, mended */" for bead in night.victims.values()}
    assert (set(mended) <= {k for k in lines if "mended" in k} <= set(mended) | again
            and all(lines[k] >= n for k, n in mended.items()))
    assert night.victims or all(lines[k] == n for k, n in mended.items())
    assert git("grep", "-l", "-E", "^(<<<<<<<|>>>>>>>|=======$)", branch, check=False) == ""
    changed = set(git("diff", "--name-only", base, branch).split("\n"))
    assert changed == {b.file for b in passed} | {f"notes-{b.id}.txt" for b in passed if b.kind == "litter"}
    removed = [line for line in git("diff", base, branch).split("\n")
               if line.startswith("-") and not line.startswith("---")]
    assert removed == [], "nobody's lines are gone"


def check_left(night):
    """The user's things are as they were; of the run there are refs and nothing else."""
    assert belongings(night.repo) == night.before
    assert (len(night.repo.git("worktree", "list").split("\n")) == 1
            and not list(night.repo.path.glob(".git/worktrees/*")))
    left = [p for p in (night.daemon.state / "worktrees").rglob("*") if not p.is_dir()]
    assert left == [], left
    locks = [p for p in (night.repo.path / ".git").rglob("*.lock")]
    assert locks == [], locks
    assert night.repo.git("for-each-ref", "--format=%(refname:short)",
                          "refs/heads/rl") == "rl/1-result", "the others have nothing of their own"


def check_salvage(night, tmp_path):
    """What was in a work tree and nowhere else is there, byte for byte."""
    kept = night.daemon.call("salvage.list", run=1)["salvage"]
    assert sorted(s["task"] for s in kept) == sorted(b.id for b in night.beads if b.end or b.kind == "litter")
    for salvage in kept:
        bead = next(b for b in night.beads if b.id == salvage["task"])
        assert night.repo.git("rev-parse", salvage["ref"]) == salvage["commit"]
        out = tmp_path / f"restored {bead.id}"
        night.daemon.rlctl("salvage", "restore", salvage["id"], out, check=0)
        text = (out / bead.file).read_text().split("\n")
        assert text.count(f"/* night: {bead.id} */") == 1
        if bead.kind in ("crash", "killed"):
            assert (out / f"half-{bead.id}.txt").read_text() == f"half of {bead.id}\n"
        if bead.kind in ("crash", "killed", "litter"):
            assert (out / f"noise-{bead.id}.o").read_text() == f"noise of {bead.id}\n"


def check_events(night):
    """Not one is missing, and each bead comes to its end once."""
    since, ends, merged = 0, collections.Counter(), collections.Counter()
    while page := night.daemon.call("event.list", since=since, limit=256)["events"]:
        assert [e["seq"] for e in page] == list(range(since + 1, since + 1 + len(page)))
        since = page[-1]["seq"]
        ends.update(e["task"] for e in page if e["type"] == "slot.phase" and e["phase"] in ("passed", "failed"))
        merged.update(e["task"] for e in page if e["type"] == "slot.merged")
    assert set(ends) == {b.id for b in night.beads if not b.never}
    assert merged == {b.id: 1 for b in night.beads if not b.end and not b.never}
    return since


def check_claims(night):
    """In the daemon's store, which is stopped for it: nothing is held any more."""
    night.daemon.stop()
    claims = {c["task"]: c["state"] for c in night.daemon.query("SELECT task, state FROM claim")}
    assert claims == {b.id: "free" if b.end else "done" for b in night.beads if not b.never}
    assert night.daemon.query("SELECT id FROM attempt WHERE state NOT IN ('exited', 'lost')") == []
    steps = collections.Counter(row["name"] for row in night.daemon.query("SELECT name FROM step"))
    night.daemon.start()
    return steps


def check_bd(night, steps=None, taken=None):
    """What bd has seen: each bead claimed, then closed or given back, by this run and nobody else;
    once, but for what a kill has cut short. taken: the calls of who takes one, and does it once."""
    log = (night.repo.path / ".beads" / "fake.log").read_text().splitlines()
    who = log[0].split()[0]
    assert re.fullmatch("rld-1-[0-9a-f]{8}", who)
    issues = json.loads((night.repo.path / ".beads" / "fake.json").read_text())
    for bead in night.beads:
        issue = issues[bead.id]
        state = ("open", "") if bead.end or bead.never else ("closed", who)
        assert (issue["status"], issue.get("assignee", "")) == state, issue
        assert issue.get("close_reason", "passed in run 1 of rld") == "passed in run 1 of rld"
    calls, verbs = collections.defaultdict(str), collections.Counter()
    for line in log:
        actor, status, verb, *words = line.split()
        assert (actor, status) == (who, "0"), line
        verbs[verb] += 1
        if verb not in ("ready", "blocked"):
            calls[next(w for w in words if w in issues)] += ("c" if "--claim" in words else "o"
                                                             if "--status=open" in words
                                                             else {"show": "s", "close": "x"}[verb])
    twice = "+" if night.kills else ""
    taken = taken or f"c{twice}"
    for bead in night.beads:
        wanted = "" if bead.never else taken + ("[so]*" if night.kills else "so") if bead.end else f"{taken}x{twice}"
        assert re.fullmatch(wanted, calls[bead.id]), (bead.id, calls[bead.id])
    assert steps is None or all(count <= sum(steps[name] for name in CALLERS[verb])
                                for verb, count in verbs.items()), (verbs, steps)
    print(f"bd was called {sum(verbs.values())} times, for {len(night.beads)} beads")


def morning(night, row, tmp_path):
    check_run(night, row)
    check_attempts(night)
    check_result(night, row)
    check_left(night)
    check_salvage(night, tmp_path)
    events = check_events(night)
    steps = check_claims(night)
    if night.bd:
        check_bd(night, steps)
    lost = sum(a["state"] == "lost" for a in night.daemon.attempts(1))
    print(f"{night.kills} kills, {lost} attempts lost with their shim, "
          f"{len(night.starts())} agents, {sum(steps.values())} steps, {events} events")


@pytest.mark.broad
@pytest.mark.deadline(200 + KILLS * 4)
@pytest.mark.parametrize("bd", [True, False], ids=["bd", "export"])
def test_night(make_daemon, tmp_path, bd):
    """With bd on the PATH the daemon dies KILLS times, without it a quarter as often."""
    kills = KILLS if bd else KILLS // 4
    print(f"SEED={SEED} KILLS={kills}")
    chance, done, number = random.Random(f"{SEED} {bd}"), 0, 0
    # more of them than a night has room for are for the next one
    while done < kills or number == 0:
        number += 1
        path = tmp_path / f"n{number}"
        path.mkdir()
        night = Night(lambda **kwargs: make_daemon(name=f"n{number}/d", **kwargs), path, bd, chance,
                      beads(), {"run": {"on_lost": "retry"}})
        night.submit("-P", 4, "--review", "--on-failure", "continue")
        row = night.go_on(min(kills - done, 80), shims=5)
        done += night.kills
        morning(night, row, path)
        night.daemon.stop()


@pytest.mark.broad
@pytest.mark.deadline(1200)
def test_night_of_a_hundred(make_daemon, tmp_path):
    """Eight slots, and everything goes wrong that can."""
    print(f"SEED={SEED} 30 kills")
    night = Night(make_daemon, tmp_path, True, random.Random(f"{SEED} hundred"), hundred(), {
        "run": {"on_lost": "retry"}, "account.night": {"cooldown_max": "2s"},
        "limits": {"grace": "2s"}, "limits.implement": {"timeout": "1m"}, "review": {"max_fixes": 40}})
    night.submit("-P", 8, "--review", "--on-failure", "continue")
    row = night.go_on(30, shims=3)
    morning(night, row, tmp_path)
    used = sum(int(line.split()[0]) for line in subprocess.run(
        ["du", "-sk", night.daemon.state], check=True, capture_output=True, text=True).stdout.splitlines())
    print(f"{used} KiB are left in the state directory")
    assert used < 2048 * len(night.beads), "a task leaves less than 2 MiB"


@pytest.mark.broad
@pytest.mark.deadline(120 + KILLS)
def test_night_of_those_who_choose(make_daemon, tmp_path):
    """Three agents in one tree pick their beads. One picks nothing at first, and one says when
    there is nothing left for them."""
    kills = KILLS // 5
    print(f"SEED={SEED} KILLS={kills}")
    night = Night(make_daemon, tmp_path, True, random.Random(f"{SEED} choose"), beads_to_pick(),
                  {"run": {"on_lost": "retry"}})
    night.submit("-P", 3, "--assign", "agent", "--review", "--on-failure", "continue")
    row = night.go_on(kills)
    picked = [b for b in night.beads if not b.never]
    assert (row["state"], row["cause"]) == ("succeeded", "stop-marker: 1 task(s) left"), row
    tasks = {t["id"]: t for t in row["tasks"]}
    assert {i: (t["state"], t["reason"]) for i, t in tasks.items()} == {
        **{b.id: ("passed", None) for b in picked},
        "n-later": ("cancelled", "not started: stop-marker: 1 task(s) left")}
    done = [bead for role, bead, _ in night.starts() if role == "implement"]
    assert len(done) == len(picked) + 2, "one could not choose, one had nothing to choose"
    attempts = night.daemon.attempts(1)
    assert collections.Counter(a["task"] for a in attempts
                               if a["role"] == "implement") == {None: 2, **{b.id: 1 for b in picked}}
    assert [a for a in attempts
            if a["role"] != "implement" and a["task"] is None] == [], "who picked nothing is not reviewed"
    assert {a["state"] for a in attempts} == {"exited"}
    assert sorted(uuid for _, _, uuid in night.starts()) == sorted(a["uuid"] for a in attempts)
    after = belongings(night.repo)
    changed = {name for name in after["files"] if after["files"][name] != night.before["files"].get(name)}
    assert changed == {b.file for b in picked} and set(after["files"]) == set(night.before["files"])
    for bead in picked:
        text = after["files"][bead.file].decode()
        mended = f"/* night: {bead.id}, mended */\n" * bead.drifts
        assert text == night.before["files"][bead.file].decode() + f"/* night: {bead.id} */\n" + mended
    assert {k: v for k, v in after.items() if k not in ("files", "status")} == {
        k: v for k, v in night.before.items() if k not in ("files", "status")}
    check_bd(night, taken="cs")
    print(f"{night.kills} kills, {len(night.starts())} agents")
