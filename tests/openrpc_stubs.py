# SPDX-License-Identifier: MIT
"""Clients in Python and TypeScript, with types, and in Perl, made of the OpenRPC document of the
daemon. They know the methods and their types; how a call reaches the daemon is left to a
function."""
import json
import keyword
import re
import textwrap

PYTHON_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None",
                "object": "dict[str, Any]", "array": "list[Any]"}
SCRIPT_TYPES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null",
                "object": "{ [key: string]: unknown }", "array": "unknown[]"}


def words_of(name):
    return [word for word in re.split(r"[._\-$/]", name) if word]


def title(name):
    return "".join(word[0].upper() + word[1:] for word in words_of(name))


def snake(name):
    return "_".join(words_of(name))


def camel(name):
    first, *others = words_of(name)
    return first + "".join(word[0].upper() + word[1:] for word in others)


def argument(name):
    """A parameter as the name of an argument in Python."""
    return f"{name}_" if keyword.iskeyword(name) else name


class Stubs:
    """What both languages have: objects of a schema get a name, and are written once."""

    def __init__(self, document):
        self.document, self.out = document, []
        for name, schema in document["components"]["schemas"].items():
            self.named(name, schema)
        self.events(next(n for n in document["x-notifications"] if n["name"] == "event"))
        self.named("Gap", next(n for n in document["x-notifications"] if n["name"] == "gap")["params"])

    def events(self, notification):
        names = []
        for schema in notification["params"]["oneOf"]:
            names.append(f"{title(schema['properties']['type']['const'])}Event")
            self.named(names[-1], schema)
        self.alias("Event", names, notification["summary"])

    def named(self, name, schema):
        if "properties" in schema:
            self.record(name, schema)
        else:
            self.alias(name, [self.type(schema, name)], schema.get("description", ""))

    def result_type(self, method):
        schema = method["result"]["schema"]
        if "properties" in schema:
            name = f"{title(method['name'])}Result"
            self.record(name, schema)
            return name
        return self.type(schema, f"{title(method['name'])}Result")

    def param_type(self, method, param):
        return self.type(param["schema"], f"{title(method['name'])}{title(param['name'])}")

    def type(self, schema, name):
        """name: of an object that it has in it."""
        if "$ref" in schema:
            return schema["$ref"].rpartition("/")[2]
        for key in ("oneOf", "anyOf"):
            if key in schema:
                return self.union([self.type(one, name) for one in schema[key]])
        if "const" in schema:
            return self.literal([schema["const"]])
        if "enum" in schema:
            return self.literal(schema["enum"])
        if schema.get("properties"):
            self.record(name, schema)
            return name
        kinds = schema.get("type", [])
        return self.union([self.plain(kind, schema, name) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
                          or [self.ANY])

    def plain(self, kind, schema, name):
        if kind == "array" and "items" in schema:
            return self.array(self.type(schema["items"], f"{name}Item"))
        if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            return self.map(self.type(schema["additionalProperties"], f"{name}Value"))
        return self.TYPES[kind]

    def union(self, types):
        return " | ".join(dict.fromkeys(types))


class Python(Stubs):
    ANY, TYPES = "Any", PYTHON_TYPES

    def literal(self, values):
        return f"Literal[{', '.join(json.dumps(v) for v in values)}]"

    def array(self, item):
        return f"list[{item}]"

    def map(self, item):
        return f"dict[str, {item}]"

    def alias(self, name, types, help_):
        value = types[0] if len(types) == 1 else f"Union[\n    {', '.join(types)}]"
        self.out.append(f"# {help_}\n{name} = {value}\n")

    def record(self, name, schema):
        required = set(schema.get("required", ()))
        members = [(member, self.type(of, f"{name}{title(member)}"), of.get("description", ""))
                   for member, of in schema["properties"].items()]
        members = [(m, t if m in required else f"NotRequired[{t}]", h) for m, t, h in members]
        if any(not m.isidentifier() or keyword.iskeyword(m) for m, _, _ in members):
            rows = "".join(f"    {json.dumps(m)}: {json.dumps(t)},\n" for m, t, _ in members)
            self.out.append(f"{name} = TypedDict({json.dumps(name)}, {{\n{rows}}})\n")
            return
        rows = "".join(f"    {m}: {t}{'  # ' + h if h else ''}\n" for m, t, h in members)
        help_ = schema.get("description")
        self.out.append(f"class {name}(TypedDict):\n" + (f'    """{help_}"""\n' if help_ else "") + rows)

    def method(self, method):
        result = self.result_type(method)
        params = [(p["name"], self.param_type(method, p), p["required"]) for p in method["params"]]
        given = "".join(f", {argument(n)}: {t}" if required else f", {argument(n)}: {t} | None = None"
                        for n, t, required in sorted(params, key=lambda p: not p[2]))
        names = ", ".join(f'"{n}": {argument(n)}' for n, _, _ in params)
        text = (f"    def {snake(method['name'])}(self{', *' if params else ''}{given}) -> {result}:\n"
                f"        \"\"\"{method['summary']}\"\"\"\n")
        return text + f"        return self._call(\"{method['name']}\", {{{names}}})\n"

    def text(self):
        methods = "\n".join(self.method(m) for m in self.document["methods"])
        head = textwrap.dedent('''\
            # SPDX-License-Identifier: MIT
            # Made of docs/openrpc.json by `make openrpc`: do not edit.
            """Types and methods of the protocol of rld, for Python 3.11 or later.

            Rld takes a function that calls a method: call("run.get", {"id": 1}) returns the result, or
            raises. Parameters that are None are not sent; a parameter that is a word of Python has a "_" at
            its end. docs/protocol.md says how a call reaches the daemon.
            """
            from __future__ import annotations

            from typing import Any, Callable, Literal, NotRequired, TypedDict, Union

            ''')
        # an alias is evaluated when the module is read, so it follows what it names
        order = sorted(self.out, key=lambda text: "Union[" in text)
        return head + "\n\n".join(order) + textwrap.dedent('''

            class Rld:
                def __init__(self, call: Callable[[str, dict[str, Any]], Any]) -> None:
                    self._function = call

                def _call(self, method: str, params: dict[str, Any]) -> Any:
                    return self._function(method, {k: v for k, v in params.items() if v is not None})

            ''') + methods


class Script(Stubs):
    ANY, TYPES = "unknown", SCRIPT_TYPES

    @staticmethod
    def comment(text):
        """As tools for TypeScript read it."""
        return f"/** {re.sub('^deprecated: ', '@deprecated ', text)} */"

    def literal(self, values):
        return " | ".join(json.dumps(v) for v in values)

    def array(self, item):
        return f"Array<{item}>"

    def map(self, item):
        return f"{{ [key: string]: {item} }}"

    def alias(self, name, types, help_):
        self.out.append(f"/** {help_} */\nexport type {name} = {self.union(types)};\n")

    def record(self, name, schema):
        required = set(schema.get("required", ()))
        rows = "".join((f"\t{self.comment(of['description'])}\n" if of.get("description") else "") +
                       f"\t{json.dumps(m) if not m.isidentifier() else m}{'' if m in required else '?'}: "
                       f"{self.type(of, name + title(m))};\n" for m, of in schema["properties"].items())
        help_ = schema.get("description")
        self.out.append((f"/** {help_} */\n" if help_ else "") + f"export interface {name} {{\n{rows}}}\n")

    def method(self, method):
        result = self.result_type(method)
        rows = " ".join(f"{p['name']}{'' if p['required'] else '?'}: {self.param_type(method, p)};"
                        for p in method["params"])
        optional = not any(p["required"] for p in method["params"])
        given = f"params: {{ {rows} }}{' = {}' if optional else ''}" if rows else ""
        call = f"this.call(\"{method['name']}\", {'params' if rows else '{}'})"
        return (f"\t{self.comment(method['summary'])}\n\t{camel(method['name'])}({given}): Promise<{result}> {{\n"
                f"\t\treturn {call} as Promise<{result}>;\n\t}}\n")

    def text(self):
        methods = "\n".join(self.method(m) for m in self.document["methods"])
        return textwrap.dedent('''\
            // SPDX-License-Identifier: MIT
            // Made of docs/openrpc.json by `make openrpc`: do not edit.
            // Types and methods of the protocol of rld. Rld takes a function that calls a method:
            // call("run.get", { id: 1 }) promises the result. docs/protocol.md says how a call reaches
            // the daemon.

            ''') + "\n".join(self.out) + textwrap.dedent('''
            export class Rld {
            	constructor(private call: (method: string, params: object) => Promise<unknown>) {}

            ''') + methods + "}\n"


class Perl:
    """A function for each method, which knows the names of its parameters."""

    def __init__(self, document):
        self.document = document

    def method(self, method):
        rows = "".join(f"#   {p['name']}{' (required)' if p['required'] else ''}: {p['description']}\n"
                       for p in method["params"])
        known = " ".join(f"{p['name']}" for p in method["params"])
        required = " ".join(p["name"] for p in method["params"] if p["required"])
        return (f"# {method['summary']}\n{rows}sub {snake(method['name'])} {{\n"
                f"    my ($self, %params) = @_;\n"
                f"    return $self->_call('{method['name']}', [qw({known})], [qw({required})], \\%params);\n}}\n")

    def text(self):
        return textwrap.dedent('''\
            # SPDX-License-Identifier: MIT
            # Made of docs/openrpc.json by `make openrpc`: do not edit.
            # The methods of the protocol of rld. Rld->new takes a function that calls a method:
            # $function->("run.get", { id => 1 }) returns the result, or dies. docs/protocol.md says how a
            # call reaches the daemon.
            package Rld;
            use strict;
            use warnings;

            sub new {
                my ($class, $function) = @_;
                return bless { function => $function }, $class;
            }

            sub _call {
                my ($self, $method, $known, $required, $params) = @_;
                my %known = map { $_ => 1 } @$known;
                for (sort keys %$params) {
                    die "$method has no parameter $_\\n" unless $known{$_};
                }
                for (@$required) {
                    die "$method needs the parameter $_\\n" unless defined $params->{$_};
                }
                return $self->{function}->($method, $params);
            }

            ''') + "\n".join(self.method(m) for m in self.document["methods"]) + "\n1;\n"


def perl(document):
    return Perl(document).text()


def python(document):
    return Python(document).text()


def script(document):
    return Script(document).text()
