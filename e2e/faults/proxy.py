# SPDX-License-Identifier: Apache-2.0
"""The fault proxy as whoever plays sees it: its control socket and its log."""

import http.client
import json
import os
import socket

import plays


class Proxy:
    def __init__(self, control, log):
        self.control, self.log = control, log

    def request(self, method, path, body=""):
        connection = http.client.HTTPConnection("control")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(self.control)
        connection.request(method, path, body=body)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        if response.status != 200:
            raise RuntimeError(f"the proxy refuses {path}: {text}")
        return text

    def set(self, rules):
        """From now on these rules are in force; they begin to count. Returns the number of the last request before."""
        return int(self.request("PUT", "/rules", "".join(map(plays.line, rules))))

    def faults(self):
        """What they have done since."""
        return json.loads(self.request("GET", "/faults"))

    def position(self):
        """Where the log ends now."""
        return os.path.getsize(self.log)

    def requests(self, position):
        """Requests logged after a position, in order of arrival."""
        with open(self.log, encoding="utf-8") as log:
            log.seek(position)
            records = [json.loads(line) for line in log if line.endswith("\n")]  # the last one may be half written
        return sorted((r for r in records if r["what"] == "request"), key=lambda r: r["n"])
