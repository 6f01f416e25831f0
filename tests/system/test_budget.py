# SPDX-License-Identifier: MIT
"""Money, tokens and time: what is set aside before an attempt and settled after it, limits of runs
and of the days of accounts, and those that nobody could keep."""
import json
import subprocess

import pytest
from rld import RpcError

CLAUDE = {"agent.play": {"reader": "claude", "account": "paid"}}


def says(cost=None, text="done", tokens=(10, 5)):
    """A script that prints what Claude Code would; cost None: it does not tell."""
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1]} if tokens else {}
    line = {"type": "result", "subtype": "success", "is_error": False, "result": text,
            "session_id": "s", "usage": usage, "permission_denials": []}
    if cost is not None:
        line["total_cost_usd"] = cost
    return f"cat <<'EOF'\n{json.dumps(line)}\nEOF\n"


PASS = says(0.1, '{"verdict": "pass", "followUpPrompt": "fine"}')
DRIFT = says(0.1, '{"verdict": "drift", "followUpPrompt": "more"}')
WORK = "echo $RL_ATTEMPT >> work.txt\n"


def stories(*names):
    return json.dumps({"project": "p", "description": "d", "userStories": [
        {"id": name, "title": f"do {name}", "description": "d", "acceptanceCriteria": [],
         "priority": i, "passes": False} for i, name in enumerate(names)]})


def roles(daemon, run):
    return [(a["role"], a["process"]) for a in daemon.attempts(run)]


@pytest.fixture
def paid(make_daemon):
    def make(scripts, config=None, **more):
        config = dict(config or {})
        return make_daemon(scripts=scripts, config={**CLAUDE, **config}, **more)
    return make


# ---- a run ---------------------------------------------------------------------------------------

def test_a_run_within_its_budget(paid, repo):
    daemon = paid({"implement": WORK + says(0.5), "review": PASS})
    row = daemon.ended(daemon.review(repo.path, max_cost=2, max_tokens=1000, max_wall="1h"))
    budget = row["budget"]
    assert (row["state"], row["warnings"]) == ("succeeded", [])
    assert budget["max_cost_usd"] == 2 and budget["spent_usd"] == pytest.approx(0.6) and budget["reserved_usd"] == 0
    assert (budget["max_tokens"], budget["spent_tokens"], budget["reserved_tokens"]) == (1000, 30, 0)
    assert budget["max_wall_ms"] == 3600000 and budget["wall_ms"] == row["totals"]["wall_ms"]
    assert (row["totals"]["cost_usd"], row["totals"]["tokens"]) == (pytest.approx(0.6), 30)
    shown = daemon.rlctl("show", str(row["id"]))
    assert "$0.60 of $2.00; 30 of 1.0k tokens" in shown.out


def test_without_a_limit_there_is_no_budget(paid, repo):
    daemon = paid({"implement": WORK + says(0.5)})
    row = daemon.ended(daemon.submit(repo.path))
    assert row["budget"] is None
    assert "budget" not in daemon.rlctl("show", str(row["id"])).out
    daemon.stop()
    assert daemon.query("SELECT reserved_usd, reserved_tokens FROM attempt") == [{"reserved_usd": None,
                                                                                  "reserved_tokens": None}]


def test_spent_ends_the_run(paid, repo):
    """The review cannot be paid any more: class 14, and the cause says how much it was."""
    daemon = paid({"implement": WORK + says(1.25), "review": PASS})
    ran = daemon.rlctl("run", "-C", str(repo.path), "--review", "--max-cost", "1", "do it")
    assert ran.returncode == 14 and "limit: $1.25 of $1.00 are spent (max_cost)" in ran.err
    row = daemon.run(1)
    assert (row["state"], row["cause"]) == ("failed", "limit: $1.25 of $1.00 are spent (max_cost)")
    assert roles(daemon, 1) == [("implement", "exited"), ("review", "not-started")]
    assert [a["fault"]
            for a in daemon.attempts(1)] == [None,
                                             None], "none of its three results: nothing of it was begun"
    assert daemon.play.starts(role="review") == []
    assert row["tasks"][0]["state"] == "failed"


