# SPDX-License-Identifier: MIT
"""What waits for a human: hold.list, get, approve, reject, rework and the commands of rlctl; the
exported log; reports."""
import json
import os
import signal

import pytest
from outer import Beads, bead, submit, with_bd
from rld import Repo, RpcError, user_name

GO = "printf '%s\\n' '{\"decision\": \"GO\", \"feedback\": \"All criteria met.\"}'\n"
NO_GO = "printf '{\"decision\": \"NO_GO\", \"feedback\": \"again %s\"}\\n' \"$nth\"\n"
SCRIPTS = {"implement": "echo one > work.txt; answer 'the first answer'\n", "review": NO_GO,
           "fix": "echo $nth >> work.txt; answer \"answer $nth\"\n"}
ME = user_name()


@pytest.fixture
def daemon(make_daemon):
    return make_daemon(scripts=SCRIPTS)


def held(daemon, repo, **review):
    """A run whose reviewer says NO_GO three times, as of requirement 001: (run, hold)."""
    number = daemon.review(repo.path, review={"profile": "decision", **review})
    row = daemon.ended(number)
    assert row["state"] == "held", row
    holds = daemon.call("hold.list", run=number)["holds"]
    assert len(holds) == 1
    return number, holds[0]


def decided(daemon, run, method, **params):
    """Decide, and wait for the end: the answer, the run. run.wait would answer at once for one that
    is still held; a daemon that has just started asks the source of a held run once more, and the
    run is held again."""
    with daemon.events(run=run, types=["run.state", "hold.closed"]) as events:
        answer = daemon.call(method, **params)
        events.until("hold.closed", lambda e: e["hold"] == params["id"])
        events.until("run.state", lambda e: e["state"] in ("succeeded", "failed", "cancelled", "held"))
    return answer, daemon.run(run)


def log_of(repo):
    return json.loads(repo.read(".ai-sdd/state/review-logs/t1.json"))


# ---- the queue -----------------------------------------------------------------------------------

def test_a_hold_has_the_full_review_history(daemon, repo):
    number, hold = held(daemon, repo)
    assert (hold["run"], hold["task"], hold["kind"], hold["state"]) == (number, "t1", "exhausted", "open")
    assert (hold["reason"] == "NO_GO unresolved after 2 fix attempt(s)"
            and hold["decided_by"] is None and hold["created_at"])
    assert [(r["iteration"], r["decision"], r["feedback"])
            for r in hold["reviews"]] == [(n, "NO_GO", f"again {n}") for n in (1, 2, 3)]
    assert daemon.call("hold.get", id=hold["id"]) == hold
    assert [h["id"] for h in daemon.run(number)["holds"]] == [hold["id"]]
    assert hold["reviews"] == daemon.reviews(number) and not any(r["final"] for r in hold["reviews"])


def test_the_list_is_paged_and_filtered(daemon, repo, tmp_path):
    runs = [held(daemon, Repo(tmp_path / f"r{i}"), max_fixes=0) for i in range(3)]
    ids = [hold["id"] for _, hold in runs]
    decided(daemon, runs[1][0], "hold.reject", id=ids[1])
    assert [h["id"] for h in daemon.call("hold.list")["holds"]] == ids[::-1]
    assert [h["id"] for h in daemon.call("hold.list", state="open")["holds"]] == [ids[2], ids[0]]
    assert [h["id"] for h in daemon.call("hold.list", state="rejected")["holds"]] == [ids[1]]
    assert [h["id"] for h in daemon.call("hold.list", run=runs[0][0])["holds"]] == [ids[0]]
    page = daemon.call("hold.list", limit=2)
    assert [h["id"] for h in page["holds"]] == ids[:0:-1] and page["next"] == ids[1]
    page = daemon.call("hold.list", limit=2, cursor=page["next"])
    assert [h["id"] for h in page["holds"]] == [ids[0]] and page["next"] is None
    assert all(h["reviews"] for h in daemon.call("hold.list")["holds"]), "of ended runs as well"


