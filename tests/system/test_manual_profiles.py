# SPDX-License-Identifier: MIT
"""rl-profiles(7): each of its examples is pasted into a shell as it stands, with a fake claude on
the PATH; its tables are those of the program."""
import json
import re
import subprocess

import pytest
from rld import RLCTL, SOURCE

PAGE = (SOURCE / "docs" / "rl-profiles.7").read_text()
EXAMPLES = {name: re.sub(r"\\\((aq|dq)|\\e", lambda m: {"aq": "'", "dq": '"', None: "\\"}[m.group(1)], text)
            for name, text in re.findall(r'^\.\\" example: (\w+)\n\.Bd -literal -offset indent\n(.*?)^\.Ed$',
                                         PAGE, re.S | re.M)}

# A claude that plays $PLAYED/ROLE.ROUND or $PLAYED/ROLE; what that prints is its answer. It
# keeps its prompts.
CLAUDE = """#!/bin/sh
cat > {at}/prompt.$RL_ROLE.$RL_REVIEW_ROUND 2> /dev/null || cat > /dev/null
script={at}/$RL_ROLE.$RL_REVIEW_ROUND
[ -e "$script" ] || script={at}/$RL_ROLE
sh "$script" | jq -Rsc '{{type: "result", subtype: "success", is_error: false, result: ., session_id: "s1"}}'
"""
# the line that ends a review, with the nonce that the prompt gives in two halves
FINISHED = r'''sed -n 's/.*`\([0-9a-f]\{4\}\)` and `\([0-9a-f]\{4\}\)`.*/Review finished: \1\2/p' \
    "${0%/*}/prompt.$RL_ROLE.$RL_REVIEW_ROUND"'''
MAKEFILE = "test:\n\t@grep -q good work.txt || { echo 'work.txt is not good'; exit 1; }\n"


@pytest.fixture
def paste(make_daemon, repo, tmp_path):
    """paste(NAME, ROLE="script", …) → the daemon, and what the shell printed."""
    def run(name, **scripts):
        tools, played = tmp_path / "bin", tmp_path / "played"
        tools.mkdir()
        played.mkdir()
        (tools / "claude").write_text(CLAUDE.format(at=played))
        (tools / "claude").chmod(0o755)
        (tools / "rlctl").symlink_to(RLCTL)
        for role, text in {"implement": "echo bad > work.txt; echo first",
                           "fix": "echo good >> work.txt; echo second", **scripts}.items():
            (played / role.replace("_", ".")).write_text(text)
        repo.write("Makefile", MAKEFILE)
        daemon = make_daemon(config={"default_agent": "claude", "agent.claude": {"writable": [str(played)]}})
        environment = {**daemon.environment, "PATH": f"{tools}:{daemon.environment['PATH']}",
                       "RLD_SOCKET": str(daemon.socket), "GIT_CONFIG_COUNT": "1",
                       "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        done = subprocess.run(["sh"], input=EXAMPLES[name].encode(), cwd=repo.path, env=environment,
                              capture_output=True)
        done.out, done.err = done.stdout.decode(), done.stderr.decode()
        print(done.out, done.err)
        return daemon, done
    return run


def decisions(daemon, number=1):
    return [r["decision"] for r in daemon.reviews(number)]


def test_verdict(paste):
    daemon, done = paste("verdict", review="echo 'Yes. {no}'; echo '{\"verdict\": \"pass\", "
                         "\"followUpPrompt\": \"ran it\"}'")
    assert done.returncode == 0 and "second\n" in done.out and "succeeded" in done.out
    assert [a["role"] for a in daemon.attempts(1)] == ["implement"] + ["check"] * 4 + ["fix", "check", "review"]
    assert decisions(daemon) == ["pass"]


def test_decision(paste, repo):
    daemon, done = paste("decision", review="echo \"{\\\"decision\\\": \\\"NO_GO\\\", "
                         "\\\"feedback\\\": \\\"point $RL_REVIEW_ROUND\\\"}\"",
                         review_4="echo '{\"decision\": \"GO\", \"feedback\": \"All criteria met.\"}'",
                         fix="echo $RL_REVIEW_ROUND >> work.txt; echo done")
    assert done.returncode == 0, done.err
    assert decisions(daemon) == ["NO_GO", "NO_GO", "NO_GO", "GO"] and daemon.run(1)["state"] == "succeeded"
    log = json.loads(repo.read(".ai-sdd/state/review-logs/t1.json"))
    assert log["final_decision"] == "GO" and len(log["iterations"]) == 4 and json.dumps(log["task_id"]) in done.out
    assert "all hashes match" in done.out and "point 3" in done.out


