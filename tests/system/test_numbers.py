# SPDX-License-Identifier: MIT
"""Directories are made and never found: numbers that an agent, a lost database or a crash has used
already are passed over, and nothing that was there beforehand is read, started in, or removed."""
import shutil
import time

import pytest

from rld import Repo, proc_stat, wait_gone

COUNT = 40
# what an attempt, a step or a hook would leave behind, for the next numbers; git has looked at the
# work tree before the attempt, with a number after its own
PLANT = """for i in $(seq $((RL_ATTEMPT + 2)) $((RL_ATTEMPT + 1 + %d))); do
	mkdir -p %s/attempts/$i && (cd %s/attempts/$i && %s)
done
"""
LEAVINGS = {
    "nothing": "true",
    "exit": "echo > exit",
    "shim": "echo > shim",
    "lock": "echo > lock; chmod 0 lock",
    "carrier": "printf %s '{\"comments\": [], \"summary\": "
    "\"planted\"}' | tee carrier > verdict.json; echo planted > answer",
    "aside": "ln -s /etc aside; mkdir job",
}
COMMENT = '{"comments": [{"file": "README", "line": 1, "severity": "must-fix", "comment": "wrong"}], "summary": "one"}'


def plant(daemon, what, then="echo two >> README\n"):
    return PLANT % (COUNT, daemon.state, daemon.state, LEAVINGS[what]) + then


def started(daemon):
    """Numbers of directories in which a shim has run."""
    return {int(path.parent.name) for path in (daemon.state / "attempts").glob("*/exit")
            if path.read_bytes().startswith(b"rl-exit ")}


@pytest.mark.parametrize("what", LEAVINGS)
def test_directories_of_attempts_made_by_an_agent(make_daemon, repo, what):
    """Steps of git, the review and the fix of the same run, and its hook, all take numbers behind
    them; the review is the reviewer's own."""
    daemon = make_daemon(config={"hook": {"on_end": ["/bin/sh", "-c", "echo $RL_STATE > hooked"]}})
    daemon.play.set({"implement": plant(daemon, what),
                     "review.1": f"echo '{COMMENT}' > review-comments.json; answer read\n",
                     "review": "echo '{\"comments\": [], \"summary\": \"none\"}' > "
                     "review-comments.json; answer read\n", "fix": "echo three >> README\n"})
    run = daemon.review(repo.path, review={"profile": "comments", "read_only": False})
    assert daemon.ended(run)["state"] == "succeeded"
    assert [r["decision"] for r in daemon.reviews(run)] == ["must-fix", "pass"]
    first = daemon.attempts(run)[0]["id"]
    planted = set(range(first + 2, first + COUNT + 2))
    assert all(a["id"] == first or a["id"] > first + COUNT + 1 for a in daemon.attempts(run))
    assert not planted & started(daemon) and max(started(daemon)) > first + COUNT + 1
    left = {p.name for p in (daemon.state / "attempts" / str(first + 2)).iterdir()}
    assert left == {"nothing": set(), "carrier": {"carrier", "verdict.json", "answer"},
                    "aside": {"aside", "job"}}.get(what, {what}), "nobody has touched it"
    assert [a["number"] for a in daemon.attempts(run)] == [1, 2, 3, 4]


def test_another_run_takes_the_next_number(make_daemon, repo, tmp_path):
    daemon = make_daemon(scripts={})
    daemon.play.set({"implement": "[ $RL_RUN != 1 ] ||\n" + plant(daemon, "exit")})
    other = Repo(tmp_path / "other")
    for path in (repo.path, other.path, other.path):
        assert daemon.ended(daemon.submit(path, retries=0))["state"] == "succeeded"


def test_number_taken_while_its_attempt_is_cancelled(make_daemon, repo):
    """It has never begun, under whatever number."""
    daemon = make_daemon(gates=["g"])
    daemon.play.set({"implement": plant(daemon, "exit", "gate g\n"), "review": "pass\n"})
    run = daemon.review(repo.path)
    daemon.play.arrived("g")
    daemon.call("run.cancel", id=run)
    assert daemon.ended(run)["state"] == "cancelled"


