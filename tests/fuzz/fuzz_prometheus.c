/* Reads any bytes as an answer of Prometheus. The fuzzer tests how camp uses the JSON; a library
 * parses the text. */
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

/* Accounts the samples of a series. No sample may be infinite. */
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
    /* The buffer has no spare bytes, so that a sanitizer detects reads past its end. */
    memcpy(text, data, size);
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
