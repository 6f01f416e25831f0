# SPDX-License-Identifier: MIT
"""Profile comments, sentence by sentence as it was asked for: an unbiased reader of the diff, a
fresh fixer for each must-fix."""
import errno
import json

import pytest

import loop
from loop import STOP, End, Loop, write
from test_confine import CREATE_RULESET, needs_landlock, refusing

FILE = "review-comments.json"


def comments(*items, summary="as said"):
    """A reviewer that writes these: (severity, text) or whole objects."""
    items = [i if isinstance(i, dict)
             else {"file": "work.txt", "line": 1, "severity": i[0], "comment": i[1]} for i in items]
    return write(FILE, json.dumps({"comments": items, "summary": summary}))


CLEAN = comments(summary="Clean review - no issues found")

COMMENTS = loop.Profile(
    name="comments", passes=CLEAN, finds=lambda text: comments(("must-fix", text)),
    pass_word="pass", findings_word="must-fix",
    max_fixes=2, malformed=comments(("Must-Fix", "a name")),
    on_malformed=End("failed", 'reviewer contract violation: invalid severity: '
                     'expected "must-fix" or "suggestion", got "Must-Fix"', 10),
    on_exit=End("failed", "reviewer process exited with status 3", 10),
    on_signal=End("failed", "reviewer process killed by signal 9", 10),
    on_timeout=End("failed", "reviewer process timed out after 1s", 10),
    on_exhausted=End("succeeded", "known issues: 1; must-fix unresolved after 2 fix attempt(s)", 0),
    artifacts=(FILE,),
)


class TestMatrix(loop.Matrix):
    profile = COMMENTS


@pytest.fixture
def loop(make_daemon, repo, tmp_path):
    return Loop(make_daemon, repo, tmp_path, COMMENTS)


def idle(daemon):
    """Everything that was in hand is done."""
    while daemon.call("daemon.status")["busy"]:
        pass


def there(loop):
    """Is the reviewer's file there, now that all is done?"""
    idle(loop.daemon)
    return (loop.repo.path / FILE).exists()


def findings(loop, review):
    return [(f["file"], f["line"], f["severity"], f["text"]) for f in loop.daemon.reviews(1)[review - 1]["findings"]]


TWO = [{"file": "src/foo.ts", "line": 42, "severity": "must-fix", "comment": "Implicit dependency on pyyaml"},
       {"file": "work.txt", "line": 1, "severity": "suggestion", "comment": "A longer name would read better"},
       {"file": "work.txt", "line": 2, "severity": "must-fix", "comment": "Placeholder left in"}]


# US-001: the reviewer

def test_structured_comments(loop):
    """It produces a review-comments.json file with structured comments (file, line,
    severity, comment)."""
    loop.set(review_1=comments(*TWO, summary="2 must-fix, 1 suggestion"))
    loop.passes(loop.run())
    assert findings(loop, 1) == [("src/foo.ts", 42, "must-fix", "Implicit dependency on pyyaml"),
                                 ("work.txt", 1, "suggestion", "A longer name would read better"),
                                 ("work.txt", 2, "must-fix", "Placeholder left in")]
    told = [e for e in loop.daemon.call("event.list", limit=500)["events"]
            if e["type"] == "finding" and e["state"] == "new"]
    assert [(e["file"], e["line"]) for e in told] == [("src/foo.ts", 42), ("work.txt", 1), ("work.txt", 2)]
    first = loop.daemon.reviews(1)[0]
    assert (first["decision"], first["source"]) == ("must-fix", "file") and "Placeholder left in" in first["feedback"]


def test_a_suggestion_is_not_fixed(loop):
    """When severity is suggestion, no fix is attempted; suggestions are
    informational for the human."""
    loop.set(review_1=comments(("suggestion", "a longer name"), ("suggestion", "a comment here"),
                               summary="0 must-fix, 2 suggestions"))
    row = loop.run()
    loop.passes(row)
    assert loop.roles() == ["implement", "review"] and row["known_issues"] == []
    assert [f[2:] for f in findings(loop, 1)] == [("suggestion", "a longer name"), ("suggestion", "a comment here")]
    shown = loop.daemon.rlctl("review", "show", 1, check=0).out
    assert "a longer name" in shown and "a comment here" in shown
    assert {f["text"] for f in loop.daemon.call("run.report", id=1)["findings"]} == {"a longer name", "a comment here"}


