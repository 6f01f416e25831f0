# SPDX-License-Identifier: MIT
"""Lists by what a tool asks for: the runs of this directory, of a group, with a text."""
import pytest

from loop import Loop
from rld import Repo, RpcError
from test_profile_verdict import VERDICT


@pytest.fixture
def runs(daemon, tmp_path):
    """name: id of a run in that directory"""
    top, deep, beside = (Repo(tmp_path / name) for name in ("a", "a/deep", "ab"))
    made = {"top": daemon.submit(top.path, "Mend the roof", group="house"),
            "deep": daemon.submit(deep.path, "paint the DOOR", group="house"),
            "beside": daemon.submit(beside.path, "mow the lawn\nand the roof")}
    daemon.ended(*made.values())
    return made


@pytest.mark.parametrize("filters, found", [
    ({}, ["beside", "deep", "top"]),
    ({"workdir": "a"}, ["deep", "top"]),
    ({"workdir": "a/"}, ["deep", "top"]),
    ({"workdir": "a/deep"}, ["deep"]),
    ({"workdir": "nowhere"}, []),
    ({"workdir": "/"}, ["beside", "deep", "top"]),
    ({"group": "house"}, ["deep", "top"]),
    ({"group": "default"}, ["beside"]),
    ({"text": "ROOF"}, ["top"]),
    ({"text": "door"}, ["deep"]),
    ({"text": "%"}, []),
    ({"workdir": "a", "text": "the", "group": "house", "state": "succeeded"}, ["deep", "top"]),
    ({"workdir": "a", "state": "failed"}, []),
    ({"source": "prompt"}, ["beside", "deep", "top"]),
    ({"source": "beads"}, []),
    ({"since": "2001-01-01T00:00:00Z", "workdir": "a"}, ["deep", "top"]),
    ({"since": "2999-01-01T00:00:00+01:00"}, []),
])
def test_run_list_is_narrowed(daemon, runs, tmp_path, filters, found):
    params = dict(filters)
    options = [part for key, value in filters.items() for part in (f"--{key}", value)]
    if "workdir" in params:
        params["workdir"] = f"{tmp_path}/{params['workdir']}" if params["workdir"] != "/" else "/"
    listed = daemon.call("run.list", **params)["runs"]
    assert [run["id"] for run in listed] == [runs[name] for name in found]
    if filters.get("workdir") != "nowhere":
        said = daemon.rlctl("list", "--json", *options, cwd=tmp_path, check=0).out
        assert said.count('"created_at"') == len(found)


@pytest.mark.parametrize("types", [None, ["run.state"], ["attempt.ended", "iteration.started"], ["hold.opened"]])
def test_events_of_a_run_and_of_types(daemon, runs, types):
    """As event.subscribe with the same filters; pages continue at next."""
    every = daemon.call("event.list", limit=256)["events"]
    wanted = [e for e in every if e["run"] == runs["deep"] and (types is None or e["type"] in types)]
    assert bool(wanted) == (types != ["hold.opened"])
    narrow = {"run": runs["deep"], **({"types": types} if types else {})}
    assert daemon.call("event.list", limit=256, **narrow)["events"] == wanted
    found, since = [], 0
    while page := (said := daemon.call("event.list", since=since, limit=2, **narrow))["events"]:
        found, since = found + page, said["next"]
    assert found == wanted and said["next"] == since


def test_pages_of_a_narrowed_list(daemon, runs, tmp_path):
    page = daemon.call("run.list", workdir=f"{tmp_path}/a", limit=1)
    assert [r["id"] for r in page["runs"]] == [runs["deep"]]
    page = daemon.call("run.list", workdir=f"{tmp_path}/a", limit=1, cursor=page["next"])
    assert [r["id"] for r in page["runs"]] == [runs["top"]]
    assert daemon.call("run.list", workdir=f"{tmp_path}/a", limit=1, cursor=page["next"])["runs"] == []


def test_the_present_directory(daemon, runs, tmp_path):
    assert "paint the DOOR" in daemon.rlctl("list", "-C", ".", cwd=tmp_path / "a/deep", check=0).out
    assert "Mend" not in daemon.rlctl("list", "-C", ".", cwd=tmp_path / "a/deep", check=0).out


