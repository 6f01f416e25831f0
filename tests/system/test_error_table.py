# SPDX-License-Identifier: MIT
"""Each program against each way in which its service fails it: what the presets make of what the
programs really say.

The programs are stand-ins on PATH, so that the presets are used as they are; they print what was
recorded of the real ones (tests/data/agents) or, where nothing could be, what they were measured to
say, and exit as they do.
"""
import datetime
import json
import re
import shlex
import time

import pytest
from rld import ENDS, FAKES, SOURCE, Repo

DATA = SOURCE / "tests" / "data" / "agents"
ACCOUNTS = {"claude": "anthropic", "codex": "openai", "gemini": "google", "opencode": "opencode",
            "copilot": "github", "qwen": "qwen", "pi": "pi"}
HTML = "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>"
HOUR = 3600_000


# ---- what the programs say, one function for each: (status, words) of a refusal ----

def lines(*documents):
    return "".join(json.dumps(d, ensure_ascii=False) + "\n" for d in documents)


def recorded(program, name):
    return (DATA / program / f"{name}.jsonl").read_text()


def claude(status, words):
    head = json.loads(recorded("claude", "good").splitlines()[0])
    return lines(head, {"type": "assistant", "message": {
        "id": "m1", "type": "message", "role": "assistant", "model": "<synthetic>",
        "content": [{"type": "text", "text": words}], "usage": {"input_tokens": 0, "output_tokens": 0}},
                        "session_id": head["session_id"]},
                 {"type": "result", "subtype": "success", "is_error": True,
                  "api_error_status": status, "num_turns": 1, "result": words,
                  "session_id": head["session_id"], "total_cost_usd": 0,
                  "usage": {"input_tokens": 0, "output_tokens": 0}, "permission_denials": []})


def codex(status, words):
    text = f"unexpected status {status} {words}, url: https://api.example.org/v1/responses" if status else words
    return lines({"type": "thread.started", "thread_id": "t-1"}, {"type": "turn.started"},
                 *({"type": "error", "message": f"Reconnecting... {i}/5 ({text})"} for i in range(1, 6)),
                 {"type": "error", "message": text}, {"type": "turn.failed", "error": {"message": text}})


def gemini(status, words):
    return lines(*map(json.loads, recorded("gemini", "401").splitlines()[:2]),
                 {"type": "result", "status": "error", "error": {"type": "unknown",
                                                                 "message": f"[API Error: {words}]"},
                  "stats": {"total_tokens": 0, "input_tokens": 0, "output_tokens": 0, "cached": 0,
                            "input": 0}})


def opencode(status, words):
    return lines({"type": "error", "sessionID": "ses_1",
                  "error": {"name": "APIError", "data": {"message": words, "statusCode": status,
                                                         "isRetryable": status in (429, 500, 502)}}})


def copilot(status, words):
    return lines({"type": "assistant.turn_start", "data": {"turnId": "0"}},
                 {"type": "assistant.turn_end", "data": {"turnId": "0"}},
                 {"type": "session.error", "data": {"errorType": "query", "message": words,
                                                    **({"statusCode": status} if status else {})}},
                 {"type": "result", "sessionId": "c-1", "exitCode": 1, "usage": {"premiumRequests": 0}})


def qwen(status, words):
    text = f"[API Error: {status} {words}]" if status else f"[API Error: {words}]"
    head = json.loads(recorded("qwen", "401").splitlines()[0])
    return lines(head, {"type": "result", "subtype": "success", "session_id": head["session_id"],
                        "is_error": False, "num_turns": 1, "result": text,
                        "usage": {"input_tokens": 0, "output_tokens": 0}, "permission_denials": []})


def pi(status, words):
    message = {"role": "assistant", "content": [],
               "usage": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0}},
               "stopReason": "error", "errorMessage": f"{status} {words}" if status else words}
    return lines({"type": "session", "version": 3, "id": "p-1"}, {"type": "agent_start"},
                 {"type": "message_end", "message": message},
                 {"type": "agent_end", "messages": [message]})


def claude_limit():
    """With a time that is to come."""
    return re.sub(r'"resetsAt":\d+', f'"resetsAt":{int(time.time()) + 2 * 3600}', recorded("claude", "limit"))


def claude_text_only():
    """As by other versions: the sentence is all there is."""
    return lines(*(d for d in map(json.loads, recorded("claude", "limit").splitlines())
                   if d["type"] != "rate_limit_event"))


