/* SPDX-License-Identifier: MIT */
/*
 * test_adapter.c - IND2Adapter: Query, overlapped files, addresses.
 */
#include "fixture.h"

/* Query */

static void query_with_the_exact_size(void)
{
    IND2Adapter *adapter = new_node()->v2;
    ND2_ADAPTER_INFO info;
    ULONG size = sizeof(info);
    memset(&info, 0xEE, sizeof(info));
    info.InfoVersion = 0x20000;
    expect_status(ND_SUCCESS, CALL(adapter, Query, &info, &size));
    expect_equal(sizeof(info), size);
    expect_equal(0x20000, info.InfoVersion);
    expect_true(info.AdapterId != 0 && info.MaxRegistrationSize != 0 && info.MaxWindowSize != 0);
    expect_true(info.MaxInitiatorSge != 0 && info.MaxReceiveSge != 0 && info.MaxReadSge != 0);
    expect_true(info.MaxTransferLength != 0 && info.MaxInlineDataSize != 0);
    expect_true(info.MaxInboundReadLimit != 0 && info.MaxOutboundReadLimit != 0);
    expect_true(info.MaxReceiveQueueDepth != 0 && info.MaxInitiatorQueueDepth != 0);
    expect_true(info.MaxCompletionQueueDepth != 0);
    expect_true(info.InlineRequestThreshold <= info.MaxInlineDataSize);
    expect_true(info.MaxReadSge <= info.MaxInitiatorSge);
    expect_true(info.LargeRequestThreshold != 0);
    expect_true(info.MaxCallerData >= 56 && info.MaxCalleeData >= 148);
}

static void query_for_the_size(void)
{
    IND2Adapter *adapter = new_node()->v2;
    ULONG size = 0;
    expect_status(ND_BUFFER_OVERFLOW, CALL(adapter, Query, NULL, &size));
    expect_equal(sizeof(void *) == 8 ? 96 : 88, size);
}

static void query_into_too_small_a_buffer(void)
{
    IND2Adapter *adapter = new_node()->v2;
    ND2_ADAPTER_INFO info;
    ULONG size = sizeof(info) - 1;
    memset(&info, 0xEE, sizeof(info));
    info.InfoVersion = ND_VERSION_2;
    expect_status(ND_BUFFER_OVERFLOW, CALL(adapter, Query, &info, &size));
    expect_equal(sizeof(info), size);
    expect_equal(ND_VERSION_2, info.InfoVersion);
    for (size_t i = 4; i < sizeof(info); i++)
        expect_equal(0xEE, ((BYTE *)&info)[i]);
}

static void query_into_a_larger_buffer(void)
{
    IND2Adapter *adapter = new_node()->v2;
    struct {
        ND2_ADAPTER_INFO info;
        BYTE more[64];
    } buffer;
    ULONG size = sizeof(buffer);
    memset(&buffer, 0xEE, sizeof(buffer));
    buffer.info.InfoVersion = ND_VERSION_2;
    expect_status(ND_SUCCESS, CALL(adapter, Query, &buffer.info, &size));
    expect_equal(sizeof(buffer.info), size);
    for (size_t i = 0; i < sizeof(buffer.more); i++)
        expect_equal(0xEE, buffer.more[i]);
}

static void query_versions(void)
{
    static const struct {
        ULONG asked, told;
    } good[] = { { 0x20000, 0x20000 }, { 0, 0x20000 }, { 1, 1 } };
    static const ULONG bad[] = { 2, 3, 0x10000, 0x20001, 0x30000, 0xFFFFFFFF };
    IND2Adapter *adapter = new_node()->v2;
    ND2_ADAPTER_INFO info;
    ULONG size;
    for (int i = 0; i < 3; i++) {
        size = sizeof(info);
        info.InfoVersion = good[i].asked;
        expect_status(ND_SUCCESS, CALL(adapter, Query, &info, &size));
        expect_equal(good[i].told, info.InfoVersion);
    }
    for (int i = 0; i < 6; i++) {
        size = sizeof(info);
        info.InfoVersion = bad[i];
        expect_status(ND_NOT_SUPPORTED, CALL(adapter, Query, &info, &size));
    }
}

static void adapter_flags(void)
{
    struct node *node = new_node();
    ULONG flags = node->info.AdapterFlags;
    expect_true(flags & 0x00000001);       /* IN_ORDER_DMA_SUPPORTED */
    expect_true(!(flags & 0x00000004));    /* no CQ_INTERRUPT_MODERATION_SUPPORTED */
    expect_true(flags & 0x00010000);       /* LOOPBACK_CONNECTIONS_SUPPORTED */
    expect_equal(0, flags & ~0x0001010Du); /* nothing that has no name */
}

static void query_address_list(void)
{
    struct node *node = new_node();
    ULONG size = 0, needed;
    expect_status(ND_BUFFER_OVERFLOW, CALL(node->v2, QueryAddressList, NULL, &size));
    needed = size;
    BYTE *buffer = keep_memory(needed);
    memset(buffer, 0xBB, needed);
    size = needed - 1;
    expect_status(
        ND_BUFFER_OVERFLOW, CALL(node->v2, QueryAddressList, (SOCKET_ADDRESS_LIST *)buffer, &size));
    expect_equal(needed, size);
    for (ULONG i = 0; i < needed; i++)
        expect_equal(0xBB, buffer[i]);
    SOCKET_ADDRESS_LIST *list = (SOCKET_ADDRESS_LIST *)buffer;
    expect_status(ND_SUCCESS, CALL(node->v2, QueryAddressList, list, &size));
    struct address wanted = test_address();
    bool found = false;
    for (int i = 0; i < list->iAddressCount; i++) {
        struct address address;
        memset(&address, 0, sizeof(address));
        memcpy(&address.any, list->Address[i].lpSockaddr, (size_t)list->Address[i].iSockaddrLength);
        found = found || same_ip(&wanted, &address);
    }
    expect_true(found);
}

/* Files */

static void overlapped_files(void)
{
    struct node *node = new_node();
    HANDLE files[5];
    for (int i = 0; i < 5; i++) {
        files[i] = NULL;
        expect_status(ND_SUCCESS, CALL(node->v2, CreateOverlappedFile, &files[i]));
        expect_true(files[i] != NULL && files[i] != INVALID_HANDLE_VALUE);
        keep_handle(files[i]);
        for (int k = 0; k < i; k++)
            expect_true(files[k] != files[i]);
    }
    close_now(files[2]);
    /* The others are not touched by that. */
    IND2MemoryRegion *mr = NULL;
    expect_status(ND_SUCCESS,
        CALL(node->v2, CreateMemoryRegion, &IID_IND2MemoryRegion, files[3], (void **)&mr));
    keep_object(mr);
    expect_true(FAILED(CALL(node->v2, CreateOverlappedFile, NULL)));
}

static void objects_outlive_the_file_handle(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *ends[2] = { &pair->active, &pair->passive };
    for (int e = 0; e < 2; e++)
        if (e == 0 || ends[1]->node != ends[0]->node)
            close_file(ends[e]->node);
    exchange(ends[0], ends[1]);
    exchange(ends[1], ends[0]);
}

SUITE(adapter);
