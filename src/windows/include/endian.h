/* The byte order of Windows is that of the files. */
#pragma once

#define htole16(number) (number)
#define htole32(number) (number)
#define htole64(number) (number)
