#include "container_path.h"

#include "ledger/array.h"
#include "ledger/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_DIGITS 64
#define SHOWN_DIGITS 12
#define UUID_LENGTH 36 /* 8-4-4-4-12 hexadecimal digits */
#define HASH_LENGTH 32 /* the uid of a static pod is a hash of its file */

static const char hex[] = "0123456789abcdef";

/* A part of the path between two slashes. */
struct part {
    const char *text;
    size_t length;
    const char *before; /* the part before it, up to its slash; NULL if there is none */
    size_t before_length;
};

const char *container_runtime_name(enum container_runtime runtime)
{
    static const char *const names[RUNTIME_COUNT] = {
        [RUNTIME_NONE] = "",
        [RUNTIME_UNKNOWN] = "container",
        [RUNTIME_DOCKER] = "docker",
        [RUNTIME_PODMAN] = "podman",
        [RUNTIME_CONTAINERD] = "containerd",
        [RUNTIME_CRIO] = "cri-o",
        [RUNTIME_LXC] = "lxc",
        [RUNTIME_MACHINE] = "machine",
    };

    return names[runtime];
}

static bool is_text(const char *text, size_t length, const char *wanted)
{
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

static bool starts_with(const char *text, size_t length, const char *wanted)
{
    return length > strlen(wanted) && memcmp(text, wanted, strlen(wanted)) == 0;
}

static bool ends_in(const char *text, size_t length, const char *wanted)
{
    const size_t tail = strlen(wanted);

    return length > tail && memcmp(text + length - tail, wanted, tail) == 0;
}

/* Returns whether text[length] consists of exactly `digits` hexadecimal digits. */
static bool is_hex(const char *text, size_t length, size_t digits)
{
    return length == digits && strspn(text, hex) >= digits;
}

/* Undoes the escapes of systemd.unit(5), "\x2d" for "-". */
static void unescape(const char *text, size_t length, char ret[CONTAINER_TEXT_SIZE])
{
    static const char escape[] = "\\x";
    size_t used = 0;

    for (size_t i = 0; i < length && used + 1 < CONTAINER_TEXT_SIZE; i++) {
        char digits[3] = "";
        char *end = digits;
        long value = 0;

        if (length - i >= 4 && memcmp(text + i, escape, 2) == 0) {
            memcpy(digits, text + i + 2, 2);
            value = strtol(digits, &end, 16);
        }
        if (end == digits + 2 && value > 0) {
            ret[used++] = (char)value;
            i += 3;
        } else {
            ret[used++] = text[i];
        }
    }
    ret[used] = '\0';
}

/* The words before an id, as in "docker-ID.scope", "kubepods-pod1.slice:crio:ID" and "crio-ID".
 * The monitors of containers ("libpod-conmon-ID.scope") are outside of them. */
static enum container_runtime runtime_of_word(const char *word, size_t length)
{
    static const struct {
        const char *word;
        enum container_runtime runtime;
    } words[] = {
        { "docker", RUNTIME_DOCKER },
        { "libpod", RUNTIME_PODMAN },
        { "cri-containerd", RUNTIME_CONTAINERD },
        { "nerdctl", RUNTIME_CONTAINERD },
        { "crio", RUNTIME_CRIO },
    };

    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        if (is_text(word, length, words[i].word))
            return words[i].runtime;
    }
    return ends_in(word, length, "conmon") ? RUNTIME_NONE : RUNTIME_UNKNOWN;
}

/* Recognises a part that ends in an id of 64 digits. */
static enum container_runtime runtime_of_id(const struct part *part, const char **ret_id)
{
    const size_t length =
        part->length - (ends_in(part->text, part->length, ".scope") ? strlen(".scope") : 0);
    const char *id = part->text + length - ID_DIGITS, *word = part->text;
    size_t word_length;

    if (length < ID_DIGITS || !is_hex(id, ID_DIGITS, ID_DIGITS))
        return RUNTIME_NONE;
    *ret_id = id;
    if (id == part->text)
        return part->before != NULL && is_text(part->before, part->before_length, "docker")
                   ? RUNTIME_DOCKER
                   : RUNTIME_UNKNOWN;
    if (id[-1] != '-' && id[-1] != ':')
        return RUNTIME_NONE;
    word_length = (size_t)(id - 1 - word);
    for (size_t i = word_length; i > 0 && id[-1] == ':'; i--) {
        if (word[i - 1] == ':') {
            word_length -= i;
            word += i;
            break;
        }
    }
    return runtime_of_word(word, word_length);
}

