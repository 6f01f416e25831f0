# SPDX-License-Identifier: MIT
"""Agents that commit by themselves in a shared work tree: what passed is the result,
whoever committed it; of what did not, the user is told which commits there are and how
to take them back."""
import json
import re
import subprocess

import pytest

from rld import Repo

OWN = 'echo one >> work.txt\ngit add work.txt\ngit -c user.name=a -c user.email=a@b commit -qm own\n'
AMEND = 'echo one >> work.txt\ngit add work.txt\ngit -c user.name=a -c user.email=a@b commit -q --amend -m rewritten\n'
HALF = OWN + "echo two >> work.txt\n"
COMMITS = ["none", "auto", "agent"]
SPOILS = "commit not made by rld"


@pytest.fixture
def shared(make_daemon, repo):
    def make(implement, review="pass\n", fix="answer nothing\n", **kwargs):
        return make_daemon(scripts={"implement": implement + "answer done\n", "review": review,
                                    "fix": fix, "commit": "git add -A; git -c user.name=a -c "
                                    "user.email=a@b commit -qm mine; answer done\n"}, **kwargs)
    return make


def subjects(repo, since):
    return repo.git("log", "--format=%s", f"{since}..HEAD").splitlines()


def told(row):
    return [w for w in row["warnings"] if "not made by rld" in w or "history was rewritten" in w]


def command_of(text):
    return re.search(r"`(git reset [0-9a-f]+)`", text).group(1).split()[1:]


@pytest.mark.parametrize("commit", COMMITS)
def test_what_passed_is_the_result(shared, repo, commit):
    daemon, since = shared(OWN), repo.git("rev-parse", "HEAD")
    row = daemon.ended(daemon.review(repo.path, commit=commit))
    assert row["state"] == "succeeded" and row["result_commit"] == repo.git("rev-parse", "HEAD") != since, row
    assert subjects(repo, since)[-1] == "own" and repo.git("show", "HEAD:work.txt") == "one"
    assert not any("nothing was committed" in w for w in row["warnings"]), row["warnings"]
    if commit != "agent":
        assert (len(told(row)) == 1 and told(row)[0].startswith("task t1: 1 " + SPOILS)
                and "the result includes them" in told(row)[0]), row["warnings"]


def test_what_is_left_is_committed_on_top(shared, repo):
    daemon, since = shared(HALF), repo.git("rev-parse", "HEAD")
    row = daemon.ended(daemon.review(repo.path, commit="auto"))
    assert (row["result_commit"] == repo.git("rev-parse", "HEAD")
            and len(subjects(repo, since)) == 2 and subjects(repo, since)[1] == "own")
    assert (repo.git("show", "HEAD:work.txt") == "one\ntwo" and len(told(row)) == 1
            and repo.git("status", "--porcelain") == "")


@pytest.mark.parametrize("commit", COMMITS)
@pytest.mark.parametrize("how", ["reviewer", "implementer", "cancel"])
def test_what_did_not_pass_is_told(shared, repo, commit, how):
    """And the command that is told takes the commits back, and nothing of the work."""
    implement = OWN + {"reviewer": "", "implementer": "exit 3\n", "cancel": "gate here\n"}[how]
    daemon, since = shared(implement, "drift more\n", gates=("here",)), repo.git("rev-parse", "HEAD")
    number = daemon.review(repo.path, commit=commit, review={"max_fixes": 0})
    if how == "cancel":
        daemon.play.arrived("here")
        row = daemon.cancelled(number)
    else:
        row = daemon.ended(number)
    assert row["state"] == ("cancelled" if how == "cancel" else "failed") and row["result_commit"] is None, row
    assert (len(told(row)) == 1 and "no review has accepted them" in told(row)[0]
            and str(repo.path) in told(row)[0]), row["warnings"]
    repo.git(*command_of(told(row)[0]))
    assert repo.git("rev-parse", "HEAD") == since and repo.read("work.txt") == "one\n"


