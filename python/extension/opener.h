/*
 * Who opens sources by their names. _camp has one for those of this machine; the extension _from,
 * which is loaded when another is asked for, has one for all of them, and the libraries of
 * databases and recordings with it: they are not loaded by who does not use them.
 */
#pragma once

#include "sources/from.h"

#define OPENER_CAPSULE "camp.opener"

struct opener {
    int (*open)(const struct from *from, struct source **ret, struct from_facts *ret_facts,
                struct camp_error *error);
    /* Sets source_interrupted (source.h), of which each extension has its own. */
    void (*ask_when_interrupted)(bool (*interrupted)(void));
};
