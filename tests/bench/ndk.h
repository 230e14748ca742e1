/* SPDX-License-Identifier: MIT */
/* ndk.h - what is measured through the kernel flavour. */
#ifndef TESTS_BENCH_NDK_H
#define TESTS_BENCH_NDK_H

#include "tests/support/ndk_end.h"

#include <stdbool.h>
#include <stdint.h>

/* Ends the process unless a call has succeeded. */
void ndk_must(NTSTATUS status, const char *what);

/* A fast region of this many pages, which peers may reach. */
NDK_MR *ndk_fast_region(struct ndk_end *end, ULONG pages);
/* The logical addresses of memory of this many pages; for the life of the process. */
const NDK_LOGICAL_ADDRESS *ndk_pages(struct ndk_end *end, void *memory, ULONG pages);
/* The next result, by polling; the process ends if it is a failure. */
NDK_RESULT_EX ndk_next(struct ndk_end *end);

/* A bench_process_fn: COUNT registrations and their ends by NdkFastRegister and NdkInvalidate; argument: the pages. */
enum { NDK_REGISTER_COUNT = 200000 };
uint64_t ndk_register_process(const void *argument);

/* bench_process_fns: transfers of 1 MiB to the client, by RDMA Write; argument: a struct ndk_transfers. */
struct ndk_transfers {
    /* As SMB Direct: the client registers and asks, the answer invalidates. Else there are Writes alone. */
    bool registers;
    unsigned count; /* those that are measured */
    int port[2];    /* a pipe: the server tells its port */
};
uint64_t ndk_client_process(const void *argument);
uint64_t ndk_server_process(const void *argument);

#endif
