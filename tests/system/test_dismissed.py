# SPDX-License-Identifier: MIT
"""finding.dismiss: a user decides that a finding need not be fixed. From the next verdict on it
does not count as open; a round in which nothing else is open ends with the user's acceptance, never
with a pass, and outweighs no check, no violation and no protected path."""
import json

import pytest
from loop import Loop, say, write
from rld import RpcError, user_name
from test_profile_comments import COMMENTS, comments
from test_profile_decision import DECISION
from test_profile_exit import PROFILE as EXIT
from test_profile_file import PROFILE as FILE
from test_profile_verdict import VERDICT

REASON = "the second line is on purpose"
WRONG_STATE, NOT_FOUND, INVALID = "wrong-state", "not-found", "invalid-params"


def human():
    return f"human:{user_name()}"


def same_again(make_daemon, repo, tmp_path, profile=VERDICT, **kwargs):
    """Each review finds the same; the first fixer waits at its gate."""
    made = Loop(make_daemon, repo, tmp_path, profile, **kwargs)
    made.set(review_1=profile.finds("point 1"), review=profile.finds("point 1"))
    made.stop_at("fix")
    return made


@pytest.fixture
def made(make_daemon, repo, tmp_path):
    return same_again(make_daemon, repo, tmp_path)


def open_ids(made, number=1):
    return [f["id"] for f in made.daemon.call("finding.list", run=number)["open"]]


def dismiss(made, finding=None, number=1, reason=REASON, **params):
    finding = finding or open_ids(made, number)[0]
    return made.daemon.call("finding.dismiss", run=number, finding=finding, reason=reason, **params)


def states(made, number=1):
    return [[f["state"] for f in r["findings"]] for r in made.daemon.reviews(number)]


def refused(made, kind, text, **params):
    with pytest.raises(RpcError) as error:
        dismiss(made, **params)
    assert error.value.data["kind"] == kind and text in str(error.value), error.value


def is_accepted(row):
    assert (row["state"], row["cause"], row["end_kind"]) == \
        ("succeeded", f"accepted: findings dismissed by {user_name()}", "approved"), row
    assert row["result_ref"] is None and row["known_issues"] == [], row


@pytest.mark.parametrize("profile", [VERDICT, DECISION, FILE, EXIT, COMMENTS], ids=lambda p: p.name)
def test_each_profile(make_daemon, repo, tmp_path, profile):
    """The next verdict repeats the finding, and nothing else: the user's acceptance follows it."""
    made = same_again(make_daemon, repo, tmp_path, profile)
    number = made.submit()
    made.play.arrived("fix")
    finding, = open_ids(made)
    answer = dismiss(made)
    assert answer == {"run": 1, "task": "t1", "finding": finding, "open": [], "hold": None}
    made.play.go("fix")
    is_accepted(made.daemon.ended(number))
    assert made.roles() == ["implement", "review", "fix", "review"] and made.passed_refs() == []
    assert made.decisions() == [profile.findings_word] * 2 + ["accepted"]
    assert states(made) == [["new"], ["dismissed"], []]
    last = made.daemon.reviews(1)[-1]
    assert (last["reviewer_agent"], last["source"]) == (human(), "human")
    assert last["feedback"] == f"{finding} dismissed by {human()}: {REASON}"
    human_evidence = [e for e in made.daemon.call("evidence.list", run=1)["evidence"] if e["kind"] == "human"]
    assert [(e["subject"], e["result"], e["by_uid"] is not None) for e in human_evidence] == \
        [(human(), "green", True)]
    made.daemon.rlctl("wait", number, check=0)


def test_it_is_on_record(made):
    number = made.submit()
    made.play.arrived("fix")
    with made.daemon.events(run=number, types=["finding.dismissed"]) as events:
        dismiss(made)
        event = events.next()
    assert (event["task"], event["text"], event["by"], event["reason"]) == ("t1", "point 1", human(), REASON)
    one, = made.daemon.run(number)["dismissed"]
    assert (one["run"], one["review"], one["by"], one["reason"], one["text"]) == (1, 1, human(), REASON, "point 1")
    made.play.go("fix")
    made.daemon.ended(number)
    assert [f["dismissed"] for r in made.daemon.reviews(1) for f in r["findings"]] == [one] * 2
    report = made.daemon.call("run.report", id=number)
    assert [(f["state"], f["dismissed"]) for f in report["findings"]] == [("dismissed", one)]
    verified = made.daemon.call("review.verify", run=number)
    assert verified["ok"] is True and verified["reviews"] == 3
    # an edit of the decision shows
    made.daemon.stop()
    database = made.daemon.database()
    old, = database.execute("SELECT dismissed FROM run").fetchone()
    database.execute("UPDATE run SET dismissed = ?", (old.replace("on purpose", "an accident"),))
    database.close()
    made.daemon.start()
    assert made.daemon.call("review.verify", run=number)["ok"] is False
    made.daemon.stop()
    database = made.daemon.database()
    database.execute("UPDATE run SET dismissed = ?", (old,))
    database.close()
    made.daemon.start()


