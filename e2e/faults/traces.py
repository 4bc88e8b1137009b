# SPDX-License-Identifier: Apache-2.0
"""The two traces by which the rules of fencing were found (design 5.2), played to the end: a leader is stopped with a write on
its way to the server, another one takes over and decides otherwise, and then the write arrives. It must be refused, and the
invariants must have held at every moment."""

import time

import checker
import workload
from player import Failure

LATE = {"do": "stop", "signal": "STOP", "when": "late", "ms": 8000, "name": "trace"}  # far beyond the lease of 2 s
URGENT = "faults-urgent"
# All cards but one: three nodes of four cards, and three of the fourth.
FILLERS = ["fill-1", "fill-2", "fill-3", "fill-4"]


def late_answers(player, position):
    """What the server said to the writes that came late; None while some are on their way."""
    done = [r["server"] for r in player.proxy.requests(position) if r.get("rule") == "trace" and r.get("server")]
    return done if len(done) == len(player.proxy.faults()) else None


def is_bound(state, name):
    pod = state.get(("Pod", name))
    return bool(pod and pod["spec"].get("nodeName") and not checker.is_gated(pod))


def begin(player, units, rule):
    """Leader and standby run, units are settled, the rule is set. Returns (state to check from, position in the log)."""
    before = player.recorder.begin()
    player.set_rules([])
    player.controller.start()
    # The one behind the proxy leads, and the other one waits.
    player.await_state("leading", lambda state: player.controller.says('"Taken over"'))
    for pod in workload.pods(units):
        player.server.create(workload.PODS, pod)
    player.await_state("settled", lambda state: workload.is_settled(state, units))
    player.standby.start()
    deadline = time.monotonic() + 15
    while not player.standby.is_ready() and time.monotonic() < deadline:
        time.sleep(0.05)
    position = player.proxy.position()
    player.set_rules([rule])
    return before, position


def await_stopped(player):
    player.await_state("stopped", lambda state: player.proxy.faults())


def await_late(player, position):
    """All late writes have been answered: each refused, since its object has changed (409) or is gone (404)."""
    player.await_state("answered", lambda state: late_answers(player, position) is not None)
    answers = late_answers(player, position)
    if not set(answers) <= {404, 409} or 409 not in answers:
        raise Failure(f"the server answered {answers} to what a former leader sent")
    return len(answers)


def device_given_away(player):
    """Stopped right before a single claim's status write; the successor gives the device to somebody more urgent."""
    before, position = begin(player, FILLERS, {**LATE, "verb": "patch", "resource": "resourceclaims/status"})
    player.server.create(workload.PODS, workload.pod("single-1", 1))
    await_stopped(player)
    urgent = workload.pod("single-2", 1)
    urgent["spec"]["priorityClassName"] = URGENT
    player.server.create(workload.PODS, urgent)
    player.await_state("given away", lambda state: is_bound(state, "single-2"))
    refused = await_late(player, position)
    if is_bound(player.recorder.snapshot(), "single-1"):
        raise Failure("both have the last device")
    player.server.delete(f"{workload.PODS}/single-2")
    player.await_state("served after all", lambda state: is_bound(state, "single-1") and not any(
        name.startswith("single-2") for _, name in state))
    player.check(before)
    player.check_settled()
    return refused


def gang_rolled_back(player):
    """Stopped right before un-gating; the successor loses a member, takes the gang back and plans it anew."""
    before, position = begin(player, [], {**LATE, "verb": "patch", "resource": "pods", "times": 3})
    for pod in workload.pods(["trio"]):
        player.server.create(workload.PODS, pod)
    await_stopped(player)
    player.server.delete(f"{workload.PODS}/trio-3")
    player.await_state("taken back", lambda state: any(
        kind == "Gang" and item.get("status", {}).get("phase") in ("Gathering", "Waiting") for (kind, _), item in state.items()))
    refused = await_late(player, position)
    player.server.create(workload.PODS, workload.pod("trio", 3))
    player.await_state("planned anew", lambda state: workload.is_settled(state, ["trio"]))
    player.check(before)
    player.check_settled()
    return refused


TRACES = [device_given_away, gang_rolled_back]


def play(player, only):
    """Plays those whose names match. Returns (passed, failed)."""
    passed = failed = 0
    for trace in TRACES:
        name = "trace " + trace.__name__.replace("_", " ")
        if not only.search(name):
            continue
        began = time.monotonic()
        try:
            refused = trace(player)
            player.await_ready()  # the former leader has been started again, and has just begun
            text, good = f"{refused} late writes refused", True
        except Failure as failure:
            text, good = str(failure), False
        finally:
            ended = player.end_processes()
        if good and ended:
            text, good = f"a program {ended}", False
        player.set_rules([])
        player.clear()
        passed, failed = passed + good, failed + (not good)
        print(f"{'passed' if good else 'FAILED':7} {time.monotonic() - began:5.1f} s          {name}: {text}", flush=True)
    return passed, failed
