/* SPDX-License-Identifier: MIT */
/* own_folder.h - a folder in which a test of files is alone, and files in it. */
#ifndef TESTS_UNIT_WIN32_FILES_OWN_FOLDER_H
#define TESTS_UNIT_WIN32_FILES_OWN_FOLDER_H

#include "tests/support/win32_test.h"

/* Makes and enters a folder; name: the test's. Returns the folder's name; NULL: that failed. */
static inline const char *enter_own_folder(const char *name)
{
    const char *folder = own_name(name);

    CreateDirectoryA(folder, NULL); /* one may be left of a run that failed */
    return SetCurrentDirectoryA(folder) ? folder : NULL;
}

/* Leaves and removes the folder, which is empty again. */
static inline bool leave_own_folder(const char *folder)
{
    return SetCurrentDirectoryA("..") && RemoveDirectoryA(folder);
}

static inline void make_file(const char *name, const char *text)
{
    HANDLE file = CreateFileA(name, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    DWORD done;

    assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
    assert_true(WriteFile(file, text, (DWORD)strlen(text), &done, NULL));
    assert_true(CloseHandle(file));
}

#endif
