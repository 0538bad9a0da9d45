/*
 * The sample data that comes with camp (--from demo): share/camp/demo/sessions.csv, with 60
 * sessions of a database in 120 intervals of one second. The data is synthetic, and is written by
 * tests/fixtures/table/make.py --demo. The times of the sessions "miss" and "over" do not add up,
 * on purpose.
 */
#pragma once

#include "sources/program_path.h"

#include <camp/camp.h>

#define DEMO_NAME "demo"
#define DEMO_PATH_SIZE (2 * PROGRAM_PATH_SIZE)
#define DEMO_NOTE                                                                                  \
    "Sample data: 60 synthetic sessions of a database. Sessions miss1 to miss3 leave 150 ms of "   \
    "each second out, over1 accounts 120 ms twice"

/* Finds the path of the file. Searches first relative to the folder of the running program, so that
 * a program in a build folder, or in an installed tree that was moved, finds its own file. Then
 * searches the data folder of the build's configuration. Returns CAMP_E_GONE if there is no file;
 * the message names both folders. */
int demo_find(char ret[DEMO_PATH_SIZE], struct camp_error *error);
