# SPDX-License-Identifier: MIT
"""rlctl prune: what is kept of old runs goes by age, number or size; what a hold, a retry or a user
who has not merged yet needs stays; the rows stay, and say that the rest was pruned."""
import json
import os
import resource
import shutil
import subprocess

import pytest
from rld import RLCTL, Repo, RpcError
from test_given import edit
from users import needs_root

WORK = {"implement": "echo $RL_RUN >> work.txt\nanswer done\n", "review": "pass\n"}
PRD = json.dumps({"project": "p", "userStories": [
    {"id": f"s-{n}", "title": "t", "description": "d", "acceptanceCriteria": ["c"], "priority": 1,
     "passes": False} for n in (1, 2)]})
TREE = {"isolation": "worktree", "commit": "auto", "integrate": "merge"}


@pytest.fixture
def daemon(make_daemon):
    return make_daemon(scripts=WORK)


def refs(repo):
    return repo.git("for-each-ref", "--format=%(refname)").split()


def files(daemon):
    """All below the state directory but the database."""
    return sorted(str(p.relative_to(daemon.state)) for p in daemon.state.rglob("*")
                  if not p.name.startswith("rld."))


def directories(daemon):
    return sorted(int(p.name) for p in (daemon.state / "attempts").iterdir())


def prune(daemon, **params):
    return daemon.call("state.prune", **{"older": 0, "failures": 0, **params})


def size_of(daemon, run):
    """A prune waits until what has ended is measured."""
    prune(daemon, check=True)
    return daemon.run(run)["bytes"]


def gone(answer):
    return [run["run"] for run in answer["runs"]]


def kept(answer):
    return {run["run"]: run["need"] for run in answer["kept"]}


def done(daemon, repo, **params):
    run = daemon.review(repo.path, **params)
    assert daemon.ended(run)["state"] == "succeeded"
    while daemon.call("daemon.status")["busy"]:
        pass
    return run


def failed(daemon, repo, script="exit 3\n"):
    daemon.play.set({"implement": script})
    run = daemon.submit(repo.path)
    assert daemon.ended(run)["state"] == "failed"
    daemon.play.set(WORK)
    return run


def rows(daemon):
    return {table: daemon.query(f"SELECT * FROM {table} ORDER BY 1, 2")
            for table in ("run", "attempt", "step", "task", "review", "entry", "pruned", "evidence")}


def rows_at_rest(daemon):
    """The daemon has stopped, and starts again."""
    daemon.stop()
    found = rows(daemon)
    daemon.start()
    return found


# ---- what goes -----------------------------------------------------------------------------------

def test_dry_run_changes_nothing(daemon, repo):
    run = done(daemon, repo)
    asked = prune(daemon, check=True)
    before = files(daemon), refs(repo), rows_at_rest(daemon)
    said = daemon.rlctl("prune", "--dry-run", "--older", "0", check=0)
    assert said.out.splitlines()[-1].startswith("Would prune 1 run, ") and said.err == ""
    assert gone(asked) == [run] and asked["count"] == 1 and asked["check"] is True
    assert asked["bytes"] == daemon.run(run)["bytes"] > 0
    assert (files(daemon), refs(repo), rows_at_rest(daemon)) == before


def test_what_goes_and_what_stays(daemon, repo):
    first, second = done(daemon, repo), done(daemon, repo, task="another")
    kept_of = {run: [d["id"] for d in daemon.attempts(run)] for run in (first, second)}
    reviews, size = daemon.reviews(first), size_of(daemon, first)
    answer = prune(daemon, number=1, older="1h")
    assert gone(answer) == [first] and answer["runs"][0]["why"] == "number" and answer["bytes"] == size
    assert not set(kept_of[first]) & set(directories(daemon)) and set(kept_of[second]) <= set(directories(daemon))
    assert not (daemon.state / "runs" / str(first)).exists()
    assert all(f"/{second}" in ref for ref in refs(repo) if ref.startswith("refs/rl/")), refs(repo)
    run = daemon.run(first)
    assert run["bytes"] == 0 and run["pruned_at"] == run["pruned"]["at"]
    assert run["pruned"] == {"at": run["pruned_at"], "why": "number", "by_uid": os.geteuid(), "bytes": size}
    assert run["title"] and daemon.reviews(first) == reviews
    assert daemon.run(second)["pruned"] is None
    status = daemon.call("daemon.status")["kept"]
    assert status == {"runs": 1, "bytes": daemon.run(second)["bytes"]}
    with daemon.events(types=["run.pruned"]) as events:
        assert events.next()["run"] == first
    # once more: it is not there any more
    assert gone(prune(daemon, number=1, older="1h")) == []
    daemon.stop()
    assert daemon.query("SELECT count(*) AS n FROM step WHERE run = ?", first) == [{"n": 0}]
    assert daemon.query("SELECT count(*) AS n FROM step WHERE run = ?", second) != [{"n": 0}]


