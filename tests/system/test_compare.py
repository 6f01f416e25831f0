# SPDX-License-Identifier: MIT
"""doctor --deep compares the database with directories, refs, work trees, settings and locks, in
both directions, while work goes on."""
import os
import shlex
import subprocess
import threading

import pytest

WORK = {"implement": "echo $RL_RUN >> work.txt\nanswer done\n", "review": "pass\n"}
TREE = {"isolation": "worktree", "commit": "auto", "integrate": "merge"}


@pytest.fixture
def daemon(make_daemon):
    return make_daemon(scripts=WORK)


def compared(daemon):
    return [check for check in daemon.call("daemon.doctor", deep=True)["checks"] if check["name"] == "compare"]


def is_clean(daemon):
    return [check["state"] for check in compared(daemon)] == ["ok"]


def ended(daemon, repo, **params):
    run = daemon.review(repo.path, **params)
    assert daemon.ended(run)["state"] == "succeeded"
    while daemon.call("daemon.status")["busy"]:
        pass
    return run


def remove(check):
    command = check["remedy"].rpartition(": ")[2]
    subprocess.run(shlex.split(command), check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"})


def attempt_directory(daemon, repo, run):
    (daemon.state / "attempts" / "999999").mkdir()


def strange_attempt(daemon, repo, run):
    (daemon.state / "attempts" / "notes").mkdir()


def run_directory(daemon, repo, run):
    (daemon.state / "runs" / "99").mkdir()


def tree_directory(daemon, repo, run):
    (daemon.state / "worktrees" / "strange").mkdir(parents=True)


def work_tree(daemon, repo, run):
    repo.git("worktree", "add", "-q", "--detach", str(daemon.state / "worktrees" / "99"))


def work_tree_of_a_slot(daemon, repo, run):
    repo.git("worktree", "add", "-q", "--detach", str(daemon.state / "worktrees" / "99" / "1-1"))


def ref(daemon, repo, run):
    repo.git("update-ref", daemon.ref("salvage", 99, "t1"), "HEAD")


def ref_of_an_earlier_version(daemon, repo, run):
    repo.git("update-ref", "refs/rl/salvage/99/t1", "HEAD")


def settings(daemon, repo, run):
    repo.git("config", "branch.rl/99-result.rldInstance", daemon.call("daemon.hello")["instance"])


def lock(daemon, repo, run):
    path = repo.path / ".git" / (daemon.ref("base", run) + ".lock")
    path.touch()
    os.utime(path, (0, 0))


LEFT = [(attempt_directory, "attempts/999999"), (strange_attempt, "attempts/notes"), (run_directory, "runs/99"),
        (tree_directory, "worktrees/strange"), (work_tree, "worktrees/99"), (work_tree_of_a_slot, "worktrees/99/1-1"),
        (ref, "/salvage/99/t1"), (ref_of_an_earlier_version, "refs/rl/salvage/99/t1"),
        (settings, "branch.rl/99-result"), (lock, ".lock")]


@pytest.mark.each
@pytest.mark.parametrize("leave, name", LEFT, ids=[leave.__name__ for leave, _ in LEFT])
def test_what_no_row_knows(daemon, repo, leave, name):
    """It is named, once, with the command that removes it."""
    run = ended(daemon, repo)
    assert is_clean(daemon)
    leave(daemon, repo, run)
    check, = compared(daemon)
    assert name in check["text"] and check["state"] == "warning"
    said = daemon.rlctl("doctor", "--deep")
    assert name in said.out and said.returncode == 0, "a warning is no failure"
    remove(check)
    while not is_clean(daemon):     # the directory that was around it
        check, = compared(daemon)
        assert check["text"].startswith("worktrees/99: ")
        remove(check)


def test_what_a_row_needs(daemon, repo, tmp_path):
    """Of each run, also behind one that is not as recorded."""
    runs = [ended(daemon, repo, task=f"task {n}") for n in range(2)]
    gone = [daemon.state / "attempts" / str(daemon.attempts(run)[0]["id"]) for run in runs]
    for n, path in enumerate(gone):
        path.rename(tmp_path / str(n))
    checks = compared(daemon)
    assert [check["state"] for check in checks] == ["failed"] * 2
    assert all(f"{path} is gone" in check["text"] for path, check in zip(gone, checks))
    said = daemon.rlctl("doctor", "--deep", check=1).out
    assert all(f"run {run}: attempt 1: its directory" in said for run in runs)
    for n, path in enumerate(gone):
        (tmp_path / str(n)).rename(path)
    assert is_clean(daemon)
    daemon.rlctl("doctor", "--deep", check=0)


def test_another_instance(daemon, repo):
    """Another daemon may work in the same repository."""
    ended(daemon, repo)
    repo.git("update-ref", "refs/rl/00000000/passed/99/t1", "HEAD")
    repo.git("config", "branch.rl/99-result.rldInstance", "00000000")
    assert is_clean(daemon)


def test_pruned(daemon, repo):
    run = ended(daemon, repo, **TREE)
    daemon.call("state.prune", older=0, unmerged=True)
    assert is_clean(daemon) and daemon.run(run)["pruned"]


def test_no_false_alarm_while_agents_work(make_daemon, repo):
    """Rows, directories, refs and work trees come and go."""
    daemon = make_daemon(scripts=WORK, config={"parallel": 4})
    wrong, stop = [], threading.Event()

    def look():
        with daemon.connect() as rpc:
            while not stop.is_set():
                checks = rpc.call("daemon.doctor", deep=True)["checks"]
                # no strays: it would see those of all daemons, and tests beside this one leave some
                wrong.extend(check for check in checks if check["name"] in ("compare", "reviews", "refs") and
                             check["state"] != "ok")
    looking = threading.Thread(target=look)
    looking.start()
    try:
        for _ in range(3):
            daemon.ended(*(daemon.review(repo.path, task=f"task {n}", **TREE) for n in range(4)))
    finally:
        stop.set()
        looking.join()
    assert wrong == []


def test_no_false_alarm_at_the_end_of_a_run(make_daemon, repo, tmp_path):
    """git has told of its branch, which is gone when it is looked for, and the run has ended."""
    daemon = make_daemon(scripts=WORK, start=False)
    place = tmp_path / "bin"
    place.mkdir()
    (place / "git").write_text(f"""#!/bin/sh
case "$*" in
*"rldinstance"*)
	test -e {tmp_path}/stand || exec /usr/bin/git "$@"
	/usr/bin/git "$@"
	status=$?
	touch {tmp_path}/here
	until [ -e {tmp_path}/go ]; do sleep 0.02; done
	exit $status ;;
esac
exec /usr/bin/git "$@"
""")
    (place / "git").chmod(0o755)
    daemon.play.set({**WORK, "implement": "gate there\n" + WORK["implement"]})
    daemon.play.gates("there")
    daemon.start(environment={"PATH": f"{place}:/usr/bin:/bin"})
    run = daemon.review(repo.path, **TREE)
    daemon.play.arrived("there")
    assert f"branch.rl/{run}" in repo.git("config", "--local", "--list")
    (tmp_path / "stand").touch()
    found = []
    asking = threading.Thread(target=lambda: found.extend(compared(daemon)))
    asking.start()
    while not (tmp_path / "here").exists():
        pass
    daemon.play.go("there")
    assert daemon.ended(run)["state"] == "succeeded"
    (tmp_path / "go").touch()
    asking.join()
    assert [check["state"] for check in found] == ["ok"], found
