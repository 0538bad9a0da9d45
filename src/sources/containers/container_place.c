#include "container_place.h"

#include "ledger/words.h"

#include <stdio.h>
#include <string.h>

#define SHOWN_DIGITS 12

static bool has_id(const struct container_path *path)
{
    return path->runtime != RUNTIME_LXC && path->runtime != RUNTIME_MACHINE;
}

static bool has_pod_name(const struct container_place *place)
{
    return place->names.pod[0] != '\0' && place->names.space[0] != '\0';
}

/* Joins two texts with a slash. The second is cut if both are too long. */
static void join(char ret[CONTAINER_TEXT_SIZE], const char *first, const char *second)
{
    char text[2 * CONTAINER_NAME_SIZE + 2];

    snprintf(text, sizeof text, "%s/%s", first, second);
    copy_text(ret, CONTAINER_TEXT_SIZE, text, strlen(text));
}

/* The name by the runtime alone, such as "docker:0123456789ab". */
static void name_by_id(const struct container_path *path, char ret[CONTAINER_TEXT_SIZE])
{
    snprintf(ret, CONTAINER_TEXT_SIZE, "%s:%.*s", container_runtime_name(path->runtime),
             has_id(path) ? SHOWN_DIGITS : CONTAINER_TEXT_SIZE / 2, path->id);
}

bool container_place_is_same_pod(const struct container_place *left,
                                 const struct container_place *right)
{
    const struct container_path *a = &left->parsed, *b = &right->parsed;

    return a->pod[0] != '\0' && strcmp(a->pod, b->pod) == 0 && a->user == b->user &&
           !a->pod_in_container && !b->pod_in_container;
}

/* Puts before a name in whose part of the tree it is: that of a user, or of a container. So no user
 * and no container can take a name of root. */
static void add_owner(const struct container_place *place, bool is_in_container, const char *name,
                      char ret[CONTAINER_TEXT_SIZE])
{
    const struct container_place *around = place->own;
    char user[40];

    if (is_in_container && around != NULL) {
        while (around->outer != NULL)
            around = around->outer;
        join(ret, around->texts[LABEL_CONTAINER], name);
    } else if (place->parsed.user != CONTAINER_NO_USER) {
        snprintf(user, sizeof user, "user-%u", (unsigned)place->parsed.user);
        join(ret, user, name);
    } else {
        copy_text(ret, CONTAINER_TEXT_SIZE, name, strlen(name));
    }
}

/* Names the pod of a place by the file of one of its containers, else by its uid. */
static void name_pod(struct container_place *place, struct container_place *const *siblings,
                     size_t count)
{
    const struct container_place *own = place->own;
    const struct container_place *known = own != NULL && has_pod_name(own) ? own : NULL;
    char ret[CONTAINER_TEXT_SIZE];

    for (size_t i = 0; i < count && known == NULL; i++) {
        if (has_pod_name(siblings[i]) && container_place_is_same_pod(siblings[i], place))
            known = siblings[i];
    }
    if (known != NULL) {
        join(ret, known->names.space, known->names.pod);
    } else if (place->parsed.pod[0] != '\0') {
        snprintf(ret, sizeof ret, "pod:%.*s",
                 strlen(place->parsed.pod) == CONTAINER_ID_SIZE - 1 ? SHOWN_DIGITS : 64,
                 place->parsed.pod);
    } else if (own != NULL && own->names.project[0] != '\0') {
        snprintf(ret, sizeof ret, "%.100s (compose)", own->names.project);
    } else {
        snprintf(place->texts[LABEL_POD], CONTAINER_TEXT_SIZE, own != NULL ? "(no pod)" : "(host)");
        return;
    }
    add_owner(place, known == NULL && place->parsed.pod_in_container, ret, place->texts[LABEL_POD]);
}

