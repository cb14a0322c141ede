// Tests the sharded graph that all ranks run, for plans by well known rules, and messages about
// impossible plans.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/lower.h"
#include "tests/lower/plans.h"

// A plan is a list of words. `NAME=[x0,-]` is a storage spec. `NAME:xy` says for each axis what it
// splits in the node that makes NAME: a letter of the node's rule, `-` for nothing, `+` for partial
// inputs, `0` if only input 0 is partial; `_` means a blank. Other nodes are not split, and other
// values are stored as they are made.
typedef struct Case {
    const char *name, *graph, *plan, *result;  // result: the sharded graph, or the message
    bool is_joined;                            // small collectives are bucketed
} Case;

#define LAYER                                                                                      \
    "graph \"g\" training {\n"                                                                     \
    "  input %x f32[4,6]\n"                                                                        \
    "  parameter %w f32[6,2]\n"                                                                    \
    "  constant %k f32[2] = [1,2]\n"                                                               \
    "  %c f32[4,6] = cumsum(%x) axis=1\n"                                                          \
    "  %e f32[4,6] = exp(%c)\n"                                                                    \
    "  %y f32[4,2] = dot(%e, %w) eq=\"mk,kn->mn\"\n"                                               \
    "  %b f32[6,2] = broadcast(%k) shape=[6,2] dims=[1] update\n"                                  \
    "  %u f32[6,2] = add(%w, %b) update\n"                                                         \
    "  output model \"y\" %y\n"                                                                    \
    "  carry step %w %u\n"                                                                         \
    "}\n"

