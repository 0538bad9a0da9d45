#include "view_causes.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "program/command.h"
#include "views/format.h"
#include "views/memory_text.h"
#include "why_answers.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* Intervals are not shorter than this, because each makes the answers about up to 64 groups. */
#define SHORTEST_NS (NS_PER_S / 2)
/* The first interval is not longer, so that a page with long intervals soon has something. */
#define FIRST_NS NS_PER_S
/* The ledger is read for two intervals and this time after a page has asked. */
#define ASKED_NS (3 * NS_PER_S)
/* Longer than the time between two readings of exited threads: the first reading after a pause also
 * reads those that exited during the pause, which are of no interval. */
#define RESUME_NS (110 * NS_PER_MS)

struct view_causes {
    uint64_t interval_ns;
    struct causes_source *source; /* used by the thread */
    struct why_record record;
    volatile sig_atomic_t stop;
    pthread_t reader;
    bool has_reader;

    pthread_mutex_t lock; /* protects all following members */
    pthread_cond_t asked;
    uint64_t asked_ns; /* when a page asked last, by CLOCK_MONOTONIC; 0: no page has asked */
    struct why_answers answers;
    char fault[CAMP_ERROR_SIZE]; /* why there are no more answers, or "" */
};

int view_causes_open(uint64_t interval_ns, struct view_causes **ret, struct camp_error *error)
{
    struct view_causes *causes = calloc(1, sizeof *causes);
    int r;

    if (causes == NULL)
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory for the causes of waits");
    causes->interval_ns = interval_ns > SHORTEST_NS ? interval_ns : SHORTEST_NS;
    pthread_mutex_init(&causes->lock, NULL);
    pthread_cond_init(&causes->asked, NULL);
    r = causes_open(0, &causes->stop, &causes->source, error);
    if (r != CAMP_OK)
        view_causes_close(causes);
    else
        *ret = causes;
    return r;
}

/* The caller holds causes->lock. */
static bool is_wanted(const struct view_causes *causes)
{
    return causes->asked_ns != 0 &&
           now_ns(CLOCK_MONOTONIC) - causes->asked_ns < 2 * causes->interval_ns + ASKED_NS;
}

/* Waits until a page asks, or until the end. Old answers are forgotten. The caller holds
 * causes->lock. Returns whether it waited. */
static bool wait_for_a_page(struct view_causes *causes)
{
    if (is_wanted(causes))
        return false;
    why_answers_release(&causes->answers);
    while (!causes->stop && !is_wanted(causes))
        pthread_cond_wait(&causes->asked, &causes->lock);
    return true;
}

/* Reads the ledger at a time. *ret is valid until the next reading. */
static int read_at(struct view_causes *causes, uint64_t time_ns, const struct causes **ret)
{
    struct camp_error error = { 0 };
    const int r = causes_next(causes->source, time_ns, ret, &error);

    if (r == CAMP_OK)
        return r;
    pthread_mutex_lock(&causes->lock);
    snprintf(causes->fault, sizeof causes->fault, "%s", error.message);
    pthread_mutex_unlock(&causes->lock);
    return r;
}

/* Shows an interval to pages. */
static int publish(struct view_causes *causes, const struct causes *interval)
{
    struct why_answers answers = { 0 }, before;
    const int r = why_answers_fill(&answers, interval, &causes->record);

    pthread_mutex_lock(&causes->lock);
    before = causes->answers;
    causes->answers = answers;
    if (r != CAMP_OK)
        snprintf(causes->fault, sizeof causes->fault, "no memory for the causes of waits");
    pthread_mutex_unlock(&causes->lock);
    why_answers_release(&before);
    return r;
}

/* Reads intervals as long as pages ask. Returns CAMP_OK at the end, or an error. */
static int read_intervals(struct view_causes *causes)
{
    const struct causes *interval;
    uint64_t deadline_ns = 0;
    int r = CAMP_OK;

    while (r == CAMP_OK && !causes->stop) {
        uint64_t now;
        bool waited;

        pthread_mutex_lock(&causes->lock);
        waited = wait_for_a_page(causes);
        pthread_mutex_unlock(&causes->lock);
        if (causes->stop)
            break;
        now = now_ns(CLOCK_MONOTONIC);
        if (waited) {
            r = read_at(causes, now + RESUME_NS, &interval);
            now = now_ns(CLOCK_MONOTONIC);
            deadline_ns = now + (causes->interval_ns < FIRST_NS ? causes->interval_ns : FIRST_NS);
        } else {
            deadline_ns += causes->interval_ns;
            if (deadline_ns <= now)
                deadline_ns = now + causes->interval_ns;
        }
        if (r == CAMP_OK)
            r = read_at(causes, deadline_ns, &interval);
        if (r == CAMP_OK && !causes->stop)
            r = publish(causes, interval);
    }
    return r;
}

static void *run(void *causes)
{
    read_intervals(causes);
    return NULL;
}

int view_causes_start(struct view_causes *causes, struct camp_error *error)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&causes->reader, NULL, run, causes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    causes->has_reader = failed == 0;
    return failed == 0 ? CAMP_OK : camp_fail_errno(error, failed, "pthread_create");
}

static bool put_fault(const char *fault, struct bytes *out)
{
    struct memory_text text;

    if (!memory_text_open(&text))
        return true;
    fputs("{\"error\":", text.stream);
    json_text(text.stream, fault);
    fputs("}\n", text.stream);
    if (memory_text_close(&text))
        bytes_put(out, text.text, text.size);
    free(text.text);
    return true;
}

bool view_causes_answer(struct view_causes *causes, uint32_t group, struct bytes *out)
{
    bool is_known;

    pthread_mutex_lock(&causes->lock);
    causes->asked_ns = now_ns(CLOCK_MONOTONIC);
    pthread_cond_signal(&causes->asked);
    is_known = causes->fault[0] != '\0'
                   ? put_fault(causes->fault, out)
                   : why_answers_put(&causes->answers, group, causes->interval_ns, out);
    pthread_mutex_unlock(&causes->lock);
    return is_known;
}

void view_causes_close(struct view_causes *causes)
{
    if (causes == NULL)
        return;
    pthread_mutex_lock(&causes->lock);
    causes->stop = 1;
    pthread_cond_signal(&causes->asked);
    pthread_mutex_unlock(&causes->lock);
    if (causes->has_reader)
        pthread_join(causes->reader, NULL);
    causes_close(causes->source);
    why_record_release(&causes->record);
    why_answers_release(&causes->answers);
    pthread_cond_destroy(&causes->asked);
    pthread_mutex_destroy(&causes->lock);
    free(causes);
}
