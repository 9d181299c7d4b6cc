/* A controller on the link of a machine: sends setpoints of a sine, in plain C.
 * Build: cc -O2 controller.c -o controller -lm     Usage: ./controller [PORT [SECONDS]]
 * For little-endian processors: the structure lies in memory as the bytes of a datagram do. */
#include <arpa/inet.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum { TWIN = 0x4E495754, COMMAND = 1, MEASUREMENT = 2, HEADER = 32, MOST = 146, BITS = 16 };
enum { COORDINATES = 1 << 0, SETPOINT = 1 << 10, COMMAND_RATES = 1 << 11 };

typedef struct {
    uint32_t magic, checksum;
    uint8_t version, kind, legs, state;
    uint32_t sequence;
    uint64_t stamp; /* [ns] */
    uint32_t acknowledged, mask;
    double values[MOST];
} Datagram;

static uint32_t crc32(const uint8_t *data, size_t size) {
    uint32_t crc = ~0u;
    for (size_t bit = 0; bit < 8 * size; bit++)
        crc = crc >> 1 ^ ((crc ^ data[bit / 8] >> bit % 8) & 1 ? 0xEDB88320u : 0);
    return ~crc;
}

static size_t size_of(const Datagram *d) { /* 0: one number for each leg */
    static const uint8_t widths[BITS] = {0, 0, 0, 0, 0, 7, 6, 6, 3, 3, 0, 0, 0, 7, 0, 9};
    size_t count = 0;
    for (int bit = 0; bit < BITS; bit++)
        if (d->mask >> bit & 1) count += widths[bit] ? widths[bit] : d->legs;
    return HEADER + 8 * count;
}

static int valid(const Datagram *d, ssize_t size) {
    return size >= HEADER && d->magic == TWIN && d->version == 2 && d->legs <= 12 &&
           d->kind == MEASUREMENT && d->mask & COORDINATES && (size_t)size == size_of(d) &&
           d->checksum == crc32((const uint8_t *)d + 8, size - 8);
}

int main(int argc, char **argv) {
    double amplitude = 0.01, rate = 2 * M_PI * 0.5, seconds = argc > 2 ? atof(argv[2]) : 5, error = 0;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(argc > 1 ? atoi(argv[1]) : 5005)};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    int link = socket(AF_INET, SOCK_DGRAM, 0);
    setsockopt(link, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){1, 0}, sizeof(struct timeval));
    if (connect(link, (struct sockaddr *)&to, sizeof to)) return 1;
    Datagram in, first = {0}, out = {.magic = TWIN, .version = 2, .kind = COMMAND, .legs = 6};
    for (double time = 0; time < seconds;) {
        out.sequence++; /* the first command has no field: hold, and send measurements */
        out.checksum = crc32((uint8_t *)&out + 8, size_of(&out) - 8);
        if (send(link, &out, size_of(&out), 0) < 0) return 1;
        ssize_t size;
        do size = recv(link, &in, sizeof in, 0); while (size >= 0 && !valid(&in, size));
        if (size < 0) return fprintf(stderr, "no measurement\n"), 1;
        if (out.sequence == 1) first = in;
        time = 1e-9 * (in.stamp - first.stamp);
        for (int leg = 0; leg < in.legs; leg++) {
            if (out.mask) error = fmax(error, fabs(in.values[leg] - out.values[leg]));
            out.values[leg] = first.values[leg] + amplitude * sin(rate * time);
            out.values[in.legs + leg] = amplitude * rate * cos(rate * time);
        }
        out.legs = in.legs, out.mask = SETPOINT | COMMAND_RATES, out.stamp = in.stamp;
    }
    return printf("%u commands, largest error %.3g mm\n", out.sequence, 1e3 * error) < 0;
}
