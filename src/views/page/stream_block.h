/* Private parts of the stream. stream.c selects the contents of a frame, and stream_blocks.c writes
 * all blocks. */
#pragma once

#include "stream.h"

#define SHARE_UNITS 50000.0 /* units in a share of 1, before the unit is doubled */

/* Appends the block of a frame, with the rows in stream->chosen and the entities in stream->gone.
 * Returns CAMP_OK or CAMP_E_NOMEM. */
int stream_put_frame(const struct stream *stream, const struct frame *frame, bool is_key,
                     struct bytes *out);

/* Appends a block with the CPUs. Returns CAMP_OK or CAMP_E_NOMEM. */
int stream_cpus_block(const struct shared_cpus *cpus, struct bytes *out);

/* Appends a block with the entities `numbers`. No block is appended if the list is empty. Returns
 * CAMP_OK or CAMP_E_NOMEM. */
int stream_entities_numbered(const struct stream *stream, const struct stream_numbers *numbers,
                             struct bytes *out);
