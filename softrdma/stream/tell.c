/* SPDX-License-Identifier: MIT */
/*
 * tell.c - logs why a stream ends by an error. The end that finds the error says what was requested and why it is
 * refused; the other end says which of its requests the Terminate is about. Both lines are warnings, since programs see
 * only a code; log_limited keeps a flood of them short.
 */
#include "softrdma/stream/internal.h"

#include "softrdma/wire/fault.h"
#include "util/log.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>

enum { WHAT = 160, WHY = 256 };

#define TERMINATE " (Terminate %x/%x/%02x)"

/* NetworkDirect's remote tokens are keys in network byte order, so the log has both. */
#define TOKEN       "token 0x%08x (rkey 0x%08x)"
#define TOKEN_(key) htobe32(key), (key)

/* --- requests of this end ----------------------------------------------------------------------------------------- */

/* A request of ours, copied under the queue's lock. */
struct request {
    struct ibv_sge sge[SRD_MAX_SGE];
    struct srd_sqe sqe; /* its tail is not copied */
};

/* Copies the request with a count in the send queue. False: it is not outstanding any more. */
static bool copy_request(struct srd_qp *qp, uint32_t count, struct request *request)
{
    struct srd_sq *sq = &qp->sq;
    struct srd_sqe *sqe = srd_sqe_at(sq, count);
    uint32_t tail, head;

    lock_acquire(&sq->lock);
    tail = atomic_load_explicit(&sq->tail, memory_order_relaxed);
    head = atomic_load_explicit(&sq->head, memory_order_relaxed);
    /* Only the members that the post has set: the sending thread may change others now. */
    request->sqe.kind = sqe->kind;
    request->sqe.wire_opcode = sqe->wire_opcode;
    request->sqe.inlined = sqe->inlined;
    request->sqe.num_sge = sqe->num_sge;
    request->sqe.octets = sqe->octets;
    request->sqe.rkey = sqe->rkey;
    request->sqe.remote_addr = sqe->remote_addr;
    if (!srd_sqe_is_local(sqe))
        memcpy(request->sge, srd_sqe_sge(sqe), sqe->num_sge * sizeof(request->sge[0]));
    lock_release(&sq->lock);
    return count - tail < head - tail;
}

static void describe_request(const struct srd_sqe *sqe, char *what)
{
    static const char *const names[] = {
        [SRD_SQE_WRITE] = "Write",
        [SRD_SQE_READ] = "Read",
        [SRD_SQE_FETCH_ADD] = "fetch-and-add",
        [SRD_SQE_CMP_SWAP] = "compare-and-swap",
        [SRD_SQE_BIND] = "Bind",
        [SRD_SQE_INVALIDATE] = "Invalidate",
        [SRD_SQE_FAST_REG] = "fast registration",
    };

    if (sqe->kind != SRD_SQE_SEND)
        snprintf(what, WHAT, "%s of %" PRIu32 " bytes %s " TOKEN ", address 0x%" PRIx64,
            names[sqe->kind], sqe->octets, sqe->kind == SRD_SQE_READ ? "from" : "to",
            TOKEN_(sqe->rkey), sqe->remote_addr);
    else if (sqe->wire_opcode == SRD_OP_SEND_INV || sqe->wire_opcode == SRD_OP_SEND_SE_INV)
        snprintf(what, WHAT, "Send of %" PRIu32 " bytes that invalidates " TOKEN, sqe->octets,
            TOKEN_(sqe->rkey));
    else
        snprintf(what, WHAT, "Send of %" PRIu32 " bytes", sqe->octets);
}

/* Explains which entry of a list the table refuses. The regions of pd count. */
static void explain_list(struct srd_qp *qp, const struct ibv_pd *pd, const struct ibv_sge *sge,
    uint32_t num_sge, int access, char *why)
{
    char reason[WHY / 2];

    for (uint32_t i = 0; i < num_sge; i++) {
        const struct srd_stag_question question = { .pd = pd,
            .key = sge[i].lkey,
            .addr = sge[i].addr,
            .length = sge[i].length,
            .access = access };

        if (!sge[i].length || !srd_stag_explain(qp, &question, reason, sizeof(reason)))
            continue;
        snprintf(why, WHY,
            "entry %" PRIu32 ", %" PRIu32 " bytes at 0x%" PRIx64 ", token 0x%08x: %s", i + 1,
            sge[i].length, sge[i].addr, sge[i].lkey, reason);
        return;
    }
    snprintf(why, WHY, "its memory is registered, but not all of it is mapped");
}

/* Explains why a request of this end failed before it was sent, or why its response cannot be placed. */
static void explain_own(
    struct srd_qp *qp, const struct request *request, enum ibv_wc_status status, char *why)
{
    const struct srd_sqe *sqe = &request->sqe;
    bool reads = sqe->kind == SRD_SQE_READ || srd_sqe_is_atomic(sqe);
    int access = reads ? srd_sink_access(qp, sqe) : 0;

