#pragma once

#include "sources/tables/table.h"

#include "../foreign_table.h"
#include "counters/clock.h"
#include "ledger/frame.h"
#include "sources/from.h"

static struct table opened_text(const char *text, const char *unit)
{
    char path[64];
    const struct from from = { .text = path, .unit = unit, .stop = &never };
    struct table table;

    write_table(path, text, strlen(text));
    table = opened(&from);
    unlink(path);
    return table;
}

static struct table opened_stored(const char *name)
{
    return opened(&(struct from){ .text = stored_table(name), .stop = &never });
}
