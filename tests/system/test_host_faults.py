# SPDX-License-Identifier: MIT
"""Faults of the host are no result of the work: a run waits, says for what and until when, and
goes on by itself."""
import contextlib
import os
import shutil
import sqlite3
import subprocess

import pytest
from outer import Beads, bead, submit, with_bd
from rld import BUILD, RL_GIT, RLD, SANITIZED, SHIM

INJECT = BUILD / "fault" / "inject"
PASS = {"implement": "echo one > work.txt\nanswer done\n", "review": "pass\n"}
NO_SPACE = "fatal: sha1 file write error: No space left on device"

# git whose call with the word of the file `fails` says what the file has in its second line, while
# the file is there
GIT = """#!/bin/sh
if [ -e {tools}/fails ]; then
	{{ read -r word; read -r words; }} < {tools}/fails
	case " $* " in *" $word "*) echo "$words" >&2; echo x >> {tools}/failed; exit 128;; esac
fi
exec {git} "$@"
"""

# rl-shim of which the output and the result of the steps named in the file `cut` is gone from the
# disk when it has ended, while the file is there
SHIM_THAT_CUTS = """#!/bin/sh
{shim} "$1"
status=$?
if [ -e {tools}/cut ] && grep -aqf {tools}/cut "$1/job"; then
	for stream in "$1"/stdout.* "$1"/result; do [ -s "$stream" ] && : > "$stream" && echo x >> {tools}/was-cut; done
fi
exit $status
"""


def needs_inject():
    if SANITIZED or subprocess.run([INJECT, "true"], capture_output=True).returncode != 0:
        pytest.skip("no process can be traced here, or a sanitizer makes calls of its own")


class Tools:
    def __init__(self, path):
        self.path = path
        path.mkdir()
        self.environment = {"PATH": f"{path}:/usr/local/bin:/usr/bin:/bin"}
        self.program("git", GIT.format(tools=path, git=shutil.which("git")))

    def program(self, name, text):
        (self.path / name).write_text(text)
        (self.path / name).chmod(0o755)

    def fail(self, word, words):
        (self.path / "fails.new").write_text(f"{word}\n{words}\n")
        (self.path / "fails.new").rename(self.path / "fails")

    def mend(self):
        (self.path / "fails").unlink()


@pytest.fixture
def tools(tmp_path):
    return Tools(tmp_path / "tools")


def waits_for_host(daemon, run):
    """The event of the fault; the run waits by then."""
    with daemon.events(run=run) as events:
        return events.until("host", lambda e: e["what"] == "waits")


def over(daemon, run):
    with daemon.events(run=run) as events:
        events.until("host", lambda e: e["what"] == "over")


@pytest.mark.parametrize("word", ["ls-files", "write-tree", "update-ref"])
@pytest.mark.parametrize("words, error",
                         [(NO_SPACE, "ENOSPC"), ("error: open(\"x\"): Too many open files", "EMFILE"),
                          ("fatal: x: Input/output error", "EIO")])
def test_git_that_has_no_room(make_daemon, repo, tools, word, words, error):
    """Whatever step it is, before and after what has been paid for."""
    daemon = make_daemon(scripts={**PASS, "implement": f"cp {tools.path}/fails.later {tools.path}/fails\n"
                                  "echo one > work.txt\nanswer done\n"}, environment=tools.environment)
    (tools.path / "fails.later").write_text(f"{word}\n{words}\n")
    run = daemon.review(repo.path)
    event = waits_for_host(daemon, run)
    row = daemon.run(run)
    slot = row["slots"][0]
    assert (event["error"] == error and event["reason"].startswith("host: git ")
            and words.rpartition(": ")[2] in event["reason"]), event
    assert (row["state"] == "running" and slot["wait"] == "host"
            and slot["reason"] == row["reason"] == event["reason"]), row
    assert slot["next_at"] > slot["wait_since"] and row["next_at"] == slot["next_at"]
    assert "by hand" not in slot["reason"]
    tools.mend()
    row = daemon.ended(run)
    assert row["state"] == "succeeded" and row["warnings"] == [], row
    over(daemon, run)
    assert [s[1] for s in daemon.play.starts()] == ["implement", "review"], "paid once"
    assert repo.git("show", f"{row['result_ref']}:work.txt") == "one"


def test_what_git_says_in_vain_is_no_answer(make_daemon, repo, tools):
    """A question that may be answered by a failure is not, when it is the host that fails."""
    daemon = make_daemon(scripts=PASS, environment=tools.environment)
    # of a repository without any commit it fails as well
    tools.fail("HEAD^{commit}", "fatal: failed to read HEAD: Input/output error")
    run = daemon.review(repo.path, commit="auto")
    waits_for_host(daemon, run)
    tools.mend()
    row = daemon.ended(run)
    assert row["state"] == "succeeded", row
    assert repo.git("log", "--format=%s", "-1", "HEAD^") == "start"