def test_a_crash_before_the_start(make_daemon, repo):
    """The directory was made and its attempt never started: the attempt begins under another
    number, and what is there says nothing."""
    daemon = make_daemon(scripts={"implement": "gate g\n"}, gates=["g"])
    run = daemon.submit(repo.path)
    shim = proc_stat(daemon.play.arrived("g"))[1]
    attempt = daemon.attempts(run)[0]
    daemon.kill()
    daemon.play.go("g")
    wait_gone(shim)
    directory = daemon.state / "attempts" / str(attempt["id"])
    database = daemon.database()
    database.execute("UPDATE attempt SET state = 'starting'")
    database.close()
    (directory / "job").unlink()
    daemon.play.set({"implement": "echo two >> README\n"})
    daemon.start()
    assert daemon.ended(run)["state"] == "succeeded"
    again, = daemon.attempts(run)
    assert (again["id"] > attempt["id"], again["uuid"], again["number"]) == (True, attempt["uuid"], 1)
    assert [int(start[2]) for start in daemon.play.starts()] == [attempt["id"], again["id"]]


def test_directories_of_runs_made_by_an_agent(make_daemon, repo, tmp_path):
    """A run's directory and its work trees: prompts, guidelines and files of somebody else are not
    taken for its own."""
    other = Repo(tmp_path / "other")
    daemon = make_daemon()
    state = daemon.state
    daemon.play.set({
        "implement": f"[ $RL_RUN = 1 ] && for i in 2 3 4; do mkdir -p {state}/runs/$i/scratch/1-1 "
        f"{state}/worktrees/$i/1-1; echo PLANTED | tee {state}/runs/$i/guidelines.md "
                       f"{state}/runs/$i/conventions.md {state}/runs/$i/scratch/1-1/index "
        f"{state}/worktrees/$i/1-1/mine; done\necho two >> README\n",
        "review": "pass\n"})
    assert daemon.ended(daemon.submit(repo.path))["state"] == "succeeded"
    run = daemon.review(other.path, isolation="worktree")
    row = daemon.ended(run)
    assert row["state"] == "succeeded", row
    assert not [p for p in daemon.play.path.glob(f"prompt.{run}.*") if "PLANTED" in p.read_text()]
    assert row["warnings"] == [f"{state}/worktrees/{run} existed before the run: "
                               f"moved to {state}/worktrees/{run}.aside-1"]
    assert (state / "worktrees" / f"{run}.aside-1" / "1-1" / "mine").read_text() == "PLANTED\n"
    # rooms are removed once the end of the run is on the disk
    while not {p.name for p in (state / "runs" / str(run)).iterdir()} <= {"task", "judgement"}:
        time.sleep(0.01)


def checks(daemon):
    return {check["name"]: check for check in daemon.call("daemon.doctor")["checks"]}


def forget(daemon):
    """What a backup of rld.db alone, or the loss of its log, comes to."""
    daemon.kill()
    (daemon.state / "rld.db-wal").unlink()


def test_the_database_is_older_than_the_directories(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "answer x\n"})
    assert "numbers" not in checks(daemon)
    old = [daemon.submit(repo.path) for _ in range(3)]
    daemon.ended(*old)
    highest = max(int(p.name) for p in (daemon.state / "attempts").iterdir())
    forget(daemon)
    for name in ("99x", "0", "-7", "1000000000001", "99999999999999999999"):
        (daemon.state / "attempts" / name).mkdir()
    daemon.start()
    assert daemon.call("run.list")["runs"] == []
    said = (f"{daemon.state} contains attempts/{highest} and runs/{max(old)}, but rld.db ends at "
            "attempt 0 and run 0")
    assert said in daemon.log()
    check = checks(daemon)["numbers"]
    assert check["state"] == "warning" and said in check["text"] and "rld.db-wal" in check["remedy"]
    run = daemon.submit(repo.path)
    assert run == max(old) + 1 and daemon.ended(run)["state"] == "succeeded"
    assert daemon.attempts(run)[0]["id"] > highest
    daemon.restart()
    assert "numbers" not in checks(daemon), "it knows them now"


def test_only_the_directories_of_runs_are_ahead(make_daemon, repo):
    """Numbers of attempts go on behind those of the database, although their
    directories are gone."""
    daemon = make_daemon(scripts={"implement": "answer x\n"})
    daemon.refs_removed = True		# and with them files that the record has hashes of
    first = daemon.submit(repo.path)
    daemon.ended(first)
    known = daemon.attempts(first)
    daemon.stop()
    shutil.rmtree(daemon.state / "attempts")
    (daemon.state / "attempts").mkdir(mode=0o700)
    (daemon.state / "runs" / str(first + 40)).mkdir()
    daemon.start()
    run = daemon.submit(repo.path)
    assert run == first + 41 and daemon.ended(run)["state"] == "succeeded"
    assert daemon.attempts(run)[0]["id"] > known[-1]["id"] and daemon.attempts(first) == known
