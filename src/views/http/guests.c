#include "guests.h"

#include <stdlib.h>
#include <sys/socket.h>

void guests_init(struct guests *guests)
{
    TAILQ_INIT(&guests->list);
    guests->count = 0;
}

static void unlink_guest(struct guests *guests, struct guest *guest)
{
    if (!guest->is_listed)
        return;
    TAILQ_REMOVE(&guests->list, guest, link);
    guests->count--;
    guest->is_listed = false;
}

struct guest *guests_enter(struct guests *guests, int socket)
{
    struct guest *guest = calloc(1, sizeof *guest);

    if (guest == NULL)
        return NULL;
    if (guests->count == GUESTS_MAXIMUM) {
        struct guest *oldest = TAILQ_FIRST(&guests->list);

        /* The library notices the end, and closes it. */
        shutdown(oldest->socket, SHUT_RDWR);
        unlink_guest(guests, oldest);
    }
    guest->socket = socket;
    guest->is_listed = true;
    TAILQ_INSERT_TAIL(&guests->list, guest, link);
    guests->count++;
    return guest;
}

void guests_promote(struct guests *guests, struct guest *guest)
{
    unlink_guest(guests, guest);
}

void guests_leave(struct guests *guests, struct guest *guest)
{
    if (guest != NULL)
        unlink_guest(guests, guest);
    free(guest);
}

void guests_note(struct guests *guests, struct MHD_Connection *connection, struct guest **guest,
                 enum MHD_ConnectionNotificationCode code)
{
    const union MHD_ConnectionInfo *info =
        libmicrohttpd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *guest = guests_enter(guests, info->connect_fd);
    } else {
        guests_leave(guests, *guest);
        *guest = NULL;
    }
}
