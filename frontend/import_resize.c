// Imports Resize and Upsample: each axis is resampled by itself, as all their modes are separable.
#include "frontend/internal.h"
#include "ir/kernel.h"
#include "runtime/rt_resample.h"

// How one axis is resized.
typedef struct Resized {
    int axis;
    int64_t from, to;   // elements before and after
    double scale;       // > 0
    double mul, div;    // the scale is div / mul
    double start, end;  // of the region of interest, in parts of the axis
    // Elements [inside, inside + n) of the result are read from x; the others are outside of it.
    int64_t inside, n;
    Resampling map;
} Resized;

typedef struct Resize {
    const char *mode, *coordinates;  // a Resampling's mode; ONNX's coordinate_transformation_mode
    bool is_nearest;
    int n;
    Resized axis[MAX_RANK];
} Resize;

// ---- attributes ----

// Is the text of an attribute one of `n` words? Reports an error that lists them if not.
static bool is_one_of(Op *o, const char *name, const char *text, int n, const char *const *words)
{
    Text list = {0};

    for (int i = 0; i < n; i++)
        if (!strcmp(text, words[i]))
            return true;
    for (int i = 0; i < n; i++)
        text_printf(&list, "%s%s", i == 0 ? "" : i < n - 1 ? ", " : " and ", words[i]);
    op_error(o, "%s '%.40s' is none of %s", name, text, list.s);
    text_free(&list);
    return false;
}

// The resampling's mode, which for nearest says how coordinates are rounded. Before opset 11 they
// are rounded down, as PyTorch does.
static bool read_mode(Op *o, Resize *r)
{
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                            "ceil"};
    static const char *const names[] = {"round_down", "round_up", "floor", "ceil"};
    const char *rounding =
        o->opset < 11 ? "floor" : attr_text(o, "nearest_mode", "round_prefer_floor");

    r->mode = attr_text(o, "mode", "nearest");
    if (!is_one_of(o, "mode", r->mode, COUNT(modes), modes) ||
        !is_one_of(o, "nearest_mode", rounding, COUNT(roundings), roundings))
        return false;
    r->is_nearest = !strcmp(r->mode, "nearest");
    for (int i = 0; i < COUNT(roundings) && r->is_nearest; i++)
        if (!strcmp(rounding, roundings[i]))
            r->mode = names[i];
    return true;
}

static bool read_coordinates(Op *o, Resize *r)
{
    static const char *const modes[] = {
        "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",  "align_corners",
        "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn"};

    r->coordinates =
        o->opset < 11 ? "asymmetric" : attr_text(o, "coordinate_transformation_mode", "half_pixel");
    return is_one_of(o, "coordinate_transformation_mode", r->coordinates, COUNT(modes), modes);
}

static bool read_axes(Op *o, Resize *r)
{
    int rank = arg_value(o, 0)->rank, n;
    const int64_t *axes = attr_ints(o, "axes", &n);
    bool taken[MAX_RANK] = {false};

    if (axes && n > rank)
        return op_error(o, "axes has %d elements, more than %d", n, rank);
    r->n = axes ? n : rank;
    for (int i = 0; i < r->n; i++) {
        int64_t axis = axes ? axes[i] : i;
        if (!op_axis(o, &axis, rank))
            return false;
        if (taken[axis])
            return op_error(o, "axis %" PRId64 " occurs twice", axis);
        taken[axis] = true;
        r->axis[i] = (Resized){.axis = (int)axis, .from = arg_value(o, 0)->dim[axis], .end = 1};
    }
    return true;
}

// ---- inputs ----

// Reads input i, a known vector of `n` numbers.
static bool arg_numbers(Op *o, int i, const char *what, int n, double *v)
{
    const Tensor *t = arg_known(o, i);

    if (!t)
        return op_error(o, "%s must be known when compiling, '%s' is not", what, arg_name(o, i));
    if (t->rank != 1 || arg_value(o, i)->dim[0] != n)
        return op_error(o, "%s must be a vector of %d numbers", what, n);
    for (int k = 0; k < n; k++)
        v[k] = known_number(t, t->dim[0] > 1 ? k : 0);
    return true;
}

// Is input i there, and not empty? Before opset 13 an empty vector says that it isn't.
static bool is_given(const Op *o, int i) { return has(o, i) && value_count(arg_value(o, i)) > 0; }

