# SPDX-License-Identifier: MIT
"""A review in repositories of different sizes, against plain git commands.

The first run in a repository copies the base commit into the evidence repository; its peer is "git
clone" of it by its URL: both write a new directory. The peer of a later run is "git add -A", "git
write-tree" and "git checkout-index" into a new directory, with an index that is kept, once for each
tree that is judged."""
import shutil
import subprocess
import time

from bench_daemon import PATH, make_repo, started
from review_rows import rld_review
from table import Row

SIZES = {20: (5, 10), 1000: (3, 8), 20000: (1, 3)}	# files: first runs, later runs
GIT = {"first": "git clone", "later": "git add, write-tree, checkout-index, twice"}
ROWS = [Row(f"{which} run, {files} files", GIT[which]) for files in SIZES for which in GIT]


def timed(repo, *commands, **environment):
    """Seconds of these git commands in the repository."""
    begin = time.monotonic()
    for words in commands:
        subprocess.run(["git", "-C", repo.path, *words], check=True, stdout=subprocess.DEVNULL,
                       env={"PATH": PATH, "GIT_CONFIG_GLOBAL": "/dev/null", **environment})
    return time.monotonic() - begin


def copied(repo, directory):
    """Seconds of a clone."""
    try:
        return timed(repo, ["clone", "-q", f"file://{repo.path}", str(directory)])
    finally:
        shutil.rmtree(directory)


def taken(repo, directory):
    """Seconds of two trees, taken and laid out."""
    seconds = 0
    for text in ("one\n", "one\ntwo\n"):
        repo.write("work.txt", text)
        seconds += timed(repo, ["add", "-A"], ["write-tree"], ["checkout-index", "-a", f"--prefix={directory}/"],
                         GIT_INDEX_FILE=str(repo.path / ".git" / "index.peer"))
        shutil.rmtree(directory)
    return seconds


def measure(bench):
    sizes = [files for files in SIZES if bench.wants(*(f"{which} run, {files} files" for which in GIT))]
    if bench.short:
        sizes = sizes[:1]
    if not sizes:
        return
    with started(bench.directory / "trees") as daemon, daemon.connect() as rpc:
        for files in sizes:
            firsts, laters = map(bench.rounds, SIZES[files])
            first, later = ([], []), ([], [])
            for pair in range(firsts):
                repo, peer = (make_repo(bench.directory / f"{name}-{files}-{pair}", files) for name in ("tree", "peer"))
                first[0].append(rld_review(daemon, rpc, repo)[1])
                first[1].append(copied(peer, bench.directory / "copy"))
            taken(peer, bench.directory / "copy")	# its index has been filled
            for pair in range(laters):
                later[0].append(rld_review(daemon, rpc, repo)[1])
                later[1].append(taken(peer, bench.directory / "copy"))
            bench.row(f"first run, {files} files", ours=first[0], peer=first[1])
            bench.row(f"later run, {files} files", ours=later[0], peer=later[1])
