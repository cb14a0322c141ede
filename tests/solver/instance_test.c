// Tests reading instances, gzipped ones too, and the messages about wrong ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <zlib.h>

#include "tests/solver/example.h"
#include "tests/solver/random.h"

static bool parse(Arena *a, const void *bytes, size_t n, Problem *p, Text *said)
{
    Diag d = {.file = "f", .to = said};
    bool ok = problem_parse(a, (File){bytes, n}, p, &d);

    assert_int_equal(d.errors, !ok);  // one message for each error
    return ok;
}

static void the_example(void **state)
{
    Arena *a = arena_new();
    Problem p;

    assert_true(parse(a, example, strlen(example), &p, NULL));
    assert_string_equal(p.name, "example");
    assert_int_equal(p.n_nodes, 5);
    assert_int_equal(p.n_edges, 5);
    assert_int_equal(p.limit, 50);
    ChoicePrice price = problem_price(&p, (const int[]){0, 1, 1, 0, 0});
    assert_true(!price.is_forbidden && price.cost == 465 && price.peak == 55 && price.at == 50);
    Best b = brute_force(&p);
    assert_true(b.is_feasible && b.cost == EXAMPLE_OPTIMUM && b.least == EXAMPLE_MIN);
    arena_free(a);
}

// Each case is the example with its first `from` replaced by `to`.
static const struct {
    const char *from, *to, *message;
} cases[] = {
    // no JSON
    {example, "", "byte 0: expected '{', found the end of the file"},
    {example, "\xff\xfe", "byte 0: expected '{', found '\\xff'"},
    {example, "[1]", "byte 0: expected '{', found '['"},
    {"{\"problem\"", "{problem", "byte 1: expected a string, found 'p'"},
    {"\"problem\": {", "\"problem\" {", "byte 11: expected ':', found '{'"},
    {"{\"problem\"", "\xef\xbb\xbf{\"problem\"", "byte 0: expected '{', found '\\xef'"},
    {"50\n}}", "50\n}", "byte 424: expected ',' or '}', found the end of the file"},
    {"50\n}}", "50\n}}}", "byte 424: expected the end of the file, found '}'"},
    {"50\n}}", "50,\n}}", "byte 423: expected a string, found '}'"},
    {"\"example\"", "\"exam\nple\"", "byte 29: expected the end of a string, found '\\x0a'"},
    {"\"example\"", "7", "byte 24: expected a string, found '7'"},
    {"[30, 70],", "[30, 70]", "byte 75: expected ',' or ']', found '['"},
    {"[30, 70],", "[30, 70],,", "byte 75: expected '[', found ','"},
    {"[30, 70]", "[30 70]", "byte 70: expected ',' or ']', found '7'"},
    {"[30, 70]", "[30, 70", "byte 75: expected a whole number, found '['"},
    {"[[30, 70]", "[30, 70]", "byte 66: expected '[', found '3'"},
    // members
    {"{\"problem\"", "{\"problems\"", "byte 12: 'problems' is not known here"},
    {"\"name\"", "\"nodes\": 7, \"name\"", "byte 25: expected '{', found '7'"},
    {"\"usage_limit\": 50", "\"usage_limit\": 50, \"usage_limit\": 50",
     "byte 437: 'usage_limit' occurs twice"},
    {",\n  \"usage_limit\": 50", "", "byte 402: 'usage_limit' is missing before here"},
    {"\"intervals\"", "\"interval\"", "byte 63: 'interval' is not known here"},
    {"\"example\",", "\"example\", \"comment\": \"\",", "byte 45: 'comment' is not known here"},
    // numbers
    {"[15]", "[1.5]", "byte 138: expected a whole number, found '.'"},
    {"[15]", "[1e5]", "byte 138: expected a whole number, found 'e'"},
    {"[15]", "[015]", "byte 140: the number begins with 0"},
    {"[15]", "[-]", "byte 138: expected a whole number, found ']'"},
    {"[15]", "[null]", "byte 137: expected a whole number, found 'n'"},
    {"[15]", "[1234567890123456789012345678901234567890]",
     "byte 156: the number doesn't fit 64 bits"},
    {"[15]", "[9223372036854775808]", "byte 155: the number doesn't fit 64 bits"},
    {"[15]", "[-1000000000000000000]",
     "byte 158: the costs of node 0: -1000000000000000000 isn't from -999999999999999999 to "
     "9223372036854775807"},
    {"\"usage_limit\": 50", "\"usage_limit\": -1", "byte 421: usage_limit is -1"},
    {"\"usage_limit\": 50", "\"usage_limit\": 1234567890123456789012345678901234567890",
     "byte 438: the number doesn't fit 64 bits"},
    // nodes
    {"[30, 70]", "[70, 30]", "byte 74: the interval of node 0 ends before it begins"},
    {"[30, 70]", "[-1, 30]", "byte 74: the interval of node 0: -1 isn't from 0 to 2147483647"},
    {"[30, 70]", "[30, 2147483648]",
     "byte 82: the interval of node 0: 2147483648 isn't from 0 to 2147483647"},
    {"[30, 70]", "[30, 70, 80]", "byte 78: the interval of node 0: expected two numbers, found 3"},
    {"[30, 70]", "[]", "byte 68: the interval of node 0: expected two numbers, found 0"},
    {"[30, 70], ", "", "nodes: 4 intervals, 5 lists of costs, 5 of usages"},
    {"[15], [55", "[55", "nodes: 5 intervals, 4 lists of costs, 5 of usages"},
    {"[15]", "[]", "node 0: 0 costs, expected 1 to 8192"},
    {"[15]", "[15, 16]", "node 0: 2 costs, but 1 usages"},
    {"[10]", "[-10]", "byte 203: the usages of node 0: -10 isn't from 0 to 1000000000000000000"},
    {"[10]", "[10, 10]", "node 0: 1 costs, but 2 usages"},
    {"[10], [25, 25], [15", "[1000000000000000001], [25, 25], [15",
     "byte 219: the usages of node 0: 1000000000000000001 isn't from 0 to 1000000000000000000"},
    // edges
    {"[0, 1]", "[0, 5]", "edge 0: there is no node 5, only 5 nodes"},
    {"[0, 1]", "[0, -1]", "byte 283: the nodes of edge 0: -1 isn't from 0 to 16777215"},
    {"[0, 1]", "[0, 99999999999]",
     "byte 292: the nodes of edge 0: 99999999999 isn't from 0 to 16777215"},
    {"[0, 1]", "[0]", "byte 279: the nodes of edge 0: expected two numbers, found 1"},
    {"[0, 1]", "[0, 1, 2]", "byte 285: the nodes of edge 0: expected two numbers, found 3"},
    {"[0, 1], ", "", "edges: 4 pairs of nodes, but 5 lists of costs"},
    {"[30, 40]", "[30]", "edge 0: 1 costs, expected 1 x 2"},
    {"[30, 40]", "[30, 40, 50]", "edge 0: 3 costs, expected 1 x 2"},
    {"[30, 40]", "[]", "edge 0: 0 costs, expected 1 x 2"},
    {"[0, 1], [0, 2], [1, 3], [2, 4], [3, 4]", "[0, 1], [1, 0], [1, 3], [2, 4], [3, 4]",
     "edge 1: 3 costs, expected 2 x 1"},
};

