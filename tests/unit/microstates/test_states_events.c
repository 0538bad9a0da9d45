/* Which events for microstates a kernel has, tested with synthetic BTF of kernels that lack some of
 * them. */
#include "microstates/linux/events.h"
#include "microstates/linux/kernel_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define EVENTS_MAX 40

/* The functions that are tested, with types that tests may still change. */

static struct kernel_types *types_of(const struct btf *kernel)
{
    struct kernel_types *types = camp_kernel_types_of_btf(kernel);

    assert_non_null(types);
    return types;
}

static int require_events(const struct btf *kernel, struct camp_error *error)
{
    struct kernel_types *types = types_of(kernel);
    const int r = camp_events_require(types, error);

    camp_kernel_types_close(types);
    return r;
}

static int list_events(const struct btf *kernel, struct camp_states_event *ret, size_t capacity,
                       size_t *ret_count)
{
    struct kernel_types *types = types_of(kernel);
    const int r = camp_events_list(types, ret, sizeof *ret, capacity, ret_count, NULL);

    camp_kernel_types_close(types);
    return r;
}

static bool has_tracepoint(const struct btf *kernel, const char *name)
{
    struct kernel_types *types = types_of(kernel);
    const bool has = camp_events_have_tracepoint(types, name);

    camp_kernel_types_close(types);
    return has;
}

static bool may_find_threads(const struct btf *kernel)
{
    struct kernel_types *types = types_of(kernel);
    const bool may = camp_events_may_find_threads(types);

    camp_kernel_types_close(types);
    return may;
}

static bool may_trace(const struct btf *kernel, const char *function)
{
    struct kernel_types *types = types_of(kernel);
    const bool may = camp_events_may_trace(types, function);

    camp_kernel_types_close(types);
    return may;
}

/* Adds typedef void (*btf_trace_NAME)(void *, ...). */
static void add_tracepoint(struct btf *kernel, const char *name, int parameters)
{
    char typedef_name[80];
    int function = btf__add_func_proto(kernel, 0);

    for (int i = 0; i < parameters; i++)
        assert_int_equal(btf__add_func_param(kernel, "", 0), 0);
    snprintf(typedef_name, sizeof typedef_name, "btf_trace_%s", name);
    assert_true(btf__add_typedef(kernel, typedef_name, btf__add_ptr(kernel, function)) > 0);
}

static void add_function(struct btf *kernel, const char *name)
{
    assert_true(btf__add_func(kernel, name, BTF_FUNC_STATIC, btf__add_func_proto(kernel, 0)) > 0);
}

/* Returns the BTF of a kernel with all needed functions and tracepoints except `lacking`, which may
 * be NULL. */
static struct btf *kernel_without(const char *lacking, int parameters_of_switch)
{
    static const char *const functions[] = { "bpf_iter_task", "bpf_ringbuf_reserve",
                                             "bpf_task_storage_get", "bpf_task_pt_regs" };
    static const char *const tracepoints[] = { "sched_wakeup", "sched_wakeup_new" };
    struct btf *kernel = btf__new_empty();

    assert_non_null(kernel);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (lacking == NULL || strcmp(functions[i], lacking) != 0)
            add_function(kernel, functions[i]);
    }
    for (size_t i = 0; i < sizeof tracepoints / sizeof tracepoints[0]; i++) {
        if (lacking == NULL || strcmp(tracepoints[i], lacking) != 0)
            add_tracepoint(kernel, tracepoints[i], 2);
    }
    if (parameters_of_switch > 0)
        add_tracepoint(kernel, "sched_switch", parameters_of_switch);
    return kernel;
}

static void assert_refused(const char *lacking, int parameters_of_switch, const char *name,
                           const char *since)
{
    struct btf *kernel = kernel_without(lacking, parameters_of_switch);
    struct camp_error error = { 0 };

    assert_int_equal(require_events(kernel, &error), CAMP_E_NOTSUP);
    assert_non_null(strstr(error.message, name));
    assert_non_null(strstr(error.message, since));
    assert_non_null(
        /* The end of the message must not be cut off. */
        strstr(error.message, "camp check works without microstates"));
    btf__free(kernel);
}

static void a_kernel_with_all_needed_events_is_accepted(void **state)
{
    struct btf *kernel = kernel_without(NULL, 5);

    (void)state;
    assert_int_equal(require_events(kernel, NULL), CAMP_OK);
    btf__free(kernel);
}

