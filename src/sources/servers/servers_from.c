#include "servers_from.h"

#include "counters/error.h"
#include "servers.h"
#include "sources/from_list.h"
#include "sources/sessions/mariadb/mariadb.h"
#include "sources/sessions/postgres/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const struct from *from, size_t at)
{
    return at == 0 ? from->text : from->more[at - 1];
}

int servers_from_check(const struct from *from, struct camp_error *error)
{
    const size_t count = from->more_count + 1;
    int r = CAMP_OK;

    if (count > SERVERS_MOST)
        return camp_fail(error, CAMP_E_INVALID, 0, "--from is given %zu times: at most %d servers",
                         count, SERVERS_MOST);
    for (size_t i = 0; i < count && r == CAMP_OK; i++) {
        const struct from_source *source = from_source_find(text_of(from, i));

        if (!from_source_is_server(source))
            return camp_fail(error, CAMP_E_INVALID, 0,
                             "--from %s: of several --from each names a database server, as "
                             "postgres:CONNINFO or mariadb:CONNINFO",
                             from_shown(text_of(from, i)).text);
        r = from_check(source, text_of(from, i), from_given(from), error);
        for (size_t j = 0; j < i && r == CAMP_OK; j++) {
            if (strcmp(text_of(from, i), text_of(from, j)) == 0)
                r = camp_fail(error, CAMP_E_INVALID, 0, "--from %s is given twice: name it once",
                              from_shown(text_of(from, i)).text);
        }
    }
    return r;
}

static int open_one(const struct from *from, struct source **ret, struct from_facts *facts,
                    struct camp_error *error)
{
    const struct from_source *source = from_source_find(from->text);
    const char *place = from->text + strlen(source->name);

    return source->opener == OPENS_POSTGRES ? postgres_source_open(from, place, ret, facts, error)
                                            : mariadb_source_open(from, place, ret, facts, error);
}

#define HIDDEN "(hidden)" /* the name of a connection string that may not be shown */
#define MARIADB "mariadb "

/* Writes a name without the database and the user, which do not change whose sessions are shown,
 * such as "host=db1 port=5433" or "mariadb db2:3306". */
static void write_place(const char *shown, char ret[LABELS_VALUE_SIZE])
{
    const char *at = strncmp(shown, MARIADB, strlen(MARIADB)) == 0 ? strrchr(shown, '@') : NULL;
    size_t length = 0;

    if (at != NULL) {
        snprintf(ret, LABELS_VALUE_SIZE, MARIADB "%s", at + 1);
        return;
    }
    ret[0] = '\0';
    for (const char *word = shown; *word != '\0'; word += strspn(word, " ")) {
        const size_t size = strcspn(word, " ");

        if (strncmp(word, "dbname=", 7) != 0 && strncmp(word, "user=", 5) != 0 &&
            length + size + 1 < LABELS_VALUE_SIZE)
            length += (size_t)snprintf(ret + length, LABELS_VALUE_SIZE - length, "%s%.*s",
                                       length > 0 ? " " : "", (int)size, word);
        word += size;
    }
    if (length == 0)
        snprintf(ret, LABELS_VALUE_SIZE, "postgres (default)");
}

/* Refuses a server that an earlier one is. If the names are hidden, the later one gets a number. */
static int compare_names(struct server *servers, size_t at, struct camp_error *error)
{
    size_t hidden = 1;

    for (size_t i = 0; i < at; i++) {
        if (strncmp(servers[i].name, HIDDEN, strlen(HIDDEN)) == 0)
            hidden++;
        else if (strcmp(servers[i].name, servers[at].name) == 0)
            return camp_fail(error, CAMP_E_INVALID, 0,
                             "--from is given twice for %s: name a server once, because it reports "
                             "the sessions of all its databases",
                             servers[at].name);
    }
    if (hidden > 1 && strcmp(servers[at].name, HIDDEN) == 0)
        snprintf(servers[at].name, sizeof servers[at].name, HIDDEN " %zu", hidden);
    return CAMP_OK;
}

static int name_one(const char *text, char ret[LABELS_VALUE_SIZE], struct camp_error *error)
{
    const struct from_source *source = from_source_find(text);
    const char *place = text + strlen(source->name);
    char shown[FROM_NAME_SIZE];
    const int r = source->opener == OPENS_POSTGRES
                      ? postgres_source_name(place, shown, sizeof shown, error)
                      : mariadb_source_name(place, shown, sizeof shown, error);

    if (r == CAMP_OK)
        write_place(shown, ret);
    return r;
}

int servers_from_open(const struct from *from, struct source **ret, struct from_facts *facts,
                      struct camp_error *error)
{
    const size_t count = from->more_count + 1;
    struct server *servers = NULL;
    int r = servers_from_check(from, error);

    if (r != CAMP_OK)
        return r;
    servers = calloc(count + 1, sizeof *servers);
    if (servers == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for a source");
    for (size_t i = 0; i < count && r == CAMP_OK; i++) {
        servers[i].text = text_of(from, i);
        r = name_one(servers[i].text, servers[i].name, error);
        if (r == CAMP_OK)
            r = compare_names(servers, i, error);
    }
    if (r == CAMP_OK)
        r = servers_source_open(from, servers, count, open_one, ret, facts, error);
    free(servers);
    return r;
}
