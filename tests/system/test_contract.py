# SPDX-License-Identifier: MIT
"""The OpenRPC document says enough to make a typed client of it. The daemon keeps to it: rld.py
compares each answer and each notification with it."""
import pytest
from contract import Contract
from rld import RLD


def parts(schema):
    """The schema and all that it contains."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from parts(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from parts(value)


def described():
    document = Contract.of(RLD).document
    yield from ((m["name"], m["result"]["schema"]) for m in document["methods"])
    yield from document["components"]["schemas"].items()
    yield from ((n["name"], n["params"]) for n in document["x-notifications"])


def test_each_object_and_each_array_says_what_is_in_it():
    loose = {("rpc.discover", "info"), ("rpc.discover", "components")}
    for name, schema in described():
        for part in parts(schema):
            if part.get("type") == "array":
                assert "items" in part, (name, part)
            for member, of in (part.get("properties") or {}).items():
                assert of.get("description"), (name, member)
                if of.get("type") == "object":
                    assert "additionalProperties" in of or (name, member) in loose, (name, member)


def test_objects_are_closed_and_say_which_members_are_always_there():
    components = Contract.of(RLD).document["components"]["schemas"]
    assert len(components) > 50
    for name, schema in components.items():
        if "enum" in schema:
            assert schema["enum"] and schema["type"] == "string" and schema["description"], name
        else:
            assert schema["additionalProperties"] is False and schema["required"], name


def test_each_reference_leads_somewhere_and_each_type_is_used():
    document = Contract.of(RLD).document
    used = {part["$ref"] for _, schema in described() for part in parts(schema) if "$ref" in part}
    assert used <= {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    # those that others contain as a whole are not named by them
    apart = {"RunSummary", "HoldSummary"}
    assert {name for name in document["components"]["schemas"]
            if f"#/components/schemas/{name}" not in used} <= apart


def test_events_are_told_apart_by_their_type():
    events, gap = Contract.of(RLD).document["x-notifications"]
    kinds = [one["properties"]["type"]["const"] for one in events["params"]["oneOf"]]
    assert events["name"] == "event" and len(set(kinds)) == len(kinds) > 20
    assert gap["name"] == "gap" and set(gap["params"]["required"]) == {"from", "to"}


@pytest.mark.parametrize("spoil", [lambda run: run.pop("slots"), lambda run: run.update(more=1),
                                   lambda run: run.update(state="new"), lambda run: run["tasks"][0].pop("id"),
                                   lambda run: run.update(created_at="today")])
def test_the_comparison_sees_what_is_missing_or_wrong(daemon, repo, spoil):
    run = daemon.submit(repo.path)
    row = daemon.ended(run)
    contract = Contract.of(RLD)
    contract.answer("run.get", row)
    spoil(row)
    with pytest.raises(AssertionError, match="not as in rpc.discover"):
        contract.answer("run.get", row)
