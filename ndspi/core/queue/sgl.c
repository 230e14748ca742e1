/* SPDX-License-Identifier: MIT */
#include "ndspi/core/queue/sgl.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/adapter/region_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An entry of a list of either version. */
struct piece {
    const void *data;
    size_t length;
    bool inlined;
    uint32_t token;
};

/* Returns false: its handle is not valid. The handle of an empty entry is not checked. */
static bool read_piece(
    const struct nd_queue *queue, const void *list, size_t at, struct piece *piece)
{
    if (queue->regions) {
        const ND_SGE *entry = (const ND_SGE *)list + at;

        *piece = (struct piece){
            .data = entry->pAddr, .length = entry->Length, .inlined = !entry->hMr && entry->Length
        };
        return !entry->Length || !entry->hMr ||
               nd_region_token(queue->regions, &entry->hMr, &piece->token);
    }
    const ND2_SGE *entry = (const ND2_SGE *)list + at;

    *piece = (struct piece){
        .data = entry->Buffer, .length = entry->BufferLength, .token = entry->MemoryRegionToken
    };
    return true;
}

static HRESULT measure_v2(struct nd_sgl *sgl, const struct nd_queue *queue, bool inlines)
{
    uint64_t total = 0;

    for (size_t i = 0; i < sgl->n; i++) {
        uint32_t length = ((const ND2_SGE *)sgl->list)[i].BufferLength;

        total += length;
        sgl->filled += length != 0;
    }
    if (total > (inlines ? queue->max_inline : queue->max_length))
        return ND_BUFFER_OVERFLOW;
    sgl->total = (uint32_t)total;
    sgl->mode = inlines && total ? ND_SGL_INLINE : ND_SGL_REGISTERED;
    return ND_SUCCESS;
}

static HRESULT measure_v1(struct nd_sgl *sgl, const struct nd_queue *queue, bool inlines)
{
    uint64_t total = 0, inlined = 0;
    struct piece piece;

    for (size_t i = 0; i < sgl->n; i++) {
        if (!read_piece(queue, sgl->list, i, &piece) || (piece.inlined && !inlines))
            return ND_INVALID_HANDLE;
        if (piece.length > UINT32_MAX)
            return ND_BUFFER_OVERFLOW;
        total += piece.length;
        sgl->filled += piece.length != 0;
        inlined += piece.inlined ? piece.length : 0;
    }
    if (total > queue->max_length || inlined > queue->max_inline)
        return ND_BUFFER_OVERFLOW;
    sgl->total = (uint32_t)total;
    sgl->mode = !inlined                     ? ND_SGL_REGISTERED
                : total <= queue->max_inline ? ND_SGL_INLINE
                                             : ND_SGL_STAGED;
    return ND_SUCCESS;
}

HRESULT nd_sgl_measure(
    struct nd_sgl *sgl, const struct nd_queue *queue, const void *list, uint32_t n, bool inlines)
{
    sgl->list = list;
    sgl->n = n;
    sgl->filled = 0;
    if (n > queue->max_sge && (queue->regions || !inlines)) /* v2 inline: any number */
        return ND_DATA_OVERRUN;
    if (n && !list)
        return ND_INVALID_PARAMETER_2;
    return queue->regions ? measure_v1(sgl, queue, inlines) : measure_v2(sgl, queue, inlines);
}

/* Copies inline data into one piece: it has more entries than the device takes, or must outlast the call. */
static void gather(
    const struct nd_sgl *sgl, const struct nd_queue *queue, uint8_t *data, struct ibv_sge *whole)
{
    struct piece piece;
    uint8_t *at = data;

    for (size_t i = 0; i < sgl->n; i++) {
        read_piece(queue, sgl->list, i, &piece);
        if (piece.length)
            memcpy(at, piece.data, piece.length);
        at += piece.length;
    }
    *whole = (struct ibv_sge){ .addr = (uintptr_t)data, .length = (uint32_t)(at - data) };
}

static bool take_slot_locked(struct nd_queue *queue, struct nd_request *request)
{
    /* Acquire: the device is done with it; pairs with nd_staging_free. */
    uint32_t free = atomic_load_explicit(&queue->staging_free, memory_order_acquire);

    if (!free)
        return false;
    request->slot = (uint32_t)__builtin_ctz(free);
    request->special |= ND_REQUEST_STAGED;
    atomic_fetch_and_explicit(&queue->staging_free, ~(1u << request->slot), memory_order_relaxed);
    return true;
}

