# SPDX-License-Identifier: MIT
"""attempt.preview: return the last lines of an attempt, as interpreted by its reader."""
import json
import os

import pytest

from rld import RpcError


def preview(daemon, attempt, **more):
    return daemon.call("attempt.preview", id=attempt["id"], **more)


def say(*texts):
    lines = [{"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}} for text in texts]
    return "cat << 'END'\n" + "".join(json.dumps(line) + "\n" for line in lines) + "END\n"


def use(name, **given):
    line = {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": name, "input": given}]}}
    return f"cat << 'END'\n{json.dumps(line)}\nEND\n"


RESULT = 'echo \'{"type":"result","subtype":"success","is_error":false,"result":"All done.","session_id":"s"}\'\n'


def test_while_it_runs_and_afterwards(make_daemon, repo):
    daemon = make_daemon(scripts={
        "implement": "seq 1 5; printf unfinished; gate a; echo ' end'; echo talk >&2\n"}, gates=["a"])
    number = daemon.submit(repo.path)
    daemon.play.arrived("a")
    attempt = daemon.attempts(number)[0]
    # the shim is a moment behind
    while (seen := preview(daemon, attempt))["lines"] != ["4", "5", "unfinished"]:
        pass
    assert seen["updated_at"] >= attempt["started_at"][:19]
    assert preview(daemon, attempt, lines=1)["lines"] == ["unfinished"]
    assert preview(daemon, attempt, lines=20)["lines"] == ["1", "2", "3", "4", "5", "unfinished"]
    daemon.play.go("a")
    daemon.ended(number)
    attempt = daemon.attempts(number)[0]
    assert preview(daemon, attempt)["lines"] == ["4", "5", "unfinished end"]
    daemon.restart()
    assert preview(daemon, attempt)["lines"] == ["4", "5", "unfinished end"]


def test_stderr_when_stdout_shows_nothing(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "echo; echo '  '; echo 'no such option' >&2; exit 2\n"})
    number = daemon.submit(repo.path)
    daemon.ended(number)
    assert preview(daemon, daemon.attempts(number)[0])["lines"] == ["no such option"]


def test_nothing_was_written(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "exit 2\n"})
    number = daemon.submit(repo.path)
    daemon.ended(number)
    assert preview(daemon, daemon.attempts(number)[0]) == {"lines": [], "updated_at": None}


def test_claude_is_shown_as_words(make_daemon, repo):
    script = say("I look at it.", "One.\n\nTwo.") + use("Bash", command="make test", description="d") + RESULT
    daemon = make_daemon(scripts={"implement": script, "check": "echo '{\"a\": 1}'\n"},
                         config={"agent.play": {"reader": "claude"}})
    number = daemon.submit(repo.path)
    daemon.ended(number)
    attempt = daemon.attempts(number)[0]
    assert preview(daemon, attempt, lines=20)["lines"] == ["I look at it.", "One.", "Two.", "Bash: make test"]
    assert preview(daemon, attempt)["lines"] == ["One.", "Two.", "Bash: make test"]


def test_a_check_is_read_as_text_whatever_the_agent_is(make_daemon, repo):
    script = say("done") + RESULT
    daemon = make_daemon(scripts={"implement": script, "review": say("no") + RESULT},
                         config={"agent.play": {"reader": "claude"}})
    number = daemon.review(repo.path, review={"checks": ["echo '{\"type\": 1}'"]})
    daemon.ended(number)
    check = [a for a in daemon.attempts(number) if a["role"] == "check"][0]
    assert preview(daemon, check)["lines"] == ['{"type": 1}']


def test_escape_sequences_are_left_out_and_control_characters_visible(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "printf '\\033[2J\\033]0;title\\007 \\007 "
                                  "\\302\\233 \\377 \\342\\200\\256x\\n'\n"})
    number = daemon.submit(repo.path)
    daemon.ended(number)
    assert preview(daemon, daemon.attempts(number)[0])["lines"] == [" \\x07 \\x9b \\xff \\u{202e}x"]


@pytest.mark.parametrize("size", [200_000, 3_000_000])
def test_much_output_with_a_hole(make_daemon, repo, size):
    """What stands before the hole is no part of the line behind it; only the tail is read."""
    daemon = make_daemon(scripts={"implement": f"echo first; head -c {size} /dev/zero | tr '\\0' x; echo; echo last\n"},
                         config={"limits": {"output": "64K"}})
    number = daemon.submit(repo.path)
    daemon.ended(number)
    lines = preview(daemon, daemon.attempts(number)[0], lines=20)["lines"]
    assert lines == ["…" + 219 * "x", "last"]


def test_what_is_refused(daemon, repo):
    number = daemon.submit(repo.path)
    daemon.ended(number)
    attempt = daemon.attempts(number)[0]
    for bad in ({"lines": 0}, {"lines": "3"}, {"line": 3}):
        with pytest.raises(RpcError) as error:
            preview(daemon, attempt, **bad)
        assert error.value.code == -32602
    assert preview(daemon, attempt, lines=1000)["lines"], "more than the maximum means the maximum"
    with pytest.raises(RpcError) as error:
        daemon.call("attempt.preview", id=99999)
    assert error.value.code == 1
    folder = daemon.state / "attempts" / str(attempt["id"])
    os.rename(folder, folder.with_name("away"))
    with pytest.raises(RpcError) as error:
        preview(daemon, attempt)
    assert error.value.code == 1
    os.rename(folder.with_name("away"), folder)


def test_an_attempt_that_starts_has_no_record_yet(make_daemon, repo):
    """Its row is there before its directory is: that is no record which was removed."""
    daemon = make_daemon(scripts={"implement": "echo one\ngate a\n"}, gates=["a"])
    number = daemon.submit(repo.path)
    daemon.play.arrived("a")
    attempt = daemon.attempts(number)[0]
    folder = daemon.state / "attempts" / str(attempt["id"])
    os.rename(folder, folder.with_name("away"))
    try:
        assert preview(daemon, attempt)["lines"] == []
        for method, params in (("attempt.output", {}), ("attempt.transcript", {}), ("attempt.output", {"offset": 3})):
            page = daemon.call(method, id=attempt["id"], **params)
            assert (page["offset"], page["next"], page["eof"]) == (params.get("offset", 0),) * 2 + (False,), page
    finally:
        os.rename(folder.with_name("away"), folder)
    assert daemon.call("attempt.output", id=attempt["id"])["data"] == "one\n"
    daemon.play.go("a")
    daemon.ended(number)
