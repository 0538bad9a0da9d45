#include "compare_cause_rows.h"

#include "compare_causes.h"
#include "counters/units.h"
#include "sources/causes/cause_names.h"

const struct field compare_cause_fields[] = {
    { "name", NULL, "of the entity that waited", 0, 0 },
    { "state", NULL, "of the waits", 0, 0 },
    { "kind", NULL, "of the cause: group, device, timer, ... as in camp.why/1", 0, 0 },
    { "who", NULL, "the processes with this name, or the device; null: the kind says all", 0, 0 },
    { "in", NULL, "both, a or b: which recordings have the entity", 0, 0 },
    { "verdict", NULL, "more, less, none or unknown", 0, 0 },
    { "a_percent", NULL, "of the wall time of A; 100 is one thread all the time", 0, 2 },
    { "b_percent", NULL, "of the wall time of B; 100 is one thread all the time", 0, 2 },
    { "difference_points", NULL, "B - A", 0, 2 },
    { "wide_low_points", NULL, "with 95 % probability all rows and causes are within these two", 0,
      2 },
    { "wide_high_points", NULL, "", 0, 2 },
    { "low_points", NULL, "with 95 % probability this cause is within these two", 0, 2 },
    { "high_points", NULL, "", 0, 2 },
    { "a_ns_per_s", NULL, "time of the waits in a second of wall time of A", 0, 0 },
    { "b_ns_per_s", NULL, "time of the waits in a second of wall time of B", 0, 0 },
    { "difference_ns_per_s", NULL, "B - A", 0, 0 },
    { "a_undivided_percent", NULL, "of the wall time of A: the state's time that has no cause", 0,
      2 },
    { "b_undivided_percent", NULL, "of the wall time of B: the state's time that has no cause", 0,
      2 },
    { "a_block", NULL, "length of the blocks of A, in intervals", 0, 0 },
    { "b_block", NULL, "length of the blocks of B, in intervals", 0, 0 },
};
const size_t compare_cause_field_count = ARRAY_COUNT(compare_cause_fields);

static const struct compared_cause *cause_of(const struct compare_facts *facts,
                                             const struct compared_row *row)
{
    return &facts->sides[0].causes.causes->items[row->entity];
}

static void add_row(struct document *document, size_t table, const struct compare_facts *facts,
                    const struct comparison *states, const struct compared_row *row)
{
    const struct compared_cause *cause = cause_of(facts, row);
    const struct compared_entity *entity = &states->entities->items[cause->entity];
    const struct compared_value *rate = &row->rate;
    double *const *undivided = facts->causes->undivided;

    DOCUMENT_ADD(document, table,
                 ((const struct cell[]){
                     cell_text(entity->name),
                     cell_text(states->states[cause->state].name),
                     cell_text(cause_kind_key(cause->kind)),
                     cell_text_or_unknown(cause->who),
                     cell_text(compare_place_name(entity)),
                     cell_text(compare_verdict_name(row->verdict)),
                     cell_real(100 * rate->ratios[0].value),
                     cell_real(100 * rate->ratios[1].value),
                     cell_real(100 * rate->difference.value),
                     cell_real(100 * rate->difference.wide.low),
                     cell_real(100 * rate->difference.wide.high),
                     cell_real(100 * rate->difference.own.low),
                     cell_real(100 * rate->difference.own.high),
                     compare_ns_cell(NS_PER_S * rate->ratios[0].value),
                     compare_ns_cell(NS_PER_S * rate->ratios[1].value),
                     compare_ns_cell(NS_PER_S * rate->difference.value),
                     cell_real(100 * undivided[0][row->entity]),
                     cell_real(100 * undivided[1][row->entity]),
                     cell_natural(rate->ratios[0].block),
                     cell_natural(rate->ratios[1].block),
                 }));
}

void compare_cause_rows(struct document *document, size_t table, const struct compare_facts *facts,
                        const struct comparison *states)
{
    for (size_t i = 0; i < facts->causes->count; i++)
        add_row(document, table, facts, states, &facts->causes->rows[i]);
}

void compare_cause_lines(struct document *document, size_t table, const struct compare_facts *facts,
                         const struct compared_row *row)
{
    for (size_t i = 0; i < facts->causes->count && row->causes_found > 0; i++) {
        const struct compared_row *part = &facts->causes->rows[i];
        const struct compared_cause *cause = cause_of(facts, part);
        const struct compared_value *rate = &part->rate;

        if (cause->entity != row->entity || cause->state != row->state ||
            part->verdict < DIFFERENCE_MORE)
            continue;
        DOCUMENT_ADD(document, table,
                     ((const struct cell[]){
                         cell_text(""),
                         cell_text(""),
                         cell_text(document_text(document, "  %s", cause->label)),
                         cell_text(""),
                         cell_text(""),
                         cell_real(100 * rate->ratios[0].value),
                         cell_real(100 * rate->ratios[1].value),
                         cell_real(100 * rate->difference.value),
                         cell_real(100 * rate->difference.wide.low),
                         cell_real(100 * rate->difference.wide.high),
                         cell_text(compare_verdict_name(part->verdict)),
                     }));
    }
}

static void note_side(struct document *document, const struct compare_side *side)
{
    const struct cause_times *times = &side->causes;

    if (times->is_damaged)
        document_note(document, "causes     those of %s are damaged, so causes are not compared",
                      side->name);
    else if (times->without > 0)
        document_note(document,
                      "causes     %s %s no causes of waits (camp record --why), so causes are not "
                      "compared",
                      side->name, times->with > 0 ? "has some intervals that have" : "has");
}

void compare_cause_notes(struct document *document, const struct compare_facts *facts)
{
    const struct compare_side *sides = facts->sides;

    if (sides[0].causes.with + sides[1].causes.with == 0)
        return;
    if (sides[0].causes.is_of_other_groups || sides[1].causes.is_of_other_groups) {
        document_note(document,
                      "causes     they are those of processes by name, and are not compared with "
                      "other rows");
        return;
    }
    note_side(document, &sides[0]);
    note_side(document, &sides[1]);
}

const char *compare_cause_headline(struct document *document, const struct compare_facts *facts)
{
    const struct comparison *causes = facts->causes;
    const size_t found = causes->more + causes->less;

    if (!compare_has_causes(facts->sides))
        return "";
    return document_text(document, "\n%zu of %zu causes of waits %s: %zu more in B, %zu less",
                         found, causes->count, found == 1 ? "differs" : "differ", causes->more,
                         causes->less);
}