def test_a_failure_that_is_no_fault_of_the_host(make_daemon, repo, tools):
    daemon = make_daemon(scripts=PASS, environment=tools.environment)
    tools.fail("write-tree", "error: No space left on device is what a user may call a file: it is damaged")
    row = daemon.ended(daemon.review(repo.path))
    assert row["state"] == "failed" and "it is damaged" in row["cause"], row


@pytest.mark.parametrize("killed", [False, True], ids=["", "killed"])
def test_cancelled_while_it_waits(make_daemon, repo, tools, killed):
    daemon = make_daemon(scripts=PASS, environment=tools.environment)
    tools.fail("ls-files", NO_SPACE)
    run = daemon.review(repo.path)
    waits_for_host(daemon, run)
    if killed:
        daemon.kill()
        daemon.start()
        assert daemon.run(run)["wait"] == "host"
    daemon.call("run.cancel", id=run)
    assert daemon.ended(run)["state"] == "cancelled" and not daemon.play.starts()


def test_drained_while_it_waits(make_daemon, repo, tools):
    """The next daemon goes on."""
    daemon = make_daemon(scripts=PASS, environment=tools.environment)
    tools.fail("ls-files", NO_SPACE)
    run = daemon.review(repo.path)
    waits_for_host(daemon, run)
    daemon.call("daemon.stop", drain=True)
    assert daemon.exited() == 0
    tools.mend()
    daemon.start()
    assert daemon.ended(run)["state"] == "succeeded"


def test_after_an_hour_people_are_told_once(make_daemon, repo, tools):
    heard, log = tools.path / "heard", tools.path / "heard.log"
    os.mkfifo(heard)
    hook = ["/bin/sh", "-c", f'echo "$RL_HOOK $RL_HOLD_KIND $RL_REASON" >> {log}; echo > {heard}']
    daemon = make_daemon(scripts=PASS, environment=tools.environment, config={"hook": {"on_hold": hook}})
    tools.fail("ls-files", NO_SPACE)
    run = daemon.review(repo.path)
    waits_for_host(daemon, run)
    daemon.kill()
    with contextlib.closing(sqlite3.connect(daemon.state / "rld.db")) as db, db:
        db.execute("UPDATE run SET wait_since = wait_since - 3600000, "
                   "wait_until = wait_until - 3600000 WHERE id = ?", (run,))
    daemon.start()
    heard.read_text()
    # the next start tries again at once, and says nothing more
    daemon.kill()
    daemon.start()
    waits_for_host(daemon, run)
    tools.mend()
    assert daemon.ended(run)["state"] == "succeeded"
    assert log.read_text().splitlines() == [
        f"on_hold host host: git ls-files in {repo.path}: {NO_SPACE}; make room on the disk"]


def test_output_that_is_not_all_there_is_no_result(make_daemon, repo, tools):
    """A list of files that a full disk has cut would be a tree without them, and pass."""
    daemon = make_daemon(start=False,
                         scripts={**PASS, "implement": f"cp {tools.path}/cut.later {tools.path}/cut\n"
                                  "echo one > work.txt\nanswer done\n"})
    tools.program("rl-shim", SHIM_THAT_CUTS.format(tools=tools.path, shim=SHIM))
    (tools.path / "cut.later").write_text("measure\n")
    shutil.copy(RL_GIT, tools.path)
    daemon.program = shutil.copy(RLD, tools.path)
    daemon.start()
    run = daemon.review(repo.path, commit="auto")
    event = waits_for_host(daemon, run)
    assert "the output of rl-git in " in event["reason"], event
    assert (tools.path / "was-cut").exists()
    (tools.path / "cut").unlink()
    row = daemon.ended(run)
    assert row["state"] == "succeeded", row
    for where in (row["result_ref"], "HEAD"):
        assert repo.git("ls-tree", "-r", "--name-only", where).split() == ["README", "work.txt"]


