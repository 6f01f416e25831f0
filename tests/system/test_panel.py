# SPDX-License-Identifier: MIT
"""review.reviewers: several reviewers judge each work, each in a room of its own, and a quorum of
all of them passes it."""
import collections
import json
import os
import signal
import time

import pytest

from rld import Play, RpcError

from test_budget import stories

PASS = "pass\n"
IMPLEMENT = {"implement": "echo one > work.txt\nanswer done\n", "fix": "echo two >> work.txt\nanswer fixed\n"}


class Panel:
    """A daemon whose agents a, b, c review, each with scripts of its own; play implements and
    fixes."""

    def __init__(self, make_daemon, repo, tmp_path, votes, scripts=None, config=None, agents=None, **settings):
        self.repo = repo
        self.daemon = make_daemon(start=False, scripts=scripts or IMPLEMENT)
        self.plays = {name: Play(tmp_path / f"{name}.votes", {"review": said} if isinstance(said, str) else
                                 {"review": PASS, **said}) for name, said in votes.items()}
        self.agents = {f"agent.{name}": {"command": play.command(), "reader": "text", "writable": [str(play.path)],
                                         **(agents or {}).get(name, {})} for name, play in self.plays.items()}
        self.settings = {"reviewers": list(votes), **settings}
        self.daemon.write_config({**self.agents, "review": self.settings, **(config or {})})

    def gates(self, name="here"):
        for play in self.plays.values():
            play.gates(name)
        return self

    def start(self):
        self.daemon.start()
        return self

    def submit(self, **params):
        self.start()
        return self.daemon.review(self.repo.path, **params)

    def paid(self, run, role="review"):
        return [(a["reviewer"], a["round"]) for a in self.daemon.attempts(run) if a["role"] == role]

    def log(self, run):
        return [(r["reviewer"] or "panel", r["decision"]) for r in self.daemon.reviews(run)]

    def last(self, run):
        return self.daemon.reviews(run)[-1]


@pytest.fixture
def panel(make_daemon, repo, tmp_path):
    return lambda votes, **settings: Panel(make_daemon, repo, tmp_path, votes, **settings)


def test_all_pass(panel):
    made = panel({"a": PASS, "b": PASS, "c": PASS})
    run = made.submit()
    row = made.daemon.ended(run)
    assert row["state"] == "succeeded", row
    assert sorted(made.log(run)[:3]) == [("a", "pass"), ("b", "pass"), ("c", "pass")]
    last = made.last(run)
    assert (last["decision"], last["source"], last["reviewer"], last["attempt"]) == ("pass", "panel", None, None)
    assert (sorted(last["votes"]), last["feedback"]) == ([1, 2, 3], "passed 3 of 3")
    assert last["reviewer_agent"] == "a, b, c", last
    assert last["final"] and row["review"]["reviewers"] == ["a", "b", "c"] and row["review"]["quorum"] == "all"
    assert not any("review passed" in w for w in row["warnings"])


def test_a_single_name_is_the_reviewer(panel):
    """It behaves as review.agent does: no votes, no panel."""
    made = panel({"a": PASS})
    run = made.submit()
    row = made.daemon.ended(run)
    assert row["state"] == "succeeded" and row["agents"]["review"]["agent"] == "a"
    assert row["review"]["reviewers"] == [] and row["review"]["quorum"] is None
    review, = made.daemon.reviews(run)
    assert (review["reviewer_agent"], review["reviewer"], review["votes"]) == ("a", None, None)


def test_they_work_at_the_same_time(panel):
    """Each ends only when the others have begun, in a room of its own, with the same work and
    slot."""
    saw = 'echo "$RL_SLOT $RL_REVIEW_ROUND $(cat work.txt) $PWD" >> "$PLAY/saw"\ngate here\npass\n'
    made = panel({"a": saw, "b": saw, "c": saw}).gates()
    run = made.submit()
    for play in made.plays.values():
        play.arrived("here")
    row = made.daemon.run(run)
    assert [s["slot"] for s in row["slots"]] == [1] and row["slots"][0]["phase"] == "reviewing"
    for play in made.plays.values():
        play.go("here")
    assert made.daemon.ended(run)["state"] == "succeeded"
    lines = [(play.path / "saw").read_text().split() for play in made.plays.values()]
    assert [line[:3] for line in lines] == [["1", "1", "one"]] * 3
    assert len({line[3] for line in lines} | {str(made.repo.path)}) == 4
    assert sorted(made.paid(run)) == [("a", 1), ("b", 1), ("c", 1)]
    assert {a["slot"] for a in made.daemon.attempts(run)} == {1}


