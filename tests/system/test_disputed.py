# SPDX-License-Identifier: MIT
"""A fixer disputes a finding with a line of its final text. The next review is told, and repeats
the finding or drops it. A dispute passes nothing; it is heard once, and the loop ends when the same
is disputed again."""
import json

import pytest
from loop import Loop, say
from test_profile_comments import COMMENTS, comments
from test_profile_decision import DECISION
from test_profile_exit import PROFILE as EXIT
from test_profile_file import PROFILE as FILE
from test_profile_verdict import VERDICT

WHY = "work.txt has it in line 1, see `cat work.txt`"
# The first finding that the prompt offers.
ID = "id=$(sed -n 's/^- \\([0-9a-f]\\{16\\}\\): .*/\\1/p' \"$PLAY/prompt.$RL_RUN.fix.$nth\" | head -n 1)\n"


def dispute(reason=WHY):
    return ID + say("Nothing to do.\n\nDisputed $id: " + reason.replace("`", "\\`"))


def disputed(make_daemon, repo, tmp_path, profile=VERDICT, **scripts):
    """The first review finds something, and its fixer disputes it; the second is content."""
    made = Loop(make_daemon, repo, tmp_path, profile)
    made.set(review_1=profile.finds("point 1"), fix=dispute(), **scripts)
    return made


@pytest.fixture
def made(make_daemon, repo, tmp_path):
    return disputed(make_daemon, repo, tmp_path)


def states(made, number=1):
    return [[f["state"] for f in r["findings"]] for r in made.daemon.reviews(number)]


def disputes(made, number=1):
    return [(d["reason"], d["answer"]) for d in made.daemon.run(number)["disputed"]]


@pytest.mark.parametrize("profile", [VERDICT, DECISION, FILE, EXIT, COMMENTS], ids=lambda p: p.name)
def test_each_profile(make_daemon, repo, tmp_path, profile):
    """The work is as it was, and the next review drops the finding."""
    made = disputed(make_daemon, repo, tmp_path, profile)
    made.passes(made.run())
    assert made.roles() == ["implement", "review", "fix", "review"]
    assert states(made) == [["new"], ["resolved"]]
    assert disputes(made) == [(WHY, "dropped")]
    assert made.repo.read("work.txt") == "one\n"
    finding = made.daemon.reviews(1)[0]["findings"][0]["id"]
    offer = made.prompt("fix", 1)
    assert "## If a finding is mistaken\n" in offer and f"\n- {finding}: " in offer
    if profile is not EXIT:
        told = made.prompt("review", 2)
        assert "## Disputed findings\n" in told and "point 1\n" in told
        # whoever must not see the task is not given words of somebody who may know it
        assert (f"  Reason: {WHY}\n" in told) == (profile is not COMMENTS)
        assert profile is not COMMENTS or WHY not in told
        assert "Disputed findings" not in made.prompt("review", 1)
    assert made.daemon.call("review.verify", run=1)["ok"] is True


def test_it_is_on_record(made):
    made.stop_at("review")
    made.submit()
    made.play.arrived("review")
    made.stop_at("review")
    made.play.go("review")
    made.play.arrived("review")
    listed = made.daemon.call("finding.list", run=1)
    one, = listed["disputed"]
    finding, = listed["open"]
    fix, = (a for a in made.daemon.attempts(1) if a["role"] == "fix")
    assert (finding["state"], finding["disputed"]) == ("disputed", one)
    assert (one["task"], one["finding"], one["text"], one["by"], one["reason"], one["answer"], one["run"],
            one["attempt"]) == ("t1", finding["id"], "point 1", fix["agent"], WHY, None, 1, fix["id"])
    with made.daemon.events(since=0, run=1, types=["finding"]) as events:
        events.next()
        event = events.next()
    assert (event["id"], event["state"], event["by"], event["reason"], event["review"]) == \
        (finding["id"], "disputed", fix["agent"], WHY, 1)
    table = made.daemon.rlctl("finding", "list", 1, check=0).stdout.decode()
    assert f"{finding['id']}  t1    disputed" in table and WHY in table, table
    shown = made.daemon.rlctl("show", 1, check=0).stdout.decode()
    assert ["disputed", f"{finding['id']} by {fix['agent']}: {WHY}"] in \
        [line.split(maxsplit=1) for line in shown.splitlines()], shown
    assert f"disputed by {fix['agent']}: {WHY}" in made.daemon.rlctl("review", "show", 1, check=0).stdout.decode()
    assert f"disputed by {fix['agent']}: {WHY}" in made.daemon.rlctl("report", 1, check=0).stdout.decode()
    made.play.go("review")
    made.passes(made.daemon.ended(1))
    report = made.daemon.call("run.report", id=1)
    assert [(f["state"], f["disputed"]["answer"]) for f in report["findings"]] == [("resolved", "dropped")]
    assert f"by {fix['agent']}, dropped: {WHY}" in made.daemon.rlctl("show", 1, check=0).stdout.decode()
    # an edit of it shows
    made.daemon.stop()
    database = made.daemon.database()
    old, = database.execute("SELECT disputed FROM run").fetchone()
    database.execute("UPDATE run SET disputed = ?", (old.replace("dropped", "repeated"),))
    database.close()
    made.daemon.start()
    assert made.daemon.call("review.verify", run=1)["ok"] is False
    made.daemon.stop()
    database = made.daemon.database()
    database.execute("UPDATE run SET disputed = ?", (old,))
    database.close()
    made.daemon.start()


