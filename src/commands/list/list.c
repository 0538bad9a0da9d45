/*
 * camp list prints the names of everything that camp can read. Each name is a valid operand of
 * `camp get`.
 */
#include "commands/get/subjects.h"
#include "list_inside.h"
#include "program/command.h"
#include "program/suggestion.h"

#include "views/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
    struct camp_source source;
    struct subjects subjects;
    const char *pid;
    const char *name;
    bool with_names; /* --long */
    bool physical;   /* only disks with a device of their own */
    int format;      /* enum list_format */
};

#define FULL_NAME_SIZE (2 * CAMP_NAME_SIZE)

int list_print(enum list_format format, const struct table *table)
{
    static const char *const views[] = { "text", "json", "csv" };
    const struct record record = { .schema = "camp.list/1", .tables = table, .table_count = 1 };
    const struct view_options options = { .stream = stdout, .width = view_limit(stdout) };
    const struct view *view = view_by_name(views[format]);
    int failed = view->record(&options, &record, 0);

    return failed != 0 ? output_failed(failed) : STATUS_OK;
}

static int out_of_memory(void)
{
    return complain(STATUS_FAILURE, "no memory left; list one kind at a time");
}

static const struct field kind_fields[] = {
    { "kind", "kind", "what stands before the first dot", 0, 0 },
    { "subjects", "there are", "how many of them there are now; unknown is null", 0, 0 },
    { "counters", "counters", "how many counters each has", 0, 0 },
    { "name", "camp get", "what camp get takes for every one of them", 0, 0 },
    { "list", "camp list", "what camp list takes to name them", 0, 0 },
    { "help", "what they are", "a few words", 0, 0 },
};

#define KIND_FIELDS (sizeof kind_fields / sizeof kind_fields[0])

static size_t counters_of(enum camp_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < all_counters()->count; i++)
        count += (all_counters()->items[i].kinds & kind) != 0;
    return count;
}

static int list_kinds(struct list *list)
{
    struct cell cells[KIND_COUNT * KIND_FIELDS];
    const struct table table = { "kinds", TABLE_ROWS, kind_fields, KIND_FIELDS, cells, KIND_COUNT };
    struct camp_error error = { 0 };
    char reported[CAMP_ERROR_SIZE] = "";
    int status = STATUS_OK;
    bool searched = false;

    for (size_t i = 0; i < KIND_COUNT; i++) {
        struct cell *row = &cells[i * KIND_FIELDS];
        int result = subjects_list(&list->subjects, kinds[i].kind, &error);

        if (result < 0) {
            status = STATUS_PARTIAL;
            if (strcmp(reported, error.message) != 0)
                complain_of(result, &error);
            memcpy(reported, error.message, sizeof reported);
        }
        row[0] = cell_text(camp_kind_name(kinds[i].kind));
        row[1] = result < 0 ? cell_unknown() : cell_natural(list->subjects.count);
        row[2] = cell_natural(counters_of(kinds[i].kind));
        row[3] = cell_text(kinds[i].any);
        row[4] = cell_text(kinds[i].plural);
        row[5] = cell_text(kinds[i].help);
        searched |= list->subjects.were_searched;
        subjects_release(&list->subjects);
    }
    list->subjects.were_searched = searched;
    subjects_note_hidden(&list->subjects);
    if (list_print((enum list_format)list->format, &table) != STATUS_OK)
        return STATUS_FAILURE;
    if (list->format == LIST_TEXT)
        printf("\n`camp list counters` explains each counter, `camp list networks` names "
               "each.\n");
    return fflush(stdout) != 0 ? output_failed(errno) : status;
}

static const struct field counter_fields[] = {
    { "name", "counter", "as camp get takes it", 0, 0 },
    { "unit", "unit", "of its value", 0, 0 },
    { "provenance", "obtained", "how, on this system: measured, sampled, scaled, derived", 0, 0 },
    { "nature", NULL, "counter, level, fact, or derived over an interval", 0, 0 },
    { "help", "what it is", "one sentence", 0, 0 },
    { "resolution", "resolution", "the smallest step of its value", 0, 0 },
    { "source", "source", "where it is read on this system", 0, 0 },
    { "needs", NULL, "the capabilities that some of it takes", 0, 0 },
};

#define COUNTER_FIELDS (sizeof counter_fields / sizeof counter_fields[0])

static void full_name(char *ret, const struct kind_words *kind, const struct camp_counter *counter)
{
    snprintf(ret, FULL_NAME_SIZE, "%s.%s",
             kind->has_total && !counter_lacks_total(counter) ? camp_kind_name(kind->kind)
                                                              : kind->any,
             counter->name);
}

