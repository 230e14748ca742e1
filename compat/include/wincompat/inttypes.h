/* SPDX-License-Identifier: MIT */
/*
 * inttypes.h - the formats of <inttypes.h> for these printf and scanf, which take l for 32 bits. Only the types that
 * are a long of Linux differ.
 */
#ifndef WINCOMPAT_INTTYPES_H
#define WINCOMPAT_INTTYPES_H

#undef PRId64
#define PRId64 "lld"
#undef PRIi64
#define PRIi64 "lli"
#undef PRIo64
#define PRIo64 "llo"
#undef PRIu64
#define PRIu64 "llu"
#undef PRIx64
#define PRIx64 "llx"
#undef PRIX64
#define PRIX64 "llX"
#undef SCNd64
#define SCNd64 "lld"
#undef SCNi64
#define SCNi64 "lli"
#undef SCNo64
#define SCNo64 "llo"
#undef SCNu64
#define SCNu64 "llu"
#undef SCNx64
#define SCNx64 "llx"
#undef PRIdLEAST64
#define PRIdLEAST64 "lld"
#undef PRIiLEAST64
#define PRIiLEAST64 "lli"
#undef PRIoLEAST64
#define PRIoLEAST64 "llo"
#undef PRIuLEAST64
#define PRIuLEAST64 "llu"
#undef PRIxLEAST64
#define PRIxLEAST64 "llx"
#undef PRIXLEAST64
#define PRIXLEAST64 "llX"
#undef SCNdLEAST64
#define SCNdLEAST64 "lld"
#undef SCNiLEAST64
#define SCNiLEAST64 "lli"
#undef SCNoLEAST64
#define SCNoLEAST64 "llo"
#undef SCNuLEAST64
#define SCNuLEAST64 "llu"
#undef SCNxLEAST64
#define SCNxLEAST64 "llx"
#undef PRIdFAST16
#define PRIdFAST16 "lld"
#undef PRIiFAST16
#define PRIiFAST16 "lli"
#undef PRIoFAST16
#define PRIoFAST16 "llo"
#undef PRIuFAST16
#define PRIuFAST16 "llu"
#undef PRIxFAST16
#define PRIxFAST16 "llx"
#undef PRIXFAST16
#define PRIXFAST16 "llX"
#undef SCNdFAST16
#define SCNdFAST16 "lld"
#undef SCNiFAST16
#define SCNiFAST16 "lli"
#undef SCNoFAST16
#define SCNoFAST16 "llo"
#undef SCNuFAST16
#define SCNuFAST16 "llu"
#undef SCNxFAST16
#define SCNxFAST16 "llx"
#undef PRIdFAST32
#define PRIdFAST32 "lld"
#undef PRIiFAST32
#define PRIiFAST32 "lli"
#undef PRIoFAST32
#define PRIoFAST32 "llo"
#undef PRIuFAST32
#define PRIuFAST32 "llu"
#undef PRIxFAST32
#define PRIxFAST32 "llx"
#undef PRIXFAST32
#define PRIXFAST32 "llX"
#undef SCNdFAST32
#define SCNdFAST32 "lld"
#undef SCNiFAST32
#define SCNiFAST32 "lli"
#undef SCNoFAST32
#define SCNoFAST32 "llo"
#undef SCNuFAST32
#define SCNuFAST32 "llu"
#undef SCNxFAST32
#define SCNxFAST32 "llx"
#undef PRIdFAST64
#define PRIdFAST64 "lld"
#undef PRIiFAST64
#define PRIiFAST64 "lli"
#undef PRIoFAST64
#define PRIoFAST64 "llo"
#undef PRIuFAST64
#define PRIuFAST64 "llu"
#undef PRIxFAST64
#define PRIxFAST64 "llx"
#undef PRIXFAST64
#define PRIXFAST64 "llX"
#undef SCNdFAST64
#define SCNdFAST64 "lld"
#undef SCNiFAST64
#define SCNiFAST64 "lli"
#undef SCNoFAST64
#define SCNoFAST64 "llo"
#undef SCNuFAST64
#define SCNuFAST64 "llu"
#undef SCNxFAST64
#define SCNxFAST64 "llx"
#undef PRIdMAX
#define PRIdMAX "lld"
#undef PRIiMAX
#define PRIiMAX "lli"
#undef PRIoMAX
#define PRIoMAX "llo"
#undef PRIuMAX
#define PRIuMAX "llu"
#undef PRIxMAX
#define PRIxMAX "llx"
#undef PRIXMAX
#define PRIXMAX "llX"
#undef SCNdMAX
#define SCNdMAX "lld"
#undef SCNiMAX
#define SCNiMAX "lli"
#undef SCNoMAX
#define SCNoMAX "llo"
#undef SCNuMAX
#define SCNuMAX "llu"
#undef SCNxMAX
#define SCNxMAX "llx"
#undef PRIdPTR
#define PRIdPTR "lld"
#undef PRIiPTR
#define PRIiPTR "lli"
#undef PRIoPTR
#define PRIoPTR "llo"
#undef PRIuPTR
#define PRIuPTR "llu"
#undef PRIxPTR
#define PRIxPTR "llx"
#undef PRIXPTR
#define PRIXPTR "llX"
#undef SCNdPTR
#define SCNdPTR "lld"
#undef SCNiPTR
#define SCNiPTR "lli"
#undef SCNoPTR
#define SCNoPTR "llo"
#undef SCNuPTR
#define SCNuPTR "llu"
#undef SCNxPTR
#define SCNxPTR "llx"

#endif
