/* SPDX-License-Identifier: MIT */
/* process.c - which process this is: counted up in the child of a fork, so that what the parent made is known. */
#include "softrdma/device.h"

unsigned srd_generation;
