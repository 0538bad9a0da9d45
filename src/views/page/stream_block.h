/* Blocks of a stream, for their writers: stream.c selects the contents of a frame, stream_frame.c
 * writes it, stream_text.c the other blocks. */
#pragma once

#include "stream.h"

#define SHARE_UNITS 50000.0 /* a share of 1, before the unit is doubled */

enum stream_block {
    BLOCK_HEAD = 1,
    BLOCK_ENTITIES,
    BLOCK_FRAME,
    BLOCK_BEAT,
    BLOCK_END,
    BLOCK_NOTE
};

/* The head of a block and its padding; the caller writes the payload of `size`. NULL: no memory. */
uint8_t *stream_block_start(struct bytes *out, enum stream_block type, size_t size);

/* The chosen rows and gone entities. CAMP_OK or CAMP_E_NOMEM. */
int stream_put_frame(const struct stream *stream, const struct frame *frame, bool is_key,
                     struct bytes *out);

/* These entities; no block without any. CAMP_OK or CAMP_E_NOMEM. */
int stream_entities_numbered(const struct stream *stream, const struct stream_numbers *numbers,
                             struct bytes *out);
