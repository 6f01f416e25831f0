# SPDX-License-Identifier: MIT
"""What agents are given is nobody else's: canaries go in by every way, and are looked for in all
that the daemon writes, answers and starts."""
import json
import os
import re
import resource
import stat

import pytest
from outer import Beads, bead, with_bd
from rld import SANITIZED, RpcError, command_of, descendants, proc_stat

# No scanner of repositories is to take this file for a leak, and a shape alone must not give the
# plain ones away.
SHAPE = "sk-ant-" + "api03-Zq81mmKd02wErT5yU7iOp"
CANARIES = {
    # of the submitter's environment, which [agent.play] names
    "PLAY_API_KEY": "pocket-lantern-orchid-dusk",
    "LLM_TOKEN": "marble-otter-velvet-noon",		# set by [agent.play]
    "MY_SETTING": "9f3kd02mmq81zz7ab4",			# the same, by a name that says nothing
    "SHAPE": SHAPE,					# an agent's own
    "REMOTE": "copper-violin-harbour",			# in the URL of a remote
}
SECRETS = {name: value.encode() for name, value in CANARIES.items()}

# As agents and hooks wrote them, or were sent; byte for byte, for their owner alone.
RAW = re.compile(r"^attempts/\d+/(?:work/)?(stdout\.\w+|stderr\.\w+|result|answer|verdict\.json|carrier)$")

SAID = f'printf "I used %s and %s, %s, {SHAPE}.\\n" "$PLAY_API_KEY" "$LLM_TOKEN" "$MY_SETTING"\n'
URL = "https://me:%s@git.example.org/x.git" % CANARIES["REMOTE"]
SCRIPTS = {
    "implement": f"""
env; env >&2
git remote -v
case "$RL_TASK" in
*fail*) echo "fatal: unable to access '{URL}': bad key $PLAY_API_KEY" >&2; exit 3 ;;
*wait*) {SAID} gate running ;;
esac
echo "$RL_RUN" > work.txt
{SAID}""",
    "fix": f"env >&2\necho fixed >> work.txt\n{SAID}",
    # it has none itself
    "check": f"echo 'the key {CANARIES['PLAY_API_KEY']} is refused'\n"
             "[ -e $PLAY/again ] || { [ ! -e $PLAY/checked ] || touch $PLAY/again; touch $PLAY/checked; exit 1; }\n",
    "review": f"""
env >&2
case "$RL_TASK" in
*decide*)
	printf '{{"decision": "NO_GO", "feedback": "%s", "quality_checks": {{"%s": true, "keys": false}}}}\\n' \\
		"$PLAY_API_KEY" "$LLM_TOKEN" ;;
*file*)
	printf -- '- [ ] %s is in work.txt, and {SHAPE}\\n- [ ] and %s\\n' \\
		"$PLAY_API_KEY" "$LLM_TOKEN" > autom8_review.md
	echo 'There are issues.' ;;
*) if [ "$nth" = 1 ]; then drift "do not print $PLAY_API_KEY, $LLM_TOKEN, {SHAPE}"; else {SAID} pass; fi ;;
esac
""",
}
HOOK = f"""#!/bin/sh
[ -e "$0.begun" ] && exit 0
touch "$0.begun"
echo "the key is {CANARIES['PLAY_API_KEY']}, and {SHAPE}" >&2
exit 1
"""


# Its words come by way of its reader, and a conversation may have any name.
JSON = """printf '{"type":"result","subtype":"success","is_error":true,"result":"refused: %s",' "$PLAY_API_KEY"
printf '"session_id":"%s"}\\n' "$PLAY_API_KEY"
exit 1"""


def leaks(data):
    return [name for name, value in SECRETS.items() if value in data]


def in_files(folder, but=re.compile(r"^$")):
    """Files below that have a canary."""
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            relative = os.path.relpath(path, folder)
            if not but.match(relative) and stat.S_ISREG(os.lstat(path).st_mode):
                with open(path, "rb") as file:
                    found += [f"{relative}: {leak}" for leak in leaks(file.read())]
    return found


def in_state(daemon):
    wrong = in_files(daemon.state, re.compile(RAW.pattern + r"|^env/"))
    for place, _, names in os.walk(daemon.state / "attempts"):
        for name in names:
            if (RAW.match(os.path.relpath(os.path.join(place, name), daemon.state))
                and os.lstat(os.path.join(place, name)).st_mode & 0o077):
                wrong.append(f"{place}/{name} is open to others")
    for path in (daemon.state / "env").iterdir():
        if path.stat().st_mode & 0o777 != 0o600:
            wrong.append(f"{path} is open to others")
    return wrong


