/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

#include "../../samples/ndsample.h"
#include "failure.h"
#include "platform.h"

namespace ndperf
{

namespace
{

const UINT32 THOUSANDS_OF = 1024; // the factor of K in sizes; M is its square

const char usage[] =
    "usage: ndperf TEST [options]           on one host, and then\n"
    "       ndperf TEST [options] SERVER    on the other, with the address of the first\n"
    "TEST: send_lat send_bw write_lat write_bw read_lat read_bw connect\n"
    "      nd_TEST is the same as ndperf TEST\n"
    "\n"
    "Options that only the client was given hold for the server, too.\n"
    "\n"
    "  -s, --size=SIZE         bytes of a message; K and M count 1024 (lat: 2, bw: 65536)\n"
    "  -a, --all               sizes 1, 2, 4 ... 8M\n"
    "  -n, --iters=N           messages, of each queue pair in bw (default 1000)\n"
    "  -D, --duration=SECONDS  as many as there is time for\n"
    "  -q, --qp=N              queue pairs (default 1)\n"
    "      --threads=N         threads, each with its part of the queue pairs (default 1)\n"
    "  -p, --port=PORT         (default 18515)\n"
    "  -t, --tx-depth=N        requests of a send queue (lat: 16, bw: 128)\n"
    "  -r, --rx-depth=N        Receives of a queue (lat: 16, bw: 512)\n"
    "  -I, --inline_size=N     bytes up to which data is inline (lat: as the adapter advises)\n"
    "  -b, --bidirectional     both ends send (bw)\n"
    "  -l, --post_list=N       requests posted together (bw, default 1)\n"
    "  -Q, --cq-mod=N          one completion for N requests (bw: 100 up to 8192 bytes)\n"
    "  -o, --outs=N            Reads in flight (read; default: as many as the adapters can)\n"
    "  -w, --wait=HOW          for completions: poll (default), event or port (a completion "
    "port);\n"
    "                          each end may have its own\n"
    "  -e, --events            the same as -w event\n"
    "      --nd=VERSION        of NetworkDirect, 1 or 2 (default 2)\n"
    "      --use-srq           Receives from a shared queue (send, version 2)\n"
    "      --mw                remote access by memory windows (write, read; version 1: always)\n"
    "      --verify            check all data\n"
    "      --warmup=N          messages before the measurement\n"
    "      --bind=ADDRESS      the local address (server: default all IPv4 and IPv6 addresses of "
    "an\n"
    "                          adapter; with --nd 1 the first one of each family)\n"
    "      --json              print JSON, for programs\n"
    "      --csv               print numbers with commas between them\n"
    "      --svg=FILE          draw latencies or bandwidths, too; needs gnuplot\n"
    "  -H, --report-histogram  print how many had each latency (lat, connect)\n"
    "  -U, --report-unsorted   print every latency (lat, connect)\n"
    "Of perftest besides:\n"
    "  -d, --ib-dev=DEVICE     this device, as NDSPI_DEVICE does (on Windows: --bind)\n"
    "  -F, --CPU-freq          nothing to switch off: the clock does not follow the processor's\n"
    "  -R, --rdma_cm           connections are always made so\n"
    "      --report_gbits      the table always has Gbit/s\n"
    "  -x, --gid-index, -i, --ib-port   do not exist: --bind=ADDRESS chooses port and GID\n"
    "\n"
    "  -V, --version\n"
    "  -h, --help\n"
    "\n"
    "SERVER is an IP address or the name of a host, 192.0.2.1:5000 and [2001:db8::1]:5000 name a "
    "port.\n"
    "All addresses of a name are tried, one after the other.\n"
    "ndinfo lists the adapters; NDSPI_DEVICE chooses among their devices.\n"
    "Status 0: measured, and all data was right; 1: not so; 2: wrong arguments.\n"
    "\n"
    "Next: ndstat shows on Linux what both ends count meanwhile (man ndstat).\n";

void usage_error(const std::string &problem) __attribute__((noreturn));
void usage_error(const std::string &problem)
{
    end(STATUS_USAGE, problem + "; \"ndperf -h\" lists the arguments");
}

enum { LONG_ONLY = 256 }; // what getopt_long returns for options without a letter
enum { THREADS = LONG_ONLY, ND, SRQ, WINDOWS, VERIFY, WARMUP, BIND, JSON, CSV, SVG, GBITS };

// An option that sets a parameter.
struct Number {
    int letter;
    UINT32 Parameters::*member;
};

const Number numbers[] = {
    { 's', &Parameters::size },
    { 'a', &Parameters::all },
    { 'n', &Parameters::iterations },
    { 'D', &Parameters::duration },
    { 'q', &Parameters::qps },
    { THREADS, &Parameters::threads },
    { 't', &Parameters::tx_depth },
    { 'r', &Parameters::rx_depth },
    { 'I', &Parameters::inline_size },
    { 'b', &Parameters::bidirectional },
    { 'l', &Parameters::post_list },
    { 'Q', &Parameters::cq_mod },
    { 'o', &Parameters::outs },
    { ND, &Parameters::nd },
    { SRQ, &Parameters::srq },
    { WINDOWS, &Parameters::windows },
    { VERIFY, &Parameters::verify },
    { WARMUP, &Parameters::warmup },
};

const struct option long_options[] = {
    { "size", required_argument, NULL, 's' },
    { "all", no_argument, NULL, 'a' },
    { "iters", required_argument, NULL, 'n' },
    { "duration", required_argument, NULL, 'D' },
    { "qp", required_argument, NULL, 'q' },
    { "threads", required_argument, NULL, THREADS },
    { "port", required_argument, NULL, 'p' },
    { "tx-depth", required_argument, NULL, 't' },
    { "rx-depth", required_argument, NULL, 'r' },
    { "inline_size", required_argument, NULL, 'I' },
    { "bidirectional", no_argument, NULL, 'b' },
    { "post_list", required_argument, NULL, 'l' },
    { "cq-mod", required_argument, NULL, 'Q' },
    { "outs", required_argument, NULL, 'o' },
    { "wait", required_argument, NULL, 'w' },
    { "events", no_argument, NULL, 'e' },
    { "nd", required_argument, NULL, ND },
    { "use-srq", no_argument, NULL, SRQ },
    { "mw", no_argument, NULL, WINDOWS },
    { "verify", no_argument, NULL, VERIFY },
    { "warmup", required_argument, NULL, WARMUP },
    { "bind", required_argument, NULL, BIND },
    { "json", no_argument, NULL, JSON },
    { "csv", no_argument, NULL, CSV },
    { "svg", required_argument, NULL, SVG },
    { "report-histogram", no_argument, NULL, 'H' },
    { "report-unsorted", no_argument, NULL, 'U' },
    { "CPU-freq", no_argument, NULL, 'F' },
    { "rdma_cm", no_argument, NULL, 'R' },
    { "ib-dev", required_argument, NULL, 'd' },
    { "gid-index", required_argument, NULL, 'x' },
    { "ib-port", required_argument, NULL, 'i' },
    { "report_gbits", no_argument, NULL, GBITS },
    { "version", no_argument, NULL, 'V' },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};
const char letters[] = ":s:an:D:q:p:t:r:I:bl:Q:o:w:eHUFRd:x:i:Vh";

// Returns the option as the user wrote it: the one before the argument that getopt_long looks at next.
std::string option_text(int argc, char **argv)
{
    return optind > 0 && optind <= argc ? argv[optind - 1] : "";
}

UINT32 parse_number(
    const std::string &option, const char *text, UINT32 minimum, UINT32 maximum, bool units)
{
    char *rest;
    unsigned long long value = strtoull(text, &rest, 10);
    UINT32 unit = 1;

    if (units && (*rest == 'k' || *rest == 'K'))
        unit = THOUSANDS_OF;
    if (units && (*rest == 'm' || *rest == 'M'))
        unit = THOUSANDS_OF * THOUSANDS_OF;
    rest += unit > 1;
    if (*text < '0' || *text > '9' || *rest || value > maximum / unit || value * unit < minimum)
        usage_error(format("%s takes a number from %u to %u, not \"%s\"", option.c_str(),
            (unsigned)minimum, (unsigned)maximum, text));
    return (UINT32)(value * unit);
}

// Returns the name of an option for messages: "-s" or "--warmup".
std::string option_name(int letter)
{
    for (const struct option *o = long_options; letter >= LONG_ONLY && o->name; ++o)
        if (o->val == letter)
            return std::string("--") + o->name;
    return std::string("-") + (char)letter;
}

void set(Options &options, UINT32 Parameters::*member, UINT32 value)
{
    options.parameters.*member = value;
    options.given |= 1u << (&field_of(member) - fields);
}

bool is_given(const Options &options, UINT32 Parameters::*member)
{
    return options.given >> (&field_of(member) - fields) & 1;
}

// Takes an option that sets a parameter. False: it is none of those.
bool take_number(Options &options, int letter)
{
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
        if (numbers[i].letter != letter)
            continue;
        const Field &field = field_of(numbers[i].member);
        set(options, field.member,
            is_flag(field) ? 1
                           : parse_number(option_name(letter), optarg, field.minimum, field.maximum,
                                 letter == 's' || letter == 'I'));
        return true;
    }
    return false;
}

void take_wait(Options &options, const char *how)
{
    UINT32 wait = POLL;
    while (wait <= PORT && strcmp(how, wait_name(wait)))
        ++wait;
    if (wait > PORT)
        usage_error(format("-w takes poll, event or port, not \"%s\"", how));
    set(options, &Parameters::wait, wait);
}

std::vector<SOCKADDR_INET> parse_addresses(const char *text, USHORT port)
{
    SAMPLE sample;
    SAMPLE_ADDRESSES addresses;
    memset(&sample, 0, sizeof(sample));
    if (!sample_parse_addresses(&sample, text, port, &addresses))
        usage_error(format("neither an address, 192.0.2.1:5000 or [2001:db8::1]:5000, nor the name "
                           "of a host: %s",
            text));
    char problem[160];
    if (sample_lacks_scope(&addresses.each[0].address, problem, sizeof(problem)))
        usage_error(problem);
    std::vector<SOCKADDR_INET> list;
    for (ULONG i = 0; i < addresses.count; ++i)
        list.push_back(addresses.each[i].address);
    return list;
}

UINT32 parse_test(const char *name)
{
    for (UINT32 test = 0; test < TESTS; ++test)
        if (strcmp(name, test_name(test)) == 0)
            return test;
    usage_error(format("no test is called %s", name));
}

// Returns a program's name without its folder, and on Windows without ".exe".
std::string base_name(const char *path)
{
    std::string name = path;
    size_t slash = name.find_last_of("/\\");
    if (slash != std::string::npos)
        name.erase(0, slash + 1);
    if (name.size() > 4 && name.compare(name.size() - 4, 4, ".exe") == 0)
        name.erase(name.size() - 4);
    return name;
}

void take_device(const char *name)
{
    if (!*name)
        usage_error("the name of a device must follow -d");
    if (!choose_device(name))
        usage_error("-d: an address chooses the adapter on Windows, by --bind ADDRESS");
}

void take_form(Options &options, Form form)
{
    if (options.form != FORM_TEXT && options.form != form)
        usage_error("--json and --csv exclude each other");
    options.form = form;
}

void take_other(Options &options, int letter, int argc, char **argv, const char *&bind)
{
    switch (letter) {
    case 'w': take_wait(options, optarg); break;
    case 'e': take_wait(options, wait_name(EVENT)); break;
    case 'p': options.port = (USHORT)parse_number("-p", optarg, 0, 65535, false); break;
    case 'H': options.histogram = true; break;
    case 'U': options.unsorted = true; break;
    case 'F':
    case 'R':
    case GBITS: break;
    case 'd': take_device(optarg); break;
    case 'x':
    case 'i':
        usage_error(format("-%c: an address chooses the adapter, its port and its GID here, by "
                           "--bind ADDRESS; ndinfo lists them",
            letter));
    case BIND: bind = optarg; break;
    case JSON: take_form(options, FORM_JSON); break;
    case CSV: take_form(options, FORM_CSV); break;
    case SVG:
        if (!*optarg)
            usage_error("a file must follow --svg");
        options.svg = optarg;
        break;
    case 'V':
    case 'h':
        printf("%s%s", letter == 'V' ? program() : usage,
            letter == 'V' ? " " NDPERF_VERSION "\n" : "");
        write_out();
        exit(0);
    case ':': usage_error("a value must follow " + option_text(argc, argv));
    default: usage_error("unknown option " + option_text(argc, argv));
    }
}

void check_all(Options &options)
{
    const Parameters &p = options.parameters;
    std::string wrong = contradiction(p);

    if (!wrong.empty())
        usage_error(wrong);
    if (is_given(options, &Parameters::size) && p.all)
        usage_error("-s and -a exclude each other");
    if (is_given(options, &Parameters::iterations) && p.duration)
        usage_error("-n and -D exclude each other");
    if ((options.histogram || options.unsorted) && !p.times_each())
        usage_error("-H and -U go with send_lat, write_lat, read_lat and connect");
    if ((options.histogram && options.form != FORM_TEXT) ||
        (options.unsorted && options.form == FORM_CSV))
        usage_error("-H goes with neither --json, which has the histogram anyway, nor --csv, nor "
                    "-U with --csv");
    if (options.server && (options.histogram || options.unsorted || options.form != FORM_TEXT ||
                              !options.svg.empty()))
        usage_error(
            "-H, -U, --json, --csv and --svg go with the client: the server prints no figures");
}

} // namespace

