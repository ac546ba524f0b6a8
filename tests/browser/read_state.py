#!/usr/bin/python3
"""Prints what state a dashboard shows, one line `<url> <state>` whenever that changes. Which page it looks at
stands in a file, and may be changed there. Runs until it is ended. Needs Debian's chromium, chromium-driver
and python3-selenium.
"""
import pathlib
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

address = pathlib.Path(sys.argv[1])
with tempfile.TemporaryDirectory() as profile:
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for each in ("headless", "no-sandbox", "disable-gpu", "disable-background-networking", "no-first-run",
                 "no-default-browser-check", "disable-component-update", "disable-sync", "disable-dev-shm-usage",
                 "user-data-dir=" + profile):
        options.add_argument("--" + each)
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    open_url, shown = "", ""

    def look(page):
        """Never comes to an end."""
        global open_url, shown
        url = address.read_text().strip()
        if url != open_url:
            page.get(url)
            open_url = url
        line = open_url + " " + page.execute_script("return document.getElementById('state')?.textContent ?? ''")
        if line != shown:
            print(line, flush=True)
            shown = line
        return False

    WebDriverWait(driver, 86400, poll_frequency=0.05).until(look)
