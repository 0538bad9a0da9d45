/* The questions in PromQL. A snapshot is one question, so that all its values are evaluated at the
 * same time. Matchers are inserted even if they are empty: PromQL allows {} and {name="x",}. */
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
    return rows_selector(fleet, fleet->sampled != SIZE_MAX ? "|" METRIC_SAMPLED : "");
}

/* In the answer to a snapshot's question all samples have the time of the evaluation. So the
 * question also asks for the time of each host's newest scrape. METRIC_CPUS is enough for this,
 * because all counters of a host come from one scrape.
 *
 * Each operand of "or" is compared with all series before it. So the operand with the most series
 * is the last. */
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