def test_what_is_said_afterwards(daemon, repo):
    run = done(daemon, repo)
    answer = daemon.rlctl("prune", "--older", "0", check=0)
    assert answer.out.splitlines()[-1].startswith("Pruned 1 run, ")
    date = daemon.run(run)["pruned_at"][:10]
    text = f"run {run} was pruned on {date}"
    assert "pruned" in daemon.rlctl("show", run, check=0).out
    for words in (("logs", run), ("logs", f"{run}/1"), ("diff", run), ("attest", run), ("retry", run)):
        said = daemon.rlctl(*words, check=1)
        assert f"run {run} was pruned" in said.err and len(said.err.splitlines()) >= 2, said
    assert f"{text}: its diffs are gone" in daemon.rlctl("diff", run).err
    assert f"{text}: what it has made is gone" in daemon.rlctl("retry", run).err
    report = json.loads(daemon.rlctl("report", "--format", "json", run, check=0).out)
    assert any(text in warning for warning in report["warnings"]) and report["result"]["answer"] is None
    for method in ("attempt.preview", "attempt.transcript", "attempt.output"):
        with pytest.raises(RpcError, match=text) as error:
            daemon.call(method, id=daemon.attempts(run)[0]["id"])
        assert error.value.code == 1
    verified = daemon.call("review.verify", run=run)
    assert verified["ok"] and verified["files"] == 0 and verified["pruned"]["why"] == "age"
    assert f"was pruned on {date}" in daemon.rlctl("review", "verify", run, check=0).out
    assert "is intact" in daemon.rlctl("review", "verify", run, check=0).out


def test_failures_have_their_own_age(daemon, repo):
    good, bad = done(daemon, repo), failed(daemon, repo)
    assert gone(prune(daemon, failures="1h")) == [good]
    answer = prune(daemon)
    assert [(run["run"], run["why"]) for run in answer["runs"]] == [(bad, "failures")]


def test_size(daemon, repo):
    runs = [done(daemon, repo, task=f"task {n}") for n in range(3)]
    asked = prune(daemon, check=True)
    sizes = [run["bytes"] for run in asked["runs"]]
    answer = prune(daemon, older="1h", failures="1h", size=sizes[1] + sizes[2])
    assert gone(answer) == runs[:1] and answer["runs"][0]["why"] == "size"
    assert gone(prune(daemon, older="1h", failures="1h", size=0)) == runs[1:]


def test_salvage_goes_with_its_run(daemon, repo):
    """What was saved of work that failed is kept as long as failures are."""
    daemon.play.set({"implement": "echo half > half.txt\nexit 3\n"})
    run = daemon.submit(repo.path, isolation="worktree", commit="auto")
    daemon.ended(run)
    assert [s["run"] for s in daemon.call("salvage.list")["salvage"]] == [run]
    assert daemon.ref("salvage", run, "t1") in refs(repo)
    prune(daemon)
    assert daemon.call("salvage.list")["salvage"] == [] and refs(repo) == ["refs/heads/main"]


def test_evidence_of_a_repository_without_runs(daemon, repo):
    """It is made again by the next run there."""
    done(daemon, repo)
    assert len(list((daemon.state / "evidence").iterdir())) == 1
    prune(daemon)
    assert list((daemon.state / "evidence").iterdir()) == []
    run = done(daemon, repo, task="another")
    assert daemon.call("review.verify", run=run)["ok"]


# ---- what stays ----------------------------------------------------------------------------------

