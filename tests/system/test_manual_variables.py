# SPDX-License-Identifier: MIT
"""rld(8): each variable that it lists is set for the processes that it names, and for no others."""
import json
import os
import re

import pytest
from rld import SOURCE

SECTION = re.search(r"^\.Sh ENVIRONMENT OF ATTEMPTS AND HOOKS\n(.*?)^\.Sh ",
                    (SOURCE / "docs" / "rld.8").read_text(), re.M | re.S).group(1)
ATTEMPTS, HOOKS = {"implement", "check", "review", "fix", "commit"}, {"on_hold", "on_pass", "on_end"}
GROUPS = {"attempts": ATTEMPTS, "hooks": HOOKS, "all": ATTEMPTS | HOOKS}
PAGE = {name: set().union(*(GROUPS.get(word, {word}) for word in words.split(" , ")))
        for name, words in re.findall(r"^\.It Ev (\w+)\n\.Sy ([a-z_ ,]+) \.$", SECTION, re.M)}
HIDDEN = {"RL_TASK_ID", "RL_TASK", "RL_TASK_FILE", "RLD_SOCKET"}    # by profile comments
# A process writes the names of its variables to a file of its own kind and run.
NAMES = 'env -0 | tr "\\n\\0" " \\n" | sed "s/=.*//" | sort > {at}/$RL_RUN.{kind}.$RL_REVIEW_ROUND'
AGENT = "#!/bin/sh\ncat > /dev/null\n" + NAMES.format(at="{at}", kind="$RL_ROLE") + """
case $RL_ROLE in
implement | fix) echo $RL_REVIEW_ROUND >> work.txt ;;
commit) git add -A && git commit -qm work >&2 ;;
review) cat {at}/verdict.$RL_RUN.$RL_REVIEW_ROUND > "${{RL_VERDICT_FILE:-/dev/null}}" ;;
esac
echo done
"""
PROGRAM = ("#!/bin/sh\n" + NAMES.format(at="{at}", kind="$RL_ROLE") +
           '\n[ "$RL_REVIEW_ROUND" = 2 ] || {{ echo more; exit 1; }}\n')


@pytest.fixture
def played(tmp_path):
    folder = tmp_path / "played"
    folder.mkdir()
    for name, text in (("agent", AGENT), ("program", PROGRAM)):
        (folder / name).write_text(text.format(at=folder))
        (folder / name).chmod(0o755)
    for name in HOOKS:
        os.mkfifo(folder / name)
    return folder


@pytest.fixture
def daemon(make_daemon, played):
    def hook(name):
        told = played / name
        text = f"{NAMES.format(at=played, kind=name)}; [ ! -p {told} ] || echo done > {told}"
        return ["/bin/sh", "-c", text]

    agent = {"command": [str(played / "agent")], "model": "m", "writable": [str(played)]}
    return make_daemon(config={"default_agent": "a", "agent.a": agent,
                               "hook": {name: hook(name) for name in sorted(HOOKS)}})


def seen(played, *hooks):
    """{kind of process: names of the page's variables that it had}, after the hooks have ended."""
    found = {}
    for hook in hooks:
        assert (played / hook).read_text() == "done\n"
    for path in played.glob("1.*.*"):
        names = set(path.read_text().split()) & (set(PAGE) - {"TMPDIR"})
        found.setdefault(path.name.split(".")[1], set()).update(names)
    return found


def listed(kinds, *without):
    return {kind: {name for name, receivers in PAGE.items() if kind in receivers}
            - {"TMPDIR", *without} for kind in kinds}


SWIVAL = {name for name in PAGE if name.startswith("SWIVAL")}
ACTORS = {"BEADS_ACTOR", "BD_ACTOR"}


def test_every_role(daemon, played, repo):
    (played / "verdict.1.1").write_text('{"verdict": "drift", "followUpPrompt": "more"}')
    (played / "verdict.1.2").write_text('{"verdict": "pass", "followUpPrompt": ""}')
    repo.git("config", "user.name", "t")
    repo.git("config", "user.email", "t@example.org")
    repo.write(".beads/issues.jsonl", '{"id": "a-1", "title": "one"}\n')
    check = NAMES.format(at=played, kind="$RL_ROLE")
    daemon.rlctl("run", "--review", "--commit=agent", f"--check={check}", "--beads", cwd=repo.path, check=0)
    assert seen(played, "on_pass", "on_end") == listed(ATTEMPTS | {"on_pass", "on_end"}, *SWIVAL)


def test_program(daemon, played, repo):
    daemon.rlctl("run", "--reviewer", played / "program", "x", cwd=repo.path, check=0)
    assert seen(played, "on_pass", "on_end") == listed(
        {"implement", "review", "fix", "on_pass", "on_end"}, *ACTORS, "RL_VERDICT_FILE")


def test_hidden_task(daemon, played, repo):
    """Under profile comments reviewers and fixers do not see the task, and no attempt of the run
    has the socket, which would show it."""
    comment = {"file": "work.txt", "line": 1, "severity": "must-fix", "comment": "no"}
    for number in (1, 2, 3):
        (played / f"verdict.1.{number}").write_text(json.dumps({"comments": [comment], "summary": "1"}))
    daemon.rlctl("run", "--review=comments", "x", cwd=repo.path, check=0)
    wanted = listed({"implement", "review", "fix", "on_pass", "on_end"}, *ACTORS, *SWIVAL)
    wanted["implement"] -= {"RLD_SOCKET"}
    for role in ("review", "fix"):
        wanted[role] -= HIDDEN
    assert seen(played, "on_pass", "on_end") == wanted
    assert "TMPDIR" in (played / "1.review.1").read_text().split()


def test_hold(daemon, played, repo):
    (played / "on_end").unlink()    # the run ends with the daemon of the test
    for number in (1, 2, 3):
        (played / f"verdict.1.{number}").write_text('{"decision": "NO_GO", "feedback": "no"}')
    daemon.rlctl("run", "--review=decision", "x", cwd=repo.path, check=13)
    assert seen(played, "on_hold") == listed({"implement", "review", "fix", "on_hold"}, *ACTORS, *SWIVAL)


def test_every_receiver_is_tried():
    assert set().union(*PAGE.values()) - {"operations"} == ATTEMPTS | HOOKS and len(PAGE) > 25
