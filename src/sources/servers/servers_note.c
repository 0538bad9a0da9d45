/* The notes about several servers: which are missing, and how each is measured. */
#include "servers_inside.h"

#include "ledger/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAMED_MOST 5

/* Appends to ret[size]; what does not fit is cut. */
static void __attribute__((format(printf, 3, 4)))
append(char *ret, size_t size, const char *format, ...)
{
    const size_t length = strlen(ret);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(ret + length, size - length, format, arguments);
    va_end(arguments);
}

/* Returns whether a server has no rows in this interval, because it does not answer. */
static bool is_missing(const struct server_worker *worker)
{
    return !worker->is_ready ||
           (!worker->interval.facts.is_answered && worker->interval.frame.entity_count == 0);
}

static const char *why_missing(const struct server_worker *worker)
{
    if (worker->state == SERVER_DOWN)
        return worker->failure.message;
    if (worker->is_ready && worker->interval.note[0] != '\0')
        return worker->interval.note;
    return "it did not answer in time";
}

/* Writes the names of the servers that answered, and have no session and so no row. */
static void add_empty(const struct servers *servers, char *ret, size_t size)
{
    size_t count = 0;

    for (size_t i = 0; i < servers->count; i++) {
        const struct server_worker *worker = &servers->workers[i];

        if (is_missing(worker) || worker->interval.frame.entity_count > 0 || count++ >= NAMED_MOST)
            continue;
        append(ret, size, "%s%s",
               count > 1        ? ", "
               : ret[0] != '\0' ? "; no sessions: "
                                : "no sessions: ",
               worker->name);
    }
    if (count > NAMED_MOST)
        append(ret, size, " and %zu more", count - NAMED_MOST);
}

/* Writes the notes of the servers that have rows. */
static void add_notes(const struct servers *servers, char *ret, size_t size)
{
    size_t count = 0;

    for (size_t i = 0; i < servers->count; i++) {
        const struct server_worker *worker = &servers->workers[i];

        if (is_missing(worker) || worker->interval.note[0] == '\0' || count++ >= NAMED_MOST)
            continue;
        append(ret, size, "%s%s: %s", ret[0] != '\0' ? "; " : "", worker->name,
               worker->interval.note);
    }
    if (count > NAMED_MOST)
        append(ret, size, "; and notes of %zu more", count - NAMED_MOST);
}

void servers_report(struct server_worker *worker)
{
    struct server_report *report = &worker->report;

    if (worker->is_ready)
        report->facts = worker->interval.facts;
    report->facts.is_answered &= worker->is_ready;
    report->name = worker->name;
    report->kind = worker->kind;
    report->tier = worker->facts.tier;
    report->from = worker->facts.from;
    report->losses = worker->is_ready ? worker->interval.frame.losses : (struct losses){ 0 };
    report->note = worker->note;
    snprintf(worker->note, sizeof worker->note, "%s",
             is_missing(worker) ? why_missing(worker) : worker->interval.note);
}

size_t servers_note(struct servers *servers)
{
    char *note = servers->note;
    size_t count = 0;

    note[0] = '\0';
    for (size_t i = 0; i < servers->count; i++)
        count += is_missing(&servers->workers[i]);
    if (count > 0)
        append(note, sizeof servers->note, "%zu of %zu servers %s missing: ", count, servers->count,
               noun_of(count, "is", "are"));
    for (size_t i = 0, named = 0; i < servers->count; i++) {
        const struct server_worker *worker = &servers->workers[i];

        if (is_missing(worker) && named++ < NAMED_MOST)
            append(note, sizeof servers->note, "%s%s (%s)", named > 1 ? ", " : "", worker->name,
                   why_missing(worker));
    }
    if (count > NAMED_MOST)
        append(note, sizeof servers->note, " and %zu more", count - NAMED_MOST);
    add_empty(servers, note, sizeof servers->note);
    add_notes(servers, note, sizeof servers->note);
    return count;
}

/* Returns whether the servers that are open all have the same tier. */
static bool have_one_tier(const struct servers *servers, const char **ret_tier)
{
    *ret_tier = NULL;
    for (size_t i = 0; i < servers->count; i++) {
        const struct server_worker *worker = &servers->workers[i];

        if (worker->state != SERVER_WAITS)
            continue;
        if (*ret_tier != NULL && strcmp(*ret_tier, worker->facts.tier) != 0)
            return false;
        *ret_tier = worker->facts.tier;
    }
    return true;
}

static void add_facts(const struct server_worker *worker, bool has_one_tier,
                      struct from_facts *facts)
{
    const struct from_facts *own = &worker->facts;
    char *note = facts->note;

    if (!has_one_tier)
        append(note, sizeof facts->note, "%s%s: tier %s", note[0] != '\0' ? "; " : "", worker->name,
               own->tier);
    if (own->note[0] != '\0')
        append(note, sizeof facts->note, "%s%s%s", has_one_tier && note[0] != '\0' ? "; " : "",
               has_one_tier ? worker->name : "", has_one_tier ? ": " : ", ");
    append(note, sizeof facts->note, "%s", own->note);
    facts->note_warns |= own->note_warns;
    if (own->no_statements == NULL)
        facts->no_statements = NULL;
}

void servers_facts(const struct servers *servers, struct from_facts *facts)
{
    const char *tier;
    const bool has_one_tier = have_one_tier(servers, &tier);
    bool are_local = true;

    *facts = (struct from_facts){ .live = true, .tier = has_one_tier ? tier : "mixed" };
    snprintf(facts->kind, sizeof facts->kind, "sessions");
    append(facts->name, sizeof facts->name, "%zu servers: ", servers->count);
    for (size_t i = 0; i < servers->count && i < NAMED_MOST; i++)
        append(facts->name, sizeof facts->name, "%s%s", i > 0 ? ", " : "",
               servers->workers[i].name);
    if (servers->count > NAMED_MOST)
        append(facts->name, sizeof facts->name, " and %zu more", servers->count - NAMED_MOST);
    for (size_t i = 0; i < servers->count; i++) {
        const struct server_worker *worker = &servers->workers[i];

        are_local &= worker->state == SERVER_WAITS && worker->facts.server_cpus > 0;
        if (worker->state != SERVER_WAITS)
            continue;
        facts->no_statements = worker->facts.no_statements;
    }
    for (size_t i = 0; i < servers->count; i++) {
        if (servers->workers[i].state == SERVER_WAITS)
            add_facts(&servers->workers[i], has_one_tier, facts);
    }
    if (are_local)
        facts->server_cpus = servers->workers[0].facts.server_cpus;
}
