# SPDX-License-Identifier: MIT
"""The main job, end to end: submit, implement, review, fix, review again, pass."""
import json
import os
import signal

import pytest
from rld import DRIFT_THEN_PASS, Repo


def test_drift_fix_pass(daemon, repo):
    before = repo.state()
    number = daemon.review(repo.path, "write two lines")
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert [(a["role"], a["state"], a["exit_code"]) for a in daemon.attempts(number)] == [
        (role, "exited", 0) for role in ("implement", "review", "fix", "review")]
    assert [a["number"] for a in daemon.attempts(number)] == [1, 2, 3, 4]
    assert repo.read("work.txt") == "one\ntwo\n"
    assert repo.state() == before, "index, HEAD, branches and stash are the user's"

    reviews = daemon.reviews(number)
    assert [(r["decision"], r["iteration"], r["final"]) for r in reviews] == [("drift", 1, False), ("pass", 2, True)]
    assert reviews[0]["feedback"] == "add a second line"
    assert all(r["task_id"] == "t1" and r["reviewer_agent"] == "play" and r["coder_agent"] == "play" for r in reviews)
    assert len({r["hash"] for r in reviews}) == 2
    assert daemon.call("review.verify", run=number)["ok"] is True


def test_the_passed_ref_points_at_the_reviewed_tree(daemon, repo):
    repo.write("untracked.txt", "was here before\n")
    repo.write(".gitignore", "*.o\n")
    repo.write("junk.o", "ignored\n")
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert row["result_ref"] == daemon.ref("passed", number, "t1")
    tree = repo.git("rev-parse", row["result_ref"] + "^{tree}")
    names = repo.git("ls-tree", "-r", "--name-only", tree).split("\n")
    assert sorted(names) == [".gitignore", "README", "untracked.txt", "work.txt"]
    assert repo.git("show", f"{tree}:work.txt") == "one\ntwo"


def test_events_tell_it_in_order(daemon, repo):
    with daemon.events() as events:
        number = daemon.review(repo.path)
        events.until("run.state", lambda e: e["run"] == number and e["state"] == "succeeded")
    told = [e for e in events.seen if e.get("run") == number]

    def changes(kind, field):
        values = [e[field] for e in told if e["type"] == kind]
        return [v for i, v in enumerate(values) if i == 0 or values[i - 1] != v]
    assert changes("run.state", "state") == ["queued", "running", "succeeded"]
    distinct = changes("slot.phase", "phase")
    assert distinct[-1] == "passed"
    assert [p for p in distinct if p not in ("waiting", "passed")] == ["implementing", "reviewing",
                                                                       "fixing", "reviewing", "committing"]
    kinds = [e["type"] for e in told]
    assert kinds.count("attempt.started") == kinds.count("attempt.ended") == 4
    assert kinds.count("review.decided") == 2 and kinds.count("finding") == 2
    assert [e["state"] for e in told if e["type"] == "finding"] == ["new", "resolved"]
    assert kinds.index("iteration.started") < kinds.index("attempt.started") < kinds.index("attempt.ended")
    assert kinds.index("review.decided") < kinds.index("finding") or kinds.index("finding") < len(kinds) - 1
    assert kinds.index("iteration.ended") > kinds.index("review.decided")
    sequence = [e["seq"] for e in events.seen]
    assert sequence == list(range(sequence[0], sequence[0] + len(sequence)))


def test_findings_are_recorded(daemon, repo):
    number = daemon.review(repo.path)
    daemon.ended(number)
    first, second = daemon.reviews(number)
    assert [(f["text"], f["state"]) for f in first["findings"]] == [("add a second line", "new")]
    assert [(f["text"], f["state"]) for f in second["findings"]] == [("add a second line", "resolved")]
    daemon.play.set({"review.2": DRIFT_THEN_PASS["review.1"], "review.3": "pass\n"})
    number = daemon.review(repo.path)
    daemon.ended(number)
    first, second, _ = daemon.reviews(number)
    assert [f["state"] for f in first["findings"] + second["findings"]] == ["new", "repeated"]
    assert first["findings"][0]["id"] == second["findings"][0]["id"]


def test_run_prints_the_final_answer_and_nothing_else(daemon, repo):
    done = daemon.rlctl("run", "--review", "write two lines", cwd=repo.path, check=0)
    assert done.out == "second answer\n"
    assert "Reviewing changes (iteration 1/6)..." in done.err
    assert "Issues found. Running corrector (iteration 1/6)..." in done.err
    assert "Review passed!" in done.err
    assert "\x1b" not in done.err, "no colours when stderr is no terminal"
    assert daemon.ref("passed", 1, "t1") in done.err


