/*
 * For clang-tidy only (tools/lint). Its analyzer reads one file at a time, so it assumes that
 * camp_fail() may return CAMP_OK, and then reports a use of the variable that a failed call did not
 * fill.
 */
#include "../src/counters/error.h"

static inline void lint_used(int none, ...)
{
    (void)none;
}

#define camp_fail(error, code, ...) (lint_used(0, error, __VA_ARGS__), (code))
#define camp_fail_errno(error, ...) (lint_used(0, error, __VA_ARGS__), CAMP_E_IO)
