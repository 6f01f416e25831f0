# SPDX-License-Identifier: MIT
"""--host and RLD_HOST: rlctl asks the daemon of another machine, through the user's ssh."""
import getpass
import json
import os
import shutil
import signal
import socket
import subprocess

import pytest

from rld import FAKES, RLCTL, Daemon, wait_gone
from terminal import open_terminal


class Hosts:
    """A directory of machines for the fake ssh; the daemon is on the one called there."""

    def __init__(self, path, daemon):
        self.path, self.daemon = path, daemon
        (path / "bin").mkdir(parents=True)
        (path / "bin" / "ssh").symlink_to(FAKES / "ssh")
        (path / "here").mkdir()
        self.environment = {"PATH": f"{path}/bin:/usr/bin:/bin", "FAKE_HOSTS": str(path), "RLD_SOCKET": "/nowhere",
                            "HOME": str(path / "here"), "LC_MARK": "of the client", "MARK": "too"}
        self.add("there", f"#!/bin/sh\nRLD_SOCKET='{daemon.socket}' exec '{RLCTL}' \"$@\"\n")

    def add(self, name, rlctl=None, **files):
        for each in ("home", "bin"):
            (self.path / name / each).mkdir(parents=True)
        for file, text in files.items():
            (self.path / name / file).write_text(text)
        if rlctl is not None:
            program = self.path / name / "bin" / "rlctl"
            program.write_text(rlctl)
            program.chmod(0o755)

    def rlctl(self, *args, host="ssh://there", **kwargs):
        environment = {**self.environment, **kwargs.pop("environment", {})}
        return self.daemon.rlctl("--host", host, *args, environment=environment,
                                 cwd=self.path / "here", **kwargs)

    def start(self, *args, host="ssh://there"):
        return self.daemon.rlctl_start("--host", host, *args, environment=self.environment, cwd=self.path / "here")

    def argv(self):
        return (self.path / "argv").read_text().splitlines()


@pytest.fixture
def hosts(daemon, tmp_path):
    return Hosts(tmp_path / "hosts", daemon)


SCRIPTS = {"implement": "printenv > environment\nanswer done\n"}


def test_a_run_from_another_machine(make_daemon, repo, tmp_path):
    """Texts are read here, directories are there, and no variable of here reaches the agent."""
    daemon = make_daemon(scripts=SCRIPTS)
    hosts = Hosts(tmp_path / "hosts", daemon)
    here = hosts.path / "here"
    (here / "task").write_text("do it")
    done = hosts.rlctl("run", "-q", "-C", repo.path, "--env", "SENT=yes", "-f", "task", check=0)
    assert done.out == "done\n" and done.err == ""
    seen = (repo.path / "environment").read_text().splitlines()
    assert "SENT=yes" in seen and not [line for line in seen if "MARK" in line or str(hosts.path) in line]
    run = daemon.call("run.list")["runs"][0]["id"]
    assert "done" in hosts.rlctl("logs", "--stream", "answer", run, check=0).out
    assert json.loads(hosts.rlctl("--json", "show", run, check=0).out)["state"] == "succeeded"
    assert str(run) in hosts.rlctl("list", check=0).out
    assert hosts.rlctl("wait", run, check=0)
    assert "run.state" in hosts.rlctl("events", "--run", run, check=0).out
    assert f"run {run}" in hosts.rlctl("watch", run, check=0).out.lower()
    hosts.rlctl("report", "--format", "html", "-o", "page.html", run, check=0)
    assert "</html>" in (here / "page.html").read_text()
    words = hosts.rlctl("completion", "words", "--host", "ssh://there", "show", "", check=0).out
    assert words.startswith(f"{run}\t"), words
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "show", "arguments": {"id": run}}}
    lines = "".join(json.dumps(m) + "\n" for m in (hello, call)).encode()
    assert '"succeeded"' in hosts.rlctl("mcp", input=lines).out.replace("\\", "")


def test_stories_are_read_here(make_daemon, repo, tmp_path):
    daemon = make_daemon(scripts={"implement": "answer done\n"})
    hosts = Hosts(tmp_path / "hosts", daemon)
    (hosts.path / "here" / "prd.json").write_text(json.dumps({"userStories": [
        {"id": "S1", "title": "first", "acceptanceCriteria": ["a"], "priority": 1, "passes": False}]}))
    done = hosts.rlctl("submit", "-C", repo.path, "--stories", "prd.json", check=0)
    assert daemon.ended(int(done.out))["state"] == "succeeded"
    assert '"passes": false' in (hosts.path / "here" / "prd.json").read_text()


