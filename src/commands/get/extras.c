#include "extras.h"

#include "subjects.h"

#include "counters/error.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 512
#define NOT_TEXT (-1)
#define ATTEMPTS 8 /* a process may write longer arguments between two of them */

static const struct {
    char name[24];
    int text; /* enum camp_text, or NOT_TEXT */
    bool by_name;
} extras[EXTRA_COUNT] = {
    [EXTRA_FREQUENCY] = { "frequency_hz", NOT_TEXT, true },
    [EXTRA_PROPORTIONAL] = { "proportional_bytes", NOT_TEXT, true },
    [EXTRA_USER_ID] = { "user_id", NOT_TEXT, false },
    [EXTRA_COMMAND_LINE] = { "command_line", CAMP_TEXT_COMMAND_LINE, true },
    [EXTRA_EXECUTABLE] = { "executable", CAMP_TEXT_EXECUTABLE, false },
    [EXTRA_CGROUP] = { "cgroup", CAMP_TEXT_CGROUP, false },
};

enum extra_kind extra_of(const struct camp_counter *counter)
{
    enum extra_kind kind = 0;

    if (counter->field[0] != '\0')
        return EXTRA_COUNT;
    while (kind < EXTRA_COUNT && strcmp(extras[kind].name, counter->name) != 0)
        kind++;
    return kind;
}

bool extra_is_text(enum extra_kind kind)
{
    return extras[kind].text != NOT_TEXT;
}

bool extra_is_read_by_name(enum extra_kind kind)
{
    return kind < EXTRA_COUNT && extras[kind].by_name;
}

bool extras_want(struct subject *subject, enum extra_kind kind)
{
    if (subject->extras == NULL)
        subject->extras = calloc(EXTRA_COUNT, sizeof *subject->extras);
    subject->wanted_extras |= 1u << kind;
    return subject->extras != NULL;
}

/* Ends the text, and separates the arguments of a command line by blanks. */
static void finish_text(char *text, size_t length, int kind)
{
    while (length > 0 && text[length - 1] == '\0')
        length--;
    text[length] = '\0';
    for (size_t i = 0; kind == CAMP_TEXT_COMMAND_LINE && i < length; i++) {
        if (text[i] == '\0')
            text[i] = ' ';
    }
}

static int read_text(const struct camp_source *source, const struct camp_process *process, int kind,
                     char **ret, struct camp_error *error)
{
    size_t capacity = FIRST_CAPACITY;

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        char *text = malloc(capacity + 1);
        size_t length = 0;
        int r;

        if (text == NULL)
            return camp_fail(error, CAMP_E_NOMEM, 0, "no memory left; ask for less at a time");
        r = camp_process_text(source, process, kind, text, capacity, &length, error);
        if (r == CAMP_OK) {
            finish_text(text, length, kind);
            *ret = text;
            return CAMP_OK;
        }
        free(text);
        if (r != CAMP_E_SPACE)
            return r;
        capacity = length + FIRST_CAPACITY;
    }
    return camp_fail(error, CAMP_E_SPACE, 0, "it grows faster than it can be read; try again");
}

static int read_extra(const struct camp_source *source, const struct subject *subject,
                      enum extra_kind kind, struct extra *ret, struct camp_error *error)
{
    uint32_t user_id = 0;
    int r;

    switch (kind) {
    case EXTRA_FREQUENCY:
        return camp_cpu_frequency_hz(source, subject->cpu, &ret->number, error);
    case EXTRA_PROPORTIONAL:
        return camp_process_proportional_bytes(source, &subject->process, &ret->number, error);
    case EXTRA_USER_ID:
        r = camp_process_user_id(source, &subject->process, &user_id, error);
        ret->number = user_id;
        return r;
    default:
        return read_text(source, &subject->process, extras[kind].text, &ret->text, error);
    }
}

void extras_read(const struct camp_source *source, struct subject *subject)
{
    for (enum extra_kind kind = 0; kind < EXTRA_COUNT; kind++) {
        struct camp_error error;
        struct extra *extra;

        if ((subject->wanted_extras & 1u << kind) == 0)
            continue;
        extra = &subject->extras[kind];
        free(extra->text);
        *extra = (struct extra){ 0 };
        error.message[0] = '\0';
        extra->result = read_extra(source, subject, kind, extra, &error);
        if (extra->result < 0 && error.message[0] != '\0')
            extra->text = strdup(error.message);
    }
}

void extras_release(struct subject *subject)
{
    for (size_t i = 0; subject->extras != NULL && i < EXTRA_COUNT; i++)
        free(subject->extras[i].text);
    free(subject->extras);
    subject->extras = NULL;
    subject->wanted_extras = 0;
}
