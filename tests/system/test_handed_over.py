# SPDX-License-Identifier: MIT
"""What is handed over is what was judged: commits that hooks change afterwards, and refs that
somebody moves."""

import re

import pytest
from test_commit import PLACES, hook, result_of
from test_hold_client import decided
from test_integrate import restored
from trees import beads, trees  # noqa: F401

# ---- a hook behind the commit --------------------------------------------------------------------

AMEND = "unset GIT_INDEX_FILE\n%s\ngit -c core.hooksPath=/dev/null commit -qa --amend --no-edit\n"


@pytest.mark.parametrize("place", PLACES)
def test_a_hook_that_changes_the_commit(trees, repo, place):
    """What it makes of the commit is reviewed before it is the result."""
    hook(repo, "post-commit", AMEND % "grep -q stamp t1.txt || echo stamp >> t1.txt")
    t = trees()
    row = t.run(task="do it", isolation=place, commit="auto", review=True)
    assert row["state"] == "succeeded" and t.roles() == ["implement", "review", "review"], row
    assert "stamp" not in t.play.prompt(row["id"], "review", 1).decode()
    assert "+stamp" in t.play.prompt(row["id"], "review", 2).decode()
    commit, _ = result_of(repo, row)
    assert repo.git("show", f"{commit}:t1.txt") == "t1\nstamp"
    assert repo.git("rev-parse", f"{commit}^{{tree}}") == repo.git("rev-parse", f"{row['result_ref']}^{{tree}}")
    assert repo.git("rev-parse", "HEAD" if place == "shared" else f"rl/{row['id']}/t1") == commit
    assert any("after the commit, a hook of the repository set HEAD to" in w for w in row["warnings"])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["pre-commit", "post-commit"])
def test_a_hook_that_changes_each_commit(trees, repo, tmp_path, place, name):
    """The second time, the task is held: no fixer can help. Nothing is the result."""
    seen = tmp_path / "seen"
    # a hook before the commit has run for the review as well, where it was content
    body = AMEND % "echo stamp >> t1.txt" if name == "post-commit" else \
        f"echo x >> {seen}; [ $(( $(wc -l < {seen}) % 2 )) = 1 ] || {{ echo stamp >> t1.txt; git add t1.txt; }}\n"
    hook(repo, name, body)
    t = trees(scripts={"review.2": "echo changed > more.txt\npass\n"})
    row = t.run(task="do it", isolation=place, commit="auto", review={"max_fixes": 3})
    if name == "post-commit":
        # reviewed in that form it is content
        assert row["state"] == "succeeded" and t.roles() == ["implement", "review", "review"], row
        return
    assert row["state"] == "held" and "fix" not in t.roles() and t.roles().count("review") == 2, row
    hold, = t.daemon.call("hold.list", run=row["id"])["holds"]
    assert hold["kind"] == "commit-refused", hold
    assert hold["reason"].startswith("a hook of the repository changes the work at each commit: "), hold
    assert row["result_commit"] is None


def test_content_of_a_hook_that_the_review_refuses(trees, repo):
    """It is not the result, and the user is told where HEAD is and how to go back."""
    hook(repo, "post-commit", AMEND % "echo EVIL >> t1.txt")
    t = trees(scripts={"review.2": "drift 'EVIL is in it'\n"})
    before = repo.git("rev-parse", "HEAD")
    row = t.run(task="do it", isolation="shared", commit="auto", review={"max_fixes": 0, "on_exhausted": "fail"})
    assert row["state"] == "failed" and row["result_commit"] is None, row
    undo, = [w for w in row["warnings"] if "no review has accepted" in w]
    repo.git(*re.search(r"`git ([^`]*)`", undo).group(1).split())
    assert repo.git("rev-parse", "HEAD") == before


# ---- files ---------------------------------------------------------------------------------------

def told(row, words):
    """The files that the warning with these words names at its end."""
    warning, = [w for w in row["warnings"] if words in w]
    return re.split(", | and ", warning.rpartition(": ")[2])


