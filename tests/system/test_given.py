# SPDX-License-Identifier: MIT
"""What a reviewer is given is what was submitted and measured: an edit of the task's text or of the
measured diff, on the disk or in the database, or of what judges the run, ends the review before it
is paid, or shows in review.verify afterwards."""
import hashlib
import sqlite3

import pytest
from loop import End, Loop
from rld import RpcError, unshare_plans
from test_profile_file import PROFILE as FILE
from test_profile_verdict import VERDICT

OTHER = "do nothing at all, and pass"


@pytest.fixture
def loop(make_daemon, repo, tmp_path):
    return Loop(make_daemon, repo, tmp_path, VERDICT)


def edit(daemon, *statements):
    """Somebody with the file in hand, and no daemon at work."""
    connection = sqlite3.connect(daemon.state / "rld.db", isolation_level=None)
    try:
        for name, in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for statement, *values in statements:
            assert connection.execute(statement, values).rowcount > 0, statement
    finally:
        connection.close()


def measured(daemon):
    """What git printed when the work was measured."""
    step = daemon.run(1)["slots"][0]["diff"] if daemon.running() else daemon.query("SELECT diff FROM slot")[0]["diff"]
    return daemon.state / "attempts" / str(step) / "stdout.0000000000000000"


def before_the_review(loop, *statements):
    """The work is measured, and a check runs: then the daemon dies, and somebody edits."""
    loop.submit_to("check", review={"checks": [loop.check]}, check_on_base="skip")
    loop.daemon.kill()
    edit(loop.daemon, *statements)
    loop.daemon.start()
    loop.play.go("check")
    return loop.daemon.ended(1)


def verified(daemon, last=True):
    """last: nothing else is asked of this daemon, whose record is not as it should be."""
    answer = daemon.call("review.verify", run=1)
    said = daemon.rlctl("review", "verify", 1)
    assert (said.returncode == 0) == answer["ok"] and (answer["ok"] or answer["message"] in said.err), said
    assert ("failed   reviews" in daemon.rlctl("doctor", "--deep").out) == (not answer["ok"])
    if last:
        daemon.stop()
    return answer


def patched(text):
    """The measured diff with another line in the place of the work."""
    return text.replace("+one", "+two")


def test_the_measured_diff_is_changed_before_the_review(loop):
    loop.submit_to("check", review={"checks": [loop.check]}, check_on_base="skip")
    path = measured(loop.daemon)
    path.write_text(patched(path.read_text()))
    loop.play.go("check")
    loop.ends(End("failed", "was changed since the work was measured: it is not reviewed", 10), loop.daemon.ended(1))
    assert loop.roles() == ["implement"], "no reviewer is paid"
    assert loop.decisions() == ["error"]


def test_with_the_hash_in_the_row_of_the_slot(loop, tmp_path):
    """The product has the hash of the measurement, in a chain."""
    loop.always_content()
    diff = tmp_path / "diff"
    loop.submit_to("check", review={"checks": [loop.check]}, check_on_base="skip")
    loop.daemon.kill()
    path = measured(loop.daemon)
    diff.write_text(patched(path.read_text()))
    path.write_text(diff.read_text())
    edit(loop.daemon, ("UPDATE slot SET diff_hash = ?", hashlib.sha256(diff.read_bytes()).hexdigest()))
    loop.daemon.start()
    loop.play.go("check")
    assert loop.daemon.ended(1)["state"] == "succeeded"
    assert "+two" in loop.prompt("review"), "that edit shows afterwards"
    answer = verified(loop.daemon)
    assert not answer["ok"] and "attempt 3 was given another diff than that of product 2" in answer["message"], answer


def test_the_text_of_the_task_is_changed_before_the_review(loop):
    row = before_the_review(loop, ("UPDATE task_text SET text = ?", OTHER))
    loop.ends(End("failed", "the text of task t1 in the database is not the one that was recorded", 10), row)
    assert loop.roles() == ["implement"] and loop.decisions() == ["error"]
    assert "the text of task t1 was changed" in verified(loop.daemon)["message"]


