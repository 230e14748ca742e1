/* SPDX-License-Identifier: MIT */
/*
 * recorder.c - relays one TCP connection and writes what passes as a capture: one packet for each piece that was read,
 * under IPv4 and TCP headers of its own making. So an ordinary user gets a file that a protocol analyser reads.
 *
 *     recorder LISTEN_PORT TARGET_PORT FILE [mpa]     on 127.0.0.1; ends when both directions have ended
 *
 * With "mpa" a packet is one frame of MPA (without markers), or a part of one that is long: analysers look for the
 * upper layer's messages in the first FPDU of a packet alone.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECE_OCTETS = 32 * 1024,
    LINKTYPE_RAW = 101,
    SNAP_OCTETS = 65535,
    STARTUP_OCTETS = 20,              /* of an MPA Request or Reply, before its private data */
    FRAME_OCTETS = 2 + 65535 + 3 + 4, /* the longest FPDU: length, ULPDU, padding, CRC */
};

struct file_header {
    uint32_t magic;
    uint16_t major, minor;
    uint32_t zone, figures, snap, linktype;
};

struct packet_header {
    uint32_t seconds, microseconds, captured, length;
};

struct direction {
    int from, to;
    uint16_t from_port, to_port;
    uint32_t sequence;
    struct direction *back;
    /* With "mpa": what was read behind the last whole frame. */
    bool started; /* the first frame is past */
    size_t held;
    uint8_t frame[FRAME_OCTETS + PIECE_OCTETS];
};

static bool by_frames;
static FILE *file;
static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static uint16_t ip_checksum(const struct iphdr *ip)
{
    const uint16_t *words = (const uint16_t *)ip;
    uint32_t sum = 0;

    for (size_t i = 0; i < sizeof(*ip) / 2; i++)
        sum += words[i];
    sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t) ~(sum + (sum >> 16));
}

static void record(struct direction *way, const uint8_t *data, size_t octets, bool syn, bool fin)
{
    struct tcphdr tcp = { .source = htons(way->from_port),
        .dest = htons(way->to_port),
        .doff = sizeof(tcp) / 4,
        .syn = syn,
        .fin = fin,
        .psh = octets > 0,
        .window = htons(0xFFFF) };
    struct iphdr ip = { .version = 4,
        .ihl = sizeof(ip) / 4,
        .ttl = 64,
        .protocol = IPPROTO_TCP,
        .saddr = htonl(INADDR_LOOPBACK),
        .daddr = htonl(INADDR_LOOPBACK),
        .tot_len = htons((uint16_t)(sizeof(ip) + sizeof(tcp) + octets)) };
    struct packet_header packet;
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    ip.check = ip_checksum(&ip);
    packet = (struct packet_header){ (uint32_t)now.tv_sec, (uint32_t)(now.tv_nsec / 1000),
        ntohs(ip.tot_len), ntohs(ip.tot_len) };
    pthread_mutex_lock(&file_lock);
    tcp.seq = htonl(way->sequence);
    tcp.ack_seq = htonl(way->back->sequence);
    tcp.ack = way->back->sequence != 0;
    if (fwrite(&packet, sizeof(packet), 1, file) != 1 || fwrite(&ip, sizeof(ip), 1, file) != 1 ||
        fwrite(&tcp, sizeof(tcp), 1, file) != 1 || fwrite(data, 1, octets, file) != octets)
        die("writing the capture");
    way->sequence += (uint32_t)octets + (syn || fin);
    pthread_mutex_unlock(&file_lock);
}

static void record_data(struct direction *way, const uint8_t *data, size_t octets)
{
    for (size_t done = 0, n; done < octets; done += n) {
        n = octets - done < PIECE_OCTETS ? octets - done : PIECE_OCTETS;
        record(way, data + done, n, false, false);
    }
}

/* Of the frame that begins in what is held; 0: it is too short to tell. */
static size_t frame_octets(const struct direction *way)
{
    const uint8_t *frame = way->frame;

    if (way->started)
        return way->held < 2 ? 0 : ((2u + (frame[0] << 8 | frame[1]) + 3u) & ~3u) + 4u;
    return way->held < STARTUP_OCTETS ? 0 : STARTUP_OCTETS + (frame[18] << 8 | frame[19]);
}

static void record_frames(struct direction *way, const uint8_t *data, size_t octets)
{
    size_t frame;

    memcpy(way->frame + way->held, data, octets);
    way->held += octets;
    while ((frame = frame_octets(way)) && frame <= way->held) {
        record_data(way, way->frame, frame);
        way->held -= frame;
        memmove(way->frame, way->frame + frame, way->held);
        way->started = true;
    }
}

static void *relay(void *arg)
{
    struct direction *way = arg;
    uint8_t piece[PIECE_OCTETS];
    ssize_t got;

    while ((got = recv(way->from, piece, sizeof(piece), 0)) > 0) {
        if (by_frames)
            record_frames(way, piece, (size_t)got);
        else
            record_data(way, piece, (size_t)got);
        for (ssize_t sent = 0, n; sent < got; sent += n) {
            n = send(way->to, piece + sent, (size_t)(got - sent), MSG_NOSIGNAL);
            if (n < 0)
                return NULL; /* it reads no more; the other direction says why */
        }
    }
    record_data(way, way->frame, way->held);
    record(way, NULL, 0, false, true);
    shutdown(way->to, SHUT_WR);
    return NULL;
}

static int tcp_socket(uint16_t port, struct sockaddr_in *addr)
{
    const int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
        die("socket");
    *addr = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };
    return fd;
}

int main(int argc, char **argv)
{
    const struct file_header header = { 0xA1B2C3D4, 2, 4, 0, 0, SNAP_OCTETS, LINKTYPE_RAW };
    static struct direction there = { .from_port = 40000 }, back = { .to_port = 40000 };
    struct sockaddr_in addr;
    pthread_t threads[2];
    int listener;

    by_frames = argc == 5 && !strcmp(argv[4], "mpa");
    if (argc != 4 && !by_frames) {
        fprintf(stderr, "usage: recorder LISTEN_PORT TARGET_PORT FILE [mpa]\n");
        return 2;
    }
    there.to_port = back.from_port = (uint16_t)atoi(argv[2]);
    there.back = &back;
    back.back = &there;
    listener = tcp_socket((uint16_t)atoi(argv[1]), &addr);
    if (bind(listener, (struct sockaddr *)&addr, sizeof(addr)) || listen(listener, 1))
        die("listen");
    there.from = back.to = accept(listener, NULL, NULL);
    if (there.from < 0)
        die("accept");
    there.to = back.from = tcp_socket(there.to_port, &addr);
    if (connect(there.to, (struct sockaddr *)&addr, sizeof(addr)))
        die("connect");
    file = fopen(argv[3], "wb");
    if (!file || fwrite(&header, sizeof(header), 1, file) != 1)
        die(argv[3]);
    record(&there, NULL, 0, true, false);
    record(&back, NULL, 0, true, false);
    if (pthread_create(&threads[0], NULL, relay, &there) ||
        pthread_create(&threads[1], NULL, relay, &back))
        die("thread");
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    if (fclose(file))
        die(argv[3]);
    return 0;
}
