# SPDX-License-Identifier: MIT
"""rlctl init: the first minute of a user, with scripted agents on PATH, and in projects whose files
are hostile."""
import json
import os
import shutil
import subprocess

import pytest

from rld import FAKES, RLCTL, Repo, note_command
from terminal import open_terminal

CLAUDE = "2.1.330 (Claude Code)"
CODEX = "codex-cli 0.169.0"
PACKAGE = json.dumps({"scripts": {"test": "true"}})


class Newcomer:
    """A user with an empty home, a PATH of their own, and a repository."""

    def __init__(self, path):
        self.bin, self.home = path / "bin", path / "home"
        self.bin.mkdir()
        self.home.mkdir()
        self.repo = Repo(path / "project")
        self.settings = self.home / ".config/rld/rld.toml"
        self.project = self.repo.path / ".rld.toml"
        for name in ("git", "sh", "cat", "sed", "awk", "sort", "head", "sleep"):
            (self.bin / name).symlink_to(shutil.which(name))

    def program(self, name, script):
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def agents(self, claude=True, codex=True):
        if claude:
            self.program("claude", f"echo '{CLAUDE}'")
        if codex:
            self.program("codex", f"echo '{CODEX}'")
        return self

    def environment(self, **more):
        return {"PATH": str(self.bin), "HOME": str(self.home), "LANG": "C.UTF-8", "RLD_SOCKET": str(self.home / "none"),
                **more}

    def rlctl(self, *args, check=None, cwd=None, **more):
        note_command(args)
        done = subprocess.run([str(RLCTL), *map(str, args)], capture_output=True, text=True, cwd=cwd or self.repo.path,
                              env=self.environment(**more), stdin=subprocess.DEVNULL)
        assert check is None or done.returncode == check, done
        return done

    def init(self, *args, check=0, **more):
        return self.rlctl("init", *args, check=check, **more)

    def document(self, *args, **more):
        return json.loads(self.init("--json", *args, **more).stdout)

    def checked(self):
        """The text of rld.toml, which rld accepts."""
        self.rlctl("config", "check", check=0)
        return self.settings.read_text()


@pytest.fixture
def user(tmp_path):
    return Newcomer(tmp_path)


def lines(text):
    return [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]


# ---- agents --------------------------------------------------------------------------------------

