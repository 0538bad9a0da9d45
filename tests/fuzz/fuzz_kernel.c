/* Parser: src/counters/linux/kernel_text.c */
/* Parses any bytes as a line of each file that describes the kernel. */
#include "counters/linux/kernel_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kernel_config config = KERNEL_CONFIG_UNKNOWN;
    char *text = malloc(size + 1);
    char list[64];
    uint64_t capabilities;
    struct cursor line;

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    line = cursor_of(text, size);
    camp_kernel_config_line(&config, line);
    (void)camp_kernel_has_word(line, "nohz=off");
    (void)camp_kernel_cgroup_of_mount(line);
    (void)camp_kernel_tickless_line(line);
    (void)camp_kernel_capabilities_line(line, &capabilities);
    (void)camp_kernel_at_least(text, 6, 1);
    if (camp_kernel_cpu_list(line, list, sizeof list) && strlen(list) >= sizeof list)
        abort();
    free(text);
    return 0;
}
