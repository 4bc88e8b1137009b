# SPDX-License-Identifier: Apache-2.0
"""Device selectors of generated cases: the text, and what it means, so that the oracle needs no CEL."""

import fractions

SUFFIXES = {"m": fractions.Fraction(1, 1000), "k": 10**3, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


class Failure(Exception):
    """A selector that ends in a run-time error."""


def quantity(text):
    for suffix, factor in SUFFIXES.items():
        if str(text).endswith(suffix):
            return fractions.Fraction(text[:-len(suffix)]) * factor
    return fractions.Fraction(text)


def entries(driver, of):
    """With their domain; of two spellings of one name the longer wins."""
    out = {}
    for key, value in sorted(of.items(), key=lambda entry: "/" in entry[0]):
        out[key if "/" in key else f"{driver}/{key}"] = value
    return out


def attribute(driver, device, name):
    return entries(driver, device.get("attributes", {})).get(name)


def capacity(driver, device, name):
    return entries(driver, device.get("capacity", {})).get(name)


def driver_is(wanted):
    return f'device.driver == "{wanted}"', lambda driver, device: driver == wanted


def has_attribute(domain, name):
    return (f'"{name}" in device.attributes["{domain}"]',
            lambda driver, device: attribute(driver, device, f"{domain}/{name}") is not None)


def int_is(domain, name, value, guarded=True):
    def meaning(driver, device):
        found = attribute(driver, device, f"{domain}/{name}")
        if found is None and not guarded:
            raise Failure
        return found is not None and found.get("int") == value
    test = f'device.attributes["{domain}"].{name} == {value}'
    return (f'"{name}" in device.attributes["{domain}"] && {test}' if guarded else test), meaning


def capacity_at_least(domain, name, amount):
    def meaning(driver, device):
        found = capacity(driver, device, f"{domain}/{name}")
        return found is not None and quantity(found["value"]) >= quantity(amount)
    return (f'"{name}" in device.capacity["{domain}"] && '
            f'device.capacity["{domain}"].{name}.compareTo(quantity("{amount}")) >= 0'), meaning


def may_be_shared(wanted):
    return (f"device.allowMultipleAllocations == {str(wanted).lower()}",
            lambda driver, device: bool(device.get("allowMultipleAllocations")) == wanted)


def constant(value):
    return str(value).lower(), lambda driver, device: value


def catalogue():
    """Every selector that a case may have: text -> meaning. Those that can fail stand in FAILING as well."""
    out = dict([constant(True), constant(False), may_be_shared(True), may_be_shared(False)])
    for domain in ("d1", "d2"):
        out.update([driver_is(domain), has_attribute(domain, "k")])
        out.update(int_is(domain, "k", value) for value in (0, 1, 2))
        out.update(int_is(domain, "k", value, guarded=False) for value in (0, 1, 2))
        out.update(capacity_at_least(domain, "m", amount) for amount in ("3", "6"))
    return out


FAILING = frozenset(int_is(domain, "k", value, guarded=False)[0] for domain in ("d1", "d2") for value in (0, 1, 2))
MEANING = catalogue()
