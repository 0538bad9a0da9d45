/*
 * The metrics of database sessions. Their source takes samples between two requests, so a thread
 * reads it all the time, in intervals of PERIOD_NS, and adds up what each interval has. A request
 * asks this thread to end its interval, waits for that, and then shows the sums. So the sums are of
 * the moment of the request, independent of other requests, and a slow server delays no page.
 *
 * This thread alone uses the source and the ledger's labels, which are not thread-safe. The lock
 * protects the sums.
 */
#include "exported_inside.h"

#include "counters/clock.h"
#include "counters/error.h"
#include "session_sums.h"
#include "sources/session_facts.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERIOD_NS ((uint64_t)NS_PER_S)
/* Sums that are at most so old are shown as they are. Each end of an interval asks the server for
 * the names of all sessions, so frequent requests must not end intervals as often. */
#define FRESH_NS (250 * (uint64_t)NS_PER_MS)
#define ANSWER_NS (500 * (uint64_t)NS_PER_MS) /* the longest wait for the end of an interval */
#define SILENT_NS                                                                                  \
    (3 * (uint64_t)NS_PER_S) /* without an interval for so long, the server counts as down */

struct exported_sessions {
    struct source *source;
    const char *server, *cpu, *waits; /* labels of SERVER_INFO */
    pthread_t thread;
    bool has_thread;
    atomic_bool is_ending;  /* the thread shall end its interval now */
    atomic_bool is_closing; /* and itself */

    pthread_mutex_t lock;
    pthread_cond_t ended;
    /* Protected by the lock, except that the thread alone writes `sums` and may read it without. */
    struct session_sums sums;
    struct session_facts facts;
    struct losses losses;
    uint64_t asked, answered; /* numbers of requests for the end of an interval */
    uint64_t opened_ns;
    uint64_t end_ns; /* of the last interval; 0 before the first */
    uint64_t cpu_ns, unanswered_ns;
    char note[FRAME_NOTE_SIZE];

    /* Of the last page. The names are copies, because the thread may free those of `sums`. */
    struct metric metrics[EXPORTED_FAMILY_COUNT];
    struct series *series[2]; /* those of SESSION_TIME and SESSION_STATE */
    char (*names)[MEMBERS_NAME_SIZE];
    uint64_t shown_cpu_ns;
    char shown_note[FRAME_NOTE_SIZE];
};

static _Thread_local const struct exported_sessions *of_this_thread;

static bool shall_end(void)
{
    return atomic_load(&of_this_thread->is_ending);
}

static bool shall_close(void)
{
    return atomic_load(&of_this_thread->is_closing);
}

/* Called with the lock. */
static int add_interval(struct exported_sessions *sessions, const struct frame *frame)
{
    const struct session_facts *facts = sessions->source->session_facts(sessions->source);
    const uint64_t hidden = facts->hidden;

    sessions->facts = *facts;
    sessions->end_ns = frame->end_ns;
    if (!facts->is_answered)
        sessions->unanswered_ns += frame->end_ns - frame->start_ns;
    /* Hidden sessions are not lost: they have a metric of their own. */
    sessions->losses.unseen += frame->losses.unseen > hidden ? frame->losses.unseen - hidden : 0;
    sessions->losses.lost += frame->losses.lost;
    sessions->losses.partial += frame->losses.partial;
    snprintf(sessions->note, sizeof sessions->note, "%s", frame->note != NULL ? frame->note : "");
    return session_sums_add(&sessions->sums, frame);
}

static void read_interval(struct exported_sessions *sessions)
{
    const uint64_t cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    struct camp_error error = { 0 };
    const struct frame *frame;
    int r = sessions->source->next(sessions->source, now_ns(CLOCK_MONOTONIC) + PERIOD_NS, &frame,
                                   &error);

    pthread_mutex_lock(&sessions->lock);
    if (r == CAMP_OK)
        r = add_interval(sessions, frame);
    if (r != CAMP_OK) {
        sessions->facts.is_answered = false;
        snprintf(sessions->note, sizeof sessions->note, "%s",
                 error.message[0] != '\0' ? error.message : "no memory for the sessions");
    }
    sessions->cpu_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    sessions->answered = sessions->asked;
    atomic_store(&sessions->is_ending, atomic_load(&sessions->is_closing));
    pthread_cond_broadcast(&sessions->ended);
    pthread_mutex_unlock(&sessions->lock);
    if (r != CAMP_OK)
        source_wait(now_ns(CLOCK_MONOTONIC) + PERIOD_NS, PERIOD_NS, &exported_goes_on);
}

static void *read_intervals(void *context)
{
    struct exported_sessions *sessions = context;

    of_this_thread = sessions;
    source_ends_early = shall_end;
    source_interrupted = shall_close;
    while (!atomic_load(&sessions->is_closing))
        read_interval(sessions);
    return NULL;
}

/* All signals stay with the thread that handles them. */
static int start_thread(struct exported_sessions *sessions)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    sessions->has_thread = pthread_create(&sessions->thread, NULL, read_intervals, sessions) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return sessions->has_thread ? CAMP_OK : CAMP_E_NOMEM;
}

