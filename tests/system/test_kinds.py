# SPDX-License-Identifier: MIT
"""end_kind and wait_kind on the wire: in documents and in events, and each beside its sentence."""
import os
import shlex
import signal

import pytest
from rld import ENDS, Repo, proc_stat

DRIFT = "drift 'never good'\n"
WORK = "echo x >> work.txt\nanswer done\n"
PAIRS = (("cause", "end_kind"), ("reason", "wait_kind"))


def both_or_none(thing, where):
    """A kind stands exactly where its sentence does."""
    for words, kind in PAIRS:
        assert (thing.get(words) is None) == (thing.get(kind) is None), (where, thing)


def whole(daemon, number):
    """The row of the run, when every document and event about it has its kinds."""
    row = daemon.run(number)
    both_or_none(row, "run")
    for slot in row["slots"]:
        both_or_none(slot, "slot")
    for attempt in daemon.attempts(number):
        assert (attempt["cause"] is None) == (attempt["end_kind"] is None), attempt
    for event in events_of(daemon, number):
        if event["type"] in ("run.state", "slot.phase", "attempt.ended"):
            both_or_none(event, "event")
    return row


def events_of(daemon, number, *types):
    events = daemon.call("event.list", since=0, limit=256)["events"]
    return [e for e in events if e["run"] == number and (not types or e["type"] in types)]


def ended(daemon, number):
    daemon.ended(number)
    return whole(daemon, number)


# kind: scripts, review, more of the submit, state of the run
PLAIN = {
    None: ({"review": "pass\n"}, {}, {}, "succeeded"),
    "exhausted": ({"review": DRIFT}, {"max_fixes": 0}, {}, "failed"),
    "stalled": ({"review.1": "drift 'first'\n", "review": "drift \"round $nth\"\n",
                 "fix": "answer same\n", "implement": "answer same\n"}, {}, {}, "failed"),
    "check": ({"review": "pass\n"}, {"checks": ["false"], "max_fixes": 0}, {"check_on_base": "skip"}, "failed"),
    "violation": ({"review": "answer nothing\n"}, {}, {}, "failed"),
    "waived": ({"review": "answer nothing\n"}, {"on_malformed": "accept"}, {}, "succeeded"),
    "known-issues": ({"review": DRIFT}, {"max_fixes": 0, "on_exhausted": "known_issues"}, {}, "succeeded"),
    "error": ({"implement": "exit 3\n"}, {}, {}, "failed"),
    "limit": ({"implement": "gate g\n"}, {}, {"max_wall": "1s"}, "failed"),
}


@pytest.mark.parametrize("kind", PLAIN)
def test_kinds_of_ends(make_daemon, repo, kind):
    scripts, review, more, state = PLAIN[kind]
    daemon = make_daemon(scripts={"implement": WORK, "fix": WORK, **scripts}, gates=["g"])
    number = daemon.review(repo.path, review=review, **more)
    row = ended(daemon, number)
    slot, = row["slots"]
    assert (row["state"], row["end_kind"], slot["end_kind"]) == (state, kind, kind), row
    assert events_of(daemon, number, "run.state")[-1].get("end_kind") == kind
    assert events_of(daemon, number, "slot.phase")[-1].get("end_kind") == kind
    last = [e for e in events_of(daemon, number, "attempt.ended")][-1]
    assert last.get("end_kind") == daemon.attempts(number)[-1]["end_kind"] == (
        kind if kind in ("error", "limit") else "error" if kind == "check" else None)


