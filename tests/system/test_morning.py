# SPDX-License-Identifier: MIT
"""The morning after a run with many tasks: what passed, what failed and why, what waits for what,
what it cost, how to take the result, and what each task changed."""
import json
import subprocess
import time

import pytest
from rld import RpcError
from test_budget import CLAUDE, DRIFT, PASS, says
from test_show_tasks import facts, stories, submit, table  # noqa: F401  (stories is a fixture)

WORK = 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"\n' + says(0.5)
EXIT = "{\n" + says() + "exit 3\n}\n"
FAILING = '[ "$RL_TASK_ID" != US-1 ] || ' + EXIT + WORK
MANY = {"integrate": "merge", "parallel": 2, "review": {"enabled": True}}
WHY = "US-1: implementer process exited with status 3"


@pytest.fixture
def night(make_daemon, repo, stories):  # noqa: F811
    def make(implement=FAILING, reviewer=PASS, config=None, gates=(), **params):
        daemon = make_daemon(scripts={"implement": implement, "review": reviewer}, gates=gates,
                             config={**CLAUDE, **(config or {})})
        return daemon, submit(daemon, repo, stories, **{**MANY, **params})
    return make


def head(text):
    """The names of the first lines, in order."""
    return [line.split("  ")[0] for line in text.split("\n\n")[0].splitlines()[1:]]


@pytest.mark.parametrize("command", ["show", "report"])
def test_first_what_passed_and_what_did_not(night, command):
    """Then one row per task, then the rest, with the task of each attempt."""
    daemon, run = night()
    row = daemon.ended(run)
    text = daemon.rlctl(command, run, check=0).out
    assert head(text)[:6] == ["tasks", "failed", "took", "tokens", "cost", "to merge it"], text
    told = facts(text)
    assert (told["tasks"], told["failed"], told["cost"], told["to merge it"]) == (
        ["3: 2 passed, 1 failed"], [WHY], ["$1.20"], ["git merge rl/1-result"]), told
    assert "cause" not in told and "Answer:" not in text and "do it" not in text
    lines = table(text, "TASK")
    assert lines[0].split()[:6] == ["TASK", "STATE", "ROUNDS", "ATTEMPTS", "TOOK", "COST"], lines
    cells = {line.split()[0]: line.split() for line in lines[1:]}
    assert {name: (c[1], c[2:4]) for name, c in cells.items() if name != "US-1"} == {
        "US-3": ("passed", ["1", "2"]), "US-2": ("passed", ["1", "2"])}, lines
    assert cells["US-3"][5] == "$0.60" and cells["US-1"][1:3] == ["failed", "1"], lines
    assert lines[2].endswith("implementer process exited with status 3"), lines
    attempts = table(text, "ATTEMPT" if command == "show" else "TURN")
    assert attempts[0].split()[1] == "TASK" and len(attempts) == 6, attempts
    assert sorted(line.split()[1] for line in attempts[1:]) == ["US-1", "US-2", "US-2", "US-3", "US-3"], attempts
    assert row["state"] == "failed" and text.index("TASK  STATE") < text.index(attempts[0])


