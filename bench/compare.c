#include "compare.h"

#include <stdlib.h>
#include <time.h>

#define ROUNDS_MAX 4096
#define BLOCK_NS 60000u
#define REPETITIONS_MAX 100000u

struct contest {
    size_t count;
    size_t repetitions[PARTICIPANTS_MAX]; /* 0 if the participant failed */
    double ns[PARTICIPANTS_MAX][ROUNDS_MAX];
};

uint64_t thread_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

double median(double *values, size_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, ascending);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Returns the CPU time of a block, or 0 if a call failed. */
static uint64_t block_ns(const struct participant *participant, size_t repetitions)
{
    uint64_t before;

    if (participant->remote)
        return psutil_block_ns(participant->remote, repetitions);
    before = thread_ns();
    for (size_t i = 0; i < repetitions; i++) {
        if (participant->call() != 0)
            return 0;
    }
    return thread_ns() - before;
}

/* Returns the number of calls that fill a block, or 0 if a call failed. */
static size_t calibrate(const struct participant *participant)
{
    size_t repetitions = 1;
    uint64_t ns = block_ns(participant, 1); /* the first call fills the caches */

    while (ns != 0 && repetitions < REPETITIONS_MAX) {
        ns = block_ns(participant, repetitions);
        if (ns >= BLOCK_NS)
            break;
        repetitions *= 2;
    }
    return ns == 0 ? 0 : repetitions;
}

static void run_rounds(const struct comparison *comparison, struct contest *contest, size_t rounds)
{
    for (size_t round = 0; round < rounds; round++) {
        for (size_t k = 0; k < contest->count; k++) {
            size_t i = round % 2 ? contest->count - 1 - k : k;
            uint64_t ns;

            if (contest->repetitions[i] == 0)
                continue;
            ns = block_ns(&comparison->participants[i], contest->repetitions[i]);
            if (ns == 0)
                contest->repetitions[i] = 0;
            contest->ns[i][round] =
                (double)ns / (double)contest->repetitions[i] / (double)comparison->units;
        }
    }
}

static double quantile(const double *sorted, size_t count, double q)
{
    return sorted[(size_t)((double)(count - 1) * q + 0.5)];
}

/* Prints statistics of the time of camp divided by the time of participant i. */
static void print_ratio(const struct contest *contest, size_t i, size_t rounds, FILE *output)
{
    double ratios[ROUNDS_MAX];

    for (size_t round = 0; round < rounds; round++)
        ratios[round] = contest->ns[0][round] / contest->ns[i][round];
    fprintf(output, ", \"ratio\": %.4f", median(ratios, rounds));
    fprintf(output, ", \"ratio_p5\": %.4f, \"ratio_p95\": %.4f", quantile(ratios, rounds, 0.05),
            quantile(ratios, rounds, 0.95));
    fprintf(output, ", \"ratio_min\": %.4f, \"ratio_max\": %.4f", ratios[0], ratios[rounds - 1]);
}

static void print_participants(const struct comparison *comparison, struct contest *contest,
                               size_t rounds, FILE *output)
{
    for (size_t i = 1; i < contest->count; i++) {
        const struct participant *participant = &comparison->participants[i];

        fprintf(output, "%s{\"who\": \"%s\", \"what\": \"%s\"", i == 1 ? "" : ", ",
                participant->who, participant->what);
        if (contest->repetitions[i] == 0) {
            fprintf(output, ", \"failed\": true}");
            continue;
        }
        if (contest->repetitions[0] != 0)
            print_ratio(contest, i, rounds, output);
        fprintf(output, ", \"us\": %.4f}", median(contest->ns[i], rounds) / 1e3);
    }
}

int compare(const struct comparison *comparison, size_t rounds, FILE *output)
{
    static const char *const targets[] = { "none", "ratio", "us" };
    static struct contest contest;

    if (rounds > ROUNDS_MAX)
        rounds = ROUNDS_MAX;
    contest.count = 0;
    while (contest.count < PARTICIPANTS_MAX && comparison->participants[contest.count].who)
        contest.count++;
    for (size_t i = 0; i < contest.count; i++)
        contest.repetitions[i] = calibrate(&comparison->participants[i]);
    run_rounds(comparison, &contest, rounds);
    fprintf(output, "{\"part\": \"call\", \"name\": \"%s\", \"title\": \"%s\"", comparison->name,
            comparison->title);
    fprintf(output, ", \"target\": \"%s\", \"limit\": %.3f, \"against\": [",
            targets[comparison->target], comparison->limit);
    /* The ratios are printed first, because median() sorts the times of camp. */
    print_participants(comparison, &contest, rounds, output);
    fprintf(output, "]");
    if (contest.repetitions[0] != 0)
        fprintf(output, ", \"us\": %.4f}\n", median(contest.ns[0], rounds) / 1e3);
    else
        fprintf(output, ", \"failed\": true}\n");
    fflush(output);
    return contest.repetitions[0] != 0 && contest.repetitions[1] != 0 ? 0 : -1;
}
