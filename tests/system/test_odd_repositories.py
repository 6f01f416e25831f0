# SPDX-License-Identifier: MIT
"""Repositories that are not like most: a reviewed run with a check and a commit works, or is
refused with the remedy, and then nothing has happened.

What the shared part holds of a run that works: the commit has what the agent did and else what the
base has, the check ran on that, and the user's index, other refs and files are as they were."""
import shutil
from typing import Callable, NamedTuple

import pytest

from rld import ENDS, Repo, RpcError
from trees import files_of, names_in

ISOLATIONS = ["shared", "worktree"]
# A stand-in for git-lfs: what is committed is a pointer, the content lies below .git/lfs.
LFS = """#!/bin/sh
mkdir -p '{store}'
if [ "$1" = clean ]; then
	cat > '{store}/new.$$'
	name=$(sha256sum < '{store}/new.$$' | cut -d' ' -f1)
	mv '{store}/new.$$' "{store}/$name"
	printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\n' "$name"
else
	name=$(sed -n 's/^oid sha256://p')
	cat "{store}/$name"
fi
"""


class Odd(NamedTuple):
    make: Callable			# of (directory): the repository to work in
    refused: dict = {}			# isolation -> what the refusal says
    work: str = ""			# more that the implementer does
    changed: tuple = ()			# the paths that this changes
    check: str = "true"			# what must hold where the check runs
    warning: str = None			# how the only warning begins


def repository(path, *options):
    made = Repo.__new__(Repo)
    made.path = path
    path.mkdir(parents=True)
    made.git("init", "-q", "-b", "main", *options)
    made.write("README", "scratch\n")
    made.write("dir/one", "1\n")
    made.write("other/two", "2\n")
    made.git("add", ".")
    made.git("commit", "-q", "-m", "start")
    made.write("dir/one", "one\n")
    made.git("commit", "-q", "-am", "words")
    return made


def at(path):
    made = Repo.__new__(Repo)
    made.path = path
    return made


def commit(repo, name="more", text="more\n"):
    repo.write(name, text)
    repo.git("add", "--", name)
    repo.git("commit", "-q", "-m", f"with {name}")


def lfs(path):
    repo = repository(path / "repo")
    program = path / "lfs"
    program.write_text(LFS.format(store=repo.path / ".git" / "lfs"))
    program.chmod(0o755)
    for way in ("clean", "smudge"):
        repo.git("config", f"filter.lfs.{way}", f"'{program}' {way} %f")
    repo.git("config", "filter.lfs.required", "true")
    repo.write(".gitattributes", "*.dat filter=lfs diff=lfs merge=lfs -text\n")
    repo.git("add", ".gitattributes")
    commit(repo, "big.dat", "the real content\n")
    commit(repo, "still.dat", "real content that stays\n")
    assert "oid sha256:" in repo.git("show", "HEAD:big.dat")
    return repo


def submodule(path):
    inner = repository(path / "inner")
    repo = repository(path / "repo")
    repo.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", str(inner.path), "part")
    repo.git("commit", "-q", "-m", "part")
    return repo


def submodule_absent(path):
    repo = submodule(path)
    repo.git("submodule", "-q", "deinit", "-f", "part")
    return repo


def sparse(path):
    repo = repository(path / "repo")
    repo.git("sparse-checkout", "set", "--cone", "dir")
    assert not (repo.path / "other").exists()
    return repo


def sparse_index(path):
    repo = sparse(path)
    repo.git("sparse-checkout", "reapply", "--sparse-index")
    return repo


def linked(path):
    repo = repository(path / "repo")
    repo.git("worktree", "add", "-q", "-b", "side", str(path / "linked"))
    return at(path / "linked")


def sha256(path):
    return repository(path / "repo", "--object-format=sha256")


def no_commit(path):
    repo = Repo(path / "repo", commit=False)
    repo.write("README", "scratch\n")
    return repo


def conflict(path):
    repo = repository(path / "repo")
    repo.git("checkout", "-q", "-b", "side")
    repo.write("README", "side\n")
    repo.git("commit", "-q", "-am", "side")
    repo.git("checkout", "-q", "main")
    repo.write("README", "main\n")
    repo.git("commit", "-q", "-am", "main")
    return repo