def test_the_same_for_programs(night):
    """One overview in all answers, also of an ended run, whose rows run.list does not read."""
    daemon, run = night()
    row = daemon.ended(run)
    overview = row["overview"]
    assert {k: v for k, v in overview["states"].items() if v} == {"passed": 2, "failed": 1}, overview
    assert {k: overview[k] for k in ("tasks", "held", "task", "why", "branch", "branches", "take", "show")} == {
        "tasks": 3, "held": 0, "task": "US-1", "why": WHY, "branch": "rl/1-result", "branches": 1,
        "take": "git merge rl/1-result", "show": None}, overview
    assert overview["pick"] == f"git cherry-pick {row['base_commit'][:12]}..rl/1-result"
    assert overview["cost_usd"] == pytest.approx(1.2)
    answers = [daemon.call("run.list")["runs"][0], daemon.call("run.wait", ids=[run])["runs"][0],
               daemon.call("run.report", id=run)]
    for answer in answers:
        assert answer["overview"].pop("cost_usd") == pytest.approx(1.2)
    assert all({**a["overview"], "cost_usd": overview["cost_usd"]} == overview for a in answers), answers
    tasks = {t["id"]: t for t in row["tasks"]}
    assert {n: (t["rounds"], t["attempts"], t["cost_usd"]) for n, t in tasks.items()} == {
        "US-3": (1, 2, pytest.approx(0.6)), "US-1": (0, 1, None), "US-2": (1, 2, pytest.approx(0.6))}
    took = {n: sum(a["ended_at"] != a["started_at"] for a in daemon.attempts(run) if a["task"] == n) for n in tasks}
    assert all(tasks[n]["wall_ms"] > 0 for n in tasks if took[n]), tasks
    assert daemon.call("run.report", id=run)["tasks"] == row["tasks"]


def test_separate_branches_have_no_single_command(night):
    daemon, run = night(integrate="none", review={"enabled": False})
    overview = daemon.ended(run)["overview"]
    assert (overview["branches"], overview["branch"], overview["take"], overview["pick"]) == (2, None, None, None)
    assert daemon.call("run.list")["runs"][0]["overview"] == overview
    assert facts(daemon.rlctl("report", run, check=0).out)["to merge it"] == [
        "git merge BRANCH, for each of the 2 tasks that passed"]


def test_the_only_branch_is_named(night):
    """One task fails, one changes nothing."""
    daemon, run = night('[ "$RL_TASK_ID" != US-3 ] || ' + EXIT + '[ "$RL_TASK_ID" = US-2 ] || {\n' + says() +
                        "exit\n}\n" + WORK, integrate="none", review={"enabled": False})
    overview = daemon.ended(run)["overview"]
    assert (overview["branch"], overview["take"]) == ("rl/1/US-2", "git merge rl/1/US-2"), overview
    assert (overview["task"], overview["states"]["failed"], overview["states"]["passed"]) == ("US-3", 1, 2)
    assert daemon.call("run.list")["runs"][0]["overview"] == overview


def test_list_and_wait_count_and_name(night):
    daemon, run = night()
    daemon.ended(run)
    titles, line = daemon.rlctl("list", check=0).out.splitlines()
    assert "3 tasks: 2 passed, 1 failed" in line and line.endswith(WHY) and "$1.20" in line and "COST" in titles, line
    done = daemon.rlctl("wait", run, check=10)
    assert done.out == f"1  failed  3 tasks, 2 passed  {WHY}\n", done.out
    assert done.err == 'To take the result of run 1: "git merge rl/1-result".\n', done.err


def test_run_ends_with_the_numbers(make_daemon, repo, stories):  # noqa: F811
    daemon = make_daemon(scripts={"implement": FAILING, "review": PASS}, config=CLAUDE)
    done = daemon.rlctl("run", "--stories", stories, "-P2", "--on-failure", "continue", cwd=repo.path, check=10)
    assert "Tasks: 3: 2 passed, 1 failed. " in done.err and 'To merge it: "git merge rl/1-result".' in done.err


def test_what_waits_for_whom(night):
    """A hold, and the command that shows it."""
    daemon, run = night(WORK, f'if [ "$RL_TASK_ID" = US-1 ]; then\n{DRIFT}else\n{PASS}fi\n',
                        review={"enabled": True, "max_fixes": 0, "on_exhausted": "hold"})
    row = daemon.ended(run)
    (hold,) = row["holds"]
    assert row["state"] == "held" and row["overview"]["held"] == 1, row
    why = f"US-1: {hold['reason']}"
    assert (row["overview"]["task"], row["overview"]["why"]) == ("US-1", why)
    for command in ("show", "report"):
        told = facts(daemon.rlctl(command, run, check=0).out)
        assert told["tasks"] == ["3: 2 passed, 1 claimed, 1 held"] and told["next"] == ["rlctl hold show 1"], told
        assert told["waits"] == [f"US-1: hold 1: {hold['reason']}"] and "failed" not in told, told
    task = {t["id"]: t for t in row["tasks"]}["US-1"]
    assert (task["state"], task["wait_kind"], task["reason"]) == ("claimed", "decision", f"hold 1: {hold['reason']}")
    assert daemon.rlctl("list", check=0).out.splitlines()[1].endswith(why)
    assert why in daemon.rlctl("wait", run, check=13).out


