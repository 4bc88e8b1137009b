Everything that is wrong, with its place and what to do.

  $ validate -f bad.yaml
  bad.yaml:11:27: spec.spec.devices.requests[0].exactly.allocationMode: allocationMode is ExactCount (with count) or All
  bad.yaml:12:18: spec.spec.devices.requests[0].exactly.count: a claim cannot have more than 32 devices; use several claims, or a gang
  bad.yaml:13:21: spec.spec.devices.requests[0].exactly.selector: unknown field; known here: name, deviceClassName, selectors, allocationMode, count, adminAccess, tolerations, capacity
  bad.yaml:15:31: spec.spec.devices.requests[0].exactly.selectors[0].cel.expression: 1:46: Syntax error: the expression ends too early, an expression is expected
   | device.attributes["gpu.tangram.dev"].memory >
   | .............................................^
  bad.yaml:16:31: spec.spec.devices.requests[0].exactly.selectors[1].cel.expression: must evaluate to bool or the unknown type, not string
  bad.yaml:17:9: spec.spec.devices.requests[1]: exactly one of exactly and firstAvailable must be set
  bad.yaml:17:15: spec.spec.devices.requests[1].name: there are two requests named "gpus"
  bad.yaml:21:26: spec.spec.devices.constraints[0].matchAttribute: must be the full name of an attribute, such as gpu.tangram.dev/productName
  bad.yaml:21:50: spec.spec.devices.constraints[0].requests[0]: there is no request "gpu" in this claim
  bad.yaml:25:91: spec.spec.devices.config[0].opaque.parameters.size is 0: it must be 1 to 2048
  bad.yaml:32:19: spec.spec.devices.config[1].opaque.parameters.sise: unknown field (known: apiVersion, kind, gang, gangFrom, size, role, topology)
  bad.yaml:37:19: spec.selectors: the class is labelled tangram.dev/controller and has no guard: add an entry whose expression is "granted" in device.attributes["tangram.dev"], exactly so
  bad.yaml:44:33: spec.roles[0].minSize is 3: it must be 1 to size (2)
  bad.yaml:45:11: spec.colour: unknown field; known here: size, roles, topology, deviceConstraints, queue, scheduleTimeout, bindTimeout, onMemberLoss, holdFor, disruption
  bad.yaml:50:24: spec.queue is not supported by this version of Tangram: remove it
  bad.yaml:58:22: spec.template.spec.schedulerName is not supported in this version: only pods of the default scheduler are placed
  bad.yaml:59:54: spec.template.spec.containers[0].resources.claims[0]: the pod has no entry "gpu" in spec.resourceClaims
  bad.yaml:62:9: spec.template.spec.resourceClaims[1]: exactly one of resourceClaimName and resourceClaimTemplateName must be set
  bad.yaml:66:12: topology[0]: exactly one of nodeLabel and deviceAttribute must be set
  bad.yaml:68:13: apiVersion: Gang is read in version tangram.dev/v1alpha1
  bad.yaml:73:7: kind: there is no kind "Gangway" in tangram.dev; known are Gang, Fleet and TangramConfiguration (GangMember stands in a claim's configuration)
  bad.yaml:76:1: this is no Kubernetes object: it needs apiVersion and kind
  9 objects, 8 of kinds that are looked at: 22 problems
  [2]

What is right for a release may need more on an older one.

  $ validate -f llama.yaml -f ten-nodes.yaml owners.yaml
  12 objects, 11 of kinds that are looked at: 0 problems
  $ validate --kubernetes 1.34 -f owners.yaml
  owners.yaml:1:1: metadata.labels: on Kubernetes 1.34 the label tangram.dev/managed: "true" is needed: policies add it on 1.36 and newer
  owners.yaml:22:7: spec.template.spec: on Kubernetes 1.34 schedulingGates: [{name: tangram.dev/gang}] is needed: policies add it on 1.36 and newer
  owners.yaml:25:1: metadata.labels: on Kubernetes 1.34 the label tangram.dev/managed: "true" is needed: policies add it on 1.36 and newer
  owners.yaml:48:9: spec.leaderWorkerTemplate.workerTemplate.spec: on Kubernetes 1.34 schedulingGates: [{name: tangram.dev/gang}] is needed: policies add it on 1.36 and newer
  owners.yaml:51:1: metadata.labels: on Kubernetes 1.34 the label tangram.dev/managed: "true" is needed: policies add it on 1.36 and newer
  owners.yaml:76:13: spec.replicatedJobs[0].template.spec.template.spec: on Kubernetes 1.34 schedulingGates: [{name: tangram.dev/gang}] is needed: policies add it on 1.36 and newer
  owners.yaml:83:13: spec.replicatedJobs[1].template.spec.template.spec: on Kubernetes 1.34 schedulingGates: [{name: tangram.dev/gang}] is needed: policies add it on 1.36 and newer
  owners.yaml:86:1: metadata.labels: on Kubernetes 1.34 the label tangram.dev/managed: "true" is needed: policies add it on 1.36 and newer
  owners.yaml:98:7: spec.template.spec: on Kubernetes 1.34 schedulingGates: [{name: tangram.dev/gang}] is needed: policies add it on 1.36 and newer
  9 objects, 8 of kinds that are looked at: 10 problems
  [2]

How cards are set: what the driver would refuse while it prepares the claim is told before anything is applied, in templates, claims and classes.

  $ validate -f settings.yaml
  settings.yaml:15:37: spec.spec.devices.config[0].opaque.parameters.timeSlicing.interval is "Longer": known are Default, Short, Medium, Long
  settings.yaml:18:83: spec.spec.devices.config[1].opaque.parameters.colour: unknown field (known: apiVersion, kind, sharing, timeSlicing, computeMode)
  settings.yaml:21:88: spec.spec.devices.config[2].opaque.parameters.computeMode is a setting of a whole card, and a partition has none of its own: remove it
  settings.yaml:24:99: spec.spec.devices.config[3].opaque.parameters.timeSlicing.interval: expected a string, found a number
  settings.yaml:27:36: spec.spec.devices.config[4].opaque.parameters.apiVersion is "resource.nvidia.com/v1beta1": it must be "tangram.dev/v1alpha1" for the driver of the devices
  settings.yaml:29:19: spec.spec.devices.config[5].opaque.driver: a GangMember is read by driver tangram.dev
  settings.yaml:41:82: spec.devices.config[0].opaque.parameters.sharing is "MPS", which this version does not have: leave it out, or use TimeSlicing
  settings.yaml:53:84: spec.config[0].opaque.parameters.timeSlicing and computeMode ExclusiveProcess contradict each other: a card for one process is not shared in time
  3 objects, 3 of kinds that are looked at: 8 problems
  [2]

Slices: what an API server of that release would refuse, and no more.

  $ validate -f slices.yaml
  slices.yaml:20:3: spec: exactly one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection must be set
  slices.yaml:20:11: spec.driver: "gpu tangram" is not a valid driver name: a DNS subdomain of at most 63 characters
  slices.yaml:21:16: spec.pool.name: "a//b" is not a valid pool name: DNS subdomains separated by /, at most 253 characters in all
  slices.yaml:21:36: spec.pool.generation: generation must be a whole number, at least 0
  slices.yaml:21:60: spec.pool.resourceSliceCount: resourceSliceCount must be a whole number, at least 1
  slices.yaml:23:13: spec.allNodes: is true or absent
  slices.yaml:25:3: spec.sharedCounters: from Kubernetes 1.35 on devices and sharedCounters stand in slices of their own
  slices.yaml:26:12: spec.sharedCounters[1].name: there are two named "card"
  slices.yaml:26:37: spec.sharedCounters[1].counters.Memory: "Memory" is not a valid DNS label: at most 63 of a-z, 0-9 and -, beginning and ending with a letter or digit
  slices.yaml:26:45: spec.sharedCounters[1].counters.Memory.value: "much" is not a quantity; examples: 2, 0.5, 500m, 1500k, 16Gi, 1e3
  slices.yaml:27:5: spec.sharedCounters[2]: counters is missing
  slices.yaml:30:12: spec.devices[1].name: there are two named "gpu-0"
  slices.yaml:31:12: spec.devices[2].name: "GPU" is not a valid DNS label: at most 63 of a-z, 0-9 and -, beginning and ending with a letter or digit
  slices.yaml:41:5: spec.devices[0]: bindingConditions needs bindingFailureConditions
  slices.yaml:41:5: spec.devices[0]: nodeName, nodeSelector and allNodes of a device need perDeviceNodeSelection: true in the slice
  slices.yaml:44:12: spec.devices[0].attributes.two: exactly one value must be set: bool, int, string or version
  slices.yaml:45:18: spec.devices[0].attributes.with-dash: "with-dash" is not a valid attribute name: [domain/]identifier, the domain a DNS subdomain of at most 63, the identifier at most 32 of letters, digits and _, not beginning with a digit
  slices.yaml:46:22: spec.devices[0].attributes.long.string: has 70 bytes: at most 64 are allowed
  slices.yaml:47:26: spec.devices[0].attributes.version.version: "1.x" is not a semantic version (like 1.2.3): it begins with three numbers without leading zeros
  slices.yaml:48:28: spec.devices[0].attributes.tangram.dev/granted: no slice may publish attributes of domain tangram.dev: the guard of managed classes rests on it
  slices.yaml:50:15: spec.devices[0].capacity.memory: requestPolicy needs a device with allowMultipleAllocations: true
  slices.yaml:51:13: spec.devices[0].capacity.size: value is missing: a quantity, such as 80Gi
  slices.yaml:53:5: spec.devices[0].consumesCounters: has 3 entries: at most 2 are allowed
  slices.yaml:57:13: spec.devices[0].taints[0].key: "example.com/a/b" is not a valid qualified name: [DNS subdomain/]name, the name at most 63 of letters, digits, -, _ and ., beginning and ending with a letter or digit
  slices.yaml:58:7: spec.devices[0].taints[1]: key is missing
  slices.yaml:58:16: spec.devices[0].taints[1].effect: effect is NoSchedule, NoExecute or, from Kubernetes 1.35 on, None
  slices.yaml:69:33: spec.devices[0].nodeSelector: must have exactly one term
  slices.yaml:70:5: spec.devices[1]: exactly one of nodeName, nodeSelector and allNodes must be set
  slices.yaml:81:16: spec.devices.requests[0].firstAvailable[1].name: there are two alternatives named "big"
  slices.yaml:81:68: spec.devices.requests[0].firstAvailable[1].tolerations[0].operator: operator is Equal or Exists
  slices.yaml:81:99: spec.devices.requests[0].firstAvailable[1].tolerations[1].value: value and operator Exists exclude each other
  slices.yaml:81:120: spec.devices.requests[0].firstAvailable[1].tolerations[2].effect: effect is NoSchedule, NoExecute, None or absent
  5 objects, 5 of kinds that are looked at: 32 problems
  [2]
  $ validate --kubernetes 1.34 -f slices.yaml
  slices.yaml:20:3: spec: exactly one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection must be set
  slices.yaml:20:11: spec.driver: "gpu tangram" is not a valid driver name: a DNS subdomain of at most 63 characters
  slices.yaml:21:16: spec.pool.name: "a//b" is not a valid pool name: DNS subdomains separated by /, at most 253 characters in all
  slices.yaml:21:36: spec.pool.generation: generation must be a whole number, at least 0
  slices.yaml:21:60: spec.pool.resourceSliceCount: resourceSliceCount must be a whole number, at least 1
  slices.yaml:23:13: spec.allNodes: is true or absent
  slices.yaml:26:12: spec.sharedCounters[1].name: there are two named "card"
  slices.yaml:26:37: spec.sharedCounters[1].counters.Memory: "Memory" is not a valid DNS label: at most 63 of a-z, 0-9 and -, beginning and ending with a letter or digit
  slices.yaml:26:45: spec.sharedCounters[1].counters.Memory.value: "much" is not a quantity; examples: 2, 0.5, 500m, 1500k, 16Gi, 1e3
  slices.yaml:27:5: spec.sharedCounters[2]: counters is missing
  slices.yaml:30:12: spec.devices[1].name: there are two named "gpu-0"
  slices.yaml:31:12: spec.devices[2].name: "GPU" is not a valid DNS label: at most 63 of a-z, 0-9 and -, beginning and ending with a letter or digit
  slices.yaml:41:5: spec.devices[0]: bindingConditions needs bindingFailureConditions
  slices.yaml:41:5: spec.devices[0]: nodeName, nodeSelector and allNodes of a device need perDeviceNodeSelection: true in the slice
  slices.yaml:44:12: spec.devices[0].attributes.two: exactly one value must be set: bool, int, string or version
  slices.yaml:45:18: spec.devices[0].attributes.with-dash: "with-dash" is not a valid attribute name: [domain/]identifier, the domain a DNS subdomain of at most 63, the identifier at most 32 of letters, digits and _, not beginning with a digit
  slices.yaml:46:22: spec.devices[0].attributes.long.string: has 70 bytes: at most 64 are allowed
  slices.yaml:47:26: spec.devices[0].attributes.version.version: "1.x" is not a semantic version (like 1.2.3): it begins with three numbers without leading zeros
  slices.yaml:48:28: spec.devices[0].attributes.tangram.dev/granted: no slice may publish attributes of domain tangram.dev: the guard of managed classes rests on it
  slices.yaml:50:15: spec.devices[0].capacity.memory: requestPolicy needs a device with allowMultipleAllocations: true
  slices.yaml:51:13: spec.devices[0].capacity.size: value is missing: a quantity, such as 80Gi
  slices.yaml:53:7: spec.devices[0].consumesCounters[0]: on Kubernetes 1.34 the counter set must stand in the same slice
  slices.yaml:54:7: spec.devices[0].consumesCounters[1]: on Kubernetes 1.34 the counter set must stand in the same slice
  slices.yaml:55:7: spec.devices[0].consumesCounters[2]: on Kubernetes 1.34 the counter set must stand in the same slice
  slices.yaml:55:20: spec.devices[0].consumesCounters[2].counterSet: there are two named "a"
  slices.yaml:57:13: spec.devices[0].taints[0].key: "example.com/a/b" is not a valid qualified name: [DNS subdomain/]name, the name at most 63 of letters, digits, -, _ and ., beginning and ending with a letter or digit
  slices.yaml:58:7: spec.devices[0].taints[1]: key is missing
  slices.yaml:58:16: spec.devices[0].taints[1].effect: effect is NoSchedule, NoExecute or, from Kubernetes 1.35 on, None
  slices.yaml:69:33: spec.devices[0].nodeSelector: must have exactly one term
  slices.yaml:70:5: spec.devices[1]: exactly one of nodeName, nodeSelector and allNodes must be set
  slices.yaml:81:16: spec.devices.requests[0].firstAvailable[1].name: there are two alternatives named "big"
  slices.yaml:81:68: spec.devices.requests[0].firstAvailable[1].tolerations[0].operator: operator is Equal or Exists
  slices.yaml:81:99: spec.devices.requests[0].firstAvailable[1].tolerations[1].value: value and operator Exists exclude each other
  slices.yaml:81:120: spec.devices.requests[0].firstAvailable[1].tolerations[2].effect: effect is NoSchedule, NoExecute, None or absent
  5 objects, 5 of kinds that are looked at: 34 problems
  [2]

Syntax.

  $ validate -f tabs.yaml -f twice.yaml -f anchors.yaml -f empty.yaml
  anchors.yaml:3:11: anchors (&m) are not supported; write the value out
  empty.yaml: there is no document in it
  tabs.yaml:4:1: not YAML: while scanning for the next token found character that cannot start any token
  twice.yaml:4:1: duplicate key "kind" in the mapping that ends here
  0 objects, 0 of kinds that are looked at: 4 problems
  [2]
