# SPDX-License-Identifier: MIT
"""A repository that wants to run programs: canaries in its configuration, hooks, attributes and
what lies in it, through whole runs.

They may sing only in a process of an attempt or a step, with what that is given, never in rld or
rlctl; and in a step only those that daemon/git/git_op.h names: hooks of a commit, and the filters
of what is laid out and committed."""
import os

import pytest
from rld import RLCTL, RLD, SANITIZED, SHIM, Repo
from trees import Trees, beads, names_in, of_the_user, trees, work_trees  # noqa: F401

# canary DIR TAG ...: notes its environment and its ancestors, then does what a well-behaved program
# would in its place.
CANARY = """#!/bin/sh
dir=$1 tag=$2
note=$(mktemp "$dir/$tag.XXXXXX")
cat /proc/$$/environ > "$note.env"
pid=$$
while [ "$pid" -gt 1 ]; do
	while read -r what value; do
		case $what in Name:) name=$value ;; PPid:) parent=$value; break ;; esac
	done < /proc/$pid/status
	echo "$pid $name" >> "$note"
	pid=$parent
done
echo "done" >> "$note"
case $tag in
filter.evil.clean|filter.evil.smudge|core.pager|pager.*|diff.evil.textconv) exec cat ;;
filter.slow.process) printf '0016git-filter-server\\n000eversion=2\\n00000000'; cat > /dev/null ;;
gpg.program) printf '\\n[GNUPG:] SIG_CREATED \\n' >&2; cat > /dev/null; echo signature ;;
esac
exit 0
"""

CONFIG = """
    core.fsmonitor core.editor core.pager core.sshCommand core.askPass core.gitProxy
    core.alternateRefsCommand credential.helper gpg.program gpg.ssh.program gpg.x509.program
    gpg.ssh.defaultKeyCommand diff.external diff.evil.command diff.evil.textconv filter.evil.clean
    filter.evil.smudge filter.slow.process merge.evil.driver mergetool.evil.cmd difftool.evil.cmd
    interactive.diffFilter sequence.editor browser.evil.cmd man.evil.cmd pager.diff pager.status
    pager.log uploadpack.packObjectsHook remote.origin.uploadpack remote.origin.receivepack
    trailer.evil.command trailer.evil.cmd gc.recentObjectsHook imap.tunnel sendemail.smtpServer
    instaweb.httpd web.browser guitool.evil.cmd receive.procReceiveRefs
""".split()
SHELL = ["alias.ls-files", "alias.diff-tree", "alias.status", "submodule.sub.update",
         "remote.origin.url", "url.ext::nothing.insteadOf"]
HOOKS = """
    pre-commit prepare-commit-msg commit-msg post-commit pre-merge-commit post-merge post-checkout
    post-rewrite pre-rebase pre-push applypatch-msg pre-applypatch post-applypatch post-index-change
    reference-transaction pre-auto-gc push-to-checkout fsmonitor-watchman proc-receive update
""".split()