def test_with_its_hash(loop):
    """The implementer was given another one, by the record."""
    loop.always_content()
    row = before_the_review(loop, ("UPDATE task_text SET text = ?", OTHER),
                            ("UPDATE task SET text_hash = ?", hashlib.sha256(OTHER.encode()).hexdigest()))
    assert row["state"] == "succeeded" and OTHER in loop.prompt("review")
    answer = verified(loop.daemon)
    assert not answer["ok"] and "attempt 1 was given another text of task t1 than the run has" in answer["message"]


def test_one_of_many_tasks_is_changed(make_daemon, repo, tmp_path):
    """A review of the whole run is given all of them."""
    loop = Loop(make_daemon, repo, tmp_path, FILE)
    loop.stop_at("check")
    run = loop.daemon.call("run.submit", workdir=str(repo.path), stories=(
        '{"project": "shop", "userStories": [{"id": "a", "title": "write a", "passes": false}, '
        '{"id": "b", "title": "write b", "passes": false}]}'), check_on_base="skip", review={
            "enabled": True, "profile": "file", "checks": [loop.check]})["id"]
    loop.play.arrived("check")
    loop.daemon.kill()
    edit(loop.daemon, ("UPDATE task_text SET text = ? WHERE id = 'a'", OTHER))
    loop.daemon.start()
    loop.play.go("check")
    row = loop.daemon.ended(run)
    assert row["state"] == "failed" and "the text of task a in the database is not the one" in row["cause"], row
    assert "review" not in loop.roles()
    assert "the text of task a was changed" in verified(loop.daemon)["message"]


@pytest.mark.parametrize("from_scratch", [False, True])
def test_a_retry_does_not_take_another_text(loop, from_scratch):
    """Nor does it once the hash is another, too: then the attempts of the run contradict it."""
    loop.set(review="exit 3\n")
    assert loop.run()["state"] == "failed"
    loop.daemon.stop()
    edit(loop.daemon, ("UPDATE task_text SET text = ?", OTHER))
    loop.daemon.start()
    with pytest.raises(RpcError) as refused:
        loop.daemon.call("run.retry", id=1, from_scratch=from_scratch)
    assert refused.value.code == 2 and str(refused.value).startswith(
        "2: the text of task t1 is not what was recorded at its submit: submit the task again"), refused.value
    assert [row["id"] for row in loop.daemon.call("run.list")["runs"]] == [1]
    loop.daemon.stop()


LATER = {
    "the text of the task": ([("UPDATE task_text SET text = ?", OTHER)], None, "the text of task t1 was changed"),
    "no text of the task": ([("DELETE FROM task_text",)], None, "the text of task t1 was removed"),
    "the measured diff": ([], patched, "the diff that was measured for it"),
    "no measured diff": ([], "gone", "the diff that was measured for it"),
    "the hash of the measured diff": ([("UPDATE product SET diff_hash = 'x' WHERE number = 2",)], None,
                                      "product 2 was changed"),
    "the hash of the text": ([("UPDATE task SET text_hash = 'x'",)], None, "task t1 was changed"),
}


@pytest.mark.each
@pytest.mark.parametrize("what", LATER)
def test_changed_after_the_end(loop, what):
    statements, change, words = LATER[what]
    loop.always_content()
    loop.passes(loop.run())
    assert verified(loop.daemon, last=False)["ok"]
    task, = loop.daemon.run(1)["tasks"]
    attempts = loop.daemon.attempts(1)
    assert task["text_hash"] and {a["task_hash"] for a in attempts} == {task["text_hash"]}
    shown, = [a for a in attempts if a["role"] == "review"]
    product, = [p for p in loop.daemon.call("product.list", run=1)["products"] if p["kind"] == "work"]
    assert (product["diff"], product["diff_hash"]) == (shown["diff"], shown["diff_hash"]) and shown["diff_hash"]
    loop.daemon.stop()
    path = measured(loop.daemon)
    if change == "gone":
        path.unlink()
    elif change is not None:
        path.write_text(change(path.read_text()))
    if statements:
        edit(loop.daemon, *statements)
    loop.daemon.start()
    answer = verified(loop.daemon)
    assert not answer["ok"] and words in answer["message"], answer


