# SPDX-License-Identifier: MIT
"""Profile file, story by story as it was asked for: a reviewer that writes its issues to a file, a
corrector that works it off, three reviews at most, and a commit that the file is never in."""
import os
import re
import shutil
import tempfile

import pytest

import loop
from loop import End, Loop, say, write
from rld import Repo, RpcError

FILE = "autom8_review.md"
FAILED = f"Review failed after 3 iterations. Please manually review {FILE} for remaining issues."
ACCOUNT = "I read work.txt and ran the tests."
PASS = say(ACCOUNT)


def issues(*texts, name=FILE):
    return write(name, "## Critical\n\n" + "\n".join(f"- [ ] {text}" for text in texts)) + say("There are issues.")


PROFILE = loop.Profile(
    name="file", passes=PASS, finds=issues, pass_word="pass", findings_word="issues", max_fixes=2,
    malformed="exit\n",
    on_malformed=End("failed", "reviewer contract violation: no evidence of a review", 10),
    on_exit=End("failed", "reviewer process exited with status 3", 10),
    on_signal=End("failed", "reviewer process killed by signal 9", 10),
    on_timeout=End("failed", "reviewer process timed out after 1s", 10),
    on_exhausted=End("failed", FAILED, 10),
    artifacts=(FILE,),
    stops=("implement", "check", "measure", "review", "verify", "fix", "pin", "commit"),
)


class TestMatrix(loop.Matrix):
    profile = PROFILE


@pytest.fixture
def loop(make_daemon, repo, tmp_path):
    return Loop(make_daemon, repo, tmp_path, PROFILE)


def rlctl(loop, *args, check=0):
    return loop.daemon.rlctl("run", "--review=file", *args, "add a greeting", cwd=loop.repo.path, check=check)


def flat(text):
    """On one line: where a template breaks its lines is no matter."""
    return " ".join(text.split())


def reviewed(loop, number=1):
    """The prompts of its reviews, in order."""
    count = len(loop.play.starts(number, "review"))
    return [flat(loop.prompt("review", nth, number)) for nth in range(1, count + 1)]


def told(loop, kind, *fields):
    return [tuple(e[f] for f in fields) for e in loop.daemon.call("event.list", since=0)["events"] if e["type"] == kind]


def committed(loop):
    """Names in the newest commit."""
    return loop.repo.git("show", "--format=", "--name-only", "HEAD").split()


# US-001: states of the review loop

def test_us001_reviewing_and_correcting(loop):
    """State transitions: PickingStory (all complete) → Reviewing → Correcting → Reviewing
    ... → Committing."""
    loop.passes(loop.run())
    assert told(loop, "slot.phase", "slot", "phase", "round") == [
        (1, "implementing", 0), (1, "waiting", 0), (0, "reviewing", 1), (0, "fixing", 1),
        (0, "reviewing", 2), (0, "committing", 2),
        (0, "passed", 2), (1, "passed", 0)]


@pytest.mark.parametrize("nth", [2, 3])
def test_us001_review_iteration_is_kept(loop, nth):
    """Add review_iteration to track the current review cycle (1, 2, or 3); it must be saved
    for resume support."""
    loop.never_content()
    loop.play.set({f"review.{nth}": "gate review\n" + issues("point $nth")})
    loop.submit()
    loop.play.arrived("review")
    loop.daemon.kill()
    loop.daemon.start()
    slots = {s["slot"]: s for s in loop.daemon.run(1)["slots"]}
    assert (slots[0]["phase"], slots[0]["round"], slots[0]["fix"]) == ("reviewing", nth, nth - 1)
    loop.play.go("review")
    loop.ends(PROFILE.on_exhausted, loop.daemon.ended(1))
    assert [re.search(r"Review iteration (\d/\d)", p).group(1) for p in reviewed(loop)] == ["1/3", "2/3", "3/3"]
    assert [r["iteration"] for r in loop.daemon.reviews(1)] == [1, 2, 3]


# US-002: prompt of the reviewer

@pytest.fixture
def prompts(loop):
    """The three prompts of the reviewer, the two of the corrector."""
    loop.never_content()
    loop.run("add a greeting\n\nIt says hello.")
    return {"review": reviewed(loop), "fix": [flat(loop.prompt("fix", nth)) for nth in (1, 2)]}


