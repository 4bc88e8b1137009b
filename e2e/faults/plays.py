# SPDX-License-Identifier: Apache-2.0
"""Which faults are played: the requests that the proxy saw in a run without faults, times what can happen to a request of
that kind. A play is (name, rules of the proxy, units of the workload)."""

import json
import random

ALL = ["single-1", "single-2", "pair", "trio"]

# What can happen to any request. ms are chosen against the deadlines of controller.yaml: 3 s a request, 2 s the lease.
ANY = {
    "401": {"do": "status", "code": 401},
    "429": {"do": "status", "code": 429, "retryAfter": 1, "times": 2},
    "500": {"do": "status", "code": 500, "times": 2},
    "503": {"do": "status", "code": 503, "times": 2},
    "cut-before": {"do": "cut"},
    "cut-stream": {"do": "cut", "how": "stream"},
    "delay": {"do": "delay", "ms": 700},
    "hang": {"do": "delay", "ms": 8000},
    "goaway": {"do": "goaway", "times": 2},
}
READ = {
    **ANY,
    "410": {"do": "status", "code": 410},
    "cut-after": {"do": "cut", "when": "after"},
    "half": {"do": "half"},
    "slow": {"do": "slow", "bytes": 512, "ms": 20},
    "trickle": {"do": "slow", "bytes": 128, "ms": 100},
}
WRITE = {
    **ANY,
    "409": {"do": "status", "code": 409},
    "500-after": {"do": "status", "code": 500, "when": "after"},
    "504-after": {"do": "status", "code": 504, "when": "after"},
    "cut-after": {"do": "cut", "when": "after"},
    "cut-stream-after": {"do": "cut", "how": "stream", "when": "after"},
    "half": {"do": "half"},
    "hang-after": {"do": "delay", "ms": 8000, "when": "after"},
    "pause": {"do": "stop", "signal": "STOP", "ms": 3500},
    "pause-after": {"do": "stop", "signal": "STOP", "ms": 3500, "when": "after"},
    "pause-late": {"do": "stop", "signal": "STOP", "ms": 3500, "when": "late"},
}
WATCH = {
    "401": {"do": "status", "code": 401},
    "410": {"do": "status", "code": 410},
    "429": {"do": "status", "code": 429, "retryAfter": 1},
    "500": {"do": "status", "code": 500, "times": 2},
    "cut-before": {"do": "cut"},
    "cut-after": {"do": "cut", "when": "after"},
    "cut-stream": {"do": "cut", "how": "stream", "when": "after"},
    "goaway": {"do": "goaway"},
    "slow": {"do": "slow", "bytes": 256, "ms": 20},
    # Twice, since a program may have two watches of a kind, of which only one has events.
    "half-line": {"do": "watch-half", "event": 2, "times": 2},
    "duplicate": {"do": "watch-duplicate", "event": 2, "times": 2},
    "withhold": {"do": "watch-withhold", "event": 2, "ms": 1000, "times": 2},
    "withhold-for-good": {"do": "watch-withhold", "event": 2, "times": 2},
    "gone": {"do": "watch-gone", "event": 2, "times": 2},
}
# What only a second controller, past the proxy, makes interesting: the first is paused, the second takes over, and then the
# first goes on and its write arrives.
OVERLAP = {
    "overlap": {"do": "stop", "signal": "STOP", "ms": 6000},
    "overlap-late": {"do": "stop", "signal": "STOP", "ms": 6000, "when": "late"},
}
KILL = {
    "kill-before": {"do": "stop", "signal": "KILL"},
    "kill-after": {"do": "stop", "signal": "KILL", "when": "after"},
    "kill-late": {"do": "stop", "signal": "KILL", "when": "late", "ms": 3500},
}
READS = ("get", "list")

