# SPDX-License-Identifier: MIT
"""The record: what an attempt was given and what ran is in its row before it starts, and rows and
files are compared with what was recorded when they ended."""
import hashlib
import json
import os
import shutil

import pytest

SCRIPTS = {
    "implement": "echo one > work.txt\nanswer done\n",
    "review.1": "drift 'a second line'\n",
    "fix": "echo two >> work.txt\nanswer fixed\n",
    "review": "pass\n",
}


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def reviewed(daemon, repo, **settings):
    run = daemon.review(repo.path, **settings)
    assert daemon.ended(run)["state"] == "succeeded"
    return run


def test_an_attempt_names_what_it_was_given_and_what_ran(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    run = reviewed(daemon, repo)
    for attempt in daemon.attempts(run):
        kept = daemon.state / "attempts" / str(attempt["id"])
        assert attempt["prompt_hash"] == sha(kept / "prompt")
        assert attempt["diff_hash"] == (sha(kept / "diff") if attempt["role"] == "review" else None)
        assert attempt["program_hash"] == hashlib.sha256(open(attempt["program"], "rb").read()).hexdigest()
        assert os.path.isabs(attempt["program"])
        assert attempt["output_hash"] == sha(kept / "stdout.0000000000000000")
        assert attempt["output_size"] == (kept / "stdout.0000000000000000").stat().st_size


def test_a_judgement_names_policy_submitter_and_version(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    run = reviewed(daemon, repo)
    rows = daemon.call("evidence.list", run=run)["evidence"]
    version = daemon.call("daemon.hello")["version"]
    assert {(e["submitter"], e["daemon"]) for e in rows} == {(os.getuid(), version)}
    daemon.stop()
    plan = daemon.plan(run)
    assert {e["policy_hash"] for e in rows} == {hashlib.sha256(plan.encode()).hexdigest()}


def test_a_decision_names_the_process(make_daemon, repo):
    daemon = make_daemon(scripts={**SCRIPTS, "review.1": "drift 'no'\n"})
    run = daemon.review(repo.path, review={"max_fixes": 0, "on_exhausted": "hold"})
    hold = daemon.ended(run)["holds"][0]
    with daemon.connect() as rpc:
        rpc.call("hold.approve", id=hold["id"], message="fine")
    assert daemon.ended(run)["state"] == "succeeded"
    row = daemon.call("hold.get", id=hold["id"])
    assert (row["by_uid"], row["by_pid"], row["by_attempt"]) == (os.getuid(), os.getpid(), None)
    human = daemon.call("evidence.list", run=run)["evidence"][-1]
    assert (human["kind"], human["by_uid"], human["by_pid"]) == ("human", os.getuid(), os.getpid())
    assert daemon.call("review.verify", run=run)["ok"]
    for column, value in (("decided_by", "'human:other'"), ("by_uid", "7"), ("by_pid", "7"), ("state", "'open'"),
                          ("message", "'no'"), ("reason", "'x'"), ("attempt", "1"), ("kind", "'lost'")):
        daemon.stop()
        saved = daemon.path / "saved.db"
        shutil.copy(daemon.state / "rld.db", saved)
        connection = daemon.database()
        assert connection.execute(f"UPDATE hold SET {column} = {value}").rowcount == 1
        connection.close()
        daemon.start()
        answer = daemon.call("review.verify", run=run)
        assert not answer["ok"] and f"hold {hold['id']} was changed" in answer["message"], column
        daemon.stop()
        shutil.copy(saved, daemon.state / "rld.db")
        daemon.start()
    assert daemon.call("review.verify", run=run)["ok"]


@pytest.mark.parametrize("named", [False, True], ids=["by its package", "by its output"])
def test_the_version_of_a_program(make_daemon, repo, named):
    """Its output goes before its package, in which it is the nearest manifest that counts."""
    daemon = make_daemon(start=False)
    package = daemon.path / "lib" / "node_modules" / "@one" / "agent"
    (package / "bin" / "deep").mkdir(parents=True)
    (package / "package.json").write_text('{"name": "@one/agent", "version": "1.2.3"}')
    (package.parent.parent / "package.json").write_text('{"version": "9.9.9"}')
    program = package / "bin" / "deep" / "agent.js"
    said = {"type": "system", "subtype": "init", "session_id": "s"}
    if named:
        said["claude_code_version"] = "4.5.6"
    end = {"type": "result", "subtype": "success", "is_error": False, "result": "done", "session_id": "s"}
    program.write_text(f"#!/bin/sh\ncat > /dev/null\necho '{json.dumps(said)}'\necho '{json.dumps(end)}'\n")
    program.chmod(0o755)
    (daemon.path / "agent").symlink_to(program)
    other = daemon.path / "plain"
    shutil.copy(program, other)
    (daemon.path / "package.json").write_text('{"version": "9.9.9"}')
    daemon.write_config({"agent.one": {"command": [str(daemon.path / "agent")], "reader": "claude"},
                         "agent.two": {"command": [str(other)], "reader": "claude"}})
    daemon.start()
    runs = [daemon.submit(repo.path, agent=name) for name in ("one", "two")]
    daemon.ended(*runs)
    found = [daemon.attempts(run)[0]["program_version"] for run in runs]
    assert found == (["4.5.6"] * 2 if named else ["1.2.3", None])


EDITS = {
    "prompt": lambda d: (d / "prompt").write_text("another"),
    "answer": lambda d: (d / "answer").write_text("another"),
    "output": lambda d: (d / "stdout.0000000000000000").write_text("another"),
    "output, one byte more to its middle": lambda d: (d / "stdout.0000000000000000").write_bytes(
        b"x" + (d / "stdout.0000000000000000").read_bytes()),
    "output, cut": lambda d: os.truncate(d / "stdout.0000000000000000", 1),
    "output, gone": lambda d: (d / "stdout.0000000000000000").unlink(),
    "prompt, gone": lambda d: (d / "prompt").unlink(),
    "answer, a link": lambda d: ((d / "answer").rename(d / "x"), (d / "answer").symlink_to("x")),
    "prompt, a pipe": lambda d: ((d / "prompt").unlink(), os.mkfifo(d / "prompt")),
    "directory": shutil.rmtree,
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_changed_file_is_named(make_daemon, repo, edit):
    daemon = make_daemon(scripts=SCRIPTS)
    run = reviewed(daemon, repo)
    before = daemon.call("review.verify", run=run)
    assert before["ok"] and before["files"] > 0 and before["not_covered"] is None
    for attempt in daemon.attempts(run):
        place = daemon.state / "attempts" / str(attempt["id"])
        shutil.copytree(place, daemon.path / "kept", symlinks=True)
        EDITS[edit](place)
        answer = daemon.call("review.verify", run=run)
        assert not answer["ok"] and answer["chain"] and not answer["kept"]
        assert answer["message"].startswith(f"attempt {attempt['number']}: its {edit.split(',')[0]}"), answer
        said = daemon.rlctl("review", "verify", run)
        assert said.returncode == 1 and answer["message"] in said.err
        shutil.rmtree(place, ignore_errors=True)
        (daemon.path / "kept").rename(place)
    assert daemon.call("review.verify", run=run)["ok"]


def test_a_changed_diff_is_named_and_doctor_finds_it(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    run = reviewed(daemon, repo)
    review = daemon.attempts(run)[1]
    diff = daemon.state / "attempts" / str(review["id"]) / "diff"
    before = diff.read_text()
    diff.write_text("")
    assert "attempt 2: its diff" in daemon.call("review.verify", run=run)["message"]
    said = daemon.rlctl("doctor", "--deep", check=1)
    assert "attempt 2: its diff" in said.out
    diff.write_text(before)


def test_the_export_has_trees_and_hashes_beside_the_logs(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    run = reviewed(daemon, repo)
    export, reviews = daemon.call("review.export", run=run), daemon.reviews(run)
    assert [sorted(log) for log in export["logs"]] == [
        ["completed_at", "final_decision", "iterations", "overlay", "task_id"]]
    assert [(p["tree"], p["hash"]) for p in export["proofs"]] == [(r["tree"], r["hash"]) for r in reviews]
    attempts = {a["id"]: a for a in daemon.attempts(run)}
    assert [p["prompt_hash"] for p in export["proofs"]] == [attempts[r["attempt"]]["prompt_hash"] for r in reviews]
    assert (export["head"], export["record"]) == (daemon.run(run)["review_head"], daemon.run(run)["entry_head"])
