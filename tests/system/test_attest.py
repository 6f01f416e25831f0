# SPDX-License-Identifier: MIT
"""Attestations: what passed is signed by one machine and checked by another, which has git,
ssh-keygen and rlctl, and no daemon; a record that was rewritten does not fit what was attested."""
import fnmatch
import json
import os
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from rld import RLCTL, note_command
from test_tamper import hashed

SCRIPTS = {
    "implement": "echo one > work.txt\nanswer done\n",
    "review.1": "drift 'a second line'\n",
    "fix": "echo two >> work.txt\nanswer fixed\n",
    "review": "pass\n",
}


class Attested:
    """A run with a commit, and another machine with a clone of the repository."""

    def __init__(self, daemon, repo, path):
        self.daemon, self.repo, self.path = daemon, repo, path
        self.run = daemon.review(repo.path, commit="auto")
        assert daemon.ended(self.run)["state"] == "succeeded"
        self.commit = daemon.run(self.run)["result_commit"]
        self.clone, self.signers = path / "clone", path / "signers"
        (path / "home").mkdir()

    def attest(self, check=0, **kwargs):
        said = self.daemon.rlctl("attest", self.run, check=check, **kwargs)
        if check == 0:
            self.signers.write_text(said.out.splitlines()[-1] + "\n")
        return said

    def fetch(self):
        """What the other machine has: a copy without anything of this one."""
        shutil.rmtree(self.clone, ignore_errors=True)
        self.repo.git("clone", "-q", str(self.repo.path), str(self.clone))
        self.there("git", "fetch", "-q", "origin", "+refs/notes/rld:refs/notes/rld")
        return self

    def there(self, *argv, environment=None, check=True):
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.path / "home"), "GIT_CONFIG_NOSYSTEM": "1",
               "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_NAME": "t",
               "GIT_COMMITTER_EMAIL": "t@example.org", **(environment or {})}
        done = subprocess.run([*map(str, argv)], capture_output=True, text=True, env=env, cwd=self.clone,
                              stdin=subprocess.DEVNULL)
        assert not check or done.returncode == 0, done
        return done

    def verify(self, *args, commit=None, signers=True, **kwargs):
        args = ("verify", commit or self.commit, *(["--allowed-signers", self.signers] if signers else []), *args)
        note_command(args)
        return self.there(RLCTL, *args, check=False, **kwargs)

    def note(self):
        return self.there("git", "notes", "--ref=rld", "show", self.commit).stdout

    def set_note(self, text, commit=None):
        (self.path / "note").write_text(text)
        blob = self.there("git", "hash-object", "-w", self.path / "note").stdout.strip()
        self.there("git", "notes", "--ref=rld", "add", "-f", "-C", blob, commit or self.commit)


@pytest.fixture
def attested(make_daemon, repo, tmp_path):
    return Attested(make_daemon(scripts=SCRIPTS), repo, tmp_path)


def refused(done, *words):
    assert done.returncode == 1 and done.stdout == "", done
    for word in words:
        assert word in done.stderr, done.stderr


def test_a_pass_is_proven_on_another_machine(attested):
    said = attested.attest()
    assert f"Signed 1 commit of run {attested.run}" in said.out
    attested.daemon.stop()
    done = attested.fetch().verify()
    assert done.returncode == 0, done
    assert f"Commit {attested.commit[:12]} passed in run {attested.run}" in done.stdout
    assert "signed by rld." in done.stdout and "review green: play" in done.stdout
    statement = json.loads(attested.verify("--json").stdout)["statement"]
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["subject"] == [{"name": "commit", "digest": {"gitCommit": attested.commit}}]
    assert json.loads(attested.note().splitlines()[0]) == statement


