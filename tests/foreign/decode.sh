# SPDX-License-Identifier: MIT
# What tshark makes of a capture of one connection; sourced after lib.sh, which has fail().

# decode CAPTURE [terminates]: a line for each frame into $scratch/frames, each opcode of RDMAP into $scratch/opcodes.
# One MPA Request, one Reply; each octet behind them belongs to an FPDU, at once or reassembled; nothing is malformed,
# with "terminates" but for frames with a Terminate: the dissector slices the headers wrongly that some of these return.
decode() {
    tshark -2 -r "$1" -o tcp.desegment_tcp_streams:TRUE -T fields -E separator=';' -e frame.protocols -e iwarp_mpa.req \
        -e iwarp_mpa.rep -e iwarp_rdma.opcode -e tcp.len -e tcp.reassembled_in -e ip.src -e iwarp_rdma.term_layer \
        -e iwarp_rdma.term_etype_ddp -e iwarp_rdma.term_errcode_ddp_tagged \
        > "$scratch/frames" 2> "$scratch/tshark.log" || fail "tshark: status $?"
    cut -d';' -f4 "$scratch/frames" | tr ',' '\n' > "$scratch/opcodes"
    awk -F';' -v apart="${2:-}" '/malformed/ && !(apart && $4 ~ /(^|,)0x0?7(,|$)/)' "$scratch/frames" \
        > "$scratch/found.log"
    [ ! -s "$scratch/found.log" ] || fail "malformed frames"
    awk -F';' '$5 > 0 && $6 == "" && $1 !~ /iwarp_mpa/' "$scratch/frames" > "$scratch/found.log"
    [ ! -s "$scratch/found.log" ] || fail "octets that are no part of an FPDU"
    [ "$(awk -F';' '$2 != "" && $3 == ""' "$scratch/frames" | wc -l)" = 1 ] || fail "not one MPA Request"
    [ "$(awk -F';' '$3 != ""' "$scratch/frames" | wc -l)" = 1 ] || fail "not one MPA Reply"
}

# at_least COUNT REGEX WHAT, of the opcodes that decode found
at_least() {
    local count
    count=$(grep -cE "$2" "$scratch/opcodes" || true)
    echo "$3: $count"
    [ "$count" -ge "$1" ] || fail "expected at least $1: $3"
}

# The Terminates that decode found for a bad STag, a line each: its sender's address, then layer 1 (DDP), type 1
# (tagged), code 0 (invalid STag).
bad_stag_terminates() {
    awk -F';' '$4 ~ /(^|,)0x0?7(,|$)/ { print $7, $8, $9, $10 }' "$scratch/frames"
}

# checksums CAPTURE: they are there, and right.
checksums() {
    tshark -2 -r "$1" -V 2> "$scratch/tshark.log" | grep 'CRC check:' > "$scratch/found.log" || fail "no checksums"
    ! grep -v 'Good CRC32' "$scratch/found.log" || fail "wrong checksums"
    echo "checksums: $(wc -l < "$scratch/found.log")"
}