@pytest.mark.parametrize("words", ["Must-Fix", "must_fix", "blocker", "", None, 1])
def test_severities_are_exact(loop, words):
    """Severities exactly must-fix and suggestion."""
    loop.set(review_1=comments(("must-fix", "x"), {"file": "a", "line": 1, "severity": words, "comment": "x"}))
    row = loop.run()
    loop.ends(End("failed", 'reviewer contract violation: invalid severity: '
                  'expected "must-fix" or "suggestion", got ', 10), row)
    assert loop.decisions() == ["violation"] and not there(loop)


VIOLATIONS = {
    "no comments": '{"summary": "fine"}',
    "no list": '{"comments": {}, "summary": "fine"}',
    "no summary": '{"comments": []}',
    "no text": '{"comments": [{"severity": "must-fix", "file": "a", "line": 1}], "summary": "x"}',
    "blank text": '{"comments": [{"severity": "must-fix", "comment": " "}], "summary": "x"}',
    "line": '{"comments": [{"severity": "must-fix", "comment": "x", "line": "7"}], "summary": "x"}',
    "list": '[{"severity": "must-fix", "comment": "x"}]',
    "cut": '{"comments": [], "summary": "fine"',
    "two": '{"comments": [], "summary": "fine"} {"comments": [], "summary": "fine"}',
    "words": "No issues found.",
    "twice": '{"comments": [{"severity": "must-fix", "comment": "x"}], "comments": [], "summary": "x"}',
}


@pytest.mark.parametrize("text", VIOLATIONS.values(), ids=VIOLATIONS)
def test_anything_else_is_no_review(loop, text):
    loop.set(review_1=write(FILE, text))
    row = loop.run()
    loop.ends(End("failed", "reviewer contract violation: ", 10), row)
    assert loop.decisions() == ["violation"] and loop.roles() == ["implement", "review"]


def test_a_comment_on_no_single_place(loop):
    """File and line may be left out, "general" and 0 are allowed."""
    loop.set(review_1=comments({"severity": "must-fix", "comment": "no tests at all"},
                               {"severity": "must-fix", "comment": "nor docs", "file": "general", "line": 0}))
    loop.passes(loop.run())
    assert findings(loop, 1) == [(None, None, "must-fix", "no tests at all"), ("general", None, "must-fix", "nor docs")]
    assert "no tests at all" in loop.prompt("fix", 1) and "general: nor docs" in loop.prompt("fix", 2)


@pytest.mark.parametrize("text", ["", "echo '   ' > review-comments.json\n",
                                  "rm -f review-comments.json\n"], ids=["empty", "blank", "removed"])
def test_still_empty_is_no_evidence(loop, text):
    """The file is made beforehand, empty; still empty = no evidence. What it says in its answer
    counts for nothing."""
    loop.set(review_1=f"stat -c '%s %F' {FILE} > \"$PLAY/before\"\n" + text +
             "echo '{\"comments\": [], \"summary\": \"Clean review\"}'\n")
    loop.ends(End("failed", "reviewer contract violation: no evidence of a review", 10), loop.run())
    assert (loop.play.path / "before").read_text() == "0 regular empty file\n"


def test_a_file_of_an_earlier_review_does_not_count(loop):
    loop.repo.write(FILE, '{"comments": [], "summary": "clean, said somebody last week"}')
    loop.set(review_1="")
    loop.ends(End("failed", "no evidence of a review", 10), loop.run())


# The reviewer never modifies source code

HARM = "echo harm >> work.txt\nrm README\necho new > new.txt\n"


@needs_landlock
def test_a_reviewer_cannot_write_the_tree(loop):
    """The reviewer agent never modifies source code: it only reads and writes its review output."""
    loop.set(review_1=HARM + 'echo scratch > "$TMPDIR/note"; cat "$TMPDIR/note"; '
             'cat README work.txt > /dev/null\n' + CLEAN)
    row = loop.run()
    loop.passes(row)
    assert (loop.repo.read("work.txt") == "one\n" and (loop.repo.path / "README").exists()
            and not (loop.repo.path / "new.txt").exists())
    assert row["warnings"] == []
    review = loop.daemon.attempts(1)[1]
    assert review["sandbox"].startswith("landlock ")
    said = loop.daemon.rlctl("logs", "1/2", check=0)
    assert "scratch" in said.out and "Permission denied" in said.out + said.err
    assert "read-only" in loop.prompt("review")
    idle(loop.daemon)
    assert [p.name for p in (loop.daemon.state / "runs" / "1").iterdir()
            if p.is_dir()] == [], "its scratch goes with the run"


