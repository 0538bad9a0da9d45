/* Patterns of names as in POSIX.1-2008: * ? [a-z] [!a-z] and \, without flags. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#define FNM_NOMATCH 1

int fnmatch(const char *pattern, const char *text, int flags);

#ifdef __cplusplus
}
#endif
