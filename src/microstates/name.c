#include <camp/states.h>

const char *camp_state_name(int state)
{
    static const char *const names[CAMP_STATE_COUNT] = {
        [CAMP_STATE_USER] = "user",
        [CAMP_STATE_SYSTEM] = "system",
        [CAMP_STATE_IRQ] = "irq",
        [CAMP_STATE_TEXT_FAULT] = "text_fault",
        [CAMP_STATE_DATA_FAULT] = "data_fault",
        [CAMP_STATE_KERNEL_FAULT] = "kernel_fault",
        [CAMP_STATE_LOCK] = "lock",
        [CAMP_STATE_DISK] = "disk",
        [CAMP_STATE_POLL] = "poll",
        [CAMP_STATE_SOCKET] = "socket",
        [CAMP_STATE_PIPE] = "pipe",
        [CAMP_STATE_TIMER] = "timer",
        [CAMP_STATE_CHILD] = "child",
        [CAMP_STATE_OTHER_SLEEP] = "other_sleep",
        [CAMP_STATE_RUN_QUEUE] = "run_queue",
        [CAMP_STATE_STOPPED] = "stopped",
    };

    return state >= 0 && state < CAMP_STATE_COUNT ? names[state] : NULL;
}