@needs_landlock
def test_a_reviewer_that_has_to_write_elsewhere_is_told_how(loop):
    loop.set(review_1='echo x > elsewhere || exit 1\n' + CLEAN)
    row = loop.run()
    loop.ends(End("failed", "reviewer process exited with status 1: ", 10), row)
    assert ("Permission denied; its sandbox may have denied that: add the path to writable of "
            "[agent.play] in rld.toml" in row["cause"]), row["cause"]


@needs_landlock
def test_only_the_reviewer_is_confined(loop):
    loop.set(fix="echo fixed > fixed.txt\n")
    loop.passes(loop.run())
    assert [a["sandbox"] is None for a in loop.daemon.attempts(1)] == [True, False, True, False]


def without_landlock(make_daemon, repo, tmp_path, **review):
    prefix = refusing(CREATE_RULESET, errno.ENOSYS)
    return Loop(make_daemon, repo, tmp_path, COMMENTS, config={"review": review}, prefix=prefix)


def test_without_landlock_it_is_caught_by_hashes(make_daemon, repo, tmp_path):
    """Where the kernel allows; the level reached is recorded."""
    made = without_landlock(make_daemon, repo, tmp_path)
    made.set(review_1=HARM + CLEAN)
    row = made.run()
    made.ends(End("failed", "reviewer contract violation: reviewer changed the tree: ", 10), row)
    assert "README" in row["cause"] and "work.txt" in row["cause"]
    assert made.daemon.attempts(1)[1]["sandbox"] == "none"
    assert [w for w in row["warnings"] if "not confined" in w]
    assert not (repo.path / "new.txt").exists() and repo.read("README") == "scratch\n"


def test_sandbox_require_refuses_where_the_kernel_cannot(make_daemon, repo, tmp_path):
    made = without_landlock(make_daemon, repo, tmp_path, sandbox="require")
    row = made.run()
    made.ends(End("failed", "reviewer process could not be started: sandbox: Landlock is not available", 10), row)
    assert made.roles() == ["implement"], "no reviewer ran"
    assert not there(made)


def test_sandbox_off(make_daemon, repo, tmp_path):
    made = Loop(make_daemon, repo, tmp_path, COMMENTS, config={"review": {"sandbox": "off"}})
    made.set(review_1="echo harm >> work.txt\n" + CLEAN)
    made.ends(End("failed", "reviewer changed the tree: work.txt", 10), made.run())
    assert made.daemon.attempts(1)[1]["sandbox"] is None


# An unbiased second opinion

# All that a process can see of why it was started: its own words and environment, its supervisor's,
# every file of the working directory, its own files, and what git knows.
SPY = """{
tr '\\0' '\\n' < /proc/self/environ
tr '\\0' ' ' < /proc/$$/cmdline
tr '\\0' ' ' < /proc/$PPID/cmdline
tr '\\0' '\\n' < /proc/$PPID/environ
git log --all --format=%B; git for-each-ref; git stash list; find . -path ./.git -prune -o -print
for place in "$RL_VERDICT_FILE" "$RL_FINDINGS_FILE" "$TMPDIR"; do
	[ -z "$place" ] || { echo "$place"; find "$place"; cat "$place"; }
done
grep -r . --exclude-dir=.git .; } > "$PLAY/seen.$role.$nth" 2> /dev/null
"""
SECRET = "zanzibar"


def test_the_reviewer_never_sees_the_task(loop):
    """The reviewer never sees story instructions, only the resulting code: not in prompt,
    environment or names; nor do fixers."""
    loop.play.set({"implement": SPY + f"echo one > work.txt\nanswer 'the {SECRET} is done'\n",
                   "review.1": SPY + comments(("must-fix", "one"), ("must-fix", "two")), "review": SPY + CLEAN,
                   "fix": SPY + "echo \"fix $nth\" >> work.txt\nanswer fixed\n"})
    loop.passes(loop.run(f"build the {SECRET}\n\nwith {SECRET} sauce"))
    assert loop.roles() == ["implement", "review", "fix", "fix", "review"]
    for role, nth in (("review", 1), ("review", 2), ("fix", 1), ("fix", 2)):
        seen = (loop.play.path / f"seen.{role}.{nth}").read_text() + loop.prompt(role, nth)
        assert SECRET not in seen, [line for line in seen.split("\n") if SECRET in line]
        assert "RL_ROLE=" + role in seen and "RL_TASK" not in seen and "one" in seen
        assert "RLD_SOCKET=" not in seen, "the daemon would show it"
    control = (loop.play.path / "seen.implement.1").read_text() + loop.prompt("implement")
    assert control.count(SECRET) > 3 and "RL_TASK=" in control, "the spy does see"


