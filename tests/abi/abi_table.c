/* SPDX-License-Identifier: MIT */
/* abi_table.c - the table as C sees it. */
#include "abi_table.h"

__attribute__((section(".abi"), used)) const struct abi_table abi_table = {
    sizeof(void *),
    0,
    sizeof(struct abi_table),
#include "abi.def"
};
