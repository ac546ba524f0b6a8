"""A browser for the tests of the dashboard: Debian's Chromium, driven by Debian's selenium.

Whoever has started this program may kill it at any moment. The browser is gone a moment later all the
same: it is driven by a child of this process, which looks whether its parent is still there.
"""
import os
import sys
import tempfile

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE_SECONDS = 45
POLL_SECONDS = 0.05
FLAGS = ("headless", "no-sandbox", "disable-gpu", "disable-background-networking", "no-first-run",
         "no-default-browser-check", "disable-component-update", "disable-sync", "disable-dev-shm-usage",
         "hide-scrollbars")

parent = 0


def soon(condition, seconds=PATIENCE_SECONDS):
    """Whether it comes true; asks again and again."""
    def look(_):
        if os.getppid() != parent:
            raise SystemExit("nobody waits for this any more")
        return condition()
    try:
        return bool(WebDriverWait(None, seconds, poll_frequency=POLL_SECONDS).until(look))
    except TimeoutException:
        return False


def drive(work):
    """Calls it with a driver, and returns what it returns as the exit code."""
    global parent
    parent = os.getpid()
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with tempfile.TemporaryDirectory() as profile:
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for flag in FLAGS + ("user-data-dir=" + profile,):
            options.add_argument("--" + flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        driver.set_page_load_timeout(PATIENCE_SECONDS)
        try:
            sys.exit(work(driver))
        finally:
            driver.quit()
