# SPDX-License-Identifier: MIT
"""rld(8): what it says is made in a repository is there, is all there is, and goes with the
commands that stand beside it."""
import re
import subprocess

import pytest
from rld import SOURCE

PAGE = (SOURCE / "docs" / "rld.8").read_text()
COMMANDS = {name: re.sub("^[$] ", "", text, flags=re.M).replace("\\e", "\\")
            for name, text in re.findall(r'^\.\\" example: (\w+)\n\.Bd -literal -offset indent\n(.*?)^\.Ed$',
                                         PAGE, re.S | re.M)}
BEADS = "".join(f'{{"id": "{name}", "title": "{name}"}}\n' for name in ("a-1", "a-2", "a-3"))
# Two change the same line, which a fixer settles; one fails with something left in its work tree.
SCRIPTS = {"implement": 'echo "$RL_TASK_ID" > same\n[ "$RL_TASK_ID" != a-3 ] || exit 3\nanswer done\n',
           "fix": "echo both > same\nanswer settled\n", "review": "pass\n"}


INSTANCE = "3f2a9c01"


def told(run, instance):
    """The refs that the page lists, as patterns."""
    names = " ".join(re.findall(r"^\.It (refs/.*)$", PAGE, re.M)).replace(" , ", " ").split()
    return [re.compile(re.escape(name).replace("42", str(run)).replace(INSTANCE, instance).replace(
        r"a\-1", "a-[0-9]") + "$") for name in names]


def refs(repo):
    return repo.git("for-each-ref", "--format=%(refname)", "refs/rl", "refs/heads/rl").splitlines()


@pytest.fixture
def worked(make_daemon, repo):
    repo.write(".beads/issues.jsonl", BEADS)
    repo.git("add", ".")
    repo.git("commit", "-qm", "beads")
    daemon = make_daemon(scripts=SCRIPTS)
    daemon.rlctl("run", "--beads", "-P3", "--review", cwd=repo.path, check=10)
    daemon.rlctl("run", "-P2", "--review", "one more", cwd=repo.path, check=0)
    return daemon


def test_what_is_made(worked, repo):
    names = refs(repo)
    of_one = [name for name in names if re.search(r"/1(/|-|$)", name)]
    assert all(any(pattern.match(name) for pattern in told(1, worked.call("daemon.hello")["instance"]))
               for name in of_one), of_one
    for kind in ("rl/1-result", "/base/1", "/passed/1/", "/salvage/1/a-3", "/before-merge/1/"):
        assert any(kind in name for name in of_one), (kind, of_one)
    assert not any("refs/heads/rl/1/" in name for name in of_one) and "refs/heads/rl/2/t1" in names


@pytest.mark.parametrize("what", ["run", "all"])
def test_how_it_goes(worked, repo, what):
    others = [name for name in refs(repo) if not re.search(r"/1(/|-|$)", name)]
    before = repo.git("rev-parse", "main")
    assert others and len(COMMANDS) == 2
    worked.refs_removed = True
    subprocess.run(["sh", "-ec", COMMANDS[what].replace("42", "1").replace(
        INSTANCE, worked.call("daemon.hello")["instance"])], cwd=repo.path, check=True,
                   env={**worked.environment, "GIT_CONFIG_COUNT": "1",
                        "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"})
    assert refs(repo) == (others if what == "run" else [])
    assert len(repo.git("config", "--get-regexp", "^branch[.]rl",
                        check=False).splitlines()) == sum("refs/heads/" in name for name in refs(repo))
    assert (repo.git("for-each-ref", "--format=%(refname)").splitlines()[0] == "refs/heads/main"
            and repo.git("rev-parse", "main") == before)
