/* The truths of the loads as records "camp.load/1". */
#pragma once

#include "load.h"
#include "views/view.h"

/* Must be called once, before the options of a load are parsed: each record has the CPU time that
 * the process had used by then, and at its end. */
void load_mark_startup(void);

/* Each writes one truth to stdout and returns an exit status. */
int show_load_cpu(const struct view *view, const struct load_cpu_plan *plan,
                  const struct load_cpu_truth *truth);
int show_load_fork(const struct view *view, const struct load_fork_truth *truth);
int show_load_memory(const struct view *view, const struct load_memory_truth *truth);
int show_load_net(const struct view *view, const struct load_net_truth *truth);
int show_load_io(const struct view *view, const struct load_io_truth *truth);
/* `name`: lock, pipe or sleep. */
int show_load_sleep(const struct view *view, const char *name, const struct load_sleep_plan *plan,
                    const struct load_sleep_truth *truth);
int show_load_fault(const struct view *view, const struct load_fault_truth *truth);
int show_load_threads(const struct view *view, const struct load_threads_truth *truth);
