# SPDX-License-Identifier: MIT
"""What cannot be a run of many tasks is refused at submit: exit code 1, one sentence, with the
place in the file."""
import json
import os
import pwd
import resource

import pytest
from rld import Repo, RpcError

FLOW = """tasks:
  design:
    agent: play
    prompt: think
  build:
    prompt: type
    depends_on: [design]
    overlays:
      agentic_review:
        enabled: true
        reviewer_agent: critic
        max_iterations: 4
"""
PRD = {"project": "p", "userStories": [{"id": "US-1", "title": "one", "passes": False},
                                       {"id": "US-2", "title": "two", "passes": False}]}


def refused(daemon, **params):
    with pytest.raises(RpcError) as error:
        daemon.call("run.submit", **params)
    assert daemon.call("run.list")["runs"] == []
    return error.value


def beads_in(path, *ids):
    (path / ".beads").mkdir(parents=True)
    (path / ".beads" / "issues.jsonl").write_text(
        "".join(json.dumps({"id": i, "title": i, "status": "open", "priority": 1}) + "\n" for i in ids))
    return path


# ---- files ---------------------------------------------------------------------------------------

WRONG_FLOWS = [
    ("an agent that is none", FLOW.replace("agent: play", "agent: plya"), "3:12",
     "unknown agent 'plya'; did you mean 'play'? Choose one of"),
    ("a reviewer that is none", FLOW.replace("critic", "nobody"), "11:25", "unknown agent 'nobody'; choose one of"),
    ("a key that is none", FLOW.replace("prompt: type", "promt: type"), "6:5", "promt"),
    ("a cycle", FLOW.replace("    prompt: think\n", "    prompt: think\n    depends_on: [build]\n"), "", "cycle"),
    ("a task that is none", FLOW.replace("[design]", "[desing]"), "7:", "desing"),
    ("the same id twice", FLOW.replace("  build:", "  design:"), "5:3", "line 2"),
    ("too many reviews", FLOW.replace("4\n", "102\n"), "12:", "101"),
    ("no YAML", "tasks: [\n", "", "flow.yaml"),
    ("no tasks", "name: x\n", "1:1", "tasks"),
]


@pytest.mark.parametrize("text, place, words", [w[1:] for w in WRONG_FLOWS], ids=[w[0] for w in WRONG_FLOWS])
def test_a_wrong_workflow(make_daemon, repo, text, place, words):
    daemon = make_daemon(config={"agent.critic": {"command": ["true"]}})
    flow = repo.path / "flow.yaml"
    flow.write_text(text)
    done = daemon.rlctl("submit", "--workflow", "flow.yaml", cwd=repo.path, check=1)
    assert f"{flow}:{place}" in done.err and words in done.err and done.out == "", done.err
    assert refused(daemon, workflow=text, workdir=str(repo.path)).data["field"] == "workflow"


@pytest.mark.parametrize("text, words", [
    ('{"userStories": [\n  {"id": "a"},\n]}', "line 3"), ("[]", "object"),
    ('{"userStories": []}', "empty"), ('{"stories": []}', "userStories"),
    ('{"userStories": [{"id": "a"}, {"id": "a"}]}', '"a"'), ('{"userStories": [{"title": "a"}]}', "userStories[0]"),
    ('{"userStories": [{"id": "a", "passes": "true"}]}', "passes"),
])
def test_a_wrong_prd(daemon, repo, text, words):
    (repo.path / "prd.json").write_text(text)
    done = daemon.rlctl("submit", "--stories", "prd.json", cwd=repo.path, check=1)
    assert f"{repo.path}/prd.json: " in done.err and words in done.err and done.out == "", done.err
    assert refused(daemon, stories=text, workdir=str(repo.path)).data["field"] == "stories"


def test_where_nothing_can_be_written_back(daemon, repo):
    gone = refused(daemon, stories=json.dumps(PRD), stories_path=f"{repo.path}/gone.json", workdir=str(repo.path))
    assert (gone.data["field"] == "stories_path" and "No such file" in gone.message
            and "daemon's user" in gone.data["hint"])
    assert "not a regular file" in refused(daemon, stories=json.dumps(PRD),
                                        stories_path=str(repo.path), workdir=str(repo.path)).message


def test_no_beads(daemon, repo, tmp_path):
    done = daemon.rlctl("submit", "--beads", cwd=repo.path, check=1)
    assert f"{repo.path}/.beads: No such file or directory" in done.err and "bd init" in done.err
    for params in ({"beads": True}, {"beads": str(tmp_path)}):
        error = refused(daemon, workdir=str(repo.path), **params)
        assert (error.data["field"] == "beads" and "/.beads: No such file" in error.message
                and "bd init" in error.data["hint"])
    # the workdir is the first thing to be wrong
    assert refused(daemon, workdir=f"{tmp_path}/none", beads=True).data["field"] == "workdir"