static bool set_size(Op *o, Resized *a, double size)
{
    if (size > (double)RT_RESAMPLE_MAX || (a->from > RT_RESAMPLE_MAX && size != (double)a->from))
        return op_error(o,
                        "would resize axis %d from %" PRId64 " to %.15g elements, at most 2^24 "
                        "are supported",
                        a->axis, a->from, size);
    a->to = (int64_t)size;
    return true;
}

// Sets the scale to the simplest fraction that f32 rounds to it, by continued fractions: 0.6 is
// 3 / 5. So coordinates and sizes that are whole numbers as the model's author means them stay
// whole: 10 elements times 0.7 are 7, though f32 rounds that scale down.
static void set_fraction(Resized *a, double scale)
{
    double p[2] = {0, 1}, q[2] = {1, 0}, rest = scale;

    for (int i = 0; i == 0 || (i < 64 && (float)(p[1] / q[1]) != (float)scale); i++) {
        double whole = floor(rest), next_p = whole * p[1] + p[0], next_q = whole * q[1] + q[0];
        p[0] = p[1];
        q[0] = q[1];
        p[1] = next_p;
        q[1] = next_q;
        rest = 1 / (rest - whole);
    }
    a->mul = q[1];
    a->div = p[1];
    a->scale = p[1] / q[1];
}

static bool read_scales(Op *o, int n, const double *scale, Resize *r)
{
    for (int i = 0; i < n; i++) {
        Resized *a = &r->axis[i];

        if (!(scale[i] > 0) || isinf(scale[i]))
            return op_error(o, "the scale of axis %d is %g, expected a finite number above 0",
                            a->axis, scale[i]);
        set_fraction(a, scale[i]);
        double size = floor((double)a->from * a->div / a->mul);
        if (size < 1 && a->from > 0)
            return op_error(o, "a scale of %g leaves none of the %" PRId64 " elements of axis %d",
                            scale[i], a->from, a->axis);
        if (!set_size(o, a, size))
            return false;
    }
    return true;
}

// The scale of all axes, where the aspect ratio is kept: 0, as they are stretched.
static bool read_aspect(Op *o, const double *size, const Resize *r, double *scale)
{
    static const char *const policies[] = {"stretch", "not_larger", "not_smaller"};
    const char *policy = attr_text(o, "keep_aspect_ratio_policy", "stretch");

    *scale = 0;
    if (!is_one_of(o, "keep_aspect_ratio_policy", policy, COUNT(policies), policies))
        return false;
    for (int i = 0; i < r->n && strcmp(policy, "stretch"); i++) {
        double own = size[i] / (double)r->axis[i].from;
        bool is_beyond = !strcmp(policy, "not_larger") ? own < *scale : own > *scale;
        *scale = i == 0 || is_beyond ? own : *scale;
    }
    return true;
}

static bool read_sizes(Op *o, int i, Resize *r)
{
    double size[MAX_RANK], common;

    if (!arg_numbers(o, i, "sizes", r->n, size))
        return false;
    for (int k = 0; k < r->n; k++) {
        const Resized *a = &r->axis[k];
        if (!(size[k] >= 1))
            return op_error(o, "the size of axis %d is %g, expected 1 or more", a->axis, size[k]);
        if (a->from < 1)
            return op_error(o, "axis %d has no elements to resize", a->axis);
    }
    if (!read_aspect(o, size, r, &common))
        return false;
    for (int k = 0; k < r->n; k++) {
        Resized *a = &r->axis[k];
        a->mul = common != 0 ? 1 : (double)a->from;
        a->div = common != 0 ? common : size[k];
        a->scale = a->div / a->mul;
        double to = common != 0 ? floor(common * (double)a->from + 0.5) : size[k];
        if (to < 1)
            return op_error(o, "keep_aspect_ratio_policy leaves nothing of axis %d", a->axis);
        if (!set_size(o, a, to))
            return false;
    }
    return true;
}

static bool read_region(Op *o, Resize *r)
{
    double v[2 * MAX_RANK];

    if (strcmp(r->coordinates, "tf_crop_and_resize"))
        return true;
    if (!is_given(o, 1))
        return op_error(o, "tf_crop_and_resize needs the input roi");
    if (!arg_numbers(o, 1, "roi", 2 * r->n, v))
        return false;
    for (int i = 0; i < 2 * r->n; i++)
        if (!(fabs(v[i]) <= 0x1p10))
            return op_error(o, "roi has the element %g, expected numbers from -1024 to 1024", v[i]);
    for (int i = 0; i < r->n; i++) {
        r->axis[i].start = v[i];
        r->axis[i].end = v[r->n + i];
    }
    return true;
}

