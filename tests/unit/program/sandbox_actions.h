/* What a confined process may try. Each action is tried in a child process, which enters the
 * sandbox and returns the errno of the action as its exit status. */
#pragma once

#include "program/sandbox.h"

#include "../tree.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static char folder[] = "/tmp/camp-sandbox-XXXXXX";
static char input[64], other[64], output[64], elsewhere[64];
static int terminal;

static int system_error_of(bool succeeded)
{
    return succeeded ? 0 : errno;
}

static int tried(const struct sandbox *sandbox, int (*action)(void))
{
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        sandbox_enter(sandbox, NULL);
        _exit(action());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int read_input(void)
{
    return system_error_of(open(input, O_RDONLY) >= 0);
}

static int read_other(void)
{
    return system_error_of(open(other, O_RDONLY) >= 0);
}

static int write_input(void)
{
    return system_error_of(open(input, O_WRONLY) >= 0);
}

static int write_elsewhere(void)
{
    return system_error_of(open(elsewhere, O_WRONLY | O_CREAT, 0600) >= 0);
}

/* As output_part.c does it. */
static int replace_output(void)
{
    char part[80];
    int descriptor;

    snprintf(part, sizeof part, "%s.part", output);
    descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL, 0600);
    return system_error_of(descriptor >= 0 && ftruncate(descriptor, 1) == 0 &&
                           rename(part, output) == 0 && unlink(output) == 0);
}

static int make_socket(void)
{
    return system_error_of(socket(AF_INET, SOCK_STREAM, 0) >= 0);
}

static int make_unix_socket(void)
{
    return system_error_of(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
}

static int listen_on_loopback(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    const int listener = socket(AF_INET, SOCK_STREAM, 0);

    return system_error_of(listener >= 0 &&
                           bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
                           listen(listener, 1) == 0);
}

static int connect_to_loopback(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(9),
                                   .sin_addr = { htonl(INADDR_LOOPBACK) } };
    const int client = socket(AF_INET, SOCK_STREAM, 0);

    return system_error_of(client >= 0 &&
                           connect(client, (struct sockaddr *)&address, sizeof address) == 0);
}

/* TCP Fast Open connects without connect(2). */
static int send_to_loopback(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(9),
                                   .sin_addr = { htonl(INADDR_LOOPBACK) } };
    const int client = socket(AF_INET, SOCK_STREAM, 0);

    return system_error_of(client >= 0 && sendto(client, "x", 1, MSG_FASTOPEN,
                                                 (struct sockaddr *)&address, sizeof address) == 1);
}

static int execute(void)
{
    char name[] = "true";
    char *arguments[] = { name, NULL }, *environment[] = { NULL };

    return system_error_of(execve("/bin/true", arguments, environment) == 0);
}

static int create_process(void)
{
    const pid_t child = fork();

    if (child == 0)
        _exit(0);
    return system_error_of(child > 0);
}

static int signal_parent(void)
{
    return system_error_of(kill(getppid(), 0) == 0);
}

static int signal_thread_of_parent(void)
{
    return system_error_of(syscall(SYS_tgkill, getppid(), getppid(), 0) == 0);
}

static int signal_thread_by_its_id(void)
{
    return system_error_of(syscall(SYS_tkill, getppid(), 0) == 0);
}

static int queue_signal_of_parent(void)
{
    siginfo_t info = { .si_signo = SIGUSR1, .si_code = SI_QUEUE };

    return system_error_of(syscall(SYS_rt_sigqueueinfo, getppid(), 0, &info) == 0);
}

/* Types a character into the terminal of the process, as if the user did. */
static int type_into_terminal(void)
{
    setsid();
    ioctl(terminal, TIOCSCTTY, 0);
    return system_error_of(ioctl(terminal, TIOCSTI, "x") == 0);
}

static int make_shared_memory(void)
{
    return system_error_of(shmget(IPC_PRIVATE, 1, 0600) >= 0);
}

