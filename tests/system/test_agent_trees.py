# SPDX-License-Identifier: MIT
"""Nothing of an attempt is left, however its program lays its processes out and takes signals; and
what has become of it is told by who ended it, not by the code with which it ends.

tests/fakes/tree plays the rows of the signal table of the real programs, and a few that are worse.
All of them run at the same time. Processes are looked for by what they said of themselves, by the
mark in their environment, and by kinship.
"""
import json
import os
import signal
from typing import NamedTuple

import pytest

from rld import FAKES, SOURCE, alive, carriers, command_of, descendants, proc_stat, wait_gone

SHAPES = ("claude", "codex", "opencode", "qwen", "gemini", "pi", "copilot", "nohup", "bare",
          "daemon", "stopped", "bomb")
# What the shim's SIGTERM to the group makes of the agent itself: exit code, signal.
ENDS = {"claude": (143, None), "gemini": (0, None), "pi": (143, None)}
GRACE = {"grace": "1s"}


class Tree(NamedTuple):
    shape: str
    run: int
    pids: list	# the agent's own first


class Forest:
    """A daemon with a run for each shape, all of which stand there."""

    def __init__(self, make_daemon, tmp_path, mode, limits, shapes=SHAPES, **config):
        self.mode = mode
        gates = tmp_path / "gates"
        gates.mkdir()
        agents = {f"agent.{shape}": {"command": [str(FAKES / "tree"), shape, mode, str(gates)],
                                     "reader": "claude"} for shape in shapes}
        self.daemon = make_daemon(config={"parallel": len(shapes), "limits": {**GRACE, **limits}, **agents, **config})
        runs = {}
        for shape in shapes:
            os.mkfifo(gates / f"{shape}.here")
            workdir = tmp_path / shape
            workdir.mkdir()
            runs[shape] = self.daemon.submit(workdir, agent=shape, on_lost="fail")
        self.trees = []
        for shape, run in runs.items():
            with open(gates / f"{shape}.here") as fifo:
                pid = int(fifo.readline())
            pids = [int(word) for word in (gates / f"{shape}.pids").read_text().split()]
            assert pids[0] == pid
            self.trees.append(Tree(shape, run, pids))

    def shim(self, tree):
        pid = proc_stat(tree.pids[0])[1]
        assert "rl-shim" in command_of(pid)
        return pid

    def ended(self, tree):
        """The run's row and that of its attempt, when nothing of it is left."""
        row = self.daemon.ended(tree.run)
        attempt, = self.daemon.attempts(tree.run)
        left = [(pid, command_of(pid)) for pid in tree.pids if alive(pid)]
        assert left == [], tree.shape
        assert row["warnings"] == [], tree.shape
        return row, attempt

    def all_ended(self):
        rows = {tree.shape: self.ended(tree) for tree in self.trees}
        assert carriers(attempt["uuid"] for _, attempt in rows.values()) == []
        # what has shed all that we know it by has come to us when its parent died
        assert descendants(but=(self.daemon.pid,)) == []
        assert descendants(self.daemon.pid) == []
        return rows


def test_cancelled(make_daemon, tmp_path):
    forest = Forest(make_daemon, tmp_path, "hang", {})
    for tree in forest.trees:
        forest.daemon.call("run.cancel", id=tree.run)
    for shape, (row, attempt) in forest.all_ended().items():
        assert (row["state"], attempt["process"]) == ("cancelled", "cancelled"), shape
        assert (attempt["exit_code"], attempt["signal"]) == ENDS.get(shape, (None, signal.SIGTERM)), shape


@pytest.mark.parametrize("mode,limit,process,words", [
    ("hang", "timeout", "timeout", "timed out after 3s"),
    ("silent", "idle_timeout", "idle", "made no progress for 3s")])
def test_ended_by_a_clock(make_daemon, tmp_path, mode, limit, process, words):
    """A hang ends in time, and its cause names the setting: also where the program answers
    SIGTERM with exit 0."""
    forest = Forest(make_daemon, tmp_path, mode, {}, **{"limits.implement": {limit: "3s"}})
    for shape, (row, attempt) in forest.all_ended().items():
        assert (row["state"], attempt["process"], attempt["outcome"]) == ("failed", process, "failed"), shape
        assert (attempt["cause"] ==
                f"implementer process {words}; limits.implement.{limit} in rld.toml sets the limit"), shape
        assert (attempt["exit_code"], attempt["signal"]) == ENDS.get(shape, (None, signal.SIGTERM)), shape


