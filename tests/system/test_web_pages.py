# SPDX-License-Identifier: MIT
"""The pages of rlctl web in Chromium: each decision by keyboard, with and without scripts; what
changes comes by itself and disturbs nothing; phone and desktop, light and dark."""
import re

import pytest
from browser import Browser
from pages import many
from rld import Repo
from test_pages import SCREENS, check_keyboard, check_outline, check_screen
from test_web import ASKS, EXHAUSTED, HELD
from web import Web

PAGES = (("/", 30), ("/?state=failed&text=x", 12), ("/holds", 8), ("/hold/1", 15), ("/run/1", 60), ("/nothing", 5))


@pytest.fixture
def browser(make_daemon):
    """Its processes end before those of daemons are looked for."""
    with Browser() as made:
        yield made


class Session:
    """A browser that has opened the address of a server."""

    def __init__(self, browser, web):
        self.browser, self.web = browser, web
        browser.requests()
        browser.driver.get(web.address)
        self.until("return location.search === '' && document.querySelector('.filters') !== null")
        self.base = browser.driver.current_url.rstrip("/")
        assert re.fullmatch(rf"http://127\.0\.0\.1:{web.port}/[0-9a-f]{{32}}", self.base)

    def until(self, script):
        self.browser.until(script)

    def look(self, path, width=1280, **given):
        self.browser.look(self.base + path, width, **given)

    def live(self, text="Live"):
        self.until(f"return document.getElementById('live').textContent === '{text}'")

    def shown(self, selector):
        return self.browser.ask("return [...document.querySelectorAll(arguments[0])].map(e => e.innerText)", selector)

    def focused(self):
        return self.browser.ask("const e = document.activeElement; return e.value || e.innerText")

    def tab_to(self, what):
        """Tab until the element with this value or text has the focus."""
        for _ in range(60):
            self.browser.tab()
            if self.browser.ask("const e = document.activeElement; return [e.name + '=' + e.value, e.innerText, e.name]"
                                ".includes(arguments[0])", what):
                return
        raise AssertionError(f"the keyboard does not come to {what}")

    def write(self, text):
        self.browser.driver.switch_to.active_element.send_keys(text)


@pytest.fixture
def session(browser):
    opened = []

    def make(daemon):
        opened.append(Web(daemon))
        return Session(browser, opened[-1])
    yield make
    for web in opened:
        web.__exit__()


def test_every_page_on_every_screen(make_daemon, repo, browser, session):
    daemon, run = many(make_daemon, repo)
    assert daemon.ended(run)["state"] == "held"
    here = session(daemon)
    for path, least in PAGES:
        for width, colours in SCREENS:
            check_screen(browser, here.base + path, width, colours, least)
        check_outline(browser.driver.page_source.replace("<!DOCTYPE html>", ""), served=("script", "form"))
        check_keyboard(browser, here.base + path, 2)
    assert all(address.startswith(f"http://127.0.0.1:{here.web.port}/") for address in browser.requests())
    assert [said for said in browser.complaints() if "404" not in said] == []
    # the hold on the first screen of a phone: what it is about, and what can be done
    here.look("/hold/1", 360, height=740)
    assert browser.ask("return [...document.querySelectorAll('.decide button')].map(e => [e.innerText, "
                       "e.getBoundingClientRect().bottom < innerHeight])") == [
        ["Approve", True], ["Rework", True], ["Reject", True]]


