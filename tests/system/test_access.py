# SPDX-License-Identifier: MIT
"""Who may do what: [access], the owners of runs, agents; a host with several users."""
import itertools
import json
import os
import signal
import stat
import subprocess
import sys
import threading

import pytest
from rld import Repo, RpcError, give
from test_agent_access import ASK, WAYS
from users import User, needs_root

# The daemon has a user of its own, who is in no group but his own.
DAEMON = 1          # "daemon" of Debian
NEWS = 9            # a group of Debian

# Who is who. The member is in a group that may submit, the stranger has no role.
EVERYBODY = ("root", "own", "admin", "owner", "other", "member", "reader", "stranger", "agent")
ANY = set(EVERYBODY) - {"stranger"}
READ = ANY - {"agent"}
SUBMIT = READ - {"reader"}
OWNER = {"root", "own", "admin", "owner"}
ADMIN = {"root", "own", "admin"}

# The matrix: who may call each method, with parameters that change nothing. RUN is the owner's, and
# HOLD is open in it; ATTEMPT is one of its attempts.
RUN, HOLD, ATTEMPT, WORK, ELSEWHERE = "$RUN", "$HOLD", "$ATTEMPT", "$WORK", "$ELSEWHERE"
MATRIX = {
    "rpc.discover": (ANY, {}),
    "daemon.hello": (ANY, {}),
    "daemon.status": (READ, {}),
    "daemon.metrics": (READ, {}),
    "daemon.doctor": (READ, {}),
    "config.show": (SUBMIT, {}),
    "prompt.show": (SUBMIT, {"workdir": WORK, "role": "implement"}),
    "run.get": (READ, {"id": RUN}),
    "run.list": (READ, {}),
    "run.diff": (READ, {"id": RUN}),
    "run.wait": (READ, {"ids": [RUN]}),
    "run.report": (READ, {"id": RUN}),
    "run.attest": (READ, {"id": RUN}),
    "attempt.list": (READ, {"run": RUN}),
    "attempt.get": (READ, {"id": ATTEMPT}),
    "attempt.output": (READ, {"id": ATTEMPT}),
    "attempt.preview": (READ, {"id": ATTEMPT}),
    "attempt.transcript": (READ, {"id": ATTEMPT}),
    "review.list": (READ, {"run": RUN}),
    "review.export": (READ, {"run": RUN}),
    "review.verify": (READ, {"run": RUN}),
    "finding.list": (READ, {"run": RUN}),
    "product.list": (READ, {"run": RUN}),
    "evidence.list": (READ, {"run": RUN}),
    "hold.list": (READ, {"run": RUN}),
    "hold.get": (READ, {"id": HOLD}),
    "group.list": (READ, {}),
    "cooldown.list": (READ, {}),
    "salvage.list": (READ, {}),
    "salvage.get": (READ, {"id": 1}),
    "event.list": (READ, {}),
    "event.subscribe": (READ, {"run": RUN}),
    "event.unsubscribe": (READ, {}),
    "blob.put": (SUBMIT, {"blob": "b", "offset": 0, "data": "eA==", "check": True}),
    "run.submit": (SUBMIT, {"workdir": WORK, "task": "x", "check": True}),
    "run.cancel": (OWNER, {"id": RUN, "check": True}),
    "run.pause": (OWNER, {"id": RUN, "check": True}),
    "run.resume": (OWNER, {"id": RUN, "check": True}),
    "run.retry": (OWNER, {"id": RUN, "check": True}),
    "run.change": (OWNER, {"id": RUN, "priority": 1, "check": True}),
    "review.again": (OWNER, {"run": RUN, "check": True}),
    "finding.dismiss": (OWNER, {"run": RUN, "finding": "f1", "reason": "x", "check": True}),
    "hold.approve": (OWNER, {"id": HOLD, "check": True}),
    "hold.reject": (OWNER, {"id": HOLD, "check": True}),
    "hold.rework": (OWNER, {"id": HOLD, "message": "x", "check": True}),
    "hold.answer": (OWNER, {"id": HOLD, "message": "x", "check": True}),
    "daemon.backup": (ADMIN, {"path": ELSEWHERE}),
    "state.prune": (ADMIN, {"check": True}),
    "daemon.reload": (ADMIN, {"check": True}),
    "daemon.stop": (ADMIN, {"check": True}),
    "group.set": (ADMIN, {"name": "g", "slots": 1, "check": True}),
    "group.pause": (ADMIN, {"name": "default", "check": True}),
    "group.resume": (ADMIN, {"name": "default", "check": True}),
    "cooldown.set": (ADMIN, {"account": "play", "for": "1h", "check": True}),
    "cooldown.clear": (ADMIN, {"account": "play", "check": True}),
}
ROLES = {frozenset(ANY): "any", frozenset(READ): "read", frozenset(SUBMIT): "submit", frozenset(OWNER): "owner",
         frozenset(ADMIN): "admin"}

