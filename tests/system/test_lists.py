# SPDX-License-Identifier: MIT
"""Lists by what a tool asks for: the runs of this directory, of a group, with a text."""
import pytest

from rld import Repo


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
