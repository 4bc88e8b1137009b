# SPDX-License-Identifier: Apache-2.0
"""Where releases of the built-in allocator are known to answer other than the rules say: names, reasons, and for each the smallest
case that shows it. The comparison accepts a disagreement only if one of these can be its cause, and it asks every release for
its answer to every such case, so an entry that no longer holds is found out. SHARED are those in which we follow the releases, since
they are a matter of when a call ends with an error, or only ever refuse something. So we do in AFTER_ADMIN, for which the oracle has rules of its own."""

NODE = {"metadata": {"name": "n1", "labels": {"zone": "z1", "rack": "r1"}}}


def pool(name, devices, driver="d1", slices=1, generation=1, where=None, number=0):
    return {"metadata": {"name": f"{driver}-{name}-{generation}-{number}"}, "spec": {
        "driver": driver, "pool": {"name": name, "generation": generation, "resourceSliceCount": slices},
        **(where or {"nodeName": "n1"}), "devices": devices}}


def counters(name, sets, driver="d1", slices=2, where=None):
    out = pool(name, [], driver, slices, where=where, number=9)
    del out["spec"]["devices"]
    out["spec"]["sharedCounters"] = [{"name": s, "counters": {"g": {"value": v}}} for s, v in sets.items()]
    return out


def device(name, counter=None, **more):
    if counter is not None:
        more["consumesCounters"] = [{"counterSet": "set", "counters": {"g": {"value": counter}}}]
    return {"name": name, **more}


def request(name, count=1, **more):
    return {"name": name, "exactly": {"deviceClassName": "c3", "allocationMode": "ExactCount", "count": count, **more}}


def every(name):
    return {"name": name, "exactly": {"deviceClassName": "c3", "allocationMode": "All"}}


def claim(requests, name="claim-0", **more):
    return {"metadata": {"name": name}, "spec": {"devices": {"requests": requests, **more}}}


def case(features, slices, claims, **allocated):
    return {"features": features, "node": NODE, "deviceClasses": [{"metadata": {"name": "c3"}, "spec": {}}], "resourceSlices": slices,
            "allocated": {"devices": [], "sharedDevices": [], "capacity": {}, **allocated}, "claims": claims}


def k(value):
    return {"attributes": {"k": {"int": value}}}


def devices_of(of):
    return [d for s in of["resourceSlices"] for d in s["spec"].get("devices", [])]


def constraints_of(of, kind):
    return [c for a in of["claims"] for c in a["spec"]["devices"].get("constraints", []) if kind in c]


def uses_counters(of, notes):
    return any(d.get("consumesCounters") for d in devices_of(of))


def noted(note):
    return lambda of, notes: note in notes


AFTER_ADMIN = "after adminAccess"
TAINT = {"taints": [{"key": "t", "effect": "NoSchedule"}]}