# Between kubelet and plugin: bytes of HTTP/2, cut anywhere.
BYTES = {
    "refuse": {"do": "refuse", "connection": 1},
    "cut at once": {"do": "cut", "connection": 1},
    "cut in the preface": {"do": "cut", "connection": 1, "after": 20},
    "cut in a request": {"do": "cut", "connection": 1, "after": 150},
    "cut in the settings": {"do": "cut", "connection": 1, "after": 5, "from": "server"},
    "cut in an answer": {"do": "cut", "connection": 1, "after": 100, "from": "server"},
    "delay": {"do": "delay", "ms": 600},
    "delay of answers": {"do": "delay", "ms": 600, "from": "server"},
    "slow": {"do": "slow", "ms": 1},
    "slow answers": {"do": "slow", "ms": 1, "from": "server"},
    "silence": {"do": "swallow", "connection": 1, "after": 60, "ms": 5000},
}

# Rules about events: for collections in which something changes during a play.
LINES = ("half-line", "duplicate", "withhold", "withhold-for-good", "gone")


class Play:
    """sockets: rules for the bytes between kubelet and plugin, by socket."""

    def __init__(self, name, rules, units, standby=False, sockets=None):
        self.name, self.rules, self.units, self.standby, self.sockets = name, rules, units, standby, sockets or {}

    def key(self):
        """Plays with the same key end with the same objects."""
        return tuple(self.units)

    def creates(self, resource):
        """Whether the creation of such an object is what this play is about."""
        return any(rule.get("verb") == "create" and rule.get("resource") == resource for rule in self.rules)


def line(rule):
    """As the proxy reads it."""
    return json.dumps(rule) + "\n"


def kinds(points):
    """(verb, resource) of the requests, each once, in order."""
    return sorted({(p["verb"], p["resource"]) for p in points if p.get("resource")})


def matrix(points, units, moving, with_standby):
    """Every rule for every verb and resource. moving: the resources of which watches tell something."""
    plays = []
    for verb, resource in kinds(points):
        table = WATCH if verb == "watch" else READ if verb in READS else WRITE
        for name, rule in table.items():
            if name in LINES and resource not in moving:
                continue
            plays.append(Play(f"{name} {verb} {resource}", [{**rule, "verb": verb, "resource": resource}], units))
        if with_standby and table is WRITE and resource not in ("events", "leases"):
            for name, rule in OVERLAP.items():
                plays.append(Play(f"{name} {verb} {resource}",
                                  [{**rule, "verb": verb, "resource": resource}], units, standby=True))
    return plays


def sockets(units):
    """Every rule for the bytes of both sockets."""
    return [Play(f"{name}: {which} socket", [], units, sockets={which: [rule]})
            for which in ("registration", "service") for name, rule in BYTES.items()]


WRITES = ("create", "update", "patch", "delete")


def only_writes(requests, verbs=WRITES):
    """Those that change an object; without those that a rule has answered."""
    return [request for request in requests if request["verb"] in verbs and
            request.get("resource") not in (None, "events", "leases") and not request.get("rule")]


def writes(requests, verbs=WRITES):
    """(verb, resource, which of its kind) of the writes among some requests, in order of arrival."""
    found, seen = [], {}
    for request in only_writes(requests, verbs):
        kind = request["verb"], request["resource"]
        seen[kind] = seen.get(kind, 0) + 1
        found.append((*kind, seen[kind]))
    return found


def kill_points(points, units, verbs=WRITES):
    """The program killed at each write of a unit's commit (or what else the verbs say)."""
    return [Play(f"{name} {' '.join(units)}: {verb} {resource} {nth}",
                 [{**rule, "verb": verb, "resource": resource, "nth": nth}], units)
            for verb, resource, nth in writes(points, verbs) for name, rule in KILL.items()]


def storms(count, first, units, percent=20):
    """Many faults at once, by a seed."""
    return [Play(f"storm seed {seed}", [{"do": "random", "seed": seed, "percent": percent}], units)
            for seed in range(first, first + count)]


def rotate(plays, seed, count):
    """A part of the plays that differs from seed to seed; every play has its turn."""
    shuffled = sorted(plays, key=lambda play: play.name)
    random.Random(0).shuffle(shuffled)
    start = seed * count % max(len(shuffled), 1)
    return (shuffled + shuffled)[start:start + min(count, len(shuffled))]