def test_holds_and_their_history_survive_a_restart(daemon, repo):
    number, hold = held(daemon, repo)
    daemon.restart()
    assert daemon.call("hold.get", id=hold["id"]) == hold
    _, row = decided(daemon, number, "hold.approve", id=hold["id"])
    assert row["state"] == "succeeded"


# ---- decisions -----------------------------------------------------------------------------------

def test_approve_is_acceptance_by_that_person(daemon, repo):
    number, hold = held(daemon, repo)
    answer, row = decided(daemon, number, "hold.approve", id=hold["id"], message="good enough")
    assert (row["state"] == "succeeded" and row["cause"] == f"accepted: human:{ME}: good enough"
            and row["result_ref"] is None), "no verdict passed it"
    assert (answer["state"], answer["decided_by"],
            answer["message"]) == ("approved", f"human:{ME}", "good enough") and answer["decided_at"]
    assert row["holds"] == [] and daemon.call("hold.get", id=hold["id"])["state"] == "approved"
    last = daemon.reviews(number)[-1]
    assert (last["reviewer_agent"], last["decision"], last["source"],
            last["final"]) == (f"human:{ME}", "accepted", "human", True)
    assert daemon.call("review.verify", run=number)["ok"]
    log = daemon.call("review.export", run=number)["logs"]
    assert ([i["decision"] for i in log[0]["iterations"]] == ["NO_GO"] * 3 + ["accepted"]
            and log[0]["final_decision"] == "accepted")


def test_reject_fails_the_task(daemon, repo):
    number, hold = held(daemon, repo)
    answer, row = decided(daemon, number, "hold.reject", id=hold["id"], message="start anew")
    assert row["state"] == "failed" and "start anew" in row["cause"] and answer["state"] == "rejected"
    assert daemon.reviews(number)[-1]["decision"] == "rejected" and row["tasks"][0]["state"] == "failed"


def test_rework_is_told_to_the_fixer_and_reviewed_again(daemon, repo):
    number, hold = held(daemon, repo)
    daemon.play.set({"review.4": GO})
    answer, row = decided(daemon, number, "hold.rework", id=hold["id"], message="use a tab, not spaces")
    assert answer["state"] in ("rework", "reworked")
    assert (row["state"] == "succeeded" and row["result_ref"] == daemon.ref("passed", number, "t1")
            and row["tasks"][0]["locked_ref"] == row["result_ref"])
    assert [a["role"] for a in daemon.attempts(number)][-2:] == ["fix", "review"]
    assert b"use a tab, not spaces" in daemon.play.prompt(number, "fix", 3)
    assert daemon.call("hold.get", id=hold["id"])["state"] == "reworked"
    assert [r["decision"] for r in daemon.reviews(number)] == ["NO_GO"] * 3 + ["GO"], "a rework is no verdict"


def test_a_rework_that_does_not_help_asks_again(daemon, repo):
    number, hold = held(daemon, repo, max_fixes=1)
    _, row = decided(daemon, number, "hold.rework", id=hold["id"], message="once more")
    if row["state"] != "held":
        row = daemon.ended(number)
    holds = daemon.call("hold.list", run=number)["holds"]
    assert (row["state"] == "held" and [h["state"] for h in holds] == ["open", "reworked"]
            and holds[0]["id"] > holds[1]["id"])
    assert len(holds[0]["reviews"]) == 3, "two, and one after the rework"


@pytest.mark.parametrize("method", ["hold.approve", "hold.reject", "hold.rework"])
def test_check_changes_nothing(daemon, repo, method):
    number, hold = held(daemon, repo, max_fixes=0)
    assert daemon.call(method, id=hold["id"], message="x", check=True) == hold
    assert daemon.run(number)["state"] == "held" and daemon.call("hold.get", id=hold["id"]) == hold


def code(daemon, method, **params):
    with pytest.raises(RpcError) as error:
        daemon.call(method, **params)
    return error.value.code, error.value.data.get("field")


