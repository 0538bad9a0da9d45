/* camp record --info: a description of a recording. */
#pragma once

/* `path`: as for --from. `format`: the name of a view. An exit status; STATUS_FAILURE also when one
 * of several files is no recording, after showing the others. */
int record_info(const char *path, const char *format);
