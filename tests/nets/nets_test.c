// Tests random nets of fixed seeds, and shrunk recipes of nets whose programs were wrong once.
// Each is compiled and compared with its own graph (see judge.h). `tests/nets/nets` hunts for
// more.
#include "tests/nets/check_nets.h"
#include "tests/sanitized.h"

static const FoundNet found[] = {
    {"an element is written over a number of its row that is read once more",
     "numbers=1000000023 dims=2,1,2 last=1 stem=0 topology=0 head=0 shared=0 loss=3 optimizer=0 "
     "clip=0 accumulate=0 plain=0 layers=1 block=0 attend=0,0,0,0"},
    {"a sum is written over a number of its row that is read once more",
     "numbers=1000000040 dims=1,1 last=1 stem=0 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=1 plain=0 layers=1 block=0 beside=0,0,5,0"},
    {"iterations hand on what repeats elements",
     "numbers=1000000370 dims=1,1,2 last=0 stem=5 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 layers=1 block=0 conv=0,0,6,0 block=1 conv=0,0,6,0"},
    {"… forward only",
     "numbers=1000000627 dims=1,1,1,2 last=0 stem=0 topology=11 head=0 shared=0 loss=0 "
     "optimizer=0 clip=0 accumulate=0 plain=0 layers=1 block=0 conv=0,0,10,0"},
    {"numbers of rows are parts of a concat that their group reads",
     "numbers=1000001274 dims=1,1,2 last=1 stem=5 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 layers=1 block=0 neighbours=7,0,0,0"},
    {"a scale is updated before the gradient of what it scales is made",
     "numbers=1000001437 dims=2,2 last=1 stem=0 topology=0 head=2 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 layers=1 block=0 norm=0,0,0,0 block=1 norm=47,0,0,0"},
    {"what is made again has an order of its own in the first iteration",
     "numbers=1000001885 dims=1,1,2 last=1 stem=1 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 layers=3 block=0 act=0,0,0,0 linear=0,0,0,0 act=0,0,0,0 "
     "block=1 act=0,0,0,0 linear=0,0,0,0 act=0,0,0,0"},
    {"a class of batch norms is written out before values are made again",
     "numbers=1000000986 dims=2,2 last=1 stem=0 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 layers=2 block=0 linear=0,0,0,0 norm=47,0,0,0 block=1 "
     "linear=0,0,0,0 norm=47,0,0,0 block=2 linear=0,0,0,0 norm=47,0,0,0"},
    {"the output is a view of the last of three layers",
     "numbers=2000003877 dims=1,2,2,2 last=0 stem=1 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 layers=2 block=0 act=0,0,0,0 attend=0,0,0,0 block=1 act=0,0,0,0 "
     "attend=0,0,0,0 block=2 act=0,0,0,0 attend=0,0,0,0"},
    {"the norms of all layers are added up where the last of them is made",
     "numbers=2000005594 dims=2,2 last=1 stem=0 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 layers=3 block=0 none=0,0,0,0 linear=0,0,0,0 norm=47,0,0,0 "
     "block=1 pool=2,0,0,0 linear=0,0,0,0 norm=47,0,0,0 block=2 pool=2,0,0,0 linear=0,0,0,0 "
     "norm=47,0,0,0"},
    {"a product has more loops than its kernel",
     "numbers=2000000991 dims=2,1,3,2,3 last=0 stem=0 topology=0 head=0 shared=0 loss=0 "
     "optimizer=0 clip=0 accumulate=0 plain=0 layers=2 block=0 conv=0,0,6,0 gram=7,0,0,0"},
    {"iterations hand on what has the other order of dims",
     "numbers=3064 dims=1,2 last=1 stem=0 topology=0 head=0 shared=0 loss=0 optimizer=0 clip=0 "
     "accumulate=0 plain=0 layers=2 block=0 linear=0,0,0,0 none=0,0,0,0 block=1 linear=0,0,0,0 "
     "roll=11,0,0,0 block=2 linear=0,0,0,0 roll=11,0,0,0"},
    {"a scale is updated before a later turn through its row reads it",
     "numbers=21000000441 dims=1,2,2 last=0 stem=0 topology=11 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 layers=2 block=0 linear=0,0,0,0 norm=8,0,0,0"},
    {"the last iteration reshapes what repeats elements, the others what a product makes",
     "numbers=11000000464 dims=1,2,2 last=0 stem=0 topology=0 head=2 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 layers=2 block=0 linear=0,0,0,0 none=0,0,0,0 block=1 "
     "linear=0,0,0,0 turn=0,0,0,0 block=2 linear=0,0,0,0 turn=0,0,0,0"},
    {"attention with one weight that is 1 has a gradient of rounding errors times large keys",
     "numbers=2026000031860 dims=1,7,2 last=0 stem=0 topology=11 head=0 shared=0 loss=0 "
     "optimizer=0 clip=0 accumulate=0 plain=0 layers=3 block=0 dropout=6,0,0,0 gate=11,0,3,0 "
     "none=0,0,0,0 block=1 dropout=6,0,0,0 gate=11,0,3,0 attend=0,0,0,0 block=2 norm=0,0,0,0 "
     "none=0,0,0,0 none=0,0,0,0"},
    {"some layers of a block have no weight decay",
     "numbers=54000000401 dims=1,1 last=1 stem=0 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 again=0 no_decay=1 freeze=0 more=0 tied=0 layers=1 block=0 "
     "linear=0,0,0,0 block=1 mlp=0,0,0,0 block=2 mlp=0,0,0,0"},
    {"parameters of layers that share one gradient",
     "numbers=5301000037148 dims=1,1 last=1 stem=0 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=0 layers=1 block=0 "
     "summed=0,0,1,0 block=1 summed=0,0,1,0 block=2 summed=0,0,1,0"},
    {"a row of a guarded softmax over one key has no gradient",
     "numbers=54000000612 dims=1,1,1 last=0 stem=0 topology=0 head=0 shared=0 loss=0 "
     "optimizer=0 clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=0 data=0 "
     "layers=1 block=0 masked=0,37,0,0"},
    {"keys that are equal have gradients of rounding errors",
     "numbers=54000000872 dims=2,2,3 last=0 stem=0 topology=0 head=0 shared=0 loss=0 "
     "optimizer=0 clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=0 data=1 "
     "layers=1 block=0 attend=0,0,0,0 block=1 attend=0,0,0,0"},
    {"… before a norm, whose gradient is across the row",
     "numbers=65000000617 dims=3,5,5 last=1 stem=3 topology=0 head=0 shared=0 loss=0 "
     "optimizer=0 clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=0 data=0 "
     "layers=2 block=0 attend=0,0,0,0 norm=0,0,0,0"},
    {"what only states need is made by an item of its own, where stages run again",
     "numbers=57000000749 dims=2,1 last=1 stem=0 topology=0 head=1 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=0 data=0 layers=2 "
     "block=0 norm=37,0,0,0 mask=2,0,0,0"},
    {"a stage runs again whose loop writes over the value that it begins with",
     "numbers=574000004123 dims=1,2 last=1 stem=3 topology=2 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=0 data=3 half=2 "
     "layers=2 block=0 linear=0,0,0,0 linear=0,0,0,0 block=0 linear=0,0,0,0 linear=0,0,0,0 "
     "block=2 linear=0,0,0,0 linear=0,0,0,0"},
    {"the first iteration reads f32, the others halves of the one before",
     "numbers=571000004007 dims=1,1 last=1 stem=0 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=0 data=0 half=2 "
     "layers=1 block=0 separable=0,0,0,0 block=1 separable=0,0,0,0 block=2 separable=0,0,0,0"},
    {"one iteration's f32 is read elsewhere, that of the others nowhere",
     "numbers=572000004055 dims=1,2 last=1 stem=0 topology=8 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=0 data=0 half=2 "
     "layers=3 block=0 none=0,0,0,0 none=0,0,0,0 linear=0,0,0,0 block=1 linear=0,0,0,0 "
     "conv=0,3,0,0 none=0,0,0,0"},
    {"… is an output",
     "numbers=572000004052 dims=1,2 last=1 stem=0 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=3 tied=0 data=0 half=2 "
     "layers=1 block=0 linear=0,11,0,0 block=1 linear=0,0,0,0"},
    {"… and then another class's iterations differ",
     "numbers=572000004020 dims=1,1 last=1 stem=0 topology=11 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=0 data=0 half=2 "
     "layers=2 block=0 gate=8,0,0,0 mlp=0,0,0,0 block=1 gate=8,0,0,0 mlp=0,0,0,0 block=2 "
     "none=0,0,0,0 linear=0,0,0,0"},
};

