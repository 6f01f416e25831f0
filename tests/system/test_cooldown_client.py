# SPDX-License-Identifier: MIT
"""Accounts that are exhausted, as users and clients see, set and clear them."""
import datetime
import json

import pytest
from rld import Repo, RpcError, user_name

LATER = "2099-01-02T03:04:05.000Z"	# further away than may be set
TWO = {"agent.play": {"account": "purse"}, "agent.other": {"account": "pocket"}}


def hours(n):
    """An RFC 3339 time so many hours from now, to the second."""
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=n)).strftime("%Y-%m-%dT%H:%M:%SZ")


def milliseconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000


def accounts(daemon):
    return {a["account"]: a for a in daemon.call("cooldown.list")["accounts"]}


def human():
    return f"human:{user_name()}"


@pytest.fixture
def two(make_daemon):
    """Two agents that play the same, each with an account of its own."""
    def make(**kwargs):
        daemon = make_daemon(start=False, **kwargs)
        daemon.write_config({**TWO, "agent.other": {"command": daemon.play.command(),
                                                    "reader": "text", "account": "pocket"}})
        return daemon.start()
    return make


def test_the_list_has_the_accounts_of_the_agents(two):
    daemon = two()
    names = list(accounts(daemon))
    assert names == sorted(names) and {"purse", "pocket", "anthropic", "openai"} <= set(names)
    assert accounts(daemon)["purse"] == {
        "account": "purse", "agents": ["play"], "in_force": False, "kind": None, "until": None,
        "reason": None, "attempt": None, "set_by": None,
        "created_at": None, "waiting": 0,
        "spent": {"day": None, "attempts": 0, "cost_usd": 0.0, "tokens": 0, "wall_ms": 0},
        "reserved": {"cost_usd": 0.0, "tokens": 0},
        "limits": {"cooldown_max_ms": 24 * 3600 * 1000, "budget_day_usd": None,
                   "budget_day_tokens": None, "budget_day_wall_ms": None}}
    assert accounts(daemon)["anthropic"]["agents"] == ["claude"]


def test_an_agent_that_names_no_account_has_one_of_its_own(daemon):
    assert accounts(daemon)["play"]["agents"] == ["play"]


def test_set_and_clear(two):
    daemon = two()
    until = hours(3)
    answer = daemon.call("cooldown.set", account="purse", until=until, reason="the boss needs it")
    assert (answer["in_force"], answer["kind"], answer["reason"],
            answer["set_by"]) == (True, "operator", "the boss needs it", human())
    assert milliseconds(answer["until"]) == milliseconds(until) and answer["attempt"] is None and answer["created_at"]
    assert accounts(daemon)["purse"] == answer and not accounts(daemon)["pocket"]["in_force"]
    assert daemon.call("daemon.status")["cooling"] == [{k: answer[k] for k in
        ("account", "kind", "until", "reason", "attempt", "set_by", "created_at", "in_force")}]
    cleared = daemon.call("cooldown.clear", account="purse")
    assert (cleared["in_force"], cleared["kind"], cleared["until"], cleared["reason"]) == (False, None, None, None)
    assert accounts(daemon)["purse"] == cleared and daemon.call("daemon.status")["cooling"] == []
    # once more is no mistake, and no news
    seq = daemon.call("event.unsubscribe")["seq"]
    assert daemon.call("cooldown.clear", account="purse") == cleared
    assert daemon.call("event.unsubscribe")["seq"] == seq


@pytest.mark.parametrize("span, ms", [("2h", 7_200_000), ("90", 90_000), (90, 90_000),
                                      ("15m", 900_000), ("3d", 3 * 86_400_000)])
def test_a_span_of_time(two, span, ms):
    """Also one that is longer than cooldown_max: that bounds what a service is
    understood to say."""
    answer = two().call("cooldown.set", account="purse", **{"for": span})
    assert milliseconds(answer["until"]) - milliseconds(answer["created_at"]) == pytest.approx(ms, abs=5000)


