# SPDX-License-Identifier: MIT
"""The review loop of profile verdict: every way it can pass, fail, and refuse to pass."""
import pytest
from rld import DRIFT_THEN_PASS


def say(text):
    """A script line that prints text as it is."""
    return "cat <<'END-OF-ANSWER'\n" + text + "\nEND-OF-ANSWER\n"


def roles(daemon, number):
    return [a["role"] for a in daemon.attempts(number)]


def test_pass_at_once(daemon, repo):
    daemon.play.set({"review.1": "pass\n"})
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert row["state"] == "succeeded"
    assert roles(daemon, number) == ["implement", "review"]
    assert [r["decision"] for r in daemon.reviews(number)] == ["pass"]


@pytest.mark.parametrize("fixes", [0, 1, 2])
def test_exhausted(daemon, repo, fixes):
    daemon.play.set({"review.1": "drift 'first'\n", "review": "drift \"round $nth\"\n",
                     "fix": "echo $nth >> work.txt; answer \"fix $nth\"\n"})
    number = daemon.review(repo.path, review={"max_fixes": fixes})
    row = daemon.ended(number)
    assert row["state"] == "failed"
    assert f"drift unresolved after {fixes} fix attempt(s)" in row["cause"]
    assert roles(daemon, number) == ["implement", "review"] + ["fix", "review"] * fixes
    assert row["result_ref"] is None
    assert repo.git("for-each-ref", daemon.ref("passed")) == ""


def test_five_fixes_are_the_default(daemon, repo):
    daemon.play.set({"review.1": "drift 'first'\n", "review": "drift \"round $nth\"\n",
                     "fix": "echo $nth >> work.txt; answer \"fix $nth\"\n"})
    number = daemon.review(repo.path)
    assert daemon.ended(number)["state"] == "failed"
    assert roles(daemon, number).count("review") == 6 and roles(daemon, number).count("fix") == 5


VIOLATIONS = [
    ("nothing", "", "empty reviewer output"),
    ("blank", "echo; echo '   '\n", "empty reviewer output"),
    ("prose only", say("All fine, ship it. The verdict is pass."), "no JSON object found in reviewer output"),
    ("array", say('[{"verdict": "pass", "followUpPrompt": "ok"}]'), None),
    ("array on its own", say('["pass"]'), "reviewer output is not a valid JSON object"),
    ("broken", say('{"verdict": "pass"'), "reviewer output is not a valid JSON object"),
    ("broken after a good one", say('{"verdict": "pass", "followUpPrompt": "ok"}\n{"verdict": "pass",}'),
     "reviewer output is not a valid JSON object"),
    ("key twice", say('{"verdict": "drift", "verdict": "pass", "followUpPrompt": "x"}'),
     "reviewer output is not a valid JSON object"),
    ("Pass", say('{"verdict": "Pass", "followUpPrompt": "ok"}'),
     'invalid verdict: expected "pass" or "drift", got "Pass"'),
    ("PASS", say('{"verdict": "PASS", "followUpPrompt": "ok"}'),
     'invalid verdict: expected "pass" or "drift", got "PASS"'),
    ("true", say('{"verdict": true, "followUpPrompt": "ok"}'), 'invalid verdict: expected "pass" or "drift", got true'),
    ("null", say('{"verdict": null, "followUpPrompt": "ok"}'), 'invalid verdict: expected "pass" or "drift", got null'),
    ("padded", say('{"verdict": "pass ", "followUpPrompt": "ok"}'),
     'invalid verdict: expected "pass" or "drift", got "pass "'),
    ("pass without a follow-up", say('{"verdict": "pass"}'), "missing or invalid followUpPrompt: expected string, got"),
    ("drift without a follow-up", say('{"verdict": "drift"}'),
     "missing or invalid followUpPrompt: expected string, got"),
    ("drift with a blank follow-up", say('{"verdict": "drift", "followUpPrompt": "  \\n"}'),
     "missing or invalid followUpPrompt"),
    ("drift with a number", say('{"verdict": "drift", "followUpPrompt": 7}'),
     "missing or invalid followUpPrompt: expected string, got"),
    ("two that disagree", say('{"verdict": "pass", "followUpPrompt": "ok"}\nOn second thoughts:\n'
                              '{"verdict": "drift", "followUpPrompt": "x"}'), "conflicting verdicts"),
    ("two that disagree, pass last",
     say('{"verdict": "drift", "followUpPrompt": "x"}\nno:\n{"verdict": "pass", "followUpPrompt": "ok"}'),
     "conflicting verdicts"),
]


