# SPDX-License-Identifier: MIT
"""Agents that are missing, silent, noisy, stubborn, messy; prompts of every size and content."""
import json
import os
import shutil

import pytest
from rld import RpcError, alive, carriers, descendants, proc_stat, rss_kib


def one(daemon, number):
    attempts = daemon.attempts(number)
    assert len(attempts) == 1, attempts
    return attempts[0]


def output(daemon, attempt, stream="stdout"):
    """The whole recorded stream."""
    data, offset = "", 0
    with daemon.connect() as rpc:
        while True:
            page = rpc.call("attempt.output", id=attempt, stream=stream, offset=offset)
            data += page["data"]
            if page["eof"]:
                return data
            assert page["next"] > offset
            offset = page["next"]


@pytest.mark.parametrize("command,words",
                         [("/no/such/agent", ["/no/such/agent", "No such file"]),
                          ("no-such-agent", ["no-such-agent"]),
                          ("PLAIN", ["Permission denied"]), ("DIRECTORY", ["Permission denied"])])
def test_an_agent_that_cannot_be_started(make_daemon, repo, tmp_path, command, words):
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    command = {"PLAIN": str(plain), "DIRECTORY": str(tmp_path)}.get(command, command)
    daemon = make_daemon(config={"agent.bad": {"command": [command]}})
    try:
        number = daemon.review(repo.path, agent="bad")
    except RpcError as refused:
        assert refused.code == -32602 and refused.data["field"] == "agent" and command in refused.message
        return
    row = daemon.ended(number)
    assert row["state"] == "failed"
    assert all(word in row["cause"] for word in words), row["cause"]
    assert one(daemon, number)["process"] == "not-started"


def test_an_unknown_agent_is_refused_and_the_known_ones_named(daemon, repo):
    with pytest.raises(RpcError) as refused:
        daemon.submit(repo.path, agent="nobody")
    assert refused.value.code == -32602 and refused.value.data["field"] == "agent"
    assert "nobody" in refused.value.message and "play" in str(refused.value)


def test_an_agent_without_interpreter(make_daemon, repo, tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    daemon = make_daemon(config={"agent.bad": {"command": [str(script)]}})
    row = daemon.ended(daemon.submit(repo.path, agent="bad"))
    assert row["state"] == "failed" and "the command of [agent.bad] in rld.toml" in row["cause"], row


def test_an_agent_without_its_directory(make_daemon, repo):
    """What the agent's command and PATH are does not matter then."""
    (repo.path / "sub").mkdir()
    (repo.path / "sub/file").write_text("x\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "sub")
    daemon = make_daemon(scripts={"implement": "rm -r ../sub\n", "review": "pass\n"})
    row = daemon.ended(daemon.review(repo.path / "sub", review={"workspace": "same"}))
    assert row["cause"].endswith(f"could not be started: chdir {repo.path}/sub: No such file or directory"), row


def test_an_agent_that_prints_nothing(daemon, repo):
    daemon.play.set({"implement": "echo change > work.txt\n"})
    number = daemon.review(repo.path)
    assert daemon.ended(number)["state"] == "succeeded"
    assert "change" in daemon.play.prompt(number, "review").decode()


@pytest.mark.broad
@pytest.mark.deadline(180)
def test_an_agent_that_prints_1_gib(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate start\nprintf HEAD\n"
                                  "head -c 1073741824 /dev/zero | tr '\\0' 'x'\nprintf TAIL\ngate end\n"},
                         gates=["start", "end"], config={"limits": {"output": "1M", "idle_timeout": "10m"}})
    number = daemon.submit(repo.path)
    shim = proc_stat(daemon.play.arrived("start"))[1]
    before = rss_kib(daemon.pid)
    daemon.play.go("start")
    daemon.play.arrived("end")
    grown, of_shim = rss_kib(daemon.pid) - before, rss_kib(shim, "VmHWM")
    print(f"rld grew by {grown} KiB, rl-shim peaked at {of_shim} KiB")
    daemon.play.go("end")
    assert daemon.ended(number)["state"] == "succeeded"
    grown = rss_kib(daemon.pid) - before
    from rld import SANITIZED
    if not SANITIZED:
        assert grown < 4096 and of_shim < 4096
    attempt = one(daemon, number)
    assert attempt["bytes"] == 1073741824 + 8
    with daemon.connect() as rpc:
        head = rpc.call("attempt.output", id=attempt["id"], stream="stdout", offset=0)
        assert head["data"].startswith("HEADxxxx")
        tail = rpc.call("attempt.output", id=attempt["id"], stream="stdout", offset=1073741824)
        assert tail["data"] == "xxxxTAIL" and tail["eof"]
        middle = rpc.call("attempt.output", id=attempt["id"], stream="stdout", offset=500_000_000)
        assert middle["dropped"] > 0 and middle["offset"] == 500_000_000 + middle["dropped"]
    kept = sum(f.stat().st_size for f in (daemon.state / "attempts" / str(attempt["id"])).iterdir()
               if f.name.startswith("stdout."))
    assert kept < 3 << 20


def test_an_agent_that_ignores_sigterm(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "trap '' TERM\ngate deaf\n"}, gates=["deaf"],
                         config={"limits": {"grace": "1s"}})
    number = daemon.submit(repo.path)
    pid = daemon.play.arrived("deaf")
    daemon.call("run.cancel", id=number)
    assert daemon.ended(number)["state"] == "cancelled"
    assert not alive(pid)
    assert one(daemon, number)["signal"] == 9


