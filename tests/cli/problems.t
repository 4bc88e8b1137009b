What cannot be used is said with file, line and column, all of it, and the exit code is 2.

  $ simulate bad-fleet.yaml
  bad-fleet.yaml:4:11: nodes[0].count: expected a whole number from 1 to 100000
  bad-fleet.yaml:4:46: nodes[0]: no card is known as "NVIDIA H100 80G"; the nearest: "NVIDIA H100 80GB HBM3", "NVIDIA A100 80GB PCIe", "NVIDIA A800 80GB PCIe"; for any other card give gpuMemory
  bad-fleet.yaml:5:9: nodes[1].mog: unknown field; known here: count, prefix, name, gpus, product, gpuMemory, mig, cpu, memory, pods, per, labels
  bad-fleet.yaml:5:20: nodes[1].gpus: expected a whole number from 0 to 64
  bad-fleet.yaml:5:30: nodes[1]: mig is off or dynamic
  bad-fleet.yaml:5:48: nodes[1]: per: expected the name of a level and how many nodes make one domain of it, such as {rack: 16}
  bad-fleet.yaml:5:57: nodes[1].cpu: expected a quantity such as 96 or 1Ti
  bad-fleet.yaml:6:3: nodes[2]: a node with a name is one node: leave count out, or give a prefix
  bad-fleet.yaml:6:3: nodes[2]: prefix (or name) must be lower-case letters, digits and '-'
  bad-fleet.yaml:7:15: busy[0]: there is no such node above
  bad-fleet.yaml:7:28: busy[1]: node and gpus are needed
  bad-fleet.yaml:7:39: busy[2]: expected a mapping
  bad-fleet.yaml:8:8: nodez: unknown field; known here: apiVersion, kind, metadata, nodes, busy
  [2]
  $ simulate busy-mig.yaml
  busy-mig.yaml:6:24: busy[0]: the node has fewer whole cards (none where mig is dynamic): name fewer, or give fleet and claims as manifests
  busy-mig.yaml:6:44: busy[1]: the node has fewer whole cards (none where mig is dynamic): name fewer, or give fleet and claims as manifests
  [2]
  $ simulate nothing-there.yaml
  nothing-there.yaml: cannot open "nothing-there.yaml": No such file or directory
  [2]
  $ simulate llama.yaml --frobnicate
  kubectl-tangram: unknown option "--frobnicate"; see kubectl-tangram simulate --help
  [2]
  $ simulate
  kubectl-tangram: no file is given; see kubectl-tangram simulate --help
  [2]
  $ validat x
  kubectl-tangram: there is no verb "validat"
  
  Usage: kubectl tangram VERB [OPTION]... [ARGUMENT]...
  
    simulate   where a workload would go on a fleet, without a cluster
    fit        would it run now? yes or no, and why not
    validate   are manifests right? file, line, column
    explain    why does it wait?
    dump       what a decision reads of the cluster, without secrets
    release    let waiting pods go when the controller is gone
    uninstall  let pods and gangs go that a removed Tangram has left behind
  
  kubectl tangram VERB --help says more; --version prints the version.
  Exit codes: 0 yes or done; 1 no (it does not fit, it waits); 2 arguments or files that cannot be used;
  3 the cluster cannot be reached or refuses.
  [2]
  $ --version
  kubectl-tangram 0.1.0

What follows from a problem is not told as another one: the template is there.

  $ simulate ten-nodes.yaml bad-template.yaml
  bad-template.yaml:4:97: spec.spec.devices.requests[0].exactly.count: expected an integer, found a string
  [2]

Who forgets the fleet is told why a cluster is looked for.

  $ fit --kubeconfig nothing-there llama.yaml
  kubectl-tangram: the files hold no nodes, and there is no cluster to ask instead: cannot open "nothing-there": No such file or directory
  [3]
