# SPDX-License-Identifier: MIT
"""Somebody with the file in hand, and no daemon at work, edits a run's reviews, products or
evidence: review.verify names each such edit.

The triggers refuse all of this to whoever writes by statements (tests/unit/schema.c); here they
are dropped first.
"""
import hashlib
import shutil
import sqlite3

import pytest

from rld import Repo

SCRIPTS = {
    "implement": "echo one > work.txt\nanswer 'first answer'\n",
    "review.1": "drift 'add a second line'\n",
    "review.2": "drift 'add a third line'\n",
    "review.3": "drift 'add a fourth line'\n",
    "review": "pass\n",
    "fix": "echo \"$RL_ATTEMPT\" >> work.txt\nanswer \"answer $RL_ATTEMPT\"\n",
}
TABLES = {"review": 20, "finding": 10, "product": 14, "evidence": 26, "entry": 8, "task": 19, "attempt": 62, "run": 66}
# Columns that name a state have other words to change to.
OTHER_WORDS = {("finding", "state"): "CASE state WHEN 'new' THEN 'repeated' ELSE 'new' END",
               ("product", "kind"): "'merged'", ("evidence", "kind"): "'human'", ("evidence", "room"): "'same'",
               ("evidence", "result"): "'green'",
               ("task", "state"): "'failed'", ("task", "end_kind"): "'limit'", ("attempt", "state"): "'lost'",
               ("attempt", "role"): "'fix'", ("attempt", "end_kind"): "'limit'", ("attempt", "process"): "'timeout'",
               ("attempt", "provider"): "'limit'", ("attempt", "outcome"): "'failed'", ("run", "state"): "'failed'",
               ("run", "end_kind"): "'limit'", ("run", "wait_kind"): "'host'", ("run", "wait"): "'host'"}
# Where the second row of a table is.
KEYS = {"finding": "review = 2", "attempt": "number = 2", "task": "id = 't1'"}
# Without its key it is no row of the run; and what it takes on the disk is measured later.
UNCOVERED = {("run", "id"), ("run", "bytes")}


class Log:
    """The database of a stopped daemon: taken as it is, edited, put back."""

    def __init__(self, daemon, run):
        self.daemon, self.run = daemon, run
        self.path = daemon.state / "rld.db"
        self.pristine = daemon.path / "pristine.db"
        assert not self.path.with_name("rld.db-wal").exists(), "a clean end leaves everything in the one file"
        shutil.copy(self.path, self.pristine)

    def restore(self):
        self.path.with_name("rld.db-wal").unlink(missing_ok=True)
        shutil.copy(self.pristine, self.path)

    def content(self, connection):
        return [connection.execute(f"SELECT * FROM {table} WHERE {key} = ? ORDER BY rowid", (self.run,)).fetchall()
                for table, key in (*((t, "run") for t in TABLES if t != "run"), ("run", "id"))]

    def edit(self, *statements):
        connection = sqlite3.connect(self.path, isolation_level=None)
        try:
            before = self.content(connection)
            for name, in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
                connection.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                assert connection.execute(statement).rowcount != 0, statement
            assert self.content(connection) != before, "nothing was edited"
        finally:
            connection.close()

    def columns(self, table):
        connection = sqlite3.connect(self.path)
        try:
            return [(name, kind) for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})")]
        finally:
            connection.close()

    def verified(self):
        self.daemon.start()
        try:
            with self.daemon.connect() as rpc:
                answer = rpc.call("review.verify", run=self.run)
            said = self.daemon.rlctl("review", "verify", self.run)
        finally:
            self.daemon.stop()
        assert (said.returncode == 0) == answer["ok"], said
        assert answer["ok"] or answer["message"] in said.out + said.err
        return answer


