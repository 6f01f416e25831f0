# SPDX-License-Identifier: MIT
"""Agents that work as another user than rld: what they reach, what they do not, and who ends
them."""
import errno
import json
import os
import pwd
import shutil
import signal
import socket
import struct
import subprocess
import threading

import pytest
from apart import RLD_NAME, RLD_UID, Starter, let_in
from rld import BUILD, RLCTL, SANITIZED, SHIM, Repo, RpcError, alive, give, wait_gone
from test_host_faults import INJECT, needs_inject
from users import needs_root

pytestmark = needs_root


class Apart:
    def __init__(self, make_daemon, tmp_path, cgroup=True, starter_prefix=(), **kwargs):
        self.starter = Starter(tmp_path / "starter", cgroup=cgroup, prefix=starter_prefix)
        self.agents = self.starter.agents
        self.tmp_path = tmp_path
        self.daemon = make_daemon(uid=RLD_UID, prefix=self.prefix(self.agents), prefix_sets_uid=True,
                                  environment={"RLD_STARTER": str(self.starter.socket)}, start=False, **kwargs)
        self.daemon.path.chmod(0o755)
        give(self.daemon.play.path, self.agents.pw_uid)
        self.daemon.play.path.chmod(0o755)
        self.daemon.start()

    @staticmethod
    def prefix(agents):
        return ["setpriv", f"--reuid={RLD_UID}", f"--regid={RLD_UID}", f"--groups={agents.pw_gid}"]

    def __getattr__(self, name):
        return getattr(self.daemon, name)

    def work(self, name="work"):
        """A repository of the agents' user, which the group may read and write."""
        repo = Repo(self.tmp_path / name)
        let_in(repo.path, self.agents)
        return repo


@pytest.fixture
def apart(make_daemon, tmp_path, another_user):
    made = []

    def make(**kwargs):
        made.append(Apart(make_daemon, tmp_path, **kwargs))
        return made[-1]

    yield make
    for each in made:
        if each.daemon.running():
            each.daemon.stop()
        each.starter.finish()


def test_a_reviewed_run(apart):
    """Implementer, reviewer and fixer are the other user; what they have done is merged and
    recorded as ever."""
    h = apart()
    repo = h.work()
    run = h.review(repo.path)
    h.ended(run)
    row = h.run(run)
    assert row["state"] == "succeeded", (row, h.log()[-6000:], h.starter.log.read_text())


# What an agent tries; each line is NAME:STATUS in the file "tried".
TRIES = r"""
STATE=${RLD_SOCKET%/*}/state
SHIM=$PPID
try() {
	name=$1
	shift
	"$@" > "$PLAY/out.$name" 2>&1
	echo "$name:$?" >> "$PLAY/tried"
}
try database cat "$STATE/rld.db"
try state ls "$STATE"
try attempts ls "$STATE/attempts"
try attempt ls "$STATE/attempts/$RL_ATTEMPT"
try job cat "$STATE/attempts/$RL_ATTEMPT/job"
try forge sh -c "echo x > '$STATE/attempts/$RL_ATTEMPT/exit'"
try output sh -c "echo x >> '$STATE/attempts/$RL_ATTEMPT/stdout.0000000000000000'"
try result sh -c "for f in '$STATE'/attempts/*/result; do echo x > \$f; done"
try results sh -c "for n in 1 2 3 4 5; do echo x > '$STATE'/attempts/\$n/result && exit 0; done; exit 1"
try evidence ls "$STATE/evidence"
try environments ls "$STATE/env"
try lock sh -c ": > '$STATE/lock'"
try starter python3 -c "
import os, socket
socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect('$STARTER')"
try descriptors ls "/proc/$SHIM/fd/"
try directory ls "/proc/$SHIM/cwd/"
try memory cat "/proc/$SHIM/environ"
try daemon kill -0 "$RLD"
try shim kill -0 "$SHIM"
try group sh -c "echo 0 > '$GROUPS_AT/cgroup.procs'"
try other_group sh -c "mkdir '$GROUPS_AT/attempt-mine'"
try cancel "$RLCTL" --socket "$RLD_SOCKET" --trust-uid 1 --no-start cancel "$RL_RUN"
try approve "$RLCTL" --socket "$RLD_SOCKET" --trust-uid 1 --no-start rpc hold.approve "{\"id\": 1}"
try submit "$RLCTL" --socket "$RLD_SOCKET" --trust-uid 1 --no-start run -d -C "$PWD" more
try runs "$RLCTL" --socket "$RLD_SOCKET" --trust-uid 1 --no-start rpc run.list
try own "$RLCTL" --socket "$RLD_SOCKET" --trust-uid 1 --no-start rpc run.get "{\"id\": $RL_RUN}"
echo one > work.txt
answer done
"""

# What works, of all that: an agent may read its own run, if it can be told whose it is.
MAY = {"own"}


def tried(h):
    return dict(line.split(":") for line in (h.play.path / "tried").read_text().splitlines())


@pytest.mark.parametrize("cgroup", [True, False], ids=["cgroup", "none"])
def test_what_an_agent_reaches(apart, cgroup):
    h = apart(cgroup=cgroup)
    if cgroup and h.starter.cgroup is None:
        pytest.skip("no cgroups of version 2 here")
    shutil.copy(RLCTL, h.daemon.path)
    known = (f"RLD={h.pid}\nSTARTER={h.starter.socket}\nRLCTL={h.daemon.path}/rlctl\n"
             f"GROUPS_AT={h.starter.cgroup or '/nowhere'}\n")
    h.play.set({"implement": known + TRIES})
    row = h.ended(h.review(h.work().path))
    assert row["state"] == "succeeded", row
    said = tried(h)
    assert len(said) == TRIES.count("\ntry "), said
    told = {name: (h.play.path / f"out.{name}").read_text() for name in said}
    assert {name for name, status in said.items() if status == "0"} == (MAY if cgroup else set()), told
    assert h.call("review.verify", run=row["id"])["ok"] is True


