# SPDX-License-Identifier: MIT
"""A hundred edits of the record of one run, by somebody with the database, the files and the
repository in hand: review.verify names the first difference of each. And a hundred after which
every hash was made anew, so that the record fits itself: each shows against an attestation from
before."""
import hashlib
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Callable, NamedTuple, Optional

import pytest
from rld import FAKES
from test_attest import Attested, refused
from test_tamper import OTHER_WORDS

SCRIPTS = {
    "implement": "echo one > work.txt\necho more >> README\nanswer done\n",
    "check": "echo checked; echo noise >&2\n",
    "review.1": "drift 'a second line'\n",
    "fix": "echo two >> work.txt\nanswer fixed\n",
    "review": "pass\n",
}
TABLES = ("review", "finding", "product", "evidence", "entry", "task", "attempt", "hold", "run")
CHAINS = ("review", "product", "evidence")		# besides that of the entries
FIELDS = Path(__file__).resolve().parents[2] / "daemon" / "core" / "row.c"


def fields():
    """table: the names of its fields, in the order in which they are hashed."""
    found = {}
    for row, name in re.findall(r"\b(?:INT|TIME|REAL|TEXT|JSON|STATE)\((\w+)_row, (\w+)", FIELDS.read_text()):
        found.setdefault(row, []).append(name)
    return found


class Record:
    """The record of an ended run, under the hands of somebody who does not ask the daemon."""

    def __init__(self, daemon, repo, run):
        self.daemon, self.repo, self.run = daemon, repo, run
        self.fields, self.files_edited, self.refs_edited = fields(), False, set()
        daemon.stop()
        self.pristine = daemon.path / "pristine.db"
        self.open()
        for name, in self.db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            self.db.execute(f"DROP TRIGGER {name}")
        self.rows = {table: self.read(table) for table in (*TABLES, "task_text")}
        self.kinds = {table: {row[1]: row[2] for row in self.db.execute(f"PRAGMA table_info({table})")}
                      for table in TABLES}
        self.files = daemon.path / "files"
        shutil.copytree(daemon.state / "attempts", self.files, symlinks=True)
        self.db.close()
        shutil.copy(daemon.state / "rld.db", self.pristine)
        self.refs = dict(line.split() for line in
                         repo.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines())

    def open(self):
        self.db = sqlite3.connect(self.daemon.state / "rld.db", isolation_level=None)
        self.db.row_factory = sqlite3.Row

    def read(self, table):
        rows = [dict(row) for row in self.db.execute(
            f"SELECT * FROM {table} WHERE {'id' if table == 'run' else 'run'} = ?", (self.run,))]
        # settings are part of a row, wherever they are
        for row in rows if table in ("run", "task") else ():
            text = self.db.execute("SELECT text FROM plan WHERE hash = ?", (row["plan"],)).fetchone()
            row["plan"] = text["text"] if text else row["plan"]
        return rows

    def write(self, tables):
        """The rows of these tables: as they are given, and no others."""
        self.db.execute("BEGIN IMMEDIATE")
        for table, rows in tables.items():
            self.db.execute(f"DELETE FROM {table}")
            for row in rows:
                self.db.execute(f'INSERT INTO {table} ("' + '", "'.join(row) + '") VALUES ('
                                + ", ".join("?" * len(row)) + ")", [*row.values()])
        self.db.execute("COMMIT")

    def restore(self):
        for name in ("rld.db-wal", "rld.db-shm"):
            (self.daemon.state / name).unlink(missing_ok=True)
        shutil.copy(self.pristine, self.daemon.state / "rld.db")
        if self.files_edited:
            shutil.rmtree(self.daemon.state / "attempts")
            shutil.copytree(self.files, self.daemon.state / "attempts", symlinks=True)
        for ref in self.refs_edited:
            self.repo.git("update-ref", ref, self.refs[ref])
        self.files_edited, self.refs_edited = False, set()

    def do(self, statement):
        done = self.db.execute(statement.replace("{run}", str(self.run)))
        assert done.rowcount > 0, statement

    def attempt(self, number):
        """The directory of an attempt, by its number in the run."""
        row, = [a for a in self.rows["attempt"] if a["number"] == number]
        return self.place(row["id"])

    def place(self, name):
        self.files_edited = True
        return self.daemon.state / "attempts" / str(name)

    def move_ref(self, ref, *to):
        """Without a target it is removed."""
        self.refs_edited.add(ref)
        self.repo.git("update-ref", *(() if to else ("-d",)), ref, *to)

    # ---- every hash made anew ----

    def text(self, table, row, without=()):
        """A row as it is hashed."""
        left = {"hash", *without, *(("text",) if table == "task" else ()),
                *(("entry_count", "entry_head", "bytes", "pruned_at") if table == "run" else ())}
        text = b""
        for name in self.fields[table]:
            value = row.get(name)
            if name in left or value is None:
                continue
            value = ("%.17g" % value if isinstance(value, float) else str(value)).encode()
            text += b"%d:%s,%d:%s," % (len(name), name.encode(), len(value), value)
        return text

    def hash(self, table, row, findings=()):
        return hashlib.sha256(self.text(table, row) + b"".join(b"finding," + self.text("finding", f)
                                                               for f in findings)).hexdigest()

    def rewrite(self):
        """As whoever has the daemon's uid could: chains, heads, and the entries of all rows."""
        now = {table: self.read(table) for table in TABLES}
        run, = now["run"]
        for table in CHAINS:
            previous = None
            now[table].sort(key=lambda row: row["number"])
            for number, row in enumerate(now[table], 1):
                was = row["number"]
                findings = [f for f in now["finding"] if table == "review" and f["review"] == was]
                for finding in findings:
                    finding["review"] = number
                row.update(number=number, previous_hash=previous)
                previous = row["hash"] = self.hash(table, row, sorted(findings, key=lambda f: f["number"]))
            run.update({f"{table}_count": len(now[table]), f"{table}_head": previous})
        last = {(e["kind"], e["key"]): e["number"] for e in now["entry"]}
        keys = {(table, str(row["id"])): row for table in ("task", "attempt", "hold", "run") for row in now[table]}
        entries = [e for e in sorted(now["entry"], key=lambda e: e["number"]) if (e["kind"], e["key"]) in keys]
        new = [{**entries[-1], "kind": kind, "key": key} for kind, key in keys if (kind, key) not in last]
        last.update({(entry["kind"], entry["key"]): entry["number"] for entry in new})
        entries = [*entries[:-1], *new, entries[-1]]		# the run is the last
        previous = None
        for number, entry in enumerate(entries, 1):
            key = entry["kind"], entry["key"]
            if entry["number"] == last[key]:
                entry["row_hash"] = self.hash(key[0], keys[key])
            entry.update(number=number, previous_hash=previous)
            previous = entry["hash"] = self.hash("entry", entry)
        now["entry"] = entries
        run.update(entry_count=len(entries), entry_head=previous)
        self.write(now)

    def verified(self, *entries):
        """By a daemon that knows nothing of it: without an attestation, and with these."""
        self.db.close()
        self.daemon.start()
        try:
            return [self.daemon.call("review.verify", run=self.run, **entry) for entry in ({}, *entries)]
        finally:
            self.daemon.kill()