def test_with_one_permit_they_work_one_after_the_other(panel):
    made = panel({"a": PASS, "b": PASS}, config={"parallel": 1})
    run = made.submit()
    assert made.daemon.ended(run)["state"] == "succeeded"
    spans = sorted((a["started_at"], a["ended_at"]) for a in made.daemon.attempts(run))
    assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:])), spans


@pytest.mark.parametrize("quorum, against, passes", [
    ("all", "b", False), ("majority", "b", True), ("majority", "bc", False), (1, "bc", True), (2, "b", True),
    (2, "ab", False), ("3", "c", False)])
def test_the_quorum_is_of_all(panel, quorum, against, passes):
    made = panel({name: f"drift 'no, says {name}'\n" if name in against else PASS for name in "abc"},
                 quorum=quorum, max_fixes=0)
    run = made.submit()
    row = made.daemon.ended(run)
    last = made.last(run)
    assert (row["state"] == "succeeded") == passes and last["decision"] == ("pass" if passes else "drift")
    if passes:
        names = ", ".join(against)
        text = f"passed {3 - len(against)} of 3; {names} {'dissents' if len(against) == 1 else 'dissent'}"
        assert last["feedback"] == text and f"task t1: the review {text}" in row["warnings"]
        shown = made.daemon.rlctl("show", str(run)).out
        assert text in shown and f"review a + b + c (quorum {quorum})" in shown
        assert made.daemon.call("run.report", id=run)["reviewer"] == "a, b, c"
    assert made.daemon.call("review.verify", run=run)["ok"]


def test_what_they_found_goes_to_one_fixer(panel):
    made = panel({"a": {"review.1": "drift 'add a second line'\n"}, "b": PASS,
                  "c": {"review.1": "drift 'name the file'\n"}})
    run = made.submit()
    row = made.daemon.ended(run)
    assert row["state"] == "succeeded", row
    told = made.daemon.play.prompt(run, "fix").decode()
    assert "Reviewer a:\nadd a second line" in told and "Reviewer c:\nname the file" in told
    assert [d for who, d in made.log(run) if who == "panel"] == ["drift", "pass"]
    assert sorted(made.paid(run)) == [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 1), ("c", 2)]
    assert row["tasks"][0]["rounds"] == 2
    assert made.daemon.call("run.report", id=run)["stats"]["review_rounds"] == 2
    assert [a["role"] for a in made.daemon.attempts(run)].count("fix") == 1
    # the next reviewers are told what the panel decided
    told = made.plays["b"].prompt(run, "review", 2).decode()
    assert "add a second line" in told and "name the file" in told


def comments(*items):
    text = json.dumps({"summary": "as said", "comments": [
        {"file": "work.txt", "line": line, "severity": severity, "comment": words}
        for severity, line, words in items]})
    return f"cat > review-comments.json <<'END'\n{text}\nEND\n"


def test_findings_are_merged_by_id(panel):
    """One that two reviewers have is one finding, which names both."""
    made = panel({"a": {"review.1": comments(("must-fix", 1, "no test"), ("must-fix", 1, "a typo")),
                        "review": comments()},
                  "b": {"review.1": comments(("must-fix", 1, "No test.")), "review": comments()},
                  "c": comments()}, profile="comments")
    run = made.submit()
    assert made.daemon.ended(run)["state"] == "succeeded"
    first, second = [r for r in made.daemon.reviews(run) if r["votes"]]
    assert first["decision"] == "must-fix"
    assert [(f["text"], f["reviewers"], f["state"]) for f in first["findings"]] == \
        [("no test", ["a", "b"], "new"), ("a typo", ["a"], "new")]
    assert [(f["text"], f["state"]) for f in second["findings"]] == [("no test", "resolved"), ("a typo", "resolved")]
    assert [a["role"] for a in made.daemon.attempts(run)].count("fix") == 2, "one for each finding, not for each vote"
    assert made.daemon.call("finding.list", run=run)["open"] == []


