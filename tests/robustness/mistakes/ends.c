/* SPDX-License-Identifier: MIT */
/* ends.c - what the rows' ends have in common. */
#include "tests/robustness/mistakes/mistakes.h"

#include <stdio.h>
#include <stdlib.h>

#define ROW(name, value) { #name, (HRESULT)(value) },
static const struct {
    const char *name;
    HRESULT code;
} names[] = { SPEC_ND_CODES(ROW) SPEC_COM_CODES(ROW) };
#undef ROW

void mistake_say(const char *what, HRESULT hr)
{
    const char *name = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !name; i++)
        if (names[i].code == hr)
            name = names[i].name;
    if (name)
        printf("%s: %s\n", what, name);
    else
        printf("%s: 0x%08X\n", what, (unsigned)hr);
    fflush(stdout);
}

void mistake_result(struct nd2_end *end)
{
    ND2_RESULT result;

    if (nd2_end_results(end, &result, 1, ND_END_WAIT_MS))
        mistake_say(result.RequestContext, result.Status);
    else
        mistake_say("nothing", ND_PENDING);
}

IND2MemoryRegion *mistake_region(struct nd2_end *end, size_t octets, ULONG flags)
{
    IND2MemoryRegion *region;

    child_check(end->adapter->lpVtbl->CreateMemoryRegion(
                    end->adapter, &IID_IND2MemoryRegion, end->file, (void **)&region),
        end);
    child_check(nd2_end_wait(end, region,
                    region->lpVtbl->Register(region, end->memory, octets, flags,
                        nd_end_fresh(&end->overlapped, end->event)),
                    ND_END_WAIT_MS),
        end);
    return region;
}

void mistake_deregister(struct nd2_end *end, IND2MemoryRegion *region)
{
    child_check(nd2_end_wait(end, region,
                    region->lpVtbl->Deregister(region, nd_end_fresh(&end->overlapped, end->event)),
                    ND_END_WAIT_MS),
        end);
}

static void say_failed(const char *what, HRESULT hr)
{
    if (hr != ND_SUCCESS)
        mistake_say(what, hr);
}

void mistake_send(struct nd2_end *end, const void *memory, ULONG octets, UINT32 token)
{
    ND2_SGE sge = { (void *)memory, octets, token };

    say_failed("Send", end->qp->lpVtbl->Send(end->qp, "Send", &sge, 1, 0));
}

void mistake_receive(struct nd2_end *end, void *memory, ULONG octets, UINT32 token)
{
    ND2_SGE sge = { memory, octets, token };

    say_failed("Receive", end->qp->lpVtbl->Receive(end->qp, "Receive", &sge, 1));
}

void mistake_write(struct nd2_end *end, ULONG octets, uint64_t address, UINT32 token)
{
    ND2_SGE sge = { end->memory, octets, end->lkey };

    say_failed("Write", end->qp->lpVtbl->Write(end->qp, "Write", &sge, 1, address, token, 0));
}

void mistake_read(struct nd2_end *end, ULONG octets, uint64_t address, UINT32 token, UINT32 sink)
{
    ND2_SGE sge = { end->memory, octets, sink };

    say_failed("Read", end->qp->lpVtbl->Read(end->qp, "Read", &sge, 1, address, token, 0));
}

void mistake_wait_for_the_end(struct nd2_end *end)
{
    mistake_say("NotifyDisconnect", nd2_end_wait(end, end->connector,
                                        end->connector->lpVtbl->NotifyDisconnect(end->connector,
                                            nd_end_fresh(&end->overlapped, end->event)),
                                        ND_END_WAIT_MS));
}