def test_result_given_and_not_gone(make_daemon, tmp_path):
    """What was said counts, whatever the end of the process looks like."""
    forest = Forest(make_daemon, tmp_path, "result", {"post_result": "1s"})
    for shape, (row, attempt) in forest.all_ended().items():
        assert (row["state"], attempt["process"], attempt["outcome"],
                attempt["cause"]) == ("succeeded", "lingered", "done", None), shape
        assert (attempt["exit_code"], attempt["signal"]) == ENDS.get(shape, (None, signal.SIGTERM)), shape
        assert attempt["cost_usd"] == 0.5, shape


def test_ended_by_itself(make_daemon, tmp_path):
    """Launchers whose workers stay, commands in the background: they go with the agent."""
    forest = Forest(make_daemon, tmp_path, "exit", {})
    for shape, (row, attempt) in forest.all_ended().items():
        assert (row["state"], attempt["process"], attempt["exit_code"],
                attempt["outcome"]) == ("succeeded", "exited", 0, "done"), shape


def test_shim_killed(make_daemon, tmp_path):
    """The agent dies with its shim, the others by what they carry, and what carries nothing as a
    child of the daemon's."""
    forest = Forest(make_daemon, tmp_path, "hang", {})
    for tree in forest.trees:
        os.kill(forest.shim(tree), signal.SIGKILL)
    for shape, (row, attempt) in forest.all_ended().items():
        assert (row["state"], attempt["state"], attempt["process"]) == ("failed", "lost", "lost"), shape


def test_shim_killed_that_an_earlier_daemon_has_started(make_daemon, tmp_path):
    """Its processes are nobody's children then: what carries no mark is not found, so that shape is
    not among these."""
    forest = Forest(make_daemon, tmp_path, "hang", {}, shapes=[shape for shape in SHAPES if shape != "bare"])
    forest.daemon.restart()
    for tree in forest.trees:
        os.kill(forest.shim(tree), signal.SIGKILL)
    for shape, (row, attempt) in forest.all_ended().items():
        assert (row["state"], attempt["state"], attempt["process"]) == ("failed", "lost", "lost"), shape


def test_failure_given_and_not_gone(make_daemon, tmp_path):
    forest = Forest(make_daemon, tmp_path, "failure", {}, shapes=("claude",),
                    **{"limits.implement": {"post_result": "1s"}})
    (row, attempt), = forest.all_ended().values()
    assert (row["state"], attempt["process"], attempt["outcome"]) == ("failed", "lingered", "failed")
    assert attempt["cause"] == ("implementer process gave its result and did not exit within 1s; "
                                "limits.implement.post_result in rld.toml sets the limit: done")


@pytest.mark.parametrize("clock", ["timeout", "idle_timeout"])
def test_result_given_when_another_clock_strikes(make_daemon, tmp_path, clock):
    """Nobody looks for the result, as while no daemon runs: it is found in the output of
    the ended attempt."""
    forest = Forest(make_daemon, tmp_path, "result", {"post_result": 0, clock: "3s"}, shapes=("claude",))
    (row, attempt), = forest.all_ended().values()
    assert (row["state"], attempt["process"], attempt["outcome"]) == ("succeeded", "lingered", "done")


def test_result_given_and_the_daemon_killed(make_daemon, tmp_path):
    """The next daemon looks on."""
    forest = Forest(make_daemon, tmp_path, "result", {"post_result": "1s"}, shapes=("gemini",))
    forest.daemon.kill()
    forest.daemon.start()
    (row, attempt), = forest.all_ended().values()
    assert (row["state"], attempt["process"], attempt["outcome"]) == ("succeeded", "lingered", "done")


def test_result_given_and_another_turn_begun(make_daemon, tmp_path):
    """Several results, one after each turn: whoever begins another turn has taken nothing for its
    end, however long its tools are silent."""
    forest = Forest(make_daemon, tmp_path, "turns", {"post_result": "3s"}, shapes=("qwen",))
    while "has given its result" not in forest.daemon.log():
        pass
    open(tmp_path / "gates" / "qwen.go", "w").close()
    (row, attempt), = forest.all_ended().values()
    assert (row["state"], attempt["process"], attempt["exit_code"],
            attempt["outcome"]) == ("succeeded", "exited", 0, "done")


def test_another_turn_begun_as_an_answer_to_its_end(make_daemon, tmp_path):
    """Its result was there when it was told to end: what it says after that changes nothing."""
    forest = Forest(make_daemon, tmp_path, "cut", {"post_result": "1s"}, shapes=("nohup",))
    (row, attempt), = forest.all_ended().values()
    assert (row["state"], attempt["process"], attempt["outcome"]) == ("succeeded", "lingered", "done")