def test_outvoted_findings_stay_in_the_record(panel):
    made = panel({"a": comments(("suggestion", 1, "a name")), "b": comments(("must-fix", 1, "no test")),
                  "c": comments()}, profile="comments", quorum="majority")
    run = made.submit()
    row = made.daemon.ended(run)
    assert row["state"] == "succeeded", row
    last = made.last(run)
    assert last["decision"] == "pass" and last["feedback"] == "passed 2 of 3; b dissents"
    assert [(f["text"], f["reviewers"], f["state"]) for f in last["findings"]] == \
        [("a name", ["a"], "new"), ("no test", ["b"], "outvoted")]
    report = made.daemon.rlctl("report", str(run)).out
    assert "passed 2 of 3; b dissents" in report and "no test [outvoted]; by b" in report


CHANGES = "echo mine >> work.txt\npass\n"


@pytest.mark.parametrize("script, why", [
    ("answer 'I like it'\n", "no JSON object found"), (CHANGES, "reviewer changed the tree: work.txt"),
    ("answer '{\"review\": \"00000000\", \"verdict\": \"pass\", \"followUpPrompt\": \"\"}'\n", "another review")],
    ids=["malformed", "tree", "nonce"])
def test_a_violation_is_never_outvoted(panel, script, why):
    made = panel({"a": PASS, "b": script, "c": PASS}, quorum=1)
    run = made.submit()
    row = made.daemon.ended(run)
    assert row["state"] in ("failed", "held") and row["end_kind"] != "none", row
    assert ("b", "violation") in made.log(run) and made.log(run)[-1] == ("panel", "violation")
    assert why in made.last(run)["feedback"] and made.last(run)["feedback"].startswith("b: ")
    assert made.repo.git("for-each-ref", "refs/rl").count("/passed/") == 0


def test_a_malformed_answer_is_asked_about(panel):
    """Only its reviewer is asked."""
    made = panel({"a": PASS, "b": {"review.1": "answer nothing\n"}, "c": PASS}, on_malformed="ask")
    run = made.submit()
    assert made.daemon.ended(run)["state"] == "succeeded"
    assert sorted(made.paid(run)) == [("a", 1), ("b", 1), ("b", 1), ("c", 1)]
    assert sorted(made.log(run)) == [("a", "pass"), ("b", "pass"), ("c", "pass"), ("panel", "pass")]


def test_a_failed_reviewer_is_no_vote(panel):
    made = panel({"a": PASS, "b": "exit 3\n", "c": PASS}, quorum="majority")
    run = made.submit()
    row = made.daemon.ended(run)
    assert row["state"] == "failed" and row["cause"] == "b: reviewer process exited with status 3", row
    assert made.log(run)[-1] == ("panel", "error")


def test_kill_with_one_vote_in(panel):
    """What is there is kept and never paid again; those at work go on."""
    made = panel({"a": PASS, "b": "gate here\npass\n", "c": "gate here\npass\n"}).gates()
    run = made.submit()
    with made.daemon.events(run=run) as events:
        made.plays["b"].arrived("here")
        made.plays["c"].arrived("here")
        events.until("review.voted")
    made.daemon.kill()
    made.daemon.start()
    made.plays["c"].go("here")
    with made.daemon.events(run=run) as events:
        events.until("review.voted", lambda e: e["reviewer"] == "c")
    made.daemon.kill()
    made.daemon.start()
    made.plays["b"].go("here")
    assert made.daemon.ended(run)["state"] == "succeeded"
    assert sorted(made.paid(run)) == [("a", 1), ("b", 1), ("c", 1)]
    assert sorted(made.log(run)[:3]) == [("a", "pass"), ("b", "pass"), ("c", "pass")]
    assert made.daemon.call("review.verify", run=run)["ok"]


def test_kill_with_all_votes_in(panel):
    """The decision follows from what is on disk."""
    made = panel({"a": "gate here\npass\n", "b": PASS}).gates()
    run = made.submit()
    with made.daemon.events(run=run) as events:
        made.plays["a"].arrived("here")
        events.until("review.voted")
        made.plays["a"].go("here")
        events.until("review.voted")
        made.daemon.kill()
    made.daemon.start()
    assert made.daemon.ended(run)["state"] == "succeeded"
    assert sorted(made.paid(run)) == [("a", 1), ("b", 1)]
    assert len([w for w, _ in made.log(run) if w == "panel"]) == 1


