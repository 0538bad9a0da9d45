#include "why_chain.h"

#include "ledger/array.h"
#include "views/percent.h"
#include "why_open.h"

#define DEVICES "/sys/kernel/irq"

/* Open sleeps for one object start the chain if they are at least 1 / LARGE_PART of all open sleeps
 * of the group. */
#define LARGE_PART 4

static struct cell name_of(struct document *document, const struct causes *causes, uint32_t kind,
                           uint32_t id)
{
    char name[CAUSE_NAME_SIZE];

    cause_who(name, causes, kind, id, DEVICES);
    return name[0] != '\0' ? cell_text(document_text(document, "%s", name)) : cell_text(NULL);
}

static void add_rows(struct document *document, const struct causes *causes,
                     const struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        const struct chain_step *step = &chain->steps[i];
        const bool waited = step->cause.wait_ns > 0;

        DOCUMENT_ADD(
            document, WHY_CHAIN,
            ((const struct cell[]){
                cell_natural(i + 1),
                name_of(document, causes, CAMP_CAUSE_GROUP, step->group),
                waited ? cell_text(camp_state_name((int)step->cause.state)) : cell_unknown(),
                waited ? cell_real(percent_of((double)step->cause.wait_ns, step->total_ns))
                       : cell_unknown(),
                waited ? cell_text(cause_kind_key(step->cause.kind)) : cell_unknown(),
                waited ? name_of(document, causes, step->cause.kind, step->cause.id)
                       : cell_unknown(),
                cell_real(percent_of((double)step->on_cpu_ns, step->total_ns)),
            }));
    }
}

/* Returns the time that the first step of a chain of causes explains. */
static uint64_t explained_ns(const struct chain *chain)
{
    const struct chain_step *step = &chain->steps[0];
    const uint64_t wait_ns = step->queue_ns > 0 ? step->queue_ns : step->cause.wait_ns;

    return wait_ns > step->on_cpu_ns ? wait_ns : step->on_cpu_ns;
}

void why_chain_add(struct why_record *ret, const struct why_interval *interval,
                   char text[WHY_SENTENCE_SIZE])
{
    const struct causes *causes = interval->causes;
    const struct cause *open = cause_open_wait(causes, interval->subject);
    struct why_open sleeps;
    struct chain chain;

    cause_chain(&chain, causes, interval->subject);
    if (why_open_find(&sleeps, &ret->objects, interval,
                      open != NULL ? open->wait_ns / LARGE_PART : explained_ns(&chain))) {
        why_open_show(&ret->document, WHY_CHAIN, interval, &sleeps, text);
    } else if (open != NULL) {
        why_open_longest(&sleeps, &ret->objects, interval, open);
        why_open_show(&ret->document, WHY_CHAIN, interval, &sleeps, text);
    } else {
        add_rows(&ret->document, causes, &chain);
        why_chain_sentence(text, causes, &chain);
    }
}
