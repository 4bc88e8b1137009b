#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""queries.py ADDRESS DASHBOARD: asks the Prometheus at ADDRESS everything that the dashboard asks, and waits until each query
finds something. Prints what finds nothing within a minute, or is refused."""

import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

PATIENCE = 60
INTERVAL = "30s"


def ask(address, query):
    """The samples, or None with the reason printed."""
    url = f"http://{address}/api/v1/query?" + urllib.parse.urlencode({"query": query})
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)["data"]["result"]
    except urllib.error.HTTPError as refused:
        print(f"{query}\n    is refused: {json.load(refused)['error']}")
        return None


def main(address, dashboard):
    with open(dashboard, encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    left = [(panel["title"], target["expr"].replace("$__rate_interval", INTERVAL))
            for panel in panels for target in panel.get("targets", [])]
    asked, refused, deadline = len(left), 0, time.monotonic() + PATIENCE
    while left and time.monotonic() < deadline:
        title, query = left.pop(0)
        found = ask(address, query)
        if found is None:
            refused += 1
        elif not found:
            left.append((title, query))
            time.sleep(0.1)
    for title, query in left:
        print(f"{title}: {query}\n    finds nothing")
    print(f"{asked} queries of the dashboard, {refused} refused, {len(left)} without an answer")
    return 1 if refused or left or not asked else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