def retried(program, count=2):
    """Claude Code tells of each try; the others say nothing of it on standard output."""
    return lines(*({"type": "system", "subtype": "api_retry", "attempt": i, "max_retries": 10,
                    "error_status": 500, "error": "server_error"}
                   for i in range(1, count + 1))) if program == "claude" else ""


# ---- the table ----

# What becomes of the run:
FAILS = "fails"		# at once, with a cause that says what the service said, and what to do
AGAIN = "again"		# the same attempt after a short wait
LIMIT = "limit"		# all of the account wait for the time that the service tells, or an hour
# the program tries again and again and says nothing of it: the idle clock ends it
SILENT = "silent"
# ... and reports it on standard error: it is ended for that, and the account waits
REFUSED = "refused"
PASSES = "passes"	# the program got over it by itself

NO_MODEL = "The model test-model does not exist"
TOO_LONG = "Request too large"
BUSY = "Rate limit reached for requests"
BROKEN = "The server had an error"

# program, error: exit code, what it prints, provider result, what becomes of it, words of the cause
# or of the reason
TABLE = {
    ("claude", "e401"): (1, lambda: claude(401, "Invalid API key · Fix external API key"), "auth",
                         FAILS, "Invalid API key"),
    ("claude", "e404"): (1, lambda: claude(404, "There's an issue with the selected model (test-model)."),
                         "error", FAILS, "selected model"),
    ("claude", "e413"): (1, lambda: claude(413, "Prompt is too long"), "error", FAILS, "Prompt is too long"),
    ("claude", "e429"):
    (1, lambda: claude(429, f"API Error: Request rejected (429) · {BUSY}"), "throttled", AGAIN, BUSY),
    ("claude", "usage-limit"): (1, claude_limit, "limit", LIMIT, "You've hit your session limit"),
    ("claude", "usage-limit by words"): (1, claude_text_only, "limit", LIMIT, "You've hit your session limit"),
    ("claude", "e500"): (1, lambda: claude(500, f"API Error: 500 {BROKEN}"), "error", AGAIN, "API Error: 500"),
    ("claude", "html502"): (1, lambda: claude(502, f"API Error: 502 {HTML}"), "error", AGAIN, "API Error: 502"),
    ("claude", "cut"): (1, lambda: claude(None, "API Error: Connection closed mid-response. "
                                          "The response above may be incomplete."), "error", AGAIN,
                        "Connection closed"),
    ("claude", "flaky"): (0, lambda: retried("claude") + recorded("claude", "good"), "ok", PASSES, ""),

    ("codex", "e401"): (1, lambda: recorded("codex", "401"), "auth", FAILS, "Incorrect API key provided"),
    ("codex", "e404"): (1, lambda: codex(404, f"Not Found: {NO_MODEL}"), "error", FAILS, NO_MODEL),
    ("codex", "e413"): (1, lambda: codex(413, f"Payload Too Large: {TOO_LONG}"), "error", FAILS, TOO_LONG),
    ("codex", "e429"): (1, lambda: recorded("codex", "429"), "throttled", AGAIN, "429 Too Many Requests"),
    ("codex", "usage-limit"): (1, lambda: recorded("codex", "limit"), "limit", LIMIT, "hit your usage limit"),
    ("codex", "e500"): (1, lambda: recorded("codex", "500"), "error", AGAIN, "experiencing high demand"),
    ("codex", "html502"): (1, lambda: codex(502, f"Bad Gateway: {HTML}"), "error", AGAIN, "502 Bad Gateway"),
    ("codex", "cut"): (1, lambda: recorded("codex", "cut"), "error", AGAIN, "stream disconnected"),
    ("codex", "flaky"): (0, lambda: recorded("codex", "flaky"), "ok", PASSES, ""),

    ("gemini", "e401"): (145, lambda: recorded("gemini", "401"), "auth", FAILS, "Incorrect API key provided"),
    ("gemini", "e404"): (1, lambda: recorded("gemini", "404"), "error", FAILS, NO_MODEL),
    ("gemini", "e413"): (157, lambda: gemini(413, TOO_LONG), "error", FAILS, TOO_LONG),
    ("gemini", "e429"): (None, lambda: "".join(recorded("gemini", "401").splitlines(True)[:2]), None, SILENT, ""),
    ("gemini", "usage-limit"): (None, lambda: "".join(recorded("gemini", "401").splitlines(True)[:2]),
                                "limit", REFUSED, "exhausted your capacity"),
    ("gemini", "usage-limit told"):
    (173, lambda: recorded("gemini", "quota"), "limit", LIMIT, "exhausted your capacity"),
    ("gemini", "e500"): (None, lambda: "".join(recorded("gemini", "401").splitlines(True)[:2]), None, SILENT, ""),
    ("gemini", "html502"): (None, lambda: "".join(recorded("gemini", "401").splitlines(True)[:2]), None, SILENT, ""),
    ("gemini", "cut"): (1, lambda: gemini(None, "terminated"), "error", AGAIN, "terminated"),
    ("gemini", "flaky"): (0, lambda: recorded("gemini", "good"), "ok", PASSES, ""),

    ("opencode", "e401"): (1, lambda: recorded("opencode", "401"), "auth", FAILS, "Incorrect API key provided"),
    ("opencode", "e404"): (1, lambda: opencode(404, NO_MODEL), "error", FAILS, NO_MODEL),
    ("opencode", "e413"): (1, lambda: opencode(413, TOO_LONG), "error", FAILS, TOO_LONG),
    ("opencode", "e429"): (1, lambda: opencode(429, BUSY), "throttled", AGAIN, BUSY),
    ("opencode", "usage-limit"): (None, lambda: "", "limit", REFUSED, "usage limit has been reached"),
    ("opencode", "e500"): (1, lambda: opencode(500, BROKEN), "error", AGAIN, BROKEN),
    ("opencode", "html502"): (None, lambda: "", None, SILENT, ""),
    ("opencode", "cut"): (None, lambda: "", None, SILENT, ""),
    ("opencode", "flaky"): (0, lambda: recorded("opencode", "recovered"), "ok", PASSES, ""),

    ("copilot", "e401"): (1, lambda: recorded("copilot", "401"), "auth", FAILS, "Authentication failed"),
    ("copilot", "e404"): (1, lambda: copilot(404, f"404 {NO_MODEL}"), "error", FAILS, NO_MODEL),
    ("copilot", "e413"): (1, lambda: copilot(413, f"413 {TOO_LONG}"), "error", FAILS, TOO_LONG),
    ("copilot", "e429"): (1, lambda: recorded("copilot", "429"), "throttled", AGAIN, BUSY),
    ("copilot",
     "usage-limit"): (1, lambda: recorded("copilot", "limit"), "limit", LIMIT, "usage limit has been reached"),
    ("copilot", "usage-limit by quota"): (1, lambda: recorded("copilot", "quota"), "limit", LIMIT, "You have no quota"),
    ("copilot", "usage-limit for hours"):
    (1, lambda: recorded("copilot", "hours"), "limit", LIMIT, "try again in 2 hours"),
    ("copilot", "e500"): (1, lambda: copilot(500, "Failed to get response from the AI model; retried "
                                             f"5 times Last error: 500 {BROKEN}"), "error", AGAIN, BROKEN),
    ("copilot", "html502"): (1, lambda: copilot(502, "Failed to get response from the AI model; "
                                                f"retried 5 times Last error: 502 {HTML}"), "error", AGAIN,
                             "Bad Gateway"),
    ("copilot", "cut"): (1, lambda: recorded("copilot", "cut"), "error", AGAIN, "connection closed"),
    ("copilot", "flaky"): (0, lambda: recorded("copilot", "good"), "ok", PASSES, ""),

    ("qwen", "e401"): (0, lambda: recorded("qwen", "401"), "auth", FAILS, "Incorrect API key provided"),
    ("qwen", "e404"): (0, lambda: recorded("qwen", "404"), "error", FAILS, NO_MODEL),
    ("qwen", "e413"): (0, lambda: qwen(413, TOO_LONG), "error", FAILS, TOO_LONG),
    ("qwen", "e429"): (None, lambda: recorded("qwen", "401").splitlines(True)[0], None, SILENT, ""),
    ("qwen", "e429 in the end"): (0, lambda: qwen(429, BUSY), "throttled", AGAIN, BUSY),
    ("qwen", "usage-limit"): (None, lambda: recorded("qwen", "401").splitlines(True)[0], None, SILENT, ""),
    ("qwen", "e500"): (None, lambda: recorded("qwen", "401").splitlines(True)[0], None, SILENT, ""),
    ("qwen", "e500 in the end"): (0, lambda: qwen(500, BROKEN), "error", AGAIN, BROKEN),
    ("qwen", "html502"): (None, lambda: recorded("qwen", "401").splitlines(True)[0], None, SILENT, ""),
    ("qwen", "cut"): (0, lambda: recorded("qwen", "cut"), "error", AGAIN, "Connection error"),
    ("qwen", "flaky"): (0, lambda: recorded("qwen", "flaky"), "ok", PASSES, ""),

    ("pi", "e401"): (0, lambda: recorded("pi", "401"), "auth", FAILS, "Incorrect API key provided"),
    ("pi", "e404"): (0, lambda: pi(404, NO_MODEL), "error", FAILS, NO_MODEL),
    ("pi", "e413"): (0, lambda: pi(413, TOO_LONG), "error", FAILS, TOO_LONG),
    ("pi", "e429"): (0, lambda: recorded("pi", "429"), "throttled", AGAIN, BUSY),
    ("pi", "usage-limit"): (0, lambda: recorded("pi", "limit"), "limit", LIMIT, "usage limit has been reached"),
    ("pi", "e500"): (0, lambda: recorded("pi", "500"), "error", AGAIN, BROKEN),
    ("pi", "html502"): (0, lambda: pi(502, HTML), "error", AGAIN, "Bad Gateway"),
    ("pi", "cut"): (0, lambda: recorded("pi", "cut"), "error", AGAIN, "Connection error"),
    ("pi", "flaky"): (0, lambda: recorded("pi", "flaky"), "ok", PASSES, ""),
}