@pytest.mark.parametrize("text,reason", [v[1:] for v in VIOLATIONS], ids=[v[0] for v in VIOLATIONS])
def test_contract_violations_never_pass(daemon, repo, text, reason):
    daemon.play.set({"review.1": text or "true\n"})
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert row["state"] == "failed", row
    assert "reviewer contract violation: " in row["cause"]
    if reason:
        assert reason in row["cause"]
    assert roles(daemon, number) == ["implement", "review"], "a violation is neither fixed nor asked again"
    last = daemon.reviews(number)[-1]
    assert last["decision"] == "violation" and last["feedback"] and last["feedback"] in row["cause"]
    assert repo.git("for-each-ref", daemon.ref("passed")) == ""


GOOD = [
    ("bare", say('{"verdict": "pass", "followUpPrompt": "ok"}')),
    ("fenced in prose", say('I ran the tests.\n\n```json\n'
                            '{"verdict": "pass", "followUpPrompt": "fine {really}"}\n```\n\nBye.')),
    ("pretty printed", say('{\n  "verdict": "pass",\n  "followUpPrompt": "a } in a string"\n}')),
    ("after another object", say('{"tests": 12}\nso\n{"verdict": "pass", "followUpPrompt": "ok"}')),
    ("two that agree",
     say('{"verdict": "pass", "followUpPrompt": "ok"}\n\n{"verdict": "pass", "followUpPrompt": "ok"}')),
    ("at the end of a line", say('My verdict: {"verdict": "pass", "followUpPrompt": "ok"}')),
    ("with a byte order mark", "printf '\\357\\273\\277{\"verdict\": \"pass\", \"followUpPrompt\": \"ok\"}\\n'\n"),
    ("coloured", "printf '\\033[32m{\"verdict\": \"pass\", \"followUpPrompt\": \"ok\"}\\033[0m\\n'\n"),
]


@pytest.mark.parametrize("text", [g[1] for g in GOOD], ids=[g[0] for g in GOOD])
def test_readable_verdicts(daemon, repo, text):
    daemon.play.set({"review.1": text})
    number = daemon.review(repo.path)
    assert daemon.ended(number)["state"] == "succeeded"


def test_echoed_examples_are_not_a_verdict(daemon, repo):
    """The reviewer repeats the contract's example as part of a sentence, then decides otherwise."""
    daemon.play.set({"review.1": say('I could say `{"verdict": "pass", "followUpPrompt": "ok"}` but:\n\n'
                                     '```json\n{"verdict": "drift", "followUpPrompt": "mend it"}\n```')})
    number = daemon.review(repo.path)
    daemon.ended(number)
    assert [r["decision"] for r in daemon.reviews(number)][0] in ("drift", "violation")
    assert daemon.reviews(number)[0]["decision"] != "pass"


def test_a_stricter_verdict_file_wins_over_text(daemon, repo):
    daemon.play.set({"review.1": "echo '{\"verdict\": \"drift\", \"followUpPrompt\": \"x\"}' > "
                     "\"$RL_VERDICT_FILE\"\npass\n", "review": "pass\n"})
    number = daemon.review(repo.path)
    daemon.ended(number)
    assert [r["decision"] for r in daemon.reviews(number)][0] == "drift"


def test_a_pass_in_the_file_and_drift_in_the_text(daemon, repo):
    daemon.play.set({"review.1": "echo '{\"verdict\": \"pass\", \"followUpPrompt\": \"ok\"}' > "
                     "\"$RL_VERDICT_FILE\"\n" + say('{"verdict": "drift", "followUpPrompt": "x"}')})
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert (row["state"], row["cause"]) == ("failed", "reviewer contract violation: conflicting verdicts: "
                                            '"pass" in the verdict file, "drift" in the text')
    assert roles(daemon, number) == ["implement", "review"]


def test_a_broken_verdict_file_is_a_violation(daemon, repo):
    daemon.play.set({"review.1": "echo '{\"verdict\": ' > \"$RL_VERDICT_FILE\"\npass\n"})
    number = daemon.review(repo.path)
    assert daemon.ended(number)["state"] == "failed"


