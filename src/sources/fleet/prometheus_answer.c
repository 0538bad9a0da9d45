#include "prometheus_answer.h"

#include "ledger/array.h"

#include <string.h>

void prometheus_answer_release(struct prometheus_answer *answer)
{
    free(answer->series);
    free(answer->labels);
    free(answer->samples);
    free(answer->text);
    index_release(&answer->by_text);
    *answer = (struct prometheus_answer){ 0 };
}

/* Returns the ends of the series before the one at index `at`. */
static struct prometheus_ends starts_of(const struct prometheus_answer *answer, size_t at)
{
    return at > 0 ? answer->series[at - 1] : (struct prometheus_ends){ 0 };
}

size_t prometheus_answer_new_labels(const struct prometheus_answer *answer)
{
    return answer->label_count - starts_of(answer, answer->series_count).labels;
}

size_t prometheus_answer_new_samples(const struct prometheus_answer *answer)
{
    return answer->sample_count - starts_of(answer, answer->series_count).samples;
}

void prometheus_answer_drop(struct prometheus_answer *answer)
{
    const struct prometheus_ends starts = starts_of(answer, answer->series_count);

    answer->label_count = starts.labels;
    answer->sample_count = starts.samples;
}

static bool has_space(const struct prometheus_answer *answer, size_t more)
{
    return answer->text_length + answer->label_count * sizeof *answer->labels +
               answer->sample_count * sizeof *answer->samples +
               answer->series_count * sizeof *answer->series +
               answer->by_text.slot_count * sizeof *answer->by_text.slots + more <=
           PROMETHEUS_KEPT_BYTES;
}

struct packed {
    const char *text;
    size_t length;
};

static bool is_same(const void *context, uint32_t position, const void *key)
{
    const struct prometheus_answer *answer = context;
    const struct packed *label = key;

    return label->length <= answer->text_length - position &&
           memcmp(answer->text + position, label->text, label->length) == 0;
}

/* Adds a label that no series of the answer has had yet. */
static int add_text(struct prometheus_answer *answer, const struct packed *label, uint32_t hash,
                    uint32_t *ret_position)
{
    const struct index *index = &answer->by_text;
    /* the index doubles when half of its slots are used */
    const size_t slots = index->count + 1 > index->slot_count / 2 ? 2 * index->slot_count : 0;
    const size_t length = answer->text_length + label->length;

    if (!has_space(answer, label->length + slots * sizeof *index->slots))
        return CAMP_E_SPACE;
    if (!ARRAY_RESERVE(answer->text, answer->text_capacity, length) ||
        !index_reserve(&answer->by_text, index->count + 1))
        return CAMP_E_NOMEM;
    memcpy(answer->text + answer->text_length, label->text, label->length);
    *ret_position = (uint32_t)answer->text_length;
    answer->text_length = length;
    index_add(&answer->by_text, hash, *ret_position);
    return CAMP_OK;
}

int prometheus_answer_add_label(struct prometheus_answer *answer, const char *text, size_t length)
{
    const struct packed label = { text, length };
    const uint32_t hash = index_hash_bytes(text, length);
    const struct index_slot *found = index_find(&answer->by_text, hash, is_same, answer, &label);
    uint32_t position;
    int r = CAMP_OK;

    if (!has_space(answer, sizeof *answer->labels))
        return CAMP_E_SPACE;
    if (!ARRAY_RESERVE(answer->labels, answer->label_capacity, answer->label_count + 1))
        return CAMP_E_NOMEM;
    if (found != NULL)
        position = found->position;
    else
        r = add_text(answer, &label, hash, &position);
    if (r == CAMP_OK)
        answer->labels[answer->label_count++] = position;
    return r;
}

int prometheus_answer_add_sample(struct prometheus_answer *answer,
                                 const struct prometheus_sample *sample)
{
    if (!has_space(answer, sizeof *sample))
        return CAMP_E_SPACE;
    if (!ARRAY_RESERVE(answer->samples, answer->sample_capacity, answer->sample_count + 1))
        return CAMP_E_NOMEM;
    answer->samples[answer->sample_count++] = *sample;
    return CAMP_OK;
}

/* Sorts the labels of the new series by name. Servers have usually sorted them. */
static void sort_labels(struct prometheus_answer *answer)
{
    const size_t start = starts_of(answer, answer->series_count).labels;

    for (size_t i = start + 1; i < answer->label_count; i++) {
        const uint32_t label = answer->labels[i];
        size_t at = i;

        for (; at > start; at--) {
            if (strcmp(answer->text + answer->labels[at - 1], answer->text + label) <= 0)
                break;
            answer->labels[at] = answer->labels[at - 1];
        }
        answer->labels[at] = label;
    }
}

int prometheus_answer_end_series(struct prometheus_answer *answer)
{
    if (!has_space(answer, sizeof *answer->series))
        return CAMP_E_SPACE;
    if (!ARRAY_RESERVE(answer->series, answer->series_capacity, answer->series_count + 1))
        return CAMP_E_NOMEM;
    sort_labels(answer);
    answer->series[answer->series_count++] =
        (struct prometheus_ends){ (uint32_t)answer->label_count, (uint32_t)answer->sample_count };
    return CAMP_OK;
}

static const char *value_after(const char *name)
{
    return name + strlen(name) + 1;
}

void prometheus_answer_series(const struct prometheus_answer *answer, size_t at,
                              struct prometheus_series *ret)
{
    const struct prometheus_ends starts = starts_of(answer, at), ends = answer->series[at];

    ret->label_count = 0;
    for (size_t i = starts.labels; i < ends.labels; i++) {
        const char *name = answer->text + answer->labels[i];

        ret->labels[ret->label_count++] = (struct prometheus_label){ name, value_after(name) };
    }
    ret->sample_count = ends.samples - starts.samples;
    ret->samples = ret->sample_count > 0 ? answer->samples + starts.samples : NULL;
}

const char *prometheus_answer_label(const struct prometheus_answer *answer, size_t at,
                                    const char *name)
{
    for (size_t i = starts_of(answer, at).labels; i < answer->series[at].labels; i++) {
        const char *label = answer->text + answer->labels[i];

        if (strcmp(label, name) == 0)
            return value_after(label);
    }
    return "";
}

const char *prometheus_series_label(const struct prometheus_series *series, const char *name)
{
    for (size_t i = 0; i < series->label_count; i++) {
        if (strcmp(series->labels[i].name, name) == 0)
            return series->labels[i].value;
    }
    return "";
}