def test_tokens_are_a_budget_too(paid, repo):
    daemon = paid({"implement": WORK + says(None, tokens=(900, 200)), "review": PASS})
    row = daemon.ended(daemon.review(repo.path, max_tokens=1000))
    assert row["cause"] == "limit: 1100 of 1000 tokens are used (max_tokens)"


def test_all_that_passed_is_no_failure(paid, repo):
    daemon = paid({"implement": WORK + says(3)})
    row = daemon.ended(daemon.submit(repo.path, max_cost=1))
    assert (row["state"], row["cause"]) == ("succeeded", None)


@pytest.mark.parametrize("on_failure", ["stop", "continue"])
def test_the_rest_is_not_begun(paid, repo, on_failure):
    daemon = paid({"implement": WORK + says(0.6)})
    row = daemon.ended(daemon.submit(repo.path, task=None, stories=stories("a", "b", "c", "d"),
                                     max_cost=1, on_failure=on_failure))
    assert row["state"] == "failed" and row["cause"] == "limit: $1.20 of $1.00 are spent (max_cost), 2 task(s) left"
    assert [t["state"] for t in row["tasks"]] == ["passed", "passed", "cancelled", "cancelled"]
    assert row["tasks"][2]["reason"].startswith("not started: limit: ")


@pytest.mark.parametrize("strict, tasks", [(True, 3), (False, 4)])
def test_a_strict_budget_is_kept(paid, repo, strict, tasks):
    """0.02 each, of 0.07: the fourth would need more than is left."""
    daemon = paid({"implement": WORK + says(0.02)})
    row = daemon.ended(daemon.submit(repo.path, task=None, stories=stories("a", "b", "c", "d", "e"), max_cost=0.07,
                                     strict_budget=strict))
    assert row["state"] == "failed" and row["end_kind"] == "limit", row
    assert row["budget"]["spent_usd"] == pytest.approx(0.02 * tasks) and len(daemon.play.starts()) == tasks
    if strict:
        assert row["cause"].startswith("limit: $0.0600 of $0.0700 are spent (max_cost), and the next attempt is "
                                       "expected to use $0.0200"), row["cause"]
        shown = daemon.rlctl("run", "-C", str(repo.path), "--max-cost", "0.01", "--strict-budget", "do it")
        assert shown.returncode == 0, "the first one has a twentieth of the limit reserved"


def test_a_check_is_not_begun_either(paid, repo):
    daemon = paid({"implement": WORK + says(2), "check": "true\n"})
    row = daemon.ended(daemon.review(repo.path, max_cost=1, checks=["true"], check_on_base="skip"))
    assert row["cause"].startswith("limit: ") and roles(daemon, row["id"]) == [("implement", "exited"),
                                                                               ("check", "not-started")]


def test_what_is_not_begun_is_told_so(paid, repo):
    daemon = paid({"implement": WORK + says(2), "check": "true\n"})
    ran = daemon.rlctl("run", "-C", str(repo.path), "--max-cost", "1", "--review", "--check", "true", "do it", check=14)
    assert "check: not started: limit: $2.00 of $1.00 are spent (max_cost)" in ran.err


def test_a_retry_has_a_budget_of_its_own(paid, repo):
    daemon = paid({"implement": WORK + says(1.25), "review": PASS})
    first = daemon.ended(daemon.review(repo.path, max_cost=1))
    second = daemon.ended(daemon.call("run.retry", id=first["id"], from_scratch=True)["id"])
    assert second["budget"]["max_cost_usd"] == 1 and second["budget"]["spent_usd"] == 1.25
    assert second["cause"].startswith("limit: $1.25 of $1.00")


