# SPDX-License-Identifier: MIT
"""rlctl doctor and daemon.doctor: what is found on a host that lacks something, with programs that
answer, and that do not."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess

import pytest

from rld import RL_GIT, RLD, SHIM, alive, wait_gone

MEASURED = "2.1.330"
SECRET = "sk-never-to-be-shown"


class Host:
    """A home and a PATH of its own, with git and no agent."""

    def __init__(self, daemon, directory):
        self.daemon, self.bin, self.home = daemon, directory / "bin", directory / "fresh"
        self.bin.mkdir()
        self.home.mkdir()
        (self.bin / "git").symlink_to(shutil.which("git"))

    def program(self, name, script, mode=0o755, shell="#!/bin/sh"):
        path = self.bin / name
        path.write_text(f"{shell}\n{script}\n")
        path.chmod(mode)
        return path

    def environment(self, **more):
        return {"PATH": str(self.bin), "HOME": str(self.home), **more}

    def doctor(self, *args, check=None, environment=None, **variables):
        return self.daemon.rlctl("doctor", *args, check=check,
                                 environment={**self.environment(**variables), **(environment or {})})

    def report(self, *args, check=None, **variables):
        return json.loads(self.doctor("--json", *args, check=check, **variables).out)

    def agent(self, name, *args, check=None, **variables):
        report = self.report(*args, check=check, **variables)
        return next(agent for agent in report["client"]["agents"] if agent["name"] == name)


@pytest.fixture
def host(daemon, tmp_path):
    return Host(daemon, tmp_path)


def daemon_checks(daemon, **params):
    """{name: check} of daemon.doctor, one of each name."""
    return {check["name"]: check for check in daemon.call("daemon.doctor", **params)["checks"]}


def says(agent):
    return [(check["state"], check["text"]) for check in agent["checks"]]


# ---- agents --------------------------------------------------------------------------------------

def test_as_measured(host):
    """A program of the measured version and with a login is well; the variable's value
    is shown nowhere."""
    path = host.program("claude", f"echo '{MEASURED} (Claude Code)'")
    agent = host.agent("claude", check=0, ANTHROPIC_API_KEY=SECRET)
    assert agent == {"name": "claude", "program": "claude", "path": str(path), "version": MEASURED,
                     "measured": MEASURED, "installed": True, "logged_in": True,
                     "checks": [{"name": "claude", "state": "ok",
                                 "text": f"{MEASURED}, as tested, {path}", "remedy": None},
                                {"name": "claude", "state": "ok",
                                 "text": "logged in: ANTHROPIC_API_KEY", "remedy": None},
                                {"name": "claude", "state": "ok",
                                 "text": "its package requires Node.js 22.0 or later", "remedy": None}]}
    for args in ([], ["--json"], ["--deep"]):
        done = host.doctor(*args, check=0, ANTHROPIC_API_KEY=SECRET)
        assert SECRET not in done.out + done.err
    assert SECRET not in host.daemon.log()
    assert f"ok       claude      {MEASURED}, as tested" in done.out
    assert "Not installed: codex, gemini, opencode, copilot, qwen, pi\n" in done.out


@pytest.mark.parametrize("found, word",
                         [("2.1.328", "a different patch level"), ("2.4.0", "may have changed"),
                          ("3.1.330", "a different major version"),
                          ("2.1.330-beta.1", "a different patch level"), ("1.9", "a different major version")])
def test_drift(host, found, word):
    """Another version than the measured one is a warning that says how far it is off."""
    host.program("claude", f"echo 'claude v{found} of today'")
    agent = host.agent("claude", check=0, ANTHROPIC_API_KEY="x")
    state, text = says(agent)[0]
    assert state == "warning" and f"{found} at {host.bin}/claude, tested with {MEASURED}" in text and word in text
    assert agent["version"] == found and "make check-agents" in agent["checks"][0]["remedy"]


@pytest.mark.parametrize("script, state, text", [
    ("echo 'no words but words'", "warning", "prints no version: no words but words"),
    (":", "warning", "prints no version"),
    ("printf '\\377\\033[31m\\n'", "warning", "prints no version: \\xff\\x1b[31m"),
    ("echo '0.1 is broken' >&2; exit 3", "failed", "exited with status 3: 0.1 is broken"),
    ("kill -9 $$", "failed", "was killed by signal 9"),
    ("while :; do echo 2.1.330; done", "warning", "printed too much and was killed"),
    (f"echo '{MEASURED}' >&2", "ok", f"{MEASURED}, as tested"),
    (f"echo 'warning: 9.9.9 is out' >&2; echo {MEASURED}", "ok", f"{MEASURED}, as tested"),
    (f"read line && echo 1.2.3; echo {MEASURED}", "ok", f"{MEASURED}, as tested"),
], ids=["words", "silent", "garbage", "fails", "dies", "floods", "stderr", "both", "reads"])
def test_answers(make_daemon, tmp_path, script, state, text):
    """What else a program may answer; of the default agent a broken one is a failure."""
    host = Host(make_daemon(config={"default_agent": "claude"}), tmp_path)
    host.program("claude", script)
    agent = host.agent("claude", check=1 if state == "failed" else 0, ANTHROPIC_API_KEY="x")
    assert says(agent)[0][0] == state and text in says(agent)[0][1], agent


def test_hangs(host):
    """A program that does not answer is ended, with what it has started; the others
    are not held up."""
    host.program("claude", "trap '' TERM INT; (trap '' TERM; echo $$ > pids; while :; "
                 "do read x < go; done) & while :; do read x < go; done")
    os.mkfifo(host.daemon.path / "go")
    host.program("codex", "echo codex-cli 0.169.0")
    report = host.report("--timeout", "1s", check=0, ANTHROPIC_API_KEY="x", CODEX_API_KEY="x")
    agents = {agent["name"]: agent for agent in report["client"]["agents"]}
    assert says(agents["claude"])[0] == (
        "warning", f"{host.bin}/claude --version did not finish within 1 s and was killed")
    assert says(agents["codex"])[0] == ("ok", f"0.169.0, as tested, {host.bin}/codex")


def test_side_by_side(host):
    """Each of two waits for the other: both answer."""
    for name in ("a", "b"):
        os.mkfifo(host.daemon.path / name)
    host.program("claude", f"echo x > a; read x < b; echo {MEASURED}")
    host.program("codex", "read x < a; echo x > b; echo 0.169.0")
    report = host.report(check=0)
    assert {agent["name"]: agent["version"] for agent in report["client"]["agents"]
            if agent["version"]} == {"claude": MEASURED, "codex": "0.169.0"}


def test_interrupted(host):
    """Ctrl-C ends the programs that were asked too."""
    os.mkfifo(host.daemon.path / "pid")
    os.mkfifo(host.daemon.path / "go")
    host.program("claude", "echo $$ > pid; read x < go")
    asking = host.daemon.rlctl_start("doctor", environment=host.environment())
    with open(host.daemon.path / "pid") as fifo:
        asked = int(fifo.readline())
    assert alive(asked)
    asking.send_signal(signal.SIGINT)
    assert asking.wait() == -signal.SIGINT
    wait_gone(asked)


def test_not_executable(host):
    """One that may not be executed is told, unless a later directory has one that may."""
    host.program("claude", f"echo {MEASURED}", mode=0o644)
    assert says(host.agent("claude", check=0))[0] == ("warning", f"{host.bin}/claude is not executable")
    other = host.daemon.path / "other"
    other.mkdir()
    shutil.copy(host.bin / "claude", other / "claude")
    (other / "claude").chmod(0o755)
    agent = host.agent("claude", check=0, PATH=f"{host.bin}:relative:{other}", ANTHROPIC_API_KEY="x")
    assert says(agent)[0] == ("ok", f"{MEASURED}, as tested, {other}/claude")


def test_no_interpreter(host):
    host.program("claude", "", shell="#!/nowhere/node")
    state, text = says(host.agent("claude", check=0))[0]
    assert state == "warning" and "cannot be started: No such file or directory" in text and "first line" in text


def test_needed(make_daemon, tmp_path):
    """An agent that the settings name must be there; the remedy says what to do."""
    host = Host(make_daemon(config={"review": {"agent": "codex", "fixer_agent": "qwen"},
                                    "agent.play": {"fallback": ["pi"]}}), tmp_path)
    done = host.doctor(check=1)
    assert "failed   codex       not installed: codex is not on your PATH; review.agent names this agent" in done.out
    assert "not installed: qwen is not on your PATH; review.fixer_agent names this agent" in done.out
    assert "-> install it, or name another program there in rld.toml" in done.out
    assert "not installed: pi is not on your PATH; agent.play.fallback names this agent" in done.out
    assert "Not installed: claude, gemini, opencode, copilot\n" in done.out and "3 failed" in done.out
    host.program("codex", "echo 0.169.0")
    host.program("pi", "echo 0.73.1")
    host.program("qwen", "echo 0.24.4")
    assert "\nNot installed: claude, gemini, opencode, copilot\n" in host.doctor(check=0).out


def test_login(host):
    """A variable that is not empty is a login, and a file that contains more than "{}"."""
    host.program("codex", "echo 0.169.0")
    no_login = ("warning", "no login found: neither a variable nor a file")
    place, home = host.home / ".codex", host.daemon.path / "codex home"
    assert says(host.agent("codex", check=0, CODEX_API_KEY=""))[1] == no_login
    assert "codex login" in host.agent("codex", check=0)["checks"][1]["remedy"]
    assert says(host.agent("codex", CODEX_API_KEY="k"))[1] == ("ok", "logged in: CODEX_API_KEY")
    place.mkdir()
    for nothing in ("", "{}"):
        (place / "auth.json").write_text(nothing)
        assert says(host.agent("codex"))[1] == no_login
    (place / "auth.json").write_text('{"tokens": {}}')
    assert says(host.agent("codex"))[1] == ("ok", "logged in: ~/.codex/auth.json")
    shutil.rmtree(place)
    home.mkdir()
    (home / "auth.json").write_text('{"tokens": {}}')
    assert says(host.agent("codex"))[1] == no_login
    assert says(host.agent("codex", CODEX_HOME=str(home)))[1] == ("ok", "logged in: $CODEX_HOME/auth.json")


def test_own_agents(make_daemon, tmp_path):
    """Nobody starts a program that rld does not know; one that it does know has only the variables
    that its table names."""
    host = Host(make_daemon(config={
        "agent.opus": {"command": ["claude", "-p"], "account": "mine"},
        "agent.set": {"command": ["claude", "-p"], "set": {"ANTHROPIC_API_KEY": SECRET}},
        "agent.elsewhere": {"command": ["claude"], "set": {"PATH": "/nowhere"}},
        "agent.script": {"command": ["./run"]},
        "agent.tool": {"command": ["tool", "go"]}}), tmp_path)
    mark = host.daemon.path / "mark"
    host.program("tool", f"echo was here > {mark}")
    host.program("claude", f"echo {MEASURED}")
    done = host.doctor("--json", check=0, ANTHROPIC_API_KEY="x")
    assert SECRET not in done.out + done.err
    agents = {agent["name"]: agent for agent in json.loads(done.out)["client"]["agents"]}
    assert not mark.exists() and agents["tool"]["installed"] and agents["tool"]["version"] is None
    assert says(agents["tool"]) == [("ok", f"{host.bin}/tool; rld does not know this program, so "
                                     "its version was not checked")]
    assert agents["opus"]["version"] == MEASURED and says(agents["opus"])[1][0] == "warning"
    assert says(agents["set"])[1] == ("ok", "logged in: ANTHROPIC_API_KEY")
    assert says(agents["claude"])[1] == ("ok", "logged in: ANTHROPIC_API_KEY")
    assert says(agents["elsewhere"]) == [("ok", "claude: the path depends on the run")]
    assert says(agents["script"]) == [("ok", "./run: the path depends on the run")]
    rows = {agent["name"]: agent for agent in host.daemon.call("daemon.doctor")["agents"]}
    assert rows["opus"]["preset"] == "claude" and rows["opus"]["account"] == "mine" and rows["opus"]["env"] == []
    assert rows["set"]["set"] == ["ANTHROPIC_API_KEY"] and SECRET not in json.dumps(rows)
    assert rows["tool"]["preset"] is None and rows["tool"]["measured"] is None and rows["tool"]["login"] == []
    assert rows["play"]["used_by"] == ["default_agent"] and rows["claude"]["used_by"] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="what holds for root only")
def test_root(make_daemon, tmp_path):
    """Claude Code refuses to skip permissions as root, unless it is told that it is in a sandbox,
    as the preset does."""
    host = Host(make_daemon(config={"agent.mine": {"command": ["claude", "-p", "--dangerously-skip-permissions"],
                                                   "env": ["ANTHROPIC_API_KEY"]}}), tmp_path)
    host.program("claude", f"echo {MEASURED}")
    report = host.report(check=0, ANTHROPIC_API_KEY="x")
    agents = {agent["name"]: says(agent) for agent in report["client"]["agents"]}
    assert [text for state, text in agents["mine"] if state == "warning" and "IS_SANDBOX" in text]
    assert not [text for state, text in agents["claude"] if state != "ok"]
    assert daemon_checks(host.daemon)["user"]["state"] == "warning"


# ---- the client ----------------------------------------------------------------------------------

def test_json(host):
    """--json is the result of daemon.doctor, and what the client has found."""
    report = host.report(check=0)
    result = host.daemon.call("daemon.doctor")
    client = report.pop("client")
    # the tests beside this one take and give back space, and leave processes behind for a moment
    changing = ("space", "strays")
    for each in report, result:
        assert {check["name"] for check in each["checks"]} >= set(changing)
        each["checks"] = [check for check in each["checks"] if check["name"] not in changing]
    assert report == result and set(client) == {"checks", "agents"}
    assert set(result) == {"state", "version", "uid", "deep", "checks", "agents"} and not result["deep"]
    for check in [*result["checks"], *client["checks"]]:
        assert set(check) == {"name", "state", "text",
                              "remedy"} and check["state"] in ("ok", "warning", "failed"), check
        assert check["remedy"] is None or check["state"] != "ok", check
    assert host.report("--deep", check=0)["deep"]


def test_tools(host):
    """git must be on the submitter's PATH, bd need not."""
    (host.bin / "git").unlink()
    done = host.doctor(check=1)
    assert ("failed   git         not on your PATH" in done.out
            and "ok       bd          not on your PATH: beads are read from" in done.out)
    host.program("git", "echo git version 2.39.5")
    host.program("bd", "echo bd version 0.20.1")
    done = host.doctor(check=0)
    assert (f"ok       git         2.39.5, {host.bin}/git" in done.out
            and f"ok       bd          0.20.1, {host.bin}/bd" in done.out)