static void refused(void **state)
{
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        const char *at = strstr(example, cases[i].from);
        char *text = arena_string(a, "%.*s%s%s", (int)(at - example), example, cases[i].to,
                                  at + strlen(cases[i].from));
        Text said = {0};
        Problem p;

        assert_false(parse(a, text, strlen(text), &p, &said));
        assert_string_equal(said.s, arena_string(a, "f: error: %s\n", cases[i].message));
        text_free(&said);
        arena_free(a);
    }
}

// Texts with many numbers, whose sums are too large.
static void too_much(void **state)
{
    static const struct {
        const char *each, *message;  // the number of every node and every edge, 10 times
    } texts[] = {
        {"[1000000000000000000]", "node 9: the sum of all usages to here doesn't fit 64 bits"},
        {"[999999999999999999]", "edges between nodes 0 and 0: a sum of costs reaches 10^18"},
        {"[-999999999999999999]", "edges between nodes 0 and 0: a sum of costs reaches 10^18"},
    };

    for (int i = 0; i < COUNT(texts); i++) {
        Arena *a = arena_new();
        Text t = {0}, said = {0};
        Problem p;
        const char *names[] = {"\"nodes\": {\"intervals\"", "\"costs\"", "\"usages\"",
                               "\"edges\": {\"nodes\"", "\"costs\""};
        const char *each[] = {"[0, 9]", "[7]", i ? "[7]" : texts[i].each, "[0, 0]", texts[i].each};
        for (int k = 0; k < COUNT(names); k++) {
            text_printf(&t, "%s%s: [",
                        k == 0   ? "{\"problem\": {"
                        : k == 3 ? "}, "
                                 : ", ",
                        names[k]);
            for (int j = 0; j < 10; j++)
                text_printf(&t, "%s%s", j ? ", " : "", each[k]);
            text_printf(&t, "]");
        }
        text_printf(&t, "}, \"usage_limit\": 0}}");
        assert_false(parse(a, t.s, t.n, &p, &said));
        assert_string_equal(said.s, arena_string(a, "f: error: %s\n", texts[i].message));
        text_free(&t);
        text_free(&said);
        arena_free(a);
    }
}

