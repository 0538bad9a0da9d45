#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What open(2) would have given it; mkostemp(3) gives it to its owner alone. */
static mode_t usual_mode(void)
{
    const mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

static int open_beside(struct whole_file *file, mode_t mode)
{
    int descriptor;

    if (asprintf(&file->temporary, "%s.XXXXXX", file->path) < 0) {
        file->temporary = NULL;
        return ENOMEM;
    }
    descriptor = mkostemp(file->temporary, O_CLOEXEC);
    if (descriptor < 0) {
        const int failed = errno;

        free(file->temporary);
        file->temporary = NULL;
        return failed;
    }
    file->stream = fdopen(descriptor, "w");
    if (file->stream == NULL || fchmod(descriptor, mode) != 0) {
        const int failed = errno;

        if (file->stream == NULL)
            close(descriptor);
        return failed;
    }
    return 0;
}

static int open_in_place(struct whole_file *file)
{
    file->stream = fopen(file->path, "we");
    return file->stream != NULL ? 0 : errno;
}

int whole_file_open(struct whole_file *ret, const char *path)
{
    struct stat there;
    const bool is_there = stat(path, &there) == 0;
    const bool is_regular = is_there && S_ISREG(there.st_mode);
    int failed;

    *ret = (struct whole_file){ 0 };
    ret->path = is_regular ? realpath(path, NULL) : strdup(path); /* a link stays a link */
    if (ret->path == NULL)
        failed = errno;
    else if (is_there && !is_regular)
        failed = open_in_place(ret);
    else
        failed = open_beside(ret, is_there ? there.st_mode & 07777 : usual_mode());
    if (failed != 0)
        whole_file_drop(ret);
    return failed;
}

int whole_file_keep(struct whole_file *file)
{
    int failed = 0;

    errno = 0;
    if (fflush(file->stream) != 0 || ferror(file->stream) ||
        (file->temporary != NULL && fsync(fileno(file->stream)) != 0))
        failed = errno != 0 ? errno : EIO;
    if (fclose(file->stream) != 0 && failed == 0)
        failed = errno;
    file->stream = NULL;
    if (failed == 0 && file->temporary != NULL && rename(file->temporary, file->path) != 0)
        failed = errno;
    if (failed == 0) {
        free(file->temporary);
        file->temporary = NULL;
    }
    whole_file_drop(file);
    return failed;
}

void whole_file_drop(struct whole_file *file)
{
    if (file->stream != NULL)
        fclose(file->stream);
    if (file->temporary != NULL)
        unlink(file->temporary);
    free(file->temporary);
    free(file->path);
    *file = (struct whole_file){ 0 };
}
