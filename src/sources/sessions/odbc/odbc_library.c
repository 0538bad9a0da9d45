#include "odbc_library.h"

#include "counters/error.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const char library_name[] = "libodbc.so.2"; /* SQLLEN has its width of today since .so.2 */

#define FUNCTION(name)                                                                             \
    {                                                                                              \
        "SQL" #name, offsetof(struct odbc_library, name)                                           \
    }

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    FUNCTION(AllocHandle), FUNCTION(FreeHandle),    FUNCTION(SetEnvAttr),  FUNCTION(SetConnectAttr),
    FUNCTION(SetStmtAttr), FUNCTION(DriverConnect), FUNCTION(Disconnect),  FUNCTION(Prepare),
    FUNCTION(Execute),     FUNCTION(NumResultCols), FUNCTION(DescribeCol), FUNCTION(Fetch),
    FUNCTION(GetData),     FUNCTION(FreeStmt),      FUNCTION(GetDiagRec),
};

int odbc_library_load(const struct odbc_library **ret, struct camp_error *error)
{
    static struct odbc_library library;
    static bool is_loaded;
    void *handle;

    if (is_loaded) {
        *ret = &library;
        return CAMP_OK;
    }
    handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return camp_fail(error, CAMP_E_NOTSUP, 0,
                         "odbc: unixODBC is not installed: install libodbc2 and the ODBC driver of "
                         "the database (%s)",
                         dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(handle, functions[i].name);

        if (function == NULL) {
            dlclose(handle);
            return camp_fail(error, CAMP_E_NOTSUP, 0, "odbc: %s has no %s: is it unixODBC?",
                             library_name, functions[i].name);
        }
        memcpy((char *)&library + functions[i].offset, &function, sizeof function);
    }
    is_loaded = true;
    *ret = &library;
    return CAMP_OK;
}