class Edit(NamedTuple):
    name: str
    do: Callable				# of the record
    words: str					# a pattern of the first difference
    # what else has to be changed, besides all hashes, until the record fits itself; None: nothing
    # makes it fit
    fits: Optional[Callable] = None


def statement(*lines):
    return lambda record: [record.do(line) for line in lines]


# table: where its row is, and how the row is called
PLACES = {
    "review": ("number = 2", "review 2"), "finding": ("review = 1", "review 1"),
    "product": ("number = 2", "product 2"), "evidence": ("number = 2", "evidence 2"),
    "entry": ("number = 2", "entry 2"), "task": ("id = 't1'", "task t1"),
    "attempt": ("number = 3", "attempt 3"), "hold": ("id > 0", r"hold \d+"), "run": ("id = {run}", "run 1"),
}
COLUMNS = {
    "review": "task_id reviewer_agent reviewer votes coder_agent iteration decision feedback quality_checks source "
              "attempt from_run from_review tree findings timestamp",
    "finding": "id file line severity text reviewers state",
    "product": "kind task_id tree parent attempt from_run from_product diff diff_hash created_at",
    "evidence": "product tree kind subject result attempt review exit_code output_hash environment task_id "
                "policy_hash submitter daemon by_uid by_pid by_attempt created_at from_run from_attempt",
    "entry": "kind key row_hash created_at",
    "task": "title size text_hash position priority status acceptance plan disk_bytes locked_ref locked_tree",
    "attempt": "iteration slot task role round agent reviewer model uuid boot_id exit_code signal cause provider "
               "outcome tokens_input tokens_cached tokens_cache_write tokens_output tokens_reasoning cost_usd account "
               "resumes denials tool_errors says_no_change left_out left_out_files diff_bytes diff_shown sandbox "
               "session program program_hash program_version answered_by judge_hash bytes started_at ended_at finding "
               "launcher node",
    "hold": "task iteration slot reason attempt decided_by by_uid by_pid by_attempt message created_at decided_at kind",
    "run": "owner title workdir workspace profile priority plan warnings known_issues base_tree base_commit "
           "result_commit judge_hash created_at started_at ended_at",
}
WORDS = {**OTHER_WORDS, ("hold", "kind"): "'lost'", ("entry", "kind"): "'run'", ("evidence", "kind"): "'human'",
         ("product", "kind"): "'merged'"}


