/* The owners of futexes, by the arguments of a wait and the memory at the futex, and those of locks
 * in which threads of this test sleep. */
#include "sources/causes/ends/lock_owner.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define WAIT (FUTEX_WAIT | FUTEX_PRIVATE_FLAG)

static int32_t owner_of(uint64_t operation, uint32_t seen, uint32_t word, uint32_t owner)
{
    const uint64_t arguments[OPEN_CALL_ARGUMENTS] = { 0x7f00, operation, seen };
    const uint32_t words[FUTEX_WORDS] = { word, 1, owner };

    return futex_owner(arguments, words);
}

static void the_word_of_a_pi_futex_has_its_owner(void **state)
{
    (void)state;
    assert_int_equal(owner_of(FUTEX_LOCK_PI, 0, 4711, 0), 4711);
    assert_int_equal(owner_of(FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0, 4711 | FUTEX_WAITERS, 0),
                     4711);
    assert_int_equal(owner_of(FUTEX_LOCK_PI, 0, FUTEX_WAITERS, 0), 0);
}

static void the_word_of_a_robust_mutex_has_its_owner(void **state)
{
    (void)state;
    assert_int_equal(owner_of(WAIT, 4711 | FUTEX_WAITERS, 4711 | FUTEX_WAITERS, 0), 4711);
    assert_int_equal(owner_of(WAIT, 4711 | FUTEX_WAITERS, 12 | FUTEX_WAITERS, 0), 0); /* released */
    assert_int_equal(owner_of(WAIT, 4711, 4711, 0), 0); /* pthread_join(3) waits so */
    /* A plain mutex of musl. */
    assert_int_equal(owner_of(WAIT, EBUSY | FUTEX_WAITERS, EBUSY | FUTEX_WAITERS, 0), 0);
}

static void a_mutex_of_glibc_has_its_owner_beside_the_word(void **state)
{
    (void)state;
    assert_int_equal(owner_of(WAIT, 2, 2, 4711), 4711);
    assert_int_equal(owner_of(WAIT, 2, 0, 4711), 0); /* released */
    assert_int_equal(owner_of(WAIT, 2, 2, 0xffffffff), 0);
    assert_int_equal(owner_of(WAIT, 1, 1, 4711), 0);
}

static void waits_for_work_have_no_owner(void **state)
{
    static const uint64_t condition[] = {
        0x7f00, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME, 0
    };

    (void)state;
    assert_false(futex_is_lock(condition));
    assert_int_equal(owner_of(FUTEX_WAIT_REQUEUE_PI, 2, 2, 4711), 0);
    assert_int_equal(owner_of(WAIT, 0, 0, 4711), 0);
    assert_false(lock_owner_may_be_known(-1));
    assert_false(lock_owner_may_be_known(SYS_read));
    assert_true(lock_owner_may_be_known(SYS_futex));
}

#ifdef __GLIBC__
static const bool has_owner_in_mutex = true;
#else
static const bool has_owner_in_mutex = false;
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile pid_t waiter;

static void *lock(void *unused)
{
    waiter = (pid_t)syscall(SYS_gettid);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

/* The owner is in the memory of glibc alone, and a confined test may read no call of a thread. */
static void the_owner_of_a_mutex_of_this_process_is_found(void **state)
{
    struct lock_wait wait = { .pid = getpid(), .call = SYS_futex };
    struct lock_owner owner = { 0 };
    pthread_t thread;
    bool sleeps = false;

    (void)state;
    pthread_mutex_lock(&mutex);
    assert_int_equal(pthread_create(&thread, NULL, lock, NULL), 0);
    for (int i = 0; i < 500 && !sleeps; i++) {
        int32_t call;

        sleeps = waiter != 0 &&
                 open_call_read_all(getpid(), waiter, "/proc", &call, wait.arguments) &&
                 call == SYS_futex;
        usleep(10000);
    }
    if (sleeps && has_owner_in_mutex)
        assert_true(lock_owner_find(&owner, &wait, "/proc"));
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    if (!sleeps || !has_owner_in_mutex) {
        print_message("needs glibc, and /proc/PID/task/TID/syscall of this system\n");
        skip();
    }
    assert_int_equal(owner.pid, getpid());
    assert_int_equal(owner.tid, getpid());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_word_of_a_pi_futex_has_its_owner),
        cmocka_unit_test(the_word_of_a_robust_mutex_has_its_owner),
        cmocka_unit_test(a_mutex_of_glibc_has_its_owner_beside_the_word),
        cmocka_unit_test(waits_for_work_have_no_owner),
        cmocka_unit_test(the_owner_of_a_mutex_of_this_process_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
