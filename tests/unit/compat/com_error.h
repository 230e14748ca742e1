/* SPDX-License-Identifier: MIT */
/* com_error.h - what com_error.cpp asks of _com_error. */
#ifndef TESTS_UNIT_COMPAT_COM_ERROR_H
#define TESTS_UNIT_COMPAT_COM_ERROR_H

#include <windows.h>

struct com_error_answers {
    HRESULT error, copied, assigned, thrown, raised, last;
    WORD none, first, beyond;
    HRESULT of_code, of_large_code;
    char text[128], of_code_text[64], unknown[64];
    const void *text_again, *text_before; /* the same text, asked twice */
    const void *information;
};

#ifdef __cplusplus
extern "C" {
#endif
void com_error_ask(struct com_error_answers *answers);
#ifdef __cplusplus
}
#endif

#endif
