# SPDX-License-Identifier: Apache-2.0
"""The command line of the players; `run` fills it in."""

import argparse
import os
import re
import signal
import sys

import api
import proxy as fault_proxy


def parse(description):
    # As if interrupted: what was begun is ended. (A shell's background process ignores the signal of the keyboard.)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--dir", required=True, help="folder of the cluster")
    parser.add_argument("--api", required=True, help="URL of the API server")
    parser.add_argument("--health", required=True, help="address for the health page of the program")
    parser.add_argument("--program", required=True, help="the program under test")
    parser.add_argument("--night", action="store_true", help="every play, not a part")
    parser.add_argument("--rotate", type=int, help="which part")
    parser.add_argument("--count", type=int, default=12, help="size of a part")
    parser.add_argument("--every", type=int, default=1, help="of the kill points of a gang's life one in so many")
    parser.add_argument("--only", type=re.compile, default="", help="plays whose names match")
    return parser.parse_args()


def server(options):
    pki = os.path.join(options.dir, "pki")
    return api.Server(options.api, os.path.join(pki, "ca.crt"), os.path.join(pki, "admin.crt"), os.path.join(pki, "admin.key"))


def proxy(options):
    return fault_proxy.Proxy(os.path.join(options.dir, "config", "faultproxy.control"),
                             os.path.join(options.dir, "log", "faultproxy.jsonl"))


def finish(passed, failed):
    """The last line, and the exit status."""
    print(f"{passed} passed, {failed} failed", flush=True)
    return 0 if passed and not failed else 1
