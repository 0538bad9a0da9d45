#include "container_file.h"

#include "ledger/array.h"
#include "ledger/words.h"
#include "libraries/json_memory.h"

#include <yajl/yajl_parse.h>

#include <stdlib.h>
#include <string.h>

#define NESTING_MOST 64
#define KEYS_MOST 3 /* the deepest value that is used: Config, Labels, the label */
#define KEY_SIZE 64

/* What yajl needs: its state, and for the longest string a buffer that grows by doubling. */
#define MEMORY_BYTES(length) ((size_t)65536 + 6 * (length))

struct parser {
    enum container_file kind;
    const char *id;
    struct container_names *names;
    size_t depth;
    char keys[KEYS_MOST][KEY_SIZE]; /* of the objects around the value; "" in an array */
    bool has_top;                   /* the text starts as a file of this kind does */
    /* Of CONTAINER_FILE_STORAGE: the first name of the current object, and whether the object is
     * that of the container. */
    char first[CONTAINER_NAME_SIZE];
    bool is_own, is_found;
};

/* Where a value is in the file, and which member of struct container_names it is. The keys of
 * Kubernetes are those of containerd (pkg/cri/annotations), of CRI-O and of the kubelet's labels.
 */
struct wanted {
    const char *key;
    size_t offset;
};

#define NAME(member) offsetof(struct container_names, member)

static const struct wanted wanted_labels[] = {
    { "io.kubernetes.container.name", NAME(in_pod) },
    { "io.kubernetes.pod.name", NAME(pod) },
    { "io.kubernetes.pod.namespace", NAME(space) },
    { "io.kubernetes.cri.container-name", NAME(in_pod) },
    { "io.kubernetes.cri.sandbox-name", NAME(pod) },
    { "io.kubernetes.cri.sandbox-namespace", NAME(space) },
    { "com.docker.compose.project", NAME(project) },
    { "nerdctl/name", NAME(name) },
};

/* Labels whose value says that a container is the sandbox of a pod. */
static const struct {
    const char *key, *value;
} sandbox_labels[] = {
    { "io.kubernetes.cri.container-type", "sandbox" },
    { "io.kubernetes.cri-o.ContainerType", "sandbox" },
    { "io.kubernetes.docker.type", "podsandbox" },
    { "io.kubernetes.container.name", "POD" },
};

