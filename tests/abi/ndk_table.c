/* SPDX-License-Identifier: MIT */
/* ndk_table.c - the table as C sees it. */
#include "ndk_table.h"