ACCESS = {"read": ["www-data"], "submit": ["games", "man", "@news"], "admin": ["bin"]}

pytestmark = needs_root


class Host:
    """A daemon that serves several users, and they."""

    def __init__(self, make_daemon, tmp_path, access=ACCESS, **kwargs):
        self.tmp_path = tmp_path
        config = {"access": access} if access is not None else {}
        self.daemon = make_daemon(config={**config, **kwargs.pop("config", {})}, uid=DAEMON, **kwargs)
        self.users = {"root": self.user("root"), "own": self.user("daemon"), "admin": self.user("bin"),
                      "owner": self.user("games"), "other": self.user("man"),
                      "member": self.user("lp", groups=[NEWS]), "reader": self.user("www-data"),
                      "stranger": self.user("nobody")}

    def __getattr__(self, name):
        return self.users[name]

    def user(self, name, groups=()):
        return User(self.daemon, name, groups)

    def work(self, name, uid=DAEMON, mode=0o777):
        """A repository that the daemon's user can write, and the others as well by default."""
        repo = Repo(self.tmp_path / name)
        give(repo.path, DAEMON)
        os.chown(repo.path, uid, uid)
        repo.path.chmod(mode)
        return str(repo.path)


@pytest.fixture
def host(make_daemon, tmp_path, another_user):
    def make(access=ACCESS, **kwargs):
        return Host(make_daemon, tmp_path, access, **kwargs)
    return make


def permitted(answer):
    return "closed" not in answer and answer.get("error", {}).get("code") != 3


def held_run(host, user, work):
    """A run of that user which waits for a decision."""
    run = user.call("run.submit", workdir=work, task="x", review={"enabled": True, "max_fixes": 0,
                                                                 "on_exhausted": "hold"})["id"]
    assert host.daemon.ended(run)["state"] == "held"
    return run


FINDS = {"implement": "echo one > work.txt\nanswer done\n", "review": "drift 'add a line'\n"}


def test_the_matrix(host):
    h = host(scripts=FINDS)
    work = h.work("w")
    run = held_run(h, h.owner, work)
    names = {RUN: run, HOLD: h.daemon.call("hold.list", run=run)["holds"][0]["id"],
             ATTEMPT: h.daemon.attempts(run)[0]["id"], WORK: work, ELSEWHERE: str(h.daemon.home / "copy")}

    def fill(value):
        if isinstance(value, list):
            return [fill(v) for v in value]
        return names.get(value, value) if isinstance(value, str) else value

    requests = [(method, {k: fill(v) for k, v in params.items()}) for method, (_, params) in MATRIX.items()]
    offered = {m["name"]: m["x-role"] for m in h.daemon.call("rpc.discover")["methods"]}
    assert offered == {method: ROLES[frozenset(who)] for method, (who, _) in MATRIX.items()}
    answers = {}
    for name, user in h.users.items():
        # a backup takes a new file each time
        (h.daemon.home / "copy").unlink(missing_ok=True)
        answers[name] = user.ask(*requests)
    # an agent of the same owner, in a run of its own
    ask = h.daemon.play.path / "ask"
    ask.write_text(ASK)
    ask.chmod(0o755)
    file = h.daemon.play.path / "asked"
    file.write_text("".join(json.dumps({"jsonrpc": "2.0", "id": 1, "method": m, "params": p}) + "\n"
                            for m, p in requests))
    h.daemon.play.set({"implement": WAYS["plainly"].format(socket=h.daemon.socket, file=file) + "answer done\n"})
    agents = h.owner.call("run.submit", workdir=h.work("w2"), task="x")["id"]
    assert h.daemon.ended(agents)["state"] == "succeeded"
    answers["agent"] = [json.loads(line) for line in (h.daemon.play.path / "asked.said").read_text().splitlines()]
    assert set(answers) == set(EVERYBODY)
    wrong = []
    for name in EVERYBODY:
        for (method, params), answer in zip(requests, answers[name], strict=True):
            if permitted(answer) != (name in MATRIX[method][0]):
                wrong.append((name, method, params, answer))
    assert not wrong, wrong
    assert h.daemon.run(run)["state"] == "held" and len(h.daemon.call("run.list")["runs"]) == 2


# ---- the story of a shared host ------------------------------------------------------------------

