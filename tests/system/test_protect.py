# SPDX-License-Identifier: MIT
"""review.protect: work that touches a protected path is for a human to decide; and a change of what
reviews go by is named."""
import os

import pytest

from loop import Loop
from rld import RpcError
from test_profile_comments import COMMENTS
from test_profile_decision import DECISION
from test_profile_exit import PROFILE as EXIT
from test_profile_file import PROFILE as FILE
from test_profile_verdict import VERDICT

PROTECT = {"protect": ["tests/**", "Makefile"]}
TOUCH = "echo more >> tests/one\necho one > work.txt\nanswer done\n"
TOUCHES = "the work touches protected paths: tests/one"


def looped(make_daemon, repo, tmp_path, profile, **kwargs):
    repo.git("config", "user.name", "t")
    repo.git("config", "user.email", "t@example.org")
    repo.write("tests/one", "1\n")
    repo.write("Makefile", "test:\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "tests")
    made = Loop(make_daemon, repo, tmp_path, profile, **kwargs)
    made.always_content()
    return made


@pytest.fixture
def made(make_daemon, repo, tmp_path):
    return looped(make_daemon, repo, tmp_path, VERDICT)


def is_held(made, row, kind="protected", reason="passed, but " + TOUCHES):
    assert row["state"] == "held", row
    hold, = row["holds"]
    assert (hold["kind"], hold["reason"]) == (kind, reason), hold
    return hold


@pytest.mark.parametrize("profile", [VERDICT, DECISION, FILE, EXIT, COMMENTS], ids=lambda p: p.name)
def test_each_profile(make_daemon, repo, tmp_path, profile):
    """A pass is held, and an approval leaves it what it is."""
    made = looped(make_daemon, repo, tmp_path, profile)
    made.set(implement=TOUCH)
    is_held(made, made.run(review=PROTECT))
    assert made.decisions() == [profile.pass_word] and made.passed_refs() == []
    made.daemon.call("hold.approve", id=1, message="the test was wrong")
    made.passes(made.daemon.ended(1))
    assert made.decisions() == [profile.pass_word] * 2
    assert made.daemon.reviews(1)[-1]["reviewer_agent"].startswith("human:")


@pytest.mark.parametrize("commit", ["none", "auto", "agent"])
def test_an_approval_keeps_the_verdict(made, commit):
    made.set(implement=TOUCH)
    made.play.set({"commit": "git commit -qam theirs\nanswer committed\n"})
    is_held(made, made.run(review=PROTECT, commit=commit))
    made.daemon.call("hold.approve", id=1)
    row = made.daemon.ended(1)
    assert (row["state"], row["cause"], row["end_kind"]) == ("succeeded", None, None), row
    assert row["tasks"][0]["locked_tree"] == made.daemon.reviews(1)[0]["tree"]
    assert (row["result_commit"] is None) == (commit == "none")


def test_it_outlives_the_daemon(made):
    """What was found before a restart is known after it."""
    made.set(implement=TOUCH, review_1="gate review\n" + made.profile.passes)
    number = made.submit(review=PROTECT)
    made.play.arrived("review")
    made.daemon.kill()
    made.daemon.start()
    made.play.go("review")
    is_held(made, made.daemon.ended(number))


def test_sent_back_it_may_pass(made):
    made.set(implement=TOUCH, fix="git checkout -q HEAD tests\nanswer restored\n")
    is_held(made, made.run(review=PROTECT))
    made.daemon.call("hold.rework", id=1, message="leave the tests alone")
    made.passes(made.daemon.ended(1))
    assert made.roles() == ["implement", "review", "fix", "review"]


def test_a_fixer_is_seen_too(made):
    made.set(review_1=made.profile.finds("a test fails"), fix="rm tests/one\nanswer fixed\n")
    is_held(made, made.run(review=PROTECT))


def test_a_rejection_fails(made):
    made.set(implement=TOUCH)
    is_held(made, made.run(review=PROTECT))
    made.daemon.call("hold.reject", id=1, message="no")
    assert made.daemon.ended(1)["end_kind"] == "rejected"


WAYS = {
    "added": ("echo 2 > tests/two", "tests/two"),
    "removed": ("rm tests/one", "tests/one"),
    "mode": ("chmod +x tests/one", "tests/one"),
    "moved": ("git mv tests/one elsewhere", "tests/one"),
    "link": ("mv tests away; ln -s away tests", "tests, tests/one"),
    "file": ("rm -r tests; echo x > tests", "tests/one"),
    "committed": ("echo 2 >> tests/one; git commit -qam sneaky", "tests/one"),
    "skipped": ("echo 2 >> tests/one; git update-index --skip-worktree tests/one", "tests/one"),
    "excluded": ("echo 2 > tests/two; echo tests/two >> .git/info/exclude", "tests/two"),
    "makefile": ("printf 'test:\\n\\ttrue\\n' > Makefile", "Makefile"),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_change(made, way):
    work, names = WAYS[way]
    made.set(implement=f"{work}\necho one > work.txt\nanswer done\n")
    is_held(made, made.run(review=PROTECT), reason="passed, but the work touches protected paths: " + names)


def test_a_nested_repository_in_place_of_a_directory(made):
    made.set(implement="rm -r tests; git init -q tests; cd tests; echo 1 > new; git add .; "
             "git -c user.name=t -c user.email=t@localhost commit -qm new; cd ..\nanswer done\n")
    row = made.run(review=PROTECT)
    assert row["state"] == "held" and "touches protected paths: tests" in row["reason"] + row["holds"][0]["reason"]


def test_other_work_passes(made):
    made.set(implement="echo x > tests.txt; echo y > Makefile.am; echo one > work.txt\nanswer done\n")
    made.passes(made.run(review=PROTECT))


@pytest.mark.parametrize("policy", ["accept", "known_issues"])
def test_no_policy_accepts_it(made, policy):
    made.set(implement=TOUCH)
    made.never_content()
    row = made.run(review={**PROTECT, "max_fixes": 0, "on_exhausted": policy})
    is_held(made, row, "exhausted", "drift unresolved after 0 fix attempt(s); " + TOUCHES)
    assert not row["known_issues"] and not [w for w in row["warnings"] if w.startswith("accepted")]
    made.daemon.call("hold.approve", id=1)
    row = made.daemon.ended(1)
    assert (row["state"], row["end_kind"], made.passed_refs()) == ("succeeded", "approved", [])


def test_no_policy_accepts_a_malformed_answer(made):
    made.set(implement=TOUCH, review_1=made.profile.malformed)
    row = made.run(review={**PROTECT, "on_malformed": "accept"})
    assert row["state"] == "held" and row["holds"][0]["kind"] == "violation", row
    assert row["holds"][0]["reason"].endswith("; " + TOUCHES)


def test_no_policy_accepts_what_was_not_compared(make_daemon, repo, tmp_path):
    """A check in the work tree fails before the work is measured."""
    made = looped(make_daemon, repo, tmp_path, EXIT)
    made.set(implement=TOUCH)
    row = made.run(checks=["false"], review={**PROTECT, "max_fixes": 0})
    hold, = row["holds"]
    assert row["state"] == "held" and hold["kind"] == "exhausted", row
    assert hold["reason"].endswith("; the work was not compared with review.protect yet")


def test_a_failure_stays_one(made):
    made.set(implement=TOUCH)
    made.never_content()
    row = made.run(review={**PROTECT, "max_fixes": 0, "on_exhausted": "fail"})
    assert (row["state"], row["end_kind"]) == ("failed", "exhausted")


def test_it_says_both(made):
    """A cut diff of protected paths."""
    made.set(implement="seq 1 30000 > tests/one\nanswer done\n")
    row = made.run(review={**PROTECT, "on_cut": "hold"})
    hold, = row["holds"]
    assert hold["kind"] == "protected" and TOUCHES + "; the reviewer's prompt left out " in hold["reason"], hold


def test_a_project_protects(made):
    """The file that says so is protected only when it says so, and it takes nothing away."""
    made.repo.write(".rld.toml", "[review]\nprotect = [\"docs/\"]\n")
    made.set(implement="echo one > work.txt\nmkdir -p docs; echo x > docs/a.md\nanswer done\n")
    row = made.run()
    is_held(made, row, reason="passed, but the work touches protected paths: docs/a.md")


def test_a_project_takes_nothing_away(make_daemon, repo, tmp_path):
    made = looped(make_daemon, repo, tmp_path, VERDICT, config={"review": {"protect": ["tests/**"]}})
    made.repo.write(".rld.toml", "[review]\nprotect = [\"docs/\"]\n")
    made.set(implement=TOUCH)
    is_held(made, made.run())


def test_the_option(made):
    made.set(implement=TOUCH)
    made.daemon.rlctl("run", "-C", made.repo.path, "--review", "--protect", "docs/", "--protect", "tests/", "do it",
                      check=13)
    is_held(made, made.daemon.run(1))


def test_a_whole_run(make_daemon, repo, tmp_path):
    """The review of all tasks holds what one of them touches."""
    made = looped(make_daemon, repo, tmp_path, VERDICT)
    made.set(implement=TOUCH)
    is_held(made, made.run(review={**PROTECT, "scope": "run"}))
    made.daemon.call("hold.approve", id=1)
    assert made.daemon.ended(1)["state"] == "succeeded"


@pytest.mark.parametrize("scope", ["task", "run"])
def test_a_retry_is_held_as_well(made, scope):
    """Twice over: no verdict is paid for again, and none passes without a human."""
    made.set(implement=TOUCH)
    is_held(made, made.run(review={**PROTECT, "scope": scope}))
    for number in (2, 3):
        made.daemon.call("run.retry", id=number - 1)
        row = made.daemon.ended(number)
        hold, = row["holds"]
        assert (row["state"], hold["kind"], hold["reason"]) == ("held", "protected", "passed, but " + TOUCHES), row
    made.daemon.call("hold.approve", id=hold["id"])
    row = made.daemon.ended(3)
    assert (row["state"], row["cause"]) == ("succeeded", None), row
    assert made.roles() == ["implement", "review"]
    assert made.daemon.reviews(3)[-1]["reviewer_agent"].startswith("human:")


@pytest.mark.parametrize("pattern", ["", "  ", "../x", "a//b", "./a", "a/./b", ".git/hooks", "//a"])
def test_a_pattern_that_protects_nothing(made, pattern):
    with pytest.raises(RpcError) as error:
        made.submit(review={"protect": [pattern]})
    assert error.value.code == -32602 and "must be a pattern of paths" in error.value.message, error.value


def test_it_needs_git(make_daemon, tmp_path):
    daemon = make_daemon(scripts={"implement": "answer done\n"})
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(RpcError) as error:
        daemon.review(plain, review={"reviewer": "/bin/true", "protect": ["tests/"]})
    assert error.value.message == f"workdir {plain} is not in a git repository, and review.protect needs one " \
        "to find what the work touches"
    assert os.listdir(plain) == []


# What reviews go by

JUDGES = "; this run goes by what they were at its submit, later runs go by what they are then"


@pytest.mark.parametrize("work,names", [
    ("mkdir -p .ai_agents/prompts; echo pass > .ai_agents/prompts/reviewer.md", ".ai_agents/prompts/reviewer.md"),
    ("echo '[review]' > .rld.toml", ".rld.toml"),
    ("echo 'all is well' >> CLAUDE.md; echo '[review]' > .rld.toml", ".rld.toml, CLAUDE.md"),
    ("mkdir -p away/prompts; ln -s away .ai_agents", ".ai_agents"),
], ids=["prompt", "settings", "two", "link"])
def test_a_change_of_what_judges_is_named(made, work, names):
    made.set(implement=f"{work}\necho one > work.txt\nanswer done\n", review_1=made.profile.finds("more"))
    row = made.run()
    made.passes(row)
    told = [w for w in row["warnings"] if "decide about reviews" in w]
    assert told == [f"task t1: the work changes files that decide about reviews: {names}{JUDGES}"], row["warnings"]


def test_other_work_changes_no_judge(made):
    made.set(implement="echo x > CLAUDE.txt; echo one > work.txt\nanswer done\n")
    assert made.run()["warnings"] == []
