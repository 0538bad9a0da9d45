/*
 * The stream: frames for the page and the report, as blocks of the format camp.stream/1
 * (docs/stream.md). This code does no I/O. It appends blocks to a buffer, which the caller stores
 * or sends.
 *
 * A frame is sent as the difference to the frame before, except a key frame, which has all rows.
 * Values are rounded before they are compared, so that changes below the resolution are not sent.
 * Shares are rounded to 1/50000, and elapsed times to 11 binary digits.
 *
 * A source may omit the rows of idle entities (IDLE_OMITTED). Such an entity keeps its last row,
 * and a key frame has it again. So that the row is right for later intervals, it has an elapsed
 * time of 1.
 */
#pragma once

#include "ledger/axes.h"
#include "ledger/registry.h"
#include "ledger/summary.h"
#include "views/byte_buffer.h"

#define STREAM_STATES_MAXIMUM VERTICES_STATES_MAXIMUM
#define STREAM_KEY_EVERY 64 /* most frames from one key frame to the next */

struct stream_facts {
    const char *title; /* title of the page, or "" */
    const char *source, *tier, *note, *host;
    const char *kind; /* what the rows are, in the plural, such as "threads" */
    bool live;
    uint64_t interval_ns;     /* 0 if unknown */
    uint64_t frames;          /* 0 if unknown */
    const struct axes *axes3; /* NULL if there are too few states */
    const struct axes *axes4;
    const char *from; /* a text for --from that opens the source again; "" or NULL if unknown */
    /* A command that shows what a row consists of. The page appends the row's name to it. "" or
     * NULL if there is no such command. */
    const char *below;
    /* The words of the causes of waits (docs/stream.md), as JSON. NULL if the frames have no
     * causes.
     */
    const char *causes;
    bool has_blockers; /* the frames have trees of blockers in place of causes */
};

/* A row as it is sent, without its shares. */
struct stream_row {
    float elapsed, unaccounted;
    uint16_t flags;
    bool is_idle; /* not sent: the next frames may omit the entity */
};

/* What readers know of an entity. stream->known[n] is the entity with the number n. */
struct stream_known {
    struct stream_row row; /* the row as last sent */
    uint32_t now;          /* index of the entity's row in the current frame */
    bool is_present;       /* readers have the entity after the frame last sent */
    bool is_listed;        /* `present` has its number */
};

/* The rows of the current frame, one for each entity that it does not omit. In a key frame, the
 * rows of omitted entities follow. */
struct stream_now {
    size_t count, capacity;
    uint32_t *numbers;       /* [count] */
    struct stream_row *rows; /* [count] */
    double *elapsed_ns;      /* [count] */
    double *values;          /* [count x state_count] */
    uint16_t *shares;        /* [count x state_count], rounded for sending */
};

/* A list of entity numbers or of row indexes. */
struct stream_numbers {
    uint32_t *numbers; /* [count] */
    size_t count, capacity;
};

struct stream {
    const struct schema *schema;
    struct registry registry;
    struct stream_known *known; /* [registry.count] */
    uint16_t *shares;           /* [registry.count x state_count] as last sent */
    size_t capacity;            /* number of entities that fit into `known` and `shares` */
    struct stream_now now;
    struct stream_numbers changed; /* numbers of entities that are new or have changed */
    struct stream_numbers chosen;  /* indexes of the rows of `now` that are to be sent */
    struct stream_numbers gone;    /* numbers of the entities that readers must forget */
    /* Numbers of all entities with is_present, and of some that have left since the last frame that
     * had a row for each. */
    struct stream_numbers present;
    /* Numbers of entities that leave if the current frame has no other row for them: those with
     * ENTITY_GONE in it, and those that were not idle in the frame last sent. */
    struct stream_numbers leaving;
    unsigned doublings; /* the unit of shares is doubled this many times */
    /* Frames since the last key frame; 0 makes the next frame a key frame. */
    uint64_t since_key;
    size_t crowd; /* entities expire when their number reaches `crowd` and CROWD */
    char note[FRAME_NOTE_SIZE];
    struct shared_cpus cpus, cpus_sent; /* now, and as last sent */
};

/* Initialises the stream, which keeps a pointer to the schema. Returns CAMP_OK, or CAMP_E_INVALID
 * if the schema has more than STREAM_STATES_MAXIMUM states. */
int stream_init(struct stream *ret, const struct schema *schema);
void stream_release(struct stream *stream);

void stream_request_key(struct stream *stream);

/* Appends the blocks of a frame: new or changed entities, and then the frame. If frame->omitted is
 * above 0, each entity that was idle in its last row and has no row now is still there. *ret_is_key
 * is set if the frame is a key frame. A reader that has all entities can start at a key frame.
 * Returns CAMP_OK or CAMP_E_NOMEM. After an error the stream is unusable. */
int stream_frame(struct stream *stream, const struct frame *frame, struct bytes *out,
                 bool *ret_is_key);

/* Appends the frame's note as a block, if the note is not empty and differs from the last frame's
 * note. Call this function before stream_frame(). Returns CAMP_OK or CAMP_E_NOMEM. */
int stream_frame_note(struct stream *stream, const struct frame *frame, struct bytes *out);

/* Appends a block with the causes of waits in the next frame, or its trees of blockers, as JSON.
 * Returns CAMP_OK or CAMP_E_NOMEM. */
int stream_causes(const struct bytes *causes, struct bytes *out);

/* Sets the CPUs that the rows of the next frames share. stream_frame() appends them as a block
 * before each key frame, and when they have changed. */
void stream_set_cpus(struct stream *stream, struct shared_cpus cpus);

/* Appends a block with all entities, for a reader that starts late. Returns CAMP_OK or
 * CAMP_E_NOMEM. */
int stream_entities(const struct stream *stream, struct bytes *out);

/* Tells the stream that readers no longer have the frames before frame `since`, counted from 1. If
 * there are many entities, those last seen before frame `since` expire, and their numbers are
 * reused. */
void stream_expire(struct stream *stream, uint64_t since);

/* Each function appends one block. Returns CAMP_OK or CAMP_E_NOMEM. */
int stream_head(const struct schema *schema, const struct stream_facts *facts, struct bytes *out);
int stream_note(const char *text, struct bytes *out);
/* `open` is the index of the frame at which a page opens, counted from the first frame of the
 * stream; NULL if the stream does not say it. */
int stream_end(const char *reason, const size_t *open, struct bytes *out);
int stream_beat(struct bytes *out);