# Links in the work tree to what only rld may read or write.
LEADS = r"""
STATE=${RLD_SOCKET%/*}/state
mkdir -p .ai_agents/prompts
ln -s "$STATE/secret" .ai_agents/prompts/fixer.md
ln -s "$STATE/secret" AGENTS.md
echo one > work.txt
"""


DRIFTS = """echo '{"verdict": "drift", "followUpPrompt": "again"}'\n"""


def secret(h):
    path = h.state / "secret"
    path.write_text("# Standards\nMARK-OF-A-SECRET\n")
    os.chown(path, RLD_UID, RLD_UID)
    path.chmod(0o600)
    return path


def no_agent_was_told(h):
    for path in h.state.glob("attempts/*/*"):
        assert path.name == "output" or b"MARK-OF-A-SECRET" not in path.read_bytes(), path


def test_links_do_not_make_rld_read_for_an_agent(apart):
    h = apart(scripts={"implement": LEADS, "review": DRIFTS, "fix": "true\n"})
    secret(h)
    repo = h.work()
    row = h.ended(h.review(repo.path))
    assert row["state"] != "succeeded" and "fixer.md: Permission denied" in str(h.call("run.get", id=row["id"])), row
    no_agent_was_told(h)
    (repo.path / ".ai_agents/prompts/fixer.md").unlink()
    with pytest.raises(RpcError) as refused:
        h.review(repo.path, review={"profile": "comments", "conventions": ["AGENTS.md"]})
    assert "AGENTS.md: Permission denied" in refused.value.message
    no_agent_was_told(h)


# The HEAD of the work tree is the agent's to write, and so are the refs. Both lead to a lock that
# only rld may remove.
ELSEWHERE = {
    "branch": 'echo "ref: refs/heads/rl/../../../../../../../../../../../..$STATE/evidence/1/t1" > "$GIT/HEAD"\n',
    "link": 'rm -r "$COMMON/refs/heads/rl"\nln -s "$STATE/evidence" "$COMMON/refs/heads/rl"\n'}
PLACES = ('STATE=${RLD_SOCKET%/*}/state\nGIT=$(git rev-parse --absolute-git-dir)\n'
          'COMMON=$(git rev-parse --path-format=absolute --git-common-dir)\necho one > work.txt\n')


@pytest.mark.each
@pytest.mark.parametrize("way", ELSEWHERE)
def test_no_lock_of_ours_is_removed_for_an_agent(apart, way):
    h = apart(scripts={"implement": PLACES + ELSEWHERE[way] + "answer done\n"})
    repo = h.work()
    lock = h.state / "evidence/1/t1.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    os.chown(lock.parent, RLD_UID, RLD_UID)
    lock.parent.chmod(0o770)
    h.ended(h.review(repo.path, isolation="worktree", commit="auto"))
    assert lock.exists()


def test_a_link_does_not_make_rld_write_for_an_agent(apart):
    h = apart()
    path = secret(h)
    repo = h.work()
    exclude = repo.path / ".git/info/exclude"
    exclude.unlink(missing_ok=True)
    exclude.parent.mkdir(exist_ok=True)
    exclude.symlink_to(path)
    before = (path.stat().st_ino, path.read_bytes())
    row = h.ended(h.review(repo.path, review={"profile": "file"}))
    assert (path.stat().st_ino, path.read_bytes()) == before, path.read_text()
    assert "exclude: Permission denied" in h.log() + str(row) + str(h.call("event.list", run=row["id"]))


