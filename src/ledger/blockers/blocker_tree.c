#include "blocker_tree_inside.h"

#include "ledger/array.h"
#include "ledger/words.h"

#include <stdlib.h>
#include <string.h>

/* Where a frame has what the tree needs. */
struct places {
    size_t server, blocker, root, application, statement, activity, backend_type; /* labels */
    size_t blocked, measured, blocking, activity_ns, stopped;                     /* columns */
};

static struct places find_places(const struct schema *schema)
{
    struct places places = {
        .server = schema_find_label(schema, LABEL_SERVER),
        .blocker = schema_find_label(schema, "blocker"),
        .root = schema_find_label(schema, "root_blocker"),
        .application = schema_find_label(schema, "application"),
        .statement = schema_find_label(schema, "query"),
        .activity = schema_find_label(schema, "blocking_activity"),
        .backend_type = schema_find_label(schema, "backend_type"),
        .blocked = schema_find_column(schema, "blocked_ns"),
        .measured = schema_find_column(schema, "blocked_measured_ns"),
        .blocking = schema_find_column(schema, "blocking_ns"),
        .activity_ns = schema_find_column(schema, "blocking_activity_ns"),
        .stopped = schema_find_column(schema, "wait_stopped_ns"),
    };

    if (places.statement == SIZE_MAX)
        places.statement = schema_find_label(schema, "last_statement");
    return places;
}

bool blocker_tree_is_known(const struct schema *schema)
{
    const struct places places = find_places(schema);

    return places.blocker != SIZE_MAX && places.root != SIZE_MAX && places.blocked != SIZE_MAX &&
           places.blocking != SIZE_MAX;
}

static void free_sessions(struct blocker_tree *tree)
{
    while (tree->session_count > 0)
        free(tree->sessions[--tree->session_count]);
}

void blocker_tree_start(struct blocker_tree *tree)
{
    free_sessions(tree);
    tree->count = tree->edge_count = 0;
    tree->elapsed_ns = tree->contention_ns = tree->blocked_ns = tree->measured_ns = 0;
    tree->has_measured = tree->failed = false;
}

void blocker_tree_release(struct blocker_tree *tree)
{
    free_sessions(tree);
    free(tree->nodes);
    free(tree->sessions);
    free(tree->edges);
    *tree = (struct blocker_tree){ 0 };
}

int blocker_tree_compare(const void *key, const void *element)
{
    const struct blocker_session *left = key;
    const struct blocker_session *right = *(struct blocker_session *const *)element;

    return left->id < right->id ? -1 : left->id > right->id;
}

/* Returns NULL if there is no memory. Earlier pointers become invalid. */
static struct blocker_session *session_of(struct blocker_tree *tree, int64_t id)
{
    const struct blocker_session wanted = { .id = id };
    const size_t at =
        ARRAY_POSITION(&wanted, tree->sessions, tree->session_count, blocker_tree_compare);
    struct blocker_session *session;

    if (at < tree->session_count && tree->sessions[at]->id == id)
        return tree->sessions[at];
    session = calloc(1, sizeof *session);
    if (session == NULL ||
        !ARRAY_INSERT(tree->sessions, tree->session_count, tree->session_capacity, at)) {
        free(session);
        tree->failed = true;
        return NULL;
    }
    session->id = id;
    tree->sessions[at] = session;
    return session;
}

static void copy_label(char ret[LABELS_VALUE_SIZE], labels_id labels, size_t label)
{
    const char *value = label != SIZE_MAX ? labels_value(labels, label) : "";

    copy_text(ret, LABELS_VALUE_SIZE, value, strlen(value));
}

/* Reads the id in a label of a row. Returns false if it has none, such as "unknown". */
static bool read_id(const struct entity *row, size_t label, int64_t *ret)
{
    const char *text = labels_value(row->labels, label);
    char *end;

    *ret = entity_beside(row->id, BLOCKER_TREE_PREPARED);
    if (strcmp(text, "prepared") == 0)
        return true;
    if (text[0] < '0' || text[0] > '9')
        return false;
    *ret = entity_beside(row->id, strtoll(text, &end, 10));
    return *end == '\0';
}

