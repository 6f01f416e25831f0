# SPDX-License-Identifier: MIT
"""Random runs: whatever a coder does to a small project, a clean clone of what has passed builds,
and its checks are green.

The project has parts that its Makefile joins, a list of them, and a program that tests the result.
A coder does some random things to it, which may break it; a fixer mends it, or makes it worse. One
seed makes every choice of a run."""
import random
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from trial import ENVIRONMENT, ISOLATIONS, PROFILES, RpcError, Trial, Trick, git, results

MAKEFILE = """all: build/all
build/all: $(shell cat parts.list) parts.list
\t@mkdir -p build
\t@cat $$(cat parts.list) > $@
test: all
\t@./tool.sh build/all
\t@test "$$(ls parts | wc -l)" = "$$(wc -l < parts.list)"
\t@test -L latest && test -e latest
"""
TOOL = """#!/bin/sh
# every line of the joined file is a number
! grep -qv '^[0-9][0-9]*$' "$1"
"""
# Things that a coder does; N is a number of its own.
THINGS = {
    "add": "echo N > parts/N.txt; echo parts/N.txt >> parts.list",
    "forget-to-list": "echo N > parts/N.txt",
    "list-only": "echo parts/N.txt >> parts.list",
    "edit": "f=$(ls parts/* | head -n 1); echo N >> \"$f\"",
    "break": "f=$(ls parts/* | tail -n 1); echo wrong >> \"$f\"",
    "remove": "f=$(ls parts/* | tail -n 1); rm \"$f\"; grep -vx \"$f\" parts.list > x; mv x parts.list",
    "remove-only": "rm \"$(ls parts/* | tail -n 1)\"",
    "rename": "f=$(ls parts/* | tail -n 1); mv \"$f\" parts/rN.txt; sed -i \"s|^$f\\$|parts/rN.txt|\" parts.list",
    "no-program": "chmod -x tool.sh",
    "program": "chmod +x parts/*",
    "link": "ln -sfn \"$(ls -d parts/* | head -n 1)\" latest",
    "dangling": "ln -sfn nowhere latest",
    "ignored": "mkdir -p build; echo N > build/N.o; echo N > cache.tmp",
    "needs-ignored": "echo N > N.tmp; printf 'test: needs\\nneeds:\\n\\t@test -e N.tmp\\n' >> Makefile",
    "nested": "mkdir -p more/deep/er; echo N > 'more/deep/er/a file'; mkdir -p empty",
    "odd-names": "echo N > 'more N'; echo N > \"$(printf 'ne\\nw')\"; echo N > ./-N",
    "to-directory": "rm -f README; mkdir -p README; echo N > README/N",
    "to-file": "rm -rf more; echo N > more",
    "line-ends": "printf 'a\\r\\nb\\r\\n' > dos.txt",
    "attributes": "echo '*.txt text eol=lf' > .gitattributes",
    "binary": "head -c 3000 /dev/urandom > N.bin",
    "stage": "git add -A",
    "stage-some": "git add parts; git stash list > /dev/null",
    "commit": "git add -A; git -c user.name=a -c user.email=a@localhost commit -q -m N",
    "hook": "h=$(git rev-parse --git-common-dir)/hooks; mkdir -p $h; printf '#!/bin/sh\\nsed -i \"s/ *$//\" parts/* &&"
            " git add parts\\n' > $h/pre-commit; chmod +x $h/pre-commit; f=$(ls parts/* | head -n 1); echo 'N  ' >> $f",
    "build": "make -s > /dev/null 2>&1",
}
MEND = ("""chmod +x tool.sh
sed -i '/[^0-9]/d' parts/* 2> /dev/null
ls -d parts/* > parts.list
ln -sfn "$(ls -d parts/* | head -n 1)" latest
""" "sed -i '/^test: needs/,$d' Makefile\n")
PRELUDE = "mkdir -p parts; [ -n \"$(ls parts)\" ] || { echo 1 > parts/1.txt; echo parts/1.txt > parts.list; }\n"


