/* Trees of /proc and /sys for the tests of system counters: stored trees, and trees that a single
 * test makes in a temporary folder. */
#pragma once

#include <camp/camp.h>

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* In a tree that a test makes, the folder is both /proc and /sys, and contains only this file. */
struct tree {
    char folder[PATH_MAX];
    char sys[PATH_MAX + 8];
    char file[PATH_MAX + NAME_MAX + 8];
    struct camp_source source;
};

static inline struct tree stored_tree(const char *name)
{
    struct tree tree;
    const char *fixtures = getenv("CAMP_FIXTURES");

    if (fixtures == NULL)
        fail_msg("CAMP_FIXTURES is not set: run the tests by make test");
    snprintf(tree.folder, sizeof tree.folder, "%s/system/%s/proc", fixtures, name);
    snprintf(tree.sys, sizeof tree.sys, "%s/system/%s/sys", fixtures, name);
    return tree;
}

static inline const struct camp_source *source_of(struct tree *tree)
{
    tree->source = (struct camp_source){ .proc = tree->folder, .sys = tree->sys };
    return &tree->source;
}

/* Makes a tree with one file. Its `name` may have one folder in it ("net/dev"). */
static inline struct tree made_tree(const char *name, const void *bytes, size_t length)
{
    struct tree tree;
    const char *slash = strchr(name, '/');
    FILE *file;

    snprintf(tree.folder, sizeof tree.folder, "/tmp/camp-tree-XXXXXX");
    assert_non_null(mkdtemp(tree.folder));
    snprintf(tree.sys, sizeof tree.sys, "%s/none", tree.folder);
    if (slash != NULL) {
        snprintf(tree.file, sizeof tree.file, "%s/%.*s", tree.folder, (int)(slash - name), name);
        assert_int_equal(mkdir(tree.file, 0700), 0);
    }
    snprintf(tree.file, sizeof tree.file, "%s/%s", tree.folder, name);
    file = fopen(tree.file, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return tree;
}

static inline struct tree text_tree(const char *name, const char *text)
{
    return made_tree(name, text, strlen(text));
}

static inline void remove_tree(struct tree *tree)
{
    char *slash;

    unlink(tree->file);
    for (slash = strrchr(tree->file, '/'); strlen(tree->folder) < strlen(tree->file);
         slash = strrchr(tree->file, '/')) {
        *slash = '\0';
        rmdir(tree->file);
    }
}
