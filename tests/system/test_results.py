# SPDX-License-Identifier: MIT
"""Process, provider and task: an attempt has three results, and what is shown of it says which of
them made it no success."""
import json
import re
import shutil

import pytest

INIT = {"type": "system", "subtype": "init", "session_id": "s-1", "tools": [], "model": "m"}
WRITE = [{"tool_name": "Write", "tool_use_id": "t", "tool_input": {}},
         {"tool_name": "Bash", "tool_use_id": "u", "tool_input": {}}]


def claude(text, before="", exit=0, tools=(), **result):
    """A script that prints a stream of claude's kind and exits."""
    failed = [{"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": f"t{i}",
                                                        "is_error": True, "content": "no"}]}} for i in tools]
    end = {"type": "result", "subtype": "success", "is_error": False, "result": text,
           "session_id": "s-1", "total_cost_usd": 0.25,
           "usage": {"input_tokens": 11, "cache_creation_input_tokens": 5,
                     "cache_read_input_tokens": 7, "output_tokens": 3}, "permission_denials": []}
    lines = [INIT, *failed, {**end, **result}]
    return f"{before}\ncat <<'END-OF-STREAM'\n" + "\n".join(map(json.dumps, lines)) + f"\nEND-OF-STREAM\nexit {exit}\n"


# name: (implement script, process, provider, outcome, fault, what the table says of the fault)
STORIES = {
    "exit": (claude("did it", "echo one > work.txt", exit=3), "exited", "ok", "failed", "process", "process"),
    "signal": ("echo one > work.txt; kill -9 $$", "signalled", "unknown", "failed", "process", "process: signalled"),
    "auth": (claude("Invalid API key · Fix external API key", is_error=True, api_error_status=401,
                    exit=1), "exited", "auth", "failed", "provider", "provider: auth"),
    "error": (claude("API Error: 400 no such thing", is_error=True, api_error_status=400), "exited",
              "error", "failed", "provider", "provider: error"),
    "denied": (claude("I could not", permission_denials=WRITE), "exited", "ok", "denied", "task", "task: denied"),
    "no-change": (claude("all is done"), "exited", "ok", "no-change", "task", "task: no-change"),
    "done": (claude("did it", "echo one > work.txt"), "exited", "ok", "done", None, ""),
}


@pytest.fixture
def claude_daemon(make_daemon):
    return make_daemon(config={"agent.play": {"reader": "claude", "account": "anthropic"},
                               "run": {"on_no_change": "fail"}})


def cells(out, heading):
    """The row under a table's headings: {heading: cell}."""
    lines = out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(heading) or line.lstrip().startswith(heading))
    titles = [(m.start(), m.end(), m.group()) for m in re.finditer(r"\S+( \S+)*", lines[at])]
    row = {}
    for m in re.finditer(r"\S+( \S+)*", lines[at + 1]):
        nearest = min(titles, key=lambda t: 0 if t[0] < m.end() and m.start() < t[1]
                      else min(abs(t[0] - m.start()), abs(t[1] - m.end())))
        row[nearest[2]] = m.group()
    return row


@pytest.mark.parametrize("story", STORIES)
def test_which_of_the_three(claude_daemon, repo, story):
    """The row, show, and the report, for people and for programs, tell the same of each."""
    daemon = claude_daemon
    script, process, provider, outcome, fault, words = STORIES[story]
    daemon.play.set({"implement": script})
    run = daemon.submit(repo.path)
    assert daemon.ended(run)["state"] == ("succeeded" if fault is None else "failed")
    attempt, = daemon.attempts(run)
    assert (attempt["process"], attempt["outcome"], attempt["fault"]) == (process, outcome, fault)
    assert attempt["provider"] == provider
    assert attempt == daemon.call("attempt.get", id=attempt["id"])

    turn, = daemon.call("run.report", id=run)["timeline"]
    shared = "process", "provider", "outcome", "fault", "account", "resumes", "denials", "tool_errors"
    assert {k: turn[k] for k in shared} == {k: attempt[k] for k in shared}
    stats = daemon.call("run.report", id=run)["stats"]
    assert stats["faults"] == {"process": 0, "provider": 0, "task": 0, **({fault: 1} if fault else {})}

    row = cells(daemon.rlctl("show", run, check=0).out, "ATTEMPT")
    assert row.get("FAULT", "") == words and row["OUTCOME"] == outcome, row
    row = cells(daemon.rlctl("report", run, check=0).out, "TURN")
    assert row.get("FAULT", "") == words and row["ACCOUNT"] == "anthropic", row
    assert json.loads(daemon.rlctl("report", "--format", "json", run, check=0).out)["timeline"][0]["fault"] == fault
    facts = dict(re.split(r"  +", line.strip(), maxsplit=1)
                 for line in daemon.rlctl("show", f"{run}/1", check=0).out.splitlines()[1:])
    assert (facts["process"] == process and facts["outcome"] == outcome
            and facts.get("fault") == fault and facts["account"] == "anthropic")
    assert facts.get("provider") == attempt["provider"]
    if fault:
        assert f"1 by the {fault}" in daemon.rlctl("report", run).out
        assert facts["cause"] == attempt["cause"] != ""


