// SPDX-License-Identifier: MIT
// abi_table.cpp - the table as C++ sees it.
#include "abi_table.h"

__attribute__((section(".abi"), used)) constexpr abi_table abi_table = {
    sizeof(void *),
    1,
    sizeof(struct abi_table),
#include "abi.def"
};
