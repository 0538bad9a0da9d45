/* Blocks of a stream, for those who write it: stream.c has the frames, stream_text.c the others. */
#ifndef CAMP_VIEWS_STREAM_BLOCK_H
#define CAMP_VIEWS_STREAM_BLOCK_H

#include "stream.h"

enum stream_block {
    BLOCK_HEAD = 1,
    BLOCK_ENTITIES,
    BLOCK_FRAME,
    BLOCK_BEAT,
    BLOCK_END,
    BLOCK_NOTE
};

/* The head of a block and the zeros at its end; the payload of `size` is the caller's to write.
 * NULL: no memory. */
uint8_t *stream_block_begin(struct bytes *out, enum stream_block type, size_t size);

/* These entities; no block when there are none. CAMP_OK or CAMP_E_NOMEM. */
int stream_entities_numbered(const struct stream *stream, const struct stream_numbers *numbers,
                             struct bytes *out);

#endif