def rebase(path):
    repo = conflict(path)
    repo.git("rebase", "side", check=False)
    assert (repo.path / ".git" / "rebase-merge").is_dir()
    return repo


def rebase_edit(path):
    """Stopped between two commits, as by "edit"."""
    repo = repository(path / "repo")
    commit(repo)
    repo.git("rebase", "-q", "--exec", "false", "HEAD~1", check=False)
    assert (repo.path / ".git" / "rebase-merge").is_dir()
    return repo


def merge(path):
    repo = conflict(path)
    repo.git("merge", "side", check=False)
    assert (repo.path / ".git" / "MERGE_HEAD").exists()
    return repo


def bare(path):
    repo = repository(path / "repo")
    repo.git("clone", "-q", "--bare", ".", str(path / "bare.git"))
    return at(path / "bare.git")


def shallow(path):
    repo = repository(path / "repo")
    repo.git("clone", "-q", "--depth=1", f"file://{repo.path}", str(path / "clone"))
    return at(path / "clone")


def partial(path):
    repo = repository(path / "repo")
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repo.git("clone", "-q", "--filter=blob:none", f"file://{repo.path}", str(path / "clone"))
    return at(path / "clone")


def many(path):
    repo = repository(path / "repo")
    # else the commit starts one in the background, with a lock and processes of its own
    repo.git("config", "gc.auto", "0")
    for folder in range(200):
        for name in range(100):
            repo.write(f"many/{folder}/{name}", f"{folder} {name}\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "many")
    return repo


KINDS = {
    "lfs": Odd(lfs, work="echo 'new content' > big.dat\n", changed=("big.dat",),
               check="grep -q '^new content' big.dat && grep -q '^real content' still.dat"),
    "submodule": Odd(submodule, warning="submodules are checked out",
                     refused={"worktree": "has checked out submodules (part)"}),
    "submodule-absent": Odd(submodule_absent),
    "sparse": Odd(sparse),
    "sparse-index": Odd(sparse_index),
    "linked": Odd(linked),
    "sha256": Odd(sha256),
    "no-commit": Odd(no_commit),
    "rebase": Odd(rebase, refused={"shared": "a rebase is in progress", "worktree": "unresolved conflicts"}),
    "rebase-without-conflict": Odd(rebase_edit, refused={"shared": "git rebase --continue"}),
    "merge": Odd(merge, refused={"shared": "a merge is in progress", "worktree": "git merge --abort"}),
    "bare": Odd(bare, refused={"shared": "git worktree add DIR", "worktree": "is a bare repository"}),
    "shallow": Odd(shallow),
    "partial": Odd(partial),
    "many": Odd(many),
}
CASES = [pytest.param(kind, isolation, id=f"{kind}-{isolation}", marks=[pytest.mark.broad] if kind == "many" else [])
         for kind in KINDS for isolation in ISOLATIONS]


def of_the_user(repo):
    """What a run has no business with: everything but refs of ours."""
    git_dir = repo.path / repo.git("rev-parse", "--git-dir")
    index = git_dir / "index"
    return {"HEAD": (git_dir / "HEAD").read_bytes(), "index": index.read_bytes() if index.exists() else None,
            "files": files_of(repo.path) if repo.git("rev-parse", "--is-bare-repository") == "false" else None,
            "refs": [line for line in repo.git("for-each-ref").splitlines()
                     if "\trefs/rl/" not in line and "\trefs/heads/rl/" not in line],
            "locks": [str(path) for path in git_dir.rglob("*.lock")]}


def ours(repo):
    return [line for line in repo.git("for-each-ref", "--format=%(refname)").splitlines()
            if line.startswith(("refs/rl/", "refs/heads/rl/"))]


@pytest.mark.each
@pytest.mark.parametrize("kind, isolation", CASES)
def test_it_works_or_is_refused(make_daemon, tmp_path, kind, isolation):
    odd = KINDS[kind]
    repo = odd.make(tmp_path / "odd")
    before, base = of_the_user(repo), repo.git("rev-parse", "--verify", "-q", "HEAD", check=False)
    daemon = make_daemon(scripts={
        "implement": f"echo made > work.txt; echo more >> README\n{odd.work}answer done\n", "review": "pass\n"})
    said, row = None, None
    try:
        row = daemon.ended(daemon.review(repo.path, isolation=isolation, commit="auto", check_on_base="skip", review={
            "profile": "verdict", "checks": [f"grep -q made work.txt && grep -q more README && {odd.check}"]}))
    except RpcError as error:
        said = f"{error.message} {error.data}"
    if isolation in odd.refused:
        said = said or row["cause"] or ""
        assert odd.refused[isolation] in said, (said, row)
        assert row is None or row["state"] in ENDS and daemon.attempts(row["id"]) == [], row
        # the commit that it would have started from stays, as of every run that has begun
        assert of_the_user(repo) == before and [ref for ref in ours(repo) if "/base/" not in ref] == []
        return
    assert said is None and row["state"] == "succeeded", (said, row)
    assert [w.split(":")[0] for w in row["warnings"]] == [odd.warning] * bool(odd.warning), row
    result = row["tasks"][0]["commit"]
    assert result, row
    if base:
        changed = set(repo.git("diff-tree", "-r", "--name-only", base, result).splitlines())
        assert changed == {"work.txt", "README", *odd.changed}
    else:
        assert names_in(repo, result) == {"work.txt", "README"}
    assert repo.git("show", f"{result}:work.txt") == "made"
    for path in odd.changed:
        assert "oid sha256:" in repo.git("show", f"{result}:{path}")
    if isolation == "worktree":
        assert of_the_user(repo) == before
    else:
        assert repo.git("rev-parse", "HEAD") == result and repo.git("status", "--porcelain") == ""
        assert set(before["files"]) | {b"work.txt"} == set(files_of(repo.path))


@pytest.mark.each
@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize("remedy", ["move", "remove"])
@pytest.mark.parametrize("before, after", [("sha1", "sha256"), ("sha256", "sha1")])
def test_made_anew_in_another_object_format(make_daemon, tmp_path, before, after, remedy, isolation):
    """Refused before anything is paid, also without a commit yet; and the remedies help."""
    repo = repository(tmp_path / "odd", f"--object-format={before}")
    daemon = make_daemon(scripts={"implement": "echo made > work.txt\nanswer done\n", "review": "pass\n"})

    def once():
        return daemon.ended(daemon.review(repo.path, isolation=isolation, commit="auto", review={"profile": "verdict"}))
    first = once()
    assert first["state"] == "succeeded", first
    shutil.rmtree(repo.path)
    repo = repository(tmp_path / "odd", f"--object-format={after}")
    if isolation == "shared":
        shutil.rmtree(repo.path / ".git")
        repo.git("init", "-q", "-b", "main", f"--object-format={after}")
    for has_commit in (isolation == "worktree", True):
        row = once()
        assert row["state"] == "failed" and daemon.attempts(row["id"]) == [], row
        names = {"sha1": "SHA-1", "sha256": "SHA-256"}
        there = next((daemon.state / "evidence").iterdir())
        assert row["cause"].split(" failed: ", 1)[1] == (
            f"{repo.path} has {names[after]} object ids, and what an earlier repository there has given to rld has "
            f"{names[before]} ids: move the repository to another path; or, if its earlier runs need not be verified "
            f"or continued, remove {there}")
        if not has_commit:
            repo.git("add", ".")
            repo.git("commit", "-q", "-m", "first")
    if remedy == "move":
        repo.path.rename(tmp_path / "moved")
        repo = at(tmp_path / "moved")
    else:
        shutil.rmtree(there)
    row = once()
    assert row["state"] == "succeeded", row
    assert repo.git("show", f"{row['tasks'][0]['commit']}:work.txt") == "made"
    assert daemon.call("review.verify", run=row["id"])["ok"]
    daemon.refs_removed = True
