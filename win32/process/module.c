/* SPDX-License-Identifier: MIT */
/*
 * module.c - modules: shared objects, over dlopen. A module's handle is the dynamic linker's; a list of the handles
 * handed out lets these functions refuse any other value. The names of Windows' own modules (kernel32 and others) mean
 * this library.
 */
#include "win32/fork.h"

#include <windows.h>

#include "util/list.h"
#include "util/lock.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

struct module {
    struct list_node link;
    void *handle;
    /* LoadLibrary calls less FreeLibrary calls; 0: found by GetModuleHandle, other code keeps it loaded */
    unsigned loads;
};

static struct list_head modules = { { &modules.n, &modules.n } };
static struct lock modules_lock = LOCK_INIT(LOCK_WIN_HANDLES, "modules");
WIN_HELD_OVER_FORK(modules_lock);

static struct module *module_find_locked(const void *handle)
{
    list_for_each (&modules, node) {
        struct module *module = list_entry(node, struct module, link);

        if (module->handle == handle)
            return module;
    }
    return NULL;
}

static bool is_known(HMODULE handle)
{
    bool known;

    lock_acquire(&modules_lock);
    known = module_find_locked(handle) != NULL;
    lock_release(&modules_lock);
    return known;
}

/* Adds a handle, or loads more to its count. False: no memory. */
static bool module_note(void *handle, unsigned loads)
{
    struct module *module = malloc(sizeof(*module)), *found;

    if (!module)
        return false;
    module->handle = handle;
    module->loads = loads;
    lock_acquire(&modules_lock);
    if ((found = module_find_locked(handle)))
        found->loads += loads;
    else
        list_add_tail(&modules, &module->link);
    lock_release(&modules_lock);
    if (found)
        free(module);
    return true;
}

/* Whether a name is one of the modules of Windows whose functions are in this library, with or without ".dll". */
static bool is_ours(const char *name)
{
    static const char *const names[] = { "kernel32", "kernelbase", "ntdll", "ws2_32", "msvcrt",
        "ucrtbase", "psapi" };
    size_t length = strlen(name);

    if (length > 4 && !strcasecmp(name + length - 4, ".dll"))
        length -= 4;
    for (size_t i = 0; i < ARRAYSIZE(names); i++)
        if (length == strlen(names[i]) && !strncasecmp(name, names[i], length))
            return true;
    return false;
}

static void *open_named(const char *name, int mode)
{
    Dl_info info;

    if (!name)
        return dlopen(NULL, mode);
    if (is_ours(name) && dladdr(&modules, &info))
        name = info.dli_fname;
    return dlopen(name, mode);
}

static HMODULE fail(DWORD error)
{
    SetLastError(error);
    return NULL;
}

/* Folders that the linker is to search. */
#define SEARCHES                                                                                   \
    (LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_APPLICATION_DIR |                      \
        LOAD_LIBRARY_SEARCH_USER_DIRS | LOAD_LIBRARY_SEARCH_SYSTEM32 |                             \
        LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)

/*
 * LoadLibraryExA, LoadLibraryExW - loads a shared object, or counts one more load. The name is dlopen's: a path if
 * it has a slash, else the dynamic linker searches for it.
 * flags    0, LOAD_WITH_ALTERED_SEARCH_PATH, LOAD_LIBRARY_SEARCH_...: the search is the dynamic linker's anyway
 * Returns  NULL with ERROR_INVALID_PARAMETER (a file handle, another flag, LOAD_WITH_ALTERED_SEARCH_PATH beside others,
 *          LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR without the path from the root), ERROR_MOD_NOT_FOUND (no name, or it cannot
 *          be loaded), ERROR_NOT_ENOUGH_MEMORY.
 */
HMODULE WINAPI LoadLibraryExA(LPCSTR name, HANDLE file, DWORD flags)
{
    void *handle;

    if (file || (flags & ~(DWORD)(LOAD_WITH_ALTERED_SEARCH_PATH | SEARCHES)) ||
        ((flags & LOAD_WITH_ALTERED_SEARCH_PATH) && (flags & SEARCHES)) ||
        ((flags & LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR) && name && *name && *name != '/'))
        return fail(ERROR_INVALID_PARAMETER);
    if (!name || !*name || !(handle = open_named(name, RTLD_NOW | RTLD_LOCAL)))
        return fail(ERROR_MOD_NOT_FOUND);
    if (module_note(handle, 1))
        return handle;
    dlclose(handle);
    return fail(ERROR_NOT_ENOUGH_MEMORY);
}