def test_runs_since_one_of_them(daemon, runs):
    """The time of a run is as the runs have it; the run itself is among them."""
    made = daemon.call("run.get", id=runs["deep"])["created_at"]
    assert [r["id"] for r in daemon.call("run.list", since=made)["runs"]] == [runs["beside"], runs["deep"]]
    with pytest.raises(RpcError) as error:
        daemon.call("run.list", since="yesterday")
    assert error.value.data["field"] == "since"


@pytest.fixture
def loop(make_daemon, repo, tmp_path):
    """Its reviews find the same each time, until the fixes are used up."""
    made = Loop(make_daemon, repo, tmp_path, VERDICT)
    made.set(review=VERDICT.finds("point 1"))
    number = made.submit()
    made.daemon.ended(number)
    return made.daemon, number


@pytest.mark.parametrize("name", ["attempt", "review", "product", "evidence"])
def test_pages_of_what_a_run_has(loop, name):
    daemon, number = loop
    key = name if name == "evidence" else f"{name}s"
    whole = daemon.call(f"{name}.list", run=number)
    assert whole["next"] is None and len(whole[key]) > 2
    narrow = {"task": "t1"} if name != "attempt" else {}
    wanted, found, cursor = daemon.call(f"{name}.list", run=number, **narrow)[key], [], {}
    while True:
        page = daemon.call(f"{name}.list", run=number, limit=2, **narrow, **cursor)
        found += page[key]
        if page["next"] is None:
            break
        assert len(page[key]) == 2
        cursor = {"cursor": page["next"]}
    assert found == wanted
    assert daemon.call(f"{name}.list", run=number, limit=len(whole[key]))["next"] is None
    assert daemon.call(f"{name}.list", run=number, cursor=1000) == {key: [], "next": None}


def test_findings_of_a_directory(loop):
    """Of each run in it, newest first, in pages of runs; a state is one of the three lists."""
    daemon, number = loop
    of_run = daemon.call("finding.list", run=number)
    assert len(of_run["open"]) == 1 and of_run["next"] is None
    workdir = daemon.call("run.get", id=number)["workdir"]
    again = daemon.call("run.submit", workdir=workdir, task="again", environment={}, review={"enabled": True})["id"]
    daemon.ended(again)
    listed = daemon.call("finding.list", workdir=workdir)
    assert [f["run"] for f in listed["open"]] == [again, number] and listed["next"] is None
    assert daemon.call("finding.list", workdir=f"{workdir}/none")["open"] == []
    first = daemon.call("finding.list", workdir=workdir, limit=1)
    assert [f["run"] for f in first["open"]] == [again]
    second = daemon.call("finding.list", workdir=workdir, limit=1, cursor=first["next"])
    assert second["open"] == of_run["open"]
    assert daemon.call("finding.list", run=number, state="open")["open"] == of_run["open"]
    assert daemon.call("finding.list", run=number, state="disputed")["open"] == []
    for params in ({}, {"run": number, "workdir": workdir}):
        with pytest.raises(RpcError) as error:
            daemon.call("finding.list", **params)
        assert error.value.code == -32602 and error.value.data["field"] in ("run", "workdir")
    with pytest.raises(RpcError) as error:
        daemon.call("finding.list", run=999)
    assert error.value.code == 1


def test_what_an_empty_list_says(make_daemon, repo):
    daemon = make_daemon(config={"group.night": {"slots": 2}})
    assert daemon.rlctl("list", check=0).err == "No runs.\n"
    daemon.ended(*[daemon.submit(repo.path, group="night") for _ in range(3)])
    assert daemon.rlctl("list", "--group", "nigth", check=0).err == "No such runs.\n  did you mean --group night?\n"
    assert daemon.rlctl("list", "--group", "night", "--text", "xyz", check=0).err == "No such runs.\n"
    # the same filters hold for the older ones
    assert "For older ones, add --before 2." in daemon.rlctl("list", "--group", "night", "-n", 2, check=0).err
