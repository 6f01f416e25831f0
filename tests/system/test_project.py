# SPDX-License-Identifier: MIT
"""A project's own .rld.toml: read at submit, shown with its origin, refused with its place; and the
options that beat it."""
import json
import os
import signal
import socket

import pytest
from rld import Closed, Repo, RpcError

TRIVIAL = {"implement": "answer x\n", "review": "drift \"round $nth\"\n",
           "fix": "echo $nth > work.txt; answer \"fix $nth\"\n"}


def plans(daemon):
    """The settings that runs were stored with, by number."""
    daemon.stop()
    rows = {row["id"]: json.loads(daemon.plan(row["id"])) for row in daemon.query("SELECT id FROM run")}
    daemon.start()
    return rows


def settings(daemon, **params):
    return {row["path"]: row for row in daemon.call("config.show", **params)["settings"]}


def refused(daemon, workdir, **params):
    with pytest.raises(RpcError) as error:
        daemon.submit(workdir, **params)
    assert error.value.code == -32602
    return error.value


# ---- what it says --------------------------------------------------------------------------------

def test_a_project_beats_rld_toml_and_is_beaten_by_the_command_line(make_daemon, repo):
    daemon = make_daemon(config={"review": {"enabled": False, "max_fixes": 1}}, scripts=TRIVIAL)
    repo.write(".rld.toml", "[review]\nenabled = true\nmax_fixes = 2\n")
    daemon.rlctl("run", "-q", "x", cwd=repo.path, check=10)
    assert "after 2 fix" in daemon.run(1)["cause"]
    daemon.rlctl("run", "-q", "--review-max-fix-attempts", "0", "x", cwd=repo.path, check=10)
    assert "after 0 fix" in daemon.run(2)["cause"]
    daemon.rlctl("run", "-q", "--no-review", "x", cwd=repo.path, check=0)


def test_the_old_names_and_paths_of_the_project(make_daemon, repo):
    daemon = make_daemon(scripts=TRIVIAL)
    repo.write("prompts/dev.md", "DEVELOPER {{task}}\n")
    repo.write("prompts/rev.md", "REVIEWER {{context}}\n")
    repo.write(".rld.toml", 'reviewEnabled = true\nreviewMaxFixAttempts = 1\n'
               'developerPromptPath = "prompts/dev.md"\nreviewerPromptPath = "prompts/rev.md"\n')
    assert "after 1 fix" in daemon.ended(daemon.submit(repo.path))["cause"]
    assert (daemon.play.prompt(1, "implement").startswith(b"DEVELOPER ")
            and daemon.play.prompt(1, "review").startswith(b"REVIEWER "))


def test_checks_of_a_project_run(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "echo one > work.txt\nanswer x\n",
                                  "review": "pass\n", "fix": "echo two > work.txt\nanswer y\n"})
    repo.write(".rld.toml", '[review]\nenabled = true\nchecks = ["grep two work.txt"]\n')
    number = daemon.submit(repo.path)
    assert daemon.ended(number)["state"] == "succeeded"
    assert [a["role"] for a in daemon.attempts(number)] == ["implement"] + ["check"] * 4 + ["fix", "check",
                                                                                        "review"]


def test_a_retry_reads_nothing(make_daemon, repo):
    daemon = make_daemon(scripts=TRIVIAL)
    repo.write(".rld.toml", "[review]\nenabled = true\nmax_fixes = 1\n")
    daemon.ended(daemon.submit(repo.path))
    repo.write(".rld.toml", "nonsense")
    again = daemon.call("run.retry", id=1, from_scratch=True)["id"]
    assert "after 1 fix" in daemon.ended(again)["cause"]
    assert ".rld.toml:1:" in refused(daemon, repo.path).message


def test_a_run_keeps_what_it_was_submitted_with(make_daemon, repo):
    daemon = make_daemon(scripts={**TRIVIAL, "implement": "gate here\nanswer x\n"}, gates=["here"])
    repo.write(".rld.toml", "[review]\nenabled = true\nmax_fixes = 1\n")
    number = daemon.submit(repo.path)
    daemon.play.arrived("here")
    repo.write(".rld.toml", "[review]\nenabled = true\nmax_fixes = 0\n")
    daemon.play.go("here")
    assert "after 1 fix" in daemon.ended(number)["cause"]


