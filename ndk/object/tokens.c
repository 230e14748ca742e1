/* SPDX-License-Identifier: MIT */
#include "ndk/object/tokens.h"

#include <stdlib.h>

bool ndk_tokens_init(struct ndk_tokens *tokens)
{
    lock_init(&tokens->lock, LOCK_NDK_MEMORY, "local tokens");
    tokens->used = 1;
    tokens->free = 0;
    tokens->chunks = calloc(NDK_TOKEN_CHUNKS, sizeof(*tokens->chunks));
    return tokens->chunks;
}

void ndk_tokens_fini(struct ndk_tokens *tokens)
{
    for (int i = 0; i < NDK_TOKEN_CHUNKS; i++)
        free(atomic_load_explicit(&tokens->chunks[i], memory_order_relaxed));
    free(tokens->chunks);
}

static struct ndk_token *at_locked(struct ndk_tokens *tokens, uint32_t place)
{
    return &atomic_load_explicit(&tokens->chunks[place / NDK_TOKENS_IN_CHUNK],
        memory_order_relaxed)[place % NDK_TOKENS_IN_CHUNK];
}

/* Returns a place, or 0. */
static uint32_t new_place_locked(struct ndk_tokens *tokens)
{
    uint32_t place = tokens->used, chunk = place / NDK_TOKENS_IN_CHUNK;

    if (chunk == NDK_TOKEN_CHUNKS)
        return 0;
    if (!atomic_load_explicit(&tokens->chunks[chunk], memory_order_relaxed)) {
        struct ndk_token *places = calloc(NDK_TOKENS_IN_CHUNK, sizeof(*places));

        if (!places)
            return 0;
        atomic_store_explicit(&tokens->chunks[chunk], places, memory_order_release);
    }
    tokens->used++;
    return place;
}

/* use in: the value of the place without its generation */
static uint32_t take(struct ndk_tokens *tokens, uint64_t use, const void *region)
{
    uint32_t place, token = NDK_NO_TOKEN;

    lock_acquire(&tokens->lock);
    if ((place = tokens->free))
        tokens->free = at_locked(tokens, place)->next_free;
    else
        place = new_place_locked(tokens);
    if (place) {
        struct ndk_token *at = at_locked(tokens, place);
        uint8_t generation =
            (uint8_t)((atomic_load_explicit(&at->key, memory_order_relaxed) >> 32) + 1);

        at->region = region;
        atomic_store_explicit(&at->key, use | (uint64_t)generation << 32, memory_order_release);
        token = place << NDK_TOKEN_GENERATION_BITS | generation;
    }
    lock_release(&tokens->lock);
    return token;
}

uint32_t ndk_tokens_take(struct ndk_tokens *tokens, uint32_t lkey)
{
    return take(tokens, NDK_TOKEN_IN_USE | lkey, NULL);
}

uint32_t ndk_tokens_take_region(struct ndk_tokens *tokens, const void *region)
{
    return take(tokens, NDK_TOKEN_OF_REGION, region);
}

void ndk_tokens_give_back(struct ndk_tokens *tokens, uint32_t token)
{
    uint32_t place = token >> NDK_TOKEN_GENERATION_BITS;
    struct ndk_token *at;

    if (token == NDK_NO_TOKEN)
        return;
    lock_acquire(&tokens->lock);
    at = at_locked(tokens, place);
    atomic_store_explicit(&at->key, (uint64_t)(token & 0xff) << 32, memory_order_release);
    at->next_free = tokens->free;
    tokens->free = place;
    lock_release(&tokens->lock);
}
