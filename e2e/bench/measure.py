#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waits until a backlog of pods has its claims, starts who is to serve it, and measures until the last pod is bound. Prints
one JSON object.

From the first write to a claim to the last binding; what is needed to start a program is not part of it. The reference
writer sends the writes that the controller sends, and decides nothing: the n-th claim gets the n-th device.
"""

import argparse
import http.client
import json
import os
import ssl
import subprocess
import sys
import threading
import time

TICK = os.sysconf("SC_CLK_TCK")
PROGRAMS = ["apiserver", "scheduler", "tangram-controller"]
IN_FLIGHT = 16
GATE = "tangram.dev/gang"
PATIENCE = 600


class Server:
    """The API server as an administrator sees it."""

    def __init__(self, url, directory):
        pki = os.path.join(directory, "pki")
        self.host = url.split("://")[1]
        self.context = ssl.create_default_context(cafile=os.path.join(pki, "ca.crt"))
        self.context.load_cert_chain(os.path.join(pki, "admin.crt"), os.path.join(pki, "admin.key"))

    def open(self, path, timeout=60):
        connection = http.client.HTTPSConnection(self.host, context=self.context, timeout=timeout)
        connection.request("GET", path)
        response = connection.getresponse()
        if response.status != 200:
            raise RuntimeError(f"GET {path}: {response.status} {response.read()[:200]}")
        return response

    def list(self, path):
        return json.loads(self.open(path).read())


class Watch(threading.Thread):
    """Counts the events of one type, and when they came; the objects are not even decoded, for that would cost time which
    the measured programs need. A server that ends the watch of a slow reader is asked to go on."""

    def __init__(self, server, path, what):
        super().__init__(daemon=True)
        self.server = server
        self.path = path + ("&" if "?" in path else "?") + "watch=1&resourceVersion="
        self.response = server.open(self.path + "0", timeout=None)
        self.mark = f'{{"type":"{what}"'.encode()
        self.times = []
        self.changed = threading.Condition()
        self.start()

    def run(self):
        version = "0"
        while True:
            last = b""
            for line in self.response:
                last = line
                if line.startswith(self.mark):
                    with self.changed:
                        self.times.append(time.monotonic())
                        self.changed.notify_all()
            if last:
                version = json.loads(last)["object"]["metadata"]["resourceVersion"]
            self.response = self.server.open(self.path + version, timeout=None)

    def wait(self, count):
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.times) >= count, PATIENCE):
                raise SystemExit(f"measure: {len(self.times)} of {count} after {PATIENCE} s")
            return self.times[count - 1]


def cpu(directory):
    """Seconds that each program has used."""
    used = {}
    for name in PROGRAMS:
        try:
            with open(os.path.join(directory, "run", name), encoding="ascii") as record:
                pid = record.read().split()[0]
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
            used[name] = (int(fields[11]) + int(fields[12])) / TICK
        except FileNotFoundError:
            used[name] = 0.0  # it does not run in this mode
    return used


# -- the reference writer -----------------------------------------------------------------------------


def pinned(node):
    return {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}


def writes(pod, claim, node, device, driver):
    """(verb, path, content type, body) of the three writes for a pod with one claim."""
    namespace, name = pod["metadata"]["namespace"], claim["metadata"]["name"]
    claims = f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims/{name}"
    plan = {"opaque": {"driver": "tangram.dev", "parameters": {
        "apiVersion": "tangram.dev/v1alpha1", "epoch": 1, "gangUID": claim["metadata"]["uid"], "kind": "Plan"}}}
    request = claim["spec"]["devices"]["requests"][0]["name"]
    metadata = claim["metadata"]
    finalizers = metadata.get("finalizers", []) + ["resource.kubernetes.io/delete-protection"]
    yield "PATCH", claims, "application/merge-patch+json", {"metadata": {
        "uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"],
        "annotations": {"tangram.dev/epoch": "1"}, "finalizers": finalizers}}
    yield "PATCH", claims + "/status", "application/merge-patch+json", {"status": {
        "allocation": {
            "allocationTimestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "devices": {"results": [{"request": request, "driver": driver, "pool": node, "device": device}],
                        "config": [{"source": "FromClass", **plan}]},
            "nodeSelector": pinned(node)},
        "reservedFor": [{"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}]}}
    gates = [gate["name"] for gate in pod["spec"]["schedulingGates"]]
    yield "PATCH", f"/api/v1/namespaces/{namespace}/pods/{pod['metadata']['name']}", "application/json-patch+json", [
        {"op": "add", "path": "/spec/affinity", "value": {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": pinned(node)}}},
        {"op": "remove", "path": f"/spec/schedulingGates/{gates.index(GATE)}"}]


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def curl_request(url, authority, token, verb, path, content, body):
    return "\n".join([
        f"url = {quoted(url + path)}", f"request = {verb}", f"header = {quoted('Content-Type: ' + content)}",
        f"header = {quoted('Authorization: Bearer ' + token)}", f"cacert = {quoted(authority)}",
        f"data = {quoted(json.dumps(body))}", "http2", "silent", "show-error", "fail", "output = /dev/null"])


def reference(options, server, count):
    """Sixteen curls, each with a connection and a share of the pods of its own."""
    base = f"/namespaces/{options.namespace}"
    pods = server.list(f"/api/v1{base}/pods")["items"]
    claims = {c["metadata"]["name"]: c for c in server.list(f"/apis/resource.k8s.io/v1{base}/resourceclaims")["items"]}
    slices = server.list("/apis/resource.k8s.io/v1/resourceslices")["items"]
    # Breadth first, as good as any: the scheduler has nothing to choose.
    devices = sorted((place, s["spec"]["nodeName"], d["name"]) for s in slices if s["spec"]["driver"] == options.driver
                     for place, d in enumerate(s["spec"]["devices"]))
    if len(pods) != count or len(devices) < count:
        raise SystemExit(f"measure: {len(pods)} pods, {len(devices)} devices, and {count} are wanted")
    with open(options.token, encoding="utf-8") as file:
        token = next(line.split("token:")[1].strip() for line in file if "token:" in line)
    shares = [[] for _ in range(IN_FLIGHT)]
    for number, (pod, (_, node, device)) in enumerate(zip(pods, devices)):
        claim = claims[pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"]]
        for write in writes(pod, claim, node, device, options.driver):
            shares[number % IN_FLIGHT].append(curl_request(
                options.api, os.path.join(options.dir, "pki", "ca.crt"), token, *write))
    files = []
    for number, share in enumerate(shares):
        files.append(os.path.join(options.dir, "config", f"bench-{number}.curl"))
        with open(files[-1], "w", encoding="utf-8") as file:
            file.write("\nnext\n".join(share) + "\n")
    return [["curl", "--config", file] for file in files]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ["dir", "api", "namespace", "mode", "driver", "token"]:
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--pods", type=int, required=True)
    parser.add_argument("command", nargs="*", help="starts who serves the backlog; none: the reference writer")
    options = parser.parse_args()
    server = Server(options.api, options.dir)
    claims = f"/apis/resource.k8s.io/v1/namespaces/{options.namespace}/resourceclaims"
    Watch(server, claims, "ADDED").wait(options.pods)
    # Who reserves is in the status of the pod.
    deadline = time.monotonic() + PATIENCE
    pods = f"/api/v1/namespaces/{options.namespace}/pods"
    while sum(bool(p["status"].get("resourceClaimStatuses")) for p in server.list(pods)["items"]) < options.pods:
        if time.monotonic() > deadline:
            raise SystemExit("measure: the pods do not get their claims")
    commands = [options.command] if options.command else reference(options, server, options.pods)
    written = Watch(server, claims, "MODIFIED")
    bound = Watch(server, pods + "?fieldSelector=spec.nodeName!%3D", "ADDED")
    started = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr) for command in commands]
    first = written.wait(1)
    before = cpu(options.dir)
    if any([process.wait() for process in started]):
        raise SystemExit("measure: a writer failed")
    last = bound.wait(options.pods)
    after = cpu(options.dir)
    print(json.dumps({"mode": options.mode, "pods": options.pods, "seconds": round(last - first, 3),
                      "podsPerSecond": round(options.pods / (last - first), 1),
                      "cpuSeconds": {name: round(after[name] - before[name], 2) for name in PROGRAMS}}))


if __name__ == "__main__":
    main()
