# SPDX-License-Identifier: Apache-2.0
"""The invariants of the design, read off the objects of one moment.

I1  no device is held twice; of no counter and no capacity more is held than the newest complete pool offers
I2  a pod that is on a node has its claims, on that node and for itself; when a member of a gang has lost its gate, the
    claims of all members are allocated
I3  (settled) a gang, and a pod, has all of its claims or none; nobody waits with an allocation; nothing is left over
I4  what Tangram has allocated is of managed classes

Who belongs to which gang is read off the members' own declarations, not off what the controller has written.
"""

from fractions import Fraction

DRIVER = "tangram.dev"
GATE = "tangram.dev/gang"
MANAGED = "tangram.dev/controller"
FINALIZERS = {"ResourceClaim": "resource.kubernetes.io/delete-protection", "Gang": "tangram.dev/plan"}

BINARY = {"Ki": 2 ** 10, "Mi": 2 ** 20, "Gi": 2 ** 30, "Ti": 2 ** 40, "Pi": 2 ** 50, "Ei": 2 ** 60}
DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def quantity(text):
    """A resource.Quantity, exactly."""
    text = str(text)
    if text[-2:] in BINARY:
        return Fraction(text[:-2]) * BINARY[text[-2:]]
    if text[-1:] in DECIMAL:
        return Fraction(text[:-1]) * Fraction(10) ** DECIMAL[text[-1]]
    return Fraction(text)


def key(item):
    return item["metadata"].get("namespace", ""), item["metadata"]["name"]


def name(item):
    return "/".join(part for part in key(item) if part)


def allocation(claim):
    return claim.get("status", {}).get("allocation")


def results(claim):
    """What the claim holds; adminAccess holds nothing."""
    found = (allocation(claim) or {}).get("devices", {}).get("results", [])
    return [r for r in found if not r.get("adminAccess")]


def marker(claim):
    """The Plan entry by which an allocation is ours, or None."""
    for entry in (allocation(claim) or {}).get("devices", {}).get("config", []):
        opaque = entry.get("opaque", {})
        if opaque.get("driver") == DRIVER and opaque.get("parameters", {}).get("kind") == "Plan":
            return opaque["parameters"]
    return None


def claim_node(claim):
    terms = ((allocation(claim) or {}).get("nodeSelector") or {}).get("nodeSelectorTerms", [])
    fields = [f for term in terms for f in term.get("matchFields", []) if f["key"] == "metadata.name"]
    return fields[0]["values"][0] if len(terms) == 1 and len(fields) == 1 and len(fields[0]["values"]) == 1 else None


def classes_of(claim):
    for request in claim["spec"].get("devices", {}).get("requests", []):
        for one in [request.get("exactly")] + request.get("firstAvailable", []):
            if one:
                yield one["deviceClassName"]


def is_gated(pod):
    return any(gate["name"] == GATE for gate in pod["spec"].get("schedulingGates", []))


def is_live(pod):
    return (pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")
            and "deletionTimestamp" not in pod["metadata"])


def reserved_for(claim):
    return {user.get("uid"): user for user in claim.get("status", {}).get("reservedFor", [])}