# name, why, releases, may it be the cause (of a case and the notes of the oracle), [(right, upstream)], the smallest case
QUIRKS = [
    ("a constraint over all devices",
     "A device of a request for all devices that does not go with a constraint ends the call with an error, though another choice "
     "for another request would do, or another alternative.",
     ["1.34", "1.35", "1.36", "1.37"], noted("constraint over all"), [("allocated", "error")],
     case(["PrioritizedList"], [pool("p", [device("a", **k(1)), device("b", **k(2))])],
          [claim([{"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "c3", "allocationMode": "All"},
                                                    {"name": "t", "deviceClassName": "c3", "allocationMode": "ExactCount", "count": 1}]}],
                 constraints=[{"matchAttribute": "d1/k"}])])),
    ("a selector that fails on a device",
     "A selector that ends in a run-time error ends the call as soon as the search comes to such a device, whether or not it is needed.",
     ["1.34", "1.35", "1.36", "1.37"], noted("failing selector"), [("allocated", "error")],
     case([], [pool("p", [device("a"), device("b", **k(1))])],
          [claim([request("r", selectors=[{"cel": {"expression": 'device.attributes["d1"].k == 1'}}])])])),
    (AFTER_ADMIN,
     "A device that a claim has with adminAccess counts as in use for the claims after it, not for those before it.",
     ["1.34", "1.35", "1.36", "1.37"], noted(AFTER_ADMIN), [("allocated", "unallocatable"), ("allocated", "error")],
     case(["AdminAccess"], [pool("p", [device("a")])],
          [claim([request("r", adminAccess=True)]), claim([request("r")], "claim-1")])),
    ("a device that is no longer shared",
     "A device of which a share is still held, and which its driver has made exclusive since, is given away as a whole.",
     ["1.34", "1.35", "1.36", "1.37"], noted("exclusive with shares"), [("unallocatable", "allocated")],
     case(["ConsumableCapacity"], [pool("p", [device("a")])], [claim([request("r")])],
          sharedDevices=[{"device": "d1/p/a", "shareID": "00000000-0000-4000-8000-000000000001"}])),
    ("distinct values within one request",
     "distinctAttribute remembers one value a request, so of three devices the first and the third may be equal (kubernetes#140600).",
     ["1.34", "1.35", "1.36"], lambda of, notes: bool(constraints_of(of, "distinctAttribute")),
     [("unallocatable", "allocated"), ("allocated", "unallocatable"), ("error", "allocated")],
     case(["ConsumableCapacity"], [pool("p", [device("a", **k(1)), device("b", **k(2)), device("c", **k(1))])],
          [claim([request("r", 3)], constraints=[{"distinctAttribute": "d1/k"}])])),
    ("counters of a device that was refused",
     "A device that is refused after its counters were found to be free (a taint, a constraint) keeps them for the rest of the "
     "search (kubernetes#140436).",
     ["1.34", "1.35", "1.36"], uses_counters, [("allocated", "unallocatable"), ("allocated", "error")],
     case(["PartitionableDevices", "DeviceTaints"],
          [pool("p", [device("a", "2", **TAINT), device("b", "2")], slices=2), counters("p", {"set": "3"})], [claim([request("r")])])),
    ("all devices as a later alternative",
     "An alternative of a count leaves a trace that a later alternative of all devices mistakes for its own: it takes too few, or none.",
     ["1.34", "1.35"], lambda of, notes: any("firstAvailable" in r and any(a.get("allocationMode") == "All" for a in r["firstAvailable"][1:])
                                     for a in of["claims"] for r in a["spec"]["devices"]["requests"]),
     [("allocated", "unallocatable"), ("allocated", "error"), ("unallocatable", "allocated"), ("error", "allocated")],
     case(["PrioritizedList"], [pool("p", [device("a")])],
          [claim([{"name": "r", "firstAvailable": [
              {"name": "s", "deviceClassName": "c3", "allocationMode": "ExactCount", "count": 2},
              {"name": "t", "deviceClassName": "c3", "allocationMode": "All"}]}])])),
    ("capacity that is switched off",
     "Where nothing but stable features is on, the implementation for those does not look at requests for capacity, where the others "
     "refuse them. The API server drops the field of such a request.",
     ["1.34", "1.35", "1.36", "1.37"], noted("capacity switched off"), [("error", "allocated"), ("error", "unallocatable")],
     case([], [pool("p", [device("a")])], [claim([request("r", capacity={"requests": {"m": "1"}})])])),
    ("distinctAttribute that is switched off",
     "The implementation for the features that are stable does not know distinctAttribute and refuses the claim. The API server drops "
     "the field of such a claim.",
     ["1.34", "1.35", "1.36", "1.37"], noted("distinctAttribute switched off"), [("allocated", "error")],
     case([], [pool("p", [device("a", **k(1))])], [claim([request("r")], constraints=[{"distinctAttribute": "d1/k"}])])),
    ("a list that was narrowed",
     "What lists have in common is not widened again when a device is given back, so a later choice finds nothing in common.",
     ["1.36"], lambda of, notes: "ListTypeAttributes" in of["features"] and bool(constraints_of(of, "matchAttribute")),
     [("allocated", "unallocatable"), ("allocated", "error")],
     case(["ListTypeAttributes"],
          [pool("p", [device("a", attributes={"l": {"ints": [1, 2]}}), device("b", attributes={"l": {"ints": [1]}}),
                      device("c", attributes={"l": {"ints": [2]}}), device("d", attributes={"l": {"ints": [2]}})])],
          [claim([request("r", 3)], constraints=[{"matchAttribute": "d1/l"}])])),
    ("a share without capacity",
     "Counters of a shared device are charged again for every share if no capacity of it is recorded.",
     ["1.36"], lambda of, notes: uses_counters(of, notes) and bool(of["allocated"]["sharedDevices"]),
     [("allocated", "unallocatable"), ("allocated", "error")],
     case(["PartitionableDevices", "ConsumableCapacity"],
          [pool("p", [device("a", "2", allowMultipleAllocations=True)], slices=2), counters("p", {"set": "3"})], [claim([request("r")])],
          sharedDevices=[{"device": "d1/p/a", "shareID": "00000000-0000-4000-8000-000000000001"}])),
    ("two drivers with one name of a pool",
     "Counters are kept by the name of the pool alone (kubernetes#140434).",
     ["1.35", "1.36"], lambda of, notes: uses_counters(of, notes) and len({s["spec"]["driver"] for s in of["resourceSlices"]}) > 1,
     [("allocated", "unallocatable"), ("allocated", "error"), ("unallocatable", "allocated"), ("error", "allocated")],
     case(["PartitionableDevices"],
          [pool("p", [device("a", "1")], slices=2), counters("p", {"set": "1"}),
           pool("p", [device("a", "3")], "d2", slices=2), counters("p", {"set": "3"}, "d2")], [claim([request("r", 2)])])),
    ("counter sets for another node",
     "A slice of counters counts for every node, so that an older generation may seem complete though a newer one is out. In 1.37 in "
     "the implementation for the features that are stable.",
     ["1.35", "1.36", "1.37"], lambda of, notes: any("sharedCounters" in s["spec"] for s in of["resourceSlices"]),
     [("unallocatable", "allocated"), ("error", "allocated"), ("unallocatable", "error"), ("allocated", "error")],
     case(["PartitionableDevices"],
          [pool("p", [device("a", "1")], slices=2), counters("p", {"set": "1"}, where={"nodeName": "n2"}),
           pool("p", [], slices=1, generation=2, where={"nodeName": "n2"})], [claim([request("r")])])),
    ("slices for the node that disagree about their number",
     "Of slices of one generation for the node that name different numbers the first is believed, in the order of a list that is that of "
     "no field: the same objects give one answer today and another tomorrow.",
     ["1.34", "1.35", "1.36", "1.37"], noted("counts differ"),
     [("unallocatable", "allocated"), ("error", "allocated"), ("unallocatable", "error"), ("error", "unallocatable")],
     case([], [pool("p", [device("a")], slices=2), pool("p", [device("b")], slices=3, number=1)], [claim([every("r")])])),
    ("counters of every share",
     "Each share of a device takes its counters again and gives them back to nobody; those of a device of which others have shares are free.",
     ["1.34"], lambda of, notes: uses_counters(of, notes) and "ConsumableCapacity" in of["features"] and any(
         d.get("allowMultipleAllocations") for d in devices_of(of)),
     [("allocated", "unallocatable"), ("allocated", "error"), ("unallocatable", "allocated"), ("error", "allocated")],
     case(["PartitionableDevices", "ConsumableCapacity"],
          [pool("p", [device("a", "2", allowMultipleAllocations=True)], slices=2), counters("p", {"set": "3"})], [claim([request("r", 2)])])),
    ("capacity of another device",
     "Whether a device has room is asked of the device whose number in the slice is that of the share in the request: of another, or of "
     "none, which ends the scheduler. One that is refused so is in use for the rest of the search.",
     ["1.34"], lambda of, notes: "ConsumableCapacity" in of["features"],
     [(a, b) for a in ("allocated", "unallocatable", "error") for b in ("allocated", "unallocatable", "error", "panic") if a != b],
     case(["ConsumableCapacity"],
          [pool("p", [device("a", allowMultipleAllocations=True, capacity={"m": {"value": "2"}})])],
          [claim([request("r", 2, capacity={"requests": {"m": "1"}})])])),
    ("an invalid pool that is looked at first",
     "A pool in which two devices have one name ends the call with an error as soon as the search comes to it, and pools have no order.",
     ["1.34"], noted("invalid pool"), [("allocated", "error")],
     case(["DeviceBindingAndStatus"],
          [pool("p", [device("a"), device("a")]), pool("q", [device("b", bindingConditions=["Ready"], bindingFailureConditions=["Failed"])])],
          [claim([request("r")])])),
]


