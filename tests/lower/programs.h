// Small models in IR text. Each has a feature that programs must get right. For each: its training
// step, numbers, and the results of graph_eval.
#ifndef SHARDCC_TESTS_LOWER_PROGRAMS_H
#define SHARDCC_TESTS_LOWER_PROGRAMS_H

#include "tests/ir/case_numbers.h"
#include "tests/lower/interpret.h"

static const struct {
    const char *name, *loss, *text;
    int accumulate;
} cases[] = {
    {"one layer", "mse(y, t)",
     "graph \"g\" training {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w f32[6,5]\n"
     "  parameter %b f32[5]\n"
     "  %xw f32[4,5] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
     "  %bs f32[4,5] = broadcast(%b) shape=[4,5] dims=[1]\n"
     "  %s f32[4,5] = add(%xw, %bs)\n"
     "  %y f32[4,5] = tanh(%s)\n"
     "  output model \"y\" %y\n"
     "}\n",
     1},
    {"three equal layers with residuals", "mse(y3, t)",
     "graph \"g\" training {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w0 f32[6,6]\n"
     "  parameter %w1 f32[6,6]\n"
     "  parameter %w2 f32[6,6]\n"
     "  %y0 f32[4,6] = sin(%x)\n"
     "  %a1 f32[4,6] = dot(%y0, %w0) eq=\"mk,kn->mn\"\n"
     "  %t1 f32[4,6] = tanh(%a1)\n"
     "  %y1 f32[4,6] = add(%y0, %t1)\n"
     "  %a2 f32[4,6] = dot(%y1, %w1) eq=\"mk,kn->mn\"\n"
     "  %t2 f32[4,6] = tanh(%a2)\n"
     "  %y2 f32[4,6] = add(%y1, %t2)\n"
     "  %a3 f32[4,6] = dot(%y2, %w2) eq=\"mk,kn->mn\"\n"
     "  %t3 f32[4,6] = tanh(%a3)\n"
     "  %y3 f32[4,6] = add(%y2, %t3)\n"
     "  output model \"y3\" %y3\n"
     "}\n",
     1},
    {"a weight that all layers share, micro-batches", "mse(y3, t)",
     "graph \"g\" training {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w f32[6,6]\n"
     "  %a1 f32[4,6] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
     "  %y1 f32[4,6] = tanh(%a1)\n"
     "  %a2 f32[4,6] = dot(%y1, %w) eq=\"mk,kn->mn\"\n"
     "  %y2 f32[4,6] = tanh(%a2)\n"
     "  %a3 f32[4,6] = dot(%y2, %w) eq=\"mk,kn->mn\"\n"
     "  %y3 f32[4,6] = tanh(%a3)\n"
     "  output model \"y3\" %y3\n"
     "}\n",
     2},
    {"time steps: slices in, a concat of all steps out", "mse(all, t)",
     "graph \"g\" training {\n"
     "  input %x f32[3,4,6]\n"
     "  parameter %w f32[6,6]\n"
     "  parameter %h0 f32[4,6]\n"
     "  %x1 f32[4,6] = slice(%x) start=[0,0,0] size=[1,4,6] stride=[1,1,1] drop=[0]\n"
     "  %a1 f32[4,6] = dot(%h0, %w) eq=\"mk,kn->mn\"\n"
     "  %s1 f32[4,6] = add(%a1, %x1)\n"
     "  %h1 f32[4,6] = tanh(%s1)\n"
     "  %x2 f32[4,6] = slice(%x) start=[1,0,0] size=[1,4,6] stride=[1,1,1] drop=[0]\n"
     "  %a2 f32[4,6] = dot(%h1, %w) eq=\"mk,kn->mn\"\n"
     "  %s2 f32[4,6] = add(%a2, %x2)\n"
     "  %h2 f32[4,6] = tanh(%s2)\n"
     "  %x3 f32[4,6] = slice(%x) start=[2,0,0] size=[1,4,6] stride=[1,1,1] drop=[0]\n"
     "  %a3 f32[4,6] = dot(%h2, %w) eq=\"mk,kn->mn\"\n"
     "  %s3 f32[4,6] = add(%a3, %x3)\n"
     "  %h3 f32[4,6] = tanh(%s3)\n"
     "  %r1 f32[4,1,6] = reshape(%h1) shape=[4,1,6]\n"
     "  %r2 f32[4,1,6] = reshape(%h2) shape=[4,1,6]\n"
     "  %r3 f32[4,1,6] = reshape(%h3) shape=[4,1,6]\n"
     "  %all f32[4,3,6] = concat(%r1, %r2, %r3) axis=1\n"
     "  output model \"all\" %all\n"
     "}\n",
     1},
    {"a concat made by two items, read before the first one's group is", "mse(y, t)",
     "graph \"g\" training {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w f32[6,6]\n"
     "  %u f32[4,6] = exp(%x)\n"
     "  %p f32[4,6] = tanh(%x)\n"
     "  %q f32[4,6] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
     "  %c f32[8,6] = concat(%p, %q) axis=0\n"
     "  %d f32[8,6] = dot(%c, %w) eq=\"mk,kn->mn\"\n"
     "  %r f32[4,6] = slice(%d) start=[0,0] size=[4,6] stride=[1,1]\n"
     "  %s f32[4,6] = slice(%d) start=[4,0] size=[4,6] stride=[1,1]\n"
     "  %a f32[4,6] = mul(%r, %s)\n"
     "  %y f32[4,6] = add(%u, %a)\n"
     "  output model \"y\" %y\n"
     "}\n",
     1},
    {"a convolutional region: channels last, its edges not", "mse(o, t)",
     "graph \"g\" training {\n"
     "  input %x f32[2,3,6,6]\n"
     "  parameter %w1 f32[4,3,3,3]\n"
     "  parameter %w2 f32[4,4,1,1]\n"
     "  parameter %g f32[4]\n"
     "  parameter %p f32[144,5]\n"
     "  %c1 f32[2,4,6,6] = conv(%x, %w1) stride=[1,1] low=[1,1] high=[1,1] dilation=[1,1] "
     "groups=1\n"
     "  %m f32[4] = reduce_sum(%c1) axes=[0,2,3]\n"
     "  %mb f32[2,4,6,6] = broadcast(%m) shape=[2,4,6,6] dims=[1]\n"
     "  %d f32[2,4,6,6] = sub(%c1, %mb)\n"
     "  %q f32[2,4,6,6] = mul(%d, %d)\n"
     "  %v f32[4] = reduce_sum(%q) axes=[0,2,3]\n"
     "  %vg f32[4] = mul(%v, %g)\n"
     "  %vb f32[2,4,6,6] = broadcast(%vg) shape=[2,4,6,6] dims=[1]\n"
     "  %n f32[2,4,6,6] = mul(%d, %vb)\n"
     "  %h f32[2,4,6,6] = tanh(%n)\n"
     "  %pool f32[2,4,3,3] = max_pool(%h) size=[2,2] stride=[2,2] low=[0,0] high=[0,0] "
     "dilation=[1,1]\n"
     "  %s f32[2,4] = reduce_sum(%pool) axes=[2,3]\n"
     "  %sb f32[2,4,3,3] = broadcast(%s) shape=[2,4,3,3] dims=[0,1]\n"
     "  %e f32[2,4,3,3] = mul(%pool, %sb)\n"
     "  %c2 f32[2,4,3,3] = conv(%e, %w2) stride=[1,1] low=[0,0] high=[0,0] dilation=[1,1] "
     "groups=1\n"
     "  %k f32[2,8,3,3] = concat(%c2, %e) axis=1\n"
     "  %l f32[2,4,3,3] = slice(%k) start=[0,2,0,0] size=[2,4,3,3] stride=[1,1,1,1]\n"
     "  %r f32[2,4,3,3] = mul(%l, %l)\n"
     "  %kk f32[2,16,3,3] = concat(%k, %r, %c2) axis=1\n"
     "  %f f32[2,144] = reshape(%kk) shape=[2,144]\n"
     "  %o f32[2,5] = dot(%f, %p) eq=\"mk,kn->mn\"\n"
     "  output model \"o\" %o\n"
     "}\n",
     1},
    {"heads: slices of one product, transposes, a softmax", "mse(o, t)",
     "graph \"g\" training {\n"
     "  input %x f32[2,5,6]\n"
     "  parameter %w f32[6,18]\n"
     "  parameter %p f32[2,3,6]\n"
     "  %qkv f32[2,5,18] = dot(%x, %w) eq=\"bsc,cd->bsd\"\n"
     "  %q f32[2,5,6] = slice(%qkv) start=[0,0,0] size=[2,5,6] stride=[1,1,1]\n"
     "  %k f32[2,5,6] = slice(%qkv) start=[0,0,6] size=[2,5,6] stride=[1,1,1]\n"
     "  %v f32[2,5,6] = slice(%qkv) start=[0,0,12] size=[2,5,6] stride=[1,1,1]\n"
     "  %q4 f32[2,5,2,3] = reshape(%q) shape=[2,5,2,3]\n"
     "  %k4 f32[2,5,2,3] = reshape(%k) shape=[2,5,2,3]\n"
     "  %v4 f32[2,5,2,3] = reshape(%v) shape=[2,5,2,3]\n"
     "  %s f32[2,2,5,5] = dot(%q4, %k4) eq=\"bshe,bthe->bhst\"\n"
     "  %m f32[2,2,5] = reduce_max(%s) axes=[3]\n"
     "  %mb f32[2,2,5,5] = broadcast(%m) shape=[2,2,5,5] dims=[0,1,2]\n"
     "  %d f32[2,2,5,5] = sub(%s, %mb)\n"
     "  %e f32[2,2,5,5] = exp(%d)\n"
     "  %z f32[2,2,5] = reduce_sum(%e) axes=[3]\n"
     "  %zb f32[2,2,5,5] = broadcast(%z) shape=[2,2,5,5] dims=[0,1,2]\n"
     "  %a f32[2,2,5,5] = div(%e, %zb)\n"
     "  %y f32[2,2,5,3] = dot(%a, %v4) eq=\"bhst,bthe->bhse\"\n"
     "  %o f32[2,5,6] = dot(%y, %p) eq=\"bhse,hec->bsc\"\n"
     "  output model \"o\" %o\n"
     "}\n",
     1},
    {"random numbers as a row beside others", "mse(z, t)",
     "graph \"g\" training {\n"
     "  input %x f32[3,4]\n"
     "  hyper %a i64[] = 0\n"
     "  hyper %b i64[] = 0\n"
     "  hyper %c i64[] = 0\n"
     "  parameter %w f32[4,5]\n"
     "  %o f32[3,5] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
     "  %u f32[5] = random(%a, %b, %c) shape=[5] micro_axis=-1 micro=1\n"
     "  %row f32[1,5] = reshape(%u) shape=[1,5]\n"
     "  %y f32[4,5] = concat(%row, %o) axis=0\n"
     "  %z f32[4,5] = tanh(%y)\n"
     "  output model \"z\" %z\n"
     "}\n",
     1},
    {"norms without a skip: the backward loop reads the layer behind the last", "mse(y2, t)",
     "graph \"g\" training {\n"
     "  input %x f32[16,8]\n"
     "  constant %c f32[] = 0.0625\n"
     "  constant %cc f32[] = 0.9\n"
     "  constant %o f32[] = 1\n"
     "  parameter %w0 f32[8,8]\n"
     "  parameter %b0 f32[8]\n"
     "  parameter %g0 f32[8]\n"
     "  buffer %s0 f32[8]\n"
     "  parameter %w1 f32[8,8]\n"
     "  parameter %b1 f32[8]\n"
     "  parameter %g1 f32[8]\n"
     "  buffer %s1 f32[8]\n"
     "  parameter %w2 f32[8,8]\n"
     "  parameter %b2 f32[8]\n"
     "  parameter %g2 f32[8]\n"
     "  buffer %s2 f32[8]\n"
     "  %c8 f32[8] = broadcast(%c) shape=[8]\n"
     "  %c9 f32[8] = broadcast(%cc) shape=[8]\n"
     "  %one f32[8] = broadcast(%o) shape=[8]\n"
     "  %p0 f32[16,8] = dot(%x, %w0) eq=\"mk,kn->mn\"\n"
     "  %bb0 f32[16,8] = broadcast(%b0) shape=[16,8] dims=[1]\n"
     "  %a0 f32[16,8] = add(%p0, %bb0)\n"
     "  %m0 f32[8] = reduce_sum(%a0) axes=[0]\n"
     "  %n0 f32[8] = mul(%m0, %c8)\n"
     "  %r0 f32[8] = mul(%s0, %c9)\n"
     "  %u0 f32[8] = add(%r0, %n0)\n"
     "  %mb0 f32[16,8] = broadcast(%n0) shape=[16,8] dims=[1]\n"
     "  %d0 f32[16,8] = sub(%a0, %mb0)\n"
     "  %q0 f32[16,8] = mul(%d0, %d0)\n"
     "  %v0 f32[8] = reduce_sum(%q0) axes=[0]\n"
     "  %o0 f32[8] = mul(%v0, %c8)\n"
     "  %e0 f32[8] = add(%o0, %one)\n"
     "  %f0 f32[8] = sqrt(%e0)\n"
     "  %h0 f32[8] = div(%g0, %f0)\n"
     "  %hb0 f32[16,8] = broadcast(%h0) shape=[16,8] dims=[1]\n"
     "  %k0 f32[16,8] = mul(%d0, %hb0)\n"
     "  %y0 f32[16,8] = tanh(%k0)\n"
     "  %p1 f32[16,8] = dot(%y0, %w1) eq=\"mk,kn->mn\"\n"
     "  %bb1 f32[16,8] = broadcast(%b1) shape=[16,8] dims=[1]\n"
     "  %a1 f32[16,8] = add(%p1, %bb1)\n"
     "  %m1 f32[8] = reduce_sum(%a1) axes=[0]\n"
     "  %n1 f32[8] = mul(%m1, %c8)\n"
     "  %r1 f32[8] = mul(%s1, %c9)\n"
     "  %u1 f32[8] = add(%r1, %n1)\n"
     "  %mb1 f32[16,8] = broadcast(%n1) shape=[16,8] dims=[1]\n"
     "  %d1 f32[16,8] = sub(%a1, %mb1)\n"
     "  %q1 f32[16,8] = mul(%d1, %d1)\n"
     "  %v1 f32[8] = reduce_sum(%q1) axes=[0]\n"
     "  %o1 f32[8] = mul(%v1, %c8)\n"
     "  %e1 f32[8] = add(%o1, %one)\n"
     "  %f1 f32[8] = sqrt(%e1)\n"
     "  %h1 f32[8] = div(%g1, %f1)\n"
     "  %hb1 f32[16,8] = broadcast(%h1) shape=[16,8] dims=[1]\n"
     "  %k1 f32[16,8] = mul(%d1, %hb1)\n"
     "  %y1 f32[16,8] = tanh(%k1)\n"
     "  %p2 f32[16,8] = dot(%y1, %w2) eq=\"mk,kn->mn\"\n"
     "  %bb2 f32[16,8] = broadcast(%b2) shape=[16,8] dims=[1]\n"
     "  %a2 f32[16,8] = add(%p2, %bb2)\n"
     "  %m2 f32[8] = reduce_sum(%a2) axes=[0]\n"
     "  %n2 f32[8] = mul(%m2, %c8)\n"
     "  %r2 f32[8] = mul(%s2, %c9)\n"
     "  %u2 f32[8] = add(%r2, %n2)\n"
     "  %mb2 f32[16,8] = broadcast(%n2) shape=[16,8] dims=[1]\n"
     "  %d2 f32[16,8] = sub(%a2, %mb2)\n"
     "  %q2 f32[16,8] = mul(%d2, %d2)\n"
     "  %v2 f32[8] = reduce_sum(%q2) axes=[0]\n"
     "  %o2 f32[8] = mul(%v2, %c8)\n"
     "  %e2 f32[8] = add(%o2, %one)\n"
     "  %f2 f32[8] = sqrt(%e2)\n"
     "  %h2 f32[8] = div(%g2, %f2)\n"
     "  %hb2 f32[16,8] = broadcast(%h2) shape=[16,8] dims=[1]\n"
     "  %k2 f32[16,8] = mul(%d2, %hb2)\n"
     "  %y2 f32[16,8] = tanh(%k2)\n"
     "  output model \"y2\" %y2\n"
     "  carry step %s0 %u0\n"
     "  carry step %s1 %u1\n"
     "  carry step %s2 %u2\n"
     "}\n",
     1},
    {"two values stand for the layer before the first", "mse(y3, t)",
     "graph \"g\" training {\n"
     "  input %x f32[4,6]\n"
     "  input %z f32[4,6]\n"
     "  parameter %w0 f32[6,6]\n"
     "  parameter %w1 f32[6,6]\n"
     "  parameter %w2 f32[6,6]\n"
     "  parameter %w3 f32[6,6]\n"
     "  %a0 f32[4,6] = dot(%x, %w0) eq=\"mk,kn->mn\"\n"
     "  %t0 f32[4,6] = tanh(%a0)\n"
     "  %y0 f32[4,6] = add(%t0, %z)\n"
     "  %a1 f32[4,6] = dot(%y0, %w1) eq=\"mk,kn->mn\"\n"
     "  %t1 f32[4,6] = tanh(%a1)\n"
     "  %y1 f32[4,6] = add(%t1, %y0)\n"
     "  %a2 f32[4,6] = dot(%y1, %w2) eq=\"mk,kn->mn\"\n"
     "  %t2 f32[4,6] = tanh(%a2)\n"
     "  %y2 f32[4,6] = add(%t2, %y1)\n"
     "  %a3 f32[4,6] = dot(%y2, %w3) eq=\"mk,kn->mn\"\n"
     "  %t3 f32[4,6] = tanh(%a3)\n"
     "  %y3 f32[4,6] = add(%t3, %y2)\n"
     "  output model \"y3\" %y3\n"
     "}\n",
     1},
    {"a scalar that differs by layer", "mse(y2, t)",
     "graph \"g\" training {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w0 f32[6,6]\n"
     "  parameter %w1 f32[6,6]\n"
     "  parameter %w2 f32[6,6]\n"
     "  constant %c0 f32[] = 0.5\n"
     "  constant %c1 f32[] = 0.8\n"
     "  constant %c2 f32[] = 1.1\n"
     "  %a0 f32[4,6] = dot(%x, %w0) eq=\"mk,kn->mn\"\n"
     "  %k0 f32[4,6] = broadcast(%c0) shape=[4,6]\n"
     "  %s0 f32[4,6] = mul(%a0, %k0)\n"
     "  %y0 f32[4,6] = tanh(%s0)\n"
     "  %a1 f32[4,6] = dot(%y0, %w1) eq=\"mk,kn->mn\"\n"
     "  %k1 f32[4,6] = broadcast(%c1) shape=[4,6]\n"
     "  %s1 f32[4,6] = mul(%a1, %k1)\n"
     "  %y1 f32[4,6] = tanh(%s1)\n"
     "  %a2 f32[4,6] = dot(%y1, %w2) eq=\"mk,kn->mn\"\n"
     "  %k2 f32[4,6] = broadcast(%c2) shape=[4,6]\n"
     "  %s2 f32[4,6] = mul(%a2, %k2)\n"
     "  %y2 f32[4,6] = tanh(%s2)\n"
     "  output model \"y2\" %y2\n"
     "}\n",
     1},
    {"a mask that each layer makes of the one before", "mse(y3, t)",
     "graph \"g\" training {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w0 f32[6,6]\n"
     "  parameter %w1 f32[6,6]\n"
     "  parameter %w2 f32[6,6]\n"
     "  parameter %w3 f32[6,6]\n"
     "  hyper %a i64[] = 0\n"
     "  hyper %b i64[] = 0\n"
     "  hyper %c i64[] = 0\n"
     "  %t0 f32[4,6] = random(%a, %b, %c) shape=[4,6] micro_axis=-1 micro=1\n"
     "  %t1 f32[4,6] = sin(%t0)\n"
     "  %a0 f32[4,6] = dot(%x, %w0) eq=\"mk,kn->mn\"\n"
     "  %s0 f32[4,6] = mul(%a0, %t1)\n"
     "  %y0 f32[4,6] = tanh(%s0)\n"
     "  %t2 f32[4,6] = sin(%t1)\n"
     "  %a1 f32[4,6] = dot(%y0, %w1) eq=\"mk,kn->mn\"\n"
     "  %s1 f32[4,6] = mul(%a1, %t2)\n"
     "  %y1 f32[4,6] = tanh(%s1)\n"
     "  %t3 f32[4,6] = sin(%t2)\n"
     "  %a2 f32[4,6] = dot(%y1, %w2) eq=\"mk,kn->mn\"\n"
     "  %s2 f32[4,6] = mul(%a2, %t3)\n"
     "  %y2 f32[4,6] = tanh(%s2)\n"
     "  %t4 f32[4,6] = sin(%t3)\n"
     "  %a3 f32[4,6] = dot(%y2, %w3) eq=\"mk,kn->mn\"\n"
     "  %s3 f32[4,6] = mul(%a3, %t4)\n"
     "  %y3 f32[4,6] = tanh(%s3)\n"
     "  output model \"y3\" %y3\n"
     "}\n",
     1},
    {"layers of halves, micro-batches", "mse(y3, t)",
     "graph \"g\" training {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w1 f32[6,6]\n"
     "  parameter %w2 f32[6,6]\n"
     "  parameter %w3 f32[6,6]\n"
     "  %x1 bf16[4,6] = cast(%x) to=bf16\n"
     "  %c1 bf16[6,6] = cast(%w1) to=bf16\n"
     "  %a1 bf16[4,6] = dot(%x1, %c1) eq=\"mk,kn->mn\"\n"
     "  %f1 f32[4,6] = cast(%a1) to=f32\n"
     "  %y1 f32[4,6] = tanh(%f1)\n"
     "  %x2 bf16[4,6] = cast(%y1) to=bf16\n"
     "  %c2 bf16[6,6] = cast(%w2) to=bf16\n"
     "  %a2 bf16[4,6] = dot(%x2, %c2) eq=\"mk,kn->mn\"\n"
     "  %f2 f32[4,6] = cast(%a2) to=f32\n"
     "  %y2 f32[4,6] = tanh(%f2)\n"
     "  %x3 bf16[4,6] = cast(%y2) to=bf16\n"
     "  %c3 bf16[6,6] = cast(%w3) to=bf16\n"
     "  %a3 bf16[4,6] = dot(%x3, %c3) eq=\"mk,kn->mn\"\n"
     "  %f3 f32[4,6] = cast(%a3) to=f32\n"
     "  %y3 f32[4,6] = tanh(%f3)\n"
     "  output model \"y3\" %y3\n"
     "}\n",
     2},
    {"a head whose weight is larger than all it works on", "mse(y, t)",
     "graph \"g\" training {\n"
     "  input %x f32[2,4]\n"
     "  parameter %w1 f32[4,4]\n"
     "  parameter %w2 f32[4,16]\n"
     "  %a f32[2,4] = dot(%x, %w1) eq=\"mk,kn->mn\"\n"
     "  %h f32[2,4] = tanh(%a)\n"
     "  %y f32[2,16] = dot(%h, %w2) eq=\"mk,kn->mn\"\n"
     "  output model \"y\" %y\n"
     "}\n",
     1},
    {"a table and its transpose: one gradient of two parts", "mse(y, t)",
     "graph \"g\" training {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w f32[6,5]\n"
     "  parameter %b f32[6]\n"
     "  %a f32[4,5] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
     "  %h f32[4,5] = tanh(%a)\n"
     "  %o f32[4,6] = dot(%h, %w) eq=\"mn,kn->mk\"\n"
     "  %bs f32[4,6] = broadcast(%b) shape=[4,6] dims=[1]\n"
     "  %y f32[4,6] = add(%o, %bs)\n"
     "  output model \"y\" %y\n"
     "}\n",
     1},
};

