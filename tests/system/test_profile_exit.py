# SPDX-License-Identifier: MIT
"""Profile exit, sentence by sentence as it was asked for: a program is given the answer and
says by its exit status whether it is good enough; whatever happens to the program, the
answer is not lost."""
import json
import os
import pathlib
import re
import shlex
import shutil
import stat
import subprocess

import pytest

import loop
from loop import End, Loop, say
from rld import FAKES, SOURCE, RpcError

PASS = "echo 'nobody reads this'\n"


def retry(text):
    return say(text) + "exit 1\n"


def program(loop, name="review.sh", before=""):
    """A reviewer: plays the scripts of the role review, and keeps its arguments and
    its environment."""
    path, play = loop.daemon.path / name, shlex.quote(str(loop.play.path))
    path.write_text(f"#!/bin/sh\n{before}printf '%s\\n' \"$#\" \"$@\" > {play}/arguments\n"
                    f"env -0 > {play}/environment.$SWIVAL_REVIEW_ROUND\n"
                    f"exec {FAKES / 'play'} {play}\n")
    path.chmod(0o755)
    return str(path)


PROFILE = loop.Profile(
    name="exit", passes=PASS, finds=retry, pass_word="accept", findings_word="retry", max_fixes=4,
    malformed="", on_malformed=None,
    on_exit=End("succeeded", "accepted: reviewer process exited with status 3", 0),
    on_signal=End("succeeded", "accepted: reviewer process killed by signal 9", 0),
    on_timeout=End("succeeded", "accepted: reviewer process timed out after 1s", 0),
    on_exhausted=End("succeeded", "accepted: max review rounds (5) reached", 0),
    prepare=lambda loop: {"reviewer": program(loop)},
)


class TestMatrix(loop.Matrix):
    profile = PROFILE
    # every exit status is a verdict, or an error of the reviewer
    test_malformed = None
    test_malformed_after_a_fix = None
    test_malformed_and_asked = None
    test_malformed_once_more = None


@pytest.fixture
def loop(make_daemon, repo, tmp_path):
    return Loop(make_daemon, repo, tmp_path, PROFILE)


@pytest.mark.parametrize("status", [0, 3])
def test_no_status_is_asked_about(loop, status):
    """on_malformed = "ask" changes nothing: each exit status is a verdict, or an error."""
    loop.set(review_1=say('{"verdict": "maybe"') + f"exit {status}\n")
    row = loop.run(review={"on_malformed": "ask"})
    if status == 0:
        loop.passes(row)
    else:
        loop.ends(PROFILE.on_exit, row)
    assert loop.roles() == ["implement", "review"]
    assert not any(slot["asked"] for slot in loop.daemon.run(1)["slots"])


@pytest.fixture
def talking(make_daemon, repo, tmp_path):
    """A loop with an agent that has conversations: it tells their names and can take
    one up again."""
    said = '{"type": "result", "subtype": "success", "is_error": false, "result": "%s", "session_id": "s-%s"}'
    script = ("printf '%s\\n' \"$*\" > \"$PLAY/words.$role.$nth\"\necho \"$nth\" >> work.txt\n" +
              say(said % ("$role $nth", "$role-$nth")))
    return Loop(make_daemon, repo, tmp_path, PROFILE, scripts={"implement": script, "fix": script},
                config={"agent.play": {"reader": "claude", "resume": ["--resume", "{session}"]}})


def rlctl(loop, *args, reviewer=None, check=0, task="do it", **kwargs):
    return loop.daemon.rlctl("run", "--reviewer", reviewer or program(loop), *args, task,
                             cwd=kwargs.pop("cwd", loop.repo.path), check=check, **kwargs)


def environment(loop, nth):
    return dict(e.split("=", 1) for e in (loop.play.path / f"environment.{nth}").read_bytes().decode(
        errors="surrogateescape").split("\0")[:-1])


def answer(done):
    return done.out.rstrip("\n")


# The protocol

def test_argument_1_is_the_base_directory(loop):
    """Argument 1: the base directory (absolute path)."""
    (loop.repo.path / "sub").mkdir()
    loop.set(review_1=PASS)
    for where in (loop.repo.path, loop.repo.path / "sub"):
        rlctl(loop, "-C", ".", cwd=where)
        assert (loop.play.path / "arguments").read_text() == f"1\n{where}\n"


@pytest.mark.parametrize("text",
                         [b"plain\n", b"no end of line",
                          b"\xc3\xa4 \x1b[1mbold\x1b[0m\ttab\r\n\n\n  '\"$(x)`\\ ", b"", b"x" * 300_000])
def test_stdin_is_the_answer(loop, text):
    """stdin: the agent's full text answer, byte for byte."""
    (loop.play.path / "text").write_bytes(text)
    loop.set(implement="cat \"$PLAY/text\"\necho one > work.txt\n", review_1=PASS)
    loop.passes(loop.run())
    assert loop.play.prompt(1, "review") == text