// Nets whose programs for several ranks were wrong once.
static const FoundNet split[] = {
    {"ranks without a shard of an operand whose chunk is one element",
     "numbers=1000000025 dims=2,2,2,2 last=0 stem=0 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 layers=1 block=0 attend=0,5,0,0"},
    {"a copy of such an operand, whose dims go together no more",
     "numbers=4048 dims=2,2,2,2 last=0 stem=0 topology=0 head=0 shared=0 loss=0 optimizer=0 clip=0 "
     "accumulate=0 plain=0 layers=2 block=0 none=0,0,0,0 attend=0,0,0,0 block=1 linear=3,0,8,7 "
     "attend=0,0,0,0"},
    {"readers behind a loop have a copy of its last iteration's value",
     "numbers=5000000261 dims=1,2 last=1 stem=3 topology=8 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 layers=2 block=0 none=0,0,0,0 none=0,0,0,0 block=1 "
     "linear=0,0,0,0 norm=0,0,0,0 block=2 linear=0,0,0,0 norm=0,0,0,0 block=3 linear=0,0,0,0 "
     "norm=0,0,11,0 block=4 none=0,0,0,0 none=0,0,0,0"},
    {"a loop reads in each iteration what lies where an accumulator was",
     "numbers=2844000019928 dims=1,2 last=1 stem=5 topology=2 head=2 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=1 plain=0 again=2 layers=1 block=0 linear=0,0,0,0 block=1 linear=0,0,0,0 "
     "block=2 linear=0,0,0,0"},
    {"an initial value is made where iterations have other strides",
     "numbers=2027000015017 dims=2,6,2,1,2 last=0 stem=5 topology=0 head=0 shared=0 loss=1 "
     "optimizer=3 clip=1 accumulate=0 plain=0 layers=4 block=0 scale=5,0,0,0 attend=0,7,7,0 "
     "conv=0,0,0,5 turn=2,0,0,0 block=1 scale=5,0,0,0 attend=0,7,7,0 conv=0,0,0,5 turn=2,0,0,0 "
     "block=2 scale=5,0,0,0 attend=0,7,7,0 none=0,0,0,0 none=0,0,0,0"},
    {"a loop pads its initial value while a collective reads it",
     "numbers=64000000635 dims=2,3,1 last=0 stem=5 topology=7 head=2 shared=0 loss=2 "
     "optimizer=7 clip=2 accumulate=0 plain=0 again=0 no_decay=3 freeze=0 more=0 tied=0 data=0 "
     "layers=2 block=0 none=0,0,0,0 masked=0,24,0,0 block=1 none=0,0,0,0 masked=0,24,0,0 "
     "block=2 none=0,0,0,0 masked=0,24,0,0"},
    {"states of updates that differ by layer are read in another order by layer",
     "numbers=64000000878 dims=1,2 last=1 stem=5 topology=0 head=0 shared=0 loss=0 optimizer=7 "
     "clip=0 accumulate=2 plain=0 again=0 no_decay=1 freeze=0 more=0 tied=0 data=0 layers=1 "
     "block=0 summed=0,0,1,0 block=1 summed=0,0,1,0 block=2 none=0,0,0,0 block=3 none=0,0,0,0"},
    {"an input that a block reads takes another path than what iterations hand on",
     "numbers=64000000904 dims=1,2 last=1 stem=0 topology=0 head=2 shared=0 loss=5 optimizer=0 "
     "clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=3 more=0 tied=0 data=0 layers=1 "
     "block=0 summed=0,0,0,0 block=1 summed=0,0,7,0 block=2 summed=0,0,7,0"},
    {"gradients that are rounding errors alone, thousands of times as large as without them",
     "numbers=4051 dims=3,4,6,3 last=1 stem=7 topology=0 head=3 shared=0 loss=1 optimizer=2 "
     "clip=0 accumulate=2 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=0 data=0 layers=6 "
     "block=0 attend=21,9,14,21 attend=15,20,25,36 norm=15,17,11,38 separable=7,46,23,24 "
     "softmax=18,41,35,17 norm=7,31,34,20 block=1 attend=21,9,14,21 attend=15,20,25,36 "
     "norm=15,17,11,38 separable=7,46,23,24 softmax=18,41,35,17 norm=7,31,34,20 block=2 "
     "attend=21,9,14,21 attend=15,20,25,36 norm=15,17,11,38 separable=7,46,23,24 "
     "softmax=18,41,35,17 norm=7,31,34,20"},
    {"a maximum and what is compared with it are sums of parts in two orders",
     "numbers=542000004100 dims=2,4 last=1 stem=5 topology=0 head=0 shared=0 loss=0 "
     "optimizer=0 clip=2 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=0 data=0 "
     "layers=3 block=0 none=0,0,0,0 none=0,0,0,0 none=0,0,0,0 block=1 linear=0,0,0,0 "
     "none=0,0,0,0 none=0,0,0,0 block=2 linear=0,0,0,0 act=0,0,0,0 linear=0,0,0,0 block=3 "
     "linear=0,0,0,0 reduce=8,0,3,0 none=0,0,0,0 block=4 linear=0,0,0,0 reduce=8,0,3,0 "
     "none=0,0,0,0"},
    {"a minimum is kept, and what is compared with it is made again by a sum of parts",
     "numbers=542000004019 dims=3,6,8 last=1 stem=5 topology=0 head=1 shared=0 loss=4 "
     "optimizer=5 clip=2 accumulate=2 plain=0 again=1 no_decay=0 freeze=0 more=0 tied=0 data=0 "
     "layers=3 block=0 order=37,37,26,35 conv=23,33,6,35 pool=27,47,7,43 block=1 "
     "order=37,37,27,35 conv=23,33,6,35 pool=27,47,7,43 block=2 order=37,37,30,35 "
     "conv=23,33,6,35 pool=27,47,7,43 block=3 order=37,37,29,35 conv=23,33,6,35 pool=27,47,7,43 "
     "block=4 order=37,37,30,35 conv=23,33,6,35 pool=27,47,7,43 block=5 none=37,37,31,35 "
     "conv=23,33,6,35 pool=27,47,7,43"},
    {"what one iteration hands on is a parameter's gradient too, in one iteration",
     "numbers=575000004077 dims=1,1,2 last=1 stem=1 topology=0 head=0 shared=0 loss=0 "
     "optimizer=0 clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=0 data=0 "
     "half=1 layers=1 block=0 linear=0,0,0,0 block=1 linear=0,0,0,0 block=2 masked=0,0,3,0"},
    {"… and comes from a product outside",
     "numbers=575000004037 dims=1,2 last=1 stem=7 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=1 data=0 half=1 "
     "layers=1 block=0 linear=5,0,0,0 block=1 linear=5,0,0,0"},
    {"a loop gets a value and its reshape, which is made where the loop reads it",
     "numbers=902000006629 dims=1,1 last=1 stem=0 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=0 data=0 half=1 "
     "half_sum=0 layers=2 block=0 none=0,0,0,0 linear=0,0,0,0 block=1 transform=0,0,0,0 "
     "masked=0,0,0,0 block=2 transform=0,0,0,0 masked=0,0,0,0 block=3 transform=0,0,0,0 "
     "none=0,0,0,0"},
    {"log(1 + x) is 0 where log1p(x) is less than any number of f32",
     "numbers=902000006640 dims=1,3 last=1 stem=0 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=0 data=0 half=0 "
     "half_sum=0 layers=1 block=0 attend=4,0,35,0"},
    {"the rounding of bf16 crosses a kink",
     "numbers=902000006356 dims=1,3,5 last=0 stem=0 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 again=0 no_decay=0 freeze=0 more=0 tied=0 data=0 half=1 "
     "half_sum=0 layers=6 block=0 linear=0,0,8,3 gate=11,0,41,0 gate=5,1,21,0 none=0,0,0,0 "
     "linear=0,0,11,7 transform=7,0,35,0 block=1 linear=0,0,8,3 gate=11,0,41,0 gate=5,1,21,0 "
     "act=36,0,0,0 linear=0,0,0,0 transform=7,0,35,0"},
};

