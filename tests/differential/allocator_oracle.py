# SPDX-License-Identifier: Apache-2.0
"""Brute force over the rules of device allocation: is there any way to give the claims of a small case what they ask for? Written
from the rules, not from either implementation; tries every choice of alternatives, the preferred ones first, and for each every
choice of devices."""

import fractions
import itertools

from allocator_meaning import MEANING, Failure, entries, quantity

MAX_RESULTS = 32


class Error(Exception):
    """The whole call is refused, whatever is free."""


class Device:
    def __init__(self, pool, spec, device):
        self.pool, self.spec, self.device = pool, spec, device
        self.sets = pool.sets  # of counters; in 1.34 those of its slice
        self.driver, self.name = spec["driver"], device["name"]
        self.id = f"{spec['driver']}/{spec['pool']['name']}/{device['name']}"


class Pool:
    def __init__(self, here, elsewhere):
        self.here, self.elsewhere = here, elsewhere  # specs of slices
        self.incomplete = self.invalid = False
        self.sets = {}
        self.devices = []
        self.others = []


def term_matches(node, term):
    labels = node["metadata"].get("labels", {})
    wanted = [(labels.get(r["key"]), r) for r in term.get("matchExpressions", [])]
    wanted += [(node["metadata"]["name"] if r["key"] == "metadata.name" else None, r) for r in term.get("matchFields", [])]
    tests = {"In": lambda v, r: v in r["values"], "NotIn": lambda v, r: v not in r["values"],
             "Exists": lambda v, r: v is not None, "DoesNotExist": lambda v, r: v is None}
    return bool(wanted) and all(tests[r["operator"]](value, r) for value, r in wanted)


def reaches(node, where):
    if where.get("nodeName"):
        return where["nodeName"] == node["metadata"]["name"]
    if where.get("allNodes"):
        return True
    return any(term_matches(node, t) for t in where.get("nodeSelector", {}).get("nodeSelectorTerms", []))


def on_node(node, spec, device):
    return reaches(node, device if spec.get("perDeviceNodeSelection") else spec)


def concerns(node, spec):
    if spec.get("perDeviceNodeSelection"):
        return any(reaches(node, d) for d in spec.get("devices", []))
    return reaches(node, spec)


def parse(amounts):
    return {name: quantity(c["value"]) for name, c in amounts.items()}