@pytest.mark.parametrize("clock,process", [("timeout", "timeout"), ("idle_timeout", "idle")])
@pytest.mark.parametrize("killed", [False, True])
def test_result_given_as_an_answer_to_its_end(make_daemon, tmp_path, clock, process, killed):
    """It had none when a clock ended it, and counts as ended by that, whichever daemon reads its
    output. What it has cost counts."""
    forest = Forest(make_daemon, tmp_path, "late", {clock: "3s"}, shapes=("nohup",))
    if killed:
        forest.daemon.kill()
        tree, = forest.trees
        wait_gone(tree.pids[0])
        forest.daemon.start()
    (row, attempt), = forest.all_ended().values()
    assert (row["state"], attempt["process"], attempt["exit_code"],
            attempt["outcome"]) == ("failed", process, 0, "failed")
    assert attempt["cause"].endswith(f"limits.{clock} in rld.toml or --{clock.replace('_', '-')} sets the limit")
    assert attempt["cost_usd"] == 0.5


READERS = ("claude", "codex", "gemini", "opencode", "copilot", "qwen", "pi")
ANSWERS_TERM = "cat >/dev/null; trap 'cat \"$0\"; exit 0' TERM; : >\"$1\"; while :; do sleep 0.05; done"


def test_whole_transcript_as_an_answer_to_its_end(make_daemon, tmp_path):
    """In the form of each reader."""
    agents = {f"agent.{kind}": {"command": ["/bin/sh", "-c", ANSWERS_TERM,
                                            str(SOURCE / "tests" / "data" / "agents" / kind / "good.jsonl"),
                                            str(tmp_path / f"{kind}.up")], "reader": kind}
              for kind in READERS}
    daemon = make_daemon(config={"parallel": len(READERS), "limits": {**GRACE, "timeout": "5s"}, **agents})
    runs = {}
    for kind in READERS:
        os.mkfifo(tmp_path / f"{kind}.up")
        (tmp_path / kind).mkdir()
        runs[kind] = daemon.submit(tmp_path / kind, agent=kind)
    for kind in READERS:
        open(tmp_path / f"{kind}.up").close()
    for kind, run in runs.items():
        assert daemon.ended(run)["state"] == "failed", kind
        attempt, = daemon.attempts(run)
        assert (attempt["process"], attempt["exit_code"], attempt["outcome"]) == ("timeout", 0, "failed"), kind


REVIEW_FILES = {
    "verdict": ("", "printf %s '{\"verdict\": \"pass\", \"followUpPrompt\": \"fine\"}' > \"$RL_VERDICT_FILE\""),
    "file": ("echo '- [ ] README:1: wrong' > autom8_review.md", ": > autom8_review.md"),
    "file removed": ("echo '- [ ] README:1: wrong' > autom8_review.md", "rm autom8_review.md"),
    "comments": ("echo '{\"comments\": [{\"file\": \"README\", \"line\": 1, \"severity\": "
                 "\"must-fix\", \"comment\": \"wrong\"}], \"summary\": \"s\"}'"
                 " > review-comments.json",
                 "echo '{\"comments\": [], \"summary\": \"s\"}' > review-comments.json")}


@pytest.mark.each
@pytest.mark.parametrize("profile", REVIEW_FILES)
def test_review_file_written_as_an_answer_to_its_end(make_daemon, repo, tmp_path, profile):
    """A reviewer that has given its result and stays is ended, and its file is not as it
    was when that came."""
    before, after = REVIEW_FILES[profile]
    result = json.dumps({"type": "result", "subtype": "success", "is_error": False, "session_id": "s",
                         "result": '{"verdict": "drift", "followUpPrompt": "wrong"}\n\nReview finished: NONCE'})
    agent = tmp_path / "agent"
    half = r"`\([0-9a-f]\{4\}\)`"
    agent.write_text("#!/bin/sh\n"
                     f"nonce=$(sed -n 's/.*{half} and {half}.*/\\1\\2/p' | tail -n 1)\n"
                     f"[ $RL_ROLE = review ] || {{ echo two >> README; printf '%s\\n' '{result}'; exit 0; }}\n"
                     f"{before}\n"
                     f"trap '{after.replace(chr(39), chr(39) + chr(34) + chr(39) + chr(34) + chr(39))}; "
                     f"exit 0' TERM\nprintf '%s\\n' '{result}' | sed \"s/NONCE/$nonce/\"\n"
                     "while :; do sleep 0.05; done\n")
    agent.chmod(0o755)
    daemon = make_daemon(config={"limits": {**GRACE, "post_result": "1s"},
                                 "agent.late": {"command": [str(agent)], "reader": "claude"}})
    run = daemon.submit(repo.path, agent="late",
                        review={"enabled": True, "profile": profile.split()[0], "max_fixes": 0, "read_only": False})
    row = daemon.ended(run)
    what = "there is no review file, and its directory" if profile == "file removed" else "the review file"
    assert (row["state"], row["cause"]) == ("failed", f"reviewer contract violation: {what} was changed after the "
                                            "reviewer was told to stop")
    assert [review["decision"] for review in daemon.reviews(run)] == ["violation"]


