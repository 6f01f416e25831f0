# SPDX-License-Identifier: MIT
"""The clients in docs/examples, run as they stand, while the daemon is killed: they see each event
of their run, and each once."""
import json
import re
import select
import socket
import subprocess
import textwrap

import pytest

import npm
from rld import RLCTL, SOURCE, Daemon

EXAMPLES = SOURCE / "docs" / "examples"
# Two stops: in the work, and in its review.
SCRIPTS = {"implement": "gate work\necho one > work.txt\nanswer done\n", "review": "gate review\npass\n"}
NOTE = r'/\*.*?\*/|""".*?"""|^\s*(//|#).*?$|^[\s{}]*$'


@pytest.fixture
def stops(make_daemon):
    daemon = make_daemon(scripts=SCRIPTS, gates=["work", "review"], config={"run.label": {"x": "y"}})
    return daemon


def killed_at_each_stop(daemon, *gates):
    for gate in gates:
        daemon.play.arrived(gate)
        daemon.kill()
        daemon.start()
        daemon.play.go(gate)


def compiled(source, tmp_path):
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libuv", "jansson"], check=True, capture_output=True,
                           text=True).stdout.split()
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-o", str(tmp_path / "follow"), str(source), *flags],
                   check=True)
    return [str(tmp_path / "follow")]


COMMANDS = {"follow.py": lambda at, tmp_path: ["/usr/bin/python3", str(at)],
            "follow.sh": lambda at, tmp_path: ["/bin/sh", str(at)],
            "follow.mjs": lambda at, tmp_path: [npm.node(), str(at)],
            "follow.c": compiled}


@pytest.mark.each
@pytest.mark.parametrize("name", COMMANDS)
def test_a_client_sees_each_event_once(stops, repo, tmp_path, name):
    daemon = stops
    repo.write(".rld.toml", "[review]\nenabled = true\n")
    command = COMMANDS[name](EXAMPLES / name, tmp_path)
    process = subprocess.Popen([*command, str(daemon.socket), str(repo.path), "do it"], stdout=subprocess.PIPE,
                               env=daemon.environment, text=True)
    Daemon.processes.append(process)
    killed_at_each_stop(daemon, "work", "review")
    said = process.stdout.read().splitlines()
    assert process.wait() == 0
    run, = daemon.call("run.list")["runs"]
    events = [e for e in daemon.call("event.list", limit=256)["events"] if e["run"] == run["id"]]
    assert [line.split() for line in said] == [
        [str(e["seq"]), e["type"], *([e["state"]] if "state" in e else [])] for e in events]
    assert len(said) > 15


@pytest.mark.each
@pytest.mark.parametrize("name", COMMANDS)
def test_a_client_outlives_a_reset(stops, repo, tmp_path, name):
    """A daemon that dies with a request unread resets the connection."""
    daemon, path = stops, tmp_path / "reset"
    repo.write(".rld.toml", "[review]\nenabled = true\n")
    command = COMMANDS[name](EXAMPLES / name, tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        process = subprocess.Popen([*command, str(path), str(repo.path), "do it"], stdout=subprocess.PIPE,
                                   env=daemon.environment, text=True)
        Daemon.processes.append(process)
        peer, _ = listener.accept()
        select.select([peer], [], [])
        path.unlink()
        path.symlink_to(daemon.socket)
        peer.close()
    for gate in ("work", "review"):
        daemon.play.arrived(gate)
        daemon.play.go(gate)
    assert "succeeded" in process.stdout.read() and process.wait() == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_a_client_tells_what_is_refused(daemon, tmp_path, name):
    command = COMMANDS[name](EXAMPLES / name, tmp_path)
    done = subprocess.run([*command, str(daemon.socket), str(tmp_path / "nowhere"), "do it"], env=daemon.environment,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode != 0 and "nowhere" in done.stderr and done.stdout == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_client_is_short(name):
    """Lines of code, without comments and braces."""
    text = re.sub(NOTE, "", (EXAMPLES / name).read_text(), flags=re.M | re.S)
    assert len([line for line in text.splitlines() if line.strip(" \t{}")]) <= 40


def shell_environment(daemon, **more):
    return {**daemon.environment, "RLD_SOCKET": str(daemon.socket),
            "PATH": f"{RLCTL.parent}:{daemon.environment['PATH']}", **more}


def test_the_job_of_ci(stops, repo, tmp_path):
    daemon = stops
    repo.write("task.md", "do it\n")
    text = (EXAMPLES / "gitlab-ci.yml").read_text()
    script = textwrap.dedent(re.search(r"- \|\n(.*?)  artifacts:", text, re.S)[1])
    (tmp_path / "out").mkdir()
    process = subprocess.Popen(["/bin/bash", "-eo", "pipefail", "-c", script], cwd=tmp_path / "out",
                               stdin=subprocess.DEVNULL,
                               env=shell_environment(daemon, CI_JOB_ID="4711", CI_PROJECT_DIR=str(repo.path)))
    Daemon.processes.append(process)
    killed_at_each_stop(daemon, "work", "review")
    assert process.wait() == 0
    run, = daemon.call("run.list", labels={"ci_job": "4711"})["runs"]
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["run"] == run["id"] and report["state"] == "succeeded"
    assert [t["type"] for t in report["timeline"]] == ["implement", "review"]


def test_the_tasks_of_an_editor(stops, repo):
    daemon = stops
    text = re.sub("^//.*$", "", (EXAMPLES / "editor-tasks.json").read_text(), flags=re.M)
    tasks = {task["label"]: task for task in json.loads(text)["tasks"]}

    def start(label):
        task = tasks[label]
        values = {"workspaceFolder": str(repo.path), "input:task": "do it", "input:run": "1"}
        words = [re.sub(r"\$\{(.*?)\}", lambda m: values[m[1]], word) for word in task["args"]]
        assert task["type"] == "process"
        process = subprocess.Popen([task["command"], *words], env=shell_environment(daemon), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, cwd=repo.path)
        Daemon.processes.append(process)
        return process

    run = start("rld: run")
    killed_at_each_stop(daemon, "work", "review")
    answer, events = run.communicate()
    assert run.returncode == 0 and answer == "done\n", events
    assert events.count("1/1") > 0
    assert "do it" in start("rld: runs of this directory").communicate()[0]
    assert start("rld: findings").communicate() == ("", "No open findings.\n")
