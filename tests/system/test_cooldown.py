# SPDX-License-Identifier: MIT
"""Accounts that are exhausted, services that fail for a while: who waits, for how long, what it
costs, and what goes on meanwhile."""
import datetime
import json
import shlex
import time

import pytest
from rld import Repo

FAR = "$(($(date +%s) + 72000))"	# nobody waits for that
WORDS = "You've hit your session limit"


def line(**event):
    """A shell command that prints an event of Claude Code, in the conversation of the attempt."""
    head, tail = json.dumps({**event, "session_id": "conversation-#"}, ensure_ascii=False).rsplit("#", 1)
    return f"printf '%s%s%s\\n' {shlex.quote(head)} \"$RL_ATTEMPT\" {shlex.quote(tail)}\n"


def result(text, **more):
    return line(type="result", subtype="success", result=text, **{"is_error": False, "total_cost_usd": 0.01, **more})


def failing(text, status=None, code=1):
    """An attempt that ends with an error of the service."""
    return line(type="system", subtype="init") + result(text, is_error=True,
                                                        **({"api_error_status": status}
                                                           if status else {})) + f"exit {code}\n"


def limited(until, words=WORDS):
    """until: when the service serves again, as the shell sees it; None: it does not say."""
    if until is None:
        return failing(words)
    event = json.dumps({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 0,
                                                                        "rateLimitType": "five_hour"}})
    head, tail = event.split("0,", 1)
    return f"printf '%s%s%s\\n' {shlex.quote(head)} {until} {shlex.quote(',' + tail)}\n" + failing(words, 429)


DONE = line(type="system", subtype="init") + result("done")
ARGS = 'shift; echo "$*" > "$PLAY/args.$RL_RUN.$role.$nth"\n'


@pytest.fixture
def start(make_daemon, tmp_path):
    """start(scripts) → a daemon; its agents are a and b, which share an account, and other, which
    has one of its own."""
    def make(scripts, gates=(), **config):
        daemon = make_daemon(scripts=scripts, gates=gates, start=False)
        agent = {"command": daemon.play.command(), "reader": "claude", "resume": ["--resume", "{session}"]}
        daemon.write_config({"default_agent": "a", "agent.a": {**agent, "account": "shared"},
                             "agent.b": {**agent, "account": "shared"}, "agent.other": agent, **config})
        return daemon.start()
    return make


@pytest.fixture
def repos(tmp_path):
    return iter(Repo(tmp_path / f"r{i}") for i in range(20))


def slot(daemon, run):
    return daemon.run(run)["slots"][0]


def cools(daemon, run, words="", count=1):
    """Wait until a slot of the run cools, with these words as the reason: the event."""
    with daemon.events(run=run) as events:
        for _ in range(count):
            event = events.until("slot.phase", lambda e: e["phase"] == "cooling" and words in e.get("reason", ""))
    return event


def account(daemon, name="shared"):
    return {a["account"]: a for a in daemon.call("cooldown.list")["accounts"]}[name]


def rows(daemon, run):
    return [(a["role"], a["round"], a["provider"], a["state"]) for a in daemon.attempts(run)]


def test_all_slots_of_the_account_wait_and_others_go_on(start, repos):
    """Issue: all slots of the account wait with reason and time, no attempt is used,
    other accounts go on."""
    daemon = start({"implement": f'case $RL_RUN$nth in 11) {limited(FAR)} ;; esac\n{DONE}'},
                   parallel=1, **{"account.shared": {"cooldown_max": "30d"}})
    first = daemon.submit(next(repos).path)
    reason = cools(daemon, first, "account shared: limit until ")["reason"]
    assert reason.endswith(": " + WORDS), reason
    shared = account(daemon)
    assert (shared["in_force"] and shared["kind"] == "limit" and shared["reason"] == WORDS
            and shared["attempt"] == daemon.attempts(first)[0]["id"])
    assert shared["until"] in reason
    # the other agent of the account is not even started, and the only slot of the daemon
    # is free for others
    second = daemon.submit(next(repos).path, agent="b")
    assert cools(daemon, second)["reason"] == reason
    third = daemon.submit(next(repos).path, agent="other")
    assert daemon.ended(third)["state"] == "succeeded"
    assert slot(daemon, first)["phase"] == slot(daemon, second)["phase"] == "cooling"
    assert slot(daemon, first)["cooling"] == "shared" and account(daemon)["waiting"] == 2
    assert [len(daemon.play.starts(run)) for run in (first, second, third)] == [1, 0, 1]
    # no attempt is used: the one that waits is a new row, and nothing counts it
    assert rows(daemon, first) == [("implement", 0, "limit", "exited"), ("implement", 0, None, "starting")]
    daemon.call("cooldown.clear", account="shared")
    assert {row["state"] for row in daemon.ended(first, second)} == {"succeeded"}
    assert rows(daemon, first)[1:] == [("implement", 0, "ok", "exited")] and not account(daemon)["in_force"]
    assert {(s["cooling"], s["retry_at"]) for s in (slot(daemon, first), slot(daemon, second))} == {(None, None)}