def in_processes(daemon):
    found = [f"argv of {pid}: {command_of(pid)}"
             for pid in [daemon.pid, *descendants()] if leaks(command_of(pid).encode())]
    jobs = (daemon.state / "attempts").glob("*/job")
    return found + [f"{path}" for path in jobs if leaks(path.read_bytes())]


def in_answers(daemon):
    """Every answer but attempt.output and attempt.transcript, whose words are the agent's."""
    found = []

    def ask(method, **params):
        try:
            answer = rpc.call(method, **params)
        except RpcError as error:
            assert error.code not in (-32601, -32602), error	# the question itself is wrong
            answer = str(error)
        found.extend(f"{method} {params}: {leak}" for leak in leaks(json.dumps(answer, ensure_ascii=False).encode()))
        return answer

    with daemon.connect() as rpc:
        for method in ("daemon.status", "config.show", "group.list", "salvage.list", "hold.list",
                       "cooldown.list", "daemon.doctor"):
            ask(method)
        since, more = 0, True
        while more:
            events = ask("event.list", since=since)["events"]
            more, since = bool(events), events[-1]["seq"] if events else since
        for run in ask("run.list")["runs"]:
            for method in ("run.get", "run.report", "run.diff"):
                ask(method, id=run["id"])
            for method in ("review.list", "review.export"):
                ask(method, run=run["id"])
            for attempt in ask("attempt.list", run=run["id"])["attempts"]:
                ask("attempt.get", id=attempt["id"])
                ask("attempt.preview", id=attempt["id"], lines=20)
    return found


def in_commands(daemon, *runs):
    """What people see."""
    found = []
    for args in [("list",), ("config", "show"), ("hold", "list"),
                 ("status",)] + [(c, r) for c in ("show", "report", "tasks") for r in runs]:
        done = daemon.rlctl(*args)
        found += [f"rlctl {args}: {leak}" for leak in leaks(done.stdout + done.stderr)]
    return found


def nowhere(daemon, *folders):
    wrong = in_state(daemon) + in_processes(daemon) + [f"log: {leak}" for leak in leaks(daemon.log_path.read_bytes())]
    if daemon.running():
        wrong += in_answers(daemon)
    for folder in folders:
        wrong += [f"{folder}/{name}" for name in in_files(folder)]
    assert not wrong, "\n".join(wrong)


@pytest.fixture
def made(make_daemon, repo, tmp_path):
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "told").write_text(f'#!/bin/sh\nenv > "{hooks}/$RL_HOOK.$RL_RUN"\nexit 1\n')
    (hooks / "told").chmod(0o755)
    config = {"agent.play": {"env": ["PLAY_API_KEY"],
                             "set": {name: CANARIES[name] for name in ("LLM_TOKEN", "MY_SETTING")} |
                             {"SWITCH": "1", "TZ": "Europe/Berlin"}},
              "agent.json": {"command": ["sh", "-c", JSON], "reader": "claude", "env": ["PLAY_API_KEY"]},
              "hook": {"on_hold": [str(hooks / "told")], "on_end": [str(hooks / "told")]},
              "review": {"review_log": str(tmp_path / "logs")}}
    daemon, bd = with_bd(make_daemon, tmp_path, scripts=SCRIPTS, config=config, gates=["running"])
    repo.git("remote", "add", "origin", URL)
    return daemon, bd


def send(daemon, workdir, task=None, **params):
    environment = [f"PATH={daemon.environment['PATH']}", f"HOME={daemon.home}",
                   f"PLAY_API_KEY={CANARIES['PLAY_API_KEY']}"]
    if task is not None:
        params["task"] = task
    return daemon.call("run.submit", workdir=str(workdir), environment=environment, **params)["id"]


def raw(daemon, run, stream):
    return "".join(daemon.call("attempt.output", id=a["id"], stream=stream)["data"] for a in daemon.attempts(run))


