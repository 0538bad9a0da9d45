#include "selection.h"

#include "array.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

enum { ORDER_BUSY, ORDER_FIRST };

static void copy_name(char ret[ORDER_NAME_SIZE], const char *name, size_t length)
{
    length = length < ORDER_NAME_SIZE ? length : ORDER_NAME_SIZE - 1;
    memcpy(ret, name, length);
    ret[length] = '\0';
}

void column_stem(const struct column *column, char ret[ORDER_NAME_SIZE])
{
    copy_name(ret, column->name,
              strlen(column->name) - (ends_with(column->name, "_ns") ? strlen("_ns") : 0));
}

static bool has_cpu_order(const struct schema *schema)
{
    size_t count = 0;

    for (size_t i = 0; i < schema->state_count; i++)
        count += schema->columns[i].class == CLASS_CPU;
    return count > 1 && strcmp(schema->columns[0].name, "cpu_ns") != 0;
}

static size_t first_state(const struct schema *schema)
{
    return ORDER_FIRST + has_cpu_order(schema);
}

static size_t unaccounted_order(const struct schema *schema)
{
    return first_state(schema) + schema->state_count;
}

size_t order_count_of_states(const struct schema *schema)
{
    return unaccounted_order(schema) + 1 + schema->label_count + 1;
}

size_t order_count(const struct schema *schema)
{
    return order_count_of_states(schema) + 1 + schema->column_count - schema->state_count;
}

size_t order_state(const struct schema *schema, size_t order)
{
    return order >= first_state(schema) && order < unaccounted_order(schema)
               ? order - first_state(schema)
               : schema->column_count;
}

/* Returns the state, counter or gauge by which an order sorts, or column_count if it sorts by none
 * of them. */
static size_t order_column(const struct schema *schema, size_t order)
{
    const size_t behind = order_count_of_states(schema);

    return order > behind ? schema->state_count + order - behind - 1 : order_state(schema, order);
}

/* Returns the label by which an order sorts, label_count if it sorts by "name", or SIZE_MAX if it
 * sorts by something else. */
static size_t order_label(const struct schema *schema, size_t order)
{
    return order > unaccounted_order(schema) && order < order_count_of_states(schema)
               ? order - unaccounted_order(schema) - 1
               : SIZE_MAX;
}

void order_name(const struct schema *schema, size_t order, char ret[ORDER_NAME_SIZE])
{
    const size_t column = order_column(schema, order);
    const size_t label = order_label(schema, order);
    const char *name = order == ORDER_BUSY                  ? "busy"
                       : order < first_state(schema)        ? "cpu"
                       : order == unaccounted_order(schema) ? "unaccounted"
                       : label < schema->label_count        ? schema->label_names[label]
                       : label == schema->label_count       ? "name"
                                                            : "elapsed";

    if (column < schema->column_count)
        name = schema->columns[column].name;
    if (column < schema->column_count && schema->columns[column].kind == COLUMN_STATE)
        column_stem(&schema->columns[column], ret);
    else
        copy_name(ret, name, strlen(name));
}

size_t order_find(const struct schema *schema, const char *name)
{
    const size_t count = order_count(schema);

    for (size_t i = 0; i < count; i++) {
        char order[ORDER_NAME_SIZE];

        order_name(schema, i, order);
        if (strcmp(order, name) == 0)
            return i;
    }
    return count;
}

static bool is_picked(const struct entity *entity, const struct selection *selection)
{
    bool wanted = selection->pid_count == 0;

    if (selection->no_kernel_threads && (entity->flags & ENTITY_KERNEL) != 0)
        return false;
    for (size_t i = 0; i < selection->pid_count && !wanted; i++)
        wanted = entity_pid(entity) == selection->pids[i];
    for (size_t i = 0; i < selection->only_count && wanted; i++)
        wanted = strcmp(labels_value(entity->labels, selection->only[i].label),
                        selection->only[i].text) == 0;
    return wanted;
}

/* If all rows are wanted, which is the usual case, nothing is copied. */
int selection_pick(struct selected *ret, const struct frame *frame,
                   const struct selection *selection)
{
    ret->picked = frame;
    if (selection->pid_count == 0 && !selection->no_kernel_threads && selection->only_count == 0)
        return CAMP_OK;
    frame_start_as(&ret->copy, frame);
    ret->picked = &ret->copy;
    for (size_t i = 0; i < frame->entity_count; i++) {
        if (is_picked(&frame->entities[i], selection) &&
            frame_add_row(&ret->copy, frame, i) == NULL)
            return CAMP_E_NOMEM;
    }
    return CAMP_OK;
}

const char *selection_name(const struct selection *selection, const struct entity *row)
{
    return selection->name != NULL ? selection->name(selection->context, row) : row->name;
}

