# SPDX-License-Identifier: MIT
"""Fixtures, the deadline of every test, and the checks that end every test."""
import contextlib
import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import rld as harness  # noqa: E402
from rld import Daemon, Play, Repo  # noqa: E402
from terminal import Terminal  # noqa: E402

UNFINISHED = pytest.StashKey()      # a test failed, or was skipped in its middle
# What ends a test that hangs. It is no measure: a test that takes seconds on a quiet machine may
# take minutes beside other work.
DEADLINE = int(os.environ.get("TEST_SECONDS", "300")) * (3 if harness.SANITIZED else 1)


def pytest_addoption(parser):
    parser.addoption("--fast", action="store_true",
                     help="one case of each table of cases, and no test that is marked broad")


def pytest_collection_modifyitems(config, items):
    """What "make check" leaves to "make check-all"."""
    if not config.getoption("--fast"):
        return
    seen, chosen, others = set(), [], []
    for item in items:
        table = item.nodeid.split("[")[0]
        wanted = not item.get_closest_marker("broad") and (table not in seen or item.get_closest_marker("each"))
        seen.add(table)
        (chosen if wanted else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = chosen


def pytest_configure(config):
    config.addinivalue_line("markers", "broad: for check-all only: it is slow, or many ways to the same place")
    config.addinivalue_line("markers", "each: all its cases belong to the fast set")
    config.addinivalue_line("markers", "deadline(seconds): when the test is ended if it hangs, "
                            "for TEST_SECONDS=60; the default is 60")
    harness.become_subreaper()
    os.umask(0o022)     # whatever the caller's is
    # A shell starts what it puts in the background with SIGINT and SIGQUIT ignored, and what is
    # ignored is inherited.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    # The same of nohup and hangups.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_sessionfinish():
    """What this process used, for tests/check, which knows what there is."""
    folder = os.environ.get("RLD_USED")
    if folder:
        with open(f"{folder}/{os.getpid()}", "w") as file:
            file.writelines(f"{name}\n" for name in harness.METHODS_CALLED | harness.COMMANDS_USED)


class Late(BaseException):
    """The deadline; not an Exception, so that no test catches it by accident."""


def seconds_for(item):
    marker = item.get_closest_marker("deadline")
    return DEADLINE * (marker.args[0] if marker else 60) / 60


def with_deadline(seconds):
    def late(signum, frame):
        raise Late(f"not done after {seconds} s")
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    with_deadline(seconds_for(item))
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)


@pytest.fixture(scope="session", autouse=True)
def built():
    missing = [str(p) for p in (harness.RLD, harness.RLCTL, harness.SHIM, harness.RL_GIT) if not p.exists()]
    if missing:
        pytest.exit(f"not built: {', '.join(missing)} (run make, or set RLD_BUILD)", 2)


@pytest.fixture
def tmp_path(tmp_path, request):
    """For tests with another user it is a directory that this user may enter:
    pytest's own are closed."""
    if not {"another_user", "unprivileged"} & set(request.fixturenames):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="rl-open-") as path:
        os.chmod(path, 0o755)
        yield Path(path)


@pytest.fixture
def another_user():
    """The uid of another user, which only root can become."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    return harness.ANOTHER_UID


@pytest.fixture
def unprivileged():
    """A uid without root's rights; None: ours has none."""
    return harness.ANOTHER_UID if os.geteuid() == 0 else None


@pytest.fixture
def places():
    """An ExitStack. A test that names it before make_daemon has what is entered there until its
    daemons have ended."""
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture
def make_daemon(tmp_path, request):
    """make_daemon(scripts=…, config=…) → a started Daemon; every one is checked and
    ended after the test."""
    made = []

    def make(name="d", scripts=None, config=None, start=True, gates=(), play=None, **kwargs):
        play = play or Play(tmp_path / f"{name}.play", scripts).gates(*gates)
        daemon = Daemon(tmp_path / name, play, config, **kwargs)
        made.append(daemon)
        return daemon.start() if start else daemon

    yield make

    with_deadline(DEADLINE)
    wrong = []
    try:
        # Such a test leaves its clients where they were: the daemon would wait for them, and the
        # teardown for it.
        left = harness.close_clients()
        if not request.node.stash.get(UNFINISHED, False):
            wrong += [f"a client is left: {command}" for command in left]
        for daemon in made:
            try:
                wrong += daemon.finish()
            except Late:
                wrong.append(f"the end of the test took more than {DEADLINE} s")
                raise
            except Exception as error:
                wrong.append(f"{type(error).__name__}: {error}")
    except Late:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for pid in harness.descendants():
            wrong.append(f"process {pid} is left: {harness.command_of(pid)}")
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for process in Daemon.processes:
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe:
                    pipe.close()
        Daemon.processes.clear()
        harness.reap_adopted()
    if wrong:
        for daemon in made:
            print(f"---- log of {daemon.path.name}\n{daemon.log()[-6000:]}")
        pytest.fail("after the test:\n" + "\n".join(wrong), pytrace=False)


@pytest.fixture
def on(make_daemon):
    """on(daemon, args…) → a Terminal, closed after the test and before the daemon is looked at."""
    made = []

    def make(daemon, *args, environment=None, **kwargs):
        # a fake daemon has no environment
        reports = {name: text for name, text in getattr(daemon, "environment", {}).items()
                   if name.endswith("SAN_OPTIONS")}
        made.append(Terminal(daemon.socket, *args, environment={**reports, **(environment or {})}, **kwargs))
        return made[-1]
    yield make
    for terminal in made:
        terminal.close()


@pytest.fixture
def daemon(make_daemon):
    """An rld with the default script: the first review asks for a second line, the
    second passes."""
    return make_daemon()


@pytest.fixture
def repo(tmp_path):
    return Repo(tmp_path / "repo")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if not report.passed:
        item.stash[UNFINISHED] = True
    if report.when == "call" and report.failed and "make_daemon" in item.funcargs:
        for path in item.funcargs["tmp_path"].glob("*/log"):
            report.sections.append((f"log of {path.parent.name}", path.read_text(errors="replace")[-6000:]))
