# SPDX-License-Identifier: MIT
"""rlctl(1) and rld.toml(5): each example is pasted into a shell, with a fake claude on the PATH, or
given to the program as a file."""
import json
import re
import subprocess

import pytest
from rld import RLCTL, SOURCE

PAGE = (SOURCE / "docs" / "rlctl.1").read_text()
SETTINGS = (SOURCE / "docs" / "rld.toml.5").read_text()
EXAMPLE = r'^\.\\" example: (\w+)\n\.(?:Dl (.*)|Bd -literal -offset indent\n((?:.*\n)*?)\.Ed)$'


def examples(page):
    """{name: text}, without the prompts of a shell."""
    def plain(text):
        text = re.sub(r"\\\((aq|dq)|\\e", lambda m: {"aq": "'", "dq": '"', None: "\\"}[m.group(1)], text)
        return re.sub("^[$] ", "", text, flags=re.M) + "\n"
    return {name: plain(line or block) for name, line, block in re.findall(EXAMPLE, page, re.M)}


COMMANDS, FILES = examples(PAGE), examples(SETTINGS)
# Works on its task and answers; a review answers what $PLAYED/review says.
CLAUDE = """#!/bin/sh
cat > /dev/null
if [ "$RL_ROLE" = review ]; then
    cat {at}/review
else
    echo "$RL_TASK_ID $RL_ROLE" >> "work-$RL_TASK_ID.txt"
    echo done
fi | jq -Rsc '{{type: "result", subtype: "success", is_error: false, result: ., session_id: "s1"}}'
"""
PASS = '{"verdict": "pass", "followUpPrompt": "looked at it"}'
NO_GO = '{"decision": "NO_GO", "feedback": "not yet"}'
BEADS = '{"id": "a-1", "title": "one"}\n{"id": "a-2", "title": "two"}\n'


