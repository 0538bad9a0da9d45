# tests/servers/witnesses.bash: the kernel's own counts of tasks and of the machine, for laws about sessions.
# A law compares camp with these counts in the same interval, without a constant of its own.
#
#   until_still PID...     waits until these tasks sleep, and stay asleep for STILL_S
#   count_tasks PID...     prints "PID CPU_NS RUN_QUEUE_NS RUNS VOLUNTARY" of each: schedstat and status of proc(5)
#   since FILE FILE N      the growth of column N from the first file to the second, summed over all tasks
#   taken_ns               time of interrupts and stolen time of all CPUs, in ns; a multiple of the unit of /proc/stat
#   read_switch_cost       sets SWITCH_NS: the CPU time of one switch on this machine, with the attached probes
#
# The counts of a sleeping task are exact. The CPU time of a running task is as of the last tick, and the
# current wait of a runnable task is not counted yet. So tasks are counted while they sleep.
# shellcheck shell=bash disable=SC2034 # the tests use SWITCH_NS

# count_tasks starts no process, because that would take long on a busy machine.
count_tasks() {
    local pid counts name value
    for pid; do
        read -r counts <"/proc/$pid/schedstat"
        while read -r name value; do
            [ "$name" != voluntary_ctxt_switches: ] || break
        done <"/proc/$pid/status"
        echo "$pid $counts $value"
    done
}

are_asleep() {
    local pid line
    for pid; do
        read -r line <"/proc/$pid/stat"
        [[ $line == *') S '* ]] || return 1
    done
}

# Succeeds if the tasks are asleep at two readings with equal counts.
are_still() {
    local before
    before=$(count_tasks "$@")
    are_asleep "$@" && sleep "$STILL_S" && are_asleep "$@" && [ "$(count_tasks "$@")" = "$before" ]
}

# The time between the two readings, in s. If one task woke another one, that one has run by then.
STILL_S=0.1

until_still() {
    until_it are_still "$@" || {
        count_tasks "$@" >&2
        cut -d' ' -f1-3 $(printf '/proc/%s/stat ' "$@") >&2
        return 1
    }
}

since() {
    awk -v column="$3" 'FNR == NR { sum -= $column; next } { sum += $column } END { printf "%.0f\n", sum }' \
        "$1" "$2"
}

taken_ns() {
    awk -v unit="$(getconf CLK_TCK)" '/^cpu / { printf "%.0f\n", ($7 + $8 + $9) * 1e9 / unit }' /proc/stat
}

# taken_since NS: the growth of taken_ns since NS, plus one unit that may be incomplete.
taken_since() {
    echo $(($(taken_ns) - $1 + 1000000000 / $(getconf CLK_TCK)))
}

# Two processes on one CPU pass a byte back and forth, because their CPU time does not depend on concurrent load.
read_switch_cost() {
    SWITCH_NS=$(python3 -c '
import os, resource
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
(there, to), (back, answer) = os.pipe(), os.pipe()
rounds = 5000
before = resource.getrusage(resource.RUSAGE_SELF)
if os.fork() == 0:
    for _ in range(rounds):
        os.write(answer, os.read(there, 1))
    os._exit(0)
for _ in range(rounds):
    os.write(to, b"x")
    os.read(back, 1)
os.wait()
after, child = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
used = [sum(getattr(use, name) for name in ("ru_utime", "ru_stime")) for use in (before, after, child)]
print(int((used[1] - used[0] + used[2]) * 1e9 / (2 * rounds)))')
}