static void fill_counter(struct cell *row, const struct camp_counter *counter,
                         const struct camp_kernel *kernel)
{
    static const char *const natures[] = {
        [CAMP_NATURE_COUNTER] = "counter",
        [CAMP_NATURE_LEVEL] = "level",
        [CAMP_NATURE_FACT] = "fact",
        [CAMP_NATURE_SHARE] = "derived",
    };

    row[1] = cell_text(counter->unit);
    row[2] = counter->rule == CAMP_RULE_NONE
                 ? cell_unknown()
                 : cell_text(camp_provenance_name(
                       camp_counter_provenance(counter, kernel, CAMP_CPU_TOTAL, NULL)));
    row[3] = cell_text(natures[counter->nature]);
    row[4] = cell_text(counter->help);
    row[5] = cell_text(counter->resolution);
    row[6] = cell_text(counter->source);
    row[7] = cell_text(counter->capability);
}

static int list_counters(const struct list *list, uint32_t wanted)
{
    const struct counters *all = all_counters();
    struct cell *cells = calloc(all->count * KIND_COUNT, COUNTER_FIELDS * sizeof *cells);
    char(*names)[FULL_NAME_SIZE] = calloc(all->count * KIND_COUNT, sizeof *names);
    struct table table = { "counters", TABLE_ROWS, counter_fields, COUNTER_FIELDS, cells, 0 };
    struct camp_kernel kernel = { 0 };
    int status = STATUS_FAILURE;

    if (cells == NULL || names == NULL) {
        status = out_of_memory();
        goto out;
    }
    /* If this call fails, facts about the kernel are shown as unknown. */
    camp_kernel_read(list->subjects.source, &kernel, sizeof kernel, NULL);
    for (size_t k = 0; k < KIND_COUNT; k++) {
        for (size_t i = 0; i < all->count; i++) {
            struct cell *row = &cells[table.row_count * COUNTER_FIELDS];

            if ((all->items[i].kinds & kinds[k].kind & wanted) == 0)
                continue;
            full_name(names[table.row_count], &kinds[k], &all->items[i]);
            row[0] = cell_text(names[table.row_count++]);
            fill_counter(row, &all->items[i], &kernel);
        }
    }
    status = list_print((enum list_format)list->format, &table);
out:
    free(cells);
    free(names);
    return status;
}

static const struct field subject_fields[] = {
    { "name", "", "as camp get takes it", 0, 0 },
    { "task", "", "the name of the process or thread, with --long", 0, 0 },
    { "state", "", "its state, with --long", 0, 0 },
};

#define SUBJECT_FIELDS (sizeof subject_fields / sizeof subject_fields[0])

static int find_subjects(struct list *list, const struct kind_words *kind, struct camp_error *error)
{
    struct subject subject;
    struct camp_process process;
    int result;

    if (list->physical)
        return subjects_list_physical_disks(&list->subjects, error);
    if (list->name != NULL && kind->kind == CAMP_KIND_PROCESS)
        return subjects_list_named(&list->subjects, list->name, error);
    if (list->pid == NULL)
        return subjects_list(&list->subjects, kind->kind, error);
    result = process_named(list->subjects.source, list->pid, &process, error);
    if (result < 0)
        return result;
    if (kind->kind == CAMP_KIND_THREAD)
        return subjects_list_threads(&list->subjects, &process, error);
    subject_of_process(&subject, &process);
    return subjects_add(&list->subjects, &subject, NULL, error);
}

/* Reads names and states. A process or thread that has exited since it was listed is dropped,
 * unless --pid was given. Other failures are reported. */
static int read_tasks(struct list *list)
{
    struct subjects *subjects = &list->subjects;
    int status = STATUS_OK;
    size_t kept = 0;

    for (size_t i = 0; i < subjects->count; i++)
        subjects->items[i].wanted = CAMP_TASK_NAME | CAMP_TASK_STATE;
    subjects_read(subjects);
    for (size_t i = 0; i < subjects->count; i++) {
        const struct subject *subject = &subjects->items[i];

        if (subject->now.result == CAMP_E_GONE && list->pid == NULL) {
            free(subject->failure);
            continue;
        }
        if (subject->now.result < 0) {
            status = STATUS_PARTIAL;
            complain(status, "%s: %s", subject->label,
                     subject->failure != NULL ? subject->failure
                                              : camp_result_name(subject->now.result));
        }
        subjects->items[kept++] = *subject;
    }
    subjects->count = kept;
    return status;
}

