batch  arena               fits
1      -         -         can't be compiled
2      -         -         can't be compiled
3      16441408  15.7 MiB  yes
4      -         -         can't be compiled
6      18025024  17.2 MiB  yes
9      19608640  18.7 MiB  yes
12     21267904  20.3 MiB  no
15     23080896  22.0 MiB  no
18     24893888  23.7 MiB  no
21     26706880  25.5 MiB  no
24     28519872  27.2 MiB  no
30     32145856  30.7 MiB  no
63     54251456  51.7 MiB  no
largest       batch=9: 18.7 MiB of 20.0 MiB
