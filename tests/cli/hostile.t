Files that nobody means well with end in an error with their name, exit code 2, and within the limit of memory of `run`: too deep, cut
off, binary, of other types, with cycles, or standing for more than fits.

  $ simulate hostile/binary.yaml
  hostile/binary.yaml:1:1: this is no Kubernetes object: it needs apiVersion and kind
  [2]
  $ simulate hostile/cycle.yaml
  hostile/cycle.yaml:1:1: anchors (&a) are not supported; write the value out
  [2]
  $ simulate hostile/deep.json
  hostile/deep.json:1:355: nested deeper than 64 levels
  [2]
  $ simulate hostile/deep.yaml
  hostile/deep.yaml:3:74: nested deeper than 64 levels
  [2]
  $ simulate hostile/laughs.yaml
  hostile/laughs.yaml:1:4: anchors (&a) are not supported; write the value out
  [2]
  $ simulate hostile/many-pods.yaml
  hostile/many-pods.yaml:4:18: replicas: expected a whole number from 0 to 100000
  hostile/many-pods.yaml:6:1: spec: more than 100000 pods all together
  hostile/many-pods.yaml:13:1: spec: more than 100000 pods all together
  [2]
  $ simulate hostile/merge.yaml
  hostile/merge.yaml:3:1: merge keys (<<) are not supported; write the values out
  [2]
  $ simulate hostile/names.yaml
  hostile/names.yaml:6:1: metadata: name (and namespace) must be there, of lower-case letters, digits, '-' and '.'
  hostile/names.yaml:11:1: metadata: name (and namespace) must be there, of lower-case letters, digits, '-' and '.'
  [2]
  $ simulate hostile/nul.yaml
  hostile/nul.yaml:3:18: a string with a NUL character
  [2]
  $ simulate hostile/terminal.yaml
  hostile/terminal.yaml:1:1: metadata: name (and namespace) must be there, of lower-case letters, digits, '-' and '.'
  [2]
  $ simulate hostile/truncated.json
  hostile/truncated.json:2:1: not YAML: while parsing a flow mapping did not find expected ',' or '}'
  [2]
  $ simulate hostile/truncated.yaml
  hostile/truncated.yaml:4:1: not YAML: while parsing a flow mapping did not find expected ',' or '}'
  [2]
  $ simulate hostile/types.yaml
  hostile/types.yaml:10:1: this is no Kubernetes object: it needs apiVersion and kind
  hostile/types.yaml:28:1: this is no Kubernetes object: it needs apiVersion and kind
  hostile/types.yaml:31:1: this is no Kubernetes object: it needs apiVersion and kind
  [2]
  $ simulate hostile/utf16.yaml
  hostile/utf16.yaml: not YAML: invalid leading UTF-8 octet (byte 0)
  [2]
  $ validate hostile/types.yaml hostile/names.yaml
  hostile/names.yaml:8:11: metadata: name is missing, or is not of lower-case letters, digits, '-' and '.'
  hostile/names.yaml:13:11: metadata: name is missing, or is not of lower-case letters, digits, '-' and '.'
  hostile/types.yaml:7:11: metadata: expected an object, found a string
  hostile/types.yaml:7:11: metadata: name is missing, or is not of lower-case letters, digits, '-' and '.'
  hostile/types.yaml:10:1: this is no Kubernetes object: it needs apiVersion and kind
  hostile/types.yaml:16:35: spec.template: spec is missing
  hostile/types.yaml:26:17: spec.devices: expected an array, found an object
  hostile/types.yaml:28:1: this is no Kubernetes object: it needs apiVersion and kind
  hostile/types.yaml:31:1: this is no Kubernetes object: it needs apiVersion and kind
  8 objects, 7 of kinds that are looked at: 9 problems
  [2]
  $ simulate hostile/many-nodes.yaml
  hostile/many-nodes.yaml:4:3: nodes[0]: the fleet has more than a million cards: make it smaller
  hostile/many-nodes.yaml:5:3: nodes[1]: the fleet has more than a million cards: make it smaller
  hostile/many-nodes.yaml:6:3: nodes[2]: the fleet has more than a million cards: make it smaller
  hostile/many-nodes.yaml:7:3: nodes[3]: the fleet has more than a million cards: make it smaller
  hostile/many-nodes.yaml:8:3: nodes[4]: the fleet has more than a million cards: make it smaller
  [2]
  $ simulate /dev/zero
  /dev/zero: "/dev/zero" is larger than the 67108864 bytes that are read at most
  [2]
  $ simulate .
  .: cannot read ".": Is a directory
  [2]
