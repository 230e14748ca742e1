/* SPDX-License-Identifier: MIT */
/* com_error.cpp - the C++ part of test_com_error.c. */
#include "tests/unit/compat/com_error.h"

#include <comdef.h>

#include <string.h>

static void keep(char *to, size_t room, const _com_error &error)
{
    strncpy(to, error.ErrorMessage(), room - 1);
}

static HRESULT thrown_for(HRESULT hr)
{
    try {
        _com_util::CheckError(hr);
    } catch (const _com_error &error) {
        return error.Error();
    }
    return 1;
}

void com_error_ask(struct com_error_answers *answers)
{
    const _com_error error(E_OUTOFMEMORY);
    _com_error copy(error), other(E_FAIL);

    answers->error = error.Error();
    answers->copied = copy.Error();
    keep(answers->unknown, sizeof(answers->unknown), _com_error((HRESULT)0x8FFF1234));
    keep(answers->of_code_text, sizeof(answers->of_code_text), _com_error((HRESULT)0x80041FF0));
    answers->text_before = copy.ErrorMessage();
    answers->text_again = copy.ErrorMessage();
    copy = other;
    copy = *&copy;
    answers->assigned = copy.Error();
    answers->information = error.ErrorInfo();
    keep(answers->text, sizeof(answers->text), error);
    answers->none = error.WCode();
    answers->first = _com_error((HRESULT)0x80040203).WCode();
    answers->beyond = _com_error::HRESULTToWCode((HRESULT)0x80050000);
    answers->of_code = _com_error::WCodeToHRESULT(3);
    answers->of_large_code = _com_error::WCodeToHRESULT(0xFE01);
    answers->thrown = thrown_for(E_POINTER);
    answers->last = thrown_for(S_FALSE);
    try {
        _com_issue_error(E_ABORT);
    } catch (_com_error &raised) {
        answers->raised = raised.Error();
    }
}
