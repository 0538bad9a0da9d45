#include "compare_record.h"

#include "compare_cause_rows.h"
#include "compare_causes.h"
#include "counters/units.h"
#include "ledger/characters.h"
#include "ledger/words.h"
#include "program/command.h"
#include "views/frame_notes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAMES_LISTED 8
#define LIST_SIZE 800
#define TIER_SIZE 100

enum { SUMMARY, RECORDINGS, ROWS, CAUSES };

static const struct field summary_fields[] = {
    { "group", NULL, "what rows of A were added up by first; null: they are matched as they are" },
    { "at_least_points", NULL, "the smallest difference of interest; 1 is 10 ms of each second" },
    { "confidence_percent", NULL, "of low to high for a row, of wide_low to wide_high for all" },
    { "seed", NULL, "of the random numbers" },
    { "compared", NULL, "rows that could differ by at_least_points" },
    { "more", NULL, "rows with more time in B" },
    { "less", NULL, "rows with less time in B" },
    { "entities_in_both", NULL, "matched by name and labels" },
    { "entities_only_in_a", NULL, "by name and labels" },
    { "entities_only_in_b", NULL, "by name and labels" },
    { "other_rows_of_a", NULL, "rows of intervals whose names were too many: the entity (others)" },
    { "other_rows_of_b", NULL, "the same of B" },
    { "causes_compared", NULL,
      "causes of waits that could differ by at_least_points; null: A or B "
      "has none" },
    { "causes_more", NULL, "causes with more time in B" },
    { "causes_less", NULL, "causes with less time in B" },
};

static const struct field recording_fields[] = {
    { "recording", NULL, "A or B" },
    { "source", NULL, "its name" },
    { "tier", NULL, "how it was measured" },
    { "kind", NULL, "what its rows are" },
    { "begin", NULL, "of its first interval" },
    { "end", NULL, "of its last one" },
    { "intervals", NULL, "number of intervals in the recording, or in the range of it" },
    { "merged", NULL,
      "largest number of intervals that were added up to one to limit the work; 1: none" },
    { "wall_ns", NULL, "length of all intervals, without the gaps between them" },
    { "unseen", NULL, "events that were not seen, in all intervals: docs/top.md" },
    { "lost", NULL, "samples that were lost, in all intervals" },
    { "partial", NULL, "rows that are incomplete, in all intervals" },
};

static const struct field row_fields[] = {
    { "name", "name", "of the entity", 0, 0 },
    { "labels", NULL, "of the entity", 0, 0 },
    { "state", "state", "docs/states.md; unaccounted: time in no state", 0, 0 },
    { "in", NULL, "both, a or b: which recordings have the entity", 0, 0 },
    { "verdict", NULL, "more, less, none or unknown", 0, 0 },
    { "a_percent", "A %", "of the wall time of A; 100 is one thread all the time", 8, 2 },
    { "b_percent", "B %", "of the wall time of B; 100 is one thread all the time", 8, 2 },
    { "difference_points", "points", "B - A", 8, 2 },
    { "wide_low_points", "from", "with 95 % probability all rows are within these two", 8, 2 },
    { "wide_high_points", "to", "", 8, 2 },
    { NULL, "in B", "the verdict in words", 0, 0 },
    { "low_points", NULL, "with 95 % probability this row is within these two", 0, 2 },
    { "high_points", NULL, "", 0, 2 },
    { "a_ns_per_s", NULL, "time in the state in a second of wall time of A", 0, 0 },
    { "b_ns_per_s", NULL, "time in the state in a second of wall time of B", 0, 0 },
    { "difference_ns_per_s", NULL, "B - A", 0, 0 },
    { "low_ns_per_s", NULL, "with 95 % probability this row is within these two", 0, 0 },
    { "high_ns_per_s", NULL, "", 0, 0 },
    { "a_share_percent", NULL, "of the entity's own time in A", 0, 2 },
    { "b_share_percent", NULL, "of the entity's own time in B", 0, 2 },
    { "share_difference_points", NULL, "B - A", 0, 2 },
    { "share_low_points", NULL, "with 95 % probability this row is within these two", 0, 2 },
    { "share_high_points", NULL, "", 0, 2 },
    { "a_block", NULL, "length of the blocks of A, in intervals", 0, 0 },
    { "b_block", NULL, "length of the blocks of B, in intervals", 0, 0 },
};
#define LABELS_FIELD 1
_Static_assert(ARRAY_COUNT(row_fields) == COMPARE_FIELDS, "a field was forgotten");

