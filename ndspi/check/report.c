/* SPDX-License-Identifier: MIT */
#include "ndspi/check/report.h"

#include "ndspi/check/object.h"

#include "util/complaint.h"
#include "util/settings.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { HAPPENED = 512 };

static const struct {
    const char *rule, *advice;
} texts[] = {
#define ROW(name, rule, advice) [ND_CHECK_##name] = { rule, advice },
    ND_CHECK_RULES(ROW)
};

enum nd_check_mode nd_check_mode(void)
{
    static const char *const words[] = { "0", "1", "log", NULL };

    return (enum nd_check_mode)setting_word("NDSPI_CHECK", words);
}

/* A misuse whose place in the table another one has taken may be reported again. */
static bool first_time(enum nd_check_rule rule, const char *call, const void *object)
{
    static struct told {
        enum nd_check_rule rule;
        const char *call;
        const void *object;
    } table[1024];
    uint64_t hash = ((uintptr_t)object * 31 + (uintptr_t)call) * 31 + rule;
    struct told *told = &table[(hash * 0x9e3779b97f4a7c15u) >> 54];

    if (told->call == call && told->object == object && told->rule == rule)
        return false;
    *told = (struct told){ .rule = rule, .call = call, .object = object };
    return true;
}

/* Where the program goes on no debugger shows the call. A report of another thread, or of a later call, has no site. */
static void add_site(const char *call, char *text, size_t room)
{
    const struct nd_check_call *current = nd_check_current();
    char place[ND_CHECK_PLACE_OCTETS];
    struct nd_check_place here;

    if (!current || current->name != call || nd_check_mode() != ND_CHECK_LOG ||
        !nd_check_place_known())
        return;
    nd_check_place_here(&here);
    snprintf(text, room, "; called at %s", nd_check_place_text(&here, place));
}

void nd_check_tell_locked(enum nd_check_rule rule, const char *call, const char *kind,
    const void *object, const char *format, ...)
{
    char happened[HAPPENED + ND_CHECK_PLACE_OCTETS];
    va_list arguments;
    int length;

    lock_assert_held(&nd_check_lock);
    if (!first_time(rule, call, object))
        return;
    va_start(arguments, format);
    length = vsnprintf(happened, HAPPENED, format, arguments);
    va_end(arguments);
    if (length >= 0 && length < HAPPENED)
        add_site(call, happened + length, sizeof(happened) - (size_t)length);
    complaint_write(
        "NDSPI_CHECK", call, kind, object, happened, texts[rule].rule, texts[rule].advice);
}

void nd_check_told(void)
{
    if (nd_check_mode() != ND_CHECK_LOG)
        abort();
}
