/*
 * What wakes threads: the thread that runs, the timer, a device, or a signal.
 *
 * sched_waking comes on the CPU of the waker, and is stored for each thread, also for one that does
 * not sleep: it may come before the thread's own switch to sleep. The sleep is charged when it ends
 * (charge_cause()).
 *
 * In an interrupt the waker is the interrupt, and while a timer expires it is the timer, whichever
 * interrupt that is (hrtimer_expire_entry): the timers of some hypervisors have no event of their
 * own, and a CPU whose timer stops when it is idle gets a message of another CPU. In a softirq it
 * is what raised the softirq, such as the thread that sends over the loopback device. A softirq
 * that is raised twice before it runs is taken to be of the last one.
 *
 * With groups_by_need, a thread without a group of its own gets one when it wakes a thread that has
 * one: the thread that runs, if it also raised the softirq that runs.
 */
#pragma once

#include "account.bpf.h"
#include "culprits.bpf.h"
#include "signals.bpf.h"

#define SOFTIRQ_TIMER 1 /* TIMER_SOFTIRQ and HRTIMER_SOFTIRQ in include/linux/interrupt.h */
#define SOFTIRQ_HRTIMER 8

/* The numbers of device interrupts, by enum waker - WAKER_DEVICES; and 1 + that of each interrupt.
 */
uint32_t waker_devices[DEVICES_MAX], waker_device_count;
uint8_t device_of_interrupt[INTERRUPTS_MAX];

static __always_inline void note_context(uint32_t depth, uint32_t context)
{
    struct queue_account *queue = this_queue();

    if (queue != NULL)
        queue->contexts[depth & (NESTED_MAX - 1)] = (uint16_t)context;
}

/* Returns the context of a softirq that starts. */
static __always_inline uint32_t softirq_context(uint32_t vector)
{
    struct queue_account *queue = this_queue();
    uint16_t *raised;
    uint32_t context;

    if (vector == SOFTIRQ_TIMER || vector == SOFTIRQ_HRTIMER)
        return WAKER_TIMER;
    if (queue == NULL)
        return WAKER_SOFTIRQ;
    if (groups_by_need)
        queue->raiser = queue->raisers[vector & (SOFTIRQS_MAX - 1)];
    raised = &queue->raised[vector & (SOFTIRQS_MAX - 1)];
    context = *raised != 0 ? *raised - 1u : WAKER_SOFTIRQ;
    *raised = 0;
    return context != WAKER_UNSEEN ? context : WAKER_SOFTIRQ;
}

/* Returns the context of a device interrupt. */
static __always_inline uint32_t device_context(uint32_t interrupt)
{
    return interrupt < INTERRUPTS_MAX ? CONTEXT_OF_DEVICE | interrupt : WAKER_OTHER_DEVICE;
}

/* Returns the enum waker of a device interrupt. */
static __always_inline uint32_t device_waker(uint32_t interrupt)
{
    uint8_t *device = &device_of_interrupt[interrupt & (INTERRUPTS_MAX - 1)];
    uint32_t number;

    if (*device != 0)
        return WAKER_DEVICES - 1 + *device;
    if (waker_device_count >= DEVICES_MAX)
        return WAKER_OTHER_DEVICE;
    number = __sync_fetch_and_add(&waker_device_count, 1);
    if (number >= DEVICES_MAX)
        return WAKER_OTHER_DEVICE;
    waker_devices[number] = interrupt;
    *device = (uint8_t)(number + 1);
    return WAKER_DEVICES + number;
}

/* Returns the context on this CPU: that of the innermost interrupt, or of the thread. */
static __always_inline uint32_t context_now(const struct queue_account *queue)
{
    const struct cpu_account *cpu = this_cpu();
    const uint32_t depth = cpu != NULL ? cpu->depth : 0;

    if (queue->timer == 1 + depth)
        return WAKER_TIMER;
    return depth != 0 ? queue->contexts[(depth - 1) & (NESTED_MAX - 1)]
                      : running_waker(queue, cpu) - 1;
}

/* Returns the waker of a thread if a thread of GROUP_OTHER wakes it: the group that the waker gets,
 * or GROUP_OTHER. */
static __always_inline uint32_t name_waker(struct queue_account *queue, const struct account *woken)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);
    const struct cpu_account *cpu = this_cpu();
    const uint32_t group = group_of(woken);
    const uint32_t need = (subject_groups >> group & 1) != 0 ? NEED_OF_WAKER
                          : group >= GROUP_FIRST             ? NEED_OF_CHAIN
                                                             : NEED_OF_NONE;

    if (account == NULL || cpu == NULL || cpu->running_task != (uint64_t)task ||
        (cpu->depth != 0 && queue->raiser != (uint64_t)task) || !name_group(account, task, need))
        return GROUP_OTHER;
    runs_now(queue, account, task);
    return group_of(account);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
    struct account *account = bpf_task_storage_get(&accounts, task, NULL, 0);
    struct queue_account *queue = this_queue();
    uint32_t context;

    if (account == NULL || queue == NULL)
        return 0;
    /* Its need is that of its group. A thread that has a CPU finds its group when it leaves it. */
    if (groups_by_need && account->state > CAMP_STATE_SYSTEM &&
        account->state != CAMP_STATE_RUN_QUEUE)
        keep_group(account, task);
    context = context_now(queue);
    if (context < GROUPS_MAX && has_signal(task))
        context = WAKER_SIGNAL;
    else if ((context & CONTEXT_OF_DEVICE) != 0)
        context = device_waker(context & (INTERRUPTS_MAX - 1));
    else if (groups_by_need && context == GROUP_OTHER)
        context = name_waker(queue, account);
    account->waker = 1 + context;
    return 0;
}

SEC("tp_btf/softirq_raise")
int BPF_PROG(on_softirq_raise, unsigned int vector)
{
    struct queue_account *queue = this_queue();

    if (queue == NULL)
        return 0;
    queue->raised[vector & (SOFTIRQS_MAX - 1)] = (uint16_t)(1 + context_now(queue));
    if (groups_by_need)
        queue->raisers[vector & (SOFTIRQS_MAX - 1)] = (uint64_t)bpf_get_current_task_btf();
    return 0;
}

/* A timer expires in an interrupt that this CPU serves, with or without an event of its own. It may
 * interrupt another one that expires in a softirq, which is of WAKER_TIMER without it. */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_hrtimer_entry)
{
    struct queue_account *queue = this_queue();
    const struct cpu_account *cpu = this_cpu();

    if (queue != NULL && cpu != NULL)
        queue->timer = 1 + cpu->depth;
    return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_hrtimer_exit)
{
    struct queue_account *queue = this_queue();

    if (queue != NULL)
        queue->timer = 0;
    return 0;
}