def alternative(name, count=1, **more):
    return {"name": name, "deviceClassName": "c3", "allocationMode": "ExactCount", "count": count, **more}


EVERY = {"name": "every", "deviceClassName": "c3", "allocationMode": "All"}
K1 = {"selectors": [{"cel": {"expression": '"k" in device.attributes["d1"] && device.attributes["d1"].k == 1'}}]}

# Cases without a disagreement about what can be had that were once answered with other than the best alternatives, by ours or by
# the oracle: (why, case).
FOUND = [
    ("a solution was found before the devices of All that do not go with the constraint",
     case(["PrioritizedList"], [pool("p", [device("a", **k(1)), device("b", **k(1)), device("c", **k(2)), device("d", **k(2))])],
          [claim([request("r", 2), {"name": "f", "firstAvailable": [alternative("low", 2, **K1), EVERY, alternative("one")]}],
                 constraints=[{"matchAttribute": "d1/k", "requests": ["f"]}])])),
    ("what a claim has with adminAccess is in use for an alternative of the next",
     case(["AdminAccess", "PrioritizedList"], [pool("p", [device("a", **k(1)), device("b", **k(2))])],
          [claim([request("r", adminAccess=True, **K1)]),
           claim([{"name": "f", "firstAvailable": [alternative("two", 2), alternative("one")]}], "claim-1")])),
    ("a slice for another node names another number of slices",
     case([], [pool("p", [device("a")], slices=2), pool("p", [device("b")], slices=1, where={"nodeName": "n2"})], [claim([request("r")])])),
    ("the slices for the node are as many as they say, and there is one more elsewhere",
     case([], [pool("p", [device("a")]), pool("p", [device("b")], where={"nodeName": "n2"}, number=1)], [claim([request("r")])])),
    ("of the number that the slices for the node name there are more",
     case([], [pool("p", [device("a")]), pool("p", [device("b")], number=1)], [claim([request("r")])])),
]

