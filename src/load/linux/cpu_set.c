#include "load/linux/cpu_set.h"

#include <errno.h>

/* No kernel can be built for so many CPUs (CONFIG_NR_CPUS). */
#define CPUS_MOST (1 << 20)

static bool allocate(struct cpu_set *ret, size_t count)
{
    ret->bits = CPU_ALLOC(count);
    ret->size = CPU_ALLOC_SIZE(count);
    if (ret->bits == NULL)
        return false;
    CPU_ZERO_S(ret->size, ret->bits);
    return true;
}

bool cpu_set_read(struct cpu_set *ret)
{
    for (size_t count = CPU_SETSIZE; count <= CPUS_MOST; count *= 2) {
        if (!allocate(ret, count))
            break;
        if (sched_getaffinity(0, ret->size, ret->bits) == 0)
            return true;
        cpu_set_release(ret);
        if (errno != EINVAL)
            break;
    }
    *ret = (struct cpu_set){ 0 };
    return false;
}

int cpu_set_use(const struct cpu_set *set)
{
    return sched_setaffinity(0, set->size, set->bits) == 0 ? 0 : errno;
}

int cpu_set_use_one(int cpu)
{
    struct cpu_set only;
    int system_error;

    if (cpu < 0 || cpu >= CPUS_MOST)
        return EINVAL;
    if (!allocate(&only, (size_t)cpu + 1))
        return ENOMEM;
    CPU_SET_S((size_t)cpu, only.size, only.bits);
    system_error = cpu_set_use(&only);
    cpu_set_release(&only);
    return system_error;
}

int cpu_set_next(const struct cpu_set *set, int after)
{
    for (size_t cpu = after < 0 ? 0 : (size_t)after + 1; cpu < 8 * set->size; cpu++) {
        if (CPU_ISSET_S(cpu, set->size, set->bits))
            return (int)cpu;
    }
    return -1;
}

int cpu_set_last(const struct cpu_set *set)
{
    int last = -1;

    for (int cpu = cpu_set_next(set, -1); cpu >= 0; cpu = cpu_set_next(set, cpu))
        last = cpu;
    return last;
}

void cpu_set_release(struct cpu_set *set)
{
    const int before = errno;

    CPU_FREE(set->bits);
    errno = before;
    *set = (struct cpu_set){ 0 };
}