def shim_of(made, attempt):
    """Its pid, as soon as it has written it down."""
    path = made.daemon.state / "attempts" / str(attempt) / "shim"
    while not path.exists():
        time.sleep(0.01)
    return int(path.read_text().split("pid ")[1].split()[0])


def lose(made, run, name):
    """The shim of that reviewer dies with it."""
    attempt, = [a for a in made.daemon.attempts(run) if a["reviewer"] == name and a["state"] == "running"]
    os.kill(shim_of(made, attempt["id"]), signal.SIGKILL)


def test_a_lost_vote_is_held_and_given_again(panel):
    made = panel({"a": PASS, "b": "[ $nth = 1 ] && gate here\npass\n", "c": PASS}, quorum="majority").gates()
    run = made.submit()
    pid = made.plays["b"].arrived("here")
    with made.daemon.events(run=run) as events:
        voted = {events.until("review.voted")["reviewer"], events.until("review.voted")["reviewer"]}
    assert voted == {"a", "c"}
    lose(made, run, "b")
    row = made.daemon.ended(run)
    assert row["state"] == "held" and row["cause"] is None and row["reason"].startswith("b: "), row
    assert not any(w == "panel" for w, _ in made.log(run)), "two of three would be a majority, but one is lost"
    hold, = made.daemon.call("hold.list", run=run)["holds"]
    assert hold["kind"] == "lost"
    made.daemon.call("hold.rework", id=hold["id"])
    assert made.daemon.ended(run)["state"] == "succeeded"
    assert sorted(made.paid(run)) == [("a", 1), ("b", 1), ("b", 1), ("c", 1)]
    assert made.last(run)["votes"] and made.last(run)["decision"] == "pass"
    assert pid


def test_a_lost_setup_counts_for_its_voter(panel, tmp_path):
    """on_lost = "retry" permits two losses in a row, and a decision of a human is the first."""
    ready = tmp_path / "ready"
    made = panel({"a": PASS, "b": PASS}, config={"run": {
        "setup": [f"[ -e {ready} ] || exec sleep 600; echo x > made"], "on_lost": "retry"}})
    made.repo.write(".gitignore", "made\n")
    made.repo.git("add", ".gitignore")
    made.repo.git("commit", "-qm", "ignore")
    run = made.submit()
    with made.daemon.events(run=run) as events:
        for losses in ({"a": 3, "b": 3}, {"a": 2, "b": 2}):
            lost = collections.Counter()
            while True:
                event = events.next()
                if event["type"] == "run.state" and event["state"] == "held":
                    break
                if event["type"] != "attempt.started":
                    continue
                row = made.daemon.call("attempt.get", id=event["attempt"])
                if row["role"] == "setup":
                    os.kill(shim_of(made, row["id"]), signal.SIGKILL)
                    lost[row["reviewer"]] += 1
            assert lost == losses
            row = made.daemon.run(run)
            assert row["reason"].startswith("a: lost"), row
            if losses["a"] == 2:
                ready.touch()
            hold, = [h for h in made.daemon.call("hold.list", run=run)["holds"] if h["state"] == "open"]
            made.daemon.call("hold.rework", id=hold["id"])
    assert made.daemon.ended(run)["state"] == "succeeded"
    assert sorted(made.paid(run)) == [("a", 1), ("b", 1)]


def test_a_retry_pays_only_for_what_is_missing(panel):
    made = panel({"a": PASS, "b": "[ $RL_RUN = 1 ] && answer nothing || pass\n", "c": PASS})
    run = made.submit()
    assert made.daemon.ended(run)["state"] in ("failed", "held")
    again = made.daemon.call("run.retry", id=run)["id"]
    made.daemon.call("run.cancel", id=run) if made.daemon.run(run)["state"] == "held" else None
    row = made.daemon.ended(again)
    assert row["state"] == "succeeded", row
    assert made.paid(again) == [("b", 2)]
    last = made.last(again)
    votes = [r for r in made.daemon.reviews(again) if r["number"] in last["votes"]]
    assert sorted((v["reviewer"], v["decision"], v["from_run"]) for v in votes) == \
        [("a", "pass", run), ("b", "pass", None), ("c", "pass", run)]
    kinds = [(e["kind"], e["subject"], e["result"], e["from_run"])
             for e in made.daemon.call("evidence.list", run=again)["evidence"]]
    assert ("vote", "a", "green", run) in kinds and ("review", "a, b, c", "green", None) in kinds
    assert made.daemon.call("review.verify", run=again)["ok"]