def test_absurd_amounts_are_not_told(paid, repo):
    """Two of them would be no number any more, and no answer could be made of it."""
    line = json.loads(says(1.7e308).split("\n")[1])
    line["usage"] = {"input_tokens": 2**63 - 1, "output_tokens": 2**63 - 1, "cache_read_input_tokens": 7}
    daemon = paid({"implement": WORK + f"cat <<'EOF'\n{json.dumps(line)}\nEOF\n"})
    row = daemon.ended(daemon.submit(repo.path, task=None, stories=stories("a", "b", "c"),
                                     max_cost=10, max_tokens=10000))
    assert row["state"] == "succeeded" and row["totals"]["cost_usd"] is None and row["totals"]["tokens"] == 21
    assert row["budget"]["spent_usd"] == pytest.approx(1.5), "what was set aside counts"
    for command in (["show", "1"], ["report", "1"], ["cooldown", "list"], ["list"]):
        daemon.rlctl(*command, check=0)


def test_what_is_held_when_all_is_spent_can_still_be_approved(paid, repo):
    """A rework could not be paid for: the run would fail, and take with it what is held."""
    daemon = paid({"implement": WORK + says(0.6),
                   "review": says(0.6, '{"verdict": "drift", "followUpPrompt": "more"}')})
    with daemon.events(types=["hold.opened"]) as events:
        number = daemon.review(repo.path, review={"max_fixes": 0, "on_exhausted": "hold"}, max_cost=1)
        hold = events.until("hold.opened")["hold"]
    said = daemon.rlctl("hold", "rework", str(hold), "-m", "again", check=1)
    assert "$1.20 of $1.00 are spent (max_cost)" in said.err and "approve or reject it as it is" in said.err, said.err
    assert daemon.run(number)["state"] == "held"
    daemon.call("hold.approve", id=hold)
    assert daemon.ended(number)["state"] == "succeeded"


# ---- what is set aside ---------------------------------------------------------------------------

def test_it_is_on_disk_before_the_start(paid, repo):
    """A twentieth for the first, then the dearest of the role; what was not told counts as
    what was set aside."""
    daemon = paid({"implement": WORK + "gate one\n" + says(0.5), "review.1": "gate two\n" + DRIFT,
                   "fix": WORK + "gate three\n" + says(None, tokens=None),
                   "review": "gate four\n" + PASS}, gates=["one", "two", "three", "four"])
    number = daemon.review(repo.path, max_cost=10, max_tokens=1000)
    seen = []
    for name in ("one", "two", "three", "four"):
        daemon.play.arrived(name)
        budget = daemon.run(number)["budget"]
        seen.append((budget["reserved_usd"], budget["reserved_tokens"],
                     round(budget["spent_usd"], 6), budget["spent_tokens"]))
        daemon.play.go(name)
    row = daemon.ended(number)
    assert seen == [(0.5, 50, 0, 0), (0.5, 50, 0.5, 15), (0.5, 50, 0.6, 30), (0.1, 15, 1.1, 80)]
    assert row["budget"]["spent_usd"] == pytest.approx(1.2) and row["budget"]["spent_tokens"] == 95
    # the fixer did not say: its cost is unknown, and what it counts as is kept beside
    assert row["totals"]["cost_usd"] == pytest.approx(0.7) and row["totals"]["tokens"] == 45
    daemon.stop()
    rows = daemon.query("SELECT cost_usd, reserved_usd, reserved_tokens FROM attempt ORDER BY id")
    assert [tuple(r.values()) for r in rows] == [(0.5, None, None), (0.1, None, None),
                                                 (None, 0.5, 50), (0.1, None, None)]