/* Prints the subjects. Without --long, prints only their names, for `camp get $(camp list
 * networks)`. */
static int print_subjects(struct list *list, const struct kind_words *kind)
{
    bool of_tasks = list->with_names && (kind->kind & (CAMP_KIND_PROCESS | CAMP_KIND_THREAD)) != 0;
    int unread = of_tasks ? read_tasks(list) : STATUS_OK;
    size_t count = list->subjects.count;
    size_t fields = of_tasks ? SUBJECT_FIELDS : 1;
    struct cell *cells = calloc(count * fields + 1, sizeof *cells);
    char(*states)[2] = calloc(count + 1, sizeof *states);
    const struct table table = { kind->plural != NULL ? kind->plural : camp_kind_name(kind->kind),
                                 TABLE_ROWS,
                                 subject_fields,
                                 fields,
                                 cells,
                                 count };
    int status;

    if (cells == NULL || states == NULL) {
        status = out_of_memory();
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        const struct subject *subject = &list->subjects.items[i];
        const struct camp_task *task = &subject->now.task;

        cells[i * fields] = cell_text(subject->label);
        if (!of_tasks)
            continue;
        states[i][0] = task->state;
        cells[i * fields + 1] = (task->known & CAMP_TASK_NAME) != 0 && task->name[0] != '\0'
                                    ? cell_text(task->name)
                                    : cell_unknown();
        cells[i * fields + 2] =
            (task->known & CAMP_TASK_STATE) != 0 ? cell_text(states[i]) : cell_unknown();
    }
    status = list_print((enum list_format)list->format, &table);
    if (status == STATUS_OK)
        status = unread;
out:
    free(cells);
    free(states);
    return status;
}

static const struct field disk_fields[] = {
    { "name", "disk", "as camp get takes it", 0, 0 },
    { "physical", "physical",
      "whether it has a device of its own: loop devices, RAM disks, RAID "
      "sets and device-mapper volumes have none",
      0, 0 },
};

#define DISK_FIELDS (sizeof disk_fields / sizeof disk_fields[0])

/* Both lists have the order of the system, so each search starts where the last one ended. */
static bool is_next(const struct subjects *physical, size_t *next, const struct subject *disk)
{
    for (size_t i = *next; disk != NULL && i < physical->count; i++) {
        if (strcmp(physical->items[i].label, disk->label) != 0)
            continue;
        *next = i + 1;
        return true;
    }
    return false;
}

/* Prints the disks for --long. */
static int print_disks(struct list *list)
{
    const struct subjects *disks = &list->subjects;
    struct subjects physical = { .source = disks->source };
    struct cell *cells = calloc(disks->count * DISK_FIELDS + 1, sizeof *cells);
    const struct table table = {
        "disks", TABLE_ROWS, disk_fields, DISK_FIELDS, cells, disks->count
    };
    struct camp_error error = { 0 };
    size_t next = 0;
    int result = subjects_list_physical_disks(&physical, &error);
    int status;

    if (cells == NULL || result < 0) {
        status = cells == NULL ? out_of_memory() : complain_of(result, &error);
        goto out;
    }
    for (size_t i = 0; i < disks->count; i++) {
        cells[i * DISK_FIELDS] = cell_text(disks->items[i].label);
        cells[i * DISK_FIELDS + 1] =
            cell_text(is_next(&physical, &next, &disks->items[i]) ? "yes" : "no");
    }
    status = list_print((enum list_format)list->format, &table);
out:
    free(cells);
    subjects_release(&physical);
    return status;
}

static int list_subjects(struct list *list, const struct kind_words *kind)
{
    struct camp_error error = { 0 };
    int result;

    if (list->pid != NULL && (kind->kind & (CAMP_KIND_PROCESS | CAMP_KIND_THREAD)) == 0)
        return complain(STATUS_USAGE, "--pid goes with processes or threads");
    if (list->name != NULL && kind->kind != CAMP_KIND_PROCESS)
        return complain(STATUS_USAGE, "--name goes with processes");
    if (list->name != NULL && list->pid != NULL)
        return complain(STATUS_USAGE, "--name and --pid do not go together; give one of them");
    if (list->physical && kind->kind != CAMP_KIND_DISK)
        return complain(STATUS_USAGE, "--physical goes with disks");
    result = find_subjects(list, kind, &error);
    subjects_note_hidden(&list->subjects);
    if (result < 0)
        return complain_of(result, &error);
    return list->with_names && kind->kind == CAMP_KIND_DISK ? print_disks(list)
                                                            : print_subjects(list, kind);
}

