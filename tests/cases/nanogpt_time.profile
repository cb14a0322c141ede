nanogpt.onnx  94.9 k parameters, 3 layers of 55 operators, input_ids i64[4,16], labels i64[4,16]
step          34.5 MFLOP; arena 2.4 MiB, 0 B wasted
peak          backward of blocks.1: parameters 372 KiB, optimizer 744 KiB, gradients 129 KiB, saved 378 KiB, activations 85.2 KiB, constants 896 B, workspace 758 KiB

items       phase     block           in use   saved                              most while this runs
0 to 2      forward   outside blocks  1.5 MiB  378 KiB  ###############           node_add: add
7 to 16     forward   blocks (x3)     2.2 MiB  378 KiB  ######################    blocks.{}: attention
17 to 18    forward   blocks (x3)     1.6 MiB  378 KiB  ################          blocks.{}.out: dot
22 to 31    forward   outside blocks  1.5 MiB  403 KiB  ###############           head: dot
34 to 43    backward  outside blocks  1.6 MiB  402 KiB  ################          head: dot
47 to 60    backward  blocks (x3)     1.8 MiB  378 KiB  ##################        blocks.{}.out: dot
61 to 72    backward  blocks (x3)     2.4 MiB  378 KiB  ########################  peak: blocks.{}: attention_grad
74 to 83    backward  blocks (x3)     1.7 MiB  378 KiB  #################         blocks.{}.ln1: reduce_sum
86 to 95    backward  outside blocks  1.8 MiB  0 B      ##################        node_add: reduce_sum
96 to 99    update    outside blocks  1.5 MiB  0 B      ##############            grad_norm head.weight: reduce_sum
101 to 108  update    blocks (x3)     1.5 MiB  0 B      ##############            grad_norm blocks.{}.proj.weight: reduce_sum
109 to 116  update    blocks (x3)     1.5 MiB  0 B      ##############            grad_norm blocks.{}.fc.weight: reduce_sum
117 to 118  update    blocks (x3)     1.5 MiB  0 B      ##############            grad_norm blocks.{}.out.weight: mul reduce_sum add
121 to 137  update    outside blocks  1.5 MiB  0 B      ##############            grad_norm: reduce_sum
140 to 140  update    outside blocks  1.4 MiB  0 B      ##############            adamw head.weight: mul sub mul mul mul add mul mul add sqrt mul add div mul add
144 to 165  update    blocks (x3)     1.4 MiB  0 B      ##############            adamw blocks.{}.ln1.weight: mul sub mul mul mul add mul mul add sqrt mul add div mul add
168 to 177  update    blocks (x3)     1.4 MiB  0 B      ##############            adamw blocks.{}.fc.weight: mul sub mul mul mul add mul mul add sqrt mul add div mul add

saved         378 KiB for the backward part, at item 46, its first loop

peak          item 71, backward of blocks.1
at the peak  bytes              of the arena
parameters   380672   372 KiB   15.1 %
optimizer    761344   744 KiB   30.2 %
gradients    132160   129 KiB   5.2 %
saved        387136   378 KiB   15.3 %
activations  87232    85.2 KiB  3.5 %
constants    896      896 B     0.0 %
workspace    775744   758 KiB   30.7 %
arena        2525184  2.4 MiB   100.0 %

bytes     category     items      held by
758 KiB   workspace    71 to 71   workspace of blocks.{}
378 KiB   saved        2 to 85    blocks.{}.ln1: mul and 9 others (x3)
110 KiB   gradients    46 to 178  gradient of blocks.{}.ln1.weight and 11 others (x3)
108 KiB   parameters   always     blocks.{}.fc.weight (x3)
108 KiB   parameters   always     blocks.{}.out.weight (x3)
108 KiB   optimizer    always     blocks.{}.fc.weight.exp_avg (x3)
108 KiB   optimizer    always     blocks.{}.fc.weight.exp_avg_sq (x3)
108 KiB   optimizer    always     blocks.{}.out.weight.exp_avg (x3)
108 KiB   optimizer    always     blocks.{}.out.weight.exp_avg_sq (x3)
81.1 KiB  parameters   always     blocks.{}.qkv.weight (x3)
81.1 KiB  optimizer    always     blocks.{}.qkv.weight.exp_avg (x3)
81.1 KiB  optimizer    always     blocks.{}.qkv.weight.exp_avg_sq (x3)
36.1 KiB  activations  71 to 83   blocks.{}.qkv: concat
27.1 KiB  parameters   always     blocks.{}.proj.weight (x3)
27.1 KiB  optimizer    always     blocks.{}.proj.weight.exp_avg (x3)
27.1 KiB  optimizer    always     blocks.{}.proj.weight.exp_avg_sq (x3)
24.1 KiB  activations  42 to 89   blocks.{}.ln1: add (x2)
18.1 KiB  parameters   always     wte.weight
18.1 KiB  parameters   always     head.weight
18.1 KiB  optimizer    always     wte.weight.exp_avg
133 KiB                           52 others