def test_held_and_running(make_daemon, repo):
    daemon = make_daemon(scripts={**WORK, "review": "drift 'no'\n"}, gates=["here"])
    held = daemon.review(repo.path, review={"max_fixes": 0, "on_exhausted": "hold"})
    with daemon.events(run=held) as events:
        events.until("hold.opened")
    before = files(daemon), refs(repo)
    answer = prune(daemon)
    assert gone(answer) == [] and kept(answer) == {held: "held"}
    assert (files(daemon), refs(repo)) == before
    daemon.rlctl("cancel", held, check=0)
    daemon.play.set({"implement": "gate here\nanswer done\n"})
    running = daemon.submit(repo.path)
    daemon.play.arrived("here")
    answer = prune(daemon)
    assert gone(answer) == [held] and kept(answer) == {running: "running"}
    daemon.play.go("here")
    assert daemon.ended(running)["state"] == "succeeded"


def test_unmerged(daemon, repo):
    """The branch is the user's: it is never removed. Once another branch has it, the run goes."""
    run = done(daemon, repo, **TREE)
    branch = daemon.run(run)["result_branch"]
    before = files(daemon), refs(repo)
    answer = prune(daemon)
    assert gone(answer) == [] and kept(answer) == {run: "unmerged"}
    assert answer["kept"][0]["reason"] == f"no branch of yours has {branch}"
    said = daemon.rlctl("prune", "--older", "0", check=0)
    assert branch in said.out and "1 run beyond the limits stays" in said.out
    assert (files(daemon), refs(repo)) == before
    repo.git("merge", "-q", branch)
    assert gone(prune(daemon)) == [run]
    assert refs(repo) == ["refs/heads/main", f"refs/heads/{branch}"]


def test_unmerged_of_another_branch_of_ours(daemon, repo):
    """That a later run builds on it does not mean that the user has taken it."""
    first = done(daemon, repo, **TREE)
    second = done(daemon, repo, task="another", base=daemon.run(first)["result_branch"], **TREE)
    assert kept(prune(daemon)) == {first: "unmerged", second: "unmerged"}


def test_unmerged_and_its_branch_is_gone(daemon, repo):
    """Only refs/rl may have it; --unmerged is the user's word that it is not wanted."""
    run = done(daemon, repo, **TREE)
    repo.git("branch", "-D", daemon.run(run)["result_branch"])
    assert kept(prune(daemon)) == {run: "unmerged"}
    assert gone(prune(daemon, unmerged=True)) == [run]
    assert refs(repo) == ["refs/heads/main"]


