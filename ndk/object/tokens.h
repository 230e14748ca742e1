/* SPDX-License-Identifier: MIT */
/*
 * tokens.h - local tokens: what NDK_SGE.MemoryRegionToken names, in a table of the protection domain.
 *
 * A token is an index of 24 bits and a generation of 8 bits, which changes when the place is used again. Posts look a
 * token up without a lock: the places never move.
 */
#ifndef NDK_OBJECT_TOKENS_H
#define NDK_OBJECT_TOKENS_H

#include "util/lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NDK_TOKEN_GENERATION_BITS = 8,
    NDK_TOKENS_IN_CHUNK = 4096,
    NDK_TOKEN_CHUNKS = (1 << 24) / NDK_TOKENS_IN_CHUNK,
    NDK_NO_TOKEN = 0, /* place 0 is never given out */
    NDK_PRIVILEGED_TOKEN = 1,
};

/* A place of the table. */
struct ndk_token {
    /* The key of the device (32 bits), the generation (8 bits), how it is in use (bits 40 and 41). */
    _Atomic uint64_t key;
    union {
        const void *region; /* NDK_TOKEN_OF_REGION */
        uint32_t next_free;
    };
};

#define NDK_TOKEN_IN_USE    (1ull << 40)
#define NDK_TOKEN_OF_REGION (1ull << 41) /* `region` is valid: the key is the region's */

struct ndk_tokens {
    struct lock lock; /* LOCK_NDK_MEMORY: taken to take or give back a token; down to free */
    uint32_t used;    /* places ever used, place 0 included */
    uint32_t free;    /* the first free one of these, 0: none */
    _Atomic(struct ndk_token *) *chunks;
};

/* Returns false: no memory. */
bool ndk_tokens_init(struct ndk_tokens *tokens);
void ndk_tokens_fini(struct ndk_tokens *tokens);

/* A token for a key of the device; NDK_NO_TOKEN: no memory, or all are in use. */
uint32_t ndk_tokens_take(struct ndk_tokens *tokens, uint32_t lkey);
/* A token for a region whose key is known only when a request is posted; NDK_NO_TOKEN as above. */
uint32_t ndk_tokens_take_region(struct ndk_tokens *tokens, const void *region);
/* Gives a token back. token in: what ndk_tokens_take returned, or NDK_NO_TOKEN */
void ndk_tokens_give_back(struct ndk_tokens *tokens, uint32_t token);

/* The place of a token; NULL: there is none. */
static inline struct ndk_token *ndk_tokens_place(const struct ndk_tokens *tokens, uint32_t token)
{
    uint32_t place = token >> NDK_TOKEN_GENERATION_BITS;
    struct ndk_token *chunk =
        atomic_load_explicit(&tokens->chunks[place / NDK_TOKENS_IN_CHUNK], memory_order_acquire);

    return chunk ? &chunk[place % NDK_TOKENS_IN_CHUNK] : NULL;
}

/* The region of a token of ndk_tokens_take_region, or NULL. */
static inline const void *ndk_tokens_region(const struct ndk_tokens *tokens, uint32_t token)
{
    const struct ndk_token *at = ndk_tokens_place(tokens, token);

    if (!at || atomic_load_explicit(&at->key, memory_order_acquire) !=
                   (NDK_TOKEN_OF_REGION | (uint64_t)(token & 0xff) << 32))
        return NULL;
    return at->region;
}

/* The key of a token. False: the token is not in use, or names a region of ndk_tokens_take_region. */
static inline bool ndk_tokens_find(const struct ndk_tokens *tokens, uint32_t token, uint32_t *lkey)
{
    const struct ndk_token *at = ndk_tokens_place(tokens, token);
    uint64_t key;

    if (!at)
        return false;
    key = atomic_load_explicit(&at->key, memory_order_acquire);
    *lkey = (uint32_t)key;
    return key >> 32 == (NDK_TOKEN_IN_USE >> 32 | (token & 0xff));
}

#endif
