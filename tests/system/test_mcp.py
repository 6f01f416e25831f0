# SPDX-License-Identifier: MIT
"""rlctl mcp: its tools and resources, by plain messages and by the client of the official SDK."""
import json
import subprocess
import threading
from pathlib import Path

import pytest

import npm
from rld import FAKES, RLCTL, Daemon, note_command

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = json.loads((ROOT / "docs/openrpc.json").read_text())
SDK = "@modelcontextprotocol/sdk@1.32.2"
TOOLS = {"submit": ["run.submit"], "wait": ["run.wait"], "show": ["run.get"], "logs": ["attempt.output"],
         "findings": ["finding.list"], "holds": ["hold.list"],
         "decide": ["hold.approve", "hold.reject", "hold.rework"]}
DRIFT = {"implement": "echo one > work.txt\nanswer done\n", "review": "drift 'a second line'\n",
         "fix": "answer tried\n"}
HOLD = {"review": {"profile": "verdict", "max_fixes": 0, "on_exhausted": "hold"}}


class Failed(Exception):
    """The tool or the method answered with an error."""


class Mcp:
    """An rlctl mcp, spoken to in plain lines."""

    def __init__(self, daemon, *options, cwd=None, environment=None):
        note_command(("mcp",))
        env = {**daemon.environment, "RLD_SOCKET": str(daemon.socket), **(environment or {})}
        self.process = subprocess.Popen([str(RLCTL), *options, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=env, cwd=cwd or daemon.path, text=True)
        Daemon.processes.append(self.process)
        self.count = 0

    def send(self, method, params=None, **more):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {}), **more}))

    def write(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def receive(self):
        message = json.loads(self.process.stdout.readline())
        assert message["jsonrpc"] == "2.0" and "id" in message and ("result" in message) != ("error" in message)
        return message

    def request(self, method, params=None):
        self.count += 1
        self.send(method, params, id=self.count)
        answer = self.receive()
        assert answer["id"] == self.count
        if "error" in answer:
            raise Failed(answer["error"])
        return answer["result"]

    def tool(self, name, **arguments):
        return structured(self.request("tools/call", {"name": name, "arguments": arguments}))

    def fails(self, name, **arguments):
        with pytest.raises(Failed) as failed:
            self.tool(name, **arguments)
        return failed.value.args[0]

    def close(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        assert self.process.wait() == 0
        return rest


def structured(result):
    if result.get("isError"):
        raise Failed(result["content"][0]["text"])
    shown = json.loads(result["content"][-1]["text"])
    assert shown.items() <= result["structuredContent"].items()
    return result["structuredContent"]


@pytest.fixture
def mcp(daemon, repo):
    made = Mcp(daemon, cwd=repo.path)
    yield made
    made.close()


def test_a_run_from_submit_to_report(mcp, repo):
    made = mcp.tool("submit", task="do it", review={"enabled": True}, labels={"by": "mcp"})
    assert made["id"] == 1
    assert mcp.tool("wait", ids=[1])["runs"][0]["state"] == "succeeded"
    run = mcp.tool("show", id=1)
    assert run["state"] == "succeeded" and run["workdir"] == str(repo.path) and run["labels"] == {"by": "mcp"}
    assert mcp.tool("findings", run=1)["open"] == []
    assert mcp.tool("holds")["holds"] == []
    assert mcp.tool("logs", run=1, attempt=1)["data"] == "first answer\n"
    assert mcp.tool("logs", run=1, attempt=1, offset=6, limit=3) | {"next": 9, "data": "ans"} == mcp.tool(
        "logs", run=1, attempt=1, offset=6, limit=3)
    assert '"verdict": "pass"' in mcp.tool("logs", run=1)["data"]     # the newest
    page = mcp.request("resources/list")
    assert [r["uri"] for r in page["resources"]] == ["rld://run/1/report"] and "nextCursor" not in page
    content, = mcp.request("resources/read", {"uri": "rld://run/1/report"})["contents"]
    assert json.loads(content["text"])["stats"]["review_rounds"] == 2 and content["mimeType"] == "application/json"


def test_findings_and_a_decision(make_daemon, repo):
    daemon = make_daemon(scripts=DRIFT)
    mcp = Mcp(daemon)
    run = daemon.review(repo.path, **HOLD)
    assert mcp.tool("wait", ids=[run])["runs"][0]["state"] == "held"
    assert "a second line" in mcp.tool("findings", run=run)["open"][0]["text"]
    hold, = mcp.tool("holds", run=run, state="open")["holds"]
    daemon.play.set({"fix": "echo two >> work.txt\nanswer fixed\n", "review": "pass\n"})
    assert mcp.tool("decide", id=hold["id"], decision="rework", message="add it")["state"] in ("rework", "reworked")
    assert mcp.tool("wait", ids=[run])["runs"][0]["state"] == "succeeded"
    assert repo.read("work.txt") == "one\ntwo\n"
    assert mcp.fails("decide", id=hold["id"], decision="approve").startswith(f"id: hold {hold['id']} needs no decision")
    mcp.close()


@pytest.mark.parametrize("decision, state", [("approve", "succeeded"), ("reject", "failed")])
def test_decisions(make_daemon, repo, decision, state):
    daemon = make_daemon(scripts=DRIFT)
    mcp = Mcp(daemon)
    run = daemon.review(repo.path, **HOLD)
    daemon.call("run.wait", ids=[run])
    hold, = daemon.call("hold.list", run=run)["holds"]
    decided = mcp.tool("decide", id=hold["id"], decision=decision, message="so be it")
    assert decided["decided_by"].startswith("human:") and decided["message"] == "so be it"
    assert daemon.ended(run)["state"] == state
    mcp.close()


@pytest.mark.each
@pytest.mark.parametrize("name, arguments, text", [
    ("submit", {}, "task: is missing"),
    ("submit", {"task": "x", "workdir": "here"}, "workdir 'here' is not absolute"),
    ("submit", {"task": "x", "agent": "nobody"}, "agent"),
    ("submit", {"task": "x", "colour": "red"}, "colour: is no argument of this tool; tools/list shows its inputSchema"),
    ("wait", {"ids": 1}, "ids: must be an array of ids, is an integer"),
    ("show", {"id": 99}, "id: no such run: 99"),
    ("show", {"id": "1"}, "id: must be an integer, is a string"),
    ("logs", {"run": 99}, "run: no such run: 99"),
    ("logs", {"run": 1, "attempt": 7}, "attempt: the run has no attempt of this number"),
    ("findings", {"run": 99}, "run: no such run: 99"),
    ("holds", {"state": "shut"}, "state: must be"),
    ("decide", {"id": 99, "decision": "approve"}, "id: no such hold: 99"),
    ("decide", {"id": 1, "decision": "forget"}, "decision: must be"),
])
def test_errors_of_tools(mcp, daemon, repo, name, arguments, text):
    if name == "logs":
        daemon.ended(daemon.submit(repo.path))
    assert text in mcp.fails(name, **arguments)


@pytest.mark.each
@pytest.mark.parametrize("line, code, text", [
    ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fly"}}', -32602, 'there is no tool "fly"'),
    ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"show","arguments":[1]}}', -32602, "arguments"),
    ('{"jsonrpc":"2.0","id":1,"method":"prompts/list"}', -32601, 'there is no method "prompts/list"'),
    ('{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602, "params"),
    ('{"id":1,"method":"ping"}', -32600, "JSON-RPC"),
    ('7', -32700, "not JSON"),
    ('[7]', -32600, "JSON-RPC"),
    ('{', -32700, "not JSON"),
    ('{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"rld://run/1"}}', -32002, "rld://run/N/report"),
    ('{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"rld://run/9/report"}}', -32002, "no such run"),
    ('{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":"x"}}', -32602, "nextCursor"),
])
def test_errors_of_the_protocol(mcp, line, code, text):
    mcp.write(line)
    answer = mcp.receive()
    assert answer["error"]["code"] == code and text in answer["error"]["message"]
    assert answer["id"] == (1 if '"id"' in line else None)
    assert mcp.request("ping") == {}


def test_what_is_too_long_ends_it(daemon):
    mcp = Mcp(daemon)
    with pytest.raises(BrokenPipeError):
        mcp.write('"' + "x" * (9 << 20) + '"')
    assert mcp.receive()["error"]["message"] == "a message is one line of JSON, of at most 4 MiB"
    assert mcp.process.wait() == 0


@pytest.mark.parametrize("asked, given", [("2025-11-25",) * 2, ("2024-11-05",) * 2, ("2030-01-01", "2025-11-25")])
def test_versions(mcp, asked, given):
    said = mcp.request("initialize", {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t",
                                                                                                 "version": "1"}})
    assert said["protocolVersion"] == given and said["capabilities"] == {"tools": {}, "resources": {}}
    assert said["serverInfo"]["name"] == "rld"


