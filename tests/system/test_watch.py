# SPDX-License-Identifier: MIT
"""rlctl watch: full screen on a terminal that is given back as it was, a line for each
event elsewhere."""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import termios
import threading

import pytest

import rld as harness
from rld import DRIFT_THEN_PASS, RLCTL
from terminal import open_terminal
from test_client import FakeDaemon

GATED = {**DRIFT_THEN_PASS, "implement": "echo I look at it; gate a\n" + DRIFT_THEN_PASS["implement"],
         "review.1": "gate b\n" + DRIFT_THEN_PASS["review.1"],
         "fix": "gate c\n" + DRIFT_THEN_PASS["fix"], "review.2": "gate d\npass\n"}
GATES = ["a", "b", "c", "d"]


@pytest.fixture
def at_a(make_daemon, repo):
    """A daemon whose run 1 stands in its implement attempt."""
    daemon = make_daemon(scripts=GATED, gates=GATES)
    run = daemon.review(repo.path, "mend the parser")
    daemon.play.arrived("a")
    with daemon.events(run=run) as events:
        events.until("attempt.started")
    return daemon


def go_on(daemon, *gates):
    for gate in gates:
        daemon.play.arrived(gate)
        daemon.play.go(gate)


def test_a_run_from_its_agent_to_its_end(at_a, on):
    daemon, screen = at_a, on(at_a, "watch", 1)
    text = screen.shows("Run 1  running  prompt  0/1 done", "working on t1", "t1  mend the parser",
                        "| I look at it", "q quit")
    assert re.search(r"A1 EVENTS \d+  working on t1  play  updated \d+s ago", text), text
    daemon.play.go("a")
    daemon.play.arrived("b")
    text = screen.shows("A1 REVIEW  reviewing t1  play  round 1/6", "not reviewed yet")
    daemon.play.go("b")
    daemon.play.arrived("c")
    text = screen.shows("A1 FIX  fix attempt 1 for t1  play  round 1/6", "review 1 by play: drift")
    assert "not reviewed yet" not in text
    daemon.play.go("c")
    daemon.play.arrived("d")
    screen.shows("A1 REVIEW  reviewing t1  play  round 2/6", "review 1 by play: drift")
    daemon.play.go("d")
    text = screen.shows("Run 1  succeeded  prompt  1/1 done", "A1 PASSED")
    assert ("REVIEW" not in text and "FIX" not in text
            and "reviewing" not in text.replace("Reviewing", "")), "the phase is cleared"
    assert screen.process.poll() is None, "the end stays to be read"
    screen.press("q")
    assert screen.ended() == 0 and screen.restored() and screen.message() == ""


@pytest.mark.parametrize("leave", ["q", "\x03", "\x04", "\x1bq", "\x1b\x1bq"],
                         ids=["q", "ctrl-c", "ctrl-d", "escape-q", "escapes-q"])
def test_leaving_restores_the_terminal_and_ends_nothing(at_a, on, leave):
    screen = on(at_a, "watch", 1)
    screen.shows("I look at it")
    assert "1049" in screen.screen.modes and not {"25", "7"} & screen.screen.modes
    flags = termios.tcgetattr(screen.slave)[3]
    assert not flags & (termios.ICANON | termios.ECHO) and flags & termios.ISIG
    screen.press(leave)
    assert screen.ended() == 0 and screen.restored() and screen.message() == ""
    assert at_a.run(1)["state"] == "running"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT,
                                    signal.SIGSEGV, signal.SIGABRT])
def test_a_signal_restores_the_terminal(at_a, on, number):
    if harness.SANITIZED and number in (signal.SIGSEGV, signal.SIGABRT):
        pytest.skip("a sanitizer reports these, as it should")
    screen = on(at_a, "watch", 1)
    screen.shows("I look at it")
    screen.signal(number)
    assert screen.ended() == (0 if number == signal.SIGINT else -number) and screen.restored()


def test_the_daemon_dies(at_a, on):
    screen = on(at_a, "watch", 1)
    screen.shows("I look at it")
    at_a.kill()
    assert screen.ended() == 3 and screen.restored()
    assert "the daemon disappeared; run 1 and its agents continue" in screen.message()
    at_a.start()


