/* What camp top shows of database sessions in addition to their states. */
#pragma once

struct top;

/* Adds the column "in tx%" to text, and for statements "calls", "rep%" and "unrep%", if the source
 * has them. Called before each table. */
void top_sessions_use_columns(struct top *top);