def test_work_that_met_a_conflict(make_daemon, repo):
    """It has passed its review, and is on no branch when the rest is merged, the run cancelled."""
    (repo.path / "shared.txt").write_text("one\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "shared")
    daemon = make_daemon(scripts={"implement": "echo $RL_TASK_ID > shared.txt\nanswer done\n", "review": "pass\n"})
    run = daemon.submit(repo.path, task=None, stories=PRD, parallel=2, review={"enabled": True, "max_fixes": 0,
                        "on_exhausted": "hold"}, **TREE)
    row = daemon.ended(run)
    assert row["state"] == "held", row
    commit = next(task["commit"] for task in row["tasks"] if task["wait_kind"] == "decision")
    daemon.rlctl("cancel", run, check=0)
    while daemon.run(run)["state"] != "cancelled" or daemon.call("daemon.status")["busy"]:
        pass
    repo.git("merge", "-q", row["result_branch"])
    answer = prune(daemon)
    assert kept(answer) == {run: "unmerged"} and commit in answer["kept"][0]["reason"], answer
    repo.git("branch", "mine", commit)
    assert gone(prune(daemon)) == [run]


def test_saved_work_stays_as_long_as_failures(daemon, repo):
    """Whatever limit the run is beyond; on a branch of the user it is safe."""
    daemon.play.set({"implement": "echo half > half.txt\nexit 3\n"})
    run = daemon.submit(repo.path, isolation="worktree", commit="auto")
    daemon.ended(run)
    saved, = daemon.call("salvage.list")["salvage"]
    answer = prune(daemon, failures="1h", number=0)
    assert kept(answer) == {run: "salvage"} and saved["commit"] in answer["kept"][0]["reason"], answer
    assert f"rlctl salvage list {run}" in answer["kept"][0]["remedy"]
    assert gone(prune(daemon, failures="1h", size=0)) == []
    assert daemon.call("salvage.list")["salvage"] == [saved]
    repo.git("branch", "mine", saved["commit"])
    assert gone(prune(daemon, failures="1h", number=0)) == [run]


@pytest.mark.parametrize("how", ["another", "clone", "linked"])
def test_a_repository_that_is_another_now(daemon, repo, tmp_path, how):
    """That it has no such branch and no such commit does not say that they were merged."""
    place = repo.path
    if how == "linked":
        place = tmp_path / "linked"
        repo.git("worktree", "add", "-q", place)
    run = daemon.review(place, **TREE)
    assert daemon.ended(run)["state"] == "succeeded"
    if how == "linked":
        repo.git("worktree", "remove", "--force", place)
    else:
        place.rename(tmp_path / "elsewhere")
    if how == "clone":
        subprocess.run(["git", "clone", "-q", "--no-local", "-b", "main", "--single-branch",
                        tmp_path / "elsewhere", place], check=True)
    elif how == "another":
        subprocess.run(["git", "init", "-q", place], check=True)
    answer = prune(daemon)
    assert gone(answer) == [] and kept(answer) == {run: "unreadable"}, answer
    assert "--unmerged" in answer["kept"][0]["remedy"]
    if how != "linked":
        shutil.rmtree(place)
        (tmp_path / "elsewhere").rename(place)
        assert kept(prune(daemon)) == {run: "unmerged"}


def test_a_repository_that_cannot_be_read(daemon, repo, tmp_path):
    run = done(daemon, repo, **TREE)
    (repo.path / ".git" / "HEAD").rename(repo.path / ".git" / "HEAD.old")
    assert kept(prune(daemon)) == {run: "unreadable"}
    (repo.path / ".git" / "HEAD.old").rename(repo.path / ".git" / "HEAD")
    assert kept(prune(daemon)) == {run: "unmerged"}
    repo.path.rename(tmp_path / "elsewhere")
    assert kept(prune(daemon)) == {run: "unreadable"}, "the disk may not be mounted"
    assert gone(prune(daemon, unmerged=True)) == [run]
    # back again, it has refs that no run needs
    (tmp_path / "elsewhere").rename(repo.path)
    refs = [c for c in daemon.call("daemon.doctor", deep=True)["checks"] if c["name"] == "compare"]
    assert any(f"/passed/{run}/" in c["text"] and c["remedy"] for c in refs), refs


def test_what_a_retry_needs(make_daemon, repo):
    daemon = make_daemon(scripts=WORK, gates=["fix"])
    daemon.play.set({"review": "drift 'no'\n", "fix": "exit 3\n"})
    first = daemon.review(repo.path)
    assert daemon.ended(first)["state"] == "failed"
    daemon.play.set({"review": "pass\n", "fix": "gate fix\necho fixed >> work.txt\nanswer fixed\n"})
    second = daemon.call("run.retry", id=first)["id"]
    daemon.play.arrived("fix")
    answer = prune(daemon)
    assert gone(answer) == [] and kept(answer) == {first: "needed", second: "running"}
    assert answer["kept"][0]["reason"] == f"run {second} needs it"
    daemon.play.go("fix")
    assert daemon.ended(second)["state"] == "succeeded"
    assert gone(prune(daemon)) == [first, second]


def test_retry_after_prune(daemon, repo):
    run = failed(daemon, repo)
    assert gone(prune(daemon)) == [run]
    with pytest.raises(RpcError, match=f"run {run} was pruned on .*: what it has made is gone") as error:
        daemon.call("run.retry", id=run)
    assert error.value.code == 2 and "from-scratch" in error.value.data["hint"]
    again = daemon.call("run.retry", id=run, from_scratch=True)["id"]
    assert daemon.ended(again)["state"] == "succeeded"


def test_a_retry_that_comes_while_others_go(make_daemon, repo, tmp_path):
    """What it continues stays as well, though it is older and nothing has marked it yet."""
    daemon = make_daemon(scripts=WORK, environment={"PATH": f"{git_that_stands(tmp_path)}:/usr/bin:/bin"})
    daemon.play.set({"review": "drift 'no'\n", "fix": "exit 3\n"})
    first = daemon.review(repo.path)
    assert daemon.ended(first)["state"] == "failed"
    second = daemon.call("run.retry", id=first)["id"]   # it fails as well, and has made nothing
    assert daemon.ended(second)["state"] == "failed"
    daemon.play.set(WORK)
    daemon.play.set({"fix": "echo fixed >> work.txt\nanswer fixed\n"})
    another = Repo(tmp_path / "another")
    others = [done(daemon, another, task=f"task {n}") for n in range(16)]
    (tmp_path / "stand").touch()
    asking = daemon.rlctl_start("prune", "--older", "0", "--failures", "0")
    (tmp_path / "here").read_text()
    (tmp_path / "stand").unlink()
    third = daemon.call("run.retry", id=second)["id"]
    (tmp_path / "go").write_text("go\\n")
    out = asking.communicate()[0].decode()
    assert daemon.ended(third)["state"] == "succeeded"
    assert [daemon.run(run)["pruned"] is None for run in (first, second, others[0])] == [True, True, False]
    assert "Pruned 16 runs" in out and f"run {second} needs it" in out, out
    assert gone(prune(daemon)) == [first, second, third]


# ---- whatever happens ----------------------------------------------------------------------------

def git_that_stands(tmp_path):
    """A directory for PATH whose git stands before the first ref of prune goes."""
    place = tmp_path / "bin"
    place.mkdir()
    os.mkfifo(tmp_path / "here")
    os.mkfifo(tmp_path / "go")
    (place / "git").write_text(f"""#!/bin/sh
test -e {tmp_path}/stand && case "$*" in *" for-each-ref "*) echo $$ > {tmp_path}/here
read -r word < {tmp_path}/go ;; esac
exec /usr/bin/git "$@"
""")
    (place / "git").chmod(0o755)
    return place


def test_killed_in_the_middle(make_daemon, repo, tmp_path):
    """What is marked is removed to the end by the next daemon, and nothing twice."""
    daemon = make_daemon(scripts=WORK)
    runs = [done(daemon, repo, task=f"task {n}") for n in range(3)]
    daemon.stop()
    daemon.start(environment={"PATH": f"{git_that_stands(tmp_path)}:/usr/bin:/bin"})
    (tmp_path / "stand").touch()
    asking = daemon.rlctl_start("prune", "--older", "0")
    (tmp_path / "here").read_text()
    daemon.kill()
    assert asking.wait() != 0
    (tmp_path / "go").write_text("go\\n")
    assert [row["done"] for row in daemon.query("SELECT done FROM pruned")] == [None] * 3
    assert directories(daemon) != []
    daemon.start()
    answer = prune(daemon)      # waits for it
    assert gone(answer) == []
    assert directories(daemon) == [] and refs(repo) == ["refs/heads/main"]
    assert list((daemon.state / "runs").iterdir()) == []
    assert all(daemon.call("review.verify", run=run)["ok"] for run in runs)
    assert daemon.call("daemon.status")["kept"] == {"runs": 0, "bytes": 0}
    daemon.stop()
    assert [row["done"] for row in daemon.query("SELECT done FROM pruned")] == [1] * 3


def test_stopped_in_the_middle(make_daemon, repo, tmp_path):
    """The client is told, and a stop waits for no more than what is under way."""
    daemon = make_daemon(scripts=WORK)
    done(daemon, repo)
    daemon.stop()
    daemon.start(environment={"PATH": f"{git_that_stands(tmp_path)}:/usr/bin:/bin"})
    (tmp_path / "stand").touch()
    asking = daemon.rlctl_start("prune", "--older", "0")
    (tmp_path / "here").read_text()
    daemon.call("daemon.stop")
    (tmp_path / "go").write_text("go\\n")
    daemon.process.wait()
    asking.wait()
    daemon.start()
    assert gone(prune(daemon)) == [] and directories(daemon) == []


def test_stopped_is_said_when_it_is_true(make_daemon, repo, tmp_path):
    """A stop waits for what prune has under way, 5 s at most; then it has exited."""
    daemon = make_daemon(scripts=WORK, environment={"PATH": f"{git_that_stands(tmp_path)}:/usr/bin:/bin"})
    done(daemon, repo)
    (tmp_path / "stand").touch()
    asking = daemon.rlctl_start("prune", "--older", "0")
    (tmp_path / "here").read_text()
    said = daemon.rlctl("stop", check=0)
    daemon.process.wait(timeout=3)      # less than these 5 s
    assert "has stopped" in said.err
    (tmp_path / "go").write_text("go\\n")
    (tmp_path / "stand").unlink()
    asking.wait()
    daemon.start()
    assert gone(prune(daemon)) == [] and directories(daemon) == []


def test_what_cannot_be_removed(make_daemon, repo):
    """It is said, and tried again."""
    daemon = make_daemon(scripts=WORK)
    run = done(daemon, repo)
    lock = repo.path / ".git" / (daemon.ref("base", run) + ".lock")
    lock.touch()
    said = daemon.rlctl("prune", "--older", "0", check=1)
    assert f"run {run}: cannot remove its refs in {repo.path}" in said.err
    # once for each prune, and not by itself
    assert daemon.call("state.prune")["left"] == [f"run {run}: cannot remove its refs in {repo.path}: git refuses"]
    assert daemon.log_path.read_text().count("cannot remove its refs") == 2
    lock.unlink()
    assert daemon.call("state.prune")["left"] == []
    assert refs(repo) == ["refs/heads/main"]


def mounts_below(place):
    with open("/proc/self/mountinfo", encoding="utf-8") as lines:
        return [path for path in (line.split()[4] for line in lines) if path.startswith(f"{place}/")]


@needs_root
@pytest.mark.parametrize("where", ["attempts/{attempt}", "attempts/{attempt}/mnt", "attempts/{attempt}/a/b/mnt",
                                   "runs/{run}", "runs/{run}/mnt"])
def test_what_is_mounted_is_not_removed(daemon, repo, tmp_path, where):
    """Also of the same file system: it is the user's, who may have wanted more space."""
    run = done(daemon, repo)
    size_of(daemon, run)
    place = daemon.state / where.format(run=run, attempt=daemon.attempts(run)[0]["id"])
    theirs = tmp_path / "theirs"
    (theirs / "below").mkdir(parents=True)
    (theirs / "below" / "file").write_text("theirs")
    theirs.chmod(0o755)
    place.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(["mount", "--bind", theirs, place], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"nothing can be mounted here: {mounted.stderr}")
    try:
        left, = prune(daemon)["left"]
        assert "is mounted there" in left and (theirs / "below" / "file").read_text() == "theirs"
        assert theirs.stat().st_mode & 0o777 == 0o755
    finally:
        # directories above it may have been moved
        subprocess.run(["umount", *mounts_below(daemon.state)], check=True)
    assert prune(daemon)["left"] == [] and directories(daemon) == []
    assert (theirs / "below" / "file").read_text() == "theirs"


@needs_root
def test_what_is_left_of_evidence(daemon, repo, tmp_path):
    """It is told, and a later prune removes the rest, also when there is evidence again."""
    done(daemon, repo)
    evidence, = (daemon.state / "evidence").iterdir()
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (evidence / "mnt").mkdir()
    mounted = subprocess.run(["mount", "--bind", theirs, evidence / "mnt"], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"nothing can be mounted here: {mounted.stderr}")
    try:
        left, = prune(daemon)["left"]
        assert f"{evidence}.gone" in left and "is mounted there" in left
        done(daemon, repo, task="another")
        assert evidence.exists() and len(prune(daemon)["left"]) == 2
    finally:
        subprocess.run(["umount", *mounts_below(daemon.state)], check=True)
    prune(daemon)       # the newer one has the name of the older one, and may have to wait for it
    assert prune(daemon)["left"] == []
    assert list((daemon.state / "evidence").iterdir()) == []


def test_a_full_disk(daemon, repo):
    """Nothing is marked, so nothing is removed."""
    run = done(daemon, repo)
    daemon.call("state.prune", check=True)
    before = files(daemon), refs(repo)
    pid, none = daemon.call("daemon.status")["pid"], resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, none[1]))
    with pytest.raises(RpcError) as error:
        prune(daemon)
    assert error.value.code == 7 and (files(daemon), refs(repo)) == before
    resource.prlimit(pid, resource.RLIMIT_FSIZE, none)
    with daemon.events(since=None, types=["run.pruned"]) as events:
        while True:
            try:
                prune(daemon)
                break
            except RpcError as e:
                assert e.code == 7
        assert events.next()["run"] == run


