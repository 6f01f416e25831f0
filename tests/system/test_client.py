# SPDX-License-Identifier: MIT
"""rlctl against a scripted daemon: options, exit codes, the search for a socket, tables,
Ctrl-C, large tasks."""
import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
from pathlib import Path

import pytest

from rld import RLCTL
from terminal import open_terminal

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ("init run submit list show wait watch logs diff review evidence attest verify finding hold report cancel "
            "pause resume change retry group cooldown salvage web events status doctor metrics backup prune stop "
            "config prompt rpc mcp relay completion help".split())


class Refuse(Exception):
    def __init__(self, code, message, **data):
        super().__init__(message)
        self.error = {"code": code, "message": message, "data": data}


class FakeDaemon:
    """Answers each method from self.answers: a value, or a function of (connection, params) that
    may raise Refuse."""

    def __init__(self, path, uid=None):
        self.path, self.calls, self.answers = path, [], {
            "daemon.hello": {"version": "0.1.0", "protocol": 1, "instance": "x", "capabilities": [],
                             "agent_env": ["API_KEY"]},
            "event.subscribe": {"seq": 10}, "event.unsubscribe": {"seq": 10},
            "daemon.status": {"state": "running", "uptime_ms": 61000, "runs": {"queued": 2}},
            "run.submit": {"id": 7, "state": "queued"},
        }
        self.called = threading.Condition()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listen_as(uid)
        self.connections = []
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def listen_as(self, uid):
        """A client sees the uid of the process that called listen(2)."""
        if uid is None:
            self.listener.listen(16)
            return
        child = os.fork()
        if child == 0:
            os.setuid(uid)
            self.listener.listen(16)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(peer)
            threading.Thread(target=self.serve_and_close, args=(peer,), daemon=True).start()

    def serve_and_close(self, peer):
        try:
            self.serve(peer)
        finally:
            self.close_peer(peer)

    def serve(self, peer):
        for line in peer.makefile("rb"):
            assert len(line) <= 1 << 20, "a frame has at most 1 MiB"
            request = json.loads(line)
            method, params = request["method"], request.get("params")
            with self.called:
                self.calls.append((method, params))
                self.called.notify_all()
            reply = {"jsonrpc": "2.0", "id": request["id"]}
            try:
                answer = self.answers[method]
                reply["result"] = answer(peer, params) if callable(answer) else answer
            except Refuse as refusal:
                reply["error"] = refusal.error
            except KeyError:
                reply["error"] = {"code": -32601, "message": f"unknown method {method}"}
            except OSError:
                return
            try:
                peer.sendall(json.dumps(reply).encode() + b"\n")
            except OSError:
                return

    @staticmethod
    def tell(peer, *events):
        for event in events:
            peer.sendall(json.dumps({"jsonrpc": "2.0", "method": "event", "params": event}).encode() + b"\n")

    def of(self, method):
        return [params for name, params in self.calls if name == method]

    def await_call(self, method, count=1):
        with self.called:
            assert self.called.wait_for(lambda: len(self.of(method)) >= count, 30), self.calls

    def close(self):
        # Its thread must be out of accept() before the descriptor is free: the next listener may
        # get the same number.
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.thread.join(30)
        self.listener.close()
        for peer in self.connections:
            self.close_peer(peer)

    @staticmethod
    def close_peer(peer):
        try:
            peer.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        peer.close()


@pytest.fixture
def fake(tmp_path):
    daemon = FakeDaemon(tmp_path / "s")
    yield daemon
    daemon.close()


def environment(tmp_path, **more):
    return {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8", "TERM": "xterm", **more}


def start(tmp_path, *args, socket_path=None, rlctl=RLCTL, **kwargs):
    env = environment(tmp_path, **({"RLD_SOCKET": str(socket_path)} if socket_path else {}), **kwargs.pop("more", {}))
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([str(rlctl), *map(str, args)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            cwd=kwargs.pop("cwd", tmp_path), **kwargs)


def ctl(tmp_path, *args, check=0, input=None, **kwargs):
    if input is not None:
        kwargs["stdin"] = subprocess.PIPE
    process = start(tmp_path, *args, **kwargs)
    out, err = process.communicate(input, timeout=60)
    assert process.returncode == check, (f"{args} ended with {process.returncode}, not {check}:\n"
                                         f"{out.decode(errors='replace')}\n{err.decode(errors='replace')}")
    return out.decode(errors="replace"), err.decode(errors="replace")


@pytest.fixture
def rlctl(fake, tmp_path):
    return lambda *args, **kwargs: ctl(tmp_path, *args, socket_path=fake.path, **kwargs)


# ---- usage and help ------------------------------------------------------------------------------

def test_no_arguments_is_usage_on_stderr(tmp_path):
    out, err = ctl(tmp_path, check=2)
    assert out == "" and err.startswith("usage: rlctl")


@pytest.mark.parametrize("args", [["--help"], ["help"], ["-h"]])
def test_overview_names_every_command(tmp_path, args):
    out, err = ctl(tmp_path, *args)
    rows = out.split("\nCommon options:")[0].splitlines()[2:]
    assert err == "" and [row.split()[0] for row in rows if row[2] != " "] == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_is_the_same_both_ways(tmp_path, command):
    out, _ = ctl(tmp_path, "help", command)
    assert out.startswith(f"usage: rlctl {command}") and "--json" in out
    assert ctl(tmp_path, command, "--help")[0] == out


def test_help_keeps_its_columns(tmp_path):
    """Help texts begin in one column, on the next line when what they are about is long."""
    for words, column in (([], 42), *(([command], 37) for command in COMMANDS)):
        rows = ctl(tmp_path, "help", *words)[0].split("\nCommon options:")[0].splitlines()
        rows = [row for row in rows if row.startswith("  ")]
        for row, following in zip(rows, [*rows[1:], ""]):
            if row[column - 1] == " ":
                assert row[column] != " ", row
            else:
                assert following[:column].isspace() and following[column] != " ", row


def test_version(tmp_path):
    assert ctl(tmp_path, "--version")[0] == "rlctl 0.1.0\n" == ctl(tmp_path, "list", "--version")[0]


def test_manual_and_help_have_the_same_commands_and_options(tmp_path):
    manual = (ROOT / "docs/rlctl.1").read_text()
    for command in COMMANDS:
        assert re.search(rf"^\.It Ic {command}\b", manual, re.M), f"{command} is not in rlctl.1"
        for option in re.findall(r"--([a-z-]+)", ctl(tmp_path, "help", command)[0]):
            assert re.search(rf"^\.It (Xo\n\.)?(Fl \w , )?Fl -{option}\b", manual.replace("\\-", "-"),
                             re.M), f"--{option} of {command} is not in rlctl.1"


def test_manual_is_clean():
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "style", ROOT / "docs/rlctl.1"],
                          capture_output=True, text=True)
    # Our other manuals are not installed where the tests run.
    assert [line for line in done.stdout.splitlines() if "referenced manual not found: Xr rl" not in line] == []


@pytest.mark.parametrize("args", [
    ["frobnicate"], ["--frobnicate"], ["list", "--frobnicate"], ["list", "extra"], ["show"],
    ["show", "x"], ["show", "0"], ["show", "-1"], ["show", "1/"],
    ["show", "99999999999999999999"], ["diff", "x/2"], ["wait"], ["wait", "--timeout", "soon", "1"],
    ["cancel"], ["cancel", "1", "x"],
    ["review", "show"], ["review", "burn", "1"], ["config", "burn"], ["events", "--since", "-1"],
    ["logs", "--stream", "stdin", "1"],
    ["list", "a"], ["submit", "--priority", "1.5", "x"], ["submit", "--env", "K", "x"],
    ["submit", "--env", "=v", "x"],
    ["submit", "--on-lost", "ret", "x"], ["submit", "--on-lost", "", "x"],
    ["submit", "--color", "blue", "x"], ["submit", "--timeout", "1w", "x"],
    ["submit", "--review-max-fix-attempts", "-1", "x"], ["submit", "-f", "/dev/null", "x"],
    ["rpc", "m", "novalue"], ["rpc", "m", "{broken"],
    ["submit", "--max-costs", "1", "x"], ["pause"],
    ["submit", "--parallel", "0", "x"], ["submit", "-P", "two", "x"], ["submit", "-n", "0", "x"],
    ["submit", "--pause-ms", "-1", "x"], ["submit", "--after", "0", "x"],
    ["submit", "--after", "7/1", "x"], ["submit", "--isolation", "auto", "x"],
    ["submit", "--integrate", "rebase", "x"], ["submit", "--assign", "me", "--beads"],
    ["submit", "--on-failure", "fail", "x"], ["submit", "--commit", "agents", "x"],
    ["submit", "--beads", "x"], ["submit", "--beads=.", "x"],
    ["submit", "--beads", "-f", "/dev/null"], ["submit", "--stories", "/etc/hostname", "x"],
    ["submit", "--stories", "/etc/hostname", "--workflow", "/etc/hostname"],
    ["submit", "--workflow", "/etc/hostname", "--beads"], ["watch", "x"], ["watch", "1/2"],
    ["watch", "1", "2"], ["list", "--state", "nonsense"],
    ["finding", "list"], ["finding", "dismiss", "1"], ["finding", "dismiss", "1", "aa"],
    ["finding", "dismiss", "1", "aa", "--reason", " "], ["finding", "list", "1", "--reason", "x"],
    ["finding", "burn", "1"], ["finding", "list", "x/t1"],
    ["hold"], ["hold", "show"], ["hold", "show", "x"], ["hold", "show", "0"], ["hold", "list", "1"],
    ["hold", "approve", "1", "2"], ["hold", "burn", "1"],
    ["hold", "list", "--state", "nonsense"], ["hold", "list", "--run", "x"], ["report"],
    ["report", "x"], ["report", "--format", "pdf", "1"],
    ["review", "export", "x"], ["group", "pause", "a", "--slots", "2"],
    ["group", "list", "--slots", "2"], ["hold", "list", "-m", "x"],
    ["hold", "approve", "1", "--run", "2"], ["cooldown", "clear", "a", "-m", "x"],
    ["salvage", "restore", "-n", "1", "1", "d"],
])
def test_usage_errors_are_2_and_ask_nothing(fake, rlctl, args):
    out, err = rlctl(*args, check=2)
    assert out == "" and err and [name for name, _ in fake.calls if name != "daemon.hello"] == []
    out, err = rlctl("--json", *args, check=2)
    said = json.loads(err)     # one object
    assert out == "" and (said["code"], said["data"]["kind"], said["data"]["retryable"]) == (0, "usage", False)
    assert said["message"]


def test_a_run_that_is_no_number_is_told_so(fake, rlctl):
    fake.answers["run.cancel"] = {"id": 1, "state": "cancelled"}
    _, err = rlctl("cancel", "1", "x", check=2)
    assert "x is not a run number" in err and fake.of("run.cancel") == []


# ---- submit --------------------------------------------------------------------------------------

def test_submit_fills_the_request(fake, rlctl, tmp_path):
    (tmp_path / "dev.md").write_text("x")
    (tmp_path / "w").mkdir()
    out, err = rlctl("submit", "-C", "w", "-a", "one", "--reviewer-agent", "two", "--fixer-agent",
                     "three", "--model", "m", "--reviewer-model", "rm",
                     "--fixer-model", "fm", "--review=verdict", "--review-max-fix-attempts", "3",
                     "--developer-prompt", "dev.md", "--reviewer-prompt", "none",
                     "--timeout", "2h", "--idle-timeout", "90", "--priority", "-5", "--on-lost",
                     "retry", "--env", "A=1", "--env", "B=x=y", "--env", "A=2",
                     "--key", "k", "--", "-the task")
    assert (out, err) == ("7\n", "")
    request = fake.of("run.submit")[0]
    assert request.pop("environment") and request.pop("env") in ({"A": "2", "B": "x=y"}, ["A=2", "B=x=y"])
    assert request == {"task": "-the task", "workdir": str(tmp_path / "w"), "agent": "one",
                       "reviewer_agent": "two", "fixer_agent": "three", "model": "m",
                       "reviewer_model": "rm", "fixer_model": "fm",
                       "review": {"enabled": True, "profile": "verdict", "max_fixes": 3,
                                  "developer_prompt": str(tmp_path / "dev.md"), "reviewer_prompt": "none"},
                       "timeout": "2h", "idle_timeout": "90", "priority": -5,
                       "on_lost": "retry", "key": "k"}