def test_us002_context(prompts, repo):
    """Prompt includes: project name, feature description, full PRD context (all stories)."""
    for prompt in prompts["review"]:
        for part in (f"Project: {repo.path.name}", "Feature: add a greeting", "t1: add a greeting", "It says hello."):
            assert part in prompt


def test_us002_iteration(prompts):
    """Prompt includes current iteration number and max iterations (e.g., "Review
    iteration 1/3")."""
    for n, prompt in enumerate(prompts["review"], 1):
        assert f"Review iteration {n}/3" in prompt


def test_us002_maximum(prompts):
    """Prompt explicitly states: "You have a maximum of 3 review cycles. Focus on critical
    issues, not nitpicks.\""""
    for prompt in prompts["review"]:
        assert "You have a maximum of 3 review cycles. Focus on critical issues, not nitpicks." in prompt


def test_us002_strictness(prompts):
    """Iteration 1 = thorough review; iteration 2 = only significant issues; iteration 3 =
    only blocking bugs."""
    own = ["This is a thorough review", "Report only significant issues", "Report only blocking bugs"]
    for n, prompt in enumerate(prompts["review"]):
        assert ("Iteration 1: thorough review. Iteration 2: only significant issues. Iteration 3: "
                "only blocking bugs." in prompt)
        assert [text in prompt for text in own] == [i == n for i in range(3)]


def test_us002_issues_go_to_the_file(prompts):
    """Prompt instructs to write issues to autom8_review.md (overwrite if exists)."""
    for prompt in prompts["review"]:
        assert f"Write the issues to the file `{FILE}` in the current directory. Overwrite it if it exists." in prompt


def test_us002_nothing_when_all_is_well(prompts):
    """Prompt instructs to output nothing to the file if all checks pass (delete file
    if it exists)."""
    for prompt in prompts["review"]:
        assert ("If all checks pass and there is no issue to report, output nothing to the file: "
                "delete it if it exists" in prompt)


def test_us002_criteria(prompts):
    """Review criteria: bugs, missing tests, code quality, pattern consistency, no
    needless repetition."""
    for prompt in prompts["review"]:
        for word in ("- Bugs:", "- Missing tests:", "- Code quality:", "- Pattern consistency:",
                     "- No needless repetition:"):
            assert word in prompt


def test_us002_test_suite(prompts):
    """Prompt instructs to explicitly run the project's test suite if tests exist."""
    for prompt in prompts["review"]:
        assert "Explicitly run the project's test suite if tests exist." in prompt


def test_us002_typecheck_and_lint(prompts):
    """Prompt instructs to run typecheck/lint commands if available (e.g., `cargo check`, `npm
    run typecheck`)."""
    for prompt in prompts["review"]:
        assert ("Run typecheck and lint commands if they are available (e.g., `cargo check`, "
                "`npm run typecheck`)." in prompt)


# US-003: prompt of the corrector

def test_us003_context(prompts, repo):
    """Prompt includes: project name, feature description, full PRD context."""
    for prompt in prompts["fix"]:
        for part in (f"Project: {repo.path.name}", "Feature: add a greeting", "t1: add a greeting", "It says hello."):
            assert part in prompt


def test_us003_reads_the_file(prompts):
    """Prompt instructs to read autom8_review.md for issues to fix."""
    for prompt in prompts["fix"]:
        assert f"Read `{FILE}` for the issues to fix." in prompt


def test_us003_judgment(prompts):
    """Prompt instructs to fix issues it agrees with (use judgment)."""
    for prompt in prompts["fix"]:
        assert "Fix the issues that you agree with. Use your judgment" in prompt


def test_us003_fixed_prefix(prompts):
    """Prompt instructs to annotate fixed items with "FIXED:" prefix in autom8_review.md."""
    for prompt in prompts["fix"]:
        assert f'Mark each fixed item with the "FIXED:" prefix in `{FILE}`' in prompt


def test_us003_iteration(prompts):
    """Prompt reminds that this is iteration X/3, focus on the most critical fixes first."""
    for n, prompt in enumerate(prompts["fix"], 1):
        assert f"This is iteration {n}/3, focus on the most critical fixes first." in prompt