def test_denials_and_tool_errors_are_counted(claude_daemon, repo):
    """Also of an attempt that did its work all the same; what was denied is no error beside."""
    daemon = claude_daemon
    daemon.play.set({"implement": claude("did most of it", "echo one > work.txt", tools=range(5),
                                         permission_denials=WRITE)})
    run = daemon.submit(repo.path)
    assert daemon.ended(run)["state"] == "succeeded"
    attempt, = daemon.attempts(run)
    assert attempt["denials"] == 2 and attempt["tool_errors"] == 3 and attempt["fault"] is None
    report = daemon.call("run.report", id=run)
    assert report["stats"]["denials"] == 2 and report["stats"]["tool_errors"] == 3
    row = cells(daemon.rlctl("show", run).out, "ATTEMPT")
    assert row["DENIED"] == "2" and row["TOOL ERRORS"] == "3" and "FAULT" not in row
    assert re.search(r"^tool errors +3$", daemon.rlctl("report", run).out, re.M)


def test_a_conversation_that_goes_on(claude_daemon, repo):
    """A fixer that goes on with the implementer's conversation is shown with the attempt that
    it goes on with."""
    daemon = claude_daemon
    daemon.write_config({"agent.play": {"reader": "claude", "resume": ["--resume", "{session}"]}})
    daemon.call("daemon.reload")
    daemon.play.set({"implement": claude("first", "echo one > work.txt"),
                     "review.1": claude('{"verdict": "drift", "followUpPrompt": "add a second line"}'),
                     "review": claude('{"verdict": "pass", "followUpPrompt": "ok"}'),
                     "fix": claude("second", "echo two >> work.txt")})
    run = daemon.review(repo.path, review={"fixer": "resume"})
    assert daemon.ended(run)["state"] == "succeeded"
    attempts = daemon.attempts(run)
    fix, = [a for a in attempts if a["role"] == "fix"]
    implement = attempts[0]
    assert fix["resumes"] == implement["id"] and implement["resumes"] is None
    assert re.search(r"^continues +attempt 1$", daemon.rlctl("show", f"{run}/{fix['number']}").out, re.M)
    lines = daemon.rlctl("report", run).out.splitlines()
    heading = next(line for line in lines if "TURN" in line)
    line = next(line for line in lines if re.match(r" *\d+ +fix ", line))
    at = heading.index("GOES ON WITH")
    assert line[at:at + len("GOES ON WITH")].strip() == "1"


def test_a_check_has_no_account(make_daemon, repo):
    """A check is paid by nobody, and one that fails is a matter of its process."""
    daemon = make_daemon()
    run = daemon.review(repo.path, check_on_base="skip", review={"checks": ["exit 4"], "max_fixes": 0})
    daemon.ended(run)
    checks = [a for a in daemon.attempts(run) if a["role"] == "check"]
    assert [(c["account"], c["fault"], c["exit_code"]) for c in checks] == [(None, "process", 4)] * 2


