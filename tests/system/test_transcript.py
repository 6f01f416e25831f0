# SPDX-License-Identifier: MIT
"""rlctl logs on a terminal reads as a conversation; attempt.transcript, which it is made of."""
import json
import re

import pytest

from rld import RpcError

CLAUDE = {"agent.play": {"reader": "claude"}}


def event(kind, *blocks, **more):
    return json.dumps({"type": kind, "message": {"content": list(blocks)}, **more})


def said(text):
    return event("assistant", {"type": "text", "text": text})


def used(name, **given):
    return event("assistant", {"type": "tool_use", "name": name, "input": given})


def failed(text):
    return event("user", {"type": "tool_result", "is_error": True, "content": text})


def result(text):
    return json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": text, "session_id": "s",
                       "total_cost_usd": 0.25, "usage": {"input_tokens": 1200, "output_tokens": 300}})


def script(*lines):
    return "cat << 'END'\n" + "".join(f"{line}\n" for line in lines) + "END\n"


TALK = (said("I look at it.\n\nThen I change it."), used("Read", file_path="calc.py"),
        used("Bash", command="make test\necho"), failed("test_a failed\nmake:\t*** [test] Error 1\n"),
        said("All done."))


def shown(screen):
    return re.sub(rb"\x1b\[[0-9;]*m", b"", screen.data).decode().replace("\r\n", "\n")


def test_a_conversation(make_daemon, repo, on):
    daemon = make_daemon(scripts={"implement": script(*TALK, result("All done."))}, config=CLAUDE)
    daemon.ended(daemon.submit(repo.path))
    screen = on(daemon, "logs", 1)
    assert screen.ended() == 0
    assert re.sub(r"\[\S+ms,", "[1ms,", shown(screen)) == (
        "==> attempt 1/1: implement, play\nI look at it.\n\nThen I change it.\n> Read: calc.py\n> Bash: make test\n"
        "  | test_a failed\n  | make:   *** [test] Error 1\n\nAll done.\n[1ms, 1.5k tokens, $0.25]\n")
    piped = daemon.rlctl("logs", 1, check=0).out
    assert piped == "".join(f"{line}\n" for line in (*TALK, result("All done."))), "a pipe gets the bytes"
    screen = on(daemon, "logs", "--raw", "1/1", width=400)
    assert screen.ended() == 0 and '"type": "tool_use"' in shown(screen)
    words = daemon.rlctl("logs", "--words", 1, check=0).out
    assert words.startswith("I look at it.") and "> Read: calc.py\n" in words and "\x1b" not in words
    assert "cannot be combined" in daemon.rlctl("logs", "--words", "--raw", 1, check=2).err


def test_an_answer_that_was_not_said(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": script(said("Hm."), result("Another."))}, config=CLAUDE)
    daemon.ended(daemon.submit(repo.path))
    assert daemon.rlctl("logs", "--words", 1, check=0).out.startswith("Hm.\n\nAnswer:\nAnother.\n[")


def test_it_follows(make_daemon, repo, on):
    daemon = make_daemon(scripts={"implement": script(said("First.")) + "gate a\n" +
                                  script(used("Bash", command="ls"), result("Last."))},
                         gates=["a"], config=CLAUDE)
    daemon.submit(repo.path)
    daemon.play.arrived("a")
    screen = on(daemon, "logs", "-f", 1)
    screen.shows("First.")
    assert "Bash" not in shown(screen)
    daemon.play.go("a")
    assert screen.ended() == 0 and "First.\n> Bash: ls\n\nAnswer:\nLast.\n[" in shown(screen)


def test_what_an_agent_writes_steers_nothing(make_daemon, repo, on):
    """The screen fails on every sequence that is not ours."""
    evil = "\x1b]0;owned\x07\x1b[2J\x9b1m\u202eend"
    daemon = make_daemon(scripts={"implement": script(said(evil), used(evil, command=evil), failed(evil), "{broken",
                                                      "no JSON\x1b[2J at all", result("x")) +
                                  "printf '\\377\\376\\n' ; printf 'e\\033[2J\\n' >&2\n"}, config=CLAUDE)
    daemon.ended(daemon.submit(repo.path))
    screen = on(daemon, "logs", 1)
    assert screen.ended() == 0
    text = shown(screen)
    assert "end" in text and "no JSON at all" in text and "\\xff\\xfe" in text and "\x07" not in text


def test_a_plain_agent(make_daemon, repo, on):
    daemon = make_daemon(scripts={"implement": "echo one; printf two; echo oops >&2\n"})
    daemon.ended(daemon.submit(repo.path))
    screen = on(daemon, "logs", 1)
    assert screen.ended() == 0 and "\none\ntwo" in shown(screen) and "Answer:" not in shown(screen)
    assert "oops\n" in shown(screen)


def pages(daemon, attempt):
    """All items, and the offsets of the pages."""
    items, offsets, page = [], [0], {"eof": False, "next": 0}
    while not page["eof"]:
        page = daemon.call("attempt.transcript", id=attempt, offset=page["next"])
        items += [(item["kind"], item["text"]) for item in page["items"]]
        assert page["next"] > offsets[-1] or page["eof"]
        offsets.append(page["next"])
    return items, offsets


def test_a_huge_line(make_daemon, repo):
    """Of twenty MB, between two others: it is skipped, and both are there."""
    huge = "printf '{\"type\":\"x\",\"a\":\"'; head -c 20000000 /dev/zero | tr '\\0' b; echo '\"}'\n"
    daemon = make_daemon(scripts={"implement": script(said("before")) + huge + script(said("after"), result("after"))},
                         config=CLAUDE)
    run = daemon.submit(repo.path)
    daemon.ended(run)
    items, offsets = pages(daemon, daemon.attempts(run)[0]["id"])
    assert items == [("said", "before"), ("skipped", "a line of more than 16 MiB"), ("said", "after")], items
    assert len(offsets) < 30


def test_pages(make_daemon, repo):
    lines = [said(f"{n} " + "x" * 2000) for n in range(400)]
    daemon = make_daemon(scripts={"implement": script(*lines, result("end"))}, config=CLAUDE)
    run = daemon.submit(repo.path)
    daemon.ended(run)
    attempt = daemon.attempts(run)[0]["id"]
    items, offsets = pages(daemon, attempt)
    assert [text.split()[0] for kind, text in items] == [str(n) for n in range(400)] and len(offsets) > 3
    # in the middle of a line: after it
    page = daemon.call("attempt.transcript", id=attempt, offset=10)
    assert page["items"][0]["text"].startswith("1 ") and page["reader"] == "claude"


def test_a_hole_in_the_output(make_daemon, repo):
    lines = [said(f"{n} " + "x" * 2000) for n in range(400)]
    daemon = make_daemon(scripts={"implement": script(*lines, result("end"))},
                         config={**CLAUDE, "limits": {"output": "256K"}})
    run = daemon.submit(repo.path)
    daemon.ended(run)
    items, _ = pages(daemon, daemon.attempts(run)[0]["id"])
    numbers = [int(text.split()[0]) for kind, text in items if kind == "said"]
    assert numbers[0] == 0 and numbers[-1] == 399 and len(numbers) < 300 and numbers == sorted(set(numbers))
    assert "bytes were not kept]" in daemon.rlctl("logs", "--words", run, check=0).out


def test_what_is_refused(daemon, repo):
    with pytest.raises(RpcError) as refused:
        daemon.call("attempt.transcript", id=99999)
    assert refused.value.code == 1
