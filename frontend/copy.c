// Walks the wire format of a model and replaces the tensors that hold weights. Messages without
// such a tensor are kept byte by byte, also fields that shardcc doesn't know. The message of a
// replaced tensor has another length, so the lengths of the messages around it are written anew.
#include <stdlib.h>

#include "frontend/copy.h"

enum { VARINT = 0, FIXED64 = 1, DELIMITED = 2, FIXED32 = 5 };
// Fields of a TensorProto, and of a GraphProto.
enum { DIMS = 1, DATA_TYPE = 2, NAME = 8, RAW_DATA = 9, EXTERNAL_DATA = 13, DATA_LOCATION = 14 };
enum { INITIALIZER = 5, INPUT = 11 };
enum { ALIGNMENT = 4096 };  // of external data, so that programs can map it (the specification)

// One field of a message: its number, where it begins and ends, and its contents.
typedef struct Field {
    uint64_t number;
    int type;  // of the wire
    size_t start, at, end;
    uint64_t value;  // of VARINT
} Field;

typedef struct Walk {
    ModelCopy *c;
    Diag *diag;
    bool moves;   // large tensors go into the other file
    Map index;    // name of a weight → 1 + its index
    Map weight;   // offset of a tensor → 1 + index of its weight
    Map added;    // names of tensors that the file lacks
    Map moved;    // bytes that are in the other file already → 1 + index in c->other.piece
    int n_found;  // weights' tensors that were found
} Walk;

// The importer has checked the file, so this happens only if the file changes meanwhile.
static bool fail(const Walk *w)
{
    diag_error(w->diag, "the model's file changed while it was read");
    return false;
}

// ---- reading ----

static bool get_varint(const ModelCopy *c, size_t *at, size_t end, uint64_t *v)
{
    *v = 0;
    for (int shift = 0; shift < 70 && *at < end; shift += 7) {
        uint8_t b = c->data[(*at)++];
        *v |= shift < 64 ? (uint64_t)(b & 127) << shift : 0;
        if (!(b & 128))
            return true;
    }
    return false;
}

// Reads the field at *at, and goes on to the next one.
static bool next_field(const Walk *w, size_t *at, size_t end, Field *f)
{
    uint64_t tag, n = 0;

    f->start = *at;
    if (!get_varint(w->c, at, end, &tag))
        return fail(w);
    f->number = tag >> 3;
    f->type = tag & 7;
    f->at = *at;
    if (f->type == VARINT ? !get_varint(w->c, at, end, &f->value)
                          : f->type == DELIMITED && !get_varint(w->c, at, end, &n))
        return fail(w);
    if (f->type == DELIMITED)
        f->at = *at;
    else if (f->type != VARINT)
        n = f->type == FIXED64 ? 8 : 4;
    if (n > end - *at)
        return fail(w);
    *at += n;
    f->end = *at;
    return true;
}

// The type of the message that a field holds; NULL: it holds none that shardcc knows.
static const ProtobufCMessageDescriptor *message_of(const ProtobufCMessageDescriptor *type,
                                                    const Field *f)
{
    const ProtobufCFieldDescriptor *known =
        f->type == DELIMITED && f->number <= INT32_MAX
            ? protobuf_c_message_descriptor_get_field(type, (unsigned)f->number)
            : NULL;

    return known && known->type == PROTOBUF_C_TYPE_MESSAGE ? known->descriptor : NULL;
}

// ---- pieces ----

static Piece *add_piece(Walk *w, Pieces *to, const Weight *from)
{
    Piece *p = arena_push(w->c->arena, to->piece, to->n, to->cap);

    *p = (Piece){.from = *from, .to = to->bytes};
    to->bytes += from->bytes;
    return p;
}

static void add_text(Walk *w, const Text *t)
{
    Weight from = {.data = arena_copy(w->c->arena, t->s, t->n), .bytes = (int64_t)t->n};

    add_piece(w, &w->c->model, &from);
}

// Keeps bytes of the model's file.
static void keep(Walk *w, size_t start, size_t end)
{
    Pieces *to = &w->c->model;
    Weight from = {.data = w->c->data + start, .bytes = (int64_t)(end - start)};
    Weight *last = to->n ? &to->piece[to->n - 1].from : NULL;

    if (last && last->data && !last->value &&
        (const uint8_t *)last->data + last->bytes == from.data) {
        last->bytes += from.bytes;
        to->bytes += from.bytes;
    } else if (end > start) {
        add_piece(w, to, &from);
    }
}

