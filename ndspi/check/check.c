/* SPDX-License-Identifier: MIT */
#include "ndspi/check/check.h"

#include "ndspi/check/tables.h"

bool nd_check_on(void)
{
    return nd_check_mode() != ND_CHECK_OFF;
}

HRESULT nd_check_wrap_provider1(HRESULT hr, void **out)
{
    return nd_check_made("DllGetClassObject", hr, &nd_check_provider1, out);
}

HRESULT nd_check_wrap_provider2(HRESULT hr, void **out)
{
    return nd_check_made("DllGetClassObject", hr, &nd_check_provider2, out);
}
