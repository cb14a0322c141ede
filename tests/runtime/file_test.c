// Tests files of tensors: reading good ones, and the messages about bad ones.
#include <fcntl.h>
#include <sys/file.h>

#include "tests/runtime/small.h"

// ---- npy: the header's text, padded; 16 bytes of data follow ----

static const struct {
    const char *dict, *says;  // '~' is a NUL; "F32[4]" or the error
} npys[] = {
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", "F32[4]"},
    {"{\"shape\":(2,2),\"descr\":\"<f4\",\"fortran_order\":False}", "F32[2,2]"},
    {"{'descr': '<i8', 'fortran_order': False, 'shape': (2, 1)}", "I64[2,1]"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", "F64[2]"},
    {"{'descr': '|b1', 'fortran_order': False, 'shape': (16,)}", "BOOL[16]"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (4, 4)}", "U8[4,4]"},
    {"{'descr': '<V2', 'fortran_order': False, 'shape': (8,)}", "BF16[8]"},
    {"{'descr': '>f4', 'fortran_order': False, 'shape': (4,)}",
     "npy: numbers are big-endian ('>f4'); little-endian ones are read"},
    {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}",
     "npy: elements of type '<c8' are not supported"},
    {"{'descr': '', 'fortran_order': False, 'shape': (2,)}",
     "npy: elements of type '' are not supported"},
    {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,)}",
     "npy: elements are records, or of a type that is not supported"},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (4,)}",
     "npy: in Fortran order; save it with numpy.ascontiguousarray"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (5,)}",
     "npy: its header says F32[5], 20 bytes; 16 are there"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
     "npy: its header says F32[3], 12 bytes; 16 are there"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': ()}",
     "npy: its header says F32[], 4 bytes; 16 are there"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
     "npy: its header says F32[4294967296,4294967296], too large"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
     "npy: malformed header"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-4,)}", "npy: malformed header"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,4)}",
     "npy: malformed header"},
    {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (4,)}", "npy: malformed header"},
    {"{'descr': '<f4', 'shape': (4,)}", "npy: malformed header"},
    {"{'descr': '<f4~', 'fortran_order': False, 'shape': (4,)}",
     "npy: elements are records, or of a type that is not supported"},
    {"{'descr~': '<f4', 'fortran_order': False, 'shape': (4,)}", "npy: malformed header"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,)}~", "npy: malformed header"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,)} 1", "npy: malformed header"},
    {"{'descr': '<f4', 'descr': '', 'fortran_order': False, 'shape': (4,)}",
     "npy: malformed header"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (4,)}",
     "npy: malformed header"},
    {"{'descr': '<f4', 'fortran_order': False, 'fortran_order': False, 'shape': (4,)}",
     "npy: malformed header"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'shape': (2,)}",
     "npy: malformed header"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'order': 'C'}",
     "npy: malformed header"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,)", "npy: malformed header"},
    {"", "npy: malformed header"},
};

static void reads_npy(void **state)
{
    for (int i = 0; i < N(npys); i++) {
        uint8_t file[256] = "\x93NUMPY\1";
        size_t n = strlen(npys[i].dict);
        RtStored t;
        RtFileError e;
        char says[400];

        file[8] = (uint8_t)(n + 1);
        for (size_t k = 0; k < n; k++)
            file[10 + k] = npys[i].dict[k] == '~' ? 0 : (uint8_t)npys[i].dict[k];
        file[10 + n] = '\n';
        if (rt_npy_parse(&t, file, 11 + n + 16, &e))
            rt_stored_print(says, sizeof says, &t);
        else
            snprintf(says, sizeof says, "%s", e.text);
        assert_string_equal(says, npys[i].says);
    }
}

// Every prefix of a good file is an error.
static void refuses_prefixes(void **state)
{
    uint8_t file[512];
    RtStored t = {.dtype = "F32", .rank = 2, .dim = {2, 3}}, u;
    RtFileError e;
    size_t n = rt_npy_header((char *)file, sizeof file, &t) + 24;

    for (size_t i = 0; i < n; i++) {
        uint8_t *part = malloc(i ? i : 1);
        memcpy(part, file, i);
        assert_false(rt_npy_parse(&u, part, i, &e));
        free(part);
    }
    assert_true(rt_npy_parse(&u, file, n, &e));
}

