// The table of how programs for each target are printed and built.
#include <string.h>

#include "generator/target_text.h"

const TargetText *target_text(const Target *t)
{
#define TARGET(name, text) &name##_text,
    static const TargetText *const texts[] = {
#include "analyzer/target/targets.def"
    };
#undef TARGET
    int i = 0;

    while (strcmp(target_table[i]->name, t->name))
        i++;
    return texts[i];
}