def test_refusals(daemon, repo):
    number, hold = held(daemon, repo, max_fixes=0)
    assert code(daemon, "hold.rework", id=hold["id"]) == (-32602, "message")
    assert code(daemon, "hold.rework", id=hold["id"], message=" \n") == (-32602, "message")
    for method in ("hold.get", "hold.approve", "hold.reject", "hold.rework"):
        assert code(daemon, method, id=99, **({"message": "x"} if method != "hold.get" else {})) == (1, "id")
    decided(daemon, number, "hold.approve", id=hold["id"])
    for method in ("hold.approve", "hold.reject", "hold.rework"):
        for check in (True, False):
            assert code(daemon, method, id=hold["id"], message="x", check=check)[0] == 2
    assert daemon.call("hold.get", id=hold["id"])["state"] == "approved"


def test_a_cancelled_run_asks_nobody(daemon, repo):
    number, hold = held(daemon, repo, max_fixes=0)
    with daemon.events(run=number, types=["hold.closed"]) as events:
        daemon.cancelled(number)
        closed = events.until("hold.closed")
    assert (closed["hold"], closed["state"]) == (hold["id"], "cancelled")
    assert daemon.call("hold.get",
                       id=hold["id"])["state"] == "cancelled" and code(daemon, "hold.approve",
                                                                       id=hold["id"])[0] == 2


def test_a_reviewer_that_is_given_the_last_feedback_is_given_the_humans(make_daemon, repo):
    drift = "printf '{\"verdict\": \"drift\", \"followUpPrompt\": \"again\"}\\n'\n"
    daemon = make_daemon(scripts={**SCRIPTS, "review": drift, "review.2": "printf '{\"verdict\": "
                                  "\"pass\", \"followUpPrompt\": \"\"}\\n'\n"})
    number, hold = held(daemon, repo, profile="verdict", on_exhausted="hold", max_fixes=0)
    _, row = decided(daemon, number, "hold.rework", id=hold["id"], message="use a tab, not spaces")
    assert row["state"] == "succeeded"
    asked = daemon.play.prompt(number, "review", 2)
    assert b"A human sent the work back" in asked and b"use a tab, not spaces" in asked


