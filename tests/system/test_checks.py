# SPDX-License-Identifier: MIT
"""Checks: commands run before the reviewer. One that fails goes straight to the fixer with its
output and uses a fix round, but no reviewer tokens."""
import json
import os

import pytest

import loop
from loop import End, Loop
from test_profile_comments import COMMENTS
from test_profile_decision import DECISION
from test_profile_verdict import VERDICT

# Without the base: test_baseline.py has that.
ALONE = {"run": {"check_on_base": "skip"}}


@pytest.fixture
def made(make_daemon, repo, tmp_path):
    made = Loop(make_daemon, repo, tmp_path, VERDICT, config=ALONE)
    made.always_content()
    return made


# Fails until a fixer has been there; says something on both streams. Its last words are
# part of its cause.
FIXED = "grep -q fix work.txt || { echo said $((40 + 2)); { echo warned $((50 + 2)); echo gave up; } >&2; exit 7; }"


def attempts(made, number=1):
    return [(a["role"], a["exit_code"]) for a in made.daemon.attempts(number)]


def test_a_failing_check_goes_straight_to_the_fixer(made):
    made.passes(made.run(review={"checks": [FIXED]}))
    assert attempts(made) == [("implement", 0), ("check", 7), ("check", 7), ("fix", 0), ("check", 0),
                              ("review", 0)]
    fix = made.prompt("fix")
    assert "said 42" in fix and "warned 52" in fix and FIXED in fix and "status 7" in fix
    assert made.decisions() == ["pass"], "no reviewer tokens"
    assert made.daemon.reviews(1)[0]["iteration"] == 1


@pytest.mark.parametrize("words", ["Error: usage limit reached", "rate_limit: 1 test failed",
                                   "test_login: Invalid API key"])
def test_a_check_has_no_service(made, words):
    """What tests print about services is about the work."""
    made.passes(made.run(review={"checks": [FIXED.replace("gave up", words)]}))
    check = made.daemon.attempts(1)[1]
    assert (check["role"], check["provider"]) == ("check", "ok")
    assert words in check["cause"] and "log in" not in check["cause"]


def test_it_uses_a_fix_round(made):
    made.never_content()
    made.ends(End("failed", "drift unresolved after 1 fix attempt(s)", 10),
              made.run(review={"checks": [FIXED], "max_fixes": 1}))
    assert made.roles() == ["implement", "fix", "review"]


def test_all_that_pass_cost_no_round(made):
    made.passes(made.run(review={"checks": ["true", "echo fine"], "max_fixes": 0}))
    assert attempts(made) == [("implement", 0), ("check", 0), ("check", 0), ("review", 0)]
    assert [a["agent"] for a in made.daemon.attempts(1) if a["role"] == "check"] == ["true", "echo fine"]
    assert "fine" not in made.prompt("review").split("## Your answer")[0].split("## Diff")[1]


def test_in_order_and_from_the_first_after_each_fix(made):
    made.run(review={"checks": ["echo 1 >> \"$PLAY_DIR/ran\"", "echo 2 >> \"$PLAY_DIR/ran\"; " + FIXED,
                                "echo 3 >> \"$PLAY_DIR/ran\""]}, env={"PLAY_DIR": str(made.play.path)})
    assert (made.play.path / "ran").read_text().split() == ["1", "2", "2", "1", "2", "3"]


def test_they_run_before_each_review(made):
    made.set(review_1=VERDICT.finds("more"), review=VERDICT.passes)
    made.passes(made.run(review={"checks": ["true"]}))
    assert [r for r, _ in attempts(made)] == ["implement", "check", "review", "fix", "check", "review"]


def test_what_a_check_sees(made):
    made.run("the task",
             review={"workspace": "same", "checks": [
                 ": $RL_TASK; env > \"$PLAY_DIR/env\"; pwd >> \"$PLAY_DIR/env\"; cat >> \"$PLAY_DIR/env\""]},
             env={"PLAY_DIR": str(made.play.path)})
    seen = (made.play.path / "env").read_text().split("\n")
    assert {"RL_ROLE=check", "RL_RUN=1", "RL_TASK=the task", f"RL_WORKDIR={made.repo.path}",
            "RL_REVIEW_ROUND=1", "NO_COLOR=1"} <= set(seen)
    assert str(made.repo.path) in seen and not [line for line in seen if line.startswith("RL_VERDICT_FILE=")]