void nd_staging_free(struct nd_queue *queue, const struct nd_request *request)
{
    atomic_fetch_or_explicit(&queue->staging_free, 1u << request->slot, memory_order_release);
}

/* Leaves out empty entries: they crash the kernel of one device, and others may check their tokens. */
static void pick_filled(const struct nd_sgl *sgl, struct ibv_sge *sges)
{
    const struct ibv_sge *list = sgl->list;

    for (size_t i = 0; i < sgl->n; i++)
        if (list[i].length)
            *sges++ = list[i];
}

/* v1: handles to tokens, inline entries to the slot, if there is one; empty entries are left out. */
static HRESULT translate_locked(const struct nd_sgl *sgl, struct nd_queue *queue,
    const struct nd_request *request, struct ibv_sge *sges)
{
    bool staged = sgl->mode == ND_SGL_STAGED;
    uint8_t *slot = staged ? queue->staging + (size_t)request->slot * queue->max_inline : NULL;
    struct piece piece;

    for (size_t i = 0; i < sgl->n; i++) {
        if (!read_piece(queue, sgl->list, i, &piece))
            return ND_INVALID_HANDLE;
        if (!piece.length)
            continue;
        *sges = (struct ibv_sge){
            .addr = (uintptr_t)piece.data, .length = (uint32_t)piece.length, .lkey = piece.token
        };
        if (staged && piece.inlined) {
            memcpy(slot, piece.data, piece.length);
            sges->addr = (uintptr_t)slot;
            sges->lkey = queue->staging_mr->lkey;
            slot += piece.length;
        }
        sges++;
    }
    return ND_SUCCESS;
}

HRESULT nd_sgl_place_locked(const struct nd_sgl *sgl, struct nd_queue *queue,
    struct nd_request *request, struct ibv_sge *sges, uint8_t *data, struct ibv_sge **sg_list,
    int *num_sge)
{
    HRESULT status;

    lock_assert_held(&queue->lock);
    *num_sge = (int)sgl->filled;
    *sg_list = sges;
    if (!sgl->total) {
        *num_sge = 0; /* tokens of empty entries are not checked */
        return ND_SUCCESS;
    }
    if (sgl->mode == ND_SGL_INLINE && (data || sgl->n > queue->max_sge)) {
        *num_sge = 1;
        gather(sgl, queue, data ? data : queue->bounce, sges);
        return ND_SUCCESS;
    }
    if (!queue->regions) {
        /* A request that is kept (data) must not need the client's list. */
        if (sgl->filled == sgl->n && !data)
            *sg_list = (struct ibv_sge *)(uintptr_t)sgl->list;
        else
            pick_filled(sgl, sges);
        return ND_SUCCESS;
    }
    if (sgl->mode == ND_SGL_STAGED && !take_slot_locked(queue, request))
        return ND_NO_MORE_ENTRIES;
    status = translate_locked(sgl, queue, request, sges);
    if (FAILED(status) && request->special & ND_REQUEST_STAGED)
        nd_staging_free(queue, request);
    return status;
}

int nd_staging_init(struct nd_queue *queue, struct nd_adapter *adapter, uint32_t depth)
{
    uint32_t slots = depth < ND_STAGING_SLOTS ? depth : ND_STAGING_SLOTS;
    size_t size = (size_t)slots * queue->max_inline;

    if (!size || queue->max_sge < 2 || !queue->regions)
        return 0;
    if (!(queue->staging = malloc(size)))
        return ENOMEM;
    queue->staging_mr = adapter->verbs->reg_mr(adapter->port.pd, queue->staging, size, 0);
    if (!queue->staging_mr)
        return errno ? errno : ENOMEM;
    atomic_init(&queue->staging_free, (1u << slots) - 1);
    return 0;
}

void nd_staging_fini(struct nd_queue *queue, struct nd_adapter *adapter)
{
    if (queue->staging_mr)
        adapter->verbs->dereg_mr(queue->staging_mr);
    free(queue->staging);
}
