#include "switches.h"

#include <stdlib.h>

void switches_copy_release(struct switches_copy *copy)
{
    free(copy->cpus);
    free(copy->events);
    *copy = (struct switches_copy){ 0 };
}