def lost(make_daemon, repo):
    """A run whose implementer was lost: (daemon, run, hold)."""
    daemon = make_daemon(scripts={**SCRIPTS, "implement.1": "gate here\n", "review": GO}, gates=["here"])
    number = daemon.review(repo.path, review={"profile": "decision"})
    agent = daemon.play.arrived("here")
    # its shim
    os.kill(int(open(f"/proc/{agent}/stat").read().rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
    assert daemon.ended(number)["state"] == "held"
    return daemon, number, daemon.call("hold.list", run=number)["holds"][0]


def test_an_implementer_that_was_lost_hears_what_the_human_says(make_daemon, repo):
    daemon, number, hold = lost(make_daemon, repo)
    _, row = decided(daemon, number, "hold.rework", id=hold["id"], message="leave the big file alone")
    assert row["state"] == "succeeded"
    assert b"leave the big file alone" in daemon.play.prompt(number, "implement", 2)


def test_a_lost_attempt_is_run_again_and_never_approved(make_daemon, repo):
    daemon, number, hold = lost(make_daemon, repo)
    assert (hold["kind"], hold["reviews"]) == ("lost", []) and hold["attempt"] == daemon.attempts(number)[0]["id"]
    assert code(daemon, "hold.approve", id=hold["id"])[0] == 2
    daemon.rlctl("hold", "rework", hold["id"], check=0)
    with daemon.events(run=number, types=["run.state"]) as events:
        events.until("run.state", lambda e: e["state"] == "succeeded")
    assert [a["role"] for a in daemon.attempts(number)] == ["implement", "implement", "review"]


# ---- the log -------------------------------------------------------------------------------------

def test_a_repository_cannot_have_its_log_written_elsewhere(daemon, repo, tmp_path):
    """A link in the way that the log takes is not followed: it may lead anywhere."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (repo.path / ".ai-sdd").symlink_to(elsewhere)
    daemon.play.set({"review": GO})
    number = daemon.review(repo.path, review={"profile": "decision"})
    row = daemon.ended(number)
    while ".ai-sdd/state/review-logs/t1.json: Not a directory" not in daemon.log():
        pass
    assert row["state"] == "succeeded" and list(elsewhere.iterdir()) == []


# ---- rlctl ---------------------------------------------------------------------------------------

def test_rlctl_run_is_held_and_rlctl_answers(daemon, repo):
    done = daemon.rlctl("run", "--review=decision", "-C", repo.path, "do it", check=13)
    assert done.out == "" and "Review failed after 3 iterations.\n" in done.err and 'rlctl hold show 1"' in done.err
    assert ("Reviewing changes (iteration 3/3)...\n" in done.err
            and "Issues found. Running corrector (iteration 2/3)...\n" in done.err)
    assert 'rlctl hold show 1"' in daemon.rlctl("wait", 1, check=13).err
    listed = daemon.rlctl("hold", "list", check=0).out
    assert "exhausted" in listed and "NO_GO unresolved after 2 fix attempt(s)" in listed
    shown = daemon.rlctl("hold", "show", 1, check=0).out
    assert [shown.count(f"\n    again {n}\n") for n in (1, 2, 3)] == [1, 1, 1] and "- again 1 [resolved]\n" in shown
    assert "rlctl hold show 1" in daemon.rlctl("show", 1, check=0).out
    assert "-m TEXT" in daemon.rlctl("hold", "rework", 1, check=2).err
    daemon.play.set({"review.4": GO})
    with daemon.events(run=1, types=["run.state"]) as events:
        seen = events.first["seq"]
        daemon.rlctl("hold", "rework", 1, "-m", "-", input=b"mend it\nwell\n", check=0)
        events.until("run.state", lambda e: e["seq"] > seen and e["state"] == "succeeded")
    assert b"mend it\nwell\n" in daemon.play.prompt(1, "fix", 3)
    assert "reworked" in daemon.rlctl("hold", "list", "--state", "all", check=0).out
    assert daemon.rlctl("hold", "list", check=0).out == ""


@pytest.mark.parametrize("action, state, status", [("approve", "succeeded", 0), ("reject", "failed", 10)])
def test_rlctl_hold_decides(daemon, repo, action, state, status):
    number, hold = held(daemon, repo, max_fixes=0)
    with daemon.events(run=number, types=["run.state"]) as events:
        seen = events.first["seq"]
        daemon.rlctl("hold", action, hold["id"], "-m", "as you like", check=0)
        events.until("run.state", lambda e: e["seq"] > seen and e["state"] == state)
    assert daemon.rlctl("wait", number, check=status)
    assert f"human:{ME}" in daemon.rlctl("review", "show", number, check=0).out
    assert daemon.rlctl("hold", "approve", hold["id"], check=1).err.startswith("rlctl: hold ")


# ---- logs and reports ----------------------------------------------------------------------------

def test_the_log_is_that_of_requirement_001(daemon, repo):
    daemon.play.set({"review.2": GO})
    number = daemon.review(repo.path, review={"profile": "decision"})
    assert daemon.ended(number)["state"] == "succeeded"
    log = json.loads(daemon.rlctl("review", "export", number, check=0).out)["logs"]
    assert len(log) == 1 and list(log[0]) == ["task_id", "overlay", "iterations", "final_decision", "completed_at"]
    assert [list(i) for i in log[0]["iterations"]] == [["iteration", "decision", "feedback", "timestamp"]] * 2
    assert [(i["iteration"], i["decision"], i["feedback"])
            for i in log[0]["iterations"]] == [(1, "NO_GO", "again 1"), (2, "GO", "All criteria met.")]
    assert (log[0]["task_id"], log[0]["overlay"], log[0]["final_decision"]) == ("t1", "agentic_review", "GO")
    assert all(len(t) == len("2026-02-27T11:30:00Z") and t.endswith("Z")
               for t in [log[0]["completed_at"], *(i["timestamp"] for i in log[0]["iterations"])])
    daemon.restart()
    assert daemon.call("review.export", run=number)["logs"] == log


def test_report_counts_reviews_and_turns(daemon, repo):
    daemon.play.set({"review.2": GO})
    number = daemon.review(repo.path, review={"profile": "decision"})
    daemon.ended(number)
    report = json.loads(daemon.rlctl("report", number, "--format", "json", check=0).out)
    assert report == daemon.call("run.report", id=number)
    assert report["stats"]["review_rounds"] == 2 and report["stats"]["fix_rounds"] == 1
    assert [(t["turn"], t["type"]) for t in report["timeline"]] == [(1, "implement"), (2, "review"),
                                                                    (3, "fix"), (4, "review")]
    assert [t.get("decision") for t in report["timeline"]] == [None, "NO_GO", None, "GO"]
    assert (report["result"]["outcome"] == "success" and report["result"]["exit_code"] == 0
            and report["result"]["answer"] == "answer 1\n")
    assert (report["settings"]["profile"] == "decision"
            and report["settings"]["max_review_rounds"] == 3 and report["reviewer"] == "play")
    text = daemon.rlctl("report", number, check=0).out
    assert "succeeded" in text and "answer 1" in text and "NO_GO" in text


def test_report_of_runs_in_other_states(daemon, repo):
    number, hold = held(daemon, repo)
    report = daemon.call("run.report", id=number)
    assert (report["result"]["outcome"] == "held" and report["result"]["exit_code"] == 13
            and report["stats"]["review_rounds"] == 3)
    assert [h["id"] for h in report["holds"]] == [hold["id"]]
    decided(daemon, number, "hold.reject", id=hold["id"])
    assert daemon.call("run.report", id=number)["result"]["outcome"] == "error"
    daemon.play.set({"implement": "exit 3\n"})
    plain = daemon.submit(repo.path)
    daemon.ended(plain)
    report = daemon.call("run.report", id=plain)
    assert (report["stats"]["review_rounds"] == 0 and report["result"]["outcome"] == "error"
            and report["reviewer"] is None)
    assert code(daemon, "run.report", id=99) == (1, "id") and code(daemon, "review.export", run=99) == (1, "run")
    assert daemon.call("review.export", run=plain)["logs"] == []


def test_the_document_of_an_ended_run_stays_the_same(daemon, repo):
    daemon.play.set({"review.1": GO})
    numbers = []
    for _ in range(18):		# more than are kept
        numbers.append(daemon.submit(repo.path))
        daemon.ended(numbers[-1])
    daemon.call("state.prune", check=True)		# what they keep is measured
    first = {n: daemon.run(n) for n in numbers}
    assert {n: daemon.run(n) for n in reversed(numbers)} == first
    daemon.restart()
    assert {n: daemon.run(n) for n in numbers} == first


@pytest.mark.parametrize("words, state, status", [(("hold", "reject", "1"), "failed", 10),
                                                  (("hold", "approve", "1"), "succeeded", 0),
                                                  (("cancel", "1"), "cancelled", 11)])
def test_a_run_that_is_decided_is_waited_for(make_daemon, tmp_path, words, state, status):
    """Its task source is told first, and until it has been told the run is still held: for
    nobody any more."""
    daemon, bd = with_bd(make_daemon, tmp_path, scripts={"implement": "answer done\n", "review": "exit 4\n"})
    Beads(Repo(tmp_path / "beads").path, bead("x-1"))
    run = submit(daemon, tmp_path / "beads", iterations=1, review={"enabled": True, "on_reviewer_error": "hold"})
    assert daemon.ended(run)["state"] == "held"
    assert not daemon.call("run.wait", ids=[run])["timed_out"]
    for what in ("release", "close"):
        bd.stop(what, "before")
    with daemon.connect() as early, daemon.connect() as late:
        daemon.rlctl(*words, check=0)
        daemon.play.arrived("bd")
        assert daemon.call("run.wait", ids=[run], timeout_ms=0)["timed_out"]
        early.send(early.request("run.wait", {"ids": [run]}))
        assert late.call("run.get", id=run)["state"] == "held"
        daemon.play.go("bd")
        assert [(r["id"], r["state"]) for r in early.reply()["result"]["runs"]] == [(run, state)]
    daemon.rlctl("wait", str(run), check=status)
