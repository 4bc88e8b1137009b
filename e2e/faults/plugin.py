#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays faults against the plugin of a real node: between it and the API server, and between it and the kubelet. Without a
controller: the scheduler allocates from a class of a driver name of its own."""

import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import api  # noqa: E402
import checker  # noqa: E402
import command  # noqa: E402
import hostile  # noqa: E402
import marathon  # noqa: E402
import plays  # noqa: E402
import workload  # noqa: E402
from player import Failure, Player  # noqa: E402
from process import Process  # noqa: E402

DRIVER = "faults.tangram.dev"
NODE = "node-1"
CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
COLLECTIONS = [(workload.PODS, "Pod"), (workload.CLAIMS, "ResourceClaim"),
               (f"{SLICES}?fieldSelector=spec.driver%3D{DRIVER}", "ResourceSlice")]
UNITS = ["direct"]
CARDS = 2  # of inventory.yaml

KUBELET = "/var/lib/kubelet"
SERVICE = f"{KUBELET}/plugins/{DRIVER}"
REGISTRY = f"{KUBELET}/plugins_registry"
HIDDEN = f"{KUBELET}/faults-registry"  # where the kubelet does not look: the proxy stands in between
REGISTRATION_SOCKET = f"{DRIVER}-reg.sock"

CLASS = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "faults-direct"},
         "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]}}
TEMPLATE = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "direct"},
            "spec": {"spec": {"devices": {"requests": [{"name": "gpus", "exactly": {"deviceClassName": "faults-direct"}}]}}}}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "direct"},
       "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
                "containers": [{"name": "main", "image": "tangram.dev/e2e/busybox:1", "imagePullPolicy": "Never",
                                "command": ["sh", "-c", 'echo "devices=$TANGRAM_DEVICES"; exec tail -f /dev/null'],
                                "resources": {"requests": {"cpu": "10m"}, "claims": [{"name": "gpus"}]}}],
                "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "direct"}]}}
# Of an older generation of the node's pool, as an earlier layout would leave it.
STRAY = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "faults-stray"},
         "spec": {"driver": DRIVER, "nodeName": NODE, "pool": {"name": NODE, "generation": 0, "resourceSliceCount": 1},
                  "devices": [{"name": "stray"}]}}


def of_kind(state, kind):
    return [item for (k, _), item in state.items() if k == kind]


def is_published(state):
    slices = of_kind(state, "ResourceSlice")
    return len(slices) == 1 and len(slices[0]["spec"].get("devices", [])) == CARDS


def is_ready(state):
    pods = of_kind(state, "Pod")
    return len(pods) == 1 and any(c["type"] == "Ready" and c["status"] == "True"
                                  for c in pods[0].get("status", {}).get("conditions", []))


def is_free(state):
    return not of_kind(state, "Pod") and not of_kind(state, "ResourceClaim")


# Half of all requests; the other faults are those of clients on its sockets.
MARATHON = {"do": "random", "seed": 1, "percent": 50, "times": -1}


class PluginPlayer(Player):
    marathon_rules = [MARATHON]
    deadline = 240  # the kubelet gives a silent plugin 45 s; the plugin takes a watch for dead after 3 min without a word

    def __init__(self, options):
        self.server = command.server(options)
        self.options = options
        with open(os.path.join(options.dir, "run", NODE + ".init"), encoding="ascii") as record:
            self.root = f"/proc/{record.read().split()[0]}/root"
        self.health = f"{options.health}:8083"
        self.plugin = self.on_node("faults-plugin", self.command(REGISTRY), self.health)
        os.makedirs(self.root + HIDDEN, exist_ok=True)
        self.server.create(CLASSES, CLASS)
        self.server.create(workload.TEMPLATES, TEMPLATE)
        super().__init__(command.proxy(options), api.Recorder(self.server, COLLECTIONS), [self.plugin])
        self.between, self.socket_logs = [], []  # proxies on the sockets
        self.rounds = 0  # of the marathon

    def command(self, registry):
        here = os.path.dirname(os.path.abspath(__file__))
        return [self.options.program, "--node-name", NODE, "--kubeconfig",
                os.path.join(self.options.dir, "kubeconfig", "faults-plugin-proxied"), "--provider", "sim",
                "--inventory", os.path.join(here, "inventory.yaml"), "--driver-name", DRIVER, "--registry-dir", registry,
                "--health-addr", self.health, "--v", "2"]

    def on_node(self, name, arguments, health=None):
        here = os.path.dirname(os.path.abspath(__file__))
        node_exec = os.path.join(here, "..", "cluster", "node-exec")
        return Process(self.options.dir, f"{NODE}.{name}", [node_exec, self.options.dir, NODE, *arguments], health)

    # -- the kubelet's side ------------------------------------------------------------------------

    def await_file(self, path):
        """A socket sends no event when it comes."""
        deadline = time.monotonic() + 20
        while not os.path.exists(self.root + path):
            if time.monotonic() > deadline:
                raise Failure(f"{path} does not come")
            self.tick()
            time.sleep(0.02)

    def stand_between(self, rules):
        """Proxies take the places of both sockets; the kubelet sees theirs only."""
        self.await_file(f"{SERVICE}/dra.sock")
        self.await_file(f"{HIDDEN}/{REGISTRATION_SOCKET}")
        os.rename(f"{self.root}{SERVICE}/dra.sock", f"{self.root}{SERVICE}/dra.real.sock")
        for which, listen, target in (
                ("service", f"{SERVICE}/dra.sock", f"{SERVICE}/dra.real.sock"),
                ("registration", f"{REGISTRY}/{REGISTRATION_SOCKET}", f"{HIDDEN}/{REGISTRATION_SOCKET}")):
            file = os.path.join(self.options.dir, "config", f"faults-{which}.rules")
            with open(file, "w", encoding="utf-8") as out:
                out.writelines(plays.line(rule) for rule in rules.get(which, []))
            proxy = self.on_node(f"faults-{which}", [os.path.join(self.options.dir, "config", "faultproxy"), "--listen",
                                                     "unix:" + listen, "--to", "unix:" + target, "--rules", file])
            proxy.start()
            self.between.append(proxy)
            self.socket_logs.append((proxy.log, proxy.began))
            self.await_file(listen)

    def stand_aside(self):
        for proxy in self.between:
            proxy.end()
        self.between = []
        for left in (f"{SERVICE}/dra.real.sock", f"{HIDDEN}/{REGISTRATION_SOCKET}"):
            if os.path.exists(self.root + left):
                os.unlink(self.root + left)

    def faults(self):
        count = super().faults()
        for log, began in self.socket_logs:
            with open(log, encoding="utf-8") as lines:
                lines.seek(began)
                count += sum(1 for line in lines if '"what":"fault"' in line)
        return count

    # -- one play ----------------------------------------------------------------------------------

    def play(self, play):
        self.socket_logs = []
        self.plugin.command = self.on_node("", self.command(HIDDEN if play.sockets else REGISTRY)).command
        try:
            return super().play(play)
        finally:
            self.stand_aside()

    def scenario(self, play):
        self.recorder.begin()
        self.bring_up(play.sockets)
        return self.serve()

    def bring_up(self, sockets=None):
        for item in self.server.get(COLLECTIONS[2][0])["items"]:
            self.server.delete(f"{SLICES}/{item['metadata']['name']}")
        self.await_state("without slices", lambda state: not of_kind(state, "ResourceSlice"))
        self.plugin.start()
        if sockets:
            self.stand_between(sockets)
        self.await_state("published", is_published)
        self.await_state("registered", lambda _: self.plugin.says("The kubelet registered the driver"))

    def serve(self):
        """A pod comes and goes. Returns the state when it ran, and after it."""
        self.server.create(workload.PODS, POD)
        self.await_state("ready", is_ready)
        result = self.describe_running()
        self.tamper()
        result["slices"] = self.describe_slices()
        self.server.delete(f"{workload.PODS}/direct", grace=None)
        self.await_state("free", is_free)
        folder = f"{self.root}/var/run/cdi"
        result["node"] = {"CDI documents": sorted(os.listdir(folder)) if os.path.isdir(folder) else []}
        return result

    def begin_marathon(self):
        self.plugin.command = self.on_node("", self.command(REGISTRY)).command
        self.recorder.begin()
        self.bring_up()

    def disturb(self):
        self.rounds += 1
        # Not often: whose slices are changed again and again repairs them ever more slowly.
        if self.rounds % 10 == 0:
            self.serve()
        sockets = f"{SERVICE}/dra.sock", f"{REGISTRY}/{REGISTRATION_SOCKET}"
        hostile.ask(self.root + sockets[0], self.rounds, 10)
        return hostile.abuse(self.root + sockets[self.rounds % 2], self.rounds)

    def prove(self):
        self.compare(self.wanted[tuple(UNITS)], self.serve())
        self.recorder.begin()

    def tamper(self):
        """What only a plugin repairs: a device that is missing, a slice that is too much."""
        [item] = of_kind(self.recorder.snapshot(), "ResourceSlice")
        self.server.request("PATCH", f"{SLICES}/{item['metadata']['name']}",
                            {"spec": {"devices": item["spec"]["devices"][:1]}}, "application/merge-patch+json")
        self.await_state("restored", lambda state: is_published(state) and self.is_newer(state, item))
        stray = self.server.create(SLICES, STRAY)
        self.await_state("without the stray slice", lambda state: is_published(state) and self.recorder.has_gone(stray))

    @staticmethod
    def is_newer(state, item):
        now = state.get(("ResourceSlice", item["metadata"]["name"]))
        return now is None or now["metadata"]["generation"] > item["metadata"]["generation"]

    def describe_running(self):
        state = self.recorder.snapshot()
        [claim] = of_kind(state, "ResourceClaim")
        return {"container": {"sees its devices": self.printed() == [d[2] for d in checker.devices(claim)]},
                "claim": {"devices": len(checker.devices(claim)), "finalizers": claim["metadata"].get("finalizers", [])}}

    def printed(self):
        """What the container printed; a log may lag behind the start of its container."""
        for _ in range(50):
            text = self.server.text(f"{workload.PODS}/direct/log")
            if text.startswith("devices="):
                return sorted(text.splitlines()[0].removeprefix("devices=").split(","))
            time.sleep(0.1)
        raise Failure("the container printed no devices")

    def describe_slices(self):
        [item] = of_kind(self.recorder.snapshot(), "ResourceSlice")
        spec = item["spec"]
        return {"pool": spec["pool"]["name"], "count": spec["pool"]["resourceSliceCount"], "node": spec.get("nodeName"),
                "devices": spec["devices"], "owners": [o["name"] for o in item["metadata"].get("ownerReferences", [])]}

    def clear(self):
        for path in (workload.PODS, workload.CLAIMS):
            for item in self.server.get(path)["items"]:
                name = f"{path}/{item['metadata']['name']}"
                self.server.delete(name)
                if item["metadata"].get("finalizers"):
                    self.server.drop_finalizers(name)
        self.recorder.wait(60, is_free)

    def choose(self, options):
        points = self.learn(plays.Play("", [], UNITS)) + self.learn(plays.Play("", [], UNITS))
        matrix = plays.matrix(points, UNITS, ("resourceslices",), with_standby=False)
        kills = plays.kill_points(self.learn(plays.Play("", [], UNITS)), UNITS, ("get", "create", "update", "delete"))
        sockets = plays.sockets(UNITS)
        storms = plays.storms(10 if options.night else 1, 1 + (options.rotate or 0), UNITS, percent=60)
        print(f"plugin: {len(plays.kinds(points))} kinds of requests, {len(matrix)} rules x verbs x resources, {len(kills)} kill"
              f" points, {len(sockets)} rules for sockets, {len(storms)} storms", flush=True)
        if not options.night:
            matrix = plays.rotate(matrix, options.rotate or 0, max(options.count // 3, 1))
            kills = plays.rotate(kills, options.rotate or 0, max(options.count // 6, 1))
            sockets = plays.rotate(sockets, options.rotate or 0, max(options.count // 6, 1))
        return matrix + kills + sockets + storms


def main():
    options = command.parse(__doc__)
    player = PluginPlayer(options)
    try:
        passed, failed = player.run([play for play in player.choose(options) if options.only.search(play.name)])
        if options.only.search("marathon"):
            good = player.marathon(marathon.FAULTS[options.night])
            passed, failed = passed + good, failed + (not good)
    finally:
        player.stand_aside()
        player.end_processes()
    return command.finish(passed, failed)


sys.exit(main())
