// Tests where samples come from: files of several types, windows of tokens, their order, reading
// ahead.
#include "runtime/rt_tokens.h"
#include "runtime/trainer/files.h"
#include "runtime/trainer/run_report.h"
#include "runtime/trainer/trainer.h"
#include "tests/runtime/small.h"

// ---- types: the file's elements and the input's ----

static const struct {
    const char *from;
    RtType to;
    bool fits;
} conversions[] = {
    {"F32", RT_F32, true},  {"F64", RT_F32, true},  {"U8", RT_F32, true},   {"I16", RT_F32, true},
    {"BOOL", RT_F32, true}, {"I32", RT_F32, false}, {"I64", RT_F32, false}, {"F16", RT_F32, false},
    {"I32", RT_F64, true},  {"I32", RT_I64, true},  {"U32", RT_I64, true},  {"U64", RT_I64, false},
    {"F32", RT_I64, false}, {"I64", RT_I32, false}, {"U16", RT_I32, true},  {"U32", RT_I32, false},
    {"I8", RT_U8, false},   {"BOOL", RT_I64, true}, {"U8", RT_BOOL, false}, {"I64", RT_F64, false},
};

static void converts(void **state)
{
    for (int i = 0; i < N(conversions); i++) {
        RtType from;

        assert_true(rt_type_find(conversions[i].from, &from));
        if (rt_type_converts(from, conversions[i].to) != conversions[i].fits)
            fail_msg("%s to %s", conversions[i].from, rt_type_name(conversions[i].to));
        if (!conversions[i].fits)
            continue;
        // More elements than one round of the loop takes, and an unaligned source.
        unsigned char x[1 + 8 * 300], y[8 * 300];
        for (int64_t k = 0; k < 300; k++)
            rt_set_int(RT_U8, x + k, k % 2);
        rt_convert(from, y, RT_U8, x, 300);
        memcpy(x + 1, y, sizeof y);
        rt_convert(conversions[i].to, y, from, x + 1, 300);
        int bytes = rt_dtype_bytes(rt_type_name(conversions[i].to));
        for (int64_t k = 0; k < 300; k++)
            assert_float_equal(rt_get(conversions[i].to, y + k * bytes), (double)(k % 2), 0);
    }
}

// ---- folders ----

static const RtTensor inputs[] = {
    {.role = RT_INPUT, .type = RT_F32, .name = "../a/b", .rank = 2, .dim = {2, 3}, .at = 0},
    {.role = RT_INPUT, .type = RT_I64, .name = "positions", .rank = 2, .dim = {1, 3}, .at = 64},
    {.role = RT_INPUT,
     .type = RT_I64,
     .name = "labels",
     .rank = 1,
     .dim = {2},
     .at = 128,
     .is_labels = true},
};
static const RtModel folder_model = {
    .device = &rt_cpu, .name = "folder", .accumulate = 1, .train = inputs, .n_train = N(inputs)};