def test_it_goes_on_by_itself_when_the_time_has_come(start, repos):
    daemon = start({"implement.1": limited("$(($(date +%s) + 2))"), "implement": DONE})
    run = daemon.submit(next(repos).path)
    until = cools(daemon, run, "account shared: limit until ")["reason"].split(" until ")[1][:24]
    assert daemon.ended(run)["state"] == "succeeded"
    first, second = daemon.attempts(run)
    assert second["started_at"] >= until > first["ended_at"]


def test_a_notice_counts_no_longer_than_cooldown_max(start, repos):
    daemon = start({"implement.1": limited(FAR), "implement": DONE}, **{"account.shared": {"cooldown_max": "1s"}})
    assert daemon.ended(daemon.submit(next(repos).path))["state"] == "succeeded"


def test_one_that_was_cut_off_behind_its_notice(start, repos):
    """What waits says what the service has said, not that the output has no end."""
    notice = line(type="assistant", message={"id": "m", "model": "<synthetic>",
                                             "content": [{"type": "text", "text": WORDS}]})
    daemon = start({"implement": limited(FAR).split("\n")[0] + "\n" + notice + "exit 1\n"})
    run = daemon.submit(next(repos).path)
    cools(daemon, run, f": {WORDS}")
    assert account(daemon)["reason"] == WORDS
    assert "the output ends without a result line" in daemon.attempts(run)[0]["cause"]


def test_a_notice_without_a_time_counts_for_an_hour(start, repos):
    daemon = start({"implement": limited(None, "Credit balance is too low")})
    before = time.time()
    cools(daemon, daemon.submit(next(repos).path), ": Credit balance is too low")
    until = time.mktime(time.strptime(account(daemon)["until"][:19] + " UTC", "%Y-%m-%dT%H:%M:%S %Z")) - time.timezone
    assert before + 3599 <= until <= time.time() + 3601


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_what_cools_cools_again_after_a_restart(start, repos, end):
    daemon = start({"implement": f'case $RL_RUN$nth in 11) {limited(FAR)} ;; esac\n{DONE}'})
    run = daemon.submit(next(repos).path)
    reason = cools(daemon, run)["reason"]
    cooldown, waiting = account(daemon), daemon.attempts(run)[1]
    getattr(daemon, end)()
    daemon.start()
    assert slot(daemon, run)["phase"] == "cooling" and slot(daemon, run)["reason"] == reason
    assert account(daemon) == cooldown and daemon.attempts(run)[1] == waiting
    # a run that comes later waits as well
    cools(daemon, daemon.submit(next(repos).path, agent="b"), reason)
    assert len(daemon.play.starts()) == 1
    daemon.call("cooldown.clear", account="shared")
    assert daemon.ended(run)["state"] == "succeeded"
    assert [a["id"] for a in daemon.attempts(run)][1:] == [waiting["id"]]


def test_a_drained_daemon_leaves_what_cools_to_the_next(start, repos):
    daemon = start({"implement.1": limited(FAR), "implement": DONE})
    run = daemon.submit(next(repos).path)
    cools(daemon, run)
    daemon.call("daemon.stop", drain=True)
    assert daemon.exited() == 0
    daemon.start()
    daemon.call("cooldown.clear", account="shared")
    assert daemon.ended(run)["state"] == "succeeded"


def test_a_success_lifts_it_early(start, repos):
    daemon = start({"implement": f'case $RL_RUN$nth in 11) gate g ;; 21) {limited(FAR)} ;; esac\n{DONE}'}, gates=["g"])
    first = daemon.submit(next(repos).path)
    daemon.play.arrived("g")
    second = daemon.submit(next(repos).path, agent="b")
    cools(daemon, second)
    with daemon.events(types=["cooldown"]) as events:
        daemon.play.go("g")
        lifted = events.until("cooldown", lambda e: not e["in_force"])
    assert lifted["account"] == "shared" and lifted["set_by"] is None
    assert {row["state"] for row in daemon.ended(first, second)} == {"succeeded"}


