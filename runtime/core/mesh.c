// Coordinates of ranks on a program's mesh.
#include "runtime/core/core.h"

int rt_mesh_ranks(const RtMesh *m) { return m->n_axes ? rt_mesh_stride(m, 0) * m->size[0] : 1; }

int rt_mesh_stride(const RtMesh *m, int axis)
{
    int stride = 1;

    for (int a = axis + 1; a < m->n_axes; a++)
        stride *= m->size[a];
    return stride;
}

int rt_mesh_coordinate(const RtMesh *m, int axis, int rank)
{
    return rank / rt_mesh_stride(m, axis) % m->size[axis];
}