class Oracle:
    def __init__(self, case, minor, admin_holds=False):
        """admin_holds: a device that a claim has with adminAccess is in use for the claims after it, as releases have it."""
        self.case, self.minor, self.admin_holds = case, minor, admin_holds
        self.on = set(case["features"])
        self.node = case["node"]
        self.classes = {c["metadata"]["name"]: c for c in case["deviceClasses"]}
        self.held = set(case["allocated"]["devices"])
        self.shares = {s["device"] for s in case["allocated"]["sharedDevices"]}
        self.consumed = {device: {k: quantity(v) for k, v in amounts.items()} for device, amounts in case["allocated"]["capacity"].items()}
        self.notes = set()  # what releases are known to disagree about
        self.pools = self.gather()

    # Pools

    def gather(self):
        partitions = "PartitionableDevices" in self.on
        groups = {}
        for s in self.case["resourceSlices"]:
            spec = s["spec"]
            groups.setdefault((spec["driver"], spec["pool"]["name"]), []).append(spec)
        pools = []
        for _, specs in sorted(groups.items()):
            here = [s for s in specs if (partitions or not (s.get("perDeviceNodeSelection") or s.get("sharedCounters") and self.minor > 34))
                    and concerns(self.node, s)]
            if not here:
                continue
            newest = max(s["pool"]["generation"] for s in here)
            here = [s for s in here if s["pool"]["generation"] == newest]
            elsewhere = [s for s in specs if s["pool"]["generation"] == newest and s not in here]
            # What slices elsewhere say is not asked. Where those here differ, no number is right.
            counts = {s["pool"]["resourceSliceCount"] for s in here}
            count = min(counts) if len(counts) == 1 else -1
            if count < 0:
                self.notes.add("counts differ")
            pool = Pool(here, elsewhere)
            if self.minor < 35:  # 1.34 looks at the slices for the node only
                pool.elsewhere, pool.incomplete = [], len(here) != count
            elif len(here) == count:
                pool.elsewhere = []
            elif any(s["pool"]["generation"] > newest for s in specs):
                continue
            elif len(here) + len(elsewhere) != count:
                pool.incomplete = True
            pools.append(pool)
            if not pool.incomplete or self.minor < 35:
                self.examine(pool, partitions)
        return pools

    def examine(self, pool, partitions):
        pool.devices = [Device(pool, s, d) for s in pool.here for d in s.get("devices", [])]
        pool.others = [Device(pool, s, d) for s in pool.elsewhere for d in s.get("devices", [])]
        names = [d.name for d in pool.devices]
        pool.invalid = len(set(names)) < len(names)
        if pool.invalid:
            self.notes.add("invalid pool")
        if not partitions:
            return
        if self.minor < 35:
            self.give_sets_of_slices(pool)
            return
        sets = [c for s in pool.here + pool.elsewhere for c in s.get("sharedCounters", [])]
        pool.sets = {c["name"]: parse(c["counters"]) for c in sets}
        known = {(c["name"], counter) for c in sets for counter in c["counters"]}
        used = {(u["counterSet"], counter) for d in pool.devices + pool.others for u in d.device.get("consumesCounters", [])
                for counter in u["counters"]}
        pool.invalid = pool.invalid or len(pool.sets) < len(sets) or not used <= known
        for d in pool.devices + pool.others:
            d.sets = pool.sets

    @staticmethod
    def give_sets_of_slices(pool):
        """In 1.34 a device consumes counters of its own slice; its API server keeps no other."""
        for spec in pool.here:
            sets = {c["name"]: parse(c["counters"]) for c in spec.get("sharedCounters", [])}
            for d in pool.devices:
                if d.spec is spec:
                    d.sets = sets

    # One device for one request

    def selectable(self, ask, device):
        if "DeviceBindingAndStatus" not in self.on and device.device.get("bindingConditions"):
            return False
        for selector in self.classes[ask["deviceClassName"]]["spec"].get("selectors", []) + ask.get("selectors", []):
            if not MEANING[selector["cel"]["expression"]](device.driver, device.device):
                return False
        return on_node(self.node, device.spec, device.device)

    def shareable(self, device):
        return "ConsumableCapacity" in self.on and bool(device.device.get("allowMultipleAllocations"))

    def amount(self, capacity, asked):
        """What one allocation consumes; None if the policy forbids it."""
        policy = capacity.get("requestPolicy")
        if asked is None:
            return quantity(policy["default"] if policy and "default" in policy else capacity["value"])
        asked = quantity(asked)
        if not policy:
            return asked
        if "validRange" in policy:
            return self.amount_in_range(policy["validRange"], asked)
        if "validValues" in policy:
            return min((v for v in map(quantity, policy["validValues"]) if v >= asked), default=None)
        return asked

    def amount_in_range(self, of, asked):
        least, most, step = (quantity(of[k]) if k in of else None for k in ("min", "max", "step"))
        result = max(asked, least)
        if step is not None and asked > least:
            if "FractionalCapacityRange" not in self.on:  # whole numbers, rounded up
                least, step, asked = (fractions.Fraction(-(-v.numerator // v.denominator)) for v in (least, step, asked))
            result = least + -(-(asked - least) // step) * step
        return result if most is None or result <= most else None

    def amounts(self, ask, device):
        """Capacity name -> what is consumed of it, or None if the device cannot serve the request at all."""
        asked = ask.get("capacity", {}).get("requests", {})
        have = device.device.get("capacity", {})
        if not set(asked) <= set(have):
            return None
        out = {name: self.amount(c, asked.get(name)) for name, c in have.items()}
        return None if any(a is None for a in out.values()) else out

    def room(self, device, amounts, extra):
        return all(a + extra.get(name, 0) <= quantity(device.device["capacity"][name]["value"]) for name, a in amounts.items())

    def tolerated(self, ask, taint):
        for t in ask.get("tolerations", []):
            if t.get("effect") and t["effect"] != taint["effect"] or t.get("key") and t["key"] != taint["key"]:
                continue
            if t.get("operator", "Equal") == "Exists" or t.get("value", "") == taint.get("value", ""):
                return True
        return False

    def usable(self, ask, device):
        """Apart from what else is allocated in this call."""
        admin = ask.get("adminAccess", False)
        if not admin and device.id in self.held:
            return False
        if not admin and not self.shareable(device) and device.id in self.shares:
            self.notes.add("exclusive with shares")
            return False
        if device.device.get("consumesCounters") and "PartitionableDevices" not in self.on:
            return False
        if "DeviceTaints" not in self.on:
            return True
        return all(t["effect"] == "None" and self.minor > 34 or self.tolerated(ask, t) for t in device.device.get("taints", []))

    def all_devices(self, ask):
        """What a request for all devices has to get; Failure and Error end the call."""
        out = []
        for pool in self.pools:
            if pool.incomplete or pool.invalid:
                raise Error("All of a pool that is not known")
        for pool in self.pools:
            for device in pool.devices:
                if not self.selectable(ask, device):
                    continue
                if "ConsumableCapacity" in self.on:
                    amounts = self.amounts(ask, device)
                    left_out = self.minor < 37
                    if amounts is None or not self.room(device, amounts, self.consumed.get(device.id, {}) if left_out else {}):
                        continue
                out.append(device)
        return out

    def candidates(self, ask):
        out = []
        for pool in self.pools:
            for device in [] if pool.incomplete and self.minor > 34 or pool.invalid else pool.devices:
                try:
                    match = self.selectable(ask, device)
                except Failure:
                    # Which devices are looked at before a result is found is nobody's promise.
                    self.notes.add("failing selector")
                    continue
                if match and self.usable(ask, device) and (
                        "ConsumableCapacity" not in self.on or self.fits_alone(ask, device)):
                    out.append(device)
        return out

    def fits_alone(self, ask, device):
        amounts = self.amounts(ask, device)
        return amounts is not None and self.room(device, amounts, self.consumed.get(device.id, {}))

    # The whole case

    def prepare(self, claim, request):
        """[(name, ask, devices that it may have, all)] of the alternatives, after the checks that end the call."""
        asks = [(request["name"], request["exactly"])] if "exactly" in request else [
            (f"{request['name']}/{a['name']}", a) for a in request["firstAvailable"]]
        if "firstAvailable" in request and "PrioritizedList" not in self.on:
            raise Error("firstAvailable")
        if claim["spec"]["devices"].get("constraints") and any(ask.get("allocationMode") == "All" for _, ask in asks):
            self.notes.add("constraint over all")
        out = []
        for name, ask in asks:
            if "capacity" in ask and "ConsumableCapacity" not in self.on:
                self.notes.add("capacity switched off")
                raise Error("capacity")
            if "adminAccess" in ask and "AdminAccess" not in self.on:
                raise Error("adminAccess")
            if ask["deviceClassName"] not in self.classes:
                raise Error("class")
        for name, ask in asks:
            every = ask.get("allocationMode") == "All"
            try:
                devices = self.all_devices(ask) if every else self.candidates(ask)
            except Failure:
                raise Error("selector") from None
            out.append((name, ask, devices, len(devices) if every else ask.get("count", 1), every))
        return out

    def solve(self):
        """(outcome, the best that can be had of each request with alternatives, the first request first): allocated, unallocatable
        or error."""
        if "ConsumableCapacity" not in self.on and any(
                "distinctAttribute" in c for claim in self.case["claims"] for c in claim["spec"]["devices"].get("constraints", [])):
            self.notes.add("distinctAttribute switched off")
        try:
            self.plan = []
            for number, claim in enumerate(self.case["claims"]):
                requests = [self.prepare(claim, r) for r in claim["spec"]["devices"]["requests"]]
                if sum(min(count for *_, count, _ in alternatives) for alternatives in requests) > MAX_RESULTS:
                    raise Error("limit")
                self.plan += [(number, "firstAvailable" in r, alternatives)
                              for r, alternatives in zip(claim["spec"]["devices"]["requests"], requests)]
        except Error:
            return "error", None
        for ranks in itertools.product(*(range(len(alternatives)) for *_, alternatives in self.plan)):
            self.ranks, self.picks = ranks, []
            if self.request(0):
                return "allocated", [rank for rank, (_, chosen, _) in zip(ranks, self.plan) if chosen]
        return ("error" if any(p.invalid for p in self.pools) else "unallocatable"), None

    def request(self, at):
        if at == len(self.plan):
            return True
        number, _, alternatives = self.plan[at]
        name, ask, devices, count, every = alternatives[self.ranks[at]]
        if every and not devices or self.taken(number) + count > MAX_RESULTS or len(devices) < count and self.minor > 35:
            return False
        return self.device(at, (number, at, name, ask, every), devices, count, 0)

    def taken(self, number):
        return sum(pick[0] == number for pick, _ in self.picks)

    def device(self, at, pick, devices, count, start):
        if count == 0:
            return self.request(at + 1)
        if pick[4]:
            return self.add(at, pick, devices, count, start, devices[start])
        return any(self.add(at, pick, devices, count, i, devices[i]) for i in range(start, len(devices)))

    def add(self, at, pick, devices, count, i, device):
        if pick[4] and not self.usable(pick[3], device):
            return False
        self.picks.append((pick, device))
        # Up to 1.35 one request may have several shares of a device.
        again = self.minor <= 35 and self.shareable(device) and not pick[4]
        found = self.allowed() and self.device(at, pick, devices, count - 1, i + (0 if again else 1))
        if not found:
            self.picks.pop()
        return found

    def allowed(self):
        """Does the last pick go with the others?"""
        return self.free() and self.enough_capacity() and self.enough_counters() and self.constraints_hold()

    def free(self):
        (number, _, _, ask, _), device = self.picks[-1]
        if self.shareable(device):
            return True
        for (other, _, _, its, _), has in self.picks[:-1]:
            if has.id != device.id:
                continue
            if other == number or not ask.get("adminAccess") and not its.get("adminAccess"):
                return False
            if not ask.get("adminAccess"):
                self.notes.add("after adminAccess")
                if self.admin_holds:
                    return False
        return True

    def enough_capacity(self):
        _, device = self.picks[-1]
        if not self.shareable(device):
            # In 1.37 a request for all devices waits for one that is used up, so this was not asked yet.
            return "ConsumableCapacity" not in self.on or self.fits_alone(self.picks[-1][0][3], device)
        total = dict(self.consumed.get(device.id, {}))
        for (_, _, _, ask, _), has in self.picks:
            for name, a in (self.amounts(ask, device) if has.id == device.id else {}).items():
                total[name] = total.get(name, 0) + a
        return all(total.get(name, 0) <= quantity(c["value"]) for name, c in device.device.get("capacity", {}).items())

    def charges(self, at):
        """Does the pick consume counters?"""
        device = self.picks[at][1]
        if not self.shareable(device):
            return True
        if device.id in self.shares or device.id in self.consumed:
            return False
        return all(has.id != device.id for _, has in self.picks[:at])

    def enough_counters(self):
        device = self.picks[-1][1]
        if not device.device.get("consumesCounters") or not self.charges(len(self.picks) - 1):
            return True
        left = {name: dict(counters) for name, counters in device.sets.items()}
        using = [d for d in device.pool.devices + device.pool.others
                 if d.sets is device.sets and (d.id in self.held or d.id in self.shares or d.id in self.consumed)]
        using += [d for i, (_, d) in enumerate(self.picks) if d.sets is device.sets and self.charges(i)]
        for d in using:
            for use in d.device.get("consumesCounters", []):
                for counter, value in parse(use["counters"]).items():
                    left[use["counterSet"]][counter] -= value
        return all(value >= 0 for counters in left.values() for value in counters.values())

    def values(self, device, attribute):
        """(kind, values), None without any."""
        found = entries(device.driver, device.device.get("attributes", {})).get(attribute)
        if not found:
            return None
        kind, value = next(iter(found.items()))
        if isinstance(value, list):
            return (kind.rstrip("s"), set(value)) if "ListTypeAttributes" in self.on else None
        return kind, {value}

    def constraints_hold(self):
        number = self.picks[-1][0][0]
        return all(self.holds(number, c) for c in self.case["claims"][number]["spec"]["devices"].get("constraints", []))

    def holds(self, number, constraint):
        names = constraint.get("requests", [])
        match = "matchAttribute" in constraint
        attribute = constraint["matchAttribute" if match else "distinctAttribute"]
        got = [self.values(device, attribute) for (claim, _, name, _, _), device in self.picks
               if claim == number and (not names or name in names or name.split("/")[0] in names)]
        if any(v is None for v in got):
            return False
        kinds = {kind for kind, _ in got}
        if match:
            return len(kinds) <= 1 and (not got or bool(set.intersection(*(v for _, v in got))))
        return all(a[0] != b[0] or not a[1] & b[1] for i, a in enumerate(got) for b in got[:i])
