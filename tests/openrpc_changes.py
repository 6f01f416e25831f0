# SPDX-License-Identifier: MIT
"""What separates two OpenRPC documents of the daemon, and what of it breaks a client.

A client sends parameters and reads results. So a parameter that accepts less breaks it, and a
result that may be more than before."""

SCHEMA_WORDS = {"type", "enum", "const", "format", "properties", "required", "additionalProperties", "items", "oneOf",
                "anyOf", "$ref", "description", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}


def types_of(schema):
    types = schema.get("type", [])
    return {types} if isinstance(types, str) else set(types)


def variants_of(schema):
    return schema.get("oneOf") or schema.get("anyOf") or []


def variant_name(schema, index):
    kind = schema.get("properties", {}).get("type", {})
    return kind.get("const") or schema.get("$ref", "").rpartition("/")[2] or str(index)


class Changes:
    """Each change is (what it is, a sentence): "breaks", "adds" or "words"."""

    def __init__(self, old, new):
        self.found = []
        self.methods({m["name"]: m for m in old["methods"]}, {m["name"]: m for m in new["methods"]})
        self.named(old["components"]["schemas"], new["components"]["schemas"], "the type", True)
        self.named({n["name"]: n["params"] for n in old["x-notifications"]},
                   {n["name"]: n["params"] for n in new["x-notifications"]}, "the notification", True)
        if not self.found and old != new:
            self.words("texts, or members without a meaning for clients")

    def breaks(self, text):
        self.found.append(("breaks", text))

    def adds(self, text):
        self.found.append(("adds", text))

    def words(self, text):
        self.found.append(("words", text))

    def named(self, old, new, what, answer):
        for name in sorted(old.keys() - new.keys()):
            self.breaks(f"{what} {name} is gone")
        for name in sorted(new.keys() - old.keys()):
            self.adds(f"{what} {name}")
        for name in sorted(old.keys() & new.keys()):
            self.schema(old[name], new[name], name, answer)

    def methods(self, old, new):
        for name in sorted(old.keys() - new.keys()):
            self.breaks(f"the method {name} is gone")
        for name in sorted(new.keys() - old.keys()):
            self.adds(f"the method {name}")
        for name in sorted(old.keys() & new.keys()):
            self.params(old[name]["params"], new[name]["params"], name)
            self.schema(old[name]["result"]["schema"], new[name]["result"]["schema"], f"{name}, result", True)
            codes = [{e["code"] for e in m[name].get("errors", [])} for m in (old, new)]
            for code in sorted(codes[1] - codes[0]):
                self.adds(f"{name}: error {code}")
            for code in sorted(codes[0] - codes[1]):
                self.adds(f"{name}: no longer answers with error {code}")
            for key, text in (("summary", "other words"), ("x-role", "another role"), ("deprecated", "deprecated")):
                if old[name].get(key) != new[name].get(key):
                    self.words(f"{name}: {text}")

    def params(self, old, new, method):
        order = [[p["name"] for p in params] for params in (old, new)]
        before, after = ({p["name"]: p for p in params} for params in (old, new))
        for name in order[0]:
            if name not in after:
                self.breaks(f"{method}: the parameter {name} is gone")
        for name in order[1]:
            if name not in before and after[name]["required"]:
                self.breaks(f"{method}: the new parameter {name} is required")
            elif name not in before:
                self.adds(f"{method}: the parameter {name}")
        if order[0] != order[1][:len(order[0])] and set(order[0]) <= set(order[1]):
            self.breaks(f"{method}: parameters have other positions; add new ones at the end")
        for name in (n for n in order[0] if n in after):
            if after[name]["required"] and not before[name]["required"]:
                self.breaks(f"{method}: the parameter {name} is required now")
            elif before[name]["required"] and not after[name]["required"]:
                self.adds(f"{method}: the parameter {name} is optional now")
            if after[name].get("deprecated") and not before[name].get("deprecated"):
                self.words(f"{method}: {name} is deprecated")
            elif before[name].get("description") != after[name].get("description"):
                self.words(f"{method}: other words about {name}")
            self.schema(before[name]["schema"], after[name]["schema"], f"{method}, parameter {name}", False)

    def sets(self, old, new, where, what, answer):
        """More in a result breaks; less in a parameter does."""
        for name in sorted(new - old):
            (self.breaks if answer else self.adds)(f"{where}: can be {what} {name}")
        for name in sorted(old - new):
            (self.adds if answer else self.breaks)(f"{where}: cannot be {what} {name} any more")

    def choices(self, old, new, where):
        """A client has to take unknown words of a result for new ones, so only a word that is gone
        breaks it."""
        if new is not None and old is None:
            self.breaks(f"{where}: only certain words now")
        for word in sorted(set(old or ()) - set(new or ()), key=str) if new is not None else ():
            self.breaks(f"{where}: the word {word!r} is gone")
        for word in sorted(set(new or ()) - set(old or ()), key=str) if old is not None else ():
            self.adds(f"{where}: the word {word!r}")
        if old is not None and new is None:
            self.adds(f"{where}: any word now")

    def bounds(self, old, new, where):
        for key, narrower in (("minimum", 1), ("minLength", 1), ("minItems", 1), ("maximum", -1), ("maxLength", -1),
                              ("maxItems", -1)):
            a, b = old.get(key), new.get(key)
            if a == b:
                continue
            narrow = b is not None and (a is None or (b - a) * narrower > 0)
            (self.breaks if narrow else self.adds)(f"{where}: {key} is {b}, was {a}")

    def schema(self, old, new, where, answer):
        if old == new:
            return
        for key in (set(old) | set(new)) - SCHEMA_WORDS:
            self.breaks(f"{where}: {key} is not a word that tests/openrpc_changes.py can compare")
        if old.get("description") != new.get("description"):
            self.words(f"{where}: other words")
        if variants_of(old) or variants_of(new):
            pair = [{variant_name(s, i): s for i, s in enumerate(variants_of(x))} or {variant_name(x, 0): x}
                    for x in (old, new)]
            for name in sorted(pair[1].keys() - pair[0].keys()):
                self.adds(f"{where}: can be {name}")
            for name in sorted(pair[0].keys() - pair[1].keys()):
                self.breaks(f"{where}: cannot be {name} any more")
            for name in sorted(pair[0].keys() & pair[1].keys()):
                self.schema(pair[0][name], pair[1][name], f"{where} {name}", answer)
            return
        if old.get("$ref") != new.get("$ref"):
            self.breaks(f"{where}: another type")
            return
        self.sets(types_of(old), types_of(new), where, "of type", answer)
        self.choices(old.get("enum"), new.get("enum"), where)
        for key in ("const", "format"):
            if old.get(key) != new.get(key):
                self.breaks(f"{where}: {key} is {new.get(key)}, was {old.get(key)}")
        if not answer:
            self.bounds(old, new, where)
        self.members(old, new, where, answer)
        for key in ("items", "additionalProperties"):
            a, b = old.get(key), new.get(key)
            if isinstance(a, dict) and isinstance(b, dict):
                self.schema(a, b, f"{where}[]", answer)
            elif a != b:
                self.breaks(f"{where}: {key} is {'a schema' if isinstance(b, dict) else b}")

    def members(self, old, new, where, answer):
        before, after = old.get("properties", {}), new.get("properties", {})
        required = [set(s.get("required", ())) for s in (old, new)]
        for name in sorted(before.keys() - after.keys()):
            self.breaks(f"{where}: the member {name} is gone")
        for name in sorted(after.keys() - before.keys()):
            if not answer and name in required[1]:
                self.breaks(f"{where}: the new member {name} is required")
            else:
                self.adds(f"{where}: the member {name}")
        for name in sorted(before.keys() & after.keys()):
            was, now = (name in r for r in required)
            if was != now:
                (self.breaks if now != answer else self.adds)(
                    f"{where}: the member {name} is {'always there' if now else 'optional'} now")
            self.schema(before[name], after[name], f"{where}: {name}", answer)


