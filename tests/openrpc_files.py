# SPDX-License-Identifier: MIT
"""The files that are made of the OpenRPC document of the daemon."""
import json

import openrpc_stubs
from openrpc_changes import changes, flaws

DOCUMENT = "docs/openrpc.json"
COMMAND = "make openrpc"


def made_of(document):
    """name: text"""
    return {DOCUMENT: json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n",
            "docs/clients/rld_client.py": openrpc_stubs.python(document),
            "docs/clients/rld_client.ts": openrpc_stubs.script(document),
            "docs/clients/Rld.pm": openrpc_stubs.perl(document)}


def stale(document, read):
    """(name, sentence) for each file that is not as it would be made; read(name) gives its text."""
    for text in flaws(document):
        yield DOCUMENT, text
    for name, text in made_of(document).items():
        try:
            old = read(name)
        except FileNotFoundError:
            yield name, f"is missing: {COMMAND} writes it"
            continue
        if old == text:
            continue
        told = []
        if name == DOCUMENT:
            try:
                told = sorted(changes(json.loads(old), document))
            except (ValueError, KeyError, TypeError):
                told = [("breaks", "it is not an OpenRPC document of this daemon")]
            for kind, what in told:
                yield name, f"{'BREAKS clients' if kind == 'breaks' else kind}: {what}"
        yield name, f"is out of date: {COMMAND} writes it"