def test_it_is_reviewed_again(panel):
    made = panel({"a": PASS, "b": PASS})
    run = made.submit()
    assert made.daemon.ended(run)["state"] == "succeeded"
    again = made.daemon.call("review.again", run=run)["id"]
    assert made.daemon.ended(again)["state"] == "succeeded"
    assert sorted(made.paid(again)) == [("a", 2), ("b", 2)], "all are asked again"
    alone = made.daemon.call("review.again", run=run, reviewer_agent="b")["id"]
    row = made.daemon.ended(alone)
    assert row["state"] == "succeeded" and row["review"]["reviewers"] == []
    assert [a["agent"] for a in made.daemon.attempts(alone)] == ["b"]


LIMIT = '{"type": "turn.failed", "error": {"message": "You have hit your usage limit. Try again in 3 hours."}}'


def test_a_fallback_votes_for_its_reviewer(panel):
    """It is not one that votes itself: that would be two votes of one agent."""
    spent = {"command": ["sh", "-c", f"cat > /dev/null; echo '{LIMIT}'; exit 1"], "reader": "codex",
             "fallback": ["b", "d"]}
    made = panel({"a": PASS, "b": PASS}, agents={"a": spent})
    spare = Play(made.daemon.path / "spare", {"review": PASS})
    made.daemon.write_config({**made.agents, "agent.d": {"command": spare.command(), "reader": "text"},
                              "review": made.settings})
    run = made.submit()
    assert made.daemon.ended(run)["state"] == "succeeded"
    assert sorted((r["reviewer"], r["reviewer_agent"]) for r in made.daemon.reviews(run) if r["reviewer"]) == \
        [("a", "d"), ("b", "b")]


COSTS = ('{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.5,"session_id":"s",'
         '"result":"```json\\n{\\"verdict\\": \\"drift\\", \\"followUpPrompt\\": \\"no\\"}\\n```"}')


def test_all_votes_count_for_the_budget(panel):
    said = f"cat <<'END'\n{COSTS}\nEND\n"
    made = panel({"a": said, "b": said}, agents={name: {"reader": "claude"} for name in "ab"})
    run = made.submit()
    row = made.daemon.ended(run)
    assert row["state"] == "failed" and row["totals"]["cost_usd"] >= 1.0, row
    free = 'printf \'{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0,"result":"done"}\\n\'\n'
    made.daemon.play.set({"implement": "echo one > work.txt\n" + free, "fix": "echo two >> work.txt\n" + free})
    made.daemon.write_config({**made.agents, "agent.play": {"reader": "claude", "command": made.daemon.play.command()},
                              "review": made.settings})
    made.daemon.call("daemon.reload")
    limited = made.daemon.review(made.repo.path, max_cost=0.9)
    row = made.daemon.ended(limited)
    assert (row["state"], row["end_kind"]) == ("failed", "limit"), row
    assert sorted(made.paid(limited)) == [("a", 1), ("b", 1)]
    assert [a["role"] for a in made.daemon.attempts(limited)].count("fix") <= 1


def test_a_vote_alone_proves_nothing(panel):
    """Work that a policy accepted has a green vote, and is not attested."""
    made = panel({"a": PASS, "b": "drift no\n"}, max_fixes=0, on_exhausted="accept", config={"run": {"commit": "auto"}})
    run = made.submit()
    row = made.daemon.ended(run)
    assert row["state"] == "succeeded" and row["end_kind"] == "waived", row
    said = made.daemon.call("run.attest", id=run)
    assert said["statements"] == [] and len(said["left_out"]) == 1
    kinds = sorted((e["kind"], e["result"]) for e in made.daemon.call("evidence.list", run=run)["evidence"])
    assert kinds == [("review", "red"), ("vote", "green"), ("vote", "red")]


