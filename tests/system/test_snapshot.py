# SPDX-License-Identifier: MIT
"""review.workspace = "snapshot": the review runs in a checkout of its own, of exactly the
tree under review."""
import pytest

from loop import End, Loop
from rld import Repo
from test_profile_comments import COMMENTS, FILE
from test_profile_decision import DECISION
from test_profile_verdict import VERDICT

PROFILES = [VERDICT, DECISION, COMMENTS]
SNAPSHOT = {"workspace": "snapshot"}


@pytest.fixture
def made(make_daemon, repo, tmp_path):
    return Loop(make_daemon, repo, tmp_path, VERDICT)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_findings_then_pass(make_daemon, repo, tmp_path, profile):
    made = Loop(make_daemon, repo, tmp_path, profile)
    made.passes(made.run(review=SNAPSHOT))
    assert made.roles() == ["implement", "review", "fix", "review"]
    assert not (repo.path / FILE).exists()


def test_it_holds_exactly_the_tree(made):
    made.repo.write(".gitignore", "*.o\n")
    made.repo.write("junk.o", "ignored\n")
    made.repo.write("tool.sh", "#!/bin/sh\n")
    (made.repo.path / "tool.sh").chmod(0o755)
    (made.repo.path / "link").symlink_to("README")
    look = ("find . -path ./.git -prune -o -print | sort > \"$PLAY/found.$nth\"; pwd > \"$PLAY/where.$nth\"; "
            "cat work.txt > \"$PLAY/work.$nth\"; test -x tool.sh && test -L link\n")
    made.set(review_1=look + VERDICT.finds("more"), review=look + VERDICT.passes)
    made.passes(made.run(review=SNAPSHOT))
    for nth, work in ((1, "one\n"), (2, "one\nfix 1\n")):
        assert (made.play.path / f"found.{nth}").read_text().split() == [".", "./.gitignore",
                                                                         "./README", "./link",
                                                                         "./tool.sh", "./work.txt"]
        assert (made.play.path / f"work.{nth}").read_text() == work
        where = (made.play.path / f"where.{nth}").read_text().strip()
        assert where.startswith(str(made.daemon.state)) and where != str(made.repo.path)


def test_in_a_directory_below_the_top(made):
    (made.repo.path / "sub").mkdir()
    made.repo.write("sub/here", "x\n")
    made.set(review="pwd > \"$PLAY/where\"; test -f here\n" + VERDICT.passes, review_1=VERDICT.passes)
    made.set(review_1="pwd > \"$PLAY/where\"; test -f here || exit 9\n" + VERDICT.passes)
    row = made.daemon.ended(made.daemon.review(made.repo.path / "sub", review={"profile": "verdict", **SNAPSHOT}))
    assert row["state"] == "succeeded", row
    assert (made.play.path / "where").read_text().strip().endswith("/sub")


def test_in_a_directory_with_nothing_in_it_for_git(made):
    made.repo.write(".gitignore", "sub/\n")
    (made.repo.path / "sub").mkdir()
    made.set(implement="echo one > ../work.txt\n", review_1="test -f ../work.txt || exit 9\n" + VERDICT.passes)
    row = made.daemon.ended(made.daemon.review(made.repo.path / "sub", review={"profile": "verdict", **SNAPSHOT}))
    assert row["state"] == "succeeded", row


def test_what_others_write_meanwhile_does_not_bear_on_it(made):
    """When anyone else may write the tree meanwhile: their edits are theirs, and what was
    reviewed is what passes."""
    made.set(review_1="gate review\ncat work.txt > \"$PLAY/read\"\n" + VERDICT.passes)
    number = made.submit(review=SNAPSHOT)
    made.play.arrived("review")
    made.repo.write("work.txt", "somebody else\n")
    made.repo.write("new.txt", "somebody else\n")
    made.play.go("review")
    row = made.daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert row["warnings"] == [f"task t1: these files appeared in {made.repo.path} during the "
                               "review and are not part of the work: new.txt",
                               f"task t1: these files were changed in {made.repo.path} during the review, not by the "
                               "reviewer, and the changes are not part of the work: work.txt",
                               "task t1: the work tree is no longer what was judged: work.txt"]
    assert (made.play.path / "read").read_text() == "one\n"
    assert made.repo.git("show", f"{row['result_ref']}:work.txt") == "one"
    assert made.repo.read("work.txt") == made.repo.read("new.txt") == "somebody else\n"


@pytest.mark.parametrize("change,name", [("echo sneaky >> work.txt", "work.txt"),
                                         ("rm work.txt", "work.txt"), ("chmod +x README", "README"),
                                         ("rm link; ln -s work.txt link", "link"),
                                         ("rm work.txt; mkdir work.txt", "work.txt"),
                                         ("rm -r deep", "deep/er/file")])
def test_a_reviewer_that_changes_its_checkout_violates(made, change, name):
    """A verdict is about exactly the tree that was to be reviewed."""
    made.repo.write("deep/er/file", "x\n")
    (made.repo.path / "link").symlink_to("README")
    made.set(review_1=change + "\n" + VERDICT.passes)
    made.ends(End("failed", f"reviewer contract violation: reviewer changed the tree: {name}", 10),
              made.run(review=SNAPSHOT))
    assert made.repo.read("work.txt") == "one\n"


def test_what_it_makes_beside_is_its_own_business(made):
    made.set(review_1="echo x > new.txt; mkdir -p build; echo y > build/out; git init -q build\n" + VERDICT.passes)
    row = made.run(review=SNAPSHOT)
    made.passes(row)
    assert row["warnings"] == [] and not (made.repo.path / "new.txt").exists()


def test_in_a_linked_worktree(made, tmp_path):
    tree = tmp_path / "linked"
    made.repo.git("worktree", "add", "-q", "-b", "side", str(tree))
    made.set(review_1="echo sneaky >> README\n" + VERDICT.passes)
    for end in ("failed", "succeeded"):
        row = made.daemon.ended(made.daemon.review(tree, review={"profile": "verdict", **SNAPSHOT}))
        assert row["state"] == end, row
        made.always_content()


def test_with_a_submodule(made, tmp_path):
    inner = Repo(tmp_path / "inner")
    made.repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "sub")
    row = made.run(review=SNAPSHOT)
    made.passes(row)
    warning, = [w for w in row["warnings"] if "submodule" in w]
    assert warning.startswith("submodules are checked out: sub; the work has only their commits")


def test_the_checkouts_go_with_the_run(made):
    made.passes(made.run(review=SNAPSHOT))
    while made.daemon.call("daemon.status")["busy"]:
        pass
    assert [p.name for p in (made.daemon.state / "runs" / "1").iterdir() if p.is_dir()] == []


@pytest.mark.parametrize("stop", ["review", "verify"])
def test_daemon_killed(made, stop):
    made.submit_to(stop, review=SNAPSHOT)
    made.daemon.kill()
    made.daemon.start()
    if stop == "review":
        made.play.go(stop)
    made.passes(made.daemon.ended(1))
    assert made.roles() == ["implement", "review", "fix", "review"]