def test_a_shared_host(host):
    """A member of the group submits and watches; another may look, and no more; the owner and an
    administrator may cancel."""
    h = host(scripts={"implement": "gate g\nanswer done\n"}, gates=["g"])
    run = int(h.owner.rlctl("submit", "-q", "-C", h.work("w"), "x", check=0).out)
    h.daemon.play.arrived("g")
    assert h.daemon.run(run)["owner"] == h.owner.uid
    # another sees it, and who owns it
    line = h.member.rlctl("list", check=0).out.splitlines()
    assert "OWNER" in line[0] and "games" in line[1], line
    assert "games" in h.member.rlctl("show", run, check=0).out
    assert "OWNER" not in h.owner.rlctl("list", check=0).out
    assert "owner" not in h.owner.rlctl("show", run, check=0).out
    # ... and cannot touch it
    done = h.member.rlctl("cancel", run, check=1)
    assert (f"run.cancel: takes the owner of run {run}, uid {h.owner.uid}, or an administrator; uid {h.member.uid} "
            "has the role submit") in done.err and "ask one of them" in done.err, done.err
    assert "takes the role submit" in h.reader.rlctl("submit", "-C", h.work("w2"), "x", check=1).err
    assert "access.admin" in h.member.rlctl("stop", check=1).err
    assert h.daemon.run(run)["state"] == "running"
    # the owner can, an administrator too
    h.owner.rlctl("pause", run, check=0)
    h.admin.rlctl("cancel", run, check=0)
    assert h.daemon.ended(run)["state"] == "cancelled" and f"uid {h.admin.uid}" in h.daemon.run(run)["cause"]
    assert [r["id"] for r in json.loads(h.reader.rlctl("--json", "list", "--owner", "games", check=0).out)["runs"]] == [
        run]
    assert h.reader.rlctl("list", "--owner", str(h.member.uid), check=0).out == ""
    assert "must be a user of this host" in h.reader.rlctl("list", "--owner", "nobody-here", check=2).err


def test_the_caller_learns_his_role(host):
    h = host()
    for name, role in (("root", "admin"), ("own", "admin"), ("admin", "admin"), ("owner", "submit"),
                       ("member", "submit"), ("reader", "read")):
        assert getattr(h, name).call("daemon.hello")["role"] == role
    said = h.reader.rlctl("status", check=0).out
    assert [line.split() for line in said.splitlines() if line.startswith("role")] == [["role", "read"]], said


def test_keys_are_of_their_users(host):
    h = host()
    work = h.work("w")
    runs = [user.call("run.submit", workdir=work, task="x", key="k")["id"] for user in (h.owner, h.other, h.owner)]
    assert runs[0] == runs[2] != runs[1]
    h.daemon.ended(*set(runs))


def test_an_administrator_retries_for_the_owner(host):
    """The new run is the owner's, says who did it, and is his to cancel."""
    h = host(scripts=FINDS, gates=["g"])
    run = h.owner.call("run.submit", workdir=h.work("w"), task="x",
                       review={"enabled": True, "max_fixes": 0, "on_exhausted": "fail"})["id"]
    assert h.daemon.ended(run)["state"] == "failed"
    # the run has ended: its owner is read from the database
    h.member.refusal("run.retry", id=run)
    h.member.refusal("review.again", run=run)
    h.daemon.play.set({"implement": "gate g\nanswer done\n", "fix": "gate g\nanswer done\n",
                       "review": "gate g\npass\n"})
    retry = h.admin.call("run.retry", id=run)
    assert retry["owner"] == h.owner.uid
    assert f"uid {h.admin.uid} has retried run {run} of uid {h.owner.uid}" in retry["warnings"]
    h.daemon.play.arrived("g")
    h.owner.call("run.cancel", id=retry["id"])
    assert h.daemon.ended(retry["id"])["state"] == "cancelled"
    own = h.owner.call("run.retry", id=retry["id"])
    assert own["owner"] == h.owner.uid and not [w for w in own["warnings"] if "has retried" in w]
    h.daemon.cancelled(own["id"])


def test_who_has_cancelled(host):
    """By name where it is known; programs get the number."""
    h = host(scripts={"implement": "gate g\nanswer done\n"}, gates=["g"])
    run = h.owner.call("run.submit", workdir=h.work("w"), task="x")["id"]
    h.daemon.play.arrived("g")
    h.admin.rlctl("cancel", run, check=0)
    assert h.daemon.ended(run)["cause"] == f"cancelled by uid {h.admin.uid}"
    assert "cancelled by bin" in h.owner.rlctl("show", run, check=0).out
    assert "cancelled by bin" in h.owner.rlctl("list", check=0).out
    assert f"cancelled by uid {h.admin.uid}" in h.owner.rlctl("--json", "show", run, check=0).out


