/* SPDX-License-Identifier: MIT */
#include "cat_login.h"
#include "copy_host.h"

#include <errno.h>
#include <string.h>

/* The value of a line that begins with name, or NULL. */
static const char *value_of(const char *line, const char *name)
{
    size_t length = strlen(name);

    return strncmp(line, name, length) == 0 && line[length] == '=' ? line + length + 1 : NULL;
}

static void take(char *text, struct smb2_login *login)
{
    for (char *line = text, *end; line; line = end) {
        const char *value;

        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        if ((value = value_of(line, "username")) || (value = value_of(line, "user")))
            login->user = value;
        else if ((value = value_of(line, "password")))
            login->password = value;
        else if ((value = value_of(line, "domain")))
            login->domain = value;
    }
}

bool cat_login_read(const char *file, struct cat_login *login)
{
    FILE *stream = fopen(file, "re");
    size_t length;
    bool whole;

    if (!stream) {
        copy_say("%s: %s", file, strerror(errno));
        return false;
    }
    length = fread(login->memory, 1, sizeof(login->memory) - 1, stream);
    whole = !ferror(stream) && length < sizeof(login->memory) - 1;
    fclose(stream);
    login->memory[length] = '\0';
    login->login = (struct smb2_login){ .password = "", .domain = "" };
    take(login->memory, &login->login);
    if (whole && login->login.user && *login->login.user)
        return true;
    copy_say(whole ? "%s: no line \"username=\"" : "%s: cannot be read, or is too long", file);
    return false;
}