static const Case cases[] = {
    {"a linear layer split by columns, the next by rows: one sum",
     "graph \"g\" {\n"
     "  input %x f32[4,6]\n"
     "  parameter %v f32[6,7]\n"
     "  parameter %w f32[7,5]\n"
     "  %h f32[4,7] = dot(%x, %v) eq=\"mk,kn->mn\"\n"
     "  %t f32[4,7] = tanh(%h)\n"
     "  %y f32[4,5] = dot(%t, %w) eq=\"mk,kn->mn\"\n"
     "  output model \"y\" %y\n"
     "}\n",
     "v=[-,x1] w=[x1,-] x=[x0,-] h:mn t:ab y:mk y=[x0,-]",
     "graph \"g\" {\n"
     "  input %x f32[2,6]\n"
     "  parameter %v f32[6,3]\n"
     "  parameter %w f32[3,5]\n"
     "  %h f32[2,3] = dot(%x, %v) eq=\"mk,kn->mn\"\n"
     "  %t f32[2,3] = tanh(%h)\n"
     "  %v6 f32[2,5] = dot(%t, %w) eq=\"mk,kn->mn\"\n"
     "  %y f32[2,5] = all_reduce(%v6) axes=[1] ranks=[3] op=\"sum\"\n"
     "  output model \"y\" %y\n"
     "}\n"},
    {"a parameter that is stored split is gathered once for two readers",
     "graph \"g\" {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w f32[6,6]\n"
     "  %h f32[4,6] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
     "  %y f32[4,6] = dot(%h, %w) eq=\"mk,nk->mn\"\n"
     "  output model \"y\" %y\n"
     "}\n",
     "w=[x0+x1,-] x=[x0+x1,-] h:mm y:mm",
     "graph \"g\" {\n"
     "  input %x f32[1,6]\n"
     "  parameter %w f32[1,6]\n"
     "  %v3 f32[3,6] = all_gather(%w) axes=[1] ranks=[3] size=3\n"
     "  %v4 f32[6,6] = all_gather(%v3) axes=[0] ranks=[2] size=6\n"
     "  %h f32[1,6] = dot(%x, %v4) eq=\"mk,kn->mn\"\n"
     "  %y f32[1,6] = dot(%h, %v4) eq=\"mk,nk->mn\"\n"
     "  output model \"y\" %y\n"
     "}\n"},
    {"rows of a table that is split: the shards' rows add up, and so do they through a product",
     "graph \"g\" {\n"
     "  input %i i64[4]\n"
     "  input %s f32[4,3]\n"
     "  parameter %e f32[97,3]\n"
     "  %r f32[4,3] = gather(%e, %i)\n"
     "  %y f32[4,3] = mul(%r, %s)\n"
     "  %b f32[2,4,3] = broadcast(%y) shape=[2,4,3] dims=[1,2]\n"
     "  output model \"b\" %b\n"
     "}\n",
     "e=[x1,-] r:-a y:-0 b:c+ b=[x0,x1,-]",
     "graph \"g\" {\n"
     "  input %i i64[4]\n"
     "  input %s f32[4,3]\n"
     "  parameter %e f32[33,3]\n"
     "  %r f32[4,3] = gather(%e, %i)\n"
     "  %y f32[4,3] = mul(%r, %s)\n"
     "  %v6 f32[1,4,3] = broadcast(%y) shape=[1,4,3] dims=[1,2]\n"
     "  %b f32[1,2,3] = reduce_scatter(%v6) axes=[1] ranks=[3] dim=1 op=\"sum\"\n"
     "  output model \"b\" %b\n"
     "}\n"},
    {"attributes of shards; what has fewer elements than there are ranks",
     "graph \"g\" {\n"
     "  %i i64[5,3] = iota() shape=[5,3] axis=0 dtype=i64\n"
     "  %s i64[5,2] = slice(%i) start=[0,1] size=[5,2] stride=[1,1]\n"
     "  %r i64[5,2,1] = reshape(%s) shape=[5,2,1]\n"
     "  %m i64[2,1] = reduce_max(%r) axes=[0]\n"
     "  output model \"m\" %m\n"
     "}\n",
     "i:aa s:aa r:aa m:aa m=[-,-]",
     "graph \"g\" {\n"
     "  %i i64[1,3] = iota() shape=[1,3] dtype=i64\n"
     "  %s i64[1,2] = slice(%i) start=[0,1] size=[1,2] stride=[1,1]\n"
     "  %r i64[1,2,1] = reshape(%s) shape=[1,2,1]\n"
     "  %v4 i64[2,1] = reduce_max(%r) axes=[0]\n"
     "  %v5 i64[2,1] = all_reduce(%v4) axes=[0] ranks=[2] op=\"max\"\n"
     "  %m i64[2,1] = all_reduce(%v5) axes=[1] ranks=[3] op=\"max\"\n"
     "  output model \"m\" %m\n"
     "}\n"},
    {"layers: what begins the chain is brought to where the layers' results are, outside of the "
     "loop",
     "graph \"g\" {\n"
     "  input %x f32[4,6]\n"
     "  input %c f32[4,6]\n"
     "  parameter %w0 f32[6,6]\n"
     "  parameter %w1 f32[6,6]\n"
     "  parameter %w2 f32[6,6]\n"
     "  %h0 f32[4,6] = dot(%x, %w0) eq=\"mk,kn->mn\"\n"
     "  %y0 f32[4,6] = add(%h0, %c)\n"
     "  %h1 f32[4,6] = dot(%y0, %w1) eq=\"mk,kn->mn\"\n"
     "  %y1 f32[4,6] = add(%h1, %c)\n"
     "  %h2 f32[4,6] = dot(%y1, %w2) eq=\"mk,kn->mn\"\n"
     "  %y2 f32[4,6] = add(%h2, %c)\n"
     "  output model \"y2\" %y2\n"
     "}\n",
     "h0:-k h1:-k h2:-k y0:ab y1:ab y2:ab",
     "graph \"g\" {\n"
     "  class 1 \"\" 3\n"
     "  input %x f32[4,6]\n"
     "  input %c f32[4,6]\n"
     "  parameter %w0 f32[6,6] block 1.0.0\n"
     "  parameter %w1 f32[6,6] block 1.1.0\n"
     "  parameter %w2 f32[6,6] block 1.2.0\n"
     "  %v6 f32[4,2] = shard(%x) axes=[1] ranks=[3] dim=1\n"
     "  %v7 f32[2,2] = shard(%v6) axes=[0] ranks=[2]\n"
     "  %v8 f32[4,2] = all_gather(%v7) axes=[0] ranks=[2] size=4 block 1.0.0\n"
     "  %v9 f32[2,6] = shard(%w0) axes=[1] ranks=[3] block 1.0.1\n"
     "  %h0 f32[4,6] = dot(%v8, %v9) eq=\"mk,kn->mn\" block 1.0.2\n"
     "  %v11 f32[2,6] = shard(%h0) axes=[0] ranks=[2] block 1.0.3\n"
     "  %v12 f32[2,2] = reduce_scatter(%v11) axes=[1] ranks=[3] dim=1 op=\"sum\" block 1.0.4\n"
     "  %v13 f32[4,2] = shard(%c) axes=[1] ranks=[3] dim=1\n"
     "  %v14 f32[2,2] = shard(%v13) axes=[0] ranks=[2]\n"
     "  %y0 f32[2,2] = add(%v12, %v14) block 1.0.5\n"
     "  %v16 f32[4,2] = all_gather(%y0) axes=[0] ranks=[2] size=4 block 1.1.0\n"
     "  %v17 f32[2,6] = shard(%w1) axes=[1] ranks=[3] block 1.1.1\n"
     "  %h1 f32[4,6] = dot(%v16, %v17) eq=\"mk,kn->mn\" block 1.1.2\n"
     "  %v19 f32[2,6] = shard(%h1) axes=[0] ranks=[2] block 1.1.3\n"
     "  %v20 f32[2,2] = reduce_scatter(%v19) axes=[1] ranks=[3] dim=1 op=\"sum\" block 1.1.4\n"
     "  %y1 f32[2,2] = add(%v20, %v14) block 1.1.5\n"
     "  %v22 f32[4,2] = all_gather(%y1) axes=[0] ranks=[2] size=4 block 1.2.0\n"
     "  %v23 f32[2,6] = shard(%w2) axes=[1] ranks=[3] block 1.2.1\n"
     "  %h2 f32[4,6] = dot(%v22, %v23) eq=\"mk,kn->mn\" block 1.2.2\n"
     "  %v25 f32[2,6] = shard(%h2) axes=[0] ranks=[2] block 1.2.3\n"
     "  %v26 f32[2,2] = reduce_scatter(%v25) axes=[1] ranks=[3] dim=1 op=\"sum\" block 1.2.4\n"
     "  %y2 f32[2,2] = add(%v26, %v14) block 1.2.5\n"
     "  output model \"y2\" %y2\n"
     "}\n"},
    {"each phase has its own copy",
     "graph \"g\" {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w f32[6,6]\n"
     "  %h f32[4,6] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
     "  %y f32[4,6] = dot(%h, %w) eq=\"mk,nk->mn\" backward\n"
     "  output model \"y\" %y\n"
     "}\n",
     "w=[x1,-] x=[x0,-] h:m- y:m-",
     "graph \"g\" {\n"
     "  input %x f32[2,6]\n"
     "  parameter %w f32[2,6]\n"
     "  %v3 f32[6,6] = all_gather(%w) axes=[1] ranks=[3] size=6\n"
     "  %h f32[2,6] = dot(%x, %v3) eq=\"mk,kn->mn\"\n"
     "  %v5 f32[6,6] = all_gather(%w) axes=[1] ranks=[3] size=6 backward\n"
     "  %y f32[2,6] = dot(%h, %v5) eq=\"mk,nk->mn\" backward\n"
     "  output model \"y\" %y\n"
     "}\n"},
    {"two chains that begin with one value read it apart, as later iterations do",
     "graph \"g\" {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w0 f32[6,6]\n"
     "  parameter %w1 f32[6,6]\n"
     "  %a0 f32[4,6] = dot(%x, %w0) eq=\"mk,kn->mn\"\n"
     "  %c0 f32[4,6] = mul(%x, %a0)\n"
     "  %h0 f32[4,6] = tanh(%c0)\n"
     "  %a1 f32[4,6] = dot(%h0, %w1) eq=\"mk,kn->mn\"\n"
     "  %c1 f32[4,6] = mul(%c0, %a1)\n"
     "  %h1 f32[4,6] = tanh(%c1)\n"
     "  %y f32[4,6] = add(%c1, %h1)\n"
     "  output model \"y\" %y\n"
     "}\n",
     "a0:m a1:m c0:a c1:a h0:a h1:a c0=[-,-] c1=[-,-] h0=[-,-] h1=[-,-]",
     "graph \"g\" {\n"
     "  class 1 \"\" 2\n"
     "  input %x f32[4,6]\n"
     "  parameter %w0 f32[6,6] block 1.0.0\n"
     "  parameter %w1 f32[6,6] block 1.1.0\n"
     "  %v4 f32[2,6] = shard(%x) axes=[0] ranks=[2] block 1.0.0\n"
     "  %a0 f32[2,6] = dot(%v4, %w0) eq=\"mk,kn->mn\" block 1.0.1\n"
     "  %v6 f32[2,6] = shard(%x) axes=[0] ranks=[2] block 1.0.2\n"
     "  %v7 f32[2,6] = mul(%v6, %a0) block 1.0.3\n"
     "  %c0 f32[4,6] = all_gather(%v7) axes=[0] ranks=[2] size=4 block 1.0.4\n"
     "  %v9 f32[2,6] = shard(%c0) axes=[0] ranks=[2] block 1.0.5\n"
     "  %v10 f32[2,6] = tanh(%v9) block 1.0.6\n"
     "  %h0 f32[4,6] = all_gather(%v10) axes=[0] ranks=[2] size=4 block 1.0.7\n"
     "  %v12 f32[2,6] = shard(%h0) axes=[0] ranks=[2] block 1.1.0\n"
     "  %a1 f32[2,6] = dot(%v12, %w1) eq=\"mk,kn->mn\" block 1.1.1\n"
     "  %v14 f32[2,6] = shard(%c0) axes=[0] ranks=[2] block 1.1.2\n"
     "  %v15 f32[2,6] = mul(%v14, %a1) block 1.1.3\n"
     "  %c1 f32[4,6] = all_gather(%v15) axes=[0] ranks=[2] size=4 block 1.1.4\n"
     "  %v17 f32[2,6] = shard(%c1) axes=[0] ranks=[2] block 1.1.5\n"
     "  %v18 f32[2,6] = tanh(%v17) block 1.1.6\n"
     "  %h1 f32[4,6] = all_gather(%v18) axes=[0] ranks=[2] size=4 block 1.1.7\n"
     "  %y f32[4,6] = add(%c1, %h1)\n"
     "  output model \"y\" %y\n"
     "}\n"},
    {"what is added up over the batch joins; so does what is gathered, if it is needed later too",
     "graph \"g\" {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w f32[6,2]\n"
     "  parameter %b f32[4,2]\n"
     "  %y f32[4,2] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
     "  %z f32[4,2] = add(%y, %b)\n"
     "  %dw f32[6,2] = dot(%x, %z) eq=\"mk,mn->kn\" backward\n"
     "  %db f32[2] = reduce_sum(%z) axes=[0] backward\n"
     "  output model \"dw\" %dw\n"
     "  output model \"db\" %db\n"
     "}\n",
     "w=[x0,-] b=[x0,-] x=[x0,-] y:m- z=[-,-] dw:m- dw=[-,-] db:a- db=[-]",
     "graph \"g\" {\n"
     "  input %x f32[2,6]\n"
     "  parameter %w f32[3,2]\n"
     "  parameter %b f32[2,2]\n"
     "  %v4 f32[1,6] = reshape(%w) shape=[1,6]\n"
     "  %v5 f32[1,4] = reshape(%b) shape=[1,4]\n"
     "  %v6 f32[1,10] = concat(%v4, %v5) axis=1\n"
     "  %v7 f32[2,10] = all_gather(%v6) axes=[0] ranks=[2] size=2\n"
     "  %v8 f32[2,6] = slice(%v7) start=[0,0] size=[2,6] stride=[1,1]\n"
     "  %v9 f32[6,2] = reshape(%v8) shape=[6,2]\n"
     "  %v10 f32[2,4] = slice(%v7) start=[0,6] size=[2,4] stride=[1,1]\n"
     "  %v11 f32[4,2] = reshape(%v10) shape=[4,2]\n"
     "  %y f32[2,2] = dot(%x, %v9) eq=\"mk,kn->mn\"\n"
     "  %v13 f32[4,2] = all_gather(%y) axes=[0] ranks=[2] size=4\n"
     "  %z f32[4,2] = add(%v13, %v11)\n"
     "  %v15 f32[2,2] = shard(%z) axes=[0] ranks=[2] backward\n"
     "  %v16 f32[2] = reduce_sum(%v15) axes=[0] backward\n"
     "  %v17 f32[6,2] = dot(%x, %v15) eq=\"mk,mn->kn\" backward\n"
     "  %v18 f32[1,2] = reshape(%v16) shape=[1,2] backward\n"
     "  %v19 f32[1,12] = reshape(%v17) shape=[1,12] backward\n"
     "  %v20 f32[1,14] = concat(%v18, %v19) axis=1 backward\n"
     "  %v21 f32[1,14] = all_reduce(%v20) axes=[0] ranks=[2] op=\"sum\" backward\n"
     "  %v22 f32[1,2] = slice(%v21) start=[0,0] size=[1,2] stride=[1,1] backward\n"
     "  %db f32[2] = reshape(%v22) shape=[2] backward\n"
     "  %v24 f32[1,12] = slice(%v21) start=[0,2] size=[1,12] stride=[1,1] backward\n"
     "  %dw f32[6,2] = reshape(%v24) shape=[6,2] backward\n"
     "  output model \"dw\" %dw\n"
     "  output model \"db\" %db\n"
     "}\n",
     true},
    {"weights that are gathered for their half copies join each other, not what is gathered again "
     "in each micro-batch",
     "graph \"g\" {\n"
     "  input %x bf16[4,6]\n"
     "  parameter %w f32[6,2]\n"
     "  parameter %u f32[2,2]\n"
     "  parameter %b f32[4,2]\n"
     "  %c bf16[6,2] = cast(%w) to=bf16\n"
     "  %d bf16[2,2] = cast(%u) to=bf16\n"
     "  %h bf16[4,2] = dot(%x, %c) eq=\"mk,kn->mn\"\n"
     "  %z bf16[4,2] = dot(%h, %d) eq=\"mk,kn->mn\"\n"
     "  %f f32[4,2] = cast(%z) to=f32\n"
     "  %y f32[4,2] = add(%f, %b)\n"
     "  output model \"y\" %y\n"
     "}\n",
     "w=[x0,-] u=[x0,-] b=[x0,-]",
     "graph \"g\" {\n"
     "  input %x bf16[4,6]\n"
     "  parameter %w f32[3,2]\n"
     "  parameter %u f32[1,2]\n"
     "  parameter %b f32[2,2]\n"
     "  %v5 f32[1,6] = reshape(%w) shape=[1,6]\n"
     "  %v6 f32[1,2] = reshape(%u) shape=[1,2]\n"
     "  %v7 f32[1,8] = concat(%v5, %v6) axis=1\n"
     "  %v8 f32[2,8] = all_gather(%v7) axes=[0] ranks=[2] size=2\n"
     "  %v9 f32[2,6] = slice(%v8) start=[0,0] size=[2,6] stride=[1,1]\n"
     "  %v10 f32[6,2] = reshape(%v9) shape=[6,2]\n"
     "  %v11 f32[2,2] = slice(%v8) start=[0,6] size=[2,2] stride=[1,1]\n"
     "  %v12 f32[2,2] = reshape(%v11) shape=[2,2]\n"
     "  %c bf16[6,2] = cast(%v10) to=bf16\n"
     "  %h bf16[4,2] = dot(%x, %c) eq=\"mk,kn->mn\"\n"
     "  %d bf16[2,2] = cast(%v12) to=bf16\n"
     "  %z bf16[4,2] = dot(%h, %d) eq=\"mk,kn->mn\"\n"
     "  %f f32[4,2] = cast(%z) to=f32\n"
     "  %v18 f32[4,2] = all_gather(%b) axes=[0] ranks=[2] size=4\n"
     "  %y f32[4,2] = add(%f, %v18)\n"
     "  output model \"y\" %y\n"
     "}\n",
     true},
    {"what a number of all layers waits for isn't joined with what waits for that number",
     "graph \"g\" training {\n"
     "  class 1 \"h\" 2\n"
     "  parameter %w0 f32[4] block 1.0.0\n"
     "  parameter %w1 f32[4] block 1.1.0\n"
     "  %s0 f32[] = reduce_sum(%w0) axes=[0] update block 1.0.0\n"
     "  %s1 f32[] = reduce_sum(%w1) axes=[0] update block 1.1.0\n"
     "  %n f32[] = max(%s0, %s1) update\n"
     "  %b f32[4] = broadcast(%n) shape=[4] dims=[] update\n"
     "  %u0 f32[4] = mul(%w0, %b) update block 1.0.1\n"
     "  %t0 f32[] = reduce_sum(%u0) axes=[0] update block 1.0.2\n"
     "  %u1 f32[4] = mul(%w1, %b) update block 1.1.1\n"
     "  %t1 f32[] = reduce_sum(%u1) axes=[0] update block 1.1.2\n"
     "  output model \"t0\" %t0\n"
     "  output model \"t1\" %t1\n"
     "}\n",
     "w0=[x0] w1=[x0] s0:a- s0=[] s1:a- s1=[] b:a- u0:a- u1:a- t0:a- t0=[] t1:a- t1=[]",
     "graph \"g\" training {\n"
     "  class 1 \"h\" 2\n"
     "  parameter %w0 f32[2] block 1.0.0\n"
     "  parameter %w1 f32[2] block 1.1.0\n"
     "  %v3 f32[] = reduce_sum(%w0) axes=[0] update block 1.0.0\n"
     "  %s0 f32[] = all_reduce(%v3) axes=[0] ranks=[2] op=\"sum\" update block 1.0.1\n"
     "  %v5 f32[] = reduce_sum(%w1) axes=[0] update block 1.1.0\n"
     "  %s1 f32[] = all_reduce(%v5) axes=[0] ranks=[2] op=\"sum\" update block 1.1.1\n"
     "  %n f32[] = max(%s0, %s1) update\n"
     "  %b f32[2] = broadcast(%n) shape=[2] update\n"
     "  %u0 f32[2] = mul(%w0, %b) update block 1.0.2\n"
     "  %v10 f32[] = reduce_sum(%u0) axes=[0] update block 1.0.3\n"
     "  %t0 f32[] = all_reduce(%v10) axes=[0] ranks=[2] op=\"sum\" update block 1.0.4\n"
     "  %u1 f32[2] = mul(%w1, %b) update block 1.1.2\n"
     "  %v13 f32[] = reduce_sum(%u1) axes=[0] update block 1.1.3\n"
     "  %t1 f32[] = all_reduce(%v13) axes=[0] ranks=[2] op=\"sum\" update block 1.1.4\n"
     "  output model \"t0\" %t0\n"
     "  output model \"t1\" %t1\n"
     "}\n",
     true},
    {"a value that no node computes can't be partial", LAYER, "x=[-,-]_sum:x0",
     "plan: error: value 'x' can't be partial: no node computes it\n"},
    {"a factor that can't be split", LAYER, "c:b",
     "plan: error: node 'c' (cumsum): its strategy splits a factor that can't be split\n"
     "  in 0  x f32[4,6]\n"},
    {"an operator that isn't linear", LAYER, "e:+",
     "plan: error: node 'e' (exp): its strategy splits a factor that can't be split\n"
     "  in 0  c f32[4,6]\n"},
    {"an output in parts", LAYER, "y:k",
     "plan: error: value 'y' can't be partial: it is an output\n"},
    {"a float that a comparison reads",
     "graph \"g\" training {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w f32[6,2]\n"
     "  %y f32[4,2] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
     "  %m f32[4] = reduce_max(%y) axes=[1]\n"
     "  %b f32[4,2] = broadcast(%m) shape=[4,2] dims=[0]\n"
     "  %t f32[4,2] = tanh(%y)\n"
     "  %u f32[4,2] = tanh(%b)\n"
     "  %e bool[4,2] = eq(%t, %u)\n"
     "  output model \"e\" %e\n"
     "}\n",
     "y:k",
     "plan: error: value 'y' can't be partial: it is compared, and readers of a partial sum may "
     "add "
     "it in different orders\n"},
    {"a constant is everywhere", LAYER, "k=[x0]",
     "plan: error: value 'k' must be replicated: it is a constant or a hyper-parameter\n"},
    {"the two ends of a carry have different specs", LAYER, "w=[x0,-]",
     "plan: error: value 'w' has another storage spec than its new value\n"},
};

