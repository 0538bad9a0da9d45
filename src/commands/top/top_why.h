/* camp top --why: the rows are the groups of the ledger of causes, with how long their waits
 * lasted, and the largest cause of a wait. */
#pragma once

struct top;

/* Checks the options that go with --why, and sets the source. Called before the source is opened.
 * Returns OPTIONS_GO_ON, or an exit status after an error message. */
int top_why_prepare(struct top *top);

/* Adds the columns to the style of the table. Called when the order of rows has changed. */
void top_why_use_columns(struct top *top);
