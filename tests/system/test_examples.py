# SPDX-License-Identifier: MIT
"""docs/examples: the hook that opens a pull request, and the script that makes tasks of its CI
failures, with a forge's program that notes its arguments; and what a hook is told for that."""
import os
import subprocess

import pytest
from rld import BUILD, SOURCE
from test_budget import CLAUDE, PASS, says
from test_show_tasks import stories, submit  # noqa: F401  (stories is a fixture)

EXAMPLES = SOURCE / "docs" / "examples"
WORK = 'echo "${RL_TASK_ID}" >> "$RL_TASK_ID.txt"\n' + says(0.5)
SOME = '[ "$RL_TASK_ID" != US-1 ] || {\n' + says() + "exit 3\n}\n" + WORK
# Each call is noted, a line per argument; the file CALL.out is what a call of that kind prints.
FORGE = """#!/bin/sh
name=$1.$2
case $* in *--commit*) name=$name.commit ;; esac
{ echo "== $name"; for word in "$@"; do printf '%%s\\n' "$word"; done; } >> %(at)s/calls
[ "$1.$2" != "$REFUSES" ] || exit 1
[ ! -e %(at)s/$name.out ] || cat %(at)s/$name.out
"""


class Forge:
    """A program gh or glab, the remote of the repository, and a daemon whose on_end is the
    example."""

    def __init__(self, tmp_path, make_daemon, repo, name="gh", **environment):
        self.at, self.repo, self.name = tmp_path / "forge", repo, name
        self.at.mkdir()
        (self.at / name).write_text(FORGE % {"at": self.at})
        (self.at / name).chmod(0o755)
        self.says("mr.list", "[]")
        self.remote = tmp_path / "remote.git"
        subprocess.run(["git", "init", "-q", "--bare", str(self.remote)], check=True)
        repo.git("remote", "add", "origin", str(self.remote))
        self.path = f"{self.at}:{BUILD}:/usr/local/bin:/usr/bin:/bin"
        hook = ["/bin/sh", "-c", f"env > {self.at}/env.$RL_RUN; exec {self.at}/on-end"]
        (self.at / "on-end").write_text("#!/bin/sh\n" + "".join(f"export {k}={v}\n" for k, v in environment.items()) +
                                        f"export PATH={self.path}\n{EXAMPLES}/open-pull-request\n"
                                        f"echo $? > {self.at}/status\n")
        (self.at / "on-end").chmod(0o755)
        self.daemon = make_daemon(scripts={"implement": SOME, "review": PASS},
                                  config={**CLAUDE, "hook": {"on_end": hook}})

    def says(self, call, text):
        (self.at / f"{call}.out").write_text(text)

    def ended(self, run):
        row = self.daemon.ended(run)
        while self.daemon.call("daemon.status")["busy"]:
            pass
        return row

    def calls(self, name):
        """The arguments of each call of this kind; those of several lines are joined."""
        whole = (self.at / "calls").read_text().split("== ")[1:] if (self.at / "calls").exists() else []
        return [call.split("\n", 1)[1] for call in whole if call.split("\n", 1)[0] == name]

    def pushed(self, branch):
        return subprocess.run(["git", "-C", str(self.remote), "rev-parse", "--verify", "-q", f"refs/heads/{branch}"],
                              capture_output=True, text=True).stdout.strip()

    def environment(self, run):
        return dict(line.split("=", 1) for line in (self.at / f"env.{run}").read_text().splitlines() if "=" in line)

    def hook_again(self, run, **environment):
        return subprocess.run([str(self.at / "on-end")], env={**self.environment(run), **environment}, check=True)


@pytest.fixture
def forge(tmp_path, make_daemon, repo):
    def make(name="gh", **environment):
        return Forge(tmp_path, make_daemon, repo, name, **environment)
    return make


MANY = {"integrate": "merge", "parallel": 2, "review": {"enabled": True}}