/* Of several servers, only sessions of PostgreSQL have a type. */
static bool is_of_postgres(const struct places *places, const struct schema *schema,
                           const struct entity *entity)
{
    return strcmp(schema->name, "postgres") == 0 ||
           (places->backend_type != SIZE_MAX &&
            labels_value(entity->labels, places->backend_type)[0] != '\0');
}

static void describe(struct blocker_tree *tree, const struct places *places,
                     const struct frame *frame, size_t row)
{
    const struct entity *entity = &frame->entities[row];
    const uint64_t *values = frame_values(frame, row);
    struct blocker_session *session = session_of(tree, entity->id);

    if (session == NULL)
        return;
    session->has_row = true;
    memcpy(session->name, entity->name, sizeof session->name);
    copy_label(session->application, entity->labels, places->application);
    copy_label(session->statement, entity->labels, places->statement);
    session->is_of_postgres = is_of_postgres(places, frame->schema, entity);
    if (values[places->blocking] == 0)
        return;
    copy_label(session->activity, entity->labels, places->activity);
    session->activity_ns = places->activity_ns != SIZE_MAX ? values[places->activity_ns] : 0;
}

static void add_edge(struct blocker_tree *tree, const struct blocker_edge *edge, labels_id labels,
                     size_t server)
{
    const int64_t ids[] = { edge->root, edge->blocker, edge->waiting };

    if (!ARRAY_RESERVE(tree->edges, tree->edge_capacity, tree->edge_count + 1)) {
        tree->failed = true;
        return;
    }
    tree->edges[tree->edge_count++] = *edge;
    for (size_t i = 0; i < ARRAY_COUNT(ids); i++) {
        struct blocker_session *session = session_of(tree, ids[i]);

        if (session != NULL)
            copy_label(session->server, labels, server);
    }
}

static uint64_t class_of(const struct frame *frame, size_t row, enum column_class class)
{
    uint64_t ns = 0;

    for (size_t i = 0; i < frame->schema->state_count; i++) {
        if (frame->schema->columns[i].class == class)
            ns += frame_values(frame, row)[i];
    }
    return ns;
}

/* Adds a row of a session that blocks others. */
static void add_blocker(struct blocker_tree *tree, const struct places *places,
                        const struct frame *frame, size_t row)
{
    struct blocker_session *session = session_of(tree, frame->entities[row].id);

    if (session == NULL)
        return;
    session->elapsed_ns += frame->elapsed_ns[row];
    session->cpu_ns += class_of(frame, row, CLASS_CPU);
    if (places->stopped != SIZE_MAX)
        session->stopped_ns += frame_values(frame, row)[places->stopped];
}

void blocker_tree_add(struct blocker_tree *tree, const struct frame *frame)
{
    const struct places places = find_places(frame->schema);
    bool is_blocker = false;

    tree->has_measured |= places.measured != SIZE_MAX;
    tree->elapsed_ns += frame->end_ns - frame->start_ns;
    for (size_t i = 0; i < frame->entity_count; i++) {
        const struct entity *entity = &frame->entities[i];
        const uint64_t *values = frame_values(frame, i);
        const uint64_t contention_ns = class_of(frame, i, CLASS_CONTENTION);
        struct blocker_edge edge = { .waiting = entity->id, .ns = values[places.blocked] };

        tree->contention_ns += contention_ns;
        if (values[places.blocking] > 0 || contention_ns > 0)
            describe(tree, &places, frame, i);
        /* Further rows of a session come after its first one. */
        if ((entity->flags & ENTITY_PART) == 0)
            is_blocker = values[places.blocking] > 0;
        if (is_blocker)
            add_blocker(tree, &places, frame, i);
        if (contention_ns > 0 && !tree->failed)
            session_of(tree, entity->id)->contention_ns += contention_ns;
        if (edge.ns == 0 || !read_id(entity, places.blocker, &edge.blocker) ||
            !read_id(entity, places.root, &edge.root))
            continue;
        if (places.measured != SIZE_MAX)
            edge.measured_ns =
                values[places.measured] < edge.ns ? values[places.measured] : edge.ns;
        tree->blocked_ns += edge.ns;
        tree->measured_ns += edge.measured_ns;
        add_edge(tree, &edge, entity->labels, places.server);
    }
}
