/* Snapshots of an Oracle database, and a source that reads snapshots. */
#include "sources/sessions/odbc/oracle.h"

#include "../fake_odbc.h"
#include "../tree.h"
#include "sources/sessions/odbc/oracle_snapshot.h"

#include <signal.h>

/* clang-format off */
#define F(text) { (text), sizeof(text) - 1 }
#define SESSION(sid, serial, state, event, class, wait_us, spid) \
    F(sid), F(serial), F("SCOTT"), F("ACTIVE"), F(state), F(event), F(class), F(wait_us), \
    { (spid), strlen(spid) }, F("2026-11-22"), F("sqlplus"), F("here"), F(""), F("USER")
/* clang-format on */
#define COLUMNS 14

enum { SESSIONS, WAITS, MODEL, INSTANCE };

static const struct field waits[] = { F("1"), F("Application"), F("enq: TX"), F("5000"), F("1"),
                                      F("2"), F("User I/O"),    F("a read"),  F("70"),   F("2") };
static const struct field model[] = { F("1"), F("DB time"), F("9000"),
                                      F("1"), F("DB CPU"),  F("4000.00") };
static char host[65];
static struct field instance[1];
static struct fake_answer answers[4];

static void answer_with(const struct field *sessions, size_t count)
{
    gethostname(host, sizeof host - 1);
    instance[0] = (struct field){ host, strlen(host) };
    memcpy(answers,
           (struct fake_answer[]){
               { .of = "v$session s", .fields = sessions, .rows = count, .columns = COLUMNS },
               { .of = "v$session_event", .fields = waits, .rows = 2, .columns = 5 },
               { .of = "v$sess_time_model", .fields = model, .rows = 2, .columns = 3 },
               { .of = "v$instance", .fields = instance, .rows = 1, .columns = 1 },
           },
           sizeof answers);
    fake_answers = answers;
    fake_answer_count = COUNT(answers);
}

static void read_snapshot(struct oracle_snapshot *snapshot)
{
    struct odbc_connection connection;
    struct oracle_statements texts;

    memset(snapshot, 0, sizeof *snapshot);
    assert_int_equal(oracle_statements_open(&texts, &connection, false, NULL), CAMP_OK);
    assert_true(texts.is_local);
    assert_int_equal(oracle_snapshot_read(snapshot, &texts, true, NULL), CAMP_OK);
    oracle_statements_close(&texts);
}

static void an_oracle_snapshot_has_finished_and_unfinished_waits(void **state)
{
    const struct field sessions[] = {
        SESSION("2", "5", "WAITED KNOWN TIME", "a read", "User I/O", "70", ""),
        SESSION("1", "7", "WAITING", "enq: TX", "Application", "60000000", "")
    };
    struct oracle_snapshot snapshot;

    (void)state;
    answer_with(sessions, 2);
    read_snapshot(&snapshot);
    assert_int_equal(snapshot.count, 2);
    assert_string_equal(snapshot.sessions[0].serial, "7"); /* in the order of sids */
    assert_int_equal(snapshot.sessions[0].certainty, ORACLE_IN_FLIGHT);
    assert_string_equal(snapshot.sessions[0].wait.class, "Application");
    assert_string_equal(snapshot.sessions[0].wait.event, "enq:_TX");
    assert_int_equal(snapshot.sessions[0].wait_count, 1);
    assert_int_equal(snapshot.waits[snapshot.sessions[0].first_wait].ns, 5000 * NS_PER_US);
    assert_int_equal(snapshot.sessions[0].db_time_ns, 9000 * NS_PER_US);
    assert_int_equal(snapshot.sessions[0].db_cpu_ns, 4000 * NS_PER_US);
    assert_int_equal(snapshot.sessions[1].certainty, ORACLE_NO_WAIT);
    assert_string_equal(snapshot.waits[snapshot.sessions[1].first_wait].class, "User_I/O");
    oracle_snapshot_release(&snapshot);
}

/* Finished waits have only a sid. They are accounted to a session only if the session had this sid
 * both before and after the finished waits were read. */
static void a_session_whose_sid_was_reused_during_the_snapshot_is_left_out(void **state)
{
    const struct field sessions[] = {
        SESSION("1", "7", "WAITING", "enq: TX", "Application", "60000000", ""),
        SESSION("2", "5", "WAITING", "a read", "User I/O", "70", ""),
        SESSION("3", "6", "WAITING", "a read", "User I/O", "70", "")
    };
    const struct field again[] = {
        SESSION("1", "8", "WAITING", "enq: TX", "Application", "60000000", ""),
        SESSION("2", "5", "WAITED KNOWN TIME", "a read", "User I/O", "70", "")
    };
    struct oracle_snapshot snapshot;

    (void)state;
    answer_with(sessions, 3);
    answers[SESSIONS].again = again;
    answers[SESSIONS].rows_again = 2;
    read_snapshot(&snapshot);
    assert_int_equal(snapshot.count, 1);
    assert_int_equal(snapshot.sessions[0].sid, 2);
    assert_int_equal(snapshot.sessions[0].certainty, ORACLE_MAY_BE_ENDED);
    oracle_snapshot_release(&snapshot);
}