def test_no_daemon(host):
    """Without a daemon it does what is left, and says so."""
    nowhere = {"RLD_SOCKET": str(host.daemon.path / "nowhere")}
    done = host.doctor(check=1, environment=nowhere)
    assert ("failed   daemon  no daemon answers" in done.out and "ok       git     " in done.out
            and "nowhere" in done.err)
    assert [check["state"] for check in json.loads(host.doctor(
        "--json", check=1, environment=nowhere).out)["client"]["checks"]] == ["failed", "ok", "ok"]


def test_usage(host):
    host.doctor("now", check=2)
    host.doctor("--timeout", "soon", check=2)


# ---- the daemon ----------------------------------------------------------------------------------

def test_all_is_well(daemon):
    """A daemon in good health on a host that has all: nothing failed, and each thing
    was looked at."""
    checks = daemon_checks(daemon, deep=True)
    assert set(checks) == {"database", "keep", "state", "space", "config", "socket", "access", "rl-shim", "rl-git",
                           "git", "bd", "landlock", "limits", "cgroup", "clock", "time zones",
                           "user", "strays", "logout", "attempts", "reviews", "refs", "compare", "daemon",
                           "account", "processes"}
    assert not [check for check in checks.values() if check["state"] == "failed"]
    for name in ("database", "state", "space", "config", "socket", "access", "rl-shim", "rl-git", "git",
                 "attempts", "reviews", "compare", "keep", "daemon", "account"):
        assert checks[name]["state"] == "ok" and checks[name]["remedy"] is None, checks[name]
    assert {"attempts", "reviews", "refs", "compare", "processes"} == set(checks) - set(daemon_checks(daemon))