REWRITTEN = (lambda record: None)
# Columns that name what lies elsewhere, which is compared as well.
NAMED = {*(("entry", column) for column in COLUMNS["entry"].split()), ("product", "diff_hash"),
         ("task", "text_hash"), ("task", "locked_ref"), ("task", "locked_tree"),
         ("attempt", "judge_hash"), ("run", "judge_hash"), ("run", "result_commit")}


def columns(record):
    """An edit of each column of each covered table that the table has."""
    for table, names in COLUMNS.items():
        where, name = PLACES[table]
        kinds = record.kinds[table]
        for column in names.split():
            if column not in kinds:
                continue
            value = WORDS.get((table, column)) or (
                f"ifnull(\"{column}\", '') || 'x'" if kinds[column] == "TEXT" else f'ifnull("{column}", 0) + 1000')
            yield Edit(f"{table}.{column}", statement(f'UPDATE {table} SET "{column}" = {value} WHERE {where}'),
                       f"^{name} was changed", None if (table, column) in NAMED else REWRITTEN)


def copy(table, where, **change):
    """One more row, like that one."""
    def do(record):
        row = dict(record.db.execute(f"SELECT * FROM {table} WHERE {where}").fetchone())
        row.update(change)
        record.db.execute(f'INSERT INTO {table} ("' + '", "'.join(row) + '") VALUES ('
                          + ", ".join("?" * len(row)) + ")", [*row.values()])
    return do


ROWS = [
    Edit("the first review is removed", statement("DELETE FROM finding WHERE review = 1",
                                                  "DELETE FROM review WHERE number = 1"),
         "^review 1 is missing: number 2 is in its place", REWRITTEN),
    Edit("the last review is removed", statement("DELETE FROM review WHERE number = 3"),
         "^the run has recorded 3 reviews, but the log contains 2", REWRITTEN),
    Edit("a finding is removed", statement("DELETE FROM finding WHERE review = 1"), "^review 1 was changed", REWRITTEN),
    Edit("a finding is added", copy("finding", "review = 1", number=2), "^review 1 was changed", REWRITTEN),
    Edit("a review is added", copy("review", "number = 3", number=4), "^review 4 does not follow review 3", REWRITTEN),
    Edit("two reviews change places", statement("UPDATE review SET number = -number WHERE number IN (2, 3)",
                                                "UPDATE review SET number = 5 + number WHERE number < 0"),
         "^review 2 does not follow review 1", REWRITTEN),
    *(Edit(f"the first {t} is removed", statement(f"DELETE FROM {t} WHERE number = 1"),
           f"^{t} 1 is missing: number 2 is in its place", REWRITTEN) for t in ("product", "evidence")),
    *(Edit(f"the last {t} is removed", statement(f"DELETE FROM {t} WHERE number = (SELECT max(number) FROM {t})"),
           rf"^the run has recorded \d+ rows of {t}, but there are \d+", REWRITTEN) for t in ("product", "evidence")),
    *(Edit(f"a {t} is added", copy(t, "number = 2", number=99), f"^{t} \\d+ is missing: number 99 is in its place",
           REWRITTEN) for t in ("product", "evidence")),
    Edit("the first entry is removed", statement("DELETE FROM entry WHERE number = 1"),
         "^entry 1 is missing: number 2 is in its place"),
    Edit("the last entry is removed", statement("DELETE FROM entry WHERE number = (SELECT max(number) FROM entry)"),
         r"^the run has recorded \d+ rows of entry, but there are \d+"),
    Edit("an entry is added", copy("entry", "number = 2", number=99), r"^entry \d+ is missing: number 99 is in"),
    *(Edit(f"attempt {n} is removed", statement(f"DELETE FROM attempt WHERE number = {n}"),
           r"^attempt with id \d+ was removed: entry \d+ of the record names it") for n in (1, 3)),
    Edit("an attempt is added", copy("attempt", "number = 1", id=999, number=99, uuid="u"),
         "^attempt 99 is not in the record", lambda record: shutil.copytree(
             record.attempt(1), record.place(999))),
    Edit("the task is removed", statement("DELETE FROM task"), "^task with id t1 was removed: entry"),
    Edit("a task is added", copy("task", "id = 't1'", id="t2", text_hash=None), "^task t2 is not in the record",
         REWRITTEN),
    Edit("the hold is removed", statement("DELETE FROM hold"), "^hold with id [0-9]+ was removed: entry", REWRITTEN),
    Edit("a hold is added", copy("hold", "id > 0", id=999), "^hold 999 is not in the record", REWRITTEN),
    *(Edit(f"the number of rows of {t}", statement(f"UPDATE run SET {t}_count = {t}_count + 1"), said)
      for t, said in (("review", "recorded 4 reviews, but the log contains 3"), ("product", "rows of product, but"),
                      ("evidence", "rows of evidence, but"), ("entry", "rows of entry, but"))),
    *(Edit(f"the head of {t}", statement(f"UPDATE run SET {t}_head = (SELECT hash FROM {t} WHERE number = 1)"),
           f"the newest {t} is not the one recorded by the run") for t in ("review", "product", "evidence", "entry")),
    Edit("no record at all", statement("DELETE FROM entry", "UPDATE run SET entry_count = NULL, entry_head = NULL"),
         "the entries of the record were removed from the run"),
    Edit("the text of the task", statement("UPDATE task_text SET text = text || '.'"),
         "^the text of task t1 was changed"),
    *(Edit(f"judge.{column}", statement(f"UPDATE judge SET {column} = {value}"), "^the judge of run 1 was changed")
      for column, value in (("profile", "'exit'"), ("reviewer", "'x'"), ("guidelines", "'x'"), ("conventions", "'x'"),
                            ("files", "'[]'"), ("kept_from", "7"))),
    Edit("the settings", statement("UPDATE plan SET text = json_set(text, '$.max_fixes', 99)"),
         "^run 1 was changed", REWRITTEN),
    Edit("no settings", statement("DELETE FROM plan"), "^run 1 was changed"),
    Edit("no judge", statement("DELETE FROM judge"), "^the judge of run 1 was removed"),
    Edit("no text of the task", statement("DELETE FROM task_text"), "^the text of task t1 was removed"),
]

