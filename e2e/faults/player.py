# SPDX-License-Identifier: Apache-2.0
"""What is the same for every program under test: play, judge, print. A play sets rules in the proxy and runs a scenario; what the
scenario returns is compared with what it returned without faults. A program that ends is started again, as a Deployment or a
DaemonSet would; one that ends by anything but the play's own doing fails the play."""

import json
import time

import marathon
import workload


class Failure(Exception):
    pass


class Player:
    """A subclass says what happens in a play (scenario) and how its objects are cleared away (clear)."""

    deadline = 60  # seconds for each thing that a play waits for; far above the sum of the programs' own deadlines

    def __init__(self, proxy, recorder, processes):
        self.proxy, self.recorder, self.processes = proxy, recorder, processes
        self.pid = processes[0].record  # the program behind the proxy
        self.wanted = {}  # units -> what the scenario returns without faults
        self.restarts = 0
        self.descriptors = 0

    def scenario(self, play):
        raise NotImplementedError

    def clear(self):
        raise NotImplementedError

    def tick(self):
        """Starts again what has ended."""
        for process in self.processes:
            if not process.has_ended():
                continue
            if not process.ended_as_expected():
                raise Failure(f"the program ended by itself with status {process.process.returncode}")
            self.restarts += 1
            process.start()

    def await_state(self, what, holds):
        if not self.recorder.wait(self.deadline, holds, self.tick):
            raise Failure(f"not {what} after {self.deadline} s: {workload.describe(self.recorder.snapshot())}")

    def await_ready(self):
        """Ready, or disturbed before it could be: the play goes on in both cases."""
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline and not self.processes[0].is_ready():
            self.tick()
            time.sleep(0.05)

    # -- the marathon ------------------------------------------------------------------------------

    marathon_rules = []

    def begin_marathon(self):
        """Starts the one process, undisturbed."""
        raise NotImplementedError

    def disturb(self):
        """Some faults, while there is something to do. Returns how many were not the proxy's."""
        raise NotImplementedError

    def prove(self):
        """It works: what it does now, undisturbed, is what it does in a play without faults."""
        raise NotImplementedError

    def disturb_until(self, count):
        """Returns how many faults there were."""
        self.proxy.set(self.marathon_rules)
        others = 0
        while (done := len(self.proxy.faults()) + others) < count:
            others += self.disturb()
            if self.restarts:
                raise Failure("the process ended, and with it what it held")
        kinds = marathon.kinds(self.proxy.faults())
        self.proxy.set([])
        print(f"        {done} faults: " + ", ".join(f"{name} {n}" for name, n in kinds + [("on sockets", others)] if n), flush=True)
        return done

    def marathon(self, count):
        """So many faults against one process, which holds no more afterwards than before. Returns whether it does."""
        began = time.monotonic()
        self.set_rules([])
        try:
            self.begin_marathon()
            done = self.disturb_until(count // marathon.WARM)
            self.prove()
            look = self.processes[0].holdings
            before = marathon.settle(look, marathon.is_quiet)
            done += self.disturb_until(count)
            self.prove()
            after = marathon.settle(look, lambda held: marathon.is_quiet(held) and not marathon.grown(before, held))
            text = f"{done} faults in one process; " + marathon.describe(before, after)
            if not marathon.is_quiet(before) or not marathon.is_quiet(after):
                raise Failure(f"requests that never end: {text}")
            if marathon.grown(before, after):
                raise Failure(f"{', '.join(marathon.grown(before, after))} grew: {text}")
            ended = self.end_processes()
            if ended:
                raise Failure(f"a program {ended}")
            verdict = "passed"
        except Failure as failure:
            verdict, text = "FAILED", str(failure)
            self.proxy.set([])
            self.end_processes()
            self.clear()
        print(f"{verdict:7} {time.monotonic() - began:5.1f} s          marathon: {text}", flush=True)
        return verdict == "passed"

    def set_rules(self, rules):
        self.restarts = 0
        return self.proxy.set([{**rule, "pid": self.pid} if rule["do"] == "stop" else rule for rule in rules])

    def faults(self):
        """How often this play has disturbed anything."""
        return len(self.proxy.faults())

    def end_processes(self):
        """Asks all to end; returns what was wrong with how they did, or nothing."""
        return "; ".join(filter(None, [process.end() for process in self.processes]))

    def play(self, play):
        self.set_rules(play.rules)
        try:
            result = self.scenario(play)
            if self.restarts:
                self.await_ready()  # a program that has just begun knows no signals yet
            self.descriptors = self.processes[0].descriptors()
        finally:
            ended = self.end_processes()
        if ended:
            raise Failure(f"a program {ended}")
        return result

    def learn(self, play):
        """A run without faults. Returns its requests: the points at which to disturb another."""
        position = self.proxy.position()
        self.wanted[play.key()] = self.play(play)
        return self.proxy.requests(position)

    def judge(self, play):
        """(verdict, text). Where the machine pauses, a lease of 2 s may end and the request that was to be disturbed with it:
        what disturbed nothing is played again."""
        for _ in range(3):
            position = self.proxy.position()
            try:
                self.compare(self.wanted[play.key()], self.play(play))
            except Failure as failure:
                faults = self.faults()
                self.proxy.set([])
                self.clear()
                return "FAILED", f"{failure} ({faults} faults)"
            done = self.faults()
            if done:
                return "passed", f"{done} faults" + (f", {self.restarts} restarts" if self.restarts else "")
        if self.is_beyond(play.rules, self.proxy.requests(position)):
            return "absent", "there were fewer such requests than in the run from which the points were taken"
        return "IDLE", "nothing was disturbed"

    @staticmethod
    def is_beyond(rules, requests):
        """Whether the nth request of a kind was to be disturbed, and there were fewer."""
        return bool(rules) and all(1 < rule.get("nth", 1) > sum(
            1 for r in requests if (r["verb"], r.get("resource")) == (rule["verb"], rule["resource"])) for rule in rules)

    @staticmethod
    def compare(wanted, got):
        lines = workload.differences(wanted, got)
        if lines:
            raise Failure("; ".join(lines))

    def run(self, chosen):
        """Plays all, prints a line each. Returns how many passed and how many failed. How often a status is written depends on
        how events come together; a point that is not reached any more (absent) is neither."""
        passed = failed = absent = 0
        longest, name = 0.0, "none"
        for play in chosen:
            began = time.monotonic()
            verdict, text = self.judge(play)
            longest, name = max((longest, name), (time.monotonic() - began, play.name))
            passed += verdict == "passed"
            absent += verdict == "absent"
            failed += verdict not in ("passed", "absent")
            print(f"{verdict:7} {time.monotonic() - began:5.1f} s  {self.descriptors:2} fds  {play.name}: {text}", flush=True)
            if verdict == "FAILED":
                print("        rules: " + " ".join(json.dumps(rule) for rule in play.rules), flush=True)
        print(f"the longest play: {longest:.1f} s, {name}; {absent} points were not reached", flush=True)
        return passed, failed
