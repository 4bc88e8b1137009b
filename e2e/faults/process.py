# SPDX-License-Identifier: Apache-2.0
"""A program under test."""

import collections
import http.client
import os
import re
import signal
import subprocess
import urllib.request

END_DEADLINE = 10  # seconds for a program to end when it is asked to


class Process:
    """Recorded as the cluster's other processes are, so that it ends with the cluster at the latest."""

    def __init__(self, directory, name, command, health):
        self.record = os.path.join(directory, "run", name)
        self.log = os.path.join(directory, "log", name + ".log")
        self.command, self.health = command, health
        self.process = None
        self.began = 0  # where the log of this process begins

    def start(self):
        self.began = os.path.getsize(self.log) if os.path.exists(self.log) else 0
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii", errors="replace") as stat:
            started = stat.read().rsplit(")", 1)[1].split()[19]
        with open(self.record + ".new", "w", encoding="ascii") as record:
            record.write(f"{self.process.pid} {started}\n")
        os.rename(self.record + ".new", self.record)

    def is_ready(self):
        host, port = self.health.split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=2)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def has_ended(self):
        return self.process is not None and self.process.poll() is not None

    def ended_as_expected(self):
        """Killed by a play, or because it no longer leads: the one reason for which a program of ours ends by itself."""
        status = self.process.returncode
        return status == -signal.SIGKILL or (status == 1 and self.says("Lost the lease; exiting"))

    def says(self, text):
        return self.find(re.escape(text)) is not None

    def find(self, pattern):
        """What the pattern matches in the log of this process: its first group, or all. None: nothing."""
        with open(self.log, encoding="utf-8", errors="replace") as log:
            log.seek(self.began)
            found = re.search(pattern, log.read())
        return found and found[found.re.groups and 1]

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def metrics(self):
        """name -> sum over all labels."""
        with urllib.request.urlopen(f"http://{self.health}/metrics", timeout=10) as page:
            lines = [line for line in page.read().decode().splitlines() if line and not line.startswith("#")]
        sums = collections.Counter()
        for line in lines:
            name, value = line.rsplit(" ", 1)
            sums[name.split("{", 1)[0]] += float(value)
        return sums

    def holdings(self):
        """What it holds now: numbers, and kilobytes."""
        metrics = self.metrics()
        return {"descriptors": self.descriptors(),
                # Each informer has one watch; more is under way, fewer are about to be made.
                "requests": int(sum(value for name, value in metrics.items() if name.endswith("_in_flight"))),
                "watches": int(metrics["tangram_informer_synced"]),
                "heap": int(metrics["tangram_process_heap_in_use_bytes"]) // 1024,
                "resident": int(metrics["process_resident_memory_bytes"]) // 1024}

    def end(self):
        """Asks it to end. Returns what was wrong with how it did, or nothing."""
        if self.process is None:
            return ""
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(END_DEADLINE)
            wrong = "" if status == 0 or self.ended_as_expected() else f"ended with status {status}"
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            wrong = f"was asked to end and had not {END_DEADLINE} s later"
        self.process = None
        os.unlink(self.record)
        return wrong
