/* The network adapters of this machine. Include it before any other header of sockets. */
#pragma once

#undef gethostname /* declared by winsock2.h */
#include <winsock2.h>
#include <ws2tcpip.h>

#include <iphlpapi.h>

/* Returns the list of GetAdaptersAddresses(), which the caller must free(), or NULL after a
 * failure. */
IP_ADAPTER_ADDRESSES *adapters_read(void);