static void init_lock(struct exported_sessions *sessions)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&sessions->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&sessions->ended, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* The table has neither the label nor the provenance, which depend on the source. */
static void describe(struct exported *exported, const char *label)
{
    struct exported_sessions *sessions = exported->sessions;
    const struct column *columns = sessions->source->describe(sessions->source)->columns;

    sessions->cpu = camp_provenance_name((int)columns[SESSION_CPU].provenance);
    sessions->waits = camp_provenance_name((int)columns[SESSION_WAIT].provenance);
    for (size_t i = SESSION_TIME; i <= SESSION_RETIRED_STATE; i++) {
        struct metric *metric = &sessions->metrics[i];

        *metric = exported_table[i];
        metric->provenance = columns[SESSION_WAIT].provenance;
        if (i == SESSION_TIME || i == SESSION_STATE)
            metric->labels[0] = label;
        exported->families[i].metric = metric;
    }
}

static int make_series(struct exported *exported)
{
    struct exported_sessions *sessions = exported->sessions;
    const size_t groups = exported->groups + 1;

    sessions->series[0] = calloc(groups, sizeof *sessions->series[0]);
    sessions->series[1] = calloc(groups * SESSION_SUM_STATES, sizeof *sessions->series[1]);
    sessions->names = calloc(groups, sizeof *sessions->names);
    if (sessions->series[0] == NULL || sessions->series[1] == NULL || sessions->names == NULL)
        return CAMP_E_NOMEM;
    exported->families[SESSION_TIME].series = sessions->series[0];
    exported->families[SESSION_STATE].series = sessions->series[1];
    return CAMP_OK;
}

static int open_sessions(struct exported *exported, const struct exported_sessions_options *options)
{
    struct exported_sessions *sessions = calloc(1, sizeof *sessions);
    const struct schema *schema = options->source->describe(options->source);
    int r;

    if (sessions == NULL) {
        source_close(options->source);
        return CAMP_E_NOMEM;
    }
    exported->sessions = sessions;
    sessions->source = options->source;
    sessions->server = options->server;
    sessions->facts = *options->source->session_facts(options->source);
    sessions->opened_ns = now_ns(CLOCK_MONOTONIC);
    init_lock(sessions);
    r = session_sums_init(&sessions->sums, schema, options->label, options->groups,
                          options->new_groups);
    if (r == CAMP_OK)
        r = exported_make_series(exported);
    if (r == CAMP_OK)
        r = make_series(exported);
    if (r != CAMP_OK)
        return r;
    describe(exported, schema->label_names[options->label]);
    return start_thread(sessions);
}

int exported_sessions_open(const struct exported_sessions_options *options, struct exported **ret,
                           struct camp_error *error)
{
    struct exported *exported = calloc(1, sizeof *exported);
    int r;

    if (exported == NULL) {
        source_close(options->source);
        return camp_fail(error, CAMP_E_NOMEM, 0, "no memory");
    }
    exported->groups = options->groups;
    exported->tier = options->tier;
    exported->start_wall_ns = now_ns(CLOCK_REALTIME);
    snprintf(exported->note, sizeof exported->note, "%s", options->note);
    r = open_sessions(exported, options);
    if (r == CAMP_OK)
        *ret = exported;
    else
        exported_close(exported);
    return r == CAMP_OK ? r : camp_fail(error, r, 0, "no memory for the sessions");
}

void exported_sessions_close(struct exported *exported)
{
    struct exported_sessions *sessions = exported->sessions;

    if (sessions == NULL)
        return;
    atomic_store(&sessions->is_closing, true);
    atomic_store(&sessions->is_ending, true);
    if (sessions->has_thread)
        pthread_join(sessions->thread, NULL);
    source_close(sessions->source);
    session_sums_release(&sessions->sums);
    pthread_cond_destroy(&sessions->ended);
    pthread_mutex_destroy(&sessions->lock);
    free(sessions->series[0]);
    free(sessions->series[1]);
    free(sessions->names);
    free(sessions);
}

/* Called with the lock: ends the interval in progress, or gives up after ANSWER_NS. */
static void end_interval(struct exported_sessions *sessions)
{
    const uint64_t now = now_ns(CLOCK_MONOTONIC), until_ns = now + ANSWER_NS;
    const struct timespec until = { (time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S) };
    uint64_t wanted;
    int r = 0;

    if (sessions->end_ns + FRESH_NS > now)
        return;
    wanted = ++sessions->asked;
    atomic_store(&sessions->is_ending, true);
    while (sessions->answered < wanted && r == 0)
        r = pthread_cond_timedwait(&sessions->ended, &sessions->lock, &until);
}

