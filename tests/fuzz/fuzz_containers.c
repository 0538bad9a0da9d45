/* Parser: src/sources/containers/container_path.c */
/* Parser: src/sources/containers/container_file.c */
/* Parser: src/sources/containers/container_place.c */
/* Parser: src/sources/containers/process_cgroup.c */
/*
 * Reads any bytes as the files that name a container, and as paths of cgroups. The first byte, '0'
 * to '3', selects the kind of the file; after a line with a path of a cgroup, the rest is the file.
 * With any other first byte, all is the text of /proc/PID/cgroup.
 */
#include "ledger/characters.h"
#include "sources/containers/container_place.h"
#include "sources/containers/process_cgroup.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail_if(int is_wrong)
{
    if (is_wrong)
        abort();
}

/* Each name ends within its array. */
static void check_names(const struct container_names *names)
{
    const char *const texts[] = { names->name, names->in_pod, names->pod, names->space,
                                  names->project };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        fail_if(memchr(texts[i], '\0', CONTAINER_NAME_SIZE) == NULL);
}

/* The parts of a path lie in it, and each label has a text. */
static void check_place(const struct container_place *place)
{
    const struct container_path *path = &place->parsed;
    const size_t length = strlen(place->path);

    fail_if(path->container_length > length || path->pod_length > length ||
            path->unit_length > length ||
            (path->outer_length > 0 && path->outer_length >= path->container_length) ||
            (path->runtime == RUNTIME_NONE) != (path->container_length == 0));
    for (int label = LABEL_CONTAINER; label <= LABEL_UNIT; label++)
        fail_if(place->texts[label][0] == '\0' ||
                memchr(place->texts[label], '\0', CONTAINER_TEXT_SIZE) == NULL);
}

static void read_file(enum container_file kind, char *text, size_t length)
{
    static struct container_place outer;
    struct container_place place = { 0 }, *siblings[] = { &place };
    char *end = memchr(text, '\n', length), *file = end != NULL ? end + 1 : text + length;

    if (end != NULL)
        *end = '\0';
    place.path = text;
    container_path_parse(text, &place.parsed);
    place.own = place.parsed.runtime != RUNTIME_NONE ? &place : NULL;
    place.outer = place.parsed.outer_length > 0 ? &outer : NULL;
    memcpy(outer.texts[LABEL_CONTAINER], "outer", 6);
    place.result = container_file_parse(kind, file, (size_t)(text + length - file), place.parsed.id,
                                        &place.names);
    check_names(&place.names);
    container_place_name(&place, siblings, 1);
    check_place(&place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct process_cgroup cgroup;
    char *text = malloc(size + 1);

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (size > 0 && text[0] >= '0' && text[0] <= '3') {
        read_file((enum container_file)(text[0] - '0'), text + 1, size - 1);
    } else {
        fail_if(process_cgroup_parse(text, &cgroup) && cgroup.path[0] != '/');
    }
    free(text);
    return 0;
}