# ---- what is refused -----------------------------------------------------------------------------

@pytest.mark.parametrize("text, place, word", [
    ("[review]\nmax_fixs = 1\n", "2:1", "max_fixes"),
    ("[review]\nmax_fixes = -1\n", "2:13", "max_fixes"), ("x = \n", "1:", ""),
    ("[agent.claude]\ncommand = ['sh']\n", "1:2", "is only allowed in rld.toml"),
    ("[hook]\non_end = ['sh']\n", "1:2", "is only allowed in rld.toml"),
    ("default_agent = 'x'\n", "1:1", "is only allowed in rld.toml"),
    ("[limits]\ntimeout = 3\n", "1:2", "is only allowed in rld.toml"),
    ("[access]\nadmin = ['x']\n", "1:2", "is only allowed in rld.toml"),
    ("[launcher.x]\n", "1:2", "is only allowed in rld.toml"),
    ("[account.x]\n", "1:2", "is only allowed in rld.toml"),
    ("[review]\nsandbox = 'off'\n", "2:11", "stricter"), ("[review]\nagent = 'nobody'\n", "2:9", "nobody"),
    ("[review]\nprofile = 'nobody'\n", "2:11", "nobody"),
    ("developerPromptPath = 'none.md'\n", "1", "none.md"), ("[review]\nreview_log = '/etc'\n", "2:14", "review_log"),
])
def test_mistakes_have_a_place(daemon, repo, text, place, word):
    repo.write(".rld.toml", text)
    error = refused(daemon, repo.path)
    assert (f"{repo.path}/.rld.toml:{place}" in error.message and word in error.message
            and error.data["field"] == "workdir")
    assert daemon.call("run.list")["runs"] == []
    done = daemon.rlctl("submit", "x", cwd=repo.path, check=1)
    assert f".rld.toml:{place}" in done.err and done.out == ""


@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "directory", "long", "socket"])
def test_what_is_no_file_is_refused_and_never_waited_for(daemon, repo, tmp_path, kind):
    path = repo.path / ".rld.toml"
    if kind == "link":
        (tmp_path / "elsewhere").write_text("[review]\nmax_fixes = 1\n")
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "dangling":
        path.symlink_to(tmp_path / "nowhere")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "socket":
        server = socket.socket(socket.AF_UNIX)
        here = os.getcwd()
        os.chdir(repo.path)
        try:
            server.bind(".rld.toml")
        finally:
            os.chdir(here)
            server.close()
    else:
        path.write_text("# long\n" * 5000)
    error = refused(daemon, repo.path)
    assert f"{path}: " in error.message and error.data["field"] == "workdir", error.message
    with pytest.raises(RpcError) as error:
        daemon.call("config.show", workdir=str(repo.path))
    assert error.value.data["field"] == "workdir"
    path.rmdir() if kind == "directory" else path.unlink()
    assert daemon.submit(repo.path) == 1


def test_a_workdir_that_is_none_is_told_as_before(daemon, tmp_path):
    (tmp_path / "file").write_text("x")
    for workdir, word in ((tmp_path / "none", "No such file"),
                          (tmp_path / "file", "not a directory"), ("relative", "not absolute")):
        error = refused(daemon, workdir)
        assert error.data["field"] == "workdir" and word in error.message


# ---- what is shown -------------------------------------------------------------------------------