def test_exit_0_accepts(loop):
    """Exit code 0: accept; print the answer and exit normally; stdout is ignored."""
    loop.set(review_1=say("try again") + "exit 0\n")
    done = rlctl(loop)
    assert answer(done) == "first answer" and loop.roles() == ["implement", "review"]
    assert [(r["decision"], r["feedback"]) for r in loop.daemon.reviews(1)] == [("accept", "")]
    assert "try again" not in done.err


def test_exit_1_retries(loop):
    """Exit code 1: retry; feed the reviewer's stdout back as a new prompt, re-enter
    the agent loop."""
    loop.set(review_1=retry("Tests are failing.\n  two of them") + "", fix="answer 'second answer'\n")
    assert answer(rlctl(loop)) == "second answer"
    assert loop.roles() == ["implement", "review", "fix", "review"]
    assert "Tests are failing.\n  two of them" in loop.prompt("fix")
    assert loop.play.prompt(1, "review", 2) == b"second answer\n"


@pytest.mark.parametrize("how,why", [("exit 2", "exited with status 2"), ("exit 3", "exited with status 3"),
                                     ("exit 127", "exited with status 127"),
                                     ("kill -SEGV $$", "killed by signal 11")])
def test_other_exits_accept_with_a_warning(loop, how, why):
    """Exit code 2, or any other: warn on stderr, accept the answer as-is; stdout is ignored."""
    loop.set(review_1=say("not for you") + f"{how}\n")
    done = rlctl(loop)
    assert answer(done) == "first answer" and loop.roles() == ["implement", "review"]
    assert f"accepted: reviewer process {why}" in done.err and "not for you" not in done.err
    assert loop.decisions() == ["error"]


@pytest.mark.parametrize("how,roles", [("exit 1", ["implement", "review", "fix", "review"]),
                                       ("exit 2", ["implement", "review"])])
@pytest.mark.parametrize("words", ["Error: usage limit reached", "rate_limit: 1 test failed",
                                   "test_login: Invalid API key"])
def test_what_it_prints_on_stderr_is_no_verdict(loop, how, roles, words):
    """The exit status alone says what it means: no words of tests about services make it a
    service's failure."""
    loop.set(review_1=say("more") + f"echo '{words}' >&2\n{how}\n", fix="answer 'second answer'\n", review=PASS)
    rlctl(loop)
    assert loop.roles() == roles
    assert [a["provider"] for a in loop.daemon.attempts(1) if a["role"] == "review"] == ["ok"] * roles.count("review")


@pytest.mark.parametrize("how", ["exit 2", "kill -9 $$", "sleep 60"])
def test_by_leave_is_no_accept(loop, how):
    """The answer is accepted as-is: nobody has passed it, so no verdict is recorded and
    nothing is locked."""
    loop.set(review_1=f"{how}\n")
    row = loop.run(review={"timeout": "1s"})
    assert row["cause"].startswith("accepted: ") and row["result_ref"] is None and loop.passed_refs() == []
    assert ("accept" not in loop.decisions() and row["warnings"][-1] == f"task t1: {row['cause']}"
            and len(row["warnings"]) == (2 if how == "exit 2" else 1))


def test_feedback_without_words(loop):
    """Exit code 1 with nothing on stdout still asks for another pass."""
    loop.set(review_1="exit 1\n")
    loop.passes(loop.run())
    assert "without giving a reason" in loop.prompt("fix")


def test_feedback_that_is_no_utf8(loop):
    """Feed the reviewer's stdout back: what is no text in it is replaced, the rest arrives."""
    loop.set(review_1="printf 'caf\\351 is missing\\n'\nexit 1\n")
    loop.passes(loop.run())
    assert "caf� is missing" in loop.prompt("fix")


# Environment variables

def test_swival_task(loop):
    """SWIVAL_TASK: the original question; always set."""
    task = "Refactor the auth module\n\n- $HOME 'stays' \"as it is\"\n- ä\n"
    loop.run(task)
    assert [environment(loop, n)["SWIVAL_TASK"] for n in (1, 2)] == [task, task]


def test_swival_review_round(loop):
    """SWIVAL_REVIEW_ROUND: current round number, 1-indexed."""
    loop.never_content()
    loop.run()
    assert [environment(loop, n)["SWIVAL_REVIEW_ROUND"] for n in range(1, 6)] == ["1", "2", "3", "4", "5"]


def test_swival_model(loop):
    """SWIVAL_MODEL: resolved model ID, when available: that of the agent that answers."""
    loop.run()
    assert "SWIVAL_MODEL" not in environment(loop, 1)
    loop.run(model="qwen3-coder-30b")
    assert environment(loop, 1)["SWIVAL_MODEL"] == "qwen3-coder-30b"


