# SPDX-License-Identifier: MIT
"""A night's work: a repository with a history of real C sources, thirty beads of which each comes
to an end of its own kind, and what must hold in the morning."""
import collections
import json
import os
import re
import shlex
import signal
from typing import NamedTuple

from rld import ENDS, FAKES, SOURCE, Closed, Events, Repo, alive, command_of

PIECES = 4		# in which a source grows, at most
TIMED_OUT = "implementer process timed out after 1m 00s; limits.implement.timeout in rld.toml sets the limit"
ROOMS = ("core", "git", "task")


class Bead(NamedTuple):
    id: str
    kind: str			# what tests/fakes/night does
    file: str
    place: str = "end"
    drifts: int = 0
    priority: int = 2
    after: tuple = ()		# ids
    end: str = ""		# the reason of its failure; none: it passes
    never: bool = False		# it never starts: what it comes after has failed
    refused: int = 0		# tries that the service of its implementer refuses


def beads():
    """Thirty: what each does, and what becomes of it."""
    found = [Bead(f"n-ok{i}", "ok", f"core/{name}.c", priority=i % 5)
             for i, name in enumerate(["chain", "waiters", "decision", "findings", "cause", "plan"])]
    # two of one file, far from each other
    found += [Bead("n-top", "ok", "git/merge.c", "top"), Bead("n-bottom", "ok", "git/merge.c", "end")]
    found += [Bead(f"n-drift{i}", "ok", f"git/{name}.c", drifts=1 + i % 2)
              for i, name in enumerate(["conflict", "base", "change", "checkout", "measure"])]
    # all of them in the same place: the first of an iteration gets through, the others conflict
    found += [Bead(f"n-same{i}", "ok", "core/slot.c", priority=1) for i in range(6)]
    found += [Bead(f"n-litter{i}", "litter", f"task/{name}.c") for i, name in enumerate(["bead", "list"])]
    found += [Bead("n-crash", "crash", "core/run.c", priority=0, end="implementer process exited with status 3"),
              Bead("n-killed", "killed", "core/run.c", end="implementer process killed by signal 9"),
              Bead("n-rubbish", "rubbish", "core/run.c",
                   end="reviewer contract violation: no JSON object found in reviewer output"),
              Bead("n-meddler", "meddler", "core/run.c",
                   end="reviewer contract violation: reviewer changed the tree: core/run.c"),
              Bead("n-broken", "broken", "core/run.c", end="reviewer process exited with status 4: I cannot go on.")]
    found += [Bead("n-next", "ok", "task/marker.c", after=("n-ok1", "n-drift0"), priority=0),
              Bead("n-last", "ok", "task/pick.c", after=("n-next", "n-same0")),
              Bead("n-never", "ok", "core/run.c", after=("n-crash",), priority=0, never=True),
              Bead("n-nor", "ok", "core/run.c", after=("n-never", "n-ok0"), priority=0, never=True)]
    assert len(found) == 30 and len({b.id for b in found}) == 30
    return found


def hundred():
    """Three times those thirty, in the same files, and what takes a whole night to go wrong:
    services that refuse, agents that hang with what they have started, or leave it behind."""
    found = [bead._replace(id=f"{bead.id}-{n}", after=tuple(f"{i}-{n}" for i in bead.after))
             for n in range(3) for bead in beads()]
    found += [Bead(f"n-limit{i}", "limit", f"core/{name}.c", refused=1)
              for i, name in enumerate(["chain", "plan", "slot"])]
    found += [Bead(f"n-busy{i}", "busy", f"git/{name}.c", refused=1 + i) for i, name in enumerate(["base", "merge"])]
    found += [Bead(f"n-hang{i}", "hang", "core/run.c", end=TIMED_OUT) for i in range(2)]
    found += [Bead(f"n-stays{i}", "stays", f"task/{name}.c") for i, name in enumerate(["bead", "pick", "list"])]
    assert len(found) == 100 and len({b.id for b in found}) == 100
    return found