RETRY = '{"type":"system","subtype":"api_retry","attempt":1,"error_status":503,"session_id":"s"}'
TURN = '{"type":"assistant","message":{"content":[{"type":"text","text":"so far"}]},"session_id":"s"}'
NOISES = {"stderr": f"echo '{TURN}' >&2", "lines": "echo '[STARTUP] Recording metric for phase'",
          "dots": "printf .", "retries": f"echo '{RETRY}'"}


@pytest.mark.parametrize("noise", NOISES)
def test_noise_is_no_progress(make_daemon, repo, noise):
    """The idle limit ends it, whoever notices, and the cause names the setting."""
    agent = f"cat >/dev/null; echo '{TURN}'; while :; do sleep 0.1; {NOISES[noise]}; done"
    daemon = make_daemon(config={"limits": GRACE, "limits.implement": {"idle_timeout": "2s", "timeout": "120s"},
                                 "agent.noisy": {"command": ["/bin/sh", "-c", agent], "reader": "claude"}})
    run = daemon.submit(repo.path, agent="noisy")
    assert daemon.ended(run)["state"] == "failed"
    attempt, = daemon.attempts(run)
    assert (attempt["process"],
            attempt["cause"]) == ("idle", "implementer process made no progress for 2s; "
                                  "limits.implement.idle_timeout in rld.toml sets the limit")


def test_noise_while_no_daemon_runs(make_daemon, repo, tmp_path):
    """The shim has no reader, and knows which stream counts."""
    os.mkfifo(tmp_path / "up")
    agent = f"cat >/dev/null; : > {tmp_path}/up; while :; do sleep 0.1; echo retrying >&2; done"
    daemon = make_daemon(config={"limits": {**GRACE, "idle_timeout": "3s", "timeout": "120s"},
                                 "agent.noisy": {"command": ["/bin/sh", "-c", agent], "reader": "gemini"}})
    run = daemon.submit(repo.path, agent="noisy")
    open(tmp_path / "up").close()
    attempt, = daemon.attempts(run)
    shim = dict(line.split(" ", 1) for line in (daemon.state / "attempts" / str(attempt["id"]) /
                                                "shim").read_text().splitlines())
    daemon.kill()
    wait_gone(int(shim["pid"]))
    daemon.start()
    assert daemon.ended(run)["state"] == "failed"
    assert daemon.attempts(run)[0]["process"] == "idle"


def test_progress_between_noise(make_daemon, repo):
    """Events that come, one now and then, for longer than the idle limit."""
    agent = ("cat >/dev/null; for i in $(seq 12); do for j in 1 2 3 4; do sleep 0.1; echo noise; "
             f"echo noise >&2; done; echo '{TURN}'; done; echo two >> README; "
             """echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s"}'""")
    daemon = make_daemon(config={"limits": {**GRACE, "idle_timeout": "3s"},
                                 "agent.noisy": {"command": ["/bin/sh", "-c", agent], "reader": "claude"}})
    run = daemon.submit(repo.path, agent="noisy")
    assert daemon.ended(run)["state"] == "succeeded", daemon.attempts(run)


def test_result_of_an_agent_that_took_over(make_daemon, tmp_path):
    """It is read as its own reader does, not as that of the agent in whose place it works."""
    daemon = make_daemon(start=False)
    gates = tmp_path / "gates"
    gates.mkdir()
    os.mkfifo(gates / "claude.here")
    daemon.write_config({"limits": {**GRACE, "post_result": "1s", "timeout": "20s"},
                         "agent.first": {"command": ["false"], "reader": "codex", "fallback": ["second"]},
                         "agent.second": {"command": [str(FAKES / "tree"), "claude", "result",
                                                      str(gates)], "reader": "claude"}})
    daemon.start()
    daemon.call("cooldown.set", account="first", **{"for": "1h"})
    run = daemon.submit(tmp_path, agent="first")
    with open(gates / "claude.here") as fifo:
        fifo.readline()
    assert daemon.ended(run)["state"] == "succeeded"
    attempt, = daemon.attempts(run)
    assert (attempt["agent"], attempt["process"]) == ("second", "lingered")
    assert "attempt 1 has given its result" in daemon.log()
