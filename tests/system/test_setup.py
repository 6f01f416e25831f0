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
    assert row["warnings"] == ["task t1: setup changed tracked files, which were restored: README",
                               "task t1: setup made files that git does not ignore, which are not part of the work: "
                               "built, made"]
    assert {k: v for k, v in repo.state().items() if k != "branches"} == before


ROOM = {"profile": "verdict", "workspace": "room"}


def again(daemon, repo, **params):
    """A run of the same work, from the same base; its attempts."""
    repo.git("checkout", "-q", "-f", ".")
    (repo.path / "work.txt").unlink(missing_ok=True)
    number = daemon.review(repo.path, **{"review": ROOM, "evidence_age": 0, "check_on_base": "skip", **params})
    assert daemon.ended(number)["state"] == "succeeded"
    return roles(daemon, number)


def test_rooms_are_set_up_once(make_daemon, repo):
    """A room of the base is, without the work; others are clones of it, also in later runs. The
    user's directory is not set up."""
    ignoring(repo, "deps", ".env")
    daemon = make_daemon(scripts={"implement": "test ! -e deps\n" + WORK, "review": "cat deps\n" + VERDICT})
    params = {"setup": ["test ! -e work.txt && echo there > deps"], "checks": ["grep there deps && test -e work.txt"]}
    cloned, made = ["implement", "check", "review"], ["implement", "setup", "check", "review"]
    assert again(daemon, repo, **params) == made
    assert not (repo.path / "deps").exists()
    assert again(daemon, repo, **params) == cloned
    repo.write(".env", "1\n")
    copies = {**params, "copy": [".env"], "checks": ["grep there deps && test -e .env"]}
    assert again(daemon, repo, **copies) == made
    assert again(daemon, repo, **copies) == cloned
    repo.write(".env", "2\n")
    assert again(daemon, repo, **copies) == made
    assert again(daemon, repo, **{**params, "env": {"A": "1"}}) == made
    daemon.restart()
    assert again(daemon, repo, **params) == cloned


@pytest.mark.parametrize("inputs, want", [({}, ["implement", "setup", "setup", "check", "setup", "review"]),
                                          ({"setup_inputs": ["other"]}, ["implement", "setup", "check", "review"])])