static void put_field(Text *t, int number, const char *s, size_t n)
{
    wire_put_varint(t, (uint64_t)number << 3 | DELIMITED);
    wire_put_varint(t, n);
    text_put(t, s, n);
}

static void put_entry(Text *t, const char *key, const char *value)
{
    Text entry = {0};

    put_field(&entry, 1, key, strlen(key));
    put_field(&entry, 2, value, strlen(value));
    put_field(t, EXTERNAL_DATA, entry.s, entry.n);
    text_free(&entry);
}

// ---- tensors ----

// Parts of a TensorProto: where its bytes are, and its name for messages.
typedef struct TensorBytes {
    Field raw;  // start and end are equal if there is none
    const char *name, *location;
    int64_t offset, length;  // length -1: the file doesn't say
    bool is_external;
} TensorBytes;

static const char *text_of(const Walk *w, const Field *f)
{
    return arena_copy(w->c->arena, (const char *)w->c->data + f->at, f->end - f->at);
}

static bool read_entry(const Walk *w, const Field *entry, TensorBytes *s)
{
    const char *key = "", *value = "";
    size_t at = entry->at;
    Field f;

    while (at < entry->end) {
        if (!next_field(w, &at, entry->end, &f))
            return false;
        if (f.type == DELIMITED && f.number == 1)
            key = text_of(w, &f);
        else if (f.type == DELIMITED && f.number == 2)
            value = text_of(w, &f);
    }
    if (!strcmp(key, "location"))
        s->location = value;
    else if (!strcmp(key, "offset"))
        s->offset = strtoll(value, NULL, 10);
    else if (!strcmp(key, "length"))
        s->length = strtoll(value, NULL, 10);
    return true;
}

static bool read_source(const Walk *w, const Field *tensor, TensorBytes *s)
{
    size_t at = tensor->at;
    Field f;

    *s = (TensorBytes){.name = "", .length = -1};
    while (at < tensor->end) {
        if (!next_field(w, &at, tensor->end, &f))
            return false;
        if (f.type == DELIMITED && f.number == 8)
            s->name = text_of(w, &f);
        else if (f.type == DELIMITED && f.number == RAW_DATA)
            s->raw = f;
        else if (f.type == DELIMITED && f.number == EXTERNAL_DATA && !read_entry(w, &f, s))
            return false;
        else if (f.type == VARINT && f.number == DATA_LOCATION)
            s->is_external = f.value == 1;
    }
    return true;
}

// Finds the bytes that the copy of the tensor gets. Sets *from to none if the tensor stays as it
// is. Returns false after an error.
static bool find_bytes(const Walk *w, const Field *tensor, const TensorBytes *s, Weight *from)
{
    int i = map_get(&w->weight, arena_string(w->c->arena, "%zu", tensor->at)) - 1;

    *from = (Weight){.bytes = -1};
    if (i >= 0) {
        *from = w->c->value[i];
    } else if (s->is_external) {
        if (!s->location || !*s->location || s->offset < 0 || s->length < 0) {
            diag_error(w->diag,
                       "tensor '%.200s': its external data needs a file, an offset and a length, "
                       "else it can't be copied",
                       s->name);
            return false;
        }
        *from =
            (Weight){.name = s->name, .path = s->location, .offset = s->offset, .bytes = s->length};
    } else if (w->moves && s->raw.end - s->raw.start >= MOVED_BYTES) {
        *from = (Weight){.name = s->name,
                         .data = w->c->data + s->raw.at,
                         .bytes = (int64_t)(s->raw.end - s->raw.at)};
    }
    return true;
}

