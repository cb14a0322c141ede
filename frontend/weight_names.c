// Pairs the model's names with those of files, which may lack a prefix or have one more.
#include "frontend/weight_file.h"

const char *weight_name_end(const char *name)
{
    const char *border = strpbrk(name, "./");

    return border && border[1] ? border + 1 : NULL;
}

static int find_tensor(const Map *index, const char *name, const bool *taken)
{
    int t = map_get(index, name);

    return t && !taken[t - 1] ? t : 0;
}

// A tensor goes to the longest open parameter that its name ends in. Notes a second one that comes
// to a parameter.
static void pair_longer(const Map *parameters, const RtShards *s, const bool *taken, NamePair *to,
                        bool *is_claimed)
{
    for (int t = 0; t < s->n; t++) {
        const char *end = taken[t] ? NULL : weight_name_end(s->tensor[t].name);
        int p = 0;
        for (; end && !(p = map_get(parameters, end)); end = weight_name_end(end))
            ;
        if (!p)
            continue;
        is_claimed[t] = true;
        if (!to[p - 1].tensor)
            to[p - 1].tensor = t + 1;
        else if (!to[p - 1].rival)
            to[p - 1].rival = t + 1;
    }
}

// A parameter that has none takes the longest tensor that its own name ends in. Two parameters that
// take the same one are each other's rivals.
static void pair_shorter(Arena *a, int n, const char *const *parameter, const bool *waits,
                         const Map *tensors, int n_tensors, const bool *taken, NamePair *to)
{
    int *first = arena_array(a, int, n_tensors + 1);

    for (int p = 0; p < n; p++) {
        const char *end = waits[p] && !to[p].tensor ? weight_name_end(parameter[p]) : NULL;
        int t = 0;
        for (; end && !(t = find_tensor(tensors, end, taken)); end = weight_name_end(end))
            ;
        if (!t)
            continue;
        to[p].tensor = t;
        if (first[t]) {
            to[p].other = first[t];
            to[first[t] - 1].other = p + 1;
        } else {
            first[t] = p + 1;
        }
    }
}

void weight_names_pair(Arena *a, int n, const char *const *parameter, const bool *open,
                       const RtShards *s, NamePair *to)
{
    Map tensors = {.arena = a}, parameters = {.arena = a};
    bool *taken = arena_array(a, bool, s->n + 1), *waits = arena_array(a, bool, n + 1);

    for (int t = 0; t < s->n; t++)
        map_set(&tensors, s->tensor[t].name, t + 1);
    for (int p = 0; p < n; p++) {
        int t = open[p] ? map_get(&tensors, parameter[p]) : 0;
        to[p] = (NamePair){.tensor = t};
        if (t)
            taken[t - 1] = true;
        waits[p] = open[p] && !t;
        if (waits[p])
            map_set(&parameters, parameter[p], p + 1);
    }
    pair_longer(&parameters, s, taken, to, taken);
    pair_shorter(a, n, parameter, waits, &tensors, s->n, taken, to);
}