def test_run_quiet(daemon, repo):
    done = daemon.rlctl("run", "-q", "--review", "write two lines", cwd=repo.path, check=0)
    assert (done.out, done.err) == ("second answer\n", "")


def test_run_without_review_says_that_it_was_skipped(daemon, repo):
    done = daemon.rlctl("run", "--skip-review", "--review", "x", cwd=repo.path, check=0)
    assert done.out == "first answer\n"
    assert "Skipping review (--skip-review flag set)" in done.err
    assert [a["role"] for a in daemon.attempts(1)] == ["implement"]


def test_task_from_a_file_and_from_stdin(daemon, repo, tmp_path):
    (tmp_path / "task.txt").write_text("from a file: ä\n")
    daemon.rlctl("run", "-q", "-f", tmp_path / "task.txt", cwd=repo.path, check=0)
    daemon.rlctl("run", "-q", cwd=repo.path, input="from stdin: ö\n".encode(), check=0)
    assert "from a file: ä" in daemon.play.prompt(1, "implement").decode()
    assert "from stdin: ö" in daemon.play.prompt(2, "implement").decode()


def test_missing_task_file_is_1_and_names_it(daemon, repo):
    done = daemon.rlctl("submit", "-f", "/no/such/task", cwd=repo.path, check=1)
    assert "/no/such/task" in done.err and done.out == ""


@pytest.mark.parametrize("args", [["--no-such-option", "x"], ["--priority", "high", "x"],
                                  ["--review-max-fix-attempts", "-1", "x"],
                                  ["--timeout", "soon", "x"], ["--on-lost", "cry", "x"]])
def test_usage_errors_are_2(daemon, repo, args):
    done = daemon.rlctl("submit", *args, cwd=repo.path, check=2)
    assert done.out == "" and done.err
    assert daemon.call("run.list")["runs"] == []


def test_unknown_command_is_2(daemon):
    done = daemon.rlctl("frobnicate", check=2)
    assert "frobnicate" in done.err


def test_no_daemon_is_3(make_daemon, repo):
    daemon = make_daemon(start=False)
    done = daemon.rlctl("status", "--no-start", check=3)
    assert str(daemon.socket) in done.err


def test_failed_is_10_with_the_reason(daemon, repo):
    daemon.play.set({"implement": "echo no; exit 7\n"})
    done = daemon.rlctl("run", "--review", "x", cwd=repo.path, check=10)
    assert "7" in done.err
    daemon.rlctl("wait", "1", check=10)


def test_review_that_fails_is_10(daemon, repo):
    daemon.play.set({"review.1": "drift 'again'\n", "review": "drift 'again and again'\n"})
    done = daemon.rlctl("run", "--review", "--review-max-fix-attempts", "1", "x", cwd=repo.path, check=10)
    assert "drift unresolved after 1 fix attempt(s)" in done.err


