#include "rights.h"

#include "windows.h"

#define MOST_PRIVILEGES 64 /* Windows has 36 */

static bool open_token(DWORD access, HANDLE *ret)
{
    return OpenProcessToken(GetCurrentProcess(), access, ret) != 0;
}

bool right_is_administrator(void)
{
    TOKEN_ELEVATION elevation = { 0 };
    DWORD size;
    HANDLE token;
    bool is_elevated;

    if (!open_token(TOKEN_QUERY, &token))
        return false;
    is_elevated =
        GetTokenInformation(token, TokenElevation, &elevation, sizeof elevation, &size) != 0 &&
        elevation.TokenIsElevated != 0;
    CloseHandle(token);
    return is_elevated;
}

bool right_is_held(void)
{
    _Alignas(TOKEN_PRIVILEGES) char
        bytes[sizeof(TOKEN_PRIVILEGES) + MOST_PRIVILEGES * sizeof(LUID_AND_ATTRIBUTES)];
    TOKEN_PRIVILEGES *all = (TOKEN_PRIVILEGES *)bytes;
    bool is_held = false;
    HANDLE token;
    DWORD size;
    LUID wanted;

    if (!LookupPrivilegeValueW(NULL, L"SeDebugPrivilege", &wanted) ||
        !open_token(TOKEN_QUERY, &token))
        return false;
    if (!GetTokenInformation(token, TokenPrivileges, all, sizeof bytes, &size))
        all->PrivilegeCount = 0;
    for (DWORD i = 0; i < all->PrivilegeCount; i++) {
        const LUID_AND_ATTRIBUTES *one = &all->Privileges[i];

        is_held |= one->Luid.LowPart == wanted.LowPart && one->Luid.HighPart == wanted.HighPart;
    }
    CloseHandle(token);
    return is_held;
}

/* Does nothing if the user does not have the privilege. */
static void adjust(DWORD attributes)
{
    TOKEN_PRIVILEGES change = { .PrivilegeCount = 1 };
    HANDLE token;

    change.Privileges[0].Attributes = attributes;
    if (!LookupPrivilegeValueW(NULL, L"SeDebugPrivilege", &change.Privileges[0].Luid) ||
        !open_token(TOKEN_ADJUST_PRIVILEGES, &token))
        return;
    AdjustTokenPrivileges(token, FALSE, &change, 0, NULL, NULL);
    CloseHandle(token);
}

void right_enable(void)
{
    adjust(SE_PRIVILEGE_ENABLED);
}

void right_give_up(void)
{
    adjust(SE_PRIVILEGE_REMOVED);
}
