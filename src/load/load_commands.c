/* camp load cpu, fork, memory, net, threads: options, run, truth. */
#include "load_commands.h"

#include "load.h"
#include "load_show.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_PACKETS 10000
#define MISSED_MAX 0.05 /* share of misplaced burns; with more, the promised effect is missing */

/* How a CPU load fell short: of its share, or of its phase. */
static void remark_on_cpu(const struct load_cpu_plan *plan, const struct load_cpu_truth *truth,
                          char *ret)
{
    size_t length = 0;

    ret[0] = '\0';
    if (truth->percent < plan->percent * NEARLY)
        length = (size_t)snprintf(ret, REMARK_SIZE,
                                  "only %.2f%% of %.2f%% was reached: the CPU was in use",
                                  truth->percent, plan->percent);
    if (plan->phase != LOAD_ANY_PHASE && (double)truth->missed > MISSED_MAX * (double)truth->cycles)
        snprintf(ret + length, REMARK_SIZE - length,
                 "%sthe load missed its place between ticks %llu times in %llu cycles, so its "
                 "sampled time is not as promised",
                 length > 0 ? "; " : "", (unsigned long long)truth->missed,
                 (unsigned long long)truth->cycles);
}

int load_cpu_command(int argc, char **argv)
{
    static const char *const phases[] = { "any", "between-ticks", "across-ticks", NULL };
    struct load_cpu_plan plan = { .percent = 30, .duration_ns = DEFAULT_DURATION_NS };
    uint64_t cpu = UINT64_MAX;
    int format = 0, phase = 0, r;
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_PERCENT, &plan.percent,
                      .help = "The CPU time to use, in percent of one CPU (30)."),
        { "phase", 0, OPTION_CHOICE, &phase, "PHASE",
          "When to run: any (at random), between-ticks (a sampling kernel sees nothing of the "
          "load), or across-ticks (it sees far too much).",
          0, 0, phases },
        COMMON_OPTION(COMMON_PERIOD, &plan.period_ns,
                      .help = "The load runs once in each period (10 ms; with a phase one tick or "
                              "a few). With a phase the period must be a multiple of the tick."),
        COMMON_OPTION(COMMON_CPU, &cpu,
                      .help = "Run on this CPU only (with a phase: the last allowed CPU)."),
        LOAD_DURATION,
        LOAD_FORMAT,
    };
    struct load_cpu_truth truth;
    struct camp_error error = { 0 };
    char remark[REMARK_SIZE];

    r = load_parse("camp load cpu [OPTIONS]", "Uses a known share of one CPU.", specs,
                   ARRAY_COUNT(specs), argc, argv);
    if (r != OPTIONS_GO_ON)
        return r;
    plan.phase = (enum load_phase)phase;
    plan.cpu = cpu == UINT64_MAX ? -1 : (int32_t)cpu;
    r = load_cpu(&plan, &truth, &error);
    if (truth.wall_ns == 0 && r != CAMP_OK)
        return complain_of(r, &error);
    remark_on_cpu(&plan, &truth, remark);
    return load_ended(show_load_cpu(view_by_name(load_formats[format]), &plan, &truth), r, &error,
                      stop_requested ? "" : remark);
}

int load_fork_command(int argc, char **argv)
{
    struct load_fork_plan plan = { 400, 2ull * NS_PER_MS, DEFAULT_DURATION_NS };
    int format = 0, r;
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_RATE, &plan.rate, .type = OPTION_REAL, .argument = "N",
                      .help = "Fork N children a second (400).", .minimum = 0.01, .maximum = 20000),
        { "burn", 0, OPTION_DURATION, &plan.burn_ns, "TIME",
          "The CPU time that each child uses, by its own clock (2 ms).", 0, 10, NULL },
        LOAD_DURATION,
        LOAD_FORMAT,
    };
    struct load_fork_truth truth;
    struct camp_error error = { 0 };
    char remark[REMARK_SIZE] = "";

    r = load_parse("camp load fork [OPTIONS]",
                   "Forks children that each use a little CPU time and end. At most 256 of them\n"
                   "live at a time.",
                   specs, ARRAY_COUNT(specs), argc, argv);
    if (r != OPTIONS_GO_ON)
        return r;
    r = load_fork(&plan, &truth, &error);
    if (truth.wall_ns == 0 && r != CAMP_OK)
        return complain_of(r, &error);
    if (truth.rate < plan.rate * NEARLY)
        snprintf(remark, sizeof remark, "only %.2f of %.2f children a second were forked",
                 truth.rate, plan.rate);
    return load_ended(show_load_fork(view_by_name(load_formats[format]), &truth), r, &error,
                      stop_requested ? "" : remark);
}

int load_memory_command(int argc, char **argv)
{
    struct load_memory_plan plan = { .step_bytes = 976 * BYTES_PER_KIB, .steps = 2 };
    int format = 0, r;
    const struct option_spec specs[] = {
        { "step", 0, OPTION_SIZE, &plan.step_bytes, "SIZE",
          "The memory of each step (976K), rounded up to pages.", 1, 1099511627776.0, NULL },
        { "steps", 0, OPTION_COUNT, &plan.steps, "N", "The number of steps (2).", 1, LOAD_STEPS_MAX,
          NULL },
        { "pause", 0, OPTION_DURATION, &plan.pause_ns, "TIME",
          "Sleep for this time after each step (0).", 0, 2592000, NULL },
        LOAD_DURATION_OF("Hold the memory until this time after the start. Without it the load "
                         "ends after its steps."),
        { "huge", 0, OPTION_FLAG, &plan.huge, NULL, "Allow huge pages: fewer faults.", 0, 0, NULL },
        LOAD_FORMAT,
    };
    static struct load_memory_truth truth;
    struct camp_error error = { 0 };

    r = load_parse("camp load memory [OPTIONS]", "Takes memory in steps, and writes to each page.",
                   specs, ARRAY_COUNT(specs), argc, argv);
    if (r != OPTIONS_GO_ON)
        return r;
    r = load_memory(&plan, &truth, &error);
    if (truth.wall_ns == 0 && r != CAMP_OK)
        return complain_of(r, &error);
    return load_ended(show_load_memory(view_by_name(load_formats[format]), &truth), r, &error, "");
}