def test_an_agent_that_leaves_children(daemon, repo):
    daemon.play.set({"implement": "sleep 1000 & setsid sleep 1000 & (setsid sh -c 'sleep 1000 & "
                     "sleep 1000' &) ; answer done\n"})
    number = daemon.submit(repo.path)
    assert daemon.ended(number)["state"] == "succeeded"
    assert carriers([one(daemon, number)["uuid"]]) == []
    assert descendants(daemon.pid) == []


def test_an_agent_that_closes_stdout_early(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "answer early\nexec >&- 2>&-\ngate quiet\n"
                                  "echo late > work.txt\n"}, gates=["quiet"])
    number = daemon.submit(repo.path)
    daemon.play.arrived("quiet")
    assert daemon.run(number)["state"] == "running", "closing the output is no end"
    daemon.play.go("quiet")
    assert daemon.ended(number)["state"] == "succeeded"
    assert output(daemon, one(daemon, number)["id"]) == "early\n"
    assert repo.read("work.txt") == "late\n"


def test_a_grandchild_that_holds_the_pipe(daemon, repo):
    """It writes nothing: the attempt ends all the same, and the holder is ended."""
    daemon.play.set({"implement": "answer done\n(setsid sleep 1000 &)\n"})
    number = daemon.submit(repo.path)
    assert daemon.ended(number)["state"] == "succeeded"
    assert output(daemon, one(daemon, number)["id"]) == "done\n"


def test_idle_timeout(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "answer some\ngate never\n"}, gates=["never"],
                         config={"limits": {"idle_timeout": "1s", "grace": "1s"}})
    number = daemon.submit(repo.path)
    row = daemon.ended(number)
    assert row["state"] == "failed" and one(daemon, number)["process"] == "idle"
    assert "printed nothing for 1s" in row["cause"]


def test_wall_timeout(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "while echo x; do :; done\n"},
                         config={"limits": {"grace": "1s", "output": "1M"}})
    done = daemon.rlctl("run", "--timeout", "1s", "x", cwd=repo.path, check=10)
    assert one(daemon, 1)["process"] == "timeout"
    assert "timeout" in done.err or "time" in done.err


def test_idle_is_re_armed_by_output(make_daemon, repo):
    """Output on stderr counts: an agent that talks is not idle."""
    daemon = make_daemon(scripts={"implement": "i=0; while [ $i -lt 8 ]; do i=$((i+1)); "
                                  "sleep 0.25; echo $i >&2; done; answer done\n"},
                         config={"limits": {"idle_timeout": "1s"}})
    number = daemon.submit(repo.path)
    assert daemon.ended(number)["state"] == "succeeded"


TEXTS = [("hyphen", "-rf --help"), ("quotes", "a 'b' \"c\" `d` $(e) \\ %s"),
         ("umlauts", "äöü 漢字 🦊"), ("controls", "\x01\x1b[31mred\x1b[0m\x7f"),
         ("bidi", "\u202ereversed\u202c"), ("combining", "e\u0301" * 40),
         ("newlines", "\n\nfirst\r\n\tsecond\n\n"), ("high plane", "\U0010ffff\ufeff"),
         ("braces", "{model} {prompt_file} {{task}} {{diff}}"), ("long line", "x" * 100_000),
         ("spaces", "  trailing   ")]


