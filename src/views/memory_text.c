#include "memory_text.h"

#include <stdlib.h>

bool memory_text_open(struct memory_text *ret)
{
    *ret = (struct memory_text){ 0 };
    ret->stream = open_memstream(&ret->text, &ret->size);
    return ret->stream != NULL;
}

bool memory_text_close(struct memory_text *text)
{
    const bool failed = ferror(text->stream) != 0;

    /* Without memory for its last, smaller copy, fclose(3) returns 0, and there is no text. */
    if (fclose(text->stream) == 0 && !failed && text->text != NULL)
        return true;
    free(text->text);
    text->text = NULL;
    return false;
}
