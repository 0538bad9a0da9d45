#include "postgres_statements.h"

#include "ledger/array.h"
#include "statement_text.h"

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

const char *postgres_statements_text(const struct postgres_statements *statements, int64_t id)
{
    const struct postgres_statement *found =
        ARRAY_FIND(&id, statements->statements, statements->count, compare);

    return found != NULL ? found->text : NULL;
}

int postgres_statements_add(struct postgres_statements *statements, int64_t id, const char *sql)
{
    struct postgres_statement *added;
    size_t position;

    if (id == 0 || sql[0] == '\0' || statements->count == POSTGRES_STATEMENTS_MOST ||
        postgres_statements_text(statements, id) != NULL)
        return CAMP_OK;
    position = ARRAY_POSITION(&id, statements->statements, statements->count, compare);
    if (!ARRAY_INSERT(statements->statements, statements->count, statements->capacity, position))
        return CAMP_E_NOMEM;
    added = &statements->statements[position];
    added->id = id;
    memcpy(added->text, MARK, sizeof MARK);
    statement_text_without_literals(sql, added->text + strlen(MARK),
                                    sizeof added->text - strlen(MARK));
    return CAMP_OK;
}

void postgres_statements_release(struct postgres_statements *statements)
{
    free(statements->statements);
    *statements = (struct postgres_statements){ 0 };
}
