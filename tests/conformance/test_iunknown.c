/* SPDX-License-Identifier: MIT */
/*
 * test_iunknown.c - the rules of IUnknown, over every interface from one table; wrong and foreign objects.
 */
#include "fixture.h"

/* What the suite's makers of objects are called with, once for each interface. */
static HRESULT make_provider(struct node *node, REFIID iid, void **out)
{
    (void)node;
    return provider_class_object(&CLSID_NDSPI_PROVIDER_V2, iid, out);
}

static HRESULT make_adapter(struct node *node, REFIID iid, void **out)
{
    struct address address = test_address();
    IND2Provider *provider = NULL;
    UINT64 id = 0;
    (void)node;
    HRESULT hr =
        provider_class_object(&CLSID_NDSPI_PROVIDER_V2, &IID_IND2Provider, (void **)&provider);
    if (FAILED(hr))
        return hr;
    hr = CALL(provider, ResolveAddress, &address.any, address.length, &id);
    if (SUCCEEDED(hr))
        hr = CALL(provider, OpenAdapter, iid, id, out);
    CALL(provider, Release);
    return hr;
}

static HRESULT make_cq(struct node *node, REFIID iid, void **out)
{
    return CALL(node->v2, CreateCompletionQueue, iid, node->file, 4, 0, 0, out);
}

static HRESULT make_srq(struct node *node, REFIID iid, void **out)
{
    return CALL(node->v2, CreateSharedReceiveQueue, iid, node->file, 4, 1, 0, 0, 0, out);
}

static HRESULT make_mr(struct node *node, REFIID iid, void **out)
{
    return CALL(node->v2, CreateMemoryRegion, iid, node->file, out);
}

static HRESULT make_mw(struct node *node, REFIID iid, void **out)
{
    return CALL(node->v2, CreateMemoryWindow, iid, out);
}

static HRESULT make_qp(struct node *node, REFIID iid, void **out)
{
    IUnknown *cq = new_cq(node, 4)->unknown;
    return CALL(node->v2, CreateQueuePair, iid, cq, cq, NULL, 2, 2, 1, 1, 0, out);
}

static HRESULT make_qp_with_srq(struct node *node, REFIID iid, void **out)
{
    IUnknown *cq = new_cq(node, 4)->unknown;
    IUnknown *srq = new_srq(node, 4, 1, 0)->unknown;
    return CALL(node->v2, CreateQueuePairWithSrq, iid, cq, cq, srq, NULL, 2, 1, 0, out);
}

static HRESULT make_connector(struct node *node, REFIID iid, void **out)
{
    return CALL(node->v2, CreateConnector, iid, node->file, out);
}

static HRESULT make_listener(struct node *node, REFIID iid, void **out)
{
    return CALL(node->v2, CreateListener, iid, node->file, out);
}

/* Version 1 has no iids to make by: what was made is asked for the interface. */
static HRESULT made_v1(IUnknown *object, HRESULT hr, REFIID iid, void **out)
{
    if (FAILED(hr))
        return hr;
    hr = CALL(object, QueryInterface, iid, out);
    CALL(object, Release);
    return hr;
}

static HRESULT make_provider_v1(struct node *node, REFIID iid, void **out)
{
    (void)node;
    return provider_class_object(&CLSID_NDSPI_PROVIDER_V1, iid, out);
}

static HRESULT make_adapter_v1(struct node *node, REFIID iid, void **out)
{
    struct address address = test_address();
    INDAdapter *adapter = NULL;
    (void)node;
    HRESULT hr = NdOpenV1Adapter(&address.any, address.length, &adapter);
    return made_v1((IUnknown *)adapter, hr, iid, out);
}

static HRESULT make_cq_v1(struct node *node, REFIID iid, void **out)
{
    INDCompletionQueue *cq = NULL;
    HRESULT hr = CALL(node->v1, CreateCompletionQueue, 4, &cq);
    return made_v1((IUnknown *)cq, hr, iid, out);
}

