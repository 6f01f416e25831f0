# SPDX-License-Identifier: MIT
"""Requests from inside an attempt: an agent may read its own run, and change nothing."""
import json
import os
import signal
import socket
import subprocess
import textwrap

import pytest
from loop import Loop
from rld import Repo, RpcError
from test_profile_comments import COMMENTS
from test_profile_decision import DECISION
from test_profile_verdict import VERDICT

# ask SOCKET FILE: the requests of FILE, a line each; the answers go to FILE.said. Works without
# any environment.
ASK = textwrap.dedent("""\
    #!/usr/bin/python3
    import socket, sys
    path, name = sys.argv[1:]
    said = []
    for line in open(name):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            s.sendall(line.encode())
            said.append(s.makefile().readline())
    open(name + ".new", "w").writelines(said)
    import os
    os.rename(name + ".new", name + ".said")
    """)
# Ways to ask: by the agent itself; by a grandchild of no family, without a word of its environment.
WAYS = {"plainly": "$PLAY/ask {socket} {file}\n",
        "hidden": "(setsid env -i $PLAY/ask {socket} {file} &)\n"
                  "while [ ! -e {file}.said ]; do sleep 0.01; done\n"}


class Asked(Loop):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        ask = self.play.path / "ask"
        ask.write_text(ASK)
        ask.chmod(0o755)

    def script(self, name, *requests, way="plainly"):
        """The line of a script that makes these requests."""
        file = self.play.path / name
        file.write_text("".join(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n"
                                for method, params in requests))
        return WAYS[way].format(socket=self.daemon.socket, file=file)

    def said(self, name):
        return [json.loads(line) for line in (self.play.path / f"{name}.said").read_text().splitlines()]


def refused(answer):
    return answer.get("error", {}).get("code") == 3


@pytest.fixture
def asked(make_daemon, repo, tmp_path):
    asked = Asked(make_daemon, repo, tmp_path, VERDICT)
    asked.always_content()
    return asked


def held_run(asked, tmp_path):
    """A run of somebody else, which waits for a human."""
    asked.set(review_1=DECISION.finds("no"))
    other = Repo(tmp_path / "other")
    run = asked.daemon.review(other.path, "another", review={"profile": "decision", "max_fixes": 0})
    asked.daemon.call("run.wait", ids=[run])
    assert asked.daemon.run(run)["state"] == "held"
    asked.always_content()
    return run, asked.daemon.call("hold.list", run=run)["holds"][0]["id"]


def every_method(asked, own, other):
    """Each method with the least that it takes, about run `other`; what may be read, of `own`."""
    readable = {"run.get": "id", "run.diff": "id", "run.report": "id", "attempt.list": "run", "review.list": "run",
                "review.export": "run", "review.verify": "run", "product.list": "run", "evidence.list": "run",
                "hold.list": "run"}
    values = {"integer": other, "string": "x", "array": [other], "object": {}, "boolean": True}
    requests = []
    for method in asked.daemon.call("rpc.discover")["methods"]:
        params = {p["name"]: p["schema"].get("enum", [values[p["schema"].get("type", "string")]])[0]
                  for p in method["params"] if p["required"]}
        if method["name"] in readable:
            params[readable[method["name"]]] = other
            requests.append(("own", method["name"], {**params, readable[method["name"]]: own}))
        requests.append(("any" if method["x-role"] == "any" else "not", method["name"], params))
    return requests, readable


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("role", ["implement", "review", "check", "fix"])
def test_an_agent_reads_its_own_run_alone(asked, tmp_path, role, way):
    other, hold = held_run(asked, tmp_path)
    requests, readable = every_method(asked, own=other + 1, other=other)
    requests.append(("not", "hold.approve", {"id": hold, "message": "LGTM"}))
    assert len(requests) > 50 and {name for _, name, _ in requests} >= set(readable)
    line = asked.script("asked", *((name, params) for _, name, params in requests), way=way)
    plain = {"implement": "echo one > work.txt\nanswer done\n", "review": VERDICT.passes,
             "check": "test -e fixed || exit 1\n" if role == "fix" else "true\n",
             "fix": "touch fixed\nanswer done\n"}
    plain[role] = line + plain[role]
    asked.set(**plain, review_1=plain["review"])
    row = asked.run(review={"checks": [asked.check]})
    assert row["id"] == other + 1 and row["state"] == "succeeded", row
    for (what, name, params), answer in zip(requests, asked.said("asked"), strict=True):
        assert refused(answer) == (what == "not"), (what, name, params, answer)
        if what == "not":
            assert answer["error"]["message"].startswith(f"{name}: an agent may only read its own run, {row['id']}")
    assert asked.daemon.run(other)["state"] == "held"


