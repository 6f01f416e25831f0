# SPDX-License-Identifier: MIT
"""commit = none, auto, agent: who commits what where, what never gets into a commit, and what
becomes of one that a hook refuses."""
import json
import os

import pytest
from loop import say, write
from test_hold_client import decided
from trees import Trees, beads, commits, files_of, names_in, of_the_user, trees, work_trees  # noqa: F401

ME = "export GIT_AUTHOR_NAME=agent GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=agent GIT_COMMITTER_EMAIL=a@a\n"
COMMIT = ME + "git add t1.txt; git commit -q -m 'by the agent'\n"
PLACES = ("shared", "worktree")


def result_of(repo, row):
    """The last commit that the run has made for its only task, and all that it stands
    on since the base."""
    commit = row["tasks"][0]["commit"] or row["result_commit"]
    base = row["base_commit"] or f"{commit}^"
    return commit, commits(repo, f"{base}..{commit}")


def author(repo, commit):
    return repo.git("show", "-s", "--format=%an", commit)


# ---- who commits ---------------------------------------------------------------------------------

@pytest.mark.parametrize("place", PLACES)
def test_none(trees, repo, tmp_path, place):
    before = of_the_user(repo)
    t = trees()
    row = t.run(task="do it", isolation=place, commit="none", review=True)
    assert row["state"] == "succeeded" and row["result_commit"] is None and row["result_ref"], row
    assert repo.git("show", f"{row['result_ref']}:t1.txt") == "t1", "what passed is kept in any case"
    assert "commit" not in t.roles()
    if place == "shared":
        assert (repo.git("status", "--porcelain") == "?? t1.txt"
                and repo.git("rev-parse", "main") == repo.git("rev-list", "--max-parents=0", "main"))
    else:
        saved, = t.salvage(row["id"])
        assert of_the_user(repo) == before and t.restored(saved, tmp_path / "out")[b"t1.txt"] == ("file", b"t1\n")


@pytest.mark.parametrize("place", PLACES)
def test_auto(trees, repo, place):
    t = trees()
    before = of_the_user(repo)
    row = t.run(task="say it\n\nat length", isolation=place, commit="auto", review=True)
    commit, all_of_it = result_of(repo, row)
    assert (row["state"] == "succeeded" and [s for _, _, s in all_of_it] == ["say it"]
            and row["result_commit"] == commit), row
    assert repo.git("diff", "--name-status", f"{commit}^", commit) == "A\tt1.txt" and "commit" not in t.roles()
    assert f"Rld-Run: {row['id']}" in repo.git("show", "-s", "--format=%b", commit)
    assert repo.git("rev-parse", f"{commit}^{{tree}}") == repo.git(
        "rev-parse", f"{row['result_ref']}^{{tree}}"), "what was reviewed is what is committed"
    if place == "shared":
        assert (repo.git("symbolic-ref", "HEAD") == "refs/heads/main"
                and repo.git("rev-parse", "HEAD") == commit and repo.git("status", "--porcelain") == "")
    else:
        assert of_the_user(repo) == before and repo.git("rev-parse", f"rl/{row['id']}/t1") == commit


@pytest.mark.parametrize("place", PLACES)
def test_auto_without_a_review(trees, repo, place):
    row = trees().run(task="do it", isolation=place, commit="auto")
    assert row["state"] == "succeeded" and names_in(repo, result_of(repo, row)[0]) == {"README", "t1.txt"}


@pytest.mark.parametrize("place", PLACES)
def test_auto_of_nothing(trees, repo, place):
    """Nothing was changed: there is no empty commit, and the run says so."""
    before = repo.git("rev-parse", "main")
    t = trees(scripts={"implement": "answer 'it was done already'\n"})
    row = t.run(task="do it", isolation=place, commit="auto", review=True)
    assert row["state"] == "succeeded" and any("nothing was committed" in w for w in row["warnings"]), row
    assert repo.git("rev-parse", "main") == before and repo.git("rev-list", "--all", "--count", "--branches") == "1"


