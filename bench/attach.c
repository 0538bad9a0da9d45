/*
 * Attaches BPF programs to the kernel until standard input ends.
 *
 *   attach floor EVENT...          empty programs at these events (floor.bpf.c)
 *   attach states [no-syscalls | causes | stacks NS]   the programs of a session of microstates;
 *                                  with the stacks of sleeps of at least NS ns, and causes
 *   attach switches                the ring of switches of camp record --when
 */
#include "floor.skel.h"
#include "microstates/switches.h"

#include <camp/states.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void wait_for_end(void)
{
    char byte;

    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
}

static int is_named(const char *name, char **names)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static int attach_floor(char **events)
{
    struct floor_bpf *floor = floor_bpf__open();
    struct bpf_program *program;
    int r;

    if (floor == NULL)
        return 1;
    bpf_object__for_each_program(program, floor->obj)
    {
        bpf_program__set_autoload(program, is_named(bpf_program__name(program), events));
    }
    r = floor_bpf__load(floor);
    if (r == 0)
        r = floor_bpf__attach(floor);
    if (r == 0)
        wait_for_end();
    floor_bpf__destroy(floor);
    return r == 0 ? 0 : 1;
}

static int attach_states(uint32_t options, const char *stacks_from)
{
    struct camp_states *session;
    struct camp_error error = { 0 };

    if (camp_states_open(&session, options, &error) != CAMP_OK) {
        fprintf(stderr, "attach: %s\n", error.message);
        return 1;
    }
    if (stacks_from != NULL &&
        camp_states_stacks_from(session, strtoull(stacks_from, NULL, 10), 0, &error) != CAMP_OK)
        fprintf(stderr, "attach: %s\n", error.message);
    wait_for_end();
    camp_states_close(session);
    return 0;
}

static int attach_switches(void)
{
    struct switches *switches;
    struct camp_error error = { 0 };

    if (switches_open(&switches, 16000000, &error) != CAMP_OK) {
        fprintf(stderr, "attach: %s\n", error.message);
        return 1;
    }
    wait_for_end();
    switches_close(switches);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "floor") == 0)
        return attach_floor(argv + 2);
    if (argc > 1 && strcmp(argv[1], "states") == 0)
        return attach_states(argc > 3                   ? CAMP_STATES_CULPRITS | CAMP_STATES_STACKS
                             : is_named("causes", argv) ? CAMP_STATES_CULPRITS
                             : is_named("no-syscalls", argv) ? CAMP_STATES_NO_SYSCALLS
                                                             : 0,
                             argc > 3 ? argv[3] : NULL);
    if (argc > 1 && strcmp(argv[1], "switches") == 0)
        return attach_switches();
    fprintf(stderr, "attach: what? floor EVENT..., states [no-syscalls | causes | stacks NS], "
                    "switches\n");
    return 2;
}
