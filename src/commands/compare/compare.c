/*
 * camp compare compares two recordings, or two ranges of recordings: which entity spends more or
 * less time in which state, and how sure that is (ledger/comparison/difference.h).
 */
#include "commands/report/report_picture.h"
#include "compare_causes.h"
#include "compare_picture.h"
#include "compare_record.h"
#include "counters/units.h"
#include "program/command.h"
#include "program/process_selection.h"
#include "views/view.h"

#include <stdio.h>
#include <string.h>

#define TEXT_ROWS 20
#define LEAST_POINTS 1
#define SEED 1

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };
static const char *const formats[] = { "text", "json", "csv", NULL };
static const char *const pictures[] = { "barry3", NULL };

struct compare {
    uint64_t rows, seed;
    uint64_t picture_rows; /* how many rows have an arrow: --top, or 0 for all */
    int format, picture;
    double least_points;
    const char *group, *filter_text, *fail_on, *output, *axes;
    const char *begin_b, *end_b;
    regex_t filter;
    const regex_t *used_filter;
    struct from_options from; /* the options as they are given; no source is opened with them */
    struct compare_side sides[2];
    struct compared_entities entities;
    struct compared_causes matched_causes;
    struct comparison comparison, causes; /* of the states, and of their causes */
    struct compare_record record;
};

static const char usage[] = "camp compare [OPTIONS] A [B]";

#define FROM_RANGE_OPTIONS(compare)                                                                \
    { "begin",                                                                                     \
      0,                                                                                           \
      OPTION_TEXT,                                                                                 \
      &(compare)->from.begin,                                                                      \
      "TIME",                                                                                      \
      "Start reading A and B at this time: 2026-11-22T02:00 (or with Z or +01:00), 02:00, +10m "   \
      "after the start, -10m before the end.",                                                     \
      0,                                                                                           \
      0,                                                                                           \
      NULL },                                                                                      \
        { "end",       0,                                                                          \
          OPTION_TEXT, &(compare)->from.end,                                                       \
          "TIME",      "Stop reading A and B at this time, written as for --begin.",               \
          0,           0,                                                                          \
          NULL },                                                                                  \
        { "begin-b",                                                                               \
          0,                                                                                       \
          OPTION_TEXT,                                                                             \
          &(compare)->begin_b,                                                                     \
          "TIME",                                                                                  \
          "Start reading B at this time. With --begin-b or --end-b, --begin and --end are of A "   \
          "alone.",                                                                                \
          0,                                                                                       \
          0,                                                                                       \
          NULL },                                                                                  \
    {                                                                                              \
        "end-b", 0, OPTION_TEXT, &(compare)->end_b, "TIME", "Stop reading B at this time.", 0, 0,  \
            NULL                                                                                   \
    }

static const struct option_rule rules[] = {
    { "picture", "output", NULL,
      "--picture needs --output, a file that ends with .svg, .png or "
      ".pdf" },
    { "output", "picture", NULL, NULL },
    { "axes", "picture", NULL, NULL },
    { 0 },
};

