// Meshes: where a rank stands, which shapes there are, and what links the ranks of an axis.
#include "analyzer/analyzer.h"

int mesh_stride(const Mesh *m, int axis)
{
    int stride = 1;

    for (int a = axis + 1; a < m->n_axes; a++)
        stride *= m->size[a];
    return stride;
}

int mesh_ranks(const Mesh *m) { return mesh_stride(m, -1); }

int mesh_coordinate(const Mesh *m, int axis, int rank)
{
    return rank / mesh_stride(m, axis) % m->size[axis];
}
