# SPDX-License-Identifier: MIT
"""integrate = merge: one task after the other on one branch that stays a line; conflicts go to the
fixer, then to a human; the whole is told, shown and, with scope run, reviewed."""
import json
import os
import re
import sqlite3
import subprocess

import pytest
from loop import write
from rld import RpcError, unshare_plans
from test_hold_client import decided
from trees import WORK, Trees, beads, commits, files_of, names_in, of_the_user, trees, work_trees  # noqa: F401

LINES = "".join(f"line {n}\n" for n in range(1, 21))


@pytest.fixture
def lines(repo):
    repo.write("shared.txt", LINES)
    beads(repo, "x-1", "x-2", "x-3")
    return repo


def at_gates(t, number, *ids):
    for each in ids:
        t.play.arrived(each)


def clash(t, **params):
    """x-1 and x-2 change the same line from the same base; x-1 is merged first, then x-2 comes to
    its end: the run's number."""
    t.set(implement='sed -i "s/^line 5$/line 5 of $RL_TASK_ID/" shared.txt; '
          'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"; gate "$RL_TASK_ID"; answer done\n')
    beads(t.repo, "x-1", "x-2")
    number = t.submit(parallel=2, **params)
    at_gates(t, number, "x-1", "x-2")
    with t.daemon.events(run=number) as events:
        t.play.go("x-1")
        events.until("slot.merged", lambda e: e["task"] == "x-1")
    t.play.go("x-2")
    return number


RESOLVE = "sed -i '/^<<<<<<<\\|^=======\\|^>>>>>>>\\|^|||||||/d' shared.txt; answer resolved\n"
NO_MARKS = "if grep -q '^<<<<<<<' shared.txt; then drift 'there are conflict markers'; else pass; fi\n"


# ---- in order ------------------------------------------------------------------------------------

def test_one_after_the_other(trees, lines):
    """Whoever is done first is merged first, one at a time, and each stands on what is there."""
    before = of_the_user(lines)
    t = trees(scripts={"implement": 'sed -i "s/^line $((${RL_TASK_ID#x-} * 6))$/& of $RL_TASK_ID/" '
                       'shared.txt; gate "$RL_TASK_ID"; answer done\n'}, gates=("x-1", "x-2", "x-3"))
    number = t.submit(parallel=3, review=True)
    at_gates(t, number, "x-1", "x-2", "x-3")
    with t.daemon.events(run=number) as events:
        for each in ("x-3", "x-1", "x-2"):
            t.play.go(each)
            merged = events.until("slot.merged")
            assert merged["task"] == each and lines.git("rev-parse", f"rl/{number}-result") == merged["commit"]
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and [s for _, _, s in t.is_linear(row)] == ["do x-3", "do x-1", "do x-2"], row
    assert t.roles() == ["implement"] * 3 + ["review"] * 3
    for n in (1, 2, 3):
        assert f"line {n * 6} of x-{n}" in lines.git("show", f"{row['result_branch']}:shared.txt")
    assert (of_the_user(lines) == before and work_trees(lines) == []
            and lines.git("branch", "--list", "rl/*").split() == [row["result_branch"]])


