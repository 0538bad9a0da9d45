#include "from_options.h"

#include "command.h"
#include "counters/clock.h"
#include "privilege.h"
#include "sources/containers/containers.h"
#include "sources/field.h"
#include "sources/from_list.h"
#include "sources/from_machine.h"
#include "sources/servers/servers_from.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MINUTE_NS (60 * (int64_t)NS_PER_S)
#define DAY_NS (1440 * MINUTE_NS)

void from_options_init(struct from_options *options)
{
    *options = (struct from_options){ 0 };
    options->texts.first = &options->from.text;
    options->range = "";
    options->other = OPENS_DEMO;
    options->from.stop = &stop_requested;
    options->from.before_server = sandbox_enter_sessions;
    options->from.progress = progress_show;
    options->from.context = &options->progress;
}

/* Parses one or two digits. Returns the text after them, or NULL if the number is larger than
 * `maximum` or there is none. */
static const char *parse_number(const char *text, int maximum, int *ret)
{
    const size_t digits = strspn(text, "0123456789");

    if (digits < 1 || digits > 2)
        return NULL;
    *ret = atoi(text);
    return *ret <= maximum ? text + digits : NULL;
}

/* Parses "02:00", "02:00:30" or "02:00:30.5". *ret_rest points to the text after the time. */
static bool parse_clock(const char *text, struct tm *ret, int64_t *ret_part_ns,
                        const char **ret_rest)
{
    const char *rest = parse_number(text, 23, &ret->tm_hour);

    ret->tm_sec = 0;
    *ret_part_ns = 0;
    rest = rest != NULL && rest[0] == ':' ? parse_number(rest + 1, 59, &ret->tm_min) : NULL;
    if (rest != NULL && rest[0] == ':')
        rest = parse_number(rest + 1, 60, &ret->tm_sec);
    if (rest != NULL && rest[0] == '.') {
        int64_t unit_ns = (int64_t)NS_PER_S;

        for (rest++; *rest >= '0' && *rest <= '9'; rest++) {
            unit_ns /= 10;
            *ret_part_ns += (*rest - '0') * unit_ns;
        }
    }
    *ret_rest = rest;
    return rest != NULL;
}

static int64_t time_of_day(struct tm day, int days, int64_t part_ns)
{
    day.tm_mday += days;
    day.tm_isdst = -1;
    return (int64_t)mktime(&day) * (int64_t)NS_PER_S + part_ns;
}

/* Finds a time of day by the rules of from_time_parse(). By these rules, --begin 00:00 and --end
 * 23:59 select all of a recording of one day. */
static bool parse_time_of_day(const char *text, enum from_side side, int64_t begin_ns,
                              int64_t end_ns, int64_t *ret_ns)
{
    const time_t since = begin_ns != 0 ? (time_t)(begin_ns / (int64_t)NS_PER_S) : time(NULL);
    struct tm day;
    int days = -1;
    int64_t part_ns;
    const char *rest;

    localtime_r(&since, &day);
    if (!parse_clock(text, &day, &part_ns, &rest) || *rest != '\0')
        return false;
    if (begin_ns == 0) {
        *ret_ns = time_of_day(day, 0, part_ns);
        return true;
    }
    while ((*ret_ns = time_of_day(day, days, part_ns)) <= begin_ns - MINUTE_NS)
        days++;
    if (side == FROM_BEGIN && *ret_ns > end_ns)
        *ret_ns = time_of_day(day, days - 1, part_ns);
    return true;
}

bool from_time_parse(const char *text, enum from_side side, int64_t begin_ns, int64_t end_ns,
                     int64_t *ret_ns)
{
    struct time_form date = { 0 };
    uint64_t distance_ns;

    if (text[0] == '+' || text[0] == '-') {
        if (begin_ns == 0 || !parse_duration(text + 1, &distance_ns))
            return false;
        *ret_ns = text[0] == '+' ? begin_ns + (int64_t)distance_ns : end_ns - (int64_t)distance_ns;
        return true;
    }
    return field_time((struct field){ text, strlen(text) }, &date, ret_ns) == FIELD_OK ||
           parse_time_of_day(text, side, begin_ns, end_ns, ret_ns);
}