def test_options_of_the_outer_loop_fill_the_request(fake, rlctl, tmp_path):
    rlctl("submit", "-P", "4", "-n", "20", "--pause-ms", "0", "--isolation", "worktree", "--base",
          "main", "--commit", "agent", "--integrate", "merge",
          "--group", "night", "--after", "7", "--on-failure", "continue", "x")
    request = fake.of("run.submit")[0]
    assert request.pop("environment")
    assert request == {"task": "x", "workdir": str(tmp_path), "parallel": 4, "iterations": 20,
                       "pause_ms": 0, "isolation": "worktree", "base": "main", "commit": "agent",
                       "integrate": "merge", "group": "night", "after": 7, "on_failure": "continue"}


def test_a_source_fills_the_request(fake, rlctl, tmp_path):
    (tmp_path / "w" / ".beads").mkdir(parents=True)
    (tmp_path / "prd.json").write_text('{"userStories": "é"}\n')
    (tmp_path / "flow.yaml").write_text("tasks:\n")
    (tmp_path / "link.json").symlink_to("prd.json")
    # what is piped in is nobody's task then
    rlctl("submit", "--beads", "-C", "w", "--assign", "agent", input=b"not a task")
    rlctl("submit", "--beads=w")
    rlctl("submit", "--stories", "link.json", input=b"not a task")
    rlctl("submit", "--workflow", "flow.yaml")
    requests = fake.of("run.submit")
    for request in requests:
        assert request.pop("environment")
    here = str(tmp_path)
    assert requests == [{"beads": True, "workdir": f"{here}/w", "assign": "agent"},
                        {"beads": f"{here}/w", "workdir": here},
                        {"stories": '{"userStories": "é"}\n', "stories_path": f"{here}/prd.json",
                         "workdir": here},
                        {"workflow": "tasks:\n", "workflow_path": f"{here}/flow.yaml", "workdir": here}]


@pytest.mark.parametrize("args, words", [
    (["--beads"], "bd init"), (["--beads=none"], "none"), (["--beads=file"], "file"),
    (["--beads=dir"], "dir/.beads"), (["--stories", "none"], "none"),
    (["--stories", "dir"], "dir"), (["--workflow", "none"], "none"),
    (["--stories", "empty"], "empty"), (["--stories", "nul"], "NUL"),
    (["--workflow", "latin"], "UTF-8"), (["--workflow", "long"], "512 KiB"),
])
def test_a_source_that_is_missing_or_wrong_is_1_and_asks_nothing(fake, rlctl, tmp_path, args, words):
    (tmp_path / "dir").mkdir()
    for name, data in (("file", b"x"), ("empty", b" \n"), ("nul", b"a\0b"), ("latin", b"\xe9"),
                       ("long", b"# long\n" * 80000)):
        (tmp_path / name).write_bytes(data)
    _, err = rlctl("submit", *args, check=1)
    assert words in err and fake.of("run.submit") == []


def test_two_sources_are_told_apart(rlctl, tmp_path):
    (tmp_path / "d" / ".beads").mkdir(parents=True)
    _, err = rlctl("submit", "--beads", "d", check=2)
    assert "--beads=DIR" in err and "not both" in err
    _, err = rlctl("submit", "-f", "d", "--beads", check=2)
    assert "--file or --beads" in err


@pytest.mark.parametrize("args, review", [
    (["--review", "--no-review"], {"enabled": False}), (["--no-review", "--review"], {"enabled": True}),
    (["--review=verdict", "--review"], {"enabled": True}),
    (["--review", "--review=verdict"], {"enabled": True, "profile": "verdict"}),
    (["--agent", "a", "--agent", "b"], None),
])
def test_the_last_of_two_wins(fake, rlctl, args, review):
    rlctl("submit", *args, "x")
    request = fake.of("run.submit")[0]
    assert request.get("review") == review and request.get("agent") in (None, "b")


def test_options_may_stand_behind_the_task_and_before_the_command(fake, rlctl, tmp_path):
    out, _ = rlctl("--json", "submit", "x", "--skip-review")
    assert json.loads(out) == {"id": 7, "state": "queued"}
    assert fake.of("run.submit")[0]["skip_review"] is True and fake.of("run.submit")[0]["workdir"] == str(tmp_path)


def test_dry_run_prints_no_number(fake, rlctl):
    out, err = rlctl("submit", "--dry-run", "x")
    assert out == "" and "nothing was submitted" in err and fake.of("run.submit")[0]["check"] is True
    assert rlctl("run", "-q", "--dry-run", "x") == ("", "")


@pytest.mark.parametrize("args", [["-f", "missing"], ["-C", "missing"], ["-C", "file"],
                                  ["--developer-prompt", "missing"], ["--reviewer-prompt", "dir"],
                                  ["-f", "dir"]])
def test_a_missing_or_wrong_file_or_directory_is_1_and_named(fake, rlctl, tmp_path, args):
    (tmp_path / "file").write_text("x")
    (tmp_path / "dir").mkdir()
    task = [] if args[0] == "-f" else ["x"]
    _, err = rlctl("submit", *args, *task, check=1)
    assert args[1] in err and fake.of("run.submit") == []


@pytest.mark.parametrize("text, why", [(b"", "empty"), (b" \n\t", "empty"), (b"a\0b", "NUL"),
                                       (b"caf\xe9", "UTF-8"), (b"\xed\xa0\x80", "UTF-8")])
def test_text_that_is_no_task(fake, rlctl, text, why):
    _, err = rlctl("submit", check=1, input=text)
    assert why in err and fake.of("run.submit") == []


def test_task_from_file_and_stdin(fake, rlctl, tmp_path):
    (tmp_path / "t").write_text("from ä file")
    rlctl("submit", "-f", "t")
    rlctl("submit", "-f", "-", input="from 😀 stdin".encode())
    rlctl("submit", input=b"from a pipe")
    assert [r["task"] for r in fake.of("run.submit")] == ["from ä file", "from 😀 stdin", "from a pipe"]


@pytest.mark.parametrize("text", ["ä€😀" * 200000, "\x01\x02" * 700000, "x" * (5 << 20)],
                         ids=["wide", "control", "plain"])
def test_a_large_task_goes_ahead_in_pieces(fake, rlctl, text):
    blobs = {}

    def put(_, params):
        blob = blobs.setdefault(params["blob"], bytearray())
        assert params["offset"] == len(blob) and len(params["data"].encode()) <= 256 * 1024
        blob += params["data"].encode()
        return {"blob": params["blob"], "size": len(blob)}
    fake.answers["blob.put"] = put
    rlctl("submit", input=text.encode())
    request = fake.of("run.submit")[0]
    assert "task" not in request and blobs == {request["task_blob"]: text.encode()}
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", request["task_blob"])


def test_a_task_has_at_most_16_mib(fake, rlctl):
    _, err = rlctl("submit", check=1, input=b"x" * ((16 << 20) + 1))
    assert "16 MiB" in err and fake.of("blob.put") == []


def test_the_environment_goes_by_a_list(fake, rlctl):
    rlctl("submit", "x", more={"API_KEY": "k", "LC_TIME": "C", "SECRET": "s", "XDG_DATA_HOME": "/x",
                               "https_proxy": "p", "RL_RUN": "3"})
    sent = fake.of("run.submit")[0]["environment"]
    names = {e.split("=")[0] for e in sent} if isinstance(sent, list) else set(sent)
    assert {"PATH", "HOME", "LANG", "LC_TIME", "XDG_DATA_HOME", "https_proxy",
            "API_KEY"} <= names and not names & {"SECRET", "RL_RUN", "RLD_SOCKET"}


def test_errors_carry_message_hint_and_option(fake, rlctl):
    def refuse(_, params):
        raise Refuse(-32602, "unknown agent 'x\x1b[31m'", field="reviewer_agent",
                     hint="agents: claude", kind="invalid-params")
    fake.answers["run.submit"] = refuse
    out, err = rlctl("submit", "--reviewer-agent", "x", "t", check=1)
    assert out == "" and err == "rlctl: --reviewer-agent: unknown agent 'x\\x1b[31m'\n  agents: claude\n"


def errors(said):
    return [json.loads(line) for line in said[1].splitlines()]


def test_with_json_an_error_is_as_the_daemon_sent_it(fake, rlctl):
    data = {"field": "reviewer_agent", "hint": "agents: claude", "kind": "invalid-params", "retryable": True}
    def refuse(_, params):
        raise Refuse(-32602, "reviewer_agent: \x1b[31mé", **data)
    fake.answers["run.submit"] = refuse
    said = rlctl("submit", "--json", "--reviewer-agent", "x", "t", check=1)
    assert said[0] == "" and errors(said) == [{"code": -32602, "message": "reviewer_agent: \x1b[31mé", "data": data}]


def test_with_json_each_refusal_is_a_line(fake, rlctl):
    def refuse(_, params):
        raise Refuse(1, f"no such run: {params['id']}", kind="not-found", retryable=False, hint="see rlctl list")
    fake.answers["run.cancel"] = refuse
    said = rlctl("cancel", "98", "99", "--json", check=1)
    assert [e["message"] for e in errors(said)] == ["no such run: 98", "no such run: 99"]


def test_with_json_a_missing_file_and_a_missing_word_are_json(rlctl, tmp_path):
    error, = errors(rlctl("submit", "--json", "-f", tmp_path / "none", check=1))
    assert "none: No such file" in error["message"] and error["data"]["kind"] == "failed"
    for args in (["--json"], ["--json", "burn"], ["list", "--json", "--burn"], ["--json", "list", "-x"],
                 ["list", "--json", "--limit"], ["list", "--json", "-n"], ["list", "--json=x", "--json"],
                 ["status", "--json", "too", "many"], ["help", "--json", "burn"]):
        error, = errors(rlctl(*args, check=2))
        assert error["message"] and error["data"]["kind"] == "usage", args


@pytest.mark.parametrize("args, words", [
    (["--burn"], "unrecognized option '--burn'"),
    (["--limt=3"], "unrecognized option '--limt=3'; did you mean --limit?"),
    (["-x"], "invalid option -- 'x'"),
    (["--limit"], "option '--limit' requires an argument"), (["-n"], "option requires an argument -- 'n'"),
    (["--json=x"], "option '--json' doesn't allow an argument"),
])
def test_an_option_that_cannot_be_used_is_named(rlctl, args, words):
    assert rlctl("list", *args, check=2)[1] == f"rlctl: {words}\n  --help lists the options\n"


@pytest.mark.parametrize("args, words", [
    (["lst"], 'unknown command lst; did you mean "rlctl list"?'),
    (["tail"], 'unknown command tail; did you mean "rlctl logs -f"?'),
    (["help", "lgos"], 'unknown command lgos; did you mean "rlctl logs"?'),
    (["approve", "3"], 'unknown command approve; did you mean "rlctl hold approve"?'),
    (["burn"], 'unknown command burn; "rlctl help" lists the commands'),
    (["hold", "aprove", "3"], 'did you mean "rlctl hold approve"?'),
])
def test_a_mistyped_command_gets_a_suggestion(rlctl, args, words):
    assert words in rlctl(*args, check=2)[1]


