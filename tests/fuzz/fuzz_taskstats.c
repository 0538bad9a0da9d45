/* Parser: src/counters/linux/taskstats_message.c */
/* Parses any bytes as each kind of taskstats message. */
#include "counters/linux/taskstats_message.h"

#include <camp/linux.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct camp_task_exit exits[EXITS_PER_MESSAGE];
    struct camp_taskstat task = { 0 };
    struct camp_error error;
    uint32_t sequence;
    uint16_t number;
    size_t count;
    void *message =
        /* The buffer has no spare bytes, so that a sanitizer detects reads past its end. */
        malloc(size > 0 ? size : 1);

    if (message == NULL)
        return 0;
    memcpy(message, data, size);
    (void)camp_taskstats_is_notice(message, size);
    (void)camp_taskstats_family(message, size, &number, &error);
    (void)camp_taskstats_answer(message, size, &sequence, &task, &number, &error);
    (void)camp_taskstats_refusal(message, size, &error);
    if (camp_taskstats_exit(message, size, 4000000, exits, &count, &number, &error) == CAMP_OK &&
        (count == 0 || count > EXITS_PER_MESSAGE))
        abort();
    free(message);
    return 0;
}