// ---- safetensors: the header's text; 8 bytes of data follow ----

static const struct {
    const char *json, *says;  // names and shapes, or the error
} safes[] = {
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", "a F32[2];"},
    {" { \"b\" : { \"shape\" : [ ] , \"data_offsets\" : [ 4 , 8 ] , \"dtype\" : \"F32\" } , "
     "\"a\":{\"dtype\":\"I16\",\"shape\":[1,2],\"data_offsets\":[0,4]},"
     "\"__metadata__\":{\"x\":\"y\"}}  ",
     "a I16[1,2];b F32[];"},
    {"{\"\\u00e4\\uD83D\\ude00\\n\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}",
     "\xc3\xa4\xf0\x9f\x98\x80\n U8[8];"},
    {"{\"\\\"\\\\\\/"
     "\\b\\f\\r\\t\\u007F\\u0001\\u20ac\":{\"dtype\":\"U\\u0038\",\"sh\\u0061pe\":[8],"
     "\"data_offsets\":[0,8]}}",
     "\"\\/\b\f\r\t\x7f\x01\xe2\x82\xac U8[8];"},
    {"{\"__metadata__\":{\"a\\u0000\":\"\\ud83D\\uDE00\\u0000\"},"
     "\"a\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}",
     "a U8[8];"},
    {"{\"\\ud800\\udc00\\udbff\\udfff\\ud7ff\\ue000\":"  // the first and last surrogates, and their
                                                         // neighbours
     "{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}",
     "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\xed\x9f\xbf\xee\x80\x80 U8[8];"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,9]}}",
     "safetensors: tensor 'a' lies at bytes 0 to 9 of 8: truncated?"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}",
     "safetensors: tensor 'a' lies at bytes 8 to 0 of 8: truncated?"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}",
     "safetensors: tensor 'a' is F32[3] but has 8 bytes"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}",
     "safetensors: tensor 'a' is F32[4294967296,4294967296] but has 0 bytes"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
     "safetensors: 4 bytes follow the last tensor"},
    {"{\"a\":{\"dtype\":\"Q4\\u001b\",\"shape\":[2],\"data_offsets\":[0,8]}}",
     "safetensors: type 'Q4\\x1b' is not supported"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
     "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
     "safetensors: tensor 'a' occurs twice"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", "safetensors: malformed header"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}",
     "safetensors: malformed header"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8,8]}}",
     "safetensors: malformed header"},
    {"{\"a\\u0000\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
     "safetensors: malformed header"},
    {"{\"a\":{\"dtype\\u0000\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
     "safetensors: malformed header"},
    {"{\"a\":{\"dtype\":\"F32\\u0000\",\"shape\":[2],\"data_offsets\":[0,8]}}",
     "safetensors: malformed header"},
    {"{\"\\ude00\\ud83d\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
     "safetensors: malformed header"},
    {"{\"\\q\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
     "safetensors: malformed header"},
    {"{\"\\u12\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
     "safetensors: malformed header"},
    {"{\"\\ud83d\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
     "safetensors: malformed header"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}} x",
     "safetensors: malformed header"},
    {"[]", "safetensors: malformed header"},
    {"{}", "safetensors: 8 bytes follow the last tensor"},
};

static void reads_safetensors(void **state)
{
    for (int i = 0; i < N(safes); i++) {
        uint64_t n = strlen(safes[i].json);
        uint8_t *file = calloc(n + 16, 1);
        char says[400] = "";
        RtSafe s;
        RtFileError e;

        memcpy(file, &n, 8);
        memcpy(file + 8, safes[i].json, n);
        if (!rt_safe_parse(&s, file, n + 16, &e))
            snprintf(says, sizeof says, "%s", e.text);
        for (int k = 0; k < s.n; k++) {
            char shape[100];
            rt_stored_print(shape, sizeof shape, &s.tensor[k]);
            sprintf(says + strlen(says), "%s %s;", s.tensor[k].name, shape);
        }
        assert_string_equal(says, safes[i].says);
        rt_safe_close(&s);
        free(file);
    }
}

