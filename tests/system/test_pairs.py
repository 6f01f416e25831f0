# SPDX-License-Identifier: MIT
"""Random pairs of tasks that break each other only when merged: the check is green on the branch
with the results, or a task is held. RLD_PAIRS: their number, `make check-pairs PAIRS=1000`."""
import os
import random
import subprocess

import pytest
from trees import beads, trees  # noqa: F401

CHECK = "for f in use*.sh; do test ! -e $f || sh -eu $f || exit 1; done; ! test -e both.a -a -e both.b"
# what one does, what the other does, and how a fixer makes both work
BREAKS = {
    "rename": ("sed -i 's/^f()/g()/' lib.sh", "echo '. ./lib.sh; f' > use1.sh", "sed -i 's/; f$/; g/' use1.sh"),
    "remove": ("sed -i '/^h()/d' lib.sh", "echo '. ./lib.sh; h' > use2.sh", "rm use2.sh"),
    "move": ("mkdir -p src; git mv data src/data", "echo 'test -e data' > use3.sh", "sed -i s,data,src/data, use3.sh"),
    "argument": ("sed -i 's/^k() .*/k() { test $# = 2; }/' lib.sh", "echo '. ./lib.sh; k 1' > use4.sh",
                 "sed -i 's/k 1/k 1 2/' use4.sh"),
    "value": ("echo 2 > value", "echo 'test $(cat value) = 1' > use5.sh", "sed -i 's/= 1/= 2/' use5.sh"),
    "exclude": ("touch both.a", "touch both.b", "rm -f both.b"),
}


@pytest.mark.parametrize("seed", range(int(os.environ.get("RLD_PAIRS", "4"))))
def test_a_pair_that_breaks_only_when_merged(trees, repo, seed):
    choose = random.Random(seed)
    kinds = choose.sample(sorted(BREAKS), choose.randint(1, 3))
    order = choose.choice((("x-1", "x-2"), ("x-2", "x-1")))
    mends = choose.choice(("all", "all", "some", "none"))
    mend = "; ".join(BREAKS[kind][2] for kind in (kinds if mends == "all" else kinds[1:] if mends == "some" else []))
    repo.write("lib.sh", "f() { :; }\nh() { :; }\nk() { test $# = 1; }\n")
    repo.write("data", "x\n")
    repo.write("value", "1\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "lib")
    beads(repo, "x-1", "x-2")
    t = trees(scripts={
        "implement": "case $RL_TASK_ID in x-1) " + "; ".join(BREAKS[kind][0] for kind in kinds) + ";; *) " +
                     "; ".join(BREAKS[kind][1] for kind in kinds) + ";; esac\ngate \"$RL_TASK_ID\"; answer done\n",
        "fix": f"{mend or ':'}; echo $nth >> tries; answer fixed\n"}, gates=("x-1", "x-2"))
    number = t.submit(parallel=2, checks=[CHECK], review={
        "max_fixes": choose.randint(0, 2), "on_exhausted": choose.choice(("fail", "hold", "accept", "known_issues")),
        "review_merged": choose.choice(("on_conflict", "always")),
        "workspace": choose.choice(("room", "room", "same"))})
    for each in order:
        t.play.arrived(each)
    with t.daemon.events(run=number) as events:
        t.play.go(order[0])
        if choose.random() < 0.7:
            events.until("slot.merged")
        t.play.go(order[1])
    if choose.random() < 0.3:
        t.daemon.kill()
        t.daemon.start()
    row = t.daemon.ended(number)
    assert row["state"] in ("succeeded", "held"), (seed, row)
    taken = f"{repo.path}.taken"
    repo.git("worktree", "add", "-q", "--detach", taken, row["result_branch"])
    green = subprocess.run(["sh", "-c", CHECK], cwd=taken, check=False).returncode == 0
    assert green, (seed, kinds, order, mends, row)
    assert row["result_commit"] == repo.git("rev-parse", row["result_branch"])
