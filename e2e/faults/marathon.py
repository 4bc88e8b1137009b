# SPDX-License-Identifier: Apache-2.0
"""Many faults against one process: what it holds before and after, and how much more is a leak."""

import collections
import time

FAULTS = {True: 1000, False: 60}  # with --night, and else
WARM = 10  # one fault in ten comes before the first look: buffers and caches are then as large as they should stay
PATIENCE = 60  # seconds for what is under way to come to its end

# What a process holds -> by which factor it may grow, and by how much on top: a connection that is kept, what the allocator
# does not give back, the events that are remembered to be counted (1,024 at most).
SLACK = {"descriptors": (1, 1), "requests": (1, 0), "heap": (1.05, 384), "resident": (1.1, 1024)}


def grown(before, after):
    """What has grown by more than that."""
    return [name for name, (factor, more) in SLACK.items() if after[name] > before[name] * factor + more]


def settle(look, is_good):
    """Looks until what is held is good, or that takes too long. Returns it."""
    deadline = time.monotonic() + PATIENCE
    while not is_good(held := look()) and time.monotonic() < deadline:
        time.sleep(0.5)
    return held


def is_quiet(held):
    """Nothing but watches is under way. There may be fewer: one on which nothing happens for some seconds is made anew, and each
    time later than before. That every watch works is proven by what is done between the looks."""
    return held["requests"] <= held["watches"]


def describe(before, after):
    return ", ".join(f"{name} {before[name]} -> {after[name]}" for name in SLACK)


def kinds(faults):
    """(what was done, how often) of the proxy's faults."""
    return sorted(collections.Counter(fault.get("did", "?") for fault in faults).items())