@pytest.mark.parametrize("name", ["ci-failures-to-tasks", "open-pull-request"])
def test_each_script_is_one_of_the_shell(name):
    path = EXAMPLES / name
    assert os.access(path, os.X_OK) and path.read_text().startswith("#!/bin/sh\n# SPDX-License-Identifier: MIT\n")
    for shell in ("sh", "bash"):
        subprocess.run([shell, "-n", str(path)], check=True)
    for page in ("docs/guide.md", "docs/rld.8"):
        assert f"examples/{name}" in (SOURCE / page).read_text(), page


@pytest.mark.parametrize("name,create", [("gh", "pr.create"), ("glab", "mr.create")])
def test_a_pull_request_is_opened(forge, stories, repo, name, create):  # noqa: F811
    made = forge(name, FORGE=name)
    row = made.ended(submit(made.daemon, repo, stories, **MANY))
    assert row["state"] == "failed" and made.pushed("rl/1-result") == row["result_commit"] != "", row
    (call,) = made.calls(create)
    assert "rl/1-result\n" in call and "rld run 1: 2 of 3 tasks passed\n" in call, call
    assert "Last verdict: none. Cost in US dollars: 1.2000.\n" in call, call
    assert "    failed          US-1: implementer process exited with status 3\n" in call, call
    assert (made.at / "status").read_text() == "0\n"
    # once more, as after a power failure: the forge has it now
    made.says("pr.list", "https://forge/1\n")
    made.says("mr.list", '[{"web_url": "https://forge/1"}]')
    made.hook_again(1)
    assert len(made.calls(create)) == 1 and len(made.calls(create.split(".")[0] + ".list")) == 2


def test_no_pull_request_without_a_result(forge, stories, repo, tmp_path):  # noqa: F811
    """Nothing passed; each task has a branch of its own; the run was cancelled."""
    made = forge()
    made.daemon.play.set({"implement": says() + "exit 3\n", "review": PASS})
    made.ended(submit(made.daemon, repo, stories, **MANY))
    made.daemon.play.set({"implement": SOME, "review": PASS})
    made.ended(submit(made.daemon, repo, stories, **{**MANY, "integrate": "none"}))
    made.hook_again(2, RL_STATE="cancelled", RL_RESULT_BRANCH="rl/2/US-2", RL_RESULT_COMMIT="HEAD")
    assert not (made.at / "calls").exists() and not list(made.remote.glob("refs/heads/*"))


def test_a_forge_that_refuses_is_asked_again(forge, stories, repo):  # noqa: F811
    """What was pushed is not pushed again, and no answer is not the answer that there is none."""
    made = forge(REFUSES="pr.list")
    row = made.ended(submit(made.daemon, repo, stories, **MANY))
    assert (made.at / "status").read_text() != "0\n" and made.calls("pr.create") == []
    assert made.pushed("rl/1-result") == row["result_commit"]
    script = (made.at / "on-end").read_text()
    (made.at / "on-end").write_text(script.replace("export REFUSES=pr.list\n", ""))
    made.hook_again(1)
    assert len(made.calls("pr.create")) == 1


def test_what_the_hooks_are_told(make_daemon, repo, stories, tmp_path):  # noqa: F811
    """Run, task, branch, commit, base, verdict, cost, and how many passed."""
    hook = ["/bin/sh", "-c", f"env > {tmp_path}/$RL_HOOK.$RL_TASK_ID"]
    daemon = make_daemon(scripts={"implement": SOME, "review": PASS},
                         config={**CLAUDE, "hook": {"on_pass": hook, "on_end": hook}})
    row = daemon.ended(submit(daemon, repo, stories, **{**MANY, "parallel": 1}))
    while daemon.call("daemon.status")["busy"]:
        pass
    names = ("RL_RUN", "RL_RESULT_BRANCH", "RL_BASE_REF", "RL_VERDICT", "RL_COST_USD", "RL_TASKS", "RL_TASKS_PASSED",
             "RL_TASKS_FAILED", "RL_RESULT_COMMIT")

    def told(hook):
        lines = dict(line.split("=", 1) for line in (tmp_path / hook).read_text().splitlines() if "=" in line)
        return [lines[name] for name in names]

    tasks = {t["id"]: t for t in row["tasks"]}
    assert told("on_pass.US-3") == ["1", "rl/1-result", row["base_commit"], "pass", "0.6000", "3", "1", "0",
                                    tasks["US-3"]["commit"]]
    assert told("on_pass.US-2") == ["1", "rl/1-result", tasks["US-3"]["commit"], "pass", "0.6000", "3", "2", "1",
                                    tasks["US-2"]["commit"]]
    assert told("on_end.") == ["1", "rl/1-result", row["base_commit"], "", "1.2000", "3", "2", "1",
                               row["result_commit"]]