@pytest.mark.parametrize("names", ["a,,b", ",a", "a,", ","])
def test_an_empty_name_is_told(fake, rlctl, names):
    assert "--reviewers must be NAME,...: a name is empty" in rlctl("submit", "--reviewers", names, "x", check=2)[1]
    assert fake.of("run.submit") == []


def test_a_word_of_a_task_that_looks_like_an_option(fake, rlctl):
    assert "in a task, put -- before words that begin with -" in rlctl("submit", "fix", "-the", "bug", check=2)[1]
    rlctl("submit", "--", "fix", "-the", "bug")
    assert fake.of("run.submit")[0]["task"] == "fix -the bug"


def test_words_without_quotes_are_one_task(fake, rlctl):
    rlctl("submit", "make", "the", "--priority", "3", "tests pass")
    request, = fake.of("run.submit")
    assert (request["task"], request["priority"]) == ("make the tests pass", 3)


# ---- finding a daemon ----------------------------------------------------------------------------

def test_a_named_socket_is_the_only_one(fake, tmp_path):
    nowhere = tmp_path / "nowhere"
    (tmp_path / ".local/state/rld").mkdir(parents=True)
    _, err = ctl(tmp_path, "status", socket_path=nowhere, check=3)
    assert str(nowhere) in err and "No such file" in err and "rld --socket" in err
    _, err = ctl(tmp_path, "status", "--socket", nowhere, socket_path=fake.path, check=3)
    assert str(nowhere) in err and fake.calls == []
    ctl(tmp_path, "status", "--socket", fake.path, socket_path=nowhere)
    error, = errors(ctl(tmp_path, "status", "--json", socket_path=nowhere, check=3))
    assert str(nowhere) in error["message"] and error["data"] == {"kind": "no-daemon", "retryable": True}


def test_the_users_sockets_are_searched(tmp_path):
    runtime, state = tmp_path / "r", tmp_path / "st/rld"
    runtime.mkdir()
    state.mkdir(parents=True)
    more = {"XDG_RUNTIME_DIR": str(runtime), "XDG_STATE_HOME": str(tmp_path / "st"), "RLD_SOCKET": ""}
    _, err = ctl(tmp_path, "status", "--no-start", more=more, check=3)
    assert f"{runtime}/rld.sock" in err and f"{state}/rld.sock" in err and "/run/rld/rld.sock" in err and "rld" in err
    error, = errors(ctl(tmp_path, "status", "--no-start", "--json", more=more, check=3))
    assert error["data"]["kind"] == "no-daemon" and f"{state}/rld.sock" in error["data"]["hint"]
    second = FakeDaemon(state / "rld.sock")
    ctl(tmp_path, "status", "--no-start", more=more)
    assert second.of("daemon.status")
    first = FakeDaemon(runtime / "rld.sock")
    ctl(tmp_path, "status", "--no-start", more=more)
    assert first.of("daemon.status") and len(second.of("daemon.status")) == 1
    first.answers["daemon.hello"] = lambda *_: (_ for _ in ()).throw(Refuse(3, "only uid 0 may connect",
                                                                            kind="not-permitted"))
    said = ctl(tmp_path, "status", "--no-start", more=more)
    assert len(second.of("daemon.status")) == 2, ("a daemon that does not let us in is passed over: "
                                                  f"{said}, {first.calls}, {second.calls}")
    first.close()
    second.close()


# ---- whose daemon it is --------------------------------------------------------------------------

STRANGER = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="takes a second user")


@pytest.fixture
def stranger(tmp_path):
    daemon = FakeDaemon(tmp_path / "s", uid=STRANGER)
    yield daemon
    daemon.close()


SECRETS = {"API_KEY": "canary", "PATH": "/usr/bin:/bin"}


@as_root
@pytest.mark.parametrize("args", [["submit", "x"], ["run", "x"], ["retry", "1"], ["list"],
                                  ["status"], ["rpc", "daemon.status"], ["events", "-f"], ["stop"],
                                  ["doctor", "--json"], ["watch"]])
@pytest.mark.parametrize("named", ["option", "variable"])
def test_a_daemon_of_another_user_gets_nothing(tmp_path, stranger, args, named):
    where = {"socket_path": stranger.path} if named == "variable" else {}
    options = ["--socket", stranger.path] if named == "option" else []
    process = start(tmp_path, *options, *args, more=SECRETS, **where)
    err = process.communicate(timeout=60)[1].decode()
    assert process.returncode == (1 if args[0] == "doctor" else 3), err
    assert stranger.calls == [], "not even a greeting"
    assert str(stranger.path) in err and f"uid {STRANGER}" in err and f"--trust-uid {STRANGER}" in err


@as_root
def test_a_trusted_user_is_talked_to(tmp_path, stranger):
    ctl(tmp_path, "--trust-uid", STRANGER, "submit", "x", more=SECRETS, socket_path=stranger.path)
    assert "API_KEY=canary" in stranger.of("run.submit")[0]["environment"]
    ctl(tmp_path, "status", "--trust-uid", "1", socket_path=stranger.path, check=3)
    for wrong in ("-1", "root", "", str((1 << 32) - 1)):
        assert "--trust-uid" in ctl(tmp_path, "status", f"--trust-uid={wrong}", socket_path=stranger.path, check=2)[1]


@as_root
def test_a_run_is_not_followed_to_another_users_daemon(tmp_path):
    """The daemon goes away while its run is followed, and another user's listens in its place."""
    fake = FakeDaemon(tmp_path / "s")
    process = start(tmp_path, "run", "x", socket_path=fake.path)
    fake.await_call("event.subscribe")
    (tmp_path / "s").unlink()
    stranger = FakeDaemon(tmp_path / "s", uid=STRANGER)
    fake.close()
    err = process.communicate(timeout=60)[1]
    assert process.returncode == 3 and stranger.calls == [], err
    stranger.close()


@as_root
def test_the_search_passes_over_another_users_daemon(tmp_path):
    runtime, state = tmp_path / "r", tmp_path / ".local/state/rld"
    runtime.mkdir()
    state.mkdir(parents=True)
    stranger, own = FakeDaemon(runtime / "rld.sock", uid=STRANGER), FakeDaemon(state / "rld.sock")
    _, err = ctl(tmp_path, "status", "--no-start", more={"XDG_RUNTIME_DIR": str(runtime)})
    assert stranger.calls == [] and own.of("daemon.status") and f"uid {STRANGER}" in err
    stranger.close()
    own.close()


@as_root
@pytest.mark.parametrize("mode, served", [(0o755, True), (0o777, False), (0o775, False)])
def test_the_system_daemon_is_that_of_the_owner_of_its_directory(tmp_path, mode, served):
    """In a mount namespace of its own, where /run/rld belongs to another user."""
    stranger = FakeDaemon(tmp_path / "s", uid=STRANGER)
    script = (f"mount -t tmpfs none /run && mkdir /run/rld && chown {STRANGER} /run/rld && chmod "
              f"{mode:o} /run/rld && exec {RLCTL} --no-start status")
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script],
                          env=environment(tmp_path, RLD_SOCKET=str(stranger.path)),
                          capture_output=True, text=True, timeout=60)
    stranger.close()
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mount namespaces here: {done.stderr}")
    assert (done.returncode, bool(stranger.calls)) == ((0, True) if served else (3, False)), done.stderr


READY = """#!/usr/bin/python3
import json, os, socket, sys
state = os.environ["HOME"] + "/.local/state/rld"
about = [os.getpid(), os.getsid(0), os.getcwd(), os.environ.get("STATE_DIRECTORY")]
open(state + "/started", "a").write(json.dumps(about) + "\\n")
listener = socket.socket(socket.AF_UNIX)
listener.bind(state + "/rld.sock")
listener.listen(16)
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.sendto(b"STATUS=up\\nREADY=1\\n", "\\0" + os.environ["NOTIFY_SOCKET"][1:])
while True:
    peer, _ = listener.accept()
    for line in peer.makefile("rb"):
        request = json.loads(line)
        result = {"protocol": 1, "state": "running"}
        peer.sendall(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode() + b"\\n")
        if request["method"] == "daemon.stop":
            os._exit(0)
"""


def beside(tmp_path, script):
    """A copy of rlctl with an rld of our own beside it."""
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    rlctl = bin_dir / "rlctl"
    rlctl.write_bytes(RLCTL.read_bytes())
    rlctl.chmod(0o755)
    (bin_dir / "rld").write_text(script)
    (bin_dir / "rld").chmod(0o755)
    return rlctl


def test_a_daemon_is_started_once_for_many(tmp_path):
    rlctl = beside(tmp_path, READY)
    clients = [start(tmp_path, "status", "--json", "--start", rlctl=rlctl,
                     more={"STATE_DIRECTORY": "/nowhere"}) for _ in range(5)]
    told = b""
    for client in clients:
        out, err = client.communicate(timeout=60)
        assert client.returncode == 0, err
        assert json.loads(out)["state"] == "running"
        told += err
    started = [json.loads(line) for line in (tmp_path / ".local/state/rld/started").read_text().splitlines()]
    assert len(started) == 1 and started[0][0] == started[0][1], "one daemon, leader of its session"
    assert (told.decode() == f'rlctl: started a daemon for you (process {started[0][0]}, '
            f'state in {tmp_path}/.local/state/rld); "rlctl stop" ends it\n')
    assert started[0][2:] == ["/", None]
    assert (tmp_path / ".local/state/rld").stat().st_mode & 0o777 == 0o700
    ctl(tmp_path, "stop", rlctl=rlctl)


def test_a_start_that_fails_shows_what_the_daemon_said(tmp_path):
    rlctl = beside(tmp_path, "#!/bin/sh\necho '<3>the state is \033[1mbroken' >&2\nexit 7\n")
    _, err = ctl(tmp_path, "status", "--start", rlctl=rlctl, check=3)
    assert "exited with status 7" in err and "  the state is \\x1b[1mbroken" in err and "rld.log" in err


def test_stop_starts_no_daemon(tmp_path):
    rlctl = beside(tmp_path, "#!/bin/sh\ntouch \"$HOME/started\"\n")
    ctl(tmp_path, "stop", "--start", rlctl=rlctl, check=3)
    assert not (tmp_path / "started").exists()


def test_start_and_no_start(tmp_path):
    rlctl = beside(tmp_path, "#!/bin/sh\ntouch \"$HOME/started\"\n")
    assert "--start" in ctl(tmp_path, "status", "--start", "--no-start", rlctl=rlctl, check=2)[1]
    ctl(tmp_path, "status", "--start", rlctl=rlctl, socket_path=tmp_path / "nowhere", check=3)
    assert not (tmp_path / "started").exists(), "none is started at a socket that was named"


@as_root
@pytest.mark.parametrize("command", [["list"], ["submit", "x"], ["doctor"], ["watch"], ["rpc", "daemon.status"]])
def test_root_gets_no_daemon_without_asking(tmp_path, command):
    rlctl = beside(tmp_path, "#!/bin/sh\ntouch \"$HOME/started\"\n")
    process = start(tmp_path, *command, rlctl=rlctl)
    err = process.communicate(timeout=60)[1].decode()
    assert process.returncode == (1 if command == ["doctor"] else 3), err
    assert "--start" in err and "root" in err and not (tmp_path / "started").exists()