@pytest.mark.parametrize("place", PLACES)
def test_agent(trees, repo, place):
    """It is asked behind the review, with the rules of requirement 002, and its commits are
    taken as they are."""
    t = trees(scripts={"implement": "echo t1 > t1.txt; echo test > test.txt; answer done\n",
                       "commit": ME + "git add t1.txt; git commit -q -m 'the work'; "
                       "git add test.txt; git commit -q -m '[test] of it'\n"})
    row = t.run(task="do it", isolation=place, commit="agent", review=True)
    commit, all_of_it = result_of(repo, row)
    assert row["state"] == "succeeded" and t.roles() == ["implement", "review", "commit"], row
    assert [s for _, _, s in commits(repo, f"main..{commit}" if place == "worktree"
                                     else f"{commit}~2..{commit}")] == ["the work", "[test] of it"]
    prompt = t.play.prompt(row["id"], "commit").decode()
    assert "Never stage review files" in prompt and "never `git add .`" in prompt and "Do not push" in prompt
    assert repo.git("rev-parse", f"{commit}^{{tree}}") == repo.git("rev-parse", f"{row['result_ref']}^{{tree}}")


@pytest.mark.parametrize("place", PLACES)
def test_several_tasks(trees, repo, place):
    """Each has a commit of its own, with its own work."""
    beads(repo, "x-1", "x-2", "x-3")
    t = trees(scripts={"implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"; echo "$RL_TASK_ID" >> README\n'})
    row = t.run(isolation=place, commit="auto", review=True)
    assert row["state"] == "succeeded", row
    base = repo.git("rev-parse", "main~3" if place == "shared" else "main")
    top = "main" if place == "shared" else row["result_branch"]
    found = commits(repo, f"{base}..{top}")
    assert ([s for _, _, s in found] == ["do x-1", "do x-2", "do x-3"]
            and [p for _, p, _ in found] == [[base], [found[0][0]], [found[1][0]]])
    for commit, each in zip(found, ("x-1", "x-2", "x-3")):
        assert repo.git("diff", "--name-only", f"{commit[0]}^", commit[0]).split() == ["README", f"{each}.txt"]


# ---- what a review leaves behind is in no commit -------------------------------------------------

FILE = "autom8_review.md"
LOGS = ".ai-sdd/state/review-logs"
REVIEWS = {
    "decision": (say('{"decision": "NO_GO", "feedback": "more"}'),
                 say('{"decision": "GO", "feedback": "good"}'), (LOGS,)),
    "file": (write(FILE, "- [ ] more") + say("There are issues."), say("I read it all."), (FILE,)),
    "comments": (write("review-comments.json", json.dumps({"comments": [
        {"file": "t1.txt", "line": 1, "severity": "must-fix", "comment": "more"}], "summary": "s"})),
                 write("review-comments.json",
                       json.dumps({"comments": [], "summary": "Clean review - no issues found"})),
                 ("review-comments.json",)),
}


def every_commit_is_clean(repo, artifacts):
    for commit in repo.git("rev-list", "--all", "--exclude=refs/rl/*/salvage/*").split():
        if repo.git("cat-file", "-t", commit) == "commit":
            found = [n for n in names_in(repo, commit) for a in artifacts if n == a or n.startswith(a + "/")]
            assert found == [], (commit, repo.git("show", "-s", commit))


@pytest.mark.parametrize("place, who", [("shared", "agent"), ("worktree", "auto"), ("worktree", "agent")])
@pytest.mark.parametrize("profile", REVIEWS)
def test_artifacts(trees, repo, profile, place, who):
    """Of all profiles, also when an agent stages all there is."""
    beads(repo, "x-1", "x-2")
    finds, passes, artifacts = REVIEWS[profile]
    t = trees(scripts={"implement": 'echo one >> both.txt; echo "$RL_SLOT" > "own.$RL_SLOT"\n',
                       "review": passes, "review.1": finds,
                       "fix": "echo two >> both.txt; git add -A\n", "commit": ME +
                       "git add -A; git diff --cached --quiet || git commit -q -m 'all there is'\n"})
    row = t.run(isolation=place, commit=who, review={"profile": profile})
    assert row["state"] == "succeeded" and row["warnings"] == [], row
    every_commit_is_clean(repo, artifacts)
    top = row["result_branch"] or "main"
    assert names_in(repo, top) == {"README", ".beads/issues.jsonl", "both.txt", "own.1", "own.2"}
    assert repo.git("show", f"{top}:both.txt").split() == (["one", "two", "one"] if profile == "decision"
                                                           else ["one", "one", "two"])
    if profile == "decision":
        assert sorted(os.listdir(repo.path / LOGS)) == ["x-1.json", "x-2.json"], "it is written, though"


@pytest.mark.parametrize("place", PLACES)
def test_an_agent_that_commits_artifacts(trees, repo, place):
    """By force: no such commit is taken, and the run says which it is and how it is put right."""
    before = repo.git("rev-parse", "main")
    t = trees(scripts={"review": REVIEWS["file"][1],
                       "commit": ME + f"echo x > {FILE}; git add -f t1.txt {FILE}; git commit -q -m all\n"})
    row = t.run(task="do it", isolation=place, commit="agent", review={"profile": "file", "scope": "task"})
    assert row["state"] == "failed" and FILE in row["cause"], row
    assert ("rlctl salvage list" if place == "worktree" else "git reset --soft") in row["cause"], row
    assert row["result_commit"] is None and row["tasks"][0]["commit"] is None
    if place == "worktree":
        assert repo.git("rev-parse", "main") == before


def test_artifacts_in_a_commit_on_the_way(trees, repo):
    """Put in and taken out again: it is in the history all the same."""
    t = trees(scripts={"review": REVIEWS["file"][1], "commit": ME + f"echo x > {FILE}; git add -f t1.txt "
                       f"{FILE}; git commit -q -m all; git rm -q -f {FILE}; git commit -q -m less\n"})
    row = t.run(task="do it", commit="agent", review={"profile": "file", "scope": "task"})
    assert row["state"] == "failed" and FILE in row["cause"], row


# ---- hooks ---------------------------------------------------------------------------------------

def hook(repo, name, script):
    path = repo.path / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("place", PLACES)
def test_a_hook_that_says_no(trees, repo, place):
    """Its words go to the fixer like findings, and what he makes of them is reviewed
    and committed."""
    hook(repo, "pre-commit", "! grep -Hn DRAFT -- *.txt || { echo 'no DRAFT in here'; exit 1; }\n")
    t = trees(scripts={"implement": "echo DRAFT > t1.txt; answer done\n",
                       "fix": "echo done > t1.txt; answer 'it is done'\n"})
    before = repo.git("rev-parse", "main")
    row = t.run(task="do it", isolation=place, commit="auto", review=True)
    assert row["state"] == "succeeded" and t.roles() == ["implement", "fix", "review"], row
    told = t.play.prompt(row["id"], "fix").decode()
    assert "refused by a hook" in told and "no DRAFT in here" in told and "t1.txt:1:DRAFT" in told
    commit, all_of_it = result_of(repo, row)
    assert (repo.git("show", f"{commit}:t1.txt") == "done"
            and repo.git("rev-parse", f"{commit}^") == before and len(commits(repo, "--branches")) == 2)
    assert [r["decision"] for r in t.daemon.reviews(row["id"])] == [
        "pass"], "nobody is paid to review what cannot be committed"


def refusing(t, place="worktree", **params):
    """A run whose commits are refused whatever is done about it: (row, hold)."""
    row = t.run(task="do it", isolation=place, commit="auto", review={"max_fixes": 1}, **params)
    assert row["state"] == "held" and t.roles() == ["implement", "fix"], row
    hold, = t.daemon.call("hold.list", run=row["id"])["holds"]
    assert (hold["kind"], hold["state"]) == ("commit-refused", "open") and "the ticket" in hold["reason"], hold
    return row, hold


@pytest.fixture
def ticket(repo):
    return hook(repo, "commit-msg", "grep -q TICKET \"$1\" || { echo 'where is the ticket?' >&2; exit 1; }\n")


@pytest.mark.parametrize("place", PLACES)
def test_refused_to_the_end(trees, repo, place, ticket):
    before = repo.git("rev-parse", "main")
    t = trees()
    row, hold = refusing(t, place)
    assert repo.git("rev-parse", "main") == before and row["result_commit"] is None
    shown = t.daemon.rlctl("hold", "show", hold["id"], check=0).out
    assert "where is the ticket?" in shown
    t.daemon.rlctl("wait", row["id"], check=13)


@pytest.mark.parametrize("place", PLACES)
def test_refused_and_approved(trees, repo, place, ticket):
    """Once a human has seen to it, approving commits it; until then the hook goes on refusing."""
    t = trees()
    row, hold = refusing(t, place)
    _, row = decided(t.daemon, row["id"], "hold.approve", id=hold["id"])
    assert row["state"] == "held", row
    again = next(h for h in t.daemon.call("hold.list", run=row["id"])["holds"] if h["state"] == "open")
    ticket.unlink()
    _, row = decided(t.daemon, row["id"], "hold.approve", id=again["id"])
    assert row["state"] == "succeeded" and "accepted: human:" in row["cause"], row
    assert repo.git("show", f"{result_of(repo, row)[0]}:t1.txt") == "t1" and len(commits(repo, "--branches")) == 2


def test_refused_and_reworked(trees, repo, ticket):
    t = trees()
    row, hold = refusing(t)
    ticket.unlink()
    t.set(fix="echo reworked > t1.txt; answer reworked\n")
    _, row = decided(t.daemon, row["id"], "hold.rework", id=hold["id"], message="write it anew")
    assert row["state"] == "succeeded" and t.roles()[-2:] == ["fix", "review"], row
    assert "write it anew" in t.play.prompt(row["id"], "fix", 2).decode()
    assert repo.git("show", f"{result_of(repo, row)[0]}:t1.txt") == "reworked"


def test_refused_and_rejected(trees, repo, tmp_path, ticket):
    t = trees()
    row, hold = refusing(t)
    _, row = decided(t.daemon, row["id"], "hold.reject", id=hold["id"], message="no")
    assert row["state"] == "failed" and "rejected by human:" in row["cause"], row
    saved, = t.salvage(row["id"])
    assert t.restored(saved, tmp_path / "out")[b"t1.txt"] == ("file", b"t1\n") and work_trees(repo) == []


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("stages", [True, False], ids=["stages it", "leaves it"])
def test_a_hook_that_puts_files_in_form(trees, repo, tmp_path, place, stages):
    """What is committed is what was reviewed: files in another form are reviewed in
    that form first."""
    hook(repo, "pre-commit", "for f in $(git diff --cached --name-only); "
         "do tr a-z A-Z < \"$f\" > \"$f.new\"; cat \"$f.new\" > \"$f\"; rm \"$f.new\"; " +
         ("git add \"$f\"; " if stages else "") + "done\n")
    t = trees()
    row = t.run(task="do it", isolation=place, commit="auto", review=True)
    assert row["state"] == "succeeded" and t.roles() == ["implement", "review"], row
    commit, _ = result_of(repo, row)
    assert repo.git("rev-parse", f"{commit}^{{tree}}") == repo.git("rev-parse", f"{row['result_ref']}^{{tree}}")
    assert repo.git("show", f"{commit}:t1.txt") == "T1"
    assert "+T1" in t.play.prompt(row["id"], "review").decode()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("limit,fixes", [(None, 2), (1, 1), (0, 4)])
def test_a_hook_that_never_is_content(trees, repo, place, limit, fixes):
    """It changes the work each time, whatever a fixer does: two rounds without progress are enough,
    and no reviewer is paid."""
    hook(repo, "pre-commit", "echo stamp >> t1.txt; git add t1.txt\n")
    t = trees(scripts={"fix": "echo $nth >> t1.txt; answer \"fix $nth\"\n"})
    before = repo.git("rev-parse", "main")
    row = t.run(task="do it", isolation=place, commit="auto",
                review={"max_fixes": 4, **({} if limit is None else {"stall_limit": limit})})
    assert row["state"] == "held" and t.roles() == ["implement"] + ["fix"] * fixes, row
    hold, = t.daemon.call("hold.list", run=row["id"])["holds"]
    assert hold["kind"] == "commit-refused" and "a hook of the repository changed: t1.txt" in hold["reason"], hold
    assert hold["reason"].startswith("stalled: ") == (limit != 0) and repo.git("rev-parse", "main") == before


def test_a_hook_that_says_no_to_the_commit_alone(trees, repo, tmp_path):
    """It said nothing before the review: that counts as well when it happens again."""
    seen = tmp_path / "seen"
    hook(repo, "pre-commit",
         f"echo x >> {seen}; [ $(( $(wc -l < {seen}) % 2 )) = 1 ] || {{ echo 'not now'; exit 1; }}\n")
    t = trees(scripts={"fix": "echo $nth >> t1.txt; answer \"fix $nth\"\n"})
    row = t.run(task="do it", isolation="shared", commit="auto", review=True)
    assert row["state"] == "held" and t.roles() == ["implement", "review", "fix", "review", "fix", "review"], row


@pytest.mark.parametrize("mode", ["none", "agent"])
def test_hooks_are_not_asked_about_what_is_not_committed_here(trees, repo, tmp_path, mode):
    seen = tmp_path / "seen"
    hook(repo, "pre-commit", f"echo x >> {seen}\n")
    t = trees(scripts={"commit": "true\n"})
    t.run(task="do it", isolation="shared", commit=mode, review={"max_fixes": 0})
    asked = len(seen.read_text()) // 2 if seen.exists() else 0
    assert asked == (1 if mode == "agent" else 0), "what a commit agent has left is committed with the hooks"


# ---- commit agents that do not as they are told --------------------------------------------------

WRONG = {
    "changes a file": ("echo more >> t1.txt; git add t1.txt; git commit -q -m x\n", "t1.txt"),
    "changes a file and leaves it": ("git add t1.txt; git commit -q -m x; echo more >> t1.txt\n", "t1.txt"),
    "amends": ("git add t1.txt; git commit -q --amend -m x\n", "rewrote history"),
    "goes back": ("git commit -q --allow-empty -m root; "
                  "git reset -q --soft HEAD~2 2> /dev/null || git update-ref -d HEAD\n", ""),
    "merges": ("git add t1.txt; git commit -q -m x; git merge -q --no-ff -m merge $(git "
               "commit-tree -p HEAD -m side HEAD^{tree})\n", "merge"),
    "takes the work away": ("git stash push -q -u\n", ""),
    "fails": ("exit 7\n", "exited with status 7"),
}


@pytest.mark.parametrize("how, place", [(how, "worktree") for how in WRONG] +
                         [("changes a file", "shared"), ("amends", "shared")])
def test_a_commit_agent_that(trees, repo, tmp_path, how, place):
    repo.write("README", "second\n")
    repo.git("commit", "-q", "-a", "-m", "second")
    before = of_the_user(repo)
    script, words = WRONG[how]
    t = trees(scripts={"commit": ME + script})
    row = t.run(task="do it", isolation=place, commit="agent", review=True)
    assert row["state"] in ("failed", "held") and row["result_commit"] is None, row
    assert words in (row["cause"] or row["reason"]), row
    if row["state"] == "failed" and row["cause"].startswith("git "):
        # what to do there is told only of a place that stays
        assert ("that work tree is removed with its task, and its content is saved" in row["cause"]) == (
            place == "worktree"), row
    # which belongs to all work trees: that is the agent's doing
    if place == "worktree" and "stash" not in script:
        assert of_the_user(repo) == before and work_trees(repo) == []
    if place == "worktree":
        found = [t.restored(s, tmp_path / "out").get(b"t1.txt", (0, b""))[1] for s in t.salvage(row["id"])]
        kept = repo.git("for-each-ref", "--format=%(objectname)", "refs/heads/rl", "refs/stash").split()
        found += [repo.git("show", f"{c}{part}:t1.txt", check=False).encode() for c in kept for part in ("", "^3")]
        assert any(text.startswith(b"t1") for text in found), "the work is somewhere"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("script", ["answer 'I commit nothing'\n",
                                    ME + "git add a.txt; git commit -q -m 'half of it'\n",
                                    "git add -A\n"], ids=["nothing", "half", "stages"])
def test_what_a_commit_agent_leaves_out(trees, repo, place, script):
    t = trees(scripts={"implement": "echo a > a.txt; echo b > b.txt; answer done\n", "commit": script})
    row = t.run(task="do it", isolation=place, commit="agent", review=True)
    commit, all_of_it = result_of(repo, row)
    assert row["state"] == "succeeded" and names_in(repo, commit) == {"README", "a.txt", "b.txt"}, row
    assert repo.git("rev-parse", f"{commit}^{{tree}}") == repo.git("rev-parse", f"{row['result_ref']}^{{tree}}")


@pytest.mark.parametrize("mode", ["none", "auto"])
@pytest.mark.parametrize("place", PLACES)
def test_an_implementer_that_commits(trees, repo, place, mode):
    """Although nobody asked it to: nothing is lost, and nothing is in it twice."""
    t = trees(scripts={"implement": ME + "echo t1 > t1.txt; git add t1.txt; git commit -q -m mine; "
                       "echo rest > rest.txt; answer done\n"})
    row = t.run(task="do it", isolation=place, commit=mode, review=True)
    assert row["state"] == "succeeded", row
    assert "b/t1.txt" in t.play.prompt(
        row["id"], "review").decode(), "the diff is against the base, not against its commit"
    tree = repo.git("ls-tree", "--name-only", row["result_ref"]).split()
    assert tree == ["README", "rest.txt", "t1.txt"]
    if mode == "auto":
        commit = row["result_commit"]
        assert (names_in(repo, commit) == set(tree) and author(repo, f"{commit}^") == "agent"
                and commits(repo, commit)[1][2] == "mine")


# ---- the user meanwhile --------------------------------------------------------------------------

def test_in_a_shared_tree_the_rest_stays_the_users(trees, repo):
    """Only what the task has changed is committed; staged, changed and new files of the user
    stay as they were."""
    repo.write("staged", "staged\n")
    repo.git("add", "staged")
    repo.write("README", "changed\n")
    repo.write("new", "new\n")
    row = trees().run(task="do it", isolation="shared", commit="auto", review=True)
    assert row["state"] == "succeeded" and names_in(repo, row["result_commit"]) == {"README", "t1.txt"}
    assert repo.git("status", "--porcelain").split("\n") == ["M README", "A  staged",
                                                             "?? new"] and repo.git("stash", "list") == ""


@pytest.mark.parametrize("stop", ["record", "after-record"])
def test_killed_in_a_shared_tree(trees, repo, stop):
    t = trees()
    number, _ = t.submit_to(stop, task="do it", isolation="shared", commit="auto", review=True)
    t.daemon.kill()
    t.daemon.start()
    row = t.daemon.ended(number)
    assert (row["state"] == "succeeded" and len(commits(repo, "main")) == 2
            and repo.git("status", "--porcelain") == ""), row