enum { PART = IS_SANITIZED ? 12 : 1 };  // one of so many nets is tried

static void found_nets_are_right(void **state)
{
    check_found(&(Hunt){.is_whole = true, .cc = QUICK_CC}, found, COUNT(found));
}

static void split_nets_are_right(void **state)
{
    check_found(&(Hunt){.ranks = 4}, split, COUNT(split));
}

// Recipes survive being printed and parsed.
static void recipes_are_texts(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        Recipe r = recipe_draw(i), again;
        Text a = {0}, b = {0};
        recipe_print(&r, &a);
        assert_true(recipe_parse(a.s, &again));
        recipe_print(&again, &b);
        assert_string_equal(a.s, b.s);
        text_free(&a);
        text_free(&b);
    }
}

static void whole_nets_are_right(void **state)
{
    check_drawn(&(Hunt){.is_whole = true, .cc = QUICK_CC}, 1000, 100 / PART, AS_DRAWN);
}

static void wide_nets_are_right(void **state)
{
    check_drawn(&(Hunt){.is_whole = true, .cc = QUICK_CC}, 6000, 20 / PART, WIDENED);
}

// Nets are also right if gcc optimizes them, as it does trainers.
static void optimized_nets_are_right(void **state)
{
    check_drawn(&(Hunt){.is_whole = true, .cc = "cc -O1"}, 2000, 15 / PART, AS_DRAWN);
}

