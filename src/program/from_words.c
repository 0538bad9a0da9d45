/* The sources of --from in help texts and completions. */
#include "from_options.h"
#include "sources/from_list.h"

#include <stdio.h>

/* Consecutive sources with the same help are listed together. */
const char *from_help(void)
{
    static char text[1024];
    size_t length = 0;

    for (size_t i = 0; i < from_source_count && length < sizeof text; i++) {
        const struct from_source *source = &from_sources[i];
        const bool is_last = i + 1 == from_source_count;
        const bool shares = !is_last && source[1].help == source->help;
        char form[32];

        if (source->hidden)
            continue;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s%s%s%s",
                                   from_source_form(source, form, sizeof form),
                                   i == 0 ? " (the default)" : "", shares ? ", " : ": ",
                                   shares ? "" : source->help,
                                   shares    ? ""
                                   : is_last ? "."
                                             : "; ");
    }
    if (length < sizeof text)
        snprintf(text + length, sizeof text - length,
                 " Repeat the option for several database servers.");
    return text;
}

#define WORDS_MAX 32

const char *const *from_words(void)
{
    static const char *words[WORDS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < from_source_count && count + 1 < WORDS_MAX; i++) {
        const char *name = from_sources[i].name;

        if (!from_sources[i].hidden && name[0] != '.' && name[0] != '-')
            words[count++] = name;
    }
    return words;
}

const char *const *from_session_words(void)
{
    static const char *words[WORDS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < from_source_count && count + 1 < WORDS_MAX; i++) {
        if (!from_sources[i].hidden && (from_sources[i].options & WITH_RULES) != 0)
            words[count++] = from_sources[i].name;
    }
    return words;
}