static bool is(const char *text, size_t length, const char *wanted)
{
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

static void use_label(struct parser *parser, const char *key, const char *text, size_t length)
{
    for (size_t i = 0; i < ARRAY_COUNT(wanted_labels); i++) {
        if (strcmp(wanted_labels[i].key, key) == 0)
            copy_text((char *)parser->names + wanted_labels[i].offset, CONTAINER_NAME_SIZE, text,
                      length);
    }
    for (size_t i = 0; i < ARRAY_COUNT(sandbox_labels); i++)
        parser->names->is_sandbox |=
            strcmp(sandbox_labels[i].key, key) == 0 && is(text, length, sandbox_labels[i].value);
}

static void use_docker(struct parser *parser, const char *text, size_t length)
{
    const bool has_slash = length > 0 && text[0] == '/'; /* Docker writes "/web" */

    if (parser->depth == 1 && strcmp(parser->keys[0], "Name") == 0)
        copy_text(parser->names->name, CONTAINER_NAME_SIZE, text + has_slash, length - has_slash);
    else if (parser->depth == 3 && strcmp(parser->keys[0], "Config") == 0 &&
             strcmp(parser->keys[1], "Labels") == 0)
        use_label(parser, parser->keys[2], text, length);
}

/* A folder whose name is too long is none. */
static void use_daemon(struct parser *parser, const char *text, size_t length)
{
    if (parser->depth == 1 && strcmp(parser->keys[0], "data-root") == 0 &&
        length < CONTAINER_NAME_SIZE)
        copy_text(parser->names->name, CONTAINER_NAME_SIZE, text, length);
}

static void use_storage(struct parser *parser, const char *text, size_t length)
{
    if (parser->depth == 2 && strcmp(parser->keys[1], "id") == 0)
        parser->is_own = is(text, length, parser->id);
    else if (parser->depth == 3 && strcmp(parser->keys[1], "names") == 0 &&
             parser->first[0] == '\0')
        copy_text(parser->first, sizeof parser->first, text, length);
}

static int string(void *context, const unsigned char *bytes, size_t length)
{
    struct parser *parser = context;
    const char *text = (const char *)bytes;

    if (memchr(text, '\0', length) != NULL) /* "\u0000" is in no name */
        return 1;
    if (parser->kind == CONTAINER_FILE_DOCKER)
        use_docker(parser, text, length);
    else if (parser->kind == CONTAINER_FILE_STORAGE)
        use_storage(parser, text, length);
    else if (parser->kind == CONTAINER_FILE_DAEMON)
        use_daemon(parser, text, length);
    else if (parser->depth == 2 && strcmp(parser->keys[0], "annotations") == 0)
        use_label(parser, parser->keys[1], text, length);
    return 1;
}

static int key(void *context, const unsigned char *bytes, size_t length)
{
    struct parser *parser = context;

    if (parser->depth <= KEYS_MOST) {
        char *ret = parser->keys[parser->depth - 1];

        /* A key that is too long, or has a NUL, is none of the wanted ones. */
        ret[0] = '\0';
        if (length < KEY_SIZE && memchr(bytes, '\0', length) == NULL)
            copy_text(ret, KEY_SIZE, (const char *)bytes, length);
    }
    return 1;
}

static int start(struct parser *parser, bool is_array)
{
    if (parser->depth == 0)
        parser->has_top = is_array == (parser->kind == CONTAINER_FILE_STORAGE);
    if (parser->depth < KEYS_MOST)
        parser->keys[parser->depth][0] = '\0';
    if (parser->depth == 1) {
        parser->first[0] = '\0';
        parser->is_own = false;
    }
    return parser->has_top && ++parser->depth <= NESTING_MOST;
}

static int start_object(void *context)
{
    return start(context, false);
}

static int start_array(void *context)
{
    return start(context, true);
}

static int end(void *context)
{
    struct parser *parser = context;

    parser->depth--;
    if (parser->depth == 1 && parser->is_own && parser->kind == CONTAINER_FILE_STORAGE) {
        copy_text(parser->names->name, CONTAINER_NAME_SIZE, parser->first, strlen(parser->first));
        parser->is_found = true;
        parser->is_own = false;
    }
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_string = string,
    .yajl_start_map = start_object,
    .yajl_map_key = key,
    .yajl_end_map = end,
    .yajl_start_array = start_array,
    .yajl_end_array = end,
};

static bool has_names(const struct parser *parser)
{
    const struct container_names *names = parser->names;

    return names->name[0] != '\0' || (names->pod[0] != '\0' && names->space[0] != '\0') ||
           parser->is_found;
}

int container_file_parse(enum container_file kind, const char *text, size_t length, const char *id,
                         struct container_names *ret)
{
    struct parser parser = { .kind = kind, .id = id, .names = ret };
    struct json_memory *memory;
    yajl_alloc_funcs functions;
    yajl_handle json;
    bool is_whole;

    *ret = (struct container_names){ 0 };
    if (length > CONTAINER_FILE_MOST)
        return CAMP_E_FORMAT;
    memory = json_memory_new(MEMORY_BYTES(length));
    if (memory == NULL)
        return CAMP_E_NOMEM;
    json_memory_functions(memory, &functions);
    json = yajl_alloc(&callbacks, &functions, &parser);
    is_whole = yajl_parse(json, (const unsigned char *)text, length) == yajl_status_ok &&
               yajl_complete_parse(json) == yajl_status_ok;
    free(memory);
    if (!is_whole || !parser.has_top) {
        *ret = (struct container_names){ 0 };
        return CAMP_E_FORMAT;
    }
    return has_names(&parser) ? CAMP_OK : CAMP_E_GONE;
}
