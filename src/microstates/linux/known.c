/* The threads of a session's last snapshot. A list, sorted by tid, has a short entry for each
 * thread. The thread's full record is in a separate array, at an index that stays the same. So an
 * idle thread costs only an access to its short entry. */
#include "session.h"

#include "ledger/array.h"

#include <stdlib.h>
#include <string.h>

bool camp_session_reserve(void *list, size_t *capacity, size_t count, size_t size)
{
    const size_t wanted = count + count / 4 + 64;
    void *grown, *old;

    if (count <= *capacity)
        return true;
    memcpy(&old, list, sizeof old);
    grown = reallocarray(old, wanted, size);
    if (grown == NULL)
        return false;
    memcpy(list, &grown, sizeof grown);
    *capacity = wanted;
    /* cppcheck-suppress memleak ; memcpy() has stored the pointer in the caller's variable */
    return true;
}

bool camp_session_add_tid(struct tid_list *list, int32_t tid)
{
    if (!camp_session_reserve(&list->tids, &list->capacity, list->count + 1, sizeof *list->tids))
        return false;
    list->tids[list->count++] = tid;
    return true;
}

bool camp_session_read_again(struct camp_states *session, int32_t tid)
{
    return !session->lists_changes || camp_session_add_tid(&session->read_again, tid);
}

/* Free records form a linked list from session->spare on. The member `tid` of a free record is 1 +
 * index of the next free record, or 0 at the end of the list. */
bool camp_session_take_place(struct camp_states *session, uint32_t *ret)
{
    if (session->spare != 0) {
        *ret = session->spare - 1;
        session->spare = (uint32_t)session->records[*ret].tid;
        return true;
    }
    if (!camp_session_reserve(&session->records, &session->record_capacity,
                              session->record_count + 1, sizeof *session->records))
        return false;
    *ret = (uint32_t)session->record_count++;
    return true;
}

void camp_session_free_place(struct camp_states *session, uint32_t place)
{
    session->records[place].tid = (int32_t)session->spare;
    session->spare = place + 1;
}

struct camp_thread_states *camp_session_record(const struct camp_states *session,
                                               const struct known_thread *known)
{
    struct camp_thread_states *record = &session->records[known->place];
    const uint64_t time_ns = camp_session_accounted_ns(session, known);

    record->state_ns[record->state] += time_ns - record->time_ns;
    record->time_ns = time_ns;
    return record;
}

void camp_session_note_record(const struct camp_states *session, struct known_thread *known,
                              const struct camp_thread_states *thread)
{
    session->records[known->place] = *thread;
    known->tid = thread->tid;
    known->time_ns = thread->time_ns;
    known->state = (uint8_t)thread->state;
    known->is_first = thread->tid == thread->pid;
    known->has_ended = false;
}

static int compare_tids(const void *a, const void *b)
{
    const struct known_thread *left = a, *right = b;

    return left->tid < right->tid ? -1 : left->tid > right->tid;
}

bool camp_session_is_sound(const struct camp_thread_states *thread)
{
    return thread->state < CAMP_STATE_COUNT && thread->name[sizeof thread->name - 1] == '\0';
}

int camp_session_fail_damaged(struct camp_error *error)
{
    return camp_fail(error, CAMP_E_FORMAT, 0,
                     "the kernel wrote a damaged record of a thread: run the command again");
}

bool camp_session_is_same(const struct camp_thread_states *a, const struct camp_thread_states *b)
{
    return a->pid == b->pid && a->begin_ns == b->begin_ns &&
           (a->tid == b->tid || a->tid == a->pid || b->tid == b->pid);
}

struct known_thread *camp_session_find_known(const struct camp_states *session,
                                             const struct camp_thread_states *thread)
{
    const struct known_thread wanted = { .tid = thread->tid };
    struct known_thread *known =
        ARRAY_FIND(&wanted, session->known, session->known_count, compare_tids);

    return known != NULL && !known->has_ended &&
                   camp_session_is_same(&session->records[known->place], thread)
               ? known
               : NULL;
}
