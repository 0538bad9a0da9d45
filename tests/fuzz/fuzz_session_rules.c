/* Parser: src/ledger/session_rules.c */
/* Parser: src/ledger/rule_text.c */
/* Parses any bytes as rules for database sessions, and applies the rules to a session. */
#include "ledger/session_rules.h"
#include "moderate.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct session_kind kind = { { "Lock", "tuple", "active", "client_backend" } };
    struct session_rules rules;
    struct rule_fault fault;
    size_t column;
    char *text;
    int r;

    if (!is_moderate(data, size))
        return 0;
    /* The buffer has no spare bytes, so that a sanitizer detects reads past its end. */
    text = malloc(size > 0 ? size : 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    r = session_rules_parse(&rules, text, size, &fault);
    if (r == CAMP_E_FORMAT && fault.message[0] == '\0')
        abort();
    if (r != CAMP_OK && (rules.count != 0 || rules.column_count != 0))
        abort();
    column = session_rules_match(&rules, &kind);
    if (column != SIZE_MAX && column >= rules.column_count)
        abort();
    session_rules_release(&rules);
    free(text);
    return 0;
}
