#include "table.h"

const char *camp_state_name(int state)
{
#define NAME(state, name, ...) [CAMP_STATE_##state] = name,
    static const char *const names[CAMP_STATE_COUNT] = { MICROSTATES(NAME) };
#undef NAME

    return state >= 0 && state < CAMP_STATE_COUNT ? names[state] : NULL;
}