def test_who_does_not_fit_waits_for_the_others(paid, repo):
    """Two side by side: once it is known what one costs, the second round has to go one by one."""
    names = ["a", "b", "c", "d"]
    script = WORK + 'gate $RL_TASK_ID\n' + says(0.4)
    daemon = paid({"implement": script}, gates=names)
    with daemon.events(types=["slot.phase"]) as events:
        number = daemon.submit(repo.path, task=None, stories=stories(*names), parallel=2,
                               isolation="shared", max_cost=1.5)
        for name in ("a", "b"):
            daemon.play.arrived(name)
        for name in ("a", "b"):
            daemon.play.go(name)
        # 0.80 are spent; 0.40 are set aside for the third, and 0.40 more would be too much
        waiting = events.until("slot.phase", lambda e: e["phase"] == "cooling")
        assert (waiting["reason"] == "budget: $0.80 of $1.50 are spent (max_cost), and the rest "
                "is reserved for running attempts")
        third = waiting["task"] == "d" and "c" or "d"
        daemon.play.arrived(third)
        assert [s[1] for s in daemon.play.starts(number)].count("implement") == 3
        slot = next(s for s in daemon.run(number)["slots"] if s["task"] == waiting["task"])
        assert slot["phase"] == "cooling" and slot["reason"] == waiting["reason"]
        daemon.play.go(third)
        daemon.play.arrived(waiting["task"])
        daemon.play.go(waiting["task"])
    row = daemon.ended(number)
    assert row["state"] == "succeeded" and row["budget"]["spent_usd"] == pytest.approx(1.6)


def test_a_death_settles_nothing_twice(paid, repo):
    daemon = paid({"implement": WORK + "gate one\n" + says(0.5), "review": "gate two\n" + PASS}, gates=["one", "two"])
    number = daemon.review(repo.path, max_cost=10)
    daemon.play.arrived("one")
    daemon.kill()
    daemon.start()
    assert daemon.run(number)["budget"]["reserved_usd"] == 0.5
    daemon.play.go("one")
    daemon.play.arrived("two")
    daemon.kill()
    daemon.play.go("two")
    daemon.start()
    row = daemon.ended(number)
    assert row["budget"]["spent_usd"] == pytest.approx(0.6) and row["budget"]["reserved_usd"] == 0
    daemon.stop()
    spent, = daemon.query("SELECT account, attempts, cost_usd, tokens FROM spend")
    assert spent == {"account": "paid", "attempts": 2, "cost_usd": pytest.approx(0.6), "tokens": 30}


def test_who_waits_survives_a_death(paid, repo):
    names = ["a", "b"]
    daemon = paid({"implement": WORK + 'gate $RL_TASK_ID\n' + says(0.4)}, gates=names)
    with daemon.events(types=["slot.phase"]) as events:
        # a twentieth of 0.01 is next to nothing, and two of them do not fit into what nobody has
        number = daemon.submit(repo.path, task=None, stories=stories(*names), parallel=2,
                               isolation="shared", max_tokens=1)
        waiting = events.until("slot.phase", lambda e: e["phase"] == "cooling")["task"]
    other = "b" if waiting == "a" else "a"
    daemon.play.arrived(other)
    daemon.kill()
    daemon.start()
    slot = next(s for s in daemon.run(number)["slots"] if s["task"] == waiting)
    assert slot["phase"] == "cooling" and slot["reason"].startswith("budget: ")
    daemon.play.go(other)
    row = daemon.ended(number)
    assert row["cause"] == "limit: 15 of 1 tokens are used (max_tokens)" and daemon.play.starts(number)[1:] == []


