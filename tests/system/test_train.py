# SPDX-License-Identifier: MIT
"""The merge train: tasks that wait to be merged are merged one onto the other and checked together;
when that is red, the one that makes it so is found. The branch has only what was green."""
import time

import pytest
from trees import beads, trees, work_trees  # noqa: F401

from test_integrate import green, merges

TASKS = ("x-1", "x-2", "x-3", "x-4", "x-5")
# x-1 renames what others may call: each passes alone
RENAME = ('case $RL_TASK_ID in x-1) sed -i "s/\\bf\\b/g/" lib.sh;; {red}) echo ". ./lib.sh; f" > use.sh;; '
          '*) {else_} echo $RL_TASK_ID > $RL_TASK_ID.txt;; esac; gate "$RL_TASK_ID"; answer done\n')
SLOTS = {"parallel": 5}
CHECK = "! test -e use.sh || sh -e use.sh"


def slot_of(t, number, task):
    return next((s for s in t.daemon.call("run.get", id=number)["slots"] if s["task"] == task), None)


def committed(t, number, task):
    """Its work is committed, and waits to be merged."""
    while slot_of(t, number, task)["commit"] is None:
        time.sleep(0.02)


def pile_up(t, red="none", else_="", check=CHECK, **params):
    """x-1 is merged, the check of x-2 waits for its group, and the rest wait behind it: the run's
    number. group.resume lets them go."""
    t.repo.write("lib.sh", "f() { :; }\n")
    t.repo.git("add", "lib.sh")
    t.repo.git("commit", "-q", "-m", "lib")
    beads(t.repo, *TASKS)
    t.set(implement=RENAME.format(red=red, else_=else_))
    t.daemon.call("group.pause", name="checks")
    number = t.submit(parallel=5, checks=[check], **{"review": True, **params})
    for each in TASKS:
        t.play.arrived(each)
    with t.daemon.events(run=number) as events:
        t.play.go("x-1")
        events.until("slot.merged", lambda e: e["task"] == "x-1")
        t.play.go("x-2")
        events.until("slot.phase", lambda e: e.get("reason") == "group checks is paused")
    for each in TASKS[2:]:
        t.play.go(each)
        committed(t, number, each)
    return number


def merge_checks(t, number):
    """Tasks whose merged trees were checked, in order; a check that has failed ran twice."""
    seen, found = {}, []
    for a in t.daemon.call("attempt.list", run=number)["attempts"]:
        if a["role"] == "check" and a["slot"] != 65535:
            seen[a["task"]] = seen.get(a["task"], 0) + 1
            if seen[a["task"]] > 1:
                found.append(a["task"])
    return found


def test_what_waits_is_checked_together(trees, repo):
    t = trees(gates=TASKS, config=SLOTS)
    number = pile_up(t)
    t.daemon.call("group.resume", name="checks")
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert merges(t, number) == {"x-1": "unchanged", "x-2": "checked", "x-3": "checked_together",
                                 "x-4": "checked_together", "x-5": "checked"}
    assert merge_checks(t, number) == ["x-2", "x-5"]
    assert len(t.is_linear(row)) == 5 and work_trees(repo) == [] and t.salvage(number) == []
    assert row["result_commit"] == repo.git("rev-parse", row["result_branch"])
    said = t.daemon.call("run.attest", id=number)
    for statement in said["statements"]:
        commit = statement["subject"][0]["digest"]["gitCommit"]
        assert repo.git("rev-parse", commit + "^{tree}") == statement["predicate"]["tree"]
    assert len(said["left_out"]) == 2, "the trees of x-3 and x-4 were not judged by themselves"
    said = t.daemon.call("evidence.list", run=number)["evidence"]
    assert [e["task_id"] for e in said if e["subject"] == "merged, checked with a later task"] == ["x-3", "x-4"]
    assert "checked with a later task" in t.daemon.rlctl("show", number).out
    assert t.daemon.call("review.verify", run=number)["ok"]
    t.daemon.stop()
    tree, = t.daemon.query("SELECT tree FROM slot WHERE task = 'x-5'")
    result, = t.daemon.query("SELECT result_tree AS tree FROM run")
    assert result == tree


@pytest.mark.each
@pytest.mark.parametrize("red, checked", [("x-3", ["x-2", "x-5", "x-5", "x-3", "x-3"]),
                                          ("x-4", ["x-2", "x-5", "x-5", "x-3", "x-4", "x-4"]),
                                          ("x-5", ["x-2", "x-5", "x-5", "x-3", "x-4"])])
def test_the_red_one_is_found(trees, repo, red, checked):
    """It alone is fixed; what was merged onto it is merged once more, without it."""
    t = trees(scripts={"fix": 'sed -i "s/ f$/ g/" use.sh; answer fixed\n'}, gates=TASKS, config=SLOTS)
    number = pile_up(t, red=red)
    t.daemon.call("group.resume", name="checks")
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert t.roles().count("fix") == 1 and t.roles().count("implement") == 5
    attempts = t.daemon.call("attempt.list", run=number)["attempts"]
    assert [a["task"] for a in attempts if a["role"] == "fix"] == [red]
    assert merge_checks(t, number)[:len(checked)] == checked
    assert green(repo, row["result_branch"]) and len(t.is_linear(row)) == 5 and work_trees(repo) == []


