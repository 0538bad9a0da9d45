# tests/servers/witnesses.bash: the counters of the kernel for tasks and for the machine. Tests compare the times that
# camp reports with these counters in the same interval, so they need no constants.
#
#   until_still PID...     waits until the tasks sleep, and stay asleep for STILL_S
#   count_tasks PID...     prints "PID CPU_NS RUN_QUEUE_NS RUNS VOLUNTARY" for each task: how long it was on a CPU and
#                          in the run queue, how often it ran, and how often it slept (proc(5))
#   since FILE FILE N      prints the growth of column N from the first file to the second, summed over all tasks
#   taken_ns               prints the time of interrupts and the stolen time of all CPUs, as /proc/stat has it
#   read_switch_cost       sets SWITCH_NS: the CPU time of a context switch, including the BPF programs that run at it
#
# The counters of a sleeping task are exact. The CPU time of a running task is as of the last timer tick, and the
# current wait of a task in the run queue is not counted yet. So the counters are read while the tasks sleep.
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

# Succeeds if the tasks are asleep at two readings, and their counters are equal.
are_still() {
    local before
    before=$(count_tasks "$@")
    are_asleep "$@" && sleep "$STILL_S" && are_asleep "$@" && [ "$(count_tasks "$@")" = "$before" ]
}

# The time between the two readings of are_still, in s. A task that another task woke has run by then.
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

# taken_since NS: prints the growth of taken_ns since it was NS, plus one unit of /proc/stat that may be incomplete.
taken_since() {
    echo $(($(taken_ns) - $1 + 1000000000 / $(getconf CLK_TCK)))
}

# Two processes on one CPU pass a byte back and forth. Their CPU time does not depend on concurrent load.
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
