#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The second replica: it takes over in time, however much there is to fence, and an update of both, one after the other,
loses no decision and takes none twice."""

import datetime
import os
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import api  # noqa: E402
import checker  # noqa: E402
import command  # noqa: E402
import workload  # noqa: E402
from controller import LEASE, ControllerPlayer  # noqa: E402
from player import Failure  # noqa: E402

LEASE_SECONDS = 6.0  # standby.yaml
CLAIMS = 1000
RATE = 200  # epoch rewrites a second, at least
ATTEMPTS = 3  # the machine does other things, too: once is enough
TOGETHER = 6  # gangs that run at a time; the fleet has room for eight
UPDATE_SECONDS = 3  # gangs arrive for so long before, between and after the two halves of an update


def moment(process, pattern):
    """When the process logged what matches, as seconds since the epoch."""
    year = datetime.datetime.now(datetime.timezone.utc).year
    text = process.find(r"[IWE](\d{4} [\d:.]+) .*" + pattern)
    return datetime.datetime.strptime(f"{year} {text} +0000", "%Y %m%d %H:%M:%S.%f %z").timestamp()


def in_parallel(work, items, threads=8):
    """Calls work(item) for all; the first exception is raised."""
    items, failures, lock = iter(items), [], threading.Lock()

    def run():
        while not failures:
            with lock:
                item = next(items, None)
            if item is None:
                return
            try:
                work(item)
            except Exception as failure:  # pylint: disable=broad-except
                failures.append(failure)

    crew = [threading.Thread(target=run) for _ in range(threads)]
    for one in crew:
        one.start()
    for one in crew:
        one.join()
    if failures:
        raise failures[0]


class Standby:
    def __init__(self, options):
        self.player = ControllerPlayer(options, leader="faults-controller", standby="faults-controller", config="standby.yaml")
        self.server = self.player.server

    def begin(self):
        """One leads, the other one is warm."""
        player = self.player
        player.processes = [player.controller, player.standby]
        player.set_rules([])
        player.server.delete(LEASE)
        player.controller.start()
        player.await_state("leading", lambda state: player.controller.says('"Taken over"'))
        player.standby.start()
        self.await_ready(player.standby)

    def await_ready(self, process):
        deadline = time.monotonic() + self.player.deadline
        while not process.is_ready():
            if time.monotonic() > deadline:
                raise Failure("the standby is not ready")
            time.sleep(0.02)

    # --- taking over ---------------------------------------------------------------------------

    def create_claims(self):
        """Such as a leader leaves that was killed before it allocated them: each carries its epoch."""
        def create(number):
            self.server.create(workload.CLAIMS, {
                "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                "metadata": {"name": f"left-{number}", "labels": workload.MANAGED, "annotations": {"tangram.dev/epoch": "1"}},
                "spec": workload.template("left", 1, {"gang": "left", "size": CLAIMS})["spec"]["spec"]})
        in_parallel(create, range(CLAIMS))

    def take_over(self):
        """Returns (seconds from the end of the leader to the lease, to having taken over, rewrites)."""
        player = self.player
        self.begin()
        self.create_claims()
        player.await_state("known", lambda state: len(state) == CLAIMS)
        killed = time.time()
        player.controller.process.kill()
        player.controller.process.wait()
        deadline = time.monotonic() + player.deadline
        while not player.standby.says('"Taken over"'):
            if time.monotonic() > deadline or player.standby.has_ended():
                raise Failure("the standby has not taken over")
            time.sleep(0.2)
        epoch = player.standby.find(r'"Taken over" epoch=(\d+)')
        rewritten = sum(item["metadata"]["annotations"]["tangram.dev/epoch"] == epoch
                        for item in self.server.get(workload.CLAIMS)["items"])
        return moment(player.standby, '"Leading"') - killed, moment(player.standby, '"Taken over"') - killed, rewritten

    def take_overs(self):
        """Passes if the standby is in time once."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                leads, done, rewritten = self.take_over()
            finally:
                self.player.end_processes()
                in_parallel(lambda number: self.server.delete(f"{workload.CLAIMS}/left-{number}"), range(CLAIMS))
            rate = rewritten / (done - leads)
            print(f"take-over {attempt}: the lease {leads:.1f} s after its holder was killed, {rewritten} epoch rewrites in"
                  f" {done - leads:.1f} s, {rate:.0f}/s; allowed are {LEASE_SECONDS + 1:.1f} s and {RATE}/s", flush=True)
            if rewritten != CLAIMS:
                raise Failure(f"{rewritten} of {CLAIMS} claims are fenced")
            if leads <= LEASE_SECONDS + 1 and rate >= RATE:
                return "in time"
        raise Failure(f"too slow in each of {ATTEMPTS} attempts")

    # --- update --------------------------------------------------------------------------------

    def update(self):
        """While gangs come and go, new replicas replace the old ones as a Deployment with a surge of one does it."""
        player = self.player
        before = player.recorder.begin()
        self.begin()
        arrivals = Arrivals(player)
        arrivals.start()
        try:
            gaps = []
            for number, old in enumerate((player.controller, player.standby)):
                arrivals.go_on(UPDATE_SECONDS)
                gaps.append(self.replace(old, player.process(f"faults-new-{number}", "faults-controller", 8083 + number)))
            arrivals.go_on(UPDATE_SECONDS)
        finally:
            arrivals.stop()
        player.await_state("served", lambda state: not state)
        player.check(before)
        decisions = audit(player.recorder.since_begin())
        wanted = {"plans": arrivals.count, "allocations": 2 * arrivals.count, "releases": 2 * arrivals.count}
        if decisions != wanted:
            raise Failure(f"{decisions} were written for {arrivals.count} gangs of two; wanted are {wanted}")
        return (f"{arrivals.count} gangs came and went; led again {', '.join(f'{gap:.1f}' for gap in gaps)} s after the leader was"
                " asked to end")

    def replace(self, old, new):
        """Returns seconds without a leader; old is the one that leads."""
        player = self.player
        if not old.says('"Taken over"'):
            raise Failure("it is not the leader that is replaced")
        player.processes.append(new)
        new.start()
        self.await_ready(new)
        asked = time.time()
        wrong = old.end()
        if wrong:
            raise Failure(f"an old replica {wrong}")
        player.processes.remove(old)
        player.await_state("led", lambda state: any(process.says('"Taken over"') for process in player.processes))
        gap = max(moment(process, '"Taken over"') for process in player.processes if process.says('"Taken over"')) - asked
        if gap > LEASE_SECONDS + 1:
            raise Failure(f"nobody led for {gap:.1f} s")
        return gap