class Checker:
    def __init__(self, objects, settled):
        self.of = {}
        for item in objects:
            self.of.setdefault(item["kind"], {})[key(item)] = item
        self.settled = settled
        self.found = []

    def all(self, kind):
        return [item for _, item in sorted(self.of.get(kind, {}).items())]

    def report(self, rule, text):
        self.found.append(f"{rule}: {text}")

    def managed(self, claim):
        """Does the claim ask for a class with our label, or has Tangram allocated it?"""
        classes = self.of.get("DeviceClass", {})
        return marker(claim) is not None or any(
            MANAGED in classes.get(("", n), {}).get("metadata", {}).get("labels", {}) for n in classes_of(claim))

    def claims(self, pod):
        """The claims of a pod that exist, and how many of them it names in all."""
        names = {s["name"]: s.get("resourceClaimName") for s in pod.get("status", {}).get("resourceClaimStatuses", [])}
        found, named = [], 0
        for entry in pod["spec"].get("resourceClaims", []):
            wanted = entry.get("resourceClaimName") or names.get(entry["name"])
            if entry["name"] in names and wanted is None:
                continue  # the claim controller says that this entry needs none
            named += 1
            claim = self.of.get("ResourceClaim", {}).get((pod["metadata"].get("namespace", ""), wanted))
            if claim:
                found.append(claim)
        return found, named

    def gang(self, pod):
        """The gang that the pod declares, or None."""
        for claim in self.claims(pod)[0]:
            for entry in claim["spec"].get("devices", {}).get("config", []):
                opaque = entry.get("opaque", {})
                if opaque.get("driver") != DRIVER:
                    continue
                parameters = opaque.get("parameters", {})
                if "gang" in parameters:
                    return parameters["gang"]
                label = parameters.get("gangFrom", {}).get("podLabel")
                return label and pod["metadata"].get("labels", {}).get(label)
        return pod["metadata"].get("labels", {}).get(GATE)

    # -- I1 --

    def check_devices(self):
        holders = {}
        for claim in self.all("ResourceClaim"):
            for r in results(claim):
                holders.setdefault((r["driver"], r["pool"], r["device"]), []).append((r.get("shareID"), claim))
        for device, held in sorted(holders.items()):
            shares = [share for share, _ in held]
            if len(held) > 1 and (None in shares or len(set(shares)) != len(shares)):
                self.report("I1", f"{'/'.join(device)} is held by {' and '.join(name(c) for _, c in held)}")
        return holders

    def newest_pools(self):
        pools = {}
        for item in self.all("ResourceSlice"):
            pool = item["spec"]["pool"]
            pools.setdefault((item["spec"]["driver"], pool["name"]), {}).setdefault(
                pool.get("generation", 0), []).append(item["spec"])
        for pool, generations in sorted(pools.items()):
            slices = generations[max(generations)]
            if all(s["pool"]["resourceSliceCount"] == len(slices) for s in slices):
                yield pool, slices

    def check_pools(self, holders):
        for (driver, pool), slices in self.newest_pools():
            offered = {(s["name"], counter): quantity(value["value"]) for part in slices
                       for s in part.get("sharedCounters", []) for counter, value in s["counters"].items()}
            taken = {}
            for device in (d for part in slices for d in part.get("devices", [])):
                held = holders.get((driver, pool, device["name"]), [])
                self.check_capacity(driver, pool, device, held)
                for consumed in device.get("consumesCounters", []) if held else []:
                    for counter, value in consumed["counters"].items():
                        at = consumed["counterSet"], counter
                        taken[at] = taken.get(at, 0) + quantity(value["value"])
            for at, value in sorted(taken.items()):
                if value > offered.get(at, 0):
                    self.report("I1", f"counter {'/'.join(at)} of pool {driver}/{pool} is exceeded: {value} of "
                                      f"{offered.get(at, 0)}")

    def check_capacity(self, driver, pool, device, held):
        taken = {}
        for _, claim in held:
            for r in results(claim):
                if (r["driver"], r["pool"], r["device"]) == (driver, pool, device["name"]):
                    for what, value in r.get("consumedCapacity", {}).items():
                        taken[what] = taken.get(what, 0) + quantity(value)
        for what, value in sorted(taken.items()):
            if value > quantity(device.get("capacity", {}).get(what, {}).get("value", 0)):
                self.report("I1", f"capacity {what} of {driver}/{pool}/{device['name']} is exceeded")

    # -- I2 --

    def check_pod(self, pod):
        node = pod["spec"].get("nodeName")
        claims = [c for c in self.claims(pod)[0] if self.managed(c)]
        if node and is_live(pod):
            for claim in claims:
                if not allocation(claim):
                    self.report("I2", f"pod {name(pod)} is on a node, and claim {name(claim)} is not allocated")
                elif pod["metadata"]["uid"] not in reserved_for(claim):
                    self.report("I2", f"pod {name(pod)} is on a node, and claim {name(claim)} is not reserved for it")
                elif claim_node(claim) not in (None, node):
                    self.report("I2", f"pod {name(pod)} is on {node}, and claim {name(claim)} on {claim_node(claim)}")
        if self.settled and is_gated(pod) and is_live(pod):
            for claim in claims:
                if pod["metadata"]["uid"] in reserved_for(claim):
                    self.report("I3", f"pod {name(pod)} waits, and claim {name(claim)} is reserved for it")

    def check_gangs(self):
        gangs = {}
        for pod in self.all("Pod"):
            gang = self.gang(pod)
            if gang and is_live(pod):
                gangs.setdefault((pod["metadata"].get("namespace", ""), gang), []).append(pod)
        for (namespace, gang), pods in sorted(gangs.items()):
            released = [pod for pod in pods if not is_gated(pod)]
            claims = [c for pod in pods for c in self.claims(pod)[0] if self.managed(c)]
            # Members beyond the size, and replacements of lost ones, wait by right: those of the released are counted.
            for pod in released:
                for claim in self.claims(pod)[0]:
                    if self.managed(claim) and not allocation(claim):
                        self.report("I2", f"gang {namespace}/{gang}: pod {name(pod)} was released, and claim "
                                          f"{name(claim)} is not allocated")
            allocated = [c for c in claims if allocation(c)]
            if self.settled and not released and allocated and len(allocated) != len(claims):
                self.report("I3", f"gang {namespace}/{gang}: {len(allocated)} of {len(claims)} claims are allocated, and "
                                  "no member was released")

    # -- I3: left over --

    def check_leftovers(self):
        pods = {pod["metadata"]["uid"] for pod in self.all("Pod")}
        for claim in self.all("ResourceClaim"):
            if not self.managed(claim):
                continue
            users = reserved_for(claim)
            for uid, user in sorted(users.items()):
                if user.get("resource") == "pods" and uid not in pods:
                    self.report("I3", f"claim {name(claim)} is reserved for pod {user.get('name')}, which is gone")
            if allocation(claim) and not users:
                self.report("I3", f"claim {name(claim)} is allocated and reserved for nobody")
        for kind, finalizer in FINALIZERS.items():
            for item in self.all(kind):
                ours = kind == "Gang" or (self.managed(item) and not reserved_for(item))
                if "deletionTimestamp" in item["metadata"] and ours and finalizer in item["metadata"].get("finalizers", []):
                    self.report("I3", f"{kind} {name(item)} was deleted, and finalizer {finalizer} keeps it")

    # -- I4 --

    def check_classes(self):
        classes = self.of.get("DeviceClass", {})
        for claim in self.all("ResourceClaim"):
            for wanted in classes_of(claim) if marker(claim) else []:
                labels = classes.get(("", wanted), {}).get("metadata", {}).get("labels", {})
                if ("", wanted) in classes and MANAGED not in labels:
                    self.report("I4", f"claim {name(claim)} was allocated by Tangram, and class {wanted} is not managed")

    def check(self):
        self.check_pools(self.check_devices())
        for pod in self.all("Pod"):
            self.check_pod(pod)
        self.check_gangs()
        if self.settled:
            self.check_leftovers()
        self.check_classes()
        return self.found


def check(objects, settled=False):
    """What is wrong, one line each, in a stable order."""
    return Checker(objects, settled).check()