static int parse_time(const struct from_options *options, enum from_side side,
                      const struct from_facts *facts, int64_t *ret_ns)
{
    const char *text = side == FROM_BEGIN ? options->begin : options->end;

    if (text == NULL || from_time_parse(text, side, facts->begin_ns, facts->end_ns, ret_ns))
        return OPTIONS_GO_ON;
    if ((text[0] == '+' || text[0] == '-') && facts->begin_ns == 0)
        return complain(STATUS_FAILURE, "--%s%s %s: it is unknown when %s begins and ends",
                        side == FROM_BEGIN ? "begin" : "end", options->range, text, facts->name);
    return complain(STATUS_USAGE,
                    "--%s%s %s: takes a time such as 2026-11-22T02:00, 02:00, +10m (after the "
                    "beginning) or -10m (before the end)",
                    side == FROM_BEGIN ? "begin" : "end", options->range, text);
}

static bool is_time_of_day(const char *text)
{
    struct tm day = { 0 };
    int64_t part_ns;
    const char *rest;

    return text != NULL && parse_clock(text, &day, &part_ns, &rest) && *rest == '\0';
}

static bool is_outside(const char *text, int64_t time_ns, const struct from_facts *facts)
{
    return is_time_of_day(text) &&
           (time_ns <= facts->begin_ns - MINUTE_NS || time_ns >= facts->end_ns + MINUTE_NS);
}

/* Returns whether the time of day of begin_ns occurs again before end_ns. */
static bool is_longer_than_a_day(int64_t begin_ns, int64_t end_ns)
{
    const time_t begin = (time_t)(begin_ns / (int64_t)NS_PER_S);
    struct tm day;

    localtime_r(&begin, &day);
    return end_ns > time_of_day(day, 1, begin_ns % (int64_t)NS_PER_S);
}

/* Refuses a time of day that is not in the recording, because it would select another hour than the
 * user asked for. If --begin and --end are both times of day that are at most a day apart, such as
 * 00:00 and 23:59, both may be outside of the recording. */
static int check_times_of_day(const struct from_options *options, const struct from_facts *facts)
{
    const int64_t begin_ns = options->from.begin_ns, end_ns = options->from.end_ns;
    const bool is_begin = is_outside(options->begin, begin_ns, facts);
    const time_t first = (time_t)(facts->begin_ns / (int64_t)NS_PER_S),
                 last = (time_t)(facts->end_ns / (int64_t)NS_PER_S);
    struct tm local;
    char from[24], until[24], zone[24];

    if (facts->begin_ns == 0 || (!is_begin && !is_outside(options->end, end_ns, facts)) ||
        (is_time_of_day(options->begin) && is_time_of_day(options->end) &&
         !is_longer_than_a_day(begin_ns, end_ns)))
        return OPTIONS_GO_ON;
    strftime(from, sizeof from, "%Y-%m-%dT%H:%M:%S", localtime_r(&first, &local));
    strftime(until, sizeof until, "%Y-%m-%dT%H:%M:%S", localtime_r(&last, &local));
    strftime(zone, sizeof zone, "%Z", &local);
    return complain(STATUS_FAILURE, "--%s%s %s is not in %s, which goes from %s to %s (%s)",
                    is_begin ? "begin" : "end", options->range,
                    is_begin ? options->begin : options->end, facts->name, from, until, zone);
}