# US-004: what a review comes to

def test_us004_no_file_is_a_pass(loop):
    """Returns Pass if autom8_review.md does not exist after run; what it said is the
    record of it."""
    loop.always_content()
    loop.passes(loop.run())
    assert [(r["decision"], r["feedback"].split("\n")[0]) for r in loop.daemon.reviews(1)] == [("pass", ACCOUNT)]


@pytest.mark.parametrize("blank", ["", r" \n\t\n"])
def test_us004_a_blank_file_is_a_pass(loop, blank):
    """Returns IssuesFound if autom8_review.md exists and has content: white space is none."""
    loop.set(review_1=f"printf '{blank}' > {FILE}\n" + PASS)
    loop.passes(loop.run())
    assert loop.roles() == ["implement", "review"] and not (loop.repo.path / FILE).exists()


def test_us004_content_is_issues(loop):
    """Returns IssuesFound if autom8_review.md exists and has content."""
    loop.set(review_1=write(FILE, "## Critical\n\n- [ ] work.txt:1: no greeting\n\n## Minor\n\n"
                            "- [ ] src/b.c:7: a typo"))
    loop.passes(loop.run())
    first, second = loop.daemon.reviews(1)
    assert first["decision"] == "issues" and "work.txt:1: no greeting" in first["feedback"]
    assert [(f["file"], f["line"], f["severity"], f["text"], f["state"]) for f in first["findings"]] == [
        ("work.txt", 1, "Critical", "no greeting", "new"), ("src/b.c", 7, "Minor", "a typo", "new")]
    assert [(f["text"], f["state"]) for f in second["findings"]] == [("no greeting", "resolved"),
                                                                     ("a typo", "resolved")]


def test_us004_any_text_is_an_issue(loop):
    """Returns IssuesFound if autom8_review.md exists and has content: also content
    that is no list."""
    loop.set(review_1=write(FILE, "All is fine."))
    loop.passes(loop.run())
    assert [f["text"] for f in loop.daemon.reviews(1)[0]["findings"]] == ["All is fine."]
    assert loop.roles() == ["implement", "review", "fix", "review"]


@pytest.mark.parametrize("silence", ["exit\n", "printf ' \\n\\t\\n'\nexit\n"])
def test_us004_silence_is_no_pass(loop, silence):
    """Returns Error on failure: a reviewer that ends politely and says nothing at all
    has not reviewed."""
    loop.set(review_1=silence)
    loop.ends(PROFILE.on_malformed, loop.run())
    assert loop.decisions() == ["violation"]


@pytest.mark.parametrize("before", ["", issues("something")])
def test_us004_a_crash_is_an_error(loop, before):
    """Returns Error on failure: whether or not there is a file."""
    loop.set(review_1=before + "echo trouble >&2\nexit 3\n")
    row = loop.run()
    loop.ends(PROFILE.on_exit, row)
    assert "trouble" in row["cause"] and loop.decisions() == ["error"] and loop.roles() == ["implement", "review"]


@pytest.mark.parametrize("what", [f"mkdir {FILE}\n", f"ln -s README {FILE}\n"])
def test_us004_a_file_that_is_none(loop, what):
    """Returns Error on failure: a folder or a link in its place is neither pass nor issues."""
    loop.set(review_1=what + PASS)
    loop.ends(End("failed", "reviewer contract violation: the review file is not a regular file", 10), loop.run())
    assert loop.decisions() == ["violation"] and loop.repo.read("README") == "scratch\n"