@pytest.mark.parametrize("params, code, field, words", [
    ({"account": "antropic", "for": "2h"}, 1, "account", "anthropic, "),
    ({"account": "", "for": "2h"}, -32602, "account", "empty"),
    ({"for": "2h"}, -32602, "account", "missing"),
    ({"account": "purse"}, -32602, "for", "end of the cooldown"),
    ({"account": "purse", "for": "2h", "until": LATER}, -32602, "until", "mutually exclusive"),
    ({"account": "purse", "for": "soon"}, -32602, "for", "90s"),
    ({"account": "purse", "for": -1}, -32602, "for", "90s"),
    ({"account": "purse", "for": 0}, -32602, "for", "out of range"),
    ({"account": "purse", "for": "400d"}, -32602, "for", "366"),
    ({"account": "purse", "for": 10 ** 18}, -32602, "for", "366"),
    ({"account": "purse", "until": LATER}, -32602, "until", "366"),
    ({"account": "purse", "until": "22:52"}, -32602, "until", "RFC 3339"),
    ({"account": "purse", "until": "2001-01-01T00:00:00Z"}, -32602, "until", "in the past"),
    ({"account": "purse", "for": "2h", "reason": "x" * 1001}, -32602, "reason", "1000"),
])
def test_what_is_refused(two, params, code, field, words):
    daemon = two()
    with pytest.raises(RpcError) as refused:
        daemon.call("cooldown.set", **params)
    assert (refused.value.code,
            refused.value.data["field"]) == (code, field) and words in refused.value.message, refused.value
    assert not any(a["in_force"] for a in accounts(daemon).values())


def test_an_unknown_account_is_not_cleared(daemon):
    with pytest.raises(RpcError) as refused:
        daemon.call("cooldown.clear", account="playy")
    assert (refused.value.code == 1 and "play, " in refused.value.message
            and "rlctl cooldown list" in refused.value.data["hint"])


def test_check_changes_nothing(two):
    daemon = two()
    assert not daemon.call("cooldown.set", account="purse", check=True, **{"for": "2h"})["in_force"]
    daemon.call("cooldown.set", account="purse", **{"for": "2h"})
    assert daemon.call("cooldown.clear", account="purse", check=True)["in_force"]
    assert accounts(daemon)["purse"]["in_force"]


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_it_outlives_the_daemon(two, end):
    daemon = two()
    daemon.call("cooldown.set", account="purse", reason="why", **{"for": "2h"})
    daemon.call("cooldown.set", account="pocket", **{"for": "2h"})
    daemon.call("cooldown.clear", account="pocket")
    before = accounts(daemon)
    getattr(daemon, end)()
    daemon.start()
    assert accounts(daemon) == before


def test_it_is_told(two):
    daemon = two()
    with daemon.events(types=["cooldown"]) as events:
        answer = daemon.call("cooldown.set", account="purse", reason="the boss needs it", **{"for": "2h"})
        event = events.next()
        assert {k: event[k] for k in ("account", "kind", "in_force", "until", "reason", "set_by", "run")} == {
            "account": "purse", "kind": "operator", "in_force": True, "until": answer["until"],
            "reason": "the boss needs it", "set_by": human(), "run": None}
        daemon.call("cooldown.clear", account="purse")
        event = events.next()
        assert (event["account"], event["in_force"]) == ("purse", False)


# ---- the commands ----

def test_the_commands(two):
    daemon = two()
    done = daemon.rlctl("cooldown", "set", "purse", "2h", "-m", "the boss needs it", check=0)
    user = user_name()
    assert done.out == "" and done.err.startswith("Account purse: exhausted until 20"), done.err
    assert done.err.endswith(f"): set by {user}: the boss needs it.\n"), done.err
    assert "(in 1h 59m)" in done.err or "(in 2h 00m)" in done.err
    lines = daemon.rlctl("cooldown", "list", check=0).out.splitlines()
    assert lines[0].split() == ["ACCOUNT", "STATE", "UNTIL", "AGENTS",
                                "WHY"], "a column in which nothing stands is left out"
    rows = {line.split()[0]: line for line in lines[1:]}
    assert (rows["purse"].split()[1] == "exhausted"
            and rows["purse"].endswith(f" play      set by {user}: the boss needs it")), rows["purse"]
    assert rows["pocket"].split()[1:] == ["available", "other"]
    status = daemon.rlctl("status", check=0).out
    assert [line for line in status.splitlines()
            if line.startswith("account ")][0].split()[1:5] == ["purse", "is", "exhausted", "until"], status
    assert daemon.rlctl("cooldown", "clear", "purse", check=0).err == "Account purse: available.\n"
    assert "account" not in daemon.rlctl("status", check=0).out
    until = hours(5)
    assert json.loads(daemon.rlctl("cooldown", "set", "purse", until, "--json",
                                   check=0).out)["until"][:19] == until[:19]
    assert json.loads(daemon.rlctl("cooldown", "list", "--json", check=0).out) == daemon.call("cooldown.list")