def test_it_reads_the_diff_and_the_conventions(loop):
    """The reviewer agent must read the project's CLAUDE.md, and the git diff against the base to
    see all changes."""
    loop.repo.write("CLAUDE.md", "- names are in snake case\n")
    loop.repo.write("AGENTS.md", "- no tabs\n")
    loop.run()
    first, second = loop.prompt("review", 1), loop.prompt("review", 2)
    assert ("names are in snake case" in first and "no tabs" in first
            and first.index("CLAUDE.md") < first.index("AGENTS.md"))
    assert "+one" in first and "+one\n+fix 1" in second, "a fresh diff against the base"
    assert FILE not in second.split("## Diff")[1].split("## Your answer")[0]
    assert "first answer" not in first and "answer 1" not in second, "the resulting code only"
    assert "snake case" not in loop.prompt("fix"), "a fixer gets its comment only"
    assert "add a second line" not in second, "unbiased in every cycle"


def test_a_coder_cannot_rewrite_its_judge(loop):
    loop.repo.write("CLAUDE.md", "- names are in snake case\n")
    loop.set(implement="echo one > work.txt\necho '- anything goes' > CLAUDE.md\n")
    loop.run()
    conventions = loop.prompt("review", 1).split("## Diff")[0]
    assert "snake case" in conventions and "anything goes" not in conventions


# US-002: the loop

def test_it_runs_before_completion_as_slot_0(loop):
    """The orchestrator spawns a reviewer agent before proceeding to completion: one review of
    the run, as slot 0."""
    loop.submit_to("review")
    assert loop.phases() == {0: "reviewing", 1: "waiting"} and loop.daemon.run(1)["state"] == "running"
    loop.play.go("review")
    loop.passes(loop.daemon.ended(1))
    assert loop.phases() == {0: "passed", 1: "passed"}
    assert [(a["role"], a["slot"]) for a in loop.daemon.attempts(1)] == [("implement", 1), ("review", 0),
                                                                         ("fix", 0), ("review", 0)]


def test_a_fresh_fixer_for_each_issue(loop):
    """Fresh fix workers for each issue, then the reviewer again; they receive only the
    review comment text."""
    keep = 'cat "$RL_FINDINGS_FILE" > "$PLAY/item.$nth"\n'
    loop.set(review_1=comments(*TWO, summary="2 must-fix, 1 suggestion"), fix=keep + 'echo "fix $nth" >> work.txt\n')
    loop.passes(loop.run())
    assert loop.roles() == ["implement", "review", "fix", "fix", "review"]
    for nth, own, others in ((1, "src/foo.ts:42: Implicit dependency on pyyaml", "Placeholder"),
                             (2, "work.txt:2: Placeholder left in", "pyyaml")):
        prompt = loop.prompt("fix", nth)
        assert own in prompt
        assert others not in prompt and "longer name" not in prompt and "2 must-fix, 1 suggestion" not in prompt
        (item,) = json.loads((loop.play.path / f"item.{nth}").read_text())
        assert f"{item['file']}:{item['line']}: {item['text']}" == own
    fixes = [a for a in loop.daemon.attempts(1) if a["role"] == "fix"]
    assert [a["round"] for a in fixes] == [1, 1], "both are one cycle"
    assert fixes[0]["ended_at"] <= fixes[1]["started_at"], "in turn"


def test_what_is_resolved_is_told(loop):
    """Each round records new, repeated, resolved."""
    loop.set(review_1=comments(("must-fix", "one"), ("must-fix", "two")),
             review_2=comments(("must-fix", "two"), ("must-fix", "three")))
    loop.passes(loop.run())
    states = [{f["text"]: f["state"] for f in r["findings"]} for r in loop.daemon.reviews(1)]
    assert states == [{"one": "new", "two": "new"}, {"two": "repeated", "three": "new", "one": "resolved"},
                      {"two": "resolved", "three": "resolved"}]