def test_kind_of_a_lost_attempt(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate g\n"}, gates=["g"])
    number = daemon.review(repo.path, on_lost="fail")
    os.kill(proc_stat(daemon.play.arrived("g"))[1], signal.SIGKILL)
    row = ended(daemon, number)
    assert (row["end_kind"], row["slots"][0]["end_kind"],
            daemon.attempts(number)[0]["end_kind"]) == ("lost", "lost", "lost"), row


def test_kind_of_a_cancelled_run(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate g\n"}, gates=["g"])
    number = daemon.review(repo.path)
    daemon.play.arrived("g")
    daemon.cancelled(number)
    row = whole(daemon, number)
    assert (row["state"], row["end_kind"], row["slots"][0]["end_kind"]) == ("cancelled", "cancelled", "cancelled"), row
    assert events_of(daemon, number, "run.state")[-1]["end_kind"] == "cancelled"


@pytest.mark.parametrize("answer, state, kind",
                         [("approve", "succeeded", "approved"), ("reject", "failed", "rejected")])
def test_kind_of_a_decision(make_daemon, repo, answer, state, kind):
    daemon = make_daemon(scripts={"implement": WORK, "review": DRIFT})
    number = daemon.review(repo.path, review={"max_fixes": 0, "on_exhausted": "hold"})
    row = ended(daemon, number)
    assert (row["state"], row["wait_kind"], row["slots"][0]["end_kind"]) == ("held", "decision", "exhausted"), row
    with daemon.events(run=number, types=["run.state"]) as events:
        daemon.call(f"hold.{answer}", id=row["holds"][0]["id"])
        events.until("run.state", lambda e: e["state"] in ENDS)
    row = whole(daemon, number)
    assert (row["state"], row["end_kind"], row["slots"][0]["end_kind"]) == (state, kind, kind), row


def test_kinds_of_waits(make_daemon, tmp_path):
    dirs = [Repo(tmp_path / f"r{i}").path for i in range(8)]
    daemon = make_daemon(scripts={"implement": "gate g$RL_RUN\nanswer done\n"}, gates=["g1"],
                         config={"parallel": 2, "group.night": {"slots": 1}})
    first = daemon.submit(dirs[0], group="night")
    daemon.play.arrived("g1")
    waits = {
        "workspace": daemon.submit(dirs[0]),
        "after": daemon.submit(dirs[1], after=first),
        "group": daemon.submit(dirs[2], group="night"),
    }
    waits["paused"] = daemon.submit(dirs[3], after=first)
    daemon.call("run.pause", id=waits["paused"])
    for kind, number in waits.items():
        with daemon.events(run=number, types=["run.state"]) as events:
            events.until("run.state", lambda e: e.get("wait_kind") == kind)
        assert whole(daemon, number)["wait_kind"] == kind
    for number in waits.values():
        daemon.cancelled(number)
    daemon.play.go("g1")
    assert ended(daemon, first)["wait_kind"] is None


def test_kind_of_a_wait_for_a_permit(make_daemon, tmp_path):
    daemon = make_daemon(scripts={"implement": "gate g\nanswer done\n"}, gates=["g"], config={"parallel": 1})
    first, second = (daemon.submit(Repo(tmp_path / name).path) for name in ("a", "b"))
    daemon.play.arrived("g")
    with daemon.events(run=second, types=["run.state"]) as events:
        events.until("run.state", lambda e: e.get("wait_kind") == "permit")
    assert whole(daemon, second)["wait_kind"] == "permit"
    daemon.cancelled(second)
    daemon.play.go("g")
    daemon.ended(first)


def test_kind_of_a_wait_for_an_account(make_daemon, repo):
    result = ('{"type":"result","subtype":"success","is_error":true,"result":"limit",'
              '"api_error_status":429,"session_id":"s"}')
    event = ('{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":0,'
             '"rateLimitType":"five_hour"}}')
    script = (f"printf '%s\\n' {shlex.quote(event)} | sed \"s/:0,/:$(($(date +%s) + 72000)),/\"\n"
              f"printf '%s\\n' {shlex.quote(result)}\nexit 1\n")
    daemon = make_daemon(scripts={"implement": script}, start=False)
    daemon.write_config({"default_agent": "a",
                         "agent.a": {"command": daemon.play.command(), "reader": "claude"},
                         "account.a": {"cooldown_max": "30d"}})
    daemon.start()
    number = daemon.submit(repo.path)
    with daemon.events(run=number, types=["slot.phase"]) as events:
        event = events.until("slot.phase", lambda e: e["phase"] == "cooling")
    assert event["wait_kind"] == "account" and whole(daemon, number)["slots"][0]["wait_kind"] == "account"
    daemon.cancelled(number)