# What they report meanwhile, as measured.
REPORTS = {
    "gemini": "Attempt 1 failed with status 429. Retrying with backoff... _ApiError: "
    "You have exhausted your capacity on this model. "
              "Your quota will reset after 8h44m7s.\n",
    "opencode": 'timestamp=2026-11-23T02:00:16.622Z level=ERROR run=afdb6db4 message="stream '
    'error" providerID=scripted modelID=test-model '
                'session.id=ses_1 small=false agent=build mode=primary error.error="AI_APICallError: '
    'The usage limit has been reached"\n',
}

ERRORS = ("e401", "e404", "e413", "e429", "usage-limit", "e500", "html502", "cut", "flaky")


def test_the_table_is_whole():
    assert {(p, e) for p in ACCOUNTS for e in ERRORS} <= set(TABLE)


def cells(*fates):
    return pytest.mark.parametrize("program, error", [cell for cell, row in TABLE.items() if row[3] in fates],
                                   ids=["-".join(cell).replace(" ", "_")
                                        for cell, row in TABLE.items() if row[3] in fates])


# ---- playing it ----

class Programs:
    """The stand-ins, and a daemon that finds them on PATH."""

    def __init__(self, make_daemon, path, config=None):
        self.path = path / "bin"
        self.path.mkdir()
        for name in ACCOUNTS:
            (self.path / name).symlink_to(FAKES / "program")
        self.daemon = make_daemon(config=config or {},
                                  environment={"PATH": f"{self.path}:/usr/local/bin:/usr/bin:/bin",
                                               "TZ": "UTC"})

    def script(self, program, text, nth=None):
        (self.path / (f"{program}.{nth}" if nth else f"{program}.script")).write_text(text)

    def says(self, program, output, code, nth=None, change=False, report=""):
        """code None: it goes on without a word. report: for standard error."""
        name = self.path / f"{program}.says.{nth or 'ever'}"
        name.write_text(output)
        self.script(program, ("echo work > work.txt\n" if change else "") + f"cat {shlex.quote(str(name))}\n" +
                    (f"while printf %s {shlex.quote(report)} >&2; do sleep 1; done\n" if report else "") +
                    ("exec sleep 1000\n" if code is None else f"exit {code}\n"), nth)

    def fails(self, program, error, nth=None):
        code, output, _, fate, _ = TABLE[program, error]
        self.says(program, output(), code, nth, change=fate == PASSES,
                  report=REPORTS[program] if fate == REFUSED else "")

    def works(self, program, nth=None):
        self.says(program, recorded(program, "good"), 0, nth, change=True)

    def starts(self, program):
        return len(list(self.path.glob(f"{program}.start.*")))

    def arguments(self, program, nth):
        return (self.path / f"{program}.start.{nth}" / "arguments").read_text().splitlines()

    def prompt(self, program, nth):
        return (self.path / f"{program}.start.{nth}" / "prompt").read_text()

    def account(self, program):
        return next(a for a in self.daemon.call("cooldown.list")["accounts"] if a["account"] == ACCOUNTS[program])