def test_a_list_of_beads_that_is_not_all_there_is_none(make_daemon, tmp_path, tools):
    daemon, _ = with_bd(make_daemon, tmp_path, scripts={"implement": "answer done\n"}, start=False)
    tools.program("rl-shim", SHIM_THAT_CUTS.format(tools=tools.path, shim=SHIM))
    (tools.path / "cut").write_text("load\n")
    shutil.copy(RL_GIT, tools.path)
    daemon.program = shutil.copy(RLD, tools.path)
    daemon.start()
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"))
    run = submit(daemon, beads.path)
    event = waits_for_host(daemon, run)
    assert ("cannot read the result of rl-git in " in event["reason"]
            and ": it is incomplete" in event["reason"]), event
    assert daemon.run(run)["wait"] == "host"
    (tools.path / "cut").unlink()
    assert daemon.ended(run)["state"] == "succeeded" and {s for s, _ in beads.issues().values()} == {"closed"}


def test_a_check_whose_output_is_gone_runs_again(make_daemon, repo, tools):
    daemon = make_daemon(start=False, scripts=PASS)
    tools.program("rl-shim", SHIM_THAT_CUTS.format(tools=tools.path, shim=SHIM))
    (tools.path / "cut").write_text("echo checked\n")
    shutil.copy(RL_GIT, tools.path)
    daemon.program = shutil.copy(RLD, tools.path)
    daemon.start()
    run = daemon.review(repo.path, review={"checks": [f"echo checked; echo x >> {tools.path}/checks"]})
    waits_for_host(daemon, run)
    (tools.path / "cut").unlink()
    assert daemon.ended(run)["state"] == "succeeded"
    assert (tools.path / "checks").read_text().count("x") >= 2
    assert "fix" not in {s[1] for s in daemon.play.starts()}


def test_an_answer_whose_end_is_gone_is_held(make_daemon, repo, tools):
    """It was paid for, and is no failure: a human decides whether it is done again."""
    daemon = make_daemon(start=False, scripts={**PASS, "implement": "echo one > work.txt\nanswer 'the end of it'\n"})
    tools.program("rl-shim", SHIM_THAT_CUTS.format(tools=tools.path, shim=SHIM))
    (tools.path / "cut").write_text(f"{daemon.play.path}\n")
    shutil.copy(RL_GIT, tools.path)
    daemon.program = shutil.copy(RLD, tools.path)
    daemon.start()
    run = daemon.review(repo.path, on_lost="fail")
    row = daemon.ended(run)
    hold = daemon.call("hold.list")["holds"][0]
    assert (row["state"] == "held" and hold["kind"] == "lost"
            and hold["reason"].startswith("host: its output in ")), (row, hold)
    (tools.path / "cut").unlink()
    daemon.call("hold.rework", id=hold["id"])
    assert daemon.ended(run)["state"] == "succeeded"


def test_a_hook_that_cannot_be_started_is_tried_again(make_daemon, repo, tools):
    heard = tools.path / "heard"
    os.mkfifo(heard)
    daemon = make_daemon(start=False, scripts=PASS,
                         config={"hook": {"on_end": ["/bin/sh", "-c", f"echo $RL_STATE > {heard}"]}})
    # as when there is no room for its identity: the status is ENOSPC
    tools.program("rl-shim", f"""#!/bin/sh
if grep -aqF {heard} "$1/job" && rm {tools.path}/full 2> /dev/null; then exit 28; fi
exec {SHIM} "$1"
""")
    (tools.path / "full").touch()
    shutil.copy(RL_GIT, tools.path)
    daemon.program = shutil.copy(RLD, tools.path)
    daemon.start()
    assert daemon.ended(daemon.review(repo.path))["state"] == "succeeded"
    assert heard.read_text() == "succeeded\n" and not (tools.path / "full").exists()


@pytest.mark.parametrize("which", ["measure", "checkout", "play"])
@pytest.mark.parametrize("how, reason", [
    ("kill -9 $$", "rl-shim was killed by signal 9 before it started anything"),
    # of its start, before main()
    (f"exec {INJECT} -g m -p rl-shim -c brk -n 1 -a ENOMEM {SHIM} $1",
     "rl-shim was killed by signal 11 before it started anything"),
    (f"exec {INJECT} -g r -p rl-shim -c flock -n 1 -a ENOMEM {SHIM} $1",
     "rl-shim exited before it started anything: Cannot allocate memory"),
], ids=["killed", "start", "lock"])
def test_a_shim_that_starts_nothing(make_daemon, repo, tools, which, how, reason):
    """Nothing was paid for, so that it is tried again, whatever on_lost says."""
    if "exec" in how:
        needs_inject()
    daemon = make_daemon(start=False, scripts=PASS)
    # its first job of the kind: once
    tools.program("rl-shim", f"""#!/bin/sh
if grep -aqF {which} "$1/job" && rm {tools.path}/kills 2> /dev/null; then {how}; fi
exec {SHIM} "$1"
""")
    (tools.path / "kills").touch()
    shutil.copy(RL_GIT, tools.path)
    daemon.program = shutil.copy(RLD, tools.path)
    daemon.start()
    run = daemon.review(repo.path, review={"profile": "verdict"})
    assert reason in waits_for_host(daemon, run)["reason"]
    row = daemon.ended(run)
    assert row["state"] == "succeeded" and not (tools.path / "kills").exists(), row
    assert [s[1] for s in daemon.play.starts()] == ["implement", "review"]


