/* camp report without --picture: the page with its data in one HTML file (views/report.h). */
#ifndef CAMP_COMMANDS_REPORT_REPORT_PAGE_H
#define CAMP_COMMANDS_REPORT_REPORT_PAGE_H

#include "page_options.h"

/* Is it a file for a page? NULL: not given. OPTIONS_GO_ON, or an exit status after a complaint. */
int report_page_check(const char *output);

/* Opens the source, reads it to its end (of this machine: `count` intervals) or until a stop is
 * requested, and writes the file. An exit status; the caller closes the page. */
int report_page(struct page_options *page, const char *output, uint64_t count);

#endif