def test_what_is_refused_is_recorded_once(asked):
    asked.set(implement=asked.script("asked", *[("daemon.stop", {})] * 3, ("run.cancel", {"id": 1}))
              + "echo one > work.txt\nanswer done\n")
    with asked.daemon.events(types=["agent.refused"]) as events:
        asked.run()
        seen = [events.until("agent.refused") for _ in range(2)]
    assert [e["method"] for e in seen] == ["daemon.stop", "run.cancel"]
    pid = asked.play.starts()[0]
    assert all(e["uid"] == os.getuid() and e["pid"] > 0 and e["attempt"] == pid[2] for e in seen), (seen, pid)
    assert sum("was refused" in line for line in asked.daemon.log().splitlines()) == 2


def test_after_a_restart(asked):
    """By the shim, which lives on."""
    asked.play.gates("g")
    asked.set(implement="gate g\n" + asked.script("asked", ("run.cancel", {"id": 1}))
              + "echo one > work.txt\nanswer done\n")
    run = asked.submit()
    asked.play.arrived("g")
    asked.daemon.kill()
    asked.daemon.start()
    asked.play.go("g")
    assert asked.daemon.ended(run)["state"] == "succeeded" and refused(asked.said("asked")[0])


def test_a_hook_of_the_repository(asked):
    """git runs it in a step of the run."""
    asked.repo.write(".git/hooks/pre-commit", "#!/bin/sh\n" + asked.script("asked", ("run.cancel", {"id": 1})).replace(
        "$PLAY", str(asked.play.path)))
    (asked.repo.path / ".git/hooks/pre-commit").chmod(0o755)
    assert asked.run(commit="auto")["state"] == "succeeded"
    assert refused(asked.said("asked")[0])


def test_reviewers_of_comments_ask_nothing(make_daemon, repo, tmp_path):
    asked = Asked(make_daemon, repo, tmp_path, COMMENTS)
    asked.set(review_1=asked.script("asked", ("run.get", {"id": 1}), ("daemon.hello", {})) + COMMENTS.passes)
    assert asked.run()["state"] == "succeeded"
    told, hello = asked.said("asked")
    assert refused(told) and "must not see the task" in told["error"]["message"] and "result" in hello


def test_a_hook_of_the_operator_decides(make_daemon, repo, tmp_path):
    rlctl = f"{tmp_path}/decide"
    asked = Asked(make_daemon, repo, tmp_path, DECISION, config={"hook": {"on_hold": [rlctl]}})
    script = asked.script("asked", ("hold.approve", {"id": 1, "message": "by rule"}))
    (tmp_path / "decide").write_text("#!/bin/sh\n" + script.replace("$PLAY", str(asked.play.path)))
    (tmp_path / "decide").chmod(0o755)
    asked.set(review_1=DECISION.finds("no"))
    run = asked.submit(review={"max_fixes": 0})
    with asked.daemon.events(run=run, types=["hold.closed"]) as events:
        events.until("hold.closed")
    row = asked.daemon.ended(run)
    assert row["state"] == "succeeded", (row, asked.said("asked"))


def test_the_mark_of_another_daemon_is_no_agents(asked):
    environment = {**os.environ, "RL_ATTEMPT_UUID": "00000000-0000-4000-8000-000000000000"}
    file = asked.play.path / "asked"
    asked.script("asked", ("daemon.status", {}))
    subprocess.run([asked.play.path / "ask", asked.daemon.socket, file], env=environment, check=True)
    assert "result" in asked.said("asked")[0]


def test_the_mark_alone_shows_it(asked):
    """Its shim was killed: nobody of the family is left."""
    asked.play.gates("g")
    asked.set(implement="gate g\n")
    run = asked.submit()
    asked.play.arrived("g")
    uuid = asked.play.starts()[0][4]
    asked.script("asked", ("run.cancel", {"id": run}))
    subprocess.run([asked.play.path / "ask", asked.daemon.socket, asked.play.path / "asked"],
                   env={**os.environ, "RL_ATTEMPT_UUID": uuid}, check=True)
    assert refused(asked.said("asked")[0])
    asked.daemon.cancelled(run)