@pytest.mark.parametrize("elsewhere", [False, True])
def test_us004_a_file_that_is_too_large(loop, tmp_path, elsewhere):
    """Returns Error on failure; but it may be a review that was paid for, so it is kept, also from
    another file system."""
    if elsewhere and os.stat("/dev/shm").st_dev == os.stat(loop.daemon.state).st_dev:
        pytest.skip("needs /dev/shm as a file system of its own")
    place = tempfile.mkdtemp(dir="/dev/shm") if elsewhere else None
    repo = Repo(f"{place}/repo") if elsewhere else loop.repo
    try:
        loop.set(review_1=f"yes -- '- [ ] bad' | head -c 2097152 > {FILE}\n" + PASS)
        run = loop.daemon.review(repo.path, review={"profile": "file"})
        row = loop.daemon.ended(run)
    finally:
        if place:
            shutil.rmtree(place)
    attempt = next(a["id"] for a in loop.daemon.attempts(run) if a["role"] == "review")
    kept = loop.daemon.state / "attempts" / str(attempt) / "carrier.large"
    assert (row["state"], row["cause"]) == ("failed", "reviewer contract violation: the review "
                                            f"file is larger than 1 MiB; it is saved as {kept}")
    assert kept.read_bytes() == (b"- [ ] bad\n" * 209716)[:2097152] and not (repo.path / FILE).exists()
    assert [r["decision"] for r in loop.daemon.reviews(run)] == ["violation"]


def test_us004_a_stale_file_does_not_count(loop):
    """Returns Pass if autom8_review.md does not exist after run: one of an earlier run is gone
    before the review begins."""
    loop.repo.write(FILE, "- [ ] of an earlier run\n")
    loop.set(review_1=f"[ -e {FILE} ] && echo there > \"$PLAY/stale\"\n" + PASS)
    loop.passes(loop.run())
    assert loop.roles() == ["implement", "review"]
    assert not (loop.play.path / "stale").exists() and not (loop.repo.path / FILE).exists()


def test_us004_the_file_is_gone_before_every_review(loop):
    """Prompt says: overwrite if exists; what the corrector left of it does not count in the
    next review, either."""
    loop.set(review=f"[ -e {FILE} ] && echo there > \"$PLAY/stale\"\n" + PASS,
             fix=f"cat {FILE} > \"$PLAY/read\"\necho two >> work.txt\n")
    loop.passes(loop.run())
    assert "add a second line" in (loop.play.path / "read").read_text()
    assert not (loop.play.path / "stale").exists() and not (loop.repo.path / FILE).exists()


# US-005: what a correction comes to

def test_us005_complete(loop):
    """Returns Complete when the corrector finishes: the next review follows."""
    loop.passes(loop.run())
    assert loop.roles() == ["implement", "review", "fix", "review"]


def test_us005_error(loop):
    """Returns Error on failure: the run fails, nothing is committed, the file stays."""
    head = loop.repo.state()
    loop.set(fix="exit 4\n")
    loop.ends(End("failed", "fixer process exited with status 4", 10), loop.run())
    assert loop.repo.state() == head and "add a second line" in loop.repo.read(FILE)


def test_us005_fixed_marks_are_told(loop):
    """Corrector annotates fixed items with "FIXED:" prefix: each is told as resolved,
    by the corrector."""
    loop.set(review_1=issues("one thing", "another thing"), review_2=issues("another thing"),
             fix_1=f"sed -i 's/^- \\[ \\] one/- [x] FIXED: one/' {FILE}\necho two >> work.txt\n")
    loop.passes(loop.run())
    assert told(loop, "finding", "review", "text", "state") == [
        (1, "one thing", "new"), (1, "another thing", "new"), (1, "one thing", "resolved"),
        (2, "another thing", "repeated"), (2, "one thing", "resolved"), (3, "another thing", "resolved")]


def test_us005_a_mark_is_no_verdict(loop):
    """Corrector annotates fixed items with "FIXED:" prefix: whether they are is for the
    reviewer to say."""
    loop.set(review=issues("add a second line"), review_1=issues("add a second line"),
             fix=f"sed -i 's/^- \\[ \\] /- [x] FIXED: /' {FILE}\necho \"$nth\" >> work.txt\n")
    row = loop.run(review={"stall_limit": 0})
    loop.ends(PROFILE.on_exhausted, row)
    assert [[f["state"] for f in r["findings"]]
            for r in loop.daemon.reviews(1)] == [["new"], ["repeated"], ["repeated"]]


# US-006: the loop

def test_us006_review_before_commit(loop):
    """After all stories complete, transition to Reviewing state (not directly to Committing)."""
    head = loop.repo.git("rev-parse", "HEAD")
    loop.always_content()
    loop.submit_to("review")
    assert loop.repo.git("rev-parse", "HEAD") == head and loop.phases() == {1: "waiting", 0: "reviewing"}
    loop.play.go("review")
    loop.passes(loop.daemon.ended(1))
    assert loop.repo.git("rev-parse", "HEAD^") == head


