/*
 * Values that the library returns by a function of their own, such as the command line of a
 * process, and not in the struct of their kind. They have no rate.
 */
#pragma once

#include <camp/catalogue.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct subject;

enum extra_kind {
    EXTRA_FREQUENCY,
    EXTRA_PROPORTIONAL,
    EXTRA_USER_ID,
    EXTRA_COMMAND_LINE,
    EXTRA_EXECUTABLE,
    EXTRA_CGROUP,
    EXTRA_COUNT
};

struct extra {
    int result; /* enum camp_result */
    uint64_t number;
    char *text; /* the text, or the message of the error; owned; NULL if there is none */
};

/* Returns the kind of the value, or EXTRA_COUNT if the counter is in a struct. */
enum extra_kind extra_of(const struct camp_counter *counter);
bool extra_is_text(enum extra_kind kind);

/* Returns whether "all" leaves the value out. The frequency of each CPU may need a file about all
 * CPUs, the kernel counts the pages of a process one by one, and a command line can be longer than
 * all other values together. */
bool extra_is_read_by_name(enum extra_kind kind);

/* Notes that a value will be shown, so that extras_read() reads it. Returns false if there is no
 * memory. */
bool extras_want(struct subject *subject, enum extra_kind kind);

/* Reads the wanted values of a subject. Each has its own result. */
void extras_read(const struct camp_source *source, struct subject *subject);
void extras_release(struct subject *subject);