def test_what_waits_for_an_account(night):
    daemon, run = night('[ "$RL_TASK_ID" = US-3 ] && gate at\n' + WORK, gates=["at"], parallel=1,
                        review={"enabled": False})
    daemon.play.arrived("at")
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 7200))
    daemon.call("cooldown.set", account="paid", until=until, reason="saved for later")
    daemon.play.go("at")
    with daemon.events(run=run) as events:
        events.until("slot.phase", lambda e: e["phase"] == "cooling")
    task = [t for t in daemon.run(run)["tasks"] if t["state"] == "claimed"][0]
    assert "account paid" in task["reason"] and task["wait_kind"] not in (None, "task"), task
    told = facts(daemon.rlctl("report", run, check=0).out)
    assert told["waits"] == [f"{task['id']}: {task['reason']}"] and told["tasks"] == [
        "3: 1 passed, 1 claimed, 1 open"] and "to merge it" not in told, told
    daemon.rlctl("cancel", run, check=0)
    daemon.ended(run)


def test_a_run_with_one_task_keeps_its_short_form(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "echo x > x.txt\nanswer done\n"})
    run = daemon.submit(repo.path, "Write x")
    daemon.ended(run)
    for command in ("show", "report"):
        text = daemon.rlctl(command, run, check=0).out
        assert facts(text)["task"] == ["Write x"] and "tasks" not in facts(text), text
        assert table(text, "TASK") == [] and "t1" not in table(text, "ATTEMPT" if command == "show" else "TURN")[1]
    assert "\nAnswer:\ndone\n" in daemon.rlctl("report", run, check=0).out
    assert "Write x" in daemon.rlctl("list", check=0).out
    assert daemon.rlctl("wait", run, check=0).out == "1  succeeded\n"


# ---- diff ----------------------------------------------------------------------------------------

def added(text):
    return [line[6:] for line in text.splitlines() if line.startswith("+++ b/")]


@pytest.mark.parametrize("integrate", ["merge", "none"])
def test_what_one_task_changed(night, repo, integrate):
    """After the run, when there are no work trees any more."""
    daemon, run = night(integrate=integrate)
    row = daemon.ended(run)
    assert not any(slot["worktree"] for slot in row["slots"]) or not list((daemon.state / "worktrees").glob("1/*"))
    whole = daemon.rlctl("diff", run, check=0).out
    assert added(whole) == (["US-2.txt", "US-3.txt"] if integrate == "merge" else ["US-3.txt", "US-2.txt"]), whole
    for name in ("US-3", "US-2"):
        text = daemon.rlctl("diff", f"{run}/{name}", check=0).out
        assert added(text) == [f"{name}.txt"] and f"+{name}\n" in text and "\x1b" not in text, text
        answer = daemon.call("run.diff", id=run, task=name)
        assert answer["diff"] == text and answer["tree"] != answer["base_tree"], answer
        repo.git("apply", "--check", "-", input=text.encode())
    assert daemon.call("run.diff", id=run)["base_tree"] == row["base_tree"]


