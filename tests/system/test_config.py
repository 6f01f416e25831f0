# SPDX-License-Identifier: MIT
"""The configuration: what is wrong is refused with its place, what is right is shown
with its origin."""
import json
import os
import signal
import subprocess

import pytest
from rld import RLD


def check(daemon, text):
    daemon.config.write_text(text)
    return subprocess.run([str(RLD), "--config", str(daemon.config), "--check-config"],
                          env=daemon.environment, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)


BAD = [
    ("unknown key", "parallel = 2\nparalel = 3\n", "2:1", "paralel"),
    ("unknown table", "[agents.x]\ncommand = ['x']\n", "1:", "agents"),
    ("unknown key in an agent", "[agent.x]\ncommand = ['x']\n  comand = ['y']\n", "3:3", "comand"),
    ("wrong type", "parallel = 'four'\n", "1:", "parallel"),
    ("wrong type in a list", "[agent.x]\ncommand = ['x', 3]\n", "2:", "command"),
    ("string for list", "[agent.x]\ncommand = 'claude -p'\n", "2:", "command"),
    ("empty command", "[agent.x]\ncommand = []\n", "2:", "command"),
    ("zero", "parallel = 0\n", "1:", "parallel"),
    ("negative", "parallel = -1\n", "1:", "parallel"),
    ("huge", "parallel = 99999999999\n", "1:", "parallel"),
    ("duration", "[limits]\ntimeout = 'soon'\n", "2:", "timeout"),
    ("size", "[limits]\noutput = 'big'\n", "2:", "output"),
    ("choice", "[run]\non_lost = 'cry'\n", "2:", "on_lost"),
    ("profile", "[review]\nprofile = 'nonsense'\n", "2:", "profile"),
    ("boolean", "[review]\nenabled = 'yes'\n", "2:", "enabled"),
    ("negative fixes", "[review]\nmax_fixes = -1\n", "2:", "max_fixes"),
    ("reader", "[agent.x]\ncommand = ['x']\nreader = 'morse'\n", "3:", "reader"),
    ("prompt", "[agent.x]\ncommand = ['x']\nprompt = 'pigeon'\n", "3:", "prompt"),
    ("syntax", "parallel = \n", "1:", ""),
    ("duplicate", "parallel = 1\nparallel = 2\n", "2:", "parallel"),
    ("no slots", "[run]\nparallel = 0\n", "2:12", "parallel"),
    ("no iteration", "[run]\niterations = 0\n", "2:14", "iterations"),
    ("a pause that is none", "[run]\npause_ms = -1\n", "2:", "pause_ms"),
    ("isolation", "[run]\nisolation = 'jail'\n", "2:", "isolation"),
    ("an option for a base", "[run]\nbase = '--all'\n", "2:", "base"),
    ("who commits", "[run]\ncommit = 'me'\n", "2:", "commit"),
    ("a stop marker of nothing", "[run]\nstop_markers = ['x', '']\n", "2:", "stop_markers"),
    ("a group without a limit", "[group.night]\n", "1:8", "slots"),
    ("a group of none", "[group.night]\nslots = 0\n", "2:9", "slots"),
    ("a group that is a number", "[group]\nnight = 3\n", "2:1", "night"),
    ("less than no money", "[run]\nmax_cost = -1\n", "2:12", "max_cost"),
    ("an account of none", "[agent.x]\ncommand = ['x']\naccount = ''\n", "3:", "account"),
    ("a fallback that nobody is", "[agent.x]\ncommand = ['x']\nfallback = ['nobody']\n", "3:", "nobody"),
    ("an account's budget of less than nothing", "[account.a]\nbudget_day_usd = -1\n", "2:", "budget_day_usd"),
    ("a clock that a check has not", "[limits.check]\npost_result = '3s'\n", "2:1", "post_result"),
    ("table for value", "[parallel]\nx = 1\n", "1:", "parallel"),
    ("value for table", "review = 3\n", "1:", "review"),
    ("unknown default agent", "default_agent = 'nobody'\n", "1:", "nobody"),
    ("a cycle of profiles", "[profile.a]\nextends = 'b'\n[profile.b]\nextends = 'a'\n", "2:11", "cycle"),
    ("a profile that extends nothing", "[profile.a]\nmax_fixes = 1\n", "1:10", "extends"),
    ("a profile with a built-in name", "[profile.exit]\nextends = 'verdict'\n", "1:10", "built-in"),
    ("a hook that is no list", "[hook]\non_end = 'mail'\n", "2:", "on_end"),
    ("a check that is empty", "[review]\nchecks = ['']\n", "2:", "checks"),
    ("a review file elsewhere", "[review]\nreview_file = '../x'\n", "2:", "review_file"),
    ("a section without a file", "[review]\nguidelines = [{ section = 'S' }]\n", "2:", "file"),
    ("no command", "[agent.own]\nreader = 'text'\n", "1:", "command"),
]


