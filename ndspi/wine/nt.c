/* SPDX-License-Identifier: MIT */
#include "ndspi/wine/nt.h"

#include "util/log.h"

#include <dlfcn.h>

struct nt nt;

bool nd_nt_init(void)
{
    void *ntdll = dlopen("ntdll.so", RTLD_LAZY | RTLD_NOLOAD);

    if (!ntdll) {
        log_write(LOG_ERROR, LOG_WIN, "no ntdll.so in this process: is this Wine? (%s)", dlerror());
        return false;
    }
#define LOOK_UP(name, ...)                                                                         \
    if (!(nt.name = dlsym(ntdll, #name))) {                                                        \
        log_write(LOG_ERROR, LOG_WIN, "this Wine's ntdll.so has no %s", #name);                    \
        return false;                                                                              \
    }
    NT_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    return true;
}
