#include "export_sessions.h"

#include "program/command.h"
#include "program/sandbox.h"
#include "sources/from_list.h"
#include "sources/servers/servers_from.h"
#include "sources/sessions/mariadb/mariadb.h"
#include "sources/sessions/postgres/postgres.h"

#include <stdio.h>
#include <string.h>

const char *const export_session_words[] = { "postgres:", "mariadb:", NULL };

static const volatile sig_atomic_t goes_on = 0; /* signals end the program, not the source */

/* Not from_open(), which would link camp-exporter to the libraries of all sources. */
static int open_source(const struct from *from, const struct from_source *source,
                       struct source **ret, struct from_facts *facts, struct camp_error *error)
{
    const char *place = from->text + strlen(source->name);

    *facts = (struct from_facts){ 0 };
    if (from->more_count > 0)
        return servers_from_open(from, ret, facts, error);
    return source->opener == OPENS_POSTGRES ? postgres_source_open(from, place, ret, facts, error)
                                            : mariadb_source_open(from, place, ret, facts, error);
}

/* Sets *ret, or returns an exit status after an error message and leaves *ret NULL. */
static int find_source(const struct from *from, const struct from_source **ret)
{
    const struct from_source *source = from_source_find(from->text);
    struct camp_error error = { 0 };
    int r;

    if (!from_source_is_server(source))
        return complain(STATUS_USAGE,
                        "--from %s: camp export has the sessions of postgres:CONNINFO and "
                        "mariadb:CONNINFO; camp record and camp view take other sources",
                        from_shown(from->text).text);
    r = from->more_count > 0 ? servers_from_check(from, &error)
                             : from_check(source, from->text, from_given(from), &error);
    if (r != CAMP_OK)
        return complain_of(r, &error);
    *ret = source;
    return OPTIONS_GO_ON;
}

static bool has_label(const struct schema *schema, const char *name, size_t *ret)
{
    *ret = schema_find_label(schema, name);
    return *ret != SIZE_MAX;
}

/* Sets *ret to the index of the label that makes the groups. */
static int find_label(const struct schema *schema, const char *name, size_t *ret)
{
    char labels[160] = "";
    size_t length = 0;

    if (name == NULL ? has_label(schema, "application", ret) || has_label(schema, "user", ret)
                     : has_label(schema, name, ret))
        return OPTIONS_GO_ON;
    for (size_t i = 0; i < schema->label_count && length < sizeof labels; i++)
        if (strcmp(schema->label_names[i], SOURCE_LABEL_LAST_STATEMENT) != 0)
            length += (size_t)snprintf(labels + length, sizeof labels - length, "%s%s",
                                       length > 0 ? ", " : "", schema->label_names[i]);
    return complain(STATUS_USAGE, "--group %s: the sessions of %s have the labels %s",
                    name != NULL ? name : "", schema->name, labels);
}

int export_sessions_open(const struct export_sessions *sessions, struct exported **ret)
{
    struct exported_sessions_options options = { .groups = sessions->groups,
                                                 .new_groups = sessions->new_groups };
    const struct from_source *source = NULL;
    struct from from = sessions->from;
    struct from_facts facts;
    struct camp_error error = { 0 };
    int r, status = find_source(&from, &source);

    if (source == NULL)
        return status;
    from.stop = &goes_on;
    from.before_server = sandbox_enter_sessions;
    from.session_facts = true;
    r = open_source(&from, source, &options.source, &facts, &error);
    if (r != CAMP_OK)
        return complain_of(r, &error);
    status = find_label(options.source->describe(options.source), sessions->group, &options.label);
    if (status != OPTIONS_GO_ON) {
        source_close(options.source);
        return status;
    }
    options.has_several = from.more_count > 0;
    source_set_division(options.source,
                        options.source->describe(options.source)->label_names[options.label]);
    options.server = options.source->describe(options.source)->name;
    options.tier = facts.tier;
    options.note = facts.note;
    r = exported_sessions_open(&options, ret, &error);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain_of(r, &error);
}
