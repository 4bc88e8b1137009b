# SPDX-License-Identifier: Apache-2.0
"""Many faults against one process: what it holds before and after, and how much more is a leak."""

import collections
import time

FAULTS = {True: 1000, False: 60}  # with --night, and else
WARM = 10  # one fault in ten comes before the first look: buffers and caches are then as large as they should stay
PATIENCE = 30  # seconds for what is under way to come to its end

# What a process holds -> by which factor it may grow, and by how much on top: a connection that is kept, what the allocator
# does not give back. Requests are watches, which are there in both cases.
SLACK = {"descriptors": (1, 1), "requests": (1, 0), "heap": (1.05, 128), "resident": (1.1, 1024)}


def grown(before, after):
    """What has grown by more than that."""
    return [name for name, (factor, more) in SLACK.items() if after[name] > before[name] * factor + more]


def settle(before, look):
    """Looks until nothing is more than before, or that takes too long. Returns what there was and what of it has grown."""
    deadline = time.monotonic() + PATIENCE
    while grown(before, after := look()) and time.monotonic() < deadline:
        time.sleep(1)
    return after, grown(before, after)


def describe(before, after):
    return ", ".join(f"{name} {before[name]} -> {after[name]}" for name in SLACK)


def kinds(faults):
    """(what was done, how often) of the proxy's faults."""
    return sorted(collections.Counter(fault.get("did", "?") for fault in faults).items())