@pytest.mark.parametrize("what, call, error, where", [
    # its own files
    ("verify", "pread64", "ENOMEM", "attempts"), ("verify", "pread64", "EIO", "attempts"),
    ("verify", "renameat", "ENOSPC", "attempts"),
    # that the work tree cannot be looked at does not mean that an agent has removed it
    ("measure", "newfstatat", "ENOMEM", "worktrees"), ("commit", "newfstatat", "EIO", "worktrees"),
    # the objects that it wants to read
    ("pin", "dup", "EMFILE", ""),
])
def test_an_operation_that_cannot_read_or_write(make_daemon, repo, tools, what, call, error, where):
    """The next one does it."""
    needs_inject()
    daemon = make_daemon(start=False, scripts=PASS)
    tools.program("rl-git", f"""#!/bin/sh
if [ "$1" = {what} ] && rm {tools.path}/fails 2> /dev/null; then
	exec {INJECT} -g drp -d {daemon.state / where} -p rl-git -c {call} -k -n 1 -a {error} {RL_GIT} "$1"
fi
exec {RL_GIT} "$1"
""")
    (tools.path / "fails").touch()
    shutil.copy(SHIM, tools.path)
    daemon.program = shutil.copy(RLD, tools.path)
    daemon.start()
    run = daemon.review(repo.path, isolation="worktree", commit="auto")
    assert waits_for_host(daemon, run)["error"] == error
    assert daemon.ended(run)["state"] == "succeeded"
    assert [s[1] for s in daemon.play.starts()] == ["implement", "review"]


# ---- a source that fails for a while -------------------------------------------------------------

@pytest.mark.parametrize("verb", ["ready", "update", "close"])
@pytest.mark.parametrize("killed", [False, True], ids=["", "killed"])
def test_a_source_that_is_busy_is_asked_again(make_daemon, tmp_path, verb, killed):
    daemon, _ = with_bd(make_daemon, tmp_path, scripts={"implement": "answer done\n"})
    beads = Beads(tmp_path / "beads", bead("x-1"), bead("x-2"))
    (beads.path / ".beads" / "fake.fail").write_text(f"{verb}\n")
    run = submit(daemon, beads.path)
    with daemon.events(run=run) as events:
        while True:
            event = events.next()
            if "database is locked" in (event.get("reason") or ""):
                break
    row = daemon.run(run)
    where = row if verb == "ready" else row["slots"][0]
    assert (where["wait"] == "source" and where["reason"].startswith("source: bd ")
            and row["reason"] == where["reason"]), row
    if killed:
        daemon.kill()
        daemon.start()
    (beads.path / ".beads" / "fake.fail").unlink()
    row = daemon.ended(run)
    assert row["state"] == "succeeded" and row["warnings"] == [], row
    assert {s for s, _ in beads.issues().values()} == {"closed"}


def test_cancelled_while_a_close_is_owed(make_daemon, tmp_path):
    """It is tried once more, and then people are told."""
    daemon, _ = with_bd(make_daemon, tmp_path, scripts={"implement": "answer done\n"})
    beads = Beads(tmp_path / "beads", bead("x-1"))
    (beads.path / ".beads" / "fake.fail").write_text("close\n")
    run = submit(daemon, beads.path)
    with daemon.events(run=run) as events:
        events.until("slot.phase", lambda e: "database is locked" in (e.get("reason") or ""))
    daemon.call("run.cancel", id=run)
    row = daemon.ended(run)
    assert row["state"] == "cancelled" and any("close of beads failed: bd close x-1" in w for w in row["warnings"]), row


def test_a_failure_that_lasts_is_told_at_once(make_daemon, tmp_path, tools):
    tools.program("bd", "#!/bin/sh\necho 'Error: unknown flag: --limit' >&2\nexit 1\n")
    daemon = make_daemon(scripts={"implement": "answer done\n"}, environment=tools.environment)
    beads = Beads(tmp_path / "beads", bead("x-1"))
    row = daemon.ended(submit(daemon, beads.path))
    assert row["state"] == "failed" and "unknown flag: --limit; install a newer bd" in row["cause"], row
    assert not [e for e in daemon.call("event.list", since=1)["events"] if "source: " in str(e.get("reason"))]
