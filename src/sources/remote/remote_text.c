#include "remote_text.h"

#include "ledger/characters.h"

#include <string.h>

void remote_text_line(const char *text, char *ret, size_t size)
{
    size_t used = 0;

    while (*text != '\0' && *text != '\n') {
        const size_t length = utf8_length(text);
        const bool is_kept = is_printable(text, length);

        if (used + (is_kept ? length : 1) >= size)
            break;
        if (is_kept)
            memcpy(ret + used, text, length);
        else
            ret[used] = '?';
        used += is_kept ? length : 1;
        text += length > 0 ? length : 1;
    }
    ret[used] = '\0';
}