def test_two_agents(user):
    done = user.agents().init()
    assert lines(user.checked()) == ['default_agent = "claude"', "[review]", "enabled = true", 'agent = "codex"']
    assert f"{user.settings} is written" in done.stdout and "Not installed: gemini" in done.stdout
    assert (user.settings.stat().st_mode & 0o777, user.settings.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert not user.project.exists()


def test_one_agent_reviews_itself(user):
    user.agents(claude=False).init()
    assert lines(user.checked()) == ['default_agent = "codex"', "[review]", "enabled = true"]


def test_the_one_with_a_login_works(user):
    document = user.agents().document(CODEX_API_KEY="sk-secret")
    assert (document["default_agent"], document["reviewer_agent"]) == ("codex", "claude")
    assert "sk-secret" not in json.dumps(document)


def test_a_program_that_does_not_answer_does_not_review(user):
    user.agents(codex=False).program("codex", "exit 3")
    assert user.document()["reviewer_agent"] == "claude"


def test_agents_of_your_choice(user):
    document = user.agents().document("--agent", "codex", "--reviewer-agent", "claude")
    assert (document["default_agent"], document["reviewer_agent"]) == ("codex", "claude")
    assert 'default_agent = "codex"' in user.checked()


def test_no_agent(user):
    done = user.init(check=1)
    assert done.stdout == "" and "no agent program is on your PATH" in done.stderr
    assert "npm install -g @anthropic-ai/claude-code" in done.stderr and "--agent ./PROGRAM" in done.stderr
    assert not user.settings.parent.exists()


@pytest.mark.parametrize("args, says", [
    (["--agent", "nix"], "unknown agent nix"),
    (["--agent", "pi"], "the program of agent pi is not on your PATH"),
    (["--agent", "./nothing"], "--agent: ./nothing: No such file"),
    (["--reviewer-agent", "./README"], "--reviewer-agent: ./README: Permission denied"),
])
def test_an_agent_that_is_not_there(user, args, says):
    assert says in user.agents().init(*args, check=1).stderr and not user.settings.exists()


def test_a_program_of_your_own(user):
    path = user.repo.path / "my \"agent\".sh"
    path.write_text("#!/bin/sh\ncat > /dev/null\necho done\n")
    path.chmod(0o755)
    user.init("--agent", path)
    assert lines(user.checked()) == ['default_agent = "my--agent-"', "[review]", "enabled = true",
                                     '[agent."my--agent-"]', f"command = [{json.dumps(str(path))}]"]


# ---- files that are there ------------------------------------------------------------------------

def test_an_existing_file_stays(user):
    user.agents().init()
    user.settings.write_text('default_agent = "codex"\n')
    done = user.init("--yes")
    assert "stays as it is" in done.stdout and 'default_agent = "codex"' in done.stdout
    assert 'default_agent = "claude"' in done.stdout and "--force" in done.stdout
    assert user.settings.read_text() == 'default_agent = "codex"\n'
    user.init("--force")
    assert 'default_agent = "claude"' in user.checked()
    assert user.settings.with_name("rld.toml.old").read_text() == 'default_agent = "codex"\n'
    assert sorted(path.name for path in user.settings.parent.iterdir()) == ["rld.toml", "rld.toml.old"]


def test_a_second_replacement_keeps_the_first_old_file(user):
    """It overwrote what the user had written by what init had."""
    user.agents().init()
    for n, text in enumerate(("# mine\n", "# mine, too\n"), 1):
        user.settings.write_text(text)
        old = user.settings.with_name("rld.toml.old" if n == 1 else "rld.toml.old.2")
        assert f"renames it to {old} and writes" in user.init().stdout
        assert user.document("--force")["settings"]["old"] == str(old) and old.read_text() == text
    assert user.settings.with_name("rld.toml.old").read_text() == "# mine\n"


def test_a_link_to_nowhere_is_a_file(user):
    user.settings.parent.mkdir(parents=True)
    user.settings.symlink_to(user.home / "elsewhere")
    user.agents().init()
    assert not (user.home / "elsewhere").exists()


def test_a_dry_run_writes_nothing(user):
    done = user.agents().init("--dry-run", "--project")
    assert "would be written" in done.stdout and not (user.home / ".config").exists() and not user.project.exists()


def test_it_asks_on_a_terminal(user):
    user.agents().repo.write("Makefile", "test:\n\ttrue\n")
    master, slave = open_terminal()
    note_command(("init",))
    process = subprocess.Popen([str(RLCTL), "init"], cwd=user.repo.path, env=user.environment(TERM="dumb"),
                               stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    said = b""

    def until(words):
        nonlocal said
        while words not in said:
            said += os.read(master, 4096)

    until(b"rld.toml? [Y/n] ")
    assert b"This host" in said and CLAUDE.split()[0].encode() in said and b'default_agent = "claude"' in said
    os.write(master, b"yes, with pleasure, please do\n")
    until(b".rld.toml? [Y/n] ")
    assert b'"make test"' in said
    os.write(master, b"n\n")
    until(b"Next:")
    assert process.wait() == 0
    os.close(master)
    assert user.settings.exists() and not user.project.exists()
    assert said.count(b"default_agent =") == said.count(b'"make test"') == said.count(b"This host") == 1
    assert b"rld.toml is written." in said and b".rld.toml was not written." in said


# ---- the project ---------------------------------------------------------------------------------

def project(user, files, *args):
    """What is proposed for these files: {key: [value]}, with a .rld.toml that rld accepts."""
    user.agents()
    for name, text in files.items():
        user.repo.write(name, text)
    document = user.document("--project", *args)
    if document["project"] is not None:
        user.rlctl("config", "check", ".rld.toml", check=0)
        assert user.project.read_text() == document["project"]["text"]
    found = {}
    for each in document["proposals"]:
        assert f"{each['file']}" in document["project"]["text"]
        found.setdefault(each["key"], []).append(each["value"])
    return found


def test_node(user):
    user.program("npm", "true")
    assert project(user, {"package.json": PACKAGE, "package-lock.json": "{}", ".gitignore": ".env\nconfig/*.key\n",
                          ".env": "A=1\n", ".env.local": "tracked?", "config/master.key": "k", "node_modules/.env": "x",
                          "Cargo.toml.bak": ""}) == {
        "run.setup": ["npm ci"], "run.copy": [".env", "config/*.key"], "review.checks": ["npm test"]}
    assert lines(user.project.read_text())[0] == "[run]"


def test_a_program_that_is_missing(user):
    said = project(user, {"package.json": PACKAGE, "package-lock.json": "{}"})
    assert said == {"run.setup": ["npm ci"], "review.checks": ["npm test"]}
    text = user.project.read_text()
    assert "npm ci" in text and "npm is not on your PATH" in text and lines(text) == ["[run]", "[review]"]


def test_nothing_to_propose(user):
    assert project(user, {}) == {} and not user.project.exists()
    assert "No file of the project suggests" in user.init("--project").stdout


def test_what_is_not_asked_for_is_only_shown(user):
    user.agents().repo.write("Makefile", "check:\n\ttrue\n")
    done = user.init()
    assert "rlctl init --project" in done.stdout and "make check" in done.stdout and not user.project.exists()


def test_the_project_file_is_to_be_committed(user, tmp_path):
    """With the command for that, which works in the current directory."""
    user.agents().repo.write("Makefile", "check:\n\ttrue\n")
    lines_of = user.init("--project", "-C", user.repo.path, cwd=tmp_path).stdout.splitlines()
    command = lines_of[lines_of.index("Next:") + 1].strip()
    subprocess.run(["sh", "-c", command], check=True, cwd=tmp_path, capture_output=True, env={
        **user.environment(), "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*"})
    assert user.repo.git("show", "--name-only", "--format=", "HEAD") == ".rld.toml"


def test_an_existing_project_file_stays(user):
    user.project.write_text("[review]\nenabled = false\n")
    project_of = user.agents()
    project_of.repo.write("Makefile", "check:\n\ttrue\n")
    assert "stays as it is" in user.init("--project").stdout
    assert user.project.read_text() == "[review]\nenabled = false\n"


def test_hostile_files(user):
    """Links, FIFOs, devices, huge and broken files are no signs, and nothing hangs."""
    repo = user.agents().repo
    os.mkfifo(repo.path / "package.json")
    os.mkfifo(repo.path / "pyproject.toml")
    os.mkfifo(repo.path / ".env")
    os.mkfifo(repo.path / "yarn.lock")
    (repo.path / "Makefile").symlink_to("/dev/zero")
    (repo.path / "package-lock.json").symlink_to("/etc/passwd")
    (repo.path / "config").symlink_to("/etc")
    (repo.path / "go.mod").mkdir()
    with open(repo.path / "requirements-dev.txt", "wb") as file:
        file.truncate(1 << 40)
    repo.write("test_a.py", "import pytest\0")
    (repo.path / "test_\x1b[2J.py").write_text("import pytest\n")
    document = user.document("--project")
    assert document["proposals"] == [] and document["project"] is None


def test_many_tests_hide_no_other_file(user):
    """Nor does the order of a directory decide which of them are read."""
    for number in range(600):
        user.repo.write(f"test_{number:03}.py", "import pytest\n" if number == 0 else "import os\n")
    for name in ("go.mod", "go.sum", "Cargo.toml", "Cargo.lock", "mix.exs", "mix.lock"):
        user.repo.write(name, "")
    assert project(user, {}) == {
        "run.setup": ["cargo fetch --locked", "go mod download", "mix deps.get"],
        "review.checks": ["python3 -m pytest -q", "cargo test", "go test ./...", "mix test"]}


def test_git_that_hangs(user):
    """It waits for a FIFO that it takes for a file: nothing is copied, and the rest is proposed."""
    repo = user.agents().repo
    repo.write(".env", "A=1\n")
    repo.write(".env.local", "A=1\n")
    repo.write("Makefile", "test:\n")
    user.program("make", "true")
    os.mkfifo(repo.path / ".gitignore")
    document = user.document("--project")
    assert [each["value"] for each in document["proposals"]] == ["make test"]


def test_a_package_json_of_values_without_end(user):
    user.program("npm", "true")
    deep = '{"scripts": {"test": "x"}, "a": ' + "[" * 100000 + "]" * 100000 + "}"
    assert project(user, {"package.json": deep}) == {}


# ---- and then ------------------------------------------------------------------------------------

def next_of(document):
    line = document["next"]
    assert line.startswith(f"{RLCTL} run ") and line.endswith('"Describe one change"'), line
    return line


def test_the_next_line_works(user):
    """The first run, as it is printed, with what init wrote: a reviewed change."""
    shutil.copy(FAKES / "guide/claude", user.bin / "claude")
    user.repo.write("greet.sh", "#!/bin/sh\necho Hello.\n")
    (user.repo.path / "greet.sh").chmod(0o755)
    user.repo.write("Makefile", "check:\n\t./greet.sh\n")
    (user.bin / "make").symlink_to(shutil.which("make"))
    user.repo.git("add", ".")
    user.repo.git("commit", "-q", "-m", "greet")
    document = user.document("--project", RLD_SOCKET="")
    line = next_of(document)
    note_command(("run",))
    try:
        done = subprocess.run(["sh", "-c", line], cwd=user.repo.path, env=user.environment(RLD_SOCKET=""),
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == 0 and "Review passed!" in done.stderr and "Running checks..." in done.stderr, done
        assert done.stderr.startswith("rlctl: started a daemon for you (process ")
        assert user.repo.read("notes.txt") == "t1 of run 1\n"
        # the running daemon reads what init writes
        document = user.document("--force", "--agent", "claude", RLD_SOCKET="")
        assert document["daemon"] == "reloaded" and "--start" not in document["next"]
    finally:
        user.rlctl("stop", RLD_SOCKET="", check=0)


def test_a_daemon_with_another_file(daemon, user):
    done = user.agents().init(RLD_SOCKET=str(daemon.socket))
    assert "reads another file" in done.stdout


def test_from_elsewhere(user, tmp_path):
    odd = Repo(tmp_path / "it's here")
    document = user.agents().document("-C", odd.path, cwd=tmp_path)
    line = next_of(document)
    said = subprocess.run(["sh", "-c", line.replace(str(RLCTL), "printf '%s\\n'")], capture_output=True, text=True)
    assert str(odd.path) in said.stdout.splitlines()


def test_outside_git(user, tmp_path):
    """A review needs a repository, so the next line makes one."""
    (tmp_path / "plain").mkdir()
    assert user.agents().document(cwd=tmp_path / "plain")["next"].startswith(f"git init -q && {RLCTL} run ")
    line = user.document("-C", tmp_path / "plain", cwd=tmp_path)["next"]
    assert line.startswith(f"git init -q {tmp_path}/plain && {RLCTL} run -C {tmp_path}/plain ")


def test_mistakes(user):
    assert user.agents().rlctl("init", "x").returncode == 2
    assert user.rlctl("init", "-C", "nowhere").returncode == 1