@pytest.mark.parametrize("stop", ["fix", "measure", "review"])
def test_it_outlives_the_daemon(made, stop):
    """Killed while the fixer runs, and after its word was recorded."""
    made.submit_to("fix")
    if stop != "fix":
        made.stop_at(stop)
        made.play.go("fix")
        made.play.arrived(stop)
    made.daemon.kill()
    made.daemon.start()
    if stop != "measure":
        made.play.go(stop)
    made.passes(made.daemon.ended(1))
    assert made.roles() == ["implement", "review", "fix", "review"] and disputes(made) == [(WHY, "dropped")]
    assert WHY in made.prompt("review", 2)


@pytest.mark.parametrize("limit,fixes", [(1, 2), (2, 2), (3, 3), (0, 5)])
def test_it_is_heard_once(made, limit, fixes):
    """A first dispute is a new question; disputing the same again is no progress."""
    made.set(review=VERDICT.finds("point 1"))
    row = made.run(review={"stall_limit": limit})
    assert row["state"] == "failed" and row["end_kind"] == ("stalled" if limit else "exhausted"), row
    assert made.roles() == ["implement", "review"] + ["fix", "review"] * fixes
    assert disputes(made) == [(WHY, "repeated")] * fixes
    if limit:
        assert row["cause"] == f"stalled: round {fixes + 1} repeats round 1: the tree and the findings are the same"
    assert all(f"  Reason: {WHY}\n" in made.prompt("review", n) for n in range(2, fixes + 2))


def test_one_that_was_repeated_is_fixed(made):
    made.set(review_2=VERDICT.finds("point 1"), fix_2="echo two >> work.txt\nanswer fixed\n")
    made.passes(made.run(review={"stall_limit": 1}))
    assert made.roles() == ["implement", "review", "fix", "review", "fix", "review"]
    assert states(made) == [["new"], ["repeated"], ["resolved"]] and disputes(made) == [(WHY, "repeated")]
    assert "Disputed findings" not in made.prompt("review", 3)
    shown = made.daemon.reviews(1)
    assert [[f["disputed"]["answer"] for f in r["findings"]] for r in shown] == [["repeated"]] * 3


@pytest.mark.parametrize("what", ["violation", "reviewer", "check"])
def test_it_passes_nothing(make_daemon, repo, tmp_path, what):
    made = disputed(make_daemon, repo, tmp_path)
    if what == "violation":
        made.set(review_2="answer 'all is well'\n")
    if what == "reviewer":
        made.set(review_2="exit 3\n")
    if what == "check":
        made.set(fix="touch red\n" + dispute(), check="if test -e red; then exit 1; fi\n")
    row = made.run(review={"max_fixes": 1, "checks": [made.check]})
    assert row["state"] == "failed" and row["end_kind"] in ("violation", "error", "check"), row
    # no verdict has answered
    assert disputes(made) == [(WHY, None)] and made.passed_refs() == []


def test_what_does_not_count(made):
    """An id of no open finding, a sentence, a quotation; the good line beside it does."""
    made.set(fix=ID + say(f"Disputed 0123456789abcdef: no\nDisputed ID: the reason\nDisputed that it is so: no\n"
                          f"> Disputed $id: quoted\n\n- Disputed \\`$id\\`: yes"))
    made.passes(made.run())
    assert disputes(made) == [("yes", "dropped")]
    warning, = (w for w in made.warnings() if "disputes" in w)
    assert warning.endswith("its fixer disputes what is no open finding of the last review: 0123456789abcdef, ID")