def test_config(daemon):
    """The file is compared with what was read of it."""
    daemon.config.write_text("parallel = 2\n" + daemon.config.read_text())
    check = daemon_checks(daemon)["config"]
    assert (check["state"] == "warning" and "has changed since it was read" in check["text"]
            and "daemon.reload" in check["remedy"])
    daemon.call("daemon.reload")
    assert daemon_checks(daemon)["config"]["state"] == "ok"
    daemon.config.chmod(0o666)
    assert "is writable by other users" in daemon_checks(daemon)["config"]["text"]
    good = daemon.config.read_text()
    daemon.config.write_text("paralel = 2\n")
    check = daemon_checks(daemon)["config"]
    assert check["state"] == "failed" and "paralel" in check["text"]
    daemon.rlctl("doctor", check=1)
    daemon.config.unlink()
    assert "has gone" in daemon_checks(daemon)["config"]["text"]
    daemon.config.write_text(good)


def test_space(make_daemon):
    daemon = make_daemon(config={"limits": {"disk_floor": "1024G"}})
    check = daemon_checks(daemon)["space"]
    assert (check["state"] == "failed" and "limits.disk_floor is 1 TiB" in check["text"]
            and "no attempt starts" in check["remedy"])


def test_places(daemon):
    """A state directory that others may read, a socket that somebody has removed."""
    daemon.state.chmod(0o755)
    socket = daemon.state / "rld.sock"
    hidden = socket.with_name("hidden")
    socket.rename(hidden)
    checks = daemon.call("daemon.doctor")["checks"]
    assert [c["state"] for c in checks if c["name"] == "state"] == ["warning"]
    assert [(c["state"], str(socket) in c["text"])
            for c in checks if c["name"] == "socket"] == [("warning", True), ("ok", False)]
    hidden.rename(socket)
    daemon.state.chmod(0o700)