// Puts bytes into the other file, each once. Returns their offset there.
static int64_t move_bytes(Walk *w, const Weight *from)
{
    Pieces *to = &w->c->other;
    const char *key =
        from->path
            ? arena_string(w->c->arena, "%s\n%" PRId64 "\n%" PRId64, from->path, from->offset,
                           from->bytes)
            : arena_string(w->c->arena, "%p", from->value ? (const void *)from->value : from->data);
    int i = map_get(&w->moved, key);

    if (i)
        return to->piece[i - 1].to;
    to->bytes = (to->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    map_set(&w->moved, key, to->n + 1);
    int64_t offset = add_piece(w, to, from)->to;
    to->bytes += !from->bytes;  // else an empty tensor would be tied to the next one
    return offset;
}

static void add_external(Walk *w, const Weight *from)
{
    Text t = {0};
    char number[24];

    put_entry(&t, "location", w->c->location);
    snprintf(number, sizeof number, "%" PRId64, move_bytes(w, from));
    put_entry(&t, "offset", number);
    snprintf(number, sizeof number, "%" PRId64, from->bytes);
    put_entry(&t, "length", number);
    wire_put_varint(&t, DATA_LOCATION << 3 | VARINT);
    wire_put_varint(&t, 1);
    add_text(w, &t);
    text_free(&t);
}

static void add_raw(Walk *w, const Weight *from)
{
    Text t = {0};

    wire_put_varint(&t, RAW_DATA << 3 | DELIMITED);
    wire_put_varint(&t, (uint64_t)from->bytes);
    add_text(w, &t);
    text_free(&t);
    add_piece(w, &w->c->model, from);
}

// Is it a field of a tensor's bytes, in whatever form?
static bool is_data(uint64_t number)
{
    return number == 4 || number == 5 || number == 7 || (number >= 9 && number <= 11) ||
           number == EXTERNAL_DATA || number == DATA_LOCATION;
}

static bool copy_tensor(Walk *w, const Field *tensor, bool *is_changed)
{
    size_t at = tensor->at;
    TensorBytes s;
    Weight from;
    Field f;

    if (!read_source(w, tensor, &s) || !find_bytes(w, tensor, &s, &from))
        return false;
    *is_changed = from.bytes >= 0;
    if (!*is_changed)
        return true;
    w->n_found += map_get(&w->weight, arena_string(w->c->arena, "%zu", tensor->at)) > 0;
    while (at < tensor->end) {
        if (!next_field(w, &at, tensor->end, &f))
            return false;
        if (!is_data(f.number))
            keep(w, f.start, f.end);
    }
    if (s.is_external || (w->moves && from.bytes >= MOVED_BYTES))
        add_external(w, &from);
    else
        add_raw(w, &from);
    return true;
}

// ---- messages ----

static bool copy_message(Walk *w, const ProtobufCMessageDescriptor *type, const Field *m, int depth,
                         bool *is_changed);

// Writes the number and the length of a field whose contents are the pieces after piece `head`,
// from byte `start` on.
static void set_head(Walk *w, uint64_t number, int head, int64_t start)
{
    Pieces *to = &w->c->model;
    Text t = {0};

    wire_put_varint(&t, number << 3 | DELIMITED);
    wire_put_varint(&t, (uint64_t)(to->bytes - start));
    to->piece[head].from =
        (Weight){.data = arena_copy(w->c->arena, t.s, t.n), .bytes = (int64_t)t.n};
    to->bytes += (int64_t)t.n;
    text_free(&t);
}

// Copies the field of a message that holds another one.
static bool copy_part(Walk *w, const ProtobufCMessageDescriptor *type, const Field *f, int depth,
                      bool *is_changed)
{
    Pieces *to = &w->c->model;
    int before = to->n;
    int64_t bytes = to->bytes;
    bool is_part_changed = false;

    add_piece(w, to, &(Weight){0});
    if (type == &onnx__tensor_proto__descriptor
            ? !copy_tensor(w, f, &is_part_changed)
            : !copy_message(w, type, f, depth, &is_part_changed))
        return false;
    if (!is_part_changed) {
        to->n = before;
        to->bytes = bytes;
        keep(w, f->start, f->end);
        return true;
    }
    set_head(w, f->number, before, bytes);
    *is_changed = true;
    return true;
}

// ---- tensors that the file lacks ----

static void add_tensor(Walk *w, const AddedTensor *t, const Weight *from)
{
    Pieces *to = &w->c->model;
    int before = to->n;
    int64_t bytes = to->bytes;
    Text head = {0};

    add_piece(w, to, &(Weight){0});
    for (int i = 0; i < t->rank; i++) {
        wire_put_varint(&head, DIMS << 3 | VARINT);
        wire_put_varint(&head, (uint64_t)t->dim[i]);
    }
    wire_put_varint(&head, DATA_TYPE << 3 | VARINT);
    wire_put_varint(&head, (uint64_t)dtype_to_onnx(t->dtype));
    put_field(&head, NAME, t->name, strlen(t->name));
    add_text(w, &head);
    text_free(&head);
    if (w->moves && from->bytes >= MOVED_BYTES)
        add_external(w, from);
    else
        add_raw(w, from);
    set_head(w, INITIALIZER, before, bytes);
}

// Adds initializers that the model's file lacks. Those among its inputs are left out of these.
static void add_tensors(Walk *w, bool *is_changed)
{
    const Weights *weights = w->c->weights;

    for (int i = 0; i < weights->n_tensors; i++) {
        const WeightTensor *t = &weights->tensor[i];
        int of = t->added ? map_get(&w->index, t->name) : 0;
        if (!of)
            continue;
        add_tensor(w, t->added, &w->c->value[of - 1]);
        *is_changed = true;
    }
}

// Is the field an input of the graph that becomes an initializer?
static bool is_added_input(const Walk *w, const Field *input)
{
    size_t at = input->at;
    Field f;

    while (at < input->end && next_field(w, &at, input->end, &f))
        if (f.type == DELIMITED && f.number == 1)
            return map_get(&w->added, text_of(w, &f));
    return false;
}

static bool copy_message(Walk *w, const ProtobufCMessageDescriptor *type, const Field *m, int depth,
                         bool *is_changed)
{
    bool is_main = type == &onnx__graph_proto__descriptor && depth == 2;
    size_t at = m->at;
    Field f;

    if (depth > MAX_NESTING)
        return fail(w);
    while (at < m->end) {
        if (!next_field(w, &at, m->end, &f))
            return false;
        const ProtobufCMessageDescriptor *part = message_of(type, &f);
        if (is_main && part && f.number == INPUT && is_added_input(w, &f))
            continue;
        if (!part)
            keep(w, f.start, f.end);
        else if (!copy_part(w, part, &f, depth + 1, is_changed))
            return false;
    }
    if (is_main)
        add_tensors(w, is_changed);
    return true;
}

// ---- the whole ----

// Lists which tensors hold which weights. Returns their number.
static int list_tensors(Walk *w)
{
    const Weights *weights = w->c->weights;
    int n = 0;

    for (int i = 0; i < weights->n; i++)
        map_set(&w->index, weights->weight[i].name, i + 1);
    for (int i = 0; i < weights->n_tensors; i++) {
        const AddedTensor *added = weights->tensor[i].added;
        int weight = map_get(&w->index, weights->tensor[i].name);
        if (added)
            map_set(&w->added, added->name, 1);
        if (!weight || added)
            continue;
        map_set(&w->weight, arena_string(w->c->arena, "%" PRId64, weights->tensor[i].offset),
                weight);
        n++;
    }
    return n;
}

static bool copy_once(ModelCopy *c, bool moves, Diag *d)
{
    Walk w = {.c = c, .diag = d, .moves = moves};
    Field whole = {.end = c->size};
    bool is_changed = false;

    c->model = c->other = (Pieces){0};
    w.weight.arena = w.moved.arena = w.index.arena = w.added.arena = c->arena;
    int n = list_tensors(&w);
    if (!copy_message(&w, &onnx__model_proto__descriptor, &whole, 1, &is_changed))
        return false;
    if (w.n_found != n)
        return fail(&w);
    int64_t at = 0;
    for (int i = 0; i < c->model.n; i++) {
        c->model.piece[i].to = at;
        at += c->model.piece[i].from.bytes;
    }
    return true;
}

bool copy_model(ModelCopy *c, Diag *d)
{
    if (!copy_once(c, false, d))
        return false;
    if (c->model.bytes > c->most_bytes && !copy_once(c, true, d))
        return false;
    if (c->model.bytes <= c->most_bytes)
        return true;
    diag_error(d,
               "the model takes %" PRId64 " bytes without its large tensors, a file holds %" PRId64,
               c->model.bytes, c->most_bytes);
    return false;
}
