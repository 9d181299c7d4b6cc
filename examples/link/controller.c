/* A controller on the link of a machine: sends setpoints of a sine, in plain C.
 * Build: cc -O2 controller.c -o controller -lm     Usage: ./controller [PORT [SECONDS]]
 * For little-endian processors: the structure lies in memory as the bytes of a datagram do. */
#include <arpa/inet.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { COMMAND = 1, MEASUREMENT = 2, HEADER = 32, MOST = 146, BITS = 16 };
enum { COORDINATES = 1 << 0, SETPOINT = 1 << 10, COMMAND_RATES = 1 << 11 };

typedef struct {
    char magic[4];
    uint32_t checksum;
    uint8_t version, kind, legs, state;
    uint32_t sequence;
    uint64_t stamp; /* [ns] */
    uint32_t acknowledged, mask;
    double values[MOST];
} Datagram;

static uint32_t crc32(const uint8_t *data, size_t size) {
    uint32_t crc = ~0u;
    while (size--) {
        crc ^= *data++;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

static size_t size_of(const Datagram *d) { /* 0: one number for each leg */
    static const uint8_t widths[BITS] = {0, 0, 0, 0, 0, 7, 6, 6, 3, 3, 0, 0, 0, 7, 0, 6};
    size_t count = 0;
    for (int bit = 0; bit < BITS; bit++)
        if (d->mask >> bit & 1) count += widths[bit] ? widths[bit] : d->legs;
    return HEADER + 8 * count;
}

static int valid(const Datagram *d, ssize_t size) {
    return size >= HEADER && !memcmp(d->magic, "TWIN", 4) && d->version == 1 && d->legs <= 12 &&
           d->kind == MEASUREMENT && d->mask & COORDINATES && (size_t)size == size_of(d) &&
           d->checksum == crc32((const uint8_t *)d + 8, size - 8);
}

int main(int argc, char **argv) {
    const double amplitude = 0.01, rate = 2 * M_PI * 0.5, seconds = argc > 2 ? atof(argv[2]) : 5;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(argc > 1 ? atoi(argv[1]) : 5005)};
    struct timeval patience = {.tv_sec = 1};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    int link = socket(AF_INET, SOCK_DGRAM, 0);
    setsockopt(link, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(link, (struct sockaddr *)&to, sizeof to)) return 1;
    Datagram in = {0}, out = {.magic = "TWIN", .version = 1, .kind = COMMAND, .legs = 6};
    double middle[12], error = 0, time = 0;
    uint64_t first = 0;
    for (; time < seconds; time = 1e-9 * (in.stamp - first)) {
        out.sequence++; /* the first command has no field: hold, and send measurements */
        out.checksum = crc32((uint8_t *)&out + 8, size_of(&out) - 8);
        if (send(link, &out, size_of(&out), 0) < 0) return 1;
        do {
            ssize_t size = recv(link, &in, sizeof in, 0);
            if (size < 0) return fprintf(stderr, "no measurement\n"), 1;
            if (!valid(&in, size)) in.mask = 0;
        } while (!in.mask);
        if (out.sequence == 1) first = in.stamp, memcpy(middle, in.values, sizeof middle);
        double phase = rate * 1e-9 * (in.stamp - first);
        for (int leg = 0; leg < in.legs; leg++) {
            if (out.mask) error = fmax(error, fabs(in.values[leg] - out.values[leg]));
            out.values[leg] = middle[leg] + amplitude * sin(phase);
            out.values[in.legs + leg] = amplitude * rate * cos(phase);
        }
        out.legs = in.legs, out.mask = SETPOINT | COMMAND_RATES, out.stamp = in.stamp;
    }
    printf("%u commands, largest error %.3g mm\n", out.sequence, 1e3 * error);
    return close(link);
}
