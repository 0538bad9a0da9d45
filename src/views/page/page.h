/* The page of camp view: one HTML file (web/dist/page.html) that is built into the program. */
#pragma once

#include <stddef.h>

/* [page_size()], followed by a NUL that is not counted */
extern const char page_html[];
size_t page_size(void);

/* The data of a report replace this text, which occurs once in the page. */
#define PAGE_DATA_PLACE "<!--camp-data-->"
