#include "why_stack_rows.h"

#include "counters/units.h"
#include "ledger/words.h"
#include "views/percent.h"

#include <stdio.h>
#include <string.h>

#define KERNEL "_[k]"
#define FRAMES_SHOWN 3 /* of the thread */
#define FRAME_MOST 60  /* bytes of a frame in a table */

const struct field why_stack_fields[WHY_STACK_FIELDS] = {
    { "state", "state", "of the sleeps", -12 },
    { "frames", NULL,
      "of the thread, then those of the kernel with _[k], the outermost first; of all threads the "
      "first is the process; or 'no stack', or 'other stacks'" },
    { NULL, "%", "", 7, 2 },
    { "ms", "ms", "time asleep", 11, 3 },
    { "sleeps", "sleeps", "that have ended", 8 },
    { NULL, "stack (thread | kernel)", "", 0 },
};

/* Copies the first frame, and returns what is behind it. */
static const char *take(char *ret, size_t size, const char *stack)
{
    const char *end = strchr(stack, STACK_SEPARATOR);
    const size_t length = end != NULL ? (size_t)(end - stack) : strlen(stack);

    copy_text(ret, size, stack, length);
    return end != NULL ? end + 1 : stack + length;
}

/* Returns the start of the frame that ends before `end`. */
static const char *frame_before(const char *frames, const char *end)
{
    while (end > frames && end[-1] != STACK_SEPARATOR)
        end--;
    return end;
}

static bool is_of_kernel(const char *frame, const char *end)
{
    const size_t length = strlen(KERNEL);

    return (size_t)(end - frame) > length && memcmp(end - length, KERNEL, length) == 0;
}

static void append(char *ret, size_t size, const char *before, const char *frame, size_t length)
{
    const size_t at = strlen(ret);

    if (length > FRAME_MOST)
        length = FRAME_MOST;
    snprintf(ret + at, size - at, "%s%.*s", before, (int)length, frame);
}

/* Shows the last frames of the thread, and the last one of the kernel. */
static void show(char *ret, size_t size, const char *frames)
{
    const char *end = frames + strlen(frames), *last = frame_before(frames, end);
    const bool has_kernel = is_of_kernel(last, end);
    const char *kernel = last, *own_end = end, *first;
    const size_t kernel_length = (size_t)(end - last) - (has_kernel ? strlen(KERNEL) : 0);
    int shown = 0;

    while (own_end > frames && is_of_kernel(frame_before(frames, own_end), own_end)) {
        own_end = frame_before(frames, own_end);
        own_end -= own_end > frames ? 1 : 0;
    }
    first = own_end;
    while (first > frames && shown++ < FRAMES_SHOWN) {
        first = frame_before(frames, first);
        if (shown < FRAMES_SHOWN && first > frames)
            first--;
    }
    if (first > frames)
        append(ret, size, "", "... > ", 6);
    for (const char *at = first; at < own_end;) {
        const size_t length = strcspn(at, ";");

        append(ret, size, at > first ? " > " : "", at, length);
        at += length + 1;
    }
    if (has_kernel)
        append(ret, size, own_end > frames ? " | " : "| ", kernel, kernel_length);
}

void why_stack_split(struct why_stack_texts *ret, const char *stack, bool has_process)
{
    char process[96] = "";

    memset(ret, 0, sizeof *ret);
    if (has_process) {
        stack = take(process, sizeof process, stack);
        snprintf(ret->process, sizeof ret->process, "%s;", process);
        snprintf(ret->shown, sizeof ret->shown, "%s: ", process);
    }
    ret->frames = take(ret->state, sizeof ret->state, stack);
    show(ret->shown, sizeof ret->shown, ret->frames);
}

void why_stack_rows(struct document *document, size_t table, const struct why_interval *interval,
                    uint64_t total_ns)
{
    const struct stack_sums *stacks = interval->stacks;

    for (size_t i = 0; stacks != NULL && i < stacks->count; i++) {
        const struct stack_sum *sum = &stacks->items[i];
        struct why_stack_texts texts;

        if (interval->most != 0 && i >= interval->most)
            break;
        why_stack_split(&texts, sum->stack, interval->subject == WHY_ALL);
        DOCUMENT_ADD(document, table,
                     ((const struct cell[]){
                         cell_text(document_text(document, "%s", texts.state)),
                         cell_list(document_text(document, "%s%s", texts.process, texts.frames)),
                         cell_real(percent_of((double)sum->ns, total_ns)),
                         cell_real((double)sum->ns / NS_PER_MS),
                         cell_natural(sum->count),
                         cell_text(document_text(document, "%s", texts.shown)),
                     }));
    }
}
