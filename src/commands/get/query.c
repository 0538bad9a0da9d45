#include "query.h"

#include "counters/error.h"
#include "ledger/array.h"
#include "program/command.h"
#include "program/suggestion.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void query_release(struct query *query)
{
    subjects_release(&query->subjects);
    free(query->rows);
    query->rows = NULL;
    query->row_count = query->row_capacity = 0;
}

bool query_row_needs_interval(const struct query *query, const struct row *row)
{
    return row->counter->nature == CAMP_NATURE_SHARE ||
           (query->rate && row->counter->nature == CAMP_NATURE_COUNTER);
}

bool query_needs_interval(const struct query *query)
{
    bool needed = false;

    for (size_t i = 0; i < query->row_count && !needed; i++)
        needed = query_row_needs_interval(query, &query->rows[i]);
    return needed;
}

static bool is_glob(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

static bool is_every(const char *pattern)
{
    return strcmp(pattern, "*") == 0 || strcmp(pattern, "all") == 0;
}

static bool matches_counter(const char *pattern, const struct camp_counter *counter)
{
    return is_every(pattern) || strcmp(pattern, counter->name) == 0 ||
           (is_glob(pattern) && fnmatch(pattern, counter->name, 0) == 0);
}

static bool is_counter(const struct kind_words *kind, const char *pattern)
{
    const struct counters *all = all_counters();

    for (size_t i = 0; i < all->count; i++) {
        if ((all->items[i].kinds & kind->kind) != 0 && matches_counter(pattern, &all->items[i]))
            return true;
    }
    return false;
}

static bool has_rate(const struct camp_counter *counter)
{
    return counter->nature != CAMP_NATURE_LEVEL && counter->nature != CAMP_NATURE_FACT;
}

/* Returns whether a pattern that matches the name of a counter also selects the counter. An exact
 * name always selects it. If rates were requested, all other patterns skip counters without a rate.
 * "all" skips shares (percentages) if rates were requested or no interval was given, and values
 * that are read by name only. */
static bool is_meant(const struct query *query, const char *pattern,
                     const struct camp_counter *counter)
{
    if (strcmp(pattern, counter->name) == 0)
        return true;
    if (is_every(pattern) && counter->nature == CAMP_NATURE_SHARE &&
        (!query->interval_given || query->rate))
        return false;
    if (is_every(pattern) && extra_is_read_by_name(extra_of(counter)))
        return false;
    return !query->rate || has_rate(counter);
}

static bool add_row(struct query *query, const struct camp_counter *counter, size_t subject)
{
    if (!ARRAY_RESERVE(query->rows, query->row_capacity, query->row_count + 1))
        return false;
    query->rows[query->row_count++] = (struct row){ .counter = counter, .subject = subject };
    return subject_want(&query->subjects.items[subject], counter);
}

static int add_rows(struct query *query, const struct kind_words *kind, size_t subject,
                    const char *pattern)
{
    const struct counters *all = all_counters();

    for (size_t i = 0; i < all->count; i++) {
        const struct camp_counter *counter = &all->items[i];

        if ((counter->kinds & kind->kind) == 0 || !matches_counter(pattern, counter) ||
            !is_meant(query, pattern, counter))
            continue;
        if (query->rate && !has_rate(counter))
            return complain(STATUS_USAGE, "%s.%s goes up and down, or is a fact: it has no rate",
                            kind->any, counter->name);
        if (counter_is_cpu_count(counter) && query->subjects.items[subject].cpu != CAMP_CPU_TOTAL) {
            if (strcmp(pattern, counter->name) == 0)
                return complain(STATUS_USAGE, "one CPU has no count: ask for cpu.count");
            continue;
        }
        if (counter_lacks_total(counter) && query->subjects.items[subject].cpu == CAMP_CPU_TOTAL) {
            if (strcmp(pattern, counter->name) == 0)
                return complain(STATUS_USAGE, "all CPUs together have no %s: ask for cpu.*.%s",
                                counter->name, counter->name);
            continue;
        }
        if (!add_row(query, counter, subject))
            return complain(STATUS_FAILURE, "no memory left; ask for less at a time");
    }
    return STATUS_OK;
}

/* Returns the label of a subject without the kind. */
static const char *name_of(const struct subject *subject)
{
    const char *dot = strchr(subject->label, '.');

    return dot != NULL ? dot + 1 : "";
}

/* Returns whether a glob such as 12* matches a pid or tid. The start time in "1234@5678" is not
 * compared. */
static bool id_matches(const char *pattern, int32_t id)
{
    char text[16];

    snprintf(text, sizeof text, "%" PRId32, id);
    return fnmatch(pattern, text, 0) == 0;
}

static bool matches_subject(const char *pattern, const struct subject *subject)
{
    switch (subject->kind) {
    case CAMP_KIND_CPU:
        return id_matches(pattern, subject->cpu);
    case CAMP_KIND_PROCESS:
        return id_matches(pattern, subject->process.pid);
    case CAMP_KIND_THREAD:
        return id_matches(pattern, subject->thread.tid);
    default:
        return is_glob(pattern) && fnmatch(pattern, subject->device, 0) == 0;
    }
}

/* Copies the subjects that match a pattern. If the pattern is the exact name of a device, only
 * that device is copied. */
static int add_matching(const struct subjects *from, const char *pattern, struct subjects *to,
                        struct camp_error *error)
{
    bool literal = false;
    int result = CAMP_OK;

    for (size_t i = 0; i < from->count; i++)
        literal = literal || strcmp(name_of(&from->items[i]), pattern) == 0;
    for (size_t i = 0; result >= 0 && i < from->count; i++) {
        const struct subject *subject = &from->items[i];

        if (literal ? strcmp(name_of(subject), pattern) == 0 : matches_subject(pattern, subject))
            result = subjects_add(to, subject, NULL, error);
    }
    return result;
}

static int fail_device(const struct kind_words *kind, const char *name, const struct subjects *all,
                       struct camp_error *error)
{
    struct suggestion suggestion = { .word = name };

    for (size_t i = 0; i < all->count; i++)
        suggestion_offer(&suggestion, all->items[i].device);
    return camp_fail(error, CAMP_E_GONE, 0, "there is no %s '%s'%s%s%s; see camp list %s",
                     camp_kind_name(kind->kind), name,
                     suggestion.best != NULL ? "; did you mean '" : "",
                     suggestion.best != NULL ? suggestion.best : "",
                     suggestion.best != NULL ? "'" : "", kind->plural);
}

static int find_listed(const struct kind_words *kind, const char *pattern, struct subjects *ret,
                       struct camp_error *error)
{
    const bool is_device = (kind->kind & (CAMP_KIND_CPU | CAMP_KIND_PROCESS)) == 0;
    struct subjects all = { .source = ret->source };
    int result = subjects_list(&all, kind->kind, error);

    if (result >= 0)
        result = add_matching(&all, pattern, ret, error);
    if (result >= 0 && ret->count == 0 && is_device)
        result = fail_device(kind, pattern, &all, error);
    ret->were_searched |= all.were_searched;
    subjects_release(&all);
    return result;
}

static int find_one(const struct kind_words *kind, const char *name, struct subjects *ret,
                    struct camp_error *error)
{
    struct subject subject;
    int result = subject_named(ret->source, kind->kind, name, &subject, error);

    return result >= 0 ? subjects_add(ret, &subject, NULL, error) : result;
}

static int find_processes(const char *name, struct subjects *ret, struct camp_error *error)
{
    const struct kind_words *kind = kind_words(CAMP_KIND_PROCESS);

    if (strncmp(name, "name:", 5) == 0)
        return subjects_list_named(ret, name + 5, error);
    if (is_glob(name))
        return find_listed(kind, name, ret, error);
    return find_one(kind, name, ret, error);
}

/* Finds threads by "PID.TID", "PID" or "name:EXECUTABLE.*". PID has the same forms as for a
 * process. TID may be a glob. */
static int find_threads(const char *name, struct subjects *ret, struct camp_error *error)
{
    struct subjects processes = { .source = ret->source };
    struct subjects threads = { .source = ret->source };
    const char *dot = strrchr(name, '.');
    char process[LABEL_SIZE];
    int result;

    if (dot != NULL && dot[1 + strspn(dot + 1, "0123456789@*?[]-!")] != '\0')
        dot = NULL; /* The dot is a part of the name of the executable. */
    if (dot != NULL && !is_glob(name) && strncmp(name, "name:", 5) != 0)
        return find_one(kind_words(CAMP_KIND_THREAD), name, ret, error);
    snprintf(process, sizeof process, "%.*s", dot != NULL ? (int)(dot - name) : (int)strlen(name),
             name);
    result = find_processes(process, &processes, error);
    for (size_t i = 0; result >= 0 && i < processes.count; i++) {
        result = subjects_list_threads(&threads, &processes.items[i].process, error);
        if (result == CAMP_E_GONE && processes.count > 1)
            result = CAMP_OK; /* The process exited after it was listed. */
    }
    if (result >= 0)
        result = add_matching(&threads, dot != NULL ? dot + 1 : "*", ret, error);
    ret->were_searched |= processes.were_searched;
    subjects_release(&processes);
    subjects_release(&threads);
    return result;
}

static int find_subjects(const struct kind_words *kind, const char *name, struct subjects *ret,
                         struct camp_error *error)
{
    int result;

    *error = (struct camp_error){ 0 };
    if (kind->is_one)
        result = find_one(kind, "", ret, error);
    else if (kind->kind == CAMP_KIND_CPU && !is_glob(name))
        result = find_one(kind, name, ret, error);
    else if (kind->kind == CAMP_KIND_PROCESS)
        result = find_processes(name, ret, error);
    else if (kind->kind == CAMP_KIND_THREAD)
        result = find_threads(name, ret, error);
    else
        result = find_listed(kind, name, ret, error);
    if (result >= 0 && ret->count == 0)
        return camp_fail(error, CAMP_E_GONE, 0,
                         "there is no %s that matches '%s'; see camp list %s",
                         camp_kind_name(kind->kind), name, kind->plural);
    return result;
}

static int complain_of_kind(const char *operand, size_t length)
{
    const struct counters *all = all_counters();
    struct suggestion suggestion = { .word = operand };
    char word[64];

    snprintf(word, sizeof word, "%.*s", (int)length, operand);
    suggestion.word = word;
    for (size_t i = 0; i < KIND_COUNT; i++)
        suggestion_offer(&suggestion, camp_kind_name(kinds[i].kind));
    if (suggestion.best != NULL)
        return complain(STATUS_USAGE, "there is no '%s'; did you mean '%s%s'?", operand,
                        suggestion.best, operand + length);
    for (size_t i = 0; i < all->count; i++)
        suggestion_offer(&suggestion, all->items[i].name);
    for (size_t i = 0; suggestion.best != NULL && i < KIND_COUNT; i++) {
        const struct kind_words *kind = &kinds[i];

        if (counter_by_name(kind->kind, suggestion.best) != NULL)
            return complain(STATUS_USAGE, "there is no '%s'; did you mean '%s.%s'?", operand,
                            kind->has_total ? camp_kind_name(kind->kind) : kind->any,
                            suggestion.best);
    }
    return complain(STATUS_USAGE, "there is no '%s'; see camp list counters", operand);
}

static int complain_of_counter(const struct kind_words *kind, const char *operand, const char *name)
{
    const struct counters *all = all_counters();
    struct suggestion suggestion = { .word = name };

    for (size_t i = 0; i < all->count; i++) {
        if ((all->items[i].kinds & kind->kind) != 0)
            suggestion_offer(&suggestion, all->items[i].name);
    }
    if (suggestion.best == NULL)
        return complain(STATUS_USAGE, "%s: there is no counter '%s'; see camp list counters %s",
                        operand, name, camp_kind_name(kind->kind));
    return complain(STATUS_USAGE, "%s: there is no counter '%s'; did you mean '%.*s%s'?", operand,
                    name, (int)(name - operand), operand, suggestion.best);
}

static int add_found(struct query *query, const struct kind_words *kind,
                     const struct subjects *found, const char *pattern)
{
    struct camp_error error = { 0 };
    int status = STATUS_OK;

    for (size_t i = 0; status == STATUS_OK && i < found->count; i++) {
        size_t index;
        int result = subjects_add(&query->subjects, &found->items[i], &index, &error);

        status = result < 0 ? complain_of(result, &error) : add_rows(query, kind, index, pattern);
    }
    return status;
}

static int add_kind(struct query *query, const struct kind_words *kind)
{
    struct subjects found = { .source = query->subjects.source };
    struct camp_error error = { 0 };
    int result = kind->has_total ? find_one(kind, "", &found, &error) : CAMP_OK;
    int status;

    if (result >= 0)
        result = subjects_list(&found, kind->kind, &error);
    status = result >= 0 ? add_found(query, kind, &found, "*") : complain_of(result, &error);
    query->subjects.were_searched |= found.were_searched;
    subjects_release(&found);
    return status;
}

/* Returns the counter's name in `rest`, the operand without its kind. NULL if `rest` names only
 * a subject. */
static const char *counter_part(const struct kind_words *kind, const char *rest)
{
    const char *dot = strrchr(rest, '.');

    if (kind->is_one)
        return rest;
    if (dot != NULL && is_counter(kind, dot + 1))
        return dot + 1;
    if (dot == NULL && kind->has_total && is_counter(kind, rest))
        return rest;
    return NULL;
}

/* Returns the word in `rest` that may be a mistyped counter. NULL if the word looks like the
 * name of a subject. */
static const char *mistyped_part(const struct kind_words *kind, const char *rest)
{
    const char *dot = strrchr(rest, '.');
    const char *word = dot != NULL ? dot + 1 : rest;

    if (dot == NULL && !kind->has_total)
        return NULL;
    return word[strspn(word, "0123456789@*?[]-")] != '\0' || *word == '\0' ? word : NULL;
}

int query_add(struct query *query, const char *operand)
{
    size_t length = strcspn(operand, ".");
    const struct kind_words *kind = kind_by_name(operand, length);
    const char *rest = operand[length] == '.' ? operand + length + 1 : NULL;
    struct subjects found = { .source = query->subjects.source };
    const char *counter;
    const char *mistyped;
    char name[LABEL_SIZE];
    struct camp_error error;
    int result;
    int status;

    if (kind == NULL)
        return complain_of_kind(operand, length);
    if (rest == NULL || (kind->has_total && strcmp(rest, "*") == 0))
        return add_kind(query, kind);
    if (rest[0] == '\0')
        return complain(STATUS_USAGE, "'%s' ends too early; %s.all is all of it", operand,
                        camp_kind_name(kind->kind));
    counter = counter_part(kind, rest);
    if (counter == rest && !is_counter(kind, counter))
        return complain_of_counter(kind, operand, counter);
    snprintf(name, sizeof name, "%.*s",
             counter == NULL   ? (int)strlen(rest)
             : counter == rest ? 0
                               : (int)(counter - rest - 1),
             rest);
    if (counter == NULL && !kind->is_one && strchr(rest, '.') == NULL && is_counter(kind, rest) &&
        !is_glob(rest))
        return complain(STATUS_USAGE, "%s of which %s? %s.%s, or %s.%s for each", rest,
                        camp_kind_name(kind->kind), kind->one, rest, kind->any, rest);
    result = find_subjects(kind, name, &found, &error);
    mistyped = counter == NULL && result < 0 ? mistyped_part(kind, rest) : NULL;
    if (mistyped != NULL && result != CAMP_E_PERM)
        status = complain_of_counter(kind, operand, mistyped);
    else if (result < 0)
        status = complain_of(result, &error);
    else
        status = add_found(query, kind, &found, counter != NULL ? counter : "*");
    query->subjects.were_searched |= found.were_searched;
    subjects_release(&found);
    return status;
}
