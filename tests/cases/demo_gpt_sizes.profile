batch  arena               fits
1      -         -         can't be compiled
2      -         -         can't be compiled
3      16444160  15.7 MiB  yes
4      -         -         can't be compiled
15     19745664  18.8 MiB  yes
21     20932608  20.0 MiB  yes
24     20947520  20.0 MiB  yes
27     21417088  20.4 MiB  no
30     22145408  21.1 MiB  no
33     22873728  21.8 MiB  no
36     23602048  22.5 MiB  no
39     24330368  23.2 MiB  no
63     31438976  30.0 MiB  no
largest       batch=24: 20.0 MiB of 20.0 MiB
