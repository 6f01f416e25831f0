# SPDX-License-Identifier: MIT
"""Who runs when: slots of the daemon, priority, age, one run at a time in a shared workdir."""
import json

import pytest
from rld import Repo, RpcError

GATES = [f"g{i}" for i in range(1, 9)]


@pytest.fixture
def queue(make_daemon, tmp_path):
    """A daemon with two slots whose agents wait at gate g<run>, and a way to make directories."""
    def make(parallel=2):
        daemon = make_daemon(scripts={"implement": "gate g$RL_RUN\nanswer done\n"}, gates=GATES,
                             config={"parallel": parallel})
        daemon.dirs = iter(Repo(tmp_path / f"r{i}").path for i in range(20))
        return daemon
    return make


def started(daemon):
    return [s[0] for s in daemon.play.starts()]


def test_never_more_than_parallel(queue):
    daemon = queue(2)
    runs = [daemon.submit(next(daemon.dirs)) for _ in range(5)]
    daemon.play.arrived("g1")
    daemon.play.arrived("g2")
    assert [daemon.run(r)["state"] for r in runs] == ["running"] * 2 + ["queued"] * 3
    with daemon.events(run=3) as events:
        events.until("run.state", lambda e: e.get("reason") == "all slots of the daemon are in use")
    for n in range(3, 6):
        daemon.play.go(f"g{n - 2}")
        daemon.play.arrived(f"g{n}")
        assert len(started(daemon)) == n
    daemon.play.go("g4")
    daemon.play.go("g5")
    assert {r["state"] for r in daemon.ended(*runs)} == {"succeeded"}


def test_priority_then_age(queue):
    daemon = queue(1)
    daemon.submit(next(daemon.dirs))
    daemon.play.arrived("g1")
    for priority in (0, 5, 5, -3, 9):
        daemon.submit(next(daemon.dirs), priority=priority)
    last = 1
    for expected in (6, 3, 4, 2, 5):
        daemon.play.go(f"g{last}")
        daemon.play.arrived(f"g{expected}")
        last = expected
    daemon.play.go(f"g{last}")
    daemon.ended(*range(1, 7))
    assert started(daemon) == [1, 6, 3, 4, 2, 5]


def test_one_at_a_time_in_a_workdir(queue, tmp_path):
    daemon = queue(4)
    workdir = next(daemon.dirs)
    (workdir / "sub").mkdir()
    (tmp_path / "link").symlink_to(workdir)
    daemon.submit(workdir)
    daemon.play.arrived("g1")
    same = [daemon.submit(d) for d in (workdir, workdir / "sub", tmp_path / "link")]
    for run in same:
        with daemon.events(run=run) as events:
            events.until("run.state", lambda e: e.get("reason") == "workdir busy: run 1")
        row = daemon.run(run)
        assert row["state"] == "queued" and row["reason"] == "workdir busy: run 1", row
    free = daemon.submit(next(daemon.dirs))
    daemon.play.arrived(f"g{free}")
    last = 1
    for run in same:
        daemon.play.go(f"g{last}")
        daemon.play.arrived(f"g{run}")
        last = run
    daemon.play.go(f"g{last}")
    daemon.play.go(f"g{free}")
    daemon.ended(*range(1, 6))


def test_a_held_run_keeps_its_workdir(make_daemon, tmp_path):
    import os
    import signal
    from rld import proc_stat
    daemon = make_daemon(scripts={"implement": "gate g$RL_RUN\n"}, gates=["g1", "g2", "g3"])
    repo = Repo(tmp_path / "r")
    first, second = daemon.submit(repo.path), daemon.submit(repo.path)
    os.kill(proc_stat(daemon.play.arrived("g1"))[1], signal.SIGKILL)
    assert daemon.ended(first)["state"] == "held"
    third = daemon.submit(Repo(tmp_path / "other").path)
    daemon.play.arrived("g3")
    daemon.play.go("g3")
    assert daemon.ended(third)["state"] == "succeeded", "the queue had its say twice since the hold"
    hold = daemon.run(first)["holds"][0]["id"]
    with daemon.events(run=second) as events:
        said = [events.until("run.state", lambda e: e.get("wait_kind") == "workspace")["reason"] for _ in range(2)]
    assert said == ["workdir busy: run 1", f'workdir busy: run 1; it is held: "rlctl hold show {hold}"']
    row = daemon.run(second)
    assert (row["state"], row["reason"]) == ("queued", said[1])
    assert said[1] in daemon.rlctl("list", check=0).out and said[1] in daemon.rlctl("show", second, check=0).out
    daemon.call("run.cancel", id=first)
    daemon.play.arrived("g2")
    daemon.play.go("g2")
    assert daemon.ended(second)["state"] == "succeeded"


