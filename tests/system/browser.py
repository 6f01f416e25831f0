# SPDX-License-Identifier: MIT
"""Headless Chromium, driven by chromedriver and python3-selenium of Debian."""
import base64
import json
import os
import shutil
import tempfile

from rld import descendants, environ_of, wait_gone
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
           "--disable-extensions", "--disable-background-networking", "--disable-sync", "--disable-component-update",
           "--disable-breakpad", "--disable-crash-reporter", "--hide-scrollbars", "--force-device-scale-factor=1",
           "--font-render-hinting=none")

# Every text node that shows, with its contrast against what is behind it: [[ratio, text], ...]
CONTRASTS = """
const channel = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const light = c => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
const parse = t => { const n = t.match(/[0-9.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
function behind(element) {
    const layers = [];
    for (let e = element; e; e = e.parentElement)
        layers.push(parse(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
}
const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    if (!node.data.trim() || element.closest('style, title') || !element.checkVisibility())
        continue;
    const style = getComputedStyle(element), svg = element.namespaceURI.endsWith('svg');
    const back = behind(element), front = over(parse(svg ? style.fill : style.color), back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), node.data.trim().slice(0, 60)]);
}
return found;
"""

# What can be worked with: links, summaries, fields, regions that scroll.
WORKABLE = "a[href], summary, button, input:not([type=hidden]), textarea, select, [tabindex='0']"


class Browser:
    """One browser; its processes and its profile are gone at the end."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="rl-browser-", ignore_cleanup_errors=True)
        options = webdriver.ChromeOptions()
        for option in (*OPTIONS, f"--user-data-dir={self.folder.name}/profile"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        env = {"PATH": os.environ["PATH"], "HOME": self.folder.name, "TMPDIR": self.folder.name,
               "DBUS_SESSION_BUS_ADDRESS": "disabled:", "LANG": "C.UTF-8"}
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver"), env=env), options=options)
        return self

    def __exit__(self, *_):
        mine = [pid for pid in descendants() if f"HOME={self.folder.name}".encode() in environ_of(pid)]
        self.driver.quit()
        for pid in mine:
            wait_gone(pid)
        self.folder.cleanup()

    def tell(self, command, **parameters):
        """A command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(command, parameters)

    def ask(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, script):
        """Wait until the script returns something true."""
        WebDriverWait(self.driver, 120, 0.05).until(lambda _: self.ask(script))

    def look(self, page, width, height=900, colours="light", scripts=True):
        """Open a file, or an address, as on a screen of this size and with these colours."""
        self.tell("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": colours}])
        self.tell("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.driver.get(str(page) if "://" in str(page) else f"file://{page}")

    def picture(self):
        return base64.b64decode(self.tell("Page.captureScreenshot", format="png")["data"])

    def open_all(self):
        """Open whatever can be opened."""
        self.ask("document.querySelectorAll('details').forEach(e => e.open = true)")

    def contrasts(self):
        return self.ask(CONTRASTS)

    def key(self, name, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.tell("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code, text=text)

    def tab(self):
        self.key("Tab", 9)

    def enter(self):
        self.key("Enter", 13, "\r")

    def requests(self):
        """Addresses that were asked for since the last call."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            # its own first page is not ours
            if (message["method"] == "Network.requestWillBeSent"
                and not message["params"]["documentURL"].startswith("chrome:")):
                found.append(message["params"]["request"]["url"])
        return found

    def complaints(self):
        """What the console has said since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]
