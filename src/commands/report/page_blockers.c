#include "page_blockers.h"

#include "commands/why/why_blockers.h"
#include "views/format.h"
#include "views/memory_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATEMENTS_BEFORE 64

bool page_blockers_are_known(const struct schema *schema)
{
    return blocker_tree_is_known(schema);
}

/* Many sessions wait with one statement, which is written once. Returns the number of a session's
 * statement if one of the last STATEMENTS_BEFORE sessions of its server has the same, and otherwise
 * `count`, the number of statements written so far. `numbers` has those of the sessions before. */
static size_t find_statement(const struct blocker_tree *tree, const size_t *numbers, size_t session,
                             size_t count)
{
    for (size_t i = session; i-- > 0 && session - i <= STATEMENTS_BEFORE;) {
        if (strcmp(tree->sessions[i]->statement, tree->sessions[session]->statement) == 0 &&
            strcmp(tree->sessions[i]->server, tree->sessions[session]->server) == 0)
            return numbers[i];
    }
    return count;
}

static void put_statements(FILE *stream, const struct why_blockers_interval *interval,
                           size_t *numbers)
{
    const struct blocker_tree *tree = interval->tree;
    size_t count = 0;

    for (size_t i = 0; i < tree->session_count; i++) {
        struct why_blockers_words words;

        numbers[i] = find_statement(tree, numbers, i, count);
        if (numbers[i] < count)
            continue;
        why_blockers_words(&words, interval, tree->sessions[i]);
        if (count++ > 0)
            putc(',', stream);
        json_text(stream, words.statement);
    }
}

/* [id, session, activity, statement, whether it has a row], and with several servers the server */
static void put_sessions(FILE *stream, const struct why_blockers_interval *interval,
                         const size_t *numbers)
{
    const struct blocker_tree *tree = interval->tree;

    for (size_t i = 0; i < tree->session_count; i++) {
        const struct blocker_session *session = tree->sessions[i];
        struct why_blockers_words words;

        why_blockers_words(&words, interval, session);
        fprintf(stream, "%s[%" PRId64 ",", i > 0 ? "," : "", session->id);
        json_text(stream, words.session);
        putc(',', stream);
        json_text(stream, words.activity);
        fprintf(stream, ",%zu,%d", numbers[i], session->has_row);
        if (words.server[0] != '\0') {
            putc(',', stream);
            json_text(stream, words.server);
        }
        putc(']', stream);
    }
}

/* [depth, session, blocked_ns] */
static void put_nodes(FILE *stream, const struct blocker_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++)
        fprintf(stream, "%s[%" PRIu32 ",%zu,%" PRIu64 "]", i > 0 ? "," : "", tree->nodes[i].depth,
                tree->nodes[i].session, tree->nodes[i].blocked_ns);
}

static bool put_tree(FILE *stream, const struct why_blockers_interval *interval)
{
    size_t *numbers = calloc(interval->tree->session_count + 1, sizeof *numbers);

    if (numbers == NULL)
        return false;
    fprintf(stream, "{\"contention\":%" PRIu64 ",\"statements\":[", interval->tree->contention_ns);
    put_statements(stream, interval, numbers);
    fputs("],\"sessions\":[", stream);
    put_sessions(stream, interval, numbers);
    fputs("],\"nodes\":[", stream);
    put_nodes(stream, interval->tree);
    fputs("]}", stream);
    free(numbers);
    return true;
}

int page_blockers_read(struct bytes *ret, struct blocker_tree *tree, const struct frame *frame,
                       bool shows_literals)
{
    const struct why_blockers_interval interval = {
        .tree = tree,
        .kind = frame->schema->name,
        .shows_literals = shows_literals,
    };
    struct memory_text text;
    bool is_whole;

    bytes_clear(ret);
    blocker_tree_start(tree);
    blocker_tree_add(tree, frame);
    if (blocker_tree_finish(tree, NULL, NULL) != CAMP_OK || !memory_text_open(&text))
        return CAMP_E_NOMEM;
    is_whole = put_tree(text.stream, &interval);
    if (memory_text_close(&text) && is_whole)
        bytes_put(ret, text.text, text.size);
    free(text.text);
    return ret->size > 0 && !ret->failed ? CAMP_OK : CAMP_E_NOMEM;
}