static HRESULT make_mw_v1(struct node *node, REFIID iid, void **out)
{
    INDMemoryWindow *mw = NULL;
    HRESULT hr = CALL(node->v1, CreateMemoryWindow, NULL, &mw);
    return made_v1((IUnknown *)mw, hr, iid, out);
}

static HRESULT make_endpoint_v1(struct node *node, REFIID iid, void **out)
{
    INDCompletionQueue *cq = new_cq(node, 4)->v1;
    INDEndpoint *endpoint = NULL;
    HRESULT hr =
        CALL(new_connector(node)->v1, CreateEndpoint, cq, cq, 2, 2, 1, 1, 0, 0, NULL, &endpoint);
    return made_v1((IUnknown *)endpoint, hr, iid, out);
}

static HRESULT make_connector_v1(struct node *node, REFIID iid, void **out)
{
    INDConnector *connector = NULL;
    HRESULT hr = CALL(node->v1, CreateConnector, &connector);
    return made_v1((IUnknown *)connector, hr, iid, out);
}

static HRESULT make_listen_v1(struct node *node, REFIID iid, void **out)
{
    INDListen *listen = NULL;
    USHORT port = 0;
    HRESULT hr = CALL(node->v1, Listen, 0, 123, 0, &port, &listen);
    return made_v1((IUnknown *)listen, hr, iid, out);
}

struct maker {
    const char *name;
    const IID *iid;
    bool overlapped;
    HRESULT (*make)(struct node *node, REFIID iid, void **out);
};

static const struct maker makers_v2[] = {
    { "IND2Provider", &IID_IND2Provider, false, make_provider },
    { "IND2Adapter", &IID_IND2Adapter, false, make_adapter },
    { "IND2CompletionQueue", &IID_IND2CompletionQueue, true, make_cq },
    { "IND2SharedReceiveQueue", &IID_IND2SharedReceiveQueue, true, make_srq },
    { "IND2MemoryRegion", &IID_IND2MemoryRegion, true, make_mr },
    { "IND2MemoryWindow", &IID_IND2MemoryWindow, false, make_mw },
    { "IND2QueuePair", &IID_IND2QueuePair, false, make_qp },
    { "IND2QueuePair with an SRQ", &IID_IND2QueuePair, false, make_qp_with_srq },
    { "IND2Connector", &IID_IND2Connector, true, make_connector },
    { "IND2Listener", &IID_IND2Listener, true, make_listener },
};

static const struct maker makers_v1[] = {
    { "INDProvider", &IID_INDProvider, false, make_provider_v1 },
    { "INDAdapter", &IID_INDAdapter, true, make_adapter_v1 },
    { "INDCompletionQueue", &IID_INDCompletionQueue, true, make_cq_v1 },
    { "INDMemoryWindow", &IID_INDMemoryWindow, false, make_mw_v1 },
    { "INDEndpoint", &IID_INDEndpoint, false, make_endpoint_v1 },
    { "INDConnector", &IID_INDConnector, true, make_connector_v1 },
    { "INDListen", &IID_INDListen, true, make_listen_v1 },
};

enum { MOST_MAKERS = sizeof(makers_v2) / sizeof(makers_v2[0]) };
#define MAKERS                                                                                     \
    ((int)V2_V1(sizeof(makers_v2) / sizeof(makers_v2[0]), sizeof(makers_v1) / sizeof(makers_v1[0])))
#define makers (V2_V1(makers_v2, makers_v1))

static const IID *overlapped_iid(void)
{
    return V2_V1(&IID_IND2Overlapped, &IID_INDOverlapped);
}

static IUnknown *make(const struct maker *maker, struct node *node)
{
    void *object = NULL;
    note("%s", maker->name);
    expect_status(ND_SUCCESS, maker->make(node, maker->iid, &object));
    expect_true(object != NULL);
    keep_object(object);
    return object;
}

