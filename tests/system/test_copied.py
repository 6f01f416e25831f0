# SPDX-License-Identifier: MIT
"""Hosts that share no directory: launchers with files = "copied". A host is a mount namespace in
which the state directory and the repository are others; ssh is a script that enters it."""
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from rld import FAKES, SHIM, Repo, RpcError, wait_gone
from test_launcher import near_shim

CAN = shutil.which("rsync") and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0
pytestmark = pytest.mark.skipif(not CAN, reason="needs rsync, and mount namespaces (root)")

# what runs there has nothing of the environment here
SSH = """#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
host=$1; shift
[ ! -e {log}/down.$host ] || {{ echo "ssh: connect to host $host port 22: Connection refused" >&2; exit 255; }}
printf '%s\\n' "$host $*" >> {log}/placed
exec env -i HOME={log} PATH=/usr/bin:/bin setsid -w nsenter -m -t "$(cat {log}/pid.$host)" sh -c "$*"
"""
HOST = "mount -t tmpfs none {state} && mount -t tmpfs none {repo} && echo ready && exec sleep infinity"


class Host:
    def __init__(self, name, log):
        self.name, self.log, self.process = name, log, None

    def start(self, state, repo):
        self.process = subprocess.Popen(["unshare", "-m", "sh", "-c", HOST.format(state=state, repo=repo)],
                                        stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        (self.log / f"pid.{self.name}").write_text(f"{self.process.pid}\n")

    def path(self, path):
        return Path(f"/proc/{self.process.pid}/root{path}")

    def down(self, is_down=True):
        (self.log / f"down.{self.name}").touch() if is_down else (self.log / f"down.{self.name}").unlink()

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()


@pytest.fixture
def farm(tmp_path, make_daemon, repo):
    log = tmp_path / "farm"
    log.mkdir()
    (log / "ssh").write_text(SSH.format(log=log))
    (log / "ssh").chmod(0o755)
    hosts = [Host("n1", log), Host("n2", log)]

    def make(config=(), **more):
        daemon = make_daemon(environment={"PATH": f"{log}:{os.environ['PATH']}"}, config={
            "launcher.farm": {"preset": "ssh", "files": "copied", "hosts": [{"name": h.name, "slots": 1}
                                                                             for h in hosts]},
            "run.launcher": "farm", **dict(config)}, **more)
        for host in hosts:
            host.start(daemon.state, repo.path)
        return daemon
    make.hosts, make.log, make.play = hosts, log, tmp_path / "d.play"
    make.placed = lambda: (log / "placed").read_text().splitlines()
    yield make
    for host in hosts:
        host.end()


def attempts(daemon, run):
    return daemon.call("attempt.list", run=run)["attempts"]


def output(daemon, attempt, stream):
    return daemon.call("attempt.output", id=attempt, stream=stream, offset=0)["data"]


def is_empty(daemon, host):
    """Whether no file of a run is left there."""
    return [path for path in host.path(daemon.state).rglob("*") if path.is_file()] == []


def result(repo, daemon, run, path):
    return repo.git("show", f"{daemon.run(run)['result_commit']}:{path}")


def test_a_reviewed_run(farm, repo):
    """The agent has files, history, base and task there; what it has left comes back."""
    repo.write(".gitignore", "cache\n")
    repo.write("gone.txt", "gone\n")
    repo.write("same.txt", "old\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "second")
    daemon = farm(scripts={
        "implement": "cat README > seen.txt; cat \"$RL_TASK_FILE\" > task.txt\nmkdir -p \"a dir/b\"; rm gone.txt\n"
                     "touch -r same.txt t; echo new > same.txt; touch -r t same.txt; rm t\n"
                     "echo one > \"a dir/b/it's.txt\"; chmod 755 README; ln -s README link; mkdir cache; "
                     "echo kept > cache/x\ngit log --format=%s > log.txt; git diff --stat $RL_BASE_REF > diff.txt\n"
                     "git branch --show-current > branch.txt; echo out; echo err >&2\nanswer done\n",
        "review.1": "[ -e cache/x ] || exit 1\necho no > README; drift 'more'\n",
        "fix": "echo two >> \"a dir/b/it's.txt\"\nanswer done\n", "review": "pass\n"})
    run = daemon.review(repo.path, review={"workspace": "same"})
    row = daemon.ended(run)
    assert row["state"] == "succeeded", row["cause"]
    rows = attempts(daemon, run)
    assert [(a["role"], a["launcher"], a["exit_code"]) for a in rows] == [
        (role, "farm", 0) for role in ("implement", "review", "fix", "review")]
    assert result(repo, daemon, run, "a dir/b/it's.txt") == "one\ntwo"
    assert result(repo, daemon, run, "task.txt") == "do it" and result(repo, daemon, run, "seen.txt") == "scratch"
    # as large and as old as before
    assert result(repo, daemon, run, "same.txt") == "new"
    assert result(repo, daemon, run, "log.txt") == "second\nstart"
    assert result(repo, daemon, run, "branch.txt") == "rl/1/t1" and "README" in result(repo, daemon, run, "diff.txt")
    listed = repo.git("ls-tree", "-r", row["result_commit"])
    assert "100755 blob" in listed and "120000 blob" in listed and "gone.txt" not in listed
    # a reviewer's tree does not come back
    assert result(repo, daemon, run, "README") == "scratch"
    assert [output(daemon, rows[0]["id"], stream) for stream in ("stdout", "stderr")] == ["out\ndone\n", "err\n"]
    # nothing is left there, and the environment is in no argument
    assert all(is_empty(daemon, host) for host in farm.hosts)
    assert not any("RL_ROLE" in line for line in farm.placed())
    assert not list(daemon.state.glob("attempts/*/place/start"))


def test_an_answer_in_a_file(farm, repo, tmp_path):
    daemon = farm(scripts={"implement": "echo one > work.txt\nanswer done\n",
                           "review": "printf '{\"verdict\": \"pass\", \"followUpPrompt\": \"\"}' > "
                                     "\"$RL_VERDICT_FILE\"\n"})
    run = daemon.review(repo.path)
    assert daemon.ended(run)["state"] == "succeeded", daemon.run(run)["cause"]


def test_an_exit_status(farm, repo):
    daemon = farm(scripts={"implement": "echo out; exit 7\n"})
    run = daemon.submit(repo.path)
    assert daemon.ended(run)["state"] == "failed"
    row, = attempts(daemon, run)
    assert (row["state"], row["exit_code"]) == ("exited", 7) and output(daemon, row["id"], "stdout") == "out\n"


def test_own_commits(farm, repo):
    """Its commits and branches come back, too."""
    daemon = farm(scripts={"implement": "echo one > work.txt; git add .; git commit -qm own\ngit branch aside\n"
                                        "echo two >> work.txt\nanswer done\n"})
    repo.git("config", "user.name", "me")
    repo.git("config", "user.email", "me@example.org")
    run = daemon.submit(repo.path)
    assert daemon.ended(run)["state"] == "succeeded", daemon.run(run)["cause"]
    commit = repo.git("rev-parse", "rl/1/t1")
    assert repo.git("log", "--format=%s %an", f"main..{commit}").splitlines()[-1] == "own me"
    assert result(repo, daemon, run, "work.txt") == "one\ntwo"
    assert repo.git("log", "-1", "--format=%s", "aside") == "own"
    assert len(repo.git("for-each-ref", "refs/heads").splitlines()) == 3


LONG = "echo before\ngate here\nseq 1 60000\necho one > work.txt\necho after >&2\nanswer done\n"


def until_printed(daemon, attempt, stream, words):
    while words not in output(daemon, attempt, stream):
        pass


def test_the_connection_breaks(farm, repo):
    """Also with the daemon: the agent works on, and nothing of it is missing."""
    daemon = farm(scripts={"implement": LONG}, gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    row, = attempts(daemon, run)
    until_printed(daemon, row["id"], "stdout", "before")
    host = next(h for h in farm.hosts if h.name == row["node"])
    host.down()
    until_printed(daemon, row["id"], "stderr", "the connection to the agent is lost")
    daemon.kill()
    daemon.play.go("here")
    daemon.start()
    host.down(False)
    assert daemon.ended(run)["state"] == "succeeded", daemon.run(run)["cause"]
    assert len(attempts(daemon, run)) == 1
    printed = (daemon.state / "attempts" / str(row["id"]) / "stdout.0000000000000000").read_text()
    assert printed == "before\n" + "".join(f"{n}\n" for n in range(1, 60001)) + "done\n"
    assert "after\n" in output(daemon, row["id"], "stderr")
    assert result(repo, daemon, run, "work.txt") == "one" and is_empty(daemon, host)


RSYNC = """#!/bin/sh
echo "$*" >> {log}/rsync.log
case "$*" in *"{match}"*) if [ ! -e {log}/failed ]; then
	touch {log}/failed; echo "rsync: [receiver] write failed: No space left on device (28)" >&2; exit 11; fi ;; esac
exec /usr/bin/rsync "$@"
"""


@pytest.mark.each
@pytest.mark.parametrize("match", ["--exclude=/.git node:", "--include=/.git/HEAD"])
def test_the_work_cannot_be_brought(farm, repo, match):
    """It is tried again; the agent is not."""
    daemon = farm(scripts={"implement": "echo one > work.txt\nanswer done\n"})
    (farm.log / "rsync").write_text(RSYNC.format(log=farm.log, match=match))
    (farm.log / "rsync").chmod(0o755)
    run = daemon.submit(repo.path)
    assert daemon.ended(run)["state"] == "succeeded", daemon.run(run)["cause"]
    row, = attempts(daemon, run)
    assert "No space left on device" in output(daemon, row["id"], "stderr")
    assert result(repo, daemon, run, "work.txt") == "one" and (farm.log / "failed").exists()


def test_it_cannot_be_taken_there(farm, repo):
    """Nothing was started: another host is tried."""
    daemon = farm(scripts={"implement": "echo one > work.txt\nanswer done\n"})
    (farm.log / "rsync").write_text(RSYNC.format(log=farm.log, match=" node:/"))
    (farm.log / "rsync").chmod(0o755)
    run = daemon.submit(repo.path)
    assert daemon.ended(run)["state"] == "succeeded", daemon.run(run)["cause"]
    first, second = attempts(daemon, run)
    assert "No space left on device" in first["cause"] and second["node"] != first["node"]
    assert len(daemon.play.starts(run)) == 1


def test_cancelled(farm, repo):
    """The agent may save its work, which comes back."""
    daemon = farm(scripts={"implement": "echo one > work.txt\ntrap 'echo two >> work.txt; exit 1' TERM\ngate here\n"},
                  gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    assert daemon.cancelled(run)["state"] == "cancelled" and daemon.run(run)["warnings"] == []
    saved, = daemon.call("salvage.list", run=run)["salvage"]
    assert repo.git("show", f"{saved['commit']}:work.txt") == "one\ntwo"
    assert all(is_empty(daemon, host) for host in farm.hosts)


def far_shim(daemon, host, attempt):
    text = host.path(daemon.state / "attempts" / str(attempt) / "place" / "shim").read_text()
    return int(dict(line.split(" ", 1) for line in text.splitlines())["pid"])


def test_it_is_gone(farm, repo):
    """The attempt is lost, and over; what it had done is the next one's to go on with."""
    daemon = farm(scripts={"implement.1": "echo one > work.txt\ngate here\n",
                           "implement.2": "echo two >> work.txt\nanswer done\n"}, gates=["here"],
                  config={"run.on_lost": "retry"})
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    row, = attempts(daemon, run)
    pid = far_shim(daemon, next(h for h in farm.hosts if h.name == row["node"]), row["id"])
    os.kill(pid, signal.SIGKILL)
    wait_gone(pid)
    assert daemon.ended(run)["state"] == "succeeded", daemon.run(run)["cause"]
    assert [a["state"] for a in attempts(daemon, run)] == ["lost", "exited"]
    assert result(repo, daemon, run, "work.txt") == "one\ntwo"
    assert all(is_empty(daemon, host) for host in farm.hosts)


@pytest.mark.each
@pytest.mark.parametrize("missing, words", [("rl-shim", "is not there, as"), ("rsync", "rsync is not installed there")])
def test_a_host_without_a_program(farm, repo, missing, words):
    daemon = farm(scripts={"implement": "echo one > work.txt\nanswer done\n"})
    host = farm.hosts[0]
    program = str(SHIM) if missing == "rl-shim" else "/usr/bin/rsync"
    subprocess.run(["nsenter", "-m", "-t", str(host.process.pid), "mount", "--bind", "/dev/null", program], check=True)
    run = daemon.submit(repo.path)
    assert daemon.ended(run)["state"] == "succeeded", daemon.run(run)["cause"]
    first, second = attempts(daemon, run)
    assert words in first["cause"] and (first["node"], second["node"]) == ("n1", "n2")


def refusal(daemon, path, **params):
    with pytest.raises(RpcError) as e:
        daemon.submit(path, **params)
    return str(e.value)


def test_refused(farm, repo, tmp_path):
    """It would overwrite what others change in a shared directory."""
    daemon = farm(scripts={})
    assert "needs work trees of the run's own" in refusal(daemon, repo.path, isolation="shared")
    (tmp_path / "plain").mkdir()
    assert "needs a git repository" in refusal(daemon, tmp_path / "plain")


def test_only_the_reviewer(farm, repo):
    """In a shared directory, from a room."""
    daemon = farm(scripts={"implement": "echo one > work.txt\nanswer done\n",
                           "review": "grep -q one work.txt && pass\n"},
                  config={"run.launcher": "local", "agent.away": {"launcher": "farm", "reader": "text", "command": [
                      str(FAKES / "play"), str(farm.play)]}})
    run = daemon.review(repo.path, review={"agent": "away", "workspace": "room"}, isolation="shared")
    assert daemon.ended(run)["state"] == "succeeded", daemon.run(run)["cause"]
    assert [a["launcher"] for a in attempts(daemon, run)] == [None, "farm"]
    assert "needs a tree of the run's own" in refusal(
        daemon, repo.path, review={"enabled": True, "agent": "away", "workspace": "same"}, isolation="shared")


def said(text, before=""):
    """A script that prints a stream of claude's kind."""
    lines = [{"type": "system", "subtype": "init", "session_id": "s-1", "tools": [], "model": "m"},
             {"type": "result", "subtype": "success", "is_error": False, "result": text, "session_id": "s-1",
              "total_cost_usd": 0.25, "usage": {"input_tokens": 1, "output_tokens": 1}, "permission_denials": []}]
    return f"{before}\ncat <<'END-OF-STREAM'\n" + "\n".join(map(json.dumps, lines)) + "\nEND-OF-STREAM\n"


@pytest.mark.each
@pytest.mark.parametrize("is_free", [True, False])
def test_a_conversation_is_on_one_host(farm, repo, tmp_path, is_free):
    """What resumes it goes there; if there is no slot, it begins anew elsewhere."""
    play = [str(FAKES / "play"), str(farm.play)]
    resume = {"command": play, "reader": "claude", "resume": ["--resume", "{session}"]}
    daemon = farm(scripts={
        "implement": said("done", "echo one > work.txt\n[ $RL_RUN = 2 ] || gate g$RL_RUN"),
        "review.1": "gate review\n" + said('{"verdict": "drift", "followUpPrompt": "more"}'),
        "review": said('{"verdict": "pass", "followUpPrompt": ""}'),
        "fix": said("done", "echo two >> work.txt")}, gates=["g1", "g3", "review"],
        config={"parallel": 4, "agent.play": resume, "agent.near": {**resume, "launcher": "local"},
                "run.launcher": "local", "agent.away": {**resume, "launcher": "farm"}})
    runs = [daemon.submit(Repo(tmp_path / "r1").path, agent="away")]
    daemon.play.arrived("g1")
    runs.append(daemon.review(repo.path, agent="away", review={"agent": "near", "fixer": "resume"}))
    daemon.play.arrived("review")
    if not is_free:
        runs.append(daemon.submit(Repo(tmp_path / "r3").path, agent="away"))
        daemon.play.arrived("g3")
    daemon.play.go("g1")
    assert daemon.ended(runs[0])["state"] == "succeeded"
    daemon.play.go("review")
    assert daemon.ended(runs[1])["state"] == "succeeded", daemon.run(runs[1])["cause"]
    first, fix = [a for a in attempts(daemon, runs[1]) if a["launcher"]]
    assert first["node"] == "n2" and fix["role"] == "fix"
    assert (fix["node"], fix["resumes"]) == (("n2", first["id"]) if is_free else ("n1", None))
    if not is_free:
        daemon.play.go("g3")
        daemon.ended(runs[2])


@pytest.mark.each
@pytest.mark.parametrize("down", [False, True])
def test_the_near_shim_is_killed(farm, repo, down):
    """Another one follows the agent, and brings its work."""
    daemon = farm(scripts={"implement": LONG}, gates=["here"], config={"run.on_lost": "retry"})
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    row, = attempts(daemon, run)
    until_printed(daemon, row["id"], "stdout", "before")
    pid, _ = near_shim(daemon, row["id"])
    if down:
        daemon.kill()
    os.kill(pid, signal.SIGKILL)
    wait_gone(pid)
    daemon.play.go("here")
    if down:
        daemon.start()
    assert daemon.ended(run)["state"] == "succeeded", daemon.run(run)["cause"]
    again, = attempts(daemon, run)
    assert (again["id"], again["exit_code"], len(daemon.play.starts())) == (row["id"], 0, 1)
    printed = (daemon.state / "attempts" / str(row["id"]) / "stdout.0000000000000000").read_text()
    assert printed == "before\n" + "".join(f"{n}\n" for n in range(1, 60001)) + "done\n"
    assert result(repo, daemon, run, "work.txt") == "one"
    assert all(is_empty(daemon, host) for host in farm.hosts)
