#!/usr/bin/python3
"""Prints what state a dashboard shows, one line `<url> <state>` whenever that changes. Which page it looks at
stands in a file, and may be changed there. Runs until it is ended.
"""
import pathlib
import sys

sys.dont_write_bytecode = True
from browser import drive, soon  # noqa: E402

A_DAY_SECONDS = 86400


def show_states(driver):
    address = pathlib.Path(sys.argv[1])
    open_url, shown = "", ""

    def look():
        nonlocal open_url, shown
        url = address.read_text().strip()
        if url != open_url:
            driver.get(url)
            open_url = url
        line = open_url + " " + driver.execute_script("return document.getElementById('state')?.textContent ?? ''")
        if line != shown:
            print(line, flush=True)
            shown = line
        return False

    soon(look, A_DAY_SECONDS)


sys.exit(drive(show_states))