    if (status == IBV_WC_LOC_PROT_ERR && !srd_sqe_is_local(sqe) && !sqe->inlined)
        explain_list(qp, qp->qp.pd, request->sge, sqe->num_sge, access, why);
    else if (reads && !qp->stream.params.ord)
        snprintf(why, WHY,
            "no Read may be under way: the peer's inbound read limit or this end's outbound one is "
            "0");
    else if (sqe->kind == SRD_SQE_BIND)
        snprintf(why, WHY, "the window is bound already, or its region or range does not allow it");
    else if (sqe->kind == SRD_SQE_FAST_REG)
        snprintf(
            why, WHY, "the region is registered already, or its pages or rights make no sense");
    else if (sqe->kind == SRD_SQE_INVALIDATE)
        snprintf(why, WHY, "no window of this queue pair, and no fast region, has this token now");
    else
        snprintf(why, WHY, "this peer does not know it, or its list is too long");
}

/* --- requests of the peer ----------------------------------------------------------------------------------------- */

/* Whether the fault is a refusal of the STag table, or missing memory. */
static bool is_of_table(srd_fault fault)
{
    return fault == SRD_FAULT_LOCAL || fault >> 8 == 0x01 ||
           (fault >> 8 == 0x11 && fault != SRD_FAULT_TAGGED_VERSION);
}

static void describe_write(struct srd_qp *qp, srd_fault fault, const struct srd_segment *segment,
    uint32_t payload, char *what, char *why)
{
    const struct srd_stag_question question = { .pd = qp->qp.pd,
        .key = segment->stag,
        .addr = segment->to,
        .length = payload,
        .access = IBV_ACCESS_REMOTE_WRITE,
        .remote = true };

    snprintf(what, WHAT, "Write of %s%" PRIu32 " bytes to " TOKEN ", address 0x%" PRIx64,
        segment->last ? "" : "at least ", payload, TOKEN_(segment->stag), segment->to);
    if (is_of_table(fault))
        srd_stag_explain(qp, &question, why, WHY);
}

static void describe_read(
    struct srd_qp *qp, srd_fault fault, const uint8_t *header, char *what, char *why)
{
    struct srd_read_request request;
    struct srd_stag_question question = {
        .pd = qp->qp.pd, .access = IBV_ACCESS_REMOTE_READ, .remote = true
    };

    srd_read_request_decode(&request, header);
    question.key = request.source_stag;
    question.addr = request.source_to;
    question.length = request.octets;
    snprintf(what, WHAT, "Read of %" PRIu32 " bytes from " TOKEN ", address 0x%" PRIx64,
        request.octets, TOKEN_(question.key), question.addr);
    if (fault == SRD_FAULT_NO_BUFFER)
        snprintf(why, WHY, "so many Reads are under way as this end serves at once: %u",
            qp->stream.params.ird);
    else if (is_of_table(fault))
        srd_stag_explain(qp, &question, why, WHY);
}

static void describe_atomic(
    struct srd_qp *qp, srd_fault fault, const uint8_t *header, char *what, char *why)
{
    struct srd_atomic_request request;
    struct srd_stag_question question = { .pd = qp->qp.pd,
        .length = sizeof(uint64_t),
        .access = IBV_ACCESS_REMOTE_ATOMIC,
        .remote = true };

    srd_atomic_request_decode(&request, header);
    question.key = request.stag;
    question.addr = request.to;
    snprintf(what, WHAT, "atomic operation on " TOKEN ", address 0x%" PRIx64, TOKEN_(request.stag),
        request.to);
    if (is_of_table(fault))
        srd_stag_explain(qp, &question, why, WHY);
}

static void describe_send(struct srd_qp *qp, srd_fault fault, const struct srd_segment *segment,
    uint32_t payload, char *what, char *why)
{
    const struct srd_rx *rx = &qp->stream.rx;
    const struct srd_stag_question question = {
        .pd = qp->qp.pd, .key = segment->stag, .remote = true, .invalidate = true
    };
    int at = snprintf(what, WHAT, "Send of %s%" PRIu64 " bytes", segment->last ? "" : "at least ",
        (uint64_t)segment->mo + payload);

    switch (fault) {
    case SRD_FAULT_NO_BUFFER: snprintf(why, WHY, "no Receive was posted in time"); break;
    case SRD_FAULT_TOO_LONG:
        snprintf(why, WHY, "its Receive has room for %" PRIu64, rx->receive.octets);
        break;
    case SRD_FAULT_INVALIDATE:
    case SRD_FAULT_PROTECTION_INVALIDATE:
        snprintf(what + at, WHAT - (size_t)at, " that invalidates " TOKEN, TOKEN_(segment->stag));
        srd_stag_explain(qp, &question, why, WHY);
        break;
    default: break;
    }
}