SHARED = ("a constraint over all devices", "a selector that fails on a device", "capacity that is switched off",
          "distinctAttribute that is switched off")


def counters_beside_devices(of):
    """The case as 1.34 has it: counters are in the slice of their devices."""
    sets = {(s["spec"]["driver"], s["spec"]["pool"]["name"]): s["spec"]["sharedCounters"] for s in of["resourceSlices"]
            if "sharedCounters" in s["spec"]}
    slices = []
    for s in of["resourceSlices"]:
        spec = s["spec"]
        own = sets.get((spec["driver"], spec["pool"]["name"]))
        if own and "sharedCounters" not in spec:
            of_pool = dict(spec["pool"], resourceSliceCount=spec["pool"]["resourceSliceCount"] - 1)
            slices.append(dict(s, spec=dict(spec, pool=of_pool, sharedCounters=own)))
        elif not own:
            slices.append(s)
    return dict(of, resourceSlices=slices)


def instances(release):
    for number, (name, _, releases, _, _, of) in enumerate(QUIRKS):
        if release in releases:
            yield dict(counters_beside_devices(of) if release == "1.34" else of, name=f"quirk {number}: {name}")


def found():
    for number, (why, of) in enumerate(FOUND):
        yield dict(of, name=f"found {number}: {why}")


def completed(release, of, answer):
    """The answer of the built-in allocator with what its results leave out: 1.34 copies no tolerations into them."""
    if release != "1.34":
        return answer
    asks = {}
    for a in of["claims"]:
        for r in a["spec"]["devices"]["requests"]:
            asks.update({(a["metadata"]["name"], r["name"]): r["exactly"]} if "exactly" in r else {
                (a["metadata"]["name"], f"{r['name']}/{s['name']}"): s for s in r["firstAvailable"]})
    claims = []
    for a, got in zip(of["claims"], answer["claims"]):
        results = []
        for r in got["results"]:
            assert "tolerations" not in r, "1.34 copies tolerations: this is out of date"
            tolerations = asks[a["metadata"]["name"], r["request"]].get("tolerations")
            results.append({**r, "tolerations": tolerations} if tolerations else r)
        claims.append(dict(got, results=results))
    return dict(answer, claims=claims)


def cause(release, of, notes, right, upstream, among=None):
    """The name of an entry (of those among them) that can be the cause, or None."""
    for name, _, releases, may_be, pairs, _ in QUIRKS:
        if (among is None or name in among) and release in releases and (right, upstream) in pairs and may_be(of, notes):
            return name
    return None
