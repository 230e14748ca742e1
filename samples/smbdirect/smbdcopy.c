/* SPDX-License-Identifier: MIT */
/* smbdcopy - copies files between two hosts over SMB Direct. */
#include "copy.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_ADDRESS "127.0.0.1:5445"

const char copy_program[] = "smbdcopy";

enum { STATUS_FAILED = 1, STATUS_USAGE = 2 };

static const char usage[] =
    "usage: smbdcopy -s DIRECTORY [ADDRESS[:PORT]]      serve the files of a directory, and then\n"
    "       smbdcopy -c ADDRESS[:PORT] FILE...          send files to it, or\n"
    "       smbdcopy -c ADDRESS[:PORT] -g NAME...       fetch files from it\n"
    "over SMB Direct, by RDMA. Files are written under their names alone, in the place of those "
    "that had them.\n"
    "\n"
    "  -s, --serve DIRECTORY    until SIGINT or SIGTERM; the address is one of an RDMA device, by "
    "default\n"
    "                           " DEFAULT_ADDRESS
    "; port 0: any free one; of a name the first that does\n"
    "  -c, --connect ADDRESS    the server's; an IPv6 address with a port is written "
    "[ADDRESS]:PORT;\n"
    "                           all addresses of a name are tried\n"
    "  -g, --get                fetch\n"
    "  -o, --output DIRECTORY   for fetched files (default: the current one)\n"
    "  -b, --bind ADDRESS       the client's own (default: by the route to the server)\n"
    "  -i, --inline             data in messages, none by RDMA\n"
    "  -n, --pieces NUMBER      of a file under way at a time, 1 to 8 (default)\n"
    "  -q, --quiet              say only what went wrong\n"
    "  -V, --version\n"
    "  -h, --help               this\n"
    "\n"
    "A client ends with status 0 only if all files arrived and both ends computed the same "
    "checksums;\nwith 2, as a server does, if the arguments are wrong.\n";

static const struct option long_options[] = {
    { "serve", required_argument, NULL, 's' },
    { "connect", required_argument, NULL, 'c' },
    { "get", no_argument, NULL, 'g' },
    { "output", required_argument, NULL, 'o' },
    { "bind", required_argument, NULL, 'b' },
    { "inline", no_argument, NULL, 'i' },
    { "pieces", required_argument, NULL, 'n' },
    { "quiet", no_argument, NULL, 'q' },
    { "version", no_argument, NULL, 'V' },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};

struct arguments {
    const char *serve, *connect, *output, *bind, *pieces;
    bool get, in_messages, quiet, help, version;
};

/* False: one is wrong, and getopt has said so. */
static bool parse(int argc, char **argv, struct arguments *arguments)
{
    int letter;

    while ((letter = getopt_long(argc, argv, "s:c:go:b:in:qVh", long_options, NULL)) != -1) {
        switch (letter) {
        case 's': arguments->serve = optarg; break;
        case 'c': arguments->connect = optarg; break;
        case 'g': arguments->get = true; break;
        case 'o': arguments->output = optarg; break;
        case 'b': arguments->bind = optarg; break;
        case 'i': arguments->in_messages = true; break;
        case 'n': arguments->pieces = optarg; break;
        case 'q': arguments->quiet = true; break;
        case 'V': arguments->version = true; break;
        case 'h': arguments->help = true; break;
        default: return false;
        }
    }
    return true;
}

/* What does not go together; NULL: nothing. */
static const char *mistake(const struct arguments *arguments, int left)
{
    if (!arguments->serve == !arguments->connect)
        return "either -s DIRECTORY or -c ADDRESS is needed (-h helps)";
    if (arguments->serve && left > 1)
        return "-s takes one address";
    if (arguments->serve && (arguments->get || arguments->output || arguments->bind ||
                                arguments->in_messages || arguments->pieces))
        return "-g, -o, -b, -i and -n are the client's";
    if (arguments->connect && !left)
        return "-c needs the names of files";
    if (arguments->output && !arguments->get)
        return "-o is for -g";
    if (arguments->pieces && !copy_parse_digit(arguments->pieces, COPY_PIPELINE))
        return "-n: from 1 to 8 pieces can be under way";
    return NULL;
}

/* Writes what was printed; a full disk shows only now. Returns the program's status. */
static int write_out(int status)
{
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    copy_say("cannot write to standard output: %s", strerror(errno));
    return STATUS_FAILED;
}

int main(int argc, char **argv)
{
    struct arguments arguments = { .serve = NULL };
    struct copy_options options = { .local.length = 0 };
    struct copy_address addresses[COPY_ADDRESSES];
    const char *wrong, *address;
    int status = COPY_NEXT_ADDRESS;
    unsigned count;

    if (!parse(argc, argv, &arguments))
        return STATUS_USAGE;
    if (arguments.help || arguments.version) {
        fputs(arguments.help ? usage : "smbdcopy " SAMPLE_VERSION "\n", stdout);
        return write_out(0);
    }
    if ((wrong = mistake(&arguments, argc - optind))) {
        copy_say("%s", wrong);
        return STATUS_USAGE;
    }
    address = arguments.connect;
    if (arguments.serve)
        address = optind < argc ? argv[optind] : DEFAULT_ADDRESS;
    count = copy_parse_address(address, addresses, COPY_ADDRESSES);
    if (!count || (arguments.bind && !copy_parse_address(arguments.bind, &options.local, 1)))
        return STATUS_USAGE;
    copy_any_port(&options.local);
    options.directory = arguments.serve ? arguments.serve : arguments.output;
    if (!options.directory)
        options.directory = ".";
    options.get = arguments.get;
    options.in_messages = arguments.in_messages;
    options.pieces =
        arguments.pieces ? copy_parse_digit(arguments.pieces, COPY_PIPELINE) : COPY_PIPELINE;
    options.quiet = arguments.quiet;
    for (unsigned i = 0; i < count && status == COPY_NEXT_ADDRESS; i++) {
        options.address = addresses[i];
        status = arguments.serve ? copy_serve(&options)
                                 : copy_files(&options, argv + optind, argc - optind);
    }
    return write_out(status == COPY_NEXT_ADDRESS ? STATUS_FAILED : status);
}