@pytest.fixture
def programs(make_daemon, tmp_path):
    return Programs(make_daemon, tmp_path)


@pytest.fixture
def make_repos(tmp_path):
    return lambda count: [Repo(tmp_path / f"repo{i}") for i in range(count)]


def cooling(daemon, run):
    """Wait until a slot of the run waits for its service: the slot."""
    with daemon.events(run=run) as events:
        while (event := events.next()).get("phase") != "cooling":
            assert event.get("state") not in ENDS, f"it has ended: {event}"
    return daemon.run(run)["slots"][0]


def results(attempt):
    return attempt["process"], attempt["provider"], attempt["outcome"]


def milliseconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000


@cells(FAILS)
def test_it_fails_at_once_and_says_why(programs, repo, program, error):
    """A key that is wrong, a model that is not there and a prompt that is too long are the same
    at the next try."""
    code, _, provider, _, words = TABLE[program, error]
    daemon = programs.daemon
    programs.fails(program, error)
    done = daemon.rlctl("run", "-a", program, "do it", cwd=repo.path, check=10)
    row = daemon.run(1)
    attempt, = daemon.attempts(1)
    assert (row["state"], attempt["exit_code"], results(attempt)) == ("failed", code, ("exited", provider, "failed"))
    assert words in row["cause"] and words in attempt["cause"] and words in done.err, row["cause"]
    assert f"  implement: {f'exit status {code}' if code else 'failed'} in " in done.err, (
        "an exit status of 0 is not called done")
    assert programs.starts(program) == 1 and not programs.account(program)["in_force"]
    if provider == "auth":
        assert "log in: " in row["cause"], row["cause"]
    shown = daemon.rlctl("show", "1", check=0).out
    assert words in shown and words in daemon.rlctl("show", "1/1", check=0).out
    assert words in daemon.rlctl("list", check=0).out
    report = daemon.call("run.report", id=1)
    assert report["result"]["outcome"] == "error" and words in report["cause"]