def test_a_pass_is_attested(panel):
    made = panel({"a": PASS, "b": "drift no\n"}, quorum=1, config={"run": {"commit": "auto"}})
    run = made.submit()
    assert made.daemon.ended(run)["state"] == "succeeded"
    statement, = made.daemon.call("run.attest", id=run)["statements"]
    kinds = {(e["kind"], e["result"]) for e in statement["predicate"]["evidence"]}
    assert kinds == {("vote", "green"), ("vote", "red"), ("review", "green")}
    exported = made.daemon.call("review.export", run=run)
    assert [i["decision"] for i in exported["logs"][0]["iterations"]] == ["pass"] and len(exported["proofs"]) == 3
    made.daemon.rlctl("attest", str(run), cwd=made.repo.path)
    made.daemon.rlctl("verify", "HEAD", cwd=made.repo.path)


def test_a_cancel_ends_all(panel):
    made = panel({"a": "gate here\npass\n", "b": "gate here\npass\n", "c": PASS}).gates()
    run = made.submit()
    made.plays["a"].arrived("here")
    made.plays["b"].arrived("here")
    made.daemon.call("run.cancel", id=run)
    assert made.daemon.ended(run)["state"] == "cancelled"
    assert {a["state"] for a in made.daemon.attempts(run)} == {"exited"}


def test_checks_run_once_before_the_panel(panel):
    made = panel({"a": PASS, "b": PASS}, checks=["test -s work.txt"], on_malformed="fail")
    run = made.submit()
    assert made.daemon.ended(run)["state"] == "succeeded"
    roles = [a["role"] for a in made.daemon.attempts(run) if a["task"] is not None]
    assert roles.count("check") == 1 and roles.count("review") == 2


def test_setup_runs_in_each_room(panel):
    made = panel({"a": "cat made\npass\n", "b": "cat made\npass\n"}, config={"run": {"setup": ["echo x > made"]}})
    made.repo.write(".gitignore", "made\n")
    made.repo.git("add", ".gitignore")
    made.repo.git("commit", "-qm", "ignore")
    run = made.submit()
    assert made.daemon.ended(run)["state"] == "succeeded"


def test_tasks_with_panels_are_merged(panel):
    made = panel({"a": PASS, "b": PASS}, scripts={
        "implement": "echo \"$RL_TASK_ID\" > \"$RL_TASK_ID.txt\"\nanswer done\n"})
    made.start()
    stories = json.dumps({"userStories": [
        {"id": f"s{i}", "title": f"story {i}", "description": "x", "acceptanceCriteria": ["y"], "priority": i,
         "passes": False} for i in (1, 2, 3)]})
    run = made.daemon.call("run.submit", workdir=str(made.repo.path), stories=stories, parallel=2,
                           review={"enabled": True})["id"]
    row = made.daemon.ended(run)
    assert row["state"] == "succeeded", row
    assert {"s1.txt", "s2.txt", "s3.txt"} <= set(made.repo.git("ls-tree", "--name-only", row["result_commit"]).split())
    assert len(made.paid(run)) == 6 and row["slots"] is not None
    assert made.daemon.call("review.verify", run=run)["ok"]


def test_the_whole_run(panel):
    made = panel({"a": {"review.1": "drift 'more'\n"}, "b": PASS}, scope="run")
    run = made.submit()
    assert made.daemon.ended(run)["state"] == "succeeded"
    assert [d for who, d in made.log(run) if who == "panel"] == ["drift", "pass"]


def test_a_disputed_finding_is_put_to_all(panel):
    made = panel({"a": {"review.1": comments(("must-fix", 1, "no test")), "review": comments()}, "b": comments()},
                 profile="comments", scripts={**IMPLEMENT, "fix":
                 "id=$(sed -n 's/^- \\([0-9a-f]\\{16\\}\\): .*/\\1/p' \"$PLAY/prompt.$RL_RUN.fix.$nth\" | head -n 1)\n"
                 "answer \"Disputed $id: it is tested elsewhere\"\n"})
    run = made.submit()
    row = made.daemon.ended(run)
    assert row["state"] == "succeeded", row
    for name in "ab":
        assert "no test" in made.plays[name].prompt(run, "review", 2).decode()