def test_marked_by_another(daemon, repo):
    """Files that are gone are not hidden by an edit of the rows."""
    run = done(daemon, repo)
    edit_of = [("UPDATE run SET pruned_at = 5 WHERE id = ?", run)]
    daemon.stop()
    edit(daemon, *edit_of)
    daemon.start()
    verified = daemon.call("review.verify", run=run)
    assert not verified["chain"] and "what was pruned of it" in verified["message"]
    daemon.stop()
    edit(daemon, ("INSERT INTO pruned VALUES (?, 5, 'age', NULL, 7, 1)", run))
    daemon.start()
    verified = daemon.call("review.verify", run=run)
    assert not verified["chain"] and "pruned" in verified["message"] and "not in the record" in verified["message"]
    daemon.stop()


# ---- by itself -----------------------------------------------------------------------------------

def test_automatic(make_daemon, repo):
    """Once a day; that it was done today survives a restart."""
    daemon = make_daemon(scripts=WORK)
    run = done(daemon, repo)
    daemon.write_config({"keep": {"automatic": True, "age": "1s"}})
    while prune(daemon, check=True, older="1s")["count"] == 0:
        pass
    with daemon.events(types=["run.pruned"]) as events:
        daemon.rlctl("rpc", "daemon.reload", check=0)
        assert events.next()["run"] == run
    assert daemon.run(run)["pruned"]["by_uid"] is None
    second = done(daemon, repo, task="another")
    while prune(daemon, check=True, older="1s")["count"] == 0:
        pass
    daemon.restart()
    for _ in range(2):      # a call comes first, and waits for what is under way
        assert prune(daemon, check=True)["count"] == 1
    assert daemon.run(second)["pruned"] is None