def test_the_statement_says_what_the_record_says(attested):
    d, run = attested.daemon, attested.run
    answer = d.call("run.attest", id=run)
    verified, row = d.call("review.verify", run=run), d.run(run)
    predicate = answer["statements"][0]["predicate"]
    assert (predicate["run"], predicate["tree"], predicate["task"]) == (run, row["result"]["tree"], "t1")
    assert predicate["record"] == {"entry": verified["entries"], "hash": verified["record"]}
    assert predicate["heads"]["reviews"] == verified["head"]
    assert predicate["evidence"][-1]["result"] == "green"
    assert {e["tree"] for e in predicate["evidence"]} == {predicate["tree"]}
    assert predicate["policy_hash"] == predicate["evidence"][-1]["policy_hash"]
    assert [p["kind"] for p in predicate["products"]] == ["result", "work", "work", "base"]
    assert answer["left_out"] == [] and answer["key"] == str(d.state / "attest_key") and not answer["key_is_set"]


def test_the_key_is_made_once_for_its_owner_alone(attested):
    first = attested.attest().out.splitlines()[-1]
    key = attested.daemon.state / "attest_key"
    assert key.stat().st_mode & 0o7777 == 0o600
    assert attested.attest().out.splitlines()[-1] == first
    assert [p.name for p in attested.daemon.state.iterdir() if "attest" in p.name] == ["attest_key"]
    attested.daemon.restart()


def test_no_key_is_trusted_unasked(attested):
    attested.attest()
    attested.fetch()
    refused(attested.verify(signers=False), "no key is trusted", "--allowed-signers", "SHA256:")


def test_without_a_note(attested):
    attested.attest()
    attested.fetch()
    first = attested.there("git", "rev-list", "--max-parents=0", "HEAD").stdout.strip()
    refused(attested.verify(commit=first), "has no attestation", "rlctl attest RUN")
    refused(attested.verify(commit="nothing"), "nothing is no commit")


EDITS = {
    "run": lambda s: s["predicate"].update(run=s["predicate"]["run"] + 1),
    "evidence": lambda s: s["predicate"]["evidence"].clear(),
    "commit": lambda s: s["subject"][0]["digest"].update(gitCommit="0" * 40),
    "tree": lambda s: s["predicate"].update(tree="0" * 40),
    "record": lambda s: s["predicate"]["record"].update(hash="0" * 64),
}


def test_an_edited_note(attested):
    attested.attest()
    statement, _, signature = attested.fetch().note().partition("\n")
    for edit in EDITS.values():
        changed = json.loads(statement)
        edit(changed)
        attested.set_note(json.dumps(changed) + "\n" + signature)
        refused(attested.verify(), "its signature does not fit", "is not proven")
    for text in (statement, statement + "\n", "x", "x\n" + signature, statement + " \n" + signature):
        attested.set_note(text)
        refused(attested.verify())
    attested.set_note(statement + "\n" + signature)
    assert attested.verify().returncode == 0


def test_an_edited_commit(attested):
    """The note is taken over to a commit with the same tree, and with another."""
    attested.attest()
    note = attested.fetch().note()
    attested.there("git", "commit", "-q", "--amend", "-m", "mine")
    same = attested.there("git", "rev-parse", "HEAD").stdout.strip()
    attested.set_note(note, same)
    refused(attested.verify(commit=same), "about another commit")
    (attested.clone / "work.txt").write_text("mine\n")
    attested.there("git", "commit", "-q", "-a", "--amend", "-m", "mine")
    other = attested.there("git", "rev-parse", "HEAD").stdout.strip()
    attested.set_note(note, other)
    refused(attested.verify(commit=other), "about another commit")
    # a replacement shows another object under the name of the attested one
    attested.there("git", "replace", attested.commit, other)
    done = attested.verify()
    assert done.returncode == 0 and attested.commit[:12] in done.stdout


def signed(attested, statement, key):
    (attested.path / "text").write_text(statement)
    (attested.path / "text.sig").unlink(missing_ok=True)
    attested.there("ssh-keygen", "-q", "-Y", "sign", "-n", "rld", "-f", key, attested.path / "text")
    return statement + "\n" + (attested.path / "text.sig").read_text()