static int parse(struct compare *compare, int argc, char **argv, int *ret_first)
{
    struct from *from = &compare->from.from;
    const struct option_spec specs[] = {
        FROM_RANGE_OPTIONS(compare),
        COMMON_OPTION(COMMON_GROUP, &compare->group,
                      .help = "What a row is. For threads: process (all of one name; the default), "
                              "thread, user, or a label, such as container, pod or unit. For other "
                              "rows: one of their labels. Rows of one name or value are added up."),
        COMMON_OPTION(COMMON_FILTER, &compare->filter_text,
                      .help = "Compare only the rows whose name matches (POSIX extended)."),
        { "at-least", 0, OPTION_REAL, &compare->least_points, "POINTS",
          "The smallest difference of interest, in points: 1 (the default) is 10 ms of each "
          "second, or 1 % of a CPU. Only a difference that is surely larger is reported.",
          0, 1e9, NULL },
        { "fail-on", 0, OPTION_TEXT, &compare->fail_on, "WHAT,...",
          "End with exit status 5 if a difference was found: any; more or less, of a state whose "
          "meaning camp knows and that is not idle; causes: of the causes of a state; or of the "
          "states that are named, such as run_queue or more,user.",
          0, 0, NULL },
        { "seed", 0, OPTION_COUNT, &compare->seed, "N",
          "Draw other random numbers (1). The same seed gives the same result.", 0, 1e15, NULL },
        COMMON_OPTION(COMMON_FORMAT, &compare->format,
                      .help = "text, json (one object, camp.compare/1) or csv.",
                      .choices = formats),
        COLOR_OPTION,
        COMMON_OPTION(COMMON_TOP, &compare->rows,
                      .help = "Show at most N rows, those with the largest differences first; 0: "
                              "all. (Default: 20 in text, all in other formats and in the "
                              "picture.)"),
        { "picture", 0, OPTION_CHOICE, &compare->picture, "KIND",
          "Also draw the triangle with an arrow for each entity, from its place in A to that in B: "
          "--output x.svg, x.png or x.pdf.",
          0, 0, pictures },
        COMMON_OPTION(COMMON_OUTPUT, &compare->output, .help = "The file of the picture."),
        { "axes", 0, OPTION_TEXT, &compare->axes, "AXES",
          "Corners of the triangle: \"CPU=user+system; WAIT=disk+lock; IDLE=*\".", 0, 0, NULL },
        { "query", 0, OPTION_TEXT, &from->query, "QUERY",
          "With sqlite:FILE or odbc:DSN: SQL that returns a time, an entity and numbers. With "
          "prometheus:URL: matchers that select hosts, or PromQL.",
          0, 0, NULL },
        { "unit", 0, OPTION_TEXT, &from->unit, "UNIT",
          "The unit of the numbers in a table: ns, us, ms, s, percent or share.", 0, 0, NULL },
        { "column", 0, OPTION_TEXT, &from->column, "LABEL",
          "With PromQL in --query: the label that names the column.", 0, 0, NULL },
        COMMON_OPTION(COMMON_HOST, &from->host,
                      .help = "With prometheus:URL: compare the groups of this host."),
    };
    const struct option_table table = {
        .usage = usage,
        .about = "Compares two recordings, A and B, or two ranges of A: which process spends more\n"
                 "or less of each second in which state, and how sure that is. A and B are what\n"
                 "--from of camp top takes, and have an end: FILE.camp, FILE.csv, demo,\n"
                 "sqlite:FILE, odbc:DSN with --query, or prometheus:URL with --begin.\n"
                 "docs/compare.md explains each column, and what a verdict means.",
        .specs = specs,
        .count = sizeof specs / sizeof specs[0],
        .rules = rules,
    };

    return options_parse(&table, argc, argv, ret_first);
}

/* Sets the options of both sides. B has a range of its own if one of its options is given. */
static int set_options(struct compare *compare)
{
    const bool has_range = compare->begin_b != NULL || compare->end_b != NULL;
    struct compare_side *sides = compare->sides;

    for (int i = 0; i < 2; i++) {
        struct from_options *options = &sides[i].page.from;

        options->begin = i == 1 && has_range ? compare->begin_b : compare->from.begin;
        options->end = i == 1 && has_range ? compare->end_b : compare->from.end;
        options->range = i == 1 && has_range ? "-b" : "";
        options->sandbox.output = compare->output;
        options->sandbox.converts =
            compare->picture >= 0 && picture_file_is_converted(compare->output);
        compare_side_allow(&sides[i], &sides[1 - i]);
    }
    return compare_sides_set_options(sides, &compare->from.from);
}

/* Sets A and B from the operands. Without B, both are ranges of A. */
static int read_operands(struct compare *compare, int count, char **operands)
{
    const bool has_range = compare->begin_b != NULL || compare->end_b != NULL;
    const char *b;
    int status = OPTIONS_GO_ON;

    if (count < 1 || count > 2)
        return complain(STATUS_USAGE, "takes one or two recordings: %s", usage);
    if (count == 1 && !has_range)
        return complain(STATUS_USAGE,
                        "takes two recordings, or --begin-b or --end-b for a second "
                        "range of %s",
                        from_shown(operands[0]).text);
    b = operands[count - 1];
    if (strcmp(operands[0], "-") == 0 && strcmp(b, "-") == 0)
        return complain(STATUS_USAGE, "A and B cannot both be standard input");
    compare->sides[0].page.from.from.text = operands[0];
    compare->sides[1].page.from.from.text = b;
    for (int i = 0; i < 2 && status == OPTIONS_GO_ON; i++)
        status =
            compare_side_check(compare->sides[i].page.from.from.text, compare->from.from.query);
    return status;
}

