/*
 * camp-exporter: camp export as a program of its own, for services with capabilities. It is linked
 * to 18 libraries instead of 103, and takes 5 MB less.
 */
#include "program/command.h"
#include "program/privilege.h"

int main(int argc, char **argv)
{
    privilege_drop();
    prepare_program();
    program_name = "camp-exporter";
    command_name = "export";
    return command_export(argc, argv);
}