static const IID strange_iid = { 0x12345678, 0x9ABC, 0xDEF0,
    { 0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF0 } };

/* NULL is stored whatever stood there. */
static void expect_no_interface(IUnknown *object, const IID *iid)
{
    void *out = &out;
    expect_status(E_NOINTERFACE, CALL(object, QueryInterface, iid, &out));
    expect_pointer(NULL, out);
}

static void query_its_own_interface(void)
{
    struct node *node = new_node();
    for (int i = 0; i < MAKERS; i++) {
        IUnknown *object = make(&makers[i], node), *out = NULL;
        expect_status(ND_SUCCESS, CALL(object, QueryInterface, makers[i].iid, (void **)&out));
        expect_pointer(object, out);
        expect_equal(1, CALL(out, Release));
    }
}

/* Whichever interface is asked, IUnknown is one pointer. */
static void identity(void)
{
    struct node *node = new_node();
    for (int i = 0; i < MAKERS; i++) {
        IUnknown *object = make(&makers[i], node), *first = NULL, *second = NULL, *other = NULL;
        expect_status(ND_SUCCESS, CALL(object, QueryInterface, &IID_IUnknown, (void **)&first));
        expect_status(ND_SUCCESS,
            CALL(object, QueryInterface, makers[i].overlapped ? overlapped_iid() : makers[i].iid,
                (void **)&other));
        expect_status(ND_SUCCESS, CALL(other, QueryInterface, &IID_IUnknown, (void **)&second));
        expect_pointer(first, second);
        expect_equal(3, CALL(second, Release));
        expect_equal(2, CALL(other, Release));
        expect_equal(1, CALL(first, Release));
    }
}

static void overlapped_interface(void)
{
    struct node *node = new_node();
    for (int i = 0; i < MAKERS; i++) {
        IUnknown *object = make(&makers[i], node);
        if (!makers[i].overlapped) {
            expect_no_interface(object, overlapped_iid());
            continue;
        }
        IND2Overlapped *overlapped = NULL;
        expect_status(
            ND_SUCCESS, CALL(object, QueryInterface, overlapped_iid(), (void **)&overlapped));
        expect_status(ND_SUCCESS, CALL(overlapped, CancelOverlappedRequests));
        expect_equal(1, CALL(overlapped, Release));
    }
}

static void other_interfaces(void)
{
    struct node *node = new_node();
    for (int i = 0; i < MAKERS; i++) {
        IUnknown *object = make(&makers[i], node);
        expect_no_interface(object, &strange_iid);
        for (int k = 0; k < MAKERS; k++)
            if (memcmp(makers[k].iid, makers[i].iid, sizeof(IID)) != 0)
                expect_no_interface(object, makers[k].iid);
        expect_equal(2, CALL(object, AddRef)); /* none of them left a reference */
        expect_equal(1, CALL(object, Release));
    }
}

static void null_out_pointer(void)
{
    struct node *node = new_node();
    for (int i = 0; i < MAKERS; i++) {
        IUnknown *object = make(&makers[i], node);
        expect_status(E_POINTER, CALL(object, QueryInterface, makers[i].iid, NULL));
        expect_status(E_POINTER, CALL(object, QueryInterface, &strange_iid, NULL));
        expect_equal(2, CALL(object, AddRef));
        expect_equal(1, CALL(object, Release));
    }
}

static void counts(void)
{
    struct node *node = new_node();
    for (int i = 0; i < MAKERS; i++) {
        IUnknown *object = make(&makers[i], node);
        for (ULONG n = 2; n <= 10; n++)
            expect_equal(n, CALL(object, AddRef));
        for (ULONG n = 9; n >= 1; n--)
            expect_equal(n, CALL(object, Release));
        expect_equal(0, release_kept(object));
    }
}

