// A checksum of data, to notice that other data are read than before, or by another rank. Data may
// be larger than memory, so it is one of pieces at offsets that depend on the sizes of files alone.
#include "runtime/rt_checksum.h"
#include "runtime/trainer/data.h"

// All bytes of small data, and 1 MiB of others: some 30 ms on a disk that finds 10,000 pieces a
// second.
enum { PIECES = 256, PIECE = 4096, HEAD = 64 };

static int64_t row_bytes(const RtDataFile *f) { return f->map.data + f->map.size - f->rows; }

static int64_t all_bytes(const RtData *d)
{
    int64_t bytes = 0;

    for (int i = 0; i < d->n_files; i++)
        bytes += row_bytes(&d->file[i]);
    return bytes;
}

static void add(RtChecksum *sum, int64_t *at, const void *bytes, int64_t n)
{
    rt_checksum_add(sum, *at, bytes, (size_t)n);
    *at += n;
}

// Adds what the pieces, every `stride` bytes of all rows, have of a file whose rows begin at
// `first`.
static void add_pieces(RtChecksum *sum, int64_t *at, const RtDataFile *f, int64_t first,
                       int64_t stride)
{
    int64_t end = first + row_bytes(f);

    for (int64_t piece = first / stride * stride; piece < end; piece += stride) {
        int64_t from = piece < first ? first : piece;
        int64_t to = piece + PIECE < end ? piece + PIECE : end;
        if (from < to)
            add(sum, at, f->rows + (from - first), to - from);
    }
}

uint32_t rt_data_sum(const RtData *d)
{
    RtChecksum sum = {0};
    int64_t summed = 0, stride = all_bytes(d) / PIECES, first = 0;

    stride = stride < PIECE ? PIECE : stride;
    for (int i = 0; i < d->n_files; i++) {
        const RtDataFile *f = &d->file[i];
        int64_t bytes = row_bytes(f);

        add(&sum, &summed, &bytes, sizeof bytes);
        add(&sum, &summed, f->rows, bytes < HEAD ? bytes : HEAD);
        add_pieces(&sum, &summed, f, first, stride);
        first += bytes;
    }
    if (d->documents)  // the samples depend on them
        add(&sum, &summed, (int64_t[]){d->documents, d->document_end}, 2 * sizeof(int64_t));
    return rt_checksum_whole(rt_checksum_parts(&sum, summed), summed);
}