@pytest.mark.parametrize("params, field", [
    ({}, "task"), ({"task": "x", "beads": True}, "task"), ({"stories": "{}", "workflow": "x"}, "task"),
    ({"task": "x", "stories_path": "/x"}, "stories_path"),
    ({"stories": "{}", "stories_path": "x"}, "stories_path"), ({"beads": "x"}, "beads"),
    ({"beads": False}, "beads"), ({"beads": 1}, "beads"),
    ({"task": "x", "group": "a b"}, "group"), ({"task": "x", "group": ""}, "group"),
    ({"task": "x", "after": 0}, "after"), ({"task": "x", "parallel": 0}, "parallel"),
    ({"task": "x", "iterations": 0}, "iterations"), ({"task": "x", "isolation": "jail"}, "isolation"),
    ({"task": "x", "stop_markers": [""]}, "stop_markers"),
    ({"task": "x", "base": "-x"}, "base"), ({"task": "x", "assign": "agent"}, "assign"),
    ({"stories": json.dumps(PRD), "assign": "agent"}, "assign"),
])
def test_wrong_parameters(daemon, repo, params, field):
    error = refused(daemon, workdir=str(repo.path), **params)
    assert (error.code, error.data["field"]) == (-32602, field), error


# ---- what does not go together -------------------------------------------------------------------

@pytest.mark.parametrize("args, option, words", [
    (["--isolation", "worktree", "--assign", "agent"], "assign", "--assign daemon"),
    (["--integrate", "merge"], "integrate", "--isolation worktree"),
    (["-P", "2", "--integrate", "merge", "--commit", "none"], "commit", "--commit auto"),
    (["-P", "2", "--isolation", "shared", "--commit", "auto"], "commit", "--isolation worktree"),
    (["-P", "2", "--isolation", "shared", "--commit", "agent"], "commit", "--commit none"),
])
def test_what_does_not_go_together(daemon, repo, args, option, words):
    beads_in(repo.path, "b-1")
    done = daemon.rlctl("submit", "--beads", *args, cwd=repo.path, check=1)
    assert f"--{option}: " in done.err and words in done.err and done.out == "", done.err
    assert daemon.call("run.list")["runs"] == []


def test_a_review_of_the_run_needs_one_tree(daemon, repo):
    beads_in(repo.path, "b-1")
    done = daemon.rlctl("submit", "--beads", "-P", "2", "--integrate", "none", "--review=file", cwd=repo.path, check=1)
    assert "one tree" in done.err and "--integrate merge" in done.err


@pytest.mark.parametrize("args, words", [
    (["--isolation", "worktree"], "--isolation shared"), (["--base", "main"], "--base"),
    (["-P", "2", "--integrate", "merge"], "--isolation worktree"),
])
def test_without_git(daemon, tmp_path, args, words):
    beads_in(tmp_path / "plain", "b-1")
    done = daemon.rlctl("submit", "--beads", *args, cwd=tmp_path / "plain", check=1)
    assert words in done.err, done.err
    daemon.rlctl("submit", "--beads", "-P", "2", "--dry-run", cwd=tmp_path / "plain", check=0)


# ---- what comes after another --------------------------------------------------------------------

def test_after(make_daemon, tmp_path):
    daemon = make_daemon(scripts={"implement": "gate g$RL_RUN\nexit $([ $RL_RUN = 2 ] && echo 1 || echo 0)\n"},
                         gates=["g1", "g2"])
    one, two = Repo(tmp_path / "1"), Repo(tmp_path / "2")
    done = daemon.rlctl("submit", "--after", "9", "x", cwd=one.path, check=1)
    assert "--after: no such run: 9" in done.err
    first, second = daemon.submit(one.path), daemon.submit(two.path)
    with pytest.raises(RpcError) as error:
        daemon.call("run.submit", task="x", workdir=str(one.path), after=9)
    assert (error.value.code, error.value.data["field"]) == (1, "after")
    # unfinished: it may yet succeed
    for run in (first, second):
        assert daemon.call("run.submit", task="x", workdir=str(one.path), after=run, check=True)["state"] == "checked"
    for gate in ("g1", "g2"):
        daemon.play.arrived(gate)
        daemon.play.go(gate)
    rows = daemon.ended(first, second)
    assert [row["state"] for row in rows] == ["succeeded", "failed"]
    assert daemon.call("run.submit", task="x", workdir=str(one.path), after=first, check=True)["state"] == "checked"
    with pytest.raises(RpcError) as error:
        daemon.call("run.submit", task="x", workdir=str(one.path), after=second)
    assert (error.value.code, error.value.data["field"]) == (2, "after") and "run 2 is failed" in error.value.message


# ---- one submit is one run -----------------------------------------------------------------------

