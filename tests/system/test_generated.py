# SPDX-License-Identifier: MIT
"""What is made of docs/openrpc.json: programs in three languages on the generated clients, and a
call of each method with parameters that its schema says are valid."""
import json
import shutil
import subprocess

import pytest

import npm
from rld import FAKES, SOURCE, Daemon, Repo
from test_salvage import put_one, saved_commit

METHODS = json.loads((SOURCE / "docs/openrpc.json").read_text())["methods"]
DRIFT = "drift 'a second line'\n"
SCRIPTS = {"implement": "gate work\necho one > work.txt\nanswer done\n", "review": f"gate review\n{DRIFT}"}
TYPESCRIPT = ("typescript@5.9.3", "@types/node@22.10.0")
TSC = ("--strict", "--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext", "--types", "node")


def typescript(tmp_path):
    """Checked against the types, then compiled."""
    modules = npm.folder(*TYPESCRIPT) / "node_modules"
    place = tmp_path / "ts"
    place.mkdir()
    (place / "node_modules").symlink_to(modules)
    (place / "package.json").write_text('{"type": "module"}\n')
    for source in (FAKES / "decide.ts", SOURCE / "docs/clients/rld_client.ts"):
        shutil.copy(source, place)
    done = subprocess.run([npm.node(), str(modules / "typescript/bin/tsc"), *TSC, "decide.ts"], cwd=place,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout
    return [npm.node(), str(place / "decide.js")]


PROGRAMS = {"python": lambda tmp_path: ["/usr/bin/python3", str(FAKES / "decide.py")],
            "perl": lambda tmp_path: ["/usr/bin/perl", str(FAKES / "decide.pl")],
            "typescript": typescript}


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_program_submits_follows_and_decides(make_daemon, repo, tmp_path, language):
    """The daemon is killed in the work, and again in the review."""
    command = PROGRAMS[language](tmp_path)
    daemon = make_daemon(scripts=SCRIPTS, gates=["work", "review"])
    process = subprocess.Popen([*command, str(daemon.socket), str(repo.path), "do it"], stdout=subprocess.PIPE,
                               env=daemon.environment, text=True)
    Daemon.processes.append(process)
    for gate in ("work", "review"):
        daemon.play.arrived(gate)
        daemon.kill()
        daemon.start()
        daemon.play.go(gate)
    said = json.loads(process.stdout.read())
    assert process.wait() == 0
    run, = daemon.call("run.list")["runs"]
    rows = [e["seq"] for e in daemon.call("event.list", limit=256)["events"] if e["run"] == run["id"]]
    assert said == {"state": "succeeded", "findings": ["a second line"], "events": rows}
    hold, = daemon.call("hold.list", run=run["id"])["holds"]
    assert hold["state"] == "approved" and hold["message"] == "as agreed"


def test_the_client_for_perl_knows_the_parameters(tmp_path):
    program = """
        use Rld;
        my $rld = Rld->new(sub { join ",", $_[0], %{$_[1]} });
        print $rld->run_get(id => 1), "\n";
        for my $params ([idd => 1], []) { eval { $rld->run_get(@$params) }; print $@ }
        """
    said = subprocess.run(["/usr/bin/perl", "-I", str(SOURCE / "docs/clients"), "-e", program], check=True,
                          capture_output=True, text=True).stdout
    assert said == "run.get,id,1\nrun.get has no parameter idd\nrun.get needs the parameter id\n"


def least(schema):
    """The least value that the schema allows."""
    if "oneOf" in schema:
        return least(schema["oneOf"][0])
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    if kind == "array":
        return [least(schema["items"])] * schema.get("minItems", 0) if "items" in schema else []
    return {"integer": schema.get("minimum", 0), "number": schema.get("minimum", 0), "boolean": False, "object": {},
            "string": "x" * max(1, schema.get("minLength", 1))}[kind]


class World:
    """What methods are called about. Each number is of a new run, where the call changes it; each
    run has a directory of its own, since a held one occupies it."""

    def __init__(self, daemon, repo, tmp_path):
        self.daemon, self.repo, self.path, self.repos = daemon, repo, tmp_path, 0
        self.queue = daemon.call("run.submit", workdir=str(repo.path), task="do it", group="shut")["id"]
        self.passed = daemon.submit(repo.path, commit="auto")
        self.failed = self.run(on_exhausted="fail")
        self.attempt = daemon.attempts(self.failed)[-1]["id"]
        daemon.ended(self.passed)

    def run(self, task="do it", **review):
        self.repos += 1
        repo = Repo(self.path / f"r{self.repos}")
        run = self.daemon.review(repo.path, task, review={"profile": "verdict", "max_fixes": 0, **review})
        self.daemon.call("run.wait", ids=[run])
        return run

    def hold(self):
        run = self.run(on_exhausted="hold")
        return self.daemon.call("hold.list", run=run, state="open")["holds"][0]["id"]

    def question(self):
        run = self.run(task="ask", on_question="hold")
        return self.daemon.call("hold.list", run=run, state="open")["holds"][0]["id"]

    def queued(self):
        return self.daemon.submit(self.repo.path, group="shut")

    def paused(self):
        run = self.queued()
        self.daemon.call("run.pause", id=run)
        return run

    def finding(self):
        run = self.run(on_exhausted="hold")
        finding, = self.daemon.call("finding.list", run=run)["open"]
        return {"run": run, "finding": finding["id"]}


# What a parameter must name; every other one that is required is made of its schema.
NAMED = {
    "daemon.backup": lambda w: {"path": str(w.path / "copy.db")},
    "blob.put": lambda w: {"offset": 0}, "run.submit": lambda w: {"workdir": str(w.repo.path), "task": "do it"},
    "run.cancel": lambda w: {"id": w.queued()}, "run.pause": lambda w: {"id": w.queued()},
    "run.resume": lambda w: {"id": w.paused()}, "run.retry": lambda w: {"id": w.failed},
    "run.change": lambda w: {"id": w.queued(), "priority": 1}, "run.attest": lambda w: {"id": w.passed},
    "review.again": lambda w: {"run": w.run(on_exhausted="fail")}, "finding.dismiss": World.finding,
    "finding.list": lambda w: {"run": w.failed}, "hold.answer": lambda w: {"id": w.question(), "message": "B"},
    "hold.get": lambda w: {"id": w.hold()}, "hold.approve": lambda w: {"id": w.hold()},
    "hold.reject": lambda w: {"id": w.hold()}, "hold.rework": lambda w: {"id": w.hold(), "message": "again"},
    "attempt.get": lambda w: {"id": w.attempt}, "attempt.output": lambda w: {"id": w.attempt},
    "attempt.preview": lambda w: {"id": w.attempt}, "attempt.transcript": lambda w: {"id": w.attempt},
    "salvage.get": lambda w: {"id": 7},
    "run.wait": lambda w: {"ids": [w.failed]}, "group.set": lambda w: {"name": "mine", "slots": 2},
    "group.pause": lambda w: {"name": "mine"}, "group.resume": lambda w: {"name": "mine"},
    "cooldown.set": lambda w: {"account": "anthropic", "for": 60},
    "cooldown.clear": lambda w: {"account": "anthropic"},
    "prompt.show": lambda w: {"workdir": str(w.repo.path), "role": "review"},
}
ONLY_CHECKED = ("daemon.stop",)


@pytest.mark.broad
def test_a_call_of_each_method(make_daemon, repo, tmp_path):
    """Each answer is as its schema says, with all that is in it: the harness holds every answer
    against the document."""
    daemon = make_daemon(scripts={"review": DRIFT, "implement": "echo $RL_RUN > work.txt\n"
                                  "[ $RL_TASK = ask ] && answer 'QUESTION: A or B?' || answer done\n"})
    put_one(daemon, repo, saved_commit(repo))
    daemon.call("group.pause", name="shut")
    world = World(daemon, repo, tmp_path)
    called = []
    for method in METHODS:
        name, known = method["name"], {p["name"] for p in method["params"]}
        for check in [True, False] if "check" in known else [False]:
            if name in ONLY_CHECKED and not check:
                continue
            params = {p["name"]: least(p["schema"]) for p in method["params"] if p["required"]}
            if "run" in params or "id" in params:
                params |= {key: world.failed for key in ("run", "id") if key in params}
            params |= NAMED.get(name, lambda w: {})(world)
            params |= {"check": True} if check else {}
            assert isinstance(daemon.call(name, **params), dict), name
            called.append(name)
    assert set(called) == {m["name"] for m in METHODS}
    for run in daemon.call("run.list", limit=200)["runs"]:
        if run["state"] in ("queued", "running", "held", "paused"):
            daemon.no_longer_under_way(run["id"])