/* A network namespace by a name of `ip netns` or a path; -1: the current one. */
static int open_namespace(const char *name, int *ret)
{
    char path[PATH_MAX];

    *ret = -1;
    if (name == NULL)
        return STATUS_OK;
    snprintf(path, sizeof path, "%s%s", strchr(name, '/') == NULL ? "/run/netns/" : "", name);
    *ret = open(path, O_RDONLY | O_CLOEXEC);
    if (*ret >= 0)
        return STATUS_OK;
    return complain(STATUS_FAILURE, "%s: %s; give a name from `ip netns list`, or /proc/PID/ns/net",
                    path, strerror(errno));
}

int load_net_command(int argc, char **argv)
{
    struct load_net_plan plan = { .bytes = 32, .target = "127.0.0.1" };
    const char *from = NULL, *to = NULL;
    int format = 0, r;
    const struct option_spec specs[] = {
        { "packets", 0, OPTION_COUNT, &plan.packets, "N", "The number of packets (10000).", 1, 1e9,
          NULL },
        COMMON_OPTION(COMMON_BYTES, &plan.bytes, .help = "The payload of each packet (32).",
                      .minimum = 0, .maximum = 65507),
        { "target", 0, OPTION_TEXT, &plan.target, "ADDRESS",
          "An address of this machine, or of the receiver's namespace (127.0.0.1).", 0, 0, NULL },
        LOAD_DURATION_OF("Send packets for this time, instead of a number of --packets."),
        { "from-namespace", 0, OPTION_TEXT, &from, "NAME",
          "The sender's network namespace: a name of `ip netns`, or a path.", 0, 0, NULL },
        { "to-namespace", 0, OPTION_TEXT, &to, "NAME",
          "The receiver's network namespace, likewise.", 0, 0, NULL },
        LOAD_FORMAT,
    };
    struct load_net_truth truth;
    struct camp_error error = { 0 };
    char remark[REMARK_SIZE] = "";

    r = load_parse("camp load net [OPTIONS]",
                   "Sends UDP packets to itself, and counts the packets that arrive. It sends\n"
                   "nothing to other machines: the target must be an address of this one.",
                   specs, ARRAY_COUNT(specs), argc, argv);
    if (r != OPTIONS_GO_ON)
        return r;
    if (plan.packets != 0 && plan.duration_ns != 0)
        return complain(STATUS_USAGE,
                        "--packets and --duration both set the end of the load: give one of them");
    if (plan.packets == 0)
        plan.packets = DEFAULT_PACKETS;
    r = open_namespace(from, &plan.sender_namespace);
    if (r == STATUS_OK)
        r = open_namespace(to, &plan.receiver_namespace);
    if (r != STATUS_OK)
        return r;
    r = load_net(&plan, &truth, &error);
    if (truth.wall_ns == 0 && r != CAMP_OK)
        return complain_of(r, &error);
    if (truth.lost_packets > 0)
        snprintf(remark, sizeof remark, "%llu packets did not arrive",
                 (unsigned long long)truth.lost_packets);
    return load_ended(show_load_net(view_by_name(load_formats[format]), &truth), r, &error, remark);
}

int load_threads_command(int argc, char **argv)
{
    struct load_threads_plan plan = { 4, 20, DEFAULT_DURATION_NS };
    int format = 0, r;
    const struct option_spec specs[] = {
        { "threads", 0, OPTION_COUNT, &plan.threads, "N", "The number of threads (4).", 1,
          LOAD_THREADS_MAX, NULL },
        COMMON_OPTION(COMMON_PERCENT, &plan.percent,
                      .help = "The CPU time that each thread uses, in percent of one CPU (20)."),
        LOAD_DURATION,
        LOAD_FORMAT,
    };
    static struct load_threads_truth truth;
    struct camp_error error = { 0 };
    char remark[REMARK_SIZE] = "";
    double percent;

    r = load_parse("camp load threads [OPTIONS]",
                   "Runs threads that each use a known share of a CPU.", specs, ARRAY_COUNT(specs),
                   argc, argv);
    if (r != OPTIONS_GO_ON)
        return r;
    r = load_threads(&plan, &truth, &error);
    if (truth.wall_ns == 0 && r != CAMP_OK)
        return complain_of(r, &error);
    percent = 100 * (double)truth.threads_ns / (double)truth.wall_ns;
    if (percent < plan.percent * (double)plan.threads * NEARLY)
        snprintf(remark, sizeof remark, "only %.2f%% of %.2f%% was reached: the CPUs were in use",
                 percent, plan.percent * (double)plan.threads);
    return load_ended(show_load_threads(view_by_name(load_formats[format]), &truth), r, &error,
                      stop_requested ? "" : remark);
}
