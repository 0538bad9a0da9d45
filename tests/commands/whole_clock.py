#!/usr/bin/env python3
"""whole_clock.py FILE COMMAND...: runs a command, and writes its whole CPU time to FILE, in ns.

The number is the CPU clock of the exited process, read before wait(2) removes it, so it includes the
exit itself. A process may not have left its CPU when it is reported as exited, and may still wait for
a CPU to do so: the clock is read until it has stood still for some time. The exit status is that of
the command.
"""
import os
import sys
import time

CPUCLOCK_SCHED = 2  # include/linux/posix-timers.h: the clock of a process is ~pid << 3 | this

STILL_S = 0.02


def main():
    pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    clock, before = ~pid << 3 | CPUCLOCK_SCHED, -1
    while (whole_ns := time.clock_gettime_ns(clock)) != before:
        before = whole_ns
        time.sleep(STILL_S)
    status = os.waitpid(pid, 0)[1]
    with open(sys.argv[1], 'w') as file:
        print(whole_ns, file=file)
    sys.exit(os.waitstatus_to_exitcode(status))


main()
