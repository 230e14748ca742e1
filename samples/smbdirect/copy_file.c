/* SPDX-License-Identifier: MIT */
#include "copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

bool copy_name_allowed(const char *name, size_t length)
{
    return length && length <= COPY_NAME_MOST && !memchr(name, '/', length) &&
           !memchr(name, '\0', length) && !(length == 1 && name[0] == '.') &&
           !(length == 2 && name[0] == '.' && name[1] == '.');
}

const char *copy_error_text(int error)
{
    switch (error) {
    case -ENODATA: return "it changed while it was copied";
    case -ELOOP: return "it is a link";
    case -EBADF: return "it is a device, a FIFO or a socket, no file";
    default: return strerror(-error);
    }
}

/* Not a link, which may lead out of the directory; a FIFO would block. */
int copy_open_source(int directory, const char *name, uint64_t *size)
{
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat stat;
    int error = 0;

    if (fd < 0)
        return errno == ENXIO ? -EBADF : -errno; /* of a socket, or a device that is not there */
    if (fstat(fd, &stat))
        error = -errno;
    else if (S_ISDIR(stat.st_mode))
        error = -EISDIR;
    else if (!S_ISREG(stat.st_mode))
        error = -EBADF;
    if (error) {
        close(fd);
        return error;
    }
    *size = (uint64_t)stat.st_size;
    return fd;
}

/* ---- a file that is being received ---- */

static int random_name(char *name, size_t size)
{
    uint64_t number;

    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        return -errno;
    snprintf(name, size, ".smbdcopy-%016llx", (unsigned long long)number);
    return 0;
}

/* Uses a file without a name if the file system has them, so that none remains if the program is killed. */
int copy_target_open(struct copy_target *target, int directory, const char *name)
{
    int error;

    target->directory = directory;
    target->temporary[0] = '\0';
    snprintf(target->name, sizeof(target->name), "%s", name);
    target->fd = openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (target->fd >= 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)
        return -errno;
    if ((error = random_name(target->temporary, sizeof(target->temporary))))
        return error;
    target->fd =
        openat(directory, target->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    return target->fd < 0 ? -errno : 0;
}

static int give_temporary_name(struct copy_target *target)
{
    char path[64], name[sizeof(target->temporary)];
    int error = random_name(name, sizeof(name));

    if (error)
        return error;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", target->fd);
    if (linkat(AT_FDCWD, path, target->directory, name, AT_SYMLINK_FOLLOW))
        return -errno;
    memcpy(target->temporary, name, sizeof(name));
    return 0;
}

int copy_target_keep(struct copy_target *target)
{
    int error = target->temporary[0] ? 0 : give_temporary_name(target);

    if (!error && renameat(target->directory, target->temporary, target->directory, target->name))
        error = -errno;
    if (!error)
        target->temporary[0] = '\0'; /* nothing to remove */
    copy_target_drop(target);
    return error;
}

void copy_target_drop(struct copy_target *target)
{
    if (target->fd < 0)
        return;
    close(target->fd);
    target->fd = -1;
    if (target->temporary[0])
        unlinkat(target->directory, target->temporary, 0);
}

int copy_read(int fd, void *data, size_t size, uint64_t offset)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(fd, (char *)data + done, size - done, (off_t)(offset + done));

        if (n < 0 && errno != EINTR)
            return -errno;
        if (!n)
            return -ENODATA;
        if (n > 0)
            done += (size_t)n;
    }
    return 0;
}

int copy_write(int fd, const void *data, size_t size, uint64_t offset)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(fd, (const char *)data + done, size - done, (off_t)(offset + done));

        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            done += (size_t)n;
    }
    return 0;
}

/* ---- checksums ---- */

bool copy_sum_init(struct copy_sum *sum)
{
    sum->state = XXH3_createState();
    if (sum->state)
        copy_sum_reset(sum);
    return sum->state;
}

void copy_sum_reset(struct copy_sum *sum)
{
    XXH3_128bits_reset(sum->state);
    sum->size = 0;
}

void copy_sum_add(struct copy_sum *sum, const void *data, size_t size)
{
    XXH3_128bits_update(sum->state, data, size);
    sum->size += size;
}

void copy_sum_end(const struct copy_sum *sum, uint8_t checksum[COPY_CHECKSUM])
{
    XXH128_canonical_t canonical;

    _Static_assert(sizeof(canonical) == COPY_CHECKSUM, "128 bits");
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(sum->state));
    memcpy(checksum, &canonical, COPY_CHECKSUM);
}

void copy_sum_free(struct copy_sum *sum)
{
    XXH3_freeState(sum->state);
}

const char *copy_sum_text(const uint8_t checksum[COPY_CHECKSUM], char text[2 * COPY_CHECKSUM + 1])
{
    for (size_t i = 0; i < COPY_CHECKSUM; i++)
        snprintf(text + 2 * i, 3, "%02x", checksum[i]);
    return text;
}
