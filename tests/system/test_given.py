# SPDX-License-Identifier: MIT
"""What a reviewer is given is what was submitted and measured: an edit of the task's text or of the
measured diff, on the disk or in the database, ends the review before it is paid, or shows in
review.verify afterwards."""
import hashlib
import sqlite3

import pytest
from loop import End, Loop
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
