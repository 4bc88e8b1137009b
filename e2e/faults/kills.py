#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The controller killed before and after every write of a gang of four: of its commit, its release, its roll-back, and of
taking it over. The points are the writes that the proxy saw in a run without faults. At each of them the leader is killed
once before the server gets the write, and once after it has done it (--night: and once with the write on its way, which
arrives when another one leads); the standby must finish the story. A point that is not hit is a failure."""

import os
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import checker  # noqa: E402
import command  # noqa: E402
import plays  # noqa: E402
import workload  # noqa: E402
from controller import LEASE, ControllerPlayer  # noqa: E402
from player import Failure  # noqa: E402

UNITS = ["quartet"]
PODS = workload.pods(UNITS)
GANG = ("Gang", "quartet")
ATTEMPTS = 3  # a machine that is too slow for a lease of 2 s and answers within 0.7 s changes which writes there are
ANSWER = 2  # seconds that the answer to a write may take which has been seen already

# The gates stay as long as this is in force: what tries to remove one is told that the pod has changed.
GATES_STAY = {"name": "held", "do": "status", "code": 409, "verb": "patch", "resource": "pods", "body": "schedulingGates",
              "times": -1}
# Two claims are allocated, two are not.
HALF_WRITTEN = {"name": "held", "do": "delay", "ms": 60000, "verb": "patch", "resource": "resourceclaims/status", "nth": 3,
                "times": -1}


def phase(state):
    return state.get(GANG, {}).get("status", {}).get("phase")


def plan(state):
    return state.get(GANG, {}).get("status", {}).get("plan")


def allocated(state):
    return sum(1 for (kind, _), item in state.items() if kind == "ResourceClaim" and checker.devices(item))


def is_settled(state):
    return workload.is_settled(state, UNITS)


def name(pod):
    return f"{workload.PODS}/{pod['metadata']['name']}"


class Story:
    """begin() ends where the story begins, go() is the story, and leaves the gang settled or everything gone."""

    kills = 0  # of its own
    held = []  # rules beside the kill
    last = None  # the write that it ends with, if that is always the same
    bodies = {}  # (verb, resource) -> what is found in the body of a write that counts, where others are on their way too

    def __init__(self, killer):
        self.killer, self.player, self.server = killer, killer.player, killer.player.server

    def create(self, pods):
        for pod in pods:
            self.server.create(workload.PODS, pod)

    def begin(self):
        raise NotImplementedError

    def go(self):
        raise NotImplementedError

    def leads(self, leader):
        """The process whose writes the story is about; leader: that of its beginning."""
        return leader

    def points(self, requests):
        """The writes of the story among all requests since it began."""
        return plays.writes(requests)


class Commit(Story):
    """Four pods come."""

    def begin(self):
        pass

    def go(self):
        self.create(PODS)
        self.player.await_state("settled", is_settled)


class Release(Story):
    """They finish, one after the other, and are deleted."""

    last = ("delete", "gangs", 1)

    def begin(self):
        self.create(PODS)
        self.player.await_state("settled", is_settled)

    def go(self):
        for number, pod in enumerate(PODS, 1):
            self.server.request("PATCH", f"{name(pod)}/status", {"status": {"phase": "Succeeded"}},
                                "application/merge-patch+json")
            self.player.await_state("released", lambda state, n=number: allocated(state) == len(PODS) - n)
        self.player.await_state("completed", lambda state: phase(state) == "Completed" and not plan(state))
        for pod in PODS:
            self.server.delete(name(pod))
        self.player.await_state("clean", lambda state: not state)


class RollBack(Story):
    """A member is deleted when all claims are written and no gate is gone yet. Then it comes back."""

    held = [GATES_STAY]
    bodies = {("patch", "pods"): "tangram.dev~1epoch"}

    def begin(self):
        self.player.set_rules(self.held)
        self.create(PODS)
        self.player.await_state("allocated", lambda state: allocated(state) == len(PODS) and phase(state) == "Allocated" and
                                self.player.faults())

    def go(self):
        self.server.delete(name(PODS[-1]))
        self.player.await_state("taken back", lambda state: plan(state) is None and allocated(state) == 0)


class TakeOver(Story):
    """Another one finds a plan of which half the claims are written."""

    kills = 1

    def begin(self):
        self.player.set_rules([HALF_WRITTEN])
        self.create(PODS)
        self.player.await_state("half allocated", lambda state: allocated(state) == 2 and len(
            {fault["name"] for fault in self.player.proxy.faults()}) == 2)
        leader = self.killer.leader()
        leader.process.kill()
        leader.process.wait()

    def leads(self, leader):
        """It is dead; the other one."""
        return next(process for process in self.player.processes if not process.has_ended())

    def go(self):
        self.player.await_state("settled", is_settled)

    def points(self, requests):
        """Those before its first decision; it says how many there were."""
        return plays.writes(requests)[:int(self.killer.leader().find(r'"Taken over".* fenced=(\d+)'))]


STORIES = [("commit", Commit), ("release", Release), ("roll-back", RollBack), ("take-over", TakeOver)]


class Killer:
    def __init__(self, player, kills):
        self.player, self.kills = player, kills

    def leader(self):
        """The process that has taken over last, or None."""
        epochs = [(int(process.find(r'"Taken over" epoch=(\d+)') or 0), process) for process in self.player.processes
                  if not process.has_ended()]
        epoch, process = max(epochs, key=lambda one: one[0], default=(0, None))
        return process if epoch > 0 else None

    def await_both(self):
        """One leads, and the other one is warm."""
        self.player.set_rules([])
        deadline = time.monotonic() + self.player.deadline
        while not (self.leader() and all(process.is_ready() for process in self.player.processes)):
            if time.monotonic() > deadline:
                raise Failure(f"no leader with a warm standby after {self.player.deadline} s")
            self.player.tick()
            time.sleep(0.05)

    def tell(self, story, kill=None):
        """Plays a story, with a kill or without. Returns (the kill happened, its points if nothing disturbed it)."""
        player = self.player
        before = player.recorder.begin()
        self.await_both()
        story.begin()
        position = player.proxy.position()
        player.pid = story.leads(self.leader()).record
        last = player.set_rules([kill] * (kill is not None) + story.held)
        story.go()
        hit = self.await_answer((kill["verb"], kill["resource"], kill["nth"]) if kill else story.last, position, last)
        sent = self.sent(position, last)
        points = story.points(sent) if self.is_undisturbed(sent, story) else None
        player.set_rules([])
        self.end(before)
        return hit, points

    def sent(self, position, last):
        """What the story began with may have been written, seen by everyone, and not be logged yet: no rule counts that."""
        return [request for request in self.player.proxy.requests(position) if request["n"] > last]

    def await_answer(self, point, position, last):
        """The last write of a story, too, is seen by everyone before its answer is at the proxy. Returns whether the kill happened."""
        deadline = time.monotonic() + (ANSWER if point else 0)
        while point not in plays.writes(self.sent(position, last)) and time.monotonic() < deadline:
            time.sleep(0.02)
        return any(fault["rule"] == "kill" for fault in self.player.proxy.faults())

    def is_undisturbed(self, sent, story):
        """Without the kill: each write is sent once and done, by processes that end by a kill of the story alone."""
        return self.player.restarts == story.kills and self.leader() is not None and all(
            200 <= request.get("server", 0) < 300 for request in plays.only_writes(sent))

    def end(self, before):
        """Whatever was left half done by a story becomes whole, and goes."""
        player = self.player
        if player.recorder.snapshot():
            there = {name for kind, name in player.recorder.snapshot() if kind == "Pod"}
            Story(self).create([pod for pod in PODS if pod["metadata"]["name"] not in there])
            player.await_state("settled", is_settled)
            player.check_settled()
            for pod in PODS:
                player.server.delete(name(pod))
            player.await_state("clean", lambda state: not state)
        player.check(before)

    def learn(self, story):
        """The points of a story: two runs without faults have sent the same writes. How far a status has come when it is written
        depends on the machine, so not every two do."""
        seen = []
        for _ in range(4 * ATTEMPTS):
            _, points = self.tell(story)
            if points and sorted(points) in seen:
                return points
            seen.append(sorted(points or []))
        raise Failure(f"no two of {len(seen)} runs without faults have sent the same writes: "
                      f"{[len(points) for points in seen]} (0: a write was lost or sent twice)")

    def hit(self, story, kill):
        """How many attempts it took to hit the point; 0: undisturbed runs did not send this write. Only of a status, which is
        written as often as events come apart."""
        point, runs = (kill["verb"], kill["resource"], kill["nth"]), {True: 0, False: 0}
        for attempt in range(1, 4 * ATTEMPTS + 1):
            hit, points = self.tell(story, kill)
            if hit:
                return attempt
            if points is not None:
                runs[point in points] += 1
            if runs[False] == ATTEMPTS and kill["resource"].endswith("/status"):
                return 0
            if max(runs.values()) >= ATTEMPTS:
                break
        raise Failure(f"the point was not hit in {attempt} attempts; {runs[True]} of them sent the write undisturbed, "
                      f"{runs[False]} did not send it")

    def judge(self, story, what, kill):
        """Returns whether the point was hit and all went well; None: there is no such point today."""
        began = time.monotonic()
        try:
            attempt = self.hit(story, kill)
            if attempt == 0:
                print(f"absent  {time.monotonic() - began:5.1f} s  {what}: {ATTEMPTS} runs did not send this write", flush=True)
                return None
            text, good = "hit" if attempt == 1 else f"hit at attempt {attempt}", True
        except Failure as failure:
            text, good = str(failure), False
            self.player.set_rules([])
            self.player.clear()
        print(f"{'passed' if good else 'FAILED':7} {time.monotonic() - began:5.1f} s  {what}: {text}", flush=True)
        return good

    def play_story(self, title, story, choose):
        """Every chosen point of a story. Returns (passed, failed)."""
        points = self.learn(story)
        chosen = hit = known = 0
        for verb, resource, nth in points:
            for how, rule in self.kills.items():
                known += 1
                what = f"{how} {title}: {verb} {resource} {nth}"
                if not choose(what):
                    continue
                good = self.judge(story, what, {**rule, "name": "kill", "verb": verb, "resource": resource, "nth": nth,
                                                "body": story.bodies.get((verb, resource), "")})
                known -= good is None
                chosen += good is not None
                hit += bool(good)
        print(f"{title}: {len(points)} writes, {known} kill points known, {chosen} of them chosen, {hit} hit and passed", flush=True)
        return hit, chosen - hit + (not points)


def choice(options):
    """Every so manieth kill point, others every day."""
    turn = [options.rotate or 0]

    def choose(what):
        turn[0] += 1
        return turn[0] % options.every == 0 and bool(options.only.search(what))
    return choose


def main():
    options = command.parse(__doc__)
    kills = dict(plays.KILL)
    if options.night:
        options.every = 1
    else:
        kills.pop("kill-late")
    player = ControllerPlayer(options, standby="faults-controller-proxied")
    player.server.delete(LEASE)
    killer = Killer(player, kills)
    passed = failed = 0
    choose = choice(options)
    try:
        for process in player.processes:
            process.start()
        for title, story in STORIES:
            good, bad = killer.play_story(title, story(killer), choose)
            passed, failed = passed + good, failed + bad
    finally:
        ended = player.end_processes()
    if ended:
        print(f"FAILED  a program {ended}", flush=True)
        failed += 1
    return command.finish(passed, failed)


if __name__ == "__main__":
    sys.exit(main())