static bool matches(const struct selection *selection, const struct entity *row)
{
    const regex_t *filter = selection->filter;
    bool wanted =
        filter == NULL || regexec(filter, selection_name(selection, row), 0, NULL, 0) == 0;

    for (size_t i = 0; !wanted && !selection->filters_names && i < labels_count(row->labels); i++)
        wanted = regexec(filter, labels_value(row->labels, i), 0, NULL, 0) == 0;
    return wanted;
}

uint64_t class_ns(const struct frame *frame, size_t row, enum column_class class)
{
    const struct filled_columns states = frame_filled_states(frame, row);
    uint64_t sum = 0;

    for (size_t i = states.first; i < states.end; i++)
        sum += frame->schema->columns[i].class == class ? states.values[i - states.first] : 0;
    return sum;
}

uint64_t busy_ns(const struct frame *frame, size_t row)
{
    const struct filled_columns states = frame_filled_states(frame, row);
    const int64_t unaccounted = frame_unaccounted_ns(frame, row);
    uint64_t sum = unaccounted > 0 ? (uint64_t)unaccounted : 0;

    for (size_t i = states.first; i < states.end; i++)
        sum += frame->schema->columns[i].class != CLASS_IDLE ? states.values[i - states.first] : 0;
    return sum;
}

/* What an order sorts by. */
struct order_parts {
    size_t column; /* column_count if the order sorts by none */
    bool by_unaccounted, by_elapsed, by_cpu;
};

static struct order_parts parts_of(const struct schema *schema, size_t order)
{
    return (struct order_parts){
        .column = order_column(schema, order),
        .by_unaccounted = order == unaccounted_order(schema),
        .by_elapsed = order == order_count_of_states(schema),
        .by_cpu = order != ORDER_BUSY && order < first_state(schema),
    };
}

static uint64_t value_of(const struct frame *frame, size_t row, struct order_parts parts)
{
    return parts.column < frame->schema->column_count ? frame_values(frame, row)[parts.column]
           : parts.by_unaccounted                     ? frame_unaccounted_size_ns(frame, row)
           : parts.by_elapsed                         ? frame->elapsed_ns[row]
           : parts.by_cpu                             ? class_ns(frame, row, CLASS_CPU)
                                                      : busy_ns(frame, row);
}

static void order_values(const struct frame *frame, size_t order, uint64_t *ret)
{
    const struct order_parts parts = parts_of(frame->schema, order);

    for (size_t i = 0; i < frame->entity_count; i++)
        ret[i] = value_of(frame, i, parts);
}

uint64_t order_value(const struct frame *frame, size_t order, size_t row)
{
    return value_of(frame, row, parts_of(frame->schema, order));
}

enum order_unit order_unit(const struct schema *schema, size_t order)
{
    const struct order_parts parts = parts_of(schema, order);

    if (order_label(schema, order) != SIZE_MAX)
        return ORDER_OF_TEXT;
    return parts.column >= schema->column_count ||
                   ends_with(schema->columns[parts.column].name, "_ns")
               ? ORDER_OF_TIME
               : ORDER_OF_NUMBER;
}

bool order_counts_idle(const struct schema *schema, size_t order)
{
    const struct order_parts parts = parts_of(schema, order);
    const struct column *column;

    if (parts.column >= schema->column_count)
        return !parts.by_cpu;
    column = &schema->columns[parts.column];
    return column->kind == COLUMN_GAUGE ||
           (column->kind == COLUMN_STATE && column->class != CLASS_CPU &&
            column->class != CLASS_READY && column->class != CLASS_THROTTLED);
}

/* Sets ret->keys to the numbers by which selection->key, or the order, sorts. For an order by a
 * text they are the busy times, which order equal texts. */
static void fill_keys(struct selected *ret, const struct selection *selection)
{
    if (selection->key == NULL) {
        order_values(ret->rows, selection->order, ret->keys);
        return;
    }
    for (size_t i = 0; i < ret->rows->entity_count; i++)
        ret->keys[i] = selection->key(selection->context, ret->rows, i);
}

struct sorting {
    const struct selected *selected;
    const struct selection *selection;
    /* index of a label; label_count to sort by name, SIZE_MAX to sort by selected->keys */
    size_t label;
};

static bool is_apart(const struct selection *selection, const struct entity *row)
{
    return selection->exited_apart && (row->flags & ENTITY_ENDED) != 0;
}

static const char *text_of(const struct sorting *sorting, size_t row)
{
    const struct frame *rows = sorting->selected->rows;

    return sorting->label == rows->schema->label_count
               ? selection_name(sorting->selection, &rows->entities[row])
               : labels_value(rows->entities[row].labels, sorting->label);
}

