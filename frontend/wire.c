// Checks an untrusted file before protobuf-c reads it, because protobuf-c recurses without limit
// and copies what it unpacks. Every length must lie inside its parent; nesting and counts are
// bounded. The output is a reduced message: unknown fields are dropped, and the raw data of tensors
// are replaced by their offsets in the file. So a model of gigabytes costs only as much as its
// graph.
#include "frontend/internal.h"
#include "runtime/rt_utf8.h"

enum {
    RAW_DATA = 9,
    OWN_FIELDS = 100000,
    RAW_OFFSET = 100000,
    RAW_BYTES = 100001,
    OFFSET = 100002
};
enum { VARINT = 0, FIXED64 = 1, DELIMITED = 2, FIXED32 = 5 };

typedef struct Wire {
    const uint8_t *data;
    size_t at;
    Text *to;
    int64_t unpacked, max_unpacked;  // bytes of unpacked messages
    bool is_entry;                   // in a message of a key and a value; the value may be a path
    const char *error;
    size_t error_at;
} Wire;

static bool fail(Wire *w, const char *what)
{
    if (!w->error) {
        w->error = what;
        w->error_at = w->at;
    }
    return false;
}

static bool get_varint(Wire *w, size_t end, uint64_t *v)
{
    *v = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (w->at >= end)
            return fail(w, "a number is cut off");
        uint8_t b = w->data[w->at++];
        *v |= shift < 64 ? (uint64_t)(b & 127) << shift : 0;
        if (!(b & 128))
            return true;
    }
    return fail(w, "a number is too long");
}

void wire_put_varint(Text *t, uint64_t v)
{
    char b[10];
    size_t n = 0;

    for (; v > 127; v >>= 7)
        b[n++] = (char)(v | 128);
    b[n++] = (char)v;
    text_put(t, b, n);
}

static void put_number(Text *t, uint64_t field, uint64_t v)
{
    wire_put_varint(t, field << 3 | VARINT);
    wire_put_varint(t, v);
}

// Writes a length in five bytes, whatever its size, so that it can be set after the contents.
static void set_length(char *at, size_t length)
{
    for (int i = 0; i < 5; i++)
        at[i] = (char)((length >> (7 * i) & 127) | (i < 4 ? 128 : 0));
}

static bool is_type(const ProtobufCFieldDescriptor *f, int wire_type)
{
    bool packable = f->label == PROTOBUF_C_LABEL_REPEATED && wire_type == DELIMITED;

    switch (f->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return wire_type == DELIMITED;
    case PROTOBUF_C_TYPE_FLOAT:
        return wire_type == FIXED32 || packable;
    case PROTOBUF_C_TYPE_DOUBLE:
        return wire_type == FIXED64 || packable;
    default:
        return wire_type == VARINT || packable;
    }
}

static bool read_message(Wire *w, const ProtobufCMessageDescriptor *type, size_t end, int depth);

static bool is_ascii(const char *s, size_t n)
{
    size_t i = 0;

    while (i < n && (unsigned char)s[i] < 0x80)
        i++;
    return i == n;
}

// Makes names valid UTF-8: an invalid byte becomes the text \xHH, in messages and in all files
// alike.
static void put_string(Wire *w, const char *s, size_t n)
{
    Text clean = {0}, text = {0};

    text_put(&text, s, n);  // ends with a 0
    for (s = text.s; *s;) {
        int k = rt_utf8_length(s);
        if (k > 0)
            text_put(&clean, s, (size_t)k);
        else
            text_printf(&clean, "\\x%02x", (unsigned char)*s);
        s += k > 0 ? k : 1;
    }
    wire_put_varint(w->to, clean.n);
    text_put(w->to, clean.s, clean.n);
    text_free(&clean);
    text_free(&text);
}

