#!/usr/bin/python3
"""Reads a dashboard and takes its picture, once for each order. An order stands in a file, which may be written
again at any moment: the number of the order, the address, the state that is waited for, and where the picture
goes, each on a line. For each it prints one line of JSON: the number, and what a reader sees of the state,
the verdict, what needs attention with the commands to copy, who holds the slot, and the lists. Runs until it is ended.
"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
from browser import drive, soon  # noqa: E402

A_DAY_SECONDS = 86400
WIDTH, HEIGHT_MOST = 1100, 700
# A picture of a document must stay small.
SCALE = 0.8


def text_of(driver, element):
    return driver.execute_script("return document.getElementById(arguments[0])?.innerText ?? ''", element)


def seen(driver):
    commands = driver.execute_script(
        "return [...document.querySelectorAll('#attention-list button')].map((each) => each.previousElementSibling.textContent)")
    return {"state": text_of(driver, "state"), "verdict": text_of(driver, "verdict"), "role": text_of(driver, "role"),
            "attention": text_of(driver, "attention-list"), "commands": commands,
            "servers": text_of(driver, "postgres-state") + " / " + text_of(driver, "broker-state"),
            "letters": text_of(driver, "letters"), "replays": text_of(driver, "replays")}


def take(driver, order):
    number, url, state, says, picture = order
    driver.get(url)
    soon(lambda: text_of(driver, "state") == state and says in text_of(driver, "attention-list") + text_of(driver, "verdict"))
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": WIDTH, "height": HEIGHT_MOST, "deviceScaleFactor": 1, "mobile": False})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": "light"}]})
    # What is said first: down to the flow.
    bottom = driver.execute_script("return Math.ceil(document.querySelector('.flow').getBoundingClientRect().bottom) + 6")
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": WIDTH, "height": bottom, "deviceScaleFactor": SCALE, "mobile": False})
    shown = seen(driver)
    driver.save_screenshot(picture)
    print(json.dumps({"order": number, **shown}), flush=True)


def take_all(driver):
    orders = pathlib.Path(sys.argv[1])
    done = ""

    def look():
        nonlocal done
        if orders.exists():
            order = orders.read_text().rstrip("\n").split("\n")
            if len(order) == 5 and order[0] != done:
                take(driver, order)
                done = order[0]
        return False

    soon(look, A_DAY_SECONDS)


sys.exit(drive(take_all))
