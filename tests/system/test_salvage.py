# SPDX-License-Identifier: MIT
"""What a removed work tree had: rows, pages, and rlctl salvage restore, which trusts nothing of the
repository but its objects."""
import json
import os
import stat

import pytest
from rld import Repo, RpcError

BYTES = b"one\r\ntwo\n$Id$\n\xff\x00 three"


def saved_commit(repo):
    """A commit as of a removed work tree, with all kinds of files and a .gitattributes that
    would change them."""
    repo.write(".gitattributes", "* text=auto eol=crlf ident filter=evil\n")
    (repo.path / "raw.bin").write_bytes(BYTES)
    repo.write("dir/a file \u00e4\u00f6.txt", "plain\n")
    repo.write("run.sh", "#!/bin/sh\n")
    (repo.path / "run.sh").chmod(0o755)
    (repo.path / "link").symlink_to("/etc/passwd")
    repo.git("-c", "core.autocrlf=false", "update-index", "--add", "run.sh", ".gitattributes",
             "dir/a file \u00e4\u00f6.txt", "link")
    blob = repo.git("hash-object", "-w", "--no-filters", "raw.bin")
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{blob},raw.bin")
    commit = repo.git("commit-tree", repo.git("write-tree"), "-p", "HEAD", "-m", "saved")
    repo.git("update-ref", "refs/rl/salvage/1/t1", commit)
    repo.git("read-tree", "HEAD")
    repo.git("clean", "-fdq")
    return commit


def put(daemon, rows):
    """Salvage rows of runs 1 to 3, by a daemon that was stopped meanwhile."""
    if daemon.running():
        daemon.stop()
    base = daemon.database()
    for run in (1, 2, 3):
        base.execute("INSERT OR IGNORE INTO run (id, owner, workdir, workspace, source, state, plan, "
                     "review_count, paused, \"group\", priority, has_git, iteration, created_at)"
                     " VALUES (?, 0, '/srv', '/srv', 'prompt', 'failed', '{}', 0, 0, 'default', 0, 1, 1, "
                     "1790000000000)", (run,))
    for row in rows:
        base.execute("INSERT INTO salvage (id, run, task, workspace, ref, commit_id, path, "
                     "created_at) VALUES (?, ?, ?, ?, ?, ?, ?, 1790000000123)", row)
    base.close()
    daemon.start()


def put_one(daemon, repo, commit, workspace=None):
    put(daemon, [(7, 1, "t1", str(workspace or repo.path), "refs/rl/salvage/1/t1", commit, "/srv/worktree")])


def tree_of(directory):
    """Every file below: path -> (mode, bytes)."""
    found = {}
    for root, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(root, name)
            mode = os.lstat(path).st_mode
            data = os.readlink(path).encode() if stat.S_ISLNK(mode) else open(path, "rb").read()
            found[os.path.relpath(path, directory)] = ("l" if stat.S_ISLNK(mode) else "x"
                                                       if mode & 0o100 else "f", data)
    return found


SAVED = {
    ".gitattributes": ("f", b"* text=auto eol=crlf ident filter=evil\n"),
    "README": ("f", b"scratch\n"), "raw.bin": ("f", BYTES),
    "dir/a file \u00e4\u00f6.txt": ("f", b"plain\n"), "run.sh": ("x", b"#!/bin/sh\n"), "link": ("l", b"/etc/passwd"),
}


@pytest.fixture
def daemon(make_daemon):
    return make_daemon()