def test_a_daemon_that_hangs_can_be_left(tmp_path, on):
    """It asks for the output again, and gets no answer."""
    fake, hanging = FakeDaemon(tmp_path / "s"), threading.Event()
    slot = {"slot": 1, "phase": "implementing", "task": "t1", "attempt": 5, "round": 0, "fix": 0, "fixes": 5}

    def preview(peer, params):
        if len(fake.of("attempt.preview")) > 1:
            hanging.wait(60)
        return {"lines": ["I look at it"], "updated_at": None}
    fake.answers.update({"run.get": {"id": 1, "state": "running", "source": "prompt", "slots": [slot]},
                         "attempt.preview": preview,
                         "attempt.list": {"attempts": [{"id": 5, "role": "implement", "state": "running"}]},
                         "review.list": {"reviews": []}})
    try:
        screen = on(argparse.Namespace(socket=fake.path), "watch", 1)
        screen.shows("I look at it")
        fake.await_call("attempt.preview", 2)
        screen.press("\x03")
        assert screen.ended() == 0 and screen.restored()
    finally:
        hanging.set()
        fake.close()


def test_stopped_and_continued(at_a, on):
    """Ctrl-Z gives the terminal to the shell; fg brings the screen back."""
    screen = on(at_a, "watch", 1)
    screen.shows("I look at it")
    os.waitid(os.P_PID, screen.process.pid, os.WEXITED | os.WSTOPPED | os.WNOHANG)
    screen.signal(signal.SIGSTOP)
    os.waitid(os.P_PID, screen.process.pid, os.WSTOPPED)
    screen.drain()
    settings = termios.tcgetattr(screen.slave)
    # as a shell does that has it now
    termios.tcsetattr(screen.slave, termios.TCSANOW, screen.before)
    screen.screen.clear()
    screen.signal(signal.SIGCONT)
    screen.shows("I look at it", "q quit")
    assert termios.tcgetattr(screen.slave) == settings
    screen.press("q")
    assert screen.ended() == 0
    assert termios.tcgetattr(screen.slave) == screen.before and "1049" not in screen.screen.modes


def test_resized(daemon, repo, on):
    """Also when nothing else would have the screen drawn again."""
    daemon.ended(daemon.submit(repo.path, "mend the parser"))
    screen = on(daemon, "watch", 1)
    screen.shows("mend the parser", "q quit")
    for lines, width in ((10, 40), (60, 200), (3, 20), (24, 80)):
        screen.resize(lines, width)
        screen.signal(signal.SIGWINCH)
        text = screen.until(lambda text: text.startswith("Run 1") and ("q quit" in text or lines < 4))
        assert len(text.split("\n")) == lines
    screen.press("q")
    assert screen.ended() == 0 and screen.restored()


def test_only_what_changes_is_written(at_a, on):
    """Between two ticks the line with the age is written again, and nothing else."""
    screen = on(at_a, "watch", 1)
    screen.shows("I look at it", "updated")
    first = re.search(r"updated (\d+)s ago", screen.screen.text()).group(1)
    screen.drain()
    before = len(screen.data)
    screen.until(lambda text: re.search(r"updated (\d+)s ago", text).group(1) != first)
    written = screen.data[before:].decode()
    assert ("mend the parser" not in written and "q quit" not in written
            and "\x1b[2J" not in written and len(written) < 400), written
    screen.press("q")
    assert screen.ended() == 0


def test_a_run_that_is_reviewed_as_a_whole(make_daemon, repo, on):
    """Its reviews are about no task of a slot, and its slots have their work behind them."""
    scripts = {"implement": "echo x > $RL_SLOT.txt\nanswer done\n",
               "review.1": "drift 'add a second line'\n", "review": "pass\n",
               "fix": "echo y >> 1.txt\ngate c\nanswer mended\n"}
    daemon = make_daemon(scripts=scripts, gates=["c"])
    stories = json.dumps({"userStories": [{"id": id, "title": "t", "passes": False} for id in ("US-1", "US-2")]})
    daemon.call("run.submit", stories=stories, workdir=str(repo.path), parallel=2,
                review={"enabled": True, "scope": "run"})
    daemon.play.arrived("c")
    screen = on(daemon, "watch", 1)
    screen.shows("> all FIX  fix attempt 1 for the whole run", "review 1 by play: drift, 1 finding",
                 "- add a second line", "A1 WAIT  implemented US-", "A2 WAIT  implemented US-",
                 ", waiting for the review of the whole run")
    daemon.play.go("c")
    screen.shows("Run 1  succeeded")