static int shorten_input(void)
{
    return system_error_of(truncate(input, 0) == 0);
}

static int listen_without_address(void)
{
    return system_error_of(listen(socket(AF_INET, SOCK_STREAM, 0), 1) == 0);
}

static int signal_itself(void)
{
    return system_error_of(signal(SIGUSR1, SIG_IGN) != SIG_ERR && raise(SIGUSR1) == 0);
}

static int change_mode(void)
{
    return system_error_of(chmod(input, 04755) == 0);
}

static int change_mode_of_open(void)
{
    return system_error_of(fchmod(open(input, O_RDONLY), 04755) == 0);
}

static int change_owner(void)
{
    return system_error_of(chown(input, (uid_t)-1, getegid()) == 0);
}

static int change_attribute(void)
{
    return system_error_of(setxattr(input, "user.camp", "1", 1, 0) == 0);
}

static int change_limit_of_parent(void)
{
    const struct rlimit limit = { 100, 100 };

    return system_error_of(prlimit(getppid(), RLIMIT_NOFILE, &limit, NULL) == 0);
}

static int read_own_limit(void)
{
    struct rlimit limit;

    return system_error_of(getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
                           prlimit(getpid(), RLIMIT_NOFILE, NULL, &limit) == 0);
}

static int make_udp_socket(void)
{
    return system_error_of(socket(AF_INET, SOCK_DGRAM, 0) >= 0);
}

static int make_raw_socket(void)
{
    return system_error_of(socket(AF_INET, SOCK_RAW, IPPROTO_UDP) >= 0);
}

static int make_packet_socket(void)
{
    return system_error_of(socket(AF_PACKET, SOCK_RAW, 0) >= 0);
}

static int make_sctp_socket(void)
{
    return system_error_of(socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP) >= 0);
}

static int make_unix_datagram_socket(void)
{
    return system_error_of(socket(AF_UNIX, SOCK_DGRAM, 0) >= 0);
}

static int read_names_and_processes(void)
{
    return system_error_of(open("/etc/passwd", O_RDONLY) >= 0 &&
                           open("/proc/1/stat", O_RDONLY) >= 0);
}

/* Returns 1 if the process has a capability that is not in `permitted`. */
static int has_other_than(uint64_t permitted)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    uint64_t held = 0;

    if (syscall(SYS_capget, &header, sets) != 0)
        return errno;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        held |= (uint64_t)(sets[i].permitted | sets[i].effective) << 32 * i;
    return (held & ~permitted) != 0;
}

#define TO_OPEN_FILES (UINT64_C(1) << CAP_DAC_OVERRIDE | UINT64_C(1) << CAP_DAC_READ_SEARCH)

static int has_sys_admin(void)
{
    return has_other_than(~(UINT64_C(1) << CAP_SYS_ADMIN));
}

static int has_other_capabilities(void)
{
    return has_other_than(TO_OPEN_FILES);
}

static int has_other_capabilities_than_servers(void)
{
    return has_other_than(TO_OPEN_FILES | UINT64_C(1) << CAP_NET_BIND_SERVICE |
                          UINT64_C(1) << CAP_SYS_PTRACE | UINT64_C(1) << CAP_NET_ADMIN |
                          UINT64_C(1) << CAP_BPF);
}

static int make_key(void)
{
    return system_error_of(syscall(SYS_keyctl, 0, 0, 0) >= 0);
}

static void *nothing(void *context)
{
    return context;
}

static int create_thread(void)
{
    pthread_t thread;

    errno = pthread_create(&thread, NULL, nothing, NULL);
    return errno != 0 ? errno : pthread_join(thread, NULL);
}

static void *execute_in_thread(void *result)
{
    *(int *)result = execute();
    return NULL;
}

static int create_thread_that_executes(void)
{
    pthread_t thread;
    int result = 0;

    errno = pthread_create(&thread, NULL, execute_in_thread, &result);
    return errno != 0 || pthread_join(thread, NULL) != 0 ? 0 : result;
}