def asked(starter, kind, words, *fds):
    """A request to rl-start, as rld makes it: the connection, and the answer."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    link.connect(str(starter.socket))
    lists = [os.memfd_create("words") for _ in range(2)]
    os.write(lists[0], b"".join(word.encode() + b"\0" for word in words))
    os.write(lists[1], b"PATH=/usr/bin:/bin\0")
    socket.send_fds(link, [struct.pack("=IIQQQQ", 2, kind, 0, 0, 0, 0)], [lists[0], *fds, lists[1]])
    data, got, _, _ = socket.recv_fds(link, 64, 4)
    for fd in (*lists, *got):
        os.close(fd)
    return link, struct.unpack("=Iiqq", data)


def test_no_agent_stops_a_helper_of_rl_start(tmp_path, another_user):
    """rld waits for what it asks rl-start to do."""
    starter = Starter(tmp_path / "starter")
    try:
        ends = os.pipe()
        link, (_, error, pid, _) = asked(starter, 2, ["sh", "sh", "-c", "id -u; cat /proc/self/status; sleep 1000"],
                                         ends[1])
        os.close(ends[1])
        assert error == 0
        with open(ends[0]) as said:
            lines = [said.readline() for _ in range(12)]
            uids = next(line.split()[1:] for line in lines if line.startswith("Uid"))
            assert set(uids) == {str(starter.agents.pw_uid)}, "what it runs is an agent's"
            done = subprocess.run(["/bin/kill", "-STOP", str(pid)], user="games", group="games", extra_groups=[],
                                  capture_output=True, text=True)
            link.shutdown(socket.SHUT_WR)
            assert done.returncode != 0 and "not permitted" in done.stderr, done
            assert struct.unpack("=Iiqq", link.recv(64))[0] == 1
        link.close()
    finally:
        starter.finish()


# A program that tells what it is, and then is the real one.
TELLS = """#!/bin/sh
grep -E '^(Uid|Gid|CapAmb)' /proc/self/status | tr '\\t\\n' '  ' >> {log}
echo {name} >> {log}
exec {real} "$@"
"""


def test_no_exec_with_ids_that_differ(apart, tmp_path):
    """With NO_NEW_PRIVS, Linux 6.1 and 6.12 make effective ids real ones at exec if they differ: so
    they are the same there, and the program gets the capabilities to take them apart."""
    h = apart()
    log = h.daemon.home / "said"
    log.touch()
    log.chmod(0o666)
    for path in (h.starter.path / "rl-shim", h.daemon.path / "rl-git"):
        real = path.parent / "real" / path.name
        real.parent.mkdir(exist_ok=True)
        path.rename(real)
        path.write_text(TELLS.format(log=log, name=path.name, real=real))
        path.chmod(0o755)
    run = h.review(h.work().path)
    assert h.ended(run)["state"] == "succeeded"
    theirs = " ".join([str(h.agents.pw_uid)] * 4)
    ours = " ".join([str(RLD_UID)] * 4)
    assert {" ".join(line.split()) for line in log.read_text().splitlines()} == {
        f"Uid: {ours} Gid: {ours} CapAmb: 00000000000000c0 rl-shim",
        f"Uid: {theirs} Gid: {ours} CapAmb: 0000000000000040 rl-git"}


@pytest.mark.each
@pytest.mark.parametrize("argv", [["rl-shim", "."], ["rl-git", "measure"]])
def test_an_earlier_version_has_started_it(tmp_path, argv):
    """While a package is replaced: its ids mean something else. A fault of the host, which ends."""
    if SANITIZED and argv[0] == "rl-git":
        pytest.skip("with two kinds of ids LeakSanitizer can neither work nor be told not to")
    done = subprocess.run(["setpriv", "--rgid=60", "--egid=1", "--ruid=5", "--euid=1", "--clear-groups",
                           BUILD / argv[0], *argv[1:]], cwd="/", stdin=subprocess.DEVNULL)
    assert done.returncode == errno.EHOSTDOWN


@pytest.mark.each
@pytest.mark.parametrize("where", ["hook", "evidence"])
def test_no_git_has_capabilities(apart, tmp_path, where):
    """Neither one that runs hooks of a repository, nor one in the evidence."""
    h = apart(config={"run": {"commit": "auto"}})
    repo = h.work()
    said = h.daemon.home / "said"
    said.touch()
    said.chmod(0o666)
    told = f"grep -E '^(Uid|Gid|CapPrm|CapAmb)' /proc/self/status | tr '\\t\\n' '  ' >> {said}\necho >> {said}\n"
    if where == "hook":
        hook = repo.path / ".git/hooks/pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n{told}")
        hook.chmod(0o755)
    else:
        place = tmp_path / "bin"
        place.mkdir()
        (place / "git").write_text(f'#!/bin/sh\ncase "$*" in *"write-tree"*)\n{told};; esac\nexec /usr/bin/git "$@"\n')
        (place / "git").chmod(0o755)
        h.daemon.stop()
        h.daemon.start(environment={"PATH": f"{place}:/usr/bin:/bin", "RLD_STARTER": str(h.starter.socket)})
    assert h.ended(h.review(repo.path))["state"] == "succeeded"
    lines = {" ".join(line.split()) for line in said.read_text().splitlines()}
    theirs, ours = (f"Uid: {' '.join([str(h.agents.pw_uid)] * 4)} Gid: {' '.join([str(group)] * 4)} "
                    f"CapPrm: {'0' * 16} CapAmb: {'0' * 16}" for group in (h.agents.pw_gid, RLD_UID))
    assert lines == ({theirs} if where == "hook" else {theirs, ours}), lines


def test_whose_environment_agents_have(apart):
    """HOME and name are those of the user as whom they work, whoever submits; what the C library
    removes from set-user-ID programs is there."""
    h = apart(scripts={"implement": 'env > "$PLAY/env"; id -u > "$PLAY/id"; id -G >> "$PLAY/id"; umask >> "$PLAY/id"\n'
                                    'grep -E "^(Cap|NoNew|Seccomp:|Uid|Gid)" /proc/self/status >> "$PLAY/status"\n'})
    run = h.submit(h.work().path, environment=["HOME=/root", "USER=root", "TMPDIR=/tmp/of-root", "LANG=C.UTF-8",
                                               "PATH=/usr/local/bin:/usr/bin:/bin"])
    assert h.ended(run)["state"] == "succeeded"
    env = dict(line.split("=", 1) for line in (h.play.path / "env").read_text().splitlines() if "=" in line)
    agents = h.agents
    assert (env["HOME"], env["USER"], env["LOGNAME"]) == (agents.pw_dir, agents.pw_name, agents.pw_name)
    assert "TMPDIR" not in env and env["PATH"] == "/usr/local/bin:/usr/bin:/bin"
    uid, groups, mask = (h.play.path / "id").read_text().splitlines()
    assert (int(uid), groups, int(mask, 8)) == (agents.pw_uid, str(agents.pw_gid), 0o002)
    status = dict(line.split(":\t") for line in (h.play.path / "status").read_text().splitlines())
    assert {status[f"Cap{which}"] for which in ("Inh", "Prm", "Eff", "Amb")} == {"0" * 16}, status
    assert set(status["Uid"].split()) == {str(agents.pw_uid)} and set(status["Gid"].split()) == {str(agents.pw_gid)}
    assert status["NoNewPrivs"] == "1"


# It has no mark, no parent, and no session of its attempt; then the shim dies.
HIDES = ('( env -i setsid sh -c "echo \\$\\$ > $PLAY/hidden; exec sleep 1000" & )\n'
         'while [ ! -s "$PLAY/hidden" ]; do :; done\ngate there\nanswer done\n')


def test_nothing_survives_a_killed_shim(apart):
    h = apart(scripts={"implement": HIDES}, gates=["there"])
    if h.starter.cgroup is None:
        pytest.skip("no cgroups of version 2 here")
    run = h.submit(h.work().path, on_lost="fail")
    pid = h.play.arrived("there")
    hidden = int((h.play.path / "hidden").read_text())
    shim = int(next(line.split()[1] for line in (h.state / "attempts" / str(h.attempts(run)[0]["id"]) / "shim")
                    .read_text().splitlines() if line.startswith("pid")))
    h.kill()
    os.kill(shim, signal.SIGKILL)
    wait_gone(pid)
    assert alive(hidden)
    h.start()
    row = h.ended(run)
    assert row["state"] == "failed" and "unknown" in row["cause"], row
    assert not alive(hidden)


def test_agents_outlive_rld_and_rl_start(apart):
    """Both are killed; the agent is taken back, and its end is true."""
    h = apart(scripts={"implement": "gate there\nexit 3\n"}, gates=["there"])
    run = h.submit(h.work().path)
    pid = h.play.arrived("there")
    h.kill()
    h.starter.process.kill()
    h.starter.process.wait()
    h.starter.start()
    h.start()
    assert alive(pid)
    h.play.go("there")
    row = h.ended(run)
    assert row["state"] == "failed" and row["cause"] == "implementer process exited with status 3", row
    assert len(h.play.starts(run)) == 1


def test_a_cancel_ends_the_tree(apart):
    h = apart(scripts={"implement": 'trap "" TERM\nsetsid sleep 1000 & echo $! > "$PLAY/child"\ngate there\nwait\n'},
              gates=["there"], config={"limits": {"grace": "1s"}})
    run = h.submit(h.work().path)
    pid = h.play.arrived("there")
    h.play.go("there")
    h.cancelled(run)
    assert not alive(pid) and not alive(int((h.play.path / "child").read_text()))


def test_rl_start_does_not_answer(apart):
    """Nothing fails for it: the run waits, says why, and begins when it is there again."""
    h = apart()
    work = h.work()
    h.starter.stop()
    h.starter.socket.unlink()
    run = h.review(work.path)
    with h.events(run=run) as events:
        events.until("host", lambda e: "rl-start: it does not answer" in str(e))
    row = h.run(run)
    assert row["state"] in ("running", "queued", "preparing"), row
    h.starter.start()
    assert h.ended(run)["state"] == "succeeded"


def test_a_directory_that_agents_may_not_change(apart, tmp_path):
    h = apart()
    closed = Repo(tmp_path / "closed")
    with pytest.raises(RpcError) as refused:
        h.review(closed.path)
    assert f"cannot be used by uid {h.agents.pw_uid}: Permission denied" in refused.value.message
    assert "the user of the agents needs" in refused.value.data["hint"]


def test_the_key_names_the_user(apart):
    h = apart(config={"agent_user": "games"})
    assert h.call("daemon.doctor")["checks"]
    user = next(c for c in h.call("daemon.doctor")["checks"] if c["name"] == "user")
    assert user["state"] == "ok" and user["text"] == f"agents work as games (uid {h.agents.pw_uid}), rld as uid 1", user
    for config, environment, why in (
            ({"agent_user": "lp"}, {}, 'agent_user = "lp", but rl-start has agents work as games (uid 5)'),
            ({"agent_user": "games"}, {"RLD_STARTER": ""}, 'agent_user = "games": there is no rl-start')):
        h.stop()
        h.daemon.write_config(config)
        h.spawn(environment=environment)
        assert h.process.wait() == 78
        assert why in h.log()
        h.daemon.write_config({"agent_user": "games"})
        h.start()


@pytest.mark.parametrize("user,why", [
    ("root", "agents need a user of their own"), (RLD_NAME, "agents need a user of their own"),
    ("nobody-of-this-name", "there is no such user")])
def test_users_that_agents_cannot_be(tmp_path, another_user, user, why):
    starter = Starter(tmp_path / "starter", cgroup=False, start=False)
    done = subprocess.run(starter.argv(user), capture_output=True, text=True, cwd="/")
    assert done.returncode == 78 and why in done.stderr, done


@pytest.mark.parametrize("prefix,why", [
    ([], "run it as the user of rld"),
    (["setpriv", "--reuid=1", "--regid=1", "--clear-groups"], "CAP_SETUID and CAP_SETGID are missing")])
def test_rl_start_has_no_more_and_no_less(tmp_path, another_user, prefix, why):
    shutil.copy(BUILD / "rl-start", tmp_path)
    done = subprocess.run([*prefix, str(tmp_path / "rl-start"), "--user", "games", "--socket", "/nowhere/s"],
                          capture_output=True, text=True, cwd="/")
    assert done.returncode == 78 and why in done.stderr, done


def names(*tasks):
    return json.dumps({"userStories": [{"id": name, "title": name, "description": "d", "acceptanceCriteria": ["c"],
                                        "priority": n, "passes": False} for n, name in enumerate(tasks)]})


@pytest.mark.parametrize("profile", ["verdict", "comments", "file", "decision"])
def test_every_carrier(apart, profile):
    """The reviewer's file is its own, in a room of its own, and is judged."""
    says = {"verdict": "pass\n",
            "comments": "echo '{\"comments\": [], \"summary\": \"fine\"}' > review-comments.json\n",
            "file": "umask 077; rm -f autom8_review.md\n",
            "decision": "echo '{\"decision\": \"GO\", \"feedback\": \"fine\"}'\n"}
    h = apart(scripts={"implement": "echo one > work.txt\nanswer done\n", "review": says[profile]})
    row = h.ended(h.review(h.work().path, review={"profile": profile, "workspace": "room", "silence": "pass"}))
    assert row["state"] == "succeeded", (row["cause"], h.attempts(row["id"]))
    assert h.call("review.verify", run=row["id"])["ok"] is True


