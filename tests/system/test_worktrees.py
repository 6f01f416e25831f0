# SPDX-License-Identifier: MIT
"""Work trees: one for each task, on a branch and a base of their own; the user's own tree, index,
stash and branch stay as they are; nothing that was made in one is lost, whatever dies and whatever
the agent does to it."""
import os
import signal
import subprocess

import pytest
from rld import Repo, RpcError, give, proc_stat
from trees import Trees, beads, commits, files_of, names_in, of_the_user, trees, work_trees  # noqa: F401

IDS = ("x-1", "x-2", "x-3")


def make_dirty(repo):
    """Uncommitted work of every kind."""
    for name in ("kept", "changed", "staged", "both", "gone", "gone-from-index", "old"):
        repo.write(name, f"{name} 1\n")
    repo.write(".gitignore", "*.log\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "more")
    repo.write("stashed", "stashed\n")
    repo.git("stash", "push", "-q", "-u", "-m", "of the user")
    repo.write("changed", "changed 2\n")
    repo.write("staged", "staged 2\n")
    repo.write("both", "both 2\n")
    repo.git("add", "staged", "both")
    repo.write("both", "both 3\n")
    repo.git("mv", "old", "new name")
    (repo.path / "gone").unlink()
    repo.git("rm", "-q", "--cached", "gone-from-index")
    repo.write("untracked äö\n.txt", "untracked\n")
    repo.write("ignored.log", "ignored\n")
    (repo.path / "link").symlink_to("kept")


# ---- one for each task ---------------------------------------------------------------------------

def test_one_for_each_task(trees, repo):
    make_dirty(repo)
    beads(repo, *IDS, commit=False)
    before = of_the_user(repo)
    own = {k: v for k, v in files_of(repo.path).items() if k != b"ignored.log"}
    t = trees(scripts={"implement": 'pwd > "$PLAY/pwd.$RL_TASK_ID"; git status --porcelain > '
                       '"$PLAY/status.$RL_TASK_ID"; git rev-parse HEAD > "$PLAY/head.$RL_TASK_ID"\n'
                       'git symbolic-ref HEAD > "$PLAY/branch.$RL_TASK_ID"; gate "$RL_TASK_ID"; '
                       'echo mine > changed; echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"; rm kept\n'},
              gates=IDS)
    number = t.submit(parallel=3, integrate="none")
    for each in IDS:
        t.play.arrived(each)
    said = {each: {what: (t.play.path / f"{what}.{each}").read_text().strip()
                   for what in ("pwd", "status", "head", "branch")} for each in IDS}
    row = t.daemon.run(number)
    slots = {s["task"]: s for s in row["slots"]}
    assert (len({s["pwd"] for s in said.values()}) == 3
            and sorted(work_trees(repo)) == sorted(s["pwd"] for s in said.values()))
    for each in IDS:
        assert said[each] == {"pwd": slots[each]["worktree"], "status": "", "head": row["base_commit"],
                              "branch": f"refs/heads/rl/{number}/{each}"}, said
        assert (slots[each]["worktree"].startswith(str(t.daemon.state))
                and slots[each]["branch"] == f"rl/{number}/{each}")
        assert files_of(said[each]["pwd"]) == own, "uncommitted work of the user is in the base, what he ignores is not"
    assert repo.git("rev-parse", f"{row['base_commit']}^") == repo.git("rev-parse", "main")
    assert repo.git("rev-parse", t.daemon.ref("base", number)) == row["base_commit"]
    assert of_the_user(repo) == before, "while they work"
    for each in IDS:
        t.play.go(each)
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert of_the_user(repo) == before, "and afterwards"
    for each in IDS:
        assert repo.git("diff", "--name-status", row["base_commit"],
                        f"rl/{number}/{each}").split("\n") == ["M\tchanged", "D\tkept", f"A\t{each}.txt"]
    assert work_trees(repo) == [] and list((t.daemon.state / "worktrees").iterdir()) == []


def test_the_base_is_fixed(trees, repo):
    """What the user does meanwhile is not in it."""
    beads(repo, "x-1", "x-2")
    t = trees()
    number, _ = t.submit_to("implement", parallel=1, integrate="none")
    base = t.daemon.run(number)["base_commit"]
    repo.write("later", "later\n")
    repo.git("add", "later")
    repo.git("commit", "-q", "-m", "later")
    t.play.go("implement")
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and row["base_commit"] == base != repo.git("rev-parse", "main")
    assert [repo.git("rev-parse", f"rl/{number}/{each}^") for each in ("x-1", "x-2")] == [base, base]


NAMES = ["a b", "ä-ö", "..", "a..b", "x.lock", "-dash", "a/b", "a~^:?*[\\", "@{u}", "x" * 200, ".",
         "日" * 66, "日" * 65 + "本"]


@pytest.mark.broad
def test_ids_that_are_no_names_for_branches(trees, repo):
    quoted = {each: '"' + each.replace("\\", "\\\\") + '"' for each in NAMES}
    t = trees(scripts={"implement": 'echo "$RL_TASK_ID" > x.$RL_SLOT.$RL_ITERATION\n'})
    row = t.run(workflow="tasks:\n" + "".join(f"  {each}:\n    prompt: do it\n"
                                              for each in quoted.values()), parallel=4)
    assert row["state"] == "succeeded", row
    done = {repo.git("show", f"{row['result_branch']}:{name}")
            for name in names_in(repo, row["result_branch"]) - {"README"}}
    assert done == set(NAMES) and len(t.is_linear(row)) == len(NAMES) and work_trees(repo) == []


@pytest.mark.broad
def test_the_branch_of_an_earlier_state_directory(trees, repo):
    """Runs begin at 1 again there: what the first one has made is neither added to nor built on."""
    beads(repo, "x-1", "x-2")
    earlier = trees(name="earlier")
    old = earlier.run()
    earlier.daemon.stop()
    commit_of_old = repo.git("rev-parse", old["result_branch"])
    t = trees()
    row = t.run()
    assert row["state"] == "succeeded" and len(t.is_linear(row)) == 2, row
    assert row["result_branch"] == f"{old['result_branch']}-{t.daemon.ref('x').split('/')[2]}"
    assert repo.git("rev-parse", old["result_branch"]) == commit_of_old


@pytest.mark.parametrize("integrate", ["merge", "none"])
def test_two_daemons_in_one_repository(trees, repo, integrate):
    """Their runs and tasks have the same numbers and names; what each made is found by what
    each one says of it."""
    beads(repo, "x-1", "x-2")
    work = 'echo WHO > "$RL_TASK_ID.txt"\ngate "$RL_TASK_ID"\nanswer done\n'
    both = [trees(scripts={"implement": work.replace("WHO", name)}, gates=("x-1", "x-2"), name=name)
            for name in ("one", "two")]
    numbers = [t.submit(parallel=2, integrate=integrate) for t in both]
    for task in ("x-1", "x-2"):
        for t in both:
            t.play.arrived(task)
    branches = repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads/rl").split()
    for task in ("x-1", "x-2"):
        for t in both:
            t.play.go(task)
    assert numbers == [1, 1] and len(branches) == (6 if integrate == "merge" else 4), branches
    for t, name in zip(both, ("one", "two")):
        row = t.daemon.ended(1)
        assert row["state"] == "succeeded", row
        own = [row["result_branch"]] if integrate == "merge" else [s["branch"] for s in row["slots"]]
        assert set(own) <= set(branches)
        for branch in own:
            branches.remove(branch)
            assert repo.git("config", f"branch.{branch}.rldInstance") == t.daemon.ref("x").split("/")[2]
            assert {repo.git("show", f"{branch}:{path}")
                    for path in names_in(repo, branch) if path.endswith(".txt")} == {name}
        assert repo.git("rev-parse", t.daemon.ref("base", 1)) == row["base_commit"]
    left = repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads/rl").split()
    assert not set(left) & set(branches), "branches of tasks that are merged go, and so does what was said of them"
    assert repo.git("config", "--get-regexp", r"^branch\.rl").count("\n") + 1 == len(left)


# ---- whatever dies -------------------------------------------------------------------------------

KILLED_AT = ("after-base", "lay", "after-lay", "implement", "review", "fix", "record",
             "after-record", "merge", "move", "after-move", "pin", "clear", "after-clear")


@pytest.mark.parametrize("stop", KILLED_AT)
def test_daemon_killed(trees, repo, stop):
    """kill -9 while it is there: what was begun goes on where it was, and nothing is paid for or
    committed twice."""
    repo.write("README", "uncommitted\n")
    beads(repo, "x-1", "x-2", commit=False)
    before = of_the_user(repo)
    t = trees(scripts={"implement": 'pwd >> "$PLAY/pwd"; echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"; answer done\n',
                       "review.1": "drift more\n",
                       "fix": 'pwd >> "$PLAY/pwd"; echo fixed >> "$RL_TASK_ID.txt"; answer fixed\n'})
    many = 2 if "merge" in stop else 1    # what stands on nothing else needs no merge
    number, _ = t.submit_to(stop, review=True, parallel=many)
    base = t.daemon.run(number)["base_commit"]
    t.daemon.kill()
    t.daemon.start()
    if stop in ("implement", "review", "fix"):
        t.play.go(stop)
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and row["warnings"] == [], row
    assert base in (None, row["base_commit"]) and of_the_user(repo) == before
    assert sorted(t.roles(number)) == ["fix", "implement", "implement", "review", "review", "review"]
    told = (t.play.path / "pwd").read_text().splitlines()
    assert len(told) == 3 and len(set(told)) == 2, "the fixer works where the implementer has"
    assert sorted(s for _, _, s in t.is_linear(row)) == ["do x-1", "do x-2"]
    result = {n: repo.git("show", f"{row['result_branch']}:{n}") for n in names_in(repo, row["result_branch"])}
    assert sorted(result[f"x-{n}.txt"]
                  for n in (1, 2)) in (["x-1", "x-2\nfixed"],
                                       ["x-1\nfixed", "x-2"]) and result["README"] == "uncommitted"
    assert work_trees(repo) == [] and not any(map(os.path.exists, told)) and t.salvage(number) == []
    assert repo.git("for-each-ref", "refs/heads/rl").split("\n") == [
        f"{row['result_commit']} commit\trefs/heads/{row['result_branch']}"]


@pytest.mark.parametrize("stop", ["save", "after-save", "clear", "after-clear"])
def test_daemon_killed_while_it_saves(trees, repo, tmp_path, stop):
    beads(repo, "x-1")
    t = trees(scripts={"implement": "echo half > half.txt; exit 3\n"})
    number, _ = t.submit_to(stop)
    t.daemon.kill()
    t.daemon.start()
    row = t.daemon.ended(number)
    assert row["state"] == "failed", row
    saved, = t.salvage(number)
    assert t.restored(saved, tmp_path / "out")[b"half.txt"] == ("file", b"half\n") and work_trees(repo) == []


def deletions(daemon):
    """Those of large work trees: their state, in the order in which they began."""
    return daemon.query("SELECT slot, state FROM step WHERE name = 'delete' ORDER BY id")


@pytest.mark.each
@pytest.mark.parametrize("stop", [None, "clear", "after-clear"])
def test_a_large_one_is_deleted_beside_the_work(trees, repo, tmp_path, stop):
    """What of it is in no commit is saved; of any mode; nothing is left at the end."""
    beads(repo, "x-1", "x-2", "x-3")
    t = trees(scripts={"implement": 'mkdir -p a/b && (cd a/b && seq 2500 | xargs touch) && '
                       'chmod -R a-w a && pwd >> "$PLAY/pwd"; exit 3\n'})
    number = t.submit_to(stop, on_failure="continue")[0] if stop else t.submit(on_failure="continue")
    if stop:
        t.daemon.kill()
        t.daemon.start()
    row = t.daemon.ended(number)
    assert row["state"] == "failed" and row["warnings"] == [], row
    assert len(t.salvage(number)) == 3 and work_trees(repo) == []
    for saved in t.salvage(number):
        assert len(t.restored(saved, tmp_path / f"out-{saved['id']}")) == 2500 + len(files_of(repo.path)), saved
    told = (t.play.path / "pwd").read_text().splitlines()
    assert not os.path.exists(os.path.dirname(told[0])), "the directory of the run is gone, too"
    t.daemon.stop()
    assert len(deletions(t.daemon)) >= 3


def test_a_lost_agent_finds_its_work_again(trees, repo):
    """Its shim is killed, and the next attempt works on in the same work tree."""
    beads(repo, "x-1")
    t = trees(scripts={"implement.1": "echo half > half.txt; gate implement\n",
                       "implement": "echo and the rest >> half.txt; answer done\n"})
    number = t.submit(on_lost="retry")
    pid = t.play.arrived("implement")
    shim = proc_stat(pid)[1]
    os.kill(shim, signal.SIGKILL)
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and t.roles(number) == ["implement", "implement"], row
    assert repo.git("show", f"{row['result_branch']}:half.txt") == "half\nand the rest"


# ---- nothing is lost -----------------------------------------------------------------------------

ODD = ["a b", "new\nline", "tab\there", "ünïcödé 漢字", b"\xff\xfe raw", "-dash", "*", ":(top)x",
       "'q' \"d\" \\ back", "x" * 200, "dir/sub dir/deep", ".hidden", "HEAD"]


def lay_odd_files(directory):
    """Files that an agent may leave, which play copies into its work tree."""
    for n, name in enumerate(ODD):
        path = os.path.join(os.fsencode(directory), os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(b"%d\r\nlone \r and \n$Id$\0\xff no end" % n if n % 2 else b"")
    (directory / "program").write_text("#!/bin/sh\n")
    (directory / "program").chmod(0o755)
    (directory / "secret").write_text("mode 600\n")
    (directory / "secret").chmod(0o600)
    (directory / "broken link").symlink_to("/nonexistent/ä")
    (directory / "link to a directory").symlink_to("dir")
    (directory / "noise.log").write_text("ignored, and new\n")
    (directory / "build").mkdir()
    (directory / "build" / "out.o").write_bytes(bytes(range(256)) * 300)
    return files_of(directory)


@pytest.mark.parametrize("how", ["failed", "cancelled", "killed"])
def test_every_byte_is_saved(trees, repo, tmp_path, how):
    repo.write(".gitignore", "*.log\nbuild/\n")
    repo.write(".gitattributes", "* text=auto eol=crlf ident\n")
    repo.write("tracked", "tracked\n")
    repo.write("gone", "gone\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "attributes")
    repo.git("rm", "-q", "--cached", "-r", ".")
    repo.git("reset", "-q", "--hard")
    beads(repo, "x-1")
    before = of_the_user(repo)
    t = trees(scripts={"implement": 'cp -a "$PLAY/odd/." .; rm gone; printf "changed\\n" > tracked; '
                       'git add tracked; echo again >> tracked\n' + "gate there\n" +
                       ("exit 3\n" if how == "failed" else "")}, gates=["there"])
    (t.play.path / "odd").mkdir()
    want = lay_odd_files(t.play.path / "odd")
    number = t.submit()
    pid = t.play.arrived("there")
    # what was there, with the bytes that the checkout has given them
    want = {**{k: v for k, v in files_of(t.slot(number)["worktree"]).items()}, **want}
    assert (want[b"tracked"] == ("file", b"changed\nagain\n") and b"gone" not in want
            and want[b".gitattributes"][1].endswith(b"\r\n"))
    if how == "failed":
        t.play.go("there")
        row = t.daemon.ended(number)
    elif how == "cancelled":
        row = t.daemon.cancelled(number)
    else:
        t.daemon.kill()
        t.daemon.start()
        row = t.daemon.cancelled(number)
    assert row["state"] == ("failed" if how == "failed" else "cancelled"), row
    saved, = t.salvage(number)
    assert (saved["ref"], saved["task"]) == (t.daemon.ref("salvage", number, "x-1"),
                                             "x-1") and not os.path.exists(saved["path"])
    told, = [e for e in t.daemon.call("event.list", limit=1000)["events"] if e["type"] == "salvaged"]
    assert (told["salvage"], told["task"], told["ref"]) == (saved["id"], "x-1", saved["ref"])
    got = t.restored(saved, tmp_path / "given back")
    assert got == want
    assert of_the_user(repo) == before and work_trees(repo) == []
    listed = t.daemon.rlctl("salvage", "list", number, check=0).out
    assert saved["ref"] in listed


def test_commits_of_a_failed_task_are_kept(trees, repo, tmp_path):
    """On its branch, and on none."""
    beads(repo, "x-1", "x-2")
    t = trees(scripts={"implement": "echo $RL_TASK_ID > one; git add one; "
                       "git -c user.name=a -c user.email=a@a commit -q -m one\n"
                       '[ "$RL_TASK_ID" = x-1 ] || git checkout -q --detach\n' "echo two > two; "
                       "git add two; git -c user.name=a -c user.email=a@a commit -q -m two; exit 3\n"})
    number = t.submit(on_failure="continue")
    assert t.daemon.ended(number)["state"] == "failed"
    assert names_in(repo, f"rl/{number}/x-1") >= {"one", "two"}
    saved = {s["task"]: s for s in t.salvage(number)}
    assert set(saved) == {"x-2"}, "what the branch has is there"
    assert set(t.restored(saved["x-2"], tmp_path / "out")) >= {b"one", b"two"}


def test_unmerged_work_keeps_its_branch(trees, repo):
    beads(repo, "x-1")
    row = trees().run(integrate="none")
    assert row["state"] == "succeeded" and row["result_branch"] is None
    assert commits(repo, f"main..rl/{row['id']}/x-1")[0][2] == "do x-1" and work_trees(repo) == []


def test_a_nested_repository_stays(trees, repo):
    """git cannot save it, so nothing is removed, and the run says what to do."""
    beads(repo, "x-1")
    t = trees(scripts={"implement": "git init -q inside; echo deep > inside/deep; (cd inside; git "
                       "add .; git -c user.name=a -c user.email=a@a commit -q -m deep)\nexit 3\n"})
    row = t.run()
    place = t.slot(row["id"])["worktree"]
    assert row["state"] == "failed" and (open(os.path.join(place, "inside", "deep")).read(),
                                         t.salvage(row["id"])) == ("deep\n", [])
    warning, = row["warnings"]
    assert "x-1" in warning and "inside" in warning and "remove" in warning, warning
    assert warning in " ".join(t.daemon.rlctl("show", row["id"], check=0).out.split()) and place in warning


@pytest.mark.broad
def test_disk_use(trees, repo):
    beads(repo, "x-1", "x-2")
    t = trees(scripts={"implement": 'head -c 3000000 /dev/urandom > big; answer done\n'})
    number, _ = t.submit_to("review", review=True, parallel=2)
    with t.daemon.events(run=number) as events:
        for _ in range(2):
            events.until("attempt.ended", lambda e: e["role"] == "implement")
    row = t.daemon.run(number)
    assert row["disk_bytes"] >= 6000000 and all(3000000 <= each["disk_bytes"] < 4000000
                                                for each in row["tasks"]), row["tasks"]
    assert "disk" in t.daemon.rlctl("show", number, check=0).out
    t.play.go("review")
    row = t.daemon.ended(number)
    assert row["state"] == "succeeded" and row["disk_bytes"] == 0, row


# ---- whatever its agent does to it ---------------------------------------------------------------

def test_deleted_by_its_agent(trees, repo):
    beads(repo, "x-1", "x-2")
    before = of_the_user(repo)
    t = trees(scripts={"implement": '[ "$RL_TASK_ID" = x-2 ] || rm -rf "$PWD"\n' +
                       "echo two > two 2> /dev/null; answer done\n"})
    row = t.run(review=True, on_failure="continue")
    tasks = t.tasks(row["id"])
    assert (row["state"] == "failed" and tasks["x-1"]["state"] == "failed"
            and "no longer exists: its agent removed it" in tasks["x-1"]["reason"]), tasks
    assert tasks["x-2"]["state"] == "passed" and names_in(repo, row["result_branch"]) >= {"two"}
    assert of_the_user(repo) == before and work_trees(repo) == []


BROKEN = {
    "its .git is removed": "rm .git\n",
    "its .git is garbage": "echo garbage > .git\n",
    "its .git leads nowhere": "echo gitdir: /nonexistent > .git\n",
    "its .git leads to the user's": 'echo "gitdir: $USERS/.git" > .git\n',
    "its .git is a link to the user's": 'ln -sf "$USERS/.git" .git\n',
    "its .git leads to another's": 'git init -q --bare ../evil; echo "gitdir: $PWD/../evil" > .git\n',
    "its HEAD is garbage": 'echo broken > "$(git rev-parse --git-dir)/HEAD"\n',
    "its HEAD is the user's branch": 'echo "ref: refs/heads/main" > "$(git rev-parse --git-dir)/HEAD"\n',
    "its index is garbage": 'echo broken > "$(git rev-parse --git-dir)/index"\n',
    "its registration is removed": 'rm -r "$(git rev-parse --git-dir)"\n',
    "its branch is deleted": 'git update-ref -d "$(git symbolic-ref HEAD)"\n',
    "its branch is another commit": 'git update-ref "$(git symbolic-ref HEAD)" "$(git commit-tree '
    '-m other "$(git rev-parse "HEAD^{tree}")")"\n',
    "it is on another branch": "git checkout -q -b other\n",
    "it is on no branch": "git checkout -q --detach\n",
    "it is locked": 'touch "$(git rev-parse --git-dir)/index.lock"\n',
    "its branch is locked": 'touch "$(git rev-parse --git-common-dir)/$(git symbolic-ref HEAD).lock"\n',
}
ME = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a\n"


@pytest.mark.parametrize("how", BROKEN)
def test_broken_by_its_agent(trees, repo, tmp_path, how):
    """The task passes or fails with a reason; the work is in the result or in the salvage; the
    user's repository stays as it is, also where he has nothing uncommitted, so that the work began
    at the very commit of his branch."""
    beads(repo, "x-1")
    before = of_the_user(repo)
    t = trees(scripts={"implement": f"{ME}echo mine > mine.txt\nUSERS='{repo.path}'\n{BROKEN[how]}answer done\n"})
    row = t.run()
    if "branch" in how and "locked" in how:
        assert not (repo.path / ".git" / "refs" / "heads" / "rl" / str(row["id"]) / "x-1.lock").exists()
    after = of_the_user(repo)
    if how == "it is on another branch":
        assert repo.git("rev-parse", "other") == row["base_commit"]
        after["refs"] = [line for line in after["refs"] if not line.endswith("/other")]
        after["reflog"].pop("logs/refs/heads/other", None)
    assert after == before
    found = []
    if row["state"] == "succeeded":
        found = [repo.git("show", f"{row['result_branch']}:mine.txt")]
    else:
        assert row["state"] == "failed" and row["cause"] and t.tasks(row["id"])["x-1"]["reason"], row
        found = [t.restored(s, tmp_path / str(s["id"])).get(b"mine.txt", (0, b""))[1].decode().strip()
                 for s in t.salvage(row["id"])]
        if not found:
            place = t.slot(row["id"])["worktree"]
            assert row["warnings"] and place in row["warnings"][-1], row
            found = [open(os.path.join(place, "mine.txt")).read().strip()]
    assert "mine" in found, (row, t.salvage(row["id"]))
    if row["state"] == "succeeded":
        t.is_linear(row)
    assert (row["state"] == "succeeded") == (how in WORKS_ANYWAY), row


WORKS_ANYWAY = ("its HEAD is the user's branch", "it is on another branch", "it is on no branch",
                "it is locked", "its branch is locked")


# ---- repositories --------------------------------------------------------------------------------

def works(t, **params):
    row = t.run(task="do it", **params)
    assert row["state"] == "succeeded", row
    assert repo_has(t.repo, row["tasks"][0]["commit"], "t1.txt") and work_trees(t.repo) == []
    return row


def repo_has(repo, commit, name):
    return name in names_in(repo, commit)


def refused(t, *words, **params):
    """At submit, or as the cause of the run's end: with the remedy, and nothing is started."""
    try:
        row = t.run(task="do it", **params)
        assert row["state"] == "failed" and t.play.starts() == [], row
        said = row["cause"]
    except RpcError as error:
        said = f"{error.message} {error.data}"
    assert all(word in said for word in words), said
    return said


def test_submodules(trees, repo, tmp_path):
    """A work tree would not have what is in them; without a work tree of its own the
    task goes on."""
    inner = Repo(tmp_path / "inner")
    repo.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", str(inner.path), "sub")
    repo.git("commit", "-q", "-m", "submodule")
    before = of_the_user(repo)
    t = trees()
    refused(t, "submodules", "sub", "--isolation shared")
    assert of_the_user(repo) == before and work_trees(repo) == []
    t.set(implement="echo x >> sub/README; echo t1 > t1.txt\n")
    row = t.run(task="do it", isolation="shared", review=True)
    assert row["state"] == "succeeded" and repo.read("t1.txt") == "t1\n", row


def test_submodules_that_are_not_checked_out(trees, repo, tmp_path):
    inner = Repo(tmp_path / "inner")
    repo.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", str(inner.path), "sub")
    repo.git("commit", "-q", "-m", "submodule")
    repo.git("submodule", "-q", "deinit", "-f", "sub")
    works(trees())


def test_a_shallow_clone(trees, repo, tmp_path):
    for n in range(5):
        repo.write("n", f"{n}\n")
        repo.git("add", ".")
        repo.git("commit", "-q", "-m", f"commit {n}")
    repo.git("branch", "old", "HEAD~4")
    subprocess.run(["git", "clone", "-q", "--depth", "2", "--no-single-branch",
                    f"file://{repo.path}", tmp_path / "shallow"], check=True)
    clone = Repo.__new__(Repo)
    clone.path = tmp_path / "shallow"
    t = trees(repo=clone)
    row = works(t, integrate="merge")
    assert len(commits(clone, row["result_branch"])) == 3
    row = t.run(task="do it", base="origin/old")
    assert row["state"] == "failed" and "git fetch --unshallow" in row["cause"] and t.roles(row["id"]) == [], row


def test_a_detached_head(trees, repo):
    repo.git("checkout", "-q", "--detach")
    before = of_the_user(repo)
    row = works(trees(), integrate="merge")
    assert row["base_commit"] == repo.git("rev-parse", "main") and of_the_user(repo) == before


@pytest.mark.parametrize("files", [True, False], ids=["files", "empty"])
def test_an_unborn_head(trees, tmp_path, files):
    fresh = Repo(tmp_path / "fresh", commit=False)
    if files:
        fresh.write("mine.txt", "mine\n")
    before = of_the_user(fresh)
    row = works(trees(repo=fresh), integrate="merge")
    assert of_the_user(fresh) == before and names_in(fresh, row["base_commit"]) == ({"mine.txt"} if files else set())


@pytest.mark.parametrize("isolation", ["shared", "worktree"])
def test_a_repository_that_has_the_state_directory_in_it(trees, repo, isolation):
    """A home under git: databases, outputs and environments are no work, and get into no tree."""
    t = trees(start=False)
    t.daemon.state = repo.path / ".local" / "state" / "rld"
    t.daemon.state.mkdir(parents=True, mode=0o700)
    repo.write("dirty", "x\n")
    t.daemon.start()
    row = t.run(task="do it", isolation=isolation, commit="auto", review=True)
    assert row["state"] == "succeeded" and repo.git("status", "--porcelain") == "?? dirty", row
    for ref in repo.git("for-each-ref", "--format=%(refname)").split():
        assert {name for name in names_in(repo, ref) if name.startswith(".local")} == set(), ref


@pytest.mark.parametrize("name", ["ünïcödé 漢字", "quote'\"$(x)`y`", "- new\nline"])
def test_names_of_repositories(make_daemon, tmp_path, name):
    repo = Repo(tmp_path / name)
    repo.write("sub dir/ä", "x\n")
    before = of_the_user(repo)
    t = Trees(make_daemon, repo, tmp_path,
              scripts={"implement": 'pwd > "$PLAY/pwd"; echo t1 > ../t1.txt; echo here > here\n'})
    row = works(t, workdir=str(repo.path / "sub dir"))
    assert ((t.play.path / "pwd").read_text().endswith("/sub dir\n")
            and repo_has(repo, row["tasks"][0]["commit"], "sub dir/here"))
    assert of_the_user(repo) == before


def test_a_bare_repository(trees, repo, tmp_path):
    """There is no work tree that could be the workdir."""
    subprocess.run(["git", "clone", "-q", "--bare", repo.path, tmp_path / "bare.git"], check=True)
    t = trees()
    refused(t, "git", workdir=str(tmp_path / "bare.git"))


def test_a_tag_with_the_name_of_a_branch(trees, repo):
    """git would take the tag, and what it has was in no review."""
    t = trees(scripts={"implement": "git tag rl/1/t1 HEAD; echo one > one.txt; answer done\n"})
    row = t.daemon.ended(t.submit(task="do it", isolation="worktree", review=True))
    assert row["state"] == "held" and "git tag -d rl/1/t1" in row["reason"], row
    repo.git("tag", "-d", "rl/1/t1")
    hold, = t.daemon.call("hold.list", run=row["id"])["holds"]
    t.daemon.call("hold.approve", id=hold["id"])
    row = t.daemon.ended(row["id"])
    assert row["state"] == "succeeded" and repo.git("show", "rl/1/t1:one.txt") == "one", row


def test_a_work_tree_of_a_bare_repository(trees, repo, tmp_path):
    """A usual way to keep many of them."""
    subprocess.run(["git", "clone", "-q", "--bare", repo.path, tmp_path / "bare.git"], check=True)
    subprocess.run(["git", "-C", tmp_path / "bare.git", "worktree", "add", "-q",
                    tmp_path / "linked", "main"], check=True, capture_output=True)
    linked = Repo.__new__(Repo)
    linked.path = tmp_path / "linked"
    row = trees(repo=linked).run(task="do it", integrate="merge")
    assert row["state"] == "succeeded" and repo_has(linked, row["result_branch"], "t1.txt")
    assert work_trees(linked) == [str(tmp_path / "linked")] and linked.git("status", "--porcelain") == ""


def test_a_git_directory_that_is_not_writable(make_daemon, repo, tmp_path, unprivileged):
    """root may write everything: a daemon of another user shows it."""
    give(repo.path, unprivileged)
    subprocess.run(["chmod", "-R", "a-w", repo.path / ".git"], check=True)
    before = files_of(repo.path)
    t = Trees(make_daemon, repo, tmp_path, uid=unprivileged)
    refused(t, "make its .git writable")
    assert files_of(repo.path) == before
    subprocess.run(["chmod", "-R", "u+w", repo.path / ".git"], check=True)
    works(t)


# ---- --base --------------------------------------------------------------------------------------

def history(repo):
    """main and topic, which left main two commits ago; topic is checked out, with
    uncommitted work."""
    for name in ("m1", "m2"):
        repo.write(name, "x\n")
        repo.git("add", ".")
        repo.git("commit", "-q", "-m", name)
        if name == "m1":
            repo.git("branch", "topic")
    repo.git("checkout", "-q", "topic")
    repo.write("topic", "x\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "topic")
    repo.write("README", "uncommitted\n")


@pytest.mark.parametrize("isolation", ["worktree", "shared"])
def test_base(trees, repo, isolation):
    history(repo)
    before = of_the_user(repo)
    t = trees(scripts={"implement": 'git log -1 --format=%s > "$PLAY/stands-on"; echo t1 > t1.txt\n'})
    row = t.run(task="do it", base="main", isolation=isolation, review=True)
    assert row["state"] == "succeeded" and row["base_commit"] == repo.git(
        "rev-parse", "main^") == repo.git("merge-base", "main", "topic"), row
    diff = t.daemon.call("run.diff", id=row["id"])["diff"]
    assert "b/t1.txt" in diff and ("b/topic" in diff and "uncommitted" in diff) == (isolation == "shared")
    if isolation == "worktree":
        assert (t.play.path / "stands-on").read_text() == "m1\n" and of_the_user(repo) == before


def test_bases_that_are_none(trees, repo):
    history(repo)
    t = trees()
    for name in ("nothing", "-x", "--help", "main..topic", "a b", "HEAD:README", "refs/heads/\x01", "@{upstream}"):
        said = refused(t, base=name)
        assert "git branch" in said or "base" in said, said


def test_a_base_without_anything_in_common(trees, repo):
    repo.git("checkout", "-q", "--orphan", "other")
    repo.git("commit", "-q", "-m", "other root")
    refused(trees(), "no common ancestor", base="main")