def changes(old, new):
    return Changes(old, new).found


def flaws(document):
    """What the OpenRPC meta-schema demands, as far as this daemon uses it, and references."""
    for key, kind in (("openrpc", str), ("info", dict), ("methods", list), ("components", dict)):
        if not isinstance(document.get(key), kind):
            yield f"{key} is missing, or has another type"
            return
    if not document["openrpc"].startswith("1.3.") or not {"title", "version"} <= document["info"].keys():
        yield "openrpc must be 1.3, and info must have title and version"
    for key in document.keys() - {"openrpc", "info", "methods", "components"}:
        if not key.startswith("x-"):
            yield f"{key} is not a member of an OpenRPC document"
    names = [m["name"] for m in document["methods"]]
    for name in sorted({n for n in names if names.count(n) > 1}):
        yield f"the method {name} is there twice"
    for method in document["methods"]:
        optional = False
        for key in method.keys() - {"name", "summary", "paramStructure", "params", "result", "errors", "deprecated"}:
            if not key.startswith("x-"):
                yield f"{method['name']}: {key} is not a member of a method"
        if not {"name", "schema"} <= method["result"].keys():
            yield f"{method['name']}: the result needs name and schema"
        for param in method["params"]:
            if not {"name", "schema"} <= param.keys():
                yield f"{method['name']}: a parameter needs name and schema"
            if param["required"] and optional and method["paramStructure"] == "by-position":
                yield f"{method['name']}: {param['name']} is required and follows an optional parameter"
            optional |= not param["required"]
        for error in method["errors"]:
            if not isinstance(error["code"], int) or not isinstance(error["message"], str):
                yield f"{method['name']}: an error needs code and message"
    used = set(references(document))
    for name in sorted(used - document["components"]["schemas"].keys()):
        yield f"there is no type {name}"
    for name in sorted(document["components"]["schemas"].keys() - used):
        yield f"nothing refers to the type {name}"


def references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].removeprefix("#/components/schemas/")
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        yield from references(each)