/* Whether the fault is the refusal of a request of the peer's; then describes the request, and why it is refused. */
static bool describe_refused(struct srd_qp *qp, const struct srd_end *end, char *what, char *why)
{
    bool tagged = end->ulpdu && end->ulpdu[0] & 0x80;
    uint32_t header = srd_segment_octets(tagged);
    struct srd_segment segment;

    if (!end->ulpdu || end->ulpdu_octets < header)
        return false;
    snprintf(why, WHY, "%s", srd_fault_row(end->fault)->cause);
    srd_segment_decode(&segment, end->ulpdu);
    switch (segment.opcode) {
    case SRD_OP_WRITE:
        describe_write(qp, end->fault, &segment, end->ulpdu_octets - header, what, why);
        return true;
    case SRD_OP_READ_REQUEST:
        if (end->ulpdu_octets != header + SRD_READ_REQUEST_OCTETS)
            return false;
        describe_read(qp, end->fault, end->ulpdu + header, what, why);
        return true;
    case SRD_OP_ATOMIC_REQUEST:
        if (end->ulpdu_octets != header + SRD_ATOMIC_REQUEST_OCTETS)
            return false;
        describe_atomic(qp, end->fault, end->ulpdu + header, what, why);
        return true;
    case SRD_OP_READ_RESPONSE:
    case SRD_OP_ATOMIC_RESPONSE:
    case SRD_OP_TERMINATE: return false;
    default: describe_send(qp, end->fault, &segment, end->ulpdu_octets - header, what, why);
    }
    return true;
}

/* --- the lines ---------------------------------------------------------------------------------------------------- */

static void tell_own(struct srd_qp *qp, const struct srd_end *end)
{
    struct request request;
    char what[WHAT], why[WHY];

    if (!copy_request(qp, end->culprit, &request))
        return;
    describe_request(&request.sqe, what);
    explain_own(qp, &request, end->status, why);
    log_limited(LOG_WARN, LOG_SOFT, "queue pair 0x%x: its %s fails: %s" TERMINATE, qp->qp.qp_num,
        what, why, SRD_FAULT_NUMBERS(end->fault));
}

void srd_tell_fault(struct srd_qp *qp, const struct srd_end *end)
{
    const struct srd_rx *rx = &qp->stream.rx;
    char what[WHAT], why[WHY];

    if (end->fault == SRD_FAULT_NONE || !log_on(LOG_WARN, LOG_SOFT))
        return;
    if (end->fault == SRD_FAULT_LOCAL && end->has_culprit) {
        tell_own(qp, end);
    } else if (end->receive_status == IBV_WC_LOC_PROT_ERR && rx->receiving) {
        explain_list(qp, qp->qp.srq ? qp->qp.srq->pd : qp->qp.pd, rx->receive.sge,
            rx->receive.num_sge, IBV_ACCESS_LOCAL_WRITE, why);
        log_limited(LOG_WARN, LOG_SOFT,
            "queue pair 0x%x: a Receive cannot take the peer's Send: %s" TERMINATE, qp->qp.qp_num,
            why, SRD_FAULT_NUMBERS(end->fault));
    } else if (describe_refused(qp, end, what, why)) {
        log_limited(LOG_WARN, LOG_SOFT, "queue pair 0x%x refuses the peer's %s: %s" TERMINATE,
            qp->qp.qp_num, what, why, SRD_FAULT_NUMBERS(end->fault));
    } else {
        log_limited(LOG_WARN, LOG_SOFT, "queue pair 0x%x ends its connection: %s" TERMINATE,
            qp->qp.qp_num, srd_fault_row(end->fault)->name, SRD_FAULT_NUMBERS(end->fault));
    }
}

/* Returns why the peer refuses a request of ours, as far as the Terminate says it. */
static const char *refusal(srd_fault fault, uint8_t kind)
{
    switch (fault) {
    case SRD_FAULT_PROTECTION_RIGHTS:
        if (kind == SRD_SQE_WRITE)
            return "its region or window does not allow remote writes";
        if (kind == SRD_SQE_READ)
            return "its region or window does not allow remote reads";
        return "its region does not allow it";
    case SRD_FAULT_NO_BUFFER:
        return kind == SRD_SQE_READ ? "it serves fewer Reads at once"
                                    : "no Receive was posted there in time";
    default: return srd_fault_row(fault)->cause;
    }
}

void srd_tell_terminate(
    struct srd_qp *qp, const struct srd_terminate *terminate, const struct srd_end *end)
{
    const struct srd_fault_row *row = srd_fault_row(terminate->fault);
    struct request request;
    char what[WHAT];

    if (!log_on(LOG_WARN, LOG_SOFT))
        return;
    if (end->has_culprit && copy_request(qp, end->culprit, &request)) {
        describe_request(&request.sqe, what);
        log_limited(LOG_WARN, LOG_SOFT, "queue pair 0x%x: the peer refused the %s: %s" TERMINATE,
            qp->qp.qp_num, what, refusal(terminate->fault, request.sqe.kind),
            SRD_FAULT_NUMBERS(terminate->fault));
    } else {
        log_limited(LOG_WARN, LOG_SOFT,
            "queue pair 0x%x: the peer ended the connection: %s: %s" TERMINATE, qp->qp.qp_num,
            row->name, row->cause, SRD_FAULT_NUMBERS(terminate->fault));
    }
}
