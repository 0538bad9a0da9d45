/* The questions in PromQL. Matchers are inserted even if they are empty: PromQL allows {} and
 * {name="x",}. */
#include "fleet_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARKED(mark) "\"" FLEET_PART "\",\"" mark "\",\"\",\"\")"

/* `at` is an opening quote. Returns the position after the closing quote. Without a closing quote
 * this is the end of the text. */
static const char *skip_string(const char *at)
{
    const char quote = *at++;

    for (; *at != '\0' && *at != quote; at++)
        at += *at == '\\' && quote != '`' && at[1] != '\0';
    return *at != '\0' ? at + 1 : at;
}

bool fleet_is_matchers(const char *query)
{
    const char *at = query;

    if (query[0] != '{' || query[1] == '}')
        return false;
    while (*at != '\0' && *at != '}')
        at = strchr("\"'`", *at) != NULL ? skip_string(at) : at + 1;
    return *at == '}' && at[1] == '\0' && strstr(query, "__name__") == NULL;
}

/* Returns the matchers that select hosts. --host matches an instance with or without its port. */
char *fleet_matchers(const struct from *from)
{
    char *pattern = from->host != NULL ? fleet_quoted_pattern(from->host, "(:[0-9]+)?") : NULL;
    const size_t length = from->query != NULL ? strlen(from->query) - 2 : 0;
    char *ret = NULL;

    if (from->host == NULL)
        ret = strndup(length > 0 ? from->query + 1 : "", length);
    else if (pattern != NULL)
        ret = fleet_text_of(HOST_LABEL "=~%s,%.*s", pattern, (int)length,
                            length > 0 ? from->query + 1 : "");
    free(pattern);
    return ret;
}

static char *replaced(const char *text, const char *matchers)
{
    static const char mark[] = "$M";
    char *ret = NULL;
    size_t size;
    FILE *stream = open_memstream(&ret, &size);

    if (stream == NULL)
        return NULL;
    for (const char *next; (next = strstr(text, mark)) != NULL; text = next + sizeof mark - 1)
        fprintf(stream, "%.*s%s", (int)(next - text), text, matchers);
    fputs(text, stream);
    if (fclose(stream) == 0)
        return ret;
    free(ret);
    return NULL;
}

static char *rows_selector(const struct fleet *fleet, const char *further)
{
    return fleet_text_of("{__name__=~\"%s|" METRIC_CPUS "|" METRIC_CLOCK "%s\",%s}", fleet->metric,
                         further, fleet->matchers);
}

char *fleet_raw_selector(const struct fleet *fleet)
{
    if (fleet->sampled == SIZE_MAX)
        return rows_selector(fleet, "");
    /* before the first answer both are asked for */
    return rows_selector(fleet,
                         fleet->has_busy ? "|" METRIC_BUSY : "|" METRIC_SAMPLED "|" METRIC_BUSY);
}

size_t fleet_parts(const struct fleet *fleet)
{
    return fleet_is_query(fleet) ? 1 : fleet->sampled != SIZE_MAX ? 3 : 2;
}

/* Asks for the server's clock and for the hosts that are down. */
static char *marks_question(const struct fleet *fleet)
{
    static const char now[] = "label_replace(vector(time())," MARKED("now");

    return fleet->jobs == NULL
               ? strdup(now)
               : fleet_text_of("%s or label_replace(up{job=~%s,%s}==0," MARKED("down"), now,
                               fleet->jobs, fleet->matchers);
}

/* A selector with a range returns samples with the times of their scrapes. So the parts need not be
 * evaluated at the same time. Prometheus evaluates it several times faster than a selector without
 * a range, for which it decodes all samples of 5 minutes (docs/fleet.md). */
char *fleet_question(const struct fleet *fleet, size_t part, int64_t range_ns)
{
    const long long range_ms = range_ns / NS_PER_MS;
    char *rows, *ret;

    if (fleet_is_query(fleet))
        return strdup(fleet->question);
    if (part == 0)
        return marks_question(fleet);
    if (part == 2 && fleet->has_busy)
        return fleet_text_of(METRIC_BUSY "{%s}[%lldms]", fleet->matchers, range_ms);
    if (part == 2) /* both, to see when all hosts have METRIC_BUSY */
        return fleet_text_of("{__name__=~\"" METRIC_SAMPLED "|" METRIC_BUSY "\",mode!~\"" IDLE_MODES
                             "\",%s}[%lldms]",
                             fleet->matchers, range_ms);
    rows = rows_selector(fleet, "");
    ret = rows != NULL ? fleet_text_of("%s[%lldms]", rows, range_ms) : NULL;
    free(rows);
    return ret;
}

/* Asks how many samples a host has in 5 minutes and, for hosts that were added recently, in 20 s.
 * The answer is the 5th percentile of all hosts, so 95% of the hosts have at least as many samples.
 * Also asks for the jobs that had exporters in the past day, because a job whose exporters are all
 * down has only old samples. */
char *fleet_probe_question(const struct fleet *fleet)
{
    static const char text[] =
        "label_replace(quantile(0.05,count_over_time(" METRIC_CPUS "{$M}[5m]))," MARKED(
            "count") " or label_replace(quantile(0.05,count_over_time(" METRIC_CPUS
                     "{$M}[20s]))," MARKED(
                         "recent") " or label_replace(group by(job)(" METRIC_CPUS
                                   "{$M} or " METRIC_CPUS "{$M} offset 10m or " METRIC_CPUS
                                   "{$M} offset 1h or " METRIC_CPUS "{$M} offset 6h or " METRIC_CPUS
                                   "{$M} offset 1d)," MARKED(
                                       "job") " or label_replace(vector(time())," MARKED("now");

    return replaced(text, fleet->matchers);
}
