/*
 * The colours of pictures, for the SVG writer, and for the page, which gets them in the head of the
 * stream. They are chosen to differ as much as possible (CIEDE2000) for normal sight, protanopia,
 * deuteranopia and tritanopia, with a contrast of at least 3:1 against white and #15181c.
 */
#pragma once

static const char *const palette_3_vertices[] = { "#5a91ff", "#e1711b", "#696569" };
static const char *const palette_4_vertices[] = { "#2861be", "#cc8204", "#766151", "#91919a" };
static const char *const palette_groups[] = { "#bb301e", "#9e8b6f", "#586c69",
                                              "#9442ff", "#d67e11", "#5f969e" };