def test_what_a_paused_run_keeps_others_from(make_daemon, tmp_path):
    """A run that comes after it, and one that wants its directory, say what lets them begin."""
    daemon = make_daemon(scripts={"implement": "gate g$RL_RUN\n"}, gates=["g1", "g2", "g3"])
    repo = Repo(tmp_path / "r")
    first = daemon.submit(repo.path)
    daemon.play.arrived("g1")
    second, third = daemon.submit(repo.path), daemon.submit(Repo(tmp_path / "other").path, after=first)
    reasons = {second: "workdir busy: run 1", third: "waits for run 1"}
    paused = {run: f'{reason}; it is paused: "rlctl resume 1"' for run, reason in reasons.items()}
    watch = {run: daemon.events(run=run) for run in reasons}

    def told(wanted):
        for run, reason in wanted.items():
            watch[run].until("run.state", lambda e: e.get("reason") == reason)

    told(reasons)
    daemon.call("run.pause", id=first)
    told(paused)
    daemon.restart()
    assert {run: daemon.run(run)["reason"] for run in paused} == paused
    watch = {run: daemon.events(since=None, run=run) for run in reasons}
    daemon.call("run.resume", id=first)
    told(reasons)
    daemon.play.go("g1")
    for run in reasons:
        daemon.play.arrived(f"g{run}")
        daemon.play.go(f"g{run}")
    daemon.ended(second, third)
    for events in watch.values():
        events.rpc.close()


def test_a_run_held_frees_its_slot(make_daemon, tmp_path):
    import os
    import signal
    from rld import proc_stat
    daemon = make_daemon(scripts={"implement": "gate g$RL_RUN\n"}, gates=["g1", "g2"], config={"parallel": 1})
    first, second = daemon.submit(Repo(tmp_path / "a").path), daemon.submit(Repo(tmp_path / "b").path)
    os.kill(proc_stat(daemon.play.arrived("g1"))[1], signal.SIGKILL)
    daemon.ended(first)
    daemon.play.arrived("g2")
    daemon.play.go("g2")
    daemon.ended(second)


def test_a_failed_run_makes_room(make_daemon, tmp_path):
    daemon = make_daemon(scripts={"implement": "exit 1\n"}, config={"parallel": 1})
    runs = [daemon.submit(Repo(tmp_path / f"r{i}").path) for i in range(10)]
    assert {r["state"] for r in daemon.ended(*runs)} == {"failed"}
    assert started(daemon) == runs


def test_order_survives_a_restart(queue):
    daemon = queue(1)
    daemon.submit(next(daemon.dirs))
    daemon.play.arrived("g1")
    for priority in (1, 2, 3):
        daemon.submit(next(daemon.dirs), priority=priority)
    daemon.kill()
    daemon.start()
    last = 1
    for expected in (4, 3, 2):
        daemon.play.go(f"g{last}")
        daemon.play.arrived(f"g{expected}")
        last = expected
    daemon.play.go(f"g{last}")
    daemon.ended(1, 2, 3, 4)


def test_list_is_newest_first_with_running_and_queued(queue):
    daemon = queue(1)
    for _ in range(3):
        daemon.submit(next(daemon.dirs))
    daemon.play.arrived("g1")
    assert [(r["id"], r["state"])
            for r in daemon.call("run.list")["runs"]] == [(3, "queued"), (2, "queued"), (1, "running")]
    assert [r["id"] for r in daemon.call("run.list", state="queued")["runs"]] == [3, 2]


