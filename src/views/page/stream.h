/*
 * The stream: frames as the page and the report take them, blocks of camp.stream/1. The format is
 * docs/stream.md. Pure arithmetic: blocks are appended to bytes, who keeps or sends them is the
 * caller's business.
 *
 * A frame goes out as its difference to the one before. What is compared is what would be sent, so
 * that jitter below its resolution costs nothing: shares in 1/50000, elapsed times in 1/1024 of
 * themselves.
 */
#ifndef CAMP_VIEWS_PAGE_STREAM_H
#define CAMP_VIEWS_PAGE_STREAM_H

#include "ledger/axes.h"
#include "ledger/registry.h"
#include "views/bytes.h"

#define STREAM_STATES_MAXIMUM VERTICES_STATES_MAXIMUM
#define STREAM_KEY_EVERY 64 /* frames */

/* What the head says beside the schema. */
struct stream_facts {
    const char *title; /* of the page; "": none */
    const char *source, *tier, *note, *host;
    bool live;
    uint64_t interval_ns;     /* 0: not known */
    uint64_t frames;          /* 0: not known */
    const struct axes *axes3; /* NULL: too few states */
    const struct axes *axes4;
    const char *below; /* the command that shows what a row is made of, but for the row's name; ""
                        * or NULL: there is none */
};

/* A row as it is sent, but for its shares. */
struct stream_row {
    float elapsed, unaccounted;
    uint16_t flags;
};

/* What is known of an entity, by its number. */
struct stream_known {
    struct stream_row row; /* as it was sent last */
    uint32_t now;          /* its row in the frame that is written */
    bool is_there;         /* in the last frame */
};

/* The rows of the frame that is written; no two are of one entity. */
struct stream_now {
    size_t count, capacity;
    uint32_t *numbers;       /* [count] */
    struct stream_row *rows; /* [count] */
    double *elapsed_ns;      /* [count] */
    double *values;          /* [count x state_count] */
    uint16_t *shares;        /* [count x state_count], in units */
};

/* Numbers that grow at their end. */
struct stream_numbers {
    uint32_t *numbers; /* [count] */
    size_t count, capacity;
};

struct stream {
    const struct schema *schema;
    struct registry registry;
    struct stream_known *known;   /* [registry.count] */
    uint16_t *shares;             /* [registry.count x state_count]: as they were sent last */
    size_t capacity;              /* of these two, in entities */
    struct stream_now now;        /* what follows is of the frame that is written */
    struct stream_numbers news;   /* entities that are new or have changed */
    struct stream_numbers chosen; /* rows that differ from what was sent last */
    struct stream_numbers gone;   /* entities */
    struct stream_numbers there;  /* entities that have a row; until then, of the last frame */
    unsigned doublings;           /* of the unit */
    uint64_t since_key;           /* frames; 0: the next one is a key frame */
    size_t crowd;                 /* so many entities that it pays to look who can be forgotten */
    char said[FRAME_NOTE_SIZE];   /* the note of the last frame */
};

/* Keeps the schema. CAMP_E_INVALID: it has more states than STREAM_STATES_MAXIMUM. */
int stream_init(struct stream *ret, const struct schema *schema);
void stream_release(struct stream *stream);

/* The next frame is to be a key frame. */
void stream_ask_key(struct stream *stream);

/* The blocks of one frame: those who are new or have changed, then the frame. *ret_is_key: a reader
 * can begin with it, once it knows the entities. CAMP_OK or CAMP_E_NOMEM; after that the stream is
 * not to be used any more. */
int stream_frame(struct stream *stream, const struct frame *frame, struct bytes *out,
                 bool *ret_is_key);

/* The block of what the source says of a frame's interval, where it is not what it said of the one
 * before; to stand before the frame's. CAMP_OK or CAMP_E_NOMEM. */
int stream_said(struct stream *stream, const struct frame *frame, struct bytes *out);

/* Everybody, for a reader who begins late: their numbers have no gaps. */
int stream_entities(const struct stream *stream, struct bytes *out);

/* Nobody has frames from before `since` (counted from 1) any more: who was in none of the later
 * ones may be forgotten, and is when there are many of them. */
void stream_forget(struct stream *stream, uint64_t since);

/* The other blocks. CAMP_OK or CAMP_E_NOMEM. */
int stream_head(const struct schema *schema, const struct stream_facts *facts, struct bytes *out);
int stream_note(const char *text, struct bytes *out);
int stream_end(const char *reason, struct bytes *out);
int stream_beat(struct bytes *out);

#endif