@pytest.mark.parametrize("place", PLACES)
def test_a_filter_of_the_coder(trees, repo, place):
    """It has no effect on the commit; the one that was there at submit has."""
    repo.git("config", "filter.up.clean", "tr a-z A-Z")
    repo.write(".gitattributes", "*.up filter=up\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "attributes")
    t = trees(scripts={"implement": "git config filter.z.clean 'sed s/GOOD/EVIL/'\n"
                       "dir=$(git rev-parse --git-common-dir)/info; mkdir -p \"$dir\"\n"
                       "echo '*.txt filter=z' > \"$dir/attributes\"\n"
                       "git config filter.up.clean 'echo EVIL'\n"
                       "echo GOOD > t1.txt; echo abc > t1.up; answer done\n"})
    row = t.run(task="do it", isolation=place, commit="auto", review=True)
    commit, _ = result_of(repo, row)
    assert row["state"] == "succeeded" and repo.git("cat-file", "blob", f"{commit}:t1.txt") == "GOOD", row
    assert repo.git("cat-file", "blob", f"{commit}:t1.up") == "ABC"


@pytest.mark.parametrize("place", PLACES)
def test_attributes_of_the_coder(trees, repo, place):
    """They are part of the work, and convert nothing of it, nor of a later task."""
    repo.write(".gitattributes", "*.kept ident\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "attributes")
    beads(repo, "x-1", "x-2")
    t = trees(scripts={"implement": "[ $RL_TASK_ID = x-2 ] || echo '*.t text eol=crlf' >> .gitattributes\n"
                       "printf 'one\\r\\n' > $RL_TASK_ID.t; echo '$Id: 1 $' > $RL_TASK_ID.kept; answer done\n"})
    row = t.run(isolation=place, commit="auto", review=True)
    assert row["state"] == "succeeded", row
    commit = row["result_commit"]
    assert repo.git("show", f"{commit}:.gitattributes") == "*.kept ident\n*.t text eol=crlf"
    for task in ("x-1", "x-2"):
        assert repo.git("cat-file", "-s", f"{commit}:{task}.t") == "5", row
        assert repo.git("cat-file", "blob", f"{commit}:{task}.kept") == "$Id$"
        assert any(f"task {task}: .gitattributes files that the work changed" in w and f" {task}.t; " in w
                   for w in row["warnings"]), row["warnings"]


def test_what_a_person_edits_meanwhile(trees, repo):
    """The commit has what was reviewed, and the edit stays where it is."""
    t = trees()
    t.stop_at("review")
    number = t.submit(task="do it", isolation="shared", commit="auto", review={"workspace": "room"})
    t.play.arrived("review")
    repo.write("t1.txt", "t1\nof a person\n")
    t.play.go("review")
    row = t.daemon.ended(number)
    commit, _ = result_of(repo, row)
    assert row["state"] == "succeeded" and repo.git("cat-file", "blob", f"{commit}:t1.txt") == "t1", row
    assert (repo.path / "t1.txt").read_text() == "t1\nof a person\n"
    assert repo.git("status", "--porcelain") == "M t1.txt"
    assert told(row, "not by the reviewer") == ["t1.txt"] and told(row, "work tree is no longer what was judged") == \
        ["t1.txt"], row["warnings"]


@pytest.mark.parametrize("way", ["hook", "signing program"])
@pytest.mark.parametrize("place", PLACES)
def test_a_file_changed_after_the_commit(trees, repo, tmp_path, place, way):
    """The commit has what was judged. In the user's directory a warning names the files; in a work
    tree they are saved when it is removed."""
    body = "cd \"$(git rev-parse --show-toplevel)\"\nunset GIT_INDEX_FILE\necho EVIL >> t1.txt; echo x > new.txt\n"
    if way == "hook":
        hook(repo, "post-commit", body)
    else:
        program = tmp_path / "sign"
        program.write_text(f"#!/bin/sh\ncat > /dev/null\n{body}printf '\\n[GNUPG:] SIG_CREATED \\n' >&2\necho signed\n")
        program.chmod(0o755)
        repo.git("config", "commit.gpgSign", "true")
        repo.git("config", "gpg.program", str(program))
    t = trees()
    row = t.run(task="do it", isolation=place, commit="auto", review=True)
    commit, _ = result_of(repo, row)
    assert row["state"] == "succeeded" and t.roles() == ["implement", "review"], row
    assert repo.git("show", f"{commit}:t1.txt") == "t1" and repo.git("show", f"{row['result_ref']}:t1.txt") == "t1"
    if place == "shared":
        assert told(row, "work tree is no longer what was judged") == ["new.txt", "t1.txt"], row
        return
    saved, = t.daemon.call("salvage.list")["salvage"]
    assert row["warnings"] == [] and repo.git("show", f"{saved['commit']}:t1.txt") == "t1\nEVIL", row


# ---- refs ----------------------------------------------------------------------------------------

def two_tasks(t, repo, second):
    """Both pass one after the other; the second one's agent does this with the ref of the first."""
    beads(repo, "x-1", "x-2")
    t.play.set({"implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"\n[ "$RL_TASK_ID" = x-1 ] || {\n'
                             'ref=$(git for-each-ref --format="%(refname)" refs/rl | grep passed)\n'
                             f'{second}\n}}\nanswer done\n'})


MOVES = {
    "moved": 'git update-ref "$ref" HEAD',
    "removed": 'git update-ref -d "$ref"',
    "a link": 'git symbolic-ref "$ref" HEAD',
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("move", MOVES)
def test_a_later_task_moves_what_passed(trees, repo, place, move):
    """The next one that passes is held, until the ref is restored and the hold approved."""
    t = trees()
    two_tasks(t, repo, MOVES[move])
    row = t.run(isolation=place, commit="auto", review=True)
    assert row["state"] == "held" and row["end_kind"] is None, row
    hold, = t.daemon.call("hold.list", run=row["id"])["holds"]
    first = next(each for each in row["tasks"] if each["id"] == "x-1")
    assert hold["kind"] == "ref-moved" and hold["reason"].startswith(first["locked_ref"]), hold
    verified = t.daemon.call("review.verify", run=row["id"])
    assert (verified["ok"], verified["chain"]) == (False, True) and first["locked_ref"] in verified["message"]
    restored(repo, hold["reason"])
    assert repo.git("rev-parse", first["locked_ref"]) == first["locked_tree"]
    _, row = decided(t.daemon, row["id"], "hold.approve", id=hold["id"])
    assert row["state"] == "succeeded", row
    assert t.daemon.call("review.verify", run=row["id"])["ok"]


def test_a_task_that_fails_moves_what_passed(trees, repo):
    """No pin follows: the refs are compared nevertheless, and that is why the run fails."""
    t = trees()
    two_tasks(t, repo, MOVES["moved"] + "; exit 1")
    row = t.run(isolation="worktree", commit="auto", review=True, on_failure="continue")
    first = next(each for each in row["tasks"] if each["id"] == "x-1")
    assert row["state"] == "failed" and row["end_kind"] == "ref-moved", row
    assert row["cause"].startswith(f"{first['locked_ref']} is now at "), row
    restored(repo, row["cause"])
    assert repo.git("rev-parse", first["locked_ref"]) == first["locked_tree"]


def test_doctor_compares_refs(trees, repo):
    t = trees()
    row = t.run(task="do it", isolation="shared", review=True)
    doctor = {check["name"]: check for check in t.daemon.call("daemon.doctor", deep=True)["checks"]}
    assert doctor["refs"]["state"] == "ok"
    repo.git("pack-refs", "--all")
    assert t.daemon.call("review.verify", run=row["id"])["ok"]
    repo.git("update-ref", row["result_ref"], "HEAD")
    doctor = {check["name"]: check for check in t.daemon.call("daemon.doctor", deep=True)["checks"]}
    assert doctor["refs"]["state"] == "failed" and f"run {row['id']}: {row['result_ref']}" in doctor["refs"]["text"]
    restored(repo, doctor["refs"]["text"])
    assert t.daemon.call("review.verify", run=row["id"])["ok"]
    t.daemon.rlctl("review", "verify", row["id"], check=0)


def test_a_result_branch_that_was_merged_and_removed(trees, repo):
    """After the run the branch is its user's."""
    beads(repo, "x-1")
    t = trees()
    row = t.run(isolation="worktree", review=True)
    repo.git("branch", "-q", "-D", row["result_branch"])
    assert row["state"] == "succeeded" and t.daemon.call("review.verify", run=row["id"])["ok"], row