def test_a_clock_that_has_jumped(make_daemon, repo):
    """By years: the daemon prunes nothing by itself until a user has confirmed the clock."""
    daemon = make_daemon(scripts=WORK)
    run = done(daemon, repo)
    prune(daemon, older="1h", failures="1h")
    daemon.stop()
    edit(daemon, ("UPDATE setting SET value = value - 10 * 365 * 86400000 WHERE name = 'last_prune'",))
    daemon.write_config({"keep": {"automatic": True, "age": "1s"}})
    daemon.start()
    while "[keep] automatic prunes nothing" not in daemon.log():
        pass

    def keep():
        return next(check for check in daemon.call("daemon.doctor")["checks"] if check["name"] == "keep")
    assert keep()["state"] == "warning" and "automatic waits" in keep()["text"]
    assert daemon.run(run)["pruned"] is None
    while gone(prune(daemon, check=True, older="1s")) == []:
        pass
    assert keep()["state"] == "warning", "a dry run confirms nothing"
    assert gone(prune(daemon, older="1s")) == [run]
    assert "automatic waits" not in keep()["text"]


def test_measured_at_the_end_and_after_an_upgrade(daemon, repo):
    run = done(daemon, repo)
    size = size_of(daemon, run)
    # the last scratch files may have been there
    assert size >= sum(os.lstat(p).st_blocks * 512 for a in daemon.attempts(run) for p in
                       [daemon.state / "attempts" / str(a["id"]),
                        *(daemon.state / "attempts" / str(a["id"])).rglob("*")]) + rest(daemon, run)
    assert daemon.call("run.list")["runs"][0]["bytes"] == size
    assert json.loads(daemon.rlctl("list", "--json").out)["runs"][0]["bytes"] == size
    daemon.stop()
    edit(daemon, ("UPDATE run SET bytes = NULL",))
    daemon.start()
    with pytest.raises(AssertionError):
        while True:
            assert daemon.run(run)["bytes"] is None
    assert daemon.run(run)["bytes"] <= size


