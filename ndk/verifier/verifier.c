/* SPDX-License-Identifier: MIT */
#include "ndk/verifier/verifier.h"

#include "ndk/verifier/memory.h"
#include "ndk/verifier/tables.h"
#include "ndk/verifier/watch.h"

#include <pthread.h>
#include <unistd.h>

static atomic_bool used; /* some adapter was opened with it */
static pid_t process;    /* its opener; a forked child inherits the objects and owns none */

const void *ndk_checked_table(NDK_OBJECT_TYPE type)
{
    static const void *const tables[NdkObjectTypeMax] = {
        [NdkObjectTypeAdapter] = &ndk_checked_adapter,
        [NdkObjectTypeQp] = &ndk_checked_qp,
        [NdkObjectTypeCq] = &ndk_checked_cq,
        [NdkObjectTypeMr] = &ndk_checked_mr,
        [NdkObjectTypeMw] = &ndk_checked_mw,
        [NdkObjectTypePd] = &ndk_checked_pd,
        [NdkObjectTypeSharedEndpoint] = &ndk_checked_endpoint,
        [NdkObjectTypeConnector] = &ndk_checked_connector,
        [NdkObjectTypeListener] = &ndk_checked_listener,
        [NdkObjectTypeSrq] = &ndk_checked_srq,
    };

    return tables[type];
}

static void at_exit(void)
{
    bool objects, mappings;

    if (getpid() != process)
        return;
    objects = ndk_shadow_report_open(NULL, NDK_RULE_EXIT, "exit");
    mappings = ndk_mappings_report(NULL, "exit");
    if (objects || mappings)
        ndk_report_end();
}

static void first_use(void)
{
    process = getpid();
    atexit(at_exit);
}

void ndk_verifier_start(struct ndk_root *root)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (ndk_verifier_mode() == NDK_VERIFIER_OFF)
        return;
    pthread_once(&once, first_use);
    root->made = ndk_shadow_watch;
    atomic_store_explicit(&ndk_call_begins, ndk_use_told, memory_order_release);
    atomic_store_explicit(&used, true, memory_order_release);
}

static bool is_used(void)
{
    return atomic_load_explicit(&used, memory_order_acquire);
}

void ndk_verifier_opened(NDK_ADAPTER *adapter)
{
    if (is_used())
        ndk_shadow_give(adapter, NULL);
}

bool ndk_verifier_closes(NDK_ADAPTER *adapter)
{
    const struct ndk_root *root;
    bool objects, mappings;
    struct ndk_use use;

    if (!is_used() || !ndk_shadow_known(adapter))
        return true;
    if (!ndk_use_begin(&use, adapter, NdkObjectTypeAdapter, NDK_LANE_NONE, "NdklCloseAdapter"))
        return false;
    root = use.shadow->root;
    objects = ndk_shadow_report_open(root, NDK_RULE_OPEN, use.call);
    mappings = ndk_mappings_report(root, use.call);
    if (objects || mappings)
        ndk_report_end();
    ndk_use_closes(&use);
    ndk_use_end(&use);
    return true;
}

void ndk_verifier_frees(const MDL *mdl)
{
    if (is_used())
        ndk_watch_free_mdl(mdl);
}

/* ---- functions of every object ---- */

NTSTATUS ndk_checked_close(
    NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, header, NdkObjectTypeUndefined, NDK_LANE_NONE, NULL))
        return STATUS_SUCCESS;
    ndk_use_closes(&use);
    status = (*NDK_PLAIN(&use, NDK_FN_CLOSE_OBJECT))(header, completion, context);
    ndk_use_end(&use);
    return status;
}

NTSTATUS ndk_checked_query_extension(
    NDK_OBJECT_HEADER *header, GUID *id, NDK_VERSION version, NDK_EXTENSION_INTERFACE *extension)
{
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, header, NdkObjectTypeUndefined, NDK_LANE_NONE, "NdkQueryExtension"))
        return STATUS_INVALID_DEVICE_STATE;
    status =
        header->ObjectType == NdkObjectTypeAdapter
            ? NDK_PLAIN(&use, NDK_ADAPTER_DISPATCH)
                  ->NdkQueryExtension(header, id, version, extension)
            : NDK_PLAIN(&use, NDK_PD_DISPATCH)->NdkQueryExtension(header, id, version, extension);
    ndk_use_end(&use);
    return status;
}
