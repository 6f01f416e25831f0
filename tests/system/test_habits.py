# SPDX-License-Identifier: MIT
"""What users of other programs type, and what scripts may expect of every command."""
import json

import pytest


@pytest.mark.parametrize("word, command", [("ps", "list"), ("ls", "list")])
def test_short_names(daemon, repo, word, command):
    daemon.ended(daemon.submit(repo.path))
    assert daemon.rlctl("--json", word, check=0).out == daemon.rlctl("--json", command, check=0).out
    assert daemon.rlctl("help", word, check=0).out == daemon.rlctl("help", command, check=0).out


def test_the_log_of_a_run(daemon, repo):
    daemon.ended(daemon.submit(repo.path))
    assert daemon.rlctl("log", "1", check=0).out == daemon.rlctl("logs", "1", check=0).out != ""
    assert 'did you mean "rlctl logs -f"?' in daemon.rlctl("tail", "1", check=2).err


@pytest.mark.parametrize("action", ["pause", "resume"])
def test_a_group_that_is_not_there(make_daemon, repo, action):
    """It would be made, and the one that was meant would continue."""
    daemon = make_daemon(config={"group.night": {"slots": 1}})
    said = daemon.rlctl("group", action, "nigth", check=1).err
    assert "there is no group nigth" in said and "did you mean night?" in said
    assert [group["name"] for group in daemon.call("group.list")["groups"]] == ["default", "night"]
    daemon.rlctl("group", action, "night", check=0)
    done = daemon.rlctl("submit", "--group", "nigth", "-C", repo.path, "x", check=0)
    assert (done.out, done.err) == ("1\n", "rlctl: warning: group nigth is new, and has no limit of its own; "
                                    "did you mean night?\n")
    assert "group" not in daemon.rlctl("submit", "--group", "night", "-C", repo.path, "x", check=0).err
    daemon.ended(1)
    daemon.cancelled(2) if action == "pause" else daemon.ended(2)


@pytest.mark.parametrize("args, status", [
    (["submit", "-P", "1000", "x"], 2), (["submit", "-P", "0", "x"], 2), (["submit", "--priority", "1000", "x"], 2),
    (["list", "-n", "0"], 2), (["list", "-n", "x"], 2), (["submit", "--after", "99", "x"], 1),
    (["submit", "--agent", "nobody", "x"], 1),
])
def test_a_wrong_number_is_a_wrong_option(daemon, args, status):
    daemon.rlctl(*args, check=status)


def test_an_attempt_is_named_with_its_run(daemon, repo):
    daemon.ended(daemon.submit(repo.path))
    assert daemon.rlctl("show", "1/1", check=0).out.startswith("Attempt 1/1  exited\n")


def test_json_of_what_needs_no_daemon(daemon, tmp_path):
    def out(*args):
        return json.loads(daemon.rlctl("--json", *args, check=0, environment={"RLD_SOCKET": "/none"}).out)

    assert list(out("--version")) == ["version"]
    commands = out("help")["commands"]
    assert {"name": "list", "usage": "[options]", "help": "list runs, newest first"} in commands
    assert {"name": "deep", "argument": None} == {k: v for k, v in out("help", "doctor")["options"][0].items()
                                                  if k != "help"}
    assert out("config", "check", daemon.config) == {"ok": True}
    (tmp_path / "bad.toml").write_text("x = 1\n")
    done = daemon.rlctl("--json", "config", "check", tmp_path / "bad.toml", check=1)
    assert done.out == "" and json.loads(done.err)["message"].startswith(f"{tmp_path}/bad.toml:1:1: unknown key 'x'")


def test_config_show_of_what_is_asked_for(make_daemon):
    daemon = make_daemon(config={"review": {"max_fixes": 3}, "group.night": {"slots": 2}})

    def keys(*args):
        return [row["path"] for row in json.loads(daemon.rlctl("--json", "config", "show", *args, check=0).out)
                ["settings"]]

    assert keys("review.max_fixes") == keys("max_fixes") == ["review.max_fixes"]
    assert keys("group") == ["group.default.slots", "group.night.slots"]
    assert keys("group.ni" + "ght") == ["group.night.slots"]
    assert {"default_agent", "review.max_fixes", "group.night.slots"} <= set(keys("--changed"))
    assert keys("review", "--changed") == ["review.max_fixes"] and len(keys()) > 60
    for key, says in (("nix", '"rlctl config show" lists them'), ("review.chekcs", "did you mean review.checks?"),
                      ("max_fixe", "did you mean max_fixes?")):
        assert f"there is no setting {key}; {says}\n" in daemon.rlctl("config", "show", key, check=1).err
    daemon.rlctl("config", "check", "--changed", check=2)


def test_agents_that_have_nothing_to_do_are_not_shown(daemon, repo):
    daemon.ended(daemon.submit(repo.path), daemon.review(repo.path))
    assert "\nagents   implement play\n" in daemon.rlctl("show", 1, check=0).out
    assert "\nagents   implement play, review play, fix play\n" in daemon.rlctl("show", 2, check=0).out


def test_an_empty_socket_is_not_the_default_one(daemon):
    assert "--socket must not be empty" in daemon.rlctl("--socket", "", "list", check=2).err


def test_a_dash_is_the_text_on_standard_input(daemon, repo):
    """An agent was paid for the task "-"."""
    daemon.rlctl("submit", "-C", repo.path, "-", input=b"the text\n", check=0)
    assert daemon.run(1)["title"] == "the text"
    assert "it is empty" in daemon.rlctl("submit", "-C", repo.path, "-", input=b"", check=1).err
    daemon.ended(1)