/* Recognises containers that have a name instead of an id. */
static enum container_runtime runtime_of_name(const struct part *part,
                                              char ret[CONTAINER_TEXT_SIZE])
{
    static const char payload[] = "lxc.payload.", machine[] = "machine-",
                      service[] = "systemd-nspawn@";
    const char *text = part->text;
    const size_t length = part->length;
    const bool below_lxc =
        part->before != NULL && (is_text(part->before, part->before_length, "lxc") ||
                                 is_text(part->before, part->before_length, "lxc.payload"));

    if (starts_with(text, length, payload)) {
        copy_text(ret, CONTAINER_TEXT_SIZE, text + strlen(payload), length - strlen(payload));
        return RUNTIME_LXC;
    }
    if (below_lxc) {
        copy_text(ret, CONTAINER_TEXT_SIZE, text, length);
        return RUNTIME_LXC;
    }
    if (starts_with(text, length, machine) && ends_in(text, length, ".scope"))
        unescape(text + strlen(machine), length - strlen(machine) - strlen(".scope"), ret);
    else if (starts_with(text, length, service) && ends_in(text, length, ".service"))
        unescape(text + strlen(service), length - strlen(service) - strlen(".service"), ret);
    else
        return RUNTIME_NONE;
    return RUNTIME_MACHINE;
}

/* Reads the uid of a pod after "pod": with hyphens, with "_" instead of them, or without them. */
static bool read_pod_uid(const char *text, size_t length, char ret[CONTAINER_ID_SIZE])
{
    if (length != UUID_LENGTH && !is_hex(text, length, HASH_LENGTH))
        return false;
    for (size_t i = 0; i < length; i++) {
        const bool is_hyphen = length == UUID_LENGTH && (i == 8 || i == 13 || i == 18 || i == 23);

        if (is_hyphen ? text[i] != '-' && text[i] != '_' : strchr(hex, text[i]) == NULL)
            return false;
        ret[i] = text[i] == '_' ? '-' : text[i];
    }
    ret[length] = '\0';
    return true;
}

/* Recognises a pod: "podUID" below "kubepods", "kubepods-burstable-podUID.slice" (in kind also
 * "kubelet-kubepods-..."), and of Podman "machine-libpod_pod_ID.slice" and "libpod_parent/ID". */
static bool find_pod(const struct part *part, bool in_kubepods, char ret[CONTAINER_ID_SIZE])
{
    static const char slice[] = ".slice", podman[] = "libpod_pod_";
    const char *colon = memchr(part->text, ':', part->length), *text = part->text;
    size_t length = colon != NULL ? (size_t)(colon - text) : part->length;

    if (part->before != NULL && is_text(part->before, part->before_length, "libpod_parent") &&
        is_hex(text, length, ID_DIGITS)) {
        copy_text(ret, CONTAINER_ID_SIZE, text, length);
        return true;
    }
    if (in_kubepods && starts_with(text, length, "pod"))
        return read_pod_uid(text + 3, length - 3, ret);
    if (!ends_in(text, length, slice))
        return false;
    length -= strlen(slice);
    if (length > ID_DIGITS + strlen(podman) &&
        is_hex(text + length - ID_DIGITS, ID_DIGITS, ID_DIGITS) &&
        memcmp(text + length - ID_DIGITS - strlen(podman), podman, strlen(podman)) == 0) {
        copy_text(ret, CONTAINER_ID_SIZE, text + length - ID_DIGITS, ID_DIGITS);
        return true;
    }
    for (size_t tail = HASH_LENGTH; tail <= UUID_LENGTH; tail += UUID_LENGTH - HASH_LENGTH) {
        if (length > tail + strlen("-pod") &&
            memcmp(text + length - tail - strlen("-pod"), "-pod", strlen("-pod")) == 0 &&
            read_pod_uid(text + length - tail, tail, ret))
            return true;
    }
    return false;
}

