# SPDX-License-Identifier: MIT
"""run.setup and run.copy: a new work tree or room has what its agents and checks need, and a
set-up that fails is no agent's failure."""
import pytest
from rld import Repo, RpcError

VERDICT = """echo '{"verdict": "pass", "followUpPrompt": "fine"}'\n"""
WORK = "echo work > work.txt\nanswer done\n"


def ignoring(repo, *names):
    repo.write(".gitignore", "".join(f"{name}\n" for name in names))
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "ignore")


def roles(daemon, number):
    return [a["role"] for a in daemon.attempts(number)]


def test_a_work_tree_is_set_up(make_daemon, repo):
    """Files come along, then the commands run in order; the user's directory is not touched."""
    ignoring(repo, ".env", "deps", "*.local")
    (repo.path / "config").mkdir()
    repo.write(".env", "KEY=1\n")
    repo.write("config/a.local", "a\n")
    repo.write("deps", "not copied\n")
    (repo.path / ".env").chmod(0o600)
    before = {k: v for k, v in repo.state().items() if k != "branches"}
    daemon = make_daemon(scripts={"implement": 'stat -c "%a" .env > "$PLAY/mode"; cat .env config/a.local built '
                                  '> "$PLAY/saw"; test ! -e deps && ' + WORK})
    number = daemon.submit(repo.path, isolation="worktree", copy=[".env", "config/*.local"],
                           setup=["cat .env > made", "echo $RL_ROLE >> made; cp made built; echo more >> README"])
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert (daemon.play.path / "saw").read_text() == "KEY=1\na\nKEY=1\nsetup\n"
    assert (daemon.play.path / "mode").read_text() == "600\n"
    assert roles(daemon, number) == ["setup", "setup", "implement"]
    assert [a["account"] for a in daemon.attempts(number)][:2] == [None, None]
    assert row["warnings"] == ["task t1: setup changed tracked files, which were restored: README"]
    assert {k: v for k, v in repo.state().items() if k != "branches"} == before


def test_a_room_is_set_up(make_daemon, repo):
    """A check needs what setup makes, in each room anew; a shared directory is not set up."""
    ignoring(repo, "deps")
    daemon = make_daemon(scripts={"implement": "test ! -e deps\n" + WORK,
                                  "review": "cat deps\n" + VERDICT})
    number = daemon.review(repo.path, review={"profile": "verdict", "workspace": "room"},
                           setup=["echo there > deps"], checks=["grep there deps && test -e work.txt"])
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert roles(daemon, number) == ["implement", "setup", "check", "setup", "review"]
    assert not (repo.path / "deps").exists()