@pytest.mark.parametrize("text,place,word", [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_errors_have_a_place(make_daemon, text, place, word):
    daemon = make_daemon(start=False)
    done = check(daemon, text)
    assert done.returncode == 1, (done.returncode, done.stderr)
    assert f"{daemon.config}:{place}" in done.stderr and word in done.stderr, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    process = daemon.spawn()
    assert process.wait() == 78, "the daemon does not start with it either"
    daemon.notify.close()
    assert f"{daemon.config}:{place}" in daemon.log()


def test_not_utf8_too_long_missing_a_directory(make_daemon, tmp_path):
    daemon = make_daemon(start=False)
    daemon.config.write_bytes(b"default_agent = '\xff\xfe'\n")
    done = subprocess.run([str(RLD), "--config", str(daemon.config), "--check-config"],
                          capture_output=True, env=daemon.environment)
    assert done.returncode == 1
    done = check(daemon, "# long\n" * 10000)
    assert done.returncode == 1 and "32" in done.stderr
    for path, word in ((tmp_path / "none.toml", "No such file"), (tmp_path, "not a regular file")):
        done = subprocess.run([str(RLD), "--config", str(path), "--check-config"],
                              capture_output=True, text=True, env=daemon.environment)
        assert done.returncode == 1 and str(path) in done.stderr and word in done.stderr, done.stderr


def test_a_good_one(make_daemon):
    daemon = make_daemon(start=False)
    done = check(daemon, """
parallel = 3
default_agent = "mine"
[agent.mine]
command = ["mine", "{model}"]
prompt = "arg"
reader = "text"
model = "m"
env = ["KEY"]
set = { A = "b" }
resume = ["--session", "{session}"]
writable = ["~/.mine"]
[agent.claude]
model = "opus"
[run]
on_lost = "retry"
commit = "agent"
iterations = 20
parallel = 4
pause_ms = 500
isolation = "worktree"
base = "origin/main"
integrate = "merge"
on_failure = "continue"
assign = "daemon"
stop_markers = ["nothing left"]
[group.default]
slots = 2
[group.night]
slots = 64
[hook]
on_hold = ["mail", "me"]
on_end = []
[profile.own]
extends = "exit"
reviewer = "judge"
commit = "none"
[review]
enabled = true
profile = "verdict"
agent = "claude"
model = "m"
fixer_agent = "mine"
fixer_model = "n"
max_fixes = 3
stall_limit = 0
timeout = "30m"
on_malformed = "hold"
on_reviewer_error = "accept"
on_exhausted = "known_issues"
fixer = "implementer"
scope = "run"
strictness = "by_round"
checks = ["make test"]
guidelines = [{ file = "constitution.md", section = "Standards" }]
conventions = ["CLAUDE.md"]
reviewer = "/usr/bin/judge"
review_file = "review.md"
review_log = "logs"
read_only = true
sandbox = "require"
workspace = "snapshot"
developer_prompt = "/dev.md"
reviewer_prompt = "none"
[limits]
timeout = "1h"
idle_timeout = "10m"
grace = "5s"
output = "16M"
disk_floor = 0
""")
    assert done.returncode == 0, done.stderr


def test_unknown_options_and_help():
    for args, status in ((["--no-such"], 2), (["extra"], 2), (["--log-level", "loud"], 2),
                         (["--help"], 0), (["--version"], 0)):
        done = subprocess.run([str(RLD), *args], capture_output=True, text=True,
                              env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
        assert done.returncode == status, (args, done.stderr)
        assert (done.stdout if status == 0 else done.stderr)


def test_reload_affects_new_runs_only(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "answer x\n", "review": "gate look\ndrift \"round $nth\"\n",
                                  "fix": "echo $nth > work.txt; answer \"fix $nth\"\n"},
                         gates=["look"], config={"review": {"enabled": True, "max_fixes": 1}})
    first = daemon.submit(repo.path)
    daemon.play.arrived("look")
    daemon.write_config({"review": {"enabled": True, "max_fixes": 0}})
    before = len(daemon.log())
    os.kill(daemon.pid, signal.SIGHUP)
    while "settings reloaded" not in daemon.log()[before:]:
        daemon.call("daemon.status")
    second = daemon.submit(repo.path)
    for _ in range(2):
        daemon.play.go("look")
        daemon.play.arrived("look")
    daemon.play.go("look")
    rows = daemon.ended(first, second)
    assert "after 1 fix" in rows[0]["cause"] and "after 0 fix" in rows[1]["cause"], rows


def test_a_reload_with_errors_keeps_what_was_there(make_daemon, repo):
    from rld import RpcError
    daemon = make_daemon()
    good = daemon.config.read_text()
    daemon.config.write_text("paralel = 3\n")
    with pytest.raises(RpcError) as error:
        daemon.call("daemon.reload")
    assert "1:1" in error.value.message and "paralel" in error.value.message
    before = len(daemon.log())
    os.kill(daemon.pid, signal.SIGHUP)
    while "paralel" not in daemon.log()[before:]:
        daemon.call("daemon.status")
    assert daemon.ended(daemon.submit(repo.path))["state"] == "succeeded"
    daemon.config.write_text(good)
    daemon.call("daemon.reload")


def test_parallel_changes_live(make_daemon, tmp_path):
    from rld import Repo
    daemon = make_daemon(scripts={"implement": "gate g$RL_RUN\n"}, gates=["g1", "g2"], config={"parallel": 1})
    one, two = Repo(tmp_path / "1"), Repo(tmp_path / "2")
    first, second = daemon.submit(one.path), daemon.submit(two.path)
    daemon.play.arrived("g1")
    assert daemon.run(second)["state"] == "queued"
    daemon.write_config({"parallel": 2})
    daemon.call("daemon.reload")
    daemon.play.arrived("g2")
    daemon.play.go("g1")
    daemon.play.go("g2")
    daemon.ended(first, second)


def test_precedence(make_daemon, repo):
    """Command line over [review] over profile."""
    daemon = make_daemon(config={"review": {"enabled": True, "max_fixes": 1}},
                         scripts={"implement": "answer x\n", "review": "drift \"round $nth\"\n",
                                  "fix": "echo $nth > work.txt; answer \"fix $nth\"\n"})
    number = daemon.submit(repo.path)
    assert "after 1 fix" in daemon.ended(number)["cause"]
    daemon.rlctl("run", "-q", "--review-max-fix-attempts", "2", "x", cwd=repo.path, check=10)
    assert "after 2 fix" in daemon.run(2)["cause"]
    daemon.rlctl("run", "-q", "--no-review", "x", cwd=repo.path, check=0)


def test_config_show_names_the_origin(make_daemon):
    daemon = make_daemon(config={"review": {"max_fixes": 3}})
    shown = daemon.rlctl("config", "show", check=0).out
    line = next(line for line in shown.splitlines() if "max_fixes" in line)
    assert "3" in line and f"{daemon.config}:" in line
    assert any("default" in line for line in shown.splitlines() if "grace" in line)
    settings = {row["path"]: row for row in daemon.call("config.show")["settings"]}
    assert settings["review.max_fixes"]["value"] == 3 and settings["limits.grace"]["from"] == "default"
    assert settings["run.parallel"]["value"] == 1 and settings["run.iterations"]["value"] is None
    assert (settings["group.default.slots"]["value"] == settings["parallel"]["value"]
            and settings["limits.disk_floor"]["value"] == "1G")
    by_hand = json.loads(daemon.rlctl("rpc", "config.show", check=0).out)["settings"]
    assert {row["path"]: row for row in by_hand} == settings


def test_config_check_command(make_daemon, tmp_path):
    daemon = make_daemon()
    daemon.rlctl("config", "check", check=0)
    (tmp_path / "bad.toml").write_text("x = 1\n")
    done = daemon.rlctl("config", "check", tmp_path / "bad.toml", check=1)
    assert "bad.toml:1:1" in done.err + done.out


def test_a_socket_path_that_is_too_long_is_named(make_daemon, tmp_path):
    daemon = make_daemon(start=False)
    daemon.socket = tmp_path / ("x" * 120)
    process = daemon.spawn()
    assert process.wait() == 1
    daemon.notify.close()
    assert "x" * 120 in daemon.log()


def test_a_state_directory_that_cannot_be_made(make_daemon, tmp_path):
    (tmp_path / "file").touch()
    daemon = make_daemon(start=False)
    daemon.state = tmp_path / "file" / "state"
    process = daemon.spawn()
    assert process.wait() == 1
    daemon.notify.close()
    assert str(daemon.state) in daemon.log()