def test_mistakes_on_the_command_line(two):
    daemon = two()
    for wrong in (["set", "purse"], ["set", "purse", "soon"], ["set"], ["clear"], ["list", "x"],
                  ["what"], ["clear", "purse", "2h"],
                  ["clear", "purse", "-m", "x"], ["set", "purse", "2h", "more"]):
        done = daemon.rlctl("cooldown", *wrong, check=2)
        assert done.out == "" and done.err, wrong
    assert "2026-11-22T22:52:00Z" in daemon.rlctl("cooldown", "set", "purse", "soon", check=2).err
    done = daemon.rlctl("cooldown", "set", "antropic", "2h", check=1)
    assert "unknown account 'antropic'" in done.err and "anthropic" in done.err and "cooldown list" in done.err


def test_the_event_is_a_sentence(two):
    daemon = two()
    daemon.call("cooldown.set", account="purse", reason="the boss needs it", **{"for": "2h"})
    daemon.call("cooldown.clear", account="purse")
    lines = [line for line in daemon.rlctl("events", check=0).out.splitlines() if "cooldown" in line]
    assert "Account purse is exhausted until 20" in lines[0] and lines[0].endswith(": the boss needs it"), lines
    assert lines[1].endswith("Account purse is available again"), lines


def test_watch_tells_it(two):
    daemon = two()
    watch = daemon.rlctl_start("watch")
    with daemon.connect() as rpc:	# once it follows, it hears of all that comes
        while rpc.call("daemon.status")["followers"] < 1:
            pass
    daemon.call("cooldown.set", account="purse", reason="the boss needs it", **{"for": "2h"})
    assert watch.stdout.readline().decode().startswith("Account purse is exhausted until 20")
    daemon.call("cooldown.clear", account="purse")
    assert watch.stdout.readline().decode() == "Account purse is available again\n"
    watch.terminate()
    watch.wait()


# ---- who waits ----

WORK = {"implement": "gate g$RL_RUN\necho one > work.txt\nanswer done\n"}
GATES = [f"g{i}" for i in range(1, 6)]


def waits(daemon, run):
    """Wait until the run waits for an account: the run."""
    with daemon.events(run=run) as events:
        events.until("slot.phase", lambda e: e["phase"] == "cooling")
    return daemon.run(run)


@pytest.fixture
def repos(tmp_path):
    return iter(Repo(tmp_path / f"r{i}") for i in range(9))


def test_what_waits_says_for_whom_and_how_long(two, repos):
    daemon = two(scripts=WORK, gates=GATES)
    account = daemon.call("cooldown.set", account="purse", reason="the boss needs it", **{"for": "2h"})
    run = daemon.submit(next(repos).path)
    row = waits(daemon, run)
    slot, = row["slots"]
    reason = f"account purse: operator until {account['until']}: the boss needs it"
    assert (slot["phase"], slot["cooling"], slot["reason"],
            slot["next_at"]) == ("cooling", "purse", reason, account["until"])
    assert (row["state"], row["reason"], row["next_at"]) == ("running", reason, account["until"])
    listed, = daemon.call("run.list")["runs"]
    assert (listed["reason"], listed["next_at"]) == (reason, account["until"])
    assert daemon.call("run.report", id=run)["state"] == "running"
    shown = daemon.rlctl("show", run, check=0).out
    assert "COOLING 1h59m" in shown.replace(" 59", "59") and reason in shown, shown
    assert [line.split()[:4] for line in shown.splitlines()
            if line.startswith(f"{run}/1 ")] == [[f"{run}/1", "implement", "play", "waiting"]]
    assert reason in daemon.rlctl("list", check=0).out
    watch = daemon.rlctl_start("watch", str(run))
    assert watch.stdout.readline().decode() == f"Run {run} running: {reason}\n"
    assert watch.stdout.readline().decode().split()[:2] == ["all" if slot["slot"] == 0
                                                            else f"A{slot['slot']}", "COOLING"]
    assert accounts(daemon)["purse"]["waiting"] == 1
    assert "1 slot waits for it" in daemon.rlctl("cooldown", "set", "purse", "3h", check=0).err
    daemon.rlctl("cooldown", "clear", "purse", check=0)
    daemon.play.arrived(f"g{run}")
    row = daemon.run(run)
    assert (row["reason"], row["slots"][0]["reason"],
            row["slots"][0]["next_at"] if "next_at" in row["slots"][0] else None) == (None, None, None)
    daemon.play.go(f"g{run}")
    assert daemon.ended(run)["state"] == "succeeded"
    assert watch.wait() == 0
    said = watch.stdout.read().decode()
    assert "implement: play (attempt 1/1)" in said, said
    assert len(daemon.attempts(run)) == 1 and accounts(daemon)["purse"]["waiting"] == 0