static const struct table tables[] = {
    [SUMMARY] = DOCUMENT_ONE("summary", TABLE_OBJECT, summary_fields),
    [RECORDINGS] = { "recordings", TABLE_ROWS, recording_fields, ARRAY_COUNT(recording_fields),
                     NULL, 0, true },
    [ROWS] = DOCUMENT_ROWS("rows", row_fields),
    [CAUSES] = { "causes", TABLE_ROWS, compare_cause_fields, 0, NULL, 0, true },
};
static const struct record layout = DOCUMENT_LAYOUT("camp.compare/1", tables, ROWS);

static const char *const verdict_names[] = { [DIFFERENCE_UNKNOWN] = "unknown",
                                             [DIFFERENCE_NONE] = "none",
                                             [DIFFERENCE_MORE] = "more",
                                             [DIFFERENCE_LESS] = "less" };
static const char *const verdict_words[] = { [DIFFERENCE_UNKNOWN] = "too few intervals to say",
                                             [DIFFERENCE_NONE] = "no difference found",
                                             [DIFFERENCE_MORE] = "more",
                                             [DIFFERENCE_LESS] = "less" };

/* Returns which recordings have an entity: 0 for both, otherwise 1 + the number of the only one. */
static size_t place_of(const struct compared_entity *entity)
{
    return entity->is_in[0] && entity->is_in[1] ? 0 : entity->is_in[0] ? 1 : 2;
}

static double wall_s(const struct compare_side *side)
{
    const struct timeline *timeline = &side->timeline;
    double sum = 0;

    for (size_t i = 0; i < timeline->row_count; i++) {
        if (timeline->registry.entities[timeline->entities[i]].entity.id == COMPARE_CLOCK)
            sum += (double)timeline->elapsed_s[i];
    }
    return sum;
}

static struct losses losses_of(const struct timeline *timeline)
{
    struct losses ret = { 0 };

    for (size_t i = 0; i < timeline->frame_count; i++) {
        ret.unseen += timeline->frames[i].losses.unseen;
        ret.lost += timeline->frames[i].losses.lost;
        ret.partial += timeline->frames[i].losses.partial;
    }
    return ret;
}

static const char *moment(struct document *document, int64_t wall_clock_ns)
{
    char text[TIME_TEXT_SIZE];

    time_text(text, sizeof text, wall_clock_ns);
    return document_text(document, "%s", text);
}

static const char *kind_of(const struct compare_side *side)
{
    const char *kind = side->page.facts.kind;

    return kind[0] != '\0' ? kind : side->page.schema->name;
}

struct cell compare_ns_cell(double ns)
{
    return fabs(ns) < 9.2e18 ? cell_integer((int64_t)llround(ns)) : cell_unknown();
}

static void add_recording(struct document *document, const struct compare_side *side)
{
    const struct timeline *timeline = &side->timeline;
    const struct losses losses = losses_of(timeline);

    DOCUMENT_ADD(
        document, RECORDINGS,
        ((const struct cell[]){
            cell_text(side->name),
            cell_text(side->page.facts.name),
            cell_text(side->page.facts.tier),
            cell_text(kind_of(side)),
            cell_text(moment(document, timeline->frames[0].begin_ns)),
            cell_text(moment(document, timeline->frames[timeline->frame_count - 1].end_ns)),
            cell_natural(side->intervals),
            cell_natural(timeline->frames[0].merged),
            compare_ns_cell(wall_s(side) * NS_PER_S),
            cell_natural(losses.unseen),
            cell_natural(losses.lost),
            cell_natural(losses.partial),
        }));
}

const char *compare_place_name(const struct compared_entity *entity)
{
    static const char *const places[] = { "both", "a", "b" };

    return places[place_of(entity)];
}

const char *compare_verdict_name(enum difference_verdict verdict)
{
    return verdict_names[verdict];
}

static struct cell emphasise(struct cell cell, const struct compared_row *row)
{
    return emphasised(cell, row->verdict >= DIFFERENCE_MORE ? NOTABLE : PLAIN);
}