@pytest.mark.parametrize("name", ["rl-shim", "rl-git"])
def test_helper(make_daemon, tmp_path, name):
    """rl-shim and rl-git must be there, and of the daemon's version."""
    daemon = make_daemon(start=False)
    folder = tmp_path / "programs"
    folder.mkdir()
    for each in (RLD, SHIM, RL_GIT):
        shutil.copy(each, folder)
    daemon.program = folder / RLD.name
    daemon.start()
    assert daemon_checks(daemon)[name]["state"] == "ok"
    program = folder / name
    program.unlink()
    check = daemon_checks(daemon)[name]
    assert check["state"] == "failed" and "No such file" in check["text"]
    for script, state, text in [(f"echo {name} 9.9", "warning",
                                 f"prints '{name} 9.9', the daemon is rld 0.1.0"),
                                ("exit 1", "failed", "prints no version")]:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        check = daemon_checks(daemon)[name]
        assert check["state"] == state and text in check["text"], check


def test_programs_of_the_daemon(make_daemon, tmp_path):
    """git and bd are looked for on the daemon's own PATH."""
    programs = tmp_path / "programs"
    programs.mkdir()
    daemon = make_daemon(environment={"PATH": str(programs)})
    checks = daemon_checks(daemon)
    assert (checks["git"]["state"] == "warning" and checks["bd"]["state"] == "ok"
            and "issues.jsonl" in checks["bd"]["text"])
    for name, line in (("git", "git version 1.8.3"), ("bd", "bd version 0.20.1")):
        (programs / name).write_text(f"#!/bin/sh\necho {line}\n")
        (programs / name).chmod(0o755)
    checks = daemon_checks(daemon)
    assert checks["git"]["state"] == "warning" and "older than 2.39" in checks["git"]["text"]
    assert checks["bd"] == {"name": "bd", "state": "ok", "text": str(programs / "bd"), "remedy": None}
    (programs / "git").write_text("#!/bin/sh\necho git version 3.1.0\n")
    assert daemon_checks(daemon)["git"]["state"] == "ok"