static void programs_of_nets_are_right(void **state)
{
    check_drawn(&(Hunt){.is_whole = false}, 3000, 400 / PART, AS_DRAWN);
}

// Options by parameter, parameters that are summed or tied, outputs that the loss does not use.
static void varied_nets_are_right(void **state)
{
    check_drawn(&(Hunt){.ranks = 4}, 8100, 12 / PART, VARIED);
}

static void nets_of_ranks_are_right(void **state)
{
    check_drawn(&(Hunt){.ranks = 4}, 4000, 60 / PART, AS_DRAWN);
}

static void nets_in_halves_are_right(void **state)
{
    check_drawn(&(Hunt){.is_whole = true, .cc = QUICK_CC}, 9000, 24 / PART, IN_HALVES);
    check_drawn(&(Hunt){.ranks = 4}, 9500, 8 / PART, IN_HALVES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recipes_are_texts),        cmocka_unit_test(found_nets_are_right),
        cmocka_unit_test(whole_nets_are_right),     cmocka_unit_test(wide_nets_are_right),
        cmocka_unit_test(optimized_nets_are_right), cmocka_unit_test(programs_of_nets_are_right),
        cmocka_unit_test(varied_nets_are_right),    cmocka_unit_test(split_nets_are_right),
        cmocka_unit_test(nets_of_ranks_are_right),  cmocka_unit_test(nets_in_halves_are_right)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
