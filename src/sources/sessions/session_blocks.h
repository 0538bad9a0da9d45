/* Rows of sessions with their blockers. For session_frame.c. */
#pragma once

#include "session.h"

/* Adds a row as it is. CAMP_OK or CAMP_E_NOMEM. */
int session_frame_add_row(struct session_frame *sessions, const struct session *session);

/* Adds a row with the blocker of the session, or divided by blocker a row for each. CAMP_OK or
 * CAMP_E_NOMEM. */
int session_blocks_add_rows(struct session_frame *sessions, const struct session *session);
