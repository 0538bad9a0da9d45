#include "remote_thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* the number of threads that are left behind and still at work */
static atomic_uint left;

struct remote_thread {
    struct remote remote; /* not used by the thread */
    bool is_answered;     /* not used by the thread; true if the last request has a result */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* signals a change of is_at_work or is_closed; uses CLOCK_MONOTONIC */
    int (*work)(void *context, struct camp_error *error);
    void (*release)(void *context);
    void *context;
    bool is_at_work, is_closed, is_left; /* protected by the mutex */
    pid_t id;
    int result; /* result of work(); only the thread may use it while is_at_work is true */
    struct camp_error error;
};

static void destroy(struct remote_thread *thread)
{
    thread->release(thread->context);
    pthread_cond_destroy(&thread->changed);
    pthread_mutex_destroy(&thread->mutex);
    free(thread);
}

static void *run(void *argument)
{
    struct remote_thread *thread = argument;
    bool was_left;

    pthread_mutex_lock(&thread->mutex);
    thread->id = gettid();
    while (!thread->is_closed) {
        if (thread->is_at_work) {
            pthread_mutex_unlock(&thread->mutex);
            thread->result = thread->work(thread->context, &thread->error);
            pthread_mutex_lock(&thread->mutex);
            thread->is_at_work = false;
            pthread_cond_broadcast(&thread->changed);
        } else {
            pthread_cond_wait(&thread->changed, &thread->mutex);
        }
    }
    was_left = thread->is_left;
    pthread_mutex_unlock(&thread->mutex);
    destroy(thread); /* closes the connection, which may need what exit(3) releases */
    if (was_left)
        atomic_fetch_sub(&left, 1);
    return NULL;
}

/* Starts the thread, detached. The thread blocks all signals, because the main thread handles
 * them. */
static bool start(struct remote_thread *thread)
{
    pthread_attr_t attributes;
    pthread_t id;
    sigset_t all, before;
    int r;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(&id, &attributes, run, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return r == 0;
}

static int begin(void *context, struct camp_error *error)
{
    struct remote_thread *thread = context;

    (void)error;
    remote_busy(&thread->remote, UINT64_MAX);
    pthread_mutex_lock(&thread->mutex);
    thread->is_at_work = true;
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->mutex);
    return CAMP_OK;
}

static bool is_answered(const void *context)
{
    return ((const struct remote_thread *)context)->is_answered;
}

static short wait_for_work(void *context, uint64_t until_ns)
{
    const struct timespec until = { (time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S) };
    struct remote_thread *thread = context;
    bool is_done;
    int r = 0;

    pthread_mutex_lock(&thread->mutex);
    while (thread->is_at_work && r == 0)
        r = pthread_cond_timedwait(&thread->changed, &thread->mutex, &until);
    is_done = !thread->is_at_work;
    pthread_mutex_unlock(&thread->mutex);
    return is_done ? POLLIN : 0;
}

static int finish(void *context, short events, struct camp_error *error)
{
    struct remote_thread *thread = context;

    (void)events;
    if (thread->result == CAMP_OK) {
        thread->is_answered = true;
        remote_ready(&thread->remote);
    } else {
        remote_down(&thread->remote, true);
        *error = thread->error;
    }
    return thread->result;
}

static const struct remote_driver driver = {
    .connect = begin,
    .is_answered = is_answered,
    .ask = begin,
    .wait = wait_for_work,
    .go_on = finish,
};

struct remote_thread *remote_thread_open(int (*work)(void *context, struct camp_error *error),
                                         void (*release)(void *context), void *context,
                                         const volatile sig_atomic_t *stop)
{
    struct remote_thread *thread = calloc(1, sizeof *thread);
    pthread_condattr_t attributes;

    if (thread == NULL)
        return NULL;
    *thread = (struct remote_thread){ .work = work, .release = release, .context = context };
    thread->remote = (struct remote){ .driver = &driver, .context = thread, .stop = stop };
    pthread_mutex_init(&thread->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&thread->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (start(thread))
        return thread;
    pthread_cond_destroy(&thread->changed);
    pthread_mutex_destroy(&thread->mutex);
    free(thread);
    return NULL;
}

int remote_thread_run(struct remote_thread *thread, uint64_t until_ns, struct camp_error *error)
{
    thread->is_answered = false;
    return remote_run(&thread->remote, until_ns, error);
}

/* Registered late, so that it runs before the clean-up of libraries that were loaded earlier. */
static void leave(int status, void *argument)
{
    (void)argument;
    if (atomic_load(&left) == 0)
        return;
    fflush(NULL);
    _exit(status);
}

static void leave_at_exit(void)
{
#ifdef HAS_ON_EXIT
    on_exit(leave, NULL);
#else /* musl, whose atexit(3) does not tell the status: libraries clean up beside their thread */
    (void)leave;
#endif
}

/* The caller must hold the mutex. */
static void lower_priority(const struct remote_thread *thread)
{
    if (thread->id > 0) /* 0, if the thread has not run yet, would mean the caller */
        setpriority(PRIO_PROCESS, (id_t)thread->id, 19);
}

void remote_thread_lower_priority(struct remote_thread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    lower_priority(thread);
    pthread_mutex_unlock(&thread->mutex);
}

void remote_thread_close(struct remote_thread *thread)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (thread == NULL)
        return;
    pthread_mutex_lock(&thread->mutex);
    thread->is_closed = true;
    thread->is_left = thread->is_at_work;
    if (thread->is_left) {
        atomic_fetch_add(&left, 1);
        pthread_once(&once, leave_at_exit);
        lower_priority(thread);
    }
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->mutex);
}