@cells(AGAIN)
def test_it_is_tried_again_soon(programs, repo, program, error):
    """What passes by itself fails nothing: the same attempt follows after a short
    wait that shows."""
    code, _, provider, _, words = TABLE[program, error]
    daemon = programs.daemon
    programs.fails(program, error)
    run = daemon.submit(repo.path, agent=program)
    slot = cooling(daemon, run)
    attempt, = [a for a in daemon.attempts(run) if a["state"] == "exited"]
    assert (attempt["exit_code"], results(attempt)) == (code, ("exited", provider, "failed"))
    assert words in attempt["cause"], attempt["cause"]
    assert words in slot["reason"] and slot["retries"] == 1 and slot["fix"] == 0, slot
    assert slot["cooling"] is None and 0 < milliseconds(slot["retry_at"]) - milliseconds(attempt["ended_at"]) < 10_000
    row = daemon.run(run)
    assert row["state"] == "running" and words in row["reason"], row["reason"]
    assert not programs.account(program)["in_force"], "the others of the account go on"
    shown = daemon.rlctl("show", run, check=0).out
    assert "COOLING" in shown and words in shown


@cells(LIMIT)
def test_it_waits_for_the_reset_and_is_not_paid_twice(programs, repo, program, error):
    code, _, provider, _, words = TABLE[program, error]
    daemon = programs.daemon
    programs.fails(program, error, nth=1)
    programs.works(program)
    run = daemon.submit(repo.path, agent=program)
    slot = cooling(daemon, run)
    attempt, = [a for a in daemon.attempts(run) if a["state"] == "exited"]
    assert (attempt["exit_code"], results(attempt)) == (code, ("exited", provider, "failed"))
    account = programs.account(program)
    assert (account["in_force"], account["kind"], account["attempt"],
            account["waiting"]) == (True, "limit", attempt["id"], 1)
    assert words in account["reason"].replace("’", "'")
    now = milliseconds(account["created_at"])
    wait = milliseconds(account["until"]) - now
    assert 0 < wait <= 24 * HOUR
    if "resets 10:52pm" in account["reason"] and error != "usage-limit":
        assert account["until"][11:16] == "22:52"
    if "try again at 8:25 AM" in account["reason"]:
        assert account["until"][11:16] == "08:25"
    if "2 hours" in account["reason"] or (program, error) == ("claude", "usage-limit"):
        assert wait == pytest.approx(2 * HOUR, abs=60_000)
    if "8h44m7s" in account["reason"]:
        assert wait == pytest.approx(8 * HOUR + 44 * 60_000 + 7000, abs=60_000)
    if "8h44m7s" not in account["reason"] and not re.search(r"resets|try again", account["reason"]):
        assert wait == pytest.approx(HOUR, abs=60_000), "it names no time"
    assert slot["cooling"] == ACCOUNTS[program] and slot["retries"] == 0
    for text in (slot["reason"], daemon.run(run)["reason"], daemon.rlctl("show", run, check=0).out,
                 daemon.rlctl("list", check=0).out):
        assert f"account {ACCOUNTS[program]}" in text, text
    assert programs.starts(program) == 1
    daemon.rlctl("cooldown", "clear", ACCOUNTS[program], check=0)
    row = daemon.ended(run)
    assert row["state"] == "succeeded" and row["cause"] is None, row
    first, second = daemon.attempts(run)
    assert second["outcome"] == "done" and second["provider"] == "ok" and programs.starts(program) == 2
    assert row["totals"]["cost_usd"] == second["cost_usd"]