def test_us006_starts_at_1(loop):
    """Call run_reviewer() with current iteration (starting at 1)."""
    loop.always_content()
    loop.run()
    assert "Review iteration 1/3" in reviewed(loop)[0] and [r["iteration"] for r in loop.daemon.reviews(1)] == [1]


def test_us006_pass_deletes_the_file_and_commits(loop):
    """If Pass: delete autom8_review.md if exists, transition to Committing."""
    row = loop.run()
    loop.passes(row)
    assert not (loop.repo.path / FILE).exists()
    assert row["result_commit"] == loop.repo.git("rev-parse", "HEAD") and committed(loop) == ["work.txt"]


def test_us006_issues_lead_to_the_corrector(loop):
    """If IssuesFound: transition to Correcting; after correction increment review_iteration,
    transition back to Reviewing."""
    loop.run()
    assert told(loop, "slot.phase", "phase", "round")[2:5] == [("reviewing", 1), ("fixing", 1), ("reviewing", 2)]


def test_us006_the_end_of_patience(loop):
    """If review_iteration > 3 and still issues: fail; the work and the file are kept,
    nothing is committed."""
    head = loop.repo.state()
    loop.never_content()
    loop.ends(PROFILE.on_exhausted, loop.run())
    assert loop.roles() == ["implement", "review", "fix", "review", "fix", "review"], "the last step is a review"
    assert loop.repo.state() == head and loop.repo.read("work.txt") == "one\nfix 1\nfix 2\n"
    assert "point 3" in loop.repo.read(FILE)


# US-007: the file is never committed

@pytest.mark.parametrize("role", ["review", "fix"])
def test_us007_agents_are_told(prompts, role):
    """Verify commit agent is instructed to never stage or commit this file."""
    for prompt in prompts[role]:
        assert f"Never stage or commit `{FILE}`" in prompt


@pytest.mark.parametrize("command", ["git add -A", f"git add -A; git add -f {FILE}"])
def test_us007_an_agent_that_adds_everything(loop, command):
    """Never commit autom8_review.md: git itself passes it over, and what is forced into the index
    stays out of the commit."""
    loop.set(fix=f"echo two >> work.txt\n{command}\ngit status --porcelain > \"$PLAY/status\"\n")
    loop.passes(loop.run())
    status = (loop.play.path / "status").read_text()
    assert (FILE in status) == ("-f" in command) and "work.txt" in status, status
    assert committed(loop) == ["work.txt"] and FILE not in loop.repo.git("log", "--all", "--name-only")


def test_us007_an_agent_that_commits_it(loop):
    """Never commit autom8_review.md: an agent that does so itself has failed, and is
    told how to undo it."""
    loop.set(fix=f"echo two >> work.txt\ngit add -f {FILE}\n"
             "git -c user.name=a -c user.email=a@example.org commit -qm 'all of it'\n")
    run = loop.run()
    assert (run["state"] == "failed" and f"{FILE} was committed by an agent" in run["cause"]
            and "git commit --amend" in run["cause"])


def test_us007_excluded_by_git_itself(loop):
    """Add autom8_review.md to the exclusion list: the one that git reads, and once."""
    for _ in range(2):
        loop.always_content()
        loop.run()
    exclude = loop.repo.read(".git/info/exclude").split("\n")
    assert exclude.count(f"/{FILE}") == 1 and loop.repo.git("status", "--porcelain") == ""


def test_us007_not_in_the_diff(loop):
    """Never commit autom8_review.md: nor is it part of what is reviewed, shown or locked."""
    loop.set(review=issues("again"), review_1=issues("first"))
    loop.run(review={"max_fixes": 1})
    assert (loop.repo.path / FILE).exists()
    assert FILE not in loop.daemon.rlctl("diff", "1", check=0).out
    for prompt in reviewed(loop):
        assert f"b/{FILE}" not in prompt and "b/work.txt" in prompt