HOOKS_OF_A_COMMIT = {f"hook.{name}" for name in ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")}
FILTERS = {"filter.evil.clean", "filter.evil.smudge", "filter.slow.process"}
# Which steps may do that: what stands in front of the colon of their name.
COMMITS = {"commit", "committed"}
LAYS_OUT = COMMITS | {"base", "worktree", "merge"}
ASKS_HOOKS = {"measure"}        # of the commit that would follow, made ready with the same filters

# Names that git, sh or we set; all others come from the allowlist of agents.
OURS = {"RL_ATTEMPT_UUID", "NO_COLOR", "TERM", "PWD", "OLDPWD", "SHLVL", "_"}
ALLOWED = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SSH_AUTH_SOCK"}


class Aviary:
    def __init__(self, repo, directory):
        self.path = directory
        directory.mkdir()
        self.program = directory.with_name("canary")
        self.program.write_text(CANARY)
        self.program.chmod(0o755)
        self.hang(repo.path, repo.git)

    def line(self, tag):
        return f"'{self.program}' '{self.path}' {tag}"

    def hang(self, top, git):
        """One wherever a program can be named."""
        for key in CONFIG:
            git("config", key, self.script(key))
        for key in SHELL:
            git("config", key, ("ext::" if "url" in key else "!") + self.line(key))
        for key, value in (("commit.gpgSign", "true"), ("tag.gpgSign", "true"),
                           ("core.hooksPath", str(self.hooks())), ("protocol.ext.allow", "always"),
                           ("submodule.sub.active", "true"), ("submodule.recurse", "true"),
                           ("remote.origin.promisor", "true"), ("merge.tool", "evil"),
                           ("diff.tool", "evil"), ("web.browser", "evil"), ("gc.auto", "1"),
                           ("maintenance.auto", "true")):
            git("config", key, value)

    def script(self, tag):
        """A program of its own: not every key takes arguments."""
        path = self.program.with_name(f"canary.{tag}")
        path.write_text(f"#!/bin/sh\nexec {self.line(tag)} \"$@\"\n")
        path.chmod(0o755)
        return str(path)

    def hooks(self):
        folder = self.program.with_name("hooks")
        folder.mkdir(exist_ok=True)
        for name in HOOKS:
            (folder / name).write_text(f"#!/bin/sh\nexec {self.line('hook.' + name)} \"$@\"\n")
            (folder / name).chmod(0o755)
        return folder

    def songs(self):
        """[(tag, environment, programs from the canary upwards)]"""
        found = []
        for name in sorted(os.listdir(self.path)):
            if name.endswith(".env"):
                continue
            lines = (self.path / name).read_text().splitlines()
            assert lines[-1] == "done", (name, lines)
            environment = dict(e.split("=", 1) for e in (self.path / f"{name}.env").read_text(
                errors="surrogateescape").split("\0") if "=" in e)
            found.append((name.rsplit(".", 1)[0], environment, [line.split(" ", 1)[1] for line in lines[:-1]]))
        return found


@pytest.fixture
def aviary(repo, tmp_path):
    """The repository: all that can name a program does, and so does what lies in it."""
    inner = Repo(tmp_path / "inner")
    repo.write(".gitattributes", "*.txt filter=evil diff=evil merge=evil\n*.slow filter=slow\n")
    repo.write(".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ext::sh -c false\n\tupdate = !false\n')
    repo.write("shared.txt", "".join(f"line {n}\n" for n in range(1, 9)))
    repo.write("a.slow", "slow\n")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{inner.git('rev-parse', 'HEAD')},sub")
    repo.git("add", ".gitattributes", ".gitmodules", "shared.txt", "a.slow")
    beads(repo, "x-1", "x-2", "x-3")
    made = Aviary(repo, tmp_path / "songs")
    nested = Repo(repo.path / "nested")
    made.hang(nested.path, nested.git)
    (repo.path / "bare").mkdir()
    nested.git("init", "-q", "--bare", str(repo.path / "bare"))
    nested.git("-C", str(repo.path / "bare"), "config", "core.fsmonitor", made.script("core.fsmonitor"))
    repo.write("shared.txt", repo.read("shared.txt") + "uncommitted\n")
    for song in list(made.path.iterdir()):	# of what was done here
        song.unlink()
    return made


def check(daemon, aviary, run):
    """Who sang, where, and with what: the tags that sang in steps."""
    daemon.stop()
    steps = {row["uuid"]: row["name"] for row in daemon.query("SELECT uuid, name FROM step WHERE run = ?", run)}
    attempts = {row["uuid"] for row in daemon.query("SELECT uuid FROM attempt WHERE run = ?", run)}
    sang = set()
    for tag, environment, programs in aviary.songs():
        uuid = environment.get("RL_ATTEMPT_UUID")
        assert uuid in steps or uuid in attempts, (tag, "sang outside of the run", programs)
        above = next(p for p in programs if p in (SHIM.name, RLD.name, RLCTL.name))
        assert above == SHIM.name, (tag, "sang in the daemon", programs)
        foreign = {n for n in environment
                   if n not in ALLOWED | OURS and not n.startswith(("GIT_", "LC_", "XDG_", "RL_"))}
        foreign -= {"BD_ACTOR", "BEADS_ACTOR", "RLD_SOCKET"} if uuid in attempts else set()
        # of the agent's table, see the harness
        foreign -= {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"} if SANITIZED and uuid in attempts else set()
        foreign -= {"SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "GPG_TTY", "DISPLAY",
                    "WAYLAND_DISPLAY"} if uuid in steps else set()
        assert foreign == set() and "hush" not in environment.values(), (tag, foreign)
        if uuid in attempts:
            continue
        assert {n for n in environment if n.startswith("RL_")} == {"RL_ATTEMPT_UUID"}, environment
        sang.add(tag)
        kind = steps[uuid].split(":")[0]
        allowed = (HOOKS_OF_A_COMMIT | {"gpg.program"}
                   if kind in COMMITS else set()) | (FILTERS if kind in LAYS_OUT else set())
        allowed |= HOOKS_OF_A_COMMIT - {"hook.post-commit"} | FILTERS if kind in ASKS_HOOKS else set()
        assert tag in allowed, (tag, "sang in the step", steps[uuid])
    return sang


SECRETS = {"SECRET": "hush", "NOTIFY_SOCKET": "hush", "LISTEN_FDS": "hush", "LISTEN_PID": "hush",
           "CLAUDECODE": "hush", "LD_PRELOAD": "", "GIT_DIR": "hush",
           "GIT_EXTERNAL_DIFF": "hush", "GIT_SSH_COMMAND": "hush", "GIT_CONFIG_COUNT": "hush"}


def test_there_are_enough_canaries():
    assert len(CONFIG) + len(SHELL) >= 25 and len(HOOKS) >= 12


def test_in_a_shared_tree(trees, repo, aviary):
    t = trees(scripts={"implement": 'git status > /dev/null 2>&1; echo "$RL_TASK_ID" > '
                       '"$RL_TASK_ID.txt"; echo x > b.slow; answer done\n', "review.1": "drift more\n",
                       "fix": "echo more >> x-1.txt\n"})
    row = t.run(isolation="shared", commit="auto", review={"workspace": "snapshot"},
                environment={"PATH": "/usr/local/bin:/usr/bin:/bin", **SECRETS})
    assert row["state"] == "succeeded" and row["tasks"][0]["commit"], row
    t.daemon.rlctl("diff", row["id"], check=0)
    t.daemon.rlctl("show", row["id"], check=0)
    assert "core.fsmonitor" in {tag for tag, _, _ in aviary.songs()}, "of the agent's own git: they do sing"
    assert check(t.daemon, aviary, row["id"]) == HOOKS_OF_A_COMMIT | {"gpg.program", "filter.evil.clean",
                                                                      "filter.slow.process"}


@pytest.mark.broad
def test_in_work_trees(trees, repo, aviary, tmp_path):
    """Two tasks in conflict, one that fails and is saved, and what rlctl does with that."""
    script = ('sed -i "s/^line 4$/line 4 of $RL_TASK_ID/" shared.txt; echo "$RL_TASK_ID" > '
              '"$RL_TASK_ID.txt"; echo x > b.slow; gate "$RL_TASK_ID"; [ "$RL_TASK_ID" != x-3 ]\n')
    t = trees(scripts={"implement": script,
                       "fix": "sed -i '/^[<=>]\\{7\\}/d' shared.txt; echo fixed > fixed.txt\n"},
              gates=("x-1", "x-2", "x-3"))
    number = t.submit(parallel=3, review=True, on_failure="continue",
                      environment={"PATH": "/usr/local/bin:/usr/bin:/bin", **SECRETS})
    for each in ("x-1", "x-2", "x-3"):
        t.play.arrived(each)
    with t.daemon.events(run=number) as events:
        t.play.go("x-1")
        events.until("slot.merged")
    t.play.go("x-3")
    t.play.go("x-2")
    row = t.daemon.ended(number)
    assert row["state"] == "failed" and {k: v["state"] for k, v in t.tasks(number).items()} == {
        "x-1": "passed", "x-2": "passed", "x-3": "failed"}, row
    assert t.roles().count("fix") == 1 and names_in(repo, row["result_branch"]) >= {"x-1.txt", "x-2.txt", "fixed.txt"}
    saved, = t.salvage(number)
    assert b"x-3.txt" in t.restored(saved, tmp_path / "out")
    t.daemon.rlctl("diff", number, check=0)
    assert check(t.daemon, aviary, number) == HOOKS_OF_A_COMMIT | FILTERS | {"gpg.program"} and work_trees(repo) == []


@pytest.mark.broad
def test_a_base_and_a_review_of_the_whole(trees, repo, aviary):
    repo.git("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "branch", "other")
    for song in aviary.path.iterdir():
        song.unlink()
    t = trees(scripts={"commit": "answer 'nothing'\n", "review.1": "drift more\n", "fix": "echo fixed > fixed.txt\n"})
    row = t.run(parallel=2, base="other", commit="agent", integrate="merge", review={"scope": "run"},
                environment={"PATH": "/usr/local/bin:/usr/bin:/bin", **SECRETS})
    assert row["state"] == "succeeded", row
    sang = check(t.daemon, aviary, row["id"])
    assert HOOKS_OF_A_COMMIT <= sang <= HOOKS_OF_A_COMMIT | FILTERS | {"gpg.program"}


# ---- a work tree that is said to be elsewhere ----------------------------------------------------

@pytest.mark.parametrize("how",
                         ["git config core.worktree",
                          "git config extensions.worktreeConfig true; git config --worktree core.worktree"])
@pytest.mark.parametrize("isolation", ["shared", "worktree"])
def test_what_was_done_is_looked_at_wherever_git_is_told_to_look(trees, repo, tmp_path, isolation, how):
    """Else nobody would have seen what passes."""
    away = tmp_path / "away"
    t = trees(scripts={"implement": f'mkdir -p "{away}"; echo secret > done.txt; {how} "{away}"\nanswer done\n'})
    row = t.run(task="do it", isolation=isolation, integrate="none", review={"profile": "verdict"})
    repo.git("config", "--unset", "core.worktree", check=False)
    assert row["state"] == "succeeded" and "+secret" in t.daemon.call("run.diff", id=row["id"])["diff"], row
    assert repo.git("show", f"{row['result_ref']}:done.txt") == "secret"
