/*
 * The order in which other CPUs see the stores to an account, and in which they load from it.
 *
 * A writer makes `sequence` odd, changes the account, and makes `sequence` even. A reader reads
 * `sequence`, copies the account, and reads `sequence` again. The copy is whole if both values are
 * equal and even. That is true only if these four pairs keep their order:
 *   writer: odd sequence before changes (1); changes before even sequence (2)
 *   reader: first sequence before copy (3); copy before second sequence (4)
 * Without (1) or (4) a reader may copy changes and still read the old sequence twice. Without (2)
 * or (3) it may read the new sequence twice and copy old values.
 *
 * x86 keeps the order of stores, and the order of loads; only the compiler must keep it, too
 * (barrier()). arm64 keeps neither. There (1) and (2) are an exchange of the sequence, (3) and (4)
 * an exchange of a word on the stack. The kernel's compiler for arm64 makes each BPF exchange a
 * full barrier: SWPAL, or LDXR and STLXR with DMB ISH (arch/arm64/net/bpf_jit_comp.c, v5.18). In
 * the memory model of arm64, all accesses before an atomic instruction with acquire and release
 * are ordered before all accesses after it ("po; [A]; amo; [L]; po" in aarch64.cat). BPF's own
 * load-acquire and store-release exist from v6.15 on only (commit 880442305a39), and there is no
 * BPF instruction for a barrier alone.
 */
#pragma once

#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* Since Linux 7.0 a thread can lose its CPU while a program runs for an event outside of the
 * scheduler (tracepoints are protected by SRCU, not by disabled preemption). The switch then writes
 * the same account. stay_here() keeps the thread on its CPU until may_move(); no global function
 * may be called between them. Both functions below exist since Linux 6.11. On older kernels a
 * program never loses its CPU. */
extern void bpf_preempt_disable(void) __weak __ksym;
extern void bpf_preempt_enable(void) __weak __ksym;

static __always_inline void stay_here(void)
{
    if (bpf_preempt_disable)
        bpf_preempt_disable();
}

static __always_inline void may_move(void)
{
    if (bpf_preempt_enable)
        bpf_preempt_enable();
}

/* ADD_IN_ORDER(place, by) adds to a word that only the caller changes: after all earlier stores,
 * and before all later stores. STORE_IN_ORDER(place, value) stores in the same order. keep_order()
 * keeps earlier loads before later loads, and earlier stores before later stores. */
#if defined(__TARGET_ARCH_x86)
#define ADD_IN_ORDER(place, by)                                                                    \
    ({                                                                                             \
        barrier();                                                                                 \
        *(place) += (by);                                                                          \
        barrier();                                                                                 \
    })
#define STORE_IN_ORDER(place, value)                                                               \
    ({                                                                                             \
        barrier();                                                                                 \
        *(place) = (value);                                                                        \
        barrier();                                                                                 \
    })

static __always_inline void keep_order(void)
{
    barrier();
}
#elif defined(__TARGET_ARCH_arm64)
/* If the result of an atomic addition is not used, clang emits a BPF instruction that is no
 * barrier. An exchange is always a barrier. */
#define ADD_IN_ORDER(place, by)                                                                    \
    ({                                                                                             \
        barrier();                                                                                 \
        __sync_lock_test_and_set((place), *(place) + (by));                                        \
        barrier();                                                                                 \
    })
#define STORE_IN_ORDER(place, value)                                                               \
    ({                                                                                             \
        barrier();                                                                                 \
        __sync_lock_test_and_set((place), (value));                                                \
        barrier();                                                                                 \
    })

static __always_inline void keep_order(void)
{
    uint64_t word = 0;

    barrier();
    __sync_lock_test_and_set(&word, 1);
    barrier();
}
#endif