def test_without_a_room_nothing_is_set_up(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": WORK, "review": VERDICT})
    number = daemon.review(repo.path, review={"profile": "verdict", "workspace": "same"}, setup=["touch deps"])
    assert daemon.ended(number)["state"] == "succeeded"
    assert roles(daemon, number) == ["implement", "review"] and not (repo.path / "deps").exists()


def test_a_failed_setup_is_held(make_daemon, repo):
    """What it lacks can be put right: rework copies and sets up again."""
    ignoring(repo, ".env")
    daemon = make_daemon(scripts={"implement": WORK})
    number = daemon.submit(repo.path, isolation="worktree", copy=[".env"], setup=["true", "cat .env"])
    with daemon.events(run=number) as events:
        hold = events.until("hold.opened")
    assert hold["kind"] == "setup" and hold["reason"] == 'setup: "cat .env" exited 1'
    row = daemon.run(number)
    assert row["slots"][0]["end_kind"] == "setup"
    assert roles(daemon, number) == ["setup", "setup"], "nobody was paid"
    with pytest.raises(RpcError) as refused:
        daemon.call("hold.approve", id=hold["hold"])
    assert "nothing to approve" in str(refused.value)
    repo.write(".env", "x\n")
    daemon.call("hold.rework", id=hold["hold"])
    assert daemon.ended(number)["state"] == "succeeded"
    assert roles(daemon, number) == ["setup", "setup", "setup", "setup", "implement"]


def test_it_outlives_the_daemon(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": WORK}, gates=["here"])
    gate = f'cd {daemon.play.path}; echo s >> times; echo $$ > here.here; read -r word < here.go'
    number = daemon.submit(repo.path, isolation="worktree", setup=[gate])
    daemon.play.arrived("here")
    daemon.kill()
    daemon.start()
    daemon.play.go("here")
    assert daemon.ended(number)["state"] == "succeeded"
    assert (daemon.play.path / "times").read_text() == "s\n"
    assert roles(daemon, number) == ["setup", "implement"]


def test_it_can_be_cancelled(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": WORK}, gates=["here"])
    gate = f'cd {daemon.play.path}; echo $$ > here.here; read -r word < here.go'
    number = daemon.submit(repo.path, isolation="worktree", setup=[gate])
    daemon.play.arrived("here")
    daemon.call("run.cancel", id=number)
    assert daemon.cancelled(number)["state"] == "cancelled"
    assert roles(daemon, number) == ["setup"]


def test_it_holds_no_permit(make_daemon, repo, tmp_path):
    """The daemon's only slot is free for another run while one sets up, also after a restart."""
    other, third = Repo(tmp_path / "other"), Repo(tmp_path / "third")
    daemon = make_daemon(scripts={"implement": WORK}, gates=["here"], config={"parallel": 1})
    gate = f'cd {daemon.play.path}; echo $$ > here.here; read -r word < here.go'
    number = daemon.submit(repo.path, isolation="worktree", setup=[gate])
    daemon.play.arrived("here")
    assert daemon.ended(daemon.submit(other.path))["state"] == "succeeded"
    daemon.kill()
    daemon.start()
    assert daemon.ended(daemon.submit(third.path))["state"] == "succeeded"
    assert roles(daemon, number) == ["setup"]
    daemon.play.go("here")
    assert daemon.ended(number)["state"] == "succeeded"


@pytest.mark.parametrize("pattern", ["/etc/passwd", "../up", "a/../../b", ""])
def test_patterns_stay_inside(daemon, repo, pattern):
    with pytest.raises(RpcError) as refused:
        daemon.submit(repo.path, isolation="worktree", copy=[pattern])
    assert "copy" in str(refused.value)


def test_of_the_project_and_the_command_line(make_daemon, repo):
    repo.write(".rld.toml", '[run]\nsetup = ["echo project > $RL_WORKDIR/made"]\n')
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "settings")
    daemon = make_daemon(scripts={"implement": 'cat made > "$PLAY/saw"; rm made\n' + WORK})
    assert daemon.rlctl("run", "-q", "--isolation", "worktree", "x", cwd=repo.path).returncode == 0
    assert (daemon.play.path / "saw").read_text() == "project\n"
    said = daemon.rlctl("run", "--isolation", "worktree", "--setup", "echo line > made", "x", cwd=repo.path)
    assert said.returncode == 0 and b"Setting up..." in said.stdout + said.stderr
    assert (daemon.play.path / "saw").read_text() == "line\n"


def test_the_setup_between_two_tries(make_daemon, repo):
    """It interrupts nothing: the next reviewer is told of a lost one, and three are enough."""
    daemon = make_daemon(scripts={"implement": WORK, "review": "kill -9 $PPID; exec sleep 60"})
    number = daemon.review(repo.path, review={"profile": "verdict", "workspace": "room"}, setup=["true"],
                           on_lost="retry")
    row = daemon.ended(number)
    assert row["state"] == "held" and row["reason"].startswith("lost: reviewer"), row
    assert roles(daemon, number) == ["implement"] + ["setup", "review"] * 3
    for n in (2, 3):
        assert b"was interrupted in the middle" in daemon.play.prompt(number, "review", n)
