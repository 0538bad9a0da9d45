/* The client library of PostgreSQL, loaded when it is needed (library.h). */
#pragma once

#include "library.h"

#include <libpq-fe.h>

/* clang-format off */
#define LIBPQ_SYMBOLS(F) \
    F(PQbackendPID) F(PQclear) F(PQconnectPoll) F(PQconnectStartParams) \
    F(PQconnectionNeedsPassword) F(PQconninfo) F(PQconninfoFree) F(PQconninfoParse) \
    F(PQconsumeInput) F(PQerrorMessage) F(PQfformat) F(PQfinish) F(PQflush) F(PQfname) F(PQftype) \
    F(PQgetResult) F(PQgetisnull) F(PQgetlength) F(PQgetvalue) F(PQisBusy) F(PQlibVersion) \
    F(PQnfields) F(PQntuples) F(PQpass) F(PQresultErrorField) F(PQresultStatus) F(PQsendPrepare) \
    F(PQsendQuery) F(PQsendQueryParams) F(PQsendQueryPrepared) F(PQserverVersion) \
    F(PQsetErrorVerbosity) F(PQsetNoticeReceiver) F(PQsetSingleRowMode) F(PQsetnonblocking) F(PQsocket) F(PQstatus)
/* clang-format on */

struct libpq {
    LIBPQ_SYMBOLS(LIBRARY_POINTER)
};
extern struct libpq libpq;
extern struct library libpq_library;