Options parse_options(int argc, char **argv)
{
    static std::string name; // set_program keeps it
    Options options = Options();
    const char *bind = NULL;
    int letter, first = 1;

    name = base_name(argv[0]);
    set_program(name.c_str());
    options.port = DEFAULT_PORT;
    const char *test = name.compare(0, 3, "nd_") == 0 ? name.c_str() + 3 : NULL;
    if (!test && argc > 1 && argv[1][0] != '-')
        test = argv[first++];
    if (test)
        options.parameters.test = parse_test(test);
    opterr = 0;
    optind = first;
    while ((letter = getopt_long(argc, argv, letters, long_options, NULL)) != -1)
        if (!take_number(options, letter))
            take_other(options, letter, argc, argv, bind);
    if (!test)
        usage_error("a test is needed");
    if (argc - optind > 1)
        usage_error(format("superfluous argument %s", argv[optind + 1]));
    options.server = optind == argc;
    set_defaults(options.parameters, options.given);
    check_all(options);
    if (bind)
        options.binds = parse_addresses(bind, 0);
    if (!options.server) {
        options.peer_name = argv[optind];
        options.peers = parse_addresses(argv[optind], options.port);
        if (!options.peers[0].Ipv4.sin_port) // both families have the port at the same offset
            usage_error(
                "a server has no port 0: give the one that it prints, by -p or behind the address");
    }
    return options;
}

} // namespace ndperf
