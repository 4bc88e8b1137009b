#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays faults against the controller, on nodes that are in the API only."""

import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[0:0] = [HERE, os.path.join(HERE, os.pardir, "checker")]

import api  # noqa: E402
import checker  # noqa: E402
import command  # noqa: E402
import marathon  # noqa: E402
import plays  # noqa: E402
import traces  # noqa: E402
import rules  # noqa: E402
import workload  # noqa: E402
from player import Failure, Player  # noqa: E402
from process import Process  # noqa: E402

LEASE = "/apis/coordination.k8s.io/v1/namespaces/tangram-system/leases/tangram-controller-default"

PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"

# Everything but the lease: a process that ends with its leadership has nothing that could leak.
MARATHON = {"do": "random", "seed": 1, "percent": 25, "times": -1,
            "resource": "pods|nodes|namespaces|events|gangs.*|resource.*|deviceclasses|devicetaintrules|persistentvolume.*|storageclasses"}


def steady(options, config):
    """The same configuration with a lease that outlasts whatever the machine does."""
    file = os.path.join(options.dir, "config", "faults-steady.yaml")
    with open(config, encoding="utf-8") as text, open(file, "w", encoding="utf-8") as out:
        out.write(text.read().replace("lease: 2s", "lease: 15s"))
    return file


class ControllerPlayer(Player):
    marathon_rules = [MARATHON]

    def __init__(self, options, leader="faults-controller-proxied", standby="faults-controller", config="controller.yaml"):
        """leader, standby: the kubeconfigs of the two; by default the first is disturbed."""
        self.options = options
        self.config = os.path.join(HERE, config)
        self.server = command.server(options)
        for template in workload.templates():
            self.server.create(workload.TEMPLATES, template)
        self.server.delete(f"{PRIORITIES}/{traces.URGENT}")
        self.server.create(PRIORITIES, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                        "metadata": {"name": traces.URGENT}, "value": 1000,
                                        "preemptionPolicy": "Never"})
        self.controller = self.process("faults-controller", leader, 8081)
        self.standby = self.process("faults-standby", standby, 8082)
        self.steady = self.process("faults-controller", leader, 8081, steady(options, self.config))
        super().__init__(command.proxy(options), api.Recorder(self.server, workload.COLLECTIONS),
                         [self.controller, self.standby])

    def process(self, name, kubeconfig, port, config=None):
        health = f"{self.options.health}:{port}"
        return Process(self.options.dir, name, [
            self.options.program, "--kubeconfig", os.path.join(self.options.dir, "kubeconfig", kubeconfig), "--config",
            config or self.config, "--health-addr", health, "--v", "2"], health)

    def round(self, units):
        """Pods come, everything is done for them, pods go. Returns the state when all was done."""
        for pod in workload.pods(units):
            self.server.create(workload.PODS, pod)
        self.await_state("settled", lambda state: workload.is_settled(state, units))
        settled = self.recorder.snapshot()
        self.check_settled()
        for pod in workload.pods(units):
            self.server.delete(f"{workload.PODS}/{pod['metadata']['name']}")
        self.await_state("clean", lambda state: not state)
        return settled

    def scenario(self, play):
        before = self.recorder.begin()
        if play.creates("leases"):
            self.server.delete(LEASE)
        self.controller.start()
        self.await_ready()
        if play.standby:
            # What is disturbed is the one behind the proxy: it must be the one that leads.
            self.await_state("leading", lambda state: self.controller.says('"Leading"') or self.faults())
            self.standby.start()
        settled = self.round(play.units)
        self.check(before)
        return workload.normal(settled)

    def check_settled(self):
        """What the server holds when all is done, by another checker. Pods come first: what they rest on is older."""
        objects = [dict(item, kind=kind) for path, kind in workload.COLLECTIONS for item in self.server.get(path)["items"]]
        violations = rules.check(objects, settled=True)
        if violations:
            raise Failure("settled: " + "; ".join(violations))

    def check(self, before):
        violations = checker.check(before, self.recorder.since_begin())
        if violations:
            raise Failure("; ".join(violations))

    def clear(self):
        for path, _ in workload.COLLECTIONS:
            for item in self.server.get(path)["items"]:
                name = f"{path}/{item['metadata']['name']}"
                self.server.delete(name)
                if item["metadata"].get("finalizers"):
                    self.server.drop_finalizers(name)
        if not self.recorder.wait(30, lambda state: not state):
            raise RuntimeError("the namespace cannot be cleared: " + workload.describe(self.recorder.snapshot()))

    def begin_marathon(self):
        self.deadline *= 3  # so many faults in a row make long pauses
        self.processes = [self.steady]
        self.server.delete(LEASE)
        self.began = self.recorder.begin()
        self.steady.start()

    def disturb(self):
        self.round(plays.ALL)
        return 0

    def prove(self):
        self.compare(self.wanted[tuple(plays.ALL)], workload.normal(self.round(plays.ALL)))
        self.check(self.began)
        self.began = self.recorder.begin()

    def choose(self, options):
        """The plays of this run, from the requests of runs without faults."""
        self.server.delete(LEASE)
        points = self.learn(plays.Play("", [], plays.ALL)) + self.learn(plays.Play("", [], plays.ALL))
        matrix = plays.matrix(points, plays.ALL, ("pods", "resourceclaims", "gangs"), with_standby=True)
        kills = []
        for unit in ("trio", "pair", "single-1"):
            kills += plays.kill_points(self.learn(plays.Play("", [], [unit])), [unit])
        storms = plays.storms(40 if options.night else 1, 1 + (options.rotate or 0), plays.ALL)
        print(f"controller: {len(plays.kinds(points))} kinds of requests, {len(matrix)} rules x verbs x resources, {len(kills)} kill"
              f" points, {len(storms)} storms", flush=True)
        if not options.night:
            matrix = plays.rotate(matrix, options.rotate or 0, options.count)
            kills = plays.rotate(kills, options.rotate or 0, max(options.count // 3, 1))
        return matrix + kills + storms


def main():
    options = command.parse(__doc__)
    player = ControllerPlayer(options)
    try:
        passed, failed = player.run([play for play in player.choose(options) if options.only.search(play.name)])
        done = traces.play(player, options.only)
        passed, failed = passed + done[0], failed + done[1]
        if options.only.search("marathon"):
            good = player.marathon(marathon.FAULTS[options.night])
            passed, failed = passed + good, failed + (not good)
    finally:
        player.end_processes()
    return command.finish(passed, failed)


if __name__ == "__main__":
    sys.exit(main())
