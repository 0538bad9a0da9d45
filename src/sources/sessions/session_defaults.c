#include "session.h"

/* The build makes the included files from rules/NAME.rules, with one string literal per line. */
const char session_rules_mariadb[] =
#include "mariadb_rules.h"
    ;

const char session_rules_oracle[] =
#include "oracle_rules.h"
    ;

const char session_rules_postgres[] =
#include "postgres_rules.h"
    ;