/* Objects that hold others do not show in the count. */
static void holders_are_not_counted(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){ .active = { .two_cqs = true } });
    struct end *a = &pair->active;
    struct op *op = new_op();
    expect_status(ND_PENDING, CALL(a->connector, NotifyDisconnect, &op->overlapped));
    expect_status(ND_SUCCESS, post_receive(a, TAG(1), 0, 8));
    IUnknown *const objects[] = { a->qp->unknown, a->cq->unknown, a->initiator_cq->unknown,
        a->connector->unknown, pair->listener->unknown, a->node->unknown,
        V2_V1(a->memory.mr->unknown, a->node->unknown) };
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
        expect_equal(2, CALL(objects[i], AddRef));
        expect_equal(1, CALL(objects[i], Release));
    }
    expect_equal(0, release_now(a->connector));
}

static void makers_check_the_iid(void)
{
    struct node *node = new_node();
    for (int i = 0; i < MAKERS; i++) {
        void *out = &out;
        note("%s", makers[i].name);
        expect_status(E_NOINTERFACE, makers[i].make(node, &strange_iid, &out));
        expect_pointer(NULL, out);
        expect_status(E_POINTER, makers[i].make(node, makers[i].iid, NULL));
    }
}

/* An object may be made as an IUnknown; the provider's class object is asked for its own. */
static void made_as_iunknown(void)
{
    struct node *node = new_node();
    for (int i = 1; i < MAKERS; i++) {
        IUnknown *object = NULL, *own = NULL;
        note("%s", makers[i].name);
        expect_status(ND_SUCCESS, makers[i].make(node, &IID_IUnknown, (void **)&object));
        keep_object(object);
        expect_status(ND_SUCCESS, CALL(object, QueryInterface, makers[i].iid, (void **)&own));
        expect_equal(1, CALL(own, Release));
    }
}

/* A client's own COM object: it claims to be everything. */

struct foreign {
    IUnknown IUnknown_iface;
    volatile LONG refs;
    volatile LONG queries;
};

static HRESULT STDMETHODCALLTYPE foreign_QueryInterface(IUnknown *This, REFIID iid, void **out)
{
    struct foreign *foreign = (struct foreign *)This;
    InterlockedIncrement(&foreign->queries);
    if (memcmp(iid, &IID_IUnknown, sizeof(IID)) == 0 ||
        memcmp(iid, &IID_IND2Overlapped, sizeof(IID)) == 0) {
        InterlockedIncrement(&foreign->refs);
        *out = This;
        return S_OK;
    }
    for (int i = 0; i < MAKERS; i++)
        if (memcmp(iid, makers[i].iid, sizeof(IID)) == 0) {
            InterlockedIncrement(&foreign->refs);
            *out = This;
            return S_OK;
        }
    *out = NULL;
    return E_NOINTERFACE;
}

static ULONG STDMETHODCALLTYPE foreign_AddRef(IUnknown *This)
{
    return (ULONG)InterlockedIncrement(&((struct foreign *)This)->refs);
}

static ULONG STDMETHODCALLTYPE foreign_Release(IUnknown *This)
{
    return (ULONG)InterlockedDecrement(&((struct foreign *)This)->refs);
}

static IUnknownVtbl foreign_vtbl = { foreign_QueryInterface, foreign_AddRef, foreign_Release };

