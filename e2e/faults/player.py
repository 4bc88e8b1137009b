#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays faults against the controller on a cluster that `run` has made. A play: rules are set in the proxy, a controller is
started behind it, pods are created, and when everything is done the final objects are compared with those of a run without
faults; then the pods are deleted, and nothing may stay. Every state on the way is checked. A controller that ends is started
again, as a Deployment would; one that ends by anything but the play's own signal fails the play."""

import argparse
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import api  # noqa: E402
import checker  # noqa: E402
import plays  # noqa: E402
import workload  # noqa: E402

DEADLINE = 60  # seconds for all that a play waits for; far above the sum of the delays in controller.yaml
END_DEADLINE = 10  # seconds for a controller to end when it is asked to


class Failure(Exception):
    pass


class Proxy:
    """The control socket of the proxy, and its log."""

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
            raise Failure(f"the proxy refuses {path}: {text}")
        return text

    def set(self, rules):
        self.request("PUT", "/rules", "".join(json.dumps(rule) + "\n" for rule in rules))

    def faults(self):
        return json.loads(self.request("GET", "/faults"))

    def requests(self, offset):
        """Requests logged after a position in the log, in order of arrival."""
        with open(self.log, encoding="utf-8") as log:
            log.seek(offset)
            records = [json.loads(line) for line in log]
        return sorted((r for r in records if r["what"] == "request"), key=lambda r: r["n"])

    def position(self):
        return os.path.getsize(self.log)


