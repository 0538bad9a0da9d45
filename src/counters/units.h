#pragma once

#define NS_PER_S 1000000000u
#define NS_PER_MS 1000000u
#define NS_PER_US 1000u
#define BYTES_PER_KIB 1024u
#define BYTES_PER_SECTOR 512u /* the kernel counts the data of all disks in this unit */
