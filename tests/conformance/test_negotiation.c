/* SPDX-License-Identifier: MIT */
/*
 * test_negotiation.c - what both sides exchange while they connect: private data and read limits.
 */
#include "fixture.h"

/* Private data */

static void connect_with_too_much_data(void)
{
    struct pair *pair = new_pair(NULL);
    ULONG limit = pair->active.node->info.MaxCallerData, size = 0;
    char *sent = keep_memory(limit + 1), *received = keep_memory(512);
    struct op *op = new_op();
    struct address address = test_address();
    expect_true(limit > 0);
    memset(sent, 'x', limit + 1);
    pair->options.connect_data = sent;
    pair->options.connect_length = limit + 1;
    expect_status(ND_INVALID_BUFFER_SIZE, start_connect(pair, op));
    if (!row_is_v1()) /* some programs bind again, and ignore the result */
        (void)CALL(pair->active.connector->v2, Bind, &address.any, address.length);
    pair->options.connect_length = limit;
    pair_request(pair);
    expect_status(ND_BUFFER_OVERFLOW, CALL(pair->passive.connector, GetPrivateData, NULL, &size));
    expect_true(size >= limit && size <= 512);
    expect_status(ND_SUCCESS, CALL(pair->passive.connector, GetPrivateData, received, &size));
    expect_equal(0, memcmp(sent, received, limit));
    pair_accept(pair);
    pair_complete(pair);
}

static void accept_with_too_much_data(void)
{
    struct pair *pair = new_pair(NULL);
    ULONG limit = pair->passive.node->info.MaxCalleeData, size = 512;
    char *sent = keep_memory(limit + 1), *received = keep_memory(size);
    struct op *op = new_op();
    expect_true(limit > 0);
    memset(sent, 'y', limit + 1);
    pair->options.accept_data = sent;
    pair->options.accept_length = limit + 1;
    pair_request(pair);
    expect_status(ND_INVALID_BUFFER_SIZE, start_accept(pair, op));
    pair->options.accept_length = limit;
    pair_accept(pair);
    expect_status(ND_SUCCESS, CALL(pair->active.connector, GetPrivateData, received, &size));
    expect_true(size >= limit);
    expect_equal(0, memcmp(sent, received, limit));
    pair_complete(pair);
}

static void private_data_both_ways(ULONG from_active, ULONG from_passive)
{
    char *hi = keep_memory(256), *ho = keep_memory(256), *got = keep_memory(512);
    ULONG size = 0;
    fill((BYTE *)hi, 256, from_active);
    fill((BYTE *)ho, 256, from_passive);
    note("%u octets, answered by %u", (unsigned)from_active, (unsigned)from_passive);
    struct pair *pair = new_pair(&(struct pair_options){ .connect_data = hi,
        .connect_length = from_active,
        .accept_data = ho,
        .accept_length = from_passive });
    pair_request(pair);
    struct connector *connector = pair->passive.connector;
    expect_status(ND_BUFFER_OVERFLOW, CALL(connector, GetPrivateData, NULL, &size));
    expect_true(size >= from_active && size <= 512);
    ULONG full = size;
    expect_status(ND_SUCCESS, CALL(connector, GetPrivateData, got, &size));
    expect_true(size >= from_active);
    expect_equal(0, memcmp(got, hi, from_active));

    /* A short buffer is filled, and the full size returned. */
    memset(got, 0, 512);
    size = from_active - 1;
    expect_status(ND_BUFFER_OVERFLOW, CALL(connector, GetPrivateData, got, &size));
    expect_equal(full, size);
    expect_equal(0, memcmp(got, hi, from_active - 1));
    expect_equal(0, got[from_active - 1]);

    pair_accept(pair);
    size = 512;
    expect_status(ND_SUCCESS, CALL(pair->active.connector, GetPrivateData, got, &size));
    expect_true(size >= from_passive);
    expect_equal(0, memcmp(got, ho, from_passive));
    pair_complete(pair);
}

static void private_data_arrives(void)
{
    private_data_both_ways(36, 4);
    private_data_both_ways(40, 36);
    private_data_both_ways(1, 1);
    private_data_both_ways(56, 148);
}

/* Read limits */

struct limits {
    ULONG active_in, active_out, passive_in, passive_out; /* asked for */
};

static void read_limits(struct limits asked)
{
    note("asked for %u/%u and %u/%u", (unsigned)asked.active_in, (unsigned)asked.active_out,
        (unsigned)asked.passive_in, (unsigned)asked.passive_out);
#define ASK(n) ((n) ? (n) : READS_NONE)
    struct pair *pair =
        new_pair(&(struct pair_options){ .active = { .inbound_reads = ASK(asked.active_in),
                                             .outbound_reads = ASK(asked.active_out) },
            .passive = { .inbound_reads = ASK(asked.passive_in),
                .outbound_reads = ASK(asked.passive_out) } });
    ULONG max_in = pair->active.node->info.MaxInboundReadLimit;
    ULONG max_out = pair->active.node->info.MaxOutboundReadLimit;
    ULONG in = 777, out = 777;
    pair_request(pair);
    expect_status(ND_SUCCESS, CALL(pair->passive.connector, GetReadLimits, &in, &out));
    ULONG offer_in = least(asked.active_out, max_in), offer_out = least(asked.active_in, max_out);
    expect_equal(offer_in, in);
    expect_equal(offer_out, out);
    pair_accept(pair);
    expect_status(ND_SUCCESS, CALL(pair->active.connector, GetReadLimits, &in, &out));
    expect_equal(least(asked.passive_out, offer_out), in);
    expect_equal(row_holds_in_full() ? least(asked.passive_in, offer_in) : offer_in, out);
    expect_status(ND_SUCCESS, CALL(pair->active.connector, GetReadLimits, &in, NULL));
    expect_status(ND_SUCCESS, CALL(pair->active.connector, GetReadLimits, NULL, &out));
    pair_complete(pair);
    exchange(&pair->active, &pair->passive);
}

static void read_limits_are_negotiated(void)
{
    read_limits((struct limits){ 4, 4, 4, 4 });
    read_limits((struct limits){ 2, 8, 8, 8 });
    read_limits((struct limits){ 8, 8, 3, 5 });
    read_limits((struct limits){ 6, 1, 2, 7 });
}

static void read_limits_of_zero(void)
{
    read_limits((struct limits){ 6, 0, 6, 6 });
    read_limits((struct limits){ 0, 6, 6, 6 });
    read_limits((struct limits){ 0, 0, 6, 6 });
    read_limits((struct limits){ 6, 6, 0, 0 });
    read_limits((struct limits){ 0, 0, 0, 0 });
}

static void read_limits_above_everything(void)
{
    read_limits((struct limits){ 256, 256, 256, 256 });
    read_limits((struct limits){ 300, 1000, 65536, 0x7FFFFFFF });
    read_limits((struct limits){ 0xFFFFFFFE, 255, 254, 0xFFFFFFFE });
}

SUITE(negotiation);
