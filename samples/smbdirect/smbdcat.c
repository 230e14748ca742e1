/* SPDX-License-Identifier: MIT */
/* smbdcat - one file of an SMB server, over SMB Direct. */
#include "cat.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_FAILED = 1, STATUS_USAGE = 2 };

const char copy_program[] = "smbdcat";

static const char usage[] =
    "usage: smbdcat smb://HOST[:PORT]/SHARE/FILE           write the file to standard output, or\n"
    "       smbdcat -p smb://HOST[:PORT]/SHARE/FILE        write standard input to the file\n"
    "of a server of SMB 3 that has SMB Direct; the data moves by RDMA. A guest's session, without "
    "-a.\n"
    "\n"
    "  -p, --put                    the file is made, or emptied first\n"
    "  -a, --authentication FILE    lines username=, password= and domain=; messages are then "
    "signed\n"
    "  -b, --bind ADDRESS           the client's own (default: by the route to the server)\n"
    "  -i, --inline                 data in messages, none by RDMA\n"
    "  -m, --max-protocol DIALECT   3.0, 3.0.2 or 3.1.1 (default)\n"
    "  -n, --pieces NUMBER          of the file under way at a time, 1 to 8 (default)\n"
    "  -V, --version\n"
    "  -h, --help                   this\n"
    "\n"
    "Without a port it takes 5445 over iWARP, otherwise 445. In SHARE and FILE \"%20\" is a blank, "
    "and so on.\nStatus 0: all of the file was moved, 1: it was not, 2: the arguments are wrong.\n";

static const struct option long_options[] = {
    { "put", no_argument, NULL, 'p' },
    { "authentication", required_argument, NULL, 'a' },
    { "bind", required_argument, NULL, 'b' },
    { "inline", no_argument, NULL, 'i' },
    { "max-protocol", required_argument, NULL, 'm' },
    { "pieces", required_argument, NULL, 'n' },
    { "version", no_argument, NULL, 'V' },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};

struct arguments {
    const char *authentication, *bind, *newest, *pieces;
    bool put, in_messages, help, version;
};

/* False: one is wrong, and getopt has said so. */
static bool parse(int argc, char **argv, struct arguments *arguments)
{
    int letter;

    while ((letter = getopt_long(argc, argv, "pa:b:im:n:Vh", long_options, NULL)) != -1) {
        switch (letter) {
        case 'p': arguments->put = true; break;
        case 'a': arguments->authentication = optarg; break;
        case 'b': arguments->bind = optarg; break;
        case 'i': arguments->in_messages = true; break;
        case 'm': arguments->newest = optarg; break;
        case 'n': arguments->pieces = optarg; break;
        case 'V': arguments->version = true; break;
        case 'h': arguments->help = true; break;
        default: return false;
        }
    }
    return true;
}

/* 0: none is called so. */
static uint16_t dialect(const char *name)
{
    static const struct {
        const char *name;
        uint16_t dialect;
    } dialects[] = { { "3.0", SMB2_3_0 }, { "3.0.2", SMB2_3_0_2 }, { "3.1.1", SMB2_3_1_1 } };

    for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++)
        if (strcmp(dialects[i].name, name) == 0)
            return dialects[i].dialect;
    return 0;
}

static int print(const char *text)
{
    if (fputs(text, stdout) >= 0 && !fflush(stdout))
        return 0;
    copy_say("cannot write to standard output: %s", strerror(errno));
    return STATUS_FAILED;
}

/* With arguments that are well formed. */
static int run(const struct arguments *arguments, const char *text)
{
    struct cat_options options = { .text = text,
        .newest = dialect(arguments->newest),
        .pieces = copy_parse_digit(arguments->pieces, CAT_PIPELINE),
        .put = arguments->put,
        .in_messages = arguments->in_messages };
    const char *wrong = cat_url_parse(text, &options.url);
    struct cat_login login;
    int status = STATUS_USAGE;

    if (wrong)
        copy_say("%s: %s", text, wrong);
    else if (!arguments->bind || copy_parse_address(arguments->bind, &options.local, 1))
        status = 0;
    copy_any_port(&options.local);
    if (!status && arguments->authentication) {
        if (cat_login_read(arguments->authentication, &login))
            options.login = login.login;
        else
            status = STATUS_FAILED;
    }
    if (!status)
        status = cat_run(&options);
    free(options.url.memory);
    return status;
}

int main(int argc, char **argv)
{
    struct arguments arguments = { .newest = "3.1.1", .pieces = "8" };

    if (!parse(argc, argv, &arguments))
        return STATUS_USAGE;
    if (arguments.help || arguments.version)
        return print(arguments.help ? usage : "smbdcat " SAMPLE_VERSION "\n");
    if (argc - optind != 1) {
        copy_say("one smb://HOST/SHARE/FILE is needed (-h helps)");
        return STATUS_USAGE;
    }
    if (!dialect(arguments.newest)) {
        copy_say("%s: no dialect; 3.0, 3.0.2 and 3.1.1 are", arguments.newest);
        return STATUS_USAGE;
    }
    if (!copy_parse_digit(arguments.pieces, CAT_PIPELINE)) {
        copy_say("%s: from 1 to 8 pieces can be under way", arguments.pieces);
        return STATUS_USAGE;
    }
    return run(&arguments, argv[optind]);
}