static void add_series(struct exported *exported, const char *name, const uint64_t *values)
{
    struct exported_sessions *sessions = exported->sessions;
    struct metric_family *times = &exported->families[SESSION_TIME];
    struct metric_family *states = &exported->families[SESSION_STATE];
    char *copy = sessions->names[times->count];

    snprintf(copy, sizeof *sessions->names, "%s", name);
    times->series[times->count++] =
        (struct series){ { copy }, values[SESSION_SUM_ELAPSED], true, NULL };
    for (size_t i = 0; i < SESSION_SUM_STATES; i++) {
        if ((sessions->sums.known >> i & 1) != 0)
            states->series[states->count++] =
                (struct series){ { copy, session_sum_names[i] }, values[i], true, NULL };
    }
}

static void fill_times(struct exported *exported)
{
    const struct session_sums *sums = &exported->sessions->sums;
    const struct top_k *top = &sums->top;

    exported->families[SESSION_TIME].count = 0;
    exported->families[SESSION_STATE].count = 0;
    for (size_t i = 0; i < top->count; i++) {
        if (top->groups[i].shown != NULL)
            add_series(exported, top->groups[i].name, top->groups[i].shown);
    }
    add_series(exported, "other", top->other);
    exported_set(exported, SESSION_RETIRED_TIME, 0, top->retired[SESSION_SUM_ELAPSED]);
    for (size_t i = 0; i < SESSION_SUM_STATES; i++) {
        if ((sums->known >> i & 1) != 0)
            exported_set(exported, SESSION_RETIRED_STATE, i, top->retired[i]);
    }
    exported_set(exported, SESSION_UNACCOUNTED, 0, sums->unaccounted_ns);
    exported_set(exported, SESSION_OVERLAPPING, 0, sums->overlapping_ns);
}

/* A gauge of which nothing is known is absent. */
static void set_gauge(struct exported *exported, enum exported_family family, size_t at,
                      bool is_known, uint64_t value)
{
    exported->families[family].series[at].known = false;
    if (is_known)
        exported_set(exported, family, at, value);
}

static void set_age(struct exported *exported, enum exported_family family, bool is_up,
                    const struct session_age *age)
{
    set_gauge(exported, family, 0, is_up && age->is_known, age->ns);
}

static void fill_facts(struct exported *exported)
{
    const struct exported_sessions *sessions = exported->sessions;
    const struct session_facts *facts = &sessions->facts;
    const bool is_up = facts->is_answered && now_ns(CLOCK_MONOTONIC) < sessions->end_ns + SILENT_NS;
    const uint64_t counts[] = {
        facts->counts[SESSION_CPU],  facts->counts[SESSION_CONTENTION],
        facts->counts[SESSION_WAIT], facts->counts[SESSION_IDLE],
        facts->in_transaction,       facts->untracked,
    };

    exported_set(exported, SERVER_UP, 0, is_up);
    for (size_t i = 0; i < ARRAY_COUNT(counts); i++)
        set_gauge(exported, SESSION_COUNT, i, is_up, counts[i]);
    set_gauge(exported, SESSION_HIDDEN, 0, is_up && !facts->hides_some, facts->hidden);
    set_age(exported, SESSION_TRANSACTION, is_up, &facts->transaction);
    set_age(exported, SESSION_IDLE_IN_TRANSACTION, is_up, &facts->idle_in_transaction);
    set_age(exported, SESSION_BLOCKER, is_up, &facts->blocker);
}

static void fill_server(struct exported *exported)
{
    struct exported_sessions *sessions = exported->sessions;
    struct series *info = exported->families[SERVER_INFO].series;

    if (sessions->end_ns != 0)
        exported_set(exported, SESSION_CLOCK, 0, sessions->end_ns);
    exported_set(exported, SESSION_LOST, 0, sessions->losses.unseen);
    exported_set(exported, SESSION_LOST, 1, sessions->losses.lost);
    exported_set(exported, SESSION_LOST, 2, sessions->losses.partial);
    exported_set(exported, SERVER_UNANSWERED, 0, sessions->unanswered_ns);
    info->labels[0] = sessions->server;
    info->labels[1] = exported->tier;
    info->labels[2] = sessions->cpu;
    info->labels[3] = sessions->waits;
    exported_set(exported, SERVER_INFO, 0, 1);
    exported_set(exported, SELF_GROUPS, 0, sessions->sums.top.count);
    exported_set(exported, SELF_DEMOTED, 0, sessions->sums.top.demoted);
    exported_set(exported, SELF_DEFERRED, 0, sessions->sums.top.deferred);
    sessions->shown_cpu_ns = sessions->cpu_ns;
    memcpy(sessions->shown_note, sessions->note, sizeof sessions->shown_note);
}

void exported_sessions_read(struct exported *exported)
{
    struct exported_sessions *sessions = exported->sessions;

    pthread_mutex_lock(&sessions->lock);
    end_interval(sessions);
    fill_times(exported);
    fill_facts(exported);
    fill_server(exported);
    pthread_mutex_unlock(&sessions->lock);
}

const char *exported_sessions_note(const struct exported *exported)
{
    return exported->sessions->shown_note;
}

uint64_t exported_sessions_cpu_ns(const struct exported *exported)
{
    return exported->sessions != NULL ? exported->sessions->shown_cpu_ns : 0;
}
