/* camp record --info: a description of a recording. */
#ifndef CAMP_COMMANDS_RECORD_RECORD_INFO_H
#define CAMP_COMMANDS_RECORD_RECORD_INFO_H

/* `path`: as for --from. `format`: the name of a view. An exit status; STATUS_FAILURE also when one
 * of several files is no recording, after showing the others. */
int record_info(const char *path, const char *format);

#endif