@pytest.mark.parametrize("profile,end,known", [
    (VERDICT, End("failed", "check `false` still fails after 1 fix attempt(s)", 10), False),
    (DECISION, End("held", "check `false` still fails after 1 fix attempt(s)", 13), False),
    (COMMENTS, End("succeeded", "known issues: 1; check `false` still fails after 1 fix attempt(s)", 0), True),
], ids=["verdict", "decision", "comments"])
def test_exhausted_by_failing_checks(make_daemon, repo, tmp_path, profile, end, known):
    """The policy of the profile decides, as about findings that stay."""
    made = Loop(make_daemon, repo, tmp_path, profile, config=ALONE)
    row = made.run(review={"checks": ["false"], "max_fixes": 1})
    made.ends(end, row)
    twice = [("check", 1)] * 2
    assert attempts(made) == [("implement", 0), *twice, ("fix", 0), *twice] and made.decisions() == []
    assert [i for i in row["known_issues"]
            if "`false`" in i] == row["known_issues"] and len(row["known_issues"]) == known
    if end.state == "held":
        made.daemon.rlctl("hold", "approve", 1, check=0)
        assert made.daemon.ended(1)["state"] == "succeeded" and made.decisions() == ["accepted"]


def test_rework_after_failing_checks(make_daemon, repo, tmp_path):
    made = Loop(make_daemon, repo, tmp_path, DECISION, config=ALONE)
    made.always_content()
    made.run(review={"checks": ["grep -q 'fix 3' work.txt"]})
    with made.daemon.events(run=1, types=["run.state"]) as events:
        made.daemon.rlctl("hold", "rework", 1, "-m", "write fix 3", check=0)
        events.until("run.state", lambda e: e["state"] == "succeeded")
    made.passes(made.daemon.run(1))
    assert "write fix 3" in made.prompt("fix", 3)


@pytest.mark.parametrize("how", ["timeout", "signal"])
def test_a_check_that_does_not_end_well_fails(make_daemon, repo, tmp_path, how):
    made = Loop(make_daemon, repo, tmp_path, VERDICT, config=ALONE)
    made.always_content()
    bad = {"timeout": "sleep 1000", "signal": "kill -9 $$"}[how]
    params = {"timeout": "2s"} if how == "timeout" else {}
    made.passes(made.run(review={"checks": [f"grep -q fix work.txt || {bad}"]}, **params))
    assert [r for r, _ in attempts(made)] == ["implement", "check", "check", "fix", "check", "review"]
    assert {"timeout": "timed out", "signal": "signal 9"}[how] in made.prompt("fix")


def test_a_check_of_the_fixer_of_each_finding(make_daemon, repo, tmp_path):
    """Profile comments: a failing check is one thing to settle, not an item of the
    review before."""
    made = Loop(make_daemon, repo, tmp_path, COMMENTS, config=ALONE)
    made.set(review_1=loop.write("review-comments.json", json.dumps({"comments": [
        {"file": "a", "line": 1, "severity": "must-fix", "comment": c} for c in ("one", "two")], "summary": "2"})))
    made.passes(made.run(review={"checks": ["! grep -q 'fix 2' work.txt || grep -q 'fix 3' work.txt"]}))
    assert made.roles() == ["implement", "review", "fix", "fix", "fix", "review"]
    third = made.prompt("fix", 3)
    assert "A check of the work failed" in third and "a:1: one" not in third and "a:1: two" not in third


# Fails in its first run only.
ONCE = 'test -e "$PLAY_DIR/once" || { touch "$PLAY_DIR/once"; exit 3; }'


def flaky(made, check=ONCE, **review):
    return made.run(review={"checks": ["true", check], **review}, env={"PLAY_DIR": str(made.play.path)})


