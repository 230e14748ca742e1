/* SPDX-License-Identifier: MIT */
/*
 * threads.c - the threads of both hosts as coroutines of one: each has a stack, and the schedule says which one runs.
 * They change where the product calls the kernel or the reactor, or goes from one of its files to another (the
 * functions at the end), so one is stopped with locks held and in the middle of what another one does, too.
 */
#include "simulation.h"

#include "softrdma/events/source.h"

#include <stdlib.h>
#include <ucontext.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TELLS_SANITIZER
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define TELLS_SANITIZER
#endif
#ifdef TELLS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

enum { STACK_OCTETS = 512 << 10 };

struct thread *current;
static jmp_buf schedule_place;
static void *schedule_fake_stack;
static const void *schedule_stack;
static size_t schedule_stack_octets;
static ucontext_t making, maker;

static void leave_stack(void **fake_stack, const void *stack, size_t octets)
{
#ifdef TELLS_SANITIZER
    __sanitizer_start_switch_fiber(fake_stack, stack, octets);
#else
    (void)fake_stack, (void)stack, (void)octets;
#endif
}

static void enter_stack(void *fake_stack, const void **from, size_t *octets)
{
#ifdef TELLS_SANITIZER
    __sanitizer_finish_switch_fiber(fake_stack, from, octets);
#else
    (void)fake_stack, (void)from, (void)octets;
#endif
}

void thread_run(struct thread *thread)
{
    sim.switches++;
    current = thread;
    if (thread->state == THREAD_READY)
        thread->inside = true;
    if (!_setjmp(schedule_place)) {
        leave_stack(&schedule_fake_stack, thread->stack, STACK_OCTETS);
        _longjmp(thread->place, 1);
    }
    enter_stack(schedule_fake_stack, NULL, NULL);
    current = NULL;
}

void thread_yield(void)
{
    struct thread *thread = current;

    if (!_setjmp(thread->place)) {
        leave_stack(&thread->fake_stack, schedule_stack, schedule_stack_octets);
        _longjmp(schedule_place, 1);
    }
    enter_stack(thread->fake_stack, &schedule_stack, &schedule_stack_octets);
}

void thread_may_change(void)
{
    if (current && sim.part != PART_OVER && chance(sim.set.change))
        thread_yield();
}

/* Each runs one body after the other. */
static void live(void)
{
    struct thread *thread = current;

    enter_stack(NULL, &schedule_stack, &schedule_stack_octets);
    if (!_setjmp(thread->place)) {
        leave_stack(&thread->fake_stack, schedule_stack, schedule_stack_octets);
        swapcontext(&making, &maker);
    }
    enter_stack(thread->fake_stack, &schedule_stack, &schedule_stack_octets);
    for (;;) {
        thread->body(thread);
        thread->state = THREAD_DONE;
        thread->inside = false;
        thread_yield();
    }
}

static void make(struct thread *thread)
{
    void *fake_stack = NULL;

    thread->stack = malloc(STACK_OCTETS);
    if (!thread->stack || getcontext(&making))
        abort();
    making.uc_stack.ss_sp = thread->stack;
    making.uc_stack.ss_size = STACK_OCTETS;
    making.uc_link = NULL;
    makecontext(&making, live, 0);
    current = thread;
    leave_stack(&fake_stack, thread->stack, STACK_OCTETS);
    swapcontext(&maker, &making);
    enter_stack(fake_stack, NULL, NULL);
    current = NULL;
}

void threads_make(struct thread *threads)
{
    for (int i = 0; i < THREADS; i++)
        make(&threads[i]);
}

/* --- what the product keeps for each thread --------------------------------------------------- */

bool __wrap_srd_in_background(void);
bool __wrap_srd_in_background(void)
{
    return current && current->background;
}

#ifndef NDEBUG
/* Those of util/lock.c, with the locks that a coroutine holds. */
static struct thread schedule_itself;

static struct thread *myself(void)
{
    return current ? current : &schedule_itself;
}

void __wrap_lock_debug_check(struct lock *lock);
void __wrap_lock_debug_taken(struct lock *lock);
void __wrap_lock_debug_dropped(struct lock *lock);
void __wrap_lock_debug_assert_held(struct lock *lock);

void __wrap_lock_debug_check(struct lock *lock)
{
    struct thread *me = myself();

    CHECK(lock->name, "a lock is used before init");
    for (int i = 0; i < me->n_held; i++)
        CHECK(me->held[i]->level < lock->level, "%s is taken while %s is held", lock->name,
            me->held[i]->name);
}

void __wrap_lock_debug_taken(struct lock *lock)
{
    struct thread *me = myself();

    CHECK(me->n_held < 24, "too many locks are held");
    me->held[me->n_held++] = lock;
    atomic_store_explicit(&lock->owner, me, memory_order_relaxed);
}

void __wrap_lock_debug_assert_held(struct lock *lock)
{
    CHECK(atomic_load_explicit(&lock->owner, memory_order_relaxed) == myself(), "%s is not held",
        lock->name);
}

void __wrap_lock_debug_dropped(struct lock *lock)
{
    struct thread *me = myself();
    int at = me->n_held - 1;

    __wrap_lock_debug_assert_held(lock);
    atomic_store_explicit(&lock->owner, NULL, memory_order_relaxed);
    while (me->held[at] != lock)
        at--;
    for (me->n_held--; at < me->n_held; at++)
        me->held[at] = me->held[at + 1];
}
#endif

/* --- where threads change, besides the kernel's calls ----------------------------------------- */

#define CHANGES(type, name, parameters, arguments)                                                 \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        type result;                                                                               \
        thread_may_change();                                                                       \
        result = __real_##name arguments;                                                          \
        thread_may_change();                                                                       \
        return result;                                                                             \
    }

CHANGES(int, srd_stream_tx,
    (struct srd_qp * qp, struct iovec *iov, uint64_t now_ms, unsigned *actions),
    (qp, iov, now_ms, actions))
CHANGES(unsigned, srd_stream_tx_done, (struct srd_qp * qp, size_t octets, uint64_t now_ms),
    (qp, octets, now_ms))
CHANGES(int, srd_stream_rx_space, (struct srd_qp * qp, struct iovec *iov), (qp, iov))
CHANGES(unsigned, srd_stream_rx, (struct srd_qp * qp, size_t octets, uint64_t now_ms),
    (qp, octets, now_ms))
CHANGES(bool, srd_stream_may_ack, (struct srd_qp * qp), (qp))
CHANGES(bool, srd_stream_owes_ack, (struct srd_qp * qp), (qp))
CHANGES(uint64_t, srd_stream_deadline_ms, (struct srd_qp * qp), (qp))
CHANGES(struct srd_conn *, srd_qp_conn, (struct srd_qp * qp), (qp))
CHANGES(struct srd_conn *, srd_device_unbind_conn, (struct srd_qp * qp), (qp))