def test_merges_do_not_overlap(trees, lines):
    """While one stands in the middle of its merge, the next one waits."""
    t = trees(scripts={"implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"; gate "$RL_TASK_ID"; answer done\n'},
              gates=("x-1", "x-2", "x-3"))
    number = t.submit(parallel=3)
    at_gates(t, number, "x-1", "x-2", "x-3")
    t.stop_at("move")
    t.play.go("x-1")
    t.play.arrived("move")
    with t.daemon.events(run=number) as events:
        for each in ("x-2", "x-3"):
            t.play.go(each)
            events.until("slot.phase", lambda e, each=each: e["task"] == each and e["phase"] == "committing")
    assert lines.git("rev-parse",
                     f"rl/{number}-result") == t.daemon.run(number)["base_commit"], "nobody has overtaken it"
    t.play.go("move")
    row = t.daemon.ended(number)
    assert (row["state"] == "succeeded" and [s for _, _, s in t.is_linear(row)][0] == "do x-1"
            and len(t.is_linear(row)) == 3)


def test_later_tasks_begin_on_the_result(trees, repo):
    beads(repo, "x-1", "x-2", "x-3")
    t = trees(scripts={"implement": 'ls > "$PLAY/ls.$RL_TASK_ID"; echo x > "$RL_TASK_ID.txt"; answer done\n'})
    row = t.run()
    assert (row["state"] == "succeeded"
            and (t.play.path / "ls.x-3").read_text().split() == ["README", "x-1.txt", "x-2.txt"])


# ---- conflicts -----------------------------------------------------------------------------------

def test_a_conflict_that_is_resolved(trees, lines):
    before = lines.git("rev-parse", "main")
    t = trees(scripts={"fix": 'git status --porcelain > "$PLAY/status"; cp shared.txt "$PLAY/seen"; ' +
                       RESOLVE, "review": NO_MARKS}, gates=("x-1", "x-2"))
    number = clash(t, review=True)
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and t.roles() == ["implement", "implement", "review",
                                                         "review", "fix", "review"], row
    told = t.play.prompt(number, "fix").decode()
    assert "shared.txt" in told and "conflict markers" in told and "another task" in told
    seen = (t.play.path / "seen").read_text()
    assert "<<<<<<< integrated\nline 5 of x-1\n" in seen and "line 5 of x-2\n>>>>>>> task" in seen
    result = lines.git("show", f"{row['result_branch']}:shared.txt")
    assert "line 5 of x-1\nline 5 of x-2" in result and "<<<<" not in result
    assert [s for _, _, s in t.is_linear(row)] == ["do x-1", "do x-2"] and lines.git("rev-parse", "main") != before
    review = t.play.prompt(number, "review", 3).decode()
    assert ("+line 5 of x-2" in review
            and "b/x-1.txt" not in review), "the review is of this task's work on top of the other's"


def test_a_conflict_with_each_of_several_tasks(trees, lines):
    """A task that meets other merged ones three times is not stalled: each conflict is new."""
    ids = ["x-1", "x-2", "x-3", "x-4"]
    t = trees(scripts={"implement": 'sed -i "s/^line 5$/line 5 of $RL_TASK_ID/" shared.txt; gate "$RL_TASK_ID"\n',
                       "fix": f'gate "fix-$RL_TASK_ID"; {RESOLVE}', "review": NO_MARKS},
              gates=[*ids, *(f"fix-{each}" for each in ids)])
    beads(lines, *ids)
    number = t.submit(parallel=4, review=True)
    at_gates(t, number, *ids)
    with t.daemon.events(run=number) as events:
        t.play.go("x-1")
        events.until("slot.merged", lambda e: e["task"] == "x-1")
        for each in ids[1:]:
            t.play.go(each)
        at_gates(t, number, *(f"fix-{each}" for each in ids[1:]))
        for n, first in enumerate(ids[1:], 2):
            t.play.go(f"fix-{first}")
            events.until("slot.merged", lambda e: e["task"] == first)
            for each in ids[n:]:
                t.play.go(f"fix-{each}")
                t.play.arrived(f"fix-{each}")
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and row["holds"] == [], row
    assert t.roles(number).count("fix") == 6


def test_a_fixer_that_leaves_markers(trees, lines):
    """They are found before a reviewer is paid for a tree that cannot be committed."""
    t = trees(scripts={"fix.1": "answer 'I did nothing'\n", "fix": RESOLVE, "review": NO_MARKS}, gates=("x-1", "x-2"))
    row = t.daemon.ended(clash(t, review=True))
    assert row["state"] == "succeeded" and t.roles()[-4:] == ["review", "fix", "fix", "review"], row
    assert "markers are still in shared.txt" in t.play.prompt(row["id"], "fix", 2).decode()
    assert "<<<<" not in lines.git("show", f"{row['result_branch']}:shared.txt")


@pytest.mark.parametrize("limit,fixes", [(None, 2), (1, 1), (0, 5)])
def test_fixers_that_leave_markers_again_and_again(trees, lines, limit, fixes):
    """Each such round is a stalled one, and the hold names the conflict and the file."""
    t = trees(scripts={"fix": "echo $nth >> other.txt; answer \"fix $nth\"\n", "review": NO_MARKS},
              gates=("x-1", "x-2"))
    row = t.daemon.ended(clash(t, review={"max_fixes": 5, **({} if limit is None else {"stall_limit": limit})}))
    assert row["state"] == "held" and t.roles() == ["implement", "implement", "review", "review"] + ["fix"] * fixes, row
    hold, = t.daemon.call("hold.list", run=row["id"])["holds"]
    assert (hold["kind"] == "conflict" and "the conflict with another task is not resolved: "
            "its markers are still in shared.txt" in hold["reason"]), hold
    assert hold["reason"].startswith("stalled: ") == (limit != 0)


def test_a_fixer_that_leaves_markers_without_a_review(trees, lines):
    """Nobody else would see them: they are looked for before anything is committed."""
    t = trees(scripts={"fix.1": "answer 'I did nothing'\n", "fix": RESOLVE}, gates=("x-1", "x-2"))
    row = t.daemon.ended(clash(t))
    assert row["state"] == "succeeded" and t.roles() == ["implement", "implement", "fix", "fix"], row
    assert "markers are still in shared.txt" in t.play.prompt(row["id"], "fix", 2).decode()
    assert "<<<<" not in lines.git("show", f"{row['result_branch']}:shared.txt")


def unresolved(t, **review):
    """A conflict that no fix round is left for: (row, hold, work tree)."""
    number = clash(t, review={"max_fixes": 0, **review})
    row = t.daemon.ended(number)
    assert row["state"] == "held" and t.tasks(number)["x-1"]["state"] == "passed", row
    hold, = t.daemon.call("hold.list", run=number)["holds"]
    assert (hold["kind"], hold["task"],
            hold["state"]) == ("conflict", "x-2", "open") and "shared.txt" in hold["reason"], hold
    place = t.slot(number, "x-2")["worktree"]
    assert place in t.daemon.rlctl("show", number, check=0).out, "who is to resolve it must know where"
    return row, hold, place


def test_a_human_resolves_it(trees, lines):
    t = trees(gates=("x-1", "x-2"))
    row, hold, place = unresolved(t)
    path = os.path.join(place, "shared.txt")
    assert "<<<<<<< integrated" in open(path).read()
    open(path, "w").write(LINES.replace("line 5\n", "line 5 of both\n"))
    t.daemon.restart()
    _, row = decided(t.daemon, row["id"], "hold.approve", id=hold["id"], message="by hand")
    assert row["state"] == "succeeded" and [s for _, _, s in t.is_linear(row)] == ["do x-1", "do x-2"], row
    assert ("line 5 of both" in lines.git("show", f"{row['result_branch']}:shared.txt")
            and names_in(lines, row["result_branch"]) >= {"x-1.txt", "x-2.txt"})
    assert work_trees(lines) == []


def test_a_human_who_overlooks_the_markers(trees, lines):
    t = trees(gates=("x-1", "x-2"))
    row, hold, place = unresolved(t)
    _, row = decided(t.daemon, row["id"], "hold.approve", id=hold["id"])
    assert row["state"] == "held" and "markers are still in shared.txt" in row["reason"], row
    again = next(h for h in t.daemon.call("hold.list", run=row["id"])["holds"] if h["state"] == "open")
    with open(os.path.join(place, "shared.txt"), "w") as file:
        file.write(LINES)
    _, row = decided(t.daemon, row["id"], "hold.approve", id=again["id"])
    assert (row["state"] == "succeeded" and again["kind"] == "conflict"
            and "<<<<" not in lines.git("show", f"{row['result_branch']}:shared.txt")), row


def test_a_human_sends_it_back(trees, lines):
    t = trees(scripts={"fix": RESOLVE, "review": NO_MARKS}, gates=("x-1", "x-2"))
    row, hold, _ = unresolved(t)
    _, row = decided(t.daemon, row["id"], "hold.rework", id=hold["id"], message="keep both lines")
    assert row["state"] == "succeeded" and t.roles()[-2:] == ["fix", "review"], row
    assert "keep both lines" in t.play.prompt(row["id"], "fix").decode() and len(t.is_linear(row)) == 2


def test_a_human_rejects_it(trees, lines, tmp_path):
    """What was merged stays merged; what was not is kept."""
    t = trees(gates=("x-1", "x-2"))
    row, hold, place = unresolved(t)
    _, row = decided(t.daemon, row["id"], "hold.reject", id=hold["id"], message="not wanted")
    tasks = t.tasks(row["id"])
    assert row["state"] == "failed" and (tasks["x-1"]["state"], tasks["x-2"]["state"]) == ("passed", "failed"), row
    assert [s for _, _, s in t.is_linear(row)] == ["do x-1"]
    before = lines.git("for-each-ref", "--format=%(refname)", t.daemon.ref("before-merge")).split()
    assert (before == [t.daemon.ref("before-merge", row["id"], "x-2")]
            and "line 5 of x-2" in lines.git("show", f"{before[0]}:shared.txt"))
    saved, = t.salvage(row["id"])
    assert b"<<<<<<< integrated" in t.restored(saved, tmp_path / "out")[b"shared.txt"][1] and not os.path.exists(place)


KINDS = {
    "modify and delete": ("rm shared.txt", "echo more >> shared.txt"),
    "both new": ("echo one > new.txt", "echo two > new.txt"),
    "file and directory": ("rm shared.txt; mkdir shared.txt; echo x > shared.txt/x", "echo more >> shared.txt"),
    "bytes": ("printf '\\0one' > data", "printf '\\0two' > data"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_conflicts(trees, lines, kind):
    first, second = KINDS[kind]
    t = trees(scripts={"fix": "rm -rf shared.txt; git rm -rq --cached --ignore-unmatch shared.txt; echo "
                       "settled > shared.txt; echo settled > new.txt; echo settled > data; answer ok\n"},
              gates=("x-1", "x-2"))
    set_implement = t.set
    t.set = lambda **scripts: set_implement(implement=f'if [ "$RL_TASK_ID" = x-1 ]; then {first}; '
                                            f'else {second}; fi; gate "$RL_TASK_ID"; answer done\n')
    row = t.daemon.ended(clash(t, review=True))
    assert row["state"] == "succeeded" and "fix" in t.roles() and len(t.is_linear(row)) == 2, row
    assert lines.git("show", f"{row['result_branch']}:shared.txt") == "settled"


# ---- the branch meanwhile ------------------------------------------------------------------------

def commit_on(repo, branch, name):
    """Somebody puts a commit on that branch."""
    blob = repo.git("hash-object", "-w", "--stdin", input=b"of the user\n")
    listed = repo.git("ls-tree", branch) + f"\n100644 blob {blob}\t{name}"
    tree = repo.git("mktree", input="\n".join(
        sorted(listed.split("\n"), key=lambda line: line.split("\t")[1])).encode() + b"\n")
    commit = repo.git("commit-tree", tree, "-p", branch, "-m", "by the user")
    repo.git("update-ref", f"refs/heads/{branch}", commit)
    return commit


def restored(repo, text):
    """Run the commands that a hold or a cause gives."""
    for command in re.findall(r"`git (update-ref [^`]*)`", text):
        repo.git(*command.split())


def test_the_user_moves_the_branch(trees, repo):
    """Nothing is built on what no review saw: the next task is held until the branch is back, and
    what the user has put there is still a commit."""
    beads(repo, "x-1", "x-2")
    t = trees()
    t.play.set({"implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"; gate "$RL_TASK_ID"\n'})
    t.play.gates("x-1", "x-2")
    number = t.submit()
    t.play.arrived("x-1")
    t.play.go("x-1")
    t.play.arrived("x-2")
    commit = commit_on(repo, f"rl/{number}-result", "user.txt")
    t.play.go("x-2")
    row = t.daemon.ended(number)
    hold, = t.daemon.call("hold.list", run=number)["holds"]
    assert row["state"] == "held" and hold["kind"] == "ref-moved", row
    assert f"refs/heads/rl/{number}-result is now at {commit[:12]}" in hold["reason"]
    restored(repo, hold["reason"])
    _, row = decided(t.daemon, number, "hold.approve", id=hold["id"])
    assert row["state"] == "succeeded" and [s for _, _, s in t.is_linear(row)] == ["do x-1", "do x-2"], row
    assert names_in(repo, row["result_branch"]) >= {"x-1.txt", "x-2.txt"}
    assert repo.git("show", f"{commit}:user.txt") == "of the user"


def test_the_user_removes_the_branch(trees, repo):
    """What others have put there is there again with the next merge."""
    beads(repo, "x-1", "x-2")
    t = trees()
    t.play.set({"implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"; gate "$RL_TASK_ID"\n'})
    t.play.gates("x-1", "x-2")
    number = t.submit(parallel=2)
    with t.daemon.events(run=number) as events:
        t.play.arrived("x-1")
        t.play.arrived("x-2")
        t.play.go("x-1")
        events.until("slot.merged")
    repo.git("branch", "-D", f"rl/{number}-result")
    t.play.go("x-2")
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and [s for _, _, s in t.is_linear(row)] == ["do x-1", "do x-2"], row
    assert names_in(repo, row["result_branch"]) >= {"x-1.txt", "x-2.txt"}


def test_the_user_moves_the_branch_in_the_middle_of_a_merge(trees, repo):
    beads(repo, "x-1", "x-2")
    t = trees()
    t.play.set({"implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"; gate "$RL_TASK_ID"\n'})
    t.play.gates("x-1", "x-2")
    number = t.submit()
    t.play.arrived("x-1")
    t.play.go("x-1")
    t.play.arrived("x-2")
    t.stop_at("move")
    t.play.go("x-2")
    t.play.arrived("move")
    commit_on(repo, f"rl/{number}-result", "user.txt")
    t.play.go("move")
    row = t.daemon.ended(number)
    hold, = t.daemon.call("hold.list", run=number)["holds"]
    assert row["state"] == "held" and hold["kind"] == "ref-moved", row
    assert names_in(repo, row["result_branch"]) >= {"x-1.txt", "user.txt"}
    restored(repo, hold["reason"])
    _, row = decided(t.daemon, number, "hold.approve", id=hold["id"])
    assert row["state"] == "succeeded" and names_in(repo, row["result_branch"]) >= {"x-1.txt", "x-2.txt"}, row
    t.is_linear(row)


@pytest.mark.parametrize("where", ["his own", "another"])
def test_the_user_has_the_branch_checked_out(trees, repo, tmp_path, where):
    """His work tree, index and branch there are his: what has passed is held until he has left
    it, and says so."""
    beads(repo, "x-1", "x-2")
    t = trees()
    t.play.set({"implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"; gate "$RL_TASK_ID"\n'})
    t.play.gates("x-1", "x-2")
    number = t.submit()
    t.play.arrived("x-1")
    t.play.go("x-1")
    t.play.arrived("x-2")
    result, looking = f"rl/{number}-result", repo.path if where == "his own" else tmp_path / "looking"
    repo.git(*(("checkout", "-q", result) if where == "his own" else ("worktree", "add", "-q", str(looking), result)))
    before = files_of(looking), repo.git("rev-parse", result), repo.git("-C", str(looking), "status", "--porcelain")
    with t.daemon.events(run=number) as events:
        t.play.go("x-2")
        events.until_end()
    assert (files_of(looking), repo.git("rev-parse", result),
            repo.git("-C", str(looking), "status", "--porcelain")) == before
    hold, = t.daemon.call("hold.list", state="open")["holds"]
    assert (hold["kind"] == "conflict" and hold["task"] == "x-2"
            and f"{result} is checked out in {looking}" in hold["reason"]), hold
    _, row = decided(t.daemon, number, "hold.approve", id=hold["id"])
    assert row["state"] == "held" and (files_of(looking),
                                       repo.git("rev-parse", result)) == before[:2], "he is still there"
    hold, = t.daemon.call("hold.list", state="open")["holds"]
    repo.git("-C", str(looking), "checkout", "-q", "--detach")
    _, row = decided(t.daemon, number, "hold.approve", id=hold["id"])
    assert (row["state"] == "succeeded" and names_in(repo, result) >= {"x-1.txt", "x-2.txt"}
            and t.roles().count("implement") == 2), row
    assert files_of(looking) == before[0]


# ---- cancel --------------------------------------------------------------------------------------

@pytest.mark.parametrize("stop", ["merge", "move", "after-move", "conflict"])
def test_cancelled_in_the_middle_of_a_merge(trees, lines, stop):
    """The branch is whole, a line, and has each task or has it not; nothing of the
    other is lost."""
    before = lines.git("rev-parse", "main")
    t = trees(gates=("x-1", "x-2"))
    if stop == "conflict":
        t.stop_at(stop)
        number = clash(t)
    else:
        number = None
        beads(lines, "x-1", "x-2")
        t.set(implement='echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"; gate "$RL_TASK_ID"; answer done\n')
        number = t.submit(parallel=2)
        at_gates(t, number, "x-1", "x-2")
        with t.daemon.events(run=number) as events:
            t.play.go("x-1")
            events.until("slot.merged")
        t.stop_at(stop)
        t.play.go("x-2")
    t.play.arrived(stop)
    row = t.daemon.cancelled(number)
    assert row["state"] == "cancelled" and work_trees(lines) == [], row
    subjects = [s for _, _, s in t.is_linear(row)]
    assert subjects in (["do x-1"], ["do x-1", "do x-2"]), subjects
    branch = lines.git("branch", "--list", f"rl/{number}/x-2")
    kept = lines.git("for-each-ref", "--format=%(refname)", t.daemon.ref("salvage"),
                     t.daemon.ref("before-merge")).split()
    works = [names_in(lines, ref) for ref in ([f"rl/{number}/x-2"] if branch else []) + kept + [row["result_branch"]]]
    assert any("x-2.txt" in names for names in works), (branch, kept)
    assert lines.git("rev-parse", "main") != before and lines.git("status", "--porcelain") == "?? shared.txt"


# ---- what is told --------------------------------------------------------------------------------

def test_the_result_is_told_and_shown(trees, repo):
    beads(repo, "x-1", "x-2", "x-3")
    t = trees()
    done = t.daemon.rlctl("run", "--beads", "-P", "2", "--review", cwd=repo.path, check=0)
    row = t.daemon.run(1)
    assert row["state"] == "succeeded" and row["result_branch"] in done.err and "git merge" in done.err, done.err
    diff = t.daemon.rlctl("diff", 1, check=0).out
    assert sorted(line for line in diff.splitlines()
                  if line.startswith("+++")) == [f"+++ b/x-{n}.txt" for n in (1, 2, 3)], diff
    shown = t.daemon.rlctl("show", 1, check=0).out
    assert f"git merge {row['result_branch']}" in shown
    repo.git("merge", "-q", row["result_branch"])
    assert {f"x-{n}.txt" for n in (1, 2, 3)} <= set(os.listdir(repo.path))


def test_hooks_are_told_where_the_result_is(trees, repo, tmp_path):
    """on_pass for each task that passes, on_end for the run."""
    beads(repo, "x-1", "x-2", "x-3")
    variables = " ".join(f"${name}" for name in ("RL_HOOK", "RL_TASK_ID", "RL_RESULT_BRANCH", "RL_RESULT_COMMIT",
                                                 "RL_RESULT_REF", "RL_END_KIND"))
    hook = ["/bin/sh", "-c", f"mkdir -p {tmp_path}/told; echo {variables} > {tmp_path}/told/$RL_ATTEMPT_UUID"]
    t = trees(scripts={"implement": '[ "$RL_TASK_ID" != x-2 ] || exit 1\n' + WORK},
              config={"hook": {"on_pass": hook, "on_end": hook}})
    row = t.run(parallel=3, review=True, on_failure="continue")
    while t.daemon.call("daemon.status")["busy"]:
        pass
    tasks = {task["id"]: task for task in row["tasks"]}
    wanted = [f"on_end {row['result_branch']} {row['result_commit']} {row['result_ref']} error"] + [
        f"on_pass {each} {row['result_branch']} {tasks[each]['commit']} "
        f"{t.daemon.ref('passed', row['id'], each)}" for each in ("x-1", "x-3")]
    assert sorted(p.read_text().strip() for p in (tmp_path / "told").iterdir()) == wanted


def test_a_hook_is_told_no_branch_of_several(trees, repo, tmp_path):
    """Each task that is not merged has a branch of its own; none has the whole result."""
    beads(repo, "x-1", "x-2")
    hook = ["/bin/sh", "-c", f'mkdir -p {tmp_path}/told; echo "$RL_TASK_ID=$RL_RESULT_BRANCH" > '
            f"{tmp_path}/told/$RL_ATTEMPT_UUID"]
    t = trees(config={"hook": {"on_pass": hook, "on_end": hook}})
    number = t.run(parallel=2, integrate="none")["id"]
    while t.daemon.call("daemon.status")["busy"]:
        pass
    assert sorted(p.read_text().strip() for p in (tmp_path / "told").iterdir()) == [
        "=", f"x-1=rl/{number}/x-1", f"x-2=rl/{number}/x-2"]


def test_the_diff_of_branches_that_are_not_merged(trees, repo):
    """One after the other, in the order of the tasks."""
    beads(repo, "x-1", "x-2", "x-3")
    t = trees()
    row = t.run(integrate="none", parallel=3, review=True)
    diff = t.daemon.rlctl("diff", row["id"], check=0).out
    assert [line for line in diff.splitlines()
            if line.startswith("+++")] == [f"+++ b/x-{n}.txt" for n in (1, 2, 3)], diff
    assert row["result_branch"] is None


# ---- the review of the whole ---------------------------------------------------------------------

def test_one_review_of_the_whole(trees, repo):
    """Profile file: all tasks, then one review on the branch that has them all, fixes on top, one
    commit for these."""
    beads(repo, "x-1", "x-2")
    before = of_the_user(repo)
    t = trees(scripts={"review.1": 'ls > "$PLAY/ls"; ' + write("autom8_review.md", "- [ ] more") +
                       "answer issues\n", "review": "answer 'I read it all'\n",
                       "fix": "echo fixed > fixed.txt; answer fixed\n"})
    row = t.run(parallel=2, review={"profile": "file"})
    assert (row["state"] == "succeeded" and sorted(t.roles()[:2]) == ["implement"] * 2
            and t.roles()[2:] == ["review", "fix", "review"]), row
    assert set((t.play.path / "ls").read_text().split()) >= {"x-1.txt", "x-2.txt"}
    prompt = t.play.prompt(row["id"], "review").decode()
    assert "b/x-1.txt" in prompt and "b/x-2.txt" in prompt and "x-1: do x-1" in prompt
    found = t.is_linear(row)
    assert (sorted(s for _, _, s in found[:2]) == ["do x-1", "do x-2"] and len(found) == 3
            and names_in(repo, row["result_branch"]) >= {"fixed.txt"})
    assert "autom8_review.md" not in repo.git("log", "--all", "--name-only",
                                              "--format=") and of_the_user(repo)["refs"] == before["refs"]
    assert work_trees(repo) == []


SECRET = ("hush-1", "hush-2")


def test_a_whole_without_a_change_keeps_its_branch(trees, repo):
    """It is named as the result."""
    beads(repo, "x-1")
    t = trees(scripts={"implement": "answer 'nothing to do'\n", "review": "pass\n"})
    row = t.run(parallel=1, isolation="worktree", review={"scope": "run"})
    assert row["state"] == "succeeded" and row["result_branch"] == f"rl/{row['id']}-result", row
    assert repo.git("rev-parse", row["result_branch"]) == row["result_commit"] == repo.git("rev-parse", "HEAD")
    assert work_trees(repo) == []


def test_comments_never_sees_a_task(trees, repo):
    """Its reviewer and fixers get no task in prompt, environment, branch, paths, or in what git
    tells them there."""
    beads(repo, *SECRET, commit=False)
    comments = json.dumps({"comments": [{"file": "work.1", "line": 1, "severity": "must-fix",
                                         "comment": "mend it"}], "summary": "s"})
    look = ('{ pwd; ls -aR . | grep -v issues; env; git log --format=%H%an%s%b; git branch --all; '
            'git status; git worktree list; git reflog --all; } > "$PLAY/seen.$role.$nth" 2>&1\n')
    t = trees(scripts={"implement": 'echo work > "work.$RL_SLOT"; answer done\n',
                       "review.1": look + write("review-comments.json", comments),
                       "review": look + write("review-comments.json", json.dumps(
                           {"comments": [], "summary": "Clean review - no issues found"})),
                       "fix": look + "echo mended >> work.1; answer mended\n"})
    row = t.run(parallel=2, review={"profile": "comments"})
    assert row["state"] == "succeeded" and t.roles()[2:] == ["review", "fix", "review"], row
    for role, nth in (("review", 1), ("fix", 1), ("review", 2)):
        seen = (t.play.path / f"seen.{role}.{nth}").read_text() + t.play.prompt(row["id"], role, nth).decode()
        assert "work.1" in seen and "work.2" in seen
        found = [line for line in seen.splitlines() if "hush" in line]
        assert found == [], found
    assert names_in(repo, row["result_branch"]) >= {"work.1", "work.2"} and len(t.is_linear(row)) == 3


# ---- what breaks only when merged ----------------------------------------------------------------

RENAME = ('case $RL_TASK_ID in x-1) sed -i "s/\\bf\\b/g/" lib.sh;; x-2) echo ". ./lib.sh; f" > use.sh;; esac; '
          'gate "$RL_TASK_ID"; answer done\n')
CHECK = "! test -e use.sh || sh -e use.sh"


def rename_and_use(t, review=True, checks=(CHECK,), release=True, **params):
    """x-1 renames what x-2 calls, and is merged first: each passes alone."""
    t.repo.write("lib.sh", "f() { :; }\n")
    t.repo.git("add", "lib.sh")
    t.repo.git("commit", "-q", "-m", "lib")
    beads(t.repo, "x-1", "x-2")
    t.set(implement=RENAME)
    number = t.submit(parallel=2, review=review, checks=list(checks), **params)
    at_gates(t, number, "x-1", "x-2")
    if not release:
        return number
    with t.daemon.events(run=number) as events:
        t.play.go("x-1")
        events.until("slot.merged", lambda e: e["task"] == "x-1")
    t.play.go("x-2")
    return number


def green(repo, branch, check=CHECK):
    taken = f"{repo.path}.taken"
    repo.git("worktree", "add", "-q", "--detach", taken, branch)
    code = subprocess.run(["sh", "-c", check], cwd=taken, check=False).returncode
    repo.git("worktree", "remove", "--force", taken)
    return code == 0


def merges(t, number):
    return {s["task"]: s["merge"] for s in t.daemon.call("run.get", id=number)["slots"] if s["task"]}


def test_what_breaks_only_when_merged_is_fixed(trees, repo):
    """The fixer has the merged tree and the output of the check; the fix is reviewed again."""
    t = trees(scripts={"fix": 'cat lib.sh use.sh > "$PLAY/seen"; git log -1 --format=%s > "$PLAY/head"; '
                       'sed -i "s/ f$/ g/" use.sh; answer fixed\n'}, gates=("x-1", "x-2"))
    number = rename_and_use(t)
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert t.roles() == ["implement", "implement", "review", "review", "fix", "review"]
    told = t.play.prompt(number, "fix").decode()
    assert CHECK in told and "merged with" in told and "f: not found" in told, told
    assert (t.play.path / "seen").read_text() == "g() { :; }\n. ./lib.sh; f\n"
    assert (t.play.path / "head").read_text() == "do x-1\n"
    assert green(repo, row["result_branch"]) and merges(t, number) == {"x-1": "unchanged", "x-2": "unchanged"}
    assert len(t.is_linear(row)) == 2 and work_trees(repo) == []


def test_what_stays_red_when_merged_is_held(trees, repo):
    t = trees(gates=("x-1", "x-2"))
    number = rename_and_use(t, review={"max_fixes": 0, "on_exhausted": "accept"})
    row = t.daemon.ended(number)
    hold, = t.daemon.call("hold.list", run=number)["holds"]
    assert row["state"] == "held" and hold["kind"] == "conflict" and "on the merge" in hold["reason"], (row, hold)
    assert merges(t, number)["x-2"] == "sent_back" and green(repo, row["result_branch"])
    assert row["result_commit"] == repo.git("rev-parse", row["result_branch"])
    _, row = decided(t.daemon, number, "hold.approve", id=hold["id"], message="I know")
    assert row["state"] == "succeeded" and not green(repo, row["result_branch"]), row


def test_a_merged_tree_that_is_green(trees, repo):
    """It is checked once, in a room, and the branch has exactly the commit that was checked."""
    t = trees(gates=("x-1", "x-2"))
    number = rename_and_use(t, checks=("test -e lib.sh",))
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and merges(t, number) == {"x-1": "unchanged", "x-2": "checked"}, row
    slots = [a["slot"] for a in t.daemon.call("attempt.list", run=number)["attempts"] if a["role"] == "check"]
    assert slots.count(65535) == 1 and len(slots) == 4 and t.roles() == ["implement", "implement", "review", "review"]
    products = t.daemon.call("product.list", run=number)["products"]
    merged = [p for p in products if p["kind"] == "merged"]
    assert merged[-1]["tree"] == repo.git("rev-parse", row["result_branch"] + "^{tree}")
    assert [row["result_ref"], row["result_commit"]] == ["refs/heads/" + row["result_branch"],
                                                         repo.git("rev-parse", row["result_branch"])]
    assert len(t.is_linear(row)) == 2 and work_trees(repo) == [] and t.salvage(number) == []
    assert repo.git("branch", "--list", "rl/*").split() == [row["result_branch"]]


def test_a_merge_without_checks(trees, repo):
    t = trees(gates=("x-1", "x-2"))
    number = rename_and_use(t, checks=())
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and merges(t, number)["x-2"] == "not_checked", row
    assert "merged, not checked" in t.daemon.rlctl("show", number).out
    said = t.daemon.call("evidence.list", run=number)["evidence"]
    assert [(e["task_id"], e["result"]) for e in said if e["subject"] == "merged, not checked"] == [("x-2", "none")]


def test_merges_that_are_always_reviewed(trees, repo):
    t = trees(gates=("x-1", "x-2"))
    number = rename_and_use(t, review={"review_merged": "always"}, checks=("test -e lib.sh",))
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and merges(t, number)["x-2"] == "checked", row
    assert t.roles() == ["implement", "implement", "review", "review", "review"]
    told = t.play.prompt(number, "review", 3).decode()
    assert "+. ./lib.sh; f" in told and "+g()" not in told


@pytest.mark.parametrize("where", ["conflict", "after-move"])
def test_a_merge_that_is_killed(trees, repo, where):
    """It begins again, and the branch moves once."""
    t = trees(gates=("x-1", "x-2"))
    t.stop_at(where)
    number = rename_and_use(t, checks=("test -e lib.sh",)) if where == "conflict" else None
    if number is None:
        repo.write("lib.sh", "f() { :; }\n")
        repo.git("add", "lib.sh")
        repo.git("commit", "-q", "-m", "lib")
        beads(repo, "x-1", "x-2")
        t.set(implement=RENAME)
        number = t.submit(parallel=2, review=True, checks=["test -e lib.sh"])
        at_gates(t, number, "x-1", "x-2")
        t.play.go("x-1")
        t.play.go("x-2")
    t.play.arrived(where)
    t.daemon.kill()
    t.play.go(where)
    t.daemon.start()
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and len(t.is_linear(row)) == 2, row
    assert t.roles() == ["implement", "implement", "review", "review"] and t.salvage(number) == []


def test_merge_checks_have_a_group(trees, repo):
    """It holds no permit of the daemon, and waits for one of its own."""
    t = trees(gates=("x-1", "x-2"))
    t.daemon.call("group.set", name="checks", slots=1)
    t.daemon.call("group.pause", name="checks")
    number = rename_and_use(t, checks=("test -e lib.sh",))
    with t.daemon.events(run=number) as events:
        events.until("slot.phase", lambda e: e.get("reason") == "group checks is paused")
    group, = [g for g in t.daemon.call("group.list")["groups"] if g["name"] == "default"]
    assert group["used"] == 0, "the slots of agents are free"
    t.daemon.call("group.resume", name="checks")
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded", row
    with pytest.raises(RpcError, match="is reserved for the checks of merges"):
        t.submit(group="checks")


def test_a_retry_judges_the_merge_again(trees, repo):
    """The merged work is kept, is not on the branch, and is not taken for what is."""
    t = trees(gates=("x-1", "x-2"))
    number = rename_and_use(t, review={"max_fixes": 0})
    t.daemon.ended(number)
    hold, = t.daemon.call("hold.list", run=number)["holds"]
    _, row = decided(t.daemon, number, "hold.reject", id=hold["id"], message="mend it")
    assert row["state"] == "failed" and green(repo, row["result_branch"]), row
    tip = row["result_commit"]
    t.set(fix='sed -i "s/ f$/ g/" use.sh; answer fixed\n')
    again = t.daemon.call("run.retry", id=number)["id"]
    row = t.daemon.ended(again)
    assert row["state"] == "succeeded" and [s["task"] for s in row["slots"]] == ["x-2"], row
    assert t.roles(again)[0] == "fix" and "implement" not in t.roles(again)
    assert green(repo, row["result_branch"]) and repo.git("show", row["result_branch"] + ":use.sh") == ". ./lib.sh; g"
    assert repo.git("merge-base", tip, row["result_branch"]) == tip
    assert [row["result_ref"], row["result_commit"]] == ["refs/heads/" + row["result_branch"],
                                                         repo.git("rev-parse", row["result_branch"])]


def test_the_result_of_a_retry_is_named_from_the_start(trees, repo):
    t = trees(scripts={"implement": '[ $RL_TASK_ID = x-1 ] || exit 4; echo one > one; answer done\n'})
    beads(repo, "x-1", "x-2")
    number = t.submit(parallel=2, review=True, on_failure="continue")
    first = t.daemon.ended(number)
    assert first["state"] == "failed", first
    row = t.daemon.ended(t.daemon.call("run.retry", id=number)["id"])
    assert row["state"] == "failed" and row["result_commit"] == first["result_commit"], row
    assert repo.git("rev-parse", row["result_ref"]) == row["result_commit"]


def test_what_is_attested_of_a_judged_merge(trees, repo):
    """Without a verdict, too, the commit is said to have the tree that it has."""
    t = trees(scripts={"review": "drift no\n"}, gates=("x-1", "x-2"))
    number = rename_and_use(t, review={"max_fixes": 0, "on_exhausted": "accept"}, checks=("test -e lib.sh",))
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and merges(t, number)["x-2"] == "checked", row
    said = {s["subject"][0]["digest"]["gitCommit"]: s["predicate"]["tree"]
            for s in t.daemon.call("run.attest", id=number)["statements"]}
    assert row["result_commit"] in said, said
    for commit, tree in said.items():
        assert repo.git("rev-parse", commit + "^{tree}") == tree


def test_a_run_of_an_earlier_version_merges_as_before(trees, repo):
    """What its settings do not have does not begin in the middle of it."""
    t = trees(gates=("x-1", "x-2"))
    number = rename_and_use(t, release=False)
    t.daemon.kill()
    connection = sqlite3.connect(t.daemon.state / "rld.db", isolation_level=None)
    unshare_plans(connection)
    for table, key in (("run", "id"), ("task", "run")):
        connection.execute(f"UPDATE {table} SET plan = json_remove(plan, '$.checks_merged', '$.review_merged') "
                           f"WHERE {key} = ? AND plan IS NOT NULL", (number,))
    connection.close()
    t.daemon.start()
    t.play.go("x-1")
    t.play.go("x-2")
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and sorted(merges(t, number).values()) == ["not_checked", "unchanged"], row
    assert t.roles() == ["implement", "implement", "review", "review"] and not green(repo, row["result_branch"])
    assert [row["result_ref"], row["result_commit"]] == ["refs/heads/" + row["result_branch"],
                                                         repo.git("rev-parse", row["result_branch"])]


def test_a_merge_that_passed_and_was_cut_off_is_merged_by_the_retry(trees, repo):
    """It has its verdict, and is not on the branch yet."""
    t = trees(scripts={"review.3": "gate seen\npass\n"}, gates=("x-1", "x-2", "seen"))
    number = rename_and_use(t, review={"review_merged": "always"}, checks=("test -e lib.sh",))
    t.play.arrived("seen")
    t.stop_at("move")
    t.play.go("seen")
    t.play.arrived("move")
    row = t.daemon.cancelled(number)
    assert "use.sh" not in names_in(repo, row["result_branch"]), row
    (t.play.path / "stop.move").unlink(missing_ok=True)
    again = t.daemon.call("run.retry", id=number)["id"]
    row = t.daemon.ended(again)
    assert row["state"] == "succeeded" and t.roles(again) == [], (row, t.roles(again))
    assert names_in(repo, row["result_branch"]) >= {"use.sh", "lib.sh"}
    assert repo.git("show", row["result_branch"] + ":lib.sh") == "g() { :; }"


@pytest.mark.parametrize("review", [False, True])
@pytest.mark.parametrize("last", ["passes", "fails"])
def test_the_result_is_the_last_merge(trees, repo, review, last):
    """Ref, commit and branch of the run name it after each merge and at the end, with and without a
    review, whatever becomes of the tasks after it."""
    beads(repo, "x-1", "x-2", "x-3")
    t = trees()
    t.play.set({"implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"; gate "$RL_TASK_ID"\n'
                + ('[ "$RL_TASK_ID" != x-3 ] || exit 3\n' if last == "fails" else "")})
    t.play.gates("x-1", "x-2", "x-3")
    number = t.submit(review=review)
    merged = {}
    with t.daemon.events(run=number) as events:
        for task in ("x-1", "x-2"):
            t.play.arrived(task)
            t.play.go(task)
            merged[task] = events.until("slot.merged")["commit"]
            row = t.daemon.run(number)
            assert [row["result_ref"], row["result_commit"]] == [f"refs/heads/{row['result_branch']}", merged[task]]
            assert repo.git("rev-parse", row["result_branch"]) == merged[task]
        t.play.arrived("x-3")
        t.play.go("x-3")
    row = t.daemon.ended(number)
    assert row["state"] == ("failed" if last == "fails" else "succeeded"), row
    assert [row["result_ref"], row["result_commit"]] == [f"refs/heads/{row['result_branch']}",
                                                         repo.git("rev-parse", row["result_branch"])]
    assert (row["result_commit"] == merged["x-2"]) == (last == "fails")
    assert names_in(repo, row["result_commit"]) >= {"x-1.txt", "x-2.txt"}