def test_another_tree_under_a_true_signature(attested):
    """A key that may attest has signed a statement whose tree is not that of the commit."""
    attested.attest()
    statement = json.loads(attested.fetch().note().splitlines()[0])
    key = attested.daemon.state / "attest_key"
    for edit, words in (("tree", "passed"), ("commit", "another commit")):
        changed = json.loads(json.dumps(statement))
        EDITS[edit](changed)
        attested.set_note(signed(attested, json.dumps(changed), key))
        refused(attested.verify(), words)
    for text in ("[]", "{}", '{"_type":"x"}', "null", "no json"):
        attested.set_note(signed(attested, text, key))
        refused(attested.verify(), "no statement about a pass")


def test_another_key(attested):
    attested.attest()
    statement = attested.fetch().note().splitlines()[0]
    other = attested.path / "other"
    attested.there("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other)
    attested.set_note(signed(attested, statement, other))
    refused(attested.verify(), "does not allow", "SHA256:")
    # allowed, but for other purposes
    attested.signers.write_text('rld namespaces="git" ' + other.with_suffix(".pub").read_text())
    refused(attested.verify(), "does not allow")
    refused(attested.verify("--allowed-signers", attested.path / "none", signers=False), "No such file")


def test_a_key_that_others_may_read(attested):
    attested.attest()
    (attested.daemon.state / "attest_key").chmod(0o640)
    said = attested.attest(check=1)
    assert "other users may read the key" in said.err and "chmod 600" in said.err and said.out == ""


def test_a_key_of_the_operator(make_daemon, repo, tmp_path):
    """attest_key names a private key, then a public one, which has no agent."""
    key = tmp_path / "mine"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    daemon = make_daemon(scripts=SCRIPTS, config={"attest_key": str(key)})
    attested = Attested(daemon, repo, tmp_path)
    public = key.with_suffix(".pub").read_text().split()[1]
    assert public in attested.attest().out and not (daemon.state / "attest_key").exists()
    assert attested.fetch().verify().returncode == 0
    key.rename(tmp_path / "away")
    assert "cannot read the key" in attested.attest(check=1).err
    daemon.write_config({"attest_key": str(key.with_suffix(".pub"))})
    daemon.restart()
    assert "its agent must be running" in attested.attest(check=1).err
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(tmp_path / "agent")], stdout=subprocess.PIPE)
    try:
        agent.stdout.readline()
        env = {"SSH_AUTH_SOCK": str(tmp_path / "agent")}
        subprocess.run(["ssh-add", "-q", str(tmp_path / "away")], check=True, env={**os.environ, **env})
        assert public in attested.attest(environment=env).out
    finally:
        agent.terminate()
        agent.communicate()
    assert attested.fetch().verify().returncode == 0


def test_without_ssh_keygen(attested):
    attested.attest()
    attested.fetch()
    programs = attested.path / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git"))
    env = {"PATH": str(programs)}
    done = attested.verify(environment=env)
    refused(done, "cannot start ssh-keygen", "install it")
    assert "cannot start ssh-keygen" in attested.attest(check=1, environment=env).err


CLONES = {"bare": ["--bare"], "mirror": ["--mirror"], "shallow": ["--depth", "1"], "one branch": ["--single-branch"]}


@pytest.mark.parametrize("clone", CLONES)
def test_any_clone_will_do(attested, clone):
    attested.attest()
    attested.fetch()
    url, attested.clone = f"file://{attested.repo.path}", attested.path / "other"
    attested.repo.git("clone", "-q", *CLONES[clone], url, str(attested.clone))
    attested.there("git", "fetch", "-q", url, "+refs/notes/rld:refs/notes/rld")
    done = attested.verify()
    assert done.returncode == 0 and f"Commit {attested.commit[:12]} passed" in done.stdout, done
    refused(attested.verify(commit=attested.repo.git("rev-parse", "HEAD^"))
            if clone != "shallow" else attested.verify(commit="HEAD^"), "")


def test_from_any_directory_of_a_clone(attested):
    attested.attest()
    attested.fetch().there("git", "worktree", "add", "-q", "--detach", attested.path / "linked")
    below = attested.clone / "a" / "b"
    below.mkdir(parents=True)
    for attested.clone in (below, attested.path / "linked"):
        done = attested.verify(commit="HEAD")
        assert done.returncode == 0 and f"Commit {attested.commit[:12]} passed" in done.stdout, done