static int read_options(struct compare *compare, int argc, char **argv)
{
    int first, status;

    *compare = (struct compare){
        .rows = UINT64_MAX, .least_points = LEAST_POINTS, .seed = SEED, .picture = -1
    };
    for (int i = 0; i < 2; i++) {
        page_options_init(&compare->sides[i].page);
        compare->sides[i].number = i;
        compare->sides[i].name = i == 0 ? "A" : "B";
    }
    status = parse(compare, argc, argv, &first);
    if (status == OPTIONS_GO_ON)
        status = read_operands(compare, argc - first, argv + first);
    if (status == OPTIONS_GO_ON && compare->picture >= 0)
        status = picture_file_check(compare->output);
    if (status == OPTIONS_GO_ON)
        status = set_options(compare);
    if (status != OPTIONS_GO_ON)
        return status;
    compare->picture_rows = compare->rows == UINT64_MAX ? 0 : compare->rows;
    if (compare->rows == UINT64_MAX)
        compare->rows = compare->format == FORMAT_TEXT ? TEXT_ROWS : 0;
    return pattern_compile("filter", compare->filter_text, &compare->filter, &compare->used_filter);
}

/* Returns whether a word is in a list such as "more,user". */
static bool names_word(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

static int check_word(const struct compare *compare, const char *word, size_t length)
{
    const struct comparison *comparison = &compare->comparison;
    static const char *const directions[] = { "any", "more", "less", "causes" };
    char names[1000] = "";
    size_t used = 0;

    for (size_t i = 0; i < ARRAY_COUNT(directions); i++) {
        if (strlen(directions[i]) == length && strncmp(directions[i], word, length) == 0)
            return OPTIONS_GO_ON;
    }
    for (size_t i = 0; i < comparison->state_count && used < sizeof names; i++) {
        const char *name = comparison->states[i].name;

        if (strlen(name) == length && strncmp(name, word, length) == 0)
            return OPTIONS_GO_ON;
        used += (size_t)snprintf(names + used, sizeof names - used, ", %s", name);
    }
    return complain(STATUS_USAGE, "--fail-on %.*s: takes any, more, less, causes%s", (int)length,
                    word, names);
}

static int check_fail_on(const struct compare *compare)
{
    const char *at = compare->fail_on;
    int status = OPTIONS_GO_ON;

    while (at != NULL && status == OPTIONS_GO_ON) {
        const size_t length = strcspn(at, ",");

        status = check_word(compare, at, length);
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return status;
}

static bool fails_on(const struct compare *compare, const struct compared_row *row, bool has_states)
{
    const struct comparison *comparison = &compare->comparison;
    const bool more = names_word(compare->fail_on, "more"),
               less = names_word(compare->fail_on, "less");

    if (row->verdict < DIFFERENCE_MORE)
        return false;
    if (names_word(compare->fail_on, "any"))
        return true;
    if ((more || less) && !(row->verdict == DIFFERENCE_MORE ? more : less))
        return false;
    return has_states ? names_word(compare->fail_on, comparison->states[row->state].name)
                      : comparison->states[row->state].class != CLASS_NONE &&
                            !comparison_is_idle(comparison, row);
}

/* Returns whether a row has a difference that --fail-on names. */
static bool has_failed(const struct compare *compare)
{
    const struct comparison *comparison = &compare->comparison;
    bool has_states = false;

    if (compare->fail_on == NULL)
        return false;
    if (names_word(compare->fail_on, "causes") && compare->causes.more + compare->causes.less > 0)
        return true;
    for (size_t i = 0; i < comparison->state_count; i++)
        has_states |= names_word(compare->fail_on, comparison->states[i].name);
    for (size_t i = 0; i < comparison->count; i++) {
        if (fails_on(compare, &comparison->rows[i], has_states))
            return true;
    }
    return false;
}

static int open_sides(struct compare *compare)
{
    struct compare_side *sides = compare->sides;
    int status = compare_side_open(&sides[0], compare->group);

    if (status == OPTIONS_GO_ON)
        status = compare_side_open(&sides[1], compare->group);
    if (status == OPTIONS_GO_ON && comparison_match_states(&compare->comparison, sides) != CAMP_OK)
        status = complain(STATUS_FAILURE, "out of memory");
    if (status == OPTIONS_GO_ON && compare->comparison.state_count == 0)
        status = complain(STATUS_USAGE, "%s and %s have no state in common",
                          sides[0].page.facts.name, sides[1].page.facts.name);
    return status == OPTIONS_GO_ON ? check_fail_on(compare) : status;
}

static int show(struct compare *compare)
{
    const struct compare_facts facts = { .sides = compare->sides,
                                         .least = compare->least_points / 100,
                                         .seed = compare->seed,
                                         .rows = (size_t)compare->rows,
                                         .causes = &compare->causes,
                                         .is_text = compare->format == FORMAT_TEXT };
    const struct view_options options = view_options_of(stdout);

    if (compare_record_fill(&compare->record, &compare->comparison, &facts) != CAMP_OK)
        return complain(STATUS_FAILURE, "out of memory");
    return show_document(&compare->record.document, view_by_name(formats[compare->format]),
                         &options, 0);
}

/* Returns STATUS_PARTIAL after a message if a recording is too short for a verdict. */
static int check_length(const struct compare *compare)
{
    for (int i = 0; i < 2; i++) {
        const struct compare_side *side = &compare->sides[i];

        if (side->timeline.frame_count < BOOTSTRAP_FEWEST)
            return complain(STATUS_PARTIAL,
                            "%s has %zu intervals, and a verdict needs %d: record more, or shorter "
                            "ones",
                            side->page.facts.name, side->timeline.frame_count, BOOTSTRAP_FEWEST);
    }
    return STATUS_OK;
}

static int status_of(const struct compare *compare)
{
    int status;

    for (int i = 0; i < 2; i++) {
        if (compare->sides[i].page.status != OPTIONS_GO_ON)
            return compare->sides[i].page.status; /* its intact part was compared */
        if (compare->sides[i].causes.is_damaged)
            return STATUS_FAILURE;
    }
    status = check_length(compare);
    return status == STATUS_OK && has_failed(compare) ? STATUS_FOUND : status;
}

/* Compares the states, and the causes if both recordings have them. */
static int compare_all(struct compare *compare)
{
    const struct compare_side *sides = compare->sides;
    const struct timeline *const timelines[2] = { &sides[0].timeline, &sides[1].timeline };
    const double least = compare->least_points / 100;
    struct comparison *states = &compare->comparison;
    int r;

    states->entities = &compare->entities;
    states->families = compare_has_causes(sides) ? 2 : 1;
    r = comparison_fill(states, timelines, compare->entities.count, least, compare->seed);
    if (r == CAMP_OK && !stop_requested)
        r = compare_causes(&compare->causes, states, sides, least, compare->seed);
    return r == CAMP_OK ? comparison_sort(states) : r;
}

static int run(struct compare *compare)
{
    struct compare_side *sides = compare->sides;
    int status = open_sides(compare);

    for (int i = 0; i < 2 && status == OPTIONS_GO_ON; i++)
        status = compare_side_read(&sides[i], &compare->entities, &compare->matched_causes,
                                   &compare->comparison, compare->used_filter);
    if (status != OPTIONS_GO_ON)
        return status;
    if (stop_requested)
        return complain(STATUS_FAILURE, "interrupted before all of %s and %s was read",
                        sides[0].page.facts.name, sides[1].page.facts.name);
    if (compare->entities.count == 0 && compare->filter_text != NULL)
        return complain(STATUS_FAILURE, "A and B have no name that matches --filter");
    if (compare_all(compare) != CAMP_OK)
        return complain(STATUS_FAILURE, "out of memory");
    if (stop_requested)
        return complain(STATUS_FAILURE, "interrupted before all rows were compared");
    if (compare->picture >= 0)
        status = compare_picture(compare->output, compare->axes, sides, &compare->comparison,
                                 (size_t)compare->picture_rows);
    if (status == OPTIONS_GO_ON || status == STATUS_OK)
        status = show(compare);
    return status == OPTIONS_GO_ON ? status_of(compare) : status;
}

int command_compare(int argc, char **argv)
{
    struct compare compare;
    int status = read_options(&compare, argc, argv);

    if (status == OPTIONS_GO_ON) {
        stop_on_signals();
        status = run(&compare);
    }
    for (int i = 0; i < 2; i++)
        compare_side_release(&compare.sides[i]);
    compared_entities_release(&compare.entities);
    comparison_release(&compare.comparison);
    comparison_release(&compare.causes);
    compared_causes_release(&compare.matched_causes);
    document_release(&compare.record.document);
    if (compare.used_filter != NULL)
        regfree(&compare.filter);
    return status;
}
