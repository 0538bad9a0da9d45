/* Parser: src/counters/linux/network.c */
/* Parses any bytes as the file /proc/net/dev and as one of its lines. */
#include "foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct camp_network networks[64];
    static struct camp_reader reader;
    static int opened = CAMP_E_GONE;
    char *bytes = foreign_line(data, size);
    struct camp_network network = { 0 };
    size_t count;

    foreign_file(data, size);
    if (opened != CAMP_OK)
        opened = camp_reader_open_networks(&reader, &foreign_source, NULL);
    if (camp_reader_networks(&reader, networks, sizeof *networks, 64, &count, NULL) == CAMP_OK)
        for (size_t i = 0; i < count; i++)
            if (networks[i].name[0] == '\0' ||
                memchr(networks[i].name, '\0', CAMP_NAME_SIZE) == NULL)
                abort();
    if (camp_network_line(cursor_of(bytes, size), &network) && network.name[0] == '\0')
        abort();
    free(bytes);
    if (camp_network_read(&foreign_source, "eth0", &network, sizeof network, NULL) == CAMP_OK &&
        strcmp(network.name, "eth0") != 0)
        abort();
    (void)camp_network_read_all(&foreign_source, networks, sizeof *networks, 64, &count, NULL);
    return 0;
}
