#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checker finds each thing that it is there to find, and nothing in a run as it should be."""

import copy
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import checker  # noqa: E402


def claim(name, device=None, users=(), node="n"):
    item = {"kind": "ResourceClaim", "metadata": {"name": name, "uid": "uid-" + name}, "status": {}}
    if device:
        item["status"] = {
            "allocation": {"devices": {"results": [{"driver": "d", "pool": node, "device": device, "request": "r"}]},
                           "nodeSelector": {"nodeSelectorTerms": terms(node)}},
            "reservedFor": [{"uid": "uid-" + user} for user in users]}
    return item


def terms(node):
    return [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]


def pod(name, gated=True, unit="u", size=2, node="n"):
    item = {"kind": "Pod", "metadata": {"name": name, "uid": "uid-" + name,
                                        "labels": {checker.UNIT: unit, checker.SIZE: str(size)}},
            "spec": {"schedulingGates": [{"name": checker.GATE}] if gated else [], "resourceClaims": [{"name": "r"}]},
            "status": {"resourceClaimStatuses": [{"name": "r", "resourceClaimName": "c-" + name}]}}
    if not gated:
        item["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": terms(node)}}}
    return item


GOOD = [pod("a"), pod("b"), claim("c-a"), claim("c-b"), claim("c-a", "1", ["a"]), claim("c-b", "2", ["b"]),
        pod("a", gated=False), pod("b", gated=False)]


def verdict(items):
    return checker.check({}, [(n, "set", copy.deepcopy(item)) for n, item in enumerate(items, 1)])


class CheckerTest(unittest.TestCase):
    def expect(self, items, rule, text):
        found = verdict(items)
        self.assertTrue(any(v.startswith(rule) and text in v for v in found), found)

    def test_a_run_as_it_should_be_has_no_violation(self):
        self.assertEqual(verdict(GOOD), [])

    def test_a_device_of_two_claims_is_found(self):
        self.expect(GOOD[:5] + [claim("c-b", "1", ["b"])], "I1", "d/n/1 is held by c-b and by c-a")

    def test_a_device_twice_in_one_claim_is_found(self):
        twice = claim("c-a", "1", ["a"])
        twice["status"]["allocation"]["devices"]["results"] *= 2
        self.expect([twice], "I1", "holds a device twice")

    def test_a_gate_removed_before_all_claims_are_allocated_is_found(self):
        self.expect(GOOD[:5] + [pod("a", gated=False)], "I2", "claim c-b of b was not allocated")

    def test_a_gate_removed_before_all_members_are_there_is_found(self):
        self.expect([pod("a"), claim("c-a", "1", ["a"]), pod("a", gated=False)], "I2", "with 1 of 2 members")

    def test_a_gate_removed_before_a_claim_exists_is_found(self):
        self.expect([pod("a"), pod("b"), claim("c-a", "1", ["a"]), pod("a", gated=False)], "I2", "b lacked claims")

    def test_a_gate_removed_before_the_reservation_is_found(self):
        self.expect(GOOD[:5] + [claim("c-b", "2"), pod("a", gated=False)], "I2", "c-b of b was not reserved")

    def test_a_pod_pinned_to_another_node_than_its_claim_is_found(self):
        self.expect(GOOD[:6] + [pod("a", gated=False, node="m")], "I2", "is on n, its pod on m")

    def test_a_pod_released_without_a_pin_is_found(self):
        loose = pod("a", gated=False)
        del loose["spec"]["affinity"]
        self.expect(GOOD[:6] + [loose], "I2", "without being pinned")

    def test_half_a_unit_in_the_end_is_found(self):
        self.expect(GOOD[:5], "I3", "1 of 2 claims of u")

    def test_a_replaced_allocation_is_found(self):
        self.expect(GOOD[:6] + [claim("c-a", "3", ["a"])], "I5", "allocation of c-a was replaced")

    def test_an_allocation_after_a_clear_is_fine(self):
        self.assertEqual(verdict(GOOD[:5] + [claim("c-a"), claim("c-a", "3", ["a"])] + GOOD[5:]), [])


if __name__ == "__main__":
    unittest.main()
