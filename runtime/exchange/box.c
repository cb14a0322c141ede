// Boxes of bytes: merging their dims, packing them to a row of bytes, copying them to another box.
#include "runtime/exchange/box.h"

#include <string.h>

int64_t rt_box_bytes(const RtBox *b) { return rt_product(b->dim, 3) * b->length; }

RtBox rt_box_merged(const RtBox *b)
{
    RtBox m = {b->at, {1, 1, 1}, {0}, b->length};
    int last = 2;

    for (int i = 2; i >= 0; i--) {
        if (b->dim[i] == 1)
            continue;
        if (last == 2 && b->stride[i] == m.length) {
            m.length *= b->dim[i];
        } else {
            m.dim[last] = b->dim[i];
            m.stride[last--] = b->stride[i];
        }
    }
    return m;
}

bool rt_box_is_row(const RtBox *b) { return rt_product(b->dim, 3) == 1; }

// ---- to and from a row of bytes ----

#define ROWS(T, name)                                                                              \
    static void name(char *to, int64_t to_stride, const char *from, int64_t from_stride,           \
                     int64_t n)                                                                    \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            memcpy(to + i * to_stride, from + i * from_stride, sizeof(T));                         \
    }
ROWS(uint32_t, rows_4)
ROWS(uint64_t, rows_8)

static void copy_rows(char *to, int64_t to_stride, const char *from, int64_t from_stride,
                      int64_t length, int64_t n)
{
    if (length == 4)
        rows_4(to, to_stride, from, from_stride, n);
    else if (length == 8)
        rows_8(to, to_stride, from, from_stride, n);
    else
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * to_stride, from + i * from_stride, (size_t)length);
}

static char *row_at(const RtBox *b, int64_t row)
{
    return b->at + row % b->dim[2] * b->stride[2] + row / b->dim[2] % b->dim[1] * b->stride[1] +
           row / b->dim[2] / b->dim[1] * b->stride[0];
}

// Copies bytes [first, last) of a merged box to (`packs`) or from `row`.
static void walk(const RtBox *b, int64_t first, int64_t last, char *row, bool packs)
{
    while (first < last) {
        int64_t r = first / b->length, skip = first % b->length;
        int64_t whole = rt_least(b->dim[2] - r % b->dim[2], (last - first) / b->length);
        bool is_part = skip || !whole;
        int64_t n = is_part ? 1 : whole,
                length = is_part ? rt_least(b->length - skip, last - first) : b->length;
        char *at = row_at(b, r) + skip;

        if (packs)
            copy_rows(row, length, at, b->stride[2], length, n);
        else
            copy_rows(at, b->stride[2], row, length, length, n);
        first += n * length;
        row += n * length;
    }
}

static void walk_shared(const Rt *rt, const RtBox *box, int64_t first, int64_t last, char *row,
                        bool packs)
{
    RtBox b = rt_box_merged(box);
    int64_t bytes = rt_least(last, rt_box_bytes(&b)) - first;
    int team = rt_team(rt, bytes / 4);

    if (bytes <= 0)
        return;
#pragma omp parallel for num_threads(team) schedule(static)
    for (int i = 0; i < team; i++) {
        int64_t begin = rt_partition(bytes, i, team), end = rt_partition(bytes, i + 1, team);
        walk(&b, first + begin, first + end, row + begin, packs);
    }
}

void rt_box_pack(const Rt *rt, char *to, const RtBox *b, int64_t first, int64_t last)
{
    walk_shared(rt, b, first, last, to, true);
}

void rt_box_unpack(const Rt *rt, const RtBox *b, int64_t first, int64_t last, const char *from)
{
    walk_shared(rt, b, first, last, (char *)from, false);
}

// ---- to another box ----

// Copies rows [first, last) of boxes of the same dims.
static void copy_range(const RtBox *to, const RtBox *from, int64_t first, int64_t last)
{
    for (int64_t n; first < last; first += n) {
        n = rt_least(from->dim[2] - first % from->dim[2], last - first);
        copy_rows(row_at(to, first), to->stride[2], row_at(from, first), from->stride[2],
                  from->length, n);
    }
}

void rt_box_copy(const Rt *rt, const RtBox *to, const RtBox *from)
{
    int64_t bytes = rt_box_bytes(from), rows = rt_product(from->dim, 3);
    RtBox source = rt_box_merged(from), target = rt_box_merged(to);

    if (to->at == from->at || !bytes)
        return;
    if (rt_box_is_row(&source) && rt_box_is_row(&target)) {
        rt_box_unpack(rt, &target, 0, bytes, source.at);
        return;
    }
    int team = rt_team(rt, bytes / 4);
#pragma omp parallel for num_threads(team) schedule(static)
    for (int i = 0; i < team; i++)
        copy_range(to, from, rt_partition(rows, i, team), rt_partition(rows, i + 1, team));
}