class Story(NamedTuple):
    seed: str
    trial: Trial
    commit: str
    drifts: int
    scripts: dict		# role, or role.N -> script
    dirty: bool			# the user has work of his own


def story(seed):
    choose = random.Random(seed)

    def thing():
        return THINGS[choose.choice(sorted(THINGS))].replace("N", str(choose.randint(100, 999))) + "\n"

    def things(least, most):
        return PRELUDE + "".join(thing() for _ in range(choose.randint(least, most)))

    scripts = {"implement": things(1, 6)}
    for nth in range(1, 5):
        scripts[f"fix.{nth}"] = things(0, 2) + (MEND if choose.random() < 0.8 else "")
    trick = Trick(f"random-{seed}", "", "random", "")
    trial = Trial(trick, choose.choice(PROFILES), choose.choice(ISOLATIONS), "none")
    return Story(seed, trial, choose.choice(("auto", "auto", "none")), choose.choice((0, 0, 0, 1)), scripts,
                 choose.random() < 0.3)


def project(path):
    (path / "parts").mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    for name in ("1", "2", "3"):
        (path / "parts" / f"{name}.txt").write_text(f"{name}\n")
    (path / "parts.list").write_text("parts/1.txt\nparts/2.txt\nparts/3.txt\n")
    (path / "Makefile").write_text(MAKEFILE)
    (path / "tool.sh").write_text(TOOL)
    (path / "tool.sh").chmod(0o755)
    (path / "latest").symlink_to("parts/3.txt")
    (path / "README").write_text("a small thing\n")
    (path / ".gitignore").write_text("build/\n*.tmp\n*.o\n")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "start")


def red(arena, repo, name):
    """Why a clean clone of what has this name does not build, or is red; None: it is green."""
    clone = arena.path / "clones" / f"{repo.name}.build"
    try:
        git(arena.path, "init", "-q", "-b", "main", str(clone))
        git(clone, "fetch", "-q", "--no-tags", "--upload-pack=git -c uploadpack.allowAnySHA1InWant=true upload-pack",
            f"file://{repo}", f"{name}:refs/got")
        if git(clone, "cat-file", "-t", "refs/got").strip() == b"tree":
            git(clone, "read-tree", "--reset", "-u", "refs/got")
        else:
            git(clone, "checkout", "-q", "--detach", "refs/got")
        done = subprocess.run(["make", "-s", "test"], cwd=clone, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=100)
        return None if done.returncode == 0 else f"make test in a clone of {name}: {done.stderr.decode()[-300:]}"
    except AssertionError as error:
        return f"clone of {name}: {error}"
    finally:
        shutil.rmtree(clone, ignore_errors=True)


def play_all(arena, stories, workers=6, say=False):
    """Play them: [(row, what is wrong)]."""
    if stories:
        project(arena.path / "project")

    def one(told):
        row, wrong = play(arena, told)
        if wrong or say:
            print(f"{'RED' if wrong else row['state']:9}  seed {told.seed}  {told.trial}  {told.commit}  "
                  f"{'; '.join(wrong)[:400] or row['cause']}", flush=True)
        return row, wrong

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, stories))


def play(arena, told):
    """Play one: (row, what is wrong)."""
    try:
        number, repo = arena.begin_story(told)
    except RpcError as error:		# not every isolation goes with every profile
        return {"id": None, "state": "refused", "cause": str(error), "tasks": []}, []
    row = arena.end(number)
    if row["state"] != "succeeded":
        return row, []
    if told.commit == "none":		# a warning names commits of the coder, which may be a part
        row["result_commit"] = None
    wrong = [text for name in results(row) if (text := red(arena, repo, name))]
    # what is the user's own is in the tree that was judged, and in no commit of the run
    return row, wrong + arena.unseen(told.trial, row, repo, ("notes", "parts/1.txt") if told.dirty else ())