class Arrivals(threading.Thread):
    """Gangs of two, one after the other; each goes when it has run."""

    def __init__(self, player):
        super().__init__(daemon=True)
        self.player, self.server = player, player.server
        self.count, self.failure, self.ending = 0, None, False

    def run(self):
        running = []
        try:
            while running or not self.ending:
                if not self.ending and len(running) < TOGETHER:
                    self.count += 1
                    running.append(f"couple-{self.count}")
                    for pod in workload.pods(running[-1:]):
                        self.server.create(workload.PODS, pod)
                state = self.player.recorder.snapshot()
                for unit in [unit for unit in running if self.has_run(state, unit)]:
                    running.remove(unit)
                    for pod in workload.pods([unit]):
                        self.server.delete(f"{workload.PODS}/{pod['metadata']['name']}")
                time.sleep(0.1)
        except api.ApiError as failure:
            self.failure = failure

    @staticmethod
    def has_run(state, unit):
        pods = [state.get(("Pod", pod["metadata"]["name"])) for pod in workload.pods([unit])]
        return all(pod and pod["spec"].get("nodeName") for pod in pods)

    def go_on(self, seconds):
        """Raises what went wrong meanwhile."""
        self.join(seconds)
        if self.failure:
            raise self.failure

    def stop(self):
        """No more of them; those that are there go when they have run."""
        self.ending = True


def audit(events):
    """How often something was decided, by the states of all objects: a plan, an allocation, the end of a gate. What is taken
    back and decided anew counts twice."""
    last, counts = {}, {"plans": 0, "allocations": 0, "releases": 0}

    def decided(item):
        if item["kind"] == "Gang":
            members = (item.get("status", {}).get("plan") or {}).get("members", [])
            return "plans", any(member.get("claims") for member in members)
        if item["kind"] == "ResourceClaim":
            return "allocations", bool(checker.devices(item))
        return "releases", not checker.is_gated(item)

    for _, what, item in events:
        uid = item["metadata"]["uid"]
        name, is_so = decided(item)
        counts[name] += what == "set" and is_so and not last.get(uid, False)
        last[uid] = is_so
    return counts


PLAYS = [("take-over", Standby.take_overs), ("rolling update", Standby.update)]


def main():
    options = command.parse(__doc__)
    standby = Standby(options)
    passed = failed = 0
    for title, play in PLAYS:
        if not options.only.search(title):
            continue
        began = time.monotonic()
        try:
            text, good = play(standby), True
        except Failure as failure:
            text, good = str(failure), False
        finally:
            ended = standby.player.end_processes()
        if good and ended:
            text, good = f"a program {ended}", False
        if not good:
            standby.player.clear()
        passed, failed = passed + good, failed + (not good)
        print(f"{'passed' if good else 'FAILED':7} {time.monotonic() - began:5.1f} s  {title}: {text}", flush=True)
    return command.finish(passed, failed)


if __name__ == "__main__":
    sys.exit(main())