static void the_cpu_time_of_a_process_with_several_sessions_goes_to_no_session(void **state)
{
    char own[16], parent[16];
    struct oracle_snapshot snapshot;

    (void)state;
    snprintf(own, sizeof own, "%d", getpid());
    snprintf(parent, sizeof parent, "%d", getppid());
    {
        const struct field sessions[] = {
            SESSION("1", "7", "", "", "", "", own), SESSION("2", "7", "", "", "", "", parent),
            SESSION("3", "7", "", "", "", "", own),
            SESSION("4", "7", "", "", "", "", "4294967297"), /* 2^32 + 1 must not become pid 1 */
            SESSION("5", "7", "", "", "", "", "-1")
        };

        answer_with(sessions, 5);
        read_snapshot(&snapshot);
    }
    assert_int_equal(snapshot.count, 5);
    assert_false(snapshot.sessions[0].has_clock);
    assert_true(snapshot.sessions[1].has_clock);
    assert_false(snapshot.sessions[2].has_clock);
    assert_int_equal(snapshot.sessions[3].spid, 0);
    assert_int_equal(snapshot.sessions[4].spid, 0);
    oracle_snapshot_release(&snapshot);
}

static void a_long_oracle_name_is_cut_between_two_characters(void **state)
{
    struct field sessions[] = { SESSION("1", "7", "", "", "", "", "") };
    struct oracle_snapshot snapshot;

    (void)state;
    sessions[10] = (struct field)
        F(/* the 64th byte is the first half of a character */
          "123456789 123456789 123456789 123456789 123456789 123456789 123\xc3\xa9 and more");
    answer_with(sessions, 1);
    read_snapshot(&snapshot);
    assert_string_equal(snapshot.sessions[0].program,
                        "123456789 123456789 123456789 123456789 123456789 123456789 123");
    oracle_snapshot_release(&snapshot);
}

static volatile sig_atomic_t stop;

static struct source *open_source(void)
{
    static const struct from from = { .stop = &stop };
    static struct from_facts facts;
    struct source *source = NULL;
    struct camp_error error;

    snprintf(facts.name, sizeof facts.name, "sales");
    if (oracle_source_open(&from, "DSN=sales", &source, &facts, &error) != CAMP_OK)
        fail_msg("%s", error.message);
    assert_string_equal(facts.tier, "schedstat+SQL");
    return source;
}

static const struct frame *read_frame(struct source *source, uint64_t *end_ns)
{
    const struct frame *frame;
    struct camp_error error;

    assert_int_equal(source->next(source, 0, &frame, &error), CAMP_OK);
    if (*end_ns != 0)
        assert_int_equal(frame->start_ns, *end_ns);
    assert_true(frame->end_ns >= frame->start_ns);
    *end_ns = frame->end_ns;
    return frame;
}

/* A late answer belongs to a time that was already reported without rows. */
static void intervals_have_no_gaps_when_oracle_snapshots_fail(void **state)
{
    const struct field sessions[] = {
        SESSION("1", "7", "WAITING", "enq: TX", "Application", "60000000", ""),
    };
    const struct frame *frame;
    struct source *source;
    uint64_t end_ns = 0;

    (void)state;
    answer_with(sessions, 1);
    source = open_source();
    frame = read_frame(source, &end_ns);
    assert_int_equal(frame->entity_count, 1);
    answers[SESSIONS].result = CAMP_E_GONE;
    frame = read_frame(source, &end_ns);
    assert_string_equal(frame->note, "odbc:sales: it is down");
    assert_int_equal(frame->entity_count, 0);
    assert_int_equal(frame->losses.partial, 1);
    answers[SESSIONS].result = CAMP_OK;
    answers[WAITS].ms = 400;
    while (strstr(frame->note, "answers again") == NULL) {
        frame = read_frame(source, &end_ns);
        assert_int_equal(frame->entity_count, 0);
        assert_int_equal(frame->losses.partial, 0);
    }
    answers[WAITS].ms = 0;
    read_frame(source, &end_ns);
    frame = read_frame(source, &end_ns);
    assert_int_equal(frame->entity_count, 1);
    assert_string_equal(frame->note, "");
    source_close(source);
}

static void a_restarted_oracle_database_is_read_again_within_seconds(void **state)
{
    const struct field sessions[] = {
        SESSION("1", "7", "WAITING", "enq: TX", "Application", "60000000", ""),
    };
    const struct timespec pause = { 0, 20 * NS_PER_MS };
    struct source *source;
    uint64_t end_ns = 0, back_ns;

    (void)state;
    answer_with(sessions, 1);
    source = open_source();
    answers[SESSIONS].result = CAMP_E_GONE;
    /* 1.2 s, with pauses of 0, 10, 20, ... 640 ms between attempts */
    for (int i = 0; i < 60; i++) {
        read_frame(source, &end_ns);
        nanosleep(&pause, NULL);
    }
    assert_in_range(answers[SESSIONS].executed, 5, 30);
    answers[SESSIONS].result = CAMP_OK;
    back_ns = end_ns;
    while (strstr(read_frame(source, &end_ns)->note, "answers again") == NULL)
        nanosleep(&pause, NULL);
    assert_true(end_ns - back_ns < 8 * (uint64_t)NS_PER_S);
    source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_oracle_snapshot_has_finished_and_unfinished_waits),
        cmocka_unit_test(a_session_whose_sid_was_reused_during_the_snapshot_is_left_out),
        cmocka_unit_test(the_cpu_time_of_a_process_with_several_sessions_goes_to_no_session),
        cmocka_unit_test(a_long_oracle_name_is_cut_between_two_characters),
        cmocka_unit_test(intervals_have_no_gaps_when_oracle_snapshots_fail),
        cmocka_unit_test(a_restarted_oracle_database_is_read_again_within_seconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
