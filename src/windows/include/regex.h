/* Regular expressions as in POSIX.1-2008, as far as camp uses them: extended ones, by the C++
 * library (regex.cpp). */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    void *expression;
    size_t re_nsub; /* the number of groups */
    int is_without_groups;
} regex_t;

typedef ptrdiff_t regoff_t;

typedef struct {
    regoff_t rm_so, rm_eo; /* -1 if the group matched nothing */
} regmatch_t;

#define REG_EXTENDED 1
#define REG_ICASE 2
#define REG_NOSUB 4

/* The results. REG_BADPAT stands for all faults of an expression. */
#define REG_NOMATCH 1
#define REG_BADPAT 2
#define REG_ESPACE 3

int regcomp(regex_t *ret, const char *pattern, int flags);
int regexec(const regex_t *regex, const char *text, size_t count, regmatch_t *matches, int flags);
size_t regerror(int code, const regex_t *regex, char *ret, size_t capacity);
void regfree(regex_t *regex);

#ifdef __cplusplus
}
#endif