@pytest.mark.parametrize("text", [t[1] for t in TEXTS], ids=[t[0] for t in TEXTS])
def test_any_text_reaches_the_agent_unchanged(daemon, repo, text):
    number = daemon.submit(repo.path, text)
    assert daemon.ended(number)["state"] == "succeeded"
    prompt = daemon.play.prompt(number, "implement").decode()
    assert text.strip() in prompt, prompt[:300]


def test_task_file_and_variable(daemon, repo):
    """The file is whole, the variable is cut at 64 KiB."""
    text = "0123456789abcde\n" * 8192
    daemon.play.set({"implement": 'cp "$RL_TASK_FILE" "$PLAY/task"\nprintf %s "$RL_TASK" > "$PLAY/variable"\n'})
    number = daemon.submit(repo.path, text)
    assert daemon.ended(number)["state"] == "succeeded"
    assert (daemon.play.path / "task").read_text() == text
    variable = (daemon.play.path / "variable").read_text()
    assert text.startswith(variable) and 60_000 < len(variable) <= 65_536


def test_a_leading_hyphen_on_the_command_line(daemon, repo):
    daemon.rlctl("run", "-q", "--", "-x is the task", cwd=repo.path, check=0)
    assert "-x is the task" in daemon.play.prompt(1, "implement").decode()


def test_a_prompt_of_5_mb(daemon, repo, tmp_path):
    text = "".join(f"line {i} of the task ä\n" for i in range(220_000))
    assert len(text.encode()) > 5_000_000
    (tmp_path / "task").write_text(text)
    daemon.rlctl("run", "-q", "-f", tmp_path / "task", cwd=repo.path, check=0)
    assert text.strip() in daemon.play.prompt(1, "implement").decode()


def test_a_task_of_more_than_16_mib_is_refused(daemon, repo, tmp_path):
    with open(tmp_path / "task", "wb") as task:
        task.truncate((16 << 20) + 1)
        task.seek(0)
        task.write(b"x" * (1 << 20))
    done = daemon.rlctl("submit", "-f", tmp_path / "task", cwd=repo.path)
    assert done.returncode in (1, 2) and done.err
    assert daemon.call("run.list")["runs"] == []