def test_inherits_the_environment(make_daemon, repo, tmp_path):
    """The reviewer also inherits the parent process's environment: as far as it is harmless, and
    what the agent's env names."""
    loop = Loop(make_daemon, repo, tmp_path, PROFILE, config={"agent.play": {"env": ["REVIEW_TOKEN"]}})
    rlctl(loop, environment={"REVIEW_TOKEN": "of the submitter", "LC_TIME": "C.UTF-8"})
    seen = environment(loop, 1)
    assert (seen["REVIEW_TOKEN"] == "of the submitter" and seen["LC_TIME"] == "C.UTF-8"
            and seen["HOME"] == str(loop.daemon.home))


@pytest.mark.parametrize("where", ["review", "profile", "submit"])
def test_variables_that_the_review_names(make_daemon, repo, tmp_path, where):
    """env of [review], of a profile, or of the submit; the program has them, and its
    agent has not."""
    config = {"review": {"review": {"env": ["MY_REVIEW_SETTING"]}}, "submit": {},
              "profile": {"profile.mine": {"extends": "exit", "env": ["MY_REVIEW_SETTING"]}}}[where]
    loop = Loop(make_daemon, repo, tmp_path, PROFILE, config=config)
    more = {"env": ["MY_REVIEW_SETTING"]} if where == "submit" else {"profile": "mine"} if where == "profile" else {}
    names = loop.daemon.call("daemon.hello", min=1, max=1)["agent_env"]
    assert ("MY_REVIEW_SETTING" in names) == (where != "submit")
    loop.set(implement="[ -z \"$MY_REVIEW_SETTING\" ] || exit 3\nanswer 'first answer'\n")
    environment_sent = {"PATH": loop.daemon.environment["PATH"], "MY_REVIEW_SETTING": "strict"}
    loop.run(review=more, environment=environment_sent)
    assert environment(loop, 1)["MY_REVIEW_SETTING"] == "strict"
    if where == "review":
        rlctl(loop, environment={"MY_REVIEW_SETTING": "from the shell"})
        assert environment(loop, 1)["MY_REVIEW_SETTING"] == "from the shell"


def test_a_project_cannot_ask_for_variables(loop):
    loop.repo.write(".rld.toml", '[review]\nenv = ["MY_REVIEW_SETTING"]\n')
    assert ".rld.toml:2:1" in rlctl(loop, check=1).err


def test_exit_2_tells_that_variables_are_left_out(loop):
    """And how they are handed on; nobody else is told so."""
    loop.set(review_1='[ -n "$MY_REVIEW_SETTING" ] || exit 2\n')
    done = rlctl(loop, environment={"MY_REVIEW_SETTING": "strict"})
    assert "env of [review]" in done.err and "--env NAME=VALUE" in done.err, done.err
    assert "env of [review]" in loop.daemon.reviews(1)[0]["feedback"]
    loop.set(review_1="exit 3\n")
    assert "env of [review]" not in rlctl(loop).err


def test_a_secret_that_nobody_names_stays_behind(loop):
    """The reviewer inherits what its agent would: a variable that no agent's env names does not
    leave the submitter."""
    rlctl(loop, environment={"REVIEW_TOKEN": "secret"})
    assert "REVIEW_TOKEN" not in environment(loop, 1)


def test_our_values_take_precedence(make_daemon, repo, tmp_path):
    """If any of these variables already exist in the parent environment, Swival's values
    take precedence."""
    theirs = {"SWIVAL_TASK": "theirs", "SWIVAL_REVIEW_ROUND": "9", "SWIVAL_MODEL": "theirs"}
    loop = Loop(make_daemon, repo, tmp_path, PROFILE, config={"agent.play": {"env": list(theirs)}})
    rlctl(loop, environment=theirs)
    assert environment(loop, 1)["SWIVAL_MODEL"] == "theirs", "they would be inherited"
    rlctl(loop, "--model", "ours", environment=theirs, task="ours")
    seen = environment(loop, 1)
    assert [seen[name] for name in theirs] == ["ours", "1", "ours"]


# Retry behaviour

def test_the_conversation_goes_on(talking):
    """Appends the reviewer's stdout as a new user message; the model sees the full
    conversation history."""
    talking.set(review_1=retry("point 1"), review_2=retry("point 2"))
    talking.passes(talking.run())
    words = [(talking.play.path / f"words.{name}").read_text().split(" ")[1:]
             for name in ("implement.1", "fix.1", "fix.2")]
    assert [w[0] if w else None for w in words] == [None, "--resume", "--resume"]
    assert [w[1].strip() for w in words[1:]] == ["s-implement-1",
                                                 "s-fix-1"], "each goes on from the answer under review"
    for nth in (1, 2):
        prompt = talking.prompt("fix", nth)
        assert f"point {nth}" in prompt and "do it" not in prompt, "the conversation knows the rest"
        assert len(prompt.split("## If a finding is mistaken")[0]) < 200, prompt
    assert [talking.play.prompt(1, "review", n) for n in (1, 2, 3)] == [b"implement 1", b"fix 1", b"fix 2"]