// Any names can be written and are read back unchanged.
static void writes_safetensors(void **state)
{
    static const RtStored t[] = {
        {.name = "a\"b\\c\n\x1b/\x7f", .dtype = "F32", .rank = 1, .dim = {2}},
        {.name = "\xc3\xa4\xe2\x80\xae", .dtype = "I64"},
        {.name = "__metadata", .dtype = "BF16", .rank = 2, .dim = {0, 3}},
        {.name = "", .dtype = "BOOL", .rank = 1, .dim = {5}},
    };
    int64_t bytes;
    char *header = rt_safe_header(t, N(t), &bytes);
    uint8_t *file = calloc((size_t)bytes + 21, 1);
    RtSafe s;
    RtFileError e;

    assert_int_equal(bytes % 8, 0);
    memcpy(file, header, (size_t)bytes);
    for (size_t n = 0; n < (size_t)bytes + 21; n++)  // no prefix is a valid file
        assert_false(rt_safe_parse(&s, file, n, &e));
    assert_true(rt_safe_parse(&s, file, (size_t)bytes + 21, &e));
    assert_int_equal(s.n, N(t));
    for (int i = 0; i < N(t); i++) {
        const RtStored *found = rt_safe_find(&s, t[i].name);
        assert_non_null(found);
        assert_string_equal(found->dtype, t[i].dtype);
        assert_int_equal(found->rank, t[i].rank);
        assert_memory_equal(found->dim, t[i].dim, (size_t)t[i].rank * sizeof *t[i].dim);
    }
    assert_null(rt_safe_find(&s, "b"));
    rt_safe_close(&s);
    free(header);
    free(file);
}

// Names with every character that JSON must or may escape, alone and between others, are read
// back.
static void names_come_back(void **state)
{
    RtFileError e;

    for (uint32_t c = 1; c < 0x110000; c += c < 0x900 ? 1 : 251) {
        char name[16] = "a", *to = name + 1;
        int64_t bytes;
        RtSafe s;
        int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

        if (c >= 0xd800 && c < 0xe000)
            continue;
        for (int i = n - 1; i > 0; i--)
            to[i] = (char)(0x80 | (c >> (6 * (n - 1 - i)) & 0x3f));
        to[0] = (char)((n == 1 ? 0 : 0xf00 >> n & 0xff) | c >> (6 * (n - 1)));
        strcat(name, "b");
        RtStored t = {.name = name, .dtype = "U8", .rank = 1, .dim = {0}};
        char *header = rt_safe_header(&t, 1, &bytes);
        assert_true(rt_safe_parse(&s, (uint8_t *)header, (size_t)bytes, &e));
        assert_string_equal(s.tensor[0].name, name);
        rt_safe_close(&s);
        free(header);
    }
}

// A header that can be written can be read. A longer one can be neither written nor read.
static void limits_headers(void **state)
{
    enum { MANY = 1000 };
    RtStored *t = calloc(MANY, sizeof *t);
    char *name = malloc(RT_MAX_HEADER / MANY + 1);
    int64_t bytes;

    memset(name, 'n', RT_MAX_HEADER / MANY);
    name[RT_MAX_HEADER / MANY] = 0;
    for (int i = 0; i < MANY; i++)
        t[i] = (RtStored){.name = name, .dtype = "F32"};
    assert_null(rt_safe_header(t, MANY, &bytes));
    assert_true(bytes > RT_MAX_HEADER);
    char *header = rt_safe_header(t, MANY - 1, &bytes);
    assert_non_null(header);
    assert_true(bytes <= RT_MAX_HEADER);
    free(header);
    free(name);
    free(t);
}

static const struct {
    const char *text, *json;
} strings[] = {
    {"a b", "\"a b\""},
    {"\"\\\n\x01", "\"\\\"\\\\\\u000a\\u0001\""},
    {"\xc3\xa4", "\"\xc3\xa4\""},
    {"\xc3", "\"\\u00c3\""},                        // cut off
    {"\xc0\xaf", "\"\\u00c0\\u00af\""},             // longer than necessary
    {"\xed\xa0\x80", "\"\\u00ed\\u00a0\\u0080\""},  // half of a surrogate pair
    {"", "\"\""},
};

static void writes_json(void **state)
{
    for (int i = 0; i < N(strings); i++) {
        char to[64];
        size_t n = strlen(strings[i].json);

        assert_int_equal(rt_json_string(NULL, 0, strings[i].text), n);
        assert_int_equal(rt_json_string(to, n + 1, strings[i].text), n);
        assert_string_equal(to, strings[i].json);
    }
}