// ---- coordinates ----

static void scale_coordinates(const Resized *a, double shift, Resampling *m)
{
    m->shift = shift;
    m->mul = a->mul;
    m->div = a->div;
}

// Sets the coordinates that elements of the result have in x. `width` is the size that the scale
// asks for, which isn't rounded in ONNX's own cases. In PyTorch, which writes the scale of an
// interpolation with aligned corners, the corners are those of the result.
static void set_coordinates(const Op *o, const char *mode, const Resized *a, Resampling *m)
{
    const char *producer = o->x->model->producer_name;
    bool is_pytorch = producer && !strcmp(producer, "pytorch");
    double width = is_pytorch ? (double)a->to : (double)a->from * a->div / a->mul;
    double last = (double)(a->from - 1);

    m->mul = m->div = 1;
    if (!strcmp(mode, "align_corners")) {
        m->mul = width == 1 ? 0 : last;
        m->div = width == 1 ? 1 : width - 1;
    } else if (!strcmp(mode, "tf_crop_and_resize")) {
        m->mul = width == 1 ? 0 : (a->end - a->start) * last;
        m->div = width == 1 ? 1 : width - 1;
        m->offset = width == 1 ? 0.5 * (a->start + a->end) * last : a->start * last;
    } else if (!strcmp(mode, "asymmetric")) {
        scale_coordinates(a, 0, m);
    } else if (!strcmp(mode, "tf_half_pixel_for_nn")) {
        scale_coordinates(a, 0.5, m);
    } else if (!strcmp(mode, "pytorch_half_pixel") && a->to == 1) {
        m->mul = 0;
    } else {
        scale_coordinates(a, 0.5, m);
        m->offset = -0.5;
        if (!strcmp(mode, "half_pixel_symmetric"))
            m->offset += (double)a->from / 2 * (1 - (double)a->to / width);
    }
}

// Drops the elements of the result at both ends that are outside of x.
static void find_inside(const Resize *r, Resized *a)
{
    RtResample p = resampling_params(&a->map, a->from, a->to);

    a->n = a->to;
    if (strcmp(r->coordinates, "tf_crop_and_resize"))
        return;
    a->n = 0;
    for (int64_t o = 0; o < a->to; o++) {
        double x = rt_resample_coordinate(&p, o);
        if (x < 0 || x > (double)(a->from - 1))
            continue;
        a->inside = a->n ? a->inside : o;
        a->n++;
    }
    a->map.shift += (double)a->inside;
}

static void set_map(Op *o, const Resize *r, Resized *a)
{
    a->map = (Resampling){.mode = r->mode,
                          .cubic = attr_float(o, "cubic_coeff_a", -0.75),
                          .stretch = 1,
                          .exclude = !r->is_nearest && attr_int(o, "exclude_outside", 0) != 0};
    if (!r->is_nearest && attr_int(o, "antialias", 0) && a->scale < 1)
        a->map.stretch = 1 / a->scale;
    set_coordinates(o, r->coordinates, a, &a->map);
    find_inside(r, a);
}

// Does every element of the result read the one at its own index?
static bool is_identity(const Resized *a)
{
    const Resampling *m = &a->map;

    return a->n == a->from &&
           (a->n == 1 || (m->mul == m->div && m->shift + m->offset == 0 && m->stretch == 1));
}

// ---- the graph ----

// Axes that become shorter come first, and the most of all the shortest, so that values between are
// small. Where two become as long, the inner one is first: neighbours along the last dim take more
// time to combine than rows.
static void sort_axes(Resize *r)
{
    for (int i = 1; i < r->n; i++)
        for (int k = i; k > 0; k--) {
            Resized *a = &r->axis[k - 1], *b = &r->axis[k], swapped = *a;
            bool is_growing = b->n > b->from, is_inner = b->axis > a->axis;
            double before = (double)a->n * (double)b->from, after = (double)b->n * (double)a->from;
            if (after > before || (after == before && is_inner != is_growing))
                break;
            *a = *b;
            *b = swapped;
        }
}