static int complain_of_kind(const char *word)
{
    struct suggestion suggestion = { .word = word };

    suggestion_offer(&suggestion, "counters");
    suggestion_offer(&suggestion, "sources");
    for (size_t i = 0; i < KIND_COUNT; i++)
        suggestion_offer(&suggestion,
                         kinds[i].plural != NULL ? kinds[i].plural : camp_kind_name(kinds[i].kind));
    if (suggestion.best != NULL)
        return complain(STATUS_USAGE, "there is no kind '%s'; did you mean '%s'?", word,
                        suggestion.best);
    return complain(STATUS_USAGE, "there is no kind '%s'; camp list names them", word);
}

static int dispatch(struct list *list, char **operands, int count)
{
    const struct kind_words *kind = NULL;
    bool of_counters =
        count > 0 && (strcmp(operands[0], "counters") == 0 || strcmp(operands[0], "counter") == 0);
    bool of_sources = count > 0 && strcmp(operands[0], "sources") == 0;
    const char *word = count > (of_counters ? 1 : 0) ? operands[of_counters ? 1 : 0] : NULL;

    if (count > (of_counters ? 2 : 1))
        return complain(STATUS_USAGE, "one kind at a time; '%s' is too much",
                        operands[of_counters ? 2 : 1]);
    if (list->physical && (word == NULL || of_counters || of_sources))
        return complain(STATUS_USAGE, "--physical goes with disks");
    if (of_sources)
        return list->pid != NULL || list->name != NULL
                   ? complain(STATUS_USAGE,
                              "--pid goes with processes or threads, and --name with processes")
                   : list_sources((enum list_format)list->format);
    if (word != NULL && (kind = kind_by_name(word, strlen(word))) == NULL)
        return complain_of_kind(word);
    if ((list->pid != NULL || list->name != NULL) && (of_counters || kind == NULL))
        return complain(STATUS_USAGE,
                        "--pid goes with processes or threads, and --name with processes");
    if (list->format == LIST_MARKDOWN)
        return complain(STATUS_USAGE, "markdown is the form of `camp list sources` alone");
    if (of_counters)
        return list_counters(list, kind != NULL ? (uint32_t)kind->kind : ~0u);
    return kind != NULL ? list_subjects(list, kind) : list_kinds(list);
}

static const char about[] =
    "Lists what can be read: cpus, memory, networks, disks, partitions, processes,\n"
    "threads, kernel, system, or counters [KIND]; without a KIND, the kinds. Every\n"
    "name is valid input of `camp get`. `camp list sources` lists what --from takes:\n\n"
    "  camp list counters cpu                  what there is to know of a CPU\n"
    "  camp get $(camp list networks) --rate   all of them\n"
    "  camp list processes --name nginx        as PID@START: never another's\n"
    "  camp list threads --pid 1234 --long     with their names";

int command_list(int argc, char **argv)
{
    static const char *const formats[] = { "text", "json", "csv", "markdown", NULL };
    struct list list = { .format = LIST_TEXT };
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_PID, &list.pid, .type = OPTION_TEXT,
                      .help = "List this process, or its threads."),
        COMMON_OPTION(COMMON_NAME, &list.name, .help = "List the processes of this program."),
        { "long", 'l', OPTION_FLAG, &list.with_names, NULL,
          "Print the names and states of tasks, and which disks are physical, too." },
        { "physical", 0, OPTION_FLAG, &list.physical, NULL,
          "List only disks with a device of their own, without loop devices and RAM disks." },
        COMMON_OPTION(COMMON_FORMAT, &list.format,
                      .help = "text, json or csv; for sources also markdown.", .choices = formats),
        COMMON_OPTION(COMMON_PROC, &list.source.proc),
        COMMON_OPTION(COMMON_SYS, &list.source.sys),
    };
    const struct option_table table = { "camp list [OPTIONS] [KIND | counters [KIND] | sources]",
                                        about, specs, sizeof specs / sizeof specs[0] };
    int first;
    int status = options_parse(&table, argc, argv, &first);

    if (status != OPTIONS_GO_ON)
        return status;
    if (list.source.proc != NULL || list.source.sys != NULL)
        list.subjects.source = &list.source;
    status = dispatch(&list, argv + first, argc - first);
    subjects_release(&list.subjects);
    return status;
}
