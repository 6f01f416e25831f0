# SPDX-License-Identifier: MIT
"""rlctl run on a terminal: a line at its end tells what the run does, and leaves nothing behind."""
import re
import signal

import pytest

from rld import DRIFT_THEN_PASS

WORDS = {**DRIFT_THEN_PASS, "implement": "echo I look at it; gate a\n" + DRIFT_THEN_PASS["implement"],
         "review.1": "gate b\n" + DRIFT_THEN_PASS["review.1"]}
LINE = re.compile(r"^implementing  \d+s  I look at it$", re.M)


@pytest.fixture
def gated(make_daemon):
    return make_daemon(scripts=WORDS, gates=["a", "b"])


def go(daemon, *gates):
    for gate in gates:
        daemon.play.arrived(gate)
        daemon.play.go(gate)


def lines_of(screen):
    return [line for line in screen.screen.text().splitlines() if line]


def test_it_moves_and_leaves_nothing(gated, repo, on):
    screen = on(gated, "run", "--review", "-C", repo.path, "mend it")
    text = screen.until(LINE.search)
    first = LINE.search(text)[0]
    assert lines_of(screen)[-1] == first and lines_of(screen)[-2].startswith("  implement: play")
    screen.until(lambda text: (found := LINE.search(text)) and found[0] != first)
    go(gated, "a")
    text = screen.until(lambda text: re.search(r"^reviewing 1/6  \d+s", text, re.M))
    assert not LINE.search(text)
    go(gated, "b")
    assert screen.ended() == 0
    text = screen.screen.text()
    assert not re.search(r"^(implementing|reviewing|fixing|checking|running) |at it$", text, re.M), text
    assert "Run 1 succeeded" in text and lines_of(screen)[-1] == "second answer"
    # each line that stays begins at the left edge, and the cursor is there
    assert screen.screen.column == 0


@pytest.mark.parametrize("width", [12, 40, 200])
def test_any_width(gated, repo, on, width):
    screen = on(gated, "run", "-C", repo.path, "mend it", width=width, lines=60)
    text = screen.until(lambda text: re.search(r"^implementing( |…|$)" if width > 12 else r"^implementi…$", text, re.M))
    assert ("I look at it" in screen.until(lambda text: "look" in text)) if width >= 40 else "look" not in text
    assert len(lines_of(screen)[-1]) < width
    go(gated, "a")
    assert screen.ended() == 0 and "implementing" not in lines_of(screen)[-1]


def test_resized(gated, repo, on):
    """The terminal does not tell rlctl; the next line is as wide as it is by then."""
    screen = on(gated, "run", "-C", repo.path, "mend it")
    screen.until(LINE.search)
    screen.resize(24, 20)
    screen.until(lambda text: re.search(r"^implementing  \d+s$", text, re.M))
    screen.resize(24, 80)
    screen.until(LINE.search)
    go(gated, "a")
    assert screen.ended() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_the_terminal_clean(gated, repo, on, number):
    screen = on(gated, "run", "-C", repo.path, "mend it")
    screen.until(LINE.search)
    if number == signal.SIGINT:
        screen.press("\x03")
        screen.shows("Detached. Run 1 continues", "Press Ctrl-C again")
        assert screen.ended() == 130
    else:
        screen.signal(number)
        assert screen.ended() == -number
    assert not LINE.search(screen.screen.text()) and screen.screen.column == 0
    go(gated, "a")
    gated.ended(1)


def test_no_colour(gated, repo, on):
    screen = on(gated, "run", "-C", repo.path, "mend it", environment={"NO_COLOR": "1"})
    screen.until(LINE.search)
    assert not re.search(rb"\x1b\[[0-9;]*m", screen.data)
    go(gated, "a")
    assert screen.ended() == 0


@pytest.mark.parametrize("args, environment", [(("-q",), {}), ((), {"TERM": "dumb"}), ((), {"TERM": ""})])
def test_where_there_is_none(gated, repo, on, args, environment):
    screen = on(gated, "run", *args, "-C", repo.path, "mend it", environment=environment)
    go(gated, "a")
    assert screen.ended() == 0 and b"implementing" not in screen.data and b"\x1b[J" not in screen.data


def test_none_in_a_pipe(gated, repo):
    process = gated.rlctl_start("run", "-C", repo.path, "mend it")
    go(gated, "a")
    out, err = process.communicate()
    assert process.returncode == 0 and b"look at it" not in err and b"\x1b" not in err and b"\r" not in err


def test_several_slots_are_counted(make_daemon, repo, on):
    daemon = make_daemon(scripts={"implement": 'echo "I am at $RL_TASK_ID"; gate "$RL_TASK_ID"\n'},
                         gates=["US-1", "US-2"])
    repo.write("prd.json", '{"userStories": [{"id": "US-1", "title": "one"}, {"id": "US-2", "title": "two"}]}')
    repo.git("add", "."), repo.git("commit", "-qm", "prd")
    screen = on(daemon, "run", "--stories", repo.path / "prd.json", "-P", "2", "--isolation", "worktree",
                "-C", repo.path, width=100)
    wanted = r"^2 implementing  \d+s  2 tasks, 0 passed  A{0} I am at US-{0}$"
    for slot in (1, 2):     # they take turns
        screen.until(lambda text: re.search(wanted.format(slot), text, re.M))
    go(daemon, "US-1", "US-2")
    screen.ended()


def test_what_an_agent_writes_steers_nothing(make_daemon, repo, on):
    """The screen fails on every sequence that is not ours."""
    words = "printf 'x\\033]0;owned\\007\\033[2J\\233\\377 \\342\\200\\256end\\n'; gate a\n"
    daemon = make_daemon(scripts={"implement": words}, gates=["a"])
    screen = on(daemon, "run", "-C", repo.path, "mend it")
    screen.until(lambda text: re.search(r"^implementing .*end$", text, re.M))
    go(daemon, "a")
    screen.ended()
