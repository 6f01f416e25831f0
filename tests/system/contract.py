# SPDX-License-Identifier: MIT
"""The OpenRPC document of the daemon, as tests hold its answers and notifications against it."""
import functools
import json
import subprocess

import fastjsonschema


class Contract:
    def __init__(self, document):
        self.document = document
        self.methods = {method["name"]: method for method in document["methods"]}
        self.notifications = {each["name"]: each for each in document["x-notifications"]}

    @classmethod
    @functools.cache
    def of(cls, rld):
        return cls(json.loads(subprocess.run([rld, "--print-openrpc"], check=True, capture_output=True).stdout))

    def compiled(self, schema):
        return fastjsonschema.compile({**schema, "components": self.document["components"]})

    @functools.cache
    def result(self, method):
        return self.compiled(self.methods[method]["result"]["schema"])

    @functools.cache
    def event(self, kind):
        """Of one type: the error then names the member, not only that no type fits."""
        return self.compiled(next(one for one in self.notifications["event"]["params"]["oneOf"]
                                  if one["properties"]["type"]["const"] == kind))

    def holds(self, check, value, what):
        try:
            check(value)
        except fastjsonschema.JsonSchemaException as error:
            raise AssertionError(f"{what} is not as in rpc.discover: {error.message}: {error.value!r:.500}") from error

    def answer(self, method, result):
        self.holds(self.result(method), result, f"the answer of {method}")

    def notified(self, message):
        if message["method"] == "event":
            self.holds(self.event(message["params"]["type"]), message["params"],
                       f"an event {message['params']['type']}")
        else:
            self.holds(self.compiled(self.notifications[message["method"]]["params"]), message["params"],
                       f"a notification {message['method']}")