def test_an_empty_verdict_file_leaves_it_to_the_text(daemon, repo):
    daemon.play.set({"review.1": ': > "$RL_VERDICT_FILE"\npass\n'})
    number = daemon.review(repo.path)
    assert daemon.ended(number)["state"] == "succeeded"


def test_the_verdict_file_is_private(daemon, repo):
    daemon.play.set({"review.1": 'stat -c %a "$RL_VERDICT_FILE" > "$PLAY/mode"\npass\n'})
    daemon.ended(daemon.review(repo.path))
    assert (daemon.play.path / "mode").read_text() == "600\n"


def test_a_verdict_is_not_read_from_output_that_lost_its_end(daemon, repo):
    # As when somebody has cut it: an example stands there, the last word does not.
    daemon.play.set({"review.1": 'stdout=$(dirname "$RL_VERDICT_FILE")/stdout.0000000000000000\npass\n'
                                 'until [ -s "$stdout" ]; do :; done\nkept=$(stat -c %s "$stdout")\ndrift "it fails"\n'
                                 'until [ "$(stat -c %s "$stdout")" -gt "$kept" ]; do :; done\n'
                     'truncate -s "$kept" "$stdout"\n'})
    row = daemon.ended(daemon.review(repo.path))
    assert (row["state"] == "held"
            and "is shorter than its exit record says: a file was truncated or removed there" in row["reason"])
    assert repo.git("for-each-ref", daemon.ref("passed")) == ""


def test_reviewer_that_exits_non_zero_does_not_pass(daemon, repo):
    daemon.play.set({"review.1": "pass\nexit 3\n"})
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert row["state"] == "failed" and "reviewer process exited with status 3" in row["cause"]
    assert [r["decision"] for r in daemon.reviews(number)] == ["error"]


def test_reviewer_killed_by_a_signal(daemon, repo):
    daemon.play.set({"review.1": "pass\nkill -9 $$\n"})
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert row["state"] == "failed" and "reviewer" in row["cause"] and "9" in row["cause"] or "KILL" in row["cause"]
    assert daemon.attempts(number)[1]["signal"] == 9


def test_reviewer_over_its_time(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "answer x\n", "review": "pass\ngate never\n"},
                         gates=["never"], config={"limits": {"grace": "1s"}})
    number = daemon.review(repo.path, review={"timeout": "1s"})
    row = daemon.ended(number)
    assert row["state"] == "failed" and "reviewer" in row["cause"]
    assert daemon.attempts(number)[1]["process"] == "timeout"


@pytest.mark.parametrize("fix,cause", [("exit 4\n", "fixer process exited with status 4"), ("kill -9 $$\n", "fixer")])
def test_fixer_that_fails(daemon, repo, fix, cause):
    daemon.play.set({"fix": fix})
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert row["state"] == "failed" and cause in row["cause"]
    assert roles(daemon, number) == ["implement", "review", "fix"]


@pytest.mark.parametrize("change,name", [("echo sneaky >> work.txt", "work.txt"),
                                         ("rm work.txt", "work.txt"), ("chmod +x README", "README"),
                                         ("mv README 'R E'", "README")])
def test_a_reviewer_that_changes_the_tree_violates(daemon, repo, change, name):
    daemon.play.set({"review.1": change + "\npass\n"})
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert row["state"] == "failed", row
    assert "reviewer changed the tree: " in row["cause"] and name in row["cause"]
    assert daemon.reviews(number)[-1]["decision"] == "violation"


def appeared(row):
    return [w for w in row["warnings"] if "appeared in" in w]


def test_a_new_file_stays_and_is_no_part_of_the_work(daemon, repo):
    """Whoever made it, the reviewer or a person in that directory: it is named, and it is
    where it was made."""
    daemon.play.set({"review.1": "echo scratch > notes.txt\nmkdir -p deep/er\necho more > deep/er/x.txt\npass\n"})
    number = daemon.review(repo.path, review={"workspace": "same"})
    row = daemon.ended(number)
    assert row["state"] == "succeeded"
    assert repo.read("notes.txt") == "scratch\n" and repo.read("deep/er/x.txt") == "more\n"
    assert row["warnings"] == [f"task t1: these files appeared in {repo.path} during the review "
                               "and are not part of the work: deep/er/x.txt, notes.txt"]
    assert repo.git("ls-tree", "-r", "--name-only", row["result_ref"]).split() == ["README", "work.txt"]


