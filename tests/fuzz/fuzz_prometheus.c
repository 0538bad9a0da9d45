/* Reads any bytes as the answer of Prometheus. This tests how camp reads the structure of the JSON;
 * a library parses its text. */
#include "libraries/libcurl.h"
#include "sources/fleet/fleet_samples.h"
#include "sources/fleet/fleet_text.h"
#include "sources/fleet/prometheus_answer.h"
#include "sources/fleet/prometheus_client.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SAMPLES_MOST 1000

/* Accounts the samples of a series: no number may break a sum. */
static void account_series(struct fleet_samples *samples, const struct prometheus_series *series)
{
    static const char *const without[] = { "mode", NULL };
    uint64_t values[1];
    struct fleet_amounts amounts = { .values = values };
    struct fleet_member *member;
    struct prometheus_sample sample;
    char key[FLEET_KEY_SIZE];
    char name[CAMP_NAME_SIZE];

    fleet_key(series, without, key);
    if (strlen(key) >= FLEET_KEY_SIZE)
        abort();
    fleet_name(prometheus_series_label(series, "instance"), name, sizeof name);
    member = fleet_samples_find(samples, key);
    if (member == NULL)
        return;
    for (size_t i = 0; i < series->sample_count && i < SAMPLES_MOST; i++) {
        if (!prometheus_series_sample(series, i, &sample))
            continue;
        if (isinf(sample.value))
            abort();
        fleet_samples_add(samples, member, sample.time_ns, i % 3, sample.value, i % 2 == 0);
    }
    fleet_update_period(member, 1);
    fleet_amounts(samples, member, fleet_newest(member) / 2, 1000, &amounts);
    fleet_amounts(samples, member, fleet_newest(member), INT64_MAX, &amounts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct prometheus_outcome outcome = { .result = CURLE_OK, .detail = "", .place = "x" };
    struct prometheus_answer answer;
    struct fleet_samples samples;
    struct camp_error error;
    bool may_pass;
    char *text;

    if (library_load(&libcurl_library, &error) != CAMP_OK)
        abort();
    if ((text = malloc(size > 0 ? size : 1)) == NULL)
        return 0;
    memcpy(text, data, size); /* no final 0, so that a read past the end is detected */
    fleet_samples_init(&samples, 1);
    if (prometheus_answer_parse(text, size, &answer, &error) == CAMP_OK) {
        struct prometheus_series series;

        for (size_t i = 0; i < answer.series_count; i++) {
            if (prometheus_answer_series(&answer, i, &series))
                account_series(&samples, &series);
        }
        prometheus_answer_release(&answer);
    }
    fleet_samples_release(&samples);
    outcome.text = text;
    outcome.length = size;
    if (prometheus_failure_report(&outcome, 400, 0, &may_pass, &error) == CAMP_OK)
        abort();
    free(text);
    return 0;
}
