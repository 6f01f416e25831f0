# SPDX-License-Identifier: MIT
"""Completion of shells: words from the tables of rlctl, ids and names from the daemon."""
import shutil
import subprocess

import pytest

from rld import DRIFT_THEN_PASS, RLCTL, note_command

BASH = r"""
source <(rlctl completion bash)
words=($1)
[ "$2" = at-word ] || words+=("")
COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))
compopt() { :; }
_rlctl
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def complete(daemon):
    def run(line, cwd=None):
        """What bash offers at the end of the line. "=" is a word of its own, as there."""
        note_command(["completion", "bash"])
        note_command(["completion", "words"])
        done = subprocess.run(["bash", "-c", BASH, "bash", line.replace("=", " = ").strip(),
                               "" if line.endswith(" ") else "at-word"], capture_output=True, text=True,
                              cwd=cwd or daemon.path, stdin=subprocess.DEVNULL,
                              env={**daemon.environment, "RLD_SOCKET": str(daemon.socket),
                                   "PATH": f"{RLCTL.parent}:{daemon.environment['PATH']}"})
        assert done.returncode == 0 and done.stderr == "", done
        return done.stdout.split("\n")[:-1] if done.stdout != "\n" else []
    return run


@pytest.mark.parametrize("line, words", [
    ("rlctl co", ["config", "cooldown", "completion"]),
    ("rlctl --no-start can", ["cancel"]),
    ("rlctl hold ", ["list", "show", "approve", "reject", "rework", "answer"]),
    ("rlctl hold re", ["reject", "rework"]),
    ("rlctl review a", ["again"]),
    ("rlctl completion ", ["bash", "zsh", "fish", "words"]),
    ("rlctl list --st", ["--state", "--start"]),
    ("rlctl list --state re", []),
    ("rlctl list --state s", ["succeeded"]),
    ("rlctl list --state=f", ["failed"]),
    ("rlctl list --state=", ["queued", "running", "paused", "held", "succeeded", "failed", "cancelled"]),
    ("rlctl --color a", ["auto", "always"]),
    ("rlctl submit --isolation ", ["shared", "worktree"]),
    ("rlctl submit -", None),
    ("rlctl prompt show r", ["review"]),
    ("rlctl help lo", ["logs"]),
    ("rlctl submit the ", []),
    ("rlctl nonsense ", []),
    ("rlctl rpc run.c", ["run.cancel", "run.change"]),
    ("rlctl group set d", ["default"]),
    ("rlctl list --group d", ["default"]),
])
def test_words(complete, line, words):
    found = complete(line)
    assert sorted(found) == sorted(words) if words is not None else {"--workdir", "--agent", "--json"} <= set(found)


def test_numbers(make_daemon, repo, complete, daemon):
    first, second = daemon.submit(repo.path, "one"), daemon.submit(repo.path, "two")
    daemon.ended(first, second)
    assert complete("rlctl wait ") == ["2", "1"] == complete(f"rlctl wait --timeout 3 {first} ")
    assert complete("rlctl show 1/") == ["1/1"]
    assert complete("rlctl diff 1/") == ["1/t1"]
    assert complete("rlctl hold list --run ") == ["2", "1"]
    assert complete(f"rlctl --socket {daemon.socket} show 1") == ["1"]
    assert complete(f"rlctl --socket {daemon.path}/none show ") == []
    said = daemon.rlctl("completion", "words", "--", "show", "", check=0).out
    assert said == "2\tsucceeded: two\n1\tsucceeded: one\n"


def test_holds_that_can_be_decided(make_daemon, repo):
    daemon = make_daemon(scripts={**DRIFT_THEN_PASS, "review": "drift no\n", "review.1": "drift no\n"})
    for task in ("one", "two"):
        daemon.ended(daemon.review(repo.path, task, review={"max_fixes": 0, "on_exhausted": "hold"}))
        if task == "one":
            daemon.call("hold.approve", id=1)
            daemon.ended(1)
    said = daemon.rlctl("completion", "words", "--", "hold", "approve", "", check=0).out
    assert [line.split("\t")[0] for line in said.splitlines()] == ["2"]
    daemon.cancelled(2)


def test_files(complete, tmp_path):
    here = tmp_path / "here"
    (here / "sub").mkdir(parents=True)
    for name in ("some.txt", "with space"):
        (here / name).write_text("x")
    assert sorted(complete("rlctl submit -f s", here)) == ["some.txt", "sub"]
    assert complete("rlctl submit -f w", here) == ["with space"]
    assert complete("rlctl submit --workdir s", here) == ["sub"]
    assert sorted(complete("rlctl submit --reviewer-prompt=", here)) == ["none", "some.txt", "sub", "with space"]


def test_no_daemon_is_started(tmp_path, daemon):
    home = str(tmp_path / "home")
    done = subprocess.run([RLCTL, "completion", "words", "--", "show", ""], capture_output=True, text=True,
                          env={**daemon.environment, "HOME": home, "XDG_RUNTIME_DIR": home, "XDG_STATE_HOME": home},
                          stdin=subprocess.DEVNULL)
    assert done.stdout == "" and not (tmp_path / "home").exists()


@pytest.mark.each
@pytest.mark.parametrize("shell, program", [
    ("bash", ["bash", "-n"]),
    ("zsh", ["zsh", "-n"]),
    ("fish", ["fish", "--no-execute"]),
])
def test_the_scripts(daemon, shell, program):
    script = daemon.rlctl("completion", shell, check=0).out
    assert "completion words" in script
    if shutil.which(program[0]) is None:
        pytest.skip(f"{program[0]} is not installed")
    done = subprocess.run(program, input=script, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_fish(daemon, repo):
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    daemon.ended(daemon.submit(repo.path, "one"))
    done = subprocess.run(["fish", "-c", "rlctl completion fish | source; complete -C 'rlctl show '; "
                           "complete -C 'rlctl list --state=f'"], capture_output=True, text=True, cwd=daemon.path,
                          env={**daemon.environment, "RLD_SOCKET": str(daemon.socket), "HOME": str(daemon.path),
                               "PATH": f"{RLCTL.parent}:{daemon.environment['PATH']}"})
    assert done.stdout == "1\tsucceeded: one\n--state=failed\n", done


def test_all_commands_are_offered(daemon):
    said = daemon.rlctl("completion", "words", "--", "", check=0).out
    commands = {line.split("\t")[0] for line in said.splitlines()}
    for name in sorted(commands):
        assert f"  {name} " in daemon.rlctl("help", check=0).out
