/* The questions in PromQL. A snapshot is one question, so that all its samples are of one moment. A
 * comma after the last matcher is allowed, and braces may be empty. */
#include "fleet_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARKED(mark) "\"" FLEET_PART "\",\"" mark "\",\"\",\"\")"

/* The end of the PromQL string that starts there; the end of the text if it is not closed. */
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

/* The matchers of --host, with or without the port, and of --query. */
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

/* A text with each $M replaced by the matchers. */
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
    return fclose(stream) == 0 ? ret : NULL;
}

static char *rows_selector(const struct fleet *fleet, const char *further)
{
    return fleet_text_of("{__name__=~\"%s|" METRIC_CPUS "|" METRIC_CLOCK "%s\",%s}", fleet->metric,
                         further, fleet->matchers);
}

char *fleet_raw_selector(const struct fleet *fleet)
{
    return rows_selector(fleet, fleet->sampled != SIZE_MAX ? "|" METRIC_SAMPLED : "");
}

/* A vector has the time of its evaluation, so the question also asks for the time of the samples:
 * of one counter, because all counters of a host come from one scrape. The part with the most
 * series comes last, because each "or" compares its series with all that precede it. */
char *fleet_question(const struct fleet *fleet)
{
    const char *matchers = fleet->matchers;
    char *rows = rows_selector(fleet, "");
    char *sampled = fleet->sampled == SIZE_MAX
                        ? strdup("")
                        : fleet_text_of("label_replace(sum without(mode)(" METRIC_SAMPLED
                                        "{mode!~\"" IDLE_MODES "\",%s})," MARKED("sampled") " or ",
                                        matchers);
    char *down = fleet->jobs == NULL
                     ? strdup("")
                     : fleet_text_of("label_replace(up{job=~%s,%s}==0," MARKED("down") " or ",
                                     fleet->jobs, matchers);
    char *ret = NULL;

    if (rows != NULL && sampled != NULL && down != NULL)
        ret = fleet_text_of("label_replace(vector(time())," MARKED(
                                "now") " or %slabel_replace(timestamp(" METRIC_CPUS
                                       "{%s})," MARKED("time") " or %s%s",
                            down, matchers, sampled, rows);
    free(rows);
    free(sampled);
    free(down);
    return ret;
}

/* Asks how many samples a host has in 5 minutes, and in 20 s for hosts that were added recently:
 * the 5th percentile, so that the range of later questions suits nearly all hosts. It also asks for
 * the jobs that have exporters, now or earlier: a job whose exporters are all down is known from
 * earlier samples. */
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