@pytest.mark.deadline(240)
def test_no_canary_is_anywhere(made, repo, tmp_path):
    """A life with a check that fails, a review that finds, a fix, a hook of the repository that
    says no, and a death in the middle."""
    daemon, bd = made
    folders = [tmp_path / "hooks", tmp_path / "logs"]
    (repo.path / ".git" / "hooks").mkdir(exist_ok=True)
    hook = repo.path / ".git" / "hooks" / "pre-commit"
    hook.write_text(HOOK)
    hook.chmod(0o755)
    check = " ".join(daemon.play.command())

    # by rlctl, as a user does; while it runs, over a death
    done = daemon.rlctl("submit", "--review", "--commit", "auto", "--check", check, "--check-on-base", "skip",
                        "--report", tmp_path / "report.json", "-C", repo.path, "wait for me",
                        check=0, environment={"PLAY_API_KEY": CANARIES["PLAY_API_KEY"]})
    life = int(done.out)
    daemon.play.arrived("running")
    kept, = (daemon.state / "env").iterdir()
    assert leaks(kept.read_bytes()) == ["PLAY_API_KEY", "LLM_TOKEN", "MY_SETTING"]
    lines = [""]
    # its last words are on their way through the shim
    while not lines[-1:] or not lines[-1].startswith("I used"):
        lines = daemon.call("attempt.preview", id=daemon.attempts(life)[0]["id"], lines=20)["lines"]
    assert (lines[-1] == "I used [secret] and [secret], [secret], sk-ant-[secret]."
            and "LLM_TOKEN=[secret]" in lines), lines
    nowhere(daemon, *folders)
    daemon.kill()
    nowhere(daemon, *folders)
    daemon.start()
    daemon.play.go("running")
    row = daemon.ended(life)
    assert row["state"] == "succeeded", row
    nowhere(daemon, *folders)
    # what the owner's agent said is as it was
    for stream in ("stdout", "stderr"):
        assert {"PLAY_API_KEY", "LLM_TOKEN"} <= set(leaks(raw(daemon, life, stream).encode()))
    assert leaks(daemon.call("attempt.output", id=row["result"]["attempt"], stream="answer")["data"].encode())
    report = json.loads((tmp_path / "report.json").read_text())
    assert ("I used [secret] and [secret], [secret], sk-ant-[secret]." in report["result"]["answer"]
            and not leaks(json.dumps(report).encode()))
    assert daemon.call("run.report", id=life)["result"]["answer"] == report["result"]["answer"]
    assert "do not print [secret], [secret], sk-ant-[secret]" in daemon.reviews(life)[0]["feedback"]
    prompts = [daemon.play.prompt(life, role, n).decode()
               for role, n in (("fix", 1), ("fix", 2), ("fix", 3), ("review", 1))]
    assert ("the key is [secret]" in prompts[0] and "the key [secret] is refused" in prompts[1]
            and "do not print [secret]" in prompts[2])

    # one that fails, one that is held and rejected, one with a review file
    failed = send(daemon, repo.path, "fail please")
    cause = daemon.ended(failed)["cause"]
    assert "https://me:[secret]@git.example.org/x.git': bad key [secret]" in cause
    told = send(daemon, repo.path, "tell", agent="json")
    assert "refused: [secret]" in daemon.ended(told)["cause"] and daemon.attempts(told)[0]["session"] is None
    held = send(daemon, repo.path, "decide", review={"enabled": True, "profile": "decision", "max_fixes": 1})
    assert daemon.ended(held)["state"] == "held"
    hold, = daemon.call("hold.list")["holds"]
    assert (daemon.reviews(held)[0]["quality_checks"] == {"[secret]": True, "keys": False}
            and daemon.reviews(held)[0]["feedback"] == "[secret]")
    nowhere(daemon, *folders)
    daemon.call("hold.reject", id=hold["id"])
    filed = send(daemon, repo.path, "file", review={"enabled": True, "profile": "file", "max_fixes": 1})
    daemon.ended(filed)
    findings = [f["text"] for f in daemon.reviews(filed)[0]["findings"]]
    assert findings == ["[secret] is in work.txt, and sk-ant-[secret]", "and [secret]"], findings

    # what bd says
    beads = Beads(tmp_path / "beads", bead("x-1"))
    bd.says("ready", json.dumps({"error": f"{CANARIES['PLAY_API_KEY']} is not allowed at {URL}"}))
    row = daemon.ended(send(daemon, beads.path, beads=True))
    assert row["state"] == "failed" and "[secret]" in row["cause"], row
    nowhere(daemon, *folders)

    wrong = in_commands(daemon, life, failed, told, held, filed, row["id"])
    assert not wrong, "\n".join(wrong)
    for run in (life, failed, told, held, filed, row["id"]):
        if daemon.run(run)["state"] not in ("succeeded", "failed", "cancelled"):
            daemon.cancelled(run)
    daemon.restart()	# waits for what is to be forgotten
    assert [path.name for path in (daemon.state / "env").iterdir()] == [], "an environment outlives its run"
    nowhere(daemon, *folders)
    assert (tmp_path / "hooks" / f"on_hold.{held}").exists() and any((tmp_path / "logs").iterdir())


def plan_of(daemon, run):
    return json.loads(daemon.plan(run))


