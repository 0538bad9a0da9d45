#include "converter.h"

#include "program/command.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHARPNESS "2" /* the zoom factor for PNG */

const char converter_change[] =
    "needs " CONVERTER ": install librsvg2-bin, or give a file that ends with .svg";

bool converter_exists(void)
{
    const char *folders = getenv("PATH");
    char path[4096];

    while (folders != NULL && *folders != '\0') {
        const size_t length = strcspn(folders, ":");

        snprintf(path, sizeof path, "%.*s/" CONVERTER, (int)length, folders);
        if (length > 0 && access(path, X_OK) == 0)
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

/* Starts the converter with the given stdin, stdout and stderr. No shell sees the arguments. */
static int start(char *const *arguments, const int descriptors[3], pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    int system_error = posix_spawn_file_actions_init(&actions);

    if (system_error != 0)
        return system_error;
    for (int i = 0; i < 3 && system_error == 0; i++)
        system_error = posix_spawn_file_actions_adddup2(&actions, descriptors[i], i);
    if (system_error == 0)
        system_error = posix_spawnp(ret_pid, CONVERTER, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return system_error;
}

static int complain_of_converter(FILE *messages, int status)
{
    char line[CAMP_ERROR_SIZE];

    rewind(messages);
    if (fgets(line, sizeof line, messages) != NULL && line[0] != '\n') {
        line[strcspn(line, "\n")] = '\0';
        return complain(STATUS_FAILURE, CONVERTER " failed: %s", line);
    }
    if (WIFSIGNALED(status))
        return complain(STATUS_FAILURE, CONVERTER " was ended by signal %d", WTERMSIG(status));
    return complain(STATUS_FAILURE, CONVERTER " failed with status %d", WEXITSTATUS(status));
}

static int run_converter(bool is_png, FILE *svg, FILE *output, FILE *messages)
{
    char *const to_png[] = { (char[]){ CONVERTER }, (char[]){ "--format" }, (char[]){ "png" },
                             (char[]){ "--zoom" },  (char[]){ SHARPNESS },  NULL };
    char *const to_pdf[] = { (char[]){ CONVERTER }, (char[]){ "--format" }, (char[]){ "pdf" },
                             NULL };
    const int descriptors[3] = { fileno(svg), fileno(output), fileno(messages) };
    int status = 0;
    pid_t pid;
    const int system_error = start(is_png ? to_png : to_pdf, descriptors, &pid);

    if (system_error != 0)
        return complain(STATUS_FAILURE, "cannot run " CONVERTER ": %s", strerror(system_error));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return complain_of_converter(messages, status);
    return STATUS_OK;
}

/* Files in memory need no folder that camp may write to. */
static FILE *memory_file(void)
{
    const int descriptor = memfd_create("camp", MFD_CLOEXEC);

    return descriptor >= 0 ? fdopen(descriptor, "w+") : NULL;
}

/* The converter reads the picture from a temporary file, and writes messages to another. With
 * pipes, camp and the converter could block each other. */
int converter_run(bool is_png, const char *svg, size_t length, FILE *output)
{
    FILE *input = memory_file(), *messages = memory_file();
    int status = STATUS_FAILURE;

    if (input == NULL || messages == NULL || fwrite(svg, 1, length, input) != length ||
        fflush(input) != 0)
        complain(status, "cannot write a temporary file: %s", strerror(errno));
    else if (rewind(input), lseek(fileno(input), 0, SEEK_SET) == 0)
        status = run_converter(is_png, input, output, messages);
    if (input != NULL)
        fclose(input);
    if (messages != NULL)
        fclose(messages);
    return status;
}