def test_status_counts(queue):
    daemon = queue(1)
    for _ in range(3):
        daemon.submit(next(daemon.dirs))
    daemon.play.arrived("g1")
    status = daemon.call("daemon.status")
    flat = str(status)
    assert "queued" in flat and "running" in flat


def test_priority_limits(daemon, repo):
    for bad in ("high", 1.5, 10 ** 12, [1]):
        with pytest.raises(RpcError) as error:
            daemon.submit(repo.path, priority=bad)
        assert error.value.code == -32602 and error.value.data["field"] == "priority"


def test_two_runs_of_one_prd_do_no_story_twice(make_daemon, repo, tmp_path):
    prd = tmp_path / "prd.json"
    text = json.dumps({"project": "p", "userStories": [{"id": f"S{n}", "title": f"story {n}", "priority": n,
                                                        "passes": False} for n in range(1, 5)]})
    prd.write_text(text)
    daemon = make_daemon(config={"parallel": 4},
                         scripts={"implement": "again implement\necho $RL_TASK_ID > $RL_TASK_ID\nanswer done\n"})
    runs = [daemon.call("run.submit", workdir=str(repo.path), stories=text, stories_path=str(prd),
                        parallel=2, agent="play", isolation="worktree")["id"] for _ in range(2)]
    ended = daemon.ended(*runs)
    assert {r["state"] for r in ended} == {"succeeded"}, ended
    worked = [a["task"] for r in runs
              for a in daemon.call("attempt.list", run=r)["attempts"] if a["role"] == "implement"]
    assert sorted(worked) == ["S1", "S2", "S3", "S4"]
    assert all(s["passes"] for s in json.loads(prd.read_text())["userStories"])


def test_a_retry_begins_with_what_passed(make_daemon, repo):
    text = json.dumps({"project": "p", "userStories": [{"id": f"S{n}", "title": f"story {n}",
                                                        "priority": n, "passes": False} for n in (1, 2)]})
    daemon = make_daemon(scripts={"implement": "[ $RL_TASK_ID = S1 ] || exit 3\necho 1 > one\nanswer done\n"})
    number = daemon.call("run.submit", workdir=str(repo.path), stories=text, agent="play", isolation="worktree")["id"]
    assert daemon.ended(number)["state"] == "failed"
    retry = daemon.call("run.retry", id=number)
    again = daemon.ended(retry["id"])
    assert [t["id"] for t in again["tasks"]] == ["S2"]
    assert not [w for w in again["warnings"] if "git merge" in w]


def test_a_repository_in_another_waits_for_it(queue, tmp_path):
    """Both ways; a linked work tree elsewhere is in nobody's way."""
    daemon = queue(4)
    outer = Repo(tmp_path / "outer")
    inner = Repo(outer.path / "sub" / "inner")
    outer.git("worktree", "add", "-q", str(tmp_path / "linked"))
    first = daemon.submit(outer.path)
    daemon.play.arrived("g1")
    with daemon.events() as events:
        second = daemon.submit(inner.path)
        events.until("run.state", lambda e: e["run"] == second and "busy" in e.get("reason", ""))
        row = daemon.run(second)
        assert (row["state"], row["reason"]) == ("queued", f"workdir busy: run {first} in {outer.path}")
        assert row["wait_kind"] == "workspace"
        daemon.submit(tmp_path / "linked")
        daemon.play.arrived("g3")
        daemon.play.go("g1")
        daemon.play.arrived("g2")
        fourth = daemon.submit(outer.path)
        events.until("run.state", lambda e: e["run"] == fourth and "busy" in e.get("reason", ""))
    assert daemon.run(fourth)["reason"] == f"workdir busy: run {second} in {inner.path}"
    for gate in ("g3", "g2"):
        daemon.play.go(gate)
    daemon.play.arrived("g4")
    daemon.play.go("g4")
    assert {row["state"] for row in daemon.ended(1, 2, 3, 4)} == {"succeeded"}