# the name of the file in the messages: the file, the number of the attempt that has it, its column
FILES = {
    "prompt": ("prompt", 1, "prompt_hash"), "answer": ("answer", 1, "answer_hash"),
    "output": ("stdout.0000000000000000", 1, "output_hash"),
    "standard error": ("stderr.0000000000000000", 2, "stderr_hash"),
    "diff": ("diff", 3, "diff_hash"), "material": ("given", 3, "given_hash"),
}


def grown(number, name):
    def do(record):
        with open(record.attempt(number) / name, "ab") as file:
            file.write(b"x")
    return do


def overwritten(number, name):
    return lambda record: (record.attempt(number) / name).write_bytes(
        b"y" * (record.attempt(number) / name).stat().st_size or b"y")


def gone(number, name):
    return lambda record: (record.attempt(number) / name).unlink()


def linked(number, name):
    def do(record):
        path = record.attempt(number) / name
        path.rename(path.with_name("x"))
        path.symlink_to("x")
    return do


def measured(record):
    row, = [a for a in record.rows["attempt"] if a["number"] == 3]
    return record.place(row["diff"]) / "stdout.0000000000000000"


def hashes(number, name, column):
    """Give the row of the attempt the hash of the file as it is now; or of none."""
    def do(record):
        path = record.attempt(number) / name
        text = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None
        record.db.execute(f"UPDATE attempt SET {column} = ? WHERE number = ?", (text, number))
        if column == "diff_hash":		# as it was measured
            record.db.execute("UPDATE attempt SET diff = NULL WHERE number = ?", (number,))
    return do


def files(record):
    for what, (name, number, column) in FILES.items():
        words, fits = f"^attempt {number}: its {what} in attempts/\\d+ ", hashes(number, name, column)
        yield Edit(f"{what} overwritten", overwritten(number, name), words + "was changed", fits)
        if what != "output":			# its size is on record
            yield Edit(f"{what} grown", grown(number, name), words + "was changed", fits)
        if name.startswith("std"):
            yield Edit(f"{what} gone", gone(number, name), words + "was changed")
        else:
            yield Edit(f"{what} gone", gone(number, name), f"^attempt {number}: its {what} is gone", fits)
            yield Edit(f"{what} a link", linked(number, name), words + "cannot be read")
    yield Edit("directory gone", lambda r: shutil.rmtree(r.attempt(2)), r"^attempt 2: its directory .* is gone")
    yield Edit("measured diff changed", lambda r: measured(r).write_text("x"),
               r"^attempt 3: the diff that was measured for it, in attempts/\d+, was changed")
    yield Edit("measured diff gone", lambda r: shutil.rmtree(measured(r).parent),
               r"^attempt 3: the diff that was measured for it, in attempts/\d+, is gone")