def test_list_and_get(daemon):
    put(daemon, [(100 + n, n % 3 + 1, f"t{n}", "/srv", f"refs/rl/salvage/{n % 3 + 1}/t{n}",
                  "c" * 40, None) for n in range(120)])
    page = daemon.call("salvage.list")
    assert [s["id"] for s in page["salvage"]] == list(range(219, 169, -1)) and page["next"] == 170
    rest = daemon.call("salvage.list", cursor=page["next"], limit=1000)
    assert [s["id"] for s in rest["salvage"]] == list(range(169, 99, -1)) and rest["next"] is None
    of_run = daemon.call("salvage.list", run=2)["salvage"]
    assert len(of_run) == 40 and {s["run"] for s in of_run} == {2}
    assert daemon.call("salvage.get", id=119) == {
        "id": 119, "run": 2, "task": "t19", "workspace": "/srv", "ref": "refs/rl/salvage/2/t19",
        "commit": "c" * 40, "path": None,
        "created_at": "2026-09-21T14:13:20.123Z"} == of_run[-7]
    assert daemon.call("salvage.list", run=99) == {"salvage": [], "next": None}
    with pytest.raises(RpcError) as error:
        daemon.call("salvage.get", id=1)
    assert error.value.code == 1
    lines = daemon.rlctl("salvage", "list", "3", "-n", "2", check=0)
    assert [line.split()[:3] for line in lines.out.splitlines()[1:]] == [["219", "3", "t119"], ["216", "3", "t116"]]
    assert "add --before 216" in lines.err
    assert daemon.rlctl("salvage", "list", "99", check=0).err == "No work saved from removed work trees.\n"
    assert json.loads(daemon.rlctl("--json", "salvage", "list", "-n", "1", check=0).out)["next"] == 219


@pytest.mark.parametrize("there", [False, True])
def test_restore(daemon, repo, tmp_path, there):
    commit = saved_commit(repo)
    put_one(daemon, repo, commit)
    before, target = repo.state(), tmp_path / "restored \u00e4"
    if there:
        target.mkdir()
    done = daemon.rlctl("salvage", "restore", 7, target, check=0)
    assert (done.out == "" and str(target) in done.err
            and f'"git -C {repo.path} show refs/rl/salvage/1/t1"' in done.err), done.err
    assert tree_of(target) == SAVED
    assert repo.state() == before and not list((repo.path / ".git").glob("*.lock"))


def test_the_repository_has_no_say(daemon, repo, tmp_path):
    """Filters, hooks, fsmonitor, attributes and settings of a .git in which agents worked."""
    commit = saved_commit(repo)
    repo.git("replace", repo.git("rev-parse", f"{commit}:dir/a file \u00e4\u00f6.txt"),
             repo.git("hash-object", "-w", "README"))
    mark = tmp_path / "mark"
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch '{mark}'\ncat\n")
    evil.chmod(0o755)
    for key, value in (("filter.evil.smudge", evil), ("filter.evil.process", evil),
                       ("filter.evil.required", "true"), ("core.fsmonitor", evil),
                       ("core.autocrlf", "true"), ("core.hooksPath", tmp_path / "hooks"),
                       ("core.sparseCheckout", "true"), ("core.symlinks", "false"),
                       ("core.fileMode", "false"), ("core.pager", evil), ("alias.read-tree", f"!{evil}")):
        repo.git("config", key, str(value))
    (repo.path / ".git" / "info").mkdir(exist_ok=True)
    (repo.path / ".git" / "info" / "attributes").write_text("* filter=evil text eol=crlf\n")
    (repo.path / ".git" / "info" / "sparse-checkout").write_text("/dir/\n")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        (hooks / name).symlink_to(evil)
    put_one(daemon, repo, commit)
    daemon.rlctl("salvage", "restore", 7, tmp_path / "out", check=0)
    assert tree_of(tmp_path / "out") == SAVED
    assert not mark.exists()


def test_the_user_settings_change_no_byte(daemon, repo, tmp_path):
    commit = saved_commit(repo)
    (daemon.home / ".gitconfig").write_text("[core]\n\tautocrlf = true\n\teol = crlf\n"
                                            "[filter \"evil\"]\n\tsmudge = tr a-z A-Z\n[init]\n"
                                            "\tdefaultObjectFormat = sha256\n")
    put_one(daemon, repo, commit)
    daemon.rlctl("salvage", "restore", 7, "out", cwd=tmp_path, check=0,
                 environment={"GIT_DIR": "/nonexistent", "GIT_INDEX_FILE": str(tmp_path / "index"),
                              "GIT_WORK_TREE": "/nonexistent"})
    assert tree_of(tmp_path / "out") == SAVED and not (tmp_path / "index").exists()