def test_a_dismissed_finding_leaves_an_acceptance(panel):
    made = panel({"a": comments(("must-fix", 1, "no test")), "b": comments()}, profile="comments",
                 scripts={**IMPLEMENT, "fix": "gate here\necho two >> work.txt\nanswer fixed\n"})
    made.daemon.play.gates("here")
    run = made.submit()
    made.daemon.play.arrived("here")
    finding, = made.daemon.call("finding.list", run=run)["open"]
    assert finding["reviewers"] == ["a"]
    made.daemon.call("finding.dismiss", run=run, finding=finding["id"], reason="it is")
    made.daemon.play.go("here")
    row = made.daemon.ended(run)
    assert row["state"] == "succeeded" and row["cause"].startswith("accepted: findings dismissed by"), row


BAD = {
    "unknown": ({"reviewers": ["a", "nobody"]}, "nobody"),
    "twice": ({"reviewers": ["a", "b", "a"]}, "'a' is named twice"),
    "too high": ({"reviewers": ["a", "b"], "quorum": 3}, "a quorum of 3 needs as many reviewers, and 2 are named"),
    "zero": ({"reviewers": ["a", "b"], "quorum": 0}, "must be from 1 to 9"),
    "word": ({"reviewers": ["a", "b"], "quorum": "most"}, "must be \"all\", \"majority\""),
    "both": ({"reviewers": ["a", "b"], "agent": "a"}, "both say who reviews"),
    "model": ({"reviewers": ["a", "b"], "model": "m"}, "each of several reviewers has its own model"),
    "quorum alone": ({"reviewers": [], "quorum": 2}, "none are named"),
    "in place": ({"reviewers": ["a", "b"], "workspace": "same"}, "a room each"),
    "program": ({"reviewers": ["a", "b"], "profile": "exit", "reviewer": "/bin/true"}, "not with agents"),
    "too many": ({"reviewers": list("abababababab")}, "items"),
}


@pytest.mark.parametrize("name", BAD)
def test_refused(panel, name):
    settings, text = BAD[name]
    made = panel({"a": PASS, "b": PASS})
    made.settings.clear()
    made.daemon.write_config({**made.agents})
    made.start()
    with pytest.raises(RpcError) as error:
        made.daemon.review(made.repo.path, review={"enabled": True, **settings})
    assert text in str(error.value), error.value


def test_refused_without_git(panel, tmp_path):
    made = panel({"a": PASS, "b": PASS}).start()
    (tmp_path / "bare").mkdir()
    with pytest.raises(RpcError) as error:
        made.daemon.review(tmp_path / "bare")
    assert "is not in a git repository" in str(error.value)


def test_of_the_command_line(panel):
    made = panel({"a": PASS, "b": "drift no\n"})
    made.daemon.write_config({**made.agents})
    made.start()
    run = int(made.daemon.rlctl("submit", "--review=verdict", "--reviewers", "a,b", "--quorum", "1", "do it",
                                cwd=made.repo.path).out)
    row = made.daemon.ended(run)
    assert row["state"] == "succeeded" and row["review"]["reviewers"] == ["a", "b"] and row["review"]["quorum"] == "1"


def test_the_file_for_the_corrector_has_what_all_found(panel):
    write = "cat > autom8_review.md <<'END'\n- [ ] work.txt: {}\nEND\nanswer 'looked'\n"
    made = panel({"a": {"review.1": write.format("add a test"), "review": "answer fine\n"},
                  "b": {"review.1": write.format("name it"), "review": "answer fine\n"}, "c": "answer fine\n"},
                 profile="file", scripts={"implement": IMPLEMENT["implement"],
                                          "fix": "cat autom8_review.md > \"$PLAY/given\"\necho two >> work.txt\n"
                                          "answer fixed\n"})
    run = made.submit()
    row = made.daemon.ended(run)
    assert row["state"] == "succeeded", row
    given = (made.daemon.play.path / "given").read_text()
    assert "add a test" in given and "name it" in given
    assert not (made.repo.path / "autom8_review.md").exists()


