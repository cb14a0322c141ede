lstm.onnx     38.6 k parameters, 12 layers of 26 operators, 12 layers of 26 operators, input_ids i64[4,12]
forward       3.5 MFLOP; arena 310 KiB, 0 B wasted
peak          prediction of rnn: parameters 152 KiB, activations 86.6 KiB, constants 128 B, workspace 72.1 KiB

items     phase       block           in use   saved                            most while this runs
0 to 7    prediction  outside blocks  290 KiB  0 B    ######################    rnn: dot
8 to 15   prediction  outside blocks  189 KiB  0 B    ###############           rnn: copy
16 to 22  prediction  outside blocks  235 KiB  0 B    ##################        rnn: copy
24 to 26  prediction  rnn (x12)       310 KiB  0 B    ########################  peak: rnn: dot
29 to 37  prediction  outside blocks  305 KiB  0 B    ########################  rnn: dot
38 to 45  prediction  outside blocks  189 KiB  0 B    ###############           rnn: copy
46 to 51  prediction  outside blocks  235 KiB  0 B    ##################        rnn: copy
53 to 55  prediction  rnn (x12)       310 KiB  0 B    ########################  rnn: dot
58 to 61  prediction  outside blocks  218 KiB  0 B    #################         out: dot

peak          item 24, prediction of rnn
at the peak  bytes             of the arena
parameters   155200  152 KiB   48.8 %
activations  88640   86.6 KiB  27.9 %
constants    128     128 B     0.0 %
workspace    73792   72.1 KiB  23.2 %
arena        317760  310 KiB   100.0 %

bytes     category     items     held by
72.1 KiB  workspace    24 to 24  workspace of rnn
36.1 KiB  parameters   always    rnn.weight_hh_l0
36.1 KiB  parameters   always    rnn.weight_ih_l1
36.1 KiB  parameters   always    rnn.weight_hh_l1
36.1 KiB  activations  6 to 27   rnn: dot
36.1 KiB  activations  17 to 27  rnn: val_40
24.1 KiB  parameters   always    rnn.weight_ih_l0
9.8 KiB   activations  21 to 30  rnn: mul (x13)
9.4 KiB   parameters   always    out.weight
6.3 KiB   parameters   always    emb.weight
3.1 KiB   activations  24 to 26  rnn: dot
1.6 KiB   activations  22 to 27  rnn: add (x2)
832 B     parameters   always    rnn.bias_ih_l0
832 B     parameters   always    rnn.bias_hh_l0
832 B     parameters   always    rnn.bias_ih_l1
832 B     parameters   always    rnn.bias_hh_l1
320 B     parameters   always    out.bias
128 B     constants    always    constant
