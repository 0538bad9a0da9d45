/* A text in memory that is written as a stream. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct memory_text {
    FILE *stream; /* NULL if there is no memory */
    char *text;   /* [size + 1] after memory_text_close(), with a NUL; the caller frees it */
    size_t size;
};

/* Opens an empty text. Returns whether there was memory. */
bool memory_text_open(struct memory_text *ret);

/* Closes the stream, and sets text->text. Returns false, with text->text NULL, if the text is
 * incomplete because there was no memory. */
bool memory_text_close(struct memory_text *text);