@pytest.mark.parametrize("place", ["same", "room"])
@pytest.mark.parametrize("commit", ["auto", "agent"])
def test_what_appeared_is_not_in_the_next_round_either(daemon, repo, place, commit):
    """Neither in the diff, nor in the commit; the fixer that works on such a file makes it a
    part of the work."""
    daemon.play.set({"review.1": f"echo mine > {repo.path}/mine.txt\necho a > {repo.path}/taken.txt\ndrift 'more'\n",
                     "fix": "echo fixed >> work.txt\necho b >> taken.txt\ngit add -A\n",
                     "review.2": "pass\n",
                     "commit": "git add -A\ngit -c user.name=a -c user.email=a@localhost commit -qm all\n"})
    number = daemon.review(repo.path, review={"workspace": place}, commit=commit)
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert appeared(row) == [f"task t1: these files appeared in {repo.path} during the review and "
                             "are not part of the work: mine.txt, taken.txt"]
    assert repo.read("mine.txt") == "mine\n"
    prompt = daemon.play.prompt(number, "review", 2)
    assert b"taken.txt" in prompt and b"mine.txt" not in prompt
    assert repo.git("ls-tree", "-r", "--name-only", row["result_ref"]).split() == ["README", "taken.txt", "work.txt"]
    assert repo.git("ls-tree", "-r", "--name-only", "HEAD").split() == ["README", "taken.txt", "work.txt"]


def test_in_a_work_tree_of_its_own_it_is_not_taken_along(daemon, repo):
    daemon.play.set({"review.1": "echo x > left.txt\ndrift 'more'\n",
                     "fix": "echo fixed >> work.txt\n", "review.2": "pass\n"})
    number = daemon.review(repo.path, isolation="worktree", review={"workspace": "same"})
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert len(appeared(row)) == 1 and appeared(row)[0].endswith(": left.txt")
    assert repo.git("ls-tree", "-r", "--name-only", row["result_commit"]).split() == ["README", "work.txt"]


def test_what_appeared_is_known_after_a_restart(daemon, repo):
    daemon.play.gates("fix").set({"review.1": "echo x > left.txt\ndrift 'more'\n",
                                  "fix": "gate fix\necho fixed >> work.txt\n", "review.2": "pass\n"})
    number = daemon.review(repo.path, commit="auto", review={"workspace": "same"})
    daemon.play.arrived("fix")
    daemon.kill()
    daemon.start()
    daemon.play.go("fix")
    row = daemon.ended(number)
    assert row["state"] == "succeeded" and len(appeared(row)) == 1, row
    assert repo.git("ls-tree", "-r", "--name-only", "HEAD").split() == ["README", "work.txt"]


def test_what_appeared_is_known_after_a_gc(daemon, repo):
    """A run may be held for long, and the user cleans up meanwhile."""
    daemon.play.set({"review.1": "echo x > left.txt\ndrift 'more'\n",
                     "fix": "echo fixed >> work.txt\n", "review.2": "drift 'more'\n"})
    number = daemon.review(repo.path, commit="auto",
                           review={"max_fixes": 1, "on_exhausted": "hold", "workspace": "same"})
    assert daemon.ended(number)["state"] == "held"
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    daemon.call("hold.approve", id=daemon.call("hold.list")["holds"][0]["id"])
    row = daemon.ended(number)
    assert row["state"] == "succeeded" and len(appeared(row)) == 1, row
    assert repo.git("ls-tree", "-r", "--name-only", "HEAD").split() == ["README", "work.txt"]


def test_ignored_files_of_the_reviewer_are_its_own_business(daemon, repo):
    repo.write(".gitignore", "*.o\n")
    daemon.play.set({"review.1": "echo x > a.o\npass\n"})
    number = daemon.review(repo.path, review={"workspace": "same"})
    row = daemon.ended(number)
    assert row["state"] == "succeeded" and row["warnings"] == []
    assert (repo.path / "a.o").exists()


def test_stalled(daemon, repo):
    daemon.play.set({"review.1": "drift 'first'\n", "review": "drift \"round $nth\"\n",
                     "fix": "answer 'same as before'\n", "implement": "answer 'same as before'\n"})
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert row["state"] == "failed" and "stalled" in row["cause"]
    assert roles(daemon, number).count("fix") == 2, "stall_limit is 2 rounds"