def test_what_is_being_merged_has_no_slot(trees, repo):
    """The next task has it. What is red waits for a slot of the run, and no more agents than that
    are at work."""
    t = trees(scripts={"fix": 'sed -i "s/ f$/ g/" use.sh; answer fixed\n'}, gates=TASKS, config=SLOTS)
    repo.write("lib.sh", "f() { :; }\n")
    repo.git("add", "lib.sh")
    repo.git("commit", "-q", "-m", "lib")
    beads(repo, *TASKS)
    t.set(implement=RENAME.format(red="x-2", else_=""))
    t.daemon.call("group.pause", name="checks")
    number = t.submit(parallel=2, checks=[CHECK], review=True)
    for each in TASKS[:2]:
        t.play.arrived(each)
    with t.daemon.events(run=number) as events:
        t.play.go("x-1")
        events.until("slot.merged", lambda e: e["task"] == "x-1")
    t.play.arrived("x-3")
    t.play.go("x-2")
    t.play.arrived("x-4")
    t.daemon.call("group.resume", name="checks")
    while slot_of(t, number, "x-2")["wait_kind"] != "slots":
        time.sleep(0.02)
    assert slot_of(t, number, "x-2")["reason"] == "all slots of the run are in use" and t.roles().count("fix") == 0
    t.play.go("x-3")
    t.play.go("x-4")
    t.play.arrived("x-5")
    t.play.go("x-5")
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and green(repo, row["result_branch"]), row
    attempts = t.daemon.call("attempt.list", run=number)["attempts"]
    ends = [(a["started_at"], a["ended_at"]) for a in attempts if a["role"] != "check"]
    assert max(sum(begin <= at < end for begin, end in ends) for at, _ in ends) <= 2, attempts


def test_one_that_stays_red_delays_nobody(trees, repo):
    t = trees(gates=TASKS, config=SLOTS)
    number = pile_up(t, red="x-4", review={"max_fixes": 0})
    t.daemon.call("group.resume", name="checks")
    row = t.daemon.ended(number)
    hold, = t.daemon.call("hold.list", run=number)["holds"]
    assert row["state"] == "held" and hold["kind"] == "conflict" and hold["task"] == "x-4", (row, hold)
    assert green(repo, row["result_branch"]) and len(t.is_linear(row)) == 4
    assert merges(t, number)["x-5"] in ("checked", "unchanged") and merges(t, number)["x-4"] == "sent_back"


def test_what_does_not_go_on_the_train_waits(trees, repo):
    """x-3 and x-4 change the same line: x-4 conflicts with what is on the branch, not before."""
    t = trees(scripts={"fix": "echo both > line; answer fixed\n"}, gates=TASKS, config=SLOTS)
    number = pile_up(t, else_="case $RL_TASK_ID in x-3|x-4) echo $RL_TASK_ID > line;; esac;")
    t.daemon.call("group.resume", name="checks")
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert merges(t, number)["x-3"] == "checked_together" and merges(t, number)["x-5"] == "checked"
    attempts = t.daemon.call("attempt.list", run=number)["attempts"]
    assert [a["task"] for a in attempts if a["role"] == "fix"] == ["x-4"]
    assert repo.git("show", row["result_branch"] + ":line") == "both" and len(t.is_linear(row)) == 5


@pytest.mark.each
@pytest.mark.parametrize("red", ["none", "x-4"])
def test_the_daemon_dies_with_a_train_under_way(trees, repo, red):
    t = trees(scripts={"fix": 'sed -i "s/ f$/ g/" use.sh; answer fixed\n'}, gates=TASKS, config=SLOTS)
    number = pile_up(t, red=red)
    with t.daemon.events(run=number) as events:
        t.daemon.call("group.set", name="checks", slots=1)
        t.stop_at("move")
        t.daemon.call("group.resume", name="checks")
        t.play.arrived("move")
    t.daemon.kill()
    t.play.go("move")
    t.daemon.start()
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and green(repo, row["result_branch"]), row
    assert t.roles().count("implement") == 5 and t.roles().count("fix") == (red != "none")
    assert len(t.is_linear(row)) == 5 and work_trees(repo) == []


def test_a_cancelled_train_is_merged_by_the_retry(trees, repo):
    t = trees(gates=TASKS, config=SLOTS)
    number = pile_up(t)
    row = t.daemon.cancelled(number)
    assert row["state"] == "cancelled", row
    t.daemon.call("group.resume", name="checks")
    again = t.daemon.call("run.retry", id=number)["id"]
    row = t.daemon.ended(again)
    assert row["state"] == "succeeded" and "implement" not in t.roles(again), row
    assert len(t.is_linear(row)) == 5


# of the last of the train on x-2, once
ON_THE_TRAIN = "if test -e x-2.txt -a -e x-5.txt -a ! -e $PLAY/once; then touch $PLAY/once; {}; fi; " + CHECK


