/* SPDX-License-Identifier: MIT */
/* smbdserve - a directory, as a share of SMB 3 over SMB Direct. */
#include "serve.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#define DEFAULT_ADDRESS "127.0.0.1:5445"
#define DEFAULT_SHARE   "pub"

enum { STATUS_FAILED = 1, STATUS_USAGE = 2 };

const char copy_program[] = "smbdserve";

static const char usage[] =
    "usage: smbdserve DIRECTORY [ADDRESS[:PORT]]\n"
    "serves a directory as a share of SMB 3 over SMB Direct, until SIGINT or SIGTERM, to smbdcat, "
    "or "
    "to a\nclient that mounts it, as Linux' does. The address is one of an RDMA device, by "
    "default\n" DEFAULT_ADDRESS "; port 0: any free one; of a name the first that does.\n"
    "\n"
    "  -a, --authentication FILE    lines username= and password=: this user alone is served; "
    "without\n"
    "                               it all are, as guests\n"
    "  -s, --share NAME             of the share (default: " DEFAULT_SHARE ")\n"
    "  -V, --version\n"
    "  -h, --help                   this\n"
    "\n"
    "Clients may do all that the user may who runs it; what leads out of the directory, and links, "
    "they\nmay not. Status 2: the arguments are wrong.\n";

static const struct option long_options[] = {
    { "authentication", required_argument, NULL, 'a' },
    { "share", required_argument, NULL, 's' },
    { "version", no_argument, NULL, 'V' },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};

struct arguments {
    const char *authentication, *share;
    bool help, version;
};

/* False: one is wrong, and getopt has said so. */
static bool parse(int argc, char **argv, struct arguments *arguments)
{
    int letter;

    while ((letter = getopt_long(argc, argv, "a:s:Vh", long_options, NULL)) != -1) {
        switch (letter) {
        case 'a': arguments->authentication = optarg; break;
        case 's': arguments->share = optarg; break;
        case 'V': arguments->version = true; break;
        case 'h': arguments->help = true; break;
        default: return false;
        }
    }
    return true;
}

static int print(const char *text)
{
    if (fputs(text, stdout) >= 0 && !fflush(stdout))
        return 0;
    copy_say("cannot write to standard output: %s", strerror(errno));
    return STATUS_FAILED;
}

/* As long as Windows' may be, and without its separators. */
static bool is_share(const char *name)
{
    return strlen(name) <= 80 && serve_name_allowed(name);
}

/* With arguments that are well formed. */
static int run(const struct arguments *arguments, const char *directory, const char *where)
{
    struct serve_options options = { .directory = directory, .share = arguments->share };
    struct copy_address addresses[COPY_ADDRESSES];
    struct cat_login login;
    unsigned count = copy_parse_address(where, addresses, COPY_ADDRESSES);
    int status = COPY_NEXT_ADDRESS;

    if (!count)
        return STATUS_USAGE;
    if (arguments->authentication) {
        if (!cat_login_read(arguments->authentication, &login))
            return STATUS_FAILED;
        options.login = login.login;
    }
    for (unsigned i = 0; i < count && status == COPY_NEXT_ADDRESS; i++) {
        options.address = addresses[i];
        status = serve(&options);
    }
    return status == COPY_NEXT_ADDRESS ? STATUS_FAILED : status;
}

int main(int argc, char **argv)
{
    struct arguments arguments = { .share = DEFAULT_SHARE };
    int left;

    if (!parse(argc, argv, &arguments))
        return STATUS_USAGE;
    if (arguments.help || arguments.version)
        return print(arguments.help ? usage : "smbdserve " SAMPLE_VERSION "\n");
    left = argc - optind;
    if (left < 1 || left > 2) {
        copy_say("DIRECTORY is needed, and perhaps an address (-h helps)");
        return STATUS_USAGE;
    }
    if (!is_share(arguments.share)) {
        copy_say("%s: no name of a share", arguments.share);
        return STATUS_USAGE;
    }
    return run(&arguments, argv[optind], left > 1 ? argv[optind + 1] : DEFAULT_ADDRESS);
}