def test_config_show_of_a_project(make_daemon, repo):
    daemon = make_daemon(config={"review": {"max_fixes": 3, "timeout": "9m"},
                                 "profile.mine": {"extends": "decision", "stall_limit": 7, "timeout": "8m"}})
    repo.write(".rld.toml", "\n[review]\nmax_fixes = 4\n")
    rows = settings(daemon, workdir=str(repo.path), profile="mine")
    line = next(number for number, text in enumerate(daemon.config.read_text().splitlines(),
                                                     1) if text.startswith("stall_limit"))
    assert (rows["review.max_fixes"]["value"], rows["review.max_fixes"]["from"]) == (4, f"{repo.path}/.rld.toml:3")
    assert (rows["review.stall_limit"]["value"],
            rows["review.stall_limit"]["from"]) == (7, f"profile mine ({daemon.config}:{line})")
    assert (rows["review.on_exhausted"]["value"], rows["review.on_exhausted"]["from"]) == ("hold", "profile decision")
    assert (rows["review.profile"]["value"], rows["review.profile"]["from"]) == ("mine", "command line")
    assert rows["review.timeout"]["value"] == "9m" and rows["review.timeout"]["from"].startswith(f"{daemon.config}:")
    assert rows["review.sandbox"]["from"] == "default"
    assert rows["profile.mine.extends"]["value"] == "decision" and rows["profile.mine.timeout"]["value"] == "8m"
    assert settings(daemon)["review.max_fixes"]["value"] == 3
    shown = daemon.rlctl("config", "show", "-C", repo.path, "--review=mine", check=0).out
    assert any(".rld.toml:3" in line and "max_fixes" in line for line in shown.splitlines())
    assert json.loads(daemon.rlctl("--json", "config", "show", "-C", repo.path, "--review=mine",
                                   check=0).out)["settings"] == list(rows.values())


def test_config_show_refuses(daemon, tmp_path):
    for params, field in (({"workdir": "relative"}, "workdir"), ({"profile": "nobody"}, "profile"),
                          ({"profile": 3}, "profile"), ({"workdir": ""}, "workdir")):
        with pytest.raises(RpcError) as error:
            daemon.call("config.show", **params)
        assert error.value.code == -32602 and error.value.data["field"] == field
    daemon.rlctl("config", "show", "--review=nobody", check=1)
    daemon.rlctl("config", "show", "-C", tmp_path / "none", check=1)
    daemon.rlctl("config", "check", "-C", tmp_path, check=2)


# ---- submits on their way ------------------------------------------------------------------------

def test_a_repeat_is_answered_whatever_the_project_says_now(daemon, repo):
    first = daemon.call("run.submit", task="x", workdir=str(repo.path), key="k")["id"]
    repo.write(".rld.toml", "nonsense")
    assert daemon.call("run.submit", task="x", workdir=str(repo.path), key="k")["id"] == first
    with pytest.raises(RpcError) as error:
        daemon.call("run.submit", task="y", workdir=str(repo.path), key="k")
    assert error.value.code == 4


def test_refused_ones_let_go_of_their_key(daemon, repo):
    """Each of them waits for the one before; none makes a run, and the key is free
    for a right one."""
    repo.write(".rld.toml", "nonsense")
    with daemon.connect() as rpc:
        rpc.send_raw(b"".join(rpc.frame(rpc.request("run.submit", {"task": "x", "workdir": str(repo.path),
                                                                   "key": "k"})) for _ in range(20)))
        assert {rpc.reply()["error"]["code"] for _ in range(20)} == {-32602}
    (repo.path / ".rld.toml").unlink()
    assert daemon.call("run.submit", task="x", workdir=str(repo.path), key="k")["id"] == 1


def test_a_refused_first_and_a_right_second_of_one_key(daemon, repo):
    """The second has another body, and waits for the first: it is not its copy."""
    with daemon.connect() as rpc:
        bodies = [{"review": {"max_fixes": -1}}, {}, {}, {"review": {"max_fixes": -1}}]
        rpc.send_raw(b"".join(rpc.frame(rpc.request("run.submit", {"task": "x", "workdir": str(repo.path),
                                                                   "key": "k", **body})) for body in bodies))
        replies = sorted((rpc.reply() for _ in bodies), key=lambda reply: reply["id"])
    assert replies[0]["error"]["code"] == -32602 and replies[3]["error"]["code"] == 4
    assert replies[1]["result"]["id"] == replies[2]["result"]["id"] == 1