def test_from_a_work_tree_and_sha256(daemon, tmp_path):
    """The repository may be a linked work tree, and its ids may be long."""
    repo = Repo(tmp_path / "long", commit=False)
    repo.git("init", "-q", "--object-format=sha256", "-b", "main", str(tmp_path / "sha"))
    repo = Repo.__new__(Repo)
    repo.path = tmp_path / "sha"
    repo.write("README", "scratch\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "start")
    commit = saved_commit(repo)
    assert len(commit) == 64
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    put_one(daemon, repo, commit, tmp_path / "linked")
    daemon.rlctl("salvage", "restore", 7, tmp_path / "out", check=0)
    assert tree_of(tmp_path / "out") == SAVED


def test_what_is_refused(daemon, repo, tmp_path):
    commit = saved_commit(repo)
    put_one(daemon, repo, commit)
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_text("x")
    done = daemon.rlctl("salvage", "restore", 7, full, check=1)
    assert "is not empty" in done.err and tree_of(full) == {"mine": ("f", b"x")}
    assert "Not a directory" in daemon.rlctl("salvage", "restore", 7, full / "mine", check=1).err
    assert "No such file" in daemon.rlctl("salvage", "restore", 7, tmp_path / "a" / "b", check=1).err
    assert "no such salvage: 8" in daemon.rlctl("salvage", "restore", 8, tmp_path / "out", check=1).err
    for wrong in (["restore", "x", "out"], ["restore", "7"], ["restore"], ["list", "x"], ["list", "1", "2"], ["what"]):
        daemon.rlctl("salvage", *wrong, check=2)
    assert not (tmp_path / "out").exists()


def test_what_git_has_no_more(daemon, repo, tmp_path):
    put_one(daemon, repo, "0123456789" * 4)
    done = daemon.rlctl("salvage", "restore", 7, tmp_path / "out", check=1)
    assert "0123456789" in done.err and "see the messages of git" in done.err, done.err
    assert not list(tmp_path.glob("rlctl-restore*"))


def test_a_repository_that_is_gone(daemon, repo, tmp_path):
    put_one(daemon, repo, "c" * 40, tmp_path / "nowhere")
    done = daemon.rlctl("salvage", "restore", 7, tmp_path / "out", check=1)
    assert "not in a git repository" in done.err and not (tmp_path / "out").exists()


def test_nothing_is_left_behind(daemon, repo, tmp_path):
    commit = saved_commit(repo)
    put_one(daemon, repo, commit)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    daemon.rlctl("salvage", "restore", 7, tmp_path / "out", check=0, environment={"TMPDIR": str(temporary)})
    assert os.listdir(temporary) == [] and tree_of(tmp_path / "out") == SAVED
    assert not (tmp_path / "out" / ".git").exists()


def test_a_failed_work_tree_is_not_lost(make_daemon, repo, tmp_path):
    """From the agent's files to the restored ones: tracked, untracked, and ignored
    ones that are new."""
    repo.write(".gitignore", "*.log\n")
    repo.git("add", ".gitignore")
    repo.git("commit", "-q", "-m", "ignore")
    daemon = make_daemon(scripts={"implement": "echo changed > README\necho new > new.txt\n"
                                  "echo noise > build.log\nexit 3\n"})
    before = repo.state()
    run = daemon.submit(repo.path, isolation="worktree")
    row = daemon.ended(run)
    assert row["state"] == "failed", row
    salvage, = daemon.call("salvage.list", run=run)["salvage"]
    assert (salvage["task"], salvage["ref"],
            salvage["workspace"]) == ("t1", daemon.ref("salvage", run, "t1"), str(repo.path))
    assert repo.git("rev-parse", salvage["ref"]) == salvage["commit"] and not os.path.exists(salvage["path"])
    daemon.rlctl("salvage", "restore", salvage["id"], tmp_path / "out", check=0)
    restored = tree_of(tmp_path / "out")
    assert {n: d for n, (_, d) in restored.items()} == {".gitignore": b"*.log\n", "README": b"changed\n",
                                                        "new.txt": b"new\n", "build.log": b"noise\n"}
    after = repo.state()
    assert {k: after[k] for k in ("HEAD", "commit", "index",
                                  "stash")} == {k: before[k] for k in ("HEAD", "commit", "index", "stash")}
    assert after["branches"].startswith(before["branches"])