def test_a_connection_of_a_process_that_has_gone(asked):
    """Nobody can say who that was."""
    ours, theirs = socket.socketpair()
    os.kill(asked.daemon.pid, 19)
    try:
        child = os.fork()
        if child == 0:
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(str(asked.daemon.socket))
                socket.send_fds(theirs, [b"x"], [s.fileno()])
                os._exit(0)
        _, fds, _, _ = socket.recv_fds(ours, 1, 1)
        os.waitpid(child, 0)
    finally:
        os.kill(asked.daemon.pid, signal.SIGCONT)
    with socket.socket(fileno=fds[0]) as s:
        answer = json.loads(s.makefile().readline())
    assert refused(answer) and "has ended" in answer["error"]["message"], answer
    ours.close()
    theirs.close()


def test_the_operator_may_do_all(asked):
    with pytest.raises(RpcError) as told:
        asked.daemon.call("run.cancel", id=1)
    assert told.value.code != 3


# What an agent may do so that the daemon does not find the shim above the asker.
TRACES = {
    # as if it were another daemon's
    "its directory is that of another daemon":
        "mkdir -p {state}.x/attempts\nmv {state}/attempts/$RL_ATTEMPT {state}.x/attempts/$RL_ATTEMPT\n{ask}"
        "mv {state}.x/attempts/$RL_ATTEMPT {state}/attempts/$RL_ATTEMPT\n",
    "its lock is removed": "rm {state}/attempts/$RL_ATTEMPT/lock\n{ask}",
    "its directory is moved": "mv {state}/attempts/$RL_ATTEMPT {state}/attempts/x$RL_ATTEMPT\n{ask}"
                              "mv {state}/attempts/x$RL_ATTEMPT {state}/attempts/$RL_ATTEMPT\n",
    "its directory is moved elsewhere": "mv {state}/attempts/$RL_ATTEMPT {state}/runs/away\n{ask}"
                                        "mv {state}/runs/away {state}/attempts/$RL_ATTEMPT\n",
    "its directory is moved below another attempts/":
        "mkdir -p {state}/runs/x/attempts\nmv {state}/attempts/$RL_ATTEMPT {state}/runs/x/attempts/1\n{ask}"
        "mv {state}/runs/x/attempts/1 {state}/attempts/$RL_ATTEMPT\n",
    "the state directory is another": "mv {state} {state}.x\nmkdir {state}\n{ask}rmdir {state}\nmv {state}.x {state}\n",
    "a link is in the place of the state directory":
        "mv {state} {state}.x\nmkdir -p {state}.y/attempts\nln -s {state}.y {state}\n{ask}"
        "rm -r {state} {state}.y\nmv {state}.x {state}\n",
}


@pytest.mark.parametrize("trace", TRACES)
def test_an_agent_that_hides_its_shim(asked, tmp_path, trace):
    other, hold = held_run(asked, tmp_path)
    ask = asked.script("asked", ("hold.approve", {"id": hold, "message": "LGTM"}), way="plainly")
    asked.set(implement=TRACES[trace].format(state=asked.daemon.state, ask="env -i " + ask.replace(
        "$PLAY", str(asked.play.path))) + "echo one > work.txt\nanswer done\n")
    asked.run()
    # refused at once, it may see the end of the connection before it has asked
    said = asked.said("asked") if (asked.play.path / "asked.said").exists() else []
    assert all(refused(answer) for answer in said) and asked.daemon.run(other)["state"] == "held", said


def test_an_agent_that_hides_its_shim_from_a_later_daemon(asked, tmp_path):
    """Which is no parent of it."""
    other, hold = held_run(asked, tmp_path)
    asked.play.gates("g")
    ask = asked.script("asked", ("hold.approve", {"id": hold, "message": "LGTM"}), way="plainly")
    asked.set(implement="gate g\n" + TRACES["its directory is that of another daemon"].format(
        state=asked.daemon.state, ask="env -i " + ask.replace("$PLAY", str(asked.play.path)))
        + "echo one > work.txt\nanswer done\n")
    run = asked.submit()
    asked.play.arrived("g")
    asked.daemon.kill()
    asked.daemon.start()
    asked.play.go("g")
    asked.daemon.ended(run)
    answer, = asked.said("asked")
    assert refused(answer) and asked.daemon.run(other)["state"] == "held", answer