@pytest.mark.broad
def test_runs_are_numbered_in_the_order_of_arrival(daemon, tmp_path):
    """Whatever each project costs to read."""
    repos = [Repo(tmp_path / str(n)) for n in range(5)]
    for n, repo in enumerate(repos):
        repo.write(".rld.toml", "# long\n" * (4000 if n % 2 == 0 else 0) + "[review]\nmax_fixes = 1\n")
    with daemon.connect() as rpc:
        rpc.send_raw(b"".join(rpc.frame(rpc.request("run.submit",
                                                    {"task": "x", "workdir": str(repos[n % 5].path)}))
                              for n in range(40)))
        replies = sorted((rpc.reply() for _ in range(40)), key=lambda reply: reply["id"])
    numbers = [reply["result"]["id"] for reply in replies]
    assert numbers == sorted(numbers) and len(set(numbers)) == 40
    daemon.ended(*numbers)


def test_a_client_that_leaves_has_submitted(daemon, repo):
    repo.write(".rld.toml", "[review]\nmax_fixes = 1\n")
    rpc = daemon.connect()
    rpc.send_raw(b"".join(rpc.frame(rpc.request("run.submit", {"task": "x", "workdir": str(repo.path),
                                                               "key": f"{n}"})) for n in range(10)))
    rpc.send_raw(rpc.frame(rpc.request("config.show", {"workdir": str(repo.path)})))
    rpc.close()
    with daemon.events(types=["run.state"]) as events:
        seen = set()
        while len(seen) < 10:
            seen.add(events.next()["run"])
    assert len(daemon.call("run.list")["runs"]) == 10
    daemon.ended(*seen)


@pytest.mark.broad
def test_a_stop_in_the_middle_answers_or_closes(make_daemon, repo):
    """What was acknowledged is there after it, nothing else is; each key is good for one run."""
    daemon = make_daemon(scripts={"implement": "answer x\n"})
    repo.write(".rld.toml", "# long\n" * 4000)
    rpc = daemon.connect()
    rpc.send_raw(b"".join(rpc.frame(rpc.request("run.submit", {"task": "x", "workdir": str(repo.path),
                                                               "key": f"{n}"})) for n in range(50)))
    first = rpc.reply()
    os.kill(daemon.pid, signal.SIGTERM)
    replies = [first]
    try:
        while len(replies) < 50:
            replies.append(rpc.reply())
    except (Closed, ConnectionResetError):
        pass
    rpc.close()
    assert daemon.exited() == 0
    acked = {reply["result"]["id"] for reply in replies if "result" in reply}
    assert {reply["error"]["code"] for reply in replies if "error" in reply} <= {8}
    daemon.start()
    assert acked <= {run["id"] for run in daemon.call("run.list", limit=100)["runs"]}
    again = [daemon.call("run.submit", task="x", workdir=str(repo.path), key=f"{n}")["id"] for n in range(50)]
    assert acked <= set(again) and len(set(again)) == 50
    daemon.ended(*again)


def test_a_reload_meanwhile(make_daemon, repo):
    """Submits that wait for their project are resolved by the settings that are in force then."""
    daemon = make_daemon(config={"profile.mine": {"extends": "verdict"}})
    repo.write(".rld.toml", "[review]\nprofile = \"mine\"\n")
    with daemon.connect() as rpc:
        for _ in range(20):
            rpc.send_raw(b"".join(rpc.frame(rpc.request(method, params)) for method, params in
                                  (("run.submit", {"task": "x", "workdir": str(repo.path), "check": True}),
                                   ("daemon.reload", {}))))
        assert all("result" in rpc.reply() for _ in range(40))


# ---- options -------------------------------------------------------------------------------------