@pytest.mark.parametrize("workspace", ["room", "same"])
def test_one_failure_may_be_chance(made, workspace):
    """A check that fails is run once more before a fixer is paid."""
    row = flaky(made, workspace=workspace, max_fixes=0)
    made.passes(row)
    assert attempts(made) == [("implement", 0), ("check", 0), ("check", 3), ("check", 0), ("review", 0)]
    assert [w for w in row["warnings"] if w.startswith("flaky:")] == [
        f"flaky: check `{ONCE}` of task t1 failed in attempt 3 and passed on the same work in attempt 4"]
    assert row["checks"] == {"green": 1, "red": 1, "flaky": 1, "reused": 0}
    said = [(e["subject"], e["result"]) for e in made.daemon.call("evidence.list", run=1)["evidence"]
            if e["kind"] == "check"]
    assert said == [("true", "green"), (ONCE, "red"), (ONCE, "flaky")]
    assert "1 green, 1 red, 1 flaky" in made.daemon.rlctl("show", 1, check=0).out


def test_the_second_run_survives_a_restart(made):
    """The row of the slot knows that it is the second: there is no third."""
    fifo = made.play.path / "fifo"
    os.mkfifo(fifo)
    check = 'echo x >> "$PLAY_DIR/ran"; test $(wc -l < "$PLAY_DIR/ran") = 1 || read line < "$PLAY_DIR/fifo"; exit 3'
    number = made.submit(review={"checks": [check], "max_fixes": 0}, env={"PLAY_DIR": str(made.play.path)})
    with made.daemon.events(run=number, types=["attempt.started"]) as events:
        events.until("attempt.started", lambda e: e["number"] == 3)
    made.daemon.kill()
    made.daemon.start()
    slot, = made.daemon.run(number)["slots"]
    assert slot["red_check"] == made.daemon.attempts(number)[1]["id"]
    fifo.write_text("on\n")
    made.ends(End("failed", f"check `{check}` still fails after 0 fix attempt(s)", 10), made.daemon.ended(number))
    assert attempts(made) == [("implement", 0), ("check", 3), ("check", 3)]


def test_without_a_review_there_are_none(made):
    made.daemon.rlctl("run", "-q", "--no-review", "--check", "false", "x", cwd=made.repo.path, check=0)
    assert attempts(made) == [("implement", 0)]


def test_on_the_command_line_and_in_the_project(made):
    """--check CMD (repeatable, adds up); checks = [...] in .rld.toml. The command line wins."""
    made.daemon.rlctl("run", "-q", "--review", "--check", "echo a", "--check", "echo b", "x",
                      cwd=made.repo.path, check=0)
    made.repo.write(".rld.toml", '[review]\nenabled = true\nchecks = ["echo c"]\n')
    made.daemon.rlctl("run", "-q", "x", cwd=made.repo.path, check=0)
    made.daemon.rlctl("run", "-q", "--check", "echo d", "x", cwd=made.repo.path, check=0)
    assert [[a["agent"] for a in made.daemon.attempts(n) if a["role"] == "check"] for n in (1, 2, 3)] == [
        ["echo a", "echo b"], ["echo c"], ["echo d"]]


def test_a_coder_cannot_rewrite_its_checks(made):
    """The checks come from the base."""
    made.repo.write(".rld.toml", f'[review]\nenabled = true\nchecks = ["{FIXED}"]\n')
    made.set(implement="echo one > work.txt\nprintf '[review]\\nenabled = false\\n' > .rld.toml\n")
    made.daemon.rlctl("run", "-q", "x", cwd=made.repo.path, check=0)
    assert [r for r, _ in attempts(made)] == ["implement", "check", "check", "fix", "check", "review"]


def test_without_a_review_they_are_refused(made):
    """They would not be run, and whoever asked for them would not know."""
    refused = made.daemon.rlctl("run", "--check", "true", "do it", cwd=made.repo.path, check=1)
    assert ("checks run before a review, and this run is not reviewed (review is off)" in refused.err
            and "--review" in refused.err)
    made.daemon.rlctl("run", "--review", "--skip-review", "--check", "false", "do it", cwd=made.repo.path, check=0)
    assert made.roles() == ["implement"]
