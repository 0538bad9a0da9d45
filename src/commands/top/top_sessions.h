/* What camp top shows of database sessions in addition to their states. */
#pragma once

struct top;

/* Adds the column "in tx%" to text, if the source has that time. Called before each table. */
void top_sessions_use_columns(struct top *top);