NOT_ROOT = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@as_root
def test_a_state_of_another_user_is_named_with_the_remedy(tmp_path):
    """As after "sudo rlctl" with the HOME of an ordinary user."""
    rlctl = beside(tmp_path, "#!/bin/sh\ntouch \"$HOME/started\"\n")
    for parent in [tmp_path, *tmp_path.parents]:
        if parent.stat().st_mode & 0o001 == 0:
            parent.chmod(parent.stat().st_mode | 0o711)
    state = tmp_path / ".local/state/rld"
    state.mkdir(parents=True)
    state.chmod(0o700)
    done = subprocess.run([*NOT_ROOT, rlctl, "list", "--start"], env=environment(tmp_path), cwd="/",
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and not (tmp_path / "started").exists()
    assert done.stderr == (f"rlctl: cannot lock {state}/start.lock: Permission denied\n"
                           f"  {state} must belong to your user; see its owner with ls -ld\n")


@as_root
@pytest.mark.parametrize("unit, started", [("file", False), ("link", False), ("masked", True),
                                           ("closed", True), (None, True)])
def test_no_daemon_beside_a_system_unit_without_asking(tmp_path, unit, started):
    """As an ordinary user, in a mount namespace where the unit is, or is not, installed, or runs
    for other users only."""
    rlctl = beside(tmp_path, "#!/bin/sh\ntouch \"$HOME/started\"\n")
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents:
        if parent.stat().st_mode & 0o001 == 0:
            parent.chmod(parent.stat().st_mode | 0o711)
    place = "/run/systemd/system/rld.service"
    make = {"file": f"touch {place}", "link": f"touch /run/elsewhere; ln -s /run/elsewhere {place}",
            "masked": f"ln -s /dev/null {place}",
            "closed": f"touch {place}; mkdir /run/rld; (umask 177; /usr/bin/python3 -c 'import "
            "socket; socket.socket(socket.AF_UNIX).bind(\"/run/rld/rld.sock\")')", None: "true"}[unit]

    def run(*options, status=3):
        script = (f"mount -t tmpfs none /run && mkdir -p /run/systemd/system && {make} && exec "
                  f"{' '.join(NOT_ROOT)} {rlctl} list {' '.join(options)}")
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script], env=environment(tmp_path),
                              cwd="/", capture_output=True, text=True, timeout=60)
        if "unshare" in done.stderr or "mount:" in done.stderr:
            pytest.skip(f"no mount namespaces here: {done.stderr}")
        assert done.returncode == status, done.stderr
        return done.stderr
    err = run()
    assert (tmp_path / "started").exists() == started, err
    if unit == "closed":
        assert ("the system daemon serves other users: no permission to connect to /run/rld/rld.sock: Permission denied"
                in run("--no-start"))
        assert "no permission to connect" in run("--socket", "/run/rld/rld.sock", status=1)
    elif not started:
        assert "systemctl start rld" in err and "--start" in err
        run("--start")
        assert (tmp_path / "started").exists()


def test_config_check_runs_rld(tmp_path):
    rlctl = beside(tmp_path, "#!/bin/sh\necho \"$@\"\nexit 1\n")
    assert ctl(tmp_path, "config", "check", rlctl=rlctl, check=1)[0] == "--check-config\n"
    assert ctl(tmp_path, "config", "check", "f.toml", rlctl=rlctl, check=1)[0] == "--check-config --config f.toml\n"


@pytest.mark.parametrize("bytes_", [b"", b"no json\n", b"[1]\n", b'{"jsonrpc":"2.0","id":1}\n', b"\xff\xfe\n"])
def test_a_server_that_talks_nonsense(tmp_path, bytes_):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "s"))
    listener.listen(1)
    client = start(tmp_path, "status", socket_path=tmp_path / "s")
    peer, _ = listener.accept()
    peer.recv(65536)
    peer.sendall(bytes_)
    peer.close()
    _, err = client.communicate(timeout=60)
    assert client.returncode in (1, 3) and err.startswith(b"rlctl: ")


# ---- run and wait --------------------------------------------------------------------------------

def event(seq, kind, /, **body):
    return {"seq": seq, "time": "2026-11-21T22:05:57.123Z", "type": kind, "run": 7, **body}


def reviewer(seq, round, slot=1):
    return event(seq, "attempt.started", attempt=seq, number=seq, role="review", agent="claude", slot=slot, round=round)


STORY = [
    event(11, "run.state", state="queued"), {**event(12, "run.state", state="failed"), "run": 6},
    event(13, "run.state", state="running"),
    event(14, "attempt.started", attempt=20, number=1, role="implement", agent="claude", slot=1, round=0),
    event(15, "attempt.ended", attempt=20, number=1, role="implement", agent="claude",
          state="exited", exit_code=0, wall_ms=65000, cost_usd=0.25),
    event(16, "slot.phase", slot=1, phase="reviewing", task="t1", round=1, fix=0, max_reviews=3),
    event(17, "slot.phase", slot=1, phase="reviewing", task="t1", round=1, fix=0, max_reviews=3), reviewer(18, 1),
    event(19, "finding", file="a.c", line=3, severity="high", text="off \x1b[31mby one", state="new"),
    event(20, "review.decided", review=1, task="t1", round=1, decision="drift",
          feedback="mend it\nplease", new=1, repeated=0, resolved=0),
    event(21, "slot.phase", slot=1, phase="fixing", task="t1", round=1, fix=1, max_reviews=3),
    event(22, "slot.phase", slot=1, phase="reviewing", task="t1", round=2, fix=1, max_reviews=3), reviewer(23, 2),
    event(24, "review.decided", review=2, task="t1", round=2, decision="pass", feedback="", new=0,
          repeated=0, resolved=1),
    event(25, "slot.phase", slot=1, phase="passed", task="t1", round=2, fix=1, max_reviews=3),
]


def script(fake, story, run, answer=b"the answer"):
    def subscribe(peer, params):
        assert params == {"run": 7, "since": 10}
        fake.tell(peer, *story)
        return {"seq": 30}

    def output(_, params):
        assert params["stream"] == "answer" and params["id"] == 21
        data = answer[params["offset"]:params["offset"] + 4].decode("latin1")
        return {"offset": params["offset"], "next": params["offset"] + len(data), "data": data,
                "encoding": "utf-8", "eof": False, "dropped": 0}
    fake.answers.update({"event.subscribe": subscribe,
                         "run.get": {"id": 7, "result": {"attempt": 21},
                                     "totals": {"wall_ms": 65000, "cost_usd": 0.25}, **run},
                         "attempt.output": output})


def test_run_tells_the_story_and_prints_the_answer(fake, rlctl):
    script(fake, [*STORY, event(26, "run.state", state="succeeded")],
           {"state": "succeeded", "result_ref": "refs/rl/passed/7/t1"})
    out, err = rlctl("run", "--review", "x")
    assert out == "the answer\n"
    lines = [line for line in err.splitlines() if not line.startswith(" ")]
    assert lines[:-1] == ["Run 7 queued", "Run 7 running", "Reviewing changes (iteration 1/3)...",
                          "Issues found. Running corrector (iteration 1/3)...",
                          "Reviewing changes (iteration 2/3)...", "Review passed!", "Run 7 succeeded"]
    assert ("refs/rl/passed/7/t1" in lines[-1] and "rlctl diff 7" in lines[-1]
            and lines[-1].startswith("Duration: 1m 05s, cost: $0.25. "))
    assert ("a.c:3 high: off \\x1b[31mby one" in err and "drift: 1 new" in err
            and "    mend it\n" in err and "implement: ended in 1m 05s, $0.25" in err)
    assert "\x1b" not in err


@pytest.mark.parametrize(("totals", "end"), [({"wall_ms": 65000}, "Duration: 1m 05s. "),
                                             ({"cost_usd": 0.25}, "Cost: $0.25. ")])
def test_the_end_of_a_run_names_time_and_cost(fake, rlctl, totals, end):
    script(fake, [*STORY, event(26, "run.state", state="succeeded")],
           {"state": "succeeded", "totals": totals})
    last = rlctl("run", "x")[1].splitlines()[-1]
    assert last.startswith(end), last


def test_run_quiet_and_run_json(fake, rlctl):
    script(fake, [*STORY, event(26, "run.state", state="succeeded")], {"state": "succeeded"})
    assert rlctl("run", "-q", "x") == ("the answer\n", "")
    out, _ = rlctl("run", "--json", "x")
    assert json.loads(out)["state"] == "succeeded"


@pytest.mark.parametrize("state, kind, cause, code", [
    ("failed", "exhausted", "drift unresolved after 2 fix attempt(s)", 10), ("cancelled", "cancelled", "uid 0", 11),
    ("failed", "lost", "lost: the implement process is gone", 12), ("held", None, None, 13),
    ("failed", "limit", "limit: cost", 14),
    ("succeeded", None, None, 0), ("failed", "exhausted", "NO_GO unresolved after 2 fix attempt(s)", 10),
    ("failed", "exhausted",
     "Review failed after 3 iterations. Please manually review autom8_review.md for remaining issues.", 10),
])
def test_exit_classes(fake, rlctl, state, kind, cause, code):
    run = {"state": state, "cause": cause, "end_kind": kind}
    script(fake, [event(11, "slot.phase", slot=1, phase="failed", round=3, max_reviews=3,
                        cause=cause or "", end_kind=kind), event(12, "run.state", **run)], run)
    out, err = rlctl("run", "x", check=code)
    assert (out == "the answer\n") == (code == 0) and f"Run 7 {state}" in err and (cause or "") in err
    told = [line for line in err.splitlines() if line == "Review failed after 3 iterations."]
    assert len(told) == (kind == "exhausted")
    fake.answers["hold.list"] = {"holds": [], "next": None}
    fake.answers["run.wait"] = {"runs": [{"id": 7, **run}], "timed_out": False}
    out, _ = rlctl("wait", "7", check=code)
    assert state in out


def test_a_pass_that_is_committed_says_so(fake, rlctl):
    story = [event(11, "slot.phase", slot=0, phase="reviewing", round=1, max_reviews=3),
             event(12, "review.decided", decision="pass", round=1, by="claude"),
             event(13, "slot.phase", slot=0, phase="committing", round=1, max_reviews=3),
             event(14, "slot.phase", slot=0, phase="passed", round=1),
             event(15, "run.state", state="succeeded")]
    script(fake, story, {"state": "succeeded", "review": {"commit": "auto"}, "result_commit": "abc123"})
    _, err = rlctl("run", "x")
    assert (err.count("Review passed!") == 1
            and "\nReview passed! Proceeding to commit.\nRun 7 succeeded\n" in err
            and "committed as abc123" in err)
    script(fake, story, {"state": "succeeded", "review": {"commit": "none"}})
    _, err = rlctl("run", "x")
    assert "\nReview passed!\nRun 7 succeeded\n" in err and "ommit" not in err


def test_checks_are_told_apart_from_reviews(fake, rlctl):
    script(fake, [event(11, "slot.phase", slot=1, phase="checking", round=0, max_reviews=3),
                  event(12, "slot.phase", slot=1, phase="fixing", round=0, fix=1, max_reviews=3),
                  event(13, "slot.phase", slot=1, phase="checking", round=0, max_reviews=3),
                  event(14, "run.state", state="succeeded")], {"state": "succeeded"})
    _, err = rlctl("run", "x")
    assert err.startswith("Running checks...\nA check failed. Running fixer (fix 1)...\n"
                          "Running checks...\nRun 7 succeeded\n")


def test_no_review_is_told_of_before_there_is_a_reviewer(fake, rlctl):
    """The tree is looked at first, and then there may be nothing to review."""
    attempt = {"attempt": 20, "number": 1, "role": "implement", "agent": "claude", "slot": 1, "round": 0}
    script(fake, [event(11, "attempt.started", **attempt),
                  event(12, "attempt.ended", **attempt, state="exited", exit_code=0, outcome="done",
                        wall_ms=1000),
                  event(13, "slot.phase", slot=1, phase="reviewing", round=1, max_reviews=3),
                  event(14, "slot.phase", slot=1, phase="passed", round=0, max_reviews=3),
                  event(15, "run.state", state="succeeded")], {"state": "succeeded"})
    _, err = rlctl("run", "x")
    assert err.startswith("  implement: claude (attempt 7/1)\n  implement: ended in 1s\nRun 7 succeeded\n")


