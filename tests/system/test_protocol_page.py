# SPDX-License-Identifier: MIT
"""docs/protocol.md: its client, run as it stands there, submits once and misses nothing, whatever
becomes of the daemon; its examples answer as it shows."""
import re
import subprocess

import pytest
from rld import BUILD, SOURCE, Daemon, Repo

PAGE = (SOURCE / "docs" / "protocol.md").read_text()
CLIENT = re.search(r"^```python\n(.*?)^```$", PAGE, re.M | re.S).group(1)
NO_GO = "printf '{\"decision\": \"NO_GO\", \"feedback\": \"not yet\"}\\n'\n"
GATED = {"implement": "echo one > work.txt\ngate a\nanswer 'the answer'\n"}


@pytest.fixture
def client(tmp_path):
    """client(daemon, workdir): a started client."""
    def start(daemon, workdir):
        (tmp_path / "follow.py").write_text(CLIENT)
        argv = ["/usr/bin/python3", "-I", str(tmp_path / "follow.py"), str(daemon.socket), str(workdir), "write"]
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=daemon.environment)
        Daemon.processes.append(process)
        return process
    return start


def ended(process):
    """Exit status, standard output, and the event numbers and states that it told."""
    out, err = process.communicate()
    print(err.decode())
    events = [line.split() for line in err.decode().splitlines() if re.match(r"\d+ [a-z.]+", line)]
    states = [event[2] for event in events if event[1] == "run.state"]
    return process.returncode, out.decode(), [int(event[0]) for event in events], states


def numbers(daemon, run):
    events, since = [], 0
    while (page := daemon.call("event.list", since=since, limit=256))["events"]:
        events += [e["seq"] for e in page["events"] if e["run"] == run]
        since = page["next"]
    return events


@pytest.mark.parametrize("end", ["kill", "stop"])
@pytest.mark.each
def test_it_follows_a_run_over_a_restart(make_daemon, repo, client, end):
    daemon = make_daemon(scripts=GATED, gates=["a"])
    other = daemon.submit(repo.path)        # its events are older, and of another run
    daemon.play.arrived("a")
    daemon.play.go("a")
    daemon.ended(other)
    process = client(daemon, repo.path)
    daemon.play.arrived("a")
    getattr(daemon, end)()
    daemon.play.go("a")
    daemon.start()
    status, answer, seen, states = ended(process)
    assert (status, answer) == (0, "the answer\n")
    runs = [r["id"] for r in daemon.call("run.list")["runs"]]
    assert runs == [other + 1, other], "it submitted once"
    assert seen == numbers(daemon, other + 1) and states[-1] == "succeeded"


def test_it_waits_for_a_daemon_that_is_not_there_yet(make_daemon, repo, client):
    daemon = make_daemon(scripts={"implement": "echo one > work.txt\nanswer done\n"})
    daemon.stop()
    process = client(daemon, repo.path)
    assert b"next try in 0.1 s" in process.stderr.readline()
    daemon.start()
    assert ended(process)[:2] == (0, "done\n")


def test_a_held_run(make_daemon, repo, client):
    """It is not final, and the client does not wait for the decision."""
    repo.write(".rld.toml", '[review]\nenabled = true\nprofile = "decision"\n')
    daemon = make_daemon(scripts={"implement": "echo one > work.txt\nanswer done\n", "review": NO_GO,
                                  "fix": "echo two >> work.txt\nanswer done\n"})
    status, answer, seen, states = ended(client(daemon, repo.path))
    assert (status, answer, states[-1]) == (13, "", "held") and seen == numbers(daemon, 1)


def test_a_refusal_ends_it(make_daemon, client, tmp_path):
    daemon = make_daemon()
    status, answer, seen, _ = ended(client(daemon, tmp_path / "nowhere"))
    assert (status, answer, seen) == (1, "", [])


# ---- the examples --------------------------------------------------------------------------------

def script(text):
    return {"command": ["sh", "-c", f"cat > /dev/null; {text}"], "reader": "text"}


AGENTS = {
    "default_agent": "worker",
    "agent.worker": script("echo one > work.txt; echo done"),
    "agent.fixer": script("echo two >> work.txt; echo done"),
    "agent.reviewer": script("""if grep -q two work.txt
        then echo '{"verdict": "pass", "followUpPrompt": "looked at work.txt"}'
        else echo 'A line is missing.'; echo '{"verdict": "drift", "followUpPrompt": "work.txt needs a second line"}'
        fi"""),
    "agent.strict": script("""echo '{"decision": "NO_GO", "feedback": "not yet"}'"""),
}
VARYING = (
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
    (r'"seq":\d+', "SEQ"),
    (r'"attempt":\d+', "ATTEMPT"),
    (r"Content-Length:\d+", "LENGTH"),
    (r'"(head|record)":"[0-9a-f]+…?"', "HASH"),
)


def examples(page):
    """[(command, output)] in order. A command goes on where its line ends in a backslash or
    within a quotation."""
    found = []
    for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", page, re.M):
        lines = [line[4:] for line in block.splitlines()]
        while lines:
            line = lines.pop(0)
            if not line.startswith("$ "):
                if found:
                    found[-1][1].append(line)
                continue
            command = line[2:]
            while command.endswith("\\") or command.count("'") % 2:
                command += "\n" + lines.pop(0)
            found.append((command, []))
    return [(command, "\n".join(output)) for command, output in found]


def squeeze(text):
    """Without white space, since the page breaks long lines, and without what varies."""
    text = re.sub(r"\s+", "", text)
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return text


def test_its_examples(make_daemon, tmp_path):
    daemon = make_daemon(config=AGENTS)
    Repo(tmp_path / "work")
    environment = {**daemon.environment, "PATH": f"{BUILD}:{daemon.environment['PATH']}", "S": str(daemon.socket)}
    there = examples(PAGE[PAGE.index("## Connections"):].replace("/tmp/x", str(tmp_path)))
    assert len(there) > 15
    setup = ""
    for command, output in there:
        if command.startswith("body="):
            setup = command + "\n"
            continue
        if "hold.list" in command:
            run = daemon.review(Repo(tmp_path / "held").path, review={"profile": "decision", "agent": "strict"})
            assert daemon.ended(run)["state"] == "held"
        done = subprocess.run(["bash", "-c", setup + command], capture_output=True, text=True, env=environment)
        said = done.stdout + done.stderr
        assert squeeze(output) == squeeze(said), f"{command}\n{output}\nand not\n{said}"