def test_it_outlives_the_daemon(made):
    number = made.submit()
    made.play.arrived("fix")
    dismiss(made)
    made.daemon.kill()
    made.daemon.start()
    made.play.go("fix")
    is_accepted(made.daemon.ended(number))


def test_prompts_name_it(make_daemon, repo, tmp_path):
    made = same_again(make_daemon, repo, tmp_path, COMMENTS)
    both = comments(("must-fix", "point 1"), ("must-fix", "point 2"))
    made.set(review_1=both, review=both)
    number = made.submit(review={"fixer": "fresh"})
    made.play.arrived("fix")
    for finding in open_ids(made):
        if "point 1" in [f["text"] for f in made.daemon.reviews(1)[0]["findings"] if f["id"] == finding]:
            dismiss(made, finding)
    made.stop_at("fix")
    made.play.go("fix")
    made.play.arrived("fix")
    said = f"## Dismissed findings\n\nThe user dismissed these findings of this work, for the reasons given. "
    for role, what in (("review", "They do not count: do not report them again."), ("fix", "Do not fix them.")):
        first, second = made.prompt(role, 1), made.prompt(role, 2)
        assert "Dismissed findings" not in first
        assert said + what in second and f"point 1\n  Reason: {REASON}\n" in second, second
    # the other one still counts
    assert states(made) == [["new", "new"], ["dismissed", "repeated"]]
    assert len(open_ids(made)) == 1
    listed = json.loads((made.daemon.state / "attempts" / str(made.daemon.attempts(1)[-1]["id"])
                         / "findings.json").read_text())
    assert [f["state"] for f in listed] == ["dismissed", "repeated"]
    dismiss(made, reason="nor this")
    made.play.go("fix")
    is_accepted(made.daemon.ended(number))
    assert made.daemon.reviews(1)[-1]["feedback"].count(f" dismissed by {human()}: ") == 2


def test_one_that_is_gone_was_not_resolved(make_daemon, repo, tmp_path):
    made = same_again(make_daemon, repo, tmp_path)
    made.set(review=VERDICT.passes)
    made.submit()
    made.play.arrived("fix")
    dismiss(made)
    made.play.go("fix")
    made.passes(made.daemon.ended(1))
    assert states(made) == [["new"], ["dismissed"]] and made.decisions() == ["drift", "pass"]


def test_other_findings_count(made):
    """Until they are gone, and their fixes are limited as ever."""
    made.set(review=VERDICT.finds("point $nth"))
    made.submit(review={"max_fixes": 1})
    made.play.arrived("fix")
    dismiss(made)
    made.play.go("fix")
    row = made.daemon.ended(1)
    assert (row["state"], row["end_kind"]) == ("failed", "exhausted"), row
    assert states(made) == [["new"], ["new", "dismissed"]]
    refused(made, WRONG_STATE, "`rlctl retry` continues its work as a new run", finding=open_ids(made)[0])


def test_words_beside_the_list(make_daemon, repo, tmp_path):
    """A review file says more than its list has: what no user has decided about stays open."""
    made = same_again(make_daemon, repo, tmp_path, FILE)
    listed = "# Review\n\nPlease look at:\n- point 1\n"
    name = "autom8_review.md"
    made.set(review_1=write(name, listed) + say("One issue."),
             review=write(name, listed + "\nAnd the last line is lost.\n") + say("The same."))
    made.submit()
    for _ in range(2):
        made.play.arrived("fix")
        dismiss(made)
        made.stop_at("fix")
        made.play.go("fix")
    is_accepted(made.daemon.ended(1))
    assert states(made) == [["new"], ["dismissed", "new"], ["dismissed", "dismissed"], []]
    assert [f["text"] for f in made.daemon.reviews(1)[1]["findings"]] == ["point 1", "And the last line is lost."]


@pytest.mark.parametrize("what", ["violation", "check", "reviewer"])
def test_it_outweighs_nothing(make_daemon, repo, tmp_path, what):
    made = same_again(make_daemon, repo, tmp_path)
    if what == "violation":
        made.set(review_2=VERDICT.finds("point 1") + "echo changed >> work.txt\n")
    if what == "reviewer":
        made.set(review_2="exit 3\n")
    if what == "check":
        made.set(fix="touch red\nanswer done\n", check="if test -e red; then exit 1; fi\n")
    made.stop_at("fix")
    made.submit(review={"max_fixes": 1, "checks": [made.check]})
    made.play.arrived("fix")
    dismiss(made)
    made.play.go("fix")
    row = made.daemon.ended(1)
    assert row["state"] == "failed" and row["end_kind"] in ("violation", "error", "check"), row
    assert "accepted" not in made.decisions()


