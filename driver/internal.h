// Reading the values of options. What is wrong is said, `*status` becomes EXIT_OPTION and the
// function returns false.
#ifndef SHARDCC_DRIVER_INTERNAL_H
#define SHARDCC_DRIVER_INTERNAL_H

#include "driver/driver.h"

bool complain(int *status, const char *fmt, ...) PRINTF(2, 3);

bool read_number(const char *name, const char *s, double low, double *x, int *status);
bool read_accumulate(const char *s, int *k, int *status);
bool read_init(const char *s, double *std, int *status);
bool read_emit(const char *s, Emit *e, int *status);
bool read_march(const char *s, const char **march, int *status);

// Is the value of the form that the option asks for?
bool check_loss(const char *s, int *status);
bool check_optimizer(const char *s, int *status);
bool check_bind(const char *s, int *status);     // DIM=N
bool check_shape(const char *s, int *status);    // INPUT=N,N
bool check_padding(const char *s, int *status);  // GLOB=K
bool check_pass(const char *s, int *status);

// Do the options make sense together?
bool check_together(Arena *a, const Options *o, int *status);

#endif
