#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rights.py --kubectl COMMAND [--part] AUDIT: are the rights of our programs those that they use?

Compares what the roles on the server grant to the accounts of tangram-system with what the API server's audit log says that the
programs asked for (by their user agent: who borrows an account in a test is not them). Prints what was denied, and what is granted
and was never used; ends with 1 if there is something.

  --part   not all scenarios were played: what was not used may be used elsewhere
"""

import argparse
import json
import shlex
import subprocess
import sys

NAMESPACE = "tangram-system"
PROGRAMS = ("tangram-controller", "tangram-kubelet-plugin")

# Rights that no request uses, and why they are there all the same. One that is used is told, too.
EXPECTED = {
    ("tangram-controller", "resource.k8s.io", "resourceclaims/binding", "patch"):
        "not a request: servers from 1.36 on look for it when the status of a claim is written (scenario i)",
}
# Rights that are used in one run and not in another.
SELDOM = {
    ("tangram-kubelet-plugin", "", "events", "patch"):
        "an event is counted a minute after it was told again, unless something newer is told before (scenario g)",
}


def read(kubectl, *arguments):
    return json.loads(subprocess.run([*shlex.split(kubectl), "get", *arguments, "-o", "json"], check=True, capture_output=True).stdout)


def granted(roles, program):
    for role in roles:
        if role["metadata"]["name"] != program:
            continue
        for rule in role["rules"]:
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    for verb in rule["verbs"]:
                        yield program, group, resource, verb


def asked(path):
    """Of each request of a program: what it asked for, and the decision."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            event = json.loads(line)
            account = event["user"]["username"].removeprefix(f"system:serviceaccount:{NAMESPACE}:")
            target = event.get("objectRef", {})
            if account not in PROGRAMS or not event.get("userAgent", "").startswith(account) or "resource" not in target:
                continue
            resource = "/".join(part for part in (target["resource"], target.get("subresource")) if part)
            yield (account, target.get("apiGroup", ""), resource, event["verb"]), \
                event.get("annotations", {}).get("authorization.k8s.io/decision")


def words(right):
    program, group, resource, verb = right
    return f"{program}: {verb} {resource}{'.' + group if group else ''}"


def judge(rights, requests, part):
    """Problems in words."""
    used = {right for right, decision in requests if decision == "allow"}
    problems = [f"denied: {words(right)}" for right in sorted({right for right, decision in requests if decision == "forbid"})]
    if not used:
        problems.append("the audit log knows no request of our programs")
    if not part:
        problems += [f"never used: {words(right)}" for right in sorted(rights - used) if right not in EXPECTED and right not in SELDOM]
        problems += [f"used after all, or not granted: {words(right)}" for right in EXPECTED if right in used or right not in rights]
        problems += [f"not granted: {words(right)}" for right in SELDOM if right not in rights]
    return problems, used


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubectl", required=True)
    parser.add_argument("--part", action="store_true")
    parser.add_argument("audit")
    arguments = parser.parse_args()
    roles = read(arguments.kubectl, "clusterroles")["items"] + read(arguments.kubectl, "roles", "-n", NAMESPACE)["items"]
    rights = {right for program in PROGRAMS for right in granted(roles, program)}
    problems, used = judge(rights, list(asked(arguments.audit)), arguments.part)
    for problem in problems:
        print(problem)
    print(f"rights: {len(rights)} granted, {len(rights & used)} of them used, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