// ---- npz ----

static void writes_npz(void **state)
{
    float a[6] = {1, 2, 3, 4, 5, 6};
    int64_t b[2] = {7, 8};
    char name[300] = "";
    memset(name, 'n', sizeof name - 1);  // a length that takes two bytes
    RtNpzEntry entry[] = {{.t = {.name = name, .dtype = "I64", .rank = 1, .dim = {2}}},
                          {.t = {.name = "a", .dtype = "F32", .rank = 2, .dim = {2, 3}}},
                          {.t = {.name = "b/c", .dtype = "I64", .rank = 1, .dim = {2}}}};
    RtOut o;
    RtFileError e;
    RtMap m;
    RtStored t;

    assert_true(rt_npz_begin(&o, entry, 3, "x.npz", &e));
    for (int i = 0; i < 2; i++) {  // interleaved
        rt_npz_write(&o, &entry[0], b + i, 8);
        rt_npz_write(&o, &entry[1], a + 3 * i, 12);
        rt_npz_write(&o, &entry[2], b + i, 8);
    }
    assert_true(rt_npz_end(&o, entry, 3, &e));
    assert_true(rt_map(&m, "x.npz", &e));
    assert_true(rt_npz_find(&m, "a", &t, &e));
    assert_int_equal(t.dim[1], 3);
    assert_memory_equal(t.data, a, sizeof a);
    assert_true(rt_npz_find(&m, name, &t, &e));
    assert_true(rt_npz_find(&m, "b/c", &t, &e));
    assert_memory_equal(t.data, b, sizeof b);
    assert_false(rt_npz_find(&m, "b", &t, &e));
    assert_string_equal(e.text, "npz: has no 'b'");

    // Flips bits of each byte: that gives an error, unless the byte isn't used.
    uint8_t *copy = malloc(m.size);
    for (size_t i = 0; i < m.size; i++) {
        memcpy(copy, m.data, m.size);
        copy[i] ^= 0x55;
        if (rt_npz_find(&(RtMap){copy, m.size}, "a", &t, &e))
            assert_memory_equal(t.data, a, sizeof a);
        assert_false(rt_npz_find(&(RtMap){copy, i}, "a", &t, &e));
    }
    free(copy);
    rt_unmap(&m);
}

// ---- writing at offsets ----

static void writes_beside(void **state)
{
    RtOut o;
    RtFileError e;
    char text[16];

    write_file("old", "old", 3);
    assert_int_equal(symlink("old", "link"), 0);
    assert_true(rt_out_open(&o, "link", &e));
    rt_out_write(&o, "new", 3);
    read_text("old", text, sizeof text);
    assert_string_equal(text, "old");
    assert_true(rt_out_commit(&o, &e));
    read_text("old", text, sizeof text);
    assert_string_equal(text, "new");
    assert_int_equal(readlink("link", text, sizeof text), 3);

    assert_false(rt_out_open(&o, "/dev/null", &e));
    assert_string_equal(e.text, "not a regular file");
    assert_false(rt_out_open(&o, "gone/x", &e));
    assert_string_equal(e.text, "No such file or directory");
}

// Two processes write one file. The process ids are only names here.
static void writes_together(void **state)
{
    RtOut a, b;
    RtFileError e;
    char text[16];

    write_file("both", "old", 3);
    assert_true(rt_out_open(&a, "both", &e));
    assert_true(rt_out_join(&b, "both", getpid(), &e));
    rt_out_write_at(&b, 2, "cd", 2);
    rt_out_write_at(&a, 0, "ab", 2);
    assert_true(rt_out_finish(&b, &e) && rt_out_finish(&a, &e));
    read_text("both", text, sizeof text);
    assert_string_equal(text, "old");
    assert_true(rt_out_rename(&a, &e));
    read_text("both", text, sizeof text);
    assert_string_equal(text, "abcd");
    // A temporary file that isn't there can't be joined.
    assert_false(rt_out_join(&b, "both", 7, &e));
    assert_non_null(strstr(e.text, "both.shardcc-7.tmp: No such file or directory"));
}

