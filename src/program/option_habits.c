#include "option_habits.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LIVE "check, top, wait, why, record, report, view"
#define UNCOLORED "get, list, export, record, view"
#define COUNTED "check, top, wait, why, record, report"

const struct habit habits[] = {
    /* Options that had another meaning in an earlier version of the command. */
    { "get", "-c", "--count N (-n) is the number of readings" },
    { "get", "-v", "--value prints only the values" },
    { "get", "--count", "--name names an executable" },
    { "list", "-n", "--name EXECUTABLE names the processes" },
    { "load cpu, load threads", "-p", "--percent N is the share of a CPU" },
    { "load lock, load pipe, load sleep", "-p", "--percent N is the share of the time asleep" },
    { "load fork", "-b", "--burn TIME is the CPU time of each child" },
    { "load memory", "-s", "--step SIZE is the size of each step" },
    { "load memory", "-n", "--steps N is the number of steps" },
    { "load net", "-n", "--packets N is the number of packets" },
    { "load net", "-t", "--target ADDRESS is the address to send to" },
    { "load threads", "-n", "--threads N is the number of threads" },
    { "load fault", "-n", "--pages N is the number of pages" },
    { "load io", "-w", "--write writes instead of reading" },
    { "verify", "--repeat", "--count N (-n) repeats all tests N times" },

    { LIVE, "-d", "--interval TIME (-i) is the time between two outputs" },
    { LIVE, "--delay", "--interval TIME (-i) is the time between two outputs" },
    { "get", "-d", "--interval TIME (-i) is the time between two readings" },
    { "get", "--delay", "--interval TIME (-i) is the time between two readings" },
    { "top", "-c",
      "command lines select rows in rules of --workload FILE (-w); --count N (-n) ends "
      "the command after N intervals" },
    { "check, wait, why, record, report", "-c",
      "--count N (-n) ends the command after N intervals" },
    { COUNTED, "--iterations", "--count N (-n) ends the command after N intervals" },
    { "top", "-b", "--format text (-f text) prints one interval below the other" },
    { "top", "--batch", "--format text (-f text) prints one interval below the other" },
    { "top", "-o",
      "--sort STATE (-s) sets the order of the rows; camp record --output writes a file" },
    { "top", "-u", "--group user (-g user) has a row for each user; --filter REGEX selects rows" },
    { "top", "-U", "--group user (-g user) has a row for each user; --filter REGEX selects rows" },
    { "top", "--user",
      "--group user (-g user) has a row for each user; --filter REGEX selects "
      "rows" },
    { "top", "-H", "--group thread (-g thread) has a row for each thread" },
    { "top", "--forest", "--tree (-t) puts processes under their parents" },
    { "top", "-l", "--group thread (-g thread) has a row for each thread" },
    { "check, top", "-C", "--filter REGEX selects rows by their name" },
    { "check, top", "-G", "--filter REGEX selects rows by their name" },

    { "wait", "-x", "camp list disks --long has the counters of each disk" },
    { "check, wait, top", "-a", "each command shows all that it measures; --top 0 shows all rows" },
    { "check, wait", "-t",
      "each interval has its time already; --format json or csv has its date" },

    { "why", "-p", "the first operand is the process: camp why PID" },
    { "why", "--pid", "the first operand is the process: camp why PID" },

    { "record", "-p",
      "a recording has all threads; camp top --from FILE.camp --pid PID shows those of one "
      "process" },
    { "record", "--pid",
      "a recording has all threads; camp top --from FILE.camp --pid PID shows those of one "
      "process" },
    { "record", "-F", "--interval TIME (-i) is the length of an interval" },
    { "check, top, wait", "-I", "--interval TIME (-i) is the length of an interval" },
    { "check, wait", "-o",
      "camp record --output FILE.camp makes a recording; > FILE writes the output to FILE" },

    /* Options of time(1). POSIX specifies time -p: it prints real, user and sys. */
    { "time", "--pid", "--format csv --table total has the real, user and sys of time -p" },
    { "time", "-a", "--output FILE (-o) replaces FILE" },

    { "check, top, record, report", "--demo", "--from demo reads the sample data" },

    { UNCOLORED, "--color", "the output of this command has no colors" },
    { UNCOLORED, "--colour", "the output of this command has no colors" },

    { "view, export", "-p", "--port N is the port to listen at" },
    { NULL, NULL, NULL },
};

/* Returns whether a list such as "top, load cpu" contains `command` ("camp load cpu"). */
static bool names(const char *commands, const char *command)
{
    const size_t prefix = sizeof "camp " - 1, length = strlen(command);

    if (length <= prefix)
        return false;
    for (const char *at = commands; at != NULL; at = strchr(at, ',')) {
        at += strspn(at, ", ");
        if (strcspn(at, ",") == length - prefix &&
            strncmp(at, command + prefix, length - prefix) == 0)
            return true;
    }
    return false;
}

const char *habit_of(const char *command, const char *option)
{
    for (const struct habit *habit = habits; habit->option != NULL; habit++) {
        if (strcmp(habit->option, option) == 0 && names(habit->commands, command))
            return habit->instead;
    }
    return NULL;
}