def test_the_number_of_changed_lines(make_daemon, repo):
    """As git counts them, whatever the lines look like."""
    repo.write("old.txt", "".join(f"{n}\n" for n in range(200)))
    repo.write("gone.txt", "one\ntwo\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "files")
    daemon = make_daemon(scripts={"implement": r"""
        sed -i -e 's/^1.*/&x/' -e '/^5$/d' old.txt
        git rm -q gone.txt; printf -- '-- a\n++ b\ndiff --git a/x b/x\n@@ -1 +1 @@\nend' > 'a name.txt'
        git mv README moved; chmod +x moved; : > empty; printf 'ü\n' > "$(printf 'q\t"e')"
        answer done
        """})
    run = daemon.submit(repo.path, isolation="worktree", commit="auto")
    row = daemon.ended(run)
    tip = row["tasks"][0]["commit"]
    wanted = repo.git("-c", "core.quotePath=false", "diff", "-M", "--stat=200,100,100", row["base_commit"], tip)
    text = daemon.rlctl("diff", run, "--stat", check=0).out
    numbers = [int(line.rsplit("|", 1)[1].split()[0]) for line in text.splitlines()[:-1]]
    assert numbers == [int(line.rsplit("|", 1)[1].split()[0]) for line in wanted.splitlines()[:-1]], (text, wanted)
    assert text.splitlines()[-1].strip() == wanted.splitlines()[-1].strip(), (text, wanted)
    assert {line.rsplit("|", 1)[0].strip() for line in text.splitlines()[:-1]} >= {
        "a name.txt", "gone.txt", "old.txt", "moved", "empty"}, text


def test_what_a_diff_cannot_show(night, tmp_path):
    daemon, run = night()
    daemon.ended(run)
    for wanted, line, remedy in ((99, "no such run: 99", "rlctl list"),
                                 ("1/US-9", "run 1 has no task US-9", '"rlctl show 1" lists its tasks'),
                                 ("1/US-1", "task US-1 of run 1 has no diff", '"rlctl salvage list 1"')):
        err = daemon.rlctl("diff", wanted, check=1).err
        assert line in err and remedy in err, err
    said = json.loads(daemon.rlctl("diff", 1, "--stat", "--json", check=2).err)
    assert said["message"] == "--stat and --json exclude each other" and said["data"]["kind"] == "usage"
    (tmp_path / "plain").mkdir()
    number = daemon.submit(tmp_path / "plain")
    daemon.ended(number)
    assert "not in a git repository" in daemon.rlctl("diff", number, check=1).err


def test_nothing_changed(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "answer done\n"})
    run = daemon.submit(repo.path)
    daemon.ended(run)
    for wanted in ([run], [f"{run}/t1"], [run, "--stat"]):
        done = daemon.rlctl("diff", *wanted, check=0)
        assert (done.out, done.err) == ("", "No changes.\n"), done


def test_a_diff_that_was_removed_names_the_command(night, tmp_path):
    """The record of the step is gone: the trees are still there."""
    daemon, run = night()
    daemon.ended(run)
    text = daemon.rlctl("diff", "1/US-2", check=0).out
    kept = [path.parent for path in (daemon.state / "attempts").glob("*/stdout*")
            if path.read_bytes() == text.encode()]
    for directory in kept:
        directory.rename(tmp_path / directory.name)
    with pytest.raises(RpcError) as refused:
        daemon.call("run.diff", id=run, task="US-2")
    assert refused.value.data["kind"] == "not-found", refused.value
    command = refused.value.data["hint"].split(": ", 1)[1]
    assert command.startswith("git --git-dir=") and added(
        subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout) == ["US-2.txt"]
    for directory in kept:
        (tmp_path / directory.name).rename(directory)


def test_a_run_of_many_is_told_while_it_runs(night):
    daemon, run = night('gate "$RL_TASK_ID"\n' + WORK, gates=["US-3"], review={"enabled": False}, parallel=1)
    daemon.play.arrived("US-3")
    told = facts(daemon.rlctl("report", run, check=0).out)
    assert told["tasks"] == ["3: 1 claimed, 2 open"] and "to merge it" not in told, told
    assert json.loads(daemon.rlctl("report", run, "--json", check=0).out)["overview"]["take"] is None
    daemon.rlctl("cancel", run, check=0)
    daemon.ended(run)
