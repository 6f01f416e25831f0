# SPDX-License-Identifier: MIT
"""What the tests of the outer loop share: a directory of beads, a bd that can be stopped and made
to fail, and what was done in which order."""
import json
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

from rld import FAKES

# A line for each implementer, by which a task that was given out twice shows.
NOTE = ('printf "%s\\t%s\\t%s\\t%s\\t%s\\n" "$RL_ATTEMPT_UUID" "$RL_RUN" "$RL_ITERATION" '
        '"$RL_SLOT" "$RL_TASK_ID" >> "$PLAY/done"\n')
WORK = NOTE + "answer done\n"


class Done(NamedTuple):
    uuid: str
    run: int
    iteration: int
    slot: int
    task: str


def done(play):
    """What the implementers noted, in order."""
    path = play.path / "done"
    rows = [line.split("\t") for line in path.read_text().splitlines()] if path.exists() else []
    return [Done(uuid, int(run), int(iteration), int(slot), task) for uuid, run, iteration, slot, task in rows]


def tasks_done(play, run=None):
    return [d.task for d in done(play) if run in (None, d.run)]


def bead(name, priority=1, on=(), **more):
    """A line of the export; on: what it waits for."""
    edges = [{"issue_id": name, "depends_on_id": other, "type": "blocks",
              "created_at": "2026-01-01T00:00:00Z"} for other in on]
    return {"_type": "issue", "id": name, "title": f"do {name}", "status": "open", "priority": priority,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
            **({"dependencies": edges} if edges else {}), **more}


class Beads:
    """A directory with .beads: the export, and for the fake bd its database, which it
    makes of the export."""

    def __init__(self, path, *beads):
        self.path = Path(path)
        (self.path / ".beads").mkdir(parents=True, exist_ok=True)
        self.export = self.path / ".beads" / "issues.jsonl"
        self.write(*beads)

    def write(self, *beads):
        """Lines of the export; a str as it stands."""
        lines = [b if isinstance(b, str) else json.dumps(b, ensure_ascii=False) for b in beads]
        temporary = self.export.with_suffix(".new")
        temporary.write_text("".join(f"{line}\n" for line in lines))
        temporary.rename(self.export)

    def bd(self, *args, actor="eve"):
        """Somebody else at work."""
        return subprocess.run([str(FAKES / "bd"), *args, f"--actor={actor}"], cwd=self.path,
                              check=True, capture_output=True)

    def issues(self):
        """{id: (status, assignee)} in the database of bd."""
        issues = json.loads((self.path / ".beads" / "fake.json").read_text())
        return {name: (issue["status"], issue.get("assignee") or None) for name, issue in issues.items()}

    def calls(self, word):
        """Of the calls of bd that succeeded those with this word in them."""
        log = (self.path / ".beads" / "fake.log").read_text().splitlines()
        return [line for line in log if line.split()[1] == "0" and word in line]


# A bd that stops where a test says so, before or after the work, and prints what a test wants it to
# instead of working.
BD = """#!/bin/sh
PLAY={play}
what=$1
case $* in
*--claim*) what=claim ;;
*--status=open*) what=release ;;
esac
stop() {{
	if rm "$PLAY/bd.$what.$1" 2> /dev/null; then
		echo $$ > "$PLAY/bd.here"
		read -r word < "$PLAY/bd.go"
	fi
}}
stop before
if [ -e "$PLAY/bd.$what.says" ]; then
	cat "$PLAY/bd.$what.says"
	exit 1
fi
{bd} "$@"
status=$?
stop after
exit $status
"""


class Bd:
    """The bd on the PATH of a daemon that was made with environment=bd.environment."""

    def __init__(self, tools, play):
        """tools: a directory to make; play: that of the daemon's scripts."""
        self.program, self.play = Path(tools) / "bd", Path(play)
        self.program.parent.mkdir()
        self.program.write_text(BD.format(play=shlex.quote(str(play)), bd=shlex.quote(str(FAKES / "bd"))))
        self.program.chmod(0o755)
        self.environment = {"PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin"}

    def stop(self, what, when):
        """The next ready, show, claim, close or release stops "before" or "after" it is done,
        at the gate "bd"."""
        (self.play / f"bd.{what}.{when}").touch()

    def says(self, what, text):
        (self.play / f"bd.{what}.says").write_text(text)

    def works(self, what):
        (self.play / f"bd.{what}.says").unlink()


def with_bd(make_daemon, tmp_path, name="d", **kwargs):
    """A daemon and its Bd."""
    bd = Bd(tmp_path / f"{name}.tools", tmp_path / f"{name}.play")
    kwargs["gates"] = [*kwargs.get("gates", ()), "bd"]
    return make_daemon(name=name, environment=bd.environment, **kwargs), bd


def submit(daemon, workdir, **params):
    """A run of the beads of the workdir, unless something else is said."""
    if not params.keys() & {"stories", "workflow", "beads"}:
        params["beads"] = True
    return daemon.call("run.submit", workdir=str(workdir), **params)["id"]


def states(daemon, run):
    return {t["id"]: t["state"] for t in daemon.run(run)["tasks"]}


def reasons(daemon, run):
    return {t["id"]: t["reason"] for t in daemon.run(run)["tasks"]}


def waits(daemon, run, reason):
    """Wait until that is the reason of the run."""
    with daemon.events(run=run) as events:
        events.until("run.state", lambda e: e.get("reason") == reason)
