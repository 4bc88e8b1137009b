Gangs that come and go: a departure lets those who wait try, in the controller's order.

  $ simulate ten-nodes.yaml --arrivals arrivals.csv
  7 gangs on 10 nodes with 80 cards, 1800 s
          time  running  waiting   in use   fragmented
            0s        1        0    48.8%         2.4%
           90s        4        3    73.8%        23.8%
          180s        3        3    53.8%        13.5%
          270s        3        3    53.8%        13.5%
          360s        2        3    51.2%        17.9%
          450s        2        3    51.2%        17.9%
          540s        2        3    51.2%        17.9%
          630s        2        2    51.2%        17.9%
          720s        2        2    51.2%        17.9%
          810s        2        2    51.2%        17.9%
          900s        2        2    51.2%        17.9%
          990s        2        2    51.2%        17.9%
         1080s        2        2    51.2%        17.9%
         1170s        2        2    51.2%        17.9%
         1260s        2        1    51.2%        17.9%
         1350s        2        1    51.2%        17.9%
         1440s        2        1    51.2%        17.9%
         1530s        2        1    51.2%        17.9%
         1620s        2        1    51.2%        17.9%
         1710s        2        1    51.2%        17.9%
         1800s        1        1    11.2%         9.9%
  mean in use 52.8%, of what was free 17.7% on nodes in use (fragmented)
  waiting: mean 288.3 s, median 0.0 s, 95 of 100 at most 1170.0 s, longest 1170.0 s
  1 never ran:
    huge: InsufficientDevices
  [1]

For programs.

  $ simulate -o json ten-nodes.yaml --arrivals arrivals.csv
  {"apiVersion":"tangram.dev/v1alpha1","kind":"Playback","nodes":10,"cards":80,"used":0.527639,"fragmented":0.176954,"waitMean_s":288.333,"waitMedian_s":0,"wait95_s":1170,"waitMax_s":1170,"neverRan":1,"gangs":[{"name":"train-a","at_s":0,"wait_s":0},{"name":"serve-1","at_s":10,"wait_s":0},{"name":"serve-2","at_s":20,"wait_s":0},{"name":"train-b","at_s":30,"wait_s":1170},{"name":"train-c","at_s":40,"wait_s":560},{"name":"train-d","at_s":50,"wait_s":0},{"name":"huge","at_s":60,"reason":"InsufficientDevices"}],"points":[{"at_s":0,"running":0,"waiting":0,"used":0.0875,"fragmented":0.0136986},{"at_s":0,"running":1,"waiting":0,"used":0.4875,"fragmented":0.0243902},{"at_s":10,"running":2,"waiting":0,"used":0.5125,"fragmented":0.179487},{"at_s":20,"running":3,"waiting":0,"used":0.5375,"fragmented":0.135135},{"at_s":30,"running":3,"waiting":1,"used":0.5375,"fragmented":0.135135},{"at_s":40,"running":3,"waiting":2,"used":0.5375,"fragmented":0.135135},{"at_s":50,"running":4,"waiting":2,"used":0.7375,"fragmented":0.238095},{"at_s":60,"running":4,"waiting":3,"used":0.7375,"fragmented":0.238095},{"at_s":150,"running":3,"waiting":3,"used":0.5375,"fragmented":0.135135},{"at_s":320,"running":2,"waiting":3,"used":0.5125,"fragmented":0.179487},{"at_s":600,"running":2,"waiting":2,"used":0.5125,"fragmented":0.179487},{"at_s":1200,"running":2,"waiting":1,"used":0.5125,"fragmented":0.179487},{"at_s":1800,"running":1,"waiting":1,"used":0.1125,"fragmented":0.0985915}]}
  [1]

A row that cannot be used is said with line and column.

  $ simulate ten-nodes.yaml --arrivals bad-arrivals.csv
  bad-arrivals.csv:2:9: duration_s: expected seconds, such as 30 or 0.5
  bad-arrivals.csv:3:1: at_s: expected seconds, such as 30 or 0.5
  bad-arrivals.csv:3:6: members: expected a whole number from 1 to 2048
  bad-arrivals.csv:3:8: gpus_per_member: expected a whole number from 1 to 32
  bad-arrivals.csv:4:3: name: there are two rows of this name
  bad-arrivals.csv:5:3: name: expected at most 40 lower-case letters, digits and '-'
  bad-arrivals.csv:6:11: there are more fields than the header has columns
  bad-arrivals.csv:7:7: gpus_per_member: expected a whole number from 1 to 32
  [2]
  $ simulate ten-nodes.yaml --arrivals nothing-there.csv
  nothing-there.csv: cannot open "nothing-there.csv": No such file or directory
  [2]
  $ simulate ten-nodes.yaml --arrivals arrivals.csv --class other
  kubectl-tangram: there is no DeviceClass other in the fleet; choose another with --class
  [2]
