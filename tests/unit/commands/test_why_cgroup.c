/* camp why of a container: the child that looks for it cannot be made, or ends without an answer.
 */
#include "commands/why/why_cgroup.h"
#include "program/command.h"
#include "program/sandbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static bool fork_fails;
static int end_by; /* a signal; 0: exit */

pid_t __real_fork(void);
pid_t __wrap_fork(void);
int __wrap_sandbox_enter(const struct sandbox *sandbox, struct camp_error *error);

pid_t __wrap_fork(void)
{
    errno = EAGAIN;
    return fork_fails ? -1 : __real_fork();
}

/* The child ends here. */
int __wrap_sandbox_enter(const struct sandbox *sandbox, struct camp_error *error)
{
    (void)sandbox;
    (void)error;
    if (end_by != 0)
        (void)raise(end_by);
    _exit(3);
}

static void assert_complaint(const char *expected)
{
    struct why_cgroup cgroup = { .labels = { [LABEL_CONTAINER] = "web" } };
    const int text = memfd_create("stderr", MFD_CLOEXEC), before = dup(STDERR_FILENO);
    char complaint[500] = "";
    int status;

    assert_true(text >= 0 && before >= 0);
    fflush(stderr);
    assert_true(dup2(text, STDERR_FILENO) >= 0);
    status = why_cgroup_find(&cgroup, NULL);
    fflush(stderr);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    assert_true(pread(text, complaint, sizeof complaint - 1, 0) >= 0);
    close(text);
    close(before);
    assert_int_equal(status, STATUS_FAILURE);
    if (strstr(complaint, expected) == NULL)
        fail_msg("'%s' is not in '%s'", expected, complaint);
    why_cgroup_release(&cgroup);
}

static void a_child_that_is_not_made_is_reported_with_the_cause(void **state)
{
    char expected[200];

    (void)state;
    fork_fails = true;
    snprintf(expected, sizeof expected,
             "no process can be made that looks for the container (%s)\n", strerror(EAGAIN));
    assert_complaint(expected);
    fork_fails = false;
}

static void a_child_that_ends_without_an_answer_is_reported_with_its_end(void **state)
{
    (void)state;
    end_by = SIGKILL;
    assert_complaint(
        "the process that looks for the container gave no answer: signal 9 ended it\n");
    end_by = 0;
    assert_complaint(
        "the process that looks for the container gave no answer: its exit status is 3\n");
    /* The system keeps no end of a child whose parent ignores SIGCHLD. */
    assert_true(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    assert_complaint("the process that looks for the container gave no answer\n");
    assert_true(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_that_is_not_made_is_reported_with_the_cause),
        cmocka_unit_test(a_child_that_ends_without_an_answer_is_reported_with_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
