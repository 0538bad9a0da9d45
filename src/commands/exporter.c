/*
 * camp-exporter is camp export as a separate program, for services with capabilities. It is linked
 * to fewer libraries than camp, and needs less memory (docs/export.md).
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