// ---- plans from words ----

static ValueId find_value(const Graph *g, const char *name, size_t n)
{
    for (ValueId v = 1; v < g->n_values; v++) {
        const char *s = value_of(g, v)->name;
        if (s && strlen(s) == n && !memcmp(s, name, n))
            return v;
    }
    fail_msg("no value %.*s", (int)n, name);
    return 0;
}

static Strategy read_strategy(Arena *a, const Graph *g, const Node *n, const char *word)
{
    Strategy s = spec_replicated();
    Rule r;

    node_rule(a, g, n, &r);
    for (int axis = 0; word[axis] && word[axis] != ' '; axis++) {
        char c = word[axis];
        if (c == '+')
            s.at[axis] = LINEAR_JOINT;
        else if (c >= '0' && c <= '9')
            s.at[axis] = (int8_t)(LINEAR_SINGLE + c - '0');
        for (int8_t f = 0; f < r.n_factors; f++)
            if (r.letter[f] == c)
                s.at[axis] = f;
        for (int b = 0; b < axis; b++)
            s.level[axis] += s.at[b] == s.at[axis] && s.at[axis] >= 0;
    }
    return s;
}

static Plan read_plan(Arena *a, const Graph *g, const char *words, Diag *d)
{
    Plan p = {mesh_of(2, (int[]){2, 3}), arena_array(a, Spec, g->n_values),
              arena_array(a, Strategy, g->n_nodes)};

    for (ValueId v = 1; v < g->n_values; v++)
        p.storage_spec[v] = spec_replicated();
    for (NodeId n = 1; n < g->n_nodes; n++)
        p.strategy[n] = spec_replicated();
    for (const char *w = words; *w; w += strspn(w, " ")) {
        size_t name = strcspn(w, ":="), n = strcspn(w, " ");
        ValueId v = find_value(g, w, name);
        const Node *made = producer(g, v);
        Rule r;
        if (w[name] == ':') {
            p.strategy[value_of(g, v)->producer] = read_strategy(a, g, made, w + name + 1);
            node_rule(a, g, made, &r);
            p.storage_spec[v] = strategy_spec(&r, &p.strategy[value_of(g, v)->producer], r.n_in);
        } else {
            char *text = arena_copy(a, w + name + 1, n - name - 1);
            for (char *blank = text; (blank = strchr(blank, '_'));)
                *blank = ' ';
            assert_true(spec_parse(&p.mesh, value_of(g, v), text, &p.storage_spec[v], d));
        }
        w += n;
    }
    return p;
}