def test_a_running_attempt_has_no_fault(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate in\nanswer done\n"}, gates=["in"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("in")
    attempt, = daemon.attempts(run)
    assert (attempt["process"], attempt["provider"], attempt["outcome"], attempt["fault"]) == (None, None, None, None)
    daemon.play.go("in")
    daemon.ended(run)


def test_the_event_tells_the_three_too(claude_daemon, repo):
    daemon = claude_daemon
    daemon.play.set({"implement": STORIES["auth"][0]})
    with daemon.events(types=["attempt.ended"]) as events:
        daemon.submit(repo.path)
        event = events.until("attempt.ended")
    assert (event["process"], event["provider"], event["outcome"]) == ("exited", "auth", "failed")


ASSISTANT = {"type": "assistant",
             "message": {"model": "m", "content": [{"type": "text", "text": "I look first."}]},
             "session_id": "s-1"}


@pytest.mark.parametrize("said,provider", [([INIT], "unknown"), ([INIT, ASSISTANT], "ok")])
def test_a_service_that_was_not_seen_to_answer_is_not_ok(make_daemon, repo, said, provider):
    daemon = make_daemon(config={"agent.play": {"reader": "claude"}, "limits": {"idle_timeout": "1s", "grace": "1s"}})
    daemon.play.set({"implement": "cat <<'END'\n" + "\n".join(map(json.dumps, said)) + "\nEND\nexec sleep 1000\n"})
    run = daemon.submit(repo.path)
    assert daemon.ended(run)["state"] == "failed"
    attempt, = daemon.attempts(run)
    assert (attempt["process"], attempt["provider"], attempt["fault"]) == ("idle", provider, "process")


def test_a_cause_is_one_plain_line(claude_daemon, repo):
    """What the program says over several lines and in colours."""
    claude_daemon.play.set({"implement": claude("\x1b[31mNo:\x1b[0m\n\n  the first line\n\tthe second\x07",
                                                is_error=True, exit=1)})
    row = claude_daemon.ended(claude_daemon.submit(repo.path))
    assert row["cause"] == "implementer process exited with status 1: No: the first line the second\\x07", row["cause"]


def test_an_output_without_an_end_is_called_so(claude_daemon, repo):
    """Of a program that exited with 0 the last line on standard error may be any noise."""
    claude_daemon.play.set({"implement": "echo '[STARTUP] a phase was never ended' >&2\n"})
    cause = claude_daemon.ended(claude_daemon.submit(repo.path))["cause"]
    assert cause.startswith("implementer process exited with status 0 but reported an error: "
                            "the output ends without a result line"), cause
    assert cause.endswith("last line of standard error: [STARTUP] a phase was never ended"), cause


@pytest.mark.parametrize("words,status", [("no, ", 400), ("You've hit your session limit ", 429)])
def test_words_without_end(claude_daemon, repo, words, status):
    """Rows, events and the log tell the beginning."""
    daemon = claude_daemon
    daemon.play.set({"implement": claude(words + "\u00e4" * 300_000, exit=1, is_error=True, api_error_status=status)})
    with daemon.events(types=["attempt.ended"]) as events:
        run = daemon.submit(repo.path)
        event = events.until("attempt.ended")
    attempt = daemon.attempts(run)[0]
    assert (words + "\u00e4" * 900 in attempt["cause"] and attempt["cause"].endswith("...")
            and len(attempt["cause"]) < 2100)
    assert len(json.dumps(event)) < 20_000 and len(daemon.log()) < 50_000
    if status == 429:
        daemon.cancelled(run)


# ---- on the disk ---------------------------------------------------------------------------------

@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_objects_and_refs_are_on_the_disk_before_the_end_is_told(make_daemon, repo, tmp_path):
    """Each object and ref is synced before it has its name, and the directories that name them
    before anything is recorded."""
    trace = tmp_path / "trace"
    daemon = make_daemon(prefix=["strace", "-f", "-qq", "-y", "-o", str(trace), "-e",
                                 "trace=fsync,fdatasync,syncfs", "-e", "signal=none"])
    daemon.play.set({"implement": "mkdir d; echo one > d/one; echo two > two; answer done\n", "review.1": "pass\n"})
    before = set((repo.path / ".git" / "objects").glob("??/*"))
    row = daemon.ended(daemon.review(repo.path, commit="auto"))
    assert row["state"] == "succeeded", row
    made = set((repo.path / ".git" / "objects").glob("??/*")) - before
    calls = [line.split(" ", 1)[1].strip() for line in trace.read_text().splitlines()]
    git = f"{repo.path}/.git"
    objects = [i for i, call in enumerate(calls) if call.startswith("fsync(") and f"<{git}/objects/" in call]
    refs = [i for i, call in enumerate(calls) if call.startswith("fsync(") and f"<{git}/refs/" in call]
    whole = [i for i, call in enumerate(calls) if call.startswith("syncfs(") and f"<{git}>" in call]
    rows = [i for i, call in enumerate(calls) if call.startswith("fdatasync(") and "rld.db" in call]
    assert made and len(objects) >= len(made) and whole, (len(made), calls)
    assert any("rl/passed" in calls[i] or "/refs/rl/" in calls[i] for i in refs), "the ref of the result"
    assert max(objects + refs) < max(whole) < max(rows), "the last row is written when everything is on the disk"
    # the directory of an attempt is on the disk before the exit record in it is
    attempts = f"{daemon.state}/attempts"
    entries = [i for i, call in enumerate(calls) if call.startswith("fsync(") and f"<{attempts}>" in call]
    for number, attempt in enumerate(daemon.attempts(row["id"])):
        record = next(i for i, call in enumerate(calls)
                      if call.startswith("fsync(") and f"<{attempts}/{attempt['id']}/exit" in call)
        assert len([i for i in entries if i < record]) > number, (attempt["id"], calls)
        # and so is what it was given, of which its row has the hash
        given = ("prompt", "diff", "given") if attempt["role"] == "review" else ("prompt",)
        written = [next(i for i, call in enumerate(calls) if call.startswith("fsync(")
                        and f"<{attempts}/{attempt['id']}/{name}.tmp" in call) for name in given]
        assert max(written) < record, (attempt["id"], given)
