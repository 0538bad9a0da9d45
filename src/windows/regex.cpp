// Regular expressions of the C++ library behind the functions of POSIX (include/regex.h).
#include <cstdio>
#include <cstring>
#include <new>
#include <regex>

#include <fnmatch.h>
#include <regex.h>

// The C++ library needs stack for each character of the text.
static const size_t longest_text = 4096;

int regcomp(regex_t *ret, const char *pattern, int flags)
{
    std::regex::flag_type options = std::regex::extended;

    if ((flags & REG_ICASE) != 0)
        options |= std::regex::icase;
    try {
        std::regex *expression = new std::regex(pattern, options);

        ret->expression = expression;
        ret->re_nsub = expression->mark_count();
        ret->is_without_groups = (flags & REG_NOSUB) != 0;
        return 0;
    } catch (const std::regex_error &) {
        return REG_BADPAT;
    } catch (const std::bad_alloc &) {
        return REG_ESPACE;
    }
}

int regexec(const regex_t *regex, const char *text, size_t count, regmatch_t *matches, int)
{
    const std::regex &expression = *static_cast<const std::regex *>(regex->expression);
    const size_t length = strnlen(text, longest_text);

    try {
        std::cmatch found;

        if (!std::regex_search(text, text + length, found, expression))
            return REG_NOMATCH;
        for (size_t i = 0; !regex->is_without_groups && i < count; i++) {
            const bool is_matched = i < found.size() && found[i].matched;

            matches[i].rm_so = is_matched ? found[i].first - text : -1;
            matches[i].rm_eo = is_matched ? found[i].second - text : -1;
        }
        return 0;
    } catch (const std::exception &) { // too complex, or no memory
        return REG_ESPACE;
    }
}

size_t regerror(int code, const regex_t *, char *ret, size_t capacity)
{
    const char *text = code == REG_NOMATCH  ? "no match"
                       : code == REG_ESPACE ? "out of memory"
                                            : "it is not an extended regular expression";

    return static_cast<size_t>(snprintf(ret, capacity, "%s", text)) + 1;
}

void regfree(regex_t *regex)
{
    delete static_cast<std::regex *>(regex->expression);
    regex->expression = nullptr;
}
