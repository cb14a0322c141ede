// Prints how a thread's elements come from memory and go there.
#ifndef SHARDCC_GENERATOR_CUDA_MOVES_H
#define SHARDCC_GENERATOR_CUDA_MOVES_H

#include "generator/cuda/threads.h"

// Declares the numbers that the group reads.
void print_numbers(Body *b);
// Declares what a thread keeps of a row.
void print_registers(Body *b);
// Reads the inputs that a thread keeps.
void print_kept_takes(Body *b, int indent);
// Declares the other elements that what is selected uses, and reads its inputs.
void print_takes(Body *b, int indent);
// Stores what is selected makes.
void print_gives(Body *b, int indent);

#endif
