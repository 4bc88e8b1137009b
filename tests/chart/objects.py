#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the chart renders, as objects.

    objects.py names < RENDERED             kind and name of each object, sorted
    objects.py equal RENDERED RENDERED      the same objects
    objects.py schema SCHEMA VALUES         every value of VALUES has a sentence in SCHEMA, and the other way round
    objects.py used VALUES RENDERED         every scalar of VALUES stands somewhere in RENDERED
    objects.py alerts RENDERED              the groups of the PrometheusRule, as promtool reads them, without the texts for people
    objects.py settings SCHEMA PROGRAM      every field of the controller's configuration, as PROGRAM knows them, has a value, and no other
    objects.py configuration RENDERED       the controller's configuration, if there is one
    objects.py told RENDERED DOCUMENT       every alert has its texts, and DOCUMENT names it; and every metric of the dashboard
"""

import json
import re
import subprocess
import sys
import tempfile

import yaml

# Values that decide what is rendered, and do not stand in it.
SWITCHES = {"mode", "crds.install", "crds.keep", "uninstall.release", "policies.gate", "controller.podDisruptionBudget.enabled",
            "monitoring.serviceMonitor.enabled", "monitoring.dashboard.enabled", "monitoring.alerts.enabled"}


def load(path):
    with open(path, encoding="utf-8") as file:
        return [document for document in yaml.safe_load_all(file) if document]


def key(document):
    return f"{document['kind']} {document['metadata'].get('namespace', '-')} {document['metadata']['name']}"


def names():
    for name in sorted(key(document) for document in yaml.safe_load_all(sys.stdin) if document):
        print(f"# {name}")
    return 0


def equal(first, second):
    one, two = ({key(document): document for document in load(path)} for path in (first, second))
    different = [name for name in sorted(set(one) | set(two)) if one.get(name) != two.get(name)]
    for name in different:
        print(f"differs: {name}")
    return 1 if different else 0


def properties(schema, path=""):
    for name, inner in schema.get("properties", {}).items():
        yield path + name, inner
        yield from properties(inner, f"{path}{name}.")


def leaves(values, path=""):
    for name, value in values.items():
        yield path + name, value
        if isinstance(value, dict):
            yield from leaves(value, f"{path}{name}.")


def schema(schema_path, values_path):
    with open(schema_path, encoding="utf-8") as file:
        known = dict(properties(json.load(file)))
    values = dict(leaves(load(values_path)[0]))
    # Below a free-form value stands what the user's objects say.
    free = [path for path, inner in known.items() if inner["type"] == "object" and "properties" not in inner]
    problems = [f"{path}: no sentence" for path, inner in known.items()
                if not inner.get("description", "").rstrip().endswith((".", ":"))]
    # What is not there by default needs no place in the defaults.
    problems += [f"{path}: not in {values_path}" for path in known
                 if path not in values and path != "global" and values.get(path.rpartition(".")[0]) != {}]
    problems += [f"{path}: not in {schema_path}" for path in values
                 if path not in known and not any(path.startswith(f"{f}.") for f in free)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


HEADER = "apiVersion: tangram.dev/v1alpha1\nkind: TangramConfiguration\n"
# Mappings of the configuration: where they stand among the values of the controller, and a document with a field in it that there is not.
MAPPINGS = {
    (): "no-such: 1",
    ("topology",): "topology: [{no-such: 1}]",
    ("placement",): "placement: {no-such: 1}",
    ("placement", "classes"): "placement: {classes: [{no-such: 1}]}",
    ("placement", "expect"): "placement: {expect: [{no-such: 1}]}",
    ("delays",): "delays: {no-such: 1}",
}


def said_to(program, text):
    """What the program says of that configuration."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(HEADER + text + "\n")
        file.flush()
        return subprocess.run([program, "--validate-config", "--config", file.name], capture_output=True, text=True).stderr


def fields_of(program, text):
    """What the program says that it knows where it finds a field that it does not know."""
    said = said_to(program, text)
    known = re.search("known are (.*)", said)
    return set(known.group(1).strip().split(", ")) if known else {said}


