#!/usr/bin/python3
"""Looks at the dashboard of a relay in Chromium, as a test: what is not as it should be is printed, and
the exit code is 1. The relay streams, somebody writes rows all the time, and one of them is a dead
letter with markup in its id. At the end it kills the broker and sees how soon the page says so.

Needs Debian's chromium, chromium-driver and python3-selenium. Checks of accessibility are those of
axe-core, where npm has fetched it (package.json).
"""
import argparse
import json
import os
import pathlib
import signal
import sys
import time

from selenium import webdriver
from selenium.webdriver.common.keys import Keys

sys.dont_write_bytecode = True
from browser import drive, soon  # noqa: E402

# From the broker's death to a page that says so.
REACTION_SECONDS = 3
WIDE, NARROW = (1280, 1000), (320, 900)

failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what, flush=True)


class Page:
    def __init__(self, driver, url):
        self.driver = driver
        self.url = url
        self.requests = []

    def open(self):
        # What the browser itself begins with is of no interest.
        self.driver.get("about:blank")
        self.driver.get_log("performance")
        self.driver.get(self.url)

    def run(self, script, *values):
        return self.driver.execute_script(script, *values)

    def text(self, element):
        return self.run("return document.getElementById(arguments[0]).textContent", element)

    def resize(self, size):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False})

    def color_scheme(self, name):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": name}]})

    def press(self, *keys):
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def collect_requests(self):
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            elif message["method"] == "Network.webSocketCreated":
                self.requests.append(message["params"]["url"])


def looks_right(page, folder, axe):
    """In both colour schemes and both widths: nothing is cut off, and axe has nothing against it."""
    backgrounds = set()
    for scheme in ("light", "dark"):
        page.color_scheme(scheme)
        for name, size in (("wide", WIDE), ("narrow", NARROW)):
            page.resize(size)
            where = scheme + ", " + name
            soon(lambda: page.run("return innerWidth") == size[0], 10)
            width = page.run("return document.documentElement.scrollWidth")
            expect(width <= size[0], f"{where}: the page is {width} pixels wide")
            small = page.run("return [...document.querySelectorAll('body *')].filter((each) => each.textContent.trim()"
                             " && parseFloat(getComputedStyle(each).fontSize) < 12).length")
            expect(small == 0, f"{where}: {small} texts are smaller than 12 pixels")
            page.driver.save_screenshot(str(folder / f"dashboard-{scheme}-{name}.png"))
            is_accessible(page, where, axe)
        backgrounds.add(page.run("return getComputedStyle(document.body).backgroundColor"))
    expect(len(backgrounds) == 2, f"dark looks like light: {backgrounds}")
    page.resize(WIDE)


def is_accessible(page, where, axe):
    if not axe:
        return
    page.run(axe)
    found = page.driver.execute_async_script(
        "const done = arguments[0]; axe.run().then((all) => done(all.violations), (why) => done(String(why)));")
    expect(isinstance(found, list), f"{where}: axe fails: {found}")
    for each in found if isinstance(found, list) else []:
        line = f"{where}: axe: {each['impact']}: {each['help']}: {each['nodes'][0]['html'][:200]}"
        if each["impact"] in ("serious", "critical"):
            expect(False, line)
        else:
            print(line, flush=True)


def says_what_it_shows(page):
    """To those who do not see it."""
    expect(page.run("const state = document.getElementById('state');"
                    "return state.getAttribute('role') === 'status' && state.getAttribute('aria-live') === 'polite'"),
           "the state is not announced")
    graphs = page.run("return [...document.querySelectorAll('svg')].map((each) => each.getAttribute('aria-label'))")
    expect(len(graphs) >= 4 and all(each and "last" in each for each in graphs), f"graphs without words: {graphs}")
    expect(page.run("return [...document.querySelectorAll('th')].every((each) => each.scope)"), "a th without scope")
    drawn = page.run("return [...document.querySelectorAll('path')].filter((each) => each.getAttribute('d')).length")
    expect(drawn >= 4, f"{drawn} time lines are drawn")


def shows_what_is_kept(page):
    expect(soon(lambda: "before-migration" in page.text("kept-list")), "the bookmark is not shown: " + page.text("kept-list"))
    expect("of WAL together" in page.text("kept-sum"), "nobody says what the bookmark costs")


def charts_are_read_sample_by_sample(page):
    """With the keyboard, and under the pointer."""
    page.run("document.getElementById('graph-0').focus()")
    value = "return document.getElementById('graph-0').getAttribute('aria-valuetext')"
    last = page.run(value)
    page.press(Keys.HOME)
    first = page.run(value)
    expect(first != last and ":" in first, f"Home reads {first} after {last}")
    expect(soon(lambda: page.run("return !!document.querySelector('#graph-0 .cursor').getAttribute('d')"), 5), "no line shows where it reads")
    page.press(Keys.ESCAPE)
    expect("the last sample" in page.run(value), "Escape does not end the reading: " + page.run(value))
    page.driver.execute_script("document.getElementById('graph-1').scrollIntoView({block: 'center'})")
    webdriver.ActionChains(page.driver).move_to_element(page.driver.find_element("id", "graph-1")).perform()
    expect(soon(lambda: ":" in page.run("return document.getElementById('graph-1').closest('figure').querySelector('.read').textContent"), 5),
           "nothing is read under the pointer")
    scale = page.run("return [...document.querySelectorAll('.scale')].map((each) => [...each.children].map((one) => one.textContent))")
    expect(all(len(each) == 3 and each[2].startswith("0") for each in scale), f"the values of the axes are {scale}")
    expect(any(each[0] and each[1] and each[0] != each[1] for each in scale), f"no axis has a middle: {scale}")
    legend = page.run("return [...document.querySelectorAll('.key')].map((each) => each.textContent)")
    expect(legend == ["rows", "messages", "p50", "p99"], f"the legend is {legend}")


