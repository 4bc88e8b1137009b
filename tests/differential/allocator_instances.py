# SPDX-License-Identifier: Apache-2.0
"""Small random allocator cases (format dra-alloc-case/1) from a seed: one node, at most six devices that it can reach, at most
three requests, every feature mixed with every other. Each case is made from (seed, number) alone."""

import random

import allocator_meaning as meaning

FEATURES = {
    "1.34": ["AdminAccess", "PrioritizedList", "PartitionableDevices", "DeviceTaints", "DeviceBindingAndStatus", "ConsumableCapacity"],
    "1.35": ["AdminAccess", "PrioritizedList", "PartitionableDevices", "DeviceTaints", "DeviceBindingAndStatus", "ConsumableCapacity"],
    "1.36": ["AdminAccess", "PrioritizedList", "PartitionableDevices", "DeviceTaints", "DeviceBindingAndStatus", "ConsumableCapacity",
             "ListTypeAttributes"],
    "1.37": ["AdminAccess", "PrioritizedList", "PartitionableDevices", "DeviceTaints", "DeviceBindingAndStatus", "ConsumableCapacity",
             "ListTypeAttributes", "FractionalCapacityRange"],
}
NODE = {"metadata": {"name": "n1", "labels": {"zone": "z1", "rack": "r1"}}}
MAX_DEVICES = 6
MAX_REQUESTS = 3


def requirement(key, operator, values):
    return {"key": key, "operator": operator, **({"values": values} if values else {})}


def selector(*requirements):
    return {"nodeSelectorTerms": [{"matchExpressions": list(requirements)}]}


HERE = [selector(requirement("zone", "In", ["z1", "z2"])), selector(requirement("rack", "Exists", [])),
        selector(requirement("zone", "In", ["z1", "z2"]), requirement("rack", "NotIn", ["r7"]))]
ELSEWHERE = [selector(requirement("zone", "In", ["z2"])), selector(requirement("gpu", "Exists", []))]
TAINTS = [{"key": "broken", "value": "yes", "effect": "NoSchedule"}, {"key": "hot", "effect": "NoExecute"},
          {"key": "old", "value": "a", "effect": "None"}, {"key": "broken", "value": "no", "effect": "NoSchedule"}]
TOLERATIONS = [{"key": "broken", "operator": "Exists"}, {"operator": "Exists", "effect": "NoSchedule"}, {"operator": "Exists"},
               {"key": "broken", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}, {"key": "hot", "operator": "Equal"}]
POLICIES = [{"default": "1", "validRange": {"min": "1"}}, {"default": "2", "validRange": {"min": "2", "step": "2", "max": "6"}},
            {"default": "0", "validRange": {"min": "0", "max": "4"}}, {"default": "2", "validValues": ["2", "4"]},
            {"default": "1"}]
FRACTIONS = {"default": "500m", "validRange": {"min": "500m", "step": "250m"}}


