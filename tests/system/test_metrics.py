# SPDX-License-Identifier: MIT
"""rlctl metrics: the text format of Prometheus, and true numbers."""
import json
import re
import time

import pytest

from rld import SOURCE, Repo
from test_transcript import result, script

SAMPLE = re.compile(r'^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (-?[0-9.e+-]+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
SCRIPTS = {"implement": "echo one > work.txt\nanswer done\n", "fix": "echo two >> work.txt\nanswer fixed\n",
           "review": "[ $RL_REVIEW_ROUND = 1 ] && drift more || pass\n"}


def read(text):
    """{name: {labels: number}}; fails for what is not the format."""
    found, types = {}, {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            assert len(line.split(" ", 3)) == 4, line
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert kind in ("gauge", "counter") and name not in types, line
            types[name] = kind
        else:
            match = SAMPLE.match(line)
            assert match and match[1] in types, line
            labels = tuple(sorted(LABEL.findall(match[2] or "")))
            assert labels not in found.setdefault(match[1], {}), line
            found[match[1]][labels] = float(match[3])
    assert all(name.endswith("_total") == (kind == "counter") for name, kind in types.items())
    return found


def scrape(daemon):
    return read(daemon.rlctl("metrics", check=0).out)


def of(**labels):
    return tuple(sorted(labels.items()))


def test_numbers(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    before = scrape(daemon)
    assert before["rld_runs"][of(state="running")] == 0 and before["rld_draining"] == {(): 0}
    assert "rld_runs_ended_total" not in before
    run = daemon.review(repo.path, commit="auto")
    assert daemon.ended(run)["state"] == "succeeded"
    now = scrape(daemon)
    assert now["rld_runs_ended_total"] == {of(state="succeeded"): 1}
    ended = now["rld_attempts_ended_total"]
    assert [ended[of(role=role, outcome="done")] for role in ("implement", "review", "fix")] == [1, 2, 1]
    assert now["rld_reviews_total"] == {of(decision="drift"): 1, of(decision="pass"): 1}
    assert now["rld_events_total"][of(type="attempt.ended")] == sum(now["rld_attempts_ended_total"].values())
    assert now["rld_attempts_running"] == {(): 0} and now["rld_holds_open"] == {(): 0}
    assert now["rld_commits_total"][()] == daemon.call("daemon.status")["commits"]
    size = (daemon.state / "rld.db").stat().st_size
    assert now["rld_database_bytes"][of(file="rld.db")] == size and now["rld_state_free_bytes"][()] > 0
    build, = now["rld_build_info"]
    assert dict(build)["instance"] == daemon.call("daemon.hello", client="x", min=1, max=1)["instance"]
    daemon.stop()
    daemon.start()
    assert "rld_runs_ended_total" not in scrape(daemon), "counters begin at 0"


def test_while_work_is_done(make_daemon, repo, tmp_path):
    """What runs, waits and was paid, against what is known of it."""
    daemon = make_daemon(config={"parallel": 3, "agent.play": {"reader": "claude", "account": "purse"}}, gates=["a"],
                         scripts={"implement": "[ $RL_RUN != 1 ] || gate a\n" + script(result("done"))})
    daemon.submit(repo.path)
    daemon.play.arrived("a")
    daemon.submit(repo.path)
    daemon.call("cooldown.set", account="purse", **{"for": "2h"})
    with daemon.events() as events:
        cooled = daemon.submit(Repo(tmp_path / "cooled").path)
        events.until("slot.phase", lambda e: e["run"] == cooled and e["phase"] == "cooling")
        now = scrape(daemon)
        assert [now["rld_runs"][of(state=state)] for state in ("running", "queued", "held")] == [2, 1, 0]
        assert now["rld_attempts_running"] == {(): 1} and now["rld_slots"] == {(): 3}
        assert now["rld_account_waiting"][of(account="purse")] == now["rld_account_cooling"][of(account="purse")] == 1
        with daemon.connect(), daemon.connect():
            assert scrape(daemon)["rld_clients"][()] == now["rld_clients"][()] + 2
    for run in (2, cooled):
        daemon.call("run.cancel", id=run)
    with daemon.connect() as rpc:
        stop = daemon.rlctl_start("stop", "--drain")
        while rpc.call("daemon.status")["state"] != "draining":
            pass
        assert scrape(daemon)["rld_draining"] == {(): 1}
        daemon.play.go("a")
    assert daemon.exited() == 0 and stop.wait() == 0


def test_what_was_paid(make_daemon, repo):
    """Tokens and cost by role, and of today."""
    answer = script(result(json.dumps({"verdict": "pass", "followUpPrompt": ""})))
    daemon = make_daemon(config={"agent.play": {"reader": "claude", "account": "purse"}},
                         scripts={"implement": "echo one > work.txt\n" + script(result("done")), "review": answer})
    day = time.gmtime().tm_yday
    assert daemon.ended(daemon.review(repo.path, review={"profile": "verdict"}))["state"] == "succeeded"
    now = scrape(daemon)
    roles = (of(role="implement"), of(role="review"))
    for name, number in (("cost_usd", 0.25), ("tokens_input", 1200), ("tokens_output", 300)):
        assert now[f"rld_{name}_total"] == dict.fromkeys(roles, number)
    if time.gmtime().tm_yday == day:
        assert now["rld_account_spent_today_usd"][of(account="purse")] == 0.5


def test_an_open_hold_and_a_cooling_account(make_daemon, repo):
    daemon = make_daemon(scripts={**SCRIPTS, "review": "drift no\n"})
    run = daemon.review(repo.path, review={"profile": "verdict", "max_fixes": 0, "on_exhausted": "hold"})
    assert daemon.ended(run)["state"] == "held"
    daemon.call("cooldown.set", account="anthropic", **{"for": 3600})
    now = scrape(daemon)
    assert now["rld_holds_open"] == {(): 1} and now["rld_runs"][of(state="held")] == 1
    assert now["rld_account_cooling"][of(account="anthropic")] == 1
    daemon.call("run.cancel", id=run)


def test_as_json(make_daemon):
    daemon = make_daemon()
    result = json.loads(daemon.rlctl("--json", "metrics", check=0).out)
    assert [m["name"] for m in result["metrics"]] == [m["name"] for m in daemon.call("daemon.metrics")["metrics"]]


@pytest.mark.each
def test_the_dashboard_shows_what_there_is(make_daemon):
    """Each metric that docs/examples/grafana.json names is one of rld's."""
    daemon = make_daemon()
    names = {m["name"] for m in daemon.call("daemon.metrics")["metrics"]}
    board = json.loads((SOURCE / "docs/examples/grafana.json").read_text())
    asked = {name for panel in board["panels"] for target in panel["targets"]
             for name in re.findall(r"rld_[a-z_]+", target["expr"])}
    assert asked and asked <= names, asked - names