def beads_to_pick():
    """Twelve for agents who share a tree and choose: each in a file of its own. The
    last one is left."""
    names = ["chain", "waiters", "decision", "findings", "cause", "plan", "run", "slot", "state", "tasks", "profile"]
    return [Bead(f"n-pick{i:x}", "ok", f"core/{name}.c", drifts=i % 2, priority=i % 3)
            for i, name in enumerate(names)] + [Bead("n-later", "ok", "core/row.c", never=True)]


def export(beads):
    """.beads/issues.jsonl: every second record in the older form."""
    lines = []
    for i, bead in enumerate(beads):
        play = f"play: kind={bead.kind} file={bead.file} place={bead.place} drifts={bead.drifts} refused={bead.refused}"
        row = {"id": bead.id, "title": f"Do {bead.id}",
               "description": f"Note it in {bead.file}.\n\n{play}\n", "status": "open",
               "priority": bead.priority}
        if i % 2:
            row = {"_type": "issue", **row, "issue_type": "task", "dependency_count": len(bead.after)}
            row["dependencies"] = [{"issue_id": bead.id, "depends_on_id": on, "type": "blocks"} for on in bead.after]
        elif bead.after:
            row["dependencies"] = list(bead.after)
        lines.append(json.dumps(row) + "\n")
    return "".join(lines)


# ---- the repository ------------------------------------------------------------------------------

def pieces(text):
    """A source from its first lines to all of it, cut behind functions."""
    ends = [m.end() for m in re.finditer(r"^}.*\n", text, re.M)]
    cuts = ends[max(len(ends) // PIECES, 1) - 1::max(len(ends) // PIECES, 1)][:PIECES - 1]
    return [text[:cut] for cut in cuts if cut < len(text)] + [text]


def history():
    """[(file, text, subject)] in turn."""
    files = sorted(f for room in ROOMS for f in (SOURCE / "daemon" / room).glob("*.c"))
    grown = [[(str(f.relative_to(SOURCE / "daemon")), text, f"{f.stem}: part {n} of {f.parent.name}")
              for n, text in enumerate(pieces(f.read_text()), 1)] for f in files]
    return [one for turn in range(PIECES) for parts in grown for one in parts[turn:turn + 1]]


def grow(path, beads):
    """A repository with that history and those beads, and work of its user that is nobody
    else's business."""
    repo = Repo(path)
    stream, when = [], 1790000000
    parts = history()
    assert len(parts) >= 60
    for name, text, subject in parts:
        when += 60
        data, body = text.encode(), f"{subject}\n".encode()
        stream.append(b"commit refs/heads/main\ncommitter A Person <person@example.org> %d +0000\n"
                      b"data %d\n%s" % (when, len(body), body))
        stream.append((b"from refs/heads/main^0\n" if len(stream) == 1 else b"") +
                      b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(data), data))
    repo.git("fast-import", "--quiet", input=b"".join(stream))
    repo.git("reset", "-q", "--hard", "main")
    assert {b.file for b in beads} <= {name for name, _, _ in parts}, "they work on files that are there"
    repo.write(".gitignore", "*.o\n")
    repo.write(".beads/.gitignore", "fake.*\n")
    repo.write(".beads/issues.jsonl", export(beads))
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "beads")
    repo.write("README", "stashed\n")
    repo.git("stash", "push", "-q")
    repo.write("staged.txt", "staged\n")
    repo.git("add", "staged.txt")
    repo.write("README", "scratch, and more\n")
    repo.write("untracked.txt", "untracked\n")
    return repo


def belongings(repo):
    """What is the user's; files of bd's own store aside."""
    state = repo.state()
    state["branches"] = [line for line in state["branches"].split("\n") if "refs/heads/rl/" not in line]
    files = {str(p.relative_to(repo.path)): p.read_bytes() for p in repo.path.rglob("*")
             if p.is_file() and ".git" not in p.relative_to(repo.path).parts and not p.name.startswith("fake.")}
    return {**state, "status": repo.git("status", "--porcelain=v2", "--branch", "--untracked-files=all"),
            "files": files}


