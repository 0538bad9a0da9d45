/*
 * The stream: frames for the page and the report, as blocks of camp.stream/1. docs/stream.md has
 * the format. This code does no I/O: it appends blocks to a buffer, which the caller stores or
 * sends.
 *
 * A frame is sent as its difference to the last one. Values are rounded before the comparison, so
 * that changes below the resolution are not sent: shares to 1/50000, elapsed times to 1/1024 of
 * their value.
 */
#pragma once

#include "ledger/axes.h"
#include "ledger/registry.h"
#include "views/byte_buffer.h"

#define STREAM_STATES_MAXIMUM VERTICES_STATES_MAXIMUM
#define STREAM_KEY_EVERY 64 /* frames */

/* The contents of the head, besides the schema. */
struct stream_facts {
    const char *title; /* title of the page; "": none */
    const char *source, *tier, *note, *host;
    bool live;
    uint64_t interval_ns;     /* 0: unknown */
    uint64_t frames;          /* 0: unknown */
    const struct axes *axes3; /* NULL: too few states */
    const struct axes *axes4;
    const char *below; /* the command that shows the members of a row, without the row's name; ""
                        * or NULL: none */
};

/* A row as it is sent, except for its shares. */
struct stream_row {
    float elapsed, unaccounted;
    uint16_t flags;
};

/* What readers know of an entity; the index is the entity's number. */
struct stream_known {
    struct stream_row row; /* as last sent */
    uint32_t now;          /* index of its row in the current frame */
    bool is_present;       /* it had a row in the last frame */
};

/* The rows of the current frame, one for each entity. */
struct stream_now {
    size_t count, capacity;
    uint32_t *numbers;       /* [count] */
    struct stream_row *rows; /* [count] */
    double *elapsed_ns;      /* [count] */
    double *values;          /* [count x state_count] */
    uint16_t *shares;        /* [count x state_count], in units */
};

/* An array of the numbers of entities or rows. */
struct stream_numbers {
    uint32_t *numbers; /* [count] */
    size_t count, capacity;
};

struct stream {
    const struct schema *schema;
    struct registry registry;
    struct stream_known *known; /* [registry.count] */
    uint16_t *shares;           /* [registry.count x state_count]: as last sent */
    size_t capacity;            /* capacity of `known` and `shares`, in entities */
    struct stream_now now; /* the rows of the current frame, to which all members below refer */
    struct stream_numbers changed; /* new or changed entities */
    struct stream_numbers chosen;  /* rows that differ from those last sent */
    struct stream_numbers gone;    /* entities that have no row, but had one in the last frame */
    struct stream_numbers present; /* entities that have a row; at first those of the last frame */
    unsigned doublings;            /* of the unit */
    uint64_t since_key;            /* frames since the last key frame; 0: next is a key frame */
    size_t crowd;                  /* entities expire if there are at least so many */
    char note[FRAME_NOTE_SIZE];    /* the note of the last frame */
};

/* Initialises the stream, which keeps a pointer to the schema. CAMP_E_INVALID: more than
 * STREAM_STATES_MAXIMUM states. */
int stream_init(struct stream *ret, const struct schema *schema);
void stream_release(struct stream *stream);

/* Makes the next frame a key frame. */
void stream_request_key(struct stream *stream);

/* Appends the blocks of a frame: new or changed entities, then the frame. *ret_is_key: it is a key
 * frame, so a reader that has the entities can start with it. Returns CAMP_OK; or CAMP_E_NOMEM, and
 * the stream is unusable. */
int stream_frame(struct stream *stream, const struct frame *frame, struct bytes *out,
                 bool *ret_is_key);

/* Appends the block of a frame's note if it differs from the last one; it belongs before the
 * frame's block. CAMP_OK or CAMP_E_NOMEM. */
int stream_frame_note(struct stream *stream, const struct frame *frame, struct bytes *out);

/* Appends a block with all entities, for a reader that starts late. The numbers of the entities
 * have no gaps. */
int stream_entities(const struct stream *stream, struct bytes *out);

/* Readers no longer have the frames before `since` (counted from 1). If there are many entities,
 * those last seen before it expire, and their numbers are reused. */
void stream_expire(struct stream *stream, uint64_t since);

/* Append the other blocks. CAMP_OK or CAMP_E_NOMEM. */
int stream_head(const struct schema *schema, const struct stream_facts *facts, struct bytes *out);
int stream_note(const char *text, struct bytes *out);
int stream_end(const char *reason, struct bytes *out);
int stream_beat(struct bytes *out);
