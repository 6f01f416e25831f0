# SPDX-License-Identifier: MIT
"""What somebody new to it gets wrong: each mistake is told with its place and the remedy, before
anything is started or paid for."""
import pytest

# what is said of every wrong parameter, and helps nobody who has used options
GENERAL = "lists the parameters, "
BEAD = '{"id": "b-1", "title": "one"}\n'


def files(**texts):
    def write(repo):
        for name, text in texts.items():
            repo.write({"beads": ".beads/issues.jsonl", "prd": "prd.json", "flow": "flow.yaml",
                        "project": ".rld.toml"}[name], text)
    return write


def flow(text):
    return files(flow=f"tasks:\n  a:\n    prompt: do it\n{text}")


WORKFLOW = ["--workflow", "flow.yaml"]
MISTAKES = {
    "no .beads": (None, ["--beads"], 1, ["/.beads: No such file or directory", "--beads=DIR"]),
    "no such directory of beads": (None, ["--beads=nowhere"], 1, ["--beads: nowhere: No such file or directory"]),
    "a task and beads": (files(beads=BEAD), ["--beads", "work"], 2,
                         ["give a task or --beads, not both", "--beads=DIR"]),
    "beads and stories": (files(beads=BEAD, prd="{}"), ["--beads", "--stories", "prd.json"], 2,
                          ["give --beads or --stories, not both"]),
    "beads with a broken line": (files(beads=BEAD + "{\n"), ["--beads"], 1,
                                 [".beads/issues.jsonl:2: it is not valid JSON", "correct or remove the line"]),
    "no such PRD": (None, ["--stories", "prd.json"], 1, ["--stories: prd.json: No such file or directory"]),
    "a PRD that is no JSON": (files(prd="{"), ["--stories", "prd.json"], 1,
                              ["prd.json: it is not valid JSON: line 1, column 1",
                               "correct the file, and submit it again"]),
    "a PRD without stories": (files(prd='{"userStories": []}'), ["--stories", "prd.json"], 1,
                              ['"userStories" is empty; write at least one story']),
    "a workflow that is no YAML": (flow("   x: [\n"), WORKFLOW, 1, ["flow.yaml:4:", "check the indentation"]),
    "an empty workflow": (files(flow="\n"), WORKFLOW, 1, ["flow.yaml: it is empty"]),
    "an unknown key": (flow("    depend_on: [b]\n"), WORKFLOW, 1,
                       ['flow.yaml:4:5: unknown key "depend_on" in task "a"', "depends_on"]),
    "an unknown agent": (flow("    agent: nobody\n"), WORKFLOW, 1,
                         ["flow.yaml:4:12: unknown agent 'nobody'", "[agent.nobody]"]),
    "a cycle": (flow("    depends_on: [a]\n"), WORKFLOW, 1, ["flow.yaml:4:18: the dependencies form a cycle: a -> a"]),
    "an unknown dependency": (flow("    depends_on: [b]\n"), WORKFLOW, 1,
                              ['flow.yaml:4:18: "a" depends on "b", which does not exist']),
    "an empty task": (None, [" "], 1, ["cannot accept the task: it is empty; give it as an argument"]),
    "no slots": (None, ["-P", "0", "work"], 2, ["--parallel must be at least 1, is 0"]),
    "too many slots": (None, ["-P", "65", "work"], 2, ["--parallel: must be from 1 to 64, is 65"]),
    "an agent that nobody configured": (None, ["-a", "nobody", "work"], 1,
                                        ["--agent: unknown agent 'nobody'; choose one of",
                                         "[agent.nobody]"]),
    "no name of a group": (None, ["--group", "a/b", "work"], 1, ["--group: 'group' must be a name: letters, digits"]),
    "after a run that is not there": (None, ["--after", "7", "work"], 1, ["--after: no such run: 7", "rlctl list"]),
    "agents choose among stories": (files(prd='{"userStories": [{"id": "a"}]}'),
                                    ["--stories", "prd.json", "--assign=agent"], 1,
                                    ["--assign: ", "only beads"]),
    "agents choose in work trees": (files(beads=BEAD), ["--beads", "--assign=agent", "--isolation=worktree"],
                                    1, ["--assign: ", "choose --isolation shared, or --assign daemon"]),
    "slots that share and commit": (files(beads=BEAD),
                                    ["--beads", "-P2", "--isolation=shared", "--commit=auto"], 1,
                                    ["--commit: ", "choose --isolation worktree"]),
    "to merge what has no commits": (None, ["--integrate=merge", "work"], 1,
                                     ["--integrate: ", "add --isolation worktree"]),
    "to review as a whole what is apart": (None, ["--review=file", "--isolation=worktree",
                                                  "--integrate=none", "work"], 1,
                                           ["add --integrate merge, or choose --isolation shared"]),
    "no name of a base": (None, ["--base=-x", "work"], 1, ["--base: must be the name of a branch or commit"]),
    "a task and a file": (None, ["--file=/dev/null", "work"], 2, ["give a task or --file, not both"]),
    "an unknown option": (None, ["--paralel", "4", "work"], 2,
                          ["unrecognized option '--paralel'; did you mean --parallel?", "--help lists the options"]),
    "a word that is none": (None, ["--on-failure=maybe", "work"], 2,
                            ['--on-failure must be one of "stop", "continue"']),
    "a group in the project's file": (files(project="[group.night]\nslots = 1\n"), ["work"], 1,
                                      [".rld.toml:1:2: 'group' is only allowed in rld.toml"]),
    "a wrong value in the project's file": (files(project="[run]\nparallel = 0\n"), ["work"], 1,
                                            [".rld.toml:2:12: 'run.parallel' must be from 1 to 64, is 0"]),
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda name: name.replace(" ", "-"))
def test_submit(daemon, repo, mistake):
    write, options, status, words = MISTAKES[mistake]
    if write is not None:
        write(repo)
    err = daemon.rlctl("submit", *options, cwd=repo.path, check=status).err
    assert all(word in err for word in words) and GENERAL not in err, err
    assert daemon.call("run.list")["runs"] == []


