/* SPDX-License-Identifier: MIT */
/* cat_login.h - who a user is, from a file: of smbdcat and smbdserve. */
#ifndef CAT_LOGIN_H
#define CAT_LOGIN_H

#include "smb2.h"

/* A file of lines "username=", "password=", "domain=", as mount.cifs has them. */
struct cat_login {
    char memory[1024];
    struct smb2_login login;
};

/* False: it cannot be read, or has no user; says so. */
bool cat_login_read(const char *file, struct cat_login *login);

#endif
