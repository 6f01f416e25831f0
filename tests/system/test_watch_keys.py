# SPDX-License-Identifier: MIT
"""What the keys of rlctl watch do: each calls a method or opens a page, and says what came of
it."""
import json
import re

import pytest

from rld import DRIFT_THEN_PASS
from test_transcript import CLAUDE, TALK, result, said, script

WAIT = {"implement": "echo I look at it; gate a\n"}


@pytest.fixture
def working(make_daemon, repo):
    """A daemon whose run 1 stands in its implement attempt."""
    daemon = make_daemon(scripts=WAIT, gates=["a"])
    daemon.submit(repo.path, "mend the parser")
    daemon.play.arrived("a")
    return daemon


@pytest.fixture
def held(make_daemon, repo):
    """A daemon whose run 1 is held for a human."""
    daemon = make_daemon(scripts={**DRIFT_THEN_PASS, "review": "drift 'not yet'\n", "review.1": "drift no\n",
                                  "fix": "echo $nth >> work.txt\nanswer mended\n"})
    run = daemon.review(repo.path, "mend the parser", review={"max_fixes": 0, "on_exhausted": "hold"})
    with daemon.events(run=run) as events:
        events.until("hold.opened")
    return daemon


def last(text):
    return [line for line in text.split("\n") if line][-1]


def quit_watch(screen):
    screen.press("q")
    assert screen.ended() == 0 and screen.restored()


def test_cancel_asks_first(working, on):
    screen = on(working, "watch", 1)
    screen.shows("I look at it", "c cancel")
    screen.press("c")
    screen.shows("Cancel run 1 and end its agents? (y/n)")
    screen.press("n")
    screen.shows("nothing was done")
    assert working.run(1)["state"] == "running"
    screen.press("cy")
    screen.shows("Run 1  cancelled")
    quit_watch(screen)


def test_pause_and_resume_from_the_list(working, on):
    screen = on(working, "watch")
    screen.shows("1 unfinished run", "p pause")
    screen.press("p")
    screen.shows("Run 1: paused")
    screen.press("?")           # a key takes the notice away
    screen.shows("Keys", "finish running attempts, start no new ones")
    screen.press("q")
    screen.shows("1 unfinished run", "u resume")
    screen.press("u")
    screen.shows("Run 1: running")
    assert working.run(1)["paused"] is False
    screen.press("u")
    screen.shows("resume: not now, run 1 is running")
    quit_watch(screen)
    working.play.go("a")
    working.ended(1)


def test_approve(held, on):
    screen = on(held, "watch", 1, width=40)
    screen.shows("a approve", "x reject")
    screen.press("a")
    screen.until(lambda text: re.match(r"Approve hold 1, task t1: .*… \(y/n\)$", last(text)))
    screen.press("y")
    screen.shows("Run 1  succeeded")
    quit_watch(screen)
    assert held.call("hold.get", id=1)["state"] == "approved"


def test_rework_with_a_typed_text(held, on):
    held.play.set({"fix": "gate f\n"})
    held.play.gates("f")
    screen = on(held, "watch", 1)
    screen.shows("w rework")
    screen.press("w")
    screen.shows("Instructions for hold 1: _")
    screen.press("\n")
    screen.shows("nothing was typed, nothing was sent")
    screen.press("wuse the fää")
    screen.shows("Instructions for hold 1: use the fää_")
    screen.press("\x7fß table q\n")
    held.play.arrived("f")
    assert "use the fäß table q".encode() in held.play.prompt(1, "fix")
    held.cancelled(1)
    quit_watch(screen)


def test_answer_what_an_agent_asks(make_daemon, repo, on):
    daemon = make_daemon(scripts={"implement.1": "echo one > work.txt\nanswer 'QUESTION: A or B?'\n",
                                  "implement": "cp /dev/stdin asked.txt\nanswer done\n", "review": "pass\n"})
    daemon.ended(daemon.review(repo.path, review={"on_question": "hold"}))
    screen = on(daemon, "watch", 1)
    screen.shows("i answer", "A or B?")
    screen.press("i")
    screen.shows("Answer to hold 1: _")
    screen.press("B, please\n")
    screen.shows("Run 1  succeeded")
    quit_watch(screen)
    assert "B, please" in repo.read("asked.txt")