def test_without_a_conversation_it_is_retold(loop):
    """The model sees everything from prior rounds: an agent that cannot go on is told task, answer
    and every review."""
    loop.set(review_1=retry("point 1"), review_2=retry("point 2"))
    loop.passes(loop.run("write a line"))
    second = loop.prompt("fix", 2)
    for text in ("write a line", "first answer", "answer 1", "point 1", "point 2", "round 1: retry", "round 2: retry"):
        assert text in second, text
    assert second.count("answer 1") == second.count("first answer") == 1


def test_everything_from_prior_rounds_is_retold(loop):
    """All answers and all feedback in their order, and however long they are, each
    has its share."""
    long = "echo $(head -c 400000 /dev/zero | tr '\\0' x)"
    loop.set(fix=f"echo \"fix $nth\" >> work.txt\necho \"BEGIN-$nth\"; {long}; echo \"END-$nth\"\n",
             review=f"echo 'point '$nth; {long}; exit 1\n")
    loop.never_content()
    loop.set(review=f"echo \"point $nth.\"\n{long}\nexit 1\n")
    loop.run("write a line")
    last = loop.prompt("fix", 4)
    told = last[last.index("## History"):]
    places = [told.index(text) for text in ("first answer", "point 1", "BEGIN-1", "END-1",
                                            "point 2.", "BEGIN-2", "END-2", "point 3.")]
    assert places == sorted(places) and "characters left out" in told
    assert "BEGIN-3" in last and "END-3" in last and len(told) < 4 * 50_000


def test_each_round_has_a_fresh_budget(loop):
    """Resets the turn counter: each fix is a process of its own with the whole time of one attempt,
    as its shim was told."""
    loop.never_content()
    loop.run(timeout="40m")
    assert len({s[3] for s in loop.play.starts(1, "fix")}) == 4
    jobs = {a["role"]: [] for a in loop.daemon.attempts(1)}
    for a in loop.daemon.attempts(1):
        job = (loop.daemon.state / "attempts" / str(a["id"]) / "job").read_text()
        jobs[a["role"]].append(re.search(r"^wall_ms (\d+)$", job, re.M).group(1))
    assert jobs["implement"] == [str(40 * 60 * 1000)] and jobs["fix"] == jobs["implement"] * 4, jobs


def test_five_rounds_at_most(loop):
    """There is a hard cap of 5 review rounds; Swival accepts the last answer with a warning."""
    loop.never_content()
    done = rlctl(loop)
    assert answer(done) == "answer 4" and "accepted: max review rounds (5) reached" in done.err
    assert loop.decisions() == ["retry"] * 5 and loop.passed_refs() == []
    assert loop.daemon.call("run.report", id=1)["stats"]["review_rounds"] == 5


def test_a_reviewer_that_repeats_itself_is_asked_again(make_daemon, repo, tmp_path):
    """If the reviewer keeps returning 1 after 5 rounds: before that, no lack of
    progress ends the loop."""
    loop = Loop(make_daemon, repo, tmp_path, PROFILE,
                scripts={"review": retry("again"), "review.1": retry("again"), "fix": "answer same\n"})
    loop.ends(PROFILE.on_exhausted, loop.run())
    assert len(loop.play.starts(1, "review")) == 5


# Failure handling

@pytest.mark.parametrize("make", [lambda p: None, lambda p: p.write_text("#!/bin/sh\n"),
                                  lambda p: p.mkdir(), lambda p: p.symlink_to("nowhere")],
                         ids=["missing", "not-executable", "directory", "dangling"])
@pytest.mark.parametrize("command", ["run", "submit"])
def test_validated_at_startup(loop, tmp_path, make, command):
    """Swival validates the reviewer executable at startup: if it doesn't exist or isn't executable,
    the run fails immediately."""
    path = tmp_path / "reviewer"
    make(path)
    done = loop.daemon.rlctl(command, "--reviewer", path, "do it", cwd=loop.repo.path, check=1)
    assert str(path) in done.err and "chmod +x" in done.err and done.out == ""
    assert loop.play.starts() == [] and loop.daemon.call("run.list")["runs"] == []


def test_a_name_is_looked_up_on_the_path(loop, tmp_path):
    """Validated at startup: a reviewer without a slash is a program on the PATH of
    the submitter."""
    program(loop, "my-judge")
    path = {"PATH": f"{loop.daemon.path}:{loop.daemon.environment['PATH']}"}
    rlctl(loop, reviewer="my-judge", environment=path)
    assert loop.decisions() == ["retry", "accept"]
    assert "my-judge" in rlctl(loop, reviewer="my-judge", check=1).err


def test_a_relative_path_is_the_callers(loop):
    """--reviewer ./review.sh: seen from where rlctl is called, not from the workdir."""
    program(loop, "here.sh")
    loop.daemon.rlctl("run", "--reviewer", "./here.sh", "-C", loop.repo.path, "do it", cwd=loop.daemon.path, check=0)
    assert loop.decisions() == ["retry", "accept"]


