/* What `camp explain` shows, as records of the schemas "camp.explain/1" and "camp.rules/1". */
#pragma once

#include "explain/judge.h"
#include "views/document.h"

struct explain_facts {
    const char *time; /* of the end of the time that is explained */
    const char *source, *tier;
    const char *kind; /* the plural noun of the rows */
    enum evidence_kind evidence;
    const char *from; /* the options that open the same source again, or "" */
    size_t width;     /* of the text */
    size_t most;      /* the most findings that are shown; 0: all */
};

/* Fills the record with judgements[rule_count], which judge_all() has ranked. Returns CAMP_OK or
 * CAMP_E_NOMEM. The caller releases *ret with document_release(). */
int explain_record_fill(struct document *ret, const struct explain_facts *facts,
                        const struct evidence *evidence, const struct judgement *judgements);

/* Fills the record with the table of rules. Returns CAMP_OK or CAMP_E_NOMEM. */
int explain_rules_fill(struct document *ret);
