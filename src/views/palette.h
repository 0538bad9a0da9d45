/*
 * The colours of pictures and of the page, which receives them in the head of the stream. A colour
 * means a class of states, and is the same everywhere. The hues are those of Okabe and Ito ("Color
 * Universal Design", 2008), which people with each kind of colour blindness can tell apart. Idle
 * time is nearly as pale as the paper, so that work stands out. Each colour has a light variant for
 * dark paper.
 */
#pragma once

#include "ledger/frame.h"

/* [class] on light paper, and on dark paper */
static const char *const palette_classes[CLASS_COUNT] = {
    [CLASS_NONE] = "#a8862f",      [CLASS_CPU] = "#0072b2",        [CLASS_READY] = "#d55e00",
    [CLASS_THROTTLED] = "#cc79a7", [CLASS_IO] = "#009e73",         [CLASS_CONTENTION] = "#e69f00",
    [CLASS_NETWORK] = "#56b4e9",   [CLASS_OTHER_WAIT] = "#7d838c", [CLASS_IDLE] = "#d9dee5",
};
static const char *const palette_classes_dark[CLASS_COUNT] = {
    [CLASS_NONE] = "#c9b06a",      [CLASS_CPU] = "#3d9be0",        [CLASS_READY] = "#f07a2e",
    [CLASS_THROTTLED] = "#e09cc3", [CLASS_IO] = "#2cc295",         [CLASS_CONTENTION] = "#f2b632",
    [CLASS_NETWORK] = "#86cdf5",   [CLASS_OTHER_WAIT] = "#8f97a2", [CLASS_IDLE] = "#39414b",
};

static const char *const palette_3_vertices[] = { "#5a91ff", "#e1711b", "#696569" };
static const char *const palette_4_vertices[] = { "#2861be", "#cc8204", "#766151", "#91919a" };
static const char *const palette_groups[] = { "#bb301e", "#9e8b6f", "#586c69",
                                              "#9442ff", "#d67e11", "#5f969e" };
