/*
 * camp-exporter: camp export as a program of its own, for who runs it all the time and with
 * capabilities. It is linked to 18 libraries instead of 103, and takes 5 MB less.
 */
#include "command.h"
#include "privilege.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int print_version(void)
{
    printf("camp-exporter %s\n", camp_version());
    return fflush(stdout) == 0 ? STATUS_OK : output_failed(errno);
}

int main(int argc, char **argv)
{
    privilege_settle();
    prepare_program();
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return print_version();
    command_name = "export";
    return command_export(argc, argv);
}