static void reads_folders(void **state)
{
    double a[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
    int16_t positions[3] = {5, 6, 7};
    int32_t labels[4] = {40, 41, 42, 43};
    char arena[192];
    RtData d;

    mkdir("d", 0777);
    write_npy("d/_._a_b.npy", "F64", 2, (int64_t[]){4, 3}, a);
    write_npy("d/positions.npy", "I16", 2, (int64_t[]){1, 3}, positions);
    write_npy("d/labels.npy", "I32", 1, (int64_t[]){4}, labels);
    assert_true(
        rt_data_open(&d, &folder_model, NULL, RT_TRAIN, "d", &(RtTokenOptions){.bytes = 1}));
    assert_int_equal(d.samples, 4);
    rt_data_stage(&d, (int64_t[]){3, 1}, d.staging);
    rt_data_copy_in(&d, d.staging, &(Rt){.device = &rt_cpu, .arena = arena});
    for (int i = 0; i < 3; i++) {
        assert_float_equal(F(arena, 0)[i], a[3][i], 0);
        assert_float_equal(F(arena, 0)[3 + i], a[1][i], 0);
        assert_int_equal(I(arena, 64)[i], positions[i]);
    }
    assert_int_equal(I(arena, 128)[0], 43);
    assert_int_equal(I(arena, 128)[1], 41);
    rt_data_close(&d);
}

// ---- checksums ----

static uint32_t sum_of_one(const uint8_t *bytes, int64_t n)
{
    RtDataFile f = {.map = {.data = bytes, .size = (size_t)n}, .rows = bytes + 2};

    return rt_data_sum(&(RtData){.file = &f, .n_files = 1});
}

// The first two bytes are a header.
static void sums_data(void **state)
{
    enum { SMALL = 5000, LARGE = 3 << 20 };
    uint8_t *bytes = calloc(LARGE, 1);

    uint32_t sum = sum_of_one(bytes, SMALL);
    for (int i = 0; i < SMALL; i++) {
        bytes[i] = 1;
        assert_int_equal(sum_of_one(bytes, SMALL) != sum, i >= 2);
        bytes[i] = 0;
    }
    assert_int_not_equal(sum_of_one(bytes, SMALL + 1), sum);
    // One byte in three of larger data is read.
    sum = sum_of_one(bytes, LARGE);
    int noticed = 0;
    for (int i = 2; i < LARGE; i += 4099) {
        bytes[i] = 1;
        noticed += sum_of_one(bytes, LARGE) != sum;
        bytes[i] = 0;
    }
    assert_in_range(noticed, LARGE / 4099 / 4, LARGE / 4099 / 2);
    // Each byte of small files counts, and so does their order.
    RtDataFile f[3], reversed[3];
    for (int i = 0; i < 3; i++)
        reversed[2 - i] = f[i] =
            (RtDataFile){.map = {.data = bytes, .size = (size_t)(100 + 3000 * i)}, .rows = bytes};
    sum = rt_data_sum(&(RtData){.file = f, .n_files = 3});
    assert_int_not_equal(rt_data_sum(&(RtData){.file = reversed, .n_files = 3}), sum);
    for (int i = 0; i < 6100; i++) {
        bytes[i] = 1;
        assert_int_not_equal(rt_data_sum(&(RtData){.file = f, .n_files = 3}), sum);
        bytes[i] = 0;
    }
    free(bytes);
}

// ---- tokens ----

// Files with headers: the first four words of 256, and the bytes after them.
static const struct {
    uint32_t head[4];
    size_t bytes;      // of the file
    int said;          // by --token-bytes
    const char *says;  // tokens and their bytes, or the error
} headers[] = {
    {{20240520, 1, 6, 0}, 1024 + 12, 0, "6 of 2 bytes"},
    {{20240520, 1, 6, 0}, 1024 + 12, 2, "6 of 2 bytes"},
    {{20240801, 7, 3, 0}, 1024 + 12, 0, "3 of 4 bytes"},
    {{20240520, 1, 0, 0}, 1024, 0, "0 of 2 bytes"},
    {{20240521, 1, 6, 0}, 1036, 0, "1036 of 1 bytes"},  // no header
    {{20240521, 1, 6, 0}, 1036, 4, "259 of 4 bytes"},
    {{20240521, 1, 6, 0},
     1035,
     2,
     "1035 bytes are not a whole number of tokens of 2 bytes (--token-bytes)"},
    {{20240520, 1, 6, 0}, 1023, 0, "its header is cut short: 1023 of 1024 bytes"},
    {{20240520, 1, 6, 0}, 4, 0, "its header is cut short: 4 of 1024 bytes"},
    {{20240520, 2, 6, 0}, 1036, 0, "its header is of version 2; version 1 of 20240520 can be read"},
    {{20240801, 1, 3, 0}, 1036, 0, "its header is of version 1; version 7 of 20240801 can be read"},
    {{20240520, 1, 6, 0}, 1036, 4, "its header says tokens of 2 bytes, --token-bytes says 4"},
    {{20240801, 7, 3, 0}, 1036, 2, "its header says tokens of 4 bytes, --token-bytes says 2"},
    {{20240520, 1, 6, 0}, 1035, 0, "its header says 6 tokens, a file of 1036 bytes; it has 1035"},
    {{20240520, 1, 5, 0}, 1036, 0, "its header says 5 tokens, a file of 1034 bytes; it has 1036"},
    {{20240801, 7, UINT32_MAX, 0},
     1036,
     0,
     "its header says 4294967295 tokens, a file of 17179870204 bytes; it has 1036"},
    {{0}, 0, 0, "0 of 1 bytes"},
};

static void reads_headers(void **state)
{
    for (int i = 0; i < N(headers); i++) {
        uint8_t *file = calloc(2048, 1);
        uint8_t *part = malloc(headers[i].bytes + 1);
        RtTokens t;
        RtFileError e;
        char says[400];

        memcpy(file, headers[i].head, sizeof headers[i].head);
        memcpy(part, file, headers[i].bytes);
        if (rt_tokens_parse(&t, part, headers[i].bytes, headers[i].said, 1, &e))
            snprintf(says, sizeof says, "%lld of %d bytes", (long long)t.n, t.bytes);
        else
            snprintf(says, sizeof says, "%s", e.text);
        assert_string_equal(says, headers[i].says);
        free(file);
        free(part);
    }
}

static void reads_tokens(void **state)
{
    static const RtTensor set[] = {BIGRAM_INPUTS};
    RtModel m = bigram;
    char arena[B_BYTES];

    m.train = m.predict = set;
    m.n_train = m.n_predict = N(set);
    for (int bytes = 1; bytes <= 4; bytes *= 2) {
        uint8_t text[4 * 17] = {0};
        RtData d;

        for (int i = 0; i < 17; i++)
            text[i * bytes] = (uint8_t)(100 + i);
        write_file("t", text, (size_t)(17 * bytes));
        assert_true(rt_data_open(&d, &m, NULL, RT_TRAIN, "t", &(RtTokenOptions){.bytes = bytes}));
        assert_int_equal(d.samples, 4);
        rt_data_stage(&d, (int64_t[]){3, 0}, d.staging);
        rt_data_copy_in(&d, d.staging, &(Rt){.device = &rt_cpu, .arena = arena});
        for (int i = 0; i < BT; i++) {
            assert_int_equal(I(arena, B_IDS)[i], 112 + i);
            assert_int_equal(I(arena, B_LABELS)[i], 113 + i);
            assert_int_equal(I(arena, B_IDS)[BT + i], 100 + i);
        }
        rt_data_close(&d);
        // Without labels the last token is used too.
        write_file("t", text, (size_t)(16 * bytes));
        assert_true(rt_data_open(&d, &m, NULL, RT_TRAIN, "t", &(RtTokenOptions){.bytes = bytes}));
        assert_int_equal(d.samples, 3);
        rt_data_close(&d);
        assert_true(rt_data_open(&d, &m, NULL, RT_PREDICT, "t", &(RtTokenOptions){.bytes = bytes}));
        assert_int_equal(d.samples, 4);
        rt_data_close(&d);
    }
}

// Two documents and a half, of lengths 10, 1 and 8; 99 ends a document.
static void reads_documents(void **state)
{
    static const RtTensor set[] = {BIGRAM_INPUTS};
    static const uint8_t text[] = {0,  1,  2,  3,  4,  5,  6,  7,  8, 99,
                                   99, 20, 21, 22, 23, 24, 25, 26, 27};
    static const int64_t packed[] = {99, -100, -100, 21}, cut[] = {1, 2, 3, 4, 21, 22, 23, 24};
    RtModel m = bigram;
    char arena[B_BYTES];

    m.train = m.predict = set;
    m.n_train = m.n_predict = N(set);
    m.ignored_label = -100;
    for (int bytes = 1; bytes <= 4; bytes *= 2) {
        uint8_t file[4 * N(text)] = {0};
        RtTokenOptions o = {.bytes = bytes, .document_end = 99};
        RtData d;
        uint32_t sum[3];

        for (int i = 0; i < N(text); i++)
            file[i * bytes] = text[i];
        write_file("t", file, sizeof text * (size_t)bytes);
        for (o.documents = RT_IGNORED; o.documents <= RT_CUT; o.documents++) {
            assert_true(rt_data_open(&d, &m, NULL, RT_TRAIN, "t", &o));
            sum[o.documents] = d.sum;
            assert_int_equal(d.samples, o.documents == RT_CUT ? 3 : 4);
            rt_data_stage(&d, (int64_t[]){o.documents == RT_CUT ? 0 : 2, 2}, d.staging);
            rt_data_copy_in(&d, d.staging, &(Rt){.device = &rt_cpu, .arena = arena});
            for (int i = 0; i < BT && o.documents == RT_PACKED; i++)
                assert_int_equal(I(arena, B_LABELS)[i], packed[i]);
            for (int i = 0; i < 2 * BT && o.documents == RT_CUT; i++)
                assert_int_equal(I(arena, B_LABELS)[i], cut[i]);
            if (o.documents == RT_CUT) {
                assert_int_equal(d.n_documents, 3);
                assert_int_equal(d.n_left_out, 1 + 1 + 3);
                assert_int_equal(d.n_tokens, N(text));
            }
            rt_data_close(&d);
            // Predictions know of no documents.
            assert_true(rt_data_open(&d, &m, NULL, RT_PREDICT, "t", &o));
            assert_int_equal(d.samples, 4);
            rt_data_close(&d);
        }
        assert_true(sum[0] != sum[1] && sum[1] != sum[2] && sum[0] != sum[2]);
    }
}

// The second of three files has no window, and the last one is cut short after it was opened.
static void reads_folders_of_tokens(void **state)
{
    static const RtTensor set[] = {BIGRAM_INPUTS};
    static const struct {
        const char *path;
        int tokens, first;
    } files[] = {{"f/a.bin", 12, 10}, {"f/b.bin", 4, 0}, {"f/c.bin", 5001, 50}};
    RtModel m = bigram;
    char arena[B_BYTES];
    RtData d;

    m.train = set;
    m.n_train = N(set);
    mkdir("f", 0777);
    for (int i = 0; i < N(files); i++) {
        uint8_t text[5001];
        for (int k = 0; k < files[i].tokens; k++)
            text[k] = (uint8_t)((files[i].first + k) % BV);
        write_file(files[i].path, text, (size_t)files[i].tokens);
    }
    assert_true(rt_data_open(&d, &m, NULL, RT_TRAIN, "f", &(RtTokenOptions){.bytes = 0}));
    assert_int_equal(d.samples, 2 + 0 + 1250);
    for (int64_t k = 0; k < 2; k++) {
        rt_data_stage(&d, (int64_t[]){1 + k, k * (d.samples - 1)}, d.staging);
        rt_data_copy_in(&d, d.staging, &(Rt){.device = &rt_cpu, .arena = arena});
        for (int i = 0; i < BT; i++) {
            assert_int_equal(I(arena, B_IDS)[i], (k ? 50 : 14) + i);
            assert_int_equal(I(arena, B_LABELS)[i], (k ? 50 : 14) + i + 1);
            assert_int_equal(I(arena, B_IDS)[BT + i], k ? (50 + 1249 * BT + i) % BV : 10 + i);
        }
    }
    RtRun run = {.model = &m};
    assert_int_equal(truncate("f/c.bin", 100), 0);
    assert_true(rt_check_data(&run, &d, (int64_t[]){0, 1}, d.staging));
    assert_false(rt_check_data(&run, &d, (int64_t[]){0, 2}, d.staging));
    rt_data_close(&d);
}

// ---- order ----

static void shuffles(void **state)
{
    static const int64_t sizes[] = {1, 2, 3, 5, 16, 17, 1000};

    for (int s = 0; s < N(sizes); s++)
        for (int64_t seed = 0; seed < 3; seed++)
            for (int64_t epoch = 0; epoch < 3; epoch++) {
                bool seen[1000] = {0};
                int64_t moved = 0, differs = 0;

                for (int64_t i = 0; i < sizes[s]; i++) {
                    int64_t k = rt_shuffle(i, sizes[s], seed, epoch);
                    assert_true(k >= 0 && k < sizes[s] && !seen[k]);
                    seen[k] = true;
                    moved += k != i;
                    differs += k != rt_shuffle(i, sizes[s], seed, epoch + 1);
                }
                if (sizes[s] == 1000)
                    assert_true(moved > 950 && differs > 950);
            }
    // The positions of an element are uniform: of 4000 epochs about 1000 move it to each quarter.
    int quarter[4] = {0};
    for (int64_t epoch = 0; epoch < 4000; epoch++)
        quarter[rt_shuffle(7, 100, 5, epoch) / 25]++;
    for (int i = 0; i < 4; i++)
        assert_in_range(quarter[i], 880, 1120);
}

// Each epoch gives every sample once, in another order, however fast the loader's thread is.
static void reads_ahead(void **state)
{
    enum { SAMPLES = 10, EPOCHS = 40, PER_EPOCH = SAMPLES / BB };
    static const RtTensor set[] = {BIGRAM_INPUTS};
    RtModel m = bigram;
    char arena[B_BYTES];
    uint8_t text[SAMPLES * BT + 1];
    RtData d;
    int64_t first[SAMPLES];
    int same = 0;

    for (int i = 0; i < N(text); i++)
        text[i] = (uint8_t)(i / BT);
    write_file("t", text, sizeof text);
    m.train = set;
    m.n_train = N(set);
    assert_true(rt_data_open(&d, &m, NULL, RT_TRAIN, "t", &(RtTokenOptions){.bytes = 1}));
    RtLoader *l = rt_loader_start(&d, 0, EPOCHS * PER_EPOCH, SAMPLES, true, 1);
    for (int e = 0; e < EPOCHS; e++) {
        bool seen[SAMPLES] = {0};
        for (int i = 0; i < SAMPLES; i += BB) {
            const char *staging;
            const int64_t *sample = rt_loader_next(l, &staging);
            rt_data_copy_in(&d, staging, &(Rt){.device = &rt_cpu, .arena = arena});
            rt_loader_release(l);
            for (int r = 0; r < BB; r++) {
                assert_int_equal(I(arena, B_IDS)[r * BT], sample[r]);
                assert_false(seen[sample[r]]);
                seen[sample[r]] = true;
                same += e > 0 && first[i + r] == sample[r];
                first[i + r] = e > 0 ? first[i + r] : sample[r];
            }
        }
    }
    assert_true(same < SAMPLES * EPOCHS / 4);
    rt_loader_stop(l);
    l = rt_loader_start(&d, 0, 1000, SAMPLES, true, 1);  // stopped before all is read
    rt_loader_next(l, &(const char *){NULL});
    rt_loader_stop(l);
    rt_data_close(&d);
}

// ---- the learning rate ----

static const struct {
    RtSchedule schedule;
    int64_t warmup, step, steps;
    double rate;
} rates[] = {
    {RT_CONSTANT_LR, 0, 0, 10, 1},    {RT_CONSTANT_LR, 4, 0, 10, 0.25},
    {RT_CONSTANT_LR, 4, 3, 10, 1},    {RT_CONSTANT_LR, 4, 9, 10, 1},
    {RT_LINEAR, 0, 0, 10, 1},         {RT_LINEAR, 0, 9, 10, 0.1},
    {RT_LINEAR, 2, 1, 10, 1},         {RT_LINEAR, 2, 2, 10, 1},
    {RT_LINEAR, 2, 6, 10, 0.5},       {RT_COSINE, 0, 0, 10, 1},
    {RT_COSINE, 0, 5, 10, 0.5},       {RT_COSINE, 5, 5, 10, 1},
    {RT_COSINE, 0, 9, 10, 0.0244717}, {RT_LINEAR, 20, 9, 10, 0.5},
};

static void schedules(void **state)
{
    for (int i = 0; i < N(rates); i++) {
        RtOptions o = {.schedule = rates[i].schedule, .warmup = rates[i].warmup};
        assert_float_equal(rt_schedule(&o, 3, rates[i].step, rates[i].steps), 3 * rates[i].rate,
                           1e-6);
    }
}

static const struct {
    double v;
    const char *text;
} numbers[] = {
    {0, "0"},       {1.25, "1.2"},    {42.4, "42"},    {999.4, "999"},    {999.6, "1.0k"},
    {2300, "2.3k"}, {163000, "163k"}, {1.5e9, "1.5G"}, {9.96e4, "99.6k"}, {9.999e5, "1.0M"},
};

static void shortens_numbers(void **state)
{
    for (int i = 0; i < N(numbers); i++) {
        char text[RT_SHORT];
        rt_short_number(numbers[i].v, text);
        assert_string_equal(text, numbers[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converts),
        cmocka_unit_test(reads_folders),
        cmocka_unit_test(reads_headers),
        cmocka_unit_test(sums_data),
        cmocka_unit_test(reads_tokens),
        cmocka_unit_test(reads_documents),
        cmocka_unit_test(reads_folders_of_tokens),
        cmocka_unit_test(shuffles),
        cmocka_unit_test(reads_ahead),
        cmocka_unit_test(schedules),
        cmocka_unit_test(shortens_numbers),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
