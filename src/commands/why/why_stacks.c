#include "why_stacks.h"

#include "ledger/array.h"
#include "sources/causes/cause_names.h"

#include <stdlib.h>
#include <string.h>

#define STACK_TEXT_SIZE 65536 /* of 254 frames with names of at most 250 bytes */
#define ALL_MOST 100000u      /* stacks of all intervals: some 50 MB; later ones are other stacks */
#define OTHER_STACKS "other stacks"
#define NO_STACK "no stack"

static bool make_symbols(struct why_stacks *stacks)
{
    if (stacks->symbols == NULL)
        stacks->symbols = symbols_make(NULL);
    return stacks->symbols != NULL;
}

bool why_stacks_watch(struct why_stacks *stacks, int32_t pid)
{
    if (!make_symbols(stacks))
        return false;
    symbols_watch(stacks->symbols, pid);
    return true;
}

static bool is_of(const struct slept_stack *stack, uint32_t subject)
{
    return subject == WHY_ALL || stack->group == subject;
}

/* Adds the addresses of a stack to the symbols, and sets frames[] to their frames. */
static bool add_frames(struct symbols *symbols, const struct stack_list *list,
                       const struct slept_stack *stack, uint32_t *frames)
{
    for (uint32_t i = 0; i < stack->kernel_count + stack->user_count; i++) {
        const bool is_user = i >= stack->kernel_count;

        /* Only the first address of a thread is not that after a call. */
        if (!symbols_add(symbols, is_user ? stack->pid : 0, list->addresses[stack->first + i],
                         i != stack->kernel_count || !is_user, &frames[stack->first + i]))
            return false;
    }
    return true;
}

/* Appends the frames of one part of a stack. Of successive
 * frames with the same name in brackets, such as "[unknown]", one is enough. */
static void append_part(char *text, const struct symbols *symbols, const uint32_t *frames,
                        uint32_t count)
{
    const char *before = "";

    for (uint32_t i = count; i > 0; i--) {
        const char *name = symbols_name(symbols, frames[i - 1]);

        if (name[0] != '[' || strcmp(name, before) != 0)
            stack_append(text, STACK_TEXT_SIZE, name);
        before = name;
    }
}

static void append_stack(char *text, const struct symbols *symbols, const struct slept_stack *stack,
                         const uint32_t *frames)
{
    const bool lost = (stack->flags & (CAMP_STACK_USER_LOST | CAMP_STACK_KERNEL_LOST)) != 0;

    stack_append(text, STACK_TEXT_SIZE, camp_state_name((int)stack->state));
    append_part(text, symbols, frames + stack->first + stack->kernel_count, stack->user_count);
    append_part(text, symbols, frames + stack->first, stack->kernel_count);
    if (lost)
        stack_append(text, STACK_TEXT_SIZE, OTHER_STACKS);
    else if (stack->kernel_count + stack->user_count == 0)
        stack_append(text, STACK_TEXT_SIZE, NO_STACK);
}

/* Adds a stack to those of all intervals. */
static bool add_to_all(struct why_stacks *stacks, const char *text, const char *who,
                       const struct slept_stack *stack)
{
    char other[256] = "";

    if (stacks->all.count < ALL_MOST)
        return stack_sums_add(&stacks->all, text, stack->sleep_ns, stack->count);
    stack_append(other, sizeof other, who);
    stack_append(other, sizeof other, camp_state_name((int)stack->state));
    stack_append(other, sizeof other, OTHER_STACKS);
    return stack_sums_add(&stacks->all, other, stack->sleep_ns, stack->count);
}

static bool add(struct why_stacks *stacks, const struct causes *causes, uint32_t subject,
                const struct slept_stack *stack, const uint32_t *frames, char *text)
{
    char who[CAUSE_NAME_SIZE];
    const char *without;

    cause_who(who, causes, CAMP_CAUSE_GROUP, stack->group, "");
    text[0] = '\0';
    stack_append(text, STACK_TEXT_SIZE, who[0] != '\0' ? who : "?");
    append_stack(text, stacks->symbols, stack, frames);
    if (stacks->adds_up && !add_to_all(stacks, text, who[0] != '\0' ? who : "?", stack))
        return false;
    without = strchr(text, STACK_SEPARATOR) + 1;
    return stack_sums_add(&stacks->interval, subject == WHY_ALL ? text : without, stack->sleep_ns,
                          stack->count);
}

static bool add_all(struct why_stacks *stacks, const struct causes *causes, uint32_t subject,
                    uint32_t *frames, char *text)
{
    const struct stack_list *list = &causes->stacks;

    for (size_t i = 0; i < list->count; i++) {
        if (is_of(&list->items[i], subject) &&
            !add_frames(stacks->symbols, list, &list->items[i], frames))
            return false;
    }
    if (!symbols_find(stacks->symbols))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        if (is_of(&list->items[i], subject) && list->items[i].sleep_ns > 0 &&
            !add(stacks, causes, subject, &list->items[i], frames, text))
            return false;
    }
    return true;
}

bool why_stacks_fill(struct why_stacks *stacks, const struct causes *causes, uint32_t subject)
{
    uint32_t *frames = calloc(causes->stacks.address_count + 1, sizeof *frames);
    char *text = malloc(STACK_TEXT_SIZE);
    bool done = frames != NULL && text != NULL && make_symbols(stacks);

    if (stacks->duration_ns == 0)
        stacks->start_ns = causes->wall_clock_ns - (int64_t)(causes->end_ns - causes->start_ns);
    stacks->duration_ns += causes->end_ns - causes->start_ns;
    stack_sums_clear(&stacks->interval);
    if (done) {
        symbols_start(stacks->symbols);
        done = add_all(stacks, causes, subject, frames, text);
    }
    if (done)
        stack_sums_sort(&stacks->interval);
    free(frames);
    free(text);
    return done;
}

bool why_stacks_hide_kernel(const struct why_stacks *stacks)
{
    return stacks->symbols != NULL && symbols_hides_kernel(stacks->symbols);
}

void why_stacks_release(struct why_stacks *stacks)
{
    symbols_release(stacks->symbols);
    stack_sums_release(&stacks->interval);
    stack_sums_release(&stacks->all);
}