def program(path, text="#!/bin/sh\nexit 0\n"):
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_options_of_a_submit(make_daemon, repo, tmp_path):
    daemon = make_daemon(config={"profile.ci": {"extends": "exit", "max_fixes": 1}})
    program(repo.path / "judge.sh")
    (repo.path / "out").mkdir()
    where = {"cwd": repo.path, "check": 0}
    daemon.rlctl("submit", "--reviewer", "./judge.sh", "--check", "true", "--check",
                 "make -s 'a b'", "--commit", "auto", "--report", "out/r.json", "x", **where)
    daemon.rlctl("submit", "--reviewer", "true", "--review=ci", "--report", repo.path / "r.json",
                 "--commit", "none", "x", **where)
    daemon.rlctl("submit", "--reviewer", "judge.sh/../judge.sh", "--dry-run", "x", cwd=repo.path, check=1)
    daemon.rlctl("submit", "--reviewer", "true", "--no-review", "x", **where)
    daemon.rlctl("submit", "--reviewer", "true", "--skip-review", "x", **where)
    daemon.rlctl("submit", "--review=file", "--skip-review", "x", **where)
    stored = plans(daemon)
    one, two, three, four, five = (stored[n] for n in range(1, 6))
    assert (one["review"], one["profile"], one["reviewer"]) == (True, "exit", f"{repo.path}/judge.sh")
    assert (one["checks"] == ["true", "make -s 'a b'"] and one["commit"] == "auto"
            and one["report"] == f"{repo.path}/out/r.json")
    assert one["agents"]["review"]["name"] == "judge.sh" and one["agents"]["fix"]["name"] == "play"
    assert (two["profile_name"], two["max_fixes"], two["reviewer"], two["report"],
            two["commit"]) == ("ci", 1, "true", f"{repo.path}/r.json", "none")
    assert (three["review"], three["skip_reason"]) == (False, "review is off")
    assert (four["review"], four["skip_reason"]) == (False, "--skip-review flag set")
    assert (five["review"], five["skip_reason"], five["commit"],
            five["scope"]) == (False, "--skip-review flag set", "auto", "run")


@pytest.mark.parametrize("args, status, word", [
    (["--commit", "agents"], 2, "commit"), (["--commit", ""], 2, "commit"),
    (["--reviewer", ""], 2, "reviewer"), (["--reviewer"], 2, "reviewer"),
    (["--check"], 2, "check"), (["--report", "none/r.json"], 1, "none"),
    (["--report", "."], 1, "directory"), (["--report", "dir"], 1, "directory"),
    (["--report", "dir/"], 1, "directory"), (["--report", "file/r"], 1, "file"),
    (["--review=nobody"], 1, "unknown profile 'nobody'"), (["--review=exit"], 1, "--reviewer"),
    (["--check", " "], 1, "empty"),
    (["--reviewer", "true", "--review=verdict"], 1, "verdict"), (["--reviewer", "./none"], 1, "none"),
])
def test_wrong_options(daemon, repo, args, status, word):
    (repo.path / "dir").mkdir()
    (repo.path / "file").write_text("x")
    done = daemon.rlctl("submit", *args, *(["x"] if len(args) > 1 or "=" in args[0] else []),
                        cwd=repo.path, check=status)
    assert word in done.err and done.out == ""
    assert daemon.call("run.list")["runs"] == []


def test_one_setting_in_two_ways(daemon, repo):
    for params in ({"reviewer": "true", "review": {"reviewer": "true"}}, {"checks": [], "review": {"checks": []}}):
        assert "given twice" in refused(daemon, repo.path, **params).message


def test_every_key_of_a_review_by_rpc(make_daemon, repo):
    daemon = make_daemon()
    review = {"enabled": True, "profile": "file", "agent": "play", "model": "r",
              "fixer_agent": "play", "fixer_model": "f", "max_fixes": 7, "stall_limit": 8,
              "timeout": "9s", "on_malformed": "hold", "on_reviewer_error": "accept",
              "on_exhausted": "known_issues", "fixer": "fresh", "scope": "task",
              "strictness": "same", "checks": ["true"], "guidelines": [{"file": "a.md", "section": "S"}],
              "conventions": ["B.md"], "review_file": "todo.md",
              "review_log": "logs", "read_only": True, "sandbox": "off", "workspace": "room"}
    daemon.submit(repo.path, review=review, commit="none")
    plan = plans(daemon)[1]
    for key in ("max_fixes", "stall_limit", "on_malformed", "on_reviewer_error", "on_exhausted",
                "fixer", "scope", "strictness", "checks", "conventions",
                "review_file", "review_log", "read_only", "sandbox", "workspace"):
        assert plan[key] == review[key], key
    assert (plan["guidelines"] == ["a.md", "S"] and plan["clocks"]["review"]["wall_ms"] == 9000
            and plan["commit"] == "none" and plan["profile"] == "file")
    assert plan["agents"]["review"]["model"] == "r" and plan["agents"]["fix"]["model"] == "f"
