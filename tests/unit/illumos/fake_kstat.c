#include "fake_kstat.h"

#include <errno.h>

#define STATISTICS 64
#define DATA_SIZE 4096

static struct {
    kstat_t header;
    char data[DATA_SIZE];
    int system_error;
    int is_removed;
} statistics[STATISTICS];
static size_t statistic_count;
static kid_t chain_id = 1;
static int open_chains;

struct fake_swap fake_swap;

void fake_reset(void)
{
    fake_swap = (struct fake_swap){ 0 };
    assert_int_equal(open_chains, 0);
    memset(statistics, 0, sizeof statistics);
    statistic_count = 0;
    chain_id++;
}

size_t fake_add(const char *module, int instance, const char *name, const char *class, int type,
                hrtime_t snaptime)
{
    kstat_t *header = &statistics[statistic_count].header;

    assert_true(statistic_count < STATISTICS);
    header->ks_kid = (kid_t)statistic_count;
    snprintf(header->ks_module, KSTAT_STRLEN, "%s", module);
    header->ks_instance = instance;
    snprintf(header->ks_name, KSTAT_STRLEN, "%s", name);
    snprintf(header->ks_class, KSTAT_STRLEN, "%s", class);
    header->ks_type = (unsigned char)type;
    header->ks_snaptime = snaptime;
    chain_id++;
    return statistic_count++;
}

static kstat_named_t *add_value(size_t statistic, const char *name, unsigned char type)
{
    kstat_t *header = &statistics[statistic].header;
    kstat_named_t *value =
        (kstat_named_t *)(void *)(statistics[statistic].data + header->ks_data_size);

    assert_true(header->ks_data_size + sizeof *value <= DATA_SIZE);
    snprintf(value->name, KSTAT_STRLEN, "%s", name);
    value->data_type = type;
    header->ks_ndata++;
    header->ks_data_size += sizeof *value;
    return value;
}

void fake_u64(size_t statistic, const char *name, uint64_t value)
{
    add_value(statistic, name, KSTAT_DATA_UINT64)->value.ui64 = value;
}

void fake_u32(size_t statistic, const char *name, uint32_t value)
{
    add_value(statistic, name, KSTAT_DATA_UINT32)->value.ui32 = value;
}

void fake_i32(size_t statistic, const char *name, int32_t value)
{
    add_value(statistic, name, KSTAT_DATA_INT32)->value.i32 = value;
}

void fake_text(size_t statistic, const char *name, const char *value)
{
    kstat_named_t *added = add_value(statistic, name, KSTAT_DATA_CHAR);

    memcpy(added->value.c, value, strnlen(value, sizeof added->value.c));
}

void fake_claim(size_t statistic, unsigned values)
{
    statistics[statistic].header.ks_ndata = values;
}

void fake_io(size_t statistic, const kstat_io_t *io)
{
    memcpy(statistics[statistic].data, io, sizeof *io);
    statistics[statistic].header.ks_ndata = 1;
    statistics[statistic].header.ks_data_size = sizeof *io;
}

void fake_fail(size_t statistic, int system_error)
{
    statistics[statistic].system_error = system_error;
}

void fake_remove(size_t statistic)
{
    statistics[statistic].is_removed = 1;
    chain_id++;
}

static void free_chain(kstat_ctl_t *control)
{
    for (kstat_t *at = control->kc_chain, *next; at != NULL; at = next) {
        next = at->ks_next;
        free(at->ks_data);
        free(at);
    }
    control->kc_chain = NULL;
}

static void copy_chain(kstat_ctl_t *control)
{
    kstat_t **end = &control->kc_chain;

    for (size_t i = 0; i < statistic_count; i++) {
        if (statistics[i].is_removed)
            continue;
        *end = malloc(sizeof **end);
        assert_non_null(*end);
        **end = statistics[i].header;
        (*end)->ks_snaptime = 0;
        end = &(*end)->ks_next;
    }
    control->kc_chain_id = chain_id;
}

kstat_ctl_t *kstat_open(void)
{
    kstat_ctl_t *control = calloc(1, sizeof *control);

    assert_non_null(control);
    copy_chain(control);
    open_chains++;
    return control;
}

int kstat_close(kstat_ctl_t *control)
{
    free_chain(control);
    free(control);
    open_chains--;
    return 0;
}

kid_t kstat_chain_update(kstat_ctl_t *control)
{
    if (control->kc_chain_id == chain_id)
        return 0;
    free_chain(control);
    copy_chain(control);
    return control->kc_chain_id;
}

kid_t kstat_read(kstat_ctl_t *control, kstat_t *statistic, void *data)
{
    const size_t number = (size_t)statistic->ks_kid;
    const kstat_t *header = &statistics[number].header;

    assert_null(data);
    if (statistics[number].system_error != 0) {
        errno = statistics[number].system_error;
        return -1;
    }
    free(statistic->ks_data);
    /* exactly as long as the data, so that a sanitizer sees reads past their end */
    statistic->ks_data = header->ks_data_size > 0 ? malloc(header->ks_data_size) : NULL;
    if (statistic->ks_data != NULL)
        memcpy(statistic->ks_data, statistics[number].data, header->ks_data_size);
    statistic->ks_ndata = header->ks_ndata;
    statistic->ks_data_size = header->ks_data_size;
    statistic->ks_snaptime = header->ks_snaptime;
    return control->kc_chain_id;
}

static int list_areas(swaptbl_t *table)
{
    swapent_t *areas = table->swt_ent;

    if (table->swt_n < fake_swap.count) {
        errno = ENOMEM;
        return -1;
    }
    for (int i = 0; i < fake_swap.count; i++) {
        areas[i].ste_pages = fake_swap.areas[i].pages;
        areas[i].ste_free = fake_swap.areas[i].unused;
        strcpy(areas[i].ste_path, "/dev/zvol/dsk/rpool/swap");
    }
    return fake_swap.count;
}

int swapctl(int command, void *argument)
{
    if (fake_swap.system_error != 0) {
        errno = fake_swap.system_error;
        return -1;
    }
    if (command == SC_LIST)
        return list_areas(argument);
    assert_int_equal(command, SC_AINFO);
    *(struct anoninfo *)argument = fake_swap.anonymous;
    return 0;
}
