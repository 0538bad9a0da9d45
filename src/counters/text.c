#include "text.h"

bool camp_text_long_u64(const char *first, const char *end, uint64_t *ret)
{
    uint64_t value = 0;

    for (; first < end; first++) {
        uint64_t digit = (uint64_t)(*first - '0');

        if (value > UINT64_MAX / 10 || value * 10 > UINT64_MAX - digit)
            return false;
        value = value * 10 + digit;
    }
    *ret = value;
    return true;
}

bool camp_text_word(struct cursor *cursor, struct cursor *ret_word)
{
    struct cursor here = *cursor;

    text_skip_blanks(&here);
    ret_word->at = here.at;
    while (here.at < here.end && *here.at != ' ' && *here.at != '\t')
        here.at++;
    ret_word->end = here.at;
    if (ret_word->at == ret_word->end)
        return false;
    *cursor = here;
    return true;
}

void camp_text_copy(char *ret, size_t capacity, struct cursor span)
{
    size_t length = cursor_left(&span);

    if (length >= capacity)
        length = capacity - 1;
    memcpy(ret, span.at, length);
    ret[length] = '\0';
}
