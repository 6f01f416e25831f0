# SPDX-License-Identifier: MIT
"""rlctl run in front of a real daemon: what each profile has it say, and a daemon that is
restarted meanwhile."""
import json

from rld import DRIFT_THEN_PASS

ISSUES = "echo '- a.c:1: off by one' > autom8_review.md\nanswer 'there is an issue'\n"
COMMENT = ("printf '{\"comments\": [{\"file\": \"work.txt\", \"line\": 1, \"severity\": "
           "\"must-fix\", \"comment\": \"%s\"}], \"summary\": \"s\"}'"
           " \"wrong $nth\" > review-comments.json\nanswer done\n")


def told(done):
    """The lines that are not indented."""
    return [line for line in done.err.splitlines() if not line.startswith(" ")]


def run(daemon, repo, *args, check):
    return daemon.rlctl("run", *args, "-C", repo.path, "do it", check=check)


def test_profile_file_says_what_requirement_002_asks_for(make_daemon, repo):
    daemon = make_daemon(scripts={**DRIFT_THEN_PASS, "review.1": ISSUES, "review": "answer 'all is well'\n"})
    done = run(daemon, repo, "--review=file", check=0)
    assert [line for line in told(done) if "eview" in line or "orrector" in line][:4] == [
        "Reviewing changes (iteration 1/3)...",
        "Issues found. Running corrector (iteration 1/3)...", "Reviewing changes (iteration 2/3)...",
        "Review passed! Proceeding to commit."], done.err
    commit = daemon.run(1)["result_commit"]
    assert commit == repo.git("rev-parse", "HEAD") and f"committed as {commit}" in done.err
    shown = daemon.rlctl("show", 1, check=0).out
    assert commit in shown and "file, at most 3 reviews of the whole run" in shown


def test_profile_file_that_fails(make_daemon, repo):
    daemon = make_daemon(scripts={**DRIFT_THEN_PASS, "review.1": ISSUES, "review": ISSUES.replace(
        ":1:", ":$nth:").replace("'- a", '"- a').replace("one'", 'one $nth"'),
                                  "fix": "echo $nth >> work.txt; answer mended\n"})
    done = run(daemon, repo, "--review=file", check=10)
    assert "Review failed after 3 iterations." in told(done) and done.out == ""
    assert ("Run 1 failed: Review failed after 3 iterations. "
            "Please manually review autom8_review.md for remaining issues." in told(done))


def test_a_commit_that_a_hook_refuses(make_daemon, repo):
    """It was no review that found something."""
    daemon = make_daemon(scripts={"implement": "echo one > work.txt\nanswer done\n",
                                  "fix": "echo two >> work.txt\nanswer mended\n", "review": "pass\n"})
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\ngrep -q two work.txt\n")
    (repo.path / ".git/hooks/pre-commit").chmod(0o755)
    done = run(daemon, repo, "--review", "--commit=auto", check=0)
    assert ("The result cannot be committed or merged yet. Running fixer (fix 1): the commit "
            "was refused by a hook of the repository:  pre-commit failed without output" in told(done)
            and "Issues found" not in done.err)
    assert repo.git("show", "HEAD:work.txt") == "one\ntwo"


def test_skipped_review(daemon, repo):
    assert "Skipping review (--skip-review flag set)" in told(run(daemon, repo, "--review", "--skip-review", check=0))


def test_known_issues_are_told_beside_the_answer(make_daemon, repo):
    daemon = make_daemon(scripts={**DRIFT_THEN_PASS, "review.1": COMMENT, "review": COMMENT,
                                  "fix": "echo $nth >> work.txt; answer mended\n"})
    done = run(daemon, repo, "--review=comments", check=0)
    issues = daemon.run(1)["known_issues"]
    assert (len(issues) == 1 and f"rlctl: known issue: {issues[0]}" in told(done)
            and "known issues: 1" in done.err and "Review passed!" not in done.err)
    assert "known issue" in daemon.rlctl("show", 1, check=0).out
    assert daemon.call("run.report", id=1)["known_issues"] == issues
    assert daemon.call("run.list")["runs"][0]["known_issues"] == issues