def test_what_an_agent_sets_is_no_setting_of_the_run(made, repo):
    """Also where no environment was sent, after a restart, and in a retry, which takes
    what is set by then."""
    daemon, _ = made
    daemon.play.set({"implement": 'printf "%s" "$LLM_TOKEN $MY_SETTING $SWITCH $PLAY_API_KEY" > '
                     'seen; gate running; exit 1\n'})
    run = daemon.submit(repo.path)
    daemon.play.arrived("running")
    assert repo.read("seen") == f"{CANARIES['LLM_TOKEN']} {CANARIES['MY_SETTING']} 1 "
    daemon.kill()
    assert plan_of(daemon, run)["agents"]["implement"]["set"] == ["play:LLM_TOKEN", "play:MY_SETTING",
                                                                  "SWITCH=1", "TZ=Europe/Berlin"]
    daemon.start()
    daemon.play.go("running")
    assert daemon.ended(run)["state"] == "failed"
    daemon.write_config({"agent.play": {"set": {"LLM_TOKEN": "another-token-by-now",
                                                "MY_SETTING": "9f3kd02mmq81zz7ab4"}}})
    daemon.call("daemon.reload")
    again = daemon.call("run.retry", id=run)["id"]
    daemon.play.arrived("running")
    assert repo.read("seen") == f"another-token-by-now {CANARIES['MY_SETTING']} 1 "
    daemon.play.go("running")
    daemon.ended(again)
    daemon.write_config({})
    daemon.call("daemon.reload")
    with pytest.raises(RpcError) as refused:
        daemon.call("run.retry", id=run)
    assert "LLM_TOKEN" in refused.value.message and refused.value.data["hint"]


def test_nobody_sends_entries_of_ours(made, repo):
    daemon, _ = made
    daemon.play.set({"implement": 'printf "%s" "$LLM_TOKEN" > seen\n'})
    environment = ["PATH=/usr/bin:/bin", "rld:own=", "rld:set:play:LLM_TOKEN=mine"]
    run = daemon.submit(repo.path, environment=environment)
    daemon.ended(run)
    assert repo.read("seen") == CANARIES["LLM_TOKEN"]


def test_env_is_a_setting_and_a_secret_there_is_warned_of(made, repo):
    """Only what --env names is stored; it is masked all the same where an agent repeats it."""
    daemon, _ = made
    daemon.play.set({"implement": 'echo "bad $DB_PASSWORD" >&2; exit 1\n'})
    done = daemon.rlctl("submit", "--env", "DB_PASSWORD=velvet-harbour-moon", "--env",
                        "COLOUR=blue", "-C", repo.path, "do it", check=0)
    assert ("DB_PASSWORD" in done.err and "agent.play" in done.err and "velvet" not in done.err
            and "COLOUR" not in done.err)
    row = daemon.ended(int(done.out))
    assert row["cause"].endswith("bad [secret]"), row["cause"]
    assert "velvet" not in json.dumps(row) and "DB_PASSWORD" in row["warnings"][0]


def test_settings_are_shown_without_secrets(made):
    daemon, _ = made
    shown = {s["path"]: s["value"] for s in daemon.call("config.show")["settings"]}
    assert shown["agent.play.set"] == {"LLM_TOKEN": "[secret]", "MY_SETTING": "[secret]",
                                       "SWITCH": "1", "TZ": "Europe/Berlin"}
    done = daemon.rlctl("config", "show", check=0)
    assert "LLM_TOKEN" in done.out and not leaks(done.stdout)


@pytest.mark.skipif(SANITIZED, reason="AddressSanitizer in rl-shim sets the limit of core files to 0 itself")
def test_core_files_are_for_agents_alone(made, repo):
    """A core file of ours would have the environments that we hand on, and outlive their runs."""
    def soft(pid):
        return resource.prlimit(pid, resource.RLIMIT_CORE)[0]

    daemon, _ = made
    daemon.stop()
    daemon.prefix = ["/bin/sh", "-c", 'ulimit -Sc "$(ulimit -Hc)"; exec "$@"', "sh"]
    daemon.start()
    run = daemon.submit(repo.path, task="wait")
    agent = daemon.play.arrived("running")
    assert soft(agent) == resource.getrlimit(resource.RLIMIT_CORE)[1]
    assert (soft(proc_stat(agent)[1]), soft(daemon.pid)) == (0, 0)
    daemon.play.go("running")
    daemon.ended(run)


def test_a_leak_would_be_seen(made, repo, tmp_path):
    """The measure measures: a canary in a file, in an answer and in an argv."""
    daemon, _ = made
    nowhere(daemon)
    (daemon.state / "runs").mkdir(exist_ok=True)
    leak = daemon.state / "runs" / "leak"
    leak.write_text(f"x{CANARIES['LLM_TOKEN']}x")
    assert in_state(daemon) == ["runs/leak: LLM_TOKEN"]
    leak.unlink()
    run = daemon.submit(repo.path, task=f"wait, and say {CANARIES['REMOTE']}")
    daemon.play.arrived("running")
    assert any(line.startswith("run.get")
               for line in in_answers(daemon)) and any("rld.db" in line for line in in_state(daemon))
    daemon.play.go("running")
    daemon.ended(run)
