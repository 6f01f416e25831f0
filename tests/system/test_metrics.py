# SPDX-License-Identifier: MIT
"""rlctl metrics: the text format of Prometheus, and true numbers."""
import json
import re

import pytest

from rld import SOURCE

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