def test_changed_inputs_set_up_again(make_daemon, repo, inputs, want):
    """The lock file of the work is another one than that of the base."""
    ignoring(repo, "deps")
    repo.write("package-lock.json", "1\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "lock")
    daemon = make_daemon(scripts={"implement": "echo 2 > package-lock.json\nanswer done\n", "review": VERDICT})
    number = daemon.review(repo.path, review=ROOM, setup=["cat package-lock.json >> deps"], **inputs,
                           check_on_base="skip", checks=[f"cat deps > {daemon.play.path}/saw"])
    assert daemon.ended(number)["state"] == "succeeded"
    assert roles(daemon, number) == want
    assert (daemon.play.path / "saw").read_text() == ("1\n" if inputs else "1\n2\n")


def test_work_may_mend_the_setup(make_daemon, repo):
    """It fails on the base; the room of the work is set up nevertheless."""
    ignoring(repo, "deps")
    daemon = make_daemon(scripts={"implement": WORK, "review": VERDICT})
    number = daemon.review(repo.path, review=ROOM, setup=["true", "cp work.txt deps"], checks=["grep work deps"],
                           check_on_base="skip")
    row = daemon.ended(number)
    assert row["state"] == "succeeded", row
    assert roles(daemon, number) == ["implement", "setup", "setup", "setup", "setup", "check", "setup", "setup",
                                     "setup", "setup", "review"]
    assert row["warnings"][0] == ('task t1: setup: "cp work.txt deps" exited 1 on the base; '
                                  "each of its rooms is set up by itself")


def test_rooms_of_work_trees(make_daemon, repo):
    """One is set up on the base; its room is a clone of that, and so is the next work tree."""
    ignoring(repo, "deps")
    daemon = make_daemon(scripts={"implement": "test -e deps && " + WORK, "review": "cat deps\n" + VERDICT})
    params = {"isolation": "worktree", "setup": ["echo there > deps"], "checks": ["grep there deps"]}
    assert again(daemon, repo, **params) == ["setup", "implement", "check", "review"]
    assert again(daemon, repo, **params) == ["implement", "check", "review"]


def test_a_setup_of_the_base_outlives_the_daemon(make_daemon, repo):
    ignoring(repo, "deps")
    daemon = make_daemon(scripts={"implement": WORK, "review": VERDICT}, gates=["here"])
    gate = f'cd {daemon.play.path}; echo s >> times; echo $$ > here.here; read -r word < here.go; echo x > $OLDPWD/deps'
    number = daemon.review(repo.path, review=ROOM, setup=[gate], checks=["grep x deps"], check_on_base="skip")
    daemon.play.arrived("here")
    daemon.kill()
    daemon.start()
    daemon.play.go("here")
    assert daemon.ended(number)["state"] == "succeeded"
    assert (daemon.play.path / "times").read_text() == "s\n"
    assert roles(daemon, number) == ["implement", "setup", "check", "review"]


def test_what_names_its_place_is_set_up_there(make_daemon, repo):
    """A virtual environment, say: within a run its rooms have one place."""
    ignoring(repo, "bin")
    daemon = make_daemon(scripts={"implement": WORK, "review": VERDICT})
    params = {"setup": ['mkdir bin; printf "#!%s/bin/sh\n" "$PWD" > bin/tool; cp /bin/sh bin; chmod 755 bin/tool'],
              "checks": ["bin/tool"]}
    for _ in range(2):
        assert again(daemon, repo, **params) == ["implement", "setup", "check", "review"]


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


@pytest.mark.parametrize("isolation", ["worktree", "shared"])
@pytest.mark.parametrize("setup, names", [("rm README && mkdir README && touch README/x", "README"),
                                          ("rm -rf dir && echo x > dir", "dir/one"),
                                          ("rm -rf dir && ln -s /tmp dir", "dir/one")])
def test_what_it_replaces_is_restored(make_daemon, repo, setup, names, isolation):
    (repo.path / "dir").mkdir()
    repo.write("dir/one", "1\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "dir")
    daemon = make_daemon(scripts={"implement": WORK, "review": VERDICT})
    row = daemon.ended(daemon.review(repo.path, isolation=isolation, review=ROOM, setup=[setup],
                                     checks=["test -f README && test -f dir/one && test ! -h dir"]))
    assert row["state"] == "succeeded", row
    assert f": setup changed tracked files, which were restored: {names}" in row["warnings"][0]


@pytest.mark.parametrize("isolation, setup, words", [
    ("worktree", "rm -rf .git", "is no longer a work tree of"), ("worktree", 'rm -rf "$PWD"', "no longer exists"),
    ("shared", 'rm -rf "$PWD"', "no longer exists")])
def test_what_it_breaks_is_told(make_daemon, repo, isolation, setup, words):
    daemon = make_daemon(scripts={"implement": WORK, "review": VERDICT})
    row = daemon.ended(daemon.review(repo.path, isolation=isolation, review=ROOM, setup=[setup], checks=["true"]))
    assert row["state"] == "failed" and words in row["cause"] and "its set-up" in row["cause"], row
    assert row["cause"].endswith("change run.setup, then use `rlctl retry --new-setup`")


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
                           setup_inputs=["work.txt"], on_lost="retry")
    row = daemon.ended(number)
    assert row["state"] == "held" and row["reason"].startswith("lost: reviewer"), row
    assert roles(daemon, number) == ["implement", "setup"] + ["setup", "review"] * 3
    for n in (2, 3):
        assert b"was interrupted in the middle" in daemon.play.prompt(number, "review", n)


CHANGED = "files that run.copy brings to the rooms were changed while an agent worked"


@pytest.mark.each
@pytest.mark.parametrize("isolation", ["shared", "worktree"])
def test_what_an_agent_makes_of_copied_files_is_told(make_daemon, repo, isolation):
    """They are not in the result: a check that needs them is green for nobody else."""
    ignoring(repo, ".env")
    repo.write(".env", "strict\n")
    daemon = make_daemon(scripts={"implement": f"echo lax > {repo.path}/.env\n" + WORK, "review": VERDICT})
    row = daemon.ended(daemon.review(repo.path, review=ROOM, isolation=isolation, copy=[".env"],
                                     checks=["grep lax .env"], check_on_base="skip"))
    assert row["state"] == "succeeded" and [w for w in row["warnings"] if CHANGED in w], row
    repo.write(".env", "lax\n")
    row = daemon.ended(daemon.review(repo.path, review=ROOM, isolation=isolation, copy=[".env"],
                                     checks=["grep lax .env"], check_on_base="skip"))
    assert not [w for w in row["warnings"] if CHANGED in w], row


@pytest.mark.each
@pytest.mark.parametrize("client", [False, True], ids=["", "rlctl"])
def test_a_retry_takes_the_remedy(make_daemon, repo, client):
    """The set-up that was added since, for the work that there is: no implementer is paid again."""
    ignoring(repo, "deps")
    daemon = make_daemon(scripts={"implement": WORK, "review": VERDICT})
    number = daemon.review(repo.path, review={**ROOM, "max_fixes": 0}, isolation="worktree",
                           checks=["test -e deps"], check_on_base="skip")
    assert daemon.ended(number)["state"] == "failed" and roles(daemon, number)[0] == "implement"
    repo.write(".rld.toml", '[run]\nsetup = ["touch deps"]\n')
    again = daemon.call("run.retry", id=number)["id"]
    assert daemon.ended(again)["state"] == "failed", "it keeps the settings of the first run"
    again = (int(daemon.rlctl("retry", "--new-setup", again).out) if client else
             daemon.call("run.retry", id=again, new_setup=True)["id"])
    row = daemon.ended(again)
    assert row["state"] == "succeeded" and "implement" not in roles(daemon, again), row
    assert daemon.call("run.get", id=daemon.call("run.retry", id=number, from_scratch=True, new_setup=True)["id"])


@pytest.mark.each
@pytest.mark.parametrize("fixes", [0, 1])
@pytest.mark.parametrize("below", ["", "part"])
@pytest.mark.parametrize("committed", [False, True])
def test_a_retry_takes_the_remedy_in_a_shared_directory(make_daemon, repo, committed, below, fixes):
    """It has been changed there since; it stays, is named, and is no part of the work."""
    ignoring(repo, "deps")
    where = f"{below}/" * bool(below)
    repo.write(f"{where}some", "some\n")
    if committed:
        repo.write(f"{where}.rld.toml", "[run]\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "more")
    daemon = make_daemon(scripts={"implement": WORK, "review": VERDICT,
                                  "fix": "echo more >> fixed.txt\nanswer done\n"})
    number = daemon.review(repo.path / below, review={**ROOM, "max_fixes": fixes}, isolation="shared", commit="auto",
                           checks=["test -e deps" + ' && test "$(wc -l < fixed.txt)" = 2' * fixes],
                           check_on_base="skip")
    assert daemon.ended(number)["state"] == "failed"
    remedy = '[run]\nsetup = ["touch deps"]\n'
    repo.write(f"{where}.rld.toml", remedy)
    row = daemon.ended(daemon.call("run.retry", id=number)["id"])
    assert row["end_kind"] == "differs" and f"`rlctl retry --new-setup {number}`" in row["cause"], row["cause"]
    repo.write("other", "mine\n")
    again = daemon.ended(daemon.call("run.retry", id=number, new_setup=True)["id"])
    assert again["end_kind"] == "differs" and " in other:" in again["cause"], again["cause"]
    (repo.path / "other").unlink()
    row = daemon.ended(daemon.call("run.retry", id=again["id"])["id"])
    file = f"{where}.rld.toml"
    assert row["warnings"] == [f"{file} was changed since run {again['id']}, and is no part of its work",
                               *[f"task t1: the work tree is no longer what was judged: {file}"] * committed]
    assert row["state"] == "succeeded" and "implement" not in roles(daemon, row["id"]), row
    assert roles(daemon, row["id"]).count("fix") == fixes
    names = repo.git("diff-tree", "-r", "--name-only", "HEAD~1", row["tasks"][0]["commit"]).split()
    assert names == [f"{where}fixed.txt"] * fixes + [f"{where}work.txt"]
    assert repo.read(f"{where}.rld.toml") == remedy
    assert repo.git("status", "--porcelain").split() == ["M" if committed else "??", f"{where}.rld.toml"]


@pytest.mark.each
@pytest.mark.parametrize("text, words", [("[run]\nsetup = 1\n", "run.setup"), ("[run\n", ".rld.toml")])
def test_a_remedy_that_cannot_be_read(make_daemon, repo, text, words):
    daemon = make_daemon(scripts={"implement": "exit 1\n"})
    number = daemon.submit(repo.path)
    assert daemon.ended(number)["state"] == "failed"
    repo.write(".rld.toml", text)
    with pytest.raises(RpcError) as refused:
        daemon.call("run.retry", id=number, new_setup=True)
    assert words in str(refused.value), refused.value
    assert len(daemon.call("run.list")["runs"]) == 1


@pytest.mark.each
@pytest.mark.parametrize("changes", [False, True])
def test_what_a_setup_makes_is_no_work(make_daemon, repo, changes):
    """Unless the implementer changes it. A later run clones the prepared room, which has it."""
    more = "echo more >> made.txt\n" if changes else ""
    daemon = make_daemon(scripts={"implement": more + WORK, "review": VERDICT})
    for _ in "12":
        number = daemon.review(repo.path, review=ROOM, isolation="worktree", setup=["echo made > made.txt"])
        row = daemon.ended(number)
        assert row["state"] == "succeeded", row
        assert row["warnings"] == ["task t1: setup made files that git does not ignore, which are not part of the "
                                   "work: made.txt"]
        names = repo.git("ls-tree", "--name-only", row["result_ref"]).split()
        assert ("made.txt" in names) == changes and "work.txt" in names


def test_what_a_setup_brings_into_a_submodule(make_daemon, repo, tmp_path):
    """Also where the room is a clone of a prepared one."""
    other = Repo(tmp_path / "other")
    repo.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", str(other.path), "m")
    repo.git("commit", "-q", "-m", "module")
    daemon = make_daemon(scripts={"implement": WORK, "review": VERDICT})
    params = {"setup": [f"cp -r {other.path}/README m/"], "checks": ["test -e m/README"]}
    assert again(daemon, repo, **params) == ["implement", "setup", "check", "review"]
    assert again(daemon, repo, **params) == ["implement", "check", "review"]
