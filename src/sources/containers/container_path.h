/*
 * Recognises containers, pods and units of systemd in the path of a cgroup. The path alone is
 * read: no file, no service. Known are the forms of cgroups of version 1 and 2, of the drivers
 * "systemd" and "cgroupfs" of Docker, Podman, containerd (Kubernetes, k3s, RKE2, nerdctl), CRI-O,
 * LXC, systemd-nspawn and virtual machines of systemd-machined.
 *
 * Any user with an own part of the tree can name a cgroup as a runtime would. So `user`,
 * `outer_length` and `pod_in_container` say in whose part the cgroup is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTAINER_ID_SIZE 65 /* 64 hexadecimal digits */
#define CONTAINER_TEXT_SIZE 128
#define CONTAINER_NO_USER UINT32_MAX

enum container_runtime {
    RUNTIME_NONE,    /* not in a container */
    RUNTIME_UNKNOWN, /* an id of 64 digits in a place that several runtimes use */
    RUNTIME_DOCKER,
    RUNTIME_PODMAN,
    RUNTIME_CONTAINERD,
    RUNTIME_CRIO,
    RUNTIME_LXC,
    RUNTIME_MACHINE, /* systemd-machined: systemd-nspawn, and virtual machines of libvirt */
    RUNTIME_COUNT
};

/* Returns the word for a runtime, such as "docker"; "container" for RUNTIME_UNKNOWN. */
const char *container_runtime_name(enum container_runtime runtime);

struct container_path {
    enum container_runtime runtime; /* of the innermost container */
    /* Of the innermost container: its id of 64 digits; of LXC and machines their name. */
    char id[CONTAINER_TEXT_SIZE];
    /* The uid of the pod in Kubernetes, with hyphens, or the id of a pod of Podman; "" if the
     * cgroup is in no pod. */
    char pod[CONTAINER_ID_SIZE];
    /* The nearest unit of systemd, without escapes, such as "ssh.service": a service or scope, or
     * a slice if there is none of them. Before it is the manager of a user ("user@1000.service/").
     * "" if the cgroup is in no unit. An id of 64 digits in it is cut to 12. */
    char unit[CONTAINER_TEXT_SIZE];
    /* The pod is within a container, whose processes can give it the uid of any other. */
    bool pod_in_container;
    /* The user in whose part of the tree ("user-1000.slice") the innermost container or the pod
     * is, or CONTAINER_NO_USER. */
    uint32_t user;
    /* Lengths of the parts of the path that are the cgroups of the innermost container, the
     * container around it, the pod and the unit; 0 if there is none. */
    size_t container_length, outer_length, pod_length, unit_length;
};

/* Fills *ret. `path` may contain any bytes. */
void container_path_parse(const char *path, struct container_path *ret);
