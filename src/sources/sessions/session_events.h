/* Rows of a session by wait event. For session_frame.c. */
#pragma once

#include "session.h"

/* Adds a row that is not divided by wait event, with the blocker of the session, or by blocker
 * several. CAMP_OK or CAMP_E_NOMEM. */
int session_frame_add_blocked(struct session_frame *sessions, const struct session *session);

/* Adds a row for each wait event, and one for all other time of the session. CAMP_OK or
 * CAMP_E_NOMEM. */
int session_events_add_rows(struct session_frame *sessions, const struct session *session);