def obeys_the_keyboard(page):
    page.run("document.activeElement.blur()")
    reached = []
    for _ in range(24):
        page.press(Keys.TAB)
        name = page.run("const at = document.activeElement; return at.id || at.textContent.slice(0, 20)")
        outline = page.run("return getComputedStyle(document.activeElement).outlineStyle")
        if name in reached or page.run("return document.activeElement === document.body"):
            break
        reached.append(name)
        expect(outline != "none", f"one does not see that {name} has the focus")
    expect("pause" in reached and "copy" in reached and "log" in reached, f"Tab comes to {reached} alone")
    page.run("document.getElementById('pause').focus()")
    page.press(Keys.ENTER)
    expect(page.text("pause") == "go on", "Enter does not pause")
    before = page.text("updated")
    expect(not soon(lambda: page.text("updated") != before, 2.5), "a paused page goes on")
    page.press(Keys.SPACE)
    expect(page.text("pause") == "pause", "Space does not go on")
    expect(soon(lambda: page.text("updated") != before), "a page that goes on stands still")
    page.run("[...document.querySelectorAll('button')].find((each) => each.textContent === 'copy').click()")
    expect(soon(lambda: page.run("return [...document.querySelectorAll('button')].some((each) => /copied/.test(each.textContent))")),
           "the command is not copied")


def shows_foreign_text_as_text(page, text):
    expect(soon(lambda: text in page.text("log")), f"the log does not show {text}: " + page.text("log")[:2000])
    expect(page.run("return document.querySelectorAll('img, iframe, main script, #log *:not(li)').length") == 0,
           "foreign text has become markup")
    expect(page.run("return window.foreign === undefined"), "foreign text has run")


def reacts_to_a_dead_broker(page, broker, folder):
    os.kill(broker, signal.SIGKILL)
    killed = time.monotonic()
    changed = soon(lambda: page.text("state") != "streaming")
    took = time.monotonic() - killed
    print(f"the page said after {took:.1f} s: {page.text('state')}", flush=True)
    expect(changed and took <= REACTION_SECONDS, f"{took:.1f} s until the page says that the broker is away")
    expect(soon(lambda: page.text("state") == "waiting broker"), "the state is " + page.text("state"))
    expect(page.text("broker-state") == "not connected", "the broker is shown as connected")
    expect("Waiting for NATS" in page.text("verdict"), "the verdict is: " + page.text("verdict"))
    page.driver.save_screenshot(str(folder / "dashboard-broker-away.png"))


def look_at(page, of):
    page.open()
    if not soon(lambda: page.text("state") == "streaming"):
        expect(False, "the page never shows streaming, but " + page.text("state"))
        return
    expect(page.run("return document.title").startswith("streaming"), "the title does not say the state")
    expect(soon(lambda: "dead-letter list" in page.text("attention-list")), "the dead letter needs no attention")
    # So that the time lines have something to show.
    expect(soon(lambda: page.run("return samples.length") >= of.samples), "the time lines do not grow")
    shows_foreign_text_as_text(page, of.foreign)
    says_what_it_shows(page)
    shows_what_is_kept(page)
    looks_right(page, of.screenshots, of.axe)
    obeys_the_keyboard(page)
    charts_are_read_sample_by_sample(page)
    reacts_to_a_dead_broker(page, of.broker_pid, of.screenshots)
    page.collect_requests()
    origin = of.url.rstrip("/")
    strangers = [each for each in page.requests if not each.startswith((origin + "/", "data:"))]
    expect(not strangers, f"requests go elsewhere: {strangers}")
    expect(any(each.endswith("/status/history") for each in page.requests), "no request was seen")
    for entry in page.driver.get_log("browser"):
        expect(entry["level"] not in ("SEVERE", "WARNING"), "the console says: " + entry["message"])


def main():
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--url", required=True)
    asked.add_argument("--broker-pid", type=int, required=True)
    asked.add_argument("--foreign", required=True, help="what the log must show as it is")
    asked.add_argument("--screenshots", type=pathlib.Path, required=True)
    asked.add_argument("--samples", type=int, default=5, help="how many samples to wait for")
    of = asked.parse_args()
    of.screenshots.mkdir(parents=True, exist_ok=True)
    axe = pathlib.Path(__file__).parent / "node_modules/axe-core/axe.min.js"
    of.axe = axe.read_text() if axe.exists() else None
    print("axe-core " + ("checks" if of.axe else "is not here: npm ci fetches it"), flush=True)

    def watch(driver):
        look_at(Page(driver, of.url), of)
        return 1 if failures else 0

    sys.exit(drive(watch))


main()