def test_a_lost_check_blames_nobody_for_others(trees, repo):
    """x-5 is held, and comes back to a tree with what is red, which was taken out of the train."""
    t = trees(scripts={"fix": 'sed -i "s/ f$/ g/" use.sh; answer fixed\n'}, gates=TASKS, config=SLOTS)
    number = pile_up(t, red="x-4", check=ON_THE_TRAIN.format("kill -9 $PPID; sleep 60"), on_lost="hold",
                     env={"PLAY": str(t.play.path)})
    t.stop_at("fix")
    with t.daemon.events(run=number) as events:
        t.daemon.call("group.resume", name="checks")
        hold = events.until("hold.opened")
        assert (hold["task"], hold["kind"]) == ("x-5", "lost"), hold
        t.play.arrived("fix")
        t.daemon.call("hold.rework", id=hold["hold"])
        events.until("slot.merged", lambda e: e["task"] == "x-5")
        t.play.go("fix")
        events.until("run.state", lambda e: e["state"] in ("succeeded", "failed"))
    row = t.daemon.run(number)
    assert row["state"] == "succeeded" and green(repo, row["result_branch"]) and len(t.is_linear(row)) == 5, row
    attempts = t.daemon.call("attempt.list", run=number)["attempts"]
    assert [a["task"] for a in attempts if a["role"] == "fix"] == ["x-4"]


# the check of the last of the train, with what is red or without, the first time
AT_THE_LAST = ('if test {red} -e use.sh -a -e x-2.txt -a -e x-5.txt && mkdir $PLAY/stood 2> /dev/null; then '
               'echo $$ > $PLAY/last.here; read word < $PLAY/last.go; {then}; fi; ' + CHECK)


@pytest.mark.each
@pytest.mark.parametrize("how", ["cancel", "kill", "lost", "again"])
def test_a_red_train_is_merged_by_the_retry(trees, repo, how):
    """Each task from its own work, which has passed: only the red one is fixed and reviewed. again:
    the red one has been found, and what stood on it was merged once more."""
    t = trees(scripts={"fix": "exit 3\n"}, gates=(*TASKS, "last"), config=SLOTS)
    check = AT_THE_LAST.format(red="!" if how == "again" else "", then="kill -9 $PPID; sleep 60")
    number = pile_up(t, red="x-3", check=check, env={"PLAY": str(t.play.path)}, on_lost="fail", on_failure="continue")
    t.daemon.call("group.resume", name="checks")
    t.play.arrived("last")
    if how == "kill":
        t.daemon.kill()
        t.daemon.start()
    if how == "lost":
        t.play.go("last")
    row = t.daemon.ended(number) if how == "lost" else t.daemon.cancelled(number)
    assert row["state"] == ("failed" if how == "lost" else "cancelled"), row
    passed = {r["tree"] for r in t.daemon.reviews(number) if r["decision"] == "pass"}
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    t.set(fix='sed -i "s/ f$/ g/" use.sh; answer fixed\n')
    again = t.daemon.call("run.retry", id=number)["id"]
    row = t.daemon.ended(again)
    assert row["state"] == "succeeded" and green(repo, row["result_branch"]) and len(t.is_linear(row)) == 5, row
    attempts = t.daemon.call("attempt.list", run=again)["attempts"]
    assert [(a["role"], a["task"]) for a in attempts if a["role"] in ("implement", "fix", "review")] == [
        ("fix", "x-3"), ("review", "x-3")]
    said = t.daemon.call("evidence.list", run=again)["evidence"]
    assert {e["tree"] for e in said if e["kind"] == "review" and e["from_run"] == number} <= passed
    assert t.daemon.call("review.verify", run=again)["ok"]


def test_a_set_up_that_fails_asks_once(trees, repo):
    """Of the last, whose room it is: the others go on without it, and rework sets it up again."""
    t = trees(gates=TASKS, config=SLOTS)
    ready = t.play.path / "ready"
    number = pile_up(t, env={"PLAY": str(t.play.path)}, setup_inputs=["x-5.txt"],
                     setup=["! test -e x-2.txt -a -e x-5.txt || test -e $PLAY/ready"])
    t.daemon.call("group.resume", name="checks")
    row = t.daemon.ended(number)
    hold, = t.daemon.call("hold.list", run=number)["holds"]
    assert (row["state"], hold["task"], hold["kind"]) == ("held", "x-5", "setup"), (row, hold)
    assert hold["reason"].startswith("setup: ") and hold["reason"].endswith("exited 1"), hold
    assert len(t.is_linear(row)) == 4
    ready.touch()
    t.daemon.call("hold.rework", id=hold["id"])
    with t.daemon.events(since=0, run=number) as events:
        events.until("run.state", lambda e: e["state"] in ("succeeded", "failed"))
    row = t.daemon.run(number)
    assert row["state"] == "succeeded" and len(t.is_linear(row)) == 5, row
    assert t.roles().count("implement") == t.roles().count("review") == 5