def test_limits(make_daemon):
    daemon = make_daemon(prefix=["/bin/sh", "-c", "ulimit -n 100; exec \"$@\"", "sh"])
    check = daemon_checks(daemon)["limits"]
    assert check["state"] == "warning" and check["text"].startswith("100 open files allowed")


def test_attempt_limits(make_daemon):
    """A limit that nothing can keep is told: by doctor, at a reload, and at the start."""
    daemon = make_daemon()
    assert daemon_checks(daemon)["cgroup"] == {
        "name": "cgroup", "state": "ok", "text": "none is set: limits.memory and limits.processes",
        "remedy": None}
    for limits, text in (({"memory": "8G"}, "limits.memory has no effect"),
                         ({"processes": 4096}, "limits.processes has no effect"),
                         ({"memory": "8G", "processes": 4096}, "limits.memory and limits.processes have no effect")):
        daemon.write_config({"limits": limits})
        daemon.call("daemon.reload")
        check = daemon_checks(daemon)["cgroup"]
        assert check["state"] == "warning" and check["text"].startswith(text), check
        assert "rld.service" in check["remedy"]
    daemon.stop()
    assert all(daemon.log().count(text) == 1 for text in (
        "limits.memory has", "limits.processes has", "limits.memory and limits.processes have")), daemon.log()
    daemon.start()
    daemon.stop()
    assert daemon.log().count("limits.memory and limits.processes have no effect") == 2, daemon.log()