def test_r_shows_the_review_and_a_review_gives_it_back(at_a, on):
    daemon, screen = at_a, on(at_a, "watch", 1)
    screen.shows("| I look at it")
    screen.press("r")
    text = screen.shows("not reviewed yet")
    assert "| I look at it" not in text
    screen.press("r")
    screen.shows("| I look at it")
    daemon.play.go("a")
    daemon.play.arrived("b")
    screen.shows("REVIEW", "not reviewed yet")
    daemon.play.go("b")
    go_on(daemon, "c", "d")
    assert "review 1 by" not in screen.shows("PASSED"), "its output was shown before"
    screen.press("r")
    screen.shows("review 2 by play: pass")


def test_the_list_and_a_run_out_of_it(make_daemon, repo, on):
    daemon = make_daemon(scripts=GATED, gates=GATES)
    daemon.review(repo.path, "first")
    daemon.play.arrived("a")
    daemon.submit(repo.path, "second")
    screen = on(daemon, "watch")
    text = screen.shows("2 unfinished runs", "first", "second", "workdir busy: run 1")
    rows = [line.split() for line in text.split("\n")]
    assert rows[1][:3] == [">", "2", "queued"] and rows[2][:2] == ["1", "running"] and "RUN" in rows[2], text
    screen.press("\x1b[B")
    screen.shows(">    1  running")
    screen.press("\n")
    screen.shows("Run 1  running", "I look at it")
    screen.press("b")
    screen.shows("2 unfinished runs")
    daemon.cancelled(2)
    screen.shows("1 unfinished run\n", ">    1  running")
    screen.press("\x1bOC")
    screen.shows("Run 1  running")
    screen.press("\x1b[D")
    screen.shows("1 unfinished run\n")
    screen.press("q")
    assert screen.ended() == 0 and screen.restored()


# ---- many tasks ----------------------------------------------------------------------------------

def with_beads(repo, count):
    (repo.path / ".beads").mkdir()
    repo.write(".beads/issues.jsonl", "".join(json.dumps({"id": f"x-{i}", "title": f"bead number {i}",
                                                          "status": "open", "priority": 1}) + "\n"
                                              for i in range(1, count + 1)))
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "beads")


BEADS = {"implement": 'echo "I work on $RL_TASK_ID"; gate "$RL_TASK_ID"; '
         'echo one > "work.$RL_TASK_ID"; answer done\n', "review": "pass\n", "review.1": "pass\n"}


def test_two_slots_and_two_iterations(make_daemon, repo, on):
    with_beads(repo, 3)
    daemon = make_daemon(scripts=BEADS, gates=["x-1", "x-2", "x-3"], config={"agent.play": {"reader": "text"}})
    daemon.rlctl("submit", "--beads", "-P", "2", "-n", "9", "--review", "-C", repo.path, check=0)
    screen = on(daemon, "watch", 1, width=120)
    daemon.play.arrived("x-1")
    daemon.play.arrived("x-2")
    text = screen.shows("Run 1  running  beads  iteration 1/9  0/3 done", "| I work on x-1", "| I work on x-2")
    assert re.search(r"^> A1 EVENTS \d+  working on x-1  play .*\n    x-1  bead number 1\n    \| I "
                     r"work on x-1\n  A2 EVENTS \d+  working on x-2", text, re.M), text
    screen.press("2")
    screen.shows("> A2 EVENTS", "  A1 EVENTS")
    screen.press("\x1b[A")
    screen.shows("> A1 EVENTS", "  A2 EVENTS")
    daemon.play.go("x-2")
    screen.shows("A2 PASSED", "A1 EVENTS", "1/3 done")
    daemon.play.go("x-1")
    daemon.play.arrived("x-3")
    text = screen.shows("iteration 2/9  2/3 done", "iterations: 1 passed | 2 running",
                        "working on x-3", "| I work on x-3")
    assert "A2" not in text.split("iterations:")[1].rsplit("\n", 2)[0], "the slots of the last iteration are gone"
    daemon.play.go("x-3")
    screen.shows("Run 1  succeeded", "3/3 done", "iterations: 1 passed | 2 passed", "A1 PASSED")
    screen.press("q")
    assert screen.ended() == 0 and screen.restored()


