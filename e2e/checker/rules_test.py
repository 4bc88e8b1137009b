#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each rule finds what it is there for in a snapshot with that one thing wrong, and nothing in those in order."""

import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import rights  # noqa: E402
import rules  # noqa: E402

GOOD = os.path.join(HERE, "snapshots", "gang-and-single.json")


def good():
    with open(GOOD, encoding="utf-8") as file:
        return json.load(file)["items"]


def pick(objects, kind, name):
    return next(o for o in objects if o["kind"] == kind and o["metadata"]["name"] == name)


class RulesTest(unittest.TestCase):
    def expect(self, change, text, settled=True):
        objects = good()
        change(objects)
        found = rules.check(objects, settled)
        self.assertEqual(len(found), 1, found)
        self.assertIn(text, found[0])

    def expect_nothing(self, change, settled):
        objects = good()
        change(objects)
        self.assertEqual(rules.check(objects, settled), [])

    def test_a_cluster_in_order_has_nothing_wrong(self):
        self.assertEqual(rules.check(good(), True), [])

    def test_what_a_real_cluster_holds_has_nothing_wrong_until_a_claim_is_given_anothers_device(self):
        with open(os.path.join(HERE, "snapshots", "recorded-1.37.json"), encoding="utf-8") as file:
            objects = json.load(file)["items"]
        self.assertEqual(rules.check(objects, True), [])
        claims = [o for o in objects if o["kind"] == "ResourceClaim"]
        one, two = (c["status"]["allocation"]["devices"]["results"] for c in claims[:2])
        two[0] = dict(one[0])
        found = rules.check(objects, True)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith("I1: "), found)

    def test_a_device_of_two_claims_is_found(self):
        def change(objects):
            thief = copy.deepcopy(pick(objects, "ResourceClaim", "single-gpus"))
            thief["metadata"]["name"] = "thief"
            objects.append(thief)
        self.expect(change, "I1: gpu.tangram.dev/node-3/gpu-1 is held by t/single-gpus and t/thief")

    def test_shares_of_a_device_do_not_collide_unless_they_are_the_same(self):
        def share(objects, one, two):
            for name, share_id in (("worker-0-gpus", one), ("worker-1-gpus", two)):
                result = pick(objects, "ResourceClaim", name)["status"]["allocation"]["devices"]["results"][0]
                result.update({"driver": "d", "pool": "shared", "device": "s", "shareID": share_id})
        self.expect_nothing(lambda o: share(o, "a", "b"), True)
        self.expect(lambda o: share(o, "a", "a"), "I1: d/shared/s is held by t/worker-0-gpus and t/worker-1-gpus")

    def test_admin_access_holds_nothing(self):
        def change(objects):
            admin = copy.deepcopy(pick(objects, "ResourceClaim", "single-gpus"))
            admin["metadata"]["name"] = "admin"
            admin["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = True
            objects.append(admin)
        self.expect_nothing(change, True)

    def test_a_counter_that_is_exceeded_is_found_if_the_pool_is_complete(self):
        def change(objects, count):
            spec = pick(objects, "ResourceSlice", "node-3")["spec"]
            spec["pool"]["resourceSliceCount"] = count
            spec["sharedCounters"] = [{"name": "card", "counters": {"memory": {"value": "40Gi"}}}]
            spec["devices"][0]["consumesCounters"] = [{"counterSet": "card", "counters": {"memory": {"value": "41Gi"}}}]
        self.expect(lambda o: change(o, 1), "I1: counter card/memory of pool gpu.tangram.dev/node-3")
        self.expect_nothing(lambda o: change(o, 2), True)

    def test_capacity_that_is_exceeded_is_found(self):
        def change(objects, value):
            spec = pick(objects, "ResourceSlice", "node-3")["spec"]
            spec["devices"][0]["capacity"] = {"memory": {"value": "40Gi"}}
            result = pick(objects, "ResourceClaim", "single-gpus")["status"]["allocation"]["devices"]["results"][0]
            result["consumedCapacity"] = {"memory": value}
        self.expect(lambda o: change(o, "40961Mi"), "I1: capacity memory of gpu.tangram.dev/node-3/gpu-1")
        self.expect_nothing(lambda o: change(o, "40960Mi"), True)

    def test_a_pod_that_runs_without_allocation_is_found(self):
        def change(objects):
            pick(objects, "ResourceClaim", "single-gpus")["status"] = {}
        self.expect(change, "I2: pod t/single is on a node, and claim t/single-gpus is not allocated")

    def test_a_pod_that_runs_without_reservation_is_found(self):
        def change(objects):
            user = pick(objects, "ResourceClaim", "single-gpus")["status"]["reservedFor"][0]
            user["uid"] = pick(objects, "Pod", "worker-0")["metadata"]["uid"]
        self.expect(change, "I2: pod t/single is on a node, and claim t/single-gpus is not reserved for it")

    def test_a_pod_on_another_node_than_its_devices_is_found(self):
        def change(objects):
            pick(objects, "Pod", "single")["spec"]["nodeName"] = "node-9"
        self.expect(change, "I2: pod t/single is on node-9, and claim t/single-gpus on node-3")

    @staticmethod
    def gate_all(objects):
        for name in ("worker-0", "worker-1"):
            spec = pick(objects, "Pod", name)["spec"]
            del spec["nodeName"]
            spec["schedulingGates"] = [{"name": rules.GATE}]
            pick(objects, "ResourceClaim", name + "-gpus")["status"] = {}

    def test_a_gang_that_waits_with_nothing_is_in_order(self):
        self.expect_nothing(self.gate_all, True)

    def test_a_released_member_whose_claim_is_not_allocated_is_found(self):
        def change(objects):
            self.gate_all(objects)
            pick(objects, "Pod", "worker-1")["spec"]["schedulingGates"] = []
        self.expect(change, "I2: gang t/train: pod t/worker-1 was released, and claim t/worker-1-gpus is not allocated")

    def test_half_a_gang_is_found_when_nothing_is_under_way(self):
        def change(objects):
            before = pick(objects, "ResourceClaim", "worker-1-gpus")["status"]
            self.gate_all(objects)
            pick(objects, "ResourceClaim", "worker-1-gpus")["status"] = before
        objects = good()
        change(objects)
        self.assertEqual(rules.check(objects, False), [])
        found = rules.check(objects, True)
        self.assertEqual(len(found), 2, found)
        self.assertIn("I3: pod t/worker-1 waits, and claim t/worker-1-gpus is reserved for it", found)
        self.assertIn("I3: gang t/train: 1 of 2 claims are allocated, and no member was released", found)

    def test_a_reservation_for_a_pod_that_is_gone_is_found(self):
        self.expect(lambda o: o.remove(pick(o, "Pod", "single")),
                    "I3: claim t/single-gpus is reserved for pod single, which is gone")

    def test_an_allocation_that_nobody_uses_is_found(self):
        def change(objects):
            objects.remove(pick(objects, "Pod", "single"))
            pick(objects, "ResourceClaim", "single-gpus")["status"]["reservedFor"] = []
        self.expect(change, "I3: claim t/single-gpus is allocated and reserved for nobody")

    def test_finalizers_of_deleted_objects_are_found(self):
        def change(objects):
            meta = pick(objects, "Gang", "train")["metadata"]
            meta["deletionTimestamp"], meta["finalizers"] = "2026-01-01T00:00:00Z", ["tangram.dev/plan"]
        self.expect(change, "I3: Gang t/train was deleted, and finalizer tangram.dev/plan keeps it")
        self.expect_nothing(change, False)

    def test_an_allocation_of_ours_in_an_unmanaged_class_is_found(self):
        def change(objects):
            pick(objects, "DeviceClass", "gpu.tangram.dev")["metadata"]["labels"] = {}
            for name in ("worker-0-gpus", "worker-1-gpus"):
                objects.remove(pick(objects, "ResourceClaim", name))
        self.expect(change, "I4: claim t/single-gpus was allocated by Tangram, and class gpu.tangram.dev is not managed")

    def test_quantities_are_exact(self):
        self.assertEqual(rules.quantity("40Gi"), 40 * 2 ** 30)
        self.assertEqual(rules.quantity("1500m"), rules.quantity("1.5"))
        self.assertEqual(rules.quantity("1e3"), rules.quantity("1k"))

    def test_the_program_ends_with_one_when_something_is_wrong(self):
        def run(*arguments, text=None):
            return subprocess.run([os.path.join(HERE, "check"), "--settled", *arguments], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False, text=True)
        self.assertEqual(run(GOOD).returncode, 0, run(GOOD).stdout)
        bad = os.path.join(HERE, "snapshots", "device-of-two.json")
        out = run(bad)
        self.assertEqual(out.returncode, 1)
        self.assertEqual(out.stdout, "I1: gpu.tangram.dev/node-3/gpu-1 is held by t/single-gpus and t/thief\n")
        self.assertEqual(run().returncode, 2)


class RightsTest(unittest.TestCase):
    GET = ("tangram-controller", "", "pods", "watch")
    LIST = ("tangram-controller", "", "pods", "list")
    GRANTED = {GET, LIST} | set(rights.EXPECTED) | set(rights.SELDOM)

    def expect(self, requests, *texts, part=False):
        problems, _ = rights.judge(self.GRANTED, requests, part)
        self.assertEqual(problems, list(texts))

    def test_all_is_used(self):
        self.expect([(self.GET, "allow"), (self.LIST, "allow")])

    def test_what_is_never_used_is_told_when_everything_was_played(self):
        self.expect([(self.GET, "allow")], "never used: tangram-controller: list pods")
        self.expect([(self.GET, "allow")], part=True)

    def test_what_is_seldom_used_may_be_used_or_not(self):
        self.expect([(self.GET, "allow"), (self.LIST, "allow")] + [(right, "allow") for right in rights.SELDOM])

    def test_what_is_denied_is_told(self):
        denied = ("tangram-controller", "apps", "jobs", "get")
        self.expect([(self.GET, "allow"), (denied, "forbid"), (denied, "forbid")], "denied: tangram-controller: get jobs.apps", part=True)

    def test_an_empty_log_proves_nothing(self):
        self.expect([], "the audit log knows no request of our programs", part=True)

    def test_an_exception_that_is_used_is_none(self):
        right = ("tangram-controller", "resource.k8s.io", "resourceclaims/binding", "patch")
        self.expect([(self.GET, "allow"), (self.LIST, "allow"), (right, "allow")],
                    "used after all, or not granted: tangram-controller: patch resourceclaims/binding.resource.k8s.io")

    def test_who_borrows_an_account_is_not_the_program(self):
        line = {"user": {"username": "system:serviceaccount:tangram-system:tangram-controller"}, "verb": "list",
                "objectRef": {"resource": "secrets"}, "annotations": {"authorization.k8s.io/decision": "forbid"}}
        with tempfile.NamedTemporaryFile("w", suffix=".log") as file:
            for agent in ("kubectl/v1.37.2", "tangram-controller/0.1.0"):
                file.write(json.dumps({**line, "userAgent": agent}) + "\n")
            file.flush()
            self.assertEqual(list(rights.asked(file.name)), [(("tangram-controller", "", "secrets", "list"), "forbid")])


if __name__ == "__main__":
    unittest.main()
