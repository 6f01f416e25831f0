# SPDX-License-Identifier: MIT
"""docs/guide.md does what it says: its blocks are pasted into one shell, in order, with the
scripted claude of tests/fakes/guide.

A block "sh" is run; a block "text" behind it is what it prints, where "..." stands for any text.
A block "sh host" changes the machine: it is only looked at. tests/record writes outputs anew. Every
rlctl command and option that a page names is one of the program.
"""
import difflib
import os
import re
import select
import subprocess
import textwrap

import pytest
from rld import BUILD, RLCTL, SANITIZED, SOURCE, Daemon, Rpc, note_command, wait_gone

PATH = SOURCE / "docs" / "guide.md"
GUIDE = PATH.read_text()
RECORD = bool(os.environ.get("RL_RECORD"))      # write, do not compare
BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)^```$", re.M)
TIMES = [(re.compile(p), r) for p, r in (
    (r"\b\d{4}-\d\d-\d\d[ T][\d:.]+Z?", "TIME"),
    (r"\b\d+(?:ms|[smhd])(?: \d\d[smh])?\b", "SPAN"),
    (r"\b[0-9a-f]{7,40}\b", "HASH"))]
CALL = re.compile(r"(?:^|[\s/(])rlctl((?: --[a-z-]+(?:[ =](?!-)\S+)??)*) ([a-z]+)\b([^\n;|&]*)", re.M)
READS = re.compile(r"(rlctl (hold )?(list|show)( .*)?\n)+")
# seconds without an event before a state that the page shows is given up
PATIENCE = 5 if RECORD else 60


def blocks(page):
    """[(command, output or None)] in order; those of the host are left out."""
    found = []
    for kind, text in BLOCK.findall(page):
        if kind == "sh":
            found.append((text, None))
        elif kind == "text":
            found[-1] = (found[-1][0], text)
    return found


def plain(text, home):
    """The lines, without what differs from run to run."""
    text = text.replace(str(home), "~")
    for pattern, word in TIMES:
        text = pattern.sub(word, text)
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def matches(wanted, got):
    """Line by line; a line "..." is any number of lines, and "..." within one is any text."""
    if not wanted:
        return not got
    if wanted[0] == "...":
        return any(matches(wanted[1:], got[i:]) for i in range(len(got) + 1))
    pattern = ".*".join(re.escape(part) for part in wanted[0].split("..."))
    return bool(got) and re.fullmatch(pattern, got[0]) is not None and matches(wanted[1:], got[1:])


def renew(wanted, got, home):
    """The output as it is now, without what the page leaves out. For people to look
    at afterwards."""
    lines, now, kept, skipping = wanted.splitlines(), got.replace(str(home), "~").splitlines(), [], False
    for line in lines:
        if line == "...":
            kept.append(line)
            skipping = True
            continue
        same = [i for i, each in enumerate(now) if matches(plain(line, home), plain(each, home))]
        near = same[:1] or [now.index(each) for each in difflib.get_close_matches(line, now, 1, 0.5)]
        if not near:
            continue
        kept += ([] if skipping else now[:near[0]]) + [line if same else now[near[0]]]
        now, skipping = now[near[0] + 1:], False
    return "\n".join(kept + ([] if skipping else now)) + "\n"


class Shell:
    """One shell for all blocks: what a block sets, the next one has. It ends when a
    command fails."""

    def __init__(self, path, environment):
        self.path = path
        self.process = subprocess.Popen(["sh", "-e"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, cwd=path / "clone", env=environment)
        Daemon.processes.append(self.process)

    def run(self, text):
        """What the block prints, and whether all of it succeeded."""
        (self.path / "block").write_text(text)
        self.process.stdin.write(f". {self.path}/block < /dev/null; printf '\\0'\n".encode())
        self.process.stdin.flush()
        said = b""
        while not said.endswith(b"\0"):
            more = os.read(self.process.stdout.fileno(), 65536)
            if not more:
                return said.decode(), False
            said += more
        return said[:-1].decode(), True

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@pytest.fixture
def reader(make_daemon, tmp_path):
    """reader(PAGE): read the page as a new user does, in a home of its own, and fail
    where it is wrong."""
    if os.path.exists("/run/rld/rld.sock"):
        pytest.skip("rlctl would find the system's daemon")
    daemon = make_daemon(start=False)
    daemon.state = daemon.home / ".local" / "state" / "rld"     # where rlctl starts it
    (tmp_path / "clone").mkdir()
    for name, there in (("build", BUILD), ("tests", SOURCE / "tests")):
        (tmp_path / "clone" / name).symlink_to(there)
    (daemon.home / ".gitconfig").write_text("[user]\nname = reader\nemail = reader@example.org\n")
    environment = {**daemon.environment, "GIT_CONFIG_NOSYSTEM": "1"}

    def wait_for_event(since):
        """False: nothing happens any more."""
        with Rpc(daemon.state / "rld.sock") as rpc:
            rpc.call("event.subscribe", since=since)
            if not rpc.notifications and not rpc.buffer:
                return bool(select.select([rpc.socket], [], [], PATIENCE)[0])
        return True

    def newest_event():
        if not (daemon.state / "rld.sock").exists():
            return None
        try:
            with Rpc(daemon.state / "rld.sock") as rpc:
                return rpc.call("daemon.status")["events"]["last"]
        except OSError:
            return None

    def read(page):
        shell = Shell(tmp_path, environment)
        try:
            for command, output in blocks(page):
                for words in re.findall(r"^rlctl ([a-z]+)(?: ([a-z]+))?", command, re.M):
                    note_command(tuple(w for w in words if w))
                while True:
                    before = newest_event()
                    said, ok = shell.run(command)
                    assert ok, f"a command of this block fails:\n{command}\nIt printed:\n{said}"
                    if output is None or matches(plain(output, daemon.home), plain(said, daemon.home)):
                        break
                    # The page shows a state that a run comes to by itself.
                    if READS.fullmatch(command) and before is not None and wait_for_event(before):
                        continue
                    if RECORD and page == GUIDE:
                        now = renew(output, said, daemon.home)
                        PATH.write_text(plant(PATH.read_text(), f"```text\n{output}```\n", f"```text\n{now}```\n"))
                        break
                    pytest.fail(f"the page shows for\n{command}\nthis output:\n{output}\n"
                                f"and not what it printed:\n{said}")
        finally:
            shell.close()
            if newest_event() is not None:
                with Rpc(daemon.state / "rld.sock") as rpc:
                    pid = rpc.peer_pid()
                subprocess.run([RLCTL, "--socket", daemon.state / "rld.sock", "stop"], capture_output=True)
                wait_gone(pid)      # it has closed its socket before
    read.daemon = daemon
    return read


def plant(page, old, new):
    assert page.count(old) == 1, old
    return page.replace(old, new)


def until(heading):
    """The page as far as this section, and its end, where the daemon is stopped."""
    return GUIDE[:GUIDE.index(f"\n## {heading}")] + GUIDE[GUIDE.index("\n## Clean up"):]


@pytest.mark.skipif(SANITIZED, reason="the page shows the product, not the sanitizers")
def test_every_block_does_what_the_page_says(reader):
    reader(GUIDE)
    log = (reader.daemon.state / "rld.log").read_text()
    assert "bug: " not in log, log
    reader.daemon.start()       # so that the end of the test looks at all that the page has made


@pytest.mark.each
@pytest.mark.skipif(SANITIZED, reason="the page shows the product, not the sanitizers")
@pytest.mark.parametrize("old,new,message", [
    ("rlctl status --start\n", "rlctl stauts --start\n", "a command of this block fails"),
    ("rlctl --version\n", "rlctl --version --no-such-option\n", "a command of this block fails"),
    ("rlctl 0.1.0\n", "rlctl 0.0.9\n", "and not what it printed"),
    ("  ok       database    intact\n", "  failed   database    broken\n", "and not what it printed"),
])
def test_a_wrong_page_is_noticed(reader, old, new, message):
    with pytest.raises((AssertionError, pytest.fail.Exception), match=message):
        reader(plant(until("2. Run a first task"), old, new))


def test_commands_for_the_host_are_well_formed():
    """They cannot be run here: the shell takes them, and what they name is there."""
    there = [text for kind, text in BLOCK.findall(GUIDE) if kind == "sh host"]
    makefile = (SOURCE / "Makefile").read_text()
    assert 0 < len(there) <= 5, "as few as can be"
    for text in there:
        subprocess.run(["sh", "-n"], input=text, text=True, check=True)
        for command in text.replace("sudo ", "").splitlines():
            words = command.split()
            if words[0] == "make":
                assert all(re.search(rf"^{target}:", makefile, re.M) for target in words[1:]), command
            elif words[0] == "systemctl":
                units = SOURCE / "systemd" / ("user" if "--user" in words else "")
                assert words[-1] == "daemon-reload" or (units / f"{words[-1]}.service").exists(), command
            else:
                known = ("loginctl enable-linger", "systemd-sysusers", "systemd-tmpfiles --create", "groupadd team",
                         "usermod -aG", "chgrp -R", "chmod -R", "find /srv/repo", "git -C", "git config")
                assert " ".join(words[:2]) in known, command


def test_settings_are_valid(tmp_path):
    """Those of the guide, and the indented tables of the page on agents."""
    agents = (SOURCE / "docs" / "agents.md").read_text()
    there = [text for kind, text in BLOCK.findall(GUIDE) if kind == "toml"]
    there += [textwrap.dedent(text)
              for text in re.findall(r"(?:^    .*\n|^\n(?=    ))+", agents, re.M) if "    [" in text]
    assert len(there) > 3
    for text in there:
        (tmp_path / "rld.toml").write_text(text)
        done = subprocess.run([RLCTL, "config", "check", tmp_path / "rld.toml"], capture_output=True, text=True)
        assert done.returncode == 0, text + done.stdout + done.stderr


def test_the_list_at_the_top_is_that_of_the_sections():
    assert re.findall(r"^\d+\. \[(.*)\]", GUIDE, re.M) == re.findall(r"^## \d+\. (.*)$", GUIDE, re.M)
    assert len(re.findall(r"^## \d+\. ", GUIDE, re.M)) == 14


@pytest.mark.each
@pytest.mark.parametrize("name", ["README.md", "docs/guide.md", "docs/agents.md", "docs/protocol.md"])
def test_commands_and_options_exist(name):
    """Those of rlctl that a page names, in blocks and in the text."""
    def help_on(*words):
        return subprocess.run([RLCTL, "help", *words], capture_output=True, text=True, check=True).stdout
    page = (SOURCE / name).read_text()
    code = [text for _, text in BLOCK.findall(page)]
    code += re.findall(r"`([^`\n]+)`", BLOCK.sub("", page)) + re.findall(r"^    (.+)$", page, re.M)
    commands, known = set(re.findall(r"^  ([a-z]+) ", help_on(), re.M)), {}
    for text in code:
        for before, command, rest in CALL.findall(text):
            assert command in commands, f"rlctl {command}"
            known.setdefault(command, set(re.findall(r"--([a-z-]+)", help_on(command))))
            for option in re.findall(r"(?<!\S)--([a-z][a-z-]*)", re.sub(r"[\"'].*?[\"']", "", before + rest)):
                assert option in known[command], f"rlctl {command} --{option}"
    assert known


def test_the_recipes_are_accepted(make_daemon, repo):
    """Each run of README's recipes would be taken as it stands."""
    recipes = re.findall(r"^    (rlctl (?:run|submit) .*?)(?: +#.*)?$", (SOURCE / "README.md").read_text(), re.M)
    assert len(recipes) == 4 and not any("#" in recipe for recipe in recipes)
    repo.write(".beads/issues.jsonl", '{"id": "a-1", "title": "first", "status": "open", "priority": 1}\n')
    daemon = make_daemon(config={"default_agent": "claude"})
    environment = {**daemon.environment, "PATH": f"{BUILD}:{daemon.environment['PATH']}",
                   "RLD_SOCKET": str(daemon.socket)}
    for recipe in recipes:
        done = subprocess.run(["sh", "-c", f"{recipe} --dry-run"], cwd=repo.path, env=environment,
                              capture_output=True, text=True)
        assert done.returncode == 0, (recipe, done.stderr)
