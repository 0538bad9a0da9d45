/*
 * The colours of pictures and of the page, which receives them in the head of the stream. The
 * colours differ as much as possible (CIEDE2000) for normal sight, protanopia, deuteranopia and
 * tritanopia. Their contrast is at least 3:1 against white and against the dark background #15181c.
 */
#pragma once

static const char *const palette_3_vertices[] = { "#5a91ff", "#e1711b", "#696569" };
static const char *const palette_4_vertices[] = { "#2861be", "#cc8204", "#766151", "#91919a" };
static const char *const palette_groups[] = { "#bb301e", "#9e8b6f", "#586c69",
                                              "#9442ff", "#d67e11", "#5f969e" };