def test_nul_and_broken_utf8_are_refused(daemon, repo, tmp_path):
    for bad in (b"a\0b", b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80"):
        (tmp_path / "task").write_bytes(bad)
        done = daemon.rlctl("submit", "-f", tmp_path / "task", cwd=repo.path, check=1)
        assert "NUL" in done.err or "UTF-8" in done.err, done.err
    with pytest.raises(RpcError) as refused:
        daemon.submit(repo.path, "a\0b")
    assert refused.value.code in (-32602, -32700)
    assert daemon.call("run.list")["runs"] == []


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_an_empty_task_is_refused(daemon, repo, text):
    with pytest.raises(RpcError) as refused:
        daemon.submit(repo.path, text)
    assert refused.value.code == -32602 and refused.value.data["field"] == "task"


def test_prompt_as_argument(make_daemon, repo, tmp_path):
    program = tmp_path / "arg"
    program.write_text('#!/bin/sh\nprintf %s "$2" > "$1"\n[ "$(cat | wc -c)" = 0 ] || exit 9\n')
    program.chmod(0o755)
    daemon = make_daemon(config={"agent.arg": {"command": [str(program), str(tmp_path / "got")], "prompt": "arg"}})
    number = daemon.submit(repo.path, "-the task", agent="arg")
    assert daemon.ended(number)["state"] == "succeeded"
    assert "-the task" in (tmp_path / "got").read_text()
    with pytest.raises(RpcError) as refused:
        daemon.submit(repo.path, "x" * 150_000, agent="arg")
    assert (refused.value.data["field"] == "task" and "100000" in refused.value.message
            and "stdin" in refused.value.data["hint"])
    number = daemon.submit(repo.path, "x" * 99_990, agent="arg")
    row = daemon.ended(number)
    assert (row["state"] == "failed" and "100000" in row["cause"]
            and "stdin" in row["cause"]), "with what the template adds it is too long"


def test_prompt_as_file(make_daemon, repo, tmp_path):
    program = tmp_path / "file"
    program.write_text('#!/bin/sh\ncp "$2" "$1"\n')
    program.chmod(0o755)
    daemon = make_daemon(config={"agent.file": {"command": [str(program), str(tmp_path / "got"),
                                                            "{prompt_file}"], "prompt": "file"}})
    number = daemon.submit(repo.path, "the task", agent="file")
    assert daemon.ended(number)["state"] == "succeeded"
    assert "the task" in (tmp_path / "got").read_text()


def test_model_is_filled_in_or_vanishes(make_daemon, repo, tmp_path):
    program = tmp_path / "m"
    program.write_text('#!/bin/sh\nshift 0\necho "$@"\n')
    program.chmod(0o755)
    daemon = make_daemon(config={"agent.m": {"command": [str(program), "--model", "{model}", "end"]}})
    for model, words in (("big", "--model big end\n"), (None, "end\n")):
        number = daemon.submit(repo.path, agent="m", **({"model": model} if model else {}))
        daemon.ended(number)
        assert output(daemon, one(daemon, number)["id"]) == words


CLAUDE_INIT = {"type": "system", "subtype": "init", "session_id": "s-1", "tools": [], "model": "m"}


def claude(text, **result):
    """A script that prints a stream of claude's kind."""
    lines = [CLAUDE_INIT, {"type": "assistant", "message": {"content": [
        {"type": "text", "text": "working {\"verdict\": \"pass\", \"followUpPrompt\": \"ok\"}"}]}},
             {"type": "result", "subtype": "success", "is_error": False, "result": text,
              "session_id": "s-1", "total_cost_usd": 0.25,
              "usage": {"input_tokens": 11, "cache_creation_input_tokens": 5,
                        "cache_read_input_tokens": 7, "output_tokens": 3},
              "permission_denials": [], **result}]
    return "cat <<'END-OF-STREAM'\n" + "\n".join(json.dumps(line) for line in lines) + "\nEND-OF-STREAM\n"


@pytest.fixture
def claude_daemon(make_daemon):
    return make_daemon(config={"agent.play": {"reader": "claude"}},
                       scripts={"implement": "echo one > work.txt\n" + claude("the answer"),
                                "review": claude('{"verdict": "pass", "followUpPrompt": "ok"}')})


def test_claude_stream(claude_daemon, repo):
    done = claude_daemon.rlctl("run", "-q", "--review", "x", cwd=repo.path, check=0)
    assert done.out == "the answer\n"
    attempt = claude_daemon.attempts(1)[0]
    assert attempt["cost_usd"] == 0.25 and attempt["provider"] == "ok" and attempt["outcome"] == "done"
    tokens = attempt["tokens"]
    assert (tokens["input"], tokens["cached"], tokens["cache_write"], tokens["output"]) == (11, 7, 5, 3)
    totals = claude_daemon.run(1)["totals"]
    assert totals["cost_usd"] == 0.5


def test_claude_error_with_exit_0_is_no_success(claude_daemon, repo):
    claude_daemon.play.set({"implement": claude("API Error: 400", is_error=True)})
    number = claude_daemon.review(repo.path)
    row = claude_daemon.ended(number)
    assert row["state"] == "failed" and "API Error: 400" in row["cause"]
    assert one(claude_daemon, number)["exit_code"] == 0


def test_claude_denied_and_nothing_changed_is_no_success(claude_daemon, repo):
    denied = [{"tool_name": "Write", "tool_use_id": "t", "tool_input": {}}]
    claude_daemon.play.set({"implement": claude("I could not", permission_denials=denied)})
    number = claude_daemon.submit(repo.path)
    row = claude_daemon.ended(number)
    assert row["state"] == "failed" and "permission" in row["cause"]
    assert one(claude_daemon, number)["outcome"] == "denied"


def test_claude_denied_with_a_change_goes_on(claude_daemon, repo):
    denied = [{"tool_name": "Bash", "tool_use_id": "t", "tool_input": {}}]
    claude_daemon.play.set({"implement": "echo x > work.txt\n" + claude("did most of it", permission_denials=denied)})
    number = claude_daemon.submit(repo.path)
    assert claude_daemon.ended(number)["state"] == "succeeded"


def test_claude_without_a_result_line_is_no_success(claude_daemon, repo):
    claude_daemon.play.set({"implement": f"echo '{json.dumps(CLAUDE_INIT)}'\n"})
    number = claude_daemon.review(repo.path)
    assert claude_daemon.ended(number)["state"] == "failed"


def test_claude_garbage_among_the_lines(claude_daemon, repo):
    claude_daemon.play.set({"implement": "echo not json; echo '{'; printf '\\377\\n'; head -c 3000000 "
                            "/dev/zero | tr '\\0' y; echo; echo x > work.txt\n" + claude("still there")})
    done = claude_daemon.rlctl("run", "-q", "x", cwd=repo.path, check=0)
    assert done.out == "still there\n"


def test_a_verdict_is_never_read_from_the_raw_stream(claude_daemon, repo):
    """The stream holds a pass in an assistant line; the final text does not."""
    claude_daemon.play.set({"review": claude("nothing to say")})
    number = claude_daemon.review(repo.path)
    row = claude_daemon.ended(number)
    assert row["state"] == "failed" and "no JSON object" in row["cause"]


def test_output_on_both_streams_is_kept_apart(daemon, repo):
    daemon.play.set({"implement": "echo out; echo err >&2; printf 'raw \\377\\000 bytes'\n"})
    number = daemon.submit(repo.path)
    daemon.ended(number)
    attempt = one(daemon, number)["id"]
    assert output(daemon, attempt, "stderr") == "err\n"
    page = daemon.call("attempt.output", id=attempt, stream="stdout", offset=0)
    if page["encoding"] == "base64":
        import base64
        assert base64.b64decode(page["data"]) == b"out\nraw \xff\0 bytes"
    else:
        assert page["data"].startswith("out\nraw ")


def test_exit_codes_are_true(daemon, repo):
    for code in (1, 2, 77, 126, 127, 255):
        daemon.play.set({"implement": f"exit {code}\n"})
        number = daemon.submit(repo.path)
        assert daemon.ended(number)["state"] == "failed"
        assert one(daemon, number)["exit_code"] == code
    daemon.play.set({"implement": "kill -SEGV $$\n"})
    number = daemon.submit(repo.path)
    daemon.ended(number)
    attempt = one(daemon, number)
    assert (attempt["signal"], attempt["exit_code"], attempt["process"]) == (11, None, "signalled")


def test_the_agent_dies_with_its_uid_marked_tree(daemon, repo):
    """Nothing of an ended attempt carries its uuid any more, even what changed its
    session and its parent."""
    daemon.play.set({"implement": "for i in 1 2 3 4 5 6 7 8 9 10; do (setsid sh -c 'trap \"\" TERM "
                     "HUP; sleep 1000 & sleep 1000' &) ; done; answer done\n"})
    number = daemon.submit(repo.path)
    daemon.ended(number)
    assert carriers([one(daemon, number)["uuid"]]) == []


def test_agents_get_a_higher_oom_score_than_the_daemon(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate x\n"}, gates=["x"])
    number = daemon.submit(repo.path)
    pid = daemon.play.arrived("x")
    score = int(open(f"/proc/{pid}/oom_score_adj").read())
    assert score > int(open(f"/proc/{daemon.pid}/oom_score_adj").read())
    daemon.play.go("x")
    daemon.ended(number)


def test_umask_and_limits_are_the_users(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "umask > \"$PLAY/umask\"; ulimit -n > \"$PLAY/nofile\"; "
                                  "ps -o ignored= -p $$ > \"$PLAY/ignored\" || :\n"})
    import resource
    daemon.ended(daemon.submit(repo.path))
    assert int((daemon.play.path / "nofile").read_text()) == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    old = os.umask(0o22)
    os.umask(old)
    assert int((daemon.play.path / "umask").read_text(), 8) == old


def test_the_words_of_an_agent_that_fails_are_in_the_cause(make_daemon, repo):
    daemon = make_daemon(
        scripts={"implement": "echo first >&2; echo 'no key: run `login` first' >&2; echo >&2; exit 1\n"})
    row = daemon.ended(daemon.submit(repo.path))
    assert row["cause"] == "implementer process exited with status 1: no key: run `login` first"
    daemon = make_daemon(name="claude",
                         scripts={"implement": "echo 'cannot be used with root' >&2; exit 1\n"},
                         config={"agent.play": {"reader": "claude"}})
    row = daemon.ended(daemon.submit(repo.path))
    assert row["cause"].endswith("status 1: cannot be used with root"), row["cause"]


def test_a_directory_that_is_removed_while_its_agent_runs(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate g\n"}, gates=["g"])
    number = daemon.submit(repo.path)
    pid = daemon.play.arrived("g")
    attempt = one(daemon, number)["id"]
    shutil.rmtree(daemon.state / "attempts" / str(attempt))
    daemon.play.go("g")
    row = daemon.ended(number)
    assert row["state"] == "held" and row["reason"].startswith("lost: "), row
    assert not alive(pid)