static int parse_times(struct from_options *options, const struct from_facts *facts, bool is_fleet)
{
    int status;

    if (is_fleet && options->begin == NULL)
        return complain(STATUS_USAGE, "--end %s needs --begin TIME as well", options->end);
    if (is_fleet && (options->begin[0] == '+' || (options->end != NULL && options->end[0] == '+')))
        return complain(STATUS_USAGE,
                        "--%s: + counts from the start of a recording, and a fleet has none; -10m "
                        "is 10 minutes ago",
                        options->begin[0] == '+' ? "begin" : "end");
    status = parse_time(options, FROM_BEGIN, facts, &options->from.begin_ns);
    if (status == OPTIONS_GO_ON)
        status = parse_time(options, FROM_END, facts, &options->from.end_ns);
    if (status == OPTIONS_GO_ON && options->from.end_ns != 0 &&
        options->from.end_ns <= options->from.begin_ns)
        return complain(STATUS_USAGE, "--end%s is not after --begin%s", options->range,
                        options->range);
    return status == OPTIONS_GO_ON ? check_times_of_day(options, facts) : status;
}

/* Gives up the capabilities that `source` does not need. Sources of this machine need them until
 * they are open, and those of database sessions call confine_sessions(). */
static void give_up_before(const struct from_source *source)
{
    if (source->opener > OPENS_CHECK && source->opener != OPENS_POSTGRES &&
        source->opener != OPENS_MARIADB)
        privilege_give_up(PRIVILEGE_NOTHING);
}

static void give_up_after(const struct from_source *source, const struct from_facts *facts)
{
    if (source->opener <= OPENS_CHECK)
        privilege_give_up(privilege_use_of(facts->tier));
}

/* Confines the process before it reads a file or asks a server. ODBC drivers are not confined,
 * because some execute programs (Oracle's, to connect to a database on the same machine). */
static int confine_before(struct from_options *options, const struct from_source *source,
                          struct camp_error *error)
{
    struct sandbox sandbox;
    char path[FROM_PATH_SIZE];
    static const struct {
        bool is_confined;
        enum sandbox_kind kind;
    } ways[] = {
        [OPENS_DEMO] = { true, SANDBOX_FILE },   [OPENS_RECORDING] = { true, SANDBOX_FILE },
        [OPENS_TABLE] = { true, SANDBOX_FILE },  [OPENS_SQLITE] = { true, SANDBOX_FILE },
        [OPENS_FLEET] = { true, SANDBOX_FLEET }, [OPENS_NOTHING] = { false, SANDBOX_FILE },
    };

    if (!ways[source->opener].is_confined || !ways[options->other].is_confined)
        return CAMP_OK;
    options->sandbox.kind = ways[options->other == OPENS_FLEET ? OPENS_FLEET : source->opener].kind;
    sandbox = options->sandbox; /* a copy, because `path` is local */
    sandbox.input = from_path(source, options->from.text, path);
    sandbox.rules_file = options->from.rules;
    return sandbox_enter(&sandbox, error);
}

/* A server on this machine's numbers is confined when they are open. So is a command that reads
 * the names of containers, because their files hold what the authors of containers wrote. */
static int confine_after(struct from_options *options, const struct from_source *source,
                         struct camp_error *error)
{
    if (source->opener > OPENS_CHECK ||
        (!options->sandbox.serves && !options->from.names_containers))
        return CAMP_OK;
    options->sandbox.kind = SANDBOX_MACHINE;
    options->sandbox.containers = options->from.names_containers;
    return sandbox_enter(&options->sandbox, error);
}

static int open_from(struct from_options *options, struct source **ret, struct from_facts *facts)
{
    const char *text = options->from.text != NULL ? options->from.text : FROM_DEFAULT;
    const struct from_source *source = NULL;
    struct camp_error error = { 0 };
    int r = CAMP_OK;

    if (from_source_of(text, &source, &error) == CAMP_OK) {
        give_up_before(source);
        r = confine_before(options, source, &error);
    }
    if (r == CAMP_OK)
        r = from_open(&options->from, ret, facts, &error); /* reports an unknown source, too */
    if (r == CAMP_OK && source != NULL) {
        give_up_after(source, facts);
        r = confine_after(options, source, &error);
        if (r != CAMP_OK)
            source_close(*ret);
    }
    progress_clear(&options->progress);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain_of(r, &error);
}

/* Returns facts with which parse_times() finds a time of day in the last 24 hours of a fleet. The
 * fleet is not opened to get its real facts, because it may have no data now. */
