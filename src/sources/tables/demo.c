#include "demo.h"

#include "counters/error.h"
#include "data_folder.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "/demo/sessions.csv"
#define BESIDE_PROGRAM "/../share/camp" FILE_NAME

static bool path_beside_program(char ret[DEMO_PATH_SIZE])
{
    char *name;

    if (!program_path(ret, PROGRAM_PATH_SIZE))
        return false;
    name = strrchr(ret, '/');
    if (name == NULL)
        return false;
    snprintf(name, sizeof BESIDE_PROGRAM, "%s", BESIDE_PROGRAM);
    return true;
}

int demo_find(char ret[DEMO_PATH_SIZE], struct camp_error *error)
{
    if (path_beside_program(ret) && access(ret, R_OK) == 0)
        return CAMP_OK;
    snprintf(ret, DEMO_PATH_SIZE, "%s%s", DATA_FOLDER, FILE_NAME);
    if (access(ret, R_OK) == 0)
        return CAMP_OK;
    return camp_fail(error, CAMP_E_GONE, 0,
                     "the sample data is not installed: it is neither in ../share/camp beside the "
                     "folder of camp nor at %s",
                     ret);
}