def test_a_fix_that_waits_for_its_account_is_for_what_it_was_for(fake, rlctl):
    script(fake, [event(11, "slot.phase", slot=1, phase="checking", round=0, max_reviews=3),
                  event(12, "slot.phase", slot=1, phase="cooling", round=0, fix=1, reason="account a"),
                  event(13, "slot.phase", slot=1, phase="fixing", round=0, fix=1, max_reviews=3),
                  event(14, "run.state", state="succeeded")], {"state": "succeeded"})
    _, err = rlctl("run", "x")
    assert err.startswith("Running checks...\nCooling: account a\n"
                          "A check failed. Running fixer (fix 1)...\nRun 7 succeeded\n")


def test_who_looks_only_now_is_told_of_all_rounds(fake, rlctl):
    script(fake, [event(11, "review.decided", review=3, task="t1", slot=1, round=3,
                        decision="drift", feedback="", new=1, repeated=0, resolved=0),
                  event(12, "hold.opened", hold=3, task="t1", slot=1, kind="exhausted",
                        reason=HOLD["reason"]), event(13, "run.state", state="held")],
           {"state": "held", "reason": HOLD["reason"], "holds": [HOLD]})
    assert "\nReview failed after 3 iterations.\n" in rlctl("run", "x", check=13)[1]


HOLD = {"id": 3, "run": 7, "task": "t1", "slot": 1, "iteration": 1, "kind": "exhausted",
        "reason": "NO_GO unresolved after 2 fix attempt(s)", "attempt": 20,
        "state": "open", "decided_by": None, "message": None,
        "created_at": "2026-11-21T22:05:57.123Z", "decided_at": None,
        "reviews": [{"iteration": n, "decision": "NO_GO", "feedback": f"again {n}", "task_id": "t1",
                     "reviewer_agent": "r", "coder_agent": "c", "final": False,
                     "quality_checks": {"test_coverage_adequate": n == 2}, "findings": [],
                     "timestamp": "2026-11-21T22:05:57.123Z"} for n in (1, 2, 3)]}


def test_a_run_that_is_held_ends_with_13_and_the_way_on(fake, rlctl):
    run = {"state": "held", "reason": HOLD["reason"], "holds": [HOLD]}
    script(fake, [event(11, "slot.phase", slot=1, phase="reviewing", round=3, max_reviews=3),
                  reviewer(12, 3), event(13, "hold.opened", hold=3, task="t1", slot=1,
                                         kind="exhausted", reason=HOLD["reason"]),
                  event(14, "slot.phase", slot=1, phase="held", round=3, cause=HOLD["reason"]),
                  event(15, "run.state", state="held")], run)
    out, err = rlctl("run", "x", check=13)
    assert out == "" and "\nReview failed after 3 iterations.\nHold 3 needs a decision: NO_GO unresolved" in err
    assert err.endswith('Run 7 needs your decision: "rlctl hold show 3".\n')
    fake.answers["run.wait"] = {"runs": [{"id": 7, **run}], "timed_out": False}
    fake.answers["hold.list"] = {"holds": [HOLD], "next": None}
    out, err = rlctl("wait", "7", check=13)
    assert "held" in out and err == 'Run 7 needs your decision: "rlctl hold show 3".\n'
    assert fake.of("hold.list") == [{"run": 7, "state": "open"}]


def test_what_was_accepted_by_leave_is_told(fake, rlctl):
    story = [event(11, "review.decided", decision="accepted", by="human:anna", round=3, feedback="fine"),
             event(12, "hold.closed", hold=3, state="approved", by="human:anna",
                   message="fine\nreally"), event(13, "slot.phase", slot=1, phase="passed", round=3),
             event(14, "finding", review=3, id="x", file="a.c", text="off by one", state="resolved",
                   by="fixer"),
             event(15, "run.state", state="succeeded", cause="accepted: human:anna: fine")]
    script(fake, story, {"state": "succeeded", "known_issues": ["a.c:1: still \x1b[31mwrong"],
                         "warnings": ["accepted: reviewer process timed out"]})
    out, err = rlctl("run", "x")
    assert (out == "the answer\n" and "Hold 3: approved by human:anna: fine\n" in err
            and "Run 7 succeeded: accepted: human:anna: fine\n" in err)
    assert ("rlctl: known issue: a.c:1: still \\x1b[31mwrong\n" in err
            and "rlctl: warning: accepted: reviewer process timed out\n" in err)
    assert "    - resolved: a.c off by one\n" in err and "Review passed!" not in err, "a human's leave is no verdict"
    assert rlctl("run", "-q", "x") == ("the answer\n", "")


@pytest.mark.parametrize("reason", ["--skip-review", "as the submit says"])
def test_skipped_review_in_the_words_of_requirement_002(fake, rlctl, reason):
    script(fake, [event(11, "review.skipped", task="t1", reason=reason, skip_kind="flag"),
                  event(12, "run.state", state="succeeded")], {"state": "succeeded"})
    assert "Skipping review (--skip-review flag set)\n" in rlctl("run", "x")[1]


@pytest.mark.each
@pytest.mark.parametrize("states, code", [
    ([("failed", "error"), ("failed", "lost"), ("held", None)], 10), ([("failed", "lost"), ("held", None)], 12),
    ([("held", None), ("failed", "limit")], 13), ([("failed", "limit"), ("cancelled", "cancelled")], 14),
    ([("succeeded", None), ("cancelled", "cancelled")], 11), ([("failed", "error"), ("running", None)], 124),
])
def test_wait_ends_with_the_worst(fake, rlctl, states, code):
    fake.answers["run.wait"] = {"runs": [{"id": i + 1, "state": state,
                                          "cause": kind and f"in words: {kind}", "end_kind": kind}
                                         for i, (state, kind) in enumerate(states)]}
    rlctl("wait", "--timeout", "2m", *range(1, len(states) + 1), check=code)
    assert fake.of("run.wait") == [{"ids": list(range(1, len(states) + 1)), "timeout_ms": 120000}]


def test_wait_says_that_the_runs_go_on_without_the_daemon(fake, rlctl):
    fake.answers["run.wait"] = lambda peer, _: peer.shutdown(socket.SHUT_RDWR)
    assert "the runs and their agents continue; repeat the command to wait again\n" in rlctl("wait", "7", check=3)[1]


def test_wait_continues_when_the_daemon_is_back(fake, rlctl):
    """For what is left of its time."""
    asked = []

    def wait(peer, params):
        asked.append(params["timeout_ms"])
        if len(asked) < 3:
            peer.shutdown(socket.SHUT_RDWR)
        return {"runs": [{"id": 7, "state": "succeeded"}]}
    fake.answers["run.wait"] = wait
    out, err = rlctl("wait", "--timeout", "2m", "7")
    assert out.split() == ["7", "succeeded"] and asked[0] == 120000 >= asked[1] >= asked[2] > 0
    assert err == "rlctl: the daemon disappeared; waiting for it to return\n"
    assert fake.of("event.subscribe") == []


def test_a_known_key_of_an_ended_run_follows_nothing(fake, rlctl):
    script(fake, [], {"state": "succeeded"})
    fake.answers["run.submit"] = {"id": 7, "state": "succeeded"}
    assert rlctl("run", "--key", "k", "x")[0] == "the answer\n"


def test_a_daemon_that_goes_away_is_3_and_says_that_the_run_goes_on(fake, rlctl):
    script(fake, STORY, {})
    fake.answers["event.subscribe"] = lambda peer, _: peer.shutdown(socket.SHUT_RDWR)
    _, err = rlctl("run", "x", check=3)
    assert "daemon" in err
    # One that dies again and again before it has told anything is gone.
    script(fake, [event(11, "run.state", state="running")], {})
    process = start(fake.path.parent, "run", "x", socket_path=fake.path)
    assert process.stderr.readline() == b"Run 7 running\n"
    fake.answers["event.subscribe"] = lambda peer, _: peer.shutdown(socket.SHUT_RDWR)
    fake.connections[-1].shutdown(socket.SHUT_RDWR)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3 and b"rlctl wait 7" in err


def test_a_daemon_that_does_not_come_back_is_3(fake):
    script(fake, [event(11, "run.state", state="running")], {})
    process = start(fake.path.parent, "run", "x", socket_path=fake.path)
    assert process.stderr.readline() == b"Run 7 running\n"
    fake.close()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3 and b"waiting for it to return" in err and b"rlctl wait 7" in err


def test_a_daemon_that_comes_back_is_followed_on(fake, tmp_path):
    script(fake, [event(11, "run.state", state="running")], {"state": "succeeded"})
    process = start(tmp_path, "run", "x", socket_path=fake.path)
    assert process.stderr.readline() == b"Run 7 running\n"
    fake.close()
    assert process.stderr.readline() == b"The daemon disappeared; waiting for it to return.\n"
    fake.path.unlink()
    again = FakeDaemon(fake.path)
    script(again, [], {"state": "succeeded"})

    def subscribe(peer, params):
        again.tell(peer, event(11, "run.state", state="running"),
                   event(12, "slot.phase", slot=1, phase="reviewing", round=1, max_reviews=3),
                   reviewer(13, 1), event(14, "run.state", state="succeeded"))
        return {"seq": 14}
    again.answers["event.subscribe"] = subscribe
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and out == b"the answer\n"
    assert again.of("event.subscribe") == [{"run": 7, "since": 11}] and again.of("run.submit") == []
    assert err.startswith(b"Reviewing changes (iteration 1/3)...\n  review: claude (attempt 7/13)\n"
                          b"Run 7 succeeded\n"), "nothing is told twice"
    again.close()


def test_another_daemon_at_the_same_place_is_not_taken_for_ours(fake, tmp_path):
    script(fake, [event(11, "run.state", state="running")], {"state": "succeeded"})
    process = start(tmp_path, "run", "x", socket_path=fake.path)
    assert process.stderr.readline() == b"Run 7 running\n"
    fake.answers["event.subscribe"] = lambda *_: (_ for _ in ()).throw(
        Refuse(-32602, "since is above the newest event", kind="invalid-params"))
    fake.connections[-1].shutdown(socket.SHUT_RDWR)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3 and b"rlctl wait 7" in err


def interrupted(fake):
    """A run that is being followed, after its first Ctrl-C and the hint."""
    script(fake, [event(11, "run.state", state="running")], {"state": "cancelled"})
    process = start(fake.path.parent, "run", "x", socket_path=fake.path)
    while b"running" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    while b"Ctrl-C again" not in (line := process.stderr.readline()):
        assert line
    return process


def test_interrupt_lets_go(fake):
    process = interrupted(fake)
    assert process.wait(60) == 130 and fake.of("run.cancel") == []
    process.communicate()


def test_interrupt_lets_go_of_a_run_with_news(fake):
    """Two seconds are two seconds, however much is told meanwhile."""
    process, seq = interrupted(fake), 12
    try:
        while True:
            fake.tell(fake.connections[-1], event(seq, "run.state", state="running", reason=f"busy {seq}"))
            if not process.stderr.readline():
                break
            seq += 1
    except OSError:
        pass
    process.communicate(timeout=60)
    assert process.returncode == 130 and fake.of("run.cancel") == []


def test_interrupt_while_the_daemon_is_gone_lets_go(fake):
    script(fake, [event(11, "run.state", state="running")], {})
    process = start(fake.path.parent, "run", "x", socket_path=fake.path)
    assert process.stderr.readline() == b"Run 7 running\n"
    fake.close()
    assert b"waiting for it to return" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and b"Run 7 continues" in err and b"Ctrl-C" not in err