// A list of ten million intervals, and no other lists.
static void many_nodes(void **state)
{
    Arena *a = arena_new();
    Text t = {0}, said = {0};
    Problem p;

    text_printf(&t, "{\"problem\": {\"nodes\": {\"intervals\": [[0,1]");
    for (int i = 1; i < 10000000; i++)
        text_put(&t, ",[0,1]", 6);
    text_printf(&t, "], \"costs\": [], \"usages\": []}, \"edges\": {\"nodes\": [], \"costs\": []}, "
                    "\"usage_limit\": 1}}");
    assert_false(parse(a, t.s, t.n, &p, &said));
    assert_string_equal(said.s,
                        "f: error: nodes: 10000000 intervals, 0 lists of costs, 0 of usages\n");
    text_free(&t);
    text_free(&said);
    arena_free(a);
}

static void prefixes(void **state)
{
    for (size_t n = 0; n + 1 < strlen(example); n++) {
        Arena *a = arena_new();
        char *exact = malloc(n + 1);  // a sanitizer sees reads past the end
        Text said = {0};
        Problem p;

        assert_non_null(exact);
        memcpy(exact, example, n);
        assert_false(parse(a, exact, n, &p, &said));
        assert_non_null(strstr(said.s, "found the end of the file\n"));
        text_free(&said);
        free(exact);
        arena_free(a);
    }
}

// ---- gzip ----

static size_t zip(const char *text, size_t n, uint8_t *to, size_t size)
{
    z_stream z = {0};

    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (uint8_t *)(uintptr_t)text;
    z.avail_in = (uInt)n;
    z.next_out = to;
    z.avail_out = (uInt)size;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t given = size - z.avail_out;
    deflateEnd(&z);
    return given;
}

// A gzip file of one member and of two reads as the plain text. A shortened or altered one is
// refused with one message.
static void zipped(void **state)
{
    Arena *a = arena_new();
    Problem p, q;
    uint8_t one[4096], two[4096];
    size_t n = strlen(example), n_one = zip(example, n, one, sizeof one);
    size_t n_two = zip(example, 100, two, sizeof two);

    n_two += zip(example + 100, n - 100, two + n_two, sizeof two - n_two);
    assert_true(parse(a, example, n, &p, NULL));
    assert_true(parse(a, one, n_one, &q, NULL) && q.hash == p.hash && q.n_edges == p.n_edges);
    assert_true(parse(a, two, n_two, &q, NULL) && q.hash == p.hash && q.n_edges == p.n_edges);
    for (size_t i = 2; i < n_one; i++) {
        Text said = {0};
        assert_false(parse(a, one, i, &q, &said));
        assert_non_null(strstr(said.s, "the gzip data end too early\n"));
        text_free(&said);
    }
    for (size_t i = 10; i < n_one; i++) {  // after the header, whose time isn't read
        Text said = {0};
        one[i] ^= 0x10;
        assert_false(parse(a, one, n_one, &q, &said));
        one[i] ^= 0x10;
        text_free(&said);
    }
    arena_free(a);
}