@pytest.fixture
def log(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    run = daemon.review(repo.path)
    assert daemon.ended(run)["state"] == "succeeded"
    assert [r["decision"] for r in daemon.reviews(run)] == ["drift"] * 3 + ["pass"]
    daemon.stop()
    made = Log(daemon, run)
    yield made
    made.restore()
    assert made.verified()["ok"]


def changed(table, column, kind):
    if (table, column) in OTHER_WORDS:
        return OTHER_WORDS[table, column]
    if kind == "TEXT":
        return f"ifnull(\"{column}\", '') || 'x'"
    return f"ifnull(\"{column}\", 0) + 1000"


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.deadline(300)
def test_every_column(log, table):
    of_run = "id" if table == "run" else "run"
    where = f"{of_run} = {log.run} AND {KEYS.get(table, 'true' if table == 'run' else 'number = 2')}"
    columns = log.columns(table)
    assert len(columns) == TABLES[table], "a new column: is it under the hash?"
    unnoticed = []
    for column, kind in columns:
        if (table, column) in UNCOVERED:
            continue
        log.edit(f'UPDATE {table} SET "{column}" = {changed(table, column, kind)} WHERE {where}')
        answer = log.verified()
        if answer["ok"] or not answer["message"]:
            unnoticed.append(column)
        log.restore()
    assert unnoticed == []


COPIED = ", ".join("task_id reviewer_agent coder_agent iteration decision feedback quality_checks "
                   "source attempt tree findings " "timestamp".split())

SWAP_REVIEWS = ["UPDATE review SET number = -number WHERE number IN (2, 3)",
                "UPDATE review SET number = 5 + number WHERE number < 0"]
SWAP_FINDINGS = ["UPDATE finding SET review = -review WHERE review IN (2, 3)",
                 "UPDATE finding SET review = 5 + review WHERE review < 0"]

# The statements, with {run} for the run; and words of the answer.
EDITS = {
    "the first is removed": (["DELETE FROM finding WHERE review = 1",
                              "DELETE FROM review WHERE number = 1"], "review 1 is missing"),
    "one in the middle is removed": (["DELETE FROM finding WHERE review = 2",
                                      "DELETE FROM review WHERE number = 2"], "review 2 is missing"),
    "the last is removed": (["DELETE FROM finding WHERE review = 4", "DELETE FROM review WHERE number = 4"],
                            "recorded 4 reviews, but the log contains 3"),
    "all are removed": (["DELETE FROM finding", "DELETE FROM review"], "recorded 4 reviews, but the log contains 0"),
    "all are removed and the count": (["DELETE FROM finding", "DELETE FROM review", "UPDATE run SET review_count = 0"],
                                      "not the one recorded by the run"),
    "the tail is cut and the count": (["DELETE FROM finding WHERE review > 2", "DELETE FROM review WHERE number > 2",
                                       "UPDATE run SET review_count = 2"], "not the one recorded by the run"),
    "one is removed and the rest moved up":
    (["DELETE FROM finding WHERE review = 2", "DELETE FROM review WHERE number = 2",
      "UPDATE finding SET review = review - 1 WHERE review > 2",
      "UPDATE review SET number = number - 1 WHERE number > 2",
      "UPDATE run SET review_count = 3"], "review 2 does not follow review 1"),
    "two are swapped": ([*SWAP_REVIEWS, *SWAP_FINDINGS],
                        "review 2 does not follow review 1"),
    "two are swapped with their links": ([*SWAP_REVIEWS, *SWAP_FINDINGS,
                                          "UPDATE review SET previous_hash = (SELECT p.hash FROM "
                                          "review p WHERE p.number = review.number - 1)"],
                                         "review 2 was changed"),
    "the contents of two are swapped": ([f"UPDATE review SET ({COPIED}) = (SELECT {COPIED} FROM "
                                         "review o WHERE o.number = 5 - review.number) "
                                         "WHERE number IN (2, 3)"], "review 2 was changed"),
    "one is added at the end":
    ([f"INSERT INTO review (run, number, {COPIED}, previous_hash, hash) SELECT run, 5, {COPIED}, hash, "
      "lower(hex(randomblob(32))) FROM review WHERE number = 4"], "review 5 was changed"),
    "one is added and counted":
    ([f"INSERT INTO review (run, number, {COPIED}, previous_hash, hash) SELECT run, 5, {COPIED}, hash, hash "
      "FROM review WHERE number = 4", "UPDATE run SET review_count = 5"], "review 5 was changed"),
    "one is put in front": ([f"INSERT INTO review (run, number, {COPIED}, hash) SELECT run, 0, "
                             f"{COPIED}, 'x' FROM review WHERE number = 1"],
                            "review 1 is missing: number 0 is in its place"),
    "one is put far in front": ([f"INSERT INTO review (run, number, {COPIED}, hash) SELECT run, "
                                 f"-9223372036854775808, {COPIED}, 'x' "
                                 "FROM review WHERE number = 1"], "review 1 is missing"),
    "one is added in the middle":
    (["UPDATE finding SET review = -review WHERE review > 2",
      "UPDATE finding SET review = 1 - review WHERE review < 0",
      "UPDATE review SET number = -number WHERE number > 2",
      "UPDATE review SET number = 1 - number WHERE number < 0",
      f"INSERT INTO review (run, number, {COPIED}, previous_hash, hash) SELECT run, 3, {COPIED}, hash, hash "
      "FROM review WHERE number = 2", "UPDATE run SET review_count = 5"], "review 3 was changed"),
    "the last is replaced by a pass of somebody else":
    (["UPDATE review SET reviewer_agent = 'human:root' WHERE number = 4"], "review 4 was changed"),
    "a drift becomes a pass": (["UPDATE review SET decision = 'pass', feedback = NULL WHERE number = 1"],
                               "review 1 was changed"),
    "a value becomes none": (["UPDATE review SET feedback = NULL WHERE number = 3"], "review 3 was changed"),
    "none becomes an empty one": (["UPDATE review SET quality_checks = '' WHERE number = 4"], "review 4 was changed"),
    "a value moves to its neighbour": (["UPDATE review SET quality_checks = feedback, "
                                        "feedback = NULL WHERE number = 1"], "review 1 was changed"),
    "a finding is removed": (["DELETE FROM finding WHERE review = 1"], "review 1 was changed"),
    "the last finding is removed": (["DELETE FROM finding WHERE review = 3"], "review 3 was changed"),
    "a finding is added": (["INSERT INTO finding (run, review, number, id, text, "
                            "state) VALUES ({run}, 1, 99, 'x', 'x', 'new')"], "review 1 was changed"),
    "a finding is added to the pass": (["INSERT INTO finding (run, review, number, id, text, "
                                        "state) VALUES ({run}, 4, 99, 'x', 'x', 'new')"],
                                       "review 4 was changed"),
    "a finding is added to no review": (["INSERT INTO finding (run, review, number, id, text, "
                                         "state) VALUES ({run}, 9, 1, 'x', 'x', 'new')"],
                                        "has no matching review"),
    "a finding is put in front": (["INSERT INTO finding (run, review, number, id, text, state) "
                                   "VALUES ({run}, 0, 0, 'x', 'x', 'new')"], "review 1 was changed"),
    "a finding is put far in front": (["INSERT INTO finding (run, review, number, id, text, "
                                       "state) VALUES ({run}, -7, 1, 'x', 'x', 'new')"],
                                      "review 1 was changed"),
    "a finding is moved": (["UPDATE finding SET review = 2, number = 99 WHERE review = 1 AND number = 1"],
                           "review 1 was changed"),
    "the count": (["UPDATE run SET review_count = 5"], "recorded 5 reviews, but the log contains 4"),
    "the newest hash": (["UPDATE run SET review_head = (SELECT hash FROM review WHERE number = 3)"],
                        "not the one recorded by the run"),
    "no newest hash": (["UPDATE run SET review_head = NULL"], "not the one recorded by the run"),
}


@pytest.mark.deadline(240)
def test_every_kind_of_edit(log):
    wrong = {}
    for name, (statements, words) in EDITS.items():
        log.edit(*(s.replace("{run}", str(log.run)) for s in statements))
        answer = log.verified()
        if answer["ok"] or words not in answer["message"]:
            wrong[name] = answer
        log.restore()
    assert wrong == {}


def hashed(review, findings):
    """The hash of a review, written from the description in core/chain.h and not from the code."""
    def fields(row):
        text = b""
        for name in row.keys():
            if name != "hash" and row[name] is not None:
                for word in (name, str(row[name])):
                    text += b"%d:%s," % (len(word.encode()), word.encode())
        return text
    return hashlib.sha256(fields(review) + b"".join(b"finding," + fields(f) for f in findings)).hexdigest()


def test_an_edit_with_true_hashes(log):
    """Who changes a review must change all that follow, and the run as well."""
    connection = sqlite3.connect(log.path)
    connection.row_factory = sqlite3.Row
    reviews = [dict(r) for r in connection.execute("SELECT * FROM review ORDER BY number")]
    findings = [[dict(f) for f in connection.execute("SELECT * FROM finding WHERE review = ? ORDER BY number",
                                                     (r["number"],))] for r in reviews]
    connection.close()
    assert [hashed(r, f) for r, f in zip(reviews, findings)] == [r["hash"] for r in reviews]
    statements = []
    reviews[1]["decision"] = "pass"
    for at, said in ((1, "review 3 does not follow review 2"), (2, "review 4 does not follow review 3"),
                     (3, "not the one recorded by the run")):
        reviews[at]["hash"] = hashed(reviews[at], findings[at])
        statements.append(f"UPDATE review SET decision = '{reviews[at]['decision']}', hash = '{reviews[at]['hash']}', "
                          f"previous_hash = '{reviews[at]['previous_hash']}' WHERE number = {at + 1}")
        log.edit(*statements)
        answer = log.verified()
        assert not answer["ok"] and said in answer["message"]
        if at < 3:
            reviews[at + 1]["previous_hash"] = reviews[at]["hash"]
            link = f"UPDATE review SET previous_hash = '{reviews[at]['hash']}' WHERE number = {at + 2}"
            log.edit(link)
            answer = log.verified()
            assert not answer["ok"] and f"review {at + 2} was changed" in answer["message"]
        log.restore()


@pytest.mark.parametrize("table", ["product", "evidence"])
@pytest.mark.parametrize("edit, words", [
    ("DELETE FROM {t} WHERE number = 1", "{t} 1 is missing: number 2 is in its place"),
    ("DELETE FROM {t} WHERE number = 2", "{t} 2 is missing: number 3 is in its place"),
    ("DELETE FROM {t} WHERE number = (SELECT max(number) FROM {t})", "rows of {t}, but there are"),
    ("DELETE FROM {t}", "rows of {t}, but there are 0"),
    ("UPDATE run SET {t}_count = NULL, {t}_head = NULL", "the run has recorded 0 rows of {t}"),
    ("UPDATE run SET {t}_head = (SELECT hash FROM {t} WHERE number = 1)", "the newest {t} is not the one recorded"),
])
def test_edits_of_products_and_evidence(log, table, edit, words):
    log.edit(edit.format(t=table))
    answer = log.verified()
    assert not answer["ok"] and words.format(t=table) in answer["message"], answer


def test_a_log_of_another_run(make_daemon, tmp_path):
    """The whole log of one run put in the place of another's."""
    daemon = make_daemon(scripts=SCRIPTS)
    runs = [daemon.review(Repo(tmp_path / name).path) for name in ("a", "b")]
    daemon.ended(*runs)
    daemon.stop()
    log = Log(daemon, runs[1])
    log.edit(f"DELETE FROM finding WHERE run = {runs[1]}", f"DELETE FROM review WHERE run = {runs[1]}",
             f"UPDATE review SET run = {runs[1]} WHERE run = {runs[0]}",
             f"UPDATE finding SET run = {runs[1]} WHERE run = {runs[0]}",
             "UPDATE run SET (review_count, review_head) = (SELECT review_count, "
             f"review_head FROM run WHERE id = {runs[0]}) WHERE id = {runs[1]}")
    answer = log.verified()
    assert not answer["ok"] and "review 1 was changed" in answer["message"]
    log.restore()
    assert log.verified()["ok"]
