/*
 * Where an output file goes: symbolic links are followed, so that a link is kept and the file that
 * it points to is replaced. A link is refused by the rule of fs.protected_symlinks, which protects
 * open() only: in a folder that is sticky and writable for everyone, such as /tmp, the link must
 * belong to the user or to the owner of the folder.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>

/* The errno of a refused link. No function below sets it for another reason. */
#define OUTPUT_FOREIGN_LINK EXDEV

/* A file is named by its folder and its name in it, so that nobody can exchange the folder later.
 */
struct output_place {
    int folder; /* a descriptor; -1 if there is none */
    char *name;
};

/* Returns false and sets errno if a link is refused, or a folder is missing. The file itself may be
 * missing. */
bool output_place_find(struct output_place *ret, const char *path);

/* Returns the text of an errno of these functions. */
const char *output_problem(int system_error);

/* Returns whether a write to stdout failed because the reader closed the pipe. */
bool output_is_closed(int system_error);

/* Returns false and sets errno if a link is refused. */
bool output_place_check(const char *path);

void output_place_release(struct output_place *place);
