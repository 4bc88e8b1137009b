# SPDX-License-Identifier: Apache-2.0
"""What must hold at every moment, whatever fails: read off the recorded states of pods, claims and gangs alone. Which pods
belong together is said by labels that the workload sets, not by anything that the controller writes.

I1  no two claims hold the same device
I2  when the gate of a pod goes, every claim of its unit is allocated, on the node its pod is pinned to, and reserved for it
I3  in the end: no unit is allocated in part; a unit with an un-gated pod is allocated
I5  an allocation is never replaced by another one: in between the claim is free
"""

GATE = "tangram.dev/gang"
UNIT = "faults.tangram.dev/unit"
SIZE = "faults.tangram.dev/size"


def devices(claim):
    allocation = claim.get("status", {}).get("allocation") or {}
    return [(r["driver"], r["pool"], r["device"]) for r in allocation.get("devices", {}).get("results", [])]


def is_gated(pod):
    return any(gate["name"] == GATE for gate in pod["spec"].get("schedulingGates", []))


def claim_names(pod):
    """The claims of a pod that exist: their names, and how many there must be."""
    names = [s.get("resourceClaimName") for s in pod.get("status", {}).get("resourceClaimStatuses", [])]
    return [name for name in names if name], len(pod["spec"].get("resourceClaims", []))


def node_of_terms(terms):
    """The one node that all terms name by matchFields, or None."""
    nodes = set()
    for term in terms or [{}]:
        named = [e["values"] for e in term.get("matchFields", []) if e["key"] == "metadata.name"]
        nodes.add(named[0][0] if len(named) == 1 and len(named[0]) == 1 else None)
    return nodes.pop() if len(nodes) == 1 else None


def pin(pod):
    required = pod["spec"].get("affinity", {}).get("nodeAffinity", {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution", {})
    return node_of_terms(required.get("nodeSelectorTerms"))


def claim_node(claim):
    selector = (claim.get("status", {}).get("allocation") or {}).get("nodeSelector", {})
    return node_of_terms(selector.get("nodeSelectorTerms"))


def unit(pod):
    return pod["metadata"].get("labels", {}).get(UNIT)


def members(state, name):
    return [pod for (kind, _), pod in state.items() if kind == "Pod" and unit(pod) == name]


class Checker:
    """Takes events one after the other and collects what is wrong."""

    def __init__(self, state=None):
        self.state = dict(state or {})
        self.violations = []

    def report(self, rule, version, text):
        self.violations.append(f"{rule} at version {version}: {text}")

    def take(self, version, what, item):
        name = item["kind"], item["metadata"]["name"]
        before = self.state.get(name)
        if what == "gone":
            self.state.pop(name, None)
        else:
            self.state[name] = item
        if item["kind"] == "ResourceClaim" and what == "set":
            self.check_claim(version, before, item)
        if item["kind"] == "Pod" and what == "set":
            same = before is not None and before["metadata"]["uid"] == item["metadata"]["uid"]
            if same and is_gated(before) and not is_gated(item):
                self.check_release(version, item)

    def check_claim(self, version, before, claim):
        name, held = claim["metadata"]["name"], devices(claim)
        for (kind, other), item in self.state.items():
            if kind == "ResourceClaim" and other != name:
                for device in set(held) & set(devices(item)):
                    self.report("I1", version, f"{'/'.join(device)} is held by {name} and by {other}")
        if len(set(held)) != len(held):
            self.report("I1", version, f"{name} holds a device twice")
        if before is not None and before["metadata"]["uid"] == claim["metadata"]["uid"]:
            old = devices(before)
            if old and held and old != held:
                self.report("I5", version, f"the allocation of {name} was replaced")

    def check_release(self, version, pod):
        """The gate of this pod has just gone."""
        name = pod["metadata"]["name"]
        together = members(self.state, unit(pod))
        size = int(pod["metadata"]["labels"].get(SIZE, "1"))
        if len(together) < size:
            self.report("I2", version, f"{name} was released with {len(together)} of {size} members there")
        for member in together:
            self.check_member(version, name, member)
        if pin(pod) is None:
            self.report("I2", version, f"{name} was released without being pinned to a node")

    def check_member(self, version, released, member):
        name, uid = member["metadata"]["name"], member["metadata"]["uid"]
        names, count = claim_names(member)
        claims = [self.state.get(("ResourceClaim", n)) for n in names]
        if len(names) != count or None in claims:
            self.report("I2", version, f"{released} was released while {name} lacked claims")
            return
        for claim in claims:
            what = f"{released} was released while claim {claim['metadata']['name']} of {name}"
            if not devices(claim):
                self.report("I2", version, f"{what} was not allocated")
            elif all(user.get("uid") != uid for user in claim["status"].get("reservedFor", [])):
                self.report("I2", version, f"{what} was not reserved for it")
            elif not is_gated(member) and claim_node(claim) != pin(member):
                self.report("I2", version, f"{what} is on {claim_node(claim)}, its pod on {pin(member)}")

    def finish(self):
        """The last state."""
        units = {}
        for (kind, _), pod in self.state.items():
            if kind == "Pod" and unit(pod):
                units.setdefault(unit(pod), []).append(pod)
        for name, pods in sorted(units.items()):
            claims = [self.state.get(("ResourceClaim", c)) for pod in pods for c in claim_names(pod)[0]]
            allocated = sum(1 for claim in claims if claim and devices(claim))
            if allocated not in (0, len(claims)):
                self.report("I3", "the end", f"{allocated} of {len(claims)} claims of {name} are allocated")
            if allocated < len(claims) and any(not is_gated(pod) for pod in pods):
                self.report("I3", "the end", f"{name} has an un-gated pod and is not allocated")
        return self.violations


def check(state, events):
    """The violations of a record: a state and the events after it."""
    checker = Checker(state)
    for version, what, item in events:
        checker.take(version, what, item)
    return checker.finish()