def refs(record):
    other = record.repo.git("hash-object", "-t", "tree", "-w", "/dev/null").strip()
    for ref in record.refs:
        if "/passed/" in ref:
            yield Edit(f"{ref} moved", lambda r, ref=ref: r.move_ref(ref, other), re.escape(ref))
            yield Edit(f"{ref} removed", lambda r, ref=ref: r.move_ref(ref), re.escape(ref))


@pytest.fixture
def attested(make_daemon, repo, tmp_path):
    """A run that was checked, reviewed twice, fixed, held by a human's rule and approved."""
    daemon = make_daemon(scripts=SCRIPTS)

    class Run(Attested):
        def __init__(self):		# as there, with a hold in between
            self.daemon, self.repo, self.path = daemon, repo, tmp_path
            self.run = daemon.review(repo.path, commit="auto", check_on_base="skip", review={
                "protect": ["README"], "checks": [f"{FAKES / 'play'} {daemon.play.path}"]})
            assert daemon.ended(self.run)["state"] == "held"
            hold, = daemon.call("hold.list", run=self.run)["holds"]
            daemon.call("hold.approve", id=hold["id"], message="fine")
            assert daemon.ended(self.run)["state"] == "succeeded"
            self.commit = daemon.run(self.run)["result_commit"]
            self.clone, self.signers = tmp_path / "clone", tmp_path / "signers"
            (tmp_path / "home").mkdir()
    return Run()


def tried(record, edits, look):
    """Each edit alone: {name: what was wrong with what is said of it}."""
    wrong = {}
    for edit in edits:
        record.open()
        edit.do(record)
        said = look(record, edit)
        if said is not None:
            wrong[edit.name] = said
        record.restore()
    return wrong


def share(edits, part):
    """Part 0: a hundred of all kinds, for the fast set; 1: the others."""
    chosen = {i * len(edits) // 100 for i in range(100)}
    assert len(chosen) == 100
    return [edit for at, edit in enumerate(edits) if (at in chosen) == (part == 0)]


@pytest.mark.parametrize("part", range(2))
@pytest.mark.deadline(240)
def test_a_hundred_edits_are_named(attested, part):
    record = Record(attested.daemon, attested.repo, attested.run)
    assert record.verified()[0]["ok"]

    def look(record, edit):
        answer, = record.verified()
        return None if not answer["ok"] and re.search(edit.words, answer["message"]) else answer["message"]
    edits = [*columns(record), *ROWS, *files(record), *refs(record)]
    assert len({edit.name for edit in edits}) == len(edits)
    assert {e.name.split(".")[0] for e in columns(record)} == set(TABLES)
    edits = share(edits, part)
    wrong = tried(record, edits, look)
    assert wrong == {}, f"{len(wrong)} of {len(edits)}"
    assert record.verified()[0]["ok"]


@pytest.mark.parametrize("part", range(2))
@pytest.mark.deadline(300)
def test_a_hundred_with_every_hash_made_anew(attested, part):
    """Nothing in the record tells then; the attestation that was taken before does."""
    daemon = attested.daemon
    attested.attest()
    attested.fetch()
    statement, = daemon.call("run.attest", id=attested.run)["statements"]
    entry = {"entry": statement["predicate"]["record"]["entry"],
             "entry_hash": statement["predicate"]["record"]["hash"]}
    record = Record(daemon, attested.repo, attested.run)
    record.open()
    record.rewrite()
    plain, against = record.verified(entry)
    assert plain["ok"] and against["ok"] and against["attested"], "it was the same before"
    record.restore()

    def look(record, edit):
        edit.fits(record)
        record.rewrite()
        plain, against = record.verified(entry)
        if not plain["ok"]:
            return f"it does not fit: {plain['message']}"
        if against["ok"] or against["attested"] or "rewritten" not in against["message"]:
            return f"unnoticed: {against['message']}"
        return None
    edits = share([edit for edit in (*columns(record), *ROWS, *files(record)) if edit.fits is not None], part)
    wrong = tried(record, edits, look)
    assert wrong == {}, f"{len(wrong)} of {len(edits)}"
    # and so says the command, on the machine that has the notes
    record.open()
    edits[0].do(record)
    edits[0].fits(record)
    record.rewrite()
    record.db.close()
    daemon.start()
    refused(attested.verify("--record", environment={"RLD_SOCKET": str(daemon.socket)}), "is not as attested",
            "rewritten")
    daemon.stop()
    record.restore()
    assert record.verified(entry)[1]["attested"]