@pytest.mark.parametrize("commit", ["none", "auto"])
@pytest.mark.parametrize("review", ["pass\n", "drift more\n"])
def test_rewritten_history_is_told(shared, repo, commit, review):
    daemon, since = shared(AMEND, review), repo.git("rev-parse", "HEAD")
    row = daemon.ended(daemon.review(repo.path, commit=commit, review={"max_fixes": 0}))
    assert row["state"] == ("succeeded" if review == "pass\n" else "failed"), row
    assert row["result_commit"] == (repo.git("rev-parse", "HEAD") if review == "pass\n" else None)
    assert (len(told(row)) == 1 and "history was rewritten" in told(row)[0]
            and since[:12] in told(row)[0]), row["warnings"]
    repo.git(*command_of(told(row)[0]))
    assert repo.git("rev-parse", "HEAD") == since and repo.read("work.txt") == "one\n"


def test_nothing_is_told_of_our_own_commits(shared, repo):
    """Of tasks one after the other in one tree, each begins where the one before has left HEAD."""
    daemon = shared('echo one >> "$RL_TASK_ID.txt"\n')
    stories = json.dumps({"userStories": [{"id": each, "title": each} for each in ("a", "b")]})
    row = daemon.ended(daemon.call("run.submit", workdir=str(repo.path), stories=stories,
                                   isolation="shared", commit="auto", review={"enabled": True})["id"])
    assert (row["state"] == "succeeded" and told(row) == []
            and repo.git("log", "--format=%s").splitlines()[:2] == ["b", "a"]), row


def test_each_task_is_told_of_its_own(shared, repo):
    daemon = shared('[ "$RL_TASK_ID" = a ] || { echo x > x; git add x; git -c user.name=a -c '
                    'user.email=a@b commit -qm own; exit 3; }\necho one > work.txt\n')
    stories = json.dumps({"userStories": [{"id": each, "title": each} for each in ("a", "b")]})
    row = daemon.ended(daemon.call("run.submit", workdir=str(repo.path), stories=stories,
                                   isolation="shared", commit="auto", review={"enabled": True})["id"])
    assert (row["state"] == "failed" and len(told(row)) == 1
            and told(row)[0].startswith("task b: 1 " + SPOILS)), row["warnings"]
    repo.git(*command_of(told(row)[0]))
    assert (repo.git("rev-parse", "HEAD") == row["result_commit"]
            and repo.git("log", "-1", "--format=%s") == "a"), "what has passed stays"


def test_a_review_of_the_run_tells_once(shared, repo):
    daemon, since = shared('echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"\ngit add -A\n'
                           'git -c user.name=a -c user.email=a@b commit -qm "$RL_TASK_ID"\n',
                           "drift more\n"), repo.git("rev-parse", "HEAD")
    stories = json.dumps({"userStories": [{"id": each, "title": each} for each in ("a", "b")]})
    row = daemon.ended(daemon.call("run.submit", workdir=str(repo.path), stories=stories,
                                   isolation="shared", commit="auto",
                                   review={"enabled": True, "scope": "run", "max_fixes": 0})["id"])
    assert (row["state"] == "failed" and len(told(row)) == 1
            and told(row)[0].startswith("2 commits not made by rld")), row["warnings"]
    repo.git(*command_of(told(row)[0]))
    assert repo.git("rev-parse", "HEAD") == since


def test_it_is_told_after_a_death(shared, repo):
    daemon, since = shared(OWN + "gate here\nexit 3\n", gates=("here",)), repo.git("rev-parse", "HEAD")
    number = daemon.review(repo.path, commit="auto")
    daemon.play.arrived("here")
    daemon.kill()
    daemon.play.go("here")
    daemon.start()
    row = daemon.ended(number)
    assert row["state"] == "failed" and len(told(row)) == 1 and since[:12] in told(row)[0], row


def test_the_task_that_changed_nothing_is_named(shared, repo):
    daemon = shared("")
    stories = json.dumps({"userStories": [{"id": each, "title": each} for each in ("a", "b")]})
    row = daemon.ended(daemon.call("run.submit", workdir=str(repo.path), stories=stories,
                                   isolation="shared", commit="auto", on_no_change="review",
                                   review={"enabled": True})["id"])
    said = [w for w in row["warnings"] if "nothing was committed" in w]
    assert said == [f"task {each}: nothing was committed: the tree is unchanged"
                    for each in ("a", "b")], row["warnings"]


