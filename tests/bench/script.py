# SPDX-License-Identifier: MIT
"""The peer of the review: what somebody would write who knows beforehand how it will go.

The same agent, the same git processes with the same words and input, as many fsyncs; no supervision, no database, no
rights to lose, no daemon. Processes are started by posix_spawn, and their output goes to files: nothing here is slow on purpose.
"""
import json
import os
import stat

GIT = ["--no-pager", "--no-replace-objects", "-c", "core.fsmonitor=false", "-c", "core.splitIndex=false",
       "-c", "core.quotePath=false", "-c", "core.hooksPath=/dev/null"]
GIT_ENVIRONMENT = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
INSTANCE = "0123abcd"	# in the names of refs
PROCESSES = 28		# of one review: the commits are spread over them


class Script:
    def __init__(self, workspace, directory, agent, environment):
        self.workspace = str(workspace)
        self.directory = str(directory)
        self.agent = [str(agent)]
        self.environment = dict(environment)
        self.index = f"{self.directory}/index"
        self.runs = self.attempts = 0
        os.makedirs(f"{self.directory}/attempts")
        self.journal = os.open(f"{self.directory}/journal", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.page = b"\0" * 4096

    # the disk

    def commit(self):
        """One record of a step that was taken."""
        os.write(self.journal, self.page)
        os.fdatasync(self.journal)
        self.commits_made += 1

    def sync(self, path):
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)
        self.syncs_made += 1

    def keep(self, directory, name, data):
        """A file that lasts."""
        with open(f"{directory}/{name}.tmp", "wb", buffering=0) as file:
            file.write(data)
            os.fsync(file.fileno())
        self.syncs_made += 1
        os.rename(f"{directory}/{name}.tmp", f"{directory}/{name}")
        self.sync(directory)

    # processes

    def start(self, argv, environment, directory, stdin=None):
        """(output, ok)"""
        while self.commits_made * PROCESSES <= self.commits * len(self.started) and self.commits_made < self.commits:
            self.commit()
        self.started.append(argv)
        source, out = "/dev/null", f"{directory}/stdout"
        if stdin is not None:
            source = f"{directory}/input"
            with open(source, "wb", buffering=0) as file:
                file.write(stdin)
        write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        actions = [(os.POSIX_SPAWN_OPEN, 0, source, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, out, write, 0o600),
                   (os.POSIX_SPAWN_OPEN, 2, f"{directory}/stderr", write, 0o600)]
        pid = os.posix_spawnp(argv[0], argv, environment, file_actions=actions)
        status = os.waitpid(pid, 0)[1]
        with open(out, "rb", buffering=0) as file:
            return file.read(), status == 0

    def git(self, *words, index=False, stdin=None):
        environment = {**self.environment, **GIT_ENVIRONMENT}
        if index:
            environment["GIT_INDEX_FILE"] = self.index
        output, ok = self.start(["git", "-C", self.workspace, *GIT, *words], environment, self.directory, stdin)
        assert ok, f"git {words} failed in {self.workspace}"
        return output

    def attempt(self, role, number):
        self.attempts += 1
        directory = f"{self.directory}/attempts/{self.attempts}"
        os.mkdir(directory, 0o700)
        self.sync(f"{self.directory}/attempts")
        environment = {**self.environment, "RL_ROLE": role, "RL_REVIEW_ROUND": str(number)}
        answer, ok = self.start(self.agent, environment, directory, b"do it\n")
        assert ok, f"{role} failed"
        self.keep(directory, "exit", b"0\n")
        self.keep(directory, "answer", answer)
        return answer.decode()

    # git operations

    def tree(self):
        """The id of what git does not ignore."""
        if os.path.exists(self.index):
            os.unlink(self.index)
        modes = {}
        for record in self.git("ls-files", "-c", "-o", "-s", "-t", "-z", "--exclude-standard").decode().split("\0")[:-1]:
            path = record.split("\t", 1)[1] if record[0] != "?" else record[2:]
            try:
                modes[path] = 0o100755 if os.lstat(f"{self.workspace}/{path}").st_mode & stat.S_IXUSR else 0o100644
            except FileNotFoundError:
                pass
        names = "".join(f"{path}\n" for path in modes).encode()
        ids = self.git("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=names).decode().split()
        entries = "".join(f"{mode:06o} {id}\t{path}\0" for (path, mode), id in zip(modes.items(), ids)).encode()
        self.git("update-index", "-z", "--index-info", index=True, stdin=entries)
        return self.git("write-tree", "--missing-ok", index=True).decode().strip()

    def diff(self, base, tree):
        return self.git("diff-tree", "-p", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/",
                        "--dst-prefix=b/", "--ignore-submodules=none", base, tree, index=True)

    # the review

    def review(self, commits):
        """Implement, review, fix until it passes, with this many commits; what was started is in self.started."""
        self.commits, self.commits_made, self.syncs_made, self.started = commits, 0, 0, []
        self.runs += 1
        os.chdir(self.workspace)
        os.makedirs(f"{self.directory}/runs/{self.runs}")
        self.keep(f"{self.directory}/runs/{self.runs}", "task", b"do it\n")
        base = self.tree()
        self.git("update-ref", "--no-deref", f"refs/rl/{INSTANCE}/base/{self.runs}", base)
        self.attempt("implement", 0)
        number = 0
        while True:
            number += 1
            tree = self.tree()
            self.diff(base, tree)
            verdict = json.loads(self.attempt("review", number).split("```json\n")[1].split("```")[0])
            assert self.tree() == tree, "the reviewer changed the tree"
            if verdict["verdict"] == "pass":
                break
            self.attempt("fix", number)
        self.git("update-ref", "--no-deref", f"refs/rl/{INSTANCE}/passed/{self.runs}/t1", tree)
        while self.commits_made < self.commits:
            self.commit()

    def close(self):
        os.close(self.journal)