def test_the_same_finding_again_is_a_stall(daemon, repo):
    daemon.play.set({"review.1": "drift 'the  same thing'\n", "review": "drift 'the same thing'\n",
                     "fix": "echo $nth >> work.txt; answer \"fix $nth\"\n"})
    number = daemon.review(repo.path)
    row = daemon.ended(number)
    assert row["state"] == "failed" and "stalled" in row["cause"]
    assert roles(daemon, number).count("fix") == 2


def test_stall_limit_zero_never_stalls(daemon, repo):
    daemon.play.set({"review.1": "drift 'same'\n", "review": "drift 'same'\n", "fix": "answer same\n"})
    number = daemon.review(repo.path, review={"stall_limit": 0, "max_fixes": 4})
    row = daemon.ended(number)
    assert "drift unresolved after 4 fix attempt(s)" in row["cause"]


def skipped(daemon, number):
    events = daemon.call("event.list", since=0)["events"]
    return [e["reason"] for e in events if e["type"] == "review.skipped" and e["run"] == number]


def test_skips_have_a_reason(daemon, repo):
    off = daemon.submit(repo.path)
    none = daemon.review(repo.path, review={"reviewer_prompt": "none"})
    flag = daemon.submit(repo.path, review={"enabled": True}, skip_review=True)
    for number in (off, none, flag):
        assert daemon.ended(number)["state"] == "succeeded"
        assert roles(daemon, number) == ["implement"]
        assert daemon.reviews(number) == []
    reasons = [skipped(daemon, n) for n in (off, none, flag)]
    assert all(len(r) == 1 and r[0] for r in reasons), reasons
    assert len({r[0] for r in reasons}) == 3, reasons


def test_a_failed_implementer_is_not_reviewed(daemon, repo):
    daemon.play.set({"implement": "exit 2\n"})
    number = daemon.review(repo.path)
    assert daemon.ended(number)["state"] == "failed"
    assert roles(daemon, number) == ["implement"]
    assert len(skipped(daemon, number)) == 1


def test_only_the_last_answer_counts(daemon, repo):
    daemon.play.set({**DRIFT_THEN_PASS, "review.2": "drift 'third'\n", "review.3": "pass\n",
                     "fix": "echo $nth >> work.txt; answer \"answer $nth\"\n"})
    number = daemon.review(repo.path)
    assert daemon.ended(number)["state"] == "succeeded"
    prompt = daemon.play.prompt(number, "review", 3).decode()
    assert "answer 2" in prompt and "answer 1" not in prompt
    assert "third" in prompt, "the follow-up of the round before"


def test_review_rows_cannot_be_changed(daemon, repo):
    import sqlite3
    number = daemon.review(repo.path)
    daemon.ended(number)
    daemon.stop()
    database = daemon.database()
    database.execute("PRAGMA recursive_triggers = ON")
    for statement in ("UPDATE review SET decision = 'pass'", "DELETE FROM review",
                      "INSERT OR REPLACE INTO review SELECT * FROM review WHERE number = 1"):
        with pytest.raises(sqlite3.DatabaseError):
            database.execute(statement)
    database.close()
    daemon.start()
    assert daemon.call("review.verify", run=number)["ok"] is True


@pytest.mark.parametrize("damage", ["UPDATE review SET decision = 'pass' WHERE number = 1",
                                    "UPDATE review SET feedback = 'x' WHERE number = 1",
                                    "DELETE FROM review WHERE number = 2"])
def test_verify_finds_damage(make_daemon, repo, damage):
    daemon = make_daemon()
    number = daemon.review(repo.path)
    daemon.ended(number)
    daemon.stop()
    database = daemon.database()
    for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        database.execute(f'DROP TRIGGER "{name}"')
    saved = database.execute("SELECT * FROM review").fetchall()
    database.execute("PRAGMA foreign_keys = OFF")
    database.execute(damage)
    database.close()
    daemon.start()
    assert daemon.call("review.verify", run=number)["ok"] is False
    daemon.rlctl("review", "verify", number, check=1)
    # put back what was there, so that the checks after the test see a whole chain
    daemon.stop()
    database = daemon.database()
    database.execute("PRAGMA foreign_keys = OFF")
    database.execute("DELETE FROM review")
    for row in saved:
        database.execute(f"INSERT INTO review VALUES ({','.join('?' * len(row))})", tuple(row))
    database.close()
    daemon.start()
