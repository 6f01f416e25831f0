# SPDX-License-Identifier: MIT
"""The overhead of a review: implement, review (finds something), fix, review (passes), with agents
that take no time, against a script (script.py).

The script does what a review of rld under strace did: it starts the same agent, makes the same
operations of rl-git with the same input, and as many fsyncs. It makes as many commits (fdatasync of
a growing journal) as rld had in the same pair, of 4 KiB each, which is less than rld writes. What
lies between the two is a shim for each process, the database and the hand-overs between them. The
row for the time on processors is hardly disturbed by neighbours; the difference to the row above is
waiting.

That both sides do the same is checked: each process of the script must print and end as that of rld
did, the records of every review of rld must name the same processes, and the refs must be the same
in the end."""
import contextlib
import time
from pathlib import Path

import rld as harness
from bench_daemon import make_daemon, make_repo, own_processor, processor_of, start
from script import REF, STRACE, Script, Start, Sync, argv_of, plain, recipe, same_processes
from table import Row

REVIEW_SECONDS = 60	# no further pair of reviews is begun after so many
PAIRS = (3, 25)
SCRIPT = "a script with the same processes, operations and fsyncs"
ROWS = [
    Row("review, elapsed", SCRIPT, at_most=1.2,
        why="a shim for each process, and what is handed over through the database"),
    Row("review, processor", SCRIPT),
]


def rld_review(daemon, rpc, repo):
    """(id, seconds) of one review."""
    (repo.path / "work.txt").unlink(missing_ok=True)
    begin = time.monotonic()
    number = rpc.call("run.submit", task="do it", workdir=str(repo.path), review={"enabled": True})["id"]
    rpc.call("run.wait", ids=[number])
    seconds = time.monotonic() - begin
    row = rpc.call("run.get", id=number)
    if (row["state"], row["review_count"]) != ("succeeded", 2):
        raise RuntimeError(f"the review of rld did not go as planned: {row}")
    return number, seconds


def script_review(script, commits):
    """(seconds, seconds on processors)"""
    Path(script.workspace, "work.txt").unlink(missing_ok=True)
    todo = script.prepare()
    processor, begin = own_processor(), time.monotonic()
    script.review(todo, commits)
    return time.monotonic() - begin, own_processor() - processor


def check_processes(daemon, repo, script, runs):
    """Every review of rld has started what the script starts."""
    rows = daemon.query("SELECT id, run, name FROM step UNION ALL SELECT id, run, NULL FROM attempt ORDER BY id")
    recorded = [plain(action.argv, script.state, script.recorded)
                for action in script.actions if isinstance(action, Start)]
    for run in runs:
        # the directory of an operation that succeeded is gone
        found = [[f"{harness.BUILD}/rl-git", row["name"]] if row["name"] is not None else
                 argv_of(daemon.state / "attempts" / str(row["id"])) for row in rows if row["run"] == run]
        # an attempt has its number before git looks at the work tree for it
        same_processes(sorted(plain(argv, daemon.state, repo.path) for argv in found), sorted(recorded))


def check_refs(repo, script_repo, run):
    """What the last review of both has left in its repository."""
    words = ["for-each-ref", "--format=%(refname) %(objectname)", f"refs/rl/*/*/{run}", f"refs/rl/*/*/{run}/**"]
    ours, theirs = (sorted(REF.sub(r"\2", line) for line in place.git(*words).splitlines())
                    for place in (repo, script_repo))
    if not ours or ours != theirs:
        raise RuntimeError(f"the script does not leave what rld leaves\nrld:    {ours}\nscript: {theirs}")


def record(directory):
    """A review of rld under strace: (what the script is to do, its state directory,
    its workspace)."""
    trace = Path(directory) / "trace"
    daemon = make_daemon(Path(directory) / "traced", prefix=[*STRACE, "-o", str(trace)])
    repo = make_repo(Path(directory) / "traced-repo")
    # the script is made of what each operation was told
    start(daemon, RLD_KEEP_STEPS="1")
    try:
        with daemon.connect() as rpc:
            before = len(trace.read_bytes().splitlines())
            rld_review(daemon, rpc, repo)
    finally:
        daemon.stop()
    lines = trace.read_text().splitlines()[before:]
    return recipe(lines, daemon.state), daemon.state, repo.path


def pairs(bench, daemon, repo, script):
    """The runs of rld, and the commits of each."""
    elapsed, processors, runs, commits = ([], []), ([], []), [], []
    least, most = map(bench.rounds, PAIRS)
    begin = time.monotonic()
    with daemon.connect() as rpc:
        for pair in range(-1, most):
            if pair >= least and time.monotonic() - begin > REVIEW_SECONDS:
                break
            count, processor = rpc.call("daemon.status")["commits"], processor_of(daemon)
            number, seconds = rld_review(daemon, rpc, repo)
            processor = processor_of(daemon) - processor
            count = rpc.call("daemon.status")["commits"] - count
            script_seconds, script_used = script_review(script, count)
            if pair < 0:
                continue	# the first pair of all finds cold files
            runs.append(number)
            commits.append(count)
            for side, ours, theirs in ((elapsed, seconds, script_seconds), (processors, processor, script_used)):
                side[0].append(ours)
                side[1].append(theirs)
    bench.row("review, elapsed", ours=elapsed[0], peer=elapsed[1])
    bench.row("review, processor", ours=processors[0], peer=processors[1])
    return runs, commits


def measure(bench):
    if not bench.wants(*(row.name for row in ROWS)):
        return
    if not harness.can_trace():
        for row in ROWS:
            bench.lacks(row.name, "strace")
        return
    directory = bench.directory
    with contextlib.ExitStack() as cleanup:
        repo = make_repo(directory / "repo")
        daemon = make_daemon(directory / "d")
        script_repo = make_repo(directory / "script-repo")
        script = Script(*record(directory), directory / "script", script_repo.path)
        cleanup.callback(script.close)
        start(daemon)
        try:
            runs, commits = pairs(bench, daemon, repo, script)
            check_refs(repo, script_repo, runs[-1])
        finally:
            daemon.stop()
        check_processes(daemon, repo, script, runs)
        syncs = sum(isinstance(action, Sync) for action in script.actions)
        print(f"  a review, on both sides: {script.starts} processes, {syncs} fsyncs, "
              f"{min(commits)} to {max(commits)} commits")
