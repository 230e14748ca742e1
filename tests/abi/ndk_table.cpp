// SPDX-License-Identifier: MIT
// ndk_table.cpp - the table as C++ sees it.
#include "ndk_table.h"
