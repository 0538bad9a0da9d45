/* Parser: src/sources/sessions/odbc/oracle_snapshot.c */
/* Parser: src/sources/sessions/odbc/oracle_rows.c */
/* Parser: src/sources/sessions/odbc/oracle_times.c */
/* Reads any bytes as the rows of two Oracle snapshots, and accounts their difference. A database
 * behind ODBC is not trusted, because its views may have any rows. In the input, a tab ends a
 * field, and a newline ends the rows of an answer. */
#include "../unit/fake_odbc.h"
#include "sources/sessions/odbc/oracle_inside.h"

#include <stdint.h>

#define FIELDS_MOST 512
#define INPUTS_OF_A_FRAME 1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fake_answer answers[] = {
    { .of = "v$session s", .columns = 14 },
    { .of = "v$session_event", .columns = 5 },
    { .of = "v$sess_time_model", .columns = 3 },
    { .of = "v$instance", .columns = 1 },
};

static size_t read_rows(const uint8_t **at, const uint8_t *end, size_t columns,
                        struct field fields[FIELDS_MOST])
{
    size_t count = 0;

    for (const uint8_t *begin = *at; *at < end && count < FIELDS_MOST; ++*at) {
        if (**at != '\t' && **at != '\n')
            continue;
        fields[count++] = (struct field){ (const char *)begin, (size_t)(*at - begin) };
        begin = *at + 1;
        if (**at == '\n') {
            ++*at;
            break;
        }
    }
    return count / columns;
}

static void read_snapshot(const uint8_t **at, const uint8_t *end, struct oracle_statements *texts,
                          struct oracle_snapshot *snapshot)
{
    static struct field fields[4][FIELDS_MOST];

    for (size_t i = 0; i < 3; i++) {
        answers[i].fields = fields[i];
        answers[i].rows = read_rows(at, end, answers[i].columns, fields[i]);
    }
    answers[0].again = fields[3];
    answers[0].rows_again = read_rows(at, end, answers[0].columns, fields[3]);
    answers[0].executed = 0;
    if (oracle_snapshot_read(snapshot, texts, false, NULL) != CAMP_OK)
        abort();
}

/* Reading the rules takes long, so a frame is used for many inputs. */
static void open_frame(struct session_frame *frame)
{
    const struct session_plan plan = { .name = "oracle",
                                       .has_reported = true,
                                       .rules_text = session_rules_oracle,
                                       .label_names = oracle_label_names,
                                       .label_count = ORACLE_LABELS };
    static unsigned uses;

    if (uses++ % INPUTS_OF_A_FRAME != 0)
        return;
    if (uses > 1)
        session_frame_release(frame);
    if (session_frame_init(frame, &plan, NULL) != CAMP_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct oracle_source source;
    struct oracle_snapshot after = { 0 };
    struct odbc_connection connection;
    struct oracle_statements texts;
    const uint8_t *at = data;

    fake_answers = answers;
    fake_answer_count = sizeof answers / sizeof answers[0];
    open_frame(&source.sessions);
    if (oracle_statements_open(&texts, &connection, false, NULL) != CAMP_OK)
        abort();
    read_snapshot(&at, data + size, &texts, &source.before);
    read_snapshot(&at, data + size, &texts, &after);
    session_frame_begin(&source.sessions, source.before.at_ns, after.at_ns, 0);
    if (oracle_rows_fill(&source, &after) != CAMP_OK ||
        source.sessions.frame.entity_count > after.count)
        abort();
    for (size_t i = 0; i < source.sessions.frame.entity_count; i++) {
        if (source.sessions.frame.elapsed_ns[i] != after.at_ns - source.before.at_ns)
            abort();
    }
    oracle_statements_close(&texts);
    oracle_snapshot_release(&source.before);
    oracle_snapshot_release(&after);
    return 0;
}