HOOK = """#!/bin/sh
# Every commit that is pushed to main must have passed.
notes=refs/notes/rld
while read -r old new ref; do
	[ "$ref" = refs/notes/rld ] && notes=$new
	[ "$ref" = refs/heads/main ] && main=$new
done
[ -z "$main" ] || exec {rlctl} verify --allowed-signers {signers} --notes "$notes" "$main"
"""


def test_a_pre_receive_hook(attested):
    attested.attest()
    server = attested.path / "server.git"
    attested.fetch().there("git", "init", "-q", "--bare", "-b", "main", server)
    hook = server / "hooks" / "pre-receive"
    hook.write_text(HOOK.replace("{rlctl}", str(RLCTL)).replace("{signers}", str(attested.signers)))
    hook.chmod(0o755)
    push = "git", "push", server, "HEAD:refs/heads/main"
    done = attested.there(*push, check=False)
    assert done.returncode != 0 and "has no attestation" in done.stderr, done
    done = attested.there(*push, "refs/notes/rld", check=False)
    assert done.returncode == 0 and f"Commit {attested.commit[:12]} passed" in done.stderr, done
    attested.there("git", "commit", "-q", "--allow-empty", "-m", "unseen")
    done = attested.there(*push, check=False)
    assert done.returncode != 0 and "has no attestation" in done.stderr, done


def test_what_is_not_attested(make_daemon, repo, tmp_path):
    daemon = make_daemon(scripts={**SCRIPTS, "implement": "echo $RL_RUN > work.txt\ngate here\nanswer done\n"},
                         gates=["here"])
    run = daemon.submit(repo.path, commit="auto")
    daemon.play.arrived("here")
    assert "has not ended" in daemon.rlctl("attest", run, check=1).err
    daemon.play.go("here")
    row = daemon.ended(run)
    said = daemon.rlctl("attest", run, check=1)
    assert f"commit {row['result_commit'][:12]} is not attested: no check, no review" in said.err
    said = daemon.rlctl("attest", 99, check=1)
    assert "99" in said.err


def test_a_run_without_a_commit(make_daemon, repo):
    daemon = make_daemon(scripts=SCRIPTS)
    run = daemon.review(repo.path)
    daemon.ended(run)
    assert "has no commit to attest" in daemon.rlctl("attest", run, check=1).err


def test_merged_work_of_a_worktree(make_daemon, repo, tmp_path):
    daemon = make_daemon(scripts=SCRIPTS)
    run = daemon.review(repo.path, isolation="worktree", commit="auto", integrate="merge")
    row = daemon.ended(run)
    trees = {s["subject"][0]["digest"]["gitCommit"]: s["predicate"]["tree"]
             for s in daemon.call("run.attest", id=run)["statements"]}
    assert row["result_commit"] in trees
    for commit, tree in trees.items():
        assert repo.git("rev-parse", f"{commit}^{{tree}}") == tree
    daemon.rlctl("attest", run, check=0)


