#include "session_lengths.h"

#include "ledger/array.h"

#define COLUMN(name, title, help, kind)                                                            \
    {                                                                                              \
        name, title, help, kind, CAMP_MEASURED, CLASS_NONE, NULL                                   \
    }
#define COUNT(exponent)                                                                            \
    COLUMN("waits_log2_" #exponent, "waits of 2^" #exponent " ns",                                 \
           "waits that lasted at least 2^" #exponent " ns, and below twice as long",               \
           COLUMN_COUNTER)

const struct column session_lengths_columns[LENGTHS_COLUMNS] = {
    COLUMN("waits", "waits",
           "sleeps that ended in the interval. Idle ones count only in rows of a wait event",
           COLUMN_COUNTER),
    COLUMN("waits_ns", "time of waits", "the sum of their lengths", COLUMN_COUNTER),
    COLUMN(COLUMN_LONGEST, "longest wait", "the longest of them", COLUMN_GAUGE),
    COLUMN("waits_max_id", "session of the longest", "the id of the session of the longest",
           COLUMN_GAUGE),
    COLUMN("waits_max_wall_clock_ns", "end of the longest",
           "the wall clock at its end, in ns since 1970", COLUMN_GAUGE),
    COUNT(10),
    COUNT(11),
    COUNT(12),
    COUNT(13),
    COUNT(14),
    COUNT(15),
    COUNT(16),
    COUNT(17),
    COUNT(18),
    COUNT(19),
    COUNT(20),
    COUNT(21),
    COUNT(22),
    COUNT(23),
    COUNT(24),
    COUNT(25),
    COUNT(26),
    COUNT(27),
    COUNT(28),
    COUNT(29),
    COUNT(30),
    COUNT(31),
    COUNT(32),
    COUNT(33),
    COUNT(34),
    COUNT(35),
    COUNT(36),
    COUNT(37),
    COUNT(38),
    COUNT(39),
    COUNT(40),
};

static void add(const struct session_lengths *lengths, int64_t id, uint64_t *values)
{
    values[LENGTHS_NS] += lengths->ns;
    for (size_t i = 0; i < SESSION_LENGTHS; i++) {
        values[LENGTHS_FIRST_COUNT + i] += lengths->counts[i];
        values[LENGTHS_WAITS] += lengths->counts[i];
    }
    if (lengths->longest_ns <= values[LENGTHS_LONGEST])
        return;
    values[LENGTHS_LONGEST] = lengths->longest_ns;
    values[LENGTHS_LONGEST_ID] = (uint64_t)id;
    values[LENGTHS_LONGEST_CLOCK] = (uint64_t)lengths->longest_wall_clock_ns;
}

void session_lengths_fill(struct session_frame *sessions, const struct session *session,
                          uint64_t *values)
{
    for (size_t i = 0; i < session->lengths_count; i++) {
        const struct session_lengths *lengths = &session->lengths[i];

        if (session_division_has_events(sessions->division) ||
            session_frame_state(sessions, &lengths->kind) != SESSION_IDLE)
            add(lengths, session->entity.id, values);
    }
}