@pytest.fixture
def unborn(tmp_path):
    """A repository without any commit."""
    repo = Repo(tmp_path / "unborn")
    repo.git("update-ref", "-d", "HEAD")
    repo.git("rm", "-rq", "--cached", ".")
    return repo


@pytest.mark.parametrize("commit", ["none", "auto"])
@pytest.mark.parametrize("implement", [OWN, HALF], ids=["all", "half"])
def test_the_first_commit_is_the_result(shared, unborn, commit, implement):
    daemon = shared(implement)
    row = daemon.ended(daemon.review(unborn.path, commit=commit))
    # what is left of it is in no commit, and a part is not the result
    whole = commit == "auto" or implement == OWN
    assert row["state"] == "succeeded", row
    assert row["result_commit"] == (unborn.git("rev-parse", "HEAD") if whole else None), row
    assert unborn.git("log", "--format=%s").splitlines()[-1] == "own"
    assert (len(told(row)) == 1 and told(row)[0].startswith("task t1: 1 " + SPOILS)
            and "the result includes them" in told(row)[0]), row["warnings"]


@pytest.mark.each
@pytest.mark.parametrize("implement,whole", [(OWN, True), (HALF, False)], ids=["all", "half"])
def test_what_is_not_committed_is_told(shared, repo, implement, whole):
    daemon = shared(implement)
    row = daemon.ended(daemon.review(repo.path))
    head = repo.git("rev-parse", "HEAD")
    said = [w for w in row["warnings"] if "does not contain all of the tree that passed" in w]
    assert (row["state"] == "succeeded" and row["result_commit"] == (head if whole else None)
            and [head[:12] in w for w in said] == [True] * (not whole)), row
    assert repo.git("show", f"{row['result_ref']}:work.txt") == repo.read("work.txt").strip()


COMMIT = "git -c user.name=a -c user.email=a@b commit -qm own"


@pytest.mark.each
@pytest.mark.parametrize("before, implement, whole", [
    # of the user, and in no commit
    ("echo x >> README; echo y > new.txt", f"echo one > work.txt; git add work.txt; {COMMIT}", True),
    # conversions of the base
    ("echo '*.i ident' > .gitattributes; git add .; git commit -qm base",
     f"echo '$Id: 1 $' > work.i; git add .; {COMMIT}", True),
    # in the commit, and not judged
    ("true", f"echo one > work.txt; echo two > more.txt; git add .; {COMMIT}; rm more.txt", False),
    ("true", f"echo EVIL > work.txt; git add .; {COMMIT}; echo one > work.txt", False),
    ("true", f"echo EVIL > README; git add .; {COMMIT}; git show HEAD~1:README > README; echo one > work.txt", False),
], ids=["user", "ident", "removed", "replaced", "undone"])
def test_the_result_is_a_commit_of_what_passed(shared, repo, before, implement, whole):
    """With commit = "none", a commit of an agent is the result if it has just what passed."""
    subprocess.run(["sh", "-ec", before], cwd=repo.path, check=True)
    daemon = shared(implement + "\n")
    row = daemon.ended(daemon.review(repo.path))
    assert row["state"] == "succeeded", row
    assert row["result_commit"] == (repo.git("rev-parse", "HEAD") if whole else None), row
    assert any("does not contain all of the tree that passed" in w for w in row["warnings"]) != whole


def test_a_later_task_that_commits_nothing(shared, repo):
    """The commit of the first one does not have what passed after it."""
    daemon = shared('echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"\n'
                    f'[ "$RL_TASK_ID" = b ] || {{ git add .; {COMMIT}; }}\n')
    stories = json.dumps({"userStories": [{"id": each, "title": each} for each in ("a", "b")]})
    row = daemon.ended(daemon.call("run.submit", workdir=str(repo.path), stories=stories, isolation="shared",
                                   review={"enabled": True})["id"])
    assert row["state"] == "succeeded" and row["result_commit"] is None, row