HMODULE WINAPI LoadLibraryA(LPCSTR name)
{
    return LoadLibraryExA(name, NULL, 0);
}

/* Closes a module, and forgets its handle unless other code keeps it loaded: then it stays a handle. */
static void close_module(HMODULE handle)
{
    struct link_map *map = NULL;
    char *path = dlinfo(handle, RTLD_DI_LINKMAP, &map) ? NULL : strdup(map->l_name);
    struct module *gone = NULL;
    void *still;

    dlclose(handle);
    still = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    free(path);
    if (still)
        dlclose(still);
    if (still == handle)
        return;
    lock_acquire(&modules_lock);
    if ((gone = module_find_locked(handle)) && gone->loads)
        gone = NULL; /* loaded again meanwhile */
    if (gone)
        list_del(&gone->link);
    lock_release(&modules_lock);
    free(gone);
}

/* FreeLibrary - undoes one LoadLibrary. FALSE with ERROR_INVALID_HANDLE: not loaded by LoadLibrary. */
BOOL WINAPI FreeLibrary(HMODULE handle)
{
    struct module *module;
    bool loaded, last;

    lock_acquire(&modules_lock);
    module = handle ? module_find_locked(handle) : NULL;
    loaded = module && module->loads;
    last = loaded && --module->loads == 0;
    lock_release(&modules_lock);
    if (!loaded)
        SetLastError(ERROR_INVALID_HANDLE);
    else if (last)
        close_module(handle);
    else
        dlclose(handle);
    return loaded;
}

/*
 * GetModuleHandleA, GetModuleHandleW - a module that is loaded already, the program itself for NULL; not counted.
 * Returns NULL with ERROR_MOD_NOT_FOUND, ERROR_NOT_ENOUGH_MEMORY.
 */
HMODULE WINAPI GetModuleHandleA(LPCSTR name)
{
    void *handle = open_named(name, RTLD_LAZY | RTLD_NOLOAD);

    if (!handle)
        return fail(ERROR_MOD_NOT_FOUND);
    dlclose(handle);
    return module_note(handle, 0) ? handle : fail(ERROR_NOT_ENOUGH_MEMORY);
}

/*
 * GetProcAddress - a function or variable of a module; NULL for the program itself. It does not find functions of
 * Windows that this library lacks, as in an older Windows.
 * Returns NULL with ERROR_PROC_NOT_FOUND (also for a number in the place of a name), ERROR_MOD_NOT_FOUND (no module).
 */
FARPROC WINAPI GetProcAddress(HMODULE handle, LPCSTR name)
{
    void *address;

    if (handle ? !is_known(handle) : !(handle = GetModuleHandleA(NULL))) {
        SetLastError(ERROR_MOD_NOT_FOUND);
        return NULL;
    }
    address = (uintptr_t)name > 0xffff ? dlsym(handle, name) : NULL;
    if (!address)
        SetLastError(ERROR_PROC_NOT_FOUND);
    return (FARPROC)(uintptr_t)address;
}

/*
 * GetModuleFileNameA, GetModuleFileNameW - the path of a module, of the program for NULL.
 * Returns its length; size with ERROR_INSUFFICIENT_BUFFER where it does not fit: path then holds its beginning, with an
 * end; 0 with ERROR_MOD_NOT_FOUND.
 */
DWORD WINAPI GetModuleFileNameA(HMODULE handle, LPSTR path, DWORD size)
{
    struct link_map *map = NULL;
    char program[4096];
    const char *name = program;
    ssize_t got;
    size_t length;

    if (handle && is_known(handle) && !dlinfo(handle, RTLD_DI_LINKMAP, &map))
        name = map->l_name;
    else if (handle) {
        SetLastError(ERROR_MOD_NOT_FOUND);
        return 0;
    }
    if (!*name || !handle) {
        got = readlink("/proc/self/exe", program, sizeof(program) - 1);
        program[got > 0 ? got : 0] = 0;
        name = program;
    }
    length = strlen(name);
    if (!size || length >= size) {
        SetLastError(ERROR_INSUFFICIENT_BUFFER);
        length = size;
        if (size) {
            memcpy(path, name, size - 1);
            path[size - 1] = 0;
        }
        return size;
    }
    memcpy(path, name, length + 1);
    return (DWORD)length;
}
