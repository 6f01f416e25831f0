# SPDX-License-Identifier: MIT
"""prompt.show: the prompt that a role would get, before anything is paid."""
import re

import pytest

from rld import RpcError

PROFILES = ("verdict", "decision", "file", "comments")
HALVES = re.compile("`([0-9a-f]{4})` and `([0-9a-f]{4})`")


def show(daemon, repo, role, **more):
    return daemon.call("prompt.show", workdir=str(repo.path), role=role, **more)


def flat(text):
    return " ".join(text.split())


@pytest.mark.each
@pytest.mark.parametrize("profile", PROFILES)
def test_the_reviewer_is_given_that(make_daemon, repo, profile):
    """It is the prompt of a run but for what only a run has."""
    repo.write("constitution.md", "# Constitution\n\n## Standards\n\n- no tabs\n")
    repo.write("CLAUDE.md", "- short names\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "criteria")
    daemon = make_daemon(scripts={"implement": "echo one > work.txt\necho done it\n", "review": "pass\n"})
    shown = show(daemon, repo, "review", task="do it", review=profile)["prompt"]
    run = daemon.review(repo.path, "do it", review={"profile": profile})
    daemon.ended(run)
    review = next(a for a in daemon.attempts(run) if a["role"] == "review")
    real = (daemon.state / "attempts" / str(review["id"]) / "prompt").read_text()
    heads = [re.findall("^## .*$", text, re.M) for text in (shown, real)]
    assert heads[0] == heads[1]
    own = shown.split("\n## ")[0]
    assert flat(own)[:400] == flat(real)[:400]
    if profile in ("verdict", "decision", "file"):
        assert "`XXXX` and `XXXX`" in shown and HALVES.search(real) and not HALVES.search(shown)
    assert daemon.attempts(run)[0]["role"] == "implement", "nothing was started before"


def test_each_role(daemon, repo):
    repo.write(".ai_agents/prompts/developer.md", "Mine: {{task_title}}.\n")
    texts = {role: show(daemon, repo, role, task="mend it")["prompt"] for role in
             ("implement", "review", "fix", "commit")}
    assert texts["implement"] == "Mine: mend it.\n" and "(the developer's answer)" in texts["review"]
    assert "(what the review asks for)" in texts["fix"] and "mend it" in texts["commit"]
    assert daemon.call("run.list")["runs"] == []


def test_of_the_project(make_daemon, repo):
    daemon = make_daemon()
    repo.write(".rld.toml", "[review]\nprofile = 'decision'\n")
    assert "NO_GO" in daemon.rlctl("prompt", "show", "review", "do it", cwd=repo.path, check=0).out
    out = daemon.rlctl("prompt", "show", "--review=verdict", "-C", str(repo.path), "review", check=0).out
    assert "NO_GO" not in out and "(the task)" in out


@pytest.mark.parametrize("params, field", [
    ({"role": "check"}, "role"), ({"role": "judge"}, "role"),
    ({"role": "review", "review": "none"}, "review"), ({"role": "review", "workdir": "here"}, "workdir"),
])
def test_refusals(daemon, repo, params, field):
    with pytest.raises(RpcError) as error:
        daemon.call("prompt.show", **{"workdir": str(repo.path), **params})
    assert error.value.data["field"] == field, error.value


def test_a_prompt_file_that_cannot_be_read(daemon, repo):
    repo.write(".rld.toml", "[review]\nreviewer_prompt = 'missing.md'\n")
    with pytest.raises(RpcError) as error:
        show(daemon, repo, "review")
    assert "missing.md" in str(error.value)


def test_a_program_is_given_no_prompt(daemon, repo):
    repo.write(".rld.toml", "[review]\nprofile = 'exit'\nreviewer = '/bin/true'\n")
    with pytest.raises(RpcError) as error:
        show(daemon, repo, "review")
    assert "is a program" in str(error.value) and error.value.data["field"] == "role"
    assert "(what the review asks for)" in show(daemon, repo, "fix")["prompt"]


def test_the_document_has_the_roles(daemon):
    method, = [m for m in daemon.call("rpc.discover")["methods"] if m["name"] == "prompt.show"]
    role, = [p["schema"] for p in method["params"] if p["name"] == "role"]
    assert role["enum"] == ["implement", "review", "fix", "commit"]
