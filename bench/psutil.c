/* Runs the loops of psutil_calls.py in a child process with Python. */
#include "compare.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t python = -1;
static FILE *questions;
static FILE *answers;

static void run_python(const int *to, const int *from, const char *script, int32_t pid)
{
    char number[16];

    snprintf(number, sizeof number, "%d", pid);
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    for (size_t i = 0; i < 2; i++) {
        close(to[i]);
        close(from[i]);
    }
    execl("/usr/bin/python3", "python3", script, number, (char *)NULL);
    _exit(127);
}

int psutil_start(const char *script, int32_t pid)
{
    int to[2];
    int from[2];
    char line[64];

    signal(SIGPIPE, SIG_IGN);
    if (pipe(to) != 0 || pipe(from) != 0)
        return -1;
    python = fork();
    if (python == 0)
        run_python(to, from, script, pid);
    close(to[0]);
    close(from[1]);
    questions = fdopen(to[1], "w");
    answers = fdopen(from[0], "r");
    if (python < 0 || !questions || !answers)
        return -1;
    return fgets(line, sizeof line, answers) && strcmp(line, "ready\n") == 0 ? 0 : -1;
}

uint64_t psutil_block_ns(const char *loop, size_t repetitions)
{
    char line[64];

    if (!questions || !answers)
        return 0;
    fprintf(questions, "%s %zu\n", loop, repetitions);
    fflush(questions);
    if (!fgets(line, sizeof line, answers))
        return 0;
    return strtoull(line, NULL, 10);
}

void psutil_stop(void)
{
    if (questions)
        fclose(questions);
    if (answers)
        fclose(answers);
    questions = answers = NULL;
    if (python > 0)
        waitpid(python, NULL, 0);
    python = -1;
}
