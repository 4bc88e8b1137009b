# SPDX-License-Identifier: Apache-2.0
"""What is played while faults happen: two pods with a claim each, a pod with two claims, a gang of three; and what remains of
the final objects when names, times and places are taken out, so that two runs can be compared."""

import checker

NAMESPACE = "faults"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
CLAIMS = f"/apis/resource.k8s.io/v1/namespaces/{NAMESPACE}/resourceclaims"
TEMPLATES = f"/apis/resource.k8s.io/v1/namespaces/{NAMESPACE}/resourceclaimtemplates"
GANGS = f"/apis/tangram.dev/v1alpha1/namespaces/{NAMESPACE}/gangs"
COLLECTIONS = [(PODS, "Pod"), (CLAIMS, "ResourceClaim"), (GANGS, "Gang")]

MANAGED = {"tangram.dev/managed": "true"}

TOLD = 40  # objects in a message

# unit -> (template, pods, claims a pod)
UNITS = {
    "single-1": ("one", 1, 1),
    "single-2": ("one", 1, 1),
    "pair": ("one", 1, 2),
    "trio": ("trio", 3, 1),
    "quartet": ("quartet", 4, 1),
    # Many of them (standby.py).
    **{f"couple-{i}": ("couple", 2, 1) for i in range(1, 1001)},
    # To leave little room (traces.py).
    **{f"fill-{i}": ("four" if i < 4 else "three", 1, 1) for i in range(1, 5)},
}


def template(name, count, member=None):
    devices = {"requests": [{"name": "gpus", "exactly": {
        "deviceClassName": "gpu.tangram.dev", "allocationMode": "ExactCount", "count": count}}]}
    if member:
        devices["config"] = [{"opaque": {"driver": "tangram.dev", "parameters": {
            "apiVersion": "tangram.dev/v1alpha1", "kind": "GangMember", **member}}}]
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
            "metadata": {"name": name, "labels": MANAGED},
            "spec": {"metadata": {"labels": MANAGED}, "spec": {"devices": devices}}}


def templates():
    return [template("one", 1), template("three", 3), template("four", 4), template("trio", 2, {"gang": "trio", "size": 3}),
            template("quartet", 1, {"gang": "quartet", "size": 4}),
            template("couple", 1, {"gangFrom": {"podLabel": checker.UNIT}, "size": 2})]


def pod(unit, number):
    name, size, claims = UNITS[unit]
    refs = [f"gpus-{i}" for i in range(claims)]
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": unit if size == 1 else f"{unit}-{number}",
                         "labels": {checker.UNIT: unit, checker.SIZE: str(size)}},
            "spec": {"restartPolicy": "Never", "schedulingGates": [{"name": checker.GATE}],
                     "containers": [{"name": "main", "image": "none",
                                     "resources": {"requests": {"cpu": "10m"}, "claims": [{"name": r} for r in refs]}}],
                     "resourceClaims": [{"name": r, "resourceClaimTemplateName": name} for r in refs]}}


def pods(units):
    return [pod(unit, number) for unit in units for number in range(1, UNITS[unit][1] + 1)]


def is_settled(state, units):
    """Everything that the controller has to do for these units is done."""
    wanted = pods(units)
    for one in wanted:
        there = state.get(("Pod", one["metadata"]["name"]))
        if there is None or checker.is_gated(there) or not there["spec"].get("nodeName"):
            return False
    gangs = [item for (kind, _), item in state.items() if kind == "Gang"]
    if len(gangs) != len([u for u in units if UNITS[u][1] > 1]):
        return False
    return all(g.get("status", {}).get("phase") == "Running" and not g["metadata"].get("finalizers") for g in gangs)


