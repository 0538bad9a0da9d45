/* A temporary file takes the place of a stream in memory, which the C library does not have.
 * Windows keeps such a file in memory while there is enough. */
#include "views/memory_text.h"
#include "windows.h"

#include <limits.h>

static FILE *temporary_file(void)
{
    wchar_t folder[MAX_PATH + 1], path[MAX_PATH + 1];
    const DWORD length = GetTempPathW(MAX_PATH + 1, folder);
    FILE *stream;
    int descriptor;

    if (length == 0 || length > MAX_PATH || GetTempFileNameW(folder, L"camp", 0, path) == 0)
        return NULL;
    descriptor = _wopen(path, _O_RDWR | _O_BINARY | _O_TEMPORARY | _O_SHORT_LIVED | _O_NOINHERIT);
    if (descriptor < 0) {
        DeleteFileW(path);
        return NULL;
    }
    stream = fdopen(descriptor, "w+b");
    if (stream == NULL)
        close(descriptor);
    return stream;
}

bool memory_text_open(struct memory_text *ret)
{
    *ret = (struct memory_text){ .stream = temporary_file() };
    return ret->stream != NULL;
}

static bool read_all(struct memory_text *text)
{
    const long size = ftell(text->stream);

    if (size < 0 || size == LONG_MAX)
        return false;
    text->text = malloc((size_t)size + 1);
    if (text->text == NULL)
        return false;
    rewind(text->stream);
    text->size = fread(text->text, 1, (size_t)size, text->stream);
    text->text[text->size] = '\0';
    return text->size == (size_t)size;
}

bool memory_text_close(struct memory_text *text)
{
    const bool is_whole = !ferror(text->stream) && fflush(text->stream) == 0 && read_all(text);

    fclose(text->stream);
    if (!is_whole) {
        free(text->text);
        text->text = NULL;
    }
    return is_whole;
}
