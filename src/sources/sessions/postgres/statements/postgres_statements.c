#include "postgres_statements.h"

#include "ledger/array.h"
#include "sources/sessions/statement_text.h"

#include <camp/camp.h>

#include <stdlib.h>
#include <string.h>

#define MARK "example: "

static int compare(const void *key, const void *element)
{
    const int64_t id = *(const int64_t *)key;
    const struct postgres_statement *statement = element;

    return id < statement->id ? -1 : id > statement->id;
}

static struct postgres_statement *find(const struct postgres_statements *statements, int64_t id)
{
    return ARRAY_FIND(&id, statements->statements, statements->count, compare);
}

const char *postgres_statements_text(const struct postgres_statements *statements, int64_t id)
{
    const struct postgres_statement *found = find(statements, id);

    return found != NULL ? found->text : NULL;
}

bool postgres_statements_has_normalised(const struct postgres_statements *statements, int64_t id)
{
    const struct postgres_statement *found = find(statements, id);

    return found != NULL && found->is_normalised;
}

/* Sets the text of an id. `is_normalised` texts replace others. */
static int set(struct postgres_statements *statements, int64_t id, const char *sql,
               bool is_normalised)
{
    struct postgres_statement *statement = find(statements, id);
    const char *mark = is_normalised ? "" : MARK;

    if (id == 0 || sql[0] == '\0' ||
        (statement != NULL && (statement->is_normalised || !is_normalised)) ||
        (statement == NULL && statements->count == POSTGRES_STATEMENTS_MOST))
        return CAMP_OK;
    if (statement == NULL) {
        const size_t position =
            ARRAY_POSITION(&id, statements->statements, statements->count, compare);

        if (!ARRAY_INSERT(statements->statements, statements->count, statements->capacity,
                          position))
            return CAMP_E_NOMEM;
        statement = &statements->statements[position];
    }
    statement->id = id;
    statement->is_normalised = is_normalised;
    strcpy(statement->text, mark);
    statement_text_without_literals(STATEMENT_POSTGRES, sql, statement->text + strlen(mark),
                                    sizeof statement->text - strlen(mark));
    return CAMP_OK;
}

int postgres_statements_add(struct postgres_statements *statements, int64_t id, const char *sql)
{
    return set(statements, id, sql, false);
}

int postgres_statements_add_normalised(struct postgres_statements *statements, int64_t id,
                                       const char *sql)
{
    return set(statements, id, sql, true);
}

void postgres_statements_release(struct postgres_statements *statements)
{
    free(statements->statements);
    *statements = (struct postgres_statements){ 0 };
}
