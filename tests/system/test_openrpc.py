# SPDX-License-Identifier: MIT
"""docs/openrpc.json: what the daemon answers, and what a change of it means for clients."""
import copy
import json
import subprocess
import sys
from pathlib import Path

import npm
import pytest
from rld import FAKES

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from openrpc_changes import changes, flaws  # noqa: E402
import openrpc_files  # noqa: E402

OLD = json.loads((ROOT / openrpc_files.DOCUMENT).read_text())


def test_the_file_is_what_the_daemon_answers(daemon):
    assert daemon.call("rpc.discover") == OLD
    text = (ROOT / openrpc_files.DOCUMENT).read_text()
    assert text == openrpc_files.made_of(OLD)[openrpc_files.DOCUMENT]


def validated(path):
    """What the official library says of a document."""
    modules = npm.folder("@open-rpc/schema-utils-js@2.2.1") / "node_modules"
    return subprocess.run([npm.node(), str(FAKES / "openrpc-validate.mjs"), str(modules), str(path)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)


@pytest.mark.broad
def test_it_is_valid_by_the_meta_schema(tmp_path):
    done = validated(ROOT / openrpc_files.DOCUMENT)
    assert (done.returncode, done.stdout) == (0, f"{len(OLD['methods'])}\n"), done.stderr
    wrong = copy.deepcopy(OLD)
    wrong["methods"][0]["params"] = "none"
    (tmp_path / "wrong.json").write_text(json.dumps(wrong))
    done = validated(tmp_path / "wrong.json")
    assert done.returncode != 0 and "params" in done.stderr


class Document:
    """A copy to change, by name."""

    def __init__(self):
        self.all = copy.deepcopy(OLD)
        self.types = self.all["components"]["schemas"]

    def method(self, name):
        return next(m for m in self.all["methods"] if m["name"] == name)

    def param(self, method, name):
        return next(p for p in self.method(method)["params"] if p["name"] == name)

    def add(self, method, name, required, at=None):
        params = self.method(method)["params"]
        params.insert(len(params) if at is None else at,
                      {"name": name, "description": "x", "required": required, "schema": {"type": "string"}})

    def without(self, method):
        self.all["methods"].remove(self.method(method))

    def event(self, kind):
        return next(e for n in self.all["x-notifications"] if n["name"] == "event" for e in n["params"]["oneOf"]
                    if e["properties"]["type"]["const"] == kind)


def member(schema, name, required=True, **of):
    schema["properties"][name] = of or {"type": "string"}
    if required:
        schema["required"].append(name)


def drop(schema, name):
    del schema["properties"][name]
    schema["required"] = [n for n in schema["required"] if n != name]


def rename(schema, old, new):
    member(schema, new, **schema["properties"][old])
    drop(schema, old)


@pytest.mark.parametrize("change, kind, text", [
    (lambda d: d.without("run.wait"), "breaks", "the method run.wait is gone"),
    (lambda d: d.all["methods"].append({**d.method("run.wait"), "name": "run.await"}), "adds", "the method run.await"),
    (lambda d: drop(d.types["RunSummary"], "title"), "breaks", "RunSummary: the member title is gone"),
    (lambda d: rename(d.types["RunSummary"], "title", "name"), "breaks", "RunSummary: the member title is gone"),
    (lambda d: member(d.types["RunSummary"], "colour"), "adds", "RunSummary: the member colour"),
    (lambda d: d.types["RunSummary"]["required"].remove("title"), "breaks",
     "RunSummary: the member title is optional now"),
    (lambda d: d.types["Overview"]["properties"]["tasks"].update(type=["integer", "null"]), "breaks",
     "Overview: tasks: can be of type null"),
    (lambda d: d.types["Overview"]["properties"]["why"].update(type="string"), "adds",
     "Overview: why: cannot be of type null any more"),
    (lambda d: d.add("run.wait", "colour", True), "breaks", "run.wait: the new parameter colour is required"),
    (lambda d: d.add("run.wait", "colour", False), "adds", "run.wait: the parameter colour"),
    (lambda d: d.add("run.wait", "colour", False, at=0), "breaks",
     "run.wait: parameters have other positions; add new ones at the end"),
    (lambda d: d.method("run.wait")["params"].remove(d.param("run.wait", "timeout_ms")), "breaks",
     "run.wait: the parameter timeout_ms is gone"),
    (lambda d: d.param("run.wait", "timeout_ms").update(required=True), "breaks",
     "run.wait: the parameter timeout_ms is required now"),
    (lambda d: d.param("run.wait", "ids").update(required=False), "adds",
     "run.wait: the parameter ids is optional now"),
    (lambda d: d.param("run.list", "state")["schema"]["enum"].remove("held"), "breaks",
     "run.list, parameter state: the word 'held' is gone"),
    (lambda d: d.param("run.list", "state")["schema"]["enum"].append("new"), "adds",
     "run.list, parameter state: the word 'new'"),
    (lambda d: d.param("run.list", "owner")["schema"].update(maximum=9), "breaks",
     "run.list, parameter owner: maximum is 9, was 4294967295"),
    (lambda d: d.param("run.list", "limit")["schema"].update(minimum=0), "adds",
     "run.list, parameter limit: minimum is 0, was 1"),
    (lambda d: d.types["RunState"]["enum"].remove("held"), "breaks", "RunState: the word 'held' is gone"),
    (lambda d: d.types["RunState"]["enum"].append("lost"), "adds", "RunState: the word 'lost'"),
    (lambda d: d.types["Run"]["properties"]["slots"]["items"].update({"$ref": "#/components/schemas/Task"}), "breaks",
     "Run: slots[]: another type"),
    (lambda d: drop(d.event("run.state"), "state"), "breaks", "event run.state: the member state is gone"),
    (lambda d: member(d.event("run.state"), "colour"), "adds", "event run.state: the member colour"),
    (lambda d: d.event("finding")["properties"]["type"].update(const="findings"), "breaks",
     "event: cannot be finding any more"),
    (lambda d: d.method("run.wait")["errors"].pop(), "adds", "run.wait: no longer answers with error 5"),
    (lambda d: d.method("run.wait").update(summary="x"), "words", "run.wait: other words"),
])
def test_what_a_change_means(change, kind, text):
    new = Document()
    change(new)
    found = changes(OLD, new.all)
    assert (kind, text) in found
    assert kind == "breaks" or not [t for k, t in found if k == "breaks"]


def test_no_change():
    assert changes(OLD, Document().all) == []
    assert list(flaws(OLD)) == []


@pytest.mark.parametrize("change, text", [
    (lambda d: d.types.pop("Totals"), "there is no type Totals"),
    (lambda d: d.types.update(Colour={"type": "string"}), "nothing refers to the type Colour"),
    (lambda d: d.all["methods"].append(d.method("run.wait")), "the method run.wait is there twice"),
    (lambda d: d.method("run.wait")["result"].pop("name"), "run.wait: the result needs name and schema"),
    (lambda d: d.all.update(notes=[]), "notes is not a member of an OpenRPC document"),
])
def test_flaws(change, text):
    new = Document()
    change(new)
    assert text in list(flaws(new.all))


def test_a_stale_file_is_named():
    new = Document()
    new.without("run.wait")
    told = [text for _, text in openrpc_files.stale(new.all, lambda name: (ROOT / name).read_text())]
    assert "BREAKS clients: the method run.wait is gone" in told
    assert any(text.endswith(f"{openrpc_files.COMMAND} writes it") for text in told)