// The text reads back as the same text.
static void check_text(const Text *t, Diag *d)
{
    Arena *a = arena_new();
    Text again = {0};
    Graph *g = graph_parse(a, t->s, t->n, d);

    assert_non_null(g);
    graph_print(g, &again);
    assert_string_equal(again.s, t->s);
    text_free(&again);
    arena_free(a);
}

static void check_case(const Case *c)
{
    Arena *a = arena_new();
    Text got = {0};
    Diag d = {.file = "plan", .to = &got};
    Graph *g = graph_parse(a, c->graph, strlen(c->graph), &d);

    assert_non_null(g);
    g->diag = &d;
    assert_true(g->n_classes > 1 || blocks(g, &d));
    Plan p = read_plan(a, g, c->plan, &d);
    Sharded *s = partition(a, g, &p, &d);
    if (s && c->is_joined)
        s = bucket(a, s);
    if (s) {
        assert_true(graph_verify(s->g, &d));
        graph_print(s->g, &got);
        check_text(&got, &d);
    }
    if (strcmp(got.s, c->result))
        fail_msg("%s:\n%s", c->name, got.s);
    text_free(&got);
    arena_free(a);
}

static void known_plans(void **state)
{
    for (int i = 0; i < COUNT(cases); i++)
        check_case(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_plans)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
