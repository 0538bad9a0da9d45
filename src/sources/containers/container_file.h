/*
 * Reads the names of a container from the text of a file that its runtime wrote. Of the text, only
 * these values are used:
 *
 *     Docker           config.v2.json: Name, and of Config.Labels those of Kubernetes and Compose
 *     OCI              config.json (containerd, CRI-O, nerdctl): annotations
 *     containers/storage  containers.json (Podman): names of the object with the container's id
 *     Docker's daemon  daemon.json: data-root, the folder of Docker, as a name
 *
 * The text is foreign: labels and annotations are from the author of a container. Its length and
 * its nesting are limited.
 */
#pragma once

#include <camp/camp.h>

#include <stdbool.h>
#include <stddef.h>

/* A longer file is refused. */
#define CONTAINER_FILE_MOST ((size_t)4 * 1024 * 1024)

enum container_file {
    CONTAINER_FILE_DOCKER,
    CONTAINER_FILE_OCI,
    CONTAINER_FILE_STORAGE,
    CONTAINER_FILE_DAEMON
};

/* A name has at most 253 bytes in Kubernetes; a longer text is cut. Each is "" if it is unknown. */
#define CONTAINER_NAME_SIZE 256

struct container_names {
    char name[CONTAINER_NAME_SIZE];                            /* by its runtime, such as "web" */
    char in_pod[CONTAINER_NAME_SIZE];                          /* of the container within its pod */
    char pod[CONTAINER_NAME_SIZE], space[CONTAINER_NAME_SIZE]; /* pod and namespace */
    char project[CONTAINER_NAME_SIZE];                         /* of Docker Compose */
    bool is_sandbox; /* the container that holds the namespaces of a pod */
};

/* Fills *ret from text[length]. `id` is the id of the container; only CONTAINER_FILE_STORAGE needs
 * it, whose file is about many containers. Returns CAMP_OK, CAMP_E_GONE if the text does not name
 * the container, CAMP_E_FORMAT if it is not such a file, or CAMP_E_NOMEM. */
int container_file_parse(enum container_file kind, const char *text, size_t length, const char *id,
                         struct container_names *ret);