def test_a_retry_numbers_the_votes_of_a_decision(panel):
    """The votes on a task that passed are not taken over, so the others get other numbers."""
    made = panel({"a": {"review.2": "drift 'add a second line'\n"},
                  "b": "[ $RL_RUN.$nth = 1.3 ] && answer nothing || pass\n"})
    made.start()
    run = made.daemon.review(made.repo.path, task=None, stories=stories("x", "y"), iterations=2)
    assert made.daemon.ended(run)["state"] in ("failed", "held")
    again = made.daemon.call("run.retry", id=run)["id"]
    made.daemon.call("run.cancel", id=run) if made.daemon.run(run)["state"] == "held" else None
    assert made.daemon.ended(again)["state"] == "succeeded"
    for number in (run, again):
        rows = {r["number"]: r for r in made.daemon.reviews(number)}
        for decision in rows.values():
            for vote in decision["votes"] or ():
                assert vote < decision["number"]
                assert rows[vote]["reviewer"] is not None
    assert rows[1]["from_review"] == 4, rows


def test_the_command_line_replaces_what_a_file_says(panel):
    """One reviewer in place of several, and several in place of one."""
    made = panel({"a": PASS, "b": PASS}).start()
    run = made.daemon.review(made.repo.path, reviewer_agent="b")
    row = made.daemon.ended(run)
    assert (row["review"]["reviewers"], row["agents"]["review"]["agent"], made.paid(run)) == ([], "b", [(None, 1)])
    made.daemon.write_config({**made.agents, "review": {"agent": "a"}})
    made.daemon.call("daemon.reload")
    run = made.daemon.review(made.repo.path, review={"enabled": True, "reviewers": ["a", "b"]})
    assert made.daemon.ended(run)["review"]["reviewers"] == ["a", "b"]


def test_a_project_does_not_replace_several_by_one(panel):
    made = panel({"a": PASS, "b": PASS}).start()
    made.repo.write(".rld.toml", "[review]\nagent = \"a\"\n")
    with pytest.raises(RpcError) as error:
        made.daemon.review(made.repo.path)
    assert "both say who reviews" in str(error.value)


@pytest.mark.parametrize("option", [["--reviewers", "a,b"], ["--quorum", "1"], ["--reviewer-agent", "a"]],
                         ids=lambda o: o[0].strip("-"))
def test_reviewers_of_no_review_are_refused(panel, option):
    made = panel({"a": PASS, "b": PASS})
    made.daemon.write_config({**made.agents})
    made.start()
    said = made.daemon.rlctl("submit", *option, "do it", cwd=made.repo.path, check=1)
    assert "and this run is not reviewed (review is off)" in said.err and "add --review" in said.err
    assert made.daemon.call("run.list")["runs"] == []


# The first vote lists its tree when another task has a room of a vote.
GIT = """#!/bin/sh
case "$*" in
*" ls-tree -r "*)
	if [ -e {at}/implemented ] && mkdir {at}/vote 2> /dev/null; then
		while [ ! -e {at}/ended ] && ! ls {state}/runs/1/tree-1-6553[12]/README > {at}/seen 2> /dev/null; do
			sleep 0.02
		done
	fi ;;
esac
exec /usr/bin/git "$@"
"""
IN_TURN = """if [ "$RL_TASK_ID" = a ]; then
	touch {at}/implemented
else
	until [ -e {at}/vote ] || [ -e {at}/ended ]; do sleep 0.02; done
fi
echo x > "$RL_TASK_ID.txt"
answer done
"""


def test_a_room_stays_while_another_vote_begins(panel, tmp_path):
    """Voters are numbered downwards: a smaller number is not one from before."""
    made = panel({"a": PASS, "b": PASS}, scripts={"implement": IN_TURN.format(at=tmp_path)}, config={"parallel": 2})
    place = tmp_path / "bin"
    place.mkdir()
    (place / "git").write_text(GIT.format(at=tmp_path, state=made.daemon.state))
    (place / "git").chmod(0o755)
    made.daemon.start(environment={"PATH": f"{place}:/usr/bin:/bin"})
    run = made.daemon.call("run.submit", workdir=str(made.repo.path), stories=stories("a", "b"), parallel=2,
                           review={"enabled": True})["id"]
    try:
        row = made.daemon.ended(run)
    finally:
        (tmp_path / "ended").touch()
    assert row["state"] == "succeeded", row
    assert "README" in (tmp_path / "seen").read_text()