/* Since Linux 5.18, the fourth argument is the state in which the thread leaves the CPU. It is the
 * fifth parameter in BTF, because the first parameter is the context. */
static void the_error_about_an_old_sched_switch_event_names_the_needed_kernel(void **state)
{
    (void)state;
    assert_refused(NULL, 4, "sched_switch prev_state", "Linux 5.18");
    assert_refused(NULL, 0, "sched_switch prev_state", "Linux 5.18");
}

static void the_error_about_a_missing_event_names_the_first_kernel_that_has_it(void **state)
{
    (void)state;
    assert_refused("bpf_iter_task", 5, "iter/task", "Linux 5.8");
    assert_refused("bpf_ringbuf_reserve", 5, "ring buffer", "Linux 5.8");
    assert_refused("bpf_task_storage_get", 5, "task storage", "Linux 5.13");
    assert_refused("bpf_task_pt_regs", 5, "registers of a task", "Linux 5.15");
    assert_refused("sched_wakeup", 5, "sched_wakeup", "Linux 5.5");
    assert_refused("sched_wakeup_new", 5, "sched_wakeup_new", "Linux 5.5");
}

static int require_causes(const struct btf *kernel, struct camp_error *error)
{
    struct kernel_types *types = types_of(kernel);
    const int r = camp_events_require_causes(types, error);

    camp_kernel_types_close(types);
    return r;
}

static void a_kernel_without_an_event_of_causes_is_refused_for_causes_only(void **state)
{
    struct btf *kernel = kernel_without(NULL, 5);
    struct camp_error error = { 0 };

    (void)state;
    assert_int_equal(require_events(kernel, NULL), CAMP_OK);
    assert_int_equal(require_causes(kernel, &error), CAMP_E_NOTSUP);
    assert_string_equal(error.message, "this kernel has no event sched_waking, which the causes of "
                                       "waits need; camp top works without causes");
    add_tracepoint(kernel, "sched_waking", 2);
    assert_int_equal(require_causes(kernel, &error), CAMP_E_NOTSUP);
    assert_non_null(strstr(error.message, "sched_migrate_task"));
    add_tracepoint(kernel, "sched_migrate_task", 3);
    assert_int_equal(require_causes(kernel, &error), CAMP_OK);
    btf__free(kernel);
}

static void a_kernel_that_lacks_an_optional_event_is_accepted(void **state)
{
    struct btf *kernel = kernel_without(NULL, 5);
    struct camp_states_event events[EVENTS_MAX];
    size_t count, present = 0, faults = 0;

    (void)state;
    add_tracepoint(kernel, "page_fault_user", 4);
    assert_true(has_tracepoint(kernel, "page_fault_user"));
    assert_false(has_tracepoint(kernel, "page_fault_kernel"));
    assert_int_equal(require_events(kernel, NULL), CAMP_OK);
    assert_int_equal(list_events(kernel, events, EVENTS_MAX, &count), CAMP_OK);
    for (size_t i = 0; i < count; i++) {
        present += events[i].present;
        assert_true(events[i].needed == 0 || events[i].present == 1);
        assert_non_null(events[i].since);
        assert_non_null(events[i].without);
        if (strcmp(events[i].name, "page_fault_user") == 0)
            faults += events[i].present;
        if (strcmp(events[i].name, "page_fault_kernel") == 0)
            faults += 10 * events[i].present;
    }
    assert_int_equal(present, 8); /* the seven needed events and page_fault_user */
    assert_int_equal(faults, 1);
    assert_int_equal(list_events(kernel, events, 3, &count), CAMP_E_SPACE);
    assert_true(count > 3);
    btf__free(kernel);
}

/* Returns the event `name`, which must be listed once. */
static struct camp_states_event listed(struct btf *kernel, const char *name)
{
    struct camp_states_event events[EVENTS_MAX], ret = { 0 };
    size_t count, found = 0;

    assert_int_equal(list_events(kernel, events, EVENTS_MAX, &count), CAMP_OK);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(events[i].name, name) == 0) {
            ret = events[i];
            found++;
        }
    }
    assert_int_equal(found, 1);
    return ret;
}

static bool has_throttled_clock(struct btf *kernel)
{
    return listed(kernel, "throttled clock").present != 0;
}