def codex(thread, text, tokens):
    """Codex counts a conversation from its beginning."""
    lines = [{"type": "thread.started", "thread_id": thread},
             {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": text}},
             {"type": "turn.completed",
              "usage": {"input_tokens": tokens[0], "cached_input_tokens": 0, "output_tokens": tokens[1]}}]
    return "cat <<'EOF'\n" + "".join(f"{json.dumps(line)}\n" for line in lines) + "EOF\n"


def test_tokens_of_a_conversation_count_once(make_daemon, repo):
    verdict = '{{"verdict": "{}", "followUpPrompt": "look"}}'
    daemon = make_daemon(scripts={"implement": WORK + codex("t", "done", (100, 10)),
                                  "review.1": codex("r1", verdict.format("drift"), (5, 1)),
                                  "fix": WORK + codex("t", "mended", (250, 15)),
                                  "review": codex("r2", verdict.format("pass"), (5, 1))},
                         config={"agent.play": {"reader": "codex", "resume": ["{session}"]}})
    row = daemon.ended(daemon.review(repo.path, review={"fixer": "resume"}, max_tokens=10000))
    tokens = [(a["tokens"]["input"], a["tokens"]["output"]) for a in daemon.attempts(row["id"])]
    assert tokens == [(100, 10), (5, 1), (150, 5), (5, 1)]
    assert row["totals"]["tokens"] == row["budget"]["spent_tokens"] == 277


# ---- four fifths ---------------------------------------------------------------------------------

def test_four_fifths_are_told_once(paid, repo):
    daemon = paid({"implement": WORK + says(0.45)})
    with daemon.events(types=["budget", "run.state"]) as events:
        row = daemon.ended(daemon.submit(repo.path, task=None, stories=stories("a", "b", "c"), max_cost=1.3))
        told = events.until("budget")
        events.until("run.state", lambda e: e["state"] == "succeeded")
    assert (told["kind"], told["limit"],
            told["run"]) == ("cost", 1.3, row["id"]) and told["spent"] == pytest.approx(1.35)
    assert row["warnings"] == ["$1.35 of $1.30 are spent (max_cost)"]
    assert [e["type"] for e in events.seen].count("budget") == 1


def test_the_progress_says_so(paid, repo):
    daemon = paid({"implement": WORK + says(0.9)})
    ran = daemon.rlctl("run", "-C", str(repo.path), "--max-cost", "$1.00", "do it")
    assert "Budget: $0.90 of $1.00" in ran.err


# ---- time ----------------------------------------------------------------------------------------

def test_time_ends_what_runs(paid, repo):
    daemon = paid({"implement": WORK + "exec sleep 1000\n"})
    daemon.rlctl("run", "-C", str(repo.path), "--max-wall", "1s", "do it", check=14)
    row = daemon.run(1)
    assert (row["state"] == "failed" and row["cause"].startswith("limit: ")
            and row["cause"].endswith("of 1s are over (max_wall)"))
    assert [a["process"] for a in daemon.attempts(row["id"])] == ["timeout"]


@pytest.mark.parametrize("dies", [False, True])
def test_time_warns_while_an_agent_works(paid, repo, dies):
    """Nothing ends at that moment, also not in the life of the daemon that began it."""
    daemon = paid({"implement": WORK + "exec sleep 1000\n"})
    number = daemon.submit(repo.path, max_wall=3)
    with daemon.events(run=number) as events:
        events.until("attempt.started")
    if dies:
        daemon.kill()
        daemon.start()
    row = daemon.ended(number)
    told = [e for e in daemon.call("event.list", since=0, limit=256)["events"]
            if e["type"] in ("budget", "attempt.ended")]
    assert [(e["type"], e.get("kind")) for e in told] == [("budget", "wall"), ("attempt.ended", None)], told
    assert len(row["warnings"]) == 1 and "(max_wall)" in row["warnings"][0], row["warnings"]


def test_time_ends_what_waits_for_an_account(paid, repo):
    """Also long before the account serves again, and although nobody looks at what waits."""
    daemon = paid({"implement": WORK + says(1)})
    daemon.call("cooldown.set", account="paid", **{"for": "2h"})
    row = daemon.ended(daemon.submit(repo.path, max_wall=1))
    assert row["cause"].startswith("limit: ") and row["cause"].endswith("of 1s are over (max_wall)"), row
    assert roles(daemon, row["id"]) == [("implement", "not-started")]


def test_a_clock_that_was_far_ahead_does_not_make_the_last_day(paid, repo):
    """One attempt that was settled in 2038 has spent nothing of today."""
    daemon = paid({"implement": WORK + says(0.5)}, config={"account.paid": {"budget_day_usd": 1}})
    daemon.stop()
    daemon.query("INSERT INTO spend (account, day, attempts, cost_usd, tokens, "
                 "wall_ms) VALUES ('paid', 24855, 1, 5.0, 0, 0)")
    daemon.start()
    row = daemon.ended(daemon.submit(repo.path))
    assert row["state"] == "succeeded", row
    [account] = [a for a in daemon.call("cooldown.list")["accounts"] if a["account"] == "paid"]
    assert account["spent"]["cost_usd"] == 0.5 and not account["in_force"], account


# ---- agents that do not tell ---------------------------------------------------------------------

SILENT = {"agent.silent": {"command": ["/bin/true"]}}


@pytest.mark.parametrize("params,field,words", [
    ({"agent": "silent", "max_cost": 1}, "max_cost", "agent 'silent', which implements, does not report its cost"),
    ({"agent": "silent", "max_tokens": 1}, "max_tokens", "does not report its tokens"),
    ({"reviewer_agent": "silent", "review": {"enabled": True}, "max_cost": 1}, "max_cost",
     "agent 'silent', which reviews"),
])
def test_a_limit_that_nobody_could_keep_is_refused(paid, repo, params, field, words):
    daemon = paid({"implement": says(1)}, config=SILENT)
    with pytest.raises(RpcError) as refused:
        daemon.submit(repo.path, **params)
    assert refused.value.code == -32602 and refused.value.data["field"] == field and words in refused.value.message


def test_an_agent_of_a_workflow_is_one(paid, repo):
    daemon = paid({"implement": says(1)}, config=SILENT)
    flow = "tasks:\n  one:\n    agent: silent\n    prompt: do it\n"
    with pytest.raises(RpcError) as refused:
        daemon.submit(repo.path, task=None, workflow=flow, max_cost=1)
    assert refused.value.data["field"] == "max_cost" and "agent 'silent'" in refused.value.message


def test_the_options(paid, repo):
    daemon = paid({"implement": says(1)}, config=SILENT)
    for option, value in (("--max-cost", "5 dollars"), ("--max-cost", "-1"), ("--max-cost", "1e3"),
                          ("--max-cost", "1,50"), ("--max-tokens", "0"), ("--max-tokens", "2k")):
        said = daemon.rlctl("submit", "-C", str(repo.path), f"{option}={value}", "do it")
        assert said.returncode == 2 and option in said.err
    said = daemon.rlctl("submit", "-C", str(repo.path), "--agent", "silent", "--max-cost", "2.50", "do it")
    assert said.returncode == 1 and "does not report its cost" in said.err
    said = daemon.rlctl("submit", "-C", str(repo.path), "--max-cost", "0", "do it")
    assert (said.returncode == 1
            and "--max-cost: must be an amount from 0.01 to " in said.err), "nothing could ever start"
    assert daemon.call("run.list")["runs"] == []


# ---- an account and its day ----------------------------------------------------------------------

def day(**budget):
    return {"account.paid": budget}


def test_a_day_that_is_spent(paid, repo, tmp_path):
    """The account is exhausted until midnight, whatever an operator says."""
    daemon = paid({"implement": WORK + says(1.5), "review": PASS}, config=day(budget_day_usd=1))
    with daemon.events() as events:
        number = daemon.review(repo.path)
        cooled = events.until("cooldown")
        warned = next(e for e in events.seen if e["type"] == "budget")
        events.until("slot.phase", lambda e: e["phase"] == "cooling")
    assert (cooled["account"], cooled["kind"],
            cooled["in_force"]) == ("paid", "budget", True) and cooled["until"].endswith("T00:00:00.000Z")
    assert cooled["reason"] == "$1.50 of $1.00 are spent today (budget_day_usd)"
    assert (warned["account"], warned["kind"], warned["spent"], warned["limit"]) == ("paid", "cost", 1.5, 1)
    slot = daemon.run(number)["slots"][0]
    assert slot["phase"] == "cooling" and slot["reason"].startswith("account paid: budget until ")
    # an operator's word does not make money
    daemon.call("cooldown.clear", account="paid")
    assert daemon.play.starts(role="review") == []
    daemon.call("run.cancel", id=number)
    assert daemon.ended(number)["state"] == "cancelled"


def test_a_larger_budget_lets_it_go_on(paid, repo):
    daemon = paid({"implement": WORK + says(1.5), "review": PASS}, config=day(budget_day_usd=1))
    with daemon.events(types=["slot.phase"]) as events:
        number = daemon.review(repo.path)
        events.until("slot.phase", lambda e: e["phase"] == "cooling")
    daemon.write_config({**CLAUDE, **day(budget_day_usd=10)})
    daemon.call("daemon.reload")
    assert daemon.ended(number)["state"] == "succeeded"


def listed(daemon):
    return {a["account"]: a for a in daemon.call("cooldown.list")["accounts"]}["paid"]


@pytest.mark.parametrize("how", ["reload", "restart"])
def test_a_smaller_budget_is_noticed_at_once(paid, repo, how):
    """Nobody has to ask first."""
    daemon = paid({"implement": WORK + says(1.5)}, config=day(budget_day_usd=10))
    daemon.ended(daemon.submit(repo.path))
    assert not listed(daemon)["in_force"]
    daemon.write_config({**CLAUDE, **day(budget_day_usd=1)})
    if how == "restart":
        daemon.restart()
    else:
        daemon.call("daemon.reload")
    account = listed(daemon)
    assert (account["in_force"] and account["kind"] == "budget"
            and account["reason"] == "$1.50 of $1.00 are spent today (budget_day_usd)"), account
    # nor does an operator's word make it serve
    said = daemon.call("cooldown.clear", account="paid")
    assert said["in_force"] and said["kind"] == "budget", said


def test_a_day_that_is_spent_does_not_replace_what_somebody_has_set(paid, repo):
    daemon = paid({"implement": WORK + "gate one\n" + says(1.5)}, gates=["one"], config=day(budget_day_usd=1))
    number = daemon.submit(repo.path)
    daemon.play.arrived("one")
    daemon.call("cooldown.set", account="paid", reason="hands off", **{"for": "2h"})
    daemon.play.go("one")
    daemon.ended(number)
    daemon.write_config({**CLAUDE, **day(budget_day_usd=10)})
    daemon.call("daemon.reload")
    account = listed(daemon)
    assert account["in_force"] and account["kind"] == "operator" and account["reason"] == "hands off", account


def test_two_runs_of_an_account_share_its_day(paid, repo, tmp_path):
    """The second waits while what is left is set aside for the first."""
    (tmp_path / "other").mkdir()
    subprocess.run(["git", "init", "-q", str(tmp_path / "other")], check=True)
    daemon = paid({"implement": 'echo x > new.txt\ngate g$RL_RUN\n' + says(0.5)},
                  gates=["g1", "g2"], config=day(budget_day_tokens=1))
    with daemon.events(types=["slot.phase"]) as events:
        first = daemon.submit(repo.path)
        daemon.play.arrived("g1")
        second = daemon.submit(tmp_path / "other")
        waits = events.until("slot.phase", lambda e: e["phase"] == "cooling")
        assert waits["run"] == second
        assert (waits["reason"] == "budget: account paid: 0 of 1 tokens are used "
                "(budget_day_tokens), and the rest is reserved for running attempts")
        daemon.play.go("g1")
        assert daemon.ended(first)["state"] == "succeeded"
        waits = events.until("slot.phase", lambda e: e["run"] == second
                             and e["reason"].startswith("account paid: budget until "))
    daemon.call("run.cancel", id=second)
    daemon.ended(second)
    assert daemon.play.starts(second) == []


def test_a_check_that_runs_out_of_the_runs_time(paid, repo):
    """It says nothing of the tree, so no later run goes by it."""
    daemon = paid({"implement": WORK + says(0.1)})
    for seconds in (2, 10, 60):     # on a busy machine it may be over before the check
        row = daemon.ended(daemon.review(repo.path, checks=["sleep 1000"], check_on_base="skip", max_wall=seconds))
        assert row["state"] == "failed" and row["end_kind"] == "limit", row
        evidence = daemon.call("evidence.list", run=row["id"])["evidence"]
        checks = [each for each in evidence if each["kind"] == "check"]
        if checks:
            break
    assert [e["result"] for e in checks] == ["none"], checks