@pytest.mark.parametrize("scripts", [True, False])
def test_decisions_by_keyboard(make_daemon, tmp_path, browser, session, scripts):
    daemon = make_daemon(scripts=EXHAUSTED)
    runs = [daemon.review(Repo(tmp_path / f"r{i}").path, review=HELD) for i in range(3)]
    daemon.ended(*runs)
    daemon.play.set(ASKS)
    asks = daemon.review(Repo(tmp_path / "asks").path, review={"on_question": "hold"})
    daemon.ended(asks)
    holds = {hold["run"]: hold["id"] for hold in daemon.call("hold.list", state="open")["holds"]}
    here = session(daemon)
    for run, decision, text, state in ((runs[0], "approve", "", "approved"), (runs[1], "reject", "No.", "rejected"),
                                       (runs[2], "rework", "Add a line.", "rework"), (asks, "answer", "B.", "rework")):
        here.look("/holds", scripts=scripts)
        wanted = browser.ask("return [...document.querySelectorAll('.row a')].find(e => e.href.endsWith(arguments[0]))"
                             ".innerText", f"/hold/{holds[run]}")
        at = [browser.ask("return document.activeElement.href || ''")]
        while not at[-1].endswith(f"/hold/{holds[run]}"):
            assert len(at) < 60, (wanted, at)
            browser.tab()
            at.append(browser.ask("return document.activeElement.href || ''"))
        browser.enter()
        here.until("return document.querySelector('textarea') !== null")
        here.tab_to("message")
        if text:
            here.write(text)
        here.tab_to(f"decision={decision}")
        browser.enter()
        here.until("return document.querySelector('#decide .state') !== null && document.readyState === 'complete'")
        assert here.shown("#decide .state")[0] in (state, "reworked")
        assert here.shown("#decide .said .prose") == ([text] if text else [])
    assert here.shown("#decide")[0].endswith("Nothing else waits for a decision.")
    assert daemon.ended(asks)["state"] == "succeeded"
    assert browser.complaints() == []


def test_refused_and_written_text_is_there(make_daemon, repo, browser, session):
    daemon = make_daemon(scripts=EXHAUSTED)
    daemon.ended(daemon.review(repo.path, review=HELD))
    here = session(daemon)
    here.look("/hold/1")
    here.live()
    here.tab_to("message")
    here.write("Not <b>this</b> way")
    # decided elsewhere meanwhile: what is being written stays
    daemon.call("hold.reject", id=1)
    here.live("Changed; your text is kept")
    assert browser.ask("return document.querySelector('textarea').value") == "Not <b>this</b> way"
    here.tab_to("decision=rework")
    browser.enter()
    here.until("return document.querySelector('.refused') !== null")
    assert here.shown(".refused")[0].startswith("Refused: ") and here.shown("#decide .state") == ["rejected"]


def test_what_happens_comes_by_itself(make_daemon, repo, browser, session):
    daemon = make_daemon(scripts={"implement": "gate here\necho one > work.txt\nanswer done\n"}, gates=["here"])
    here = session(daemon)
    here.look("/")
    here.live()
    assert here.shown("#runs") == ['No runs yet. "rlctl submit" makes one.']
    run = daemon.submit(repo.path, task="Count to one")
    here.until("return document.querySelector('#runs .state') !== null && "
               "document.querySelector('#runs .state').innerText === 'running'")
    browser.ask("document.querySelector('#runs a').focus()")
    browser.enter()
    here.until("return document.querySelector('#do') !== null")
    here.live()
    browser.ask("document.querySelector('summary').focus()")
    browser.enter()
    opened = here.focused()
    daemon.play.arrived("here")
    daemon.play.go("here")
    here.until("return document.querySelector('.verdict strong').innerText === 'Succeeded'")
    assert daemon.ended(run)["state"] == "succeeded"
    # the same details are open, and have the focus; no page was loaded again
    assert browser.ask("return document.activeElement.parentElement.open") and here.focused() == opened
    assert browser.ask("return performance.getEntriesByType('navigation')[0].type") == "navigate"
    daemon.stop()
    here.live("The daemon is gone; waiting for it")
    daemon.start()
    here.live()
    here.until("return document.querySelector('.verdict strong') !== null")
    # many pages in one browser: those that are not seen use no connection
    first = browser.driver.current_window_handle
    for _ in range(8):
        browser.driver.switch_to.new_window("tab")
        here.look(f"/run/{run}")
        here.live()
    for handle in browser.driver.window_handles:
        if handle != first:
            browser.driver.switch_to.window(handle)
            browser.driver.close()
    browser.driver.switch_to.window(first)
    here.web.process.terminate()
    here.live('"rlctl web" does not answer')