def test_the_verdict_of_a_run_with_one_task(make_daemon, repo, tmp_path):
    hook = ["/bin/sh", "-c", f'echo "$RL_VERDICT $RL_COST_USD $RL_TASKS" > {tmp_path}/told']
    daemon = make_daemon(scripts={"implement": "echo x > x\nanswer done\n", "review": "pass\n"},
                         config={"hook": {"on_end": hook}})
    daemon.ended(daemon.review(repo.path))
    while daemon.call("daemon.status")["busy"]:
        pass
    assert (tmp_path / "told").read_text() == "pass  1\n"


def failed_ci(made, commit, number="7"):
    made.says("pr.list", f"rl/1-result {commit}\n")
    made.says("run.list.commit", f"{number}\n")
    made.says("run.list", "1\n")
    made.says("run.view", "test_words: expected 'bye', got 'Bye'\n")


def feed_back(made, *options, check=True, **environment):
    return subprocess.run([str(EXAMPLES / "ci-failures-to-tasks"), str(made.repo.path), *options], text=True,
                          check=check, capture_output=True, stdin=subprocess.DEVNULL,
                          env={**made.daemon.environment, "PATH": made.path, "RLD_SOCKET": str(made.daemon.socket),
                               "PLACES": str(made.at / "places"), **environment})


def test_a_failure_of_ci_becomes_a_task(forge, stories, repo):  # noqa: F811
    """And its fix is pushed to the branch of the pull request."""
    made = forge()
    first = made.ended(submit(made.daemon, repo, stories, **MANY))
    failed_ci(made, first["result_commit"])
    assert feed_back(made, "--review").stdout == "2\n"
    row = made.ended(2)
    assert (row["state"], row["base_commit"], row["review"]["enabled"]) == ("succeeded", first["result_commit"], True)
    prompt = (made.daemon.play.path / "prompt.2.implement.1").read_text()
    assert "Fix what CI reports about the branch rl/1-result" in prompt and "expected 'bye', got 'Bye'" in prompt
    tip = row["tasks"][0]["commit"]
    assert made.pushed("rl/1-result") == tip and repo.git("rev-parse", f"{tip}^") == first["result_commit"]
    assert made.pushed(row["tasks"][0]["branch"]) == "" and len(made.calls("pr.create")) == 1
    # cron comes again: before the next result of CI, and after a new one has failed
    assert feed_back(made, "--review").stdout == "2\n" and len(made.daemon.call("run.list")["runs"]) == 2
    failed_ci(made, tip, "8")
    assert feed_back(made, "--review").stdout == "3\n"
    made.ended(3)
    assert made.daemon.run(3)["base_commit"] == tip
    assert [p.name for p in (made.at / "places").iterdir()] == ["8"], "the work trees of earlier failures go"


def test_ci_that_is_green_or_fails_for_ever_makes_no_task(forge, stories, repo):  # noqa: F811
    made = forge()
    row = made.ended(submit(made.daemon, repo, stories, **MANY))
    failed_ci(made, row["result_commit"])
    made.says("run.list", "4\n")
    done = feed_back(made)
    assert done.stdout == "" and done.stderr == "rl/1-result: CI has failed 4 times, it is left to a human\n"
    made.says("run.list.commit", "")
    assert feed_back(made).stdout == ""
    made.says("pr.list", "")
    assert feed_back(made).stdout == "" and len(made.daemon.call("run.list")["runs"]) == 1
    failed_ci(made, row["result_commit"])
    refused = feed_back(made, "--no-such-option", check=False)
    assert refused.returncode == 1 and "--no-such-option" in refused.stderr
