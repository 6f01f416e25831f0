# SPDX-License-Identifier: MIT
"""The typed clients of docs/clients, which are made of docs/openrpc.json."""
import importlib.util
import inspect
import json
import sys
import typing
from pathlib import Path

import pytest

from rld import RpcError

ROOT = Path(__file__).resolve().parents[2]
CLIENTS = ROOT / "docs/clients"
METHODS = json.loads((ROOT / "docs/openrpc.json").read_text())["methods"]


def loaded():
    spec = importlib.util.spec_from_file_location("rld_client", CLIENTS / "rld_client.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["rld_client"] = module      # names in types are looked up there
    spec.loader.exec_module(module)
    return module


client = loaded()


def test_a_run_by_the_typed_client(daemon, repo):
    rld = client.Rld(lambda method, params: daemon.call(method, **params))
    made = rld.run_submit(task="do it", workdir=str(repo.path), priority=3)
    waited = rld.run_wait(ids=[made["id"]])
    assert waited["timed_out"] is False and waited["runs"][0]["state"] == "succeeded"
    run = rld.run_get(id=made["id"])
    assert run["priority"] == 3 and rld.finding_list(run=run["id"])["open"] == []
    assert [e for e in rld.event_list(limit=200)["events"] if e["type"] == "run.state"]
    account = rld.cooldown_set(account="anthropic", for_="2h")
    assert account["in_force"] and rld.cooldown_list()["accounts"][0]["account"] == account["account"]
    with pytest.raises(RpcError):
        rld.run_get(id=99)


@pytest.mark.parametrize("method", METHODS, ids=[m["name"] for m in METHODS])
def test_each_method_has_its_types(method):
    function = getattr(client.Rld, method["name"].replace(".", "_"))
    hints = typing.get_type_hints(function)
    assert set(hints) - {"return"} == {p["name"] + "_" * (p["name"] == "for") for p in method["params"]}
    required = {n for n, p in inspect.signature(function).parameters.items() if p.default is p.empty} - {"self"}
    assert required == {p["name"] for p in method["params"] if p["required"]}
    assert typing.is_typeddict(hints["return"]) or len(typing.get_args(hints["return"])) == 2


def test_the_types_of_answers(daemon, repo):
    """The members of an answer are those of its type."""
    number = daemon.ended(daemon.submit(repo.path))["id"]
    run = daemon.call("run.get", id=number)
    assert set(run) <= set(typing.get_type_hints(client.Run)) and "slots" in run
    assert run["state"] in typing.get_args(client.RunState)
    event = daemon.call("event.list", limit=1)["events"][0]
    kinds = {typing.get_args(typing.get_type_hints(t)["type"])[0]: t for t in typing.get_args(client.Event)}
    assert set(event) <= set(typing.get_type_hints(kinds[event["type"]]))


def test_the_client_for_typescript():
    text = (CLIENTS / "rld_client.ts").read_text()
    for method in METHODS:
        assert f'this.call("{method["name"]}"' in text