// Reads the contents of a field of `n` bytes at w->at.
static bool read_delimited(Wire *w, const ProtobufCFieldDescriptor *f, uint32_t tag, size_t n,
                           int depth)
{
    const char *s = (const char *)w->data + w->at;

    wire_put_varint(w->to, tag);
    if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
        size_t start = w->to->n;
        text_put(w->to, "\0\0\0\0\0", 5);
        if (f->descriptor == &onnx__tensor_proto__descriptor)
            put_number(w->to, OFFSET, w->at);
        if (!read_message(w, f->descriptor, w->at + n, depth + 1))
            return false;
        size_t length = w->to->n - start - 5;
        if (length > INT32_MAX)
            return fail(w, "the graph is too large");
        set_length(w->to->s + start, length);
        return true;
    }
    if (f->type == PROTOBUF_C_TYPE_STRING && memchr(s, 0, n))
        return fail(w, "a name holds a zero byte");
    if (f->type == PROTOBUF_C_TYPE_STRING && n > MAX_NAME)
        return fail(w, "a name is longer than 64 KiB");
    if (f->type == PROTOBUF_C_TYPE_STRING && !w->is_entry && !is_ascii(s, n)) {
        put_string(w, s, n);
    } else {
        wire_put_varint(w->to, n);
        text_put(w->to, s, n);
    }
    w->at += n;
    return true;
}

static bool read_fixed(Wire *w, const ProtobufCFieldDescriptor *f, uint32_t tag, size_t end,
                       int wire_type)
{
    size_t start = w->at;
    uint64_t v;

    if (wire_type == VARINT) {
        if (!get_varint(w, end, &v))
            return false;
    } else {
        size_t n = wire_type == FIXED64 ? 8 : 4;
        if (end - w->at < n)
            return fail(w, "a number is cut off");
        w->at += n;
    }
    if (f) {
        wire_put_varint(w->to, tag);
        text_put(w->to, (const char *)w->data + start, w->at - start);
    }
    return true;
}

static bool read_field(Wire *w, const ProtobufCMessageDescriptor *type, size_t end, int depth,
                       uint64_t *seen)
{
    uint64_t tag, n;

    if (!get_varint(w, end, &tag))
        return false;
    uint64_t id = tag >> 3;
    int wire_type = tag & 7;
    if (tag > UINT32_MAX || id == 0)
        return fail(w, "a field number is out of range");
    const ProtobufCFieldDescriptor *f =
        id < OWN_FIELDS ? protobuf_c_message_descriptor_get_field(type, (unsigned)id) : NULL;
    if (f && !is_type(f, wire_type))
        return fail(w, "a field has the wrong wire type");
    if (f && f->label != PROTOBUF_C_LABEL_REPEATED) {
        uint64_t bit = (uint64_t)1 << (f - type->fields);
        if (*seen & bit)
            return fail(w, "a field occurs twice");
        *seen |= bit;
    }
    if (wire_type == VARINT || wire_type == FIXED64 || wire_type == FIXED32)
        return read_fixed(w, f, (uint32_t)tag, end, wire_type);
    if (wire_type != DELIMITED)
        return fail(w, "a field has an unknown wire type");
    if (!get_varint(w, end, &n))
        return false;
    if (n > end - w->at)
        return fail(w, "a length goes past the end of its message");
    if (f)
        return read_delimited(w, f, (uint32_t)tag, n, depth);
    if (type == &onnx__tensor_proto__descriptor && id == RAW_DATA) {
        if (*seen >> 63)
            return fail(w, "a field occurs twice");
        *seen |= (uint64_t)1 << 63;
        put_number(w->to, RAW_OFFSET, w->at);
        put_number(w->to, RAW_BYTES, n);
    }
    w->at += n;
    return true;
}

static bool read_message(Wire *w, const ProtobufCMessageDescriptor *type, size_t end, int depth)
{
    uint64_t seen = 0;

    if (depth > MAX_NESTING)
        return fail(w, "messages are nested more than 64 deep");
    w->unpacked += (int64_t)(type->sizeof_message + sizeof(void *));
    if (w->unpacked > w->max_unpacked)
        return fail(w, "too many empty messages");
    w->is_entry = type == &onnx__string_string_entry_proto__descriptor;
    while (w->at < end)
        if (!read_field(w, type, end, depth, &seen))
            return false;
    w->is_entry = false;  // an entry holds no message
    return true;
}

bool wire_reduce(const uint8_t *data, size_t size, Text *reduced, Diag *d)
{
    // A message takes up to 250 bytes when it is unpacked, so a few bytes must not become many..
    Wire w = {.data = data, .to = reduced, .max_unpacked = (1 << 25) + 32 * (int64_t)size};

    if (!size) {
        diag_error(d, "the file is empty");
        return false;
    }
    if (read_message(&w, &onnx__model_proto__descriptor, size, 1))
        return true;
    diag_error(d, "not an ONNX model, or damaged: byte %zu: %s", w.error_at, w.error);
    return false;
}