// Evaluates the graph; the result is indexed by ValueId. `g` must be the graph before lower() adds
// values to it.
static inline Tensor *evaluate(Arena *a, const Graph *g)
{
    Tensor *t = arena_array(a, Tensor, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        if (x->producer || x->kind == VALUE_CONSTANT)
            continue;
        t[v] = case_numbers(a, x);
        for (int64_t i = 0; x->kind == VALUE_STATE && i < tensor_count(&t[v]); i++)
            t[v].f[i] = fabs(t[v].f[i]);
        for (int64_t i = 0; x->kind == VALUE_HYPER && t[v].f && i < tensor_count(&t[v]); i++)
            t[v].f[i] = x->fill != 0 ? x->fill : 1;
    }
    graph_eval(a, g, t);
    return t;
}

static inline Graph *training(Arena *a, int i, double clip_norm, Diag *d)
{
    OptimizerOptions o = {.text = "adamw(lr=0.01)", .clip_norm = clip_norm};
    Graph *g = graph_parse(a, cases[i].text, strlen(cases[i].text), d);

    assert_non_null(g);
    g->diag = d;
    assert_true(fold(g, d) && loss_add(g, cases[i].loss, d) && patterns(g, d) && guards(g, d) &&
                means(g, d) && refine(g, d) && simplify(g, d) && blocks(g, d) &&
                autodiff(g, cases[i].accumulate, d) && clip_add(g, d) && optimizer_add(g, &o, d) &&
                graph_verify(g, d));
    return g;
}

// Makes an arena that is full of NaN, except for the values without producer.
static inline void prepare(Machine *m, const Tensor *values)
{
    const Graph *g = m->s->g;

    m->bytes = malloc((size_t)m->p->arena_bytes + 1);
    memset(m->bytes, 0xff, (size_t)m->p->arena_bytes);
    m->scratch = arena_new();
    for (ValueId v = 1; v < g->n_values; v++) {
        if (value_of(g, v)->producer || !m->s->address[v].buffer || !(values[v].f || values[v].i))
            continue;
        Operand o = whole(m, v);
        store(m, &o, 0, &values[v]);
    }
}

#endif