def test_bounds(made):
    """So many of an answer, and no more than so much of a reason, on one line."""
    made.set(fix=ID + "i=0\nwhile [ $i -lt 60 ]; do printf 'Disputed %s: %s \\033[1m%03000d\\n' \"$id\" $i 7; "
             "i=$((i + 1)); done\n")
    made.passes(made.run())
    found = disputes(made)
    assert len(found) == 50 and {len(reason) for reason, _ in found} == {2000}
    assert all("\033" not in reason and reason.endswith("...") for reason, _ in found)
    assert [w for w in made.warnings() if "disputes more findings than are recorded" in w]


def test_secrets_are_removed(make_daemon, repo, tmp_path):
    made = disputed(make_daemon, repo, tmp_path)
    made.set(fix=dispute("see ghp_" + "a1B2" * 9))
    made.passes(made.run())
    (reason, _), = disputes(made)
    assert reason == "see ghp_[secret]" and "Reason: see ghp_[secret]\n" in made.prompt("review", 2)
    assert "a1B2" not in made.prompt("review", 2)


def test_each_fixer_its_own(make_daemon, repo, tmp_path):
    made = disputed(make_daemon, repo, tmp_path, COMMENTS)
    made.set(review_1=comments(("must-fix", "point 1"), ("must-fix", "point 2"), ("suggestion", "a thought")),
             fix_2="echo two >> work.txt\nanswer fixed\n")
    made.passes(made.run(review={"fixer": "per_finding"}))
    ids = {f["text"]: f["id"] for f in made.daemon.reviews(1)[0]["findings"]}
    for nth, own in ((1, "point 1"), (2, "point 2")):
        assert [text for text, finding in ids.items() if finding in made.prompt("fix", nth)] == [own]
    told = made.prompt("review", 2).split("## Disputed findings")[1]
    assert "point 1" in told and "point 2" not in told


@pytest.mark.parametrize("what", ["cancelled", "crashed"])
def test_a_retry_asks_it(make_daemon, repo, tmp_path, what):
    """The work is that of the review: it is judged again, not fixed again."""
    made = disputed(make_daemon, repo, tmp_path)
    made.set(review_2="gate review\n" if what == "cancelled" else "exit 3\n")
    made.submit()
    if what == "cancelled":
        made.play.arrived("review")
        made.daemon.cancelled(1)
    assert made.daemon.ended(1)["state"] in ("failed", "cancelled")
    made.play.set({"review.1": VERDICT.passes})
    number = made.daemon.call("run.retry", id=1)["id"]
    assert made.daemon.ended(number)["state"] == "succeeded"
    assert [a["role"] for a in made.daemon.attempts(number)] == ["review"]
    assert f"Reason: {WHY}" in made.prompt("review", 1, number)
    assert disputes(made, number) == [(WHY, "dropped")] and disputes(made) == [(WHY, None)]


def test_a_retry_from_scratch_forgets_it(made):
    made.set(review_2="exit 3\n")
    made.run()
    number = made.daemon.call("run.retry", id=1, from_scratch=True)["id"]
    made.daemon.ended(number)
    assert disputes(made) == [(WHY, None)] and disputes(made, number) == [(WHY, None)]
    assert "Disputed findings" not in made.prompt("review", 1, number)


def test_a_template_without_a_place_for_it(make_daemon, repo, tmp_path):
    """Whoever lists the sections in a template of their own is given it behind them."""
    made = disputed(make_daemon, repo, tmp_path)
    for name in ("reviewer", "fixer"):
        made.repo.write(f".ai_agents/prompts/{name}.md", "Work on {{task_title}}.\n")
    made.repo.git("add", ".")
    made.repo.git("commit", "-qm", "prompts")
    made.passes(made.run())
    assert made.prompt("fix", 1).startswith("Work on do it.\n\n## If a finding is mistaken\n")
    told = made.prompt("review", 2)
    assert told.startswith("Work on do it.\n\n## Disputed findings\n") and told.count(f"Reason: {WHY}") == 1


def test_findings_of_the_environment(made):
    """RL_FINDINGS_FILE of a fixer after a check that has failed since."""
    made.set(fix_1="touch red\n" + dispute(), fix_2="rm red\nanswer again\n",
             check="if test -e red; then exit 1; fi\n")
    made.passes(made.run(review={"checks": [made.check]}))
    second = [a for a in made.daemon.attempts(1) if a["role"] == "fix"][1]
    listed = json.loads((made.daemon.state / "attempts" / str(second["id"]) / "findings.json").read_text())
    assert [f["state"] for f in listed] == ["disputed"]
    assert "If a finding is mistaken" not in made.prompt("fix", 2), "a check cannot be argued with"
    assert f"Reason: {WHY}" in made.prompt("review", 2) and disputes(made) == [(WHY, "dropped")]