@cells(PASSES)
def test_what_the_program_got_over_is_no_failure(programs, repo, program, error):
    daemon = programs.daemon
    programs.fails(program, error)
    run = daemon.submit(repo.path, agent=program)
    row = daemon.ended(run)
    attempt, = daemon.attempts(run)
    assert (row["state"], row["cause"], results(attempt)) == ("succeeded", None, ("exited", "ok", "done"))
    assert programs.starts(program) == 1 and not programs.account(program)["in_force"]


@cells(SILENT)
def test_a_program_that_waits_in_silence_is_ended(make_daemon, tmp_path, repo, program, error):
    programs = Programs(make_daemon, tmp_path, {"limits": {"idle_timeout": "1s", "grace": "1s"}})
    daemon = programs.daemon
    programs.fails(program, error)
    run = daemon.submit(repo.path, agent=program)
    row = daemon.ended(run)
    attempt, = daemon.attempts(run)
    assert row["state"] == "failed" and attempt["process"] == "idle" and attempt["outcome"] == "failed"
    assert "made no progress for 1s" in row["cause"], row["cause"]
    assert programs.starts(program) == 1


@pytest.mark.broad
@cells(REFUSED)
def test_a_program_that_waits_for_an_exhausted_account_is_ended(programs, repo, program, error):
    """Long before the idle clock, and without using a try; with the time that the
    program reports."""
    daemon = programs.daemon
    programs.fails(program, error, nth=1)
    programs.works(program)
    run = daemon.submit(repo.path, agent=program)
    slot = cooling(daemon, run)
    attempt, = [a for a in daemon.attempts(run) if a["state"] == "exited"]
    assert results(attempt) == ("refused", "limit", "failed") and attempt["fault"] == "provider", attempt
    assert (TABLE[program, error][4] in attempt["cause"]
            and "its service refused every request" in attempt["cause"]), attempt["cause"]
    account = programs.account(program)
    assert (account["in_force"], account["kind"], account["attempt"]) == (True, "limit", attempt["id"])
    wait = milliseconds(account["until"]) - milliseconds(account["created_at"])
    assert wait == pytest.approx(8 * HOUR + 44 * 60_000 + 7000 if program == "gemini" else HOUR, abs=60_000)
    assert slot["cooling"] == ACCOUNTS[program] and slot["retries"] == 0 and slot["fix"] == 0
    daemon.rlctl("cooldown", "clear", ACCOUNTS[program], check=0)
    row = daemon.ended(run)
    assert row["state"] == "succeeded", row["cause"]
    assert programs.starts(program) == 2
    session = attempt.get("session")
    assert session is None or session in programs.arguments(program, 2), "the conversation is taken up again"