// Removes the files that killed processes left, and no others.
static void clears_what_was_left(void **state)
{
    static const struct {
        const char *name;
        bool stays;
    } files[] = {
        {"w.shardcc-7.tmp", false}, {"w.shardcc-4194304.tmp", false},
        {"w.shardcc-x.tmp", true},  {"w.shardcc-.tmp", true},
        {"w.7.tmp", true},          {"w.shardcc-7.tmp.old", true},
        {"v.shardcc-7.tmp", true},  {"aw.shardcc-7.tmp", true},
        {"w.shardcc-8.tmp", true},  // a folder
        {"w.shardcc-9.tmp", true},  // another process writes it and holds its lock
    };
    RtOut o, other;
    RtFileError e;
    enum { LAST = N(files) - 1 };

    mkdir("left", 0777);
    assert_int_equal(chdir("left"), 0);
    for (int i = 0; i < LAST - 1; i++)
        write_file(files[i].name, "x", 1);
    mkdir(files[LAST - 1].name, 0777);
    assert_true(rt_out_open(&other, "w", &e));
    assert_int_equal(rename(other.temp, files[LAST].name), 0);
    for (int round = 0; round < 2; round++) {
        assert_true(rt_out_try("w", &e) && rt_out_open(&o, "w", &e));
        for (int i = 0; i < N(files); i++)
            if ((access(files[i].name, F_OK) == 0) != files[i].stays)
                fail_msg("%s %s", files[i].name, files[i].stays ? "is gone" : "stays");
        rt_out_write(&o, "new", 3);
        assert_true(round ? rt_out_commit(&o, &e) : rt_out_finish(&o, &e));
        // Complete, but not yet renamed: its lock keeps others from removing it.
        assert_true(round || flock(open(o.temp, O_WRONLY), LOCK_EX | LOCK_NB) != 0);
        if (!round)
            rt_out_cancel(&o);
    }
    rt_out_cancel(&other);
    assert_int_equal(chdir(".."), 0);
}

// ---- files that are cut short while they are mapped ----

static const struct {
    size_t pages, bytes, left;  // whole pages; further bytes; bytes left after the cut
    bool grows;                 // the file grows again
    const char *says;
} cuts[] = {
    {0, 100, 100, false, ""},
    {0, 100, 200, false, ""},
    {0, 100, 99, false, "it was cut short while it was read: 99 of 100 bytes are left"},
    {4, 0, 10, false, "it was cut short while it was read: 10 of 16384 bytes are left"},
    {4, 7, 0, false, "it was cut short while it was read: 0 of 16391 bytes are left"},
    {4, 0, 10, true, "bytes of it can't be read: it was cut short for a while, or its disk fails"},
};

static void finds_cut_files(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    for (int i = 0; i < N(cuts) && page == 4096; i++) {
        size_t size = cuts[i].pages * page + cuts[i].bytes, sum = 0;
        uint8_t *bytes = malloc(size);
        RtFileError e = {""};
        RtMap m, other;

        memset(bytes, 1, size);
        write_file("cut", bytes, size);
        write_file("other", bytes, size);
        assert_true(rt_map(&m, "cut", &e) && rt_map(&other, "other", &e));
        assert_true(rt_map_check(&m, &e));
        assert_int_equal(truncate("cut", (off_t)cuts[i].left), 0);
        for (size_t k = 0; k < size; k++)
            sum += m.data[k];
        assert_int_equal(sum, cuts[i].left < size ? cuts[i].left : size);
        if (cuts[i].grows)
            assert_int_equal(truncate("cut", (off_t)size), 0);
        assert_int_equal(rt_map_check(&m, &e), !*cuts[i].says);
        assert_string_equal(e.text, cuts[i].says);
        assert_true(rt_map_check(&other, &e));
        assert_memory_equal(other.data, bytes, size);
        rt_unmap(&m);
        rt_unmap(&other);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_npy),         cmocka_unit_test(refuses_prefixes),
        cmocka_unit_test(reads_safetensors), cmocka_unit_test(writes_safetensors),
        cmocka_unit_test(writes_json),       cmocka_unit_test(writes_npz),
        cmocka_unit_test(writes_beside),     cmocka_unit_test(writes_together),
        cmocka_unit_test(names_come_back),   cmocka_unit_test(limits_headers),
        cmocka_unit_test(finds_cut_files),   cmocka_unit_test(clears_what_was_left),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