def test_a_success_does_not_lift_what_somebody_has_set(start, repos):
    daemon = start({"implement": f"gate g\n{DONE}"}, gates=["g"])
    run = daemon.submit(next(repos).path)
    daemon.play.arrived("g")
    daemon.call("cooldown.set", account="shared", **{"for": "2h"}, reason="mine")
    daemon.play.go("g")
    assert daemon.ended(run)["state"] == "succeeded"
    assert account(daemon)["in_force"] and account(daemon)["kind"] == "operator"
    cools(daemon, daemon.submit(next(repos).path), ": mine")
    assert len(daemon.play.starts()) == 1


@pytest.mark.parametrize("how", ["cancel", "pause"])
def test_cancelled_and_paused_while_cooling(start, repos, how):
    daemon = start({"implement.1": limited(FAR), "implement": DONE})
    run = daemon.submit(next(repos).path)
    cools(daemon, run)
    if how == "cancel":
        assert daemon.cancelled(run)["state"] == "cancelled"
        assert daemon.attempts(run)[1]["process"] == "cancelled" and slot(daemon, run)["cooling"] is None
        return
    daemon.call("run.pause", id=run)
    daemon.call("cooldown.clear", account="shared")
    # paused runs start nothing, and say so
    daemon.restart()
    assert daemon.run(run)["state"] == "paused" and len(daemon.play.starts()) == 1
    daemon.call("run.resume", id=run)
    assert daemon.ended(run)["state"] == "succeeded"


def test_the_reason_goes_with_the_time(start, repos):
    """Who waits for nothing but the end of a pause does not name an account that serves again."""
    daemon = start({"implement.1": limited(FAR), "implement": DONE})
    run = daemon.submit(next(repos).path)
    cools(daemon, run, "account shared: limit until ")
    daemon.call("run.pause", id=run)
    with daemon.events(run=run, types=["slot.phase"],
                       since=daemon.call("event.list", since=0, limit=256)["next"]) as events:
        daemon.call("cooldown.clear", account="shared")
        events.until("slot.phase")
    assert slot(daemon, run)["phase"] == "cooling" and slot(daemon, run)["reason"] is None, slot(daemon, run)
    daemon.call("run.resume", id=run)
    assert daemon.ended(run)["state"] == "succeeded"


def test_another_agent_takes_over(start, repos):
    daemon = start({"implement": ARGS + f'case $RL_RUN$nth in 11) {limited(FAR)} ;; esac\n{DONE}'})
    daemon.write_config(
        {"default_agent": "a",
         "agent.a": {"command": daemon.play.command(), "reader": "claude", "account": "shared",
                     "resume": ["--resume", "{session}"], "fallback": ["b", "other"]},
         "agent.b": {"command": daemon.play.command(), "reader": "claude", "account": "shared"},
         "agent.other": {"command": daemon.play.command(), "reader": "claude", "model": "m2",
                         "resume": ["--resume", "{session}"]}})
    daemon.call("daemon.reload")
    run = daemon.submit(next(repos).path, model="m1")
    assert daemon.ended(run)["state"] == "succeeded"
    first, second = daemon.attempts(run)
    assert (first["agent"], first["account"], first["model"]) == ("a", "shared", "m1")
    assert (second["agent"], second["account"], second["model"], second["resumes"]) == ("other", "other", "m2", None)
    # a conversation belongs to its program
    assert (daemon.play.path / f"args.{run}.implement.2").read_text().strip() == ""
    # all of them exhausted: it waits for the first that is not any more
    daemon.call("cooldown.set", account="other", **{"for": "2h"})
    waiting = daemon.submit(next(repos).path)
    cools(daemon, waiting, "account other: ")
    daemon.call("cooldown.clear", account="other")
    assert daemon.ended(waiting)["state"] == "succeeded"
    assert [a["agent"] for a in daemon.attempts(waiting)] == ["other"] and account(daemon)["in_force"]


