# SPDX-License-Identifier: MIT
"""Packages of the npm registry for tests: installed once into $XDG_CACHE_HOME/rld-npm. A test that
needs one is skipped, with the reason, only where Node.js or the registry is absent."""
import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rld-npm"


def node():
    """The path of Node.js."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("Node.js is not installed")
    return found


def folder(*packages):
    """A directory whose node_modules has the packages, each as "NAME@VERSION"."""
    node()
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    place = CACHE / "+".join(p.strip("@").replace("/", "-") for p in packages)
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "complete").exists():
            (place / "package.json").write_text("{}\n")
            done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", *packages],
                                  cwd=place, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if done.returncode != 0 and subprocess.run(["npm", "ping"], cwd=place, capture_output=True,
                                                       stdin=subprocess.DEVNULL).returncode != 0:
                pytest.skip("the npm registry does not answer")
            assert done.returncode == 0, done.stderr
            (place / "complete").touch()
    return place
