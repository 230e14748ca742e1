/* SPDX-License-Identifier: MIT */
/* wire_end.h - one end of a connection whose peer is the test, octet by octet. */
#ifndef TESTS_UNIT_SOFTRDMA_WIRE_END_H
#define TESTS_UNIT_SOFTRDMA_WIRE_END_H

#include "stream_pair.h"

/* A lone end whose peer is the test: CRC on, no extension, RTR by Write expected on the responder. */
void open_end(struct pair *pair, struct end *end, bool initiator, bool rtr, bool crc);
/* Stores the CRC behind an FPDU of so many octets in all, CRC included; returns their number. */
uint32_t with_crc(uint8_t *fpdu, size_t total);

#endif