def test_run_names_slot_and_task_where_there_are_many(make_daemon, repo):
    with_beads(repo, 2)
    daemon = make_daemon(scripts={**BEADS, "implement": 'echo one > "work.$RL_TASK_ID"; answer done\n',
                                  "review.1": "drift more\n", "fix": 'echo two >> "work.$RL_TASK_ID"\n'})
    done = daemon.rlctl("run", "--beads", "-P", "1", "-n", "3", "--isolation", "worktree",
                        "--integrate", "merge", "--review", "-C", repo.path, check=0)
    lines = [re.sub("as [0-9a-f]{12}$", "as COMMIT", line)
             for line in done.err.splitlines() if not line.startswith(" ")]
    assert lines[2:-1] == [
        "Iteration 1/3", "A1 START x-1: implementing", "A1 REVIEW x-1: Reviewing changes (iteration 1/6)...",
        "A1 FIX 1 x-1: Issues found. Running corrector (iteration 1/6)...",
        "A1 REVIEW x-1: Reviewing changes (iteration 2/6)...",
        "A1 COMMIT x-1: Review passed! Proceeding to commit.", "A1 MERGE merged x-1 as COMMIT",
        "A1 PASSED x-1: passed", "Iteration 1/3 passed",
        "Iteration 2/3", "A1 START x-2: implementing", "A1 REVIEW x-2: Reviewing changes (iteration 1/6)...",
        "A1 COMMIT x-2: Review passed! Proceeding to commit.", "A1 MERGE merged x-2 as COMMIT",
        "A1 PASSED x-2: passed", "Iteration 2/3 passed",
        "Run 1 succeeded"], done.err
    assert ("  A1 implement: play (attempt 1/1)" in done.err.splitlines()
            and "  A1 drift: 1 new, 0 repeated, 0 resolved" in done.err.splitlines())


def test_agents_that_pick_are_told_apart(make_daemon, repo, on):
    with_beads(repo, 2)
    daemon = make_daemon(scripts={"implement": 'gate a; echo "bd update x-$RL_SLOT"; gate b; '
                                  'echo one > "work.$RL_SLOT"; answer done\n'}, gates=["a", "b"])
    process = daemon.rlctl_start("run", "--beads", "-P", "2", "-n", "1", "--assign", "agent", "-C", repo.path)
    daemon.play.arrived("a")
    screen = on(daemon, "watch", 1)
    screen.shows("A1 RUN  picking a bead", "A2 WAIT  waiting to spawn until A1 picked a bead")
    daemon.play.go("a")
    daemon.play.arrived("b")
    daemon.play.arrived("a")
    screen.shows("working on x-1", "x-1  bead number 1", "A2 RUN  picking a bead")
    daemon.play.go("b")
    daemon.play.go("a")
    go_on(daemon, "b")
    _, err = process.communicate()
    assert (process.returncode == 0 and "\nA1 PICK picked x-1: bead number 1\n" in err.decode()
            and "\nA2 PICK picked x-2: bead number 2\n" in err.decode())


# ---- what agents write ---------------------------------------------------------------------------

RUBBISH = "\\033[2J\\033]0;title\\007\\033[?1049l\\302\\2331m\\r\\342\\200\\256"


def test_rubbish_never_reaches_the_terminal(make_daemon, repo, on):
    """The helper interprets every byte, and takes only our own sequences."""
    daemon = make_daemon(scripts={"implement": f"printf '{RUBBISH}end\\n'; gate a\n"}, gates=["a"])
    daemon.submit(repo.path, "do \x1b[31mit\x07\x9b\u202e now")
    daemon.play.arrived("a")
    screen = on(daemon, "watch", 1, width=200)
    text = screen.shows("\\u{202e}end")
    assert "do \\x1b[31mit\\x07\\x9b\\u{202e} now" in text and "\\x9b1m" in text
    screen.press("b")
    screen.shows("do \\x1b[31mit\\x07\\x9b\\u{202e} now")
    screen.press("q")
    assert screen.ended() == 0 and screen.restored()


def test_no_such_run(daemon, on):
    screen = on(daemon, "watch", 77)
    assert screen.ended() == 1 and b"no such run: 77" in screen.data and b"\x1b" not in screen.data


def test_in_tmux(at_a, tmp_path):
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    for fd in open_terminal():      # tmux needs one, too
        os.close(fd)
    harness.note_command(("watch",))
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8", "TERM": "xterm",
           "RLD_SOCKET": str(at_a.socket)}
    socket = str(tmp_path / "tmux")

    def tmux(*args):
        return subprocess.run(["tmux", "-S", socket, "-f", "/dev/null", *args], env=env,
                              capture_output=True, text=True, check=True).stdout

    def pane(*words):
        while not all(word in (text := tmux("capture-pane", "-p", "-t", "w")) for word in words):
            pass
        return text
    tmux("new-session", "-d", "-s", "w", "-x", "80", "-y", "24", "sh")
    try:
        tmux("send-keys", "-t", "w", f"PS1='ready: '; {RLCTL} watch 1", "Enter")
        text = pane("Run 1  running", "| I look at it", "q quit")
        assert len(text.split("\n")) >= 24
        tmux("resize-window", "-t", "w", "-x", "40", "-y", "10")
        pane("Run 1  running", "q quit  ? help  l logs  d diff  t tasks")
        tmux("send-keys", "-t", "w", "q")
        assert "q quit" not in pane("ready:"), "what stood there before is back"
        assert tmux("display-message", "-p", "-t", "w",
                    "#{alternate_on} #{cursor_flag} #{wrap_flag}").split() == ["0", "1", "1"]
    finally:
        tmux("kill-server")