def test_us007_exactly_the_work_is_committed(loop):
    """No partial commits (either all passes or nothing commits); what the user has staged or left
    lying about stays his."""
    loop.repo.write("staged.txt", "the user's\n")
    loop.repo.git("add", "staged.txt")
    loop.repo.write("README", "changed by the user\n")
    loop.repo.write("lying.txt", "about\n")
    loop.set(implement="echo one > work.txt\nmkdir -p deep\necho x > deep/new.txt\n")
    loop.passes(loop.run("add a greeting"))
    assert committed(loop) == ["deep/new.txt", "work.txt"]
    assert loop.repo.git("show", "HEAD:work.txt") == "one\nfix 1"
    assert loop.repo.git("status", "--porcelain").split("\n") == ["M README", "A  staged.txt", "?? lying.txt"]
    assert loop.repo.git("show", "-s", "--format=%s", "HEAD") == "add a greeting"


def test_us007_nothing_is_committed_when_told_so(loop):
    """A written value wins over the profile: commit = "none"."""
    head = loop.repo.state()
    row = loop.run(commit="none")
    loop.passes(row)
    assert loop.repo.state() == head and row["result_commit"] is None


# US-008: the error

def test_us008_the_message(loop):
    """Error message: "Review failed after 3 iterations. Please manually review autom8_review.md for
    remaining issues.\""""
    loop.never_content()
    row = loop.run()
    assert (row["state"], row["cause"]) == ("failed", FAILED)
    assert FAILED in loop.daemon.rlctl("show", "1", check=0).out


def test_us008_the_message_says_how_many(loop):
    """The number of the message is that of the reviews there were, its file the one
    that was written."""
    loop.set(review_1=issues("x", name="notes.md"))
    row = loop.run(review={"max_fixes": 0, "review_file": "notes.md"})
    assert row["cause"] == "Review failed after 1 iterations. Please manually review notes.md for remaining issues."


# US-009: results

def test_us009_results(loop):
    """Pass, IssuesFound, Error: each is a word in the review record."""
    loop.run()
    loop.set(review_1="exit 3\n")
    loop.run()
    assert loop.decisions(1) == ["issues", "pass"] and loop.decisions(2) == ["error"]


# US-010: what is told

def lines(done):
    """What rlctl run says of the review, line by line."""
    return [line for line in done.err.split("\n") if re.match(r"Review|Issues|Skipping", line)]


def test_us010_of_a_pass(loop):
    """Display "Reviewing changes (iteration 1/3)..." and "Review passed! Proceeding to commit."."""
    loop.always_content()
    assert lines(rlctl(loop)) == ["Reviewing changes (iteration 1/3)...", "Review passed! Proceeding to commit."]


def test_us010_of_a_correction(loop):
    """Display "Issues found. Running corrector (iteration 1/3)..." when entering
    Correcting state."""
    assert lines(rlctl(loop)) == ["Reviewing changes (iteration 1/3)...",
                                  "Issues found. Running corrector (iteration 1/3)...",
                                  "Reviewing changes (iteration 2/3)...",
                                  "Review passed! Proceeding to commit."]


def test_us010_of_the_end(loop):
    """Display "Review failed after 3 iterations." on max iterations error."""
    loop.never_content()
    done = rlctl(loop, check=10)
    assert lines(done) == ["Reviewing changes (iteration 1/3)...", "Issues found. Running corrector (iteration 1/3)...",
                           "Reviewing changes (iteration 2/3)...", "Issues found. Running corrector (iteration 2/3)...",
                           "Reviewing changes (iteration 3/3)...", "Review failed after 3 iterations."]
    assert FAILED in done.err and done.out == ""


def test_us010_without_a_commit(loop):
    """Nobody is told of a commit that will not be."""
    loop.always_content()
    assert lines(rlctl(loop, "--commit", "none")) == ["Reviewing changes (iteration 1/3)...", "Review passed!"]


# US-011: --skip-review

def test_us011_skips_to_the_commit(loop):
    """When flag is set, skip Reviewing state entirely and go directly to Committing."""
    rlctl(loop, "--skip-review")
    assert loop.roles() == ["implement"] and loop.decisions() == []
    row = loop.daemon.run(1)
    assert (row["state"] == "succeeded" and row["result_ref"] is None
            and row["slots"][0]["reason"].startswith("not reviewed"))
    assert row["result_commit"] == loop.repo.git("rev-parse", "HEAD") and committed(loop) == ["work.txt"]


