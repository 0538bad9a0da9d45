#include "selection.h"

#include "command.h"

#include <stdlib.h>

int selection_pids(const struct text_list *texts, int32_t *ret)
{
    if (texts->count > PIDS_MAXIMUM)
        return complain(STATUS_USAGE, "at most %d times --pid", PIDS_MAXIMUM);
    for (size_t i = 0; i < texts->count; i++) {
        char *rest;
        long pid = strtol(texts->texts[i], &rest, 10);

        if (*texts->texts[i] == '\0' || *rest != '\0' || pid < 1 || pid > INT32_MAX)
            return complain(STATUS_USAGE, "--pid %s: takes a process's number", texts->texts[i]);
        ret[i] = (int32_t)pid;
    }
    return OPTIONS_GO_ON;
}

int selection_filter(const char *text, regex_t *ret, const regex_t **ret_used)
{
    char message[120];
    int r;

    *ret_used = NULL;
    if (text == NULL)
        return OPTIONS_GO_ON;
    r = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);
    if (r != 0) {
        regerror(r, ret, message, sizeof message);
        return complain(STATUS_USAGE, "--filter %s: %s", text, message);
    }
    *ret_used = ret;
    return OPTIONS_GO_ON;
}