def test_file(paste, repo):
    daemon, done = paste("file",
                         review_1="echo '- [ ] work.txt:1: it is bad' > autom8_review.md; echo one issue",
                         review="echo all is well\n" + FINISHED)
    assert done.returncode == 0, done.err
    assert decisions(daemon, 1) == ["issues", "pass"] and decisions(daemon, 2) == []
    assert "Add an option --version" in done.out and "work.txt" in done.out
    assert "Review passed! Proceeding to commit." in done.err and "Skipping review (--skip-review flag set)" in done.err
    assert "autom8_review.md" not in repo.git("log", "--all", "--name-only")


def test_exit(paste, repo):
    daemon, done = paste("exit")
    assert done.returncode == 0 and done.err == "" and repo.read("answer.txt") == "second\n"
    assert decisions(daemon) == ["retry", "accept"]
    assert [r["feedback"] for r in daemon.reviews(1)][0].strip().endswith("The tests fail. Make them pass.")
    assert done.out.split("\n")[0] == "2" and re.findall(r'"turn": (\d)', done.out) == ["1", "2", "3", "4"]


def test_comments(paste):
    comments = ('{"comments": [{"file": "a.py", "line": 1, "severity": "must-fix", '
                '"comment": "yaml is not declared"}, '
                '{"severity": "suggestion", "comment": "a shorter name"}], '
                '"summary": "1 must-fix, 1 suggestion"}')
    daemon, done = paste("comments", review=f"echo '{comments}' > review-comments.json; echo read it",
                         fix="echo $RL_REVIEW_ROUND >> work.txt; echo tried")
    assert done.returncode == 0, done.err
    assert decisions(daemon) == ["must-fix"] * 2 or decisions(daemon) == ["must-fix"] * 3, "until it stalls"
    assert (daemon.run(1)["cause"].startswith("known issues: 1")
            and "yaml is not declared" in done.out and "a shorter name" in done.out)
    assert json.loads(done.out[done.out.rindex("[\n"):]) == ["a.py:1: yaml is not declared"]


def test_own(paste):
    _, done = paste("own")
    assert done.returncode == 0, done.err


def test_every_profile_has_an_example():
    names = re.findall(r'\.name = "(\w+)"', (SOURCE / "daemon" / "core" / "profile.c").read_text())
    assert [n for n in names if f".Ss The profile {n}\n" not in PAGE or n not in EXAMPLES] == [] and len(names) == 5


def test_the_defaults_are_those_of_the_program(daemon):
    """The table of defaults is what the daemon says."""
    rows = [re.split(r" Ta (?:Sy )?", row) for row in re.findall(r"^\.It (?:Sy key|Ic \S+)( Ta .*)$", PAGE, re.M)]
    keys = re.findall(r"^\.It Ic (\S+) Ta ", PAGE, re.M)
    profiles = rows[0][1:]
    for column, profile in enumerate(profiles, 1):
        shown = json.loads(daemon.rlctl("config", "show", f"--review={profile}", "--json", check=0).out)["settings"]
        values = {s["path"]: s["value"] for s in shown}
        said = {key: row[column] for key, row in zip(keys, rows[1:])}
        there = {key: values[f"run.{key}" if key == "commit" else f"review.{key}"] for key in keys}
        assert said == {k: v if isinstance(v, str) else json.dumps(v) for k, v in there.items()}, profile


def test_the_defaults_are_the_same_in_both_pages():
    settings = (SOURCE / "docs" / "rld.toml.5").read_text()
    rows = re.findall(r"^\.It (?:Ic )?(\w+)( Ta \w.*)$", PAGE, re.M)
    assert len(rows) > 10 and re.findall(r"^\.It (\w+)( Ta \w.*)$", settings, re.M) == rows


def test_the_placeholders_are_those_of_the_program():
    """Every placeholder of the templates is on the page, and no other."""
    source = "".join((SOURCE / "daemon" / "prompt" / name).read_text() for name in ("placeholder.c", "prompt.c"))
    known = set(re.findall(r'^\t\{ "(\w+)", (?:PART_\w+|0), (?:write_|\w+_write)', source, re.M))
    assert len(known) > 15 and set(re.findall(r"\{\{(\w+)\}\}", PAGE)) == known
