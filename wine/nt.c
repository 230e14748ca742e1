/* SPDX-License-Identifier: MIT */
#include "wine/nt.h"

#include "util/log.h"

#include <dlfcn.h>

struct nt nt;

/*
 * No symbol and no version tells the convention. So the first register of either convention gets an address for the one
 * parameter, where to store the time; the address that the call wrote to tells which register it read. In Windows'
 * convention the four words on the stack belong to the callee.
 */
bool nd_nt_convention(void *query_system_time, bool *native)
{
    typedef LONG probe(LONGLONG * rdi, void *rsi, void *rdx, LONGLONG *rcx, void *r8, void *r9,
        void *home1, void *home2, void *home3, void *home4);
    LONGLONG if_native = 0, if_windows = 0;
    union {
        void *address;
        probe *call;
    } function = { query_system_time };

    function.call(&if_native, NULL, NULL, &if_windows, NULL, NULL, NULL, NULL, NULL, NULL);
    *native = if_native != 0;
    if (!if_native == !if_windows) {
        log_write(LOG_ERROR, LOG_WIN, "this Wine's ntdll.so has an unknown calling convention");
        return false;
    }
    return true;
}

static void *look_up(void *ntdll, const char *name)
{
    void *found = dlsym(ntdll, name);

    if (!found)
        log_write(LOG_ERROR, LOG_WIN, "this Wine's ntdll.so has no %s", name);
    return found;
}

bool nd_nt_init(void)
{
    void *ntdll = dlopen("ntdll.so", RTLD_LAZY | RTLD_NOLOAD), *found;
    bool native;

    if (!ntdll) {
        log_write(LOG_ERROR, LOG_WIN, "no ntdll.so in this process: is this Wine? (%s)", dlerror());
        return false;
    }
    if (!(found = look_up(ntdll, "NtQuerySystemTime")) || !nd_nt_convention(found, &native))
        return false;
#define LOOK_UP(name, ...)                                                                         \
    if (!(found = look_up(ntdll, #name)))                                                          \
        return false;                                                                              \
    if (native)                                                                                    \
        nt.name.native = (__typeof__(nt.name.native))found;                                        \
    else                                                                                           \
        nt.name.windows = (__typeof__(nt.name.windows))found;
    NT_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    return true;
}