def test_timeout(loop):
    """Timeout (120 seconds): warns on stderr, accepts the answer."""
    loop.set(review_1="gate review\n")
    loop.repo.write(".rld.toml", "[review]\ntimeout = \"1s\"\n")
    done = rlctl(loop)
    assert answer(done) == "first answer" and "accepted: reviewer process timed out after 1s" in done.err


def test_timeout_is_120_seconds(loop):
    """Timeout (120 seconds)."""
    loop.run()
    assert loop.daemon.call("run.report", id=1)["settings"]["review_timeout_ms"] == 120_000


def test_a_timeout_of_the_run_holds_for_its_reviewer(loop):
    """--timeout is of every role: 120 seconds are a default."""
    loop.set(review_1="exit 0\n")
    done = rlctl(loop, "--timeout", "9m", "--idle-timeout", "8m")
    clocks = loop.daemon.call("run.report", id=1)["settings"]["clocks"]
    assert done.returncode == 0 and {(c["wall_ms"], c["idle_ms"])
                                     for c in clocks.values()} == {(540_000, 480_000)}, clocks


@pytest.mark.parametrize("spoil", [lambda p: p.unlink(), lambda p: p.chmod(0o644),
                                   lambda p: (p.parent / "interpreter").unlink()],
                         ids=["deleted", "permissions", "interpreter"])
def test_spawn_failure(loop, spoil):
    """Spawn failure (binary deleted, permissions changed): warns on stderr, accepts the answer."""
    path = pathlib.Path(program(loop))
    (path.parent / "interpreter").symlink_to("/bin/sh")
    path.write_text(path.read_text().replace("#!/bin/sh", f"#!{path.parent}/interpreter"))
    run = loop.daemon.rlctl_start("run", "--reviewer", str(path), "do it", cwd=loop.repo.path)
    loop.play.set({"implement": "gate implement\necho one > work.txt\nanswer 'first answer'\n"})
    loop.play.arrived("implement")
    spoil(path)
    loop.play.go("implement")
    out, err = run.communicate()
    assert run.returncode == 0 and out == b"first answer\n"
    assert b"accepted: reviewer process could not be started" in err and b"review.sh" in err, err
    assert loop.decisions() == ["error"] and loop.passed_refs() == []


def test_an_implementer_that_fails_is_not_reviewed(loop):
    """After the agent produces an answer, Swival pipes it to the reviewer: without one there is
    nothing to accept."""
    loop.set(implement="exit 1\n")
    done = rlctl(loop, check=10)
    assert done.out == "" and loop.roles() == ["implement"]


def test_a_changed_tree_is_a_warning(loop):
    """The reviewer can do anything: what it changed is told, and its verdict stands."""
    loop.set(review_1="echo more >> work.txt\necho new > new.txt\n")
    row = loop.run()
    assert row["state"] == "succeeded" and loop.decisions() == ["accept"]
    assert [w for w in row["warnings"] if "reviewer changed the tree: work.txt" in w], row["warnings"]
    assert [w for w in row["warnings"] if "these files appeared in" in w and "new.txt" in w], row["warnings"]


def test_works_without_git(loop, tmp_path):
    """The reviewer is just an executable, and needs no repository."""
    plain = tmp_path / "plain"
    plain.mkdir()
    assert answer(rlctl(loop, cwd=plain)) == "answer 1"
    assert loop.decisions() == ["retry", "accept"] and (plain / "work.txt").read_text() == "one\nfix 1\n"
    assert sorted(p.name for p in plain.iterdir()) == ["work.txt"]


# Interaction with other flags

def test_quiet(loop):
    """--quiet suppresses all diagnostics; only the final accepted answer is printed on stdout."""
    done = rlctl(loop, "--quiet")
    assert (done.out, done.err) == ("answer 1\n", "")
    loop.never_content()
    done = rlctl(loop, "-q")
    assert (done.out, done.err) == ("answer 4\n", ""), "warnings, too"


def test_diagnostics_go_to_stderr(loop):
    """Reviewer diagnostics (round numbers, acceptance messages, warnings) go to stderr; rejected
    answers are never printed."""
    done = rlctl(loop)
    assert done.out == "answer 1\n"
    for line in ("Reviewing changes (iteration 1/5)...", "Reviewing changes (iteration 2/5)...", "Review passed!"):
        assert line in done.err.split("\n"), done.err


def questions(directory):
    """The two questions of the requirement, put to report.json: by jq where there is one."""
    rounds, turns = re.findall(r"^(jq .*)$", pieces()["questions.sh"], re.M)
    if shutil.which("jq"):
        return [subprocess.run(["sh", "-c", line], cwd=directory, capture_output=True, check=True,
                               text=True).stdout for line in (rounds, turns)]
    report = json.loads((directory / "report.json").read_text())
    return [f"{report['stats']['review_rounds']}\n",
            "".join(json.dumps({"turn": t["turn"], "type": t["type"]}, indent=2) + "\n" for t in report["timeline"])]


def turns(text):
    return [(t["turn"], t["type"]) for t in json.loads("[" + text.strip().replace("}\n{", "},{") + "]")]