def test_us011_is_told(loop):
    """Display "Skipping review (--skip-review flag set)" in terminal output."""
    assert lines(rlctl(loop, "--skip-review")) == ["Skipping review (--skip-review flag set)"]


@pytest.mark.parametrize("args", [["--skip-review", "--review=file"], ["--review=file", "--skip-review", "--review"]])
def test_us011_beats_every_other_option(loop, args):
    """--skip-review flag bypasses review loop entirely, wherever it stands."""
    rlctl(loop, *args, "--review-max-fix-attempts", "3")
    assert loop.roles() == ["implement"]


def test_us011_no_effect_on_retry(loop):
    """Flag has no effect on resume command (respects current state): a retry goes by what its run
    was submitted with."""
    loop.never_content()
    loop.ends(PROFILE.on_exhausted, loop.run())
    assert loop.daemon.rlctl("retry", "--skip-review", "1", check=2).err
    loop.set(review_1=PASS)
    loop.daemon.rlctl("retry", "1", check=0)
    loop.passes(loop.daemon.ended(2))
    assert loop.decisions(2) == [*loop.decisions(1), "pass"]


def test_us011_no_effect_on_the_retry_of_a_skipped_run(loop):
    """Flag has no effect on resume command: what only the flag left out is reviewed when the
    run is tried again."""
    loop.set(implement="exit 1\n")
    rlctl(loop, "--skip-review", check=10)
    loop.set(implement="echo one > work.txt\nanswer done\n")
    loop.daemon.rlctl("retry", "1", check=0)
    loop.passes(loop.daemon.ended(2))
    assert loop.decisions(1) == [] and loop.decisions(2)[-1] == "pass"


# What else was asked for

def test_a_directory_in_its_place(loop):
    """It is noticed before anybody is paid."""
    (loop.repo.path / FILE).mkdir()
    run = loop.run()
    assert run["state"] == "failed" and f"{FILE} is a directory" in run["cause"] and loop.roles() == []


def test_scope_run_is_slot_0(loop):
    """When all stories pass, a Reviewer Agent inspects the changes: one review for the
    whole run, as slot 0."""
    loop.run()
    assert [(a["role"], a["slot"]) for a in loop.daemon.attempts(1)] == [("implement", 1), ("review", 0),
                                                                         ("fix", 0), ("review", 0)]


def test_no_history_across_runs(loop):
    """No persistence of review history across runs."""
    loop.never_content()
    loop.run()
    loop.run()
    first, again = reviewed(loop, 1)[0], reviewed(loop, 2)[0]
    assert "Review iteration 1/3" in again and "point" not in again and "point" not in first


def test_another_review_file(loop):
    """Review file location: project root ./autom8_review.md; review_file names another."""
    loop.set(review_1=issues("add a second line", name="notes.md"),
             fix="cat notes.md > \"$PLAY/read\"\necho two >> work.txt\n")
    loop.passes(loop.run(review={"review_file": "notes.md"}))
    assert "add a second line" in (loop.play.path / "read").read_text()
    assert not (loop.repo.path / "notes.md").exists() and committed(loop) == ["work.txt"]
    assert "`notes.md`" in loop.prompt("review") and FILE not in loop.prompt("review") + loop.prompt("fix")


@pytest.mark.parametrize("name", ["../notes.md", "/tmp/notes.md", "", ".git", "a/../b"])
def test_a_review_file_elsewhere_is_refused(loop, name):
    """Review file location: project root; a path that leads out of it is refused at submit."""
    with pytest.raises(RpcError) as refused:
        loop.submit(review={"review_file": name})
    assert refused.value.code == -32602 and "review_file" in str(refused.value) and loop.roles() == []


def test_in_a_directory_below_the_top(loop):
    """Review file location: where the agents work, also when that is below the top
    of the repository."""
    (loop.repo.path / "sub").mkdir()
    loop.set(fix=f"cat {FILE} > /dev/null && echo two >> work.txt\n")
    row = loop.daemon.ended(loop.daemon.review(loop.repo.path / "sub", review={"profile": "file"}))
    assert row["state"] == "succeeded", row
    assert committed(loop) == ["sub/work.txt"] and loop.repo.read("sub/work.txt") == "one\ntwo\n"
    assert loop.repo.git("status", "--porcelain") == ""