static void add_row(struct document *document, const struct comparison *comparison,
                    const struct compared_row *row)
{
    static const char *const only[] = { "", ", only in A", ", only in B" };
    const struct compared_entity *entity = &comparison->entities->items[row->entity];
    const struct compared_value *rate = &row->rate, *share = &row->share;
    const char *words = verdict_words[row->verdict];

    DOCUMENT_ADD(
        document, ROWS,
        ((const struct cell[]){
            cell_text(entity->name),
            cell_text(entity->labels),
            cell_text(comparison->states[row->state].name),
            cell_text(compare_place_name(entity)),
            cell_text(compare_verdict_name(row->verdict)),
            cell_real(100 * rate->ratios[0].value),
            cell_real(100 * rate->ratios[1].value),
            emphasise(cell_real(100 * rate->difference.value), row),
            cell_real(100 * rate->difference.wide.low),
            cell_real(100 * rate->difference.wide.high),
            emphasise(cell_text(document_text(document, "%s%s", words, only[place_of(entity)])),
                      row),
            cell_real(100 * rate->difference.own.low),
            cell_real(100 * rate->difference.own.high),
            compare_ns_cell(NS_PER_S * rate->ratios[0].value),
            compare_ns_cell(NS_PER_S * rate->ratios[1].value),
            compare_ns_cell(NS_PER_S * rate->difference.value),
            compare_ns_cell(NS_PER_S * rate->difference.own.low),
            compare_ns_cell(NS_PER_S * rate->difference.own.high),
            cell_real(100 * share->ratios[0].value),
            cell_real(100 * share->ratios[1].value),
            cell_real(100 * share->difference.value),
            cell_real(100 * share->difference.own.low),
            cell_real(100 * share->difference.own.high),
            cell_natural(rate->ratios[0].block),
            cell_natural(rate->ratios[1].block),
        }));
}

static void add_summary(struct document *document, const struct comparison *comparison,
                        const struct compare_facts *facts)
{
    const bool has_causes = compare_has_causes(facts->sides);
    size_t counts[3] = { 0 };

    for (size_t i = 0; i < comparison->entities->count; i++)
        counts[place_of(&comparison->entities->items[i])]++;
    DOCUMENT_ADD(document, SUMMARY,
                 ((const struct cell[]){
                     cell_text(facts->sides[0].group_name),
                     cell_real(100 * facts->least),
                     cell_real(100 * (1 - DIFFERENCE_RISK)),
                     cell_natural(facts->seed),
                     cell_natural(comparison->count),
                     cell_natural(comparison->more),
                     cell_natural(comparison->less),
                     cell_natural(counts[0]),
                     cell_natural(counts[1]),
                     cell_natural(counts[2]),
                     cell_natural(comparison->entities->others[0]),
                     cell_natural(comparison->entities->others[1]),
                     has_causes ? cell_natural(facts->causes->count) : cell_unknown(),
                     has_causes ? cell_natural(facts->causes->more) : cell_unknown(),
                     has_causes ? cell_natural(facts->causes->less) : cell_unknown(),
                 }));
}

static const char *describe(struct document *document, const struct compare_side *side)
{
    const struct timeline *timeline = &side->timeline;
    const struct losses losses = losses_of(timeline);
    char name[FROM_NAME_SIZE], tier[TIER_SIZE], lost[100] = "";

    snprintf(name, sizeof name, "%s", side->page.facts.name);
    snprintf(tier, sizeof tier, "%s", side->page.facts.tier);
    make_printable(name);
    make_printable(tier);
    if (losses.unseen + losses.lost + losses.partial > 0)
        snprintf(lost, sizeof lost, "; %" PRIu64 " unseen, %" PRIu64 " lost, %" PRIu64 " partial",
                 losses.unseen, losses.lost, losses.partial);
    return document_text(document, "%s  %s: %zu %s from %.19s, %.1f s, tier %s%s", side->name, name,
                         side->intervals, noun_of(side->intervals, "interval", "intervals"),
                         moment(document, timeline->frames[0].begin_ns), wall_s(side), tier, lost);
}

static const char *headline(struct document *document, const struct comparison *comparison,
                            const struct compare_facts *facts)
{
    const size_t found = comparison->more + comparison->less;
    const char *first = describe(document, &facts->sides[0]),
               *second = describe(document, &facts->sides[1]);

    return document_text(
        document, "%s\n%s\n%zu of %zu rows %s by more than %g %s: %zu more in B, %zu less%s", first,
        second, found, comparison->count, found == 1 ? "differs" : "differ", 100 * facts->least,
        facts->least == 0.01 ? "point" : "points", comparison->more, comparison->less,
        compare_cause_headline(document, facts));
}

/* Appends a foreign name to a list. Returns its new length. */
static size_t append_name(char list[LIST_SIZE], size_t length, size_t number, const char *name)
{
    char printable[CAMP_NAME_SIZE];

    if (number >= NAMES_LISTED || length >= LIST_SIZE)
        return length;
    copy_text(printable, sizeof printable, name, strlen(name));
    make_printable(printable);
    return length + (size_t)snprintf(list + length, LIST_SIZE - length, "%s%s",
                                     number > 0 ? ", " : "", printable);
}

