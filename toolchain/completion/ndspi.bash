# SPDX-License-Identifier: MIT
# bash completion for the programs of ndspi. Each package has it once, and links under the names of its other programs.

_ndspi_words()
{
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# What ndinfo calls devices.
_ndspi_devices()
{
    ndinfo --json 2>/dev/null | sed -n 's/^ *"device": "\([^"]*\)".*/\1/p'
}

_ndinfo()
{
    local current=$2 previous=$3
    case $previous in
    -n|--rounds|-c|--count|-t|--timeout|-p|--probe) return ;;
    esac
    if [[ $current == -* ]]; then
        _ndspi_words "-j --json -s --serve -p --probe -n --rounds -c --count -t --timeout -V --version -h --help" \
            "$current"
    else
        _ndspi_words "$(_ndspi_devices)" "$current"
    fi
}

_ndstat()
{
    local current=$2 previous=$3
    case $previous in
    -i|--interval|-c|--count|-l|--listen|-w|--wait) return ;;
    esac
    if [[ $current == -* ]]; then
        _ndspi_words "-a --all -i --interval -c --count -j --json -p --prometheus -l --listen -w --wait -V --version \
            -h --help" "$current"
    else
        _ndspi_words "$(ndstat --json 2>/dev/null | sed -n 's/^ *"process": \([0-9]*\),$/\1/p')" "$current"
    fi
}

_ndspi_wine()
{
    local current=$2 previous=$3
    case $previous in
    --prefix) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    esac
    if [[ $current == -* ]]; then
        _ndspi_words "--system --prefix -V --version -h --help" "$current"
    elif [ "$COMP_CWORD" = 1 ]; then
        _ndspi_words "install uninstall status env run stop" "$current"
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}

# A command and its arguments, as of sudo or env.
_softrdma_run()
{
    local current=$2
    if [ "$COMP_CWORD" = 1 ] && [[ $current == -* ]]; then
        _ndspi_words "-V --version -h --help" "$current"
    elif [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$current")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}

_ndmpirun()
{
    local current=$2 previous=$3
    case $previous in
    -v) _ndspi_words "1 2" "$current"; return ;;
    -c) _ndspi_words "nd shm" "$current"; return ;;
    -f) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    -n|-a|-p|-t|-i) return ;;
    -r) mapfile -t COMPREPLY < <(compgen -c -- "$current"); return ;;
    esac
    if [[ $current == -* ]]; then
        _ndspi_words "-n -v -c -a -p -t -f -r -i -V --version -h --help" "$current"
    else
        mapfile -t COMPREPLY < <(compgen -W "ndring ndhalo ndalltoall ndlatency" -- "$current"
            compgen -c -- "$current")
    fi
}

# A program of ndmpi's ranks.
_ndmpi_rank()
{
    case $3 in
    -n|-m) return ;;
    esac
    _ndspi_words "-n -m -x -V --version -h --help" "$2"
}

_ndadapterinfo()
{
    _ndspi_words "-V --version -h --help" "$2"
}

_ndpingpong()
{
    case $3 in
    -s|-c|-n|-m|-t) return ;;
    esac
    case ${1##*/} in
    ndcat) _ndspi_words "-s -c -b -p -V --version -h --help" "$2" ;;
    nd1pingpong) _ndspi_words "-s -c -b -p -n -m -t -V --version -h --help" "$2" ;;
    *) _ndspi_words "-s -c -b -p -n -m -V --version -h --help" "$2" ;;
    esac
}

_ndperf_options="-s --size -a --all -n --iters -D --duration -q --qp --threads -p --port -t --tx-depth -r --rx-depth
    -I --inline_size -b --bidirectional -l --post_list -Q --cq-mod -o --outs -w --wait -e --events --nd --use-srq --mw
    --verify --warmup --bind --json --csv --svg -H --report-histogram -U --report-unsorted -d --ib-dev
    -F --CPU-freq -R --rdma_cm --report_gbits -x --gid-index -i --ib-port -V --version -h --help"

_ndperf()
{
    local current=$2
    case $3 in
    -w|--wait) _ndspi_words "poll event port" "$current"; return ;;
    --nd) _ndspi_words "1 2" "$current"; return ;;
    -d|--ib-dev) _ndspi_words "$(_ndspi_devices)" "$current"; return ;;
    --svg) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    -[snDqptrIlQoxi]|--size|--iters|--duration|--qp|--threads|--port|--tx-depth|--rx-depth) return ;;
    --inline_size|--post_list|--cq-mod|--outs|--warmup|--bind) return ;;
    esac
    if [[ $current == -* ]]; then
        _ndspi_words "$_ndperf_options" "$current"
    elif [ "$COMP_CWORD" = 1 ] && [ "${1##*/}" = ndperf ]; then
        _ndspi_words "send_lat send_bw write_lat write_bw read_lat read_bw connect" "$current"
    else
        mapfile -t COMPREPLY < <(compgen -A hostname -- "$current")
    fi
}

_smbdcat()
{
    local current=$2
    case $3 in
    -a|--authentication) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    -m|--max-protocol) _ndspi_words "3.0 3.0.2 3.1.1" "$current"; return ;;
    -b|--bind|-n|--pieces) return ;;
    esac
    if [[ $current == -* ]]; then
        _ndspi_words "-p --put -a --authentication -b --bind -i --inline -m --max-protocol -n --pieces \
            -V --version -h --help" "$current"
    fi
}

_smbdserve()
{
    local current=$2
    case $3 in
    -a|--authentication) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    -s|--share) return ;;
    esac
    if [[ $current == -* ]]; then
        _ndspi_words "-a --authentication -s --share -V --version -h --help" "$current"
    else
        mapfile -t COMPREPLY < <(compgen -d -- "$current")
    fi
}

_smbdcopy()
{
    local current=$2
    case $3 in
    -s|--serve|-o|--output) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    -c|--connect|-b|--bind|-n|--pieces) return ;;
    esac
    if [[ $current == -* ]]; then
        _ndspi_words "-s --serve -c --connect -g --get -o --output -b --bind -i --inline -n --pieces \
            -q --quiet -V --version -h --help" "$current"
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}

_ndk_host()
{
    local current=$2
    case $3 in
    -p|--parameter|-t|--time) return ;;
    esac
    if [[ $current == -* ]]; then
        _ndspi_words "-p --parameter -t --time -V --version -h --help" "$current"
    else
        mapfile -t COMPREPLY < <(compgen -f -X '!*.so' -- "$current"; compgen -d -- "$current")
    fi
}

complete -F _ndinfo ndinfo
complete -F _ndstat ndstat
complete -o filenames -F _ndspi_wine ndspi-wine
complete -o filenames -F _softrdma_run softrdma-run
complete -o filenames -F _ndmpirun ndmpirun
complete -F _ndmpi_rank ndring ndhalo ndalltoall ndlatency
complete -F _ndadapterinfo ndadapterinfo
complete -F _ndpingpong ndpingpong nd1pingpong ndrpingpong ndcat
complete -o filenames -F _ndperf ndperf nd_send_lat nd_send_bw nd_write_lat nd_write_bw nd_read_lat nd_read_bw \
    nd_connect
complete -o filenames -F _smbdcat smbdcat
complete -o filenames -F _smbdcopy smbdcopy
complete -o filenames -F _smbdserve smbdserve
complete -o filenames -F _ndk_host ndk_host