/* The name of a container without those around it. */
static void name_alone(const struct container_place *place, char ret[CONTAINER_TEXT_SIZE])
{
    const struct container_names *names = &place->names;
    char pod[CONTAINER_TEXT_SIZE];

    if (has_pod_name(place) && (names->is_sandbox || names->in_pod[0] != '\0')) {
        join(pod, names->space, names->pod);
        join(ret, pod, names->is_sandbox ? "(sandbox)" : names->in_pod);
    } else if (names->name[0] != '\0') {
        copy_text(ret, CONTAINER_TEXT_SIZE, names->name, strlen(names->name));
    } else {
        name_by_id(&place->parsed, ret);
    }
}

static void name_container(struct container_place *place)
{
    char *ret = place->texts[LABEL_CONTAINER];
    char alone[CONTAINER_TEXT_SIZE];

    if (place->own == NULL) {
        snprintf(ret, CONTAINER_TEXT_SIZE, "%s", place->texts[LABEL_POD]);
        return;
    }
    if (place->own != place) {
        memcpy(ret, place->own->texts[LABEL_CONTAINER], CONTAINER_TEXT_SIZE);
        return;
    }
    name_alone(place, alone);
    if (place->outer != NULL)
        join(ret, place->outer->texts[LABEL_CONTAINER], alone);
    else
        add_owner(place, false, alone, ret);
}

/* Units of a container have its name before them: "ssh.service" of a container is not that of the
 * host. */
static void name_unit(struct container_place *place)
{
    const struct container_path *parsed = &place->parsed;
    char *ret = place->texts[LABEL_UNIT];

    if (parsed->unit[0] == '\0')
        snprintf(ret, CONTAINER_TEXT_SIZE, "(no unit)");
    else if (place->own != NULL && parsed->unit_length > parsed->container_length)
        join(ret, place->texts[LABEL_CONTAINER], parsed->unit);
    else
        snprintf(ret, CONTAINER_TEXT_SIZE, "%s", parsed->unit);
}

void container_place_name(struct container_place *place, struct container_place *const *siblings,
                          size_t count)
{
    name_pod(place, siblings, count);
    name_container(place);
    name_unit(place);
}

void container_place_read_quotas(struct container_place *place,
                                 const struct cpu_hierarchy *hierarchy)
{
    const char *path = place->cpu_path != NULL ? place->cpu_path : place->path;
    struct container_path parsed;
    size_t lengths[3];

    container_path_parse(path, &parsed);
    lengths[0] = parsed.container_length;
    lengths[1] = parsed.pod_length;
    /* In version 1, units without limits have no cgroup of their own. */
    lengths[2] = strcmp(parsed.unit, place->parsed.unit) == 0 ? parsed.unit_length : 0;
    for (int i = 0; i < 3; i++) {
        const enum container_label label = (enum container_label)(LABEL_CONTAINER_QUOTA + i);
        const double cpus = cpu_quota(hierarchy, path, lengths[i]);

        if (cpus == 0)
            snprintf(place->texts[label], CONTAINER_TEXT_SIZE, "none");
        else if (cpus > 0)
            snprintf(place->texts[label], CONTAINER_TEXT_SIZE, "%.4g", cpus);
    }
}

/* Copies the part of a path that is the cgroup of its container, pod or unit. */
static bool copy_part(const char *path, enum container_label label, char *ret, size_t size)
{
    struct container_path parsed;
    size_t length;

    container_path_parse(path, &parsed);
    length = label == LABEL_CONTAINER ? parsed.container_length
             : label == LABEL_POD     ? parsed.pod_length
                                      : parsed.unit_length;
    if (length == 0 || length >= size)
        return false;
    memcpy(ret, path, length);
    ret[length] = '\0';
    return true;
}

bool container_place_path(const struct container_place *place, enum container_label label,
                          char *ret, char *ret_cpu, size_t size)
{
    if (place->path == NULL || !copy_part(place->path, label, ret, size))
        return false;
    if (place->cpu_path == NULL || !copy_part(place->cpu_path, label, ret_cpu, size))
        memcpy(ret_cpu, ret, strlen(ret) + 1);
    return true;
}