def test_a_state_directory_behind_a_link(make_daemon, repo, tmp_path):
    """Its shims have another path than the daemon was given."""
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "state").symlink_to(tmp_path / "real")
    asked = Asked(make_daemon, repo, tmp_path, VERDICT)
    asked.always_content()
    other, hold = held_run(asked, tmp_path)
    ask = asked.script("asked", ("hold.approve", {"id": hold, "message": "LGTM"}), way="plainly")
    asked.set(implement="env -i " + ask.replace("$PLAY", str(asked.play.path)) + "echo one > work.txt\nanswer done\n")
    asked.run()
    answer, = asked.said("asked")
    assert refused(answer) and asked.daemon.run(other)["state"] == "held", answer


ORPHANS = textwrap.dedent("""\
    #!/usr/bin/python3
    import os, socket, sys
    path, request, out = sys.argv[1:]
    for _ in range(200):
        read, write = os.pipe()
        if os.fork() == 0:
            if os.fork() == 0:
                with socket.socket(socket.AF_UNIX) as s:
                    s.connect(path)
                    s.sendall(request.encode() + b"\\\\n")
                    os.write(write, b"x")
                    with open(out, "a") as file:
                        file.write(s.makefile().readline())
                os._exit(0)
            os.close(write)
            os.read(read, 1)
            os._exit(0)
        os.close(write)
        os.wait()
        while os.read(read, 1):
            pass
        os.close(read)
    """).replace("\\\\n", "\\n")


# orphan SOCKET REQUEST DIRECTORY: asks when its shim is dead, and the daemon has not seen that yet.
ORPHAN = textwrap.dedent("""\
    #!/usr/bin/python3
    import os, signal, socket, sys
    path, request, place = sys.argv[1:]
    shim = os.getpid()
    while open(f"/proc/{shim}/comm").read() != "rl-shim\\n":
        shim = int(open(f"/proc/{shim}/stat").read().rpartition(")")[2].split()[1])
    open(f"{place}/ready", "w").close()
    open(f"{place}/stopped").close()
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(path)
        s.sendall(request.encode() + b"\\n")
        os.kill(shim, signal.SIGKILL)
        open(f"{place}/sent", "w").close()
        s.makefile().readline()
    """)


def test_an_agent_that_kills_its_shim(asked, tmp_path):
    """Its children are the daemon's then."""
    other, hold = held_run(asked, tmp_path)
    place = asked.play.path
    (place / "orphan").write_text(ORPHAN)
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "hold.approve", "params": {"id": hold, "message": "x"}})
    asked.set(implement=f"(setsid env -i /usr/bin/python3 $PLAY/orphan {asked.daemon.socket} '{request}' {place} &)\n"
              "sleep 30\n")
    for name in ("ready", "stopped", "sent"):
        os.mkfifo(place / name)
    run = asked.daemon.review(asked.repo.path)
    (place / "ready").read_text()
    os.kill(asked.daemon.pid, signal.SIGSTOP)
    try:
        (place / "stopped").write_text("")
        (place / "sent").read_text()
    finally:
        os.kill(asked.daemon.pid, signal.SIGCONT)
    asked.daemon.ended(run)
    found, = asked.daemon.call("hold.list", run=other)["holds"]
    assert found["id"] == hold and found["state"] == "open", found


def test_a_parent_that_ends_meanwhile(asked, tmp_path):
    """The asker gets another parent while the daemon looks."""
    other, hold = held_run(asked, tmp_path)
    (asked.play.path / "orphans").write_text(ORPHANS)
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "hold.approve", "params": {"id": hold, "message": "x"}})
    asked.set(implement=f"env -i /usr/bin/python3 $PLAY/orphans {asked.daemon.socket} '{request}' $PLAY/said\n"
              "echo one > work.txt\nanswer done\n")
    asked.run()
    said = [json.loads(line) for line in (asked.play.path / "said").read_text().splitlines()]
    assert len(said) == 200 and all(refused(answer) for answer in said)
    assert asked.daemon.run(other)["state"] == "held"