def test_a_hold_of_an_ended_run(host):
    """Its run is found in the database; the run with the number of the hold is another."""
    h = host(scripts=FINDS)
    first = h.member.call("run.submit", workdir=h.work("v"), task="x")["id"]
    h.daemon.ended(first)
    run = held_run(h, h.owner, h.work("w"))
    hold = h.daemon.call("hold.list", run=run)["holds"][0]["id"]
    assert hold == first != run
    for decision, message in (("approve", {}), ("reject", {}), ("rework", {"message": "x"}),
                              ("answer", {"message": "x"})):
        h.member.refusal(f"hold.{decision}", id=hold, **message)
    h.owner.call("hold.reject", id=hold)
    h.daemon.ended(run)
    h.member.refusal("hold.approve", id=hold)
    answer, = h.owner.ask(("hold.approve", {"id": hold}))
    assert answer["error"]["data"]["kind"] == "wrong-state"
    answer, = h.member.ask(("hold.approve", {"id": 999}))
    assert answer["error"]["data"]["kind"] == "not-found"
    answer, = h.member.ask(("run.cancel", {"id": 999}))
    assert answer["error"]["data"]["kind"] == "not-found"


def test_a_refusal_is_logged_once(host):
    h = host()
    for _ in range(3):
        h.reader.refusal("daemon.stop")
        h.stranger.refusal("daemon.status")
    log = h.daemon.log()
    assert log.count(f"daemon.stop was refused: it takes the role admin, and uid {h.reader.uid} has") == 1
    assert log.count(f"a connection of uid {h.stranger.uid} was refused") == 1


# ---- who may connect -----------------------------------------------------------------------------

def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_a_stranger_is_told(host):
    """Each time, whatever he sends, and nobody waits for him."""
    h = host()
    for _ in range(20):
        done = h.stranger.rlctl("list", check=1)
        assert f"uid {h.stranger.uid} has none" in done.err and "[access]" in done.err, done.err
    # strangers who never read
    mute = h.stranger.run(sys.executable, "-c",
                          "import socket, sys\nkept = []\nfor _ in range(600):\n"
                          " s = socket.socket(socket.AF_UNIX)\n s.connect(sys.argv[1])\n kept.append(s)\n",
                          str(h.daemon.socket))
    assert mute.returncode == 0, mute.stderr
    assert h.owner.call("daemon.status")["clients"] >= 1


def test_without_access_nobody_else_connects(host):
    """A user's own daemon has a closed socket, and group rld means nothing to it."""
    h = host(access=None)
    assert mode_of(h.daemon.socket) == 0o600
    done = h.owner.rlctl("list", check=1)
    assert "no permission to connect" in done.err
    h.daemon.socket.chmod(0o666)
    for name in ("owner", "member", "reader", "admin"):
        assert f"uid {getattr(h, name).uid} has none" in getattr(h, name).refusal("daemon.hello")["message"]
    assert h.daemon.call("daemon.hello")["role"] == "admin"


def test_a_reload_changes_roles_and_the_socket(host):
    """Also of those who are connected."""
    h = host()
    work = h.work("w")
    assert mode_of(h.daemon.socket) == 0o666
    with h.owner.connect() as owner, h.reader.connect() as reader, h.admin.connect() as admin:
        assert permitted(owner.ask("run.submit", {"workdir": work, "task": "x", "check": True}))
        assert permitted(reader.ask("daemon.status")) and permitted(admin.ask("daemon.stop", {"check": True}))
        h.daemon.write_config({"access": {"read": ["games"], "submit": ["bin"]}})
        h.daemon.call("daemon.reload")
        assert owner.ask("daemon.hello")["result"]["role"] == "read"
        assert not permitted(owner.ask("run.submit", {"workdir": work, "task": "x", "check": True}))
        assert admin.ask("daemon.hello")["result"]["role"] == "submit"
        assert not permitted(admin.ask("daemon.stop", {"check": True}))
        assert not permitted(reader.ask("daemon.status")), "he is no longer let in"
    h.daemon.write_config({})
    h.daemon.call("daemon.reload")
    assert mode_of(h.daemon.socket) == 0o600
    h.daemon.write_config({"access": ACCESS})
    with h.daemon.connect() as rpc:
        os.kill(h.daemon.pid, signal.SIGHUP)
        while mode_of(h.daemon.socket) != 0o666:
            rpc.call("daemon.status")
    assert h.owner.call("daemon.hello")["role"] == "submit"


