// Tests how messages show texts of files and names of files.
#include "tests/runtime/small.h"

static const struct {
    const char *text, *shown;
} cases[] = {
    {"weights", "weights"},
    {"a\nb\x7f\x1b[2J", "a\\x0ab\\x7f\\x1b[2J"},
    {"\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"\xff-\xc3", "\\xff-\\xc3"},                           // no character; half of one
    {"\xc3\xc3\xbc", "\\xc3\xc3\xbc"},                      // half of one, and a whole one
    {"\xc0\xaf\xed\xa0\x80", "\\xc0\\xaf\\xed\\xa0\\x80"},  // a long form; a surrogate
    {"\xc2\x9b", "\\xc2\\x9b"},                             // a command of terminals
    {"a text that is longer", "a text that ..."},           // for the capacity
    {"a text  \xf0\x9f\x98\x80\xf0\x9f\x98\x80!", "a text  \xf0\x9f\x98\x80..."},
};

static void shows_texts(void **state)
{
    char to[64];

    for (int i = 0; i < N(cases); i++) {
        const char *end = strstr(cases[i].shown, "...");
        rt_printable(to, end ? 19 : sizeof to, cases[i].text);
        assert_string_equal(to, cases[i].shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
