/* The page: one HTML file (web/dist/page.html) that is part of the program. */
#pragma once

#include <stddef.h>

/* [page_size()]: no final NUL. */
extern const char page_html[];
size_t page_size(void);

/* A report's data replace this text, which occurs once in the page. */
#define PAGE_DATA_PLACE "<!--camp-data-->"