def test_a_feed_ends_with_the_role(host):
    h = host()
    code = ("import json, socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\nf = s.makefile()\n"
            "s.sendall(b'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"event.subscribe\"}\\n')\n"
            "print(f.readline(), flush=True)\nprint(f.read())\n")
    feed = subprocess.Popen([sys.executable, "-c", code, str(h.daemon.socket)], stdout=subprocess.PIPE, text=True,
                            **h.reader.how)
    feed.stdout.readline()
    h.daemon.write_config({"access": {"submit": ["games"]}})
    h.daemon.call("daemon.reload")
    rest = feed.communicate()[0]
    assert f"uid {h.reader.uid} has none" in rest, rest


def test_names_that_are_unknown(host):
    """The daemon starts, and says so; a reload finds what is right by then."""
    h = host(access={"read": ["no-such-user"], "submit": ["games", "@no-such-group", "6", "@12"]})
    place = f"{h.daemon.config}:"
    log = h.daemon.log()
    for text in ("access.read names the user 'no-such-user', which this host does not know",
                 "access.submit names the group 'no-such-group', which this host does not know"):
        line, = [line for line in log.splitlines() if text in line]
        number = int(line.split(place)[1].split(":")[0])
        assert "no-such" in h.daemon.config.read_text().splitlines()[number - 1]
    checks = [c for c in h.daemon.call("daemon.doctor")["checks"] if c["name"] == "access"]
    assert [c["state"] for c in checks] == ["warning", "warning"] and "daemon.reload" in checks[0]["remedy"], checks
    assert "no-such-user" in h.daemon.rlctl("--trust-uid", DAEMON, "doctor").out
    # numbers are IDs
    assert h.owner.call("daemon.hello")["role"] == h.other.call("daemon.hello")["role"] == "submit"
    assert h.user("lp", groups=[12]).call("daemon.hello")["role"] == "submit"
    h.daemon.write_config({"access": {"read": ["www-data"], "submit": ["games"]}})
    h.daemon.call("daemon.reload")
    checks = [c for c in h.daemon.call("daemon.doctor")["checks"] if c["name"] == "access"]
    assert [(c["state"], c["text"]) for c in checks] == [("ok", "all users and groups of [access] are known")]
    assert h.reader.call("daemon.hello")["role"] == "read"


@pytest.mark.parametrize("name", ["", "@", "a b", "a:b", "a/b", "@@x", "a\x01b"])
def test_what_is_no_name(host, name):
    h = host(access=None)
    h.daemon.write_config({"access": {"submit": [name]}})
    with pytest.raises(RpcError) as error:
        h.daemon.call("daemon.reload", check=True)
    assert "access.submit" in error.value.message and "the name of a user" in error.value.message


GROUP = 4711


def namespaces():
    return subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"],
                          capture_output=True).returncode == 0


@pytest.mark.skipif(not os.geteuid() == 0 or not namespaces(), reason="no mount namespaces here")
def test_the_system_service_lets_the_group_submit(make_daemon, tmp_path, another_user):
    """By default; others are told, because its socket is open. It runs where /proc hides the
    processes of other users, as its unit has it."""
    group = tmp_path / "group"
    group.write_text(open("/etc/group").read() + f"rld:x:{GROUP}:\n")
    script = (f"mount --bind {group} /etc/group && mount -t proc -o hidepid=2 proc /proc && "
              f"exec setpriv --reuid={DAEMON} --regid={DAEMON} --clear-groups \"$@\"")
    daemon = make_daemon(uid=DAEMON, prefix=["unshare", "--mount", "sh", "-c", script, "sh"], prefix_sets_uid=True,
                         start=False)
    daemon.socket = daemon.path / "run" / "rld.sock"
    daemon.path.chmod(0o755)
    daemon.start("--system")
    assert mode_of(daemon.socket) == 0o666 and mode_of(daemon.socket.parent) == 0o755
    assert mode_of(daemon.state) == 0o700
    member, stranger = User(daemon, "lp", groups=[GROUP]), User(daemon, "games")
    assert member.call("daemon.hello")["role"] == "submit"
    assert f"uid {stranger.uid} has none" in stranger.refusal("daemon.hello")["message"]
    assert daemon.call("daemon.hello")["role"] == "admin", "root"
    daemon.write_config({"access": {"submit": []}})
    daemon.call("daemon.reload")
    member.refusal("daemon.hello")
    assert mode_of(daemon.socket) == 0o666