/* Copies the name of a unit without escapes, with ids of containers cut to 12 digits. */
static void show_unit(const struct part *part, char ret[CONTAINER_TEXT_SIZE])
{
    char *id;

    unescape(part->text, part->length, ret);
    for (id = ret; *id != '\0'; id++) {
        if (strspn(id, hex) == ID_DIGITS && (id == ret || strchr(hex, id[-1]) == NULL)) {
            memmove(id + SHOWN_DIGITS, id + ID_DIGITS, strlen(id + ID_DIGITS) + 1);
            return;
        }
    }
}

struct units {
    size_t service_length, slice_length; /* lengths of the path up to the nearest of each */
    char service[CONTAINER_TEXT_SIZE], slice[CONTAINER_TEXT_SIZE], manager[CONTAINER_TEXT_SIZE];
};

static void see_unit(struct units *units, const struct part *part, size_t end)
{
    static const char *const services[] = { ".service", ".scope", ".socket", ".mount", ".swap" };

    if (ends_in(part->text, part->length, ".slice")) {
        show_unit(part, units->slice);
        units->slice_length = end;
    }
    for (size_t i = 0; i < ARRAY_COUNT(services); i++) {
        if (!ends_in(part->text, part->length, services[i]))
            continue;
        show_unit(part, units->service);
        units->service_length = end;
        if (starts_with(part->text, part->length, "user@"))
            snprintf(units->manager, sizeof units->manager, "%s", units->service);
    }
}

static void set_unit(struct container_path *ret, const struct units *units)
{
    const bool has_service = units->service_length > 0;
    const char *unit = has_service ? units->service : units->slice;
    const bool is_below = units->manager[0] != '\0' && strcmp(units->manager, unit) != 0;

    ret->unit_length = has_service ? units->service_length : units->slice_length;
    snprintf(ret->unit, sizeof ret->unit, "%.40s%s%.80s", is_below ? units->manager : "",
             is_below ? "/" : "", unit);
}

static void see_container(struct container_path *ret, const struct part *part, size_t end,
                          uint32_t user)
{
    char name[CONTAINER_TEXT_SIZE] = "";
    const char *id = NULL;
    enum container_runtime runtime = runtime_of_id(part, &id);

    if (id != NULL)
        copy_text(name, sizeof name, id, ID_DIGITS);
    else
        runtime = runtime_of_name(part, name);
    if (runtime == RUNTIME_NONE || name[0] == '\0')
        return;
    ret->outer_length = ret->container_length;
    ret->runtime = runtime;
    snprintf(ret->id, sizeof ret->id, "%s", name);
    ret->container_length = end;
    ret->user = user;
}

/* Returns the user of a slice such as "user-1000.slice", or CONTAINER_NO_USER. */
static uint32_t user_of(const struct part *part)
{
    static const char before[] = "user-", after[] = ".slice";
    const char *digits = part->text + strlen(before);
    unsigned long user;
    char *end;

    if (!starts_with(part->text, part->length, before) || *digits < '0' || *digits > '9')
        return CONTAINER_NO_USER;
    user = strtoul(digits, &end, 10);
    return end + strlen(after) == part->text + part->length &&
                   memcmp(end, after, strlen(after)) == 0 && user < CONTAINER_NO_USER
               ? (uint32_t)user
               : CONTAINER_NO_USER;
}

void container_path_parse(const char *path, struct container_path *ret)
{
    struct units units = { 0 };
    struct part part = { 0 };
    uint32_t user = CONTAINER_NO_USER;
    bool in_kubepods = false;

    *ret = (struct container_path){ .user = CONTAINER_NO_USER };
    for (const char *at = path + (*path == '/'); *at != '\0'; at += *at == '/') {
        size_t end;

        part = (struct part){ at, strcspn(at, "/"), part.text, part.length };
        at += part.length;
        end = (size_t)(at - path);
        /* Below their own slice, and in a container, users can make a slice of any name. */
        if (user == CONTAINER_NO_USER && ret->container_length == 0)
            user = user_of(&part);
        in_kubepods |= starts_with(part.text, part.length + 1, "kubepods");
        see_unit(&units, &part, end);
        if (find_pod(&part, in_kubepods, ret->pod)) {
            ret->pod_length = end;
            ret->pod_in_container = ret->container_length > 0;
            ret->user = user;
            if (memchr(part.text, ':', part.length) == NULL)
                continue;
        }
        see_container(ret, &part, end, user);
    }
    set_unit(ret, &units);
}