def test_a_reviewer_that_fails_costs_no_answer_but_is_told(make_daemon, repo):
    reviewer = repo.path.parent / "review.sh"
    reviewer.write_text("#!/bin/sh\nexit 2\n")
    reviewer.chmod(0o755)
    daemon = make_daemon()
    done = run(daemon, repo, "--review=exit", "--reviewer", reviewer, check=0)
    assert (done.out == "first answer\n" and "rlctl: warning: task t1: accepted: " in done.err
            and "Run 1 succeeded: accepted: " in done.err)
    assert run(daemon, repo, "-q", "--review=exit", "--reviewer", reviewer, check=0).err == ""


def test_a_restart_of_the_daemon_is_no_end(make_daemon, repo):
    daemon = make_daemon(scripts={**DRIFT_THEN_PASS, "implement": "gate a\n" + DRIFT_THEN_PASS["implement"],
                                  "review.2": "gate b\npass\n"}, gates=["a", "b"])
    process = daemon.rlctl_start("run", "--review", "-C", repo.path, "do it")
    daemon.play.arrived("a")
    daemon.kill()
    daemon.start()
    daemon.play.go("a")
    daemon.play.arrived("b")
    daemon.restart()
    daemon.play.go("b")
    out, err = process.communicate()
    lines = [line for line in err.decode().splitlines() if not line.startswith(" ")]
    assert process.returncode == 0 and out == b"second answer\n"
    assert lines.count("Run 1 running: preparing") == 1 and lines.count(
        "Reviewing changes (iteration 1/6)...") == 1 and lines.count("Run 1 succeeded") == 1
    assert "The daemon disappeared; waiting for it to return." in lines


def test_checks_are_shown(daemon, repo):
    done = run(daemon, repo, "--review", "--check", "grep -q two work.txt", check=0)
    # the first review asks for a second line as well
    assert told(done).count("Running checks...") == 3 and "A check failed. Running fixer (fix 1)..." in told(done)
    assert "1 check before each" in daemon.rlctl("show", 1, check=0).out
    report = json.loads(daemon.rlctl("--json", "report", 1, check=0).out)
    assert report["stats"]["checks"] == 6 and report["timeline"][1]["type"] == "check"


def test_what_keeps_a_run_from_its_directory(make_daemon, repo):
    """submit says it at once, and run -q once for each reason: it could wait for ever."""
    daemon = make_daemon(scripts={"implement": "gate g$RL_RUN\nanswer done\n"}, gates=["g1", "g2", "g3"])
    daemon.submit(repo.path)
    daemon.play.arrived("g1")
    done = daemon.rlctl("submit", "-C", repo.path, "two", check=0)
    assert (done.out, done.err) == ("2\n", "rlctl: run 2 waits: workdir busy: run 1\n")
    assert daemon.rlctl("submit", "-q", "-C", repo.path, "three", check=0).err == ""
    daemon.call("run.cancel", id=3)
    quiet = daemon.rlctl_start("run", "-q", "-C", repo.path, "four")
    assert quiet.stderr.readline() == b"rlctl: run 4 waits: workdir busy: run 1\n"
    daemon.call("run.pause", id=1)
    assert quiet.stderr.readline() == b'rlctl: run 4 waits: workdir busy: run 1; it is paused: "rlctl resume 1"\n'
    daemon.call("run.cancel", id=4)
    assert quiet.wait() == 11
    daemon.call("run.cancel", id=2)
    daemon.cancelled(1)


def test_a_run_that_made_nothing_names_no_diff(make_daemon, repo):
    """"rlctl diff" would be refused."""
    daemon = make_daemon(scripts={"implement": "exit 3\n"})
    done = run(daemon, repo, check=10)
    assert done.err.endswith('See "rlctl logs 1", "rlctl show 1".\n'), done.err
    daemon.rlctl("diff", 1, check=1)