class Maker:
    """One case. What may occur depends on the features that it has."""

    def __init__(self, seed, number, release):
        self.random = random.Random(f"{seed}/{number}/{release}")
        self.release = release
        every = FEATURES[release]
        self.features = sorted(every if self.chance(70) else self.random.sample(every, self.random.randint(0, len(every))))
        if release == "1.34" and self.chance(60):
            # Its implementation of capacity is known for so much that a case with it says little else.
            self.features = [f for f in self.features if f != "ConsumableCapacity"]
        self.failing = self.chance(4)
        self.devices = 0
        self.drivers = set()
        self.shares = 0
        self.name = f"{release}-{seed}-{number}"

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def one(self, choices):
        return self.random.choice(choices)

    def has(self, feature):
        # Now and then a field is used though its feature is off.
        return feature in self.features or self.chance(1)

    # Devices

    def attributes(self, driver):
        out = {}
        if self.chance(92):
            out[self.one(["k", f"{driver}/k"])] = {"int": self.random.randint(0, 2)}
        if self.chance(70):
            out["s"] = {"string": self.one("xy")}
        if self.chance(25):
            out["x.io/v"] = {"version": self.one(["1.0.0", "2.0.0"])}
        if self.chance(25):
            out["b"] = {"bool": self.chance(50)}
        if "ListTypeAttributes" in self.features and self.chance(40):
            out["l"] = {"ints": sorted(self.random.sample([1, 2, 3], self.random.randint(1, 2)))}
            if self.chance(30):
                out["l"] = {"int": self.random.randint(1, 3)}
        return out

    def policy(self):
        if "FractionalCapacityRange" in self.features and self.chance(15):
            return FRACTIONS
        return self.one(POLICIES)

    def device(self, name, driver, sets):
        out = {"name": name, "attributes": self.attributes(driver)}
        shared = self.has("ConsumableCapacity") and self.chance(35)
        if shared:
            out["allowMultipleAllocations"] = True
        if self.chance(60 if shared else 25):
            out["capacity"] = {"m": {"value": str(self.random.randint(2, 8))}}
            if shared and self.chance(60):
                out["capacity"]["m"]["requestPolicy"] = self.policy()
        if sets and self.chance(70):
            taken = self.random.sample(sorted(sets), self.random.randint(1, len(sets)))
            out["consumesCounters"] = [{"counterSet": s, "counters": {
                c: {"value": str(self.random.randint(0, 3))} for c in sorted(sets[s]) if self.chance(80)} or
                {sorted(sets[s])[0]: {"value": "1"}}} for s in taken]
        if self.has("DeviceTaints") and self.chance(18):
            out["taints"] = self.random.sample(TAINTS, self.random.randint(1, 2))
        if self.has("DeviceBindingAndStatus") and self.chance(12):
            out["bindingConditions"], out["bindingFailureConditions"] = ["Ready"], ["Failed"]
            if self.chance(40):
                out["bindsToNode"] = True
        return out

    # Slices and pools

    def place(self):
        kind = self.random.random() * 100
        if kind < 50:
            return {"nodeName": "n1"}
        if kind < 65:
            return {"allNodes": True}
        if kind < 82:
            return {"nodeSelector": self.one(HERE)}
        if kind < 88:
            return {"nodeSelector": self.one(ELSEWHERE)}
        if kind < 93:
            return {"nodeName": "n2"}
        return {"perDeviceNodeSelection": True} if self.has("PartitionableDevices") else {"nodeName": "n1"}

    def device_place(self):
        return self.one([{"nodeName": "n1"}, {"nodeName": "n1"}, {"nodeName": "n2"}, {"allNodes": True}, {"nodeSelector": self.one(HERE)},
                         {"nodeSelector": self.one(ELSEWHERE)}])

    def counter_sets(self):
        return {f"set{i}": {c: self.random.randint(2, 6) for c in ("g", "h")[:self.random.randint(1, 2)]}
                for i in range(self.random.randint(1, 2))}

    def pool(self, number, driver, name):
        sets = self.counter_sets() if self.has("PartitionableDevices") and self.chance(45) else {}
        slices = []
        for i in range(self.one([1, 1, 1, 2])):
            where = self.place()
            count = min(self.random.randint(*self.one([(2, 4), (2, 4), (1, 3), (0, 1)])), MAX_DEVICES - self.devices)
            self.devices += count
            devices = [self.device(f"a{i}{j}", driver, sets) for j in range(count)]
            if "perDeviceNodeSelection" in where:
                for d in devices:
                    d.update(self.device_place())
            slices.append({**where, "devices": devices})
        if sets and self.release == "1.34":
            for s in slices:
                s["sharedCounters"] = self.shared(sets)
        elif sets:
            slices.append({**self.one([{"nodeName": "n1"}, {"allNodes": True}, {"nodeName": "n2"}]),
                           "sharedCounters": self.shared(sets)})
        self.spoil(slices, sets)
        count = len(slices) + (1 if self.chance(5) else 0)
        return [self.slice(f"s{number}{i}", driver, name, 5, count, s) for i, s in enumerate(slices)]

    @staticmethod
    def shared(sets):
        return [{"name": s, "counters": {c: {"value": str(v)} for c, v in counters.items()}} for s, counters in sets.items()]

    def spoil(self, slices, sets):
        """A pool that contradicts itself, now and then."""
        devices = [d for s in slices for d in s.get("devices", [])]
        if len(devices) > 1 and self.chance(3):
            devices[-1]["name"] = devices[0]["name"]
        # The server of 1.34 keeps no counters that are not in the slice.
        if sets and devices and self.release != "1.34" and self.chance(3):
            devices[0]["consumesCounters"] = [{"counterSet": self.one(["set0", "set7"]), "counters": {self.one("gz"): {"value": "1"}}}]

    @staticmethod
    def slice(name, driver, pool, generation, count, content):
        return {"metadata": {"name": name}, "spec": {
            "driver": driver, "pool": {"name": pool, "generation": generation, "resourceSliceCount": count}, **content}}

    def stale(self, slices):
        """Slices of other generations."""
        out = []
        for s in slices:
            spec = s["spec"]
            if not self.chance(5):
                continue
            older = self.chance(60)
            where = {"nodeName": self.one(["n1", "n2"])}
            out.append(self.slice(s["metadata"]["name"] + "x", spec["driver"], spec["pool"]["name"], 4 if older else 6,
                                  self.random.randint(1, 2), {**where, "devices": [{"name": "z" + s["metadata"]["name"]}]}))
        return out

    # Claims

    def selectors(self, driver):
        texts = sorted(meaning.MEANING)
        if not self.failing:
            texts = [t for t in texts if t not in meaning.FAILING]
        if not self.has("ConsumableCapacity"):
            texts = [t for t in texts if "allowMultiple" not in t]
        if driver is not None:
            texts = [t for t in texts if f'"{driver}"' in t or "device.a" not in t]
        texts = [t for t in texts if t != "false" or self.chance(10)]
        return [{"cel": {"expression": t}} for t in self.random.sample(texts, self.one([0, 0, 0, 0, 1, 2]))]

    def classes(self):
        out = []
        for name in ("c1", "c2", "c3"):
            spec = {}
            if name != "c3":
                text = meaning.driver_is("d" + name[1])[0]
                spec["selectors"] = [{"cel": {"expression": text}}]
            if self.chance(15):
                spec["config"] = [{"opaque": {"driver": "d1", "parameters": {"of": name}}}]
            out.append({"metadata": {"name": name}, "spec": spec})
        return out

    def exact(self, sub):
        name = self.one(["c1", "c1", "c1", "c3", "c3"] + ["c2"] * (2 if "d2" in self.drivers or self.chance(10) else 0))
        out = {"deviceClassName": name}
        if self.chance(0.5):
            out["deviceClassName"] = "missing"
        selectors = self.selectors({"c1": "d1", "c2": "d2", "c3": None}[name])
        if selectors:
            out["selectors"] = selectors
        if self.chance(14):
            out["allocationMode"] = "All"
        else:
            out["allocationMode"], out["count"] = "ExactCount", self.one([1, 1, 1, 1, 2, 2, 3] + [40] * self.chance(3))
        if self.has("DeviceTaints") and self.chance(20):
            out["tolerations"] = [self.one(TOLERATIONS)]
        if self.has("ConsumableCapacity") and self.chance(25):
            amount = self.one(["1", "2", "3", "4", "5"] + (["600m"] if "FractionalCapacityRange" in self.features else []))
            out["capacity"] = {"requests": {"m" if self.chance(95) else "other": amount}}
        if not sub and self.has("AdminAccess") and self.chance(9):
            out["adminAccess"] = self.chance(90)
        return out

    def request(self, name):
        if self.has("PrioritizedList") and self.chance(28):
            return {"name": name, "firstAvailable": [{"name": f"s{i}", **self.exact(True)} for i in range(self.random.randint(1, 3))]}
        return {"name": name, "exactly": self.exact(False)}

    def names_of(self, requests):
        out = []
        for r in requests:
            out.append(r["name"])
            out += [f"{r['name']}/{s['name']}" for s in r.get("firstAvailable", [])]
        return out

    def constraint(self, requests):
        kinds = ["matchAttribute", "matchAttribute"] + ["distinctAttribute"] * self.has("ConsumableCapacity")
        names = ["d1/k", "d1/k", "d1/k", "d2/k", "d1/s", "d1/s", "x.io/v", "d1/b"]
        out = {self.one(kinds): self.one(names + ["d1/l"] * 3 * ("ListTypeAttributes" in self.features))}
        if self.chance(50):
            names = self.names_of(requests)
            out["requests"] = self.random.sample(names, self.random.randint(1, min(2, len(names))))
        return out

    def claim(self, number, n):
        requests = [self.request(f"r{i}") for i in range(n)]
        devices = {"requests": requests}
        constraints = [self.constraint(requests) for _ in range(self.one([0, 0, 0, 1, 1, 2]))]
        if constraints:
            devices["constraints"] = constraints
        if self.chance(12):
            config = {"opaque": {"driver": "d1", "parameters": {"of": number}}}
            if self.chance(60):
                config["requests"] = self.random.sample(self.names_of(requests), 1)
            devices["config"] = [config]
        return {"metadata": {"name": f"claim-{number}"}, "spec": {"devices": devices}}

    # What others have

    def allocated(self, slices):
        devices, shares, consumed = [], [], {}
        seen = set()
        for s in slices:
            for d in s["spec"].get("devices", []):
                name = f"{s['spec']['driver']}/{s['spec']['pool']['name']}/{d['name']}"
                if name in seen or not self.chance(14):
                    continue
                seen.add(name)
                if not d.get("allowMultipleAllocations") or "ConsumableCapacity" not in self.features or self.chance(5):
                    devices.append(name)
                    continue
                self.shares += 1
                shares.append({"device": name, "shareID": f"00000000-0000-4000-8000-{self.shares:012d}"})
                if "capacity" in d:
                    consumed[name] = {"m": str(self.random.randint(0, 4))}
        return {"devices": devices, "sharedDevices": shares, "capacity": consumed}

    def case(self):
        pools = [("d1", "p1")] + self.random.sample([("d1", "p2"), ("d2", "p1")], self.one([0, 0, 1, 1, 2]))
        self.random.shuffle(pools)
        self.drivers = {driver for driver, _ in pools}
        slices = [s for number, (driver, name) in enumerate(pools) for s in self.pool(number, driver, name)]
        allocated = self.allocated(slices)
        slices += self.stale(slices)
        n = self.one([1, 1, 1, 2, 2, 3])
        first = self.random.randint(1, n)
        claims = [self.claim(0, first)] + ([self.claim(1, n - first)] if n > first else [])
        self.random.shuffle(slices)
        return {"name": self.name, "release": self.release, "features": self.features, "node": NODE, "deviceClasses": self.classes(),
                "resourceSlices": slices, "allocated": allocated, "claims": claims}


def cases(seed, count, release):
    for number in range(count):
        yield Maker(seed, number, release).case()


def shuffled(case, salt):
    """The same case with every list of objects in another order; what has an order of its own (devices, requests) keeps it."""
    order = random.Random(f"{case['name']}/{salt}")
    out = dict(case, allocated=dict(case["allocated"]))
    for key in ("features", "deviceClasses", "resourceSlices"):
        out[key] = order.sample(case[key], len(case[key]))
    for key in ("devices", "sharedDevices"):
        out["allocated"][key] = order.sample(case["allocated"][key], len(case["allocated"][key]))
    out["allocated"]["capacity"] = dict(order.sample(sorted(case["allocated"]["capacity"].items()), len(case["allocated"]["capacity"])))
    return out