WITHOUT_GIT = {
    "a work tree": (["--isolation=worktree", "work"], ["--isolation: ", "git init", "--isolation shared"]),
    "a base": (["--base=main", "work"], ["--base: ", "git init"]),
    "a review": (["--review", "work"], ["not in a git repository", "git init", "--reviewer CMD", "--no-review"]),
}


@pytest.mark.parametrize("mistake", WITHOUT_GIT, ids=lambda name: name.replace(" ", "-"))
def test_without_git(daemon, tmp_path, mistake):
    options, words = WITHOUT_GIT[mistake]
    (tmp_path / "plain").mkdir()
    err = daemon.rlctl("submit", *options, cwd=tmp_path / "plain", check=1).err
    assert all(word in err for word in words) and GENERAL not in err, err


def test_retry_of_a_run_that_succeeded(daemon, repo):
    number = daemon.rlctl("submit", "work", cwd=repo.path, check=0).out.strip()
    assert daemon.ended(int(number))["state"] == "succeeded"
    err = daemon.rlctl("retry", number, cwd=repo.path, check=1).err
    assert f"run {number} has the state succeeded: only a failed" in err and "submit the task again" in err


def test_a_wrong_directory(daemon, repo):
    assert "--workdir: nowhere: No such file or directory" in daemon.rlctl("submit", "-C", "nowhere",
                                                                           "work", cwd=repo.path,
                                                                           check=1).err
    repo.write("file", "x")
    assert "--workdir: file is not a directory" in daemon.rlctl("submit", "-C", "file", "work",
                                                                cwd=repo.path, check=1).err


def test_who_gives_parameters_is_told_where_they_are_described(daemon, repo):
    assert GENERAL in daemon.rlctl("rpc", "run.submit", "task=x", f"workdir={repo.path}", "paralel=9", check=1).err
    told = daemon.rlctl("rpc", "run.submit", "task=x", f"workdir={repo.path}", "parallel=900", check=1).err
    assert "from 1 to 64" in told and GENERAL not in told, "the message is enough"


def test_a_review_of_a_workflow_is_said_in_it(daemon, repo):
    flow("")(repo)
    done = daemon.rlctl("submit", *WORKFLOW, "--review", "--dry-run", cwd=repo.path, check=0)
    assert "agentic_review" in done.err and "nothing was submitted" in done.err
    assert daemon.rlctl("submit", *WORKFLOW, "--review", "--dry-run", "-q", cwd=repo.path, check=0).err == ""
    assert "agentic_review" not in daemon.rlctl("submit", *WORKFLOW, "--dry-run", cwd=repo.path, check=0).err


# What only the run itself can see ends it before an agent is started.

def fails(daemon, repo, *options):
    done = daemon.rlctl("run", *options, cwd=repo.path, check=10)
    number = daemon.call("run.list")["runs"][0]["id"]
    assert daemon.attempts(number) == []
    assert f'Run {number} has no attempts; "rlctl show {number}" tells why.' in daemon.rlctl("logs", number,
                                                                                             check=0).err
    return daemon.run(number)["cause"] + done.err


def test_a_base_that_is_not_there(daemon, repo):
    assert "'nowhere' is not a branch or commit in" in fails(daemon, repo, "--base=nowhere", "work")


def test_submodules_that_are_checked_out(daemon, repo, tmp_path):
    repo.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", str(repo.path), "part")
    repo.git("commit", "-qm", "a part")
    assert ("has checked out submodules (part)" in (text := fails(daemon, repo, "-P2", "work"))
            and "--isolation shared" in text)


def test_conflicts_that_are_not_resolved(daemon, repo):
    for branch in ("one", "two"):
        repo.git("checkout", "-q", "-b", branch, "main")
        repo.write("same", branch)
        repo.git("add", "same")
        repo.git("commit", "-qm", branch)
    repo.git("merge", "-q", "one", check=False)
    assert ("has unresolved conflicts" in (text := fails(daemon, repo, "-P2", "work"))
            and "git merge --abort" in text)

