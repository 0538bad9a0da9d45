/* camp record --info: what a recording is. */
#ifndef CAMP_COMMANDS_RECORD_RECORD_INFO_H
#define CAMP_COMMANDS_RECORD_RECORD_INFO_H

/* `path`: as --from takes it. `format`: the name of a view. An exit status; STATUS_FAILURE too
 * where one of several files is no recording, once the others were shown. */
int record_info(const char *path, const char *format);

#endif