def test_the_tools_agree_with_the_methods(mcp):
    """Their arguments are parameters of the methods; each has what its method requires."""
    known = {m["name"]: {p["name"]: p for p in m["params"]} for m in DOCUMENT["methods"]}
    listed = {t["name"]: t for t in mcp.request("tools/list")["tools"]}
    assert set(listed) == set(TOOLS)
    own = {("logs", "run"), ("logs", "attempt"), ("decide", "decision")}
    for name, methods in TOOLS.items():
        schema = listed[name]["inputSchema"]
        assert all(p["description"] for p in schema["properties"].values())
        for method in methods:
            for argument, said in schema["properties"].items():
                if (name, argument) in own:
                    continue
                there = known[method][argument]["schema"]
                assert said["type"] == there["type"], (name, argument)
                assert set(said.get("enum", [])) <= set(there.get("enum", [])), (name, argument)
                assert said.get("minimum", 0) >= there.get("minimum", said.get("minimum", 0)), (name, argument)
                assert set(said.get("properties", {})) <= set(there.get("properties", {}))
            wanted = {p for p, row in known[method].items() if row["required"]}
            assert wanted <= set(schema.get("required", [])) | ({"workdir"} if name == "submit" else
                                                                {"id"} if name == "logs" else set())


def test_others_are_answered_while_one_waits(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate here\nanswer done\n"}, gates=["here"])
    mcp = Mcp(daemon, cwd=repo.path)
    run = mcp.tool("submit", task="do it")["id"]
    daemon.play.arrived("here")
    assert mcp.tool("wait", ids=[run], timeout_ms=0)["timed_out"] is True
    mcp.send("tools/call", {"name": "wait", "arguments": {"ids": [run]}}, id="waits")
    assert mcp.request("ping") == {} and mcp.tool("show", id=run)["state"] == "running"
    daemon.play.go("here")
    answer = mcp.receive()
    assert answer["id"] == "waits" and structured(answer["result"])["runs"][0]["state"] == "succeeded"
    mcp.close()


def waits(daemon):
    """Until somebody waits for a run."""
    while daemon.call("daemon.status")["clients"] < 2:
        pass


def test_a_cancelled_request_gets_no_answer(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate here\nanswer done\n"}, gates=["here"])
    mcp = Mcp(daemon, cwd=repo.path)
    run = mcp.tool("submit", task="do it")["id"]
    daemon.play.arrived("here")
    mcp.send("tools/call", {"name": "wait", "arguments": {"ids": [run]}}, id=77)
    waits(daemon)
    mcp.send("notifications/cancelled", {"requestId": 77, "reason": "enough"})
    mcp.send("notifications/unknown")
    assert mcp.request("ping") == {}
    daemon.play.go("here")
    assert mcp.tool("wait", ids=[run])["timed_out"] is False
    assert mcp.close() == ""


def test_the_end_of_the_input_ends_a_wait(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate here\nanswer done\n"}, gates=["here"])
    mcp = Mcp(daemon, cwd=repo.path)
    run = mcp.tool("submit", task="do it")["id"]
    daemon.play.arrived("here")
    mcp.send("tools/call", {"name": "wait", "arguments": {"ids": [run]}}, id=1)
    assert mcp.close() == ""
    daemon.play.go("here")
    daemon.ended(run)


def test_what_was_asked_before_the_end_is_answered(daemon):
    lines = [json.dumps({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "holds"}})
             for n in range(8)]
    said = daemon.rlctl("mcp", input="\n".join(lines).encode(), check=0)
    assert sorted(json.loads(line)["id"] for line in said.out.splitlines()) == list(range(8)) and said.err == ""


def test_a_wait_survives_a_restart(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate here\nanswer done\n"}, gates=["here"])
    mcp = Mcp(daemon, cwd=repo.path)
    run = mcp.tool("submit", task="do it")["id"]
    daemon.play.arrived("here")
    mcp.send("tools/call", {"name": "wait", "arguments": {"ids": [run]}}, id="waits")
    waits(daemon)
    daemon.kill()
    mcp.send("tools/call", {"name": "show", "arguments": {"id": run}}, id="shows")  # there is none
    assert mcp.request("ping") == {}
    daemon.start()
    assert structured(mcp.receive()["result"])["state"] == "running"
    daemon.play.go("here")
    answer = mcp.receive()
    assert answer["id"] == "waits" and structured(answer["result"])["runs"][0]["state"] == "succeeded"
    mcp.close()


class Breaking(threading.Thread):
    """Between client and daemon: the connection breaks after the first call of this method."""

    def __init__(self, daemon, path, method):
        import socket
        super().__init__(daemon=True)
        self.to, self.method, self.seen = daemon, method, []
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(str(path))
        self.listening.listen()

    def run(self):
        while True:
            peer, _ = self.listening.accept()
            with peer, peer.makefile("rwb") as there, self.to.connect() as rpc:
                for line in there:
                    request = json.loads(line)
                    rpc.send(request)
                    answer = rpc.receive()
                    if request["method"] == self.method:
                        self.seen.append(request["params"])
                        if len(self.seen) == 1:
                            break
                    there.write(json.dumps(answer).encode() + b"\n")
                    there.flush()


def test_a_submit_whose_connection_breaks_makes_one_run(daemon, repo, tmp_path):
    between = Breaking(daemon, tmp_path / "between", "run.submit")
    between.start()
    mcp = Mcp(daemon, "--socket", str(tmp_path / "between"), cwd=repo.path)
    run = mcp.tool("submit", task="do it")["id"]
    assert between.seen[0]["key"] == between.seen[1]["key"] and len(daemon.call("run.list")["runs"]) == 1
    daemon.ended(run)
    assert mcp.tool("submit", task="do it")["id"] != run        # another call is another run
    daemon.ended(run + 1)
    mcp.close()


def test_a_decision_whose_connection_breaks_is_not_repeated(make_daemon, repo, tmp_path):
    daemon = make_daemon(scripts=DRIFT)
    run = daemon.review(repo.path, **HOLD)
    daemon.call("run.wait", ids=[run])
    between = Breaking(daemon, tmp_path / "between", "hold.approve")
    between.start()
    mcp = Mcp(daemon, "--socket", str(tmp_path / "between"))
    hold, = mcp.tool("holds")["holds"]
    assert "which may have been carried out" in mcp.fails("decide", id=hold["id"], decision="approve")
    assert len(between.seen) == 1 and mcp.tool("holds")["holds"][0]["state"] == "approved"
    daemon.ended(run)
    mcp.close()


def test_without_a_daemon(daemon):
    daemon.stop()
    mcp = Mcp(daemon)
    assert mcp.request("ping") == {} and len(mcp.request("tools/list")["tools"]) == len(TOOLS)
    assert mcp.fails("show", id=1).startswith("no rld daemon answers")
    daemon.start()
    assert mcp.fails("show", id=1).startswith("id: no such run: 1")
    mcp.close()


def test_an_agent_has_the_rights_of_an_agent(make_daemon, repo):
    """It reads its own run, and changes nothing."""
    daemon = make_daemon(scripts={})
    requests = [("show", {"id": 1}), ("submit", {"task": "more", "workdir": str(repo.path)}),
                ("decide", {"id": 1, "decision": "approve"})]
    lines = [json.dumps({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": name, "arguments": a}})
             for n, (name, a) in enumerate(requests)]
    asked = daemon.play.path / "asked"
    asked.write_text("\n".join(lines) + "\n")
    daemon.play.set({"implement": f"{RLCTL} mcp < {asked} > {asked}.said\necho one > work.txt\nanswer done\n"})
    assert daemon.ended(daemon.submit(repo.path))["state"] == "succeeded"
    said = {m["id"]: m["result"] for m in map(json.loads, Path(f"{asked}.said").read_text().splitlines())}
    assert structured(said[0])["id"] == 1
    for n in (1, 2):
        assert said[n]["isError"] and "an agent may only read its own run, 1" in said[n]["content"][0]["text"]


class Sdk(Mcp):
    """The same by the client of the SDK."""

    def __init__(self, daemon, cwd):
        modules = npm.folder(SDK) / "node_modules"
        env = {**daemon.environment, "RLD_SOCKET": str(daemon.socket)}
        self.process = subprocess.Popen([npm.node(), str(FAKES / "mcp-sdk.mjs"), str(modules), str(RLCTL), "mcp"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=env, cwd=cwd, text=True)
        Daemon.processes.append(self.process)

    def ask(self, method, *params):
        self.write(json.dumps([method, *params]))
        said = json.loads(self.process.stdout.readline())
        if "error" in said:
            raise Failed(said["error"])
        return said["result"]

    def tool(self, name, **arguments):
        return structured(self.ask("callTool", {"name": name, "arguments": arguments}))


@pytest.mark.broad
def test_the_official_client(make_daemon, repo):
    """It lists and uses each tool and resource, also after the daemon was killed."""
    daemon = make_daemon(scripts=DRIFT)
    sdk = Sdk(daemon, repo.path)
    assert sdk.ask("getServerVersion")["name"] == "rld" and sdk.ask("ping") == {}
    assert {t["name"] for t in sdk.ask("listTools")["tools"]} == set(TOOLS)
    run = sdk.tool("submit", task="do it", review={"profile": "verdict", "enabled": True, "max_fixes": 0})["id"]
    ended = sdk.tool("wait", ids=[run])["runs"][0]
    assert ended["state"] == "failed"
    run = daemon.review(repo.path, **HOLD)
    sdk.tool("wait", ids=[run])
    daemon.kill()
    daemon.start()
    assert sdk.tool("show", id=run)["state"] == "held"
    assert sdk.tool("findings", run=run)["open"]
    assert '"verdict": "drift"' in sdk.tool("logs", run=run)["data"]
    hold, = sdk.tool("holds", state="open")["holds"]
    assert sdk.tool("decide", id=hold["id"], decision="approve")["state"] == "approved"
    daemon.ended(run)
    uris = [r["uri"] for r in sdk.ask("listResources")["resources"]]
    assert uris == ["rld://run/2/report", "rld://run/1/report"]
    for uri in uris:
        content, = sdk.ask("readResource", {"uri": uri})["contents"]
        assert json.loads(content["text"])["run"] == int(uri.split("/")[3])
    template, = sdk.ask("listResourceTemplates")["resourceTemplates"]
    assert template["uriTemplate"] == "rld://run/{run}/report"
    with pytest.raises(Failed, match="no such run"):
        sdk.ask("readResource", {"uri": "rld://run/9/report"})
    assert "no such run: 9" in sdk.fails("show", id=9)
    assert sdk.close() == "" and sdk.process.stderr.read() == ""