def test_report(loop, tmp_path):
    """stats.review_rounds counts the reviewer's calls; turn numbers are cumulative over
    all review rounds."""
    rlctl(loop, "--report", tmp_path / "report.json")
    rounds, timeline = questions(tmp_path)
    assert rounds == "2\n"
    assert turns(timeline) == [(1, "implement"), (2, "review"), (3, "fix"), (4, "review")]
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["version"], report["task"], report["result"]["outcome"],
            report["result"]["answer"]) == (1, "do it", "success", "answer 1\n")
    assert (report["stats"]["fix_rounds"], report["settings"]["max_review_rounds"]) == (1, 5)
    assert [(t["decision"], t["feedback"]) for t in report["timeline"]
            if t["type"] == "review"] == [("retry", "add a second line\n"), ("accept", "")]


def test_report_without_a_reviewer(loop, tmp_path):
    """review_rounds is 0 when --reviewer is not used."""
    loop.daemon.rlctl("run", "--report", tmp_path / "report.json", "do it", cwd=loop.repo.path, check=0)
    rounds, timeline = questions(tmp_path)
    assert rounds == "0\n" and turns(timeline) == [(1, "implement")]


def test_report_after_a_failure(loop, tmp_path):
    """The JSON report captures the full timeline: also of a run that failed."""
    loop.set(fix="exit 4\n")
    rlctl(loop, "--report", tmp_path / "report.json", check=10)
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["state"], report["result"]["outcome"], report["result"]["exit_code"]) == ("failed", "error", 10)
    assert [t["type"] for t in report["timeline"]] == ["implement", "review", "fix"]


def test_report_after_a_cancel(loop, tmp_path):
    """The JSON report captures the full timeline: also of a run that was cancelled."""
    loop.stop_at("review")
    run = loop.daemon.rlctl_start("run", "--reviewer", program(loop), "--report",
                                  str(tmp_path / "report.json"), "do it", cwd=loop.repo.path)
    loop.play.arrived("review")
    loop.daemon.rlctl("cancel", "1", check=0)
    run.communicate()
    assert run.returncode == 11
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["state"] == "cancelled" and [t["type"] for t in report["timeline"]] == ["implement", "review"]


def test_report_of_a_hold(loop, tmp_path):
    """The JSON report captures the full timeline: also of a run that waits for a human, and again
    when he has decided."""
    loop.never_content()
    loop.repo.write(".rld.toml", "[review]\non_exhausted = \"hold\"\n")
    rlctl(loop, "--report", tmp_path / "report.json", "--review-max-fix-attempts", "0", check=13)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["state"] == "held" and [h["reason"] for h in report["holds"]] == ["max review rounds (1) reached"]
    loop.daemon.rlctl("hold", "approve", "1", "-m", "fine", check=0)
    loop.daemon.rlctl("wait", "1", check=0)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["state"] == "succeeded" and report["cause"].startswith("accepted: human:")


def test_a_report_that_cannot_be_written(loop, tmp_path):
    """Write failure is told, and costs nothing else."""
    done = rlctl(loop, "--report", "/no/such/directory/report.json", check=1)
    assert "/no/such/directory" in done.err and loop.roles() == []
    loop.stop_at("review")
    (tmp_path / "gone").mkdir()
    run = loop.daemon.rlctl_start("run", "--reviewer", program(loop), "--report",
                                  str(tmp_path / "gone" / "report.json"), "do it", cwd=loop.repo.path)
    loop.play.arrived("review")
    (tmp_path / "gone").rmdir()
    loop.play.go("review")
    out, err = run.communicate()
    assert run.returncode == 0 and out == b"answer 1\n"
    assert b"gone/report.json was not written" in err and b"rlctl report 1" in err


def test_what_the_reviewer_said_is_shown_once(loop):
    """Its standard output is kept byte for byte; as a finding it has no line end."""
    loop.never_content()
    loop.repo.write(".rld.toml", "[review]\non_exhausted = \"known_issues\"\n")
    text = rlctl(loop, "--review-max-fix-attempts", "0", check=0).err
    issue, = loop.daemon.run(1)["known_issues"]
    assert (issue == issue.rstrip() and f"known issue: {issue}\n" in text
            and loop.daemon.reviews(1)[0]["feedback"] == issue + "\n")
    assert loop.daemon.rlctl("review", "show", 1, check=0).out.count(issue) == 1


