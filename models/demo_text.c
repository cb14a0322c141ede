// Makes the demo's text: cuts FILES into blocks and holds out every tenth one. Counts a bigram
// table with add-one smoothing on the others; its loss, in nats per byte, is what a model must
// beat.
//
//   demo_text TRAIN HELD FILE …      writes both parts; prints their sizes and the table's loss
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 16384, EVERY = 10 };

typedef struct Part {
    FILE *to;
    int64_t bytes;
    int previous;  // byte, -1 at the start of a block
} Part;

static int64_t pairs[256][256], firsts[256];
static int64_t held_pairs[256][256];

static void put(Part *p, int c, int64_t table[256][256])
{
    if (p->previous >= 0)
        table[p->previous][c]++;
    p->previous = c;
    p->bytes++;
    putc(c, p->to);
}

static void split(FILE *from, Part *train, Part *held, int64_t *at)
{
    int c;

    for (; (c = getc(from)) != EOF; ++*at) {
        if (*at % BLOCK == 0)
            train->previous = held->previous = -1;
        if (*at / BLOCK % EVERY == EVERY - 1)
            put(held, c, held_pairs);
        else
            put(train, c, pairs);
    }
}

// Mean of -log p(byte | byte before) over the held-out pairs.
static double bigram_loss(void)
{
    double sum = 0, count = 0;

    for (int a = 0; a < 256; a++)
        for (int b = 0; b < 256; b++)
            firsts[a] += pairs[a][b];
    for (int a = 0; a < 256; a++)
        for (int b = 0; b < 256; b++) {
            double n = (double)held_pairs[a][b];
            sum -= n * log((double)(pairs[a][b] + 1) / (double)(firsts[a] + 256));
            count += n;
        }
    return sum / count;
}

static FILE *open_or_exit(const char *path, const char *mode)
{
    FILE *f = fopen(path, mode);

    if (!f) {
        perror(path);
        exit(1);
    }
    return f;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: demo_text TRAIN HELD FILE ...\n");
        return 2;
    }
    Part train = {.to = open_or_exit(argv[1], "wb")}, held = {.to = open_or_exit(argv[2], "wb")};
    int64_t at = 0;
    for (int i = 3; i < argc; i++) {
        FILE *f = open_or_exit(argv[i], "rb");
        split(f, &train, &held, &at);
        fclose(f);
    }
    if (fclose(train.to) || fclose(held.to)) {
        perror("demo_text");
        return 1;
    }
    printf("%lld %lld %.4f\n", (long long)train.bytes, (long long)held.bytes, bigram_loss());
    return 0;
}