def test_strays(daemon):
    """A process that carries the mark of an attempt and has no rl-shim above it."""
    stray = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE,
                             env={"RL_ATTEMPT_UUID": "11111111-2222-4333-8444-555555555555"})
    try:
        check = daemon_checks(daemon)["strays"]
        assert check["state"] == "warning"
        # the first five of the host are named: others of it may come before this one
        assert f"{stray.pid} (cat)" in check["text"] or (check["text"].endswith(", ...")
                                                         and int(check["text"].split()[0]) > 5), check["text"]
    finally:
        stray.communicate()


def test_watched_processes_are_no_strays(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate in\nanswer done\n"}, gates=["in"])
    run = daemon.submit(repo.path)
    pid = daemon.play.arrived("in")
    text = daemon_checks(daemon)["strays"]["text"]
    assert f"{pid} (" not in text, text
    daemon.play.go("in")
    daemon.ended(run)


def test_accounts(daemon):
    """An account that is exhausted is told, with its reason and what lifts it."""
    daemon.call("cooldown.set", account="anthropic", reason="the month is over", **{"for": "1h"})
    check = daemon_checks(daemon)["account"]
    assert (check["state"] == "warning" and check["text"].startswith("anthropic: operator until ")
            and check["text"].endswith(": the month is over"))
    assert "rlctl cooldown clear anthropic" in check["remedy"]
    daemon.rlctl("doctor", check=0)
    daemon.call("cooldown.clear", account="anthropic")
    assert daemon_checks(daemon)["account"]["state"] == "ok"


def test_an_account_of_nobody(make_daemon):
    """A budget that holds nobody is told: its name may be written wrongly."""
    daemon = make_daemon(config={"agent.play": {"account": "paid"}, "account.paid": {"budget_day_tokens": 5},
                                 "account.payed": {"budget_day_tokens": 5},
                                 "account.anthropic": {"budget_day_usd": 5}})
    accounts = [check for check in daemon.call("daemon.doctor")["checks"] if check["name"] == "account"]
    assert [check["state"]
            for check in accounts] == ["warning"] and "no agent uses account payed" in accounts[0]["text"]
    assert "rlctl cooldown list" in accounts[0]["remedy"]


def edit(daemon, *statements):
    """By somebody who has the file in hand while no daemon runs."""
    daemon.stop()
    connection = sqlite3.connect(daemon.state / "rld.db", isolation_level=None)
    connection.execute("PRAGMA writable_schema = ON")
    for statement in statements:
        connection.execute(statement)
    connection.close()
    daemon.start()


def test_reviews(daemon, repo):
    """--deep proves the review logs; a changed one is a failure that names the run."""
    runs = [daemon.review(repo.path, f"task {i}") for i in range(2)]
    daemon.ended(*runs)
    assert (daemon_checks(daemon, deep=True)["reviews"]["text"] ==
            "4 reviews of the newest 2 runs are unaltered")
    text, = [row["feedback"] for row in daemon.call("review.list", run=runs[0])["reviews"]
             if row["decision"] == "drift"]
    daemon.stop()
    triggers = [row["sql"] for row in daemon.query(
        "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'review'")]
    names = [row["name"] for row in daemon.query(
        "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'review'")]
    daemon.start()
    edit(daemon, *[f"DROP TRIGGER {name}" for name in names],
         f"UPDATE review SET feedback = 'other' WHERE run = {runs[0]} AND feedback = '{text}'", *triggers)
    check = daemon_checks(daemon, deep=True)["reviews"]
    assert check["state"] == "failed" and check["text"].startswith(f"run {runs[0]}: ")
    assert "failed   reviews" in daemon.rlctl("doctor", "--deep", check=1).out
    daemon.rlctl("doctor", check=0)
    edit(daemon, *[f"DROP TRIGGER {name}" for name in names],
         f"UPDATE review SET feedback = '{text}' WHERE run = {runs[0]} AND feedback = 'other'", *triggers)


def test_database(daemon, repo):
    """An index that does not go with its table is found by --deep, and is not looked for else."""
    daemon.ended(daemon.submit(repo.path))
    daemon.call("state.prune", check=True)      # the run is measured: nothing is written any more
    daemon.stop()
    sql, = [row["sql"] for row in daemon.query("SELECT sql FROM sqlite_schema WHERE name = 'run_unfinished'")]
    daemon.start()
    other = sql.replace("'succeeded', ", "")
    assert other != sql
    change = "UPDATE sqlite_schema SET sql = '%s' WHERE name = 'run_unfinished'"
    edit(daemon, change % other.replace("'", "''"))
    assert daemon_checks(daemon)["database"]["state"] == "ok"
    check = daemon_checks(daemon, deep=True)["database"]
    assert check["state"] == "failed" and "run_unfinished" in check["text"] and "backup" in check["remedy"]
    edit(daemon, change % sql.replace("'", "''"))
    assert daemon_checks(daemon, deep=True)["database"]["state"] == "ok"


def test_attempts(daemon, repo):
    """An exit record that was set aside is told by --deep."""
    run = daemon.submit(repo.path)
    daemon.ended(run)
    attempt = daemon.attempts(run)[0]["id"]
    assert daemon_checks(daemon, deep=True)["attempts"]["state"] == "ok"
    (daemon.state / "attempts" / str(attempt) / "exit.bad").write_text("x")
    check = daemon_checks(daemon, deep=True)["attempts"]
    assert check["state"] == "warning" and "1 with a damaged exit record, 0 unknown to rld" in check["text"]


def test_draining(daemon, repo):
    daemon.play.gates("in").set({"implement": "gate in\nanswer done\n"})
    run = daemon.submit(repo.path)
    daemon.play.arrived("in")
    daemon.call("daemon.stop", drain=True)
    assert daemon_checks(daemon)["daemon"]["state"] == "warning"
    daemon.play.go("in")
    assert daemon.exited() == 0
    daemon.start()
    assert daemon.run(run)["state"] == "succeeded"


def test_a_supervisor_that_no_row_knows(make_daemon, repo, tmp_path):
    """Deep: one whose attempt has ended, or never was; those at work are counted."""
    daemon = make_daemon(scripts={"implement": "gate there\n"}, gates=["there"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("there")
    check = daemon_checks(daemon, deep=True)["processes"]
    assert check["text"] == "1 rl-shim, each of an attempt or operation that runs"
    stand_in = tmp_path / "rl-shim"
    stand_in.write_text("#!/bin/sh\nread line\n")
    stand_in.chmod(0o755)
    stranger = subprocess.Popen([stand_in, f"{daemon.state}/attempts/999"], stdin=subprocess.PIPE)
    while b"attempts/999" not in open(f"/proc/{stranger.pid}/cmdline", "rb").read():
        pass
    check = daemon_checks(daemon, deep=True)["processes"]
    assert check["state"] == "warning" and check["text"] == (
        f"rl-shim {stranger.pid} works in attempts/999, which is no attempt or operation that runs"), check
    stranger.communicate(b"\n")
    daemon.play.go("there")
    daemon.ended(run)
    assert daemon_checks(daemon, deep=True)["processes"]["state"] == "ok"
    assert "processes" not in daemon_checks(daemon)