def test_show_has_the_same_blocks(at_a):
    # the shim is a moment behind
    while "I look at it" not in (text := at_a.rlctl("show", 1, check=0).out):
        pass
    assert re.search(r"^  A1 RUN  working on t1  play  updated \d+s ago\n    t1  mend the "
                     r"parser\n    \| I look at it$", text, re.M), text
    with at_a.events(since=None, run=1) as events:
        at_a.play.go("a")
        at_a.play.arrived("b")
        events.until("attempt.started")
    assert re.search(r"^  A1 REVIEW  reviewing t1  play  round 1/6", at_a.rlctl("show", 1, check=0).out, re.M)
    at_a.play.go("b")
    go_on(at_a, "c", "d")
    at_a.ended(1)
    assert "\n  A1 " not in at_a.rlctl("show", 1, check=0).out


# ---- without a screen ----------------------------------------------------------------------------

def test_lines_in_a_pipe(at_a):
    process = at_a.rlctl_start("watch", 1)
    first = [process.stdout.readline() for _ in range(3)]
    assert first[0] == b"Run 1 running\n" and first[1].startswith(
        b"  A1 RUN  working on t1  play  started ") and b"t1  mend the parser" in first[2], first
    at_a.play.go("a")
    go_on(at_a, "b", "c", "d")
    out, err = process.communicate()
    lines = out.decode().splitlines()
    assert process.returncode == 0 and err == b"" and "\x1b" not in out.decode()
    assert [line for line in lines if not line.startswith(" ")] == [
        "Reviewing changes (iteration 1/6)...",
        "Issues found. Running corrector (iteration 1/6)...", "Reviewing changes (iteration 2/6)...",
        "Review passed!", "Run 1 succeeded"]
    done = at_a.rlctl("watch", 1, check=0)
    assert done.out.startswith("Run 1 succeeded\n"), "what has ended is told, and that is all"


@pytest.mark.parametrize("term", ["dumb", ""])
def test_lines_on_a_terminal_that_is_none(at_a, on, term):
    screen = on(at_a, "watch", 1, environment={"TERM": term})
    screen.shows("Run 1 running")
    at_a.play.go("a")
    go_on(at_a, "b", "c", "d")
    assert screen.ended() == 0
    assert b"\x1b[?" not in screen.data and b"Run 1 succeeded" in screen.data


def test_lines_of_all_runs(make_daemon, repo):
    daemon = make_daemon()
    process = daemon.rlctl_start("watch")
    with daemon.connect() as rpc:
        while rpc.call("daemon.status")["followers"] == 0:
            pass
    daemon.ended(daemon.review(repo.path))
    daemon.ended(daemon.submit(repo.path))
    lines = []
    while not lines or lines[-1] != "[2] Run 2 succeeded":
        lines.append(process.stdout.readline().decode().rstrip("\n"))
    assert "[1] Reviewing changes (iteration 1/6)..." in lines and "[1] Run 1 succeeded" in lines
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == -signal.SIGINT


def test_json_is_the_events(at_a):
    process = at_a.rlctl_start("--json", "watch", 1)
    with at_a.connect() as rpc:
        while rpc.call("daemon.status")["followers"] == 0:
            pass
    at_a.play.go("a")
    go_on(at_a, "b", "c", "d")
    out, _ = process.communicate()
    events = [json.loads(line) for line in out.decode().splitlines()]
    assert process.returncode == 0 and events[-1]["type"] == "run.state" and events[-1]["state"] == "succeeded"
    assert all(event["run"] == 1 for event in events) and [e["seq"] for e in events] == sorted(e["seq"] for e in events)


def test_lines_end_with_the_daemon(at_a):
    process = at_a.rlctl_start("watch", 1)
    process.stdout.readline()
    at_a.kill()
    _, err = process.communicate()
    assert process.returncode == 3 and b"the daemon disappeared" in err
    at_a.start()
