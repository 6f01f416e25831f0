# SPDX-License-Identifier: MIT
"""After the machine was started anew the results of the last runs are looked at: a ref that a power
cut has taken is made again where what it kept is there, and the rest is told."""
import shutil

import pytest

OTHER_BOOT = "00000000-0000-4000-8000-000000000000"
LOOKED = "checked after the restart of the machine"


def boots(daemon):
    return [row["value"] for row in daemon.query("SELECT value FROM setting WHERE name = 'boot_id'")]


def until_looked(daemon, times):
    while daemon.log().count(LOOKED) < times:
        daemon.call("daemon.status")


def checks(daemon):
    return {check["name"]: check for check in daemon.call("daemon.doctor")["checks"]}


def reboot(daemon):
    """The machine goes down, and comes up with another boot id."""
    database = daemon.database()
    assert database.execute("UPDATE setting SET value = ? WHERE name = 'boot_id'", (OTHER_BOOT,)).rowcount == 1
    database.close()
    daemon.start()
    until_looked(daemon, 2)


@pytest.fixture
def passed(make_daemon, repo):
    """The daemon, stopped, and the row of a run that has passed."""
    def make(**params):
        daemon = make_daemon()
        until_looked(daemon, 1)
        row = daemon.ended(daemon.review(repo.path, **params))
        assert row["state"] == "succeeded", row
        row["result_tree"] = repo.git("rev-parse", row["result_ref"])
        daemon.stop()
        return daemon, row
    return make


def gone(path):
    path.unlink()


def empty(path):
    path.write_bytes(b"")


def zeros(path):
    path.write_bytes(bytes(41))


@pytest.mark.parametrize("damage", [gone, empty, zeros])
def test_a_ref_is_pinned_again(passed, repo, damage):
    daemon, row = passed()
    damage(repo.path / ".git" / row["result_ref"])
    reboot(daemon)
    assert repo.git("rev-parse", row["result_ref"]) == row["result_tree"]
    said = (f"run {row['id']}, task t1: {row['result_ref']} in {repo.path} was missing or damaged "
            "after the machine restarted, and has been restored to")
    assert said in daemon.log() and "results" not in checks(daemon)
    daemon.stop()
    assert boots(daemon) not in ([], [OTHER_BOOT]), "it has been looked at"


def test_a_branch_is_made_again(passed, repo):
    daemon, row = passed(isolation="worktree", commit="auto", integrate="merge")
    empty(repo.path / ".git/refs/heads" / row["result_branch"])
    reboot(daemon)
    assert repo.git("rev-parse", row["result_branch"]) == row["result_commit"]


def test_what_cannot_be_made_again_is_told(passed, repo):
    daemon, row = passed()
    daemon.refs_removed = True
    empty(repo.path / ".git" / row["result_ref"])
    tree = repo.path / ".git/objects" / row["result_tree"][:2] / row["result_tree"][2:]
    tree.unlink()
    reboot(daemon)
    assert f"rlctl retry {row['id']}" in daemon.log()
    check = checks(daemon)["results"]
    assert (check["state"] == "warning" and row["result_ref"] in check["text"]
            and str(repo.path) in check["text"] and "t1" in check["text"])
    assert "rlctl retry" in check["remedy"]


def test_nothing_is_said_of_what_is_whole_or_not_there_any_more(passed, repo):
    daemon, row = passed()
    reboot(daemon)
    assert "was missing" not in daemon.log() and "results" not in checks(daemon)
    daemon.stop()
    shutil.rmtree(repo.path)
    database = daemon.database()
    database.execute("UPDATE setting SET value = ? WHERE name = 'boot_id'", (OTHER_BOOT,))
    database.close()
    daemon.start()
    until_looked(daemon, 3)
    assert "is missing" not in daemon.log() and "results" not in checks(daemon)


def test_the_same_boot_looks_at_nothing(passed, repo):
    """A ref that a person has removed stays away."""
    daemon, row = passed()
    daemon.refs_removed = True
    repo.git("update-ref", "-d", row["result_ref"])
    daemon.start()
    daemon.ended(daemon.review(repo.path))
    assert daemon.log().count(LOOKED) == 1 and repo.git("for-each-ref", row["result_ref"]) == ""
