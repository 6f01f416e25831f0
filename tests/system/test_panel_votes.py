# SPDX-License-Identifier: MIT
"""Votes of a panel that are not all of it: of an earlier run, of another judge, accepted by a
policy, lost; and what stands beside a list."""
import pytest
from test_panel import IMPLEMENT, PASS, lose, panel  # noqa: F401


def voted(made, run, *names):
    """Wait until these have voted."""
    left = set(names)
    with made.daemon.events(since=0, run=run) as events:
        while left:
            left.discard(events.until("review.voted")["reviewer"])


def cancelled(made, run):
    made.daemon.call("run.cancel", id=run)
    return made.daemon.ended(run)


def markdown(text):
    return f"cat > autom8_review.md <<'END'\n{text}\nEND\nanswer 'looked'\n"


@pytest.mark.each
@pytest.mark.parametrize("bad", ["exit 3", "answer nothing"])
def test_what_is_no_verdict_stays_in_its_run(panel, bad):
    """A retry asks that reviewer, and nothing of the earlier run stands in for a lost one."""
    made = panel({"a": "gate here\npass\n", "b": f"if [ $RL_RUN = 1 ]; then {bad}; else gate here; pass; fi\n"}).gates()
    run = made.submit()
    made.plays["a"].arrived("here")
    voted(made, run, "b")
    cancelled(made, run)
    again = made.daemon.call("run.retry", id=run)["id"]
    made.plays["b"].arrived("here")
    made.plays["a"].arrived("here")
    lose(made, again, "b")
    made.plays["a"].go("here")
    row = made.daemon.ended(again)
    assert row["state"] == "held" and row["reason"].startswith("b: lost"), row
    made.daemon.restart()
    assert made.daemon.run(again)["state"] == "held"


def test_a_review_that_was_asked_for_again_is_still_to_come(panel):
    """Its run was cancelled with one vote in: no pass from before it counts in the retry."""
    made = panel({"a": "[ $RL_RUN = 1 ] && pass || drift 'this is wrong'\n",
                  "b": "[ $RL_RUN = 2 ] && gate here\npass\n"}, max_fixes=0, on_exhausted="fail").gates()
    run = made.submit()
    assert made.daemon.ended(run)["state"] == "succeeded"
    again = made.daemon.call("review.again", run=run)["id"]
    made.plays["b"].arrived("here")
    voted(made, again, "a")
    cancelled(made, again)
    third = made.daemon.call("run.retry", id=again)["id"]
    row = made.daemon.ended(third)
    assert (row["state"], row["end_kind"]) == ("failed", "exhausted"), row
    assert made.log(third)[-1] == ("panel", "drift") and sorted(n for n, _ in made.paid(third)) == ["a", "b"]


def test_the_same_with_one_reviewer(panel):
    made = panel({"a": "[ $RL_RUN = 2 ] && gate here\npass\n"}).gates()
    run = made.submit()
    assert made.daemon.ended(run)["state"] == "succeeded"
    again = made.daemon.call("review.again", run=run)["id"]
    made.plays["a"].arrived("here")
    cancelled(made, again)
    for number in (3, 4):
        third = made.daemon.call("run.retry" if number == 3 else "review.again", **{"id" if number == 3 else "run":
                                                                                    number - 1})["id"]
        assert made.daemon.ended(third)["state"] == "succeeded"
        assert len([a for a in made.daemon.attempts(third) if a["role"] == "review"]) == 1


@pytest.mark.each
@pytest.mark.parametrize("key, bad", [("on_malformed", "answer nothing\n"), ("on_reviewer_error", "exit 3\n")])
def test_what_is_accepted_waives_no_finding_of_others(panel, key, bad):
    made = panel({"a": {"review.1": "drift 'the feature is missing'\n"}, "b": {"review.1": bad}}, **{key: "accept"})
    run = made.submit()
    row = made.daemon.ended(run)
    assert row["state"] == "succeeded" and row["cause"] is None, row
    assert [d for who, d in made.log(run) if who == "panel"] == ["drift", "pass"]
    assert "the feature is missing" in made.daemon.play.prompt(run, "fix").decode()


def test_no_vote_is_given_twice(panel):
    """A violation that was not decided about stays when another vote was lost."""
    made = panel({"b": "[ $nth = 1 ] && gate here\npass\n", "a": {"review.1": "answer nothing\n", "review": PASS},
                  "c": PASS}, on_malformed="hold").gates()
    run = made.submit()
    made.plays["b"].arrived("here")
    voted(made, run, "a", "c")
    lose(made, run, "b")
    assert made.daemon.ended(run)["state"] == "held"
    hold, = made.daemon.call("hold.list", run=run)["holds"]
    made.daemon.call("hold.rework", id=hold["id"])
    row = made.daemon.ended(run)
    hold = row["holds"][-1]
    assert (row["state"], hold["kind"]) == ("held", "violation"), row
    assert sorted(made.paid(run)) == [("a", 1), ("b", 1), ("b", 1), ("c", 1)]
    assert made.log(run)[-1] == ("panel", "violation")


def test_votes_of_two_judges_make_no_quorum(panel, tmp_path):
    prompt = tmp_path / "reviewer.md"
    prompt.write_text("Be lenient.\n{{diff}}\n")
    made = panel({"a": PASS, "b": "[ $RL_RUN = 1 ] && exit 3\npass\n"}, reviewer_prompt=str(prompt))
    run = made.submit()
    assert made.daemon.ended(run)["state"] == "failed"
    prompt.write_text("Refuse what has no test.\n{{diff}}\n")
    again = made.daemon.call("run.retry", id=run, new_judge=True)["id"]
    assert made.daemon.ended(again)["state"] == "succeeded"
    assert sorted(n for n, _ in made.paid(again)) == ["a", "b"]


BESIDE = "The whole approach loses data."
ITEM = "- [ ] work.txt: no test"


def test_words_beside_a_list_outlive_a_dismissal_before_the_decision(panel):
    made = panel({"a": {"review.1": markdown(ITEM), "review": markdown(f"{ITEM}\n\n{BESIDE}")},
                  "b": {"review.1": "answer fine\n", "review": "gate here\nanswer fine\n"}}, profile="file",
                 max_fixes=1).gates()
    run = made.submit()
    made.plays["b"].arrived("here")
    with made.daemon.events(since=0, run=run) as events:
        events.until("review.voted", lambda e: e["reviewer"] == "a" and e["round"] == 2)
    finding, = made.daemon.call("finding.list", run=run)["open"]
    made.daemon.call("finding.dismiss", run=run, finding=finding["id"], reason="it is")
    made.plays["b"].go("here")
    row = made.daemon.ended(run)
    assert row["state"] == "failed", row
    assert [(f["text"], f["state"]) for f in made.last(run)["findings"]] == [
        ("work.txt: no test", "dismissed"), (BESIDE, "new")]


def test_the_corrector_has_the_words_beside_a_shared_finding(panel):
    made = panel({"a": {"review.1": markdown(ITEM), "review": "answer fine\n"},
                  "b": {"review.1": markdown(f"{ITEM}\n\n{BESIDE}"), "review": "answer fine\n"}}, profile="file",
                 scripts={"implement": IMPLEMENT["implement"],
                          "fix": "cat autom8_review.md > \"$PLAY/given\"\necho two >> work.txt\nanswer fixed\n"})
    run = made.submit()
    assert made.daemon.ended(run)["state"] == "succeeded"
    assert BESIDE in (made.daemon.play.path / "given").read_text()
