/*
 * The colours of pictures and of the page, which receives them in the head of the stream. A colour
 * means a class of states, and is the same everywhere. The hues are near those of Okabe and Ito
 * ("Color Universal Design", 2008), moved so that any two are apart for people with each kind of
 * colour blindness. Idle time is nearly as pale as the paper, so that work stands out. Each colour
 * has a variant for dark paper. Texts are never in these colours. tests/unit/views/test_palette.c
 * measures the distances and the contrasts.
 */
#pragma once

#include "ledger/frame.h"

/* [class] on light paper, and on dark paper */
static const char *const palette_classes[CLASS_COUNT] = {
    [CLASS_NONE] = "#845220",      [CLASS_CPU] = "#2a71b1",        [CLASS_READY] = "#c7590a",
    [CLASS_THROTTLED] = "#e85f89", [CLASS_IO] = "#229569",         [CLASS_CONTENTION] = "#c2881d",
    [CLASS_NETWORK] = "#1398f2",   [CLASS_OTHER_WAIT] = "#848cac", [CLASS_IDLE] = "#d9dee5",
};
static const char *const palette_classes_dark[CLASS_COUNT] = {
    [CLASS_NONE] = "#bf9211",      [CLASS_CPU] = "#159ee3",        [CLASS_READY] = "#f78366",
    [CLASS_THROTTLED] = "#c7a7d9", [CLASS_IO] = "#37c69e",         [CLASS_CONTENTION] = "#f4b52f",
    [CLASS_NETWORK] = "#8cd6ff",   [CLASS_OTHER_WAIT] = "#81949a", [CLASS_IDLE] = "#39414b",
};

/* The edge of an area in the colour of idle time, and lines that stand for idle time, because that
 * colour is too pale for them. */
#define PALETTE_IDLE_EDGE "#858e99"

/* of hatched areas, for time in no state; the styles of pictures (svg.c) have it, too */
#define PALETTE_MISSING "#d1242f"

/* The groups of dots and of a ribbon, by name or label, on light and on dark paper. None is like
 * the red of missing time or the purple of pinned entities. */
static const char *const palette_groups[] = { "#004c89", "#be8703", "#5f9f86",
                                              "#6b6903", "#2b3137", "#1a7eae" };
static const char *const palette_groups_dark[] = { "#0089b8", "#f4a300", "#b1c8b3",
                                                   "#9c8100", "#e9eff5", "#00b9ff" };

/* The area of all other groups together, on light and on dark paper. */
#define PALETTE_OTHERS "#c3c9d0"
#define PALETTE_OTHERS_DARK "#59616b"