static void note_only(struct document *document, const struct comparison *comparison, size_t place,
                      const char *recording)
{
    char list[LIST_SIZE] = "";
    size_t length = 0, count = 0;

    for (size_t i = 0; i < comparison->entities->count; i++) {
        const struct compared_entity *entity = &comparison->entities->items[i];

        if (place_of(entity) == place)
            length = append_name(list, length, count++, entity->name);
    }
    if (count > NAMES_LISTED)
        document_note(document, "only in %s: %s and %zu more", recording, list,
                      count - NAMES_LISTED);
    else if (count > 0)
        document_note(document, "only in %s: %s", recording, list);
}

static bool is_compared(const struct comparison *comparison, int side, size_t column)
{
    for (size_t i = 0; i < comparison->state_count; i++) {
        if (comparison->states[i].columns[side] == column)
            return true;
    }
    return false;
}

static void note_states(struct document *document, const struct comparison *comparison,
                        const struct compare_side *side)
{
    const struct schema *schema = side->page.schema;
    char list[LIST_SIZE] = "";
    size_t length = 0, count = 0;

    for (size_t i = 0; i < schema->state_count; i++) {
        if (!is_compared(comparison, side->number, i))
            length = append_name(list, length, count++, schema->columns[i].title);
    }
    if (count > 0)
        document_note(document, "only %s has these states, which are not compared: %s%s",
                      side->name, list, count > NAMES_LISTED ? ", ..." : "");
}

static void add_notes(struct document *document, const struct comparison *comparison,
                      const struct compare_facts *facts)
{
    const struct compare_side *sides = facts->sides;

    if (facts->rows > 0 && comparison->count > facts->rows)
        document_note(document, "not shown  %zu rows (--top 0 shows all)",
                      comparison->count - facts->rows);
    for (int i = 0; i < 2; i++) {
        note_only(document, comparison, 1 + (size_t)i, sides[i].name);
        note_states(document, comparison, &sides[i]);
        if (sides[i].timeline.frames[0].merged > 1)
            document_note(document, "%s: up to %" PRIu64 " intervals were added up to one",
                          sides[i].name, sides[i].timeline.frames[0].merged);
        if (comparison->entities->others[i] > 0)
            document_note(document,
                          "%s: %" PRIu64 " rows of intervals are added up as %s, because A and B "
                          "have more than %d names: --filter or --group makes them fewer",
                          sides[i].name, comparison->entities->others[i], COMPARED_OTHERS,
                          COMPARED_ENTITIES_MOST);
    }
    if (strcmp(kind_of(&sides[0]), kind_of(&sides[1])) != 0)
        document_note(document, "the rows differ in kind: those of A are %s, those of B are %s",
                      kind_of(&sides[0]), kind_of(&sides[1]));
    if (strcmp(sides[0].page.facts.tier, sides[1].page.facts.tier) != 0)
        document_note(document, "the tiers differ, and so may what they count: A is %s, B is %s",
                      sides[0].page.facts.tier, sides[1].page.facts.tier);
    compare_cause_notes(document, facts);
}

static bool have_labels(const struct compared_entities *entities)
{
    for (size_t i = 0; i < entities->count; i++) {
        if (entities->items[i].labels[0] != '\0')
            return true;
    }
    return false;
}

int compare_record_fill(struct compare_record *ret, const struct comparison *comparison,
                        const struct compare_facts *facts)
{
    struct document *document = &ret->document;

    document_start(document, &layout);
    memcpy(ret->fields, row_fields, sizeof row_fields);
    if (have_labels(comparison->entities))
        ret->fields[LABELS_FIELD].title = "labels";
    document->tables[ROWS].fields = ret->fields;
    document->tables[CAUSES].field_count = compare_cause_field_count;
    add_summary(document, comparison, facts);
    for (int i = 0; i < 2; i++)
        add_recording(document, &facts->sides[i]);
    for (size_t i = 0; i < comparison->count && (facts->rows == 0 || i < facts->rows); i++) {
        add_row(document, comparison, &comparison->rows[i]);
        if (facts->is_text)
            compare_cause_lines(document, ROWS, facts, &comparison->rows[i]);
    }
    compare_cause_rows(document, CAUSES, facts, comparison);
    document->record.headline = headline(document, comparison, facts);
    add_notes(document, comparison, facts);
    return document_finish(document);
}
