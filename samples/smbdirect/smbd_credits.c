/* SPDX-License-Identifier: MIT */
#include "smbd_credits.h"

VOID SmbdCreditsAsked(SMBD_CREDITS *Credits, ULONG Count)
{
    if (Count < SMBD_LEAST_CREDITS)
        Count = SMBD_LEAST_CREDITS;
    Credits->Target = Count < Credits->Most ? Count : Credits->Most;
}

ULONG SmbdCreditsToGrant(const SMBD_CREDITS *Credits)
{
    return Credits->Posted - Credits->Granted;
}

BOOLEAN SmbdCreditsMaySend(const SMBD_CREDITS *Credits)
{
    return Credits->Send > 1 || (Credits->Send == 1 && SmbdCreditsToGrant(Credits));
}

USHORT SmbdCreditsGrant(SMBD_CREDITS *Credits)
{
    ULONG Count = SmbdCreditsToGrant(Credits);

    Credits->Granted += Count;
    Credits->Told = TRUE;
    return (USHORT)Count;
}

USHORT SmbdCreditsSent(SMBD_CREDITS *Credits)
{
    Credits->Send--;
    return SmbdCreditsGrant(Credits);
}

BOOLEAN SmbdCreditsReceived(SMBD_CREDITS *Credits, ULONG Granted)
{
    Credits->Posted--;
    if (!Credits->Granted)
        return FALSE;
    Credits->Granted--;
    Credits->Send += Granted;
    return TRUE;
}

BOOLEAN SmbdCreditsGrantDue(const SMBD_CREDITS *Credits)
{
    return Credits->Told && SmbdCreditsToGrant(Credits) && Credits->Granted <= Credits->Target / 2;
}
