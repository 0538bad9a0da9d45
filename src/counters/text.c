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

bool camp_path_is(struct cursor path, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = path.at; at < path.end; at++)
        if (*at == '/')
            path.at = at + 1;
    return length > 0 && cursor_left(&path) == length && memcmp(path.at, name, length) == 0;
}

static bool next_argument(struct cursor *arguments, struct cursor *ret)
{
    const char *end;

    if (cursor_left(arguments) == 0)
        return false;
    end = memchr(arguments->at, '\0', cursor_left(arguments));
    *ret = (struct cursor){ arguments->at, end != NULL ? end : arguments->end };
    arguments->at = end != NULL ? end + 1 : arguments->end;
    return true;
}

bool camp_invoked_as(struct cursor arguments, const char *name)
{
    struct cursor first;

    if (!next_argument(&arguments, &first))
        return false;
    return camp_path_is(first, name) || (text_prefix(&first, "-") && camp_path_is(first, name));
}

bool camp_interprets(struct cursor arguments, const char *name)
{
    struct cursor argument;

    if (!next_argument(&arguments, &argument))
        return false;
    for (int i = 1; i <= 2 && next_argument(&arguments, &argument); i++)
        if (camp_path_is(argument, name))
            return true;
    return false;
}

bool camp_process_name_is(const char *process_name, const char *name)
{
    const size_t longest = 15;

    return strcmp(process_name, name) == 0 ||
           (strlen(process_name) == longest && strncmp(process_name, name, longest) == 0);
}