static struct from_facts last_day(void)
{
    const int64_t now = (int64_t)now_ns(CLOCK_REALTIME);

    return (struct from_facts){ .live = true, .begin_ns = now - DAY_NS, .end_ns = now };
}

void from_options_interval(struct from_options *options, uint64_t *interval_ns)
{
    options->from.interval_ns = *interval_ns;
    if (*interval_ns == 0)
        *interval_ns = NS_PER_S;
}

int from_options_check(const struct from_options *options, const char *text)
{
    const struct from_source *source = NULL;
    struct camp_error error = { 0 };
    int r = from_source_of(text, &source, &error);

    if (r == CAMP_OK)
        r = from_check(source, text,
                       from_given(&options->from) | (options->begin != NULL ? WITH_BEGIN : 0u) |
                           (options->end != NULL ? WITH_END : 0u) |
                           (options->from.speed > 0 ? WITH_SPEED : 0u) |
                           (options->from.interval_ns > 0 ? WITH_INTERVAL : 0u),
                       &error);
    return r == CAMP_OK ? OPTIONS_GO_ON : complain_of(r, &error);
}

/* Checks the sources of --from, of which several must be database servers. */
static int check_sources(struct from_options *options)
{
    const char *text = options->from.text != NULL ? options->from.text : FROM_DEFAULT;
    struct camp_error error = { 0 };
    int status = from_options_check(options, text);

    options->from.more = options->texts.more;
    options->from.more_count = options->texts.count;
    if (status != OPTIONS_GO_ON || options->texts.count == 0)
        return status;
    if (servers_from_check(&options->from, &error) != CAMP_OK)
        return complain_of(error.code, &error);
    for (size_t i = 0; i < options->texts.count && status == OPTIONS_GO_ON; i++)
        status = from_options_check(options, options->texts.more[i]);
    return status;
}

int from_options_open(struct from_options *options, struct source **ret,
                      struct from_facts *ret_facts)
{
    struct source *source;
    const bool has_times = options->begin != NULL || options->end != NULL;
    const bool is_fleet = options->from.text != NULL && from_is_fleet(options->from.text);
    int status;

    options->from.names_containers |= container_label_is_group(options->group);
    options->from.by_statement |= from_group_has(options->group, SOURCE_LABEL_STATEMENT);
    status = check_sources(options);

    if (status == OPTIONS_GO_ON && has_times && is_fleet)
        *ret_facts = last_day();
    else if (status == OPTIONS_GO_ON)
        status = open_from(options, &source, ret_facts);
    if (status == OPTIONS_GO_ON && has_times) {
        if (!is_fleet)
            source_close(source);
        status = parse_times(options, ret_facts, is_fleet);
        if (status == OPTIONS_GO_ON)
            status = open_from(options, &source, ret_facts);
    }
    options->live = status == OPTIONS_GO_ON && ret_facts->live;
    if (status == OPTIONS_GO_ON && ret_facts->note_warns)
        complain(STATUS_OK, "%s", ret_facts->note);
    if (status == OPTIONS_GO_ON && options->group != NULL)
        return from_groups_open(options->group, source, ret, ret_facts);
    if (status == OPTIONS_GO_ON)
        *ret = source;
    return status;
}

void from_options_note(struct from_options *options, const struct frame *frame)
{
    const char *note = frame->note != NULL ? frame->note : "";
    const time_t end = (time_t)(frame->wall_clock_ns / (int64_t)NS_PER_S);
    struct tm local;
    char at[16];

    if (strncmp(note, options->reported, sizeof options->reported - 1) == 0)
        return;
    snprintf(options->reported, sizeof options->reported, "%s", note);
    if (note[0] == '\0')
        return;
    if (!options->live) {
        options->notes++;
        return;
    }
    progress_clear(&options->progress);
    strftime(at, sizeof at, "%H:%M:%S", localtime_r(&end, &local));
    complain(STATUS_OK, "%s: %s", at, note);
}