def test_a_fixer_reads_the_review_file(apart):
    """rld writes it for the fixer, into a directory that the other user owns."""
    h = apart(scripts={"implement": "mkdir -p deep/empty\necho one > deep/work.txt\nanswer done\n",
                       "review.1": "echo '- say two' > autom8_review.md\n", "review": "rm -f autom8_review.md\n",
                       "fix": 'cp autom8_review.md "$PLAY/read" && echo two > deep/work.txt\n'})
    row = h.ended(h.review(h.work().path, review={"profile": "file", "silence": "pass", "workspace": "room"}))
    assert row["state"] == "succeeded", (row["cause"], h.attempts(row["id"]))
    assert (h.play.path / "read").read_text() == "- say two\n"


def test_a_directory_that_git_does_not_have(apart):
    """The run's directory is empty, so no room has it: rld makes it there."""
    h = apart(scripts={"implement": "echo one > ../work.txt\n", "review": 'pwd > "$PLAY/pwd"\npass\n'})
    repo = h.work()
    (repo.path / "a" / "b").mkdir(parents=True)
    for path in (repo.path / "a", repo.path / "a" / "b"):
        os.chown(path, h.agents.pw_uid, h.agents.pw_gid)
        path.chmod(0o775)
    row = h.ended(h.review(repo.path / "a" / "b", review={"workspace": "room"}))
    assert row["state"] == "succeeded", (row["cause"], h.attempts(row["id"]))
    assert (h.play.path / "pwd").read_text().endswith("/a/b\n")


