nanogpt.onnx  94.9 k parameters, 3 layers of 65 operators, input_ids i64[4,16], labels i64[4,16]
step          34.5 MFLOP; arena 2.4 MiB, 0 B wasted
peak          backward of blocks.1: parameters 372 KiB, optimizer 744 KiB, gradients 129 KiB, saved 381 KiB, activations 85.2 KiB, constants 896 B, workspace 758 KiB

items       phase     block           in use   saved                              most while this runs
0 to 2      forward   outside blocks  1.5 MiB  381 KiB  ###############           node_add: add
8 to 18     forward   blocks (x3)     2.2 MiB  381 KiB  ######################    blocks.{}: attention
19 to 20    forward   blocks (x3)     1.6 MiB  381 KiB  ################          blocks.{}.out: dot
25 to 33    forward   outside blocks  1.5 MiB  406 KiB  ###############           head: dot
36 to 45    backward  outside blocks  1.6 MiB  405 KiB  ################          head: dot
49 to 62    backward  blocks (x3)     1.8 MiB  381 KiB  ##################        blocks.{}.out: dot
63 to 74    backward  blocks (x3)     2.4 MiB  381 KiB  ########################  peak: blocks.{}: attention_grad
76 to 85    backward  blocks (x3)     1.7 MiB  381 KiB  #################         blocks.{}.ln1: reduce_sum
88 to 97    backward  outside blocks  1.8 MiB  0 B      ##################        node_add: reduce_sum
98 to 101   update    outside blocks  1.5 MiB  0 B      ##############            grad_norm head.weight: reduce_sum
103 to 110  update    blocks (x3)     1.5 MiB  0 B      ##############            grad_norm blocks.{}.proj.weight: reduce_sum
111 to 118  update    blocks (x3)     1.5 MiB  0 B      ##############            grad_norm blocks.{}.fc.weight: reduce_sum
119 to 120  update    blocks (x3)     1.5 MiB  0 B      ##############            grad_norm blocks.{}.out.weight: mul reduce_sum add
123 to 139  update    outside blocks  1.5 MiB  0 B      ##############            grad_norm: reduce_sum
142 to 142  update    outside blocks  1.4 MiB  0 B      ##############            adamw head.weight: mul sub mul mul mul add mul mul add sqrt mul add div mul add
146 to 167  update    blocks (x3)     1.4 MiB  0 B      ##############            adamw blocks.{}.ln1.weight: mul sub mul mul mul add mul mul add sqrt mul add div mul add
170 to 179  update    blocks (x3)     1.4 MiB  0 B      ##############            adamw blocks.{}.fc.weight: mul sub mul mul mul add mul mul add sqrt mul add div mul add

saved         381 KiB for the backward part, at item 48, its first loop

peak          item 73, backward of blocks.1
at the peak  bytes              of the arena
parameters   380672   372 KiB   15.1 %
optimizer    761344   744 KiB   30.1 %
gradients    132160   129 KiB   5.2 %
saved        390208   381 KiB   15.4 %
activations  87232    85.2 KiB  3.4 %
constants    896      896 B     0.0 %
workspace    776512   758 KiB   30.7 %
arena        2529024  2.4 MiB   100.0 %

bytes     category     items      held by
758 KiB   workspace    73 to 73   workspace of blocks.{}
381 KiB   saved        2 to 87    blocks.{}.ln1: compensate and 10 others (x3)
110 KiB   gradients    48 to 180  gradient of blocks.{}.ln1.weight and 11 others (x3)
108 KiB   parameters   always     blocks.{}.fc.weight (x3)
108 KiB   parameters   always     blocks.{}.out.weight (x3)
108 KiB   optimizer    always     blocks.{}.fc.weight.exp_avg (x3)
108 KiB   optimizer    always     blocks.{}.fc.weight.exp_avg_sq (x3)
108 KiB   optimizer    always     blocks.{}.out.weight.exp_avg (x3)
108 KiB   optimizer    always     blocks.{}.out.weight.exp_avg_sq (x3)
81.1 KiB  parameters   always     blocks.{}.qkv.weight (x3)
81.1 KiB  optimizer    always     blocks.{}.qkv.weight.exp_avg (x3)
81.1 KiB  optimizer    always     blocks.{}.qkv.weight.exp_avg_sq (x3)
36.1 KiB  activations  73 to 85   blocks.{}.qkv: concat
27.1 KiB  parameters   always     blocks.{}.proj.weight (x3)
27.1 KiB  optimizer    always     blocks.{}.proj.weight.exp_avg (x3)
27.1 KiB  optimizer    always     blocks.{}.proj.weight.exp_avg_sq (x3)
24.1 KiB  activations  44 to 91   blocks.{}.ln1: add (x2)
18.1 KiB  parameters   always     wte.weight
18.1 KiB  parameters   always     head.weight
18.1 KiB  optimizer    always     wte.weight.exp_avg
133 KiB                           52 others