def policies_of(program):
    """The same of a policy that it does not know."""
    said = said_to(program, "placement: {policy: no-such}")
    known = re.search("they are (.*)", said)
    return set(re.findall("[a-z]+", re.sub(r"\(.*?\)|\band\b", "", known.group(1)))) if known else {said}


def settings(schema_path, program):
    with open(schema_path, encoding="utf-8") as file:
        controller = json.load(file)["properties"]["controller"]
    problems = []
    for path, text in MAPPINGS.items():
        known, place = fields_of(program, text), controller
        for name in path:
            place = place["properties"][name]
            place = place.get("items", place)
        if not path:
            known -= {"apiVersion", "kind"}
        there = set(place["properties"]) if path else known & set(place["properties"])
        problems += [f"controller.{'.'.join((*path, name))}: {what}" for what, names in
                     (("a field of the configuration without a value", known - there),
                      ("the program knows no such field", there - known)) for name in sorted(names)]
        problems += [f"controller.{'.'.join(path)}: other values are accepted" for _ in (1,)
                     if place.get("additionalProperties") is not False]
    placement = controller["properties"]["placement"]["properties"]
    for where in (placement, placement["classes"]["items"]["properties"]):
        if set(where["policy"]["enum"]) != policies_of(program):
            problems.append(f"policies are {sorted(policies_of(program))}, the schema has {where['policy']['enum']}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def configuration(path):
    for document in load(path):
        if document["kind"] == "ConfigMap" and "controller.yaml" in document["data"]:
            print(document["data"]["controller.yaml"])
            return 0
    return 1


def scalars(value, path):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from scalars(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from scalars(inner, path)
    elif not isinstance(value, bool):
        yield path, str(value).strip()


def used(values_path, rendered_path):
    stands = "\n".join(text for document in load(rendered_path) for _, text in scalars(document, ""))
    missing = [f"{path}: {text!r} is not rendered" for path, text in scalars(load(values_path)[0], "")
               if path not in SWITCHES and text not in stands]
    for problem in missing:
        print(problem)
    return 1 if missing else 0


def rule_groups(path):
    return [group for document in load(path) if document["kind"] == "PrometheusRule" for group in document["spec"]["groups"]]


def alerts(path):
    groups = rule_groups(path)
    for group in groups:
        for rule in group["rules"]:
            del rule["annotations"]
    print(yaml.safe_dump({"groups": groups}))
    return 0 if groups else 1


def dashboards(path):
    for document in load(path):
        if document["kind"] == "ConfigMap" and "tangram.json" in document["data"]:
            yield json.loads(document["data"]["tangram.json"])


def told(rendered_path, document_path):
    with open(document_path, encoding="utf-8") as file:
        text = file.read()
    rules = [rule for group in rule_groups(rendered_path) for rule in group["rules"]]
    problems = [f"alert {rule['alert']}: no {what}" for rule in rules for what in ("summary", "description")
                if not rule["annotations"].get(what, "").endswith((".", "?"))]
    problems += [f"alert {rule['alert']}: {document_path} does not name it" for rule in rules if f"`{rule['alert']}`" not in text]
    queries = [target["expr"] for board in dashboards(rendered_path) for panel in board["panels"] for target in panel.get("targets", [])]
    metrics = {re.sub("_(bucket|count|sum)$", "", name) for query in queries for name in re.findall(r"(?:tangram|rest|process)_\w+", query)}
    problems += [f"the dashboard asks for {name}, which {document_path} does not name" for name in sorted(metrics) if f"`{name}`" not in text]
    problems += [what for what, there in (("no alerts", rules), ("no dashboard", queries)) if not there]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


COMMANDS = {"names": names, "equal": equal, "schema": schema, "used": used, "alerts": alerts, "told": told, "settings": settings,
            "configuration": configuration}

if __name__ == "__main__":
    sys.exit(COMMANDS[sys.argv[1]](*sys.argv[2:]))