def test_what_remains_after_two_cycles_is_known(loop):
    """After 2 cycles the orchestrator includes them in its completion output as known issues and
    proceeds (does not block)."""
    loop.set(review=comments(("must-fix", "still wrong $nth"), ("must-fix", "and bad $nth"), ("suggestion", "a name")))
    done = loop.daemon.rlctl("run", "--review=comments", "do it", cwd=loop.repo.path, check=0)
    row = loop.daemon.run(1)
    loop.ends(End("succeeded", "known issues: 2; must-fix unresolved after 2 fix attempt(s)", 0), row)
    assert row["known_issues"] == ["work.txt:1: still wrong 3", "work.txt:1: and bad 3"]
    assert loop.roles() == ["implement", "review", "fix", "review", "fix", "fix", "review"]
    assert "still wrong 3" in done.err and "and bad 3" in done.err and "Review passed" not in done.err, done.err
    assert loop.daemon.call("run.report", id=1)["known_issues"] == row["known_issues"]
    assert "still wrong 3" in loop.daemon.rlctl("show", 1, check=0).out
    assert not there(loop) and set(loop.phases().values()) == {"passed"}


def test_max_fixes_is_a_setting(loop):
    loop.never_content()
    loop.ends(End("succeeded", "known issues: 1; must-fix unresolved after 0 fix attempt(s)", 0),
              loop.run(review={"max_fixes": 0}))
    assert loop.roles() == ["implement", "review"]


def test_killed_between_two_fixers(loop):
    """What one fixer has done is neither lost nor done again."""
    loop.set(review_1=comments(("must-fix", "one"), ("must-fix", "two")))
    loop.play.set({"fix.2": STOP + "echo \"fix $nth\" >> work.txt\n",
                   "fix.1": "echo \"fix $nth\" >> work.txt\ntouch \"$PLAY/stop.fix\"\n"})
    loop.submit()
    loop.play.arrived("fix")
    loop.daemon.kill()
    loop.daemon.start()
    loop.play.go("fix")
    loop.passes(loop.daemon.ended(1))
    assert loop.roles() == ["implement", "review", "fix", "fix", "review"]
    assert loop.repo.read("work.txt") == "one\nfix 1\nfix 2\n"


def test_commit_leaves_the_review_out(loop):
    """review-comments.json is a run artifact: in no commit."""
    row = loop.run(commit="auto")
    loop.passes(row)
    assert loop.repo.git("show", "--name-only", "--format=%H", "HEAD").split() == [row["result_commit"], "work.txt"]


def test_commit_by_leave(loop):
    """What is accepted with known issues is committed all the same, but nothing is locked."""
    loop.never_content()
    row = loop.run(commit="auto")
    loop.ends(COMMENTS.on_exhausted, row)
    assert (loop.repo.git("rev-parse", "HEAD") == row["result_commit"]
            and loop.repo.git("show", "HEAD:work.txt") == "one\nfix 1\nfix 2")


# Cleaning up

ENDS = {
    "pass": {},
    "known issues": {"review": comments(("must-fix", "point $nth"))},
    "violation": {"review": write(FILE, "no JSON")},
    "crash": {"review": CLEAN + "exit 3\n"},
    "fixer": {"fix": "exit 4\n"},
}


@pytest.mark.parametrize("scripts", ENDS.values(), ids=ENDS)
def test_the_file_is_removed(loop, scripts):
    """Removed when the run ends, however it does."""
    loop.set(**scripts)
    loop.run()
    assert not there(loop) and loop.repo.git("status", "--porcelain", "--ignored", FILE) == ""


def test_the_file_is_removed_after_a_cancel(loop):
    number, _ = loop.submit_to("review", review={"workspace": "same"})
    assert (loop.repo.path / FILE).exists()
    loop.daemon.call("run.cancel", id=number)
    loop.daemon.ended(number)
    assert not there(loop)


def test_fixers_do_not_see_the_file(loop):
    loop.set(fix=f"[ ! -e {FILE} ] && echo fine >> work.txt\n")
    loop.passes(loop.run())
    assert loop.repo.read("work.txt") == "one\nfine\n"


def test_a_project_that_tracks_the_file_is_told(loop):
    loop.repo.write(FILE, "{}")
    loop.repo.git("add", FILE)
    row = loop.run()
    assert row["state"] == "failed" and FILE in row["cause"] and loop.roles() == [], row