def test_cancelled_is_11(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate work\n"}, gates=["work"])
    run = daemon.rlctl_start("run", "x", cwd=repo.path)
    daemon.play.arrived("work")
    daemon.rlctl("cancel", "1", check=0)
    assert run.wait() == 11
    daemon.rlctl("wait", "1", check=11)


def test_lost_is_12_and_held_is_13(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate work\n"}, gates=["work"])
    first = daemon.rlctl_start("run", "--on-lost", "fail", "x", cwd=repo.path)
    pid = daemon.play.arrived("work")
    os.kill(shim_of(pid), signal.SIGKILL)
    assert first.wait() == 12
    second = daemon.rlctl_start("run", "x", cwd=repo.path)
    pid = daemon.play.arrived("work")
    os.kill(shim_of(pid), signal.SIGKILL)
    assert second.wait() == 13
    daemon.rlctl("wait", "1", check=12)
    daemon.rlctl("wait", "2", check=13)
    daemon.rlctl("wait", "1", "2", check=12)


def test_wait_times_out_with_124(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate work\n"}, gates=["work"])
    number = daemon.submit(repo.path)
    daemon.play.arrived("work")
    daemon.rlctl("wait", "--timeout", "1", number, check=124)
    daemon.play.go("work")
    daemon.rlctl("wait", "--timeout", "50s", number, check=0)


def shim_of(pid):
    """The supervisor of an agent: its parent."""
    from rld import proc_stat
    return proc_stat(pid)[1]


def test_interrupt_detaches_twice_cancels(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate work\n"}, gates=["work"])
    run = daemon.rlctl_start("run", "x", cwd=repo.path)
    daemon.play.arrived("work")
    run.send_signal(signal.SIGINT)
    _, err = run.communicate()
    assert b"rlctl" in err and daemon.run(1)["state"] == "running", err
    daemon.play.go("work")
    daemon.ended(1)


def test_submit_prints_the_id_and_list_show_find_it(daemon, repo):
    done = daemon.rlctl("submit", "--review", "hello there", cwd=repo.path, check=0)
    assert done.out == "1\n"
    daemon.ended(1)
    assert "hello there" in daemon.rlctl("list", check=0).out
    shown = daemon.rlctl("show", "1", check=0).out
    assert "succeeded" in shown and str(repo.path) in shown
    assert daemon.rlctl("list", "--json", check=0).out.strip()
    as_json = json.loads(daemon.rlctl("show", "--json", "1", check=0).out)
    assert as_json == daemon.run(1)


def test_logs_diff_and_review(daemon, repo):
    number = daemon.review(repo.path)
    daemon.ended(number)
    assert "first answer" in daemon.rlctl("logs", "1/1", check=0).out
    whole = daemon.rlctl("logs", "1", check=0).out
    assert "first answer" in whole and "second answer" in whole
    diff = daemon.rlctl("diff", "1", check=0).out
    assert "+++ b/work.txt" in diff and "+one" in diff and "+two" in diff
    shown = daemon.rlctl("review", "show", "1", check=0).out
    assert "drift" in shown and "pass" in shown and "add a second line" in shown
    daemon.rlctl("review", "verify", "1", check=0)


def test_logs_follow_until_the_end(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "answer before\ngate work\nanswer after\n"}, gates=["work"])
    number = daemon.submit(repo.path)
    daemon.play.arrived("work")
    follow = daemon.rlctl_start("logs", "-f", f"{number}/1")
    assert follow.stdout.readline() == b"before\n"
    daemon.play.go("work")
    out, _ = follow.communicate()
    assert out == b"after\n" and follow.returncode == 0


def test_retry_makes_a_new_run(daemon, repo):
    daemon.play.set({"implement.1": "exit 1\n"})
    number = daemon.review(repo.path, "the task")
    assert daemon.ended(number)["state"] == "failed"
    daemon.play.set({"implement.1": DRIFT_THEN_PASS["implement"]})
    done = daemon.rlctl("retry", number, check=0)
    again = daemon.call("run.list")["runs"][0]["id"]
    assert again != number and str(again) in done.out
    assert daemon.ended(again)["state"] == "succeeded"
    assert "the task" in daemon.play.prompt(again, "implement").decode()
    assert daemon.run(number)["state"] == "failed"


def test_reviewer_and_fixer_may_be_other_agents(make_daemon, repo, tmp_path):
    from rld import Play
    judge, mender = Play(tmp_path / "judge"), Play(tmp_path / "mender")
    daemon = make_daemon(config={"agent.judge": {"command": judge.command()},
                                 "agent.mender": {"command": mender.command()}})
    daemon.rlctl("run", "-q", "--review", "--reviewer-agent", "judge", "--fixer-agent", "mender",
                 "x", cwd=repo.path, check=0)
    assert [s[1] for s in daemon.play.starts()] == ["implement"]
    assert [s[1] for s in judge.starts()] == ["review", "review"]
    assert [s[1] for s in mender.starts()] == ["fix"]
    assert [(r["reviewer_agent"], r["coder_agent"]) for r in daemon.reviews(1)] == [("judge", "play")] * 2 or \
        [(r["reviewer_agent"], r["coder_agent"]) for r in daemon.reviews(1)] == [("judge", "play"), ("judge", "mender")]


def test_a_reviewer_in_a_checkout_is_not_led_out_of_it(daemon, repo):
    """RL_WORKDIR of a review is the tree under review, wherever that is laid out."""
    daemon.play.set({"implement": "echo one > work.txt\n",
                     "review": "cd \"$RL_WORKDIR\" && pwd > \"$PLAY/where\" && rm work.txt\n"
                     "printf '{\"verdict\": \"pass\", \"followUpPrompt\": \"\"}\\n'\n"})
    row = daemon.ended(daemon.review(repo.path, review={"profile": "verdict", "workspace": "snapshot"}))
    assert (daemon.play.path / "where").read_text().startswith(str(daemon.state))
    assert (row["cause"] == "reviewer contract violation: reviewer changed the tree: work.txt"
            and (repo.path / "work.txt").exists())


def test_what_an_agent_sees(daemon, repo):
    daemon.play.set({name: "env > \"$PLAY/env.$role.$nth\"; ls -l /proc/self/fd > "
                     "\"$PLAY/fd.$role.$nth\"; pwd > \"$PLAY/pwd.$role.$nth\"\n" + text
                     for name, text in DRIFT_THEN_PASS.items()})
    number = daemon.submit(repo.path, "the task", review={"enabled": True, "max_fixes": 3}, model="m1", env={"K": "V"},
                           environment=["CLAUDECODE=1", "NOTIFY_SOCKET=/x", "LISTEN_FDS=1",
                                        "LANG=C.UTF-8", "SECRET=s3", "RLD_SOCKET=/x"])
    assert daemon.ended(number)["state"] == "succeeded"

    def seen(name):
        return dict(line.split("=", 1)
                    for line in (daemon.play.path / f"env.{name}").read_text().splitlines() if "=" in line)
    first, review, fix = seen("implement.1"), seen("review.2"), seen("fix.1")
    for env in (first, review, fix):
        assert env["RL_RUN"] == str(number) and env["RL_TASK_ID"] == "t1" and env["RL_TASK"] == "the task"
        place = str(daemon.state / f"runs/{number}/tree-1-1" if env is review else repo.path)
        assert env["RL_WORKDIR"] == place and env["RL_SLOT"] == "1" and env["RL_ITERATION"] == "1"
        assert env["NO_COLOR"] == "1" and env["TERM"] == "dumb" and env["GIT_OPTIONAL_LOCKS"] == "0" and env["K"] == "V"
        assert not {"CLAUDECODE", "NOTIFY_SOCKET", "LISTEN_FDS", "SECRET"} & env.keys()
        assert env["RL_MAX_REVIEWS"] == "4" and env["RLD_SOCKET"] == str(daemon.socket)
    assert first["RL_ROLE"] == "implement" and review["RL_ROLE"] == "review" and fix["RL_ROLE"] == "fix"
    assert review["RL_REVIEW_ROUND"] == "2" and "RL_VERDICT_FILE" in review and "RL_VERDICT_FILE" not in fix
    assert "RL_FINDINGS_FILE" in fix and first["RL_MODEL"] == "m1"
    assert len({env["RL_ATTEMPT_UUID"] for env in (first, review, fix)}) == 3
    for name in ("implement.1", "review.1", "fix.1", "review.2"):
        # ls has a descriptor of its own for the directory
        fds = [line.split()[-3] for line in (daemon.play.path / f"fd.{name}").read_text().splitlines() if "->" in line]
        assert [fd for fd in fds if int(fd) > 3] == [], fds
        place = daemon.state / f"runs/{number}/tree-1-1" if "review" in name else repo.path
        assert (daemon.play.path / f"pwd.{name}").read_text() == f"{place}\n"


def test_secrets_of_the_environment_are_nowhere(make_daemon, repo):
    daemon = make_daemon(config={"agent.play": {"env": ["API_KEY"]}})
    daemon.play.set({"implement": 'echo "$API_KEY" > "$PLAY/key"\n'})
    number = daemon.submit(repo.path, environment=["API_KEY=hunter2secret"])
    assert daemon.ended(number)["state"] == "succeeded"
    assert (daemon.play.path / "key").read_text() == "hunter2secret\n"
    assert "hunter2secret" not in daemon.log()
    daemon.restart()
    while daemon.call("daemon.status")["busy"]:
        pass
    daemon.stop()
    for path in daemon.state.rglob("*"):
        if path.is_file():
            assert b"hunter2secret" not in path.read_bytes(), f"{path}: kept after the end of the run"


def test_prompts_carry_what_their_reader_needs(daemon, repo):
    number = daemon.review(repo.path, "THE-TASK")
    daemon.ended(number)
    review, fix, second = (daemon.play.prompt(number, *which).decode()
                           for which in (("review", 1), ("fix", 1), ("review", 2)))
    assert "THE-TASK" in review and "first answer" in review and "+one" in review and "`verdict`" in review
    assert "add a second line" in fix and "THE-TASK" in fix
    assert ("second answer" in second and "+two" in second and "add a second line" in second
            and "first answer" not in second)


def test_own_prompt_files(daemon, repo, tmp_path):
    (tmp_path / "dev.md").write_text("DEV {{task}} END\n")
    (tmp_path / "rev.md").write_text("REVIEW without placeholders\n")
    daemon.rlctl("run", "-q", "--review", "--developer-prompt", tmp_path / "dev.md",
                 "--reviewer-prompt", tmp_path / "rev.md", "T-A-S-K", cwd=repo.path, check=0)
    first = daemon.play.prompt(1, "implement").decode()
    assert first.startswith("DEV ") and "T-A-S-K" in first
    review = daemon.play.prompt(1, "review").decode()
    assert review.startswith("REVIEW without placeholders") and "T-A-S-K" in review
    done = daemon.rlctl("submit", "--review", "--reviewer-prompt", tmp_path / "none.md", "x", cwd=repo.path, check=1)
    assert "none.md" in done.err


def test_dry_run_changes_nothing(daemon, repo):
    daemon.rlctl("submit", "--dry-run", "x", cwd=repo.path, check=0)
    assert daemon.call("run.list")["runs"] == []


def test_status_events_config_stop(daemon, repo):
    number = daemon.submit(repo.path)
    daemon.ended(number)
    assert "0.1.0" in daemon.rlctl("status", check=0).out
    lines = daemon.rlctl("events", "--json", check=0).out.splitlines()
    events = [json.loads(line) for line in lines]
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    later = daemon.rlctl("events", "--json", "--since", "2", check=0).out.splitlines()
    assert json.loads(later[0])["seq"] == 3
    assert "parallel" in daemon.rlctl("config", "show", check=0).out
    daemon.rlctl("config", "check", check=0)
    daemon.rlctl("stop", check=0)
    assert daemon.exited() == 0


def test_stop_with_drain_waits_for_the_work(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate work\nanswer done\n"}, gates=["work"])
    number = daemon.submit(repo.path)
    daemon.play.arrived("work")
    with daemon.connect() as rpc:
        stop = daemon.rlctl_start("stop", "--drain")
        while rpc.call("daemon.status")["state"] != "draining":
            pass
        from rld import RpcError
        with pytest.raises(RpcError) as refused:
            rpc.call("run.submit", task="x", workdir=str(repo.path))
        assert refused.value.code == 6
    daemon.play.go("work")
    assert daemon.exited() == 0
    stop.wait()
    assert daemon.query("SELECT state FROM run WHERE id = ?", number) == [{"state": "succeeded"}]


def test_a_user_daemon_is_started_on_demand(make_daemon, tmp_path):
    """Without a socket named, rlctl starts one in the user's places; --no-start forbids it."""
    import subprocess
    from rld import COMMANDS_USED, RLCTL
    home, runtime = tmp_path / "h", tmp_path / "r"
    home.mkdir()
    runtime.mkdir(mode=0o700)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "LANG": "C.UTF-8"}
    make_daemon(start=False)

    def rlctl(*args):
        COMMANDS_USED.add(args[0])
        return subprocess.run([str(RLCTL), *args], env=environment, cwd=tmp_path,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert rlctl("status", "--no-start").returncode == 3
    started = rlctl("status", "--json", "--start")
    assert started.returncode == 0 and "started a daemon for you" in started.stderr, started.stderr
    assert "started" not in rlctl("status", "--start").stderr
    assert (home / ".local/state/rld/rld.sock").is_socket() and (runtime / "rld.sock").is_socket()
    from rld import Rpc, wait_gone
    with Rpc(runtime / "rld.sock") as rpc:
        pid = rpc.peer_pid()
    assert rlctl("stop").returncode == 0
    wait_gone(pid)


def test_a_user_daemon_can_do_without_a_runtime_directory(make_daemon, tmp_path):
    """After su(1), XDG_RUNTIME_DIR is another user's."""
    import subprocess
    from rld import RLCTL, Rpc, note_command, wait_gone
    home = tmp_path / "h"
    home.mkdir()
    (home / "file").touch()
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "file"), "LANG": "C.UTF-8"}
    make_daemon(start=False)

    def rlctl(*args):
        note_command(args)
        return subprocess.run([str(RLCTL), *args], env=environment, cwd=tmp_path, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
    assert rlctl("list", "--start").returncode == 0 == rlctl("list", "--no-start").returncode
    state = home / ".local/state/rld"
    assert f"cannot create the socket {home}/file/rld.sock: " in (state / "rld.log").read_text()
    with Rpc(state / "rld.sock") as rpc:
        pid = rpc.peer_pid()
    assert rlctl("stop").returncode == 0
    wait_gone(pid)


def test_a_second_directory_is_not_disturbed(daemon, repo, tmp_path):
    other = Repo(tmp_path / "other")
    one, two = daemon.review(repo.path), daemon.review(other.path)
    assert [r["state"] for r in daemon.ended(one, two)] == ["succeeded"] * 2
    assert repo.read("work.txt") == other.read("work.txt") == "one\ntwo\n"
