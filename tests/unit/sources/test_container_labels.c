/* Tests the labels of rows. The functions of cpu_quota.h and process_cgroup.h are replaced by those
 * below, so that the tests need no cgroups: the process N is in the cgroup cgroups[N]. */
#include "sources/containers/container_labels.h"
#include "sources/containers/containers.h"
#include "sources/containers/cpu_quota.h"
#include "sources/containers/process_cgroup.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOUR(x) x x x x
#define ID(byte) FOUR(FOUR(byte byte))
#define POD "/kubepods/pod8a9b0c1d-2e3f-4a5b-8c7d-9e0f1a2b3c4d"

static const char *const cgroups[] = { POD, POD "/" ID("d3"), "/init.scope" };
#define TASKS ((int)(sizeof cgroups / sizeof cgroups[0]))

void cpu_hierarchy_find(FILE *mounts, struct cpu_hierarchy *ret)
{
    (void)mounts;
    *ret = (struct cpu_hierarchy){ strdup("/none"), true };
}

void cpu_hierarchy_release(struct cpu_hierarchy *hierarchy)
{
    free(hierarchy->mount);
}

double cpu_quota(const struct cpu_hierarchy *hierarchy, const char *path, size_t length)
{
    (void)hierarchy, (void)path, (void)length;
    return -1;
}

bool process_cgroup_read(int32_t pid, struct process_cgroup *ret)
{
    *ret = (struct process_cgroup){ 0 };
    snprintf(ret->path, sizeof ret->path, "%s", cgroups[pid]);
    return true;
}

static const struct schema schema = { .name = "processes" };
static struct frame frame;

static const struct schema *describe(const struct source *source)
{
    (void)source;
    return &schema;
}

static int next(struct source *source, uint64_t deadline_ns, const struct frame **ret_frame,
                struct camp_error *error)
{
    (void)source, (void)deadline_ns, (void)error;
    frame_clear(&frame);
    for (int i = 0; i < TASKS; i++) {
        struct entity *entity = frame_add(&frame);

        assert_non_null(entity);
        entity->id = i;
    }
    *ret_frame = &frame;
    return CAMP_OK;
}

static void close_tasks(struct source *source)
{
    (void)source;
    frame_release(&frame);
}

static void a_pod_has_one_name_in_the_frame_in_which_it_is_first_seen(void **state)
{
    static struct source tasks = { .describe = describe, .next = next, .close = close_tasks };
    struct camp_error error = { 0 };
    const struct frame *labelled;
    struct source *source = NULL;
    char root[PATH_MAX];

    (void)state;
    snprintf(root, sizeof root, "%s/containers", getenv("CAMP_FIXTURES"));
    setenv("CAMP_ROOT", root, 1);
    frame_init(&frame, &schema);
    assert_int_equal(container_labels_open(&tasks, &source, &error), CAMP_OK);
    assert_int_equal(source->next(source, 0, &labelled, &error), CAMP_OK);
    assert_int_equal(labelled->entity_count, TASKS);
    assert_string_equal(labels_value(labelled->entities[1].labels, LABEL_POD), "shop/api-0");
    assert_string_equal(labels_value(labelled->entities[0].labels, LABEL_POD), "shop/api-0");
    assert_string_equal(labels_value(labelled->entities[2].labels, LABEL_POD), "(host)");
    source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_has_one_name_in_the_frame_in_which_it_is_first_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
