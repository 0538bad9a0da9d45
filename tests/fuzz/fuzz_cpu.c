/* Parser: src/counters/linux/cpu.c */
/* Parses any bytes as the file /proc/stat and as one of its lines. */
#include "foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct camp_cpu cpus[64];
    static struct camp_reader reader;
    static int opened = CAMP_E_GONE;
    char *bytes = foreign_line(data, size);
    struct cursor line = cursor_of(bytes, size);
    struct camp_cpu cpu = { 0 };
    size_t count;
    uint64_t forks;
    int32_t id, ids[64];

    foreign_file(data, size);
    if (opened != CAMP_OK)
        opened = camp_reader_open_cpus(&reader, &foreign_source, NULL);
    if (camp_reader_cpus(&reader, cpus, sizeof *cpus, 64, &count, NULL) == CAMP_OK) {
        for (size_t i = 0; i < count; i++)
            if ((i == 0) != (cpus[i].cpu == CAMP_CPU_TOTAL) ||
                (i > 0 && cpus[i].cpu <= cpus[i - 1].cpu))
                abort();
    }
    if (camp_cpu_id_of(&line, &id))
        camp_cpu_columns(line, 100, &cpu);
    free(bytes);
    if (camp_cpu_read_all(&foreign_source, cpus, sizeof *cpus, 64, &count, NULL) == CAMP_OK &&
        camp_cpu_list(&foreign_source, ids, 64, &count, NULL) == CAMP_OK && count > 0 &&
        (ids[0] != cpus[1].cpu ||
         camp_cpu_read(&foreign_source, ids[0], &cpu, sizeof cpu, NULL) != CAMP_OK))
        abort();
    (void)camp_cpu_count(&foreign_source, &count, NULL);
    (void)camp_fork_count(&foreign_source, &forks, NULL);
    return 0;
}