def test_users_keep_nobody_out(host):
    """Two users hold all the connections that the daemon can have: idle ones make room."""
    h = host()
    code = ("import socket, sys\nkept = []\nfor _ in range(256):\n s = socket.socket(socket.AF_UNIX)\n"
            " s.connect(sys.argv[1])\n kept.append(s)\nprint('here', flush=True)\nsys.stdin.read()\n")
    greedy = [subprocess.Popen([sys.executable, "-c", code, str(h.daemon.socket)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, **user.how) for user in (h.owner, h.other)]
    for each in greedy:
        each.stdout.readline()
    while True:     # until the first is idle
        answer, = h.member.ask(("daemon.status", {}))
        if "result" in answer:
            break
        assert answer["error"]["code"] == 5, answer
    assert h.admin.call("daemon.hello")["role"] == "admin"
    for each in greedy:
        each.communicate()


# crowd SOCKET: connects until it has 256 connections, each with a subscription.
CROWD = """
import json, socket, sys
kept = []
while len(kept) < 256:
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.sendall(b'{"jsonrpc":"2.0","id":1,"method":"event.subscribe"}\\n')
    if b'"result"' in s.recv(65536):
        kept.append(s)
print("here", flush=True)
sys.stdin.read()
"""


def test_an_administrator_always_gets_in(host):
    """Two users who may only read hold all connections by feeds: one of them makes room for an
    administrator, and for nobody else."""
    h = host(access={"read": ["www-data", "lp"], "submit": ["games"], "admin": ["bin"]})
    greedy = [subprocess.Popen([sys.executable, "-c", CROWD, str(h.daemon.socket)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, **user.how) for user in (h.reader, h.member)]
    for each in greedy:
        assert each.stdout.readline() == "here\n"
    answer, = h.owner.ask(("daemon.hello", {}))
    assert answer["error"]["code"] == 5 and "too many connections (512)" in answer["error"]["message"], answer
    with h.root.connect() as root, h.own.connect() as own, h.admin.connect() as admin:
        # ... for each of them, and they stay
        for _ in range(2):
            assert [link.ask("daemon.hello")["result"]["role"] for link in (root, own, admin)] == ["admin"] * 3
    for each in greedy:
        each.communicate()


def test_agents_do_not_lock_out_their_user(host):
    """They have the user of the daemon; what they hold, never idle, does not count as theirs."""
    h = host(access=None, gates=["held"])
    place = h.daemon.play.path
    (place / "hold").write_text(f"""
import socket
kept = []
for _ in range(256):
    s = socket.socket(socket.AF_UNIX)
    s.connect("{h.daemon.socket}")
    s.sendall(b'{{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}}\\n' * 8)  # and reads no answer
    kept.append(s)
print("here", flush=True)
input()
""")
    h.daemon.play.set({"implement": f"mkfifo {place}/end {place}/said\n"
                       f"{sys.executable} {place}/hold < {place}/end > {place}/said &\nexec 9> {place}/end\n"
                       f"read -r word < {place}/said\ngate held\nanswer done\n"})
    run = h.root.call("run.submit", workdir=h.work("w"), task="x")["id"]
    h.daemon.play.arrived("held")
    for _ in range(2):
        assert h.own.call("daemon.hello")["role"] == "admin"
    h.daemon.play.go("held")
    assert h.daemon.ended(run)["state"] == "succeeded"


def test_a_user_of_a_directory_service(host):
    """Whose number is larger than a signed integer: blobs are found again, and texts name it."""
    h = host(access={"submit": ["3000000000"]}, scripts={"implement": "answer done\n"})
    user = h.user("games")
    user.uid = user.gid = 3000000000
    user.how.update(user=user.uid, group=user.gid)
    user.call("blob.put", blob="b", offset=0, data="a task")
    run = user.call("run.submit", workdir=h.work("w"), task_blob="b")["id"]
    assert h.daemon.ended(run)["owner"] == user.uid
    assert "uid 3000000000 has the role submit" in user.refusal("daemon.reload")["message"]


# ---- what the daemon does for whom ---------------------------------------------------------------

def private(h, name, uid=DAEMON, text="secret\n"):
    """A file that the daemon's user may read and write, and the submitters may not."""
    path = h.tmp_path / name
    path.write_text(text)
    os.chown(path, uid, uid)
    path.chmod(0o600)
    return str(path)


def closed(h, name):
    path = h.tmp_path / name
    path.mkdir()
    os.chown(path, DAEMON, DAEMON)
    path.chmod(0o700)
    return str(path)


REVIEW = {"enabled": True}
# What a submit can name: the parameters, where the file or directory is closed to the submitter.
NAMED = {
    "workdir": lambda h: {"workdir": h.work("closed", mode=0o755)},
    "report": lambda h: {"report": closed(h, "c") + "/report"},
    "developer_prompt": lambda h: {"review": {**REVIEW, "developer_prompt": private(h, "p")}},
    "reviewer_prompt": lambda h: {"review": {**REVIEW, "reviewer_prompt": private(h, "p")}},
    "review_log": lambda h: {"review": {**REVIEW, "review_log": closed(h, "c") + "/log"}},
    "reviewer": lambda h: {"reviewer": private(h, "p", text="#!/bin/sh\n")},
    "stories_path": lambda h: {"task": None, "stories": PRD, "stories_path": private(h, "prd.json", text=PRD)},
    "beads": lambda h: {"task": None, "beads": closed(h, "c")},
}
PRD = json.dumps({"project": "p", "userStories": [{"id": "s", "title": "t", "description": "d",
                                                   "acceptanceCriteria": ["c"], "priority": 1, "passes": False}]})


@pytest.mark.parametrize("what", NAMED)
def test_nobody_reaches_by_the_daemon_what_he_may_not(host, what):
    h = host()
    params = {"workdir": h.work("w"), "task": "x", "check": True, **NAMED[what](h)}
    params = {k: v for k, v in params.items() if v is not None}
    error = h.owner.refusal("run.submit", **params)
    assert f"uid {h.owner.uid} may not" in error["message"] and error["data"]["hint"], error
    assert error["data"]["field"] == what, error
    # the daemon's own user is an administrator, and may
    answer, = h.own.ask(("run.submit", params))
    assert permitted(answer), answer


def test_links_and_project_files_lead_nowhere(host):
    """What the submitter writes into his own directory names nothing else either."""
    h = host()
    work = h.work("w")
    secret = private(h, "p")
    submit = {"workdir": work, "task": "x", "check": True, "review": REVIEW}
    os.symlink(secret, f"{work}/CLAUDE.md")
    assert h.owner.refusal("run.submit", **submit)["data"]["field"] == "review.conventions"
    h.owner.refusal("prompt.show", workdir=work, role="review")
    os.unlink(f"{work}/CLAUDE.md")
    with open(f"{work}/.rld.toml", "w") as file:
        file.write(f"[review]\ndeveloper_prompt = {json.dumps(secret)}\n")
    assert h.owner.refusal("run.submit", **submit)["data"]["field"] == "developer_prompt"
    h.owner.refusal("prompt.show", workdir=work, role="implement")
    os.unlink(f"{work}/.rld.toml")
    os.makedirs(f"{work}/.ai_agents/prompts")
    os.symlink(secret, f"{work}/.ai_agents/prompts/reviewer_prompt.md")
    os.symlink(secret, f"{work}/.ai_agents/prompts/implement.md")
    os.symlink(secret, f"{work}/.ai_agents/prompts/review.md")
    assert "secret" not in json.dumps(h.owner.ask(("prompt.show", {"workdir": work, "role": "review"}),
                                                  ("prompt.show", {"workdir": work, "role": "implement"})))


@pytest.fixture
def swapping():
    """Threads that put one directory and another in turn in the place of a link."""
    end, threads = threading.Event(), []

    def swap(place, *targets):
        for turn in itertools.cycle(targets):
            os.symlink(turn, f"{place}.new")
            os.rename(f"{place}.new", place)
            if end.is_set():
                return

    def start(place, *targets):
        threads.append(threading.Thread(target=swap, args=(place, *targets)))
        threads[-1].start()
    yield start
    end.set()
    for thread in threads:
        thread.join()


def raced(h, swapping, work):
    """Where the submitter may look and where only the daemon may, in turn: .../link/file."""
    for name, text, uid, mode in (("mine", "a word\n", h.owner.uid, 0o755), ("theirs", "secret\n", DAEMON, 0o700)):
        place = h.tmp_path / name
        (place / ".ai_agents/prompts").mkdir(parents=True)
        for file in ("file.md", "CLAUDE.md", ".ai_agents/prompts/developer_prompt.md"):
            (place / file).write_text(text)
        (place / ".rld.toml").write_text(f"[review]\n{text.split()[0]}_unknown = 1\n")
        os.chown(place, uid, uid)
        place.chmod(mode)
    swapping(f"{work}/link", h.tmp_path / "mine", h.tmp_path / "theirs")
    return f"{work}/link"


RACED = {
    "developer_prompt": (lambda work: f'[review]\ndeveloper_prompt = "{work}/link/file.md"\n', "implement"),
    "reviewer_prompt": (lambda work: f'[review]\nreviewer_prompt = "{work}/link/file.md"\n', "review"),
    "conventions": (lambda work: '[review]\nconventions = ["link/CLAUDE.md"]\n', "review"),
    "workdir": (None, "implement"),
}


@pytest.mark.parametrize("what", RACED)
def test_a_link_that_is_swapped_meanwhile(host, swapping, what):
    """What the submitter may read is decided about what is read, not about its name before."""
    h = host()
    work = h.work("w")
    make, role = RACED[what]
    link = raced(h, swapping, work)
    if make is not None:
        with open(f"{work}/.rld.toml", "w") as file:
            file.write(make(work))
    requests = [("prompt.show", {"workdir": link if make is None else work, "role": role})] * 600
    if make is None:
        requests += [("config.show", {"workdir": link})] * 300
    answers = h.owner.ask(*requests)
    assert not [answer for answer in answers if "secret" in json.dumps(answer)]
    # it did race, and both came to something
    if make is not None:
        assert {"result" in answer for answer in answers} == {True, False}


def test_what_judges_is_read_for_the_submitter(host, swapping):
    """Also when the run is taken in, and when its attempts begin."""
    h = host(scripts={"implement": "answer done\n"})
    work = h.work("w")
    link = raced(h, swapping, work)
    params = {"workdir": work, "task": "x", "review": {**REVIEW, "developer_prompt": f"{link}/file.md",
                                                       "reviewer_prompt": f"{link}/file.md"}}
    runs = [answer["result"]["id"] for answer in h.owner.ask(*[("run.submit", params)] * 60) if "result" in answer]
    assert runs
    for run in runs:
        h.daemon.ended(run)
    h.daemon.stop()
    assert not h.daemon.query("SELECT run FROM judge WHERE reviewer LIKE '%secret%'")
    prompts = [p for p in (h.daemon.state / "attempts").glob("*/prompt") if "secret" in p.read_text()]
    assert not prompts


def test_what_a_project_says_is_for_who_may_read_it(host):
    h = host()
    work = closed(h, "w")
    for method, params in (("config.show", {"workdir": work}), ("prompt.show", {"workdir": work, "role": "fix"})):
        assert h.other.refusal(method, **params)["data"]["field"] == "workdir"
        assert permitted(h.own.ask((method, params))[0])


def test_a_project_file_that_the_user_may_not_read(host):
    h = host()
    work = h.work("w")
    file = f"{work}/.rld.toml"
    with open(file, "w") as out:
        out.write('checks = ["curl -u me:secret http://x"]\nunknown_secret = 1\n')
    os.chown(file, DAEMON, DAEMON)
    os.chmod(file, 0o600)
    for method, params in (("config.show", {"workdir": work}), ("prompt.show", {"workdir": work, "role": "fix"}),
                           ("run.submit", {"workdir": work, "task": "x", "check": True})):
        refused = h.owner.refusal(method, **params)
        assert refused["data"]["field"] == "workdir" and "unknown_secret" not in refused["message"], refused


def test_a_git_directory_elsewhere(host):
    """A work tree of another's repository is not the submitter's to work in."""
    h = host()
    victim = h.work("victim", mode=0o755)
    work = h.tmp_path / "w"
    work.mkdir()
    work.chmod(0o777)
    (work / ".git").write_text(f"gitdir: {victim}/.git\n")
    error = h.owner.refusal("run.submit", workdir=str(work), task="x", check=True)
    assert f"{victim}/.git" in error["message"]


def test_what_the_administrator_names_is_for_all(host):
    """Settings of rld.toml may name what submitters cannot reach."""
    h = host(start=False, scripts={"implement": "echo x > x\nanswer done\n", "review": "pass\n"})
    h.daemon.write_config({"access": ACCESS, "review": {"developer_prompt": private(h, "p", text="Do {{task}}\n"),
                                                        "review_log": closed(h, "log")}})
    h.daemon.start()
    run = h.owner.call("run.submit", workdir=h.work("w"), task="x", review=REVIEW)["id"]
    assert h.daemon.ended(run)["state"] == "succeeded"
    assert os.listdir(h.tmp_path / "log")


def test_a_directory_of_another_user(host):
    """One that the daemon's user cannot write: whose daemon could is said."""
    h = host()
    path = h.tmp_path / "theirs"
    Repo(path)
    os.chown(path, h.owner.uid, h.owner.gid)
    answer, = h.owner.ask(("run.submit", {"workdir": str(path), "task": "x", "check": True}))
    error = answer["error"]
    assert "cannot be used by uid 1" in error["message"] and "games" in error["data"]["hint"], error
    assert "rld@games" in error["data"]["hint"], error
