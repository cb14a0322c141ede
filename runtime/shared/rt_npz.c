// npz: a zip of npy files (PKWARE's APPNOTE 6.3), stored without compression, always with the
// 64-bit fields. The offset of each entry is fixed at the start, so that several can be written
// interleaved.
#include <stdio.h>
#include <string.h>

#include "runtime/rt_file.h"

enum {
    LOCAL = 30,
    CENTRAL = 46,
    END = 22,
    END64 = 56,
    LOCATOR = 20,
    LOCAL_EXTRA = 20,
    CENTRAL_EXTRA = 28,
    NPY_HEADER = 512,
    MAX_NAME = 1000,
};

// CRC-32 of zip and Ethernet, four bits at a time: a constant table of 16 suffices.
static uint32_t crc32_of(uint32_t crc, const uint8_t *p, size_t n)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };

    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc = crc >> 4 ^ table[(crc ^ p[i]) & 15];
        crc = crc >> 4 ^ table[(crc ^ p[i] >> 4) & 15];
    }
    return ~crc;
}

// ---- writing ----

// Appends a number, little-endian.
static void put(uint8_t **to, uint64_t v, int bytes)
{
    memcpy(*to, &v, (size_t)bytes);
    *to += bytes;
}

static size_t name_length(const RtNpzEntry *x) { return strlen(x->t.name) + 4; }

static int64_t data_at(const RtNpzEntry *x)
{
    return x->at + LOCAL + (int64_t)name_length(x) + LOCAL_EXTRA;
}

static uint64_t entry_size(const RtNpzEntry *x) { return (uint64_t)(x->header + x->written); }

bool rt_npz_begin(RtOut *o, RtNpzEntry *entry, int n, const char *path, RtFileError *e)
{
    char header[NPY_HEADER];
    int64_t at = 0;

    if (!rt_out_open(o, path, e))
        return false;
    for (int i = 0; i < n; i++) {
        RtNpzEntry *x = &entry[i];
        if (strlen(x->t.name) > MAX_NAME) {
            rt_out_cancel(o);
            return rt_file_fail(e, "npz: a name has more than %d bytes", MAX_NAME);
        }
        x->t.bytes = rt_dtype_bytes(x->t.dtype);
        for (int k = 0; k < x->t.rank; k++)
            x->t.bytes *= x->t.dim[k];
        x->at = at;
        x->written = 0;
        x->header = (int64_t)rt_npy_header(header, sizeof header, &x->t);
        x->crc = crc32_of(0, (const uint8_t *)header, (size_t)x->header);
        rt_out_write_at(o, data_at(x), header, (size_t)x->header);
        at = data_at(x) + x->header + x->t.bytes;
    }
    o->at = at;  // the directory follows the last entry
    return true;
}

void rt_npz_write(RtOut *o, RtNpzEntry *x, const void *data, size_t bytes)
{
    rt_out_write_at(o, data_at(x) + x->header + x->written, data, bytes);
    x->crc = crc32_of(x->crc, data, bytes);
    x->written += (int64_t)bytes;
}

// The fields that both headers of an entry share: from the needed version to the length of the
// name.
static void put_common(uint8_t **p, const RtNpzEntry *x, int extra)
{
    put(p, 45, 2);          // version 4.5: 64-bit sizes
    put(p, 0x800, 2);       // names are UTF-8
    put(p, 0, 2);           // no compression
    put(p, 0x00210000, 4);  // 1 January 1980: the same run gives the same file
    put(p, x->crc, 4);
    put(p, 0xffffffffffffffff, 8);  // both sizes are in the extra field
    put(p, name_length(x), 2);
    put(p, (uint64_t)extra, 2);
}

static void put_name(uint8_t **p, const RtNpzEntry *x)
{
    size_t n = name_length(x);

    memcpy(*p, x->t.name, n - 4);
    memcpy(*p + n - 4, ".npy", 4);
    *p += n;
}

static void write_local(RtOut *o, const RtNpzEntry *x)
{
    uint8_t buffer[LOCAL + MAX_NAME + 4 + LOCAL_EXTRA], *p = buffer;

    put(&p, 0x04034b50, 4);
    put_common(&p, x, LOCAL_EXTRA);
    put_name(&p, x);
    put(&p, 1 | 16 << 16, 4);  // 64-bit sizes, 16 bytes
    put(&p, entry_size(x), 8);
    put(&p, entry_size(x), 8);
    rt_out_write_at(o, x->at, buffer, (size_t)(p - buffer));
}

static void write_central(RtOut *o, const RtNpzEntry *x)
{
    uint8_t buffer[CENTRAL + MAX_NAME + 4 + CENTRAL_EXTRA], *p = buffer;

    put(&p, 0x02014b50, 4);
    put(&p, 45, 2);
    put_common(&p, x, CENTRAL_EXTRA);
    put(&p, 0, 6);  // no comment, disk 0, no attributes
    put(&p, 0, 4);
    put(&p, 0xffffffff, 4);  // the offset is in the extra field
    put_name(&p, x);
    put(&p, 1 | 24 << 16, 4);
    put(&p, entry_size(x), 8);
    put(&p, entry_size(x), 8);
    put(&p, (uint64_t)x->at, 8);
    rt_out_write(o, buffer, (size_t)(p - buffer));
}