class Page:
    """A daemon, a repository, and a shell that gets the examples."""

    def __init__(self, daemon, repo, tools, played):
        self.daemon, self.repo, self.played = daemon, repo, played
        self.environment = {
            **daemon.environment, "PATH": f"{tools}:{daemon.environment['PATH']}",
            "RLD_SOCKET": str(daemon.socket), "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}

    def answer(self, text):
        (self.played / "review").write_text(text)

    def rlctl(self, *args, check=0):
        return self.daemon.rlctl(*args, cwd=self.repo.path, environment=self.environment, check=check)

    def paste(self, text, check=0, **numbers):
        for word, number in numbers.items():
            text = re.sub(rf"\b{word[1:]}\b", str(number), text)
        done = subprocess.run(["sh", "-e"], input=text.encode(), cwd=self.repo.path,
                              env=self.environment, capture_output=True)
        done.out, done.err = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == check, (text, done.out, done.err)
        return done


@pytest.fixture
def page(make_daemon, repo, tmp_path):
    tools, played = tmp_path / "bin", tmp_path / "played"
    tools.mkdir()
    played.mkdir()
    (tools / "claude").write_text(CLAUDE.format(at=played))
    (tools / "claude").chmod(0o755)
    (tools / "rlctl").symlink_to(RLCTL)
    config = {"default_agent": "claude", "agent.claude": {"writable": [str(played)]}}
    page = Page(make_daemon(config=config), repo, tools, played)
    page.answer(PASS)
    return page


def test_task(page):
    assert page.paste(COMMANDS["task"]).out.strip() == "done"
    assert page.repo.read("work-t1.txt") == "t1 implement\n" and page.daemon.reviews(1)


def test_background(page):
    page.repo.write("task.md", "a task\n")
    page.paste(COMMANDS["background"])
    assert page.repo.read("work-t1.txt") == "t1 implement\n"


def test_beads(page):
    page.repo.write(".beads/issues.jsonl", BEADS)
    page.repo.git("add", ".")
    page.repo.git("commit", "-qm", "beads")
    done = page.paste(COMMANDS["beads"], _42=1)
    assert 'git merge rl/1-result' in done.err
    for name in ("a-1", "a-2"):
        assert page.repo.read(f"work-{name}.txt") == f"{name} implement\n"


def test_picked(page):
    """The work of the tasks alone, beside something that was not committed."""
    page.repo.write(".beads/issues.jsonl", BEADS)
    page.rlctl("run", "--beads", "-P2")
    page.repo.git("config", "user.name", "t")
    page.repo.git("config", "user.email", "t@example.org")
    instance = page.daemon.call("daemon.hello")["instance"]
    page.paste(COMMANDS["pick"].replace("3f2a9c01", instance), _42=1)
    files = page.repo.git("ls-tree", "--name-only", "HEAD").split()
    assert files == ["README", "work-a-1.txt", "work-a-2.txt"]


def test_night(page):
    stories = [{"id": name, "title": name, "passes": False} for name in ("US-1", "US-2")]
    page.repo.write("prd.json", json.dumps({"project": "x", "userStories": stories}))
    page.repo.write("summary.md", "sum up\n")
    page.paste(COMMANDS["night"])
    page.daemon.rlctl("wait", "1", "2", check=0)
    assert [page.daemon.run(number)["state"] for number in (1, 2)] == ["succeeded"] * 2
    assert {g["name"]: g["slots"] for g in page.daemon.call("group.list")["groups"]}["night"] == 2
    assert all(s["passes"] for s in json.loads(page.repo.read("prd.json"))["userStories"])


def test_hold(page):
    page.answer(NO_GO)
    page.rlctl("run", "--review=decision", "x", check=13)
    done = page.paste(COMMANDS["hold"], _3=1)
    assert "not yet" in done.out
    page.daemon.rlctl("wait", "1", check=13)
    hold = page.daemon.call("hold.get", id=1)
    assert hold["message"] == "keep the old behaviour for empty input"
    assert hold["state"] in ("rework", "reworked")


def test_salvage(page, tmp_path):
    page.answer('{"verdict": "drift", "followUpPrompt": "more"}')
    page.rlctl("run", "--review", "--isolation=worktree", "--review-max-fix-attempts=0", "x", check=10)
    text = COMMANDS["salvage"].replace("/tmp/half-done", str(tmp_path / "half-done"))
    saved = page.daemon.call("salvage.list", run=1)["salvage"][0]["id"]
    assert "t1" in page.paste(text, _42=1, _17=saved).out
    assert (tmp_path / "half-done" / "work-t1.txt").read_text() == "t1 implement\n"


def test_report_and_events(page):
    page.rlctl("run", "--review", "x")
    assert page.paste(COMMANDS["report"], _42=1).out == "1\n"
    page.paste(COMMANDS["page"], _42=1)
    assert page.repo.read("run42.html").startswith("<!doctype html>")
    local = COMMANDS["web"].split(" host ")[1]
    assert "http://127.0.0.1:8080/?token=" in page.paste("timeout 2 " + local, check=124).out
    done = page.paste("timeout 3 " + COMMANDS["events"], check=124, _1234=0)
    events = [json.loads(line) for line in done.out.splitlines()]
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    assert "run.state" in {e["type"] for e in events}


def test_files(page, tmp_path):
    (tmp_path / "rld.toml").write_text(FILES["custom"])
    page.daemon.rlctl("config", "check", tmp_path / "rld.toml", check=0)
    page.repo.write(".rld.toml", FILES["project"])
    shown = page.daemon.rlctl("config", "show", "-C", page.repo.path, "--json", check=0).out
    origins = {s["path"]: s["from"] for s in json.loads(shown)["settings"]}
    assert {path for path, origin in origins.items() if ".rld.toml" in origin} == {
        "run.commit", "review.enabled", "review.profile", "review.checks", "review.guidelines",
        "review.on_exhausted"}


def test_every_example_is_tried():
    text = (SOURCE / "tests" / "system" / "test_manual_client.py").read_text()
    for kind, found in (("COMMANDS", COMMANDS), ("FILES", FILES)):
        assert set(re.findall(rf'{kind}\["(\w+)"\]', text)) == set(found)
    names = ("task", "background", "beads", "night", "hold", "page", "web", "report", "events")
    tried = sum(len(re.findall("^[a-z]", COMMANDS[name], re.M)) for name in names)
    assert len(re.findall(r"^(?:\.Dl )?\$ ", PAGE.split(".Sh EXAMPLES")[1], re.M)) == tried