def test_tasks_in_work_trees(apart):
    """Made, committed, merged, checked in a room and removed; what an agent closed to others
    as well."""
    h = apart(scripts={"implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID"\nmkdir -m 700 shut\n'
                                    'echo x > shut/file\nchmod 600 shut/file\n',
                       "review": 'mkdir -m 700 "$TMPDIR/shut"\necho x > "$TMPDIR/shut/file"\n'
                                 'chmod 500 "$TMPDIR/shut"\npass\n'})
    repo = h.work()
    repo.git("-c", f"safe.directory={repo.path}", "status")
    row = h.ended(h.review(repo.path, task=None, stories=names("a", "b", "c"), isolation="worktree",
                           parallel=2, review={"checks": ["test -s a -o -s b -o -s c"]}))
    assert row["state"] == "succeeded", (row["cause"], h.log()[-3000:])
    files = repo.git("-c", f"safe.directory={repo.path}", "ls-tree", "--name-only", row["result_ref"]).split()
    assert {"a", "b", "c"} <= set(files)
    while h.call("daemon.status")["busy"]:      # with what the run has left
        pass
    assert not list((h.state / "worktrees").glob("*/*")), "work trees are removed"
    assert not list((h.state / "runs").glob("*/t[rm][ep]*-*")), "and rooms and scratch files"
    pruned = h.call("state.prune", older=0, failures=0)
    assert pruned["left"] == [], pruned


# A process of an agent that stays in a room, and looks for what is beside it until stdin ends.
STAYS = """import os, select, sys
os.chdir(sys.argv[1])
print("there", flush=True)
found = None
while not select.select([sys.stdin], [], [], 0)[0]:
    try:
        found = found or os.listdir("../../../../refs")
    except OSError:
        pass
print(found)
"""