def test_the_first_commit_is_told_when_nothing_accepts_it(shared, unborn):
    daemon = shared(OWN + "exit 3\n")
    row = daemon.ended(daemon.review(unborn.path, commit="auto"))
    assert row["state"] == "failed" and row["result_commit"] is None
    assert len(told(row)) == 1 and "no review has accepted them" in told(row)[0], row["warnings"]
    unborn.git(*re.search(r"`git (update-ref -d HEAD)`", told(row)[0]).group(1).split())
    assert unborn.git("for-each-ref", "refs/heads") == "" and unborn.read("work.txt") == "one\n"


@pytest.mark.parametrize("commit", ["auto", "agent"])
def test_nothing_is_told_of_our_own_first_commit(shared, unborn, commit):
    daemon = shared("echo one > work.txt\n")
    row = daemon.ended(daemon.review(unborn.path, commit=commit))
    assert (row["state"] == "succeeded" and told(row) == []
            and row["result_commit"] == unborn.git("rev-parse", "HEAD")), row


def switched(row):
    return [w for w in row["warnings"] if "another branch was checked out" in w]


@pytest.mark.parametrize("commit", COMMITS)
@pytest.mark.parametrize("review", ["pass\n", "drift more\n"])
@pytest.mark.parametrize("work", ["echo one >> work.txt\n", OWN], ids=["no commit", "commit"])
def test_another_branch_is_told(shared, repo, commit, review, work):
    daemon, branch = shared("git switch -qc elsewhere\n" + work, review), repo.git("symbolic-ref", "--short", "HEAD")
    row = daemon.ended(daemon.review(repo.path, commit=commit, review={"max_fixes": 0}))
    assert row["state"] == ("succeeded" if review == "pass\n" else "failed"), row
    assert (len(switched(row)) == 1
            and f"HEAD was on {branch} and is now on elsewhere" in switched(row)[0]), row["warnings"]
    assert all("git reset" not in w for w in row["warnings"]), "that would move the branch of the agent"
    repo.git(*re.search(r"`git (switch [^`]+)`", switched(row)[0]).group(1).split())
    assert repo.git("symbolic-ref", "--short", "HEAD") == branch


@pytest.mark.parametrize("there,told_of",
                         [("git switch -q --detach", True), ("git switch -qc a; git switch -q -", False)],
                         ids=["detached", "back again"])
def test_where_head_leads_at_the_end_counts(shared, repo, there, told_of):
    daemon, branch = shared(there + "\necho one > work.txt\n"), repo.git("symbolic-ref", "--short", "HEAD")
    row = daemon.ended(daemon.review(repo.path, commit="none"))
    assert row["state"] == "succeeded" and [f"HEAD was on {branch} and is now on no branch" in w
                                            for w in switched(row)] == ([True] if told_of else []), row


def test_a_detached_head_that_is_committed_on_is_no_switch(shared, repo):
    repo.git("switch", "-q", "--detach")
    daemon, since = shared(OWN), repo.git("rev-parse", "HEAD")
    row = daemon.ended(daemon.review(repo.path, commit="auto"))
    assert (row["state"] == "succeeded" and switched(row) == [] and len(told(row)) == 1
            and subjects(repo, since) == ["own"])


def test_what_takes_commits_back_leaves_later_tasks_alone(shared, repo):
    """The task that failed is followed by one that passes: its commit stays."""
    daemon, since = shared('echo x >> "$RL_TASK_ID"; [ "$RL_TASK_ID" = b ] || { git add -A; '
                           'git -c user.name=a -c user.email=a@b commit -qm own; exit 3; '
                           '}\n'), repo.git("rev-parse", "HEAD")
    stories = json.dumps({"userStories": [{"id": each, "title": each} for each in ("a", "b")]})
    row = daemon.ended(daemon.call("run.submit", workdir=str(repo.path), stories=stories,
                                   isolation="shared", commit="auto", on_failure="continue",
                                   review={"enabled": True})["id"])
    assert (subjects(repo, since) == ["b", "own"] and len(told(row)) == 1
            and told(row)[0].startswith("task a: 1 " + SPOILS)), row["warnings"]
    assert "git reset" not in told(row)[0]
    words = re.search(r"`git (revert [^`]+)`", told(row)[0]).group(1).split()
    repo.git("-c", "user.name=a", "-c", "user.email=a@b", *words)
    assert repo.git("ls-tree", "--name-only", "HEAD", "a", "b") == "b", "the failed work is gone, what has passed stays"
