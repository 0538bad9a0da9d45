/* What no rule can know here, besides the rules that cannot be applied. */
#pragma once

#include "explain/judge.h"

#define LIMITS_MOST 2

struct explain_limits {
    char texts[LIMITS_MOST][SENTENCE_SIZE]; /* [count] sentences, with foreign names */
    size_t count;
};

void explain_limits_fill(struct explain_limits *ret, const struct evidence *evidence);