class Controller:
    """A controller process, recorded as the cluster's other processes are, so that it ends with the cluster at the latest."""

    def __init__(self, directory, program, config, name, kubeconfig, address):
        self.record = os.path.join(directory, "run", name)
        self.log = os.path.join(directory, "log", name + ".log")
        self.command = [program, "--kubeconfig", kubeconfig, "--config", config, "--health-addr", address,
                        "--identity", name, "--v", "2"]
        self.address = address
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii", errors="replace") as stat:
            started = stat.read().rsplit(")", 1)[1].split()[19]
        with open(self.record + ".new", "w", encoding="ascii") as record:
            record.write(f"{self.process.pid} {started}\n")
        os.rename(self.record + ".new", self.record)

    def is_ready(self):
        host, port = self.address.split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=2)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def resident(self):
        """Kilobytes."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii", errors="replace") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))

    def end(self):
        """Asks it to end. Returns its exit status, or None if it had to be killed."""
        if self.process is None:
            return 0
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(END_DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = None
        self.process = None
        os.unlink(self.record)
        return status

    def tail(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.readlines()[-25:]


class Player:
    def __init__(self, options):
        pki = os.path.join(options.dir, "pki")
        self.server = api.Server(options.api, os.path.join(pki, "ca.crt"), os.path.join(pki, "admin.crt"),
                                 os.path.join(pki, "admin.key"))
        self.proxy = Proxy(options.control, options.proxy_log)
        config = os.path.join(os.path.dirname(os.path.abspath(__file__)), "controller.yaml")
        kubeconfigs = os.path.join(options.dir, "kubeconfig")
        self.controller = Controller(options.dir, options.controller, config, "faults-controller",
                                     os.path.join(kubeconfigs, "faults-proxied"), options.health + ":8081")
        self.standby = Controller(options.dir, options.controller, config, "faults-standby",
                                  os.path.join(kubeconfigs, "faults-direct"), options.health + ":8082")
        self.pid = self.controller.record
        for template in workload.templates():
            self.server.create(workload.TEMPLATES, template)
        self.recorder = api.Recorder(self.server, workload.COLLECTIONS)
        self.wanted = {}  # units -> final objects of a run without faults
        self.descriptors = 0
        self.restarts = 0

    # -- one play ---------------------------------------------------------------------------------

    def tick(self):
        """Starts again what has ended; a process ends by a signal of its play, or it has crashed."""
        for one in (self.controller, self.standby):
            if one.process is None or one.process.poll() is None:
                continue
            status = one.process.returncode
            if status != -signal.SIGKILL:
                raise Failure(f"the controller ended by itself with status {status}")
            self.restarts += 1
            one.start()

    def await_state(self, what, holds):
        if not self.recorder.wait(DEADLINE, holds, self.tick):
            raise Failure(f"not {what} after {DEADLINE} s: {self.describe()}")

    def describe(self):
        """What stands in the way, short."""
        state = self.recorder.snapshot()
        parts = []
        for (kind, name), item in sorted(state.items()):
            if kind == "Pod":
                parts.append(f"{name}{' gated' if checker.is_gated(item) else ''}"
                             f"{'' if item['spec'].get('nodeName') else ' unbound'}")
            elif kind == "ResourceClaim":
                parts.append(f"{name} {len(checker.devices(item))} devices")
            else:
                parts.append(f"gang {name} {item.get('status', {}).get('phase')}")
        return ", ".join(parts) or "nothing is left"

    def await_ready(self):
        """Ready, or disturbed before it could be: the play goes on in both cases."""
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline and not self.controller.is_ready():
            self.tick()
            time.sleep(0.05)

    def play(self, play):
        """Returns the state when all was done. Raises Failure."""
        mark, before = self.recorder.mark(), self.recorder.snapshot()
        self.restarts = 0
        self.proxy.set([{**rule, "pid": self.pid} if rule["do"] == "stop" else rule for rule in play.rules])
        self.controller.start()
        try:
            self.await_ready()
            if play.standby:
                self.standby.start()
            for pod in workload.pods(play.units):
                self.server.create(workload.PODS, pod)
            self.await_state("settled", lambda state: workload.is_settled(state, play.units))
            settled = self.recorder.snapshot()
            for pod in workload.pods(play.units):
                self.server.delete(f"{workload.PODS}/{pod['metadata']['name']}")
            self.await_state("clean", workload.is_clean)
            self.descriptors = self.controller.descriptors()
        finally:
            ended = {one: one.end() for one in (self.controller, self.standby)}
        violations, _ = checker.check(before, self.recorder.since(mark))
        if violations:
            raise Failure("; ".join(violations))
        if any(status != 0 for status in ended.values()):
            raise Failure(f"asked to end, the controller ended with {list(ended.values())}")
        return settled

    def clear(self):
        """After a failure: nothing of this play may disturb the next one."""
        self.proxy.set([])
        for path, _ in workload.COLLECTIONS:
            for item in self.server.get(path)["items"]:
                self.server.delete(f"{path}/{item['metadata']['name']}")
                if item["metadata"].get("finalizers"):
                    try:
                        self.server.request("PATCH", f"{path}/{item['metadata']['name']}", {"metadata": {"finalizers": None}},
                                            "application/merge-patch+json")
                    except api.ApiError as error:
                        if error.code != 404:
                            raise
        if not self.recorder.wait(30, workload.is_clean):
            raise RuntimeError("the namespace cannot be cleared: " + self.describe())

    # -- many plays -------------------------------------------------------------------------------

    def learn(self, units):
        """A run without faults: its final objects are what others are compared with, its requests the points."""
        position = self.proxy.position()
        settled = self.play(plays.Play("no fault", [], units))
        self.wanted[tuple(units)] = workload.normal(settled)
        return self.proxy.requests(position)

    def judge(self, play):
        """(verdict, text)"""
        try:
            settled = self.play(play)
            lines = workload.differences(self.wanted[tuple(play.units)], workload.normal(settled))
            if lines:
                raise Failure("; ".join(lines))
        except Failure as failure:
            faults = len(self.proxy.faults())
            self.clear()
            return "FAILED", f"{failure} ({faults} faults)"
        done = self.proxy.faults()
        if not done:
            return "IDLE", "no request was disturbed"
        errors = sorted({f["text"] for f in done if f.get("text")})
        text = f"{len(done)} faults" + (f", {self.restarts} restarts" if self.restarts else "") + "".join(errors)
        return "passed", text

    def run(self, chosen):
        """Plays all, prints a line each. Returns the counts by verdict."""
        counts = {"passed": 0, "FAILED": 0, "IDLE": 0}
        faults = 0
        for play in chosen:
            began = time.monotonic()
            verdict, text = self.judge(play)
            counts[verdict] += 1
            faults += len(self.proxy.faults())
            print(f"{verdict:7} {time.monotonic() - began:5.1f} s  {self.descriptors:2} fds  {play.name}: {text}", flush=True)
            if verdict == "FAILED":
                print("        rules: " + " ".join(json.dumps(rule) for rule in play.rules), flush=True)
        return counts


def choose(player, options):
    """The plays of this run, from the requests of runs without faults."""
    points = player.learn(plays.ALL)
    print(f"a run without faults: {len(points)} requests, {sum(1 for p in points if p['verb'] not in ('get', 'list', 'watch'))}"
          f" writes, {len(plays.kinds(points))} kinds", flush=True)
    kills = []
    for unit in ("trio", "pair", "single-1"):
        kills += plays.kill_points(player.learn([unit]), unit)
    matrix = plays.matrix(points)
    storms = plays.storms(40 if options.night else 2, 1 + (options.rotate or 0) * 2)
    print(f"{len(matrix)} rules x verbs x resources, {len(kills)} kill points, {len(storms)} storms", flush=True)
    if not options.night:
        matrix = plays.rotate(matrix, options.rotate or 0, options.count)
        kills = plays.rotate(kills, options.rotate or 0, max(options.count // 3, 1))
    chosen = matrix + kills + storms
    return [play for play in chosen if options.only is None or options.only in play.name]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", required=True, help="folder of the cluster")
    parser.add_argument("--api", required=True, help="URL of the API server")
    parser.add_argument("--health", required=True, help="address for the controllers' health pages")
    parser.add_argument("--controller", required=True, help="the program")
    parser.add_argument("--control", required=True, help="control socket of the proxy")
    parser.add_argument("--proxy-log", required=True, help="log of the proxy")
    parser.add_argument("--night", action="store_true", help="every play, not a part")
    parser.add_argument("--rotate", type=int, help="which part")
    parser.add_argument("--count", type=int, default=18, help="size of a part")
    parser.add_argument("--only", help="plays whose names contain this")
    options = parser.parse_args()
    player = Player(options)
    try:
        counts = player.run(choose(player, options))
    finally:
        player.controller.end()
        player.standby.end()
    print(f"{counts['passed']} passed, {counts['FAILED'] + counts['IDLE']} failed")
    return 1 if counts["FAILED"] or counts["IDLE"] or not counts["passed"] else 0


sys.exit(main())
