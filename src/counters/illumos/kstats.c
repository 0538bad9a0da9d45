#include "kstats.h"

#include "../error.h"

#include <errno.h>
#include <string.h>

int camp_kstats_open(const struct camp_source *source, kstat_ctl_t **ret, struct camp_error *error)
{
    if (source != NULL)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "on this system only processes can be read from a folder: pass no source");
    *ret = kstat_open();
    return *ret != NULL ? CAMP_OK : camp_fail_errno(error, errno, "/dev/kstat");
}

void camp_kstats_close(kstat_ctl_t *control)
{
    kstat_close(control);
}

bool camp_kstat_text_is(const char bytes[KSTAT_STRLEN], const char *text)
{
    return strncmp(bytes, text, KSTAT_STRLEN) == 0;
}

bool camp_kstat_is(const kstat_t *statistic, const char *module, int type)
{
    return statistic->ks_type == type && camp_kstat_text_is(statistic->ks_module, module);
}

kstat_t *camp_kstat_of_unix(const kstat_ctl_t *control, const char *name)
{
    for (kstat_t *at = control->kc_chain; at != NULL; at = at->ks_next)
        if (at->ks_instance == 0 && camp_kstat_is(at, "unix", KSTAT_TYPE_NAMED) &&
            camp_kstat_text_is(at->ks_name, name))
            return at;
    return NULL;
}

void camp_kstat_copy_text(char *ret, size_t capacity, const char bytes[KSTAT_STRLEN])
{
    memset(ret, 0, capacity);
    memcpy(ret, bytes, strnlen(bytes, KSTAT_STRLEN));
}

int camp_kstat_read(kstat_ctl_t *control, kstat_t *statistic, struct camp_error *error)
{
    char name[KSTAT_STRLEN + 1];

    if (kstat_read(control, statistic, NULL) != -1)
        return CAMP_OK;
    camp_kstat_copy_text(name, sizeof name, statistic->ks_name);
    return camp_fail_errno(error, errno, name);
}

const kstat_named_t *camp_kstat_value(const kstat_t *statistic, const char *name)
{
    const kstat_named_t *values = statistic->ks_data;
    size_t count = statistic->ks_data_size / sizeof *values;

    if (values == NULL || statistic->ks_type != KSTAT_TYPE_NAMED)
        return NULL;
    if (count > statistic->ks_ndata)
        count = statistic->ks_ndata;
    for (size_t i = 0; i < count; i++)
        if (camp_kstat_text_is(values[i].name, name))
            return &values[i];
    return NULL;
}

static bool number_of(const kstat_named_t *value, uint64_t *ret)
{
    switch (value->data_type) {
    case KSTAT_DATA_INT32:
        *ret = (uint64_t)value->value.i32;
        return value->value.i32 >= 0;
    case KSTAT_DATA_UINT32:
        *ret = value->value.ui32;
        return true;
    case KSTAT_DATA_INT64:
        *ret = (uint64_t)value->value.i64;
        return value->value.i64 >= 0;
    case KSTAT_DATA_UINT64:
        *ret = value->value.ui64;
        return true;
    default:
        return false;
    }
}

void camp_kstat_number(const kstat_t *statistic, const char *name, uint32_t field, uint64_t *ret,
                       uint32_t *known)
{
    const kstat_named_t *value = camp_kstat_value(statistic, name);
    uint64_t number;

    if (value == NULL || !number_of(value, &number))
        return;
    *ret = number;
    *known |= field;
}

static int read_named(kstat_ctl_t *control, const struct kstat_kind *kind, const char *name,
                      void *ret, struct camp_error *error)
{
    for (kstat_t *at = control->kc_chain; at != NULL; at = at->ks_next)
        if (kind->includes(at) && camp_kstat_text_is(at->ks_name, name))
            return kind->read(control, at, ret, error);
    return camp_fail(error, CAMP_E_GONE, 0, "there is no %s %s; list them again", kind->thing,
                     name);
}

int camp_kstat_read_named(const struct kstat_kind *kind, const struct camp_source *source,
                          const char *name, void *ret, struct camp_error *error)
{
    kstat_ctl_t *control;
    int r;

    if (name[0] == '\0')
        return camp_fail(error, CAMP_E_INVALID, 0, "'': no %s can have this name", kind->thing);
    r = camp_kstats_open(source, &control, error);
    if (r != CAMP_OK)
        return r;
    r = read_named(control, kind, name, ret, error);
    camp_kstats_close(control);
    return r;
}