def test_escape_leaves_a_question(held, on):
    screen = on(held, "watch", 1)
    screen.shows("w rework")
    screen.press("wabc")
    screen.shows("Instructions for hold 1: abc_")
    screen.press("\x1b")
    screen.until(lambda text: "Instructions" not in text)
    assert held.run(1)["state"] == "held"
    quit_watch(screen)


def test_the_refusal_of_the_daemon_is_shown(held, on):
    """It was decided elsewhere, after the question."""
    screen = on(held, "watch", 1)
    screen.shows("x reject")
    screen.press("x")
    screen.shows("Reject hold 1")
    held.call("hold.approve", id=1)
    held.ended(1)
    screen.press("y")
    screen.until(lambda text: "hold 1" in last(text) and "approved" in last(text))
    screen.shows("Run 1  succeeded")
    screen.press("R")
    screen.shows("retry: not now, run 1 is succeeded")
    quit_watch(screen)


def test_a_refused_text_is_kept(held, on):
    """For the next prompt, and on the terminal when watch ends."""
    screen = on(held, "watch", 1)
    screen.shows("w rework")
    screen.press("wuse the old index")
    screen.shows("Instructions for hold 1: use the old index_")
    held.call("hold.approve", id=1)
    held.ended(1)
    screen.press("\n")
    screen.until(lambda text: "hold 1" in last(text) and "approved" in last(text))
    screen.press("q")
    assert screen.ended() == 0 and screen.restored()
    assert "what you typed was not sent: use the old index" in screen.message()


@pytest.mark.parametrize("leave", ["\x04", "\x03"], ids=["ctrl-d", "ctrl-c"])
def test_a_text_that_was_not_sent_stays_on_the_terminal(held, on, leave):
    screen = on(held, "watch", 1)
    screen.shows("w rework")
    screen.press("wuse the old index")
    screen.shows("Instructions for hold 1: use the old index_")
    screen.press(leave)
    assert screen.ended() == 0 and screen.restored()
    assert "what you typed was not sent: use the old index" in screen.message()


def test_pasted_lines_are_one_text_and_no_commands(held, on):
    held.play.set({"fix": "gate f\n"})
    held.play.gates("f")
    screen = on(held, "watch", 1)
    screen.shows("w rework")
    screen.press("\x1b[200~cy\rqp\x1b[201~")
    screen.press("w\x1b[200~first\r\n\tcy\rlast\x1b[201~")
    screen.shows("Instructions for hold 1: first")
    screen.until(lambda text: last(text).endswith("cy\\nlast_"))
    screen.press(" more\n")
    held.play.arrived("f")
    assert b"\tcy\nlast more" in held.play.prompt(1, "fix")
    held.cancelled(1)
    quit_watch(screen)


def test_a_long_text_is_drawn_at_once_and_refused_in_words(held, on):
    """A text of which not all is sent would be another text."""
    screen = on(held, "watch", 1)
    screen.shows("w rework")
    screen.press("w")
    for _ in range(66):
        screen.press("x" * 4096)
        screen.shows("x_")
    screen.press("the end")
    screen.shows("xxx")
    screen.press("\n")
    screen.until(lambda text: "message" in last(text))
    assert held.run(1)["state"] == "held"
    quit_watch(screen)


def test_the_chosen_run_stays_chosen(working, repo, on):
    """A run that is submitted meanwhile stands above it."""
    screen = on(working, "watch")
    screen.shows(">    1")
    working.submit(repo.path, "another")
    screen.shows("2 unfinished runs", ">    1")
    screen.press("\n")
    screen.shows("Run 1  running")
    screen.press("b")
    screen.shows("2 unfinished runs", ">    1")
    quit_watch(screen)
    working.play.go("a")
    working.ended(1)
    working.cancelled(2)


