# SPDX-License-Identifier: MIT
"""A state directory that an rld with the second schema left behind: its runs go on, finished
ones are still told."""
import json
import sqlite3

import pytest
from rld import SOURCE, Repo

# Settings of a run that the second schema's rld did not know.
LATER = ("commit_said", "isolation", "integrate", "parallel", "iterations", "pause_ms",
         "on_failure", "assign", "stop_markers", "base", "disk_floor_bytes")


def downgrade(daemon):
    """The same rows in a database as it was made then."""
    new, old = daemon.state / "rld.db", daemon.state / "old.db"
    base = sqlite3.connect(old, isolation_level=None)
    for name in ("0001-init.sql", "0002-reviews.sql"):
        base.executescript((SOURCE / "sql" / name).read_text())
    base.execute("ATTACH ? AS new", (str(new),))
    tables = [row[0] for row in base.execute("SELECT name FROM main.sqlite_schema WHERE type = "
                                             "'table' AND name <> 'sqlite_sequence'")]
    # a locked task takes no more attempts
    for table in sorted(tables, key=lambda name: name.startswith("task")):
        columns = ", ".join(f'"{row[1]}"' for row in base.execute(f"PRAGMA main.table_info({table})"))
        base.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}")
    base.execute("UPDATE main.run SET plan = (SELECT text FROM new.plan WHERE hash = run.plan)")
    for run, plan in base.execute("SELECT id, plan FROM main.run").fetchall():
        settings = json.loads(plan)
        for name in LATER:
            del settings[name]
        del settings["agents"]["commit"]
        base.execute("UPDATE main.run SET plan = ? WHERE id = ?", (json.dumps(settings), run))
    assert base.execute("PRAGMA main.user_version").fetchone() == (2,)
    base.close()
    for path in daemon.state.glob("rld.db*"):
        path.unlink()
    old.rename(new)


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_runs_go_on(make_daemon, tmp_path, end):
    daemon = make_daemon(scripts={"implement": "gate g$RL_RUN\necho one > work.txt\nanswer done\n", "review": "pass\n"},
                         gates=["g1", "g2", "g3"], config={"parallel": 2})
    repos = [Repo(tmp_path / f"r{i}") for i in range(3)]
    first = daemon.review(repos[0].path)
    daemon.play.arrived("g1")
    daemon.play.go("g1")
    assert daemon.ended(first)["state"] == "succeeded"
    running, other = daemon.review(repos[1].path, commit="auto"), daemon.review(repos[2].path)
    daemon.play.arrived("g2")
    daemon.play.arrived("g3")
    queued = daemon.review(repos[0].path)
    getattr(daemon, end)()
    downgrade(daemon)
    daemon.play.set({"implement": "echo one > work.txt\nanswer done\n"})
    daemon.start()
    row = daemon.run(first)
    assert (row["state"], row["group"], row["paused"],
            row["tasks"][0]["position"]) == ("succeeded", "default", False, 1), row
    daemon.play.go("g2")
    daemon.play.go("g3")
    rows = daemon.ended(running, other, queued)
    assert [r["state"] for r in rows] == ["succeeded"] * 3, rows
    assert rows[0]["result_commit"] == repos[1].git("rev-parse",
                                                    "HEAD") and repos[1].git("show",
                                                                             "HEAD:work.txt") == "one"
    assert [s[1] for s in daemon.play.starts(running)] == ["implement", "review"]
    assert [r["result_ref"] for r in rows] == [f"refs/rl/passed/{r['id']}/t1"
                                               for r in rows], "they keep the names that they began with"
    for run in (first, running, other, queued):
        assert daemon.call("review.verify", run=run)["ok"]
    assert daemon.submit(repos[0].path) == queued + 1
    daemon.ended(queued + 1)
    daemon.play.set({"implement": "echo two > work.txt\nanswer done\n"})
    assert daemon.ended(daemon.review(repos[1].path))["result_ref"] == daemon.ref("passed", queued + 2, "t1")
    daemon.stop()
    newest = max(int(path.name[:4]) for path in (SOURCE / "sql").glob("[0-9]*.sql"))
    assert daemon.query("PRAGMA user_version") == [{"user_version": newest}]
    daemon.start()