def test_rlctl_run_says_that_it_waits(two, repos):
    daemon = two(scripts={"implement": "echo one > work.txt\nanswer done\n"})
    daemon.call("cooldown.set", account="purse", reason="the boss needs it", **{"for": "2h"})
    process = daemon.rlctl_start("run", "do it", cwd=next(repos).path)
    with daemon.events() as events:
        run = events.until("slot.phase", lambda e: e["phase"] == "cooling")["run"]
    daemon.call("cooldown.clear", account="purse")
    assert process.wait() == 0
    said = process.stderr.read().decode()
    assert ("Cooling: account purse: operator until 20" in said and "the boss needs it" in said
            and process.stdout.read() == b"done\n"), said
    assert daemon.run(run)["state"] == "succeeded"


def test_what_runs_is_not_ended(two, repos):
    daemon = two(scripts=WORK, gates=GATES)
    run = daemon.submit(next(repos).path)
    daemon.play.arrived(f"g{run}")
    daemon.call("cooldown.set", account="purse", **{"for": "2h"})
    daemon.play.go(f"g{run}")
    assert daemon.ended(run)["state"] == "succeeded"


def test_other_accounts_go_on(two, repos):
    daemon = two(scripts={"implement": "echo one > work.txt\nanswer done\n"})
    daemon.call("cooldown.set", account="purse", **{"for": "2h"})
    waiting = daemon.submit(next(repos).path)
    waits(daemon, waiting)
    assert daemon.ended(daemon.submit(next(repos).path, agent="other"))["state"] == "succeeded"
    assert daemon.play.starts(waiting) == []


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_who_waits_still_waits_after_a_restart(two, repos, end):
    daemon = two(scripts=WORK, gates=GATES)
    account = daemon.call("cooldown.set", account="purse", **{"for": "2h"})
    run = daemon.submit(next(repos).path)
    before = waits(daemon, run)["slots"]
    getattr(daemon, end)()
    daemon.start()
    assert daemon.run(run)["slots"] == before and before[0]["next_at"] == account["until"]
    assert daemon.play.starts(run) == []
    daemon.call("cooldown.clear", account="purse")
    daemon.play.arrived(f"g{run}")
    daemon.play.go(f"g{run}")
    assert daemon.ended(run)["state"] == "succeeded"


def test_one_that_waits_is_cancelled_at_once(two, repos):
    daemon = two(scripts=WORK, gates=GATES)
    daemon.call("cooldown.set", account="purse", **{"for": "2h"})
    run = daemon.submit(next(repos).path)
    waits(daemon, run)
    assert daemon.cancelled(run)["state"] == "cancelled" and daemon.play.starts(run) == []
    assert accounts(daemon)["purse"]["waiting"] == 0


def test_it_ends_by_itself(two, repos):
    daemon = two(scripts={"implement": "echo one > work.txt\nanswer done\n"})
    daemon.call("cooldown.set", account="purse", **{"for": "1s"})
    assert daemon.ended(daemon.submit(next(repos).path))["state"] == "succeeded"
    assert not accounts(daemon)["purse"]["in_force"]