def test_no_room_leads_into_the_evidence(apart):
    """What an agent can be in is not moved there: the evidence is of its user, and only its way
    there is closed."""
    h = apart(scripts={"implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID"\n',
                       "review": 'gate "look-$RL_TASK_ID"\npass\n'},
              gates=["look-a", "look-b"])
    run = h.review(h.work().path, task=None, stories=names("a", "b"), review={"workspace": "room"})
    h.play.arrived("look-a")
    room = next((h.state / "runs" / str(run)).glob("tree-*"))
    stays = subprocess.Popen(["python3", "-c", STAYS, str(room)], user="games", group="games", extra_groups=[],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert stays.stdout.readline() == "there\n"
        h.play.go("look-a")
        h.play.arrived("look-b")
    finally:
        said = stays.communicate()[0]
    assert said == "None\n", "the evidence repository"
    h.play.go("look-b")
    assert h.ended(run)["state"] == "succeeded"


# A process of an agent that puts a link in the place of each private index of a run.
LINKS = """import glob, os, select, sys
print("there", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    for slot in glob.glob(sys.argv[1] + "/scratch/*-*"):
        try:
            os.symlink(sys.argv[2], slot + "/link")
            os.rename(slot + "/link", slot + "/index")
        except OSError:
            pass
"""


def test_git_writes_no_index_over_the_evidence(apart):
    """A step may fail when its scratch files are changed; the evidence is as it was."""
    h = apart(scripts={"implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID"\n'
                                    '[ "$RL_TASK_ID" != a ] || gate there\n'}, gates=["there"])
    run = h.review(h.work().path, task=None, stories=names(*"abcdef"), review={"workspace": "room"})
    h.play.arrived("there")
    kept = next((h.state / "evidence").glob("*.git")) / "config"
    before = kept.read_bytes()
    links = subprocess.Popen(["python3", "-c", LINKS, str(h.state / "runs" / str(run)), str(kept)], user="games",
                             group="games", extra_groups=[], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert links.stdout.readline() == "there\n"
        h.play.go("there")
        row = h.ended(run)
    finally:
        links.communicate()
    assert kept.read_bytes() == before, row["cause"]


def test_a_state_of_an_earlier_version(make_daemon, tmp_path, another_user):
    """Handed over once, it works with another user: what was reviewed before is verified and
    retried."""
    agents = pwd.getpwnam("games")
    daemon = make_daemon(uid=RLD_UID, scripts={"implement": "echo one > work.txt\nexit 3\n"})
    daemon.path.chmod(0o755)
    repo = Repo(tmp_path / "work")
    give(repo.path, RLD_UID)
    run = daemon.review(repo.path)
    assert daemon.ended(run)["state"] == "failed"
    daemon.stop()
    (daemon.state / "worktrees").mkdir(exist_ok=True)
    trap = daemon.state / "worktrees" / "trap"
    trap.symlink_to("/etc")
    second = daemon.state / "worktrees" / "second"
    os.link(daemon.state / "rld.db", second)
    for path in (trap, second, trap.parent):
        os.chown(path, RLD_UID, RLD_UID, follow_symlinks=False)
    argv = [str(BUILD / "rl-start"), "--user", "games", "--hand-over", str(daemon.state)]
    assert subprocess.run(argv).returncode == 0
    assert os.stat("/etc/passwd").st_uid == 0 and (daemon.state / "rld.db").stat().st_uid == RLD_UID
    evidence = next((daemon.state / "evidence").glob("*.git"))
    assert (evidence.stat().st_uid, evidence.stat().st_gid) == (agents.pw_uid, RLD_UID)
    assert (evidence / "HEAD").stat().st_uid == agents.pw_uid
    second.unlink()
    trap.unlink()
    give(repo.path, agents.pw_uid)
    subprocess.run(["chown", "-R", f"{agents.pw_uid}:{agents.pw_gid}", repo.path], check=True)
    starter = Starter(tmp_path / "starter")
    try:
        give(daemon.play.path, agents.pw_uid)
        daemon.prefix, daemon.prefix_sets_uid = Apart.prefix(agents), True
        daemon.environment["RLD_STARTER"] = str(starter.socket)
        daemon.play.set({"implement": "echo one > work.txt\n", "review": "pass\n"})
        give(daemon.play.path, agents.pw_uid)
        daemon.start()
        assert daemon.call("review.verify", run=run)["ok"] is True
        again = daemon.call("run.retry", id=run)["id"]
        row = daemon.ended(again)
        assert row["state"] == "succeeded", row
        daemon.stop()
    finally:
        starter.finish()


def test_a_hand_over_waits_for_agents(make_daemon, tmp_path, another_user):
    daemon = make_daemon(uid=RLD_UID, scripts={"implement": "gate there\n"}, gates=["there"])
    daemon.path.chmod(0o755)
    repo = Repo(tmp_path / "work")
    give(repo.path, RLD_UID)
    run = daemon.submit(repo.path)
    daemon.play.arrived("there")
    daemon.kill()
    waits = subprocess.Popen([str(BUILD / "rl-start"), "--user", "games", "--hand-over", str(daemon.state)],
                             stderr=subprocess.PIPE, text=True)
    assert "as the user of rld: 1; waiting" in waits.stderr.readline()
    assert not (daemon.state / "agents").exists()
    daemon.play.go("there")
    assert waits.wait() == 0 and (daemon.state / "agents").exists()
    waits.stderr.close()
    daemon.spawn()
    assert daemon.process.wait() == 1 and "was handed over to uid 5" in daemon.log()
    subprocess.run(["chown", "-R", "games:games", repo.path, daemon.play.path], check=True)
    starter = Starter(tmp_path / "starter")
    try:
        daemon.prefix, daemon.prefix_sets_uid = Apart.prefix(starter.agents), True
        daemon.environment["RLD_STARTER"] = str(starter.socket)
        daemon.start()
        assert daemon.ended(run)["state"] == "succeeded"
        daemon.stop()
    finally:
        starter.finish()


@pytest.mark.parametrize("role", ["read", "admin"])
def test_hooks_are_no_agents(apart, tmp_path, role):
    """They have the user of the agents, but are the administrator's; what agents may not, they may,
    if that user has the role."""
    hook = tmp_path / "hook"
    ask = f"{tmp_path}/d/rlctl --socket {tmp_path}/d/sock --trust-uid 1 --no-start rpc"
    hook.write_text(f"#!/bin/sh\n{{ {ask} run.list; echo $?; {ask} run.submit workdir=$RL_WORKDIR task=more "
                    f"check=true; echo $?; }} > {tmp_path}/d.play/hooked.new 2>&1\n"
                    f"mv {tmp_path}/d.play/hooked.new {tmp_path}/d.play/hooked\n")
    hook.chmod(0o755)
    h = apart(scripts={"implement": f"{ask} run.list\necho $? > $PLAY/agent\n"},
              config={"hook": {"on_end": [str(hook)]}, "access": {role: ["games"]}})
    shutil.copy(RLCTL, h.daemon.path)
    assert h.ended(h.submit(h.work().path))["state"] == "succeeded"
    while not (h.play.path / "hooked").exists():
        h.call("daemon.status")
    said = (h.play.path / "hooked").read_text()
    assert [line for line in said.splitlines() if line.isdigit()] == ["0", "0" if role == "admin" else "1"], said
    assert (h.play.path / "agent").read_text() != "0\n"


@pytest.mark.parametrize("owner", ["agents", "rld"])
def test_who_marks_the_stories(apart, tmp_path, owner):
    """rld itself does, with no help of an agent: so it must be able to, which is said at once."""
    h = apart(scripts={"implement": "echo one > work.txt\n"})
    folder = tmp_path / "prd"
    folder.mkdir()
    file = folder / "prd.json"
    file.write_text(names("a"))
    for path in (folder, file):
        os.chown(path, h.agents.pw_uid if owner == "agents" else RLD_UID, RLD_UID)
        path.chmod(0o755)
    submit = {"task": None, "stories": file.read_text(), "stories_path": str(file)}
    if owner == "agents":
        with pytest.raises(RpcError) as refused:
            h.submit(h.work().path, **submit)
        assert "let the daemon's user write the file and its directory" in refused.value.data["hint"]
        return
    assert h.ended(h.submit(h.work().path, **submit))["state"] == "succeeded"
    assert json.loads(file.read_text())["userStories"][0]["passes"] is True


def test_a_hand_over_that_cannot_be_completed(tmp_path, another_user):
    """It is not taken for done: the next start tries again."""
    state, file = tmp_path / "state", tmp_path / "state/evidence/a.git/HEAD"
    file.parent.mkdir(parents=True)
    file.write_text("ref\n")
    subprocess.run(["chown", "-R", f"{RLD_UID}:{RLD_UID}", state], check=True)
    if subprocess.run(["chattr", "+i", file], capture_output=True).returncode != 0:
        pytest.skip("no file of this file system can be made immutable")
    argv = [str(BUILD / "rl-start"), "--user", "games", "--hand-over", str(state)]
    try:
        done = subprocess.run(argv, capture_output=True, text=True)
    finally:
        subprocess.run(["chattr", "-i", file], check=True)
    assert done.returncode == 1 and "HEAD: Operation not permitted" in done.stderr, done
    assert "could not be given to uid 5" in done.stderr and not (state / "agents").exists(), done
    assert subprocess.run(argv).returncode == 0 and (state / "agents").exists()
    assert file.stat().st_uid == pwd.getpwnam("games").pw_uid


def test_a_fault_in_rl_start_is_no_result(apart, tmp_path):
    """What it cannot read of a request is no request that is wrong: it is made again."""
    needs_inject()
    flag = tmp_path / "flag"
    h = apart(cgroup=False, starter_prefix=[INJECT, "-p", "rl-start", "-c", "pread64", "-g", "r", "-n", "1",
                                            "-a", "EIO", "-f", flag])
    repo = h.work()
    flag.touch()
    run = h.review(repo.path)
    assert h.ended(run)["state"] == "succeeded", h.run(run)
    waits = h.call("event.list", since=0, types=["host"], limit=100)["events"]
    assert [event["error"] for event in waits if event["what"] == "waits"] == ["EIO"], waits


@pytest.mark.parametrize(("call", "error"), [("readlink", "EIO"), ("clone", "EAGAIN"), ("signalfd4", "EMFILE")])
def test_rl_start_comes_up_when_a_fault_is_over(tmp_path, another_user, call, error):
    """Its status is not that of settings that are wrong, after which systemd would leave it."""
    needs_inject()
    starter = Starter(tmp_path / "starter", cgroup=False, start=False, prefix=[
        INJECT, "-p", "rl-start", "-c", call, "-g", "drp", "-n", "1", "-k", "-a", error])
    done = subprocess.run(starter.argv(), capture_output=True, text=True)
    assert done.returncode == os.EX_OSERR and done.stderr.startswith("rl-start: "), done


# A call that fails, of files below this directory; what is said then.
FAULTS = {
    "who works there": ("readlink", "/proc", "whether agents of an earlier version are at work"),
    "when it ends": ("pidfd_open", "/", "whether agents of an earlier version are at work"),
    "what is there": ("openat", "@/evidence", "could not be given to uid 5"),
    "what is in it": ("getdents64", "@/runs", "could not be given to uid 5"),
    "whose it is": ("newfstatat", "@/worktrees", "could not be given to uid 5"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_of_the_host_ends_a_hand_over(tmp_path, another_user, what):
    """What is not known is not taken for done: nothing is moved while an agent of an earlier
    version may be at work."""
    needs_inject()
    state, (call, below, said) = tmp_path / "state", FAULTS[what]
    for name in ("evidence/a.git/HEAD", "runs/1/tree-1/file", "worktrees/1/t1/file"):
        (state / name).parent.mkdir(parents=True)
        (state / name).write_text("text\n")
    shutil.copy("/bin/cat", tmp_path / "rl-shim")
    give(state, RLD_UID)
    shim = subprocess.Popen([tmp_path / "rl-shim"], stdin=subprocess.PIPE, cwd=state / "runs", user=RLD_UID,
                            group=RLD_UID, extra_groups=[]) if below[0] == "/" else None
    argv = [str(BUILD / "rl-start"), "--user", "games", "--hand-over", str(state)]
    inject = [INJECT, "-p", "rl-start", "-c", call, "-g", "drp", "-d", below.replace("@", str(state)), "-n", "1", "-k",
              "-a", "EMFILE"]
    try:
        done = subprocess.run([*inject, *argv], capture_output=True, text=True)
        assert done.returncode == 1 and said in done.stderr and "Too many open files" in done.stderr, done
        assert not (state / "agents").exists()
        assert shim is None or (state / "runs/1/tree-1/file").stat().st_uid == RLD_UID
    finally:
        if shim is not None:
            shim.stdin.close()
            shim.wait()
    assert subprocess.run(argv).returncode == 0 and (state / "agents").exists()


# What it places, and what ends that, say who they are.
LAUNCHER = """#!/bin/sh
echo "$(basename "$0") $(id -un)" >> {log}
{do}
"""


def test_a_launcher(apart, tmp_path):
    """Its command and its cancel command are the other user, also when rld runs the latter, because
    no shim is left."""
    log = tmp_path / "launched"
    log.touch()
    log.chmod(0o666)
    tmp_path.chmod(0o755)
    for name, do in (("place", 'exec "$@"'), ("end", "exit 0")):
        (tmp_path / name).write_text(LAUNCHER.format(log=log, do=do))
        (tmp_path / name).chmod(0o755)
    h = apart(scripts={"implement": "[ $RL_RUN = 1 ] || gate there\nanswer done\n"}, gates=["there"],
              config={"launcher.fake": {"command": [str(tmp_path / "place")], "cancel": [str(tmp_path / "end")]},
                      "run.launcher": "fake"})
    run = h.submit(h.work().path)
    assert h.ended(run)["state"] == "succeeded"
    run = h.submit(h.work("more").path)
    h.play.arrived("there")
    attempt = h.state / "attempts" / str(h.attempts(run)[0]["id"])
    h.kill()
    os.kill(int(next(line.split()[1] for line in (attempt / "shim").read_text().splitlines()
                     if line.startswith("pid"))), signal.SIGKILL)
    h.start()
    h.call("run.wait", ids=[run])
    assert h.run(run)["state"] == "held" and h.attempts(run)[0]["state"] == "lost"
    agents = h.agents.pw_name
    assert log.read_text().splitlines() == [f"place {agents}", f"place {agents}", f"end {agents}"]


# as ssh does: one word for a shell; nothing of the environment here
CONNECT = """#!/bin/sh
[ "$1" = end ] || echo "$1 $(id -un)" >> {log}
sed -i 's,^s=.*,s={shim},' "${{2#sh }}"
exec env -i PATH=/usr/bin:/bin setsid -w sh -c "$2"
"""


def test_a_launcher_with_an_rl_shim_there(apart, tmp_path):
    """It is the other user as well, which may not read the attempt's directory."""
    log = tmp_path / "launched"
    log.touch()
    log.chmod(0o666)
    tmp_path.chmod(0o755)
    (tmp_path / "connect").write_text(CONNECT.format(log=log, shim=tmp_path / "starter" / "rl-shim"))
    (tmp_path / "connect").chmod(0o755)
    h = apart(scripts={"implement": "echo words\n[ $RL_RUN = 1 ] || gate there\nanswer done\n"}, gates=["there"],
              config={"launcher.fake": {"command": [str(tmp_path / "connect"), "{node}", "sh {start}"],
                                        "cancel": [str(tmp_path / "connect"), "end", "sh {end}"],
                                        "hosts": [{"name": "n1", "slots": 1}]}, "run.launcher": "fake"})
    run = h.submit(h.work().path)
    assert h.ended(run)["state"] == "succeeded"
    row, = h.attempts(run)
    attempt = h.state / "attempts" / str(row["id"])
    assert log.read_text().splitlines() == [f"n1 {h.agents.pw_name}"]
    assert (attempt / "place" / "exit").stat().st_uid == h.agents.pw_uid
    assert "words\n" in (attempt / "stdout.0000000000000000").read_text()
    assert b"do it" in h.play.prompt(run, "implement")
    # another one follows it, when the one here is killed: as the other user, too
    run = h.submit(h.work("more").path)
    h.play.arrived("there")
    attempt = h.state / "attempts" / str(h.attempts(run)[0]["id"])
    log.write_text("")
    os.kill(int(next(line.split()[1] for line in (attempt / "shim").read_text().splitlines()
                     if line.startswith("pid"))), signal.SIGKILL)
    while not log.read_text():
        pass
    h.play.go("there")
    assert h.ended(run)["state"] == "succeeded" and len(h.attempts(run)) == 1 == len(h.play.starts(run))
    assert "words\n" in (attempt / "stdout.0000000000000000").read_text()
    assert set(log.read_text().splitlines()) == {f"n1 {h.agents.pw_name}"}
    assert not list((attempt / "place").glob("std*"))


# ssh for one who may enter no namespace: a server does, with what the caller has open
DOOR = """#!/usr/bin/python3
import os, socket, sys
door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
door.connect("{socket}")
socket.send_fds(door, [" ".join(sys.argv[2:]).encode()], [0, 1, 2])
sys.exit(int(door.recv(16)))
"""
NAMESPACE = ("mount -t tmpfs -o mode=711,uid={uid},gid={gid} none {state} && mount -t tmpfs none {repo} && "
             "echo ready && exec sleep infinity")


class Away:
    """A host with directories of its own, in which the user of the agents has a home."""

    def __init__(self, h, repo, path):
        self.h, self.path = h, path
        path.chmod(0o755)
        self.process = subprocess.Popen(["unshare", "-m", "sh", "-c", NAMESPACE.format(
            uid=h.agents.pw_uid, gid=h.agents.pw_gid, state=h.state, repo=repo.path)], stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"ready\n"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(str(path / "door.sock"))
        (path / "door.sock").chmod(0o666)
        self.socket.listen(16)
        (path / "door").write_text(DOOR.format(socket=path / "door.sock"))
        (path / "door").chmod(0o755)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.execute, args=(client,), daemon=True).start()

    def execute(self, client):
        data, fds, _, _ = socket.recv_fds(client, 65536, 3)
        # the one in the build is perhaps not for the agents' user
        command = data.decode().replace(str(SHIM), str(self.path / "starter" / "rl-shim"))
        for start in (self.h.state / "attempts").glob("*/place/start"):
            start.write_text(start.read_text().replace(str(SHIM), str(self.path / "starter" / "rl-shim")))
        done = subprocess.run(
            ["nsenter", "-m", "-t", str(self.process.pid), "setpriv", f"--reuid={self.h.agents.pw_uid}",
             f"--regid={self.h.agents.pw_gid}", "--clear-groups", "env", "-i", "PATH=/usr/bin:/bin",
             "HOME=/nonexistent", "sh", "-c", command], stdin=fds[0], stdout=fds[1], stderr=fds[2], cwd="/",
            start_new_session=True)
        for fd in fds:
            os.close(fd)
        client.send(str(done.returncode).encode())
        client.close()

    def end(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.mark.skipif(shutil.which("rsync") is None, reason="needs rsync")
def test_a_host_that_shares_no_directory(apart, tmp_path):
    """The agents' user takes the tree there, and brings the work back."""
    h = apart(scripts={"implement": "id -un > who.txt; git log --format=%s > log.txt; chmod +x README; mkdir -p a/b; "
                                    "echo x > a/b/c; umask > mask.txt\necho words\nanswer done\n",
                       "review": "cat who.txt\npass\n"},
              config={"launcher.farm": {"command": [str(tmp_path / "door"), "{node}", "sh {start}"],
                                        "cancel": [str(tmp_path / "door"), "{node}", "sh {end}"], "files": "copied",
                                        "hosts": [{"name": "n1", "slots": 1}]}, "run.launcher": "farm"})
    repo = h.work()
    away = Away(h, repo, tmp_path)
    try:
        run = h.review(repo.path)
        h.call("run.wait", ids=[run])
        row = h.run(run)
        assert row["state"] == "succeeded", (row["cause"], row["reason"], [
            (a["cause"], h.call("attempt.output", id=a["id"], stream="stderr", offset=0)["data"])
            for a in h.attempts(run)])
        rows = h.attempts(run)
        assert [(a["node"], a["exit_code"]) for a in rows] == [("n1", 0)] * 2
        assert repo.git("show", f"{row['result_commit']}:who.txt") == h.agents.pw_name
        assert repo.git("show", f"{row['result_commit']}:log.txt") == "start"
        assert repo.git("show", f"{row['result_commit']}:mask.txt") == "0002"
        assert repo.git("ls-tree", row["result_commit"], "README").startswith("100755")
        assert "words\n" in h.call("attempt.output", id=rows[0]["id"], stream="stdout", offset=0)["data"]
        assert not list((h.state / "attempts").glob("*/place/start"))
    finally:
        away.end()
