/* The calls of libcamp that are measured. Each function makes one call and returns 0 on success. */
#pragma once

int camp_calls_open(void); /* opens identifiers and readers; not 0 after an error message */
void camp_calls_close(void);
int camp_taskstats_ready(void); /* 1 if the taskstats session is open */

int call_cpu_count(void);
int call_cpu_all(void);
int call_cpu_total(void);
int call_cpu_one(void);
int call_memory_all(void);
int call_memory_cheap(void);
int call_network_all(void);
int call_network_one(void);
int call_disk_all(void);
int call_disk_one(void);
int call_pid_list(void);
int call_process_list(void);
int call_process_identify(void);
int call_process_stat(void);
int call_process_cpu(void);
int call_process_cpu_ns(void);
int call_pid_cpu_ns(void);
int call_thread_stat(void);
int call_thread_measured(void);
int call_taskstats(void);
int call_reader_cpus(void);
int call_reader_memory(void);
int call_reader_networks(void);
int call_reader_disks(void);
int call_reader_process(void);
