#include "odbc_thread.h"

#include "counters/units.h"

#include <pthread.h>
#include <stdlib.h>

#define SLICE_NS (50 * NS_PER_MS) /* between two checks of *stop */

struct odbc_thread {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* CLOCK_MONOTONIC */
    void (*work)(void *context);
    void (*release)(void *context);
    void *context;
    bool is_at_work, is_closed; /* under the mutex */
};

static void destroy(struct odbc_thread *thread)
{
    thread->release(thread->context);
    pthread_cond_destroy(&thread->changed);
    pthread_mutex_destroy(&thread->mutex);
    free(thread);
}

static void *run(void *argument)
{
    struct odbc_thread *thread = argument;

    pthread_mutex_lock(&thread->mutex);
    while (!thread->is_closed) {
        if (thread->is_at_work) {
            pthread_mutex_unlock(&thread->mutex);
            thread->work(thread->context);
            pthread_mutex_lock(&thread->mutex);
            thread->is_at_work = false;
            pthread_cond_broadcast(&thread->changed);
        } else {
            pthread_cond_wait(&thread->changed, &thread->mutex);
        }
    }
    pthread_mutex_unlock(&thread->mutex);
    destroy(thread);
    return NULL;
}

/* Detached, and without signals: they are the main thread's. */
static bool start(struct odbc_thread *thread)
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

struct odbc_thread *odbc_thread_open(void (*work)(void *context), void (*release)(void *context),
                                     void *context)
{
    struct odbc_thread *thread = calloc(1, sizeof *thread);
    pthread_condattr_t attributes;

    if (thread == NULL)
        return NULL;
    *thread = (struct odbc_thread){ .work = work, .release = release, .context = context };
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

void odbc_thread_begin(struct odbc_thread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    thread->is_at_work = true;
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->mutex);
}

bool odbc_thread_wait(struct odbc_thread *thread, uint64_t until_ns,
                      const volatile sig_atomic_t *stop)
{
    bool is_done;

    pthread_mutex_lock(&thread->mutex);
    while (thread->is_at_work && (stop == NULL || !*stop)) {
        const uint64_t time_ns = now_ns(CLOCK_MONOTONIC);
        const uint64_t slice_ns = time_ns + SLICE_NS < until_ns ? time_ns + SLICE_NS : until_ns;
        const struct timespec until = { (time_t)(slice_ns / NS_PER_S),
                                        (long)(slice_ns % NS_PER_S) };

        if (time_ns >= until_ns)
            break;
        pthread_cond_timedwait(&thread->changed, &thread->mutex, &until);
    }
    is_done = !thread->is_at_work;
    pthread_mutex_unlock(&thread->mutex);
    return is_done;
}

void odbc_thread_close(struct odbc_thread *thread)
{
    if (thread == NULL)
        return;
    pthread_mutex_lock(&thread->mutex);
    thread->is_closed = true;
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->mutex);
}
