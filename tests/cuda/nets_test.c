// Tests programs of random nets on the tests' GPU against the nets' own graphs, as nets/nets_test.c
// does on the CPU: training steps and predictions. `tests/cuda/nets-main` hunts for more.
#include "tests/nets/check_nets.h"

static const FoundNet found[] = {
    {"an element whose index nobody needs",
     "numbers=77000000684 dims=1,3,5,3 last=0 stem=0 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 again=0 layers=2 block=0 none=0,0,0,0 act=0,0,0,0 block=1 "
     "norm=43,0,0,0 none=0,0,0,0"},
    {"a product is part of each row of a matrix whose other parts it reads",
     "numbers=77000000714 dims=2,1 last=1 stem=2 topology=4 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 "
     "accumulate=0 plain=0 again=0 layers=1 block=0 linear=0,0,0,0 block=0 none=0,0,0,0"},
    {"an element is kept for a later pass, which keeps what is made of it",
     "numbers=77000000911 dims=1,1,1,2 last=0 stem=0 topology=0 head=0 shared=0 loss=0 optimizer=0 "
     "clip=0 accumulate=0 plain=0 again=0 layers=2 block=0 act=35,0,0,0 norm=19,0,0,0"},
};

static void found_nets_are_right(void **state)
{
    check_found(&(Hunt){.is_whole = true, .cc = QUICK_CC}, found, COUNT(found));
}

static void nets_are_right(void **state)
{
    check_drawn(&(Hunt){.is_whole = true, .cc = QUICK_CC}, 5000, 16, AS_DRAWN);
}

static void wide_nets_are_right(void **state)
{
    check_drawn(&(Hunt){.is_whole = true, .cc = QUICK_CC}, 7000, 8, WIDENED);
}

// A process for each rank.
static void nets_on_two_gpus_are_right(void **state)
{
    check_drawn(&(Hunt){.is_whole = true, .ranks = 2, .cc = QUICK_CC}, 5600, 4, AS_DRAWN);
}

static void nets_in_halves_are_right(void **state)
{
    check_drawn(&(Hunt){.is_whole = true, .cc = QUICK_CC}, 9000, 4, IN_HALVES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_nets_are_right), cmocka_unit_test(nets_are_right),
        cmocka_unit_test(wide_nets_are_right), cmocka_unit_test(nets_on_two_gpus_are_right),
        cmocka_unit_test(nets_in_halves_are_right)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
