/* Judges the sums of a time by the rules: what each rule found, ranked, and what cannot be known.
 */
#pragma once

#include "rule.h"

#define REASON_SIZE 512

enum verdict { VERDICT_QUIET, VERDICT_FIRES, VERDICT_UNKNOWN };

struct judgement {
    const struct rule *rule;
    enum verdict verdict;
    bool is_part;             /* the rows are some processes only (evidence.h) */
    bool is_of_sessions;      /* the rows are sessions */
    struct finding finding;   /* valid unless `verdict` is VERDICT_UNKNOWN */
    char reason[REASON_SIZE]; /* why it cannot be known, for VERDICT_UNKNOWN */
};

/* Applies one rule. `why` says why the rows lack columns, such as "tier schedstat: ..."; "" if
 * nothing is to be added. */
void judge(struct judgement *ret, const struct rule *rule, const struct evidence *evidence,
           const char *why);

/* Applies all rules: ret[rule_count]. Rules that fired come first, ranked by lost time; rules with
 * equal lost time are in the order of the table. Quiet rules follow, then the unknown ones. Returns
 * the number of rules that fired. */
size_t judge_all(struct judgement *ret, const struct evidence *evidence, const char *why);

/* Writes a figure with its unit, such as "250 ms", "25 %" or "1200". */
#define FIGURE_SIZE 32
void figure_text(char ret[FIGURE_SIZE], double value, enum figure_unit unit);

/* Writes a part of the time of a group of threads in `seconds`, as a rate and as a share of all of
 * their time: "500 ms a second, 50.0 % of its time". */
#define WAITED_SIZE 112
void waited_text(char ret[WAITED_SIZE], uint64_t time_ns, uint64_t total_ns, double seconds);

/* Writes the rule's sentence with the figures of the finding. */
#define SENTENCE_SIZE 1024
void sentence_text(char ret[SENTENCE_SIZE], const struct judgement *judgement);

/* Writes the command that shows more. `from` are the options that open the same source again, such
 * as " --from run.camp"; "" means threads of this machine. A command that is too long becomes "".
 */
#define COMMAND_SIZE 4096
void command_text(char ret[COMMAND_SIZE], const struct judgement *judgement,
                  enum evidence_kind kind, const char *from);

/* Writes the command of camp why that shows the cause of the finding, in the same intervals if
 * `from` opens a recording. "" if there is no cause, or its waiter is not one name or process. */
void cause_command_text(char ret[COMMAND_SIZE], const struct judgement *judgement,
                        const char *from);

/* Appends an argument to a command for a POSIX shell, after a blank, quoted where that is needed.
 * Returns false, and leaves the command as it is, if there is no space or if the argument cannot be
 * shown: it has an unprintable character, which views replace. */
bool shell_append(char *command, size_t size, const char *argument);
