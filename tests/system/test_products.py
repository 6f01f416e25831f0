# SPDX-License-Identifier: MIT
"""The tree under review is what the directory has: nothing that an agent writes to the repository
hides a part of it from the reviewer, or shows it as something else."""
import subprocess

import pytest

from rld import Repo

VERDICT = {"profile": "verdict", "max_fixes": 0}
HONEST = "grep -q EVIL \"$PROMPT\" && drift 'EVIL is in it' || pass\n"

# content under the id of other content, as a loose object
FORGE = """
forge() {
	id=$(git hash-object --stdin)
	f=.git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)
	mkdir -p "$(dirname $f)"; rm -f $f
	python3 -c 'import sys, zlib; d = b"harmless\\n"
sys.stdout.buffer.write(zlib.compress(b"blob %d\\0" % len(d) + d))' > $f
}
"""

NESTED = ("git init -q n; (cd n; echo EVIL > e.py; git add -A; "
          "git -c user.name=a -c user.email=a@localhost commit -qm x)\n")

TRICKS = {
    "forged": FORGE + "echo EVIL > work.txt; echo EVIL | forge\n",
    "forged-base": FORGE + "echo scratch | forge; echo EVIL > README\n",
    "nested": NESTED,
    "nested-excluded": "git init -q n; echo '*' > n/.git/info/exclude; echo EVIL > n/e.py\n",
    "info-exclude": "echo e.py >> .git/info/exclude; echo EVIL > e.py\n",
    "excludes-file": "echo e.py > .git/x; git config core.excludesFile \"$PWD/.git/x\"; echo EVIL > e.py\n",
    "ignorecase": "git config core.ignorecase true; echo EVIL > readme\n",
    "skip-worktree": "git update-index --skip-worktree README; echo EVIL > README\n",
    "filter": "git config filter.z.clean 'sed s/EVIL/GOOD/'; mkdir -p .git/info; "
              "echo '* filter=z' > .git/info/attributes; echo EVIL > e.py\n",
    "git~1": "mkdir git~1; echo EVIL > git~1/e.py\n",
    ".GIT": "mkdir .GIT; echo EVIL > .GIT/e.py\n",
}
NEVER_IN_A_TREE = ["git~1", ".GIT"]


def play(make_daemon, trick, **more):
    return make_daemon(scripts={"implement": trick + "echo work >> work.txt\nanswer done\n",
                                "review": HONEST.replace("$PROMPT", "$PLAY/prompt.$RL_RUN.review.$nth"), **more})


@pytest.mark.parametrize("isolation", ["shared", "worktree"])
@pytest.mark.parametrize("name", TRICKS)
def test_a_reviewer_is_shown_what_is_there(make_daemon, repo, name, isolation):
    trick = TRICKS[name]
    if isolation == "worktree":
        trick = trick.replace(".git/", "$(git rev-parse --git-common-dir)/")
    daemon = play(make_daemon, trick)
    run = daemon.review(repo.path, review=VERDICT, isolation=isolation)
    row = daemon.ended(run)
    assert row["state"] in ("failed", "held"), row
    if name in NEVER_IN_A_TREE:
        assert "git allows these names in no tree" in str(row) + str(daemon.call("hold.list")), row
    else:
        assert [r["decision"] for r in daemon.reviews(run)] == ["drift"], row


def test_a_name_that_no_tree_can_have_is_fixed(make_daemon, repo):
    daemon = play(make_daemon, TRICKS[".GIT"], fix="rm -r .GIT; echo fixed >> work.txt\nanswer fixed\n")
    run = daemon.review(repo.path, review={"profile": "verdict"})
    assert daemon.ended(run)["state"] == "succeeded"
    assert ".GIT/e.py. Rename or remove them." in daemon.play.prompt(run, "fix").decode()


def test_a_damaged_repository_is_refused_with_the_remedy(make_daemon, repo):
    subprocess.run(["sh", "-c", FORGE + "echo scratch | forge"], cwd=repo.path, check=True)
    daemon = play(make_daemon, "")
    row = daemon.ended(daemon.review(repo.path, review=VERDICT))
    assert row["state"] == "failed" and "see `git fsck --full`" in row["cause"] and daemon.attempts(row["id"]) == []


def test_forged_content_is_not_left_in_the_result(make_daemon, repo):
    """What passes is in the user's repository under its ids: what is already there is read."""
    daemon = play(make_daemon, FORGE + "echo fine > work.txt; (echo fine; echo work) | forge\n")
    row = daemon.ended(daemon.review(repo.path, review=VERDICT, commit="auto"))
    assert row["state"] == "failed" and "is not what its id says" in row["cause"], row
    assert repo.git("log", "--format=%s").split() == ["start"]


@pytest.mark.parametrize("early", [True, False])
def test_settings_are_those_before_the_run_that_was_at_work(make_daemon, repo, early):
    """A run that waits does not go by what the one before it has set, whether it was submitted
    before that began or while it was at work."""
    daemon = make_daemon(gates=["here"], scripts={
        "implement": "[ $RL_RUN != 1 ] || { gate here; echo e.py >> .git/info/exclude; }\n"
                     "echo seen $RL_RUN > e.py; echo $RL_RUN > work.txt\nanswer done\n", "review": "pass\n"})
    first = daemon.review(repo.path, review=VERDICT)
    second = daemon.review(repo.path, review=VERDICT) if early else None
    daemon.play.arrived("here")
    second = second or daemon.review(repo.path, review=VERDICT)
    daemon.play.go("here")
    assert [row["state"] for row in daemon.ended(first, second)] == ["succeeded"] * 2
    assert b"+seen 2" in daemon.play.prompt(second, "review")
    # what a user sets between the runs counts
    third = daemon.review(repo.path, review=VERDICT)
    assert daemon.ended(third)["state"] == "succeeded"
    assert b"+seen 3" not in daemon.play.prompt(third, "review")


def test_a_repository_inside_is_committed_as_files(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": NESTED.replace("EVIL", "good") + "answer done\n", "review": "pass\n"})
    row = daemon.ended(daemon.review(repo.path, review=VERDICT, commit="auto"))
    assert row["state"] == "succeeded"
    assert repo.git("show", f"{row['result_commit']}:n/e.py") == "good"


def test_two_directories_of_one_repository_have_one_store(make_daemon, repo, tmp_path):
    daemon = make_daemon(scripts={"implement": "echo work > work.txt\nanswer done\n", "review": "pass\n"})
    other = tmp_path / "linked"
    repo.git("worktree", "add", "-q", "-b", "linked", str(other))
    another = Repo(tmp_path / "another")
    for path in (repo.path, other, another.path):
        assert daemon.ended(daemon.review(path, review=VERDICT))["state"] == "succeeded"
    assert len(list((daemon.state / "evidence").iterdir())) == 2
