# SPDX-License-Identifier: MIT
"""What README.md shows of the program is what it prints. tests/record writes it anew.

Scripted agents work on a terminal of ours. A frame is taken where every agent stands at a gate;
times, spans and hashes, which differ from run to run, are frozen.
"""
import json
import os
import re
import textwrap

import pytest
from rld import SANITIZED, SOURCE, Play
from terminal import Terminal

README = SOURCE / "README.md"
RECORD = bool(os.environ.get("RL_RECORD"))      # write, do not compare
FROZEN = (
    (r"\b(?:\d+ms|\d+s|\d+m \d\ds)\b", "41s"),
    (r"Duration: 41s", "Duration: 2m 44s"),
    (r"updated 41s", "updated 2s"),
    (r"\b[0-9a-f]{8}\b", "3f2a9c01"),
)
WIDTH = 96
FAKES = {name: [str(SOURCE / "tests" / "fakes" / name)] for name in ("implementer", "reviewer", "fixer")}

DEMO = (SOURCE / "tests" / "demo").read_text()

# Three slots: one is reviewed again, one is being fixed, one works.
NIGHT = {
    "implement": """case $RL_SLOT in
3) echo 'Reading parser.c'; echo 'Bash: make test'; echo '2 of 14 tests fail'; gate three ;;
esac
echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"; answer done
""",
    "review": """case $RL_SLOT.$RL_REVIEW_ROUND in
1.1) drift 'An empty date is accepted.' ;;
1.2) echo 'Read: date.c'; echo 'Read: test_date.c'; gate one; pass ;;
2.1) drift 'total() overflows for large sums.' ;;
*) pass ;;
esac
""",
    "fix": """case $RL_SLOT in 2) echo 'Edit: total.c'; gate two ;; esac
echo fixed >> "$RL_TASK_ID.txt"; answer fixed
""",
}
STORIES = ("Refuse dates that do not exist", "Sum up the invoice", "Parse amounts in cents")


def freeze(text):
    for pattern, word in FROZEN:
        text = re.sub(pattern, word, text)
    lines = []
    for line in text.strip("\n").split("\n"):
        lines += textwrap.wrap(line, WIDTH, drop_whitespace=False) or [""]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def compare(name, text):
    """The block of README behind the mark of this name."""
    page = README.read_text()
    pattern = re.compile(rf"(<!-- recording: {name} -->\n```text\n)(.*?)(```\n)", re.S)
    assert len(pattern.findall(page)) == 1, f"README.md has one recording {name}"
    if RECORD:
        README.write_text(pattern.sub(lambda m: m.group(1) + text + m.group(3), page))
    else:
        assert pattern.search(page).group(2) == text, "the program prints something else: run tests/record"


@pytest.fixture
def on():
    made = []

    def make(daemon, *args, **kwargs):
        made.append(Terminal(daemon.socket, *args, **kwargs))
        return made[-1]
    yield make
    for terminal in made:
        terminal.close()


@pytest.mark.skipif(SANITIZED, reason="the page shows the product, not the sanitizers")
def test_a_run(make_daemon, repo, on):
    """The program and the agents of the demonstration."""
    for name, text in re.findall(r"^cat > (\w+(?:\.\w)?) << 'END'\n(.*?)^END$", DEMO, re.M | re.S):
        repo.write(name, text)
    repo.write(".gitignore", "duration-test\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "a parser")
    agents = {f"agent.{name}": {"command": command, "reader": "text"} for name, command in FAKES.items()}
    daemon = make_daemon(config={"default_agent": "implementer", **agents,
                                 "review": {"agent": "reviewer", "fixer_agent": "fixer"}})
    screen = on(daemon, "run", "-C", repo.path, "--review", "--color", "never", "Make duration() accept 1h30m",
                width=WIDTH, environment={"TERM": "dumb"})     # without the line that does not stay
    assert screen.ended() == 0, screen.data.decode()
    compare("run", freeze(screen.data.decode().replace("\r", "")))


@pytest.mark.skipif(SANITIZED, reason="the page shows the product, not the sanitizers")
def test_watch(make_daemon, repo, on, tmp_path):
    gates = ("one", "two", "three")
    play = Play(tmp_path / "play", NIGHT).gates(*gates)
    agent = {"command": play.command(), "review": [], "reader": "text"}
    daemon = make_daemon(play=play, config={"default_agent": "claude", "agent.claude": agent})
    stories = [{"id": f"S{n}", "title": title, "priority": n, "passes": False} for n, title in enumerate(STORIES, 1)]
    run = daemon.call("run.submit", workdir=str(repo.path), parallel=3, review={"enabled": True},
                      stories=json.dumps({"project": "invoices", "userStories": stories}))["id"]
    for gate in gates:
        daemon.play.arrived(gate)
    screen = on(daemon, "watch", run, lines=15, width=88, environment={"NO_COLOR": "1"})
    text = screen.shows("A1 REVIEW", "round 2/6", "A2 FIX", "A3 EVENTS 3", "2 of 14 tests fail")
    compare("watch", freeze(text))
    screen.press("q")
    assert screen.ended() == 0
    for gate in gates:
        daemon.play.go(gate)
    assert daemon.ended(run)["state"] == "succeeded"