bool rt_npz_end(RtOut *o, RtNpzEntry *entry, int n, RtFileError *e)
{
    uint8_t buffer[END64 + LOCATOR + END], *p = buffer;
    uint64_t start = (uint64_t)o->at;

    for (int i = 0; i < n; i++) {
        write_local(o, &entry[i]);
        write_central(o, &entry[i]);
    }
    uint64_t end = (uint64_t)o->at, count = (uint64_t)n;
    put(&p, 0x06064b50, 4);
    put(&p, END64 - 12, 8);
    put(&p, 45 | 45 << 16, 4);
    put(&p, 0, 8);
    put(&p, count, 8);
    put(&p, count, 8);
    put(&p, end - start, 8);
    put(&p, start, 8);
    put(&p, 0x07064b50, 4);
    put(&p, 0, 4);
    put(&p, end, 8);
    put(&p, 1, 4);
    put(&p, 0x06054b50, 4);
    put(&p, 0, 4);
    put(&p, count, 2);
    put(&p, count, 2);
    put(&p, 0xffffffffffffffff, 8);  // size and offset are in the 64-bit record
    put(&p, 0, 2);
    rt_out_write(o, buffer, (size_t)(p - buffer));
    return rt_out_commit(o, e);
}

// ---- reading ----

static uint64_t get(const uint8_t *p, int bytes)
{
    uint64_t v = 0;

    memcpy(&v, p, (size_t)bytes);
    return v;
}

typedef struct Zip {
    const uint8_t *data;
    uint64_t size, at, end;  // the directory
} Zip;

// The record at the file's end gives the offset of the directory. Files with a zip comment are
// rejected: no writer of npz makes one.
static bool find_directory(Zip *z, RtFileError *e)
{
    if (z->size < END || get(z->data + z->size - END, 4) != 0x06054b50)
        return rt_file_fail(e, "not an npz file, or truncated");
    const uint8_t *end = z->data + z->size - END;
    uint64_t bytes = get(end + 12, 4);
    z->at = get(end + 16, 4);
    if (z->size >= END + LOCATOR && get(end - LOCATOR, 4) == 0x07064b50) {
        uint64_t at = get(end - LOCATOR + 8, 8);

        if (at > z->size - END64 || z->size < END64 || get(z->data + at, 4) != 0x06064b50)
            return rt_file_fail(e, "npz: malformed end");
        bytes = get(z->data + at + 40, 8);
        z->at = get(z->data + at + 48, 8);
    }
    if (z->at > z->size || bytes > z->size - z->at)
        return rt_file_fail(e, "npz: its directory lies outside of the file");
    z->end = z->at + bytes;
    return true;
}

// Reads size and offset of the entry with directory record `c`; from the extra field if they exceed
// 32 bits. The caller has checked that name and extra field are inside the directory.
static bool entry_extent(const uint8_t *c, uint64_t *size, uint64_t *at)
{
    uint64_t name = get(c + 28, 2), extra = get(c + 30, 2);
    const uint8_t *x = c + CENTRAL + name, *end = x + extra;
    uint64_t packed = get(c + 20, 4);

    *size = get(c + 24, 4);
    *at = get(c + 42, 4);
    for (; end - x >= 4; x += 4 + get(x + 2, 2)) {
        const uint8_t *v = x + 4;

        if (get(x + 2, 2) > (uint64_t)(end - v))
            return false;
        if (get(x, 2) != 1)
            continue;
        const uint8_t *stop = v + get(x + 2, 2);
        uint64_t *field[] = {size, &packed, at};
        for (int i = 0; i < 3; i++)
            if (*field[i] == 0xffffffff) {
                if (stop - v < 8)
                    return false;
                *field[i] = get(v, 8);
                v += 8;
            }
        break;
    }
    return packed == *size;
}

static bool open_entry(const Zip *z, const uint8_t *c, RtStored *t, RtFileError *e)
{
    uint64_t size, at;

    if (get(c + 10, 2) != 0)
        return rt_file_fail(e, "npz: compressed; save it with numpy.savez");
    if (!entry_extent(c, &size, &at) || at > z->size - LOCAL || get(z->data + at, 4) != 0x04034b50)
        return rt_file_fail(e, "npz: malformed entry");
    uint64_t start = at + LOCAL + get(z->data + at + 26, 2) + get(z->data + at + 28, 2);
    if (start > z->size || size > z->size - start)
        return rt_file_fail(e, "npz: an entry lies outside of the file");
    if (crc32_of(0, z->data + start, size) != get(c + 16, 4))
        return rt_file_fail(e, "npz: an entry's checksum is wrong");
    return rt_npy_parse(t, z->data + start, size, e);
}

bool rt_npz_find(const RtMap *m, const char *name, RtStored *t, RtFileError *e)
{
    Zip z = {.data = m->data, .size = m->size};
    size_t n = strlen(name);

    if (!find_directory(&z, e))
        return false;
    for (uint64_t at = z.at; z.end - at >= CENTRAL;) {
        const uint8_t *c = z.data + at;
        uint64_t length = get(c + 28, 2);
        uint64_t record = CENTRAL + length + get(c + 30, 2) + get(c + 32, 2);

        if (get(c, 4) != 0x02014b50 || record > z.end - at)
            return rt_file_fail(e, "npz: malformed directory");
        const char *found = (const char *)c + CENTRAL;
        if (length == n + 4 && memcmp(found, name, n) == 0 && memcmp(found + n, ".npy", 4) == 0)
            return open_entry(&z, c, t, e);
        at += record;
    }
    return rt_file_fail(e, "npz: has no '%.100s'", name);
}