def test_an_ignored_interrupt_stays_ignored(fake):
    script(fake, [event(11, "run.state", state="running")], {"state": "succeeded"})
    process = start(fake.path.parent, "run", "x", socket_path=fake.path,
                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    while b"running" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    fake.tell(fake.connections[-1], event(12, "run.state", state="succeeded"))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and out == b"the answer\n" and b"Ctrl-C" not in err


def test_two_interrupts_cancel(fake):
    fake.answers["run.cancel"] = lambda peer, p: fake.tell(
        peer, event(12, "run.state", state="cancelled", cause="uid 0")) or {"id": 7, "state": "running"}
    process = interrupted(fake)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 11 and fake.of("run.cancel") == [{"id": 7}] and b"Run 7 cancelled" in err


def test_a_second_interrupt_at_the_end(fake):
    """What has ended meanwhile cannot be cancelled, and the daemon has not gone."""
    def refuse(peer, _):
        fake.tell(peer, event(12, "run.state", state="succeeded"))
        raise Refuse(2, "run 7 has ended: succeeded", kind="wrong-state")
    fake.answers["run.cancel"] = refuse
    process = interrupted(fake)
    fake.answers["run.get"] = {**fake.answers["run.get"], "state": "succeeded"}
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and out == b"the answer\n" and b"run 7 has ended" in err and b"gone" not in err


# ---- what is shown -------------------------------------------------------------------------------

RUNS = {"runs": [
    {"id": 12, "state": "running", "created_at": "2020-01-01T00:00:00.000Z",
     "started_at": "2020-01-01T00:00:00.000Z", "ended_at": None, "workdir": "/w/" + "d" * 80,
     "title": "mend 漢字 \x1b[31m\nand more " * 9, "reason": None, "cause": None},
    {"id": 3, "state": "failed", "created_at": "2020-01-01T00:00:00.000Z",
     "started_at": "2020-01-01T00:00:00.000Z", "ended_at": "2020-01-01T00:01:05.000Z",
     "workdir": "/w", "title": "short", "cause": "drift unresolved"},
], "next": None}


def on_terminal(tmp_path, fake, columns, *args, more=None):
    """Output of rlctl on a terminal of so many columns."""
    master, slave = open_terminal()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([str(RLCTL), *map(str, args)],
                               env=environment(tmp_path, RLD_SOCKET=str(fake.path), **(more or {})),
                               stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
    os.close(slave)
    data = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        data += piece
    os.close(master)
    assert process.wait(60) == 0, data
    return data.decode().replace("\r\n", "\n")


def columns_of(text):
    return sum(2 if "⺀" <= c <= "鿿" else 1 for c in text)


@pytest.mark.parametrize("columns, titles", [(60, "RUN STATE AGE TASK WHY"), (80, "RUN STATE AGE TOOK TASK WHY"),
                                             (133, "RUN STATE AGE TOOK TASK WORKDIR WHY")])
def test_a_table_fits_the_terminal(fake, tmp_path, columns, titles):
    fake.answers["run.list"] = RUNS
    text = re.sub(r"\x1b\[[0-9;]*m", "", on_terminal(tmp_path, fake, columns, "list"))
    lines = text.splitlines()
    assert (len(lines) == 3 and all(columns_of(line) <= columns for line in lines)
            and (columns < 133 or any(columns_of(line) >= columns - 1 for line in lines))), text
    assert "\x1b" not in text and "…" in text and lines[0].split() == titles.split()
    assert ("1m 05s" in lines[2]) == ("TOOK" in titles)
    assert len({line.index("TASK" if i == 0 else ("mend", "short")[i - 1]) for i, line in enumerate(lines)}) == 1


def run_of(number, **more):
    return {**RUNS["runs"][1], "id": number, "title": "make the parser accept trailing commas", "state": "held",
            "workdir": "/home/me/work/project", "cause": "", "reason": "", "created_at": "2020-01-01T00:00:00.000Z",
            "started_at": "2020-01-01T00:00:00.000Z", "ended_at": "2020-01-01T00:01:05.000Z",
            "overview": {"tasks": 1, "states": {}, "held": 1, "why": "drift unresolved after 3 fixes",
                         "cost_usd": 0.5}, **more}


def listed(tmp_path, fake, columns, *runs):
    fake.answers["run.list"] = {"runs": list(runs), "next": None}
    text = on_terminal(tmp_path, fake, columns, "list", more={"HOME": "/home/me"})
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    assert all(columns_of(line) <= columns for line in lines), text
    return lines


@pytest.mark.parametrize("columns, titles, least", [
    (60, "RUN STATE AGE TASK WHY", "make the parser"), (40, "RUN STATE TASK WHY", "make the p"),
    (80, "RUN STATE AGE TOOK COST TASK WHY", "make the parser"),
    (200, "RUN STATE AGE TOOK COST TASK WORKDIR WHY", "make the parser accept trailing commas"),
])
def test_a_narrow_list(fake, tmp_path, columns, titles, least):
    lines = listed(tmp_path, fake, columns, run_of(8), run_of(7, workdir="/srv/other"))
    assert lines[0].split() == titles.split() and least in lines[1] and "drift unr" in lines[1], lines
    assert ("~/work/project" in lines[1]) == (columns == 200)


def test_a_directory_of_all_runs(fake, tmp_path):
    """What all have in common is left out; another's home is not ours."""
    lines = listed(tmp_path, fake, 200, run_of(8), run_of(7))
    assert "WORKDIR" not in lines[0] and "project" not in lines[1]
    lines = listed(tmp_path, fake, 200, run_of(8, workdir="/home/me"), run_of(7, workdir="/home/mel/x"))
    assert " ~ " in lines[1] and " /home/mel/x " in lines[2]
    assert "~/work/project" in listed(tmp_path, fake, 200, run_of(8))[1], "one run: it is told"


def test_a_run_of_many_tasks_is_one_line(fake, tmp_path, rlctl):
    states = {"passed": 2, "failed": 1, "open": 3}
    many = run_of(8, overview={"tasks": 6, "states": states, "held": 1, "why": "t4: stop"})
    assert "6 tasks: 2 passed, 1 failed, 3 open, 1 held" in listed(tmp_path, fake, 100, many)[1]
    out, _ = rlctl("list")
    assert "6 tasks: 2 passed, 1 failed, 3 open, 1 held" in out and "/home/me/work/project" in out


def test_a_table_in_a_pipe_is_whole_and_without_colours(fake, rlctl):
    fake.answers["run.list"] = RUNS
    out, err = rlctl("list")
    assert err == "" and "d" * 80 in out and "\x1b" not in out and "\\x1b[31m\\nand more" in out
    assert all(line == line.rstrip() for line in out.splitlines())


@pytest.mark.parametrize("args, more, colored", [
    ([], {}, True), ([], {"NO_COLOR": "1"}, False), ([], {"TERM": "dumb"}, False), (["--color", "never"], {}, False),
    (["--color=always"], {"NO_COLOR": "1"}, True), ([], {"NO_COLOR": ""}, True),
])
def test_colours(fake, tmp_path, args, more, colored):
    fake.answers["run.list"] = RUNS
    assert ("\x1b[36m" in on_terminal(tmp_path, fake, 80, "list", *args, more=more)) == colored


def test_labels_of_metrics_are_quoted(fake, rlctl):
    sample = {"labels": {"a": 'x"y\\z\nw', "b": "c"}, "value": 0.25}
    fake.answers["daemon.metrics"] = {"metrics": [{"name": "m_total", "type": "counter", "help": "A sum.", "samples": [
        sample, {"labels": {}, "value": 12345678901}]}]}
    assert rlctl("metrics")[0] == ('# HELP m_total A sum.\n# TYPE m_total counter\n'
                                   'm_total{a="x\\"y\\\\z\\nw",b="c"} 0.25\nm_total 12345678901\n')


def test_json_is_the_result(fake, rlctl):
    fake.answers["run.list"] = RUNS
    assert json.loads(rlctl("list", "--json", "--state", "failed", "-n", "2", "--before", "9")[0]) == RUNS
    assert fake.of("run.list") == [{"state": "failed", "limit": 2, "cursor": 9}]


def test_older_runs_are_an_option_away(fake, rlctl):
    fake.answers["run.list"] = {**RUNS, "next": 3}
    assert "add --before 3" in rlctl("list")[1]


def test_show_run_and_attempt(fake, rlctl):
    attempt = {"id": 30, "run": 12, "number": 2, "role": "review", "agent": "claude",
               "state": "exited", "exit_code": 0, "started_at": "2020-01-01T00:00:00.000Z",
               "ended_at": "2020-01-01T00:00:09.000Z", "tokens": {"input": 1000, "output": 234},
               "bytes": 2048, "outcome": "done"}
    fake.answers.update({
        "run.get": {**RUNS["runs"][1], "id": 12, "slots": [{"slot": 1, "phase": "failed", "task": "t1",
                                                            "round": 2, "fix": 1, "cause": "why"}],
                    "tasks": [{"id": "t1", "title": "short"}],
                    "totals": {"tokens": 1234, "cost_usd": 0.5, "wall_ms": 65000}, "warnings": ["beware"]},
        "attempt.list": {"attempts": [attempt]}, "attempt.get": attempt,
        "review.list": {"reviews": [{"task_id": "t1", "reviewer_agent": "r", "coder_agent": "c",
                                     "iteration": 1, "decision": "drift", "feedback": "mend\nit",
                                     "findings": [{"file": "a.c", "line": 3, "severity": "high",
                                                   "text": "bad", "state": "new"}],
                                     "timestamp": "2020-01-01T00:00:00.000Z"}]}})
    out, _ = rlctl("show", "12")
    for piece in ("Run 12  failed", "drift unresolved", "beware", "12/2", "review", "9s", "1.2k",
                  "$0.50", "drift", "mend"):
        assert piece in out, piece
    out, _ = rlctl("show", "12/2")
    assert "Attempt 12/2  exited" in out and "2 KiB" in out
    assert json.loads(rlctl("show", "--json", "12/2")[0]) == attempt
    assert "has no attempt 3" in rlctl("show", "12/3", check=1)[1]
    out, _ = rlctl("review", "show", "12")
    assert ("Review 1  drift  t1 by r, work of c" in out and "    mend\n    it\n" in out
            and "    - a.c:3 high: bad [new]" in out)


def test_long_lists_are_read_in_pages(fake, rlctl):
    """What a run has may not fit into one reply."""
    def pages(name, rows):
        def page(_, p):
            first = p.get("cursor", 0)
            return {name: rows[first:first + 2], "next": first + 2 if first + 2 < len(rows) else None}
        return page
    attempts = [{"id": n, "run": 7, "number": n, "role": "fix", "agent": "a", "state": "exited"} for n in range(1, 6)]
    reviews = [{"number": n, "task_id": f"task-{n}", "decision": "drift", "feedback": "mend", "findings": []}
               for n in range(1, 6)]
    fake.answers.update({"run.get": {**RUNS["runs"][0], "id": 7, "slots": [], "tasks": []},
                         "attempt.list": pages("attempts", attempts), "review.list": pages("reviews", reviews),
                         "product.list": pages("products", [{"number": n} for n in range(1, 6)]),
                         "evidence.list": pages("evidence", [{"number": n} for n in range(1, 4)])})
    out, _ = rlctl("show", "7")
    assert "7/5" in out and "task-5" in out
    assert "Attempt 7/5" in rlctl("show", "7/5")[0]
    assert json.loads(rlctl("review", "show", "7", "--json")[0]) == {"reviews": reviews, "next": None}
    assert "task-5" in rlctl("review", "show", "7")[0]
    both = json.loads(rlctl("evidence", "7", "--json")[0])
    assert [len(both[name]) for name in ("products", "evidence")] == [5, 3]
    assert [p.get("cursor") for p in fake.of("evidence.list")] == [None, 2]


@pytest.mark.parametrize("ok, code", [(True, 0), (False, 1)])
def test_review_verify(fake, rlctl, ok, code):
    fake.answers["review.verify"] = {"ok": ok, "reviews": 2, "message": "review 2 has another hash"}
    out, err = rlctl("review", "verify", "12", check=code)
    assert ("another hash" in err) == (not ok) and (out != "") == ok


def test_evidence(fake, rlctl):
    tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    fake.answers.update({
        "product.list": {"products": [
            {"number": 1, "kind": "base", "tree": tree},
            {"number": 2, "kind": "work", "task_id": "t1", "tree": "5" + tree[1:], "parent": 1, "attempt_number": 1}]},
        "evidence.list": {"evidence": [
            {"number": 1, "product": 2, "kind": "check", "subject": "make \x1btest", "result": "red",
             "task_id": "t1", "attempt_number": 3, "exit_code": 2}]}})
    out, _ = rlctl("evidence", "12/t1")
    assert fake.of("product.list") == fake.of("evidence.list") == [{"run": 12, "task": "t1", "limit": 50}]
    made, judged = out.split("\n\n")
    assert [line.split() for line in made.splitlines()] == [
        ["PRODUCT", "KIND", "TASK", "TREE", "MADE", "OF", "ATTEMPT"],
        ["1", "base", "4b825dc642cb"], ["2", "work", "t1", "5b825dc642cb", "1", "1"]]
    assert "2  check      red     t1" in judged and "make \\x1btest" in judged and "\x1b" not in judged
    both = json.loads(rlctl("evidence", "12", "--json")[0])
    assert fake.of("evidence.list")[-1] == {"run": 12, "limit": 50}
    assert len(both["products"]) == 2 and len(both["evidence"]) == 1
    fake.answers.update({"product.list": {"products": []}, "evidence.list": {"evidence": []}})
    assert rlctl("evidence", "12")[1] == "No products and no evidence.\n"
    rlctl("evidence", "x/t1", check=2)


def paged(fake, streams, attempts, state="succeeded"):
    def output(_, p):
        data = streams[p["id"], p["stream"]][p["offset"]:p["offset"] + 3]
        fine = all(32 <= b < 127 or b == 10 for b in data)
        import base64
        return {"offset": p["offset"], "next": p["offset"] + len(data),
                "data": data.decode() if fine else base64.b64encode(data).decode(),
                "encoding": "utf-8" if fine else "base64", "eof": False, "dropped": 0}
    fake.answers.update({"attempt.output": output, "run.get": {"id": 7, "state": state},
                         "attempt.list": {"attempts": attempts}})


def test_logs_are_byte_exact_in_a_pipe_and_safe_on_a_terminal(fake, tmp_path):
    raw = bytes(range(256)) + b"end\n"
    paged(fake, {(1, "stdout"): raw, (1, "stderr"): b"complaint\n"},
          [{"id": 1, "run": 7, "number": 1, "role": "implement", "agent": "a", "state": "exited"}])
    process = start(tmp_path, "logs", "7/1", socket_path=fake.path)
    assert process.communicate(timeout=60) == (raw, b"complaint\n") and process.returncode == 0
    shown = on_terminal(tmp_path, fake, 80, "logs", "--raw", "7/1")
    assert "\\x1b" in shown and "\x1b" not in shown
    assert "has no attempt 2" in ctl(tmp_path, "logs", "7/2", socket_path=fake.path, check=1)[1]


@pytest.mark.parametrize("args", [["list", "--json"], ["rpc", "run.list"], ["rpc", "run.list", "--json"],
                                  ["report", "--format", "json", "7"], ["review", "export", "7"],
                                  ["review", "export", "7", "--json"]], ids=" ".join)
def test_json_is_as_it_came_in_a_pipe_and_safe_on_a_terminal(fake, tmp_path, args):
    """The C1 controls, bidirectional marks and zero-width characters of an agent do nothing there;
    it is the same JSON."""
    text = "\x9b31m \u202e \u200b \ufeff \x1b é 漢"
    for method in ("run.list", "run.report", "review.export"):
        fake.answers[method] = {"runs": [], "title": text, "next": None}
    piped, _ = ctl(tmp_path, *args, socket_path=fake.path)
    assert "\x9b31m \u202e \u200b \ufeff " in piped and json.loads(piped)["title"] == text
    shown = on_terminal(tmp_path, fake, 80, *args)
    assert shown.isascii() and "\x1b" not in shown and json.loads(shown) == json.loads(piped)


def test_a_header_of_logs_begins_a_line(fake, tmp_path):
    """An answer rarely ends with a newline, and is printed as it is."""
    paged(fake, {(1, "answer"): b"one", (2, "answer"): b"two\n", (3, "answer"): b"three"},
          [{"id": i, "run": 7, "number": i, "role": "fix", "agent": "a", "state": "exited"} for i in (1, 2, 3)])
    out, err = ctl(tmp_path, "logs", "--stream", "answer", "7", socket_path=fake.path)
    assert out == "onetwo\nthree"
    assert err == "==> attempt 7/1: fix, a\n\n==> attempt 7/2: fix, a\n==> attempt 7/3: fix, a\n"


def test_logs_follow_goes_on_to_the_next_attempt(fake, tmp_path):
    streams = {(1, "stdout"): b"one\n", (1, "stderr"): b"", (2, "stdout"): b"two\n", (2, "stderr"): b""}
    attempts = [{"id": 1, "run": 7, "number": 1, "role": "implement", "agent": "a", "state": "running"}]
    paged(fake, streams, attempts, "running")
    fake.answers["attempt.get"] = lambda _, p: attempts[p["id"] - 1]
    process = start(tmp_path, "logs", "-f", "7", socket_path=fake.path)
    assert process.stdout.readline() == b"one\n"
    streams[1, "stdout"] += b"more\n"
    assert process.stdout.readline() == b"more\n"
    attempts[0]["state"] = "exited"
    attempts.append({"id": 2, "run": 7, "number": 2, "role": "review", "agent": "a", "state": "exited"})
    fake.tell(fake.connections[-1], event(30, "attempt.started", attempt=2))
    assert process.stdout.readline() == b"two\n"
    fake.answers["run.get"] = {"id": 7, "state": "succeeded"}
    fake.tell(fake.connections[-1], event(31, "run.state", state="succeeded"))
    assert process.communicate(timeout=60)[0] == b"" and process.returncode == 0


def test_diff_is_paged_and_coloured_only_on_a_terminal(fake, rlctl, tmp_path):
    text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+\tnew ä\n"
    fake.answers["run.diff"] = lambda _, p: {"diff": text[p.get("offset", 0):p.get("offset", 0) + 10],
                                             "next": min(p.get("offset", 0) + 10, len(text)),
                                             "eof": p.get("offset", 0) + 10 >= len(text)}
    assert rlctl("diff", "7")[0] == text
    shown = on_terminal(tmp_path, fake, 80, "diff", "7")
    assert "\x1b[31m-old\x1b[0m" in shown and "\tnew" not in shown.replace("\t\x1b[32mnew", "")
    fake.answers["run.diff"] = {"diff": ""}
    assert rlctl("diff", "7") == ("", "No changes.\n")


def test_a_diff_hides_nothing_behind_a_nul_byte(fake, tmp_path):
    fake.answers["run.diff"] = {"diff": "+harmless\0 rm -rf /\tx\0y\n", "next": None, "eof": True}
    shown = on_terminal(tmp_path, fake, 80, "diff", "7")
    assert "+harmless\\x00 rm -rf /" in shown and "x\\x00y" in shown


def test_events_have_amounts_as_they_were_written(fake, rlctl):
    told = [event(1, "budget", kind="cost", spent=0.025, limit=0.03)]
    fake.answers["event.list"] = lambda _, p: {"events": [e for e in told if e["seq"] > p["since"]], "next": None}
    assert "spent=0.025 limit=0.03" in rlctl("events")[0]


def test_events_list_and_follow(fake, rlctl, tmp_path):
    fake.answers["event.list"] = lambda _, p: {"events": [e for e in STORY if e["seq"] > p["since"]][:5], "next": None}
    lines = rlctl("events", "--json", "--since", "12")[0].splitlines()
    assert [json.loads(line)["seq"] for line in lines] == list(range(13, 26))
    out, _ = rlctl("events", "--run", "7")
    assert len(out.splitlines()) == len(STORY) - 1 and "phase=reviewing" in out and "\x1b" not in out
    process = start(tmp_path, "events", "-f", "--since", "3", "--json", socket_path=fake.path)
    fake.await_call("event.subscribe")
    assert fake.of("event.subscribe") == [{"since": 3}]
    fake.connections[-1].sendall(b'{"jsonrpc":"2.0","method":"gap","params":{"from":4,"to":9}}\n')
    fake.tell(fake.connections[-1], STORY[0])
    assert json.loads(process.stdout.readline()) == STORY[0]
    # a daemon with another database is not the one that disappeared
    fake.answers["daemon.hello"] = {**fake.answers["daemon.hello"], "instance": "another"}
    fake.connections[-1].shutdown(socket.SHUT_RDWR)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3 and b"events 4 to 9" in err and len(fake.of("event.subscribe")) == 1
    assert f"--since {STORY[0]['seq']}".encode() in err


@pytest.mark.parametrize("closed", [1, 2])
def test_what_an_agent_wrote_never_goes_to_the_daemon(fake, tmp_path, closed):
    """Where a standard stream is closed, the connection must not get its number."""
    states = iter(["running", "succeeded"])
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "run.cancel", "params": {"id": 7}}) + "\n"
    fake.answers.update({
        "run.get": lambda *_: {"id": 7, "state": next(states)}, "run.cancel": {"id": 7, "state": "cancelled"},
        "attempt.list": {"attempts": [{"id": 20, "run": 7, "number": 1, "role": "implement",
                                       "agent": "x", "state": "exited"}]},
        "attempt.output": lambda _, p: {"offset": p["offset"], "next": len(
            request), "data": request[p["offset"]:], "encoding": "utf-8", "eof": True, "dropped": 0}})
    process = start(tmp_path, "logs", "-f", "7", socket_path=fake.path, preexec_fn=lambda: os.close(closed))
    out, err = process.communicate(timeout=60)
    assert fake.of("run.cancel") == []
    assert (process.returncode, err if closed == 1 else out) == ((1, err) if closed == 1 else (0, request.encode()))
    assert closed == 2 or b"standard output: Bad file descriptor" in err