// Integers and truth values are picked by a constant index, so that none of them is rounded.
static ValueId pick(Op *o, ValueId x, const Resized *a)
{
    RtResample p = resampling_params(&a->map, a->from, a->n);
    int64_t *index = arena_array(o->g->arena, int64_t, (size_t)a->n + 1);

    if (a->n * (int64_t)sizeof *index > MAX_CONSTANT) {
        op_error(o,
                 "would pick %" PRId64 " elements of type %s along axis %d, at most 2^17 are "
                 "supported",
                 a->n, dtype_name(value_of(o->g, x)->dtype), a->axis);
        return 0;
    }
    for (int64_t i = 0; i < a->n; i++)
        index[i] = rt_resample_taps(&p, i).first;
    ValueId v = graph_constant(o->g, I64, 1, &a->n, index);
    return make_gather(o->g, x, v, a->axis, 0);
}

// Sets all elements that are outside of x.
static ValueId extrapolate(Op *o, ValueId y, const Resize *r)
{
    int64_t low[MAX_RANK] = {0}, high[MAX_RANK] = {0}, none[MAX_RANK] = {0};
    bool is_whole = true;

    for (int i = 0; i < r->n; i++) {
        const Resized *a = &r->axis[i];
        low[a->axis] = a->inside;
        high[a->axis] = a->to - a->inside - a->n;
        is_whole &= a->n == a->to;
    }
    return is_whole ? y
                    : make_pad(o->g, y, low, high, none, attr_float(o, "extrapolation_value", 0));
}

static void give_resized(Op *o, Resize *r)
{
    Graph *g = o->g;
    ValueId y = arg(o, 0);
    DType type = arg_value(o, 0)->dtype;
    bool has_floats = dtype_is_float(type), is_rounded = !has_floats && !r->is_nearest;

    for (int i = 0; i < r->n; i++)
        set_map(o, r, &r->axis[i]);
    sort_axes(r);
    if (is_rounded)
        y = make_cast(g, y, dtype_size(type) < 4 ? F32 : F64);
    for (int i = 0; i < r->n && y; i++) {
        const Resized *a = &r->axis[i];
        if (!is_identity(a))
            y = has_floats || is_rounded ? make_resample(g, y, a->axis, a->n, &a->map)
                                         : pick(o, y, a);
    }
    y = y ? extrapolate(o, y, r) : 0;
    if (is_rounded && y)
        y = make_cast(g, make_round(g, y), type);
    give(o, 0, y);
}

static void import_resize(Op *o)
{
    int scales = o->opset < 11 ? 1 : 2;
    bool has_scales = is_given(o, scales), has_sizes = is_given(o, 3);
    double scale[MAX_RANK];
    Resize r;

    if (!read_mode(o, &r) || !read_coordinates(o, &r) || !read_axes(o, &r))
        return;
    if (has_scales == has_sizes) {
        op_error(o, has_scales ? "has scales and sizes, expected one of them"
                               : "has neither scales nor sizes");
        return;
    }
    if (has_scales ? arg_numbers(o, scales, "scales", r.n, scale) &&
                         read_scales(o, r.n, scale, &r) && read_region(o, &r)
                   : read_sizes(o, 3, &r) && read_region(o, &r))
        give_resized(o, &r);
}

static void import_upsample(Op *o)
{
    int rank = arg_value(o, 0)->rank;
    double scale[MAX_RANK];
    Resize r;

    if (!read_mode(o, &r) || !read_coordinates(o, &r) || !read_axes(o, &r))
        return;
    if (o->opset >= 9) {
        if (!arg_numbers(o, 1, "scales", rank, scale))
            return;
    } else {
        const Onnx__AttributeProto *given = attr_find(o, "scales");
        if (!given || given->n_floats != (size_t)rank) {
            op_error(o, "scales must be a vector of %d numbers", rank);
            return;
        }
        for (int i = 0; i < rank; i++)
            scale[i] = (double)given->floats[i];
    }
    if (read_scales(o, rank, scale, &r))
        give_resized(o, &r);
}

const OpImporter import_resampling[] = {
    {"Resize", 1, 4, .import = import_resize,
     .attrs = "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
              "extrapolation_value keep_aspect_ratio_policy mode nearest_mode",
     .numbers = 1 << 1 | 1 << 2, .since = 10, .known = "roi, scales, sizes",
     .refuses = "more than 2^24 elements along a resized axis"},
    {"Upsample", 1, 2, .import = import_upsample, .attrs = "mode scales", .numbers = 1 << 1,
     .known = "scales", .refuses = "more than 2^24 elements along a resized axis"},
    {0},
};
