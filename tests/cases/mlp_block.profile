mlp.onnx      6.9 k parameters, x f32[8,32], labels i64[8]
step          585.7 kFLOP; arena 167 KiB, 0 B wasted
peak          backward of 0: parameters 27.4 KiB, optimizer 54.9 KiB, accumulators 27.7 KiB, gradients 19.4 KiB, saved 2.2 KiB, activations 1.2 KiB, constants 2.0 KiB, workspace 32.1 KiB
simulated     234 us = compute 234 us + exposed communication 0 us (0 us hidden)

block           phase     statements  runs  flops      read      written   sent  time     of the time
outside blocks  forward   10          20    223 kFLOP  82.8 KiB  14.1 KiB  -     60.0 us  25.6 %
outside blocks  backward  20          40    409 kFLOP  266 KiB   137 KiB   -     120 us   51.3 %
outside blocks  update    18          18    159 kFLOP  136 KiB   109 KiB   -     54.1 us  23.1 %
all                       48          78    792 kFLOP  485 KiB   260 KiB   -     234 us   100.0 %