# ---- what judges ---------------------------------------------------------------------------------

JUDGE = {"profile": "exit", "reviewer": "SAY GO", "guidelines": "anything goes", "conventions": "none",
         "files": "[]", "kept_from": 7}
GIVEN = "what judges run 1 in the database is not what was recorded at its submit"


def judge_hash(row):
    """From the description in core/chain.h."""
    text = b"".join(b"%d:%s," % (len(word), word) for name, value in row.items() if value is not None
                    for word in (name.encode(), str(value).encode()))
    return hashlib.sha256(text).hexdigest()


def judge_of(daemon, **change):
    row, = daemon.query("SELECT * FROM judge WHERE run = 1")
    return {**row, **change}


@pytest.mark.parametrize("column", JUDGE)
def test_what_judges_is_changed_before_the_review(loop, column):
    row = before_the_review(loop, (f"UPDATE judge SET {column} = ?", JUDGE[column]))
    loop.ends(End("failed", GIVEN, 10), row)
    assert loop.roles() == ["implement"] and loop.decisions() == ["error"]
    assert "the judge of run 1 was changed" in verified(loop.daemon)["message"]


def test_what_judges_is_removed_before_the_review(loop):
    loop.ends(End("failed", GIVEN, 10), before_the_review(loop, ("DELETE FROM judge",)))
    assert loop.roles() == ["implement"] and loop.decisions() == ["error"]
    assert "the judge of run 1 was removed" in verified(loop.daemon)["message"]


def test_what_judges_is_removed_before_the_run_begins(loop, repo):
    """It is not read again, from files that an agent may have written by now."""
    loop.stop_at("implement")
    loop.daemon.review(repo.path, review={"profile": "verdict"})
    loop.play.arrived("implement")
    second = loop.daemon.review(repo.path, review={"profile": "verdict"})
    loop.daemon.kill()
    edit(loop.daemon, ("DELETE FROM judge WHERE run = ?", second))
    loop.daemon.start()
    loop.play.go("implement")
    row = loop.daemon.ended(second)
    assert row["state"] == "failed" and GIVEN.replace("run 1", f"run {second}") in row["cause"], row
    assert not loop.play.starts(second), "no agent is paid"
    loop.daemon.stop()


@pytest.mark.parametrize("known", [True, False])
def test_what_judges_is_changed_with_its_hash(loop, known):
    """The implementer started under another judge, by the record."""
    loop.always_content()
    loop.submit_to("check", review={"checks": [loop.check]})
    loop.daemon.kill()
    made = judge_hash(judge_of(loop.daemon, reviewer=OTHER)) if known else None
    edit(loop.daemon, ("UPDATE judge SET reviewer = ?", OTHER), ("UPDATE run SET judge_hash = ?", made))
    loop.daemon.start()
    loop.play.go("check")
    assert loop.daemon.ended(1)["state"] == "succeeded" and OTHER in loop.prompt("review")
    assert "attempt 1 had another judge than the run has" in verified(loop.daemon)["message"]


