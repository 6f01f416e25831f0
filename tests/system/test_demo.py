# SPDX-License-Identifier: MIT
"""make demo's script: the main job on a scratch repository, as a newcomer sees it."""
import os
import subprocess

import pytest
from rld import BUILD, SANITIZED, SOURCE


@pytest.mark.skipif(SANITIZED, reason="the script shows the product, not the sanitizers")
def test_it_runs_and_shows_the_main_job(tmp_path):
    before = set(os.listdir("/tmp"))
    done = subprocess.run([str(SOURCE / "tests" / "demo"), str(BUILD)], capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, cwd=tmp_path,
                          env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"})
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    for words in ("Reviewing changes (iteration 1/", "Issues found. Running corrector (iteration 1/",
                  "Review passed!", "drift", "pass", "+++ b/"):
        assert words in said, (words, said)
    assert list(tmp_path.iterdir()) == [], "nothing is left in the caller's home"
    assert not [n for n in set(os.listdir("/tmp")) - before if n.startswith("rl-demo.")], "nor anywhere else"


@pytest.mark.skipif(SANITIZED, reason="the script shows the product, not the sanitizers")
def test_it_works_with_a_hostile_environment(tmp_path):
    """Settings of the caller that could get in its way."""
    done = subprocess.run([str(SOURCE / "tests" / "demo"), str(BUILD)], capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, cwd=tmp_path,
                          env={"PATH": os.environ["PATH"], "HOME": "/nonexistent",
                               "RLD_SOCKET": "/no/such", "GIT_DIR": "/no/such", "GIT_AUTHOR_NAME": "",
                               "XDG_RUNTIME_DIR": "/no/such", "XDG_STATE_HOME": "/no/such",
                               "LC_ALL": "C", "CC": "false", "MAKEFLAGS": "-n"})
    assert done.returncode == 0, done.stdout + done.stderr