/* Every parameter of type IUnknown, given NULL, a foreign object, an object of the wrong kind. */
static void every_peer_parameter(struct pair *pair, IUnknown *x)
{
    struct node *node = pair->active.node;
    struct end *a = &pair->active;
    IUnknown *cq = a->cq->unknown, *mr = a->memory.mr->unknown;
    IUnknown *mw = new_mw(node)->unknown;
    IND2QueuePair *qp = NULL;
    struct op *op = new_op();
    struct pair *other = new_pair(NULL);
    expect_status(ND_INVALID_PARAMETER_2, CALL(node->v2, CreateQueuePair, &IID_IND2QueuePair, x, cq,
                                              NULL, 2, 2, 1, 1, 0, (void **)&qp));
    expect_status(ND_INVALID_PARAMETER_3, CALL(node->v2, CreateQueuePair, &IID_IND2QueuePair, cq, x,
                                              NULL, 2, 2, 1, 1, 0, (void **)&qp));
    IUnknown *srq = new_srq(node, 4, 1, 0)->unknown;
    expect_status(ND_INVALID_PARAMETER_2, CALL(node->v2, CreateQueuePairWithSrq, &IID_IND2QueuePair,
                                              x, cq, srq, NULL, 2, 1, 0, (void **)&qp));
    expect_status(ND_INVALID_PARAMETER_3, CALL(node->v2, CreateQueuePairWithSrq, &IID_IND2QueuePair,
                                              cq, x, srq, NULL, 2, 1, 0, (void **)&qp));
    expect_status(ND_INVALID_PARAMETER_4, CALL(node->v2, CreateQueuePairWithSrq, &IID_IND2QueuePair,
                                              cq, cq, x, NULL, 2, 1, 0, (void **)&qp));
    expect_pointer(NULL, qp);
    expect_status(ND_INVALID_PARAMETER_2,
        CALL(a->qp->v2, Bind, TAG(1), x, mw, a->memory.bytes, 8, ND_OP_FLAG_ALLOW_READ));
    expect_status(ND_INVALID_PARAMETER_3,
        CALL(a->qp->v2, Bind, TAG(1), mr, x, a->memory.bytes, 8, ND_OP_FLAG_ALLOW_READ));
    expect_status(ND_INVALID_PARAMETER_2, CALL(a->qp->v2, Invalidate, TAG(1), x, 0));
    expect_status(
        ND_INVALID_PARAMETER_1, CALL(other->active.connector->v2, Connect, x, &other->listen.any,
                                    other->listen.length, 0, 0, NULL, 0, &op->overlapped));
    expect_status(ND_INVALID_PARAMETER_1,
        CALL(other->listener->v2, GetConnectionRequest, x, &op->overlapped));
    pair_request(other);
    expect_status(ND_INVALID_PARAMETER_1,
        CALL(other->passive.connector->v2, Accept, x, 0, 0, NULL, 0, &op->overlapped));
    pair_accept(other); /* and nothing was lost by it */
    pair_complete(other);
    exchange(&pair->active, &pair->passive);
}

static void peer_is_null(void)
{
    every_peer_parameter(connected_pair(NULL), NULL);
}

static void peer_is_foreign(void)
{
    struct foreign foreign = { { &foreign_vtbl }, 1, 0 };
    every_peer_parameter(connected_pair(NULL), &foreign.IUnknown_iface);
    expect_equal(1, foreign.refs); /* asked, and let go */
    expect_true(foreign.queries > 0);
}

/* An object of ours, but of a kind that no parameter takes. */
static void peer_is_of_the_wrong_kind(void)
{
    struct pair *pair = connected_pair(NULL);
    every_peer_parameter(pair, new_listener(pair->active.node)->unknown);
}

/* Threads */

static DWORD WINAPI count_up_and_down(void *arg)
{
    IUnknown *object = arg;
    for (int i = 0; i < 20000; i++) {
        CALL(object, AddRef);
        CALL(object, Release);
    }
    return 0;
}

static void counts_are_safe_in_threads(void)
{
    struct node *node = new_node();
    HANDLE threads[MOST_MAKERS];
    IUnknown *objects[MOST_MAKERS];
    for (int i = 0; i < MAKERS; i++) {
        objects[i] = make(&makers[i], node);
        threads[i] = CreateThread(NULL, 0, count_up_and_down, objects[i], 0, NULL);
        expect_true(threads[i] != NULL);
        keep_handle(threads[i]);
        count_up_and_down(objects[i]);
    }
    expect_equal(
        WAIT_OBJECT_0, WaitForMultipleObjects((DWORD)MAKERS, threads, TRUE, 3 * DEADLINE_MS));
    for (int i = 0; i < MAKERS; i++)
        expect_equal(0, release_kept(objects[i]));
}

SUITE(iunknown);