def test_all_are_exhausted_and_one_serves_first(start, repos):
    """What waits names the one that it waits for, and its time."""
    daemon = start({"implement": DONE})
    agent = {"command": daemon.play.command(), "reader": "claude"}
    daemon.write_config({"default_agent": "a", "agent.a": {**agent, "account": "shared",
                                                           "fallback": ["other"]}, "agent.other": agent})
    daemon.call("daemon.reload")
    daemon.call("cooldown.set", account="shared", **{"for": "20h"})
    soon = daemon.call("cooldown.set", account="other", **{"for": "10h"})["until"]
    run = daemon.submit(next(repos).path)
    assert cools(daemon, run)["reason"] == f"account other: operator until {soon}"
    assert (slot(daemon, run)["cooling"], slot(daemon, run)["next_at"]) == ("other", soon)
    daemon.call("cooldown.clear", account="other")
    assert daemon.ended(run)["state"] == "succeeded" and daemon.attempts(run)[0]["agent"] == "other"


def test_a_throttled_service_is_asked_again_after_a_while(start, repos):
    daemon = start({"implement.1": failing("API Error: 429 slow down", 429), "implement": DONE})
    run = daemon.submit(next(repos).path)
    reason = cools(daemon, run, "retry 1 of 5 at ")["reason"]
    assert "API Error: 429 slow down" in reason and slot(daemon, run)["cooling"] is None
    # it is no limit: others of the account go on
    other = daemon.submit(next(repos).path, agent="b")
    assert slot(daemon, run)["retries"] == 1 and not account(daemon)["in_force"]
    assert {row["state"] for row in daemon.ended(run, other)} == {"succeeded"}
    assert slot(daemon, run)["retries"] == 0


@pytest.mark.parametrize("words,status", [("API Error: 529 Overloaded", 529),
                                          ("API Error: 500 Internal server error", 500)])
def test_an_error_that_passes_is_retried_as_often_as_may_be(start, repos, words, status):
    """The same attempt count rules: no fix round, no round of review; and there is a last try."""
    daemon = start({"implement": failing(words, status)}, run={"retries": 1})
    run = daemon.submit(next(repos).path)
    cools(daemon, run, "retry 1 of 1 at ")
    row = daemon.ended(run)
    assert row["state"] == "failed" and words in row["cause"]
    assert rows(daemon, run) == [("implement", 0, "error", "exited")] * 2


def test_without_retries_it_fails_at_once(start, repos):
    daemon = start({"implement": failing("API Error: 429 slow down", 429)})
    repo = next(repos)
    run = int(daemon.rlctl("submit", "--retries", "0", "do it", cwd=repo.path, check=0).out.split()[-1])
    assert daemon.ended(run)["state"] == "failed" and len(daemon.attempts(run)) == 1


def test_a_login_that_lacks_fails_with_the_remedy(start, repos):
    daemon = start({"implement": failing("Invalid API key · Please run /login")})
    row = daemon.ended(daemon.submit(next(repos).path))
    assert row["state"] == "failed" and "; log in: " in row["cause"], row["cause"]
    assert not account(daemon)["in_force"]


def verdict(pass_, words):
    return result(f"```json\n{json.dumps({'verdict': 'pass' if pass_ else 'drift', 'followUpPrompt': words})}\n```")


def test_rounds_do_not_count_what_was_not_served(start, repos):
    """In every role: the reviewer and the fixer are limited once each, and the loop is as
    long as without."""
    scripts = {"implement": "echo one > work.txt\n" + DONE,
               "review.1": limited("$(($(date +%s) + 1))"), "review.2": verdict(False, "more"),
               "review": verdict(True, "good"), "fix.1": limited("$(($(date +%s) + 1))"),
               "fix": "echo two >> work.txt\n" + DONE}
    daemon = start(scripts)
    run = daemon.review(next(repos).path, review={"max_fixes": 1})
    assert daemon.ended(run)["state"] == "succeeded", daemon.ended(run)
    assert rows(daemon, run) == [("implement", 0, "ok", "exited"), ("review", 1, "limit", "exited"),
                                 ("review", 1, "ok", "exited"), ("fix", 1, "limit", "exited"),
                                 ("fix", 1, "ok", "exited"), ("review", 2, "ok", "exited")]
    assert [r["decision"] for r in daemon.reviews(run)] == ["drift", "pass"]