def test_cancel_and_retry_several(fake, rlctl):
    def cancel(_, p):
        if p["id"] == 2:
            raise Refuse(1, "no such run: 2", kind="not-found", hint="see rlctl list")
        return {"id": p["id"], "state": {3: "running", 4: "held"}.get(p["id"], "cancelled")}
    fake.answers["run.cancel"] = cancel
    _, err = rlctl("cancel", "1", "2", "3", "4", check=1)
    assert [p["id"] for p in fake.of("run.cancel")] == [1, 2, 3, 4] and "no such run: 2\n  see rlctl list" in err
    assert "Run 1: cancelled" in err and "Run 3: cancelling" in err and "Run 4: cancelling" in err
    fake.answers["run.retry"] = lambda _, p: {"id": p["id"] + 10, "state": "queued"}
    assert rlctl("retry", "1", "2")[0] == "11\n12\n"
    assert all(any(e.startswith("PATH=") for e in p["environment"]) for p in fake.of("run.retry"))


# ---- holds and reports ---------------------------------------------------------------------------

def test_hold_list_shows_what_is_open(fake, rlctl):
    fake.answers["hold.list"] = {"holds": [HOLD], "next": 3}
    out, err = rlctl("hold", "list")
    assert out.split()[:8] == ["HOLD", "RUN", "TASK", "STATE", "KIND", "AGE", "REVIEWS",
                               "WHY"] and "exhausted" in out and "NO_GO unresolved after 2" in out
    assert "add --before 3" in err
    rlctl("hold", "list", "--state", "all", "--run", "7", "-n", "5", "--before", "9")
    assert fake.of("hold.list") == [{"state": "open"}, {"run": 7, "limit": 5, "cursor": 9}]
    assert (json.loads(rlctl("--json", "hold", "list", "--state", "rejected")[0])["holds"] == [HOLD]
            and fake.of("hold.list")[2] == {"state": "rejected"})
    fake.answers["hold.list"] = {"holds": [], "next": None}
    assert rlctl("hold", "list") == ("", "No open holds.\n")


