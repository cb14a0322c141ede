nanogpt.onnx  94.9 k parameters, 3 layers of 65 operators, input_ids i64[4,16], labels i64[4,16]
step          34.5 MFLOP; arena 1.7 MiB, 0 B wasted
peak          prediction of blocks.1: parameters 199 KiB, optimizer 400 KiB, activations 74.9 KiB, copies 274 KiB, constants 768 B, workspace 832 KiB
simulated     731 us = compute 691 us + exposed communication 39.4 us (160 us hidden)

operators                                 phase     statements  runs  flops       read      written   sent      time     of the time
mul sub mul mul mul add mul add sqrt ...  update    16          38    1.01 MFLOP  787 KiB   590 KiB   -         114 us   12.8 %
mul reduce_sum                            update    16          38    190 kFLOP   377 KiB   7.0 KiB   -         114 us   12.8 %
start all_gather                          update    6           16    0 FLOP      0 B       0 B       172 KiB   97.0 us  10.9 %
reduce_sum                                backward  11          27    96.8 kFLOP  387 KiB   8.7 KiB   -         81.1 us  9.1 %
dot                                       backward  10          26    11.2 MFLOP  1.1 MiB   345 KiB   -         79.7 us  8.9 %
start all_reduce                          backward  3           7     0 FLOP      0 B       0 B       84.0 KiB  42.3 us  4.7 %
dot                                       forward   5           13    5.6 MFLOP   555 KiB   210 KiB   -         39.8 us  4.5 %
all_reduce                                forward   2           6     0 FLOP      144 KiB   72.0 KiB  72.0 KiB  36.3 us  4.1 %
reduce_sum                                update    6           12    1.78 kFLOP  7.0 KiB   48 B      -         36.0 us  4.0 %
mul reduce_sum mul add sqrt div mul ...   backward  2           6     194 kFLOP   440 KiB   291 KiB   -         18.3 us  2.0 %
mul mul add add add add                   backward  2           6     111 kFLOP   255 KiB   72.0 KiB  -         18.1 us  2.0 %
start all_gather                          backward  1           3     0 FLOP      0 B       0 B       1.1 KiB   18.0 us  2.0 %
shard                                     update    2           6     0 FLOP      6.8 KiB   2.2 KiB   -         18.0 us  2.0 %
add                                       forward   2           4     16.9 kFLOP  136 KiB   66.0 KiB  -         12.1 us  1.4 %
reduce_sum mul sub reduce_sum mul ...     forward   2           4     114 kFLOP   100 KiB   50.5 KiB  -         12.1 us  1.4 %
add div erf add mul mul mul mul mul ...   backward  1           3     829 kFLOP   217 KiB   144 KiB   -         9.13 us  1.0 %
add div erf add mul mul                   forward   1           3     424 kFLOP   145 KiB   72.0 KiB  -         9.08 us  1.0 %
attention_grad                            backward  1           3     295 kFLOP   147 KiB   54.0 KiB  -         9.07 us  1.0 %
add add reduce_sum mul sub ...            forward   1           3     104 kFLOP   111 KiB   73.5 KiB  -         9.07 us  1.0 %
add add                                   forward   1           3     18.4 kFLOP  109 KiB   36.0 KiB  -         9.05 us  1.0 %
attention                                 forward   1           3     147 kFLOP   75.0 KiB  21.0 KiB  -         9.03 us  1.0 %
sub mul mul mul add mul add               update    1           3     4.03 kFLOP  6.8 KiB   4.5 KiB   -         9.00 us  1.0 %
mul sqrt mul add div mul add              update    1           3     3.74 kFLOP  3.4 KiB   1.1 KiB   -         9.00 us  1.0 %
mul reduce_sum add                        update    1           3     291 FLOP    600 B     12 B      -         9.00 us  1.0 %
add add add add add add add add add add   update    1           3     30 FLOP     144 B     12 B      -         9.00 us  1.0 %
copy                                      update    1           3     0 FLOP      24 B      12 B      -         9.00 us  1.0 %
start all_gather                          forward   1           1     0 FLOP      0 B       0 B       12.0 KiB  6.08 us  0.7 %
mul mul reduce_sum mul neg mul sub ...    backward  1           1     31.6 kFLOP  73.9 KiB  48.5 KiB  -         3.04 us  0.3 %
select neg div iota eq select sub ...     backward  1           1     92.5 kFLOP  25.1 KiB  24.0 KiB  -         3.02 us  0.3 %
mul mul add add add                       backward  1           1     15.4 kFLOP  36.5 KiB  12.0 KiB  -         3.02 us  0.3 %
scatter                                   backward  1           1     0 FLOP      30.5 KiB  18.0 KiB  -         3.02 us  0.3 %
shard                                     backward  1           1     0 FLOP      36.0 KiB  12.0 KiB  -         3.02 us  0.3 %
gather                                    forward   1           1     0 FLOP      24.5 KiB  12.0 KiB  -         3.01 us  0.3 %
sub exp reduce_sum log iota eq ...        forward   1           1     92.9 kFLOP  25.3 KiB  512 B     -         3.01 us  0.3 %
reduce_max                                forward   1           1     6.14 kFLOP  24.2 KiB  256 B     -         3.01 us  0.3 %
eq not cast reduce_sum lt le or and ...   backward  1           1     772 FLOP    1.1 KiB   584 B     -         3.00 us  0.3 %
lt add select                             forward   1           1     192 FLOP    1.0 KiB   512 B     -         3.00 us  0.3 %
add lt select                             backward  1           1     192 FLOP    512 B     512 B     -         3.00 us  0.3 %
reduce_min                                forward   1           1     64 FLOP     520 B     8 B       -         3.00 us  0.3 %
reduce_sum                                forward   1           1     64 FLOP     260 B     4 B       -         3.00 us  0.3 %
cast cast pow sub cast div cast cast ...  update    1           1     66 FLOP     40 B      20 B      -         3.00 us  0.3 %
add add add add add add sqrt              update    1           1     10 FLOP     24 B      4 B       -         3.00 us  0.3 %
mod                                       forward   1           1     10 FLOP     8 B       8 B       -         3.00 us  0.3 %
wait for all_gather                       backward  1           3     0 FLOP      0 B       0 B       -         0 us     0.0 %
wait for all_gather                       forward   1           1     0 FLOP      0 B       0 B       -         0 us     0.0 %
wait for all_gather                       update    6           16    0 FLOP      0 B       0 B       -         0 us     0.0 %
wait for all_reduce                       backward  3           7     0 FLOP      0 B       0 B       -         0 us     0.0 %
all                                                 125         289   20.6 MFLOP  5.3 MiB   2.2 MiB   341 KiB   891 us   100.0 %
