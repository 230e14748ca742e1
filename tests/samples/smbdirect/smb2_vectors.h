/* SPDX-License-Identifier: MIT */
/*
 * smb2_vectors.h - messages and keys that others have published, in hexadecimal digits.
 *
 * Source: Microsoft's article "SMB 2 and SMB 3 security in Windows 10: the anatomy of signing and cryptographic keys",
 * the messages of its first channel with the dialect 3.1.1.
 */
#ifndef SMB2_VECTORS_H
#define SMB2_VECTORS_H

#include <stdint.h>

/* The length; octets out: as many as there are. */
uint32_t vector_octets(const char *digits, uint8_t *octets);

extern const char negotiate_request[], negotiate_answer[];
extern const char session_request[], session_answer[];
extern const char last_session_request[], last_session_answer[];

#endif