@pytest.mark.parametrize("width", [26, 40, 60])
def test_a_narrow_list_shows_what_runs_are_about(working, repo, on, width):
    working.submit(repo.path, "another")
    screen = on(working, "watch", width=width)
    screen.shows("2 unfinished runs", "2  queued", "another"[:width // 10], "mend"[:width // 10])
    quit_watch(screen)
    working.play.go("a")
    working.ended(1)
    working.cancelled(2)


def test_why_a_key_is_of_no_use(held, on):
    screen = on(held, "watch", 1)
    screen.shows("w rework")
    screen.press("i")
    screen.shows("answer: not now, run 1 has nothing to answer")
    screen.press("xy")
    screen.shows("Run 1  failed")
    screen.press("a")
    screen.shows("approve: not now, run 1 has no open hold")
    quit_watch(screen)


def test_pause_of_a_paused_run(working, repo, on):
    working.call("run.pause", id=working.submit(repo.path, "another"))
    screen = on(working, "watch", 2)
    screen.shows("u resume")
    screen.press("p")
    screen.shows("pause: not now, run 2 is paused")
    quit_watch(screen)
    working.play.go("a")
    working.ended(1)
    working.cancelled(2)


def test_retry_of_a_failed_run(make_daemon, repo, on):
    daemon = make_daemon(scripts={"implement": "exit 3\n"})
    daemon.ended(daemon.submit(repo.path))
    screen = on(daemon, "watch", 1)
    screen.shows("Run 1  failed", "R retry")
    screen.press("R")
    screen.shows("Start a new run that continues run 1? (y/n)")
    screen.press("y")
    screen.shows("Run 2 continues run 1")
    quit_watch(screen)
    daemon.ended(2)


def test_logs_open_inside_and_grow(make_daemon, repo, on):
    daemon = make_daemon(scripts={"implement": script(*TALK) + "gate a\n" + script(said("Last words."), result("x"))},
                         gates=["a"], config=CLAUDE)
    daemon.submit(repo.path)
    daemon.play.arrived("a")
    screen = on(daemon, "watch", 1)
    screen.shows("l logs")
    screen.press("l")
    text = screen.shows("Attempt 1/1: implement, play", "> Bash: make test", "  | test_a failed")
    assert "Last words" not in text
    daemon.play.go("a")
    screen.shows("Last words.")
    screen.press("/CALC\n")
    text = screen.shows("> Read: calc.py", "1-1 of 1, with CALC")
    assert "make test" not in text
    screen.press("\x1b")
    screen.shows("> Bash: make test")
    screen.press("q")
    screen.shows("Run 1  ")
    quit_watch(screen)


def test_diff_opens_inside(make_daemon, repo, on):
    daemon = make_daemon(scripts={"implement": "seq -f '\tline %g' 100 > work.txt\nanswer done\n", "review": "pass\n"})
    daemon.ended(daemon.review(repo.path))
    screen = on(daemon, "watch", 1)
    screen.shows("d diff")
    screen.press("d")
    screen.shows("Changes of run 1  1-22 of ", "+++ b/work.txt", "+       line 1")
    screen.press("G")
    screen.shows("line 100")
    screen.press("\x1b[5~")
    screen.until(lambda text: "line 100" not in text)
    screen.press("g")
    screen.shows("Changes of run 1  1-22 of ")
    screen.press("q")
    screen.shows("Run 1  succeeded")
    quit_watch(screen)


@pytest.mark.parametrize("width, lines", [(40, 12), (200, 50), (20, 4), (12, 2)])
def test_help_is_the_table_at_any_size(working, on, width, lines):
    screen = on(working, "watch", width=width, lines=lines)
    screen.until(lambda text: text.startswith("1 unfinish"))
    screen.press("?")
    screen.until(lambda text: text.startswith("Keys"))
    seen = screen.screen.text()
    for _ in range(120):
        screen.press("\x1b[B")
    screen.press("G")
    screen.until(lambda text: "agents" in text or "tinue" in text)
    if lines == 50:
        for words in ("a  approve   approve the open hold; asks before", "c  cancel    cancel the run", "Ctrl-C"):
            assert words in seen, seen
    screen.press("qc")
    screen.until(lambda text: last(text).startswith("Cancel"[:width - 7]) and last(text).endswith(" (y/n)"))
    screen.press("n")
    quit_watch(screen)
    working.play.go("a")
    working.ended(1)


def test_two_hundred_tasks(make_daemon, repo, on):
    stories = [{"id": f"S-{n:03}", "title": f"story number {n}"} for n in range(1, 201)]
    repo.write("prd.json", json.dumps({"userStories": stories}))
    daemon = make_daemon(scripts={"implement": "gate a\n"}, gates=["a"])
    daemon.call("run.submit", workdir=str(repo.path), stories=json.dumps({"userStories": stories}))
    daemon.play.arrived("a")
    screen = on(daemon, "watch", 1, width=40, lines=12)
    screen.shows("0/200 done", "S-001")
    screen.press("t")
    screen.shows("Tasks of run 1  1-10 of ", "S-001  story number 1")
    screen.press("G")
    screen.shows("story number 200")
    screen.press("q")
    screen.shows("0/200 done")
    screen.press("/number 17")
    screen.shows("Show only what has: number 17_")
    screen.press("\n")
    text = screen.shows("1-10 of 11, with number", "S-017", "S-170")
    assert "S-001" not in text
    screen.press("q")
    daemon.cancelled(1)
    screen.shows("cancelled")
    quit_watch(screen)


def test_the_list_is_filtered(working, repo, on):
    for n in range(2, 30):
        working.submit(repo.path, f"task {n} of many")
    screen = on(working, "watch", lines=10)
    screen.shows("29 unfinished runs", ">   29  queued")
    screen.press("\x1b[6~" * 5)
    screen.shows(">    1  running")
    screen.press("/task 2\n")
    text = screen.shows("11 unfinished runs with task 2")
    assert "task 3 " not in text
    screen.press("\x1b")
    screen.shows("29 unfinished runs\n")
    quit_watch(screen)
    for n in range(29, 0, -1):
        working.cancelled(n)


def test_what_agents_write_never_steers_the_terminal(make_daemon, repo, on):
    """The screen fails on every sequence that is not ours: in logs, a diff, tasks and questions."""
    evil = "\x1b]0;owned\x07\x1b[2J\x9b1m\u202eend"
    daemon = make_daemon(scripts={
        "implement": "printf 'a\\033[2J\\377\\n\\302\\2331m\\n' > work.txt\n" + script(said(evil), result(evil)),
        "review": script(said("x"), result(json.dumps({"verdict": "drift", "followUpPrompt": evil})))}, config=CLAUDE)
    run = daemon.review(repo.path, evil, review={"max_fixes": 0, "on_exhausted": "hold"})
    with daemon.events(run=run) as events:
        events.until("hold.opened", )
    screen = on(daemon, "watch", 1)
    screen.shows("a approve")
    for key, words in (("l", "Attempt 1/"), ("d", "\\x1b[2J"), ("t", "end")):
        screen.press(key)
        screen.shows(words)
        screen.press("q")
        screen.shows("a approve")
    screen.press("w\x01\x02abc")
    screen.shows("abc_")
    screen.press("\x1b")
    screen.until(lambda text: "abc" not in text)
    quit_watch(screen)
    daemon.cancelled(1)


def test_a_run_of_many_tasks_has_their_states_in_the_list(make_daemon, repo, on):
    daemon = make_daemon(scripts=WAIT, gates=["a"])
    stories = json.dumps({"userStories": [{"id": f"S{n}", "title": "the first title", "passes": False}
                                          for n in (1, 2, 3)]})
    daemon.call("run.submit", workdir=str(repo.path), stories=stories)
    daemon.play.arrived("a")
    screen = on(daemon, "watch", width=60)
    assert "the first title" not in screen.shows("3 tasks: 1 claimed, 2 open")
    quit_watch(screen)
    daemon.cancelled(1)