// A text longer than one read buffer gives the same problem, whatever falls on the boundary.
static void pieces(void **state)
{
    Arena *a = arena_new();
    Problem first, p;

    assert_true(parse(a, example, strlen(example), &first, NULL));
    for (int i = 0; i < 300; i++) {
        char *text = arena_string(a, "{%*s%s", (1 << 18) - 400 + i, "", example + 1);
        assert_true(parse(a, text, strlen(text), &p, NULL));
        assert_memory_equal(p.cost, first.cost, (size_t)p.first[5] * sizeof *p.cost);
        assert_memory_equal(p.live, first.live, (size_t)p.first_live[9] * sizeof *p.live);
        assert_int_equal(p.edge[4].cost[1], 60);
        assert_int_equal(p.limit, 50);
    }
    arena_free(a);
}

// Equal matrices are stored once, and a problem may have no nodes.
static void small_ones(void **state)
{
    static const char shared[] =
        "{\"problem\":{\"usage_limit\":7,\"edges\":{\"costs\":[[1,1000000000000000007],[1,"
        "2000000000000000000]],\"nodes\":[[0,1],[2,1]]},\"nodes\":{\"usages\":[[3],[0,9],[4]],"
        "\"costs\":[[-1],[0,5],[2]],\"intervals\":[[0,2],[3,4],[5,5]]}}}";
    static const char empty[] =
        "{\"problem\":{\"nodes\":{\"intervals\":[],\"costs\":[],\"usages\":[]},"
        "\"edges\":{\"nodes\":[],\"costs\":[]},\"usage_limit\":0}}";
    Arena *a = arena_new();
    Problem p;

    assert_true(parse(a, shared, strlen(shared), &p, NULL));
    assert_null(p.name);
    assert_ptr_equal(p.edge[0].cost, p.edge[1].cost);
    assert_true(p.edge[0].cost[1] == COST_FORBIDDEN);
    assert_int_equal(p.first_live[4], 2);  // no entry without bytes or time
    assert_true(problem_price(&p, (const int[]){0, 0, 0}).cost == 3);
    assert_true(problem_price(&p, (const int[]){0, 1, 0}).is_forbidden);
    assert_true(parse(a, empty, strlen(empty), &p, NULL));
    assert_int_equal(p.n_nodes, 0);
    assert_true(problem_price(&p, NULL).cost == 0);
    assert_true(dual_bound(&p, &(Dual){0}) == 0);
    arena_free(a);
}

// Tests the limits on the numbers in an untrusted file, per list and in total.
static void long_lists(void **state)
{
    static const struct {
        const char *text;
        int n;
        const char *said;
    } t[] = {{"[1,2] [3]", 2, ""},
             {"[1,2] [3] [4]", 3, "f: error: byte 9: the costs: more than 2 lists\n"},
             {"[1,2] [3,4]", 2, "f: error: byte 10: the costs: more than 3 numbers\n"}};

    for (int i = 0; i < COUNT(t); i++) {
        Text said = {0};
        Arena *a = arena_new();
        Diag d = {.file = "f", .to = &said};
        Lists l = {.what = "costs", .arena = a, .most = 2, .most_numbers = 3};
        Scan s;
        scan_begin(&s, (File){(const uint8_t *)t[i].text, strlen(t[i].text)}, &d);
        for (int k = 0; k < t[i].n; k++)
            scan_numbers(&s, &l);
        scan_end(&s);
        assert_string_equal(said.n ? said.s : "", t[i].said);
        text_free(&said);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example), cmocka_unit_test(refused),    cmocka_unit_test(too_much),
        cmocka_unit_test(many_nodes),  cmocka_unit_test(prefixes),   cmocka_unit_test(zipped),
        cmocka_unit_test(pieces),      cmocka_unit_test(small_ones), cmocka_unit_test(long_lists)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
