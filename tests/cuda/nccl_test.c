// Tests how NCCL is opened: its double, and NVIDIA's own library where there is one, which has no
// GPU to work with.
#include <stdlib.h>

#include "runtime/cuda/nccl.h"
#include "tests/cuda/both.h"

static void opens_the_double(void **state)
{
    char why[256] = "";
    RtNccl *nccl = rt_nccl_open(NULL, why, sizeof why);

    assert_non_null(nccl);
    assert_int_equal(nccl->version, 22809);
    free(nccl);
}

static void refuses_what_is_old_or_missing(void **state)
{
    char why[256] = "";

    setenv("NCCL_DOUBLE_VERSION", "21805", 1);
    assert_null(rt_nccl_open(NULL, why, sizeof why));
    assert_string_equal(why, "version 2.18 is too old, 2.19 is needed");
    unsetenv("NCCL_DOUBLE_VERSION");
    assert_null(rt_nccl_open("/nowhere", why, sizeof why));
    assert_non_null(strstr(why, "/nowhere/libnccl.so.2"));
    assert_non_null(strstr(why, "--libraries names its folder"));
}

static void knows_types(void **state)
{
    assert_int_equal(rt_nccl_type(RT_F32), RT_NCCL_FLOAT32);
    assert_int_equal(rt_nccl_type(RT_BF16), RT_NCCL_BFLOAT16);
    assert_int_equal(rt_nccl_type(RT_U64), RT_NCCL_INT64);
    assert_int_equal(rt_nccl_type(RT_BOOL), RT_NCCL_UINT8);
    assert_int_equal(rt_nccl_type(RT_I16), -1);
}

// The configuration is what the library expects: it goes on to look for a GPU, and finds none, or
// starts.
static void nvidias_own_takes_our_configuration(void **state)
{
#if defined NCCL_FOLDER && !defined __SANITIZE_ADDRESS__  // it has leaks of its own
    char why[256] = "";
    RtNccl *nccl = rt_nccl_open(NCCL_FOLDER, why, sizeof why);
    RtNcclConfig config = RT_NCCL_CONFIG;
    RtNcclComm *c = NULL;
    RtNcclId id;

    if (!nccl)
        fail_msg("%s", why);
    assert_true(nccl->version >= RT_NCCL_OLDEST);
    assert_int_equal(nccl->ncclGetUniqueId(&id), RT_NCCL_SUCCESS);
    int status = nccl->ncclCommInitRankConfig(&c, 1, id, 0, &config);
    print_message("NCCL %d: %s\n", nccl->version, nccl->ncclGetErrorString(status));
    assert_true(status == RT_NCCL_UNHANDLED_CUDA_ERROR || status == RT_NCCL_SUCCESS ||
                status == RT_NCCL_IN_PROGRESS);
    free(nccl);
#else
    print_message("left out\n");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_the_double),
        cmocka_unit_test(refuses_what_is_old_or_missing),
        cmocka_unit_test(knows_types),
        cmocka_unit_test(nvidias_own_takes_our_configuration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