def test_a_review_in_a_checkout_of_its_own(loop):
    """The file reaches the corrector also when the reviewer works elsewhere, and stays
    when the run fails."""
    loop.never_content()
    loop.set(fix=f"cat {FILE} >> \"$PLAY/read\"\necho \"$nth\" >> work.txt\n")
    loop.ends(PROFILE.on_exhausted, loop.run(review={"workspace": "snapshot"}))
    assert re.findall(r"point \d", (loop.play.path / "read").read_text()) == ["point 1", "point 2"]
    assert "point 3" in loop.repo.read(FILE)


MISSED = ["autom8-review.md", "AUTOM8_REVIEW.md", "docs/autom8_review.md",
          "docs/deep/Autom8 Review.MD", "build/autom8_review.md"]


@pytest.mark.parametrize("place", [{}, {"workspace": "snapshot"}], ids=["same", "snapshot"])
@pytest.mark.parametrize("name", MISSED)
def test_a_file_of_nearly_that_name_is_no_pass(loop, place, name):
    """A reviewer that wrote its issues beside the file has not said that there are none."""
    loop.repo.write(".gitignore", "build/\n")
    loop.set(review_1=f"mkdir -p docs/deep build\nprintf 'bad\\n' > '{name}'\n" + say(ACCOUNT))
    row = loop.run(review=place)
    kept = [p for p in (loop.daemon.state / "attempts").glob("*/carrier.misnamed")]
    assert [p.read_text() for p in kept] == ["bad\n"]
    loop.ends(End("failed", f"reviewer contract violation: misnamed review file: {name} was "
                            f"written instead of {FILE}; its text is saved in {kept[0]}", 10), row)
    assert loop.repo.git("log", "--oneline").count("\n") == 0, "nothing was committed"


def test_in_a_work_tree_too(loop):
    loop.set(review_1="printf bad > autom8-review.md\n" + say(ACCOUNT))
    row = loop.run(isolation="worktree", review={"scope": "task"})
    assert row["state"] == "failed" and "autom8-review.md was written instead of" in row["cause"], row


@pytest.mark.parametrize("change",
                         ["", "cp autom8-review.md keep; rm autom8-review.md; mv keep autom8-review.md\n"],
                         ids=["left", "written"])
def test_a_file_of_nearly_that_name_that_was_there_before(loop, change):
    """It is of an earlier time, unless the reviewer has written it."""
    loop.repo.write(".gitignore", "*-review.md\n")
    loop.repo.write("autom8-review.md", "old\n")
    loop.set(review_1=change + "echo x > review.md\necho x > autom8_review.md.bak\n" + say(ACCOUNT))
    row = loop.run(review={"workspace": "same"})
    assert row["state"] == ("failed" if change else "succeeded"), row


def test_the_file_itself_in_a_directory_below_the_top(loop):
    """It has its name in the run's directory, and is not taken for another."""
    (loop.repo.path / "sub").mkdir()
    loop.repo.write("sub/here", "x\n")
    loop.set(review_1=issues("one"), fix="echo fixed >> work.txt\n", review_2=say(ACCOUNT))
    row = loop.daemon.ended(loop.daemon.review(loop.repo.path / "sub", review={"profile": "file"}))
    assert row["state"] == "succeeded", row


@pytest.mark.each
@pytest.mark.parametrize("words", ["API Error: 529 overloaded", "Found 3 critical issues", "."])
def test_silence_is_no_evidence(loop, words):
    """A final text without the line that the prompt asks for is no pass, unless silence is one."""
    loop.set(review_1=say(words) + "exit\n")
    row = loop.run()
    assert row["state"] == "failed" and "no evidence of a review" in row["cause"], row
    row = loop.run(review={"silence": "pass"})
    loop.passes(row)
    assert any("review.silence" in text for text in row["warnings"]), row


def test_the_line_of_another_review(loop):
    """The line with another nonce is an earlier answer, also where silence is a pass."""
    loop.set(review_1=say("Review finished: 00000000") + "exit\n")
    row = loop.run(review={"silence": "pass"})
    assert row["cause"].endswith("the answer has the nonce of another review"), row