def test_the_conversation_goes_on(start, repos):
    daemon = start({"implement.1": limited("$(($(date +%s) + 1))"), "implement": ARGS + DONE})
    run = daemon.submit(next(repos).path)
    assert daemon.ended(run)["state"] == "succeeded"
    first, second = daemon.attempts(run)
    assert second["resumes"] == first["id"] and first["resumes"] is None
    assert (daemon.play.path / f"args.{run}.implement.2").read_text() == f"--resume conversation-{first['id']}\n"
    prompt = daemon.play.prompt(run, "implement", 2).decode()
    assert ("was interrupted in the middle of its work" in prompt and WORDS in prompt
            and "This conversation belongs to that attempt" in prompt)
    assert "was interrupted" not in daemon.play.prompt(run, "implement", 1).decode()


def test_a_conversation_that_is_gone_costs_one_try(start, repos):
    """It fails although it is not to blame: the work is begun again without, once; what fails
    then has failed."""
    gone = ARGS + 'case $* in *--resume*) echo "No conversation found with session ID" >&2; exit 1 ;; esac\n'
    daemon = start({"implement.1": limited("$(($(date +%s) + 1))"), "implement": gone + DONE})
    run = daemon.submit(next(repos).path)
    assert daemon.ended(run)["state"] == "succeeded"
    attempts = daemon.attempts(run)
    assert [a["resumes"] for a in attempts] == [None, attempts[0]["id"], None]
    daemon.play.set({"implement": ARGS + "exit 1\n"})
    daemon.call("cooldown.clear", account="shared")
    run = daemon.submit(next(repos).path)
    assert daemon.ended(run)["state"] == "failed" and len(daemon.attempts(run)) == 3


DAYS = 3 * 24 * 3600 * 1000


@pytest.mark.parametrize("what", ["limit", "retry"])
def test_a_clock_that_was_set_back(start, repos, what):
    """What was to last for minutes lasts no days: the rows are those of a clock that was
    three days ahead."""
    script = limited(FAR) if what == "limit" else failing("Overloaded", 529)
    daemon = start({"implement.1": script, "implement": DONE})
    run = daemon.submit(next(repos).path)
    cools(daemon, run)
    daemon.stop()
    daemon.query("UPDATE slot SET retry_at = retry_at + ?", DAYS)
    daemon.query("UPDATE cooldown SET until = until + ?, created_at = created_at + ?", DAYS, DAYS)
    daemon.start()
    assert daemon.ended(run)["state"] == "succeeded"


def test_a_conversation_outlasts_a_service_that_fails_again(start, repos):
    """Only the last try is one without: it may be the conversation that the service fails at."""
    daemon = start({"implement.4": ARGS + DONE, "implement": ARGS + failing("Overloaded", 529)})
    run = daemon.submit(next(repos).path, retries=3)
    for nth in range(1, 4):
        cools(daemon, run, f"retry {nth} of 3 at ")
        daemon.stop()
        daemon.query("UPDATE slot SET retry_at = 1")
        daemon.start()
    assert daemon.ended(run)["state"] == "succeeded"
    ids = [a["id"] for a in daemon.attempts(run)]
    assert [a["resumes"] for a in daemon.attempts(run)] == [None, ids[0], ids[1], None]


def test_a_limit_that_is_always_near(start, repos):
    """Each notice behind another counts twice as long, so that a service that promises to serve
    soon for hours is not asked all the time."""
    def moment(text):
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()

    soon = failing("Quota exceeded for this model. Please retry in 0.5s.", 429)
    daemon = start({"implement.5": DONE, "implement": soon})
    run = daemon.submit(next(repos).path)
    with daemon.events(types=["cooldown"]) as events:
        told = [events.until("cooldown", lambda e: e["in_force"]) for _ in range(4)]
    assert daemon.ended(run)["state"] == "succeeded"
    spans = [moment(e["until"]) - moment(a["ended_at"]) for e, a in zip(told, daemon.attempts(run))]
    assert [span >= least for span, least in zip(spans, (0.1, 0.7, 1.4, 2.8))] == [True] * 4, spans


def test_a_notice_does_not_replace_what_somebody_has_set(start, repos):
    daemon = start({"implement": f'gate g\ncase $RL_RUN in 1) {limited(FAR)} ;; esac\n{DONE}'}, gates=["g"])
    first = daemon.submit(next(repos).path)
    daemon.play.arrived("g")
    daemon.call("cooldown.set", account="shared", **{"for": "2h"}, reason="mine")
    daemon.play.go("g")
    cools(daemon, first, ": mine")
    assert account(daemon)["kind"] == "operator"
