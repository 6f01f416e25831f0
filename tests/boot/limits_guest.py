#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Limits of attempts, inside of the machine of tests/boot/limits.py: the root of a Debian whose
kernel has all controllers. /root has the package, and the same under a higher version. Prints what
was checked, a JSON list a line: [text, good, told].
"""
import fcntl
import json
import os
import re
import subprocess
import sys
import time
import traceback
from pathlib import Path

PATIENCE_S = 200        # the machine may be an emulated one
ENVIRONMENT = {**os.environ, "HOME": "/root", "LANG": "C.UTF-8"}
MEMORY, PROCESSES = 96 << 20, 64
UNIT = Path("/sys/fs/cgroup/system.slice/rld-start.service")
CONFIG = """default_agent = "fake"
parallel = 8
[agent.fake]
command = ["/usr/local/bin/fake-agent"]
reader = "text"
[limits]
disk_floor = "0"
"""
LIMITS = CONFIG + 'memory = "96M"\nprocesses = 64\n'
# What it does is the last word of its prompt.
AGENT = """#!/bin/sh
prompt=$(cat)
echo "$RL_RUN $$" >> /srv/starts
case $prompt in
*eat*) exec python3 -c 'x = bytearray(300 << 20); print(len(x))' ;;
*later*) flock --shared /srv/gate true; exec python3 -c 'x = bytearray(300 << 20); print(len(x))' ;;
*fork*) for i in $(seq 200); do sleep 600 & done ;;
*wait*) flock --shared /srv/gate true ;;
esac
echo done
"""


def tell(text, good, told=""):
    print(json.dumps([text, bool(good), "" if good else str(told)[-8000:]]), flush=True)


def run(*argv, check=True):
    done = subprocess.run([*map(str, argv)], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          check=False, timeout=PATIENCE_S, env=ENVIRONMENT)
    if check and done.returncode != 0:
        raise AssertionError(f"{argv}: {done.returncode}: {done.stdout}{done.stderr}")
    return done


def until(what, ready):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        answer = ready()
        if answer:
            return answer
        time.sleep(0.2)
    raise AssertionError(f"after {PATIENCE_S} s still not: {what}")


def unit(name):
    return dict(line.split("=", 1) for line in run("systemctl", "show", name).stdout.splitlines() if "=" in line)


def active(name):
    return int(until(f"{name} is active", lambda: (u := unit(name))["ActiveState"] == "active" and u["MainPID"]))


def rlctl(*args, check=True):
    return run("rlctl", "--no-start", *args, check=check).stdout


def submit(what):
    path = Path(f"/srv/{what}{time.monotonic_ns()}")
    run("runuser", "-u", "rld-agent", "--", "env", "HOME=/nonexistent", "sh", "-ec",
        f"mkdir {path} && cd {path} && git init -q -b main . && git -c user.name=t -c user.email=t@example.org "
        "commit -q --allow-empty -m start")
    number = int(rlctl("submit", "--no-review", "-C", path, what))
    starts = Path("/srv/starts")
    pid = until(f"the agent of run {number}", lambda: next(
        (int(line.split()[1]) for line in starts.read_text().splitlines() if line.split()[0] == str(number)), None))
    return number, pid


def show(number):
    return json.loads(rlctl("rpc", "run.get", f"id={number}"))


def ended(number):
    return until(f"run {number} has ended", lambda: (r := show(number))["state"] not in ("queued", "running") and r)


def group(pid):
    try:
        inside = Path(f"/proc/{pid}/cgroup").read_text().split("::", 1)[1].strip()
    except OSError:
        return None
    return Path(f"/sys/fs/cgroup{inside}")


def limits(pid):
    at = group(pid)
    return at and [(at / name).read_text().strip() if (at / name).exists() else None
                   for name in ("memory.max", "memory.swap.max", "pids.max")]


def limited(pid):
    found = limits(pid)
    return found and found[0] == str(MEMORY) and found[1] in ("0", None) and found[2] == str(PROCESSES)


def state():
    return run("sh", "-c", "systemctl --no-pager --full status rld-start; journalctl -u rld-start -u rld --no-pager "
               f"-n 30; cat {UNIT}/cgroup.subtree_control; find {UNIT} -name cgroup.procs | xargs tail -n +1; "
               "ps axfo pid,stat,user,wchan:20,args | grep -v '\\]$'", check=False).stdout


def killed(text, number):
    run_row = ended(number)
    shown = rlctl("show", number)
    tell(text, run_row["state"] in ("failed", "held") and "limits.memory sets the limit" in shown, shown + state())


def story():
    for line in ("touch /srv/gate /srv/starts", "chmod 1777 /srv", "chmod 666 /srv/gate /srv/starts"):
        run(*line.split())
    for path, text in ("/usr/local/bin/fake-agent", AGENT), ("/etc/rld/rld.toml", CONFIG):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    Path("/usr/local/bin/fake-agent").chmod(0o755)
    tell("dpkg -i", run("dpkg", "-i", "/root/first.deb", check=False).returncode == 0)
    active("rld")
    tell("rl-start is not in the way of controllers",
         unit("rld-start")["StatusText"] == "ready, attempts can have limits", state())
    Path("/etc/rld/rld.toml").write_text(LIMITS, encoding="utf-8")
    run("systemctl", "reload", "rld")
    doctor = until("the settings are read", lambda: "96" in (text := rlctl("doctor", check=False)) and text)
    tell("doctor has the limits",
         re.search(r"ok +cgroup +each attempt has at most 96 MiB of memory and 64 proc", doctor), doctor)
    with open("/srv/gate", encoding="utf-8") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)        # what waits for it waits until the end of this
        (waits, agent), (later, eater) = submit("wait"), submit("later")
        tell("an attempt has its limits", limited(agent) and limited(eater), (limits(agent), state()))
        killed("an agent that takes all memory is killed, and its run says why", submit("eat")[0])
        number, _ = submit("fork")
        found = ended(number)
        tell("one that starts too many processes is refused them, and its run says why",
             found["state"] != "succeeded" and "limits.processes sets the limit" in rlctl("show", number),
             rlctl("show", number) + state())
        tell("the others have not felt it", group(agent) is not None and group(eater) is not None, state())
        for text, argv in (
                ("restart of rl-start", ["systemctl", "restart", "rld-start"]),
                ("kill -9 of rl-start", ["systemctl", "kill", "--kill-who=main", "--signal=KILL", "rld-start"]),
                ("stop and start of rl-start", ["sh", "-c", "systemctl stop rld-start && systemctl start rld-start"]),
                ("kill -9 of rld", ["systemctl", "kill", "--kill-who=main", "--signal=KILL", "rld"]),
                ("reload of systemd", ["sh", "-c", "systemctl daemon-reload; systemctl daemon-reexec"]),
                ("upgrade", ["dpkg", "-i", "/root/second.deb"])):
            before = active("rld-start"), active("rld")
            run(*argv)
            if "reload" not in text:
                until(text, lambda before=before: (active("rld-start"), active("rld")) != before)
            until("the daemon answers", lambda: run("rlctl", "--no-start", "status", check=False).returncode == 0)
            tell(f"{text}: the same agents, with the same limits", limited(agent) and limited(eater),
                 (limits(agent), state()))
            tell(f"{text}: no unit has failed", unit("rld-start")["ActiveState"] == unit("rld")["ActiveState"] ==
                 "active", state())
            number, pid = submit("wait")
            tell(f"{text}: the next agent has them, too", limited(pid), (limits(pid), state()))
            rlctl("cancel", number)
            ended(number)
        killed("with another rl-start, an agent is killed as before", submit("eat")[0])
    tell("the one that has waited succeeds", ended(waits)["state"] == "succeeded", rlctl("show", waits))
    killed("the other one is killed: its limits are in force", later)
    tell("no group is left", until("the groups are gone", lambda: not list(UNIT.glob("attempt-*"))))
    Path("/etc/systemd/system/rld-start.service.d").mkdir(parents=True)
    Path("/etc/systemd/system/rld-start.service.d/none.conf").write_text("[Service]\nDelegate=no\n", encoding="utf-8")
    run("systemctl", "daemon-reload")
    run("systemctl", "stop", "rld-start")
    run("systemctl", "restart", "rld-start", "rld")
    active("rld")
    doctor = until("doctor", lambda: rlctl("doctor", check=False))
    tell("without Delegate= doctor says what to do", re.search(
        r"warning +cgroup +limits.memory and limits.processes have no effect: .*\n? +.*Delegate=yes", doctor),
         doctor)
    log = until("rld warns", lambda: "limits.processes have no effect" in (
        text := run("journalctl", "-u", "rld", "--no-pager").stdout) and text)
    tell("and rld warns at its start", log)
    number, pid = submit("wait")
    tell("and agents work as before", ended(number)["state"] == "succeeded", rlctl("show", number))


try:
    story()
except (AssertionError, OSError, KeyError, ValueError, subprocess.SubprocessError) as error:
    tell("the story", False, f"{error!r}\n{traceback.format_exc()}\n{state()}")
print("end", flush=True)
sys.stdout.flush()