def test_a_report_takes_the_place_of_files_only(loop, tmp_path):
    """A pipe or a device stays what it is, and a link leads to the file that is meant."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        done = rlctl(loop, "--report", tmp_path / name, check=1)
        assert f"{name} is not a regular file" in done.err
    with pytest.raises(RpcError) as refused:
        loop.submit(report=str(tmp_path / "pipe"))
    assert refused.value.data["field"] == "report"
    with pytest.raises(RpcError) as refused:
        loop.submit(report=str(tmp_path / "missing" / "report.json"))
    assert refused.value.data["field"] == "report"
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode) and loop.roles() == []
    (tmp_path / "report.json").write_text("an old one")
    (tmp_path / "other").symlink_to("report.json")
    assert "was not written" not in rlctl(loop, "--report", tmp_path / "other", check=0).err
    assert json.loads((tmp_path / "report.json").read_text())["run"] == 1 and (tmp_path / "other").is_symlink()


# Settings

def test_reviewer_of_the_configuration(make_daemon, repo, tmp_path):
    """[review] profile = "exit" and reviewer do what --reviewer does."""
    made = tmp_path / "configured"
    loop = Loop(make_daemon, repo, tmp_path, PROFILE,
                config={"review": {"enabled": True, "profile": "exit", "reviewer": str(made)}})
    made.symlink_to(program(loop))
    loop.daemon.rlctl("run", "-q", "do it", cwd=repo.path, check=0)
    assert loop.decisions() == ["retry", "accept"]
    assert [r["reviewer_agent"] for r in loop.daemon.reviews(1)] == ["configured"] * 2


def test_profile_exit_needs_a_reviewer(loop):
    """--review=exit names no program: refused at submit, with the remedy."""
    done = loop.daemon.rlctl("run", "--review=exit", "do it", cwd=loop.repo.path, check=1)
    assert "--reviewer" in done.err and loop.roles() == []


def test_a_reviewer_is_for_this_profile_only(loop):
    """--reviewer with a profile that has an agent review is refused, not ignored."""
    with pytest.raises(RpcError) as refused:
        loop.submit(review={"profile": "verdict"})
    assert refused.value.code == -32602 and "reviewer" in str(refused.value)


# Reviewers as they were written for it, unchanged

def pieces():
    text = (SOURCE / "tests" / "data" / "reviewers.md").read_text()
    return dict(re.findall(r"^## (\S+)\n\n```sh\n(.*?)^```$", text, re.S | re.M))


@pytest.fixture
def written(loop):
    """A reviewer as it stands in the data, executable."""
    def make(name, directory=None):
        path = (directory or loop.daemon.path) / name
        path.write_text(pieces()[name])
        path.chmod(0o755)
        return path
    return make


def tool(loop, name, text):
    """A program on the PATH of everybody."""
    path = loop.play.path.parent / f"{loop.daemon.path.name}.tools" / name
    path.write_text(text)
    path.chmod(0o755)


def test_the_tests_pass_reviewer(loop, written):
    """A minimal reviewer that checks whether tests pass."""
    tool(loop, "python3", "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n")
    loop.repo.write(".gitignore", "__pycache__\n.pytest_cache\n")
    loop.repo.write("tests/test_it.py", "def test_it():\n    assert open('work.txt').read() == 'good\\n'\n")
    loop.set(implement="echo bad > work.txt\nanswer first\n", fix="echo good > work.txt\nanswer second\n")
    assert rlctl(loop, "-q", reviewer=written("tests-pass.sh")).out == "second\n"
    assert loop.decisions() == ["retry", "accept"]
    fix = loop.prompt("fix")
    assert ("Tests are failing. Fix the test failures and try again." in fix and "1 failed" in fix
            and "AssertionError" in fix)


def test_the_json_reviewer(loop, written):
    """A reviewer that validates JSON output."""
    tool(loop, "python3", "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n")
    loop.set(implement="answer 'here you are: {}'\n", fix="answer '{\"a\": 1}'\n")
    assert rlctl(loop, "-q", reviewer=written("is-json.sh")).out == '{"a": 1}\n'
    assert loop.decisions() == ["retry", "accept"]
    assert "Your answer is not valid JSON. Please output only valid JSON." in loop.prompt("fix")


JUDGE = """#!/bin/sh
nth=$(($(cat {at}/judged 2> /dev/null || echo 0) + 1))
echo $nth > {at}/judged
printf '%s\\n' "$@" > {at}/judge.$nth
case $nth in
{cases}
esac
"""


def judge(loop, *cases):
    at = shlex.quote(str(loop.play.path))
    tool(loop, "swival", JUDGE.format(at=at, cases="".join(f"{n}) {case} ;;\n" for n, case in enumerate(cases, 1))))


def test_the_judge(loop, written):
    """Using Swival as a reviewer: the judge knows what the agent was supposed to do."""
    judge(loop, "printf 'I think.\\nVERDICT: RETRY\\nHandle the empty file.\\nAnd say so.\\n'",
          "echo 'VERDICT: ACCEPT'")
    assert rlctl(loop, "-q", reviewer=written("judge.sh"), task="Refactor the auth module").out == "answer 1\n"
    assert loop.decisions() == ["retry", "accept"]
    assert [r["feedback"] for r in loop.daemon.reviews(1)][0].strip() == "Handle the empty file.\nAnd say so."
    asked = [(loop.play.path / f"judge.{n}").read_text() for n in (1, 2)]
    assert "<task>Refactor the auth module</task>" in asked[0] and "<answer>first answer</answer>" in asked[0]
    assert "<answer>answer 1</answer>" in asked[1]
    assert f"--base-dir\n{loop.repo.path}\n--max-turns\n3\n--quiet\n--no-history\n" in asked[0]


@pytest.mark.parametrize("case", ["exit 1", "true", "echo 'no verdict at all'", "echo 'VERDICT: what'; exit 2"])
def test_the_judge_that_fails(loop, written, case):
    """Handle unparseable output gracefully: reviewer error, accept the answer as-is."""
    judge(loop, case)
    done = rlctl(loop, reviewer=written("judge.sh"))
    assert done.out == "first answer\n" and "accepted: reviewer process exited with status 2" in done.err
    assert loop.decisions() == ["error"]


def test_the_pipeline(loop, written, tmp_path):
    """A CI pipeline that runs the agent and requires tests to pass: --reviewer ./ci-review.sh
    --report results.json --quiet."""
    tool(loop, "python3", "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n")
    loop.repo.write(".gitignore", "__pycache__\n.pytest_cache\nresults.json\nci-review.sh\n")
    loop.repo.write("tests/unit/test_it.py", "def test_it():\n    assert open('work.txt').read() == 'good\\n'\n")
    (loop.repo.path / "ci-review.sh").symlink_to(written("tests-pass.sh"))
    loop.set(implement="echo bad > work.txt\nanswer first\n",
             fix="[ $nth = 3 ] && echo good > work.txt\nanswer \"try $nth\"\n")
    done = rlctl(loop, "--report", "results.json", "--quiet", reviewer="./ci-review.sh",
                 task="Fix the failing tests in tests/unit/")
    assert (done.out, done.err) == ("try 3\n", "")
    report = json.loads(loop.repo.read("results.json"))
    assert report["stats"]["review_rounds"] == 4 and [t["turn"] for t in report["timeline"]] == list(range(1, 9))


# The program is the one that was named

CHANGED = "reviewer program changed since submit: "


def test_a_rewritten_program_is_not_asked(loop):
    """A coder may write where the program lies. What it makes of it is never asked, and a human
    decides; with the program as it was the review goes on."""
    path = program(loop, "judge.sh")
    loop.set(implement=f"cp {path} {path}.kept\nprintf '#!/bin/sh\\nexit 0\\n' > {path}\n" + say("done"),
             review_1=PASS)
    assert loop.daemon.review(loop.repo.path, "do it", {"reviewer": path}) == 1
    assert loop.daemon.ended(1)["state"] == "held"
    hold, = loop.daemon.call("hold.list", run=1)["holds"]
    assert (hold["kind"], hold["reason"]) == ("reviewer-changed", CHANGED + path)
    assert loop.decisions() == ["error"] and not loop.play.starts(1, "review")
    os.replace(f"{path}.kept", path)
    loop.daemon.call("hold.rework", id=hold["id"])
    row = loop.daemon.ended(1)
    assert (row["state"], row["cause"]) == ("succeeded", None), row
    assert loop.decisions() == ["error", "accept"] and len(loop.play.starts(1, "implement")) == 1


def test_a_program_that_changes_between_rounds(loop):
    path = program(loop, "judge.sh")
    loop.set(fix=f"echo >> {path}\n" + say("fixed"), review=retry("again"))
    loop.daemon.review(loop.repo.path, "do it", {"reviewer": path})
    row = loop.daemon.ended(1)
    assert row["state"] == "held" and row["holds"][0]["reason"] == CHANGED + path, row
    assert loop.decisions() == ["retry", "error"]
    loop.daemon.call("hold.reject", id=row["holds"][0]["id"], message="no")
    assert loop.daemon.ended(1)["state"] == "failed"


@pytest.mark.parametrize("when", ["implement", "measure"])
def test_a_rewritten_program_after_a_restart(loop, when):
    """The daemon that asks it is not the one that knew it at submit."""
    path = program(loop, "judge.sh")
    rewrite = f"cp {path} {path}.kept\nprintf '#!/bin/sh\\nexit 0\\n' > {path}\n"
    loop.set(implement=rewrite + ("gate implement\n" if when == "implement" else "") + say("done"), review=PASS)
    if when == "measure":
        loop.stop_at("measure")
    loop.daemon.review(loop.repo.path, "do it", {"reviewer": path})
    loop.play.arrived(when)
    loop.daemon.kill()
    loop.daemon.start()
    if when == "implement":
        loop.play.go(when)
    row = loop.daemon.ended(1)
    assert row["state"] == "held" and row["holds"][0]["reason"] == CHANGED + path, row
    assert loop.decisions() == ["error"] and not loop.play.starts(1, "review")
    os.replace(f"{path}.kept", path)
    loop.daemon.restart()
    loop.daemon.call("hold.rework", id=row["holds"][0]["id"])
    row = loop.daemon.ended(1)
    assert row["state"] == "succeeded" and len(loop.play.starts(1, "implement")) == 1, row
