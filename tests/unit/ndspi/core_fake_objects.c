/* SPDX-License-Identifier: MIT */
#include "tests/unit/ndspi/core_fake.h"

#include "tests/unit/util/cmocka_test.h"

#include "tests/support/settle.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct fake_sink_counts fake_sink_counts;

/* ---- sink ---- */

struct nd_sink_file {
    atomic_uint pins;
    struct nd_file_users users;
};

static struct nd_sink_file the_file;

void fake_file_open(void)
{
    nd_file_users_init(&the_file.users);
}

void fake_file_close(void)
{
    nd_file_users_close(&the_file.users);
}

struct nd_sink_file *fake_file(void)
{
    return &the_file;
}

static struct nd_sink_file *file_ref(struct nd_sink_file *file)
{
    atomic_fetch_add(&file->pins, 1);
    return file;
}

static void file_unref(struct nd_sink_file *file)
{
    assert_true(atomic_fetch_sub(&file->pins, 1) > 0);
}

static struct nd_file_users *file_users(struct nd_sink_file *file)
{
    return &file->users;
}

unsigned fake_file_pins(void)
{
    return atomic_load(&the_file.pins);
}

static HRESULT reserve(struct nd_sink_file *file)
{
    (void)file;
    if (fake_sink_counts.no_memory)
        return ND_NO_MEMORY;
    fake_sink_counts.reserved++;
    return ND_SUCCESS;
}

static void unreserve(struct nd_sink_file *file)
{
    (void)file;
    assert_true(fake_sink_counts.reserved-- > 0);
}

static void start(struct nd_sink_file *file, OVERLAPPED *overlapped)
{
    (void)file;
    overlapped->Internal = (ULONG_PTR)ND_PENDING;
    fake_sink_counts.started++;
}

static void complete(struct nd_sink_file *file, OVERLAPPED *overlapped, HRESULT status)
{
    (void)file;
    assert_int_equal(overlapped->Internal, ND_PENDING);
    assert_true(fake_sink_counts.reserved-- > 0);
    overlapped->Internal = (ULONG_PTR)(ULONG)status;
    fake_sink_counts.order[fake_sink_counts.completed++ % 64] = overlapped;
    if (fake_sink_counts.on_complete)
        fake_sink_counts.on_complete(overlapped);
}

static HRESULT result(struct nd_sink_file *file, OVERLAPPED *overlapped, BOOL wait)
{
    (void)file;
    (void)wait;
    return (HRESULT)overlapped->Internal;
}

const struct nd_sink fake_sink = { .file_ref = file_ref,
    .file_unref = file_unref,
    .file_users = file_users,
    .reserve = reserve,
    .unreserve = unreserve,
    .start = start,
    .complete = complete,
    .result = result };

/* ---- objects ---- */

static void destroy_core_cq(struct nd_object *object)
{
    nd_cq_fini((struct nd_cq *)object);
    free(object);
}

static void destroy_core_qp(struct nd_object *object)
{
    nd_qp_fini((struct nd_qp *)object);
    free(object);
}

static void destroy_core_srq(struct nd_object *object)
{
    nd_srq_fini((struct nd_srq *)object);
    free(object);
}

static void destroy_core_mr(struct nd_object *object)
{
    nd_mr_fini((struct nd_mr *)object);
    free(object);
}

static void destroy_core_mw(struct nd_object *object)
{
    nd_mw_fini((struct nd_mw *)object);
    free(object);
}

struct nd_cq *fake_make_cq(struct nd_adapter *adapter, uint32_t depth)
{
    struct nd_cq *cq = nd_object_alloc(sizeof(*cq));

    if (cq && FAILED(nd_cq_init(cq, adapter, fake_file(), depth, 0, destroy_core_cq))) {
        free(cq);
        return NULL;
    }
    return cq;
}

struct nd_qp *fake_make_qp_of(struct nd_adapter *adapter, const struct nd_qp_params *wanted)
{
    struct nd_qp *qp = nd_object_alloc(sizeof(*qp));
    struct nd_qp_params params = *wanted;

    params.context = qp;
    if (qp && FAILED(nd_qp_init(qp, adapter, &params, destroy_core_qp))) {
        free(qp);
        return NULL;
    }
    return qp;
}

struct nd_qp *fake_make_qp(
    struct nd_adapter *adapter, struct nd_cq *cq, struct nd_srq *srq, uint32_t depth)
{
    const struct nd_qp_params params = { .receive_cq = cq,
        .initiator_cq = cq,
        .srq = srq,
        .receive_depth = depth,
        .initiator_depth = depth,
        .receive_sge = 2,
        .initiator_sge = 2,
        .inline_data = 64 };

    return fake_make_qp_of(adapter, &params);
}

struct nd_srq *fake_make_srq(struct nd_adapter *adapter, uint32_t depth, uint32_t threshold)
{
    struct nd_srq *srq = nd_object_alloc(sizeof(*srq));

    if (srq &&
        FAILED(nd_srq_init(srq, adapter, fake_file(), depth, 2, threshold, 0, destroy_core_srq))) {
        free(srq);
        return NULL;
    }
    return srq;
}

struct nd_mr *fake_make_mr(struct nd_adapter *adapter)
{
    struct nd_mr *mr = nd_object_alloc(sizeof(*mr));

    if (mr)
        nd_mr_init(mr, adapter, fake_file(), destroy_core_mr);
    return mr;
}

struct nd_mw *fake_make_mw(struct nd_adapter *adapter)
{
    struct nd_mw *mw = nd_object_alloc(sizeof(*mw));

    if (mw && FAILED(nd_mw_init(mw, adapter, destroy_core_mw))) {
        free(mw);
        return NULL;
    }
    return mw;
}

/* ---- a second thread ---- */

static struct {
    pthread_t thread;
    void (*call)(void);
    _Atomic pid_t tid;
    atomic_bool ended;
} other;

static void *run_call(void *unused)
{
    (void)unused;
    other.tid = (pid_t)syscall(SYS_gettid);
    other.call();
    other.ended = true;
    return NULL;
}

static bool sleeps(pid_t tid)
{
    char path[64], text[256] = "";
    const char *state;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
    if (!tid || !(file = fopen(path, "r")))
        return false;
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    state = strrchr(text, ')');
    return state && state[2] == 'S';
}

void fake_thread_run(void (*call)(void))
{
    other.call = call;
    other.tid = 0;
    other.ended = false;
    assert_int_equal(pthread_create(&other.thread, NULL, run_call, NULL), 0);
    assert_true(SETTLES(other.ended || sleeps(other.tid)));
}

void fake_thread_join(void)
{
    assert_int_equal(pthread_join(other.thread, NULL), 0);
}
