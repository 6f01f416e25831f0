# SPDX-License-Identifier: MIT
"""JSON-RPC libraries that others wrote, as they are: four languages, both framings, from the npm
registry and from Debian. Each asks for the daemon without parameters, for a run by name, waits for
it by position, and asks for one that does not exist; it prints what it was told."""
import subprocess

import pytest

import npm
from rld import FAKES

PEERS = FAKES / "peers"
VSCODE, JSON_RPC, JAYSON = "vscode-jsonrpc@8.2.1", "json-rpc-2.0@1.7.1", "jayson@4.1.3"


def script(name, package):
    def command(tmp_path):
        return [npm.node(), str(PEERS / f"{name}.mjs"), str(npm.folder(package) / "node_modules")]
    return command


def python(name, module):
    def command(tmp_path):
        if subprocess.run(["/usr/bin/python3", "-I", "-c", f"import {module}"], capture_output=True).returncode != 0:
            pytest.skip(f"the Debian package of {module} is not installed")
        return ["/usr/bin/python3", str(PEERS / f"{name}.py")]
    return command


def compiled(source, compiler, flags, package):
    def command(tmp_path):
        found = subprocess.run(["pkg-config", "--cflags", "--libs", *package], capture_output=True, text=True)
        if found.returncode != 0:
            pytest.skip(f"the Debian package of {package[0]} is not installed")
        subprocess.run([compiler, *flags, "-o", str(tmp_path / "peer"), str(PEERS / source), *found.stdout.split()],
                       check=True)
        return [str(tmp_path / "peer")]
    return command


COMMANDS = {
    "vscode-jsonrpc (JavaScript, Content-Length)": script("vscode-jsonrpc", VSCODE),
    "json-rpc-2.0 (JavaScript, lines)": script("json-rpc-2.0", JSON_RPC),
    "jayson (JavaScript, lines)": script("jayson", JAYSON),
    "pylsp-jsonrpc (Python, Content-Length)": python("pylsp", "pylsp_jsonrpc"),
    "jsonrpc-glib (C, Content-Length)": compiled("jsonrpc-glib.c", "gcc", [], ["jsonrpc-glib-1.0", "gio-unix-2.0"]),
    "libjson-rpc-cpp (C++, lines)": compiled("jsonrpccpp.cc", "g++", ["-std=c++14"], ["libjsonrpccpp-client"]),
}


@pytest.mark.broad
@pytest.mark.parametrize("peer", COMMANDS)
def test_a_library_that_others_wrote(daemon, repo, tmp_path, peer):
    daemon.ended(daemon.submit(repo.path))
    done = subprocess.run([*COMMANDS[peer](tmp_path), str(daemon.socket)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    assert done.stdout == "running\n1\nfalse\n1\n", (done.stdout, done.stderr)