def test_the_variable_names_the_host(hosts):
    done = hosts.daemon.rlctl("status", environment={**hosts.environment, "RLD_HOST": "ssh://me@there:2222"}, check=0)
    assert "running" in done.out
    argv = hosts.argv()
    assert argv[argv.index("--"):] == ["--", "me@there", "rlctl relay"]
    assert argv[argv.index("-p") + 1] == "2222" and "BatchMode=yes" in argv


def test_only_a_terminal_is_asked(hosts):
    master, slave = open_terminal()
    process = subprocess.Popen([str(RLCTL), "--host", "ssh://there", "status"], stdin=slave,
                               stdout=subprocess.PIPE, stderr=slave, env=hosts.environment)
    assert b"running" in process.communicate()[0] and process.returncode == 0
    os.close(master)
    os.close(slave)
    assert "BatchMode=yes" not in hosts.argv()


def test_words_for_the_other_shell_are_quoted(hosts):
    odd = "/tmp/a b'; touch \"$HOME/x\" #"
    done = hosts.rlctl("--socket", odd, "--no-start", "status", check=3)
    assert f"no daemon answers at {odd}" in done.err
    assert not (hosts.path / "there" / "home" / "x").exists()


@pytest.mark.parametrize("host", ["ssh://-oProxyCommand=x", "ssh://-l@there", "ssh://a b", "ssh://$(x)", "there",
                                  "ssh://", "ssh://there:0", "ssh://there:65536", "ssh://there/path", "", "ssh://[::1"])
def test_what_is_no_host(hosts, host):
    assert "--host" in hosts.rlctl("status", host=host, check=2).err
    assert not (hosts.path / "argv").exists()


FAULTS = {
    "unknown": ({}, ["ssh cannot connect to unknown", "Could not resolve hostname unknown"]),
    "locked": ({"refusal": "me@locked: Permission denied (publickey).\n"},
               ["ssh cannot connect to locked", "Permission denied (publickey)", "without a terminal"]),
    "bare": ({}, ["bare has no rlctl", "install rld there"]),
    "old": ({"rlctl": "#!/bin/sh\necho 'rlctl: unknown command relay; ...' >&2\nexit 2\n"},
            ["rlctl on old is too old for --host", "install rld"]),
    "idle": ({"rlctl": f"#!/bin/sh\nexec '{RLCTL}' --socket \"$HOME/none\" \"$@\"\n"},
             ["idle: no daemon answers at"]),
    "loud": ({"rlctl": "#!/bin/sh\nread line\n", "noise": "Welcome!\n"},
             ["loud: what answers is not the daemon", "ssh loud true"]),
}


@pytest.mark.parametrize("host", FAULTS)
def test_faults_are_told_apart(hosts, host):
    files, texts = FAULTS[host]
    if host != "unknown":
        hosts.add(host, **files)
    done = hosts.rlctl("list", host=f"ssh://{host}", check=3)
    assert done.out == "" and all(text in done.err for text in texts), done.err
    error = json.loads(hosts.rlctl("--json", "list", host=f"ssh://{host}", check=3).err)
    assert error["data"]["kind"] == "no-daemon" and texts[0] in error["message"]


@pytest.mark.parametrize("args, text", [
    (["submit", "x"], "name a directory of there with -C"),
    (["prompt", "show", "implement"], "name a directory of there with -C"),
    (["submit", "-C", ".", "x"], "--workdir: . is relative, but it names a directory of the other machine"),
    (["list", "-C", "src"], "--workdir: src is relative"),
    (["submit", "-C", "/r", "--developer-prompt", "p.md", "x"], "--developer-prompt: p.md is relative"),
    (["submit", "-C", "/r", "--reviewer", "./judge", "x"], "--reviewer: ./judge is relative"),
    (["submit", "-C", "/r", "--report", "r.md", "x"], "--report: r.md is relative"),
    (["backup", "copy.db"], "copy.db is relative"),
    (["init"], 'rlctl init" works only on the machine of the daemon'),
    (["attest", "1"], 'rlctl attest" works only'),
    (["config", "check"], 'rlctl config check" works only'),
    (["salvage", "restore", "1", "d"], 'rlctl salvage restore" works only'),
])
def test_files_of_the_other_machine(hosts, args, text):
    done = hosts.rlctl(*args)
    assert done.returncode in (1, 2) and text in done.err, done.err
    assert hosts.daemon.rlctl(*args, "--host", "ssh://there", environment=hosts.environment).err == done.err