/* Compares rows by the label or name that sorting->label selects, if any, and then by their
 * keys. */
static int compare_rows(const void *a, const void *b, void *context)
{
    const struct sorting *sorting = context;
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;
    const uint64_t *keys = sorting->selected->keys;
    const int by_text =
        sorting->label == SIZE_MAX ? 0 : strcmp(text_of(sorting, left), text_of(sorting, right));

    if (by_text != 0)
        return by_text;
    if (keys[left] != keys[right])
        return keys[left] > keys[right] ? -1 : 1;
    return left < right ? -1 : left > right;
}

static void sort_all(const struct sorting *sorting, size_t *rows, size_t count)
{
    qsort_r(rows, count, sizeof *rows, compare_rows, (void *)sorting);
}

/* Sorts the first `most` of rows[count] to the front. Of many rows few are shown, so most are only
 * compared with the last of these. */
static void sort_first(const struct sorting *sorting, size_t *rows, size_t count, size_t most)
{
    bool is_full = false;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (is_full && compare_rows(&rows[i], &rows[most - 1], (void *)sorting) > 0)
            continue;
        rows[kept++] = rows[i];
        if (kept / 2 >= most && most > 0) {
            sort_all(sorting, rows, kept);
            kept = most;
            is_full = true;
        }
    }
    sort_all(sorting, rows, kept);
}

static int reserve(struct selected *ret)
{
    const size_t wanted = ret->rows->entity_count + 1;

    if (!ARRAYS_RESERVE(ret->capacity, wanted, ARRAY(ret->keys), ARRAY(ret->order),
                        ARRAY(ret->depths)))
        return CAMP_E_NOMEM;
    memset(ret->depths, 0, wanted * sizeof *ret->depths);
    return CAMP_OK;
}

/* Lists the rows that match: first the living ones, then those that are apart. */
static void list_rows(struct selected *ret, const struct selection *selection)
{
    const struct frame *rows = ret->rows;
    bool any_apart = false;

    ret->count = 0;
    for (size_t i = 0; i < rows->entity_count; i++) {
        if (is_apart(selection, &rows->entities[i]))
            any_apart = true;
        else if (matches(selection, &rows->entities[i]))
            ret->order[ret->count++] = i;
    }
    ret->living = ret->count;
    for (size_t i = 0; any_apart && i < rows->entity_count; i++) {
        if (is_apart(selection, &rows->entities[i]) && matches(selection, &rows->entities[i]))
            ret->order[ret->count++] = i;
    }
}

/* Sorts the rows, and keeps at most selection->most of them. Rows of exited entities get the space
 * that the rows of living entities leave, but at least a quarter. */
static int sort_rows(struct selected *ret, const struct selection *selection)
{
    const struct sorting sorting = { ret, selection,
                                     order_label(ret->rows->schema, selection->order) };
    const size_t most = selection->most > 0 ? selection->most : ret->count;
    const size_t living = ret->living, ended = ret->count - living;
    const size_t left = living < most ? most - living : 0;
    const size_t space = left > most / 4 ? left : most / 4;
    const size_t kept_ended = ret->count <= most || ended < space ? ended : space;
    const size_t kept_living = living < most - kept_ended ? living : most - kept_ended;
    int r = CAMP_OK;

    if (selection->tree) {
        sort_all(&sorting, ret->order, living);
        r = tree_order(ret->rows, selection->tree_label, ret->order, living, ret->depths);
    } else {
        sort_first(&sorting, ret->order, living, kept_living);
    }
    sort_first(&sorting, ret->order + living, ended, kept_ended);
    memmove(ret->order + kept_living, ret->order + living, kept_ended * sizeof *ret->order);
    memset(ret->depths + kept_living, 0, kept_ended * sizeof *ret->depths);
    ret->cut = ret->count - kept_living - kept_ended;
    ret->count = kept_living + kept_ended;
    ret->living = kept_living;
    return r;
}

int selection_fill(struct selected *ret, const struct selection *selection)
{
    int r = CAMP_OK;

    ret->rows = ret->picked;
    if (selection->grouping.key != GROUP_NONE) {
        r = group_frame(&ret->groups, ret->picked, &selection->grouping);
        ret->rows = &ret->groups;
    }
    if (r == CAMP_OK)
        r = reserve(ret);
    if (r != CAMP_OK)
        return r;
    fill_keys(ret, selection);
    list_rows(ret, selection);
    return sort_rows(ret, selection);
}

void selected_release(struct selected *selected)
{
    frame_release(&selected->copy);
    frame_release(&selected->groups);
    free(selected->order);
    free(selected->depths);
    free(selected->keys);
    *selected = (struct selected){ 0 };
}
