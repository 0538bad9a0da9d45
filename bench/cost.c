/*
 * Prints the CPU time and the peak memory of a command, from wait4(2). The output of the command is
 * discarded.
 *
 *   cost [-u] COMMAND [ARGUMENT...]
 *
 * -u runs the command as the user nobody, without capabilities. The program is opened before the
 * user is changed, so the new user does not need access to the folder of the program. A process
 * keeps its peak memory through exec, so the result is at least the peak memory of this small
 * program.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

extern char **environ;

static void run(char **command, int ordinary)
{
    int program = open(command[0], O_RDONLY | O_CLOEXEC);
    int nowhere = open("/dev/null", O_RDWR);

    if (program < 0 || nowhere < 0)
        _exit(127);
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    if (ordinary && (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        _exit(126);
    fexecve(program, command, environ);
    _exit(127);
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    int ordinary = argc > 1 && strcmp(argv[1], "-u") == 0;
    char **command = argv + 1 + ordinary;
    struct rusage usage;
    int status;
    pid_t pid;

    if (argc < 2 + ordinary) {
        fprintf(stderr, "cost: which command?\n");
        return 2;
    }
    pid = fork();
    if (pid == 0)
        run(command, ordinary);
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) {
        fprintf(stderr, "cost: %s\n", strerror(errno));
        return 1;
    }
    printf("{\"cpu_ms\": %.3f, \"resident_bytes\": %ld, \"status\": %d}\n",
           1e3 * (seconds(usage.ru_utime) + seconds(usage.ru_stime)), usage.ru_maxrss * 1024,
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