def describe(state):
    """What is there, short."""
    parts = []
    for (kind, name), item in sorted(state.items()):
        if kind == "Pod":
            parts.append(f"{name}{' gated' if checker.is_gated(item) else ''}"
                         f"{'' if item['spec'].get('nodeName') else ' unbound'}")
        elif kind == "ResourceClaim":
            parts.append(f"{name} {len(checker.devices(item))} devices")
        elif kind == "Gang":
            parts.append(f"gang {name} {item.get('status', {}).get('phase')}")
        else:
            parts.append(f"{kind} {name}")
    more = [f"and {len(parts) - TOLD} more"] if len(parts) > TOLD else []
    return ", ".join(parts[:TOLD] + more) or "nothing is left"


def _ours(labels_or_annotations):
    """Keys of ours; values are numbers of this run."""
    return sorted(k for k in (labels_or_annotations or {}) if "tangram.dev/" in k)


def normal_pod(item):
    node = item["spec"].get("nodeName")
    # A fence of a leader that took over, or took a plan back: whether there was one differs from run to run.
    annotations = [a for a in _ours(item["metadata"].get("annotations")) if a != "tangram.dev/epoch"]
    return {"gated": checker.is_gated(item), "bound": bool(node), "pinned to its node": checker.pin(item) == node,
            "annotations": annotations, "labels": _ours(item["metadata"].get("labels")),
            "finalizers": item["metadata"].get("finalizers", [])}


def normal_claim(item, state, names):
    status = item.get("status", {})
    allocation = status.get("allocation") or {}
    users = [user["name"] for user in status.get("reservedFor", [])]
    nodes = {state[("Pod", user)]["spec"].get("nodeName") for user in users if ("Pod", user) in state}
    results = allocation.get("devices", {}).get("results", [])
    return {"users": users, "annotations": _ours(item["metadata"].get("annotations")),
            "finalizers": item["metadata"].get("finalizers", []),
            "requests": sorted((r["request"], r["driver"]) for r in results),
            "on the node of its users": nodes == {r["pool"] for r in results} == {checker.claim_node(item)},
            "config": sorted((c.get("source", ""), c["opaque"]["driver"], c["opaque"]["parameters"].get("kind", ""))
                             for c in allocation.get("devices", {}).get("config", [])),
            "owner": names.get(item["metadata"]["name"])}


def normal_gang(item):
    status = item.get("status", {})
    plan = status.get("plan") or {}
    return {"spec": item["spec"], "phase": status.get("phase"), "plan": sorted(plan),
            "members": len(plan.get("members", [])), "holds": status.get("holds", []),
            "shortage": status.get("shortage", []), "explanation": status.get("explanation", ""),
            "conditions": sorted((c["type"], c["status"], c.get("reason", "")) for c in status.get("conditions", [])),
            "finalizers": item["metadata"].get("finalizers", []), "labels": _ours(item["metadata"].get("labels")),
            "owned": len(item["metadata"].get("ownerReferences", []))}


def normal(state):
    """name -> what is the same in every run. A claim is called by its pod and its place in it."""
    names = {}
    for (kind, name), item in state.items():
        if kind == "Pod":
            for status in item.get("status", {}).get("resourceClaimStatuses", []):
                names[status.get("resourceClaimName")] = f"{name}/{status['name']}"
    result = {}
    for (kind, name), item in state.items():
        if kind == "Pod":
            result[f"pod {name}"] = normal_pod(item)
        elif kind == "ResourceClaim":
            result[f"claim {names.get(name, name)}"] = normal_claim(item, state, names)
        else:
            result[f"gang {name}"] = normal_gang(item)
    return result


def differences(wanted, got):
    """Lines that say what is not as it was without faults."""
    lines = []
    for name in sorted(set(wanted) | set(got)):
        if name not in got:
            lines.append(f"{name} is missing")
        elif name not in wanted:
            lines.append(f"{name} is there")
        else:
            for field in wanted[name]:
                if wanted[name][field] != got[name][field]:
                    lines.append(f"{name}: {field} is {got[name][field]!r}, not {wanted[name][field]!r}")
    return lines