def test_doctor_speaks_of_the_daemon_only(hosts):
    report = json.loads(hosts.rlctl("--json", "doctor").out)
    assert report["checks"] and report["client"]["agents"] == []
    assert [c["name"] for c in report["client"]["checks"]] == ["programs"]


def test_interrupt_detaches(make_daemon, repo, tmp_path):
    daemon = make_daemon(scripts={"implement": "gate here\nanswer done\n"}, gates=["here"])
    hosts = Hosts(tmp_path / "hosts", daemon)
    process = hosts.start("run", "-C", str(repo.path), "x")
    daemon.play.arrived("here")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130 and b"Run 1 continues" in err, err
    daemon.play.go("here")
    assert daemon.ended(daemon.call("run.list")["runs"][0]["id"])["state"] == "succeeded"


def test_followers_return(hosts, repo):
    """The daemon there restarts: events -f goes through ssh again."""
    process = hosts.start("--json", "events", "-f")
    first = hosts.daemon.submit(repo.path)
    while json.loads(process.stdout.readline()).get("run") != first:
        pass
    hosts.daemon.ended(first)
    hosts.daemon.stop()
    hosts.daemon.start()
    second = hosts.daemon.submit(repo.path)
    while json.loads(process.stdout.readline()).get("run") != second:
        pass
    process.kill()
    process.communicate()
    assert "rlctl --no-start relay" in hosts.argv()


def test_the_daemon_goes(hosts, repo):
    process = hosts.start("events", "-f")
    hosts.daemon.submit(repo.path)
    assert process.stdout.readline()
    hosts.daemon.kill()
    process.stdout.read()
    assert process.wait() == 3 and b"did not return" in process.stderr.read()
    hosts.daemon.start()


def test_relay_ends_with_its_client(daemon):
    process = daemon.rlctl_start("relay")
    assert process.communicate() == (b"", b"") and process.returncode == 0


SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


@pytest.mark.broad
@pytest.mark.skipif(SSHD is None, reason="openssh-server is not installed")
def test_a_real_sshd(make_daemon, repo, tmp_path):
    """On a loopback port, as our own user, with keys made here."""
    daemon = make_daemon(scripts={"implement": "answer done\n"})
    keys = tmp_path / "keys"
    keys.mkdir(mode=0o700)
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys / name], check=True)
    (keys / "authorized").write_text((keys / "user.pub").read_text())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    there = tmp_path / "there"
    there.mkdir()
    (there / "rlctl").write_text(f"#!/bin/sh\nRLD_SOCKET='{daemon.socket}' exec '{RLCTL}' \"$@\"\n")
    (there / "rlctl").chmod(0o755)
    (keys / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {keys}/host\nAuthorizedKeysFile {keys}/authorized\nPidFile none\n"
        f"StrictModes no\nUsePAM no\nPasswordAuthentication no\nSetEnv PATH={there}:/usr/bin:/bin\n")
    test = subprocess.run([SSHD, "-t", "-f", keys / "sshd_config"], capture_output=True, text=True)
    if test.returncode != 0:
        pytest.skip(f"sshd cannot run here: {test.stderr.strip()}")
    (keys / "known_hosts").write_text(f"[127.0.0.1]:{port} " + (keys / "host.pub").read_text())
    # ssh reads the configuration of the passwd entry, whatever HOME is
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "ssh").write_text(f"#!/bin/sh\nexec {shutil.which('ssh')} -F none -i {keys}/user -o "
                             f"UserKnownHostsFile={keys}/known_hosts \"$@\"\n")
    (bin / "ssh").chmod(0o755)
    sshd = subprocess.Popen([SSHD, "-D", "-e", "-f", keys / "sshd_config"], stderr=subprocess.PIPE, text=True)
    Daemon.processes.append(sshd)
    heard = ""
    while "Server listening" not in heard:
        heard = sshd.stderr.readline()
        assert heard, f"sshd ended with {sshd.wait()}"
    try:
        me = f"ssh://{getpass.getuser()}@127.0.0.1"
        host = f"{me}:{port}"
        environment = {"PATH": f"{bin}:/usr/bin:/bin"}
        done = daemon.rlctl("--host", host, "run", "-q", "-C", repo.path, environment=environment, input=b"x" * 900_000)
        assert (done.returncode, done.out) == (0, "done\n"), done.err + sshd.stderr.readline()
        done = daemon.rlctl("--host", f"{me}:1", "list", environment=environment, check=3)
        assert "ssh cannot connect to" in done.err and "Connection refused" in done.err
    finally:
        sshd.terminate()
        sshd.communicate()
        wait_gone(sshd.pid)
