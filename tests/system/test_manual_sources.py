# SPDX-License-Identifier: MIT
"""rl-sources(7): each of its examples is pasted into a shell as it stands, with a fake
claude on the PATH."""
import json
import re
import subprocess

import pytest
from rld import RLCTL, SOURCE

PAGE = (SOURCE / "docs" / "rl-sources.7").read_text()
EXAMPLES = {name: re.sub(r"\\\((aq|dq)|\\e", lambda m: {"aq": "'", "dq": '"', None: "\\"}[m.group(1)], text)
            for name, text in re.findall(r'^\.\\" example: (\w+)\n\.Bd -literal -offset indent\n(.*?)^\.Ed$',
                                         PAGE, re.S | re.M)}

# An agent that does its task, whichever it is, keeps its prompt, and judges what others did.
AGENT = """#!/bin/sh
cat > {at}/prompt.$RL_ROLE.$RL_TASK_ID
if [ "$RL_ROLE" = review ]; then
    echo '{{"decision": "GO", "feedback": "All criteria met."}}'
else
    echo "$RL_TASK_ID" > "work-$RL_TASK_ID.txt"
    echo "did $RL_TASK_ID"
fi{wrap}
"""
CLAUDE = " | jq -Rsc '{{type: \"result\", subtype: \"success\", is_error: false, result: ., session_id: \"s1\"}}'"


@pytest.fixture
def paste(make_daemon, repo, tmp_path):
    """paste(NAME, bd=False) → the daemon, what the shell printed, the prompts."""
    def run(name, bd=False):
        tools, played = tmp_path / "bin", tmp_path / "played"
        tools.mkdir()
        played.mkdir()
        for program, wrap in (("claude", CLAUDE.format()), ("plain", "")):
            (tools / program).write_text(AGENT.format(at=played, wrap=wrap))
            (tools / program).chmod(0o755)
        (tools / "rlctl").symlink_to(RLCTL)
        if bd:
            (tools / "bd").symlink_to(SOURCE / "tests" / "fakes" / "bd")
        plain = {"command": [str(tools / "plain")], "reader": "text", "writable": [str(played)]}
        daemon = make_daemon(config={"default_agent": "claude", "agent.claude": {"writable": [str(played)]},
                                     "agent.dev": plain, "agent.reviewer": plain})
        environment = {**daemon.environment, "PATH": f"{tools}:{daemon.environment['PATH']}",
                       "RLD_SOCKET": str(daemon.socket), "GIT_CONFIG_COUNT": "1",
                       "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        done = subprocess.run(["sh"], input=EXAMPLES[name].encode(), cwd=repo.path, env=environment,
                              capture_output=True)
        done.out, done.err = done.stdout.decode(), done.stderr.decode()
        print(done.out, done.err)
        return daemon, done, played
    return run


def implemented(daemon):
    return [a["task"] for a in daemon.attempts(1) if a["role"] == "implement"]


@pytest.mark.parametrize("bd", [False, True], ids=["export", "bd"])
def test_beads(paste, repo, bd):
    daemon, done, _ = paste("beads", bd=bd)
    assert daemon.run(1)["state"] == "succeeded", done.err
    assert sorted(implemented(daemon)) == ["shop-1", "shop-2", "shop-3"]
    assert "rl/1-result" in done.out
    assert [repo.git("show", f"rl/1-result:work-{task}.txt").strip()
            for task in ("shop-1", "shop-2", "shop-3")] == ["shop-1", "shop-2", "shop-3"]
    if bd:
        issues = json.loads(repo.read(".beads/fake.json"))
        assert ({i["status"] for i in issues.values()} == {"closed"}
                and len({i["assignee"] for i in issues.values()}) == 1)
        assert re.fullmatch("rld-1-[0-9a-f]{8}", issues["shop-1"]["assignee"])
        log = repo.read(".beads/fake.log").splitlines()
        assert sum(" 0 update " in line and "--claim" in line
                   for line in log) == 3 and sum(" 0 close " in line for line in log) == 3


def test_stories(paste):
    daemon, done, played = paste("stories")
    assert daemon.run(1)["state"] == "succeeded", done.err
    assert implemented(daemon) == ["US-001", "US-002"]
    assert done.out.splitlines()[-2:] == ["US-001 true", "US-002 true"]
    assert "An empty cart has a total of 0" in (played / "prompt.implement.US-001").read_text()


def test_workflow(paste):
    daemon, done, played = paste("workflow")
    assert daemon.run(1)["state"] == "succeeded", done.err
    assert [(a["role"], a["task"], a["agent"]) for a in daemon.attempts(1)] == [
        ("implement", "implement", "dev"), ("review", "implement", "reviewer"), ("implement", "document", "dev")]
    assert "Write the function total() of a cart." in (played / "prompt.implement.implement").read_text()
    assert "An empty cart has a total of 0" in (played / "prompt.review.implement").read_text()
    assert [(r["task_id"], r["decision"]) for r in daemon.reviews(1)] == [("implement", "GO")]
    assert "succeeded" in done.out


def errors():
    """The messages that the page quotes, on one line each."""
    blocks = re.findall(r"^\.Bd -literal -offset indent\n(?!\.)(.*?)^\.Ed$", PAGE, re.S | re.M)
    text = "".join(block for block in blocks if re.match(r"/home/|\\&\.beads/", block))
    return re.sub(r" *\\e\n +", " ", text.replace(r"\&", "")).splitlines()


def said(daemon, repo, *args):
    done = daemon.rlctl("submit", *args, cwd=repo.path, check=1)
    return " ".join(done.err.replace(str(repo.path), "/home/ann/shop").split())


def test_quoted_errors(daemon, repo):
    """Each message is what the program prints for such a mistake."""
    stories = [{"id": str(n), "title": "x", "passes": "true" if n == 2 else False} for n in range(3)]
    repo.write("prd.json", json.dumps({"userStories": stories}))
    flow = re.search(r"<< 'END'\n(.*?)END\n", EXAMPLES["workflow"], re.S).group(1)
    got = [said(daemon, repo, "--stories", "prd.json")]
    repo.write("flow.yaml", flow.replace("max_iterations", "max_iteration"))
    got += [said(daemon, repo, "--workflow", "flow.yaml")]
    tasks = "".join(f"  {a}:\n    prompt: x\n    depends_on: [{b}]\n" for a, b in ("ab", "ba"))
    repo.write("flow.yaml", f"tasks:\n{tasks}")
    got += [said(daemon, repo, "--workflow", "flow.yaml")]
    good = '{"id": "a-%d", "title": "x"}\n'
    repo.write(".beads/issues.jsonl", "".join(good % n for n in range(16)) + f'{{"id": "{"x" * 47}" x\n')
    got = [said(daemon, repo, "--beads")] + got
    assert len(errors()) == len(got)
    for wanted, message in zip(errors(), got):
        assert re.search(".*".join(map(re.escape, wanted.split("..."))), message), (wanted, message)


def test_every_source_has_an_example():
    names = set(re.findall(r'\.name = "(\w+)"', (SOURCE / "daemon" / "task" / "source.c").read_text())) - {"prompt"}
    assert set(EXAMPLES) == names and len(names) == 3