@pytest.mark.parametrize("change", [*JUDGE, "no row", "judge_hash", "no hash"])
def test_what_judges_is_changed_after_the_end(loop, change):
    loop.always_content()
    loop.passes(loop.run())
    daemon = loop.daemon
    answer = verified(daemon, last=False)
    assert answer["ok"] and answer["not_covered"] is None
    row = daemon.run(1)
    assert {a["judge_hash"] for a in daemon.attempts(1)} == {row["judge_hash"]}
    daemon.stop()
    assert row["judge_hash"] == judge_hash(judge_of(daemon))
    statement, words = {
        "no row": (("DELETE FROM judge",), "the judge of run 1 was removed"),
        "judge_hash": (("UPDATE run SET judge_hash = 'x'",), "run 1 was changed"),
        "no hash": (("UPDATE run SET judge_hash = NULL",), "run 1 was changed"),
    }.get(change) or ((f"UPDATE judge SET {change} = ?", JUDGE[change]), "the judge of run 1 was changed")
    edit(daemon, statement)
    daemon.start()
    answer = verified(daemon)
    assert not answer["ok"] and not answer["chain"] and words in answer["message"], answer


def test_a_retry_does_not_keep_what_was_changed(loop):
    """It would be recorded as what judges the new run."""
    loop.submit_to("check", review={"checks": [loop.check]})
    loop.daemon.kill()
    edit(loop.daemon, ("UPDATE judge SET reviewer = ?", OTHER))
    loop.daemon.start()
    loop.play.go("check")
    assert loop.daemon.ended(1)["state"] == "failed"
    with pytest.raises(RpcError, match="what judged the run is not what was recorded at its submit"):
        loop.daemon.call("run.retry", id=1)
    loop.always_content()
    row = loop.daemon.ended(loop.daemon.call("run.retry", id=1, new_judge=True)["id"])
    assert row["state"] == "succeeded" and row["judge_hash"] is not None
    assert loop.daemon.call("review.verify", run=row["id"])["ok"]
    loop.daemon.stop()


def test_a_retry_records_what_it_keeps(loop):
    loop.play.set({"review": "exit 3\n"})
    assert loop.run()["state"] == "failed"
    loop.always_content()
    row = loop.daemon.ended(loop.daemon.call("run.retry", id=1)["id"])
    loop.daemon.stop()
    kept, = loop.daemon.query(f"SELECT * FROM judge WHERE run = {row['id']}")
    assert row["state"] == "succeeded" and kept["kept_from"] == 1 and row["judge_hash"] == judge_hash(kept)


def test_a_run_that_began_without_it(loop):
    """As schema 20 left it: it ends by what is in the database, and that is not covered."""
    loop.always_content()
    loop.submit_to("implement")
    loop.daemon.kill()
    connection = sqlite3.connect(loop.daemon.state / "rld.db", isolation_level=None)
    for table, column in (("run", "judge_hash"), ("attempt", "judge_hash"), ("slot", "gap"), ("run", "dismissed"),
                          ("run", "labels"), ("run", "disputed"), ("slot", "question"), ("slot", "question_attempt"),
                          ("slot", "reply"), ("slot", "own_commit"), ("slot", "own_base_commit"),
                          ("slot", "own_base_tree"), ("slot", "voter_of"), ("slot", "reviewer"),
                          ("attempt", "reviewer"), ("review", "reviewer"), ("review", "votes"),
                          ("finding", "reviewers"), ("run", "bytes"), ("run", "pruned_at"), ("attempt", "launcher"),
                          ("attempt", "node")):
        for name, in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND "
                                        "sql LIKE ?", (table, f"%{column}%")).fetchall():
            connection.execute(f"DROP INDEX {name}")
        connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    unshare_plans(connection)
    for table in ("pruned", "plan"):
        connection.execute(f"DROP TABLE {table}")
    for name in ("step_of_run", "hook_of_run"):
        connection.execute(f"DROP INDEX {name}")
    connection.execute("PRAGMA user_version = 20")
    connection.close()
    loop.daemon.start()
    loop.play.go("implement")
    row = loop.daemon.ended(1)
    assert row["state"] == "succeeded" and row["judge_hash"] is None
    assert {a["judge_hash"] for a in loop.daemon.attempts(1)} == {None}
    answer = verified(loop.daemon, last=False)
    assert answer["ok"] and answer["not_covered"] == "the judge: the run began with an earlier version"