static void throttled_time_is_available_if_the_run_queue_has_a_throttling_clock(void **state)
{
    struct btf *kernel = kernel_without(NULL, 5);
    int number;

    (void)state;
    assert_false(has_throttled_clock(kernel));
    number = btf__add_int(kernel, "u64", 8, 0);
    assert_true(number > 0);
    assert_true(btf__add_struct(kernel, "cfs_rq", 16) > 0);
    assert_int_equal(btf__add_field(kernel, "throttled_clock", number, 0, 0), 0);
    assert_false(has_throttled_clock(kernel));
    assert_int_equal(btf__add_field(kernel, "throttled_clock_self", number, 64, 0), 0);
    assert_true(has_throttled_clock(kernel));
    btf__free(kernel);
}

#define FIND_THREADS "a thread by its tid"

/* Returns whether camp loads a program to know if the event is present. Without the right to load
 * programs this is unknown. */
static bool is_tried(const struct camp_states_event *event)
{
    return strstr(event->name, EVENTS_FUNCTION_OF_TRAPS) != NULL ||
           strcmp(event->name, FIND_THREADS) == 0;
}

static void a_kernel_without_an_event_of_sleeping_threads_is_accepted(void **state)
{
    static const char *const names[] = { "task_rename", "cgroup_attach_task",
                                         "sched_process_exit" };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct btf *kernel = kernel_without(NULL, 5);
        struct camp_states_event event = listed(kernel, names[i]);

        assert_int_equal(event.needed, 0);
        assert_int_equal(event.present, 0);
        assert_int_equal(event.known, CAMP_STATES_EVENT_PRESENT);
        assert_string_equal(event.since, "5.5");
        assert_non_null(strstr(event.without, "also visit idle threads"));
        assert_int_equal(require_events(kernel, NULL), CAMP_OK);
        add_tracepoint(kernel, names[i], 2);
        assert_int_equal(listed(kernel, names[i]).present, 1);
        btf__free(kernel);
    }
}

/* Whether a program may find a thread is tried, unless the kernel's BTF lacks the functions. */
static void a_kernel_that_cannot_find_a_thread_by_its_tid_is_accepted(void **state)
{
    struct btf *kernel = kernel_without(NULL, 5);
    struct camp_states_event event;

    (void)state;
    assert_false(may_find_threads(kernel));
    add_function(kernel, "bpf_task_from_pid");
    assert_false(may_find_threads(kernel));
    event = listed(kernel, FIND_THREADS);
    assert_int_equal(event.needed, 0);
    assert_int_equal(event.present, 0);
    assert_string_equal(event.since, "6.10");
    assert_non_null(strstr(event.without, "also visit idle threads"));
    assert_int_equal(require_events(kernel, NULL), CAMP_OK);
    btf__free(kernel);
}

/* Whether a function can be traced is tried, unless the kernel's BTF lacks the function. */
static void traps_are_unavailable_if_the_kernel_lacks_the_page_fault_function(void **state)
{
    struct btf *kernel = kernel_without(NULL, 5);
    struct camp_states_event events[EVENTS_MAX];
    size_t count, found = 0;

    (void)state;
    assert_false(may_trace(kernel, EVENTS_FUNCTION_OF_TRAPS));
    assert_int_equal(list_events(kernel, events, EVENTS_MAX, &count), CAMP_OK);
    for (size_t i = 0; i < count; i++) {
        if (strstr(events[i].name, EVENTS_FUNCTION_OF_TRAPS) == NULL) {
            assert_true(is_tried(&events[i]) || events[i].known == CAMP_STATES_EVENT_PRESENT);
            continue;
        }
        found++;
        assert_int_equal(events[i].present, 0);
        assert_int_equal(events[i].needed, 0);
    }
    assert_int_equal(found, 1);
    btf__free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_with_all_needed_events_is_accepted),
        cmocka_unit_test(the_error_about_an_old_sched_switch_event_names_the_needed_kernel),
        cmocka_unit_test(the_error_about_a_missing_event_names_the_first_kernel_that_has_it),
        cmocka_unit_test(a_kernel_without_an_event_of_causes_is_refused_for_causes_only),
        cmocka_unit_test(a_kernel_that_lacks_an_optional_event_is_accepted),
        cmocka_unit_test(throttled_time_is_available_if_the_run_queue_has_a_throttling_clock),
        cmocka_unit_test(a_kernel_without_an_event_of_sleeping_threads_is_accepted),
        cmocka_unit_test(a_kernel_that_cannot_find_a_thread_by_its_tid_is_accepted),
        cmocka_unit_test(traps_are_unavailable_if_the_kernel_lacks_the_page_fault_function),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