def rest(daemon, run):
    """The measured diff, and what lies in runs/."""
    attempts = {a["id"] for a in daemon.attempts(run)}
    places = [daemon.state / "runs" / str(run), *(daemon.state / "attempts" / str(n) for n in directories(daemon)
                                                  if n not in attempts)]
    return sum(os.lstat(p).st_blocks * 512 for place in places for p in [place, *place.rglob("*")])


def test_doctor_says_when_runs_are_beyond_the_limits(make_daemon, repo):
    daemon = make_daemon(scripts=WORK)
    done(daemon, repo)
    size_of(daemon, 1)

    def keep():
        return next(check for check in daemon.call("daemon.doctor")["checks"] if check["name"] == "keep")
    assert keep()["state"] == "ok" and "of 1 ended runs are kept" in keep()["text"]
    daemon.write_config({"keep": {"age": "1s"}})
    daemon.rlctl("rpc", "daemon.reload", check=0)
    while keep()["state"] == "ok":
        pass
    assert "1 of them" in keep()["text"] and "rlctl prune --dry-run" in keep()["remedy"]


def test_agents_may_not(make_daemon, repo, tmp_path):
    daemon = make_daemon(scripts={
        "implement": f"{RLCTL} prune --older 0 > {tmp_path}/said 2>&1\nanswer done\n"})
    first = daemon.submit(repo.path)
    daemon.ended(first)
    daemon.ended(daemon.submit(repo.path))
    assert "leave that to the user of the daemon" in (tmp_path / "said").read_text()
    assert daemon.run(first)["pruned"] is None
