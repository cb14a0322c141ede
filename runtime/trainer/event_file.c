// The event file of --tensorboard: TFRecords (record_writer.h of TensorFlow), each a message
// `Event` of event.proto, with the scalars of a step in a `Summary` of summary.proto:
//
//     record   bytes of data u64, their checksum u32, data, its checksum u32; little-endian
//     Event    1 wall_time double, 2 step int64, 3 file_version string, 5 summary, 7 session_log
//     Summary  1 value, for each scalar
//     Value    1 tag string, 2 simple_value float
//
// A checksum is a CRC-32C, rotated and added to a constant. A record is written in one piece.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/rt_checksum.h"
#include "runtime/trainer/run_report.h"

// ---- bytes ----

enum { CAPACITY = 1024, HEAD = 12 };  // bytes of a record, and before its data

typedef struct Record {
    uint8_t byte[CAPACITY];
    size_t n;
} Record;

static void add_bytes(Record *r, const void *from, size_t n)
{
    n = n < CAPACITY - r->n ? n : CAPACITY - r->n;
    memcpy(r->byte + r->n, from, n);
    r->n += n;
}

static void add_fixed(Record *r, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        add_bytes(r, &(uint8_t){(uint8_t)(v >> 8 * i)}, 1);
}

// Protocol buffers: 7 bits a byte, the lowest first; the highest bit says that more follow.
static void add_varint(Record *r, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        add_fixed(r, v | 128, 1);
    add_fixed(r, v, 1);
}

typedef enum WireType { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 } WireType;

static void add_key(Record *r, int field, WireType type)
{
    add_varint(r, (uint64_t)field << 3 | type);
}

static void add_text(Record *r, int field, const char *text)
{
    add_key(r, field, BYTES);
    add_varint(r, strlen(text));
    add_bytes(r, text, strlen(text));
}

static void add_message(Record *r, int field, const Record *m)
{
    add_key(r, field, BYTES);
    add_varint(r, m->n);
    add_bytes(r, m->byte, m->n);
}

// ---- records ----

static uint32_t checksum(const void *data, size_t n)
{
    RtChecksum c = {0};

    rt_checksum_add(&c, 0, data, n);
    uint32_t sum = rt_checksum_whole(rt_checksum_parts(&c, (int64_t)n), (int64_t)n);
    return (sum >> 15 | sum << 17) + 0xa282ead8;
}

// Begins a record, whose head is filled in when it is whole.
static Record begin_event(int64_t step)
{
    Record r = {.n = HEAD};
    struct timespec now;
    uint64_t bits;

    clock_gettime(CLOCK_REALTIME, &now);
    double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    memcpy(&bits, &seconds, sizeof bits);
    add_key(&r, 1, FIXED64);
    add_fixed(&r, bits, 8);
    add_key(&r, 2, VARINT);
    add_varint(&r, (uint64_t)step);
    return r;
}

static void end_event(RtEventFile *f, Record *r)
{
    size_t bytes = r->n - HEAD;
    Record head = {0};

    add_fixed(&head, bytes, 8);
    add_fixed(&head, checksum(head.byte, 8), 4);
    memcpy(r->byte, head.byte, HEAD);
    add_fixed(r, checksum(r->byte + HEAD, bytes), 4);
    rt_log_write(&f->file, r->byte, r->n);
}

static void add_scalar(Record *summary, const RtScalar *x)
{
    Record value = {0};
    float v = (float)x->value;
    uint32_t bits;

    memcpy(&bits, &v, sizeof bits);
    add_text(&value, 1, x->name);
    add_key(&value, 2, FIXED32);
    add_fixed(&value, bits, 4);
    add_message(summary, 1, &value);
}

// Numbers that aren't finite are left out.
static void write_scalars(RtEventFile *f, int64_t step, const RtScalar *x, int n)
{
    Record summary = {0};

    if (f->file.fd < 0)
        return;
    for (int i = 0; i < n; i++)
        if (isfinite(x[i].value))
            add_scalar(&summary, &x[i]);
    Record r = begin_event(step);
    add_message(&r, 5, &summary);
    end_event(f, &r);
}

// ---- the file ----

// The name of this host, without characters that a file's name might not take.
static void host_name(char *to, size_t capacity)
{
    if (gethostname(to, capacity) != 0)
        snprintf(to, capacity, "host");
    to[capacity - 1] = 0;
    for (char *c = to; *c; c++)
        if ((*c < '0' || *c > '9') && ((*c | 32) < 'a' || (*c | 32) > 'z') && !strchr("-.", *c))
            *c = '_';
}

// Makes a file that isn't there: hosts may have one name, and one process several runs.
static bool make_file(RtEventFile *f, const RtModel *m, const char *folder)
{
    char host[256];
    long long now = time(NULL);

    host_name(host, sizeof host);
    for (int i = 0; f->file.fd < 0; i++) {
        int n = snprintf(f->path, sizeof f->path, "%s/events.out.tfevents.%010lld.%s.%lld.%d",
                         folder, now, host, (long long)getpid(), i);
        errno = ENAMETOOLONG;
        if (n < (int)sizeof f->path)
            f->file.fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
        if (f->file.fd < 0 && errno != EEXIST)
            return rt_error(m, "--tensorboard: %s: %s", folder, strerror(errno));
    }
    return true;
}

// A session that starts says that events of its first step and of later ones are void.
void rt_events_restart(RtEventFile *f, int64_t step)
{
    enum { START = 1 };
    Record session = {0}, r = begin_event(step + 1);

    add_key(&session, 1, VARINT);
    add_varint(&session, START);
    add_message(&r, 7, &session);
    end_event(f, &r);
}

bool rt_events_open(RtEventFile *f, const RtModel *m, const char *folder, int64_t step)
{
    f->file = (RtLog){.fd = -1, .model = m, .path = f->path};
    if (!folder)
        return true;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return rt_error(m, "--tensorboard: %s: %s", folder, strerror(errno));
    if (!make_file(f, m, folder))
        return false;
    Record r = begin_event(0);
    add_text(&r, 3, "brain.Event:2");
    end_event(f, &r);
    rt_events_restart(f, step);
    return true;
}

void rt_events_step(RtEventFile *f, const RtReport *r)
{
    RtScalar x[RT_SCALARS];

    write_scalars(f, r->step, x, rt_report_scalars(r, x));
}

void rt_events_eval(RtEventFile *f, int64_t step, double loss)
{
    write_scalars(f, step, &(RtScalar){"eval_loss", loss}, 1);
}

bool rt_events_close(RtEventFile *f) { return rt_log_close(&f->file); }