def test_the_key_covers_what_a_run_is_made_of(daemon, repo):
    beads_in(repo.path, "b-1")
    given = {"workdir": str(repo.path), "key": "k", "beads": True, "iterations": 1,
             "assign": "daemon", "isolation": "shared"}
    number = daemon.call("run.submit", **given)["id"]
    assert daemon.call("run.submit", **given)["id"] == number
    for change in ({"iterations": 2}, {"beads": str(repo.path)}, {"group": "night"},
                   {"isolation": "worktree"}, {"parallel": 1}, {"stop_markers": []}):
        with pytest.raises(RpcError) as error:
            daemon.call("run.submit", **{**given, **change})
        assert error.value.code == 4, change
    daemon.call("run.cancel", id=number)
    daemon.ended(number)


# ---- the project's file --------------------------------------------------------------------------

def test_a_project_says_how_it_is_worked_on(daemon, repo):
    beads_in(repo.path, "b-1")
    repo.write(".rld.toml", "[run]\nparallel = 2\nisolation = \"shared\"\ncommit = \"auto\"\n")
    done = daemon.rlctl("submit", "--beads", cwd=repo.path, check=1)
    assert "--commit: slots that share a directory" in done.err
    daemon.rlctl("submit", "--beads", "--isolation", "worktree", "--dry-run", cwd=repo.path, check=0)
    shown = {row["path"]: row for row in json.loads(daemon.rlctl("config", "show", "--json", "-C",
                                                                 repo.path, check=0).out)["settings"]}
    assert shown["run.parallel"] == {**shown["run.parallel"], "value": 2, "from": f"{repo.path}/.rld.toml:2"}
    assert shown["run.stop_markers"]["from"] == "default"
    repo.write(".rld.toml", "[group.default]\nslots = 64\n")
    done = daemon.rlctl("submit", "--beads", cwd=repo.path, check=1)
    assert f"{repo.path}/.rld.toml:1:2: 'group' is only allowed in rld.toml" in done.err



def test_a_prd_of_somebody_else(make_daemon, tmp_path, another_user):
    """It is the daemon who marks in it what has passed."""
    work = tmp_path / "work"
    work.mkdir()
    os.chown(work, another_user, another_user)
    (work / "prd.json").write_text(json.dumps(PRD))
    (work / "prd.json").chmod(0o644)
    daemon = make_daemon(uid=another_user)
    given = {"stories": json.dumps(PRD), "stories_path": f"{work}/prd.json", "workdir": str(work)}
    error = refused(daemon, **given)
    assert error.data["field"] == "stories_path" and f"{work}/prd.json: Permission denied" in error.message
    os.chown(work / "prd.json", another_user, another_user)
    assert daemon.call("run.submit", **given, check=True)["state"] == "checked"


# ---- faults of the host --------------------------------------------------------------------------

@pytest.mark.parametrize("method", ["run.submit", "config.show"])
def test_no_descriptor_is_no_fault_of_a_parameter(daemon, repo, method):
    """A client that keeps to the contract sends it again, and then it is taken."""
    params = {"workdir": str(repo.path), **({"task": "x"} if method == "run.submit" else {})}
    limits = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
    with daemon.connect() as rpc:
        rpc.call("daemon.status")
        used = {int(fd) for fd in os.listdir(f"/proc/{daemon.pid}/fd")}
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE,
                         (next(fd for fd in range(len(used) + 1) if fd not in used), limits[1]))
        with pytest.raises(RpcError) as error:
            rpc.call(method, **params)
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, limits)
        assert (error.value.code == 9 and error.value.data["retryable"]
                and "LimitNOFILE" in error.value.data["hint"]), error.value
        assert "Too many open files" in error.value.message
        assert rpc.call(method, **params)


def test_agents_have_the_home_of_the_daemons_user(make_daemon, another_user, tmp_path):
    """Not that of root, who submits; what else root sends goes through."""
    daemon = make_daemon(scripts={"implement": "printenv > environment\nanswer done\n"}, uid=another_user)
    work = tmp_path / "w"
    work.mkdir()
    os.chown(work, another_user, another_user)
    sent = {"HOME": "/root", "USER": "root", "LOGNAME": "root", "SHELL": "/bin/rootsh", "PATH": f"/root:{os.defpath}",
            "XDG_RUNTIME_DIR": "/run/user/0", "SSH_AUTH_SOCK": "/root/agent", "TMPDIR": "/root/tmp", "LC_MARK": "kept"}
    done = daemon.rlctl("--trust-uid", another_user, "run", "-q", "-C", work, "x", environment=sent)
    assert done.returncode == 0, done.err
    lines = (work / "environment").read_text().splitlines()
    assert f"HOME={daemon.home}" in lines and "LC_MARK=kept" in lines
    assert f"PATH={daemon.environment['PATH']}" in lines
    assert f"USER={pwd.getpwuid(another_user).pw_name}" in lines
    assert not [line for line in lines if line.startswith(("XDG_", "SSH_", "TMPDIR"))]
