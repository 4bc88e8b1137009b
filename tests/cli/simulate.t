The gang of the README on ten nodes of eight cards, in racks of four: the rack with the busy node is not taken.

  $ simulate ten-nodes.yaml llama.yaml
  gang default/llama-70b: placed
    llama-0  h-…  gpus=gpu-…,gpu-…,gpu-…,gpu-…,gpu-…,gpu-…,gpu-…,gpu-…
    llama-1  h-…  gpus=gpu-…,gpu-…,gpu-…,gpu-…,gpu-…,gpu-…,gpu-…,gpu-…
    llama-2  h-…  gpus=gpu-…,gpu-…,gpu-…,gpu-…,gpu-…,gpu-…,gpu-…,gpu-…
    llama-3  h-…  gpus=gpu-…,gpu-…,gpu-…,gpu-…,gpu-…,gpu-…,gpu-…,gpu-…
  fleet: 10 nodes, 80 cards: 7 in use before, 32 used here, 41 untouched
  answer: yes, everything fits

For programs, with the fields of Gang.status.plan:

  $ simulate -o json ten-nodes.yaml llama.yaml
  {"apiVersion":"tangram.dev/v1alpha1","kind":"Simulation","fits":true,"items":[{"kind":"Gang","namespace":"default","name":"llama-70b","fits":true,"phase":"Allocated","plan":{"epoch":1,"allocationTimestamp":"TIME","driver":"gpu.tangram.dev","members":[{"pod":"llama-0","uid":"…","node":"h-…","claims":[{"name":"llama-0-gpus","uid":"…","results":[{"request":"gpus","devices":["gpu-…"]}]}]}…}],"fleet":{"nodes":10,"cards":80,"cardsInUse":7,"cardsGiven":32,"memorySlices":0,"memorySlicesInUse":0}}

Yes or no; the exit code says it too.

  $ fit ten-nodes.yaml llama.yaml
  yes

What makes pods makes them as its controller would: sets that wait for their first pod make no second one, and the
explanation names the setting.

  $ simulate ten-nodes.yaml owners.yaml
  claim default/web-0-gpus: placed
    web-0  h-…
  claim default/web-1-gpus: placed
    web-1  h-…
  gang default/ordered: waits: Gathering
    1 of 2 members exist. JobSet steps creates a job only when the pods of the one before are ready,
    and pods that wait for their gang never are: set spec.startupPolicy.startupPolicyOrder: AnyOrder.
  gang default/serve-0-9f2bcbd1: placed
    serve-0    h-…
    serve-0-1  h-…
    serve-0-2  h-…
  gang default/serve-1-9f2bca1e: placed
    serve-1    h-…
    serve-1-1  h-…
    serve-1-2  h-…
  gang default/set: waits: Gathering
    1 of 3 members exist. StatefulSet set creates a pod only when the one before is ready, and a pod
    that waits for its gang never is: create the StatefulSet anew with spec.podManagementPolicy:
    Parallel.
  fleet: 10 nodes, 80 cards: 7 in use before, 14 used here, 59 untouched
  note: 10 pods lack the scheduling gate tangram.dev/gang; policies add it on Kubernetes 1.36 and newer
  note: kind Service means nothing here (1)
  answer: no, 2 of 6 wait
  [1]

Partitions of cards in dynamic MIG: on as few cards as hold them.

  $ simulate mig-nodes.yaml mig-pods.yaml
  claim default/big-0-gpu: placed
    big-0  m-…  gpu=gpu-…-3g-40gb-…
  claim default/big-1-gpu: placed
    big-1  m-…  gpu=gpu-…-3g-40gb-…
  claim default/big-2-gpu: placed
    big-2  m-…  gpu=gpu-…-3g-40gb-…
  claim default/big-3-gpu: placed
    big-3  m-…  gpu=gpu-…-3g-40gb-…
  claim default/big-4-gpu: placed
    big-4  m-…  gpu=gpu-…-3g-40gb-…
  claim default/small-0-gpu: placed
    small-0  m-…  gpu=gpu-…-1g-10gb-…
  claim default/small-1-gpu: placed
    small-1  m-…  gpu=gpu-…-1g-10gb-…
  claim default/small-2-gpu: placed
    small-2  m-…  gpu=gpu-…-1g-10gb-…
  claim default/small-3-gpu: placed
    small-3  m-…  gpu=gpu-…-1g-10gb-…
  fleet: 2 nodes, 4 cards: 0 in use before, 3 used here, 1 untouched
         24 of 32 memory slices of partitioned cards in use
  note: 9 pods lack the scheduling gate tangram.dev/gang; policies add it on Kubernetes 1.36 and newer
  answer: yes, everything fits

The workload from standard input.

  $ fit ten-nodes.yaml - < llama.yaml
  yes

What does not fit is explained: what is missing where, who has it, what would help.

  $ simulate small-nodes.yaml llama.yaml
  gang default/llama-70b: waits: …
  …
    Request gpus of claim default/llama-…-gpus: 8 of DeviceClass gpu.tangram.dev
  …
      claim busy/h-0: 1 on node h-0
  …
      with 3 members (FewerMembers)
  …
  fleet: 6 nodes, 48 cards: 1 in use before, 0 used here, 47 untouched
  answer: no, 1 of 1 wait
  [1]
  $ fit small-nodes.yaml llama.yaml
  no
  gang default/llama-70b: …
  [1]

One thing alone, as data.

  $ explain llama-70b -o json small-nodes.yaml llama.yaml
  {"apiVersion":"tangram.dev/v1alpha1","kind":"Explanation","item":{"kind":"Gang","namespace":"default","name":"llama-70b","fits":false,…"details":{…"helpsComplete":…}},"events":[]}
  [1]
  $ explain llama-70b -o yaml small-nodes.yaml llama.yaml
  kubectl-tangram: …
  [2]

A place that a gang of the cluster holds for a lost member is not free.

  $ fit ten-nodes.yaml nine.yaml
  yes
  $ fit ten-nodes.yaml held.yaml nine.yaml
  no
  claim default/nine-8-gpus: FragmentedDevices: 8 devices on one node are needed; 8 are free in all, but spread over 2 nodes with at most 7 each (best: node h-1 with 7 of 8; the others there are held by gang/default/running). It would fit now with 7 devices in request gpus
  [1]

Policies know what comes, as in the controller: who takes any card leaves the scarce one, although it is first, to those who need it.

  $ simulate mixed-nodes.yaml scarce.yaml
  claim default/any-0-gpu: placed
    any-0  b-0  gpu=gpu-0
  claim default/picky-0-gpu: placed
    picky-0  a-0  gpu=gpu-0
  claim default/picky-1-gpu: placed
    picky-1  a-0  gpu=gpu-1
  claim default/picky-2-gpu: placed
    picky-2  a-0  gpu=gpu-2
  claim default/picky-3-gpu: placed
    picky-3  a-0  gpu=gpu-3
  fleet: 2 nodes, 8 cards: 0 in use before, 5 used here, 3 untouched
  note: 5 pods lack the scheduling gate tangram.dev/gang; policies add it on Kubernetes 1.36 and newer
  answer: yes, everything fits

A quota is not a reason of ours: what it refuses is never created. Who reads that everything fits is told.

  $ simulate ten-nodes.yaml quota.yaml llama.yaml
  gang default/llama-70b: placed
    llama-0  h-4  gpus=gpu-0,gpu-1,gpu-2,gpu-3,gpu-4,gpu-5,gpu-6,gpu-7
    llama-1  h-5  gpus=gpu-0,gpu-1,gpu-2,gpu-3,gpu-4,gpu-5,gpu-6,gpu-7
    llama-2  h-6  gpus=gpu-0,gpu-1,gpu-2,gpu-3,gpu-4,gpu-5,gpu-6,gpu-7
    llama-3  h-7  gpus=gpu-0,gpu-1,gpu-2,gpu-3,gpu-4,gpu-5,gpu-6,gpu-7
  fleet: 10 nodes, 80 cards: 7 in use before, 32 used here, 41 untouched
  note: ResourceQuotas are not counted (1): pods and claims that one refuses are never created, and their gang waits for them
  answer: yes, everything fits

A pod with a volume: its claim waits for a class that nobody has told of; with the class, the volume is made where the pod goes.

  $ simulate ten-nodes.yaml volume.yaml
  claim default/one: waits: VolumeNotReady
    pod default/reader: its PersistentVolumeClaim data is not bound yet
  fleet: 10 nodes, 80 cards: 7 in use before, 0 used here, 73 untouched
  answer: no, 1 of 1 wait
  [1]
  $ simulate ten-nodes.yaml volume.yaml volume-class.yaml
  claim default/one: placed
    reader  h-0  gpu=gpu-7
  fleet: 10 nodes, 80 cards: 7 in use before, 1 used here, 72 untouched
  answer: yes, everything fits
