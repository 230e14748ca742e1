/* SPDX-License-Identifier: MIT */
/* file.h - what ZwCreateFile does, behind the name. */
#ifndef NDK_WDM_FILE_H
#define NDK_WDM_FILE_H

#include <ndkwdm.h>

/* As ZwCreateFile, which says what is returned. path: of Linux. information out: FILE_OPENED, ... */
NTSTATUS ndk_file_open(PHANDLE file, const char *path, ULONG access, ULONG disposition,
    ULONG options, ULONG_PTR *information);

#endif