def test_hold_show_has_the_history_and_the_way_on(fake, rlctl):
    fake.answers["hold.get"] = HOLD
    out, _ = rlctl("hold", "show", "3")
    assert out.startswith("Hold 3  open\n") and "rlctl hold approve 3, rework 3 -m TEXT, or reject 3\n" in out
    assert [out.count(f"again {n}") for n in (1, 2, 3)] == [1, 1, 1] and "test_coverage_adequate: false" in out
    for kind, way in (("lost", "rework 3, or reject 3"), ("setup", "rework 3, or reject 3"),
                      ("violation", "approve 3, rework 3, or reject 3")):
        fake.answers["hold.get"] = {**HOLD, "kind": kind, "reviews": []}
        assert f"rlctl hold {way}\n" in rlctl("hold", "show", "3")[0]
    fake.answers["hold.get"] = {**HOLD, "state": "approved", "decided_by": "human:anna"}
    out, _ = rlctl("hold", "show", "3")
    assert "human:anna" in out and "rlctl hold" not in out


@pytest.mark.parametrize("action, state", [("approve", "approved"), ("reject", "rejected"), ("rework", "rework")])
def test_hold_decisions(fake, rlctl, action, state):
    fake.answers[f"hold.{action}"] = lambda _, p: {**HOLD, "state": state}
    out, err = rlctl("hold", action, "3", "-m", "as you like")
    assert out == "" and f"Hold 3: {state}." in err and "rlctl wait 7" in err
    rlctl("hold", action, "-m", "-", "3", input="long\n\u00e4 text\n".encode())
    assert fake.of(f"hold.{action}") == [{"id": 3, "message": "as you like"},
                                         {"id": 3, "message": "long\n\u00e4 text\n"}]
    assert json.loads(rlctl("--json", "hold", action, "3", "-m", "x")[0])["state"] == state
    assert "NUL" in rlctl("hold", action, "3", "-m", "-", input=b"a\0b", check=1)[1]
    assert "UTF-8" in rlctl("hold", action, "3", "-m", "-", input=b"\xff", check=1)[1]
    assert "at most 256 KiB" in rlctl("hold", action, "3", "-m", "-", input=b"x" * (256 * 1024 + 1), check=1)[1]


def test_rework_says_what_is_to_be_done(fake, rlctl):
    fake.answers["hold.get"] = HOLD
    fake.answers["hold.rework"] = lambda _, p: {**HOLD, "state": "rework"}
    for message in ([], ["-m", ""], ["-m", " \n"]):
        _, err = rlctl("hold", "rework", "3", *message, check=2)
        assert "rlctl hold rework 3 -m TEXT" in err and fake.of("hold.rework") == []
    fake.answers["hold.get"] = {**HOLD, "kind": "lost"}
    rlctl("hold", "rework", "3")
    assert fake.of("hold.rework") == [{"id": 3}], "what was lost is run again without a word"
    fake.answers["hold.approve"] = lambda _, p: {**HOLD, "state": "approved"}
    rlctl("hold", "approve", "3")
    assert fake.of("hold.approve") == [{"id": 3}] and len(fake.of("hold.get")) == 4


REPORT = {"version": 1, "run": 7, "task": "do it", "agent": "claude", "model": None,
          "reviewer": "judge", "workdir": "/w", "state": "succeeded", "reason": None,
          "cause": None, "created_at": None, "started_at": "2026-11-21T22:05:57.123Z",
          "ended_at": None, "settings": {"review": True, "profile": "exit"},
          "result": {"outcome": "success", "exit_code": 0, "answer": "the \x1b[31manswer",
                     "ref": "refs/rl/passed/7/t1"},
          "stats": {"review_rounds": 2, "fix_rounds": 1, "checks": 0, "turns": 4, "attempts": 4,
                    "wall_ms": 65000, "tokens": {"input": 1200, "output": 34}, "cost_usd": 0.25},
          "timeline": [{"turn": i + 1, "type": t, "round": i // 2, "agent": "claude",
                        "exit_code": 0, "signal": None, "decision": d, "feedback": f, "tokens": {}}
                       for i, (t, d,
                               f) in enumerate([("implement", None, None), ("review", "retry", "mend\nit"),
                                                ("fix", None, None), ("review", "accept", "")])],
          "findings": [{"file": "a.c", "line": 3, "severity": "must-fix", "text": "off by one",
                        "state": "resolved"}], "known_issues": ["one issue"], "warnings": ["careful"],
          "holds": [{"id": 3, "reason": "why", "state": "approved", "decided_by": "human:anna",
                     "message": "fine"}], "reviews": [], "tasks": []}


def test_report_for_people_and_for_programs(fake, rlctl, tmp_path):
    fake.answers["run.report"] = REPORT
    out, err = rlctl("report", "7")
    assert err == "" and out.startswith("Run 7  succeeded\n") and fake.of("run.report") == [{"id": 7}]
    for part in ("judge", "1m 05s", "$0.25", "1.2k", "TURN", "retry", "mend",
                 "a.c:3 must-fix: off by one [resolved]", "  - one issue", "  - careful",
                 "3 why: approved by human:anna: fine", "refs/rl/passed/7/t1", "Answer:\nthe "):
        assert part in out, part
    rows = [line.split() for line in out.splitlines()]
    assert [row[:2] for row in rows
            if len(row) > 3 and row[0].isdigit()] == [["1", "implement"], ["2", "review"],
                                                      ["3", "fix"], ["4", "review"]]
    assert json.loads(rlctl("report", "7", "--format", "json")[0]) == REPORT
    raw = rlctl("--json", "report", "7")[0]
    assert json.loads(raw) == REPORT and raw.count("\n") == 1
    assert rlctl("report", "7", "--format", "json", "-o",
                 "r.json") == ("", "") and json.loads((tmp_path / "r.json").read_text()) == REPORT
    rlctl("report", "7", "--output", "r.txt")
    assert (tmp_path / "r.txt").read_text() == out
    assert "nowhere" in rlctl("report", "7", "-o", "nowhere/x", check=1)[1]


def test_review_export_is_the_logs(fake, rlctl):
    logs = {"logs": [{"task_id": "t1", "overlay": "agentic_review", "iterations": [],
                      "final_decision": "GO", "completed_at": "2026-02-27T11:45:00Z"}]}
    fake.answers["review.export"] = logs
    assert json.loads(rlctl("review", "export", "7")[0]) == logs and fake.of("review.export") == [{"run": 7}]
    assert rlctl("--json", "review", "export", "7")[0].count("\n") == 1


def test_status_config_and_rpc(fake, rlctl):
    out, _ = rlctl("status")
    assert "uptime  1m 01s" in re.sub(" +", lambda m: m.group()
                                      if len(m.group()) < 3 else "  ", out) and "queued 2" in out
    fake.answers["config.show"] = {"settings": [{"path": "parallel", "value": 4, "from": "default", "help": "slots"}]}
    assert rlctl("config", "show")[0].split() == ["KEY", "VALUE", "FROM", "MEANING", "parallel",
                                                  "4", "default", "slots"]
    fake.answers["x.y"] = lambda _, p: {"got": p}
    assert json.loads(rlctl("rpc", "x.y", "a=1", "b=text", "c=[1]", 'd="1"',
                            "e=")[0])["got"] == {"a": 1, "b": "text", "c": [1], "d": "1", "e": ""}
    assert (json.loads(rlctl("rpc", "x.y", "[1, 2]")[0])["got"] == [1, 2]
            and json.loads(rlctl("rpc", "x.y")[0])["got"] is None)
    assert "unknown method" in rlctl("rpc", "no.such", check=1)[1]


def test_stop_waits_until_the_daemon_is_gone(fake, tmp_path):
    fake.answers["daemon.stop"] = {"state": "draining"}
    process = start(tmp_path, "stop", "--drain", socket_path=fake.path)
    fake.await_call("daemon.stop")
    assert (b"Waiting" in process.stderr.readline() and process.poll() is None
            and fake.of("daemon.stop") == [{"drain": True}])
    fake.close()
    assert process.communicate(timeout=60)[1] == b"The daemon has stopped.\n" and process.returncode == 0


def test_an_output_that_cannot_be_written_is_an_error(fake, tmp_path):
    fake.answers["run.list"] = RUNS
    with open("/dev/full", "w") as full:
        done = subprocess.run([str(RLCTL), "list"], env=environment(tmp_path, RLD_SOCKET=str(fake.path)),
                              stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1 and b"No space left" in done.stderr


# ---- a daemon that does not answer ---------------------------------------------------------------

SOON = {"RLD_ANSWER_TIMEOUT": "1s"}


def test_a_stopped_daemon_is_told(daemon):
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        done = daemon.rlctl("status", environment=SOON, check=3)
    finally:
        os.kill(daemon.pid, signal.SIGCONT)
    assert f"rld (process {daemon.pid}) does not answer: it is stopped" in done.err
    assert f"kill -CONT {daemon.pid}" in done.err and "daemon.hello: no answer for 1 s" in done.err
    assert "start one" not in done.err
    daemon.rlctl("status", environment=SOON, check=0)


@pytest.mark.parametrize("words", [("events", "-f"), ("run", "wait for it"), ("watch", "1")], ids=lambda w: w[0])
def test_a_stopped_daemon_is_told_while_nothing_happens(make_daemon, repo, words):
    """It gives up when the daemon cannot be reached either."""
    daemon = make_daemon(scripts={"implement": 'gate work; answer done\n'}, gates=["work"])
    daemon.submit(str(repo.path))
    daemon.play.arrived("work")
    follow = daemon.rlctl_start(*words, cwd=repo.path, environment=SOON)
    with daemon.connect() as rpc:
        while rpc.call("daemon.status")["clients"] < 2:
            time.sleep(0.02)
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        err = follow.communicate(timeout=60)[1].decode()
    finally:
        os.kill(daemon.pid, signal.SIGCONT)
    assert follow.returncode == 3 and f"rld (process {daemon.pid}) does not answer: it is stopped" in err, err
    daemon.play.go("work")


def test_a_call_that_takes_long_is_no_silence(fake, rlctl):
    """Meanwhile the daemon answers another call, each time it is asked for one."""
    asked = []

    def wait(peer, params):
        while len(asked) < 3:
            asked.append(json.loads(peer.recv(4096)))
            peer.sendall(json.dumps({"jsonrpc": "2.0", "id": asked[-1]["id"], "result": {}}).encode() + b"\n")
        return {"runs": [{"id": 7, "state": "succeeded"}], "timed_out": False}
    fake.answers["run.wait"] = wait
    assert "does not answer" not in rlctl("wait", 7, more=SOON)[1]
    assert {a["method"] for a in asked} == {"daemon.hello"}


def test_a_daemon_that_stops_to_answer(fake, rlctl):
    def never(peer, params):
        while peer.recv(4096):
            pass
        return {}
    fake.answers["run.wait"] = never
    err = rlctl("wait", 7, more=SOON, check=3)[1]
    assert f"rld (process {os.getpid()}) does not answer; see its log" in err and "run.wait: no answer for" in err


def test_the_time_for_an_answer_is_a_duration(rlctl):
    assert "RLD_ANSWER_TIMEOUT must be" in rlctl("status", more={"RLD_ANSWER_TIMEOUT": "soon"}, check=2)[1]


@pytest.mark.parametrize("command", ["submit", "run"])
def test_an_empty_key_is_a_mistake_of_usage(rlctl, fake, command):
    assert "--key must not be empty" in rlctl(command, "--key", "", "x", check=2)[1]
    assert fake.of("run.submit") == []
