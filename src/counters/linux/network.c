/*
 * Network interfaces, from /proc/net/dev (man 5 proc; dev_seq_show() of net/core/net-procfs.c).
 *
 * A line has a name, a colon, eight columns for received data and eight columns for sent data.
 * received_drops is the column "drop", to which the kernel has already added rx_missed_errors.
 * Kernels before 2.6.39 print no blank after the colon if the number is wide ("eth0:123"). Old
 * kernels allow a colon in a name. So the last colon of the line ends the name.
 */
#define _GNU_SOURCE 1 /* for memrchr() */

#include "../error.h"
#include "file.h"
#include "parse.h"

#include <unistd.h>

#define PAGE_AT_LEAST 4096
#define LONGEST_LINE 512

/* How the kernel prints the five error columns of received and of sent data when all are 0. */
#define NO_TROUBLE_RECEIVED "    0    0    0     0          0"
#define NO_TROUBLE_SENT "    0    0    0     0       0"

/* Parses the columns of received or sent data: bytes, packets, two wanted and three unwanted error
 * columns, and one more unwanted column. The error columns are usually 0, so they are first
 * compared as one text, which halves the time. */
static bool half_line(struct cursor *line, const char *no_trouble, uint64_t columns[4])
{
    struct cursor here = *line;
    uint64_t other;

    if (!line_u64(&here, &columns[0]) || !line_u64(&here, &columns[1]))
        return false;
    columns[2] = 0;
    columns[3] = 0;
    if (!text_prefix(&here, no_trouble) || *here.at != ' ') {
        here = *line;
        for (size_t i = 0; i < 7; i++)
            if (!line_u64(&here, i < 4 ? &columns[i] : &other))
                return false;
    }
    *line = here;
    return line_u64(line, &other); /* skips the last column */
}

bool camp_network_line(struct cursor line, struct camp_network *ret)
{
    uint64_t received[4];
    uint64_t sent[4];
    struct cursor name;
    const char *colon;

    text_skip_blanks(&line);
    colon = cursor_left(&line) == 0 ? NULL : memrchr(line.at, ':', cursor_left(&line));
    if (colon == NULL)
        return false;
    name = (struct cursor){ line.at, colon };
    line.at = colon + 1;
    /* A long name is rejected, because no interface would have the truncated name. */
    if (cursor_left(&name) == 0 || cursor_left(&name) >= CAMP_NAME_SIZE ||
        memchr(name.at, '\0', cursor_left(&name)) != NULL)
        return false;
    if (!half_line(&line, NO_TROUBLE_RECEIVED, received) ||
        !half_line(&line, NO_TROUBLE_SENT, sent) || !line_is_at_end(&line))
        return false;
    camp_text_copy(ret->name, sizeof ret->name, name);
    ret->known = CAMP_NETWORK_ALL;
    ret->received_bytes = received[0];
    ret->received_packets = received[1];
    ret->received_errors = received[2];
    ret->received_drops = received[3];
    ret->sent_bytes = sent[0];
    ret->sent_packets = sent[1];
    ret->sent_errors = sent[2];
    ret->sent_drops = sent[3];
    return true;
}

static bool is_heading(struct cursor line, size_t number)
{
    return number == 0 ? text_prefix(&line, "Inter-|")
                       : text_prefix(&line, " face |bytes") &&
                             memchr(line.at, ':', cursor_left(&line)) == NULL;
}

struct walk {
    struct camp_lines lines;
    size_t number;
    char buffer[LINES_BUFFER_SIZE];
};

static void walk_start(struct walk *walk, int descriptor, const char *path)
{
    camp_lines_start(&walk->lines, descriptor, path, walk->buffer, sizeof walk->buffer,
                     PAGE_AT_LEAST - LONGEST_LINE);
    walk->number = 0;
}

static int walk_next(struct walk *walk, struct camp_network *ret, struct camp_error *error)
{
    struct cursor line;
    int r;

    while ((r = camp_lines_next(&walk->lines, &line, error)) > 0 && walk->number < 2)
        if (!is_heading(line, walk->number++))
            return camp_fail(error, CAMP_E_FORMAT, 0, "%s has other headings; report it",
                             walk->lines.path);
    if (r < 0)
        return r;
    if (walk->number < 2)
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s has no headings; read it again",
                         walk->lines.path);
    if (r == 0)
        return 0;
    walk->number++;
    memset(ret, 0, sizeof *ret);
    if (!camp_network_line(line, ret))
        return camp_fail(error, CAMP_E_FORMAT, 0, "%s: line %zu is not of an interface; report it",
                         walk->lines.path, walk->number);
    ret->time_ns = walk->lines.time_ns;
    return 1;
}

int camp_network_scan(int descriptor, const char *path, struct camp_network *networks, size_t size,
                      size_t capacity, size_t *ret_count, struct camp_error *error)
{
    struct camp_output output = { networks, size, capacity, 0 };
    struct camp_network network;
    struct walk walk;
    int r;

    walk_start(&walk, descriptor, path);
    while ((r = walk_next(&walk, &network, error)) > 0)
        camp_output_add(&output, &network, sizeof network);
    return r < 0 ? r : camp_output_end(&output, "interfaces", ret_count, error);
}

static int scan_one(int descriptor, const char *path, const char *name, struct camp_network *ret,
                    struct camp_error *error)
{
    struct walk walk;
    int r;

    walk_start(&walk, descriptor, path);
    while ((r = walk_next(&walk, ret, error)) > 0)
        if (strcmp(ret->name, name) == 0)
            return CAMP_OK;
    if (r < 0)
        return r;
    return camp_fail(error, CAMP_E_GONE, 0, "there is no interface %s; list them again", name);
}

int camp_network_read(const struct camp_source *source, const char *name, struct camp_network *ret,
                      size_t size, struct camp_error *error)
{
    char path[PATH_SIZE];
    struct camp_network network;
    int descriptor;
    int r;

    if (camp_is_null(error, name, ret))
        return CAMP_E_INVALID;
    if (name[0] == '\0')
        return camp_fail(error, CAMP_E_INVALID, 0, "'': no interface can have this name");
    descriptor = camp_open_proc(source, "net/dev", path, error);
    if (descriptor < 0)
        return descriptor;
    r = scan_one(descriptor, path, name, &network, error);
    close(descriptor);
    if (r == CAMP_OK)
        camp_hand_out(ret, size, &network, sizeof network);
    return r;
}

int camp_network_read_all(const struct camp_source *source, struct camp_network *networks,
                          size_t size, size_t capacity, size_t *ret_count, struct camp_error *error)
{
    char path[PATH_SIZE];
    int descriptor;
    int r;

    if (camp_array_is_null(error, networks, capacity, ret_count))
        return CAMP_E_INVALID;
    descriptor = camp_open_proc(source, "net/dev", path, error);
    if (descriptor < 0)
        return descriptor;
    r = camp_network_scan(descriptor, path, networks, size, capacity, ret_count, error);
    close(descriptor);
    return r;
}
