/* The causes of waits in the stream of the page (docs/stream.md), as JSON. */
#pragma once

#include "sources/source.h"
#include "views/byte_buffer.h"

/* The names of the states and of the kinds of causes, to whose numbers page_causes_read() refers.
 */
#define PAGE_CAUSES_WORDS 2048
void page_causes_words(char ret[PAGE_CAUSES_WORDS]);

/* Sets *ret to the causes in the interval of the source's last frame, or to no bytes if it has
 * none. Damaged causes of a recording are no error, because its frames can still be shown: *ret
 * then says what is wrong. Returns CAMP_OK or CAMP_E_NOMEM. */
int page_causes_read(struct bytes *ret, struct source *source);