def refused_key(programs, tries):
    head = json.loads(recorded("claude", "good").splitlines()[0])
    programs.says("claude",
                  lines(head, *({"type": "system", "subtype": "api_retry", "attempt": i,
                                 "max_retries": 10, "retry_delay_ms": 600, "error_status": 401,
                                 "error": "authentication_failed", "session_id": head["session_id"]}
                                for i in range(1, tries + 1))), None)


def test_a_key_that_is_refused_twice_is_not_tried_on(programs, repo):
    """Claude Code asks eleven times, for three minutes."""
    refused_key(programs, 2)
    run = programs.daemon.submit(repo.path, agent="claude")
    row = programs.daemon.ended(run)
    attempt, = programs.daemon.attempts(run)
    assert row["state"] == "failed" and results(attempt) == ("refused", "auth", "failed"), attempt
    assert "authentication_failed" in row["cause"] and "log in: " in row["cause"], row["cause"]
    assert not programs.account("claude")["in_force"]


def test_a_daemon_that_starts_in_the_middle_sees_the_refusals_too(programs, repo):
    daemon = programs.daemon
    refused_key(programs, 1)
    programs.script("claude", (programs.path / "claude.script").read_text().replace(
        "exec sleep", f"until [ -e {programs.path}/more ]; do sleep 0.1; done\n"
        f"tail -n 1 {programs.path}/claude.says.ever; exec sleep"))
    run = daemon.submit(repo.path, agent="claude")
    with daemon.events(run=run) as events:
        events.until("attempt.started")
    daemon.kill()
    (programs.path / "more").touch()
    daemon.start()
    assert daemon.ended(run)["state"] == "failed"
    attempt, = daemon.attempts(run)
    assert results(attempt) == ("refused", "auth", "failed"), attempt


# ---- beyond one attempt ----

def test_others_of_the_account_wait_and_other_accounts_go_on(programs, make_repos):
    daemon = programs.daemon
    one, two, three = make_repos(3)
    programs.fails("claude", "usage-limit", nth=1)
    programs.works("claude")
    programs.works("codex")
    first = daemon.submit(one.path, agent="claude")
    cooling(daemon, first)
    second = daemon.submit(two.path, agent="claude")
    assert cooling(daemon, second)["cooling"] == "anthropic"
    assert daemon.ended(daemon.submit(three.path, agent="codex"))["state"] == "succeeded"
    assert programs.starts("claude") == 1 and programs.account("claude")["waiting"] == 2
    daemon.call("cooldown.clear", account="anthropic")
    assert [r["state"] for r in daemon.ended(first, second)] == ["succeeded"] * 2
    assert programs.starts("claude") == 3


def test_a_reviewer_that_waits_uses_no_round(programs, repo):
    daemon = programs.daemon
    programs.works("codex")
    programs.fails("claude", "usage-limit", nth=1)
    programs.says("claude", recorded("claude", "good").replace(
        '{\\"verdict\\": \\"pass\\"}', '{\\"verdict\\": \\"pass\\", \\"followUpPrompt\\": \\"read it\\"}'), 0)
    run = daemon.review(repo.path, agent="codex", reviewer_agent="claude")
    slot = cooling(daemon, run)
    assert slot["cooling"] == "anthropic" and slot["round"] == 1
    daemon.call("cooldown.clear", account="anthropic")
    row = daemon.ended(run)
    assert row["state"] == "succeeded", row["cause"]
    assert [(a["role"], a["agent"]) for a in daemon.attempts(run)] == [("implement", "codex"),
                                                                       ("review", "claude"),
                                                                       ("review", "claude")]
    assert len(daemon.reviews(run)) == 1 and row["slots"][0]["round"] == 1
    assert programs.starts("codex") == 1, "what was done is not done again"


def test_the_second_try_passes(programs, repo):
    """The whole way of a service that fails once, with the wait that it takes."""
    daemon = programs.daemon
    programs.fails("codex", "e500", nth=1)
    programs.works("codex")
    done = daemon.rlctl("run", "-a", "codex", "do it", cwd=repo.path, check=0)
    assert "Cooling: " in done.err and "experiencing high demand" in done.err
    assert [results(a) for a in daemon.attempts(1)] == [("exited", "error", "failed"), ("exited", "ok", "done")]
    assert daemon.run(1)["totals"]["tokens"] == sum(v for k, v in daemon.attempts(1)[1]["tokens"].items()
                                                    if v and k != "reasoning")
    assert daemon.run(1)["slots"][0]["retries"] == 0