# ---- the night -----------------------------------------------------------------------------------

EVENTS_OF_A_BEAD = 9		# and some more


class Night:
    """A daemon that works off the beads of a repository, and somebody who kills it."""

    def __init__(self, make_daemon, path, bd, chance, beads, config=None):
        self.beads, self.chance, self.bd = beads, chance, bd
        self.repo = grow(path / "repo", beads)
        tools = path / "tools"
        tools.mkdir()
        if bd:
            (tools / "bd").symlink_to(FAKES / "bd")
        self.play = path / "d.play"
        agent = {"command": [str(FAKES / "night"), str(self.play)], "reader": "text"}
        self.daemon = make_daemon(environment={"PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin"},
                                  config={"default_agent": "night", "agent.night": agent,
                                          "limits": {"grace": "2s"}, **(config or {})})
        self.before = belongings(self.repo)
        self.seen = self.kills = 0
        self.over = set()		# beads that have come to their end
        self.victims = {}		# attempts whose shim was killed: bead

    def submit(self, *args):
        self.daemon.rlctl("submit", "--beads", *args, cwd=self.repo.path, check=0)

    def note(self, event):
        self.seen = event["seq"]
        if event["type"] == "slot.phase" and event["phase"] in ("passed", "failed"):
            self.over.add(event.get("task"))
        return event["type"] == "run.state" and event["state"] in (*ENDS, "held")

    def moment(self, left):
        """Wait until something has happened: some events, and behind them some commits. False:
        the run is over."""
        likely = EVENTS_OF_A_BEAD * (sum(not b.never for b in self.beads) - len(self.over)) / left
        with Events(self.daemon, since=self.seen) as events:
            for _ in range(self.chance.randint(1, max(2, int(1.2 * likely)))):
                if self.note(events.next()):
                    return False
        commits = self.daemon.call("daemon.status")["commits"] + self.chance.choice([0, 1, 2, 4, 8])
        for _ in range(1000):
            status = self.daemon.call("daemon.status")
            if status["commits"] >= commits or not status["runs"]["running"]:
                break
        return True

    def kill(self):
        self.daemon.kill()
        self.kills += 1
        self.daemon.start()

    def kill_a_shim(self):
        """Of the next agent that starts. Not twice of one bead, for each loss counts. False:
        the run is over."""
        with Events(self.daemon, since=self.seen) as events:
            while (event := events.next())["type"] != "attempt.started":
                if self.note(event):
                    return False
            self.note(event)
        bead = next(a["task"] for a in self.daemon.attempts(1) if a["id"] == event["attempt"])
        victim = pid_in(self.daemon.state / "attempts" / str(event["attempt"]) / "shim")
        if (bead not in self.victims.values() and victim is not None and alive(victim)
            and "rl-shim" in command_of(victim)):
            self.victims[event["attempt"]] = bead
            os.kill(victim, signal.SIGKILL)
        return True

    def go_on(self, kills, shims=0):
        """The night, with so many kills of the daemon and about so many of shims:
        the row of the run."""
        while self.kills < kills and self.moment(kills - self.kills):
            if self.chance.random() * kills < shims and not self.kill_a_shim():
                break
            self.kill()
        return self.daemon.ended(1)

    def starts(self):
        """[(role, bead, uuid)] of all agents that were started."""
        return [(role, bead, uuid)
                for _, role, bead, _, uuid in map(str.split, (self.play / "starts").read_text().splitlines())]

    def done(self, role):
        """How many agents of that role came to a good end, by bead."""
        rows = [line.split() for line in (self.play / "ends").read_text().splitlines()]
        return collections.Counter(bead for _, what, bead, _ in rows if what == role)


def pid_in(path):
    """The pid that a shim has written down; None when it is gone by now."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return None
    return next(int(line[4:]) for line in lines if line.startswith("pid "))
