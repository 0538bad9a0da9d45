/*
 * camp doctor shows what this kernel counts, and how. It also shows the kernel's events for
 * microstates, the rights of this process and what each permits, the measurement tier of
 * `camp check`, and what would make a better tier available.
 *
 * This file has the options and the tables. Each system has a file of its own that fills them:
 * doctor_linux.c, or src/windows/doctor.c.
 */
#include "doctor.h"

#include "program/command.h"
#include "views/view.h"

static const struct field fact_fields[] = {
    { "name", "fact", "what is asked of the kernel", -18, 0 },
    { "value", "value", "its answer; null: not known", -9, 0 },
    { "meaning", "what it means", "what that means for the numbers", 0, 0 },
    { "how", NULL, "where the answer comes from", 0, 0 },
};

static const struct field capability_fields[] = {
    { "name", "capability", "as in capabilities(7); of Windows, a right", -20, 0 },
    { "held", "held", "whether this process has it (effective); null: not known", -5, 0 },
    { "gives", "what it gives", "what camp can do with it", 0, 0 },
};

static const struct field tier_fields[] = {
    { "name", "tier", "how camp check reads processes", -10, 0 },
    { "available", "can run", "whether it can run here and now", -8, 0 },
    { "used", "is used", "whether camp check uses it by default", -8, 0 },
    { "sees", "what it sees", "what it reads", 0, 0 },
    { "lacks", NULL, "what it cannot see; null: nothing", 0, 0 },
};

static const struct field event_fields[] = {
    { "name", "event", "of the kernel, which microstates are measured by", -26, 0 },
    { "present", "there", "whether this kernel has it, by its BTF or tried; null: not known", -5,
      0 },
    { "needed", "must", "true: no microstates without it", -4, 0 },
    { "since", "Linux", "the first that has it; x86: only there", -6, 0 },
    { "without", "without it", "what is missing then", 0, 0 },
};

static const struct field imitation_fields[] = {
    { "counter", "counter", "as camp get takes it", 0, 0 },
    { "reports", "what is imitated", "what the system that imitates this one has", 0, 0 },
    { "shown", "what camp shows", "what camp shows for it", 0, 0 },
};

static const struct field summary_fields[] = {
    { "release", NULL, "of the kernel", 0, 0 },
    { "machine", NULL, "of the kernel: x86_64, aarch64, s390x", 0, 0 },
    { "tier", NULL, "that camp check runs on now", 0, 0 },
    { "taskstats_version", NULL, "of the kernel's struct; null: no answer", 0, 0 },
    { "change", NULL, "what would give a better tier; null: there is none", 0, 0 },
    { "microstates", NULL, "whether they can be measured here and now", 0, 0 },
    { "microstates_refusal", NULL, "why not; null: they can", 0, 0 },
};

static const struct table tables[TABLE_COUNT] = {
    [FACTS] = DOCUMENT_ROWS("facts", fact_fields),
    [EVENTS] = DOCUMENT_ROWS("events", event_fields),
    [CAPABILITIES] = DOCUMENT_ROWS("capabilities", capability_fields),
    [TIERS] = DOCUMENT_ROWS("tiers", tier_fields),
    [IMITATION] = DOCUMENT_ROWS("imitation", imitation_fields),
    [SUMMARY] = DOCUMENT_ONE("summary", TABLE_INLINE, summary_fields),
};

static const struct record layout = DOCUMENT_LAYOUT("camp.doctor/1", tables, FACTS);

static const char *const table_names[] = { "facts", "events",    "capabilities",
                                           "tiers", "imitation", NULL };

struct cell doctor_yes_or_no(const struct doctor *doctor, bool yes)
{
    return doctor->words ? cell_text(yes ? "yes" : "no") : cell_boolean(yes);
}

/* The texts of a system are in structs that end before the document is shown. */
static struct cell copied(struct doctor *doctor, const char *text)
{
    return cell_text(text != NULL ? document_text(&doctor->document, "%s", text) : NULL);
}

void doctor_add_fact(struct doctor *doctor, const char *name, struct cell value,
                     const char *meaning, const char *how)
{
    const struct cell cells[] = {
        cell_text(name),
        value.kind == CELL_TEXT ? emphasised(copied(doctor, value.text), value.emphasis) : value,
        cell_text(meaning),
        cell_text(how),
    };

    DOCUMENT_ADD(&doctor->document, FACTS, cells);
}

void doctor_add_right(struct doctor *doctor, const char *name, bool is_known, bool held,
                      const char *gives)
{
    const struct cell cells[] = {
        cell_text(name),
        is_known ? emphasised(doctor_yes_or_no(doctor, held), held ? GOOD : FAINT) : cell_unknown(),
        cell_text(gives),
    };

    DOCUMENT_ADD(&doctor->document, CAPABILITIES, cells);
}

void doctor_add_tier(struct doctor *doctor, const struct doctor_tier *tier)
{
    const struct cell cells[] = {
        cell_text(tier->name),
        doctor_yes_or_no(doctor, tier->is_available),
        emphasised(doctor_yes_or_no(doctor, tier->is_used), tier->is_used ? GOOD : FAINT),
        cell_text(tier->sees),
        cell_text(tier->lacks),
    };

    DOCUMENT_ADD(&doctor->document, TIERS, cells);
}

void doctor_add_summary(struct doctor *doctor, const struct doctor_summary *summary)
{
    const struct cell cells[] = {
        copied(doctor, summary->kernel->release),
        copied(doctor, summary->kernel->machine),
        cell_text(summary->tier),
        summary->taskstats_version != 0 ? cell_natural(summary->taskstats_version) : cell_unknown(),
        copied(doctor, summary->change),
        cell_boolean(summary->microstates_refusal == NULL),
        copied(doctor, summary->microstates_refusal),
    };

    DOCUMENT_ADD(&doctor->document, SUMMARY, cells);
}

int command_doctor(int argc, char **argv)
{
    enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };
    static const char *const formats[] = { "text", "json", "csv", NULL };
    int format = 0, table = -1, first;
    const struct option_spec specs[] = {
        COMMON_OPTION(COMMON_FORMAT, &format, .choices = formats),
        COLOR_OPTION,
        COMMON_OPTION(
            COMMON_TABLE, &table,
            .help = "The table that csv writes: facts, events, capabilities, tiers or imitation.",
            .choices = table_names),
    };
    const struct option_table options = {
        "camp doctor [OPTIONS]",
        "What this kernel counts and how, which events it has for microstates and whether\n"
        "they can be measured, which capabilities are held and what each would give,\n"
        "which tier camp check runs on, and what would change it.",
        specs, ARRAY_COUNT(specs)
    };
    struct view_options output;
    struct doctor doctor = { 0 };
    struct camp_error error;
    int status = options_parse(&options, argc, argv, &first);
    int result;

    if (status != OPTIONS_GO_ON)
        return status;
    /* view_options_of() must be called after options_parse(), which handles --color. */
    output = view_options_of(stdout);
    output.table = table_names[table >= 0 ? table : FACTS];
    doctor.words = format == FORMAT_TEXT;
    document_start(&doctor.document, &layout);
    result = doctor_fill(&doctor, &error);
    if (result < 0) {
        document_release(&doctor.document);
        return complain_of(result, &error);
    }
    status = show_document(&doctor.document, view_by_name(formats[format]), &output, 0);
    document_release(&doctor.document);
    return status == OPTIONS_GO_ON ? STATUS_OK : status;
}
