batch  arena               fits
1      -         -         can't be compiled
2      -         -         can't be compiled
3      16439232  15.7 MiB  yes
4      -         -         can't be compiled
15     19745664  18.8 MiB  yes
21     20932608  20.0 MiB  yes
24     20938496  20.0 MiB  yes
27     21407040  20.4 MiB  no
30     22134336  21.1 MiB  no
33     22861632  21.8 MiB  no
36     23588928  22.5 MiB  no
39     24316224  23.2 MiB  no
63     31438976  30.0 MiB  no
largest       batch=24: 20.0 MiB of 20.0 MiB
