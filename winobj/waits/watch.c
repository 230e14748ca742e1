/* SPDX-License-Identifier: MIT */
/* watch.c - waits without a thread (watch.h). */
#include "winobj/waits/watch.h"

bool win_watch_begin(
    struct win_watch *watch, struct win_waitable *object, struct reactor_source *source)
{
    bool satisfied;

    watch->object = object;
    watch->wait = (struct win_wait){
        .source = source,
        .objects = &watch->object,
        .count = 1,
        .satisfied = -1,
        .named = object->name >= 0,
        .others = -1,
    };
    if (!win_wait_begin(&watch->wait, &watch->link, &satisfied)) {
        watch->linked = false;
        return false;
    }
    watch->linked = !satisfied;
    if (satisfied)
        reactor_run(source);
    return true;
}

bool win_watch_satisfied(struct win_watch *watch)
{
    return watch->object && win_wait_satisfied(&watch->wait);
}

bool win_watch_end(struct win_watch *watch)
{
    bool satisfied;

    if (!watch->object)
        return false;
    if (watch->linked)
        win_wait_end(&watch->wait, &watch->link);
    satisfied = watch->wait.satisfied >= 0;
    watch->linked = false;
    watch->object = NULL;
    return satisfied;
}

void win_watch_forked(struct win_watch *watch)
{
    watch->object = NULL;
    watch->linked = false;
}
