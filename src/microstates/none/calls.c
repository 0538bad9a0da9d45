/* For architectures whose system calls camp does not know: each sleep in a call is
 * CAMP_STATE_OTHER_SLEEP. */
#include "../calls.h"

#include <camp/states.h>

#include <string.h>

void camp_calls_fill(uint8_t *kind_of_call, size_t count)
{
    memset(kind_of_call, CAMP_STATE_OTHER_SLEEP, count);
}

const char *camp_call_name(int32_t number)
{
    (void)number;
    return NULL;
}

enum call_argument camp_call_argument(int32_t number)
{
    (void)number;
    return CALL_OTHER;
}