def test_a_converted_commit(make_daemon, repo):
    """What was reviewed has the line ends of the disk; what git commits has others."""
    repo.write(".gitattributes", "*.txt text eol=crlf\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "attributes")
    daemon = make_daemon(scripts={"implement": "printf 'one\\r\\n' > work.txt\nanswer done\n", "review": "pass\n"})
    run = daemon.review(repo.path, commit="auto")
    daemon.ended(run)
    said = daemon.rlctl("attest", run, check=1)
    assert "git converts files" in said.err and said.out == ""


def test_an_altered_record_is_not_attested(attested):
    (attempt, *_) = attested.daemon.attempts(attested.run)
    place = attested.daemon.state / "attempts" / str(attempt["id"]) / "prompt"
    before = place.read_text()
    place.write_text("another")
    said = attested.attest(check=1)
    assert "is not as it was: attempt 1: its prompt" in said.err
    place.write_text(before)
    attested.attest()


def rewrite(database, run):
    """Hash every chain of the run again, as core/chain.h describes it."""
    connection = sqlite3.connect(database, isolation_level=None)
    connection.row_factory = sqlite3.Row
    for name, in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    entries = connection.execute("SELECT * FROM entry WHERE run = ? ORDER BY number", (run,)).fetchall()
    previous = None
    for entry in map(dict, entries):
        entry["previous_hash"] = previous
        entry["created_at"] += 1
        previous = hashed(entry, [])
        connection.execute("UPDATE entry SET created_at = ?, previous_hash = ?, hash = ? WHERE run = ? AND number = ?",
                           (entry["created_at"], entry["previous_hash"], previous, run, entry["number"]))
    connection.execute("UPDATE run SET entry_head = ? WHERE id = ?", (previous, run))
    connection.close()


def test_a_record_that_was_rewritten(attested):
    d = attested.daemon
    attested.attest()
    attested.fetch()
    env = {"RLD_SOCKET": str(d.socket)}
    done = attested.verify("--record", environment=env)
    assert done.returncode == 0 and "as attested" in done.stdout, done
    d.stop()
    saved = d.path / "saved.db"
    shutil.copy(d.state / "rld.db", saved)
    rewrite(d.state / "rld.db", attested.run)
    d.start()
    assert d.call("review.verify", run=attested.run)["ok"], "by itself the record is intact"
    refused(attested.verify("--record", environment=env), "is not as attested", "rewritten")
    assert attested.verify().returncode == 0
    d.stop()
    shutil.copy(saved, d.state / "rld.db")
    d.start()
    assert attested.verify("--record", environment=env).returncode == 0


def test_an_entry_of_another_record(attested, make_daemon, repo):
    d = attested.daemon
    attested.attest()
    record = attested.fetch() and json.loads(attested.note().splitlines()[0])["predicate"]["record"]
    ask = {"run": attested.run, "entry": record["entry"], "entry_hash": record["hash"]}
    answer = d.call("review.verify", **ask)
    assert answer["ok"] and answer["attested"] is True
    for change in ({"entry": 1}, {"entry": record["entry"] + 1}, {"entry_hash": "0" * 64}):
        answer = d.call("review.verify", **{**ask, **change})
        assert not answer["ok"] and answer["attested"] is False and "rewritten" in answer["message"]
    assert d.call("review.verify", run=attested.run)["attested"] is None
    other = make_daemon("other")
    refused(attested.verify("--record", environment={"RLD_SOCKET": str(other.socket)}), "this daemon is")


DOCS = Path(__file__).resolve().parents[2] / "docs" / "design" / "record.md"


def members(answer):
    """The names of all objects inside of an answer."""
    if isinstance(answer, dict):
        return {*answer, *(name for value in answer.values() for name in members(value))}
    return {name for value in answer for name in members(value)} if isinstance(answer, list) else set()


def test_the_questions_of_an_auditor(attested):
    """Each command of the page, as it stands there, answers with the members that it names."""
    attested.attest()
    d, command, asked = attested.daemon, None, 0
    review = [a["id"] for a in d.attempts(attested.run) if a["role"] == "review"][-1]
    text = DOCS.read_text().split("## Questions of an auditor\n")[1]
    for question, answer in re.findall(r"^\| (.*\?) \| (.*) \|$", text, re.M):
        words = re.findall(r"`([^`]+)`", answer)
        if not answer.startswith("the same"):
            command = words.pop(0).split()
        assert command[0] == "rlctl", answer
        argv = [{"id=N": f"id={review}", "id=R": f"id={attested.run}", "run=R": f"run={attested.run}",
                 "R": attested.run, "COMMIT": attested.commit}.get(word, word) for word in command[1:]]
        if argv[0] == "verify":
            argv += ["--allowed-signers", attested.signers]
        said = d.rlctl(*argv, check=0, cwd=attested.repo.path)
        names = members(json.loads(said.out)) if words else set()
        if "hold.list" in argv:		# it has none; test_a_decision_names_the_process
            words = []
        for word in words:
            assert any(fnmatch.fnmatch(name, word) for name in names), (question, word, names)
        asked += 1
    assert asked == 10