def test_protected_paths_stay_a_question(make_daemon, repo, tmp_path):
    made = same_again(make_daemon, repo, tmp_path)
    made.submit(review={"protect": ["work.txt"]})
    made.play.arrived("fix")
    dismiss(made)
    made.play.go("fix")
    row = made.daemon.ended(1)
    hold, = row["holds"]
    assert (row["state"], hold["kind"], hold["reason"]) == ("held", "dismissed", f"findings dismissed by "
            f"{user_name()}, but the work touches protected paths: work.txt"), row
    made.daemon.call("hold.approve", id=1, message="fine")
    row = made.daemon.ended(1)
    assert (row["state"], row["cause"], row["result_ref"]) == ("succeeded", f"accepted: {human()}: fine", None), row


def test_a_held_task_needs_its_decision(make_daemon, repo, tmp_path):
    made = same_again(make_daemon, repo, tmp_path)
    made.submit(review={"max_fixes": 0, "on_exhausted": "hold"})
    assert made.daemon.ended(1)["state"] == "held"
    finding, = open_ids(made)
    told = made.daemon.rlctl("finding", "dismiss", "1/t1", finding, "--reason", REASON, check=0)
    assert told.stderr.decode() == (f"Finding {finding}: dismissed; no finding of task t1 is open. The task is held: "
                           "\"rlctl hold approve 1\" accepts the work.\n")
    assert made.daemon.run(1)["state"] == "held"
    made.daemon.rlctl("hold", "approve", 1, check=0)
    assert made.daemon.ended(1)["end_kind"] == "approved"


def test_refusals(make_daemon, repo, tmp_path):
    made = same_again(make_daemon, repo, tmp_path, COMMENTS)
    both = comments(("must-fix", "point 1"), ("suggestion", "a thought"))
    made.set(review_1=both, review=COMMENTS.passes)
    made.submit()
    made.play.arrived("fix")
    finding, = open_ids(made)
    refused(made, NOT_FOUND, f"open findings: {finding} (t1)", finding="0123456789abcdef")
    refused(made, NOT_FOUND, "t2 has no open finding", finding=finding, task="t2")
    refused(made, INVALID, "a dismissal needs a reason", reason=" \n")
    assert dismiss(made, check=True)["open"] == [] and open_ids(made) == [finding]
    dismiss(made)
    refused(made, WRONG_STATE, f"was dismissed already by {human()}: {REASON}", finding=finding)
    made.play.go("fix")
    made.daemon.ended(1)
    refused(made, WRONG_STATE, "its result stands", finding=finding)
    refused(made, NOT_FOUND, "run", finding=finding, number=7)


@pytest.mark.parametrize("scratch", [False, True])
def test_a_retry_inherits_it(make_daemon, repo, tmp_path, scratch):
    """All is dismissed before any further verdict: the work is judged, not fixed."""
    made = same_again(make_daemon, repo, tmp_path)
    made.submit()
    made.play.arrived("fix")
    dismiss(made)
    made.daemon.cancelled(1)
    made.play.set({"review": VERDICT.finds("point 1"), "review.1": VERDICT.finds("point 1")})
    number = made.daemon.call("run.retry", id=1, from_scratch=scratch)["id"]
    is_accepted(made.daemon.ended(number))
    assert made.daemon.run(number)["dismissed"] == made.daemon.run(1)["dismissed"]
    assert [a["role"] for a in made.daemon.attempts(number)] == (["implement"] if scratch else []) + ["review"]
    assert f"Reason: {REASON}" in made.prompt("review", 1, number)


def test_per_finding_fixers_skip_it(make_daemon, repo, tmp_path):
    made = same_again(make_daemon, repo, tmp_path, COMMENTS)
    both = comments(("must-fix", "point 1"), ("must-fix", "point 2"))
    made.set(review_1=both, review=COMMENTS.passes)
    made.submit(review={"fixer": "per_finding"})
    made.play.arrived("fix")
    dismiss(made, open_ids(made)[1])
    made.play.go("fix")
    made.passes(made.daemon.ended(1))
    assert made.roles() == ["implement", "review", "fix", "review"]


def test_on_the_command_line(made):
    made.submit()
    made.play.arrived("fix")
    finding, = open_ids(made)
    table = made.daemon.rlctl("finding", "list", 1, check=0).stdout.decode().split("\n")
    assert table[1].split(maxsplit=3) == [finding, "t1", "new", "point 1"], table
    assert "missing reason" in made.daemon.rlctl("finding", "dismiss", 1, finding, check=2).stderr.decode()
    told = made.daemon.rlctl("finding", "dismiss", 1, finding, "--reason", REASON, check=0)
    assert told.stderr.decode() == \
        f"Finding {finding}: dismissed; no finding of task t1 is open. The next verdict decides.\n"
    listed = made.daemon.rlctl("finding", "list", "1/t1", check=0)
    assert listed.stderr == b"No open findings.\n" and REASON in listed.stdout.decode()
    assert f"dismissed by {human()}: {REASON}" in made.daemon.rlctl("review", "show", 1, check=0).stdout.decode()
    made.play.go("fix")
    is_accepted(made.daemon.ended(1))
