// The table of the trainer's options.
#include <stddef.h>

#include "runtime/comm/transport.h"
#include "runtime/device.h"
#include "runtime/rt_transport.h"
#include "runtime/trainer/trainer_options.h"

#define AT(field) offsetof(RtOptions, field)

const RtOption rt_options[] = {
    {"--data", RT_TEXT, AT(data), 0, 0, "PATH",
     "train on this: a folder with INPUT.npy for each input of the model (first axis: samples), or "
     "a file of tokens or a folder of such files, *.bin, which are cut into windows",
     0, true},
    {"--eval-data", RT_TEXT, AT(eval_data), 0, 0, "PATH",
     "evaluate on this; without --data: evaluate and exit. Samples that don't fill a batch are "
     "left out",
     0, true},
    {"--eval-every", RT_WHOLE, AT(eval_every), 1, RT_MAX_STEPS, "N",
     "evaluate every N steps, and at the end in any case", .needs = {"--eval-data"}},
    {"--eval-samples", RT_WHOLE, AT(eval_samples), 1, INT64_MAX, "N",
     "evaluate on the first N samples of --eval-data (all)", .needs = {"--eval-data"}},
    {"--token-bytes", RT_WORD, AT(token_choice), 0, 0, "1|2|4",
     "bytes of a token in a file without a header (1 where the vocabulary is at most 256, else 2)"},
    {"--documents", RT_WORD, AT(documents), 0, 0, "packed|cut",
     "documents in files of tokens: packed ignores labels that would predict the next document "
     "from the end of one, cut lets each window lie in one document",
     .needs = {"--document-end", "--data or --eval-data"}},
    {"--document-end", RT_WHOLE, AT(document_end), 0, UINT32_MAX, "ID",
     "the token that ends a document", .needs = {"--documents"}},
    {"--steps", RT_WHOLE, AT(steps), 0, RT_MAX_STEPS, "N", "how many steps to train"},
    {"--epochs", RT_WHOLE, AT(epochs), 1, RT_MAX_STEPS, "N",
     "how often to go through the data (1); with --steps, whichever ends first"},
    {"--schedule", RT_WORD, AT(schedule), 0, 0, "constant|linear|cosine",
     "how the learning rate falls: not, or to 0 at the end"},
    {"--warmup", RT_WHOLE, AT(warmup), 0, RT_MAX_STEPS, "N",
     "steps in which the learning rate rises to its full height (0)"},
    {"--seed", RT_WHOLE, AT(seed), 0, INT64_MAX, "N",
     "the seed of the order of samples, dropout, initial weights and sampling (0)"},
    {"--no-shuffle", RT_FLAG, AT(no_shuffle), 0, 0, NULL,
     "read the samples in the order of the files"},
    {"--threads", RT_WHOLE, AT(threads), 1, INT32_MAX, "N",
     "how many threads compute (one for each core, or as many as it was compiled for)",
     RT_CAN_THREAD, true},
    {"--pin", RT_FLAG, AT(pin), 0, 0, NULL, "bind each thread to a CPU of its own", RT_CAN_THREAD,
     true},
    {"--device", RT_WHOLE, AT(gpu), 0, 4095, "N",
     "the number of the GPU that computes (the rank's number on its host)", RT_CAN_CHOOSE, true},
    {"--no-graph", RT_FLAG, AT(no_graph), 0, 0, NULL,
     "start each kernel on its own, instead of recording a step's and replaying them",
     RT_CAN_RECORD},
    {"--tf32", RT_FLAG, AT(tf32), 0, 0, NULL,
     "round the operands of products of f32 to TF32, which tensor cores multiply", RT_CAN_ROUND},
    {"--tune", RT_FLAG, AT(tune), 0, 0, NULL,
     "time several algorithms for each product, and keep the fastest in NAME.tune next to the "
     "program, for this run and later ones",
     RT_CAN_TUNE},
    {"--libraries", RT_TEXT, AT(libraries), 0, 0, "FOLDER",
     "the folder that has libcublasLt.so.13 and libnccl.so.2 (else that of the toolkit that the "
     "program was built with, else where the system looks)",
     RT_CAN_LOAD, true},
    {"--collectives", RT_WORD, AT(collectives), 0, 0, "nccl|host",
     "how ranks exchange: by NCCL, or through memory of the host, so that several ranks can share "
     "a GPU (nccl where each rank has a GPU of its own)",
     RT_CAN_EXCHANGE},
    {"--load", RT_TEXT, AT(load), 0, 0, "PATH",
     "weights to start from: a file, an index of shards, a folder with one of these or with "
     "checkpoints (NAME.safetensors next to the program)",
     0, true},
    {"--save", RT_TEXT, AT(save), 0, 0, "FILE",
     "write parameters and buffers at the end, also after Ctrl-C", .needs = {"--data"}},
    {"--save-dtype", RT_WORD, AT(save_dtype), 0, 0, "bf16|f16",
     "the type of floats in the file of --save, rounded to the nearest, ties to even (f32); "
     "numbers that it doesn't hold are refused",
     .needs = {"--save"}},
    {"--save-gradients", RT_TEXT, AT(save_gradients), 0, 0, "FILE",
     "write the gradients of the first step: the mean over its micro-batches, before clipping; "
     "without --steps and --epochs that step is the only one",
     .needs = {"--data"}},
    {"--checkpoint", RT_TEXT, AT(checkpoint), 0, 0, "FOLDER",
     "write checkpoints into this folder: weights, the optimizer's states and the position in the "
     "data; one at the end in any case, also after Ctrl-C",
     .needs = {"--data"}},
    {"--checkpoint-every", RT_PERIOD, AT(every), 1, RT_MAX_STEPS, "N|TIME",
     "a checkpoint every N steps, or every 90s, 10min or 2h", .needs = {"--checkpoint"}},
    {"--checkpoint-in-place", RT_FLAG, AT(in_place), 0, 0, NULL,
     "let steps wait while a checkpoint is written, instead of writing a copy meanwhile",
     .needs = {"--checkpoint"}},
    {"--keep", RT_WHOLE, AT(keep), 1, RT_MAX_STEPS, "N", "how many checkpoints are kept (2)",
     .needs = {"--checkpoint"}},
    {"--keep-best", RT_FLAG, AT(keep_best), 0, 0, NULL,
     "write a checkpoint after the evaluation with the least loss so far, and keep it",
     .needs = {"--eval-data", "--checkpoint"}},
    {"--resume", RT_FLAG, AT(resume), 0, 0, NULL,
     "go on from the last whole checkpoint in the folder of --checkpoint; from the start if there "
     "is none",
     .needs = {"--checkpoint"}},
    {"--max-time", RT_TIME, AT(max_time), 1, RT_MAX_STEPS, "TIME",
     "stop after so much time, 90s, 10min or 2h, as after SIGUSR1: save, and exit with status 75",
     .needs = {"--data"}},
    {"--spike", RT_REAL, AT(spike), 0, 0, "K",
     "watch for steps whose loss, or norm of the gradients, is more than K times its median over "
     "the last 64 steps",
     .needs = {"--data"}},
    {"--on-spike", RT_WORD, AT(on_spike), 0, 0, "warn|stop|rollback",
     "what to do then (warn); rollback: go back to the last checkpoint, and on with other data",
     .needs = {"--spike"}},
    {"--max-rollbacks", RT_WHOLE, AT(max_rollbacks), 1, RT_MAX_STEPS, "N",
     "stop at the spike after so many rollbacks (3)"},
    {"--log", RT_TEXT, AT(log), 0, 0, "FILE",
     "write one line of JSON for each step and each evaluation", 0, true,
     .needs = {"--data or --eval-data"}},
    {"--tensorboard", RT_TEXT, AT(tensorboard), 0, 0, "FOLDER",
     "write a file of events there, for TensorBoard", 0, true, .needs = {"--data or --eval-data"}},
    {"--predict", RT_TEXT, AT(predict), 0, 0, "PATH",
     "write the outputs for these inputs to the file of -o; data as for --data, or the .npy of the "
     "only input",
     0, true, .needs = {"-o"}},
    {"-o", RT_TEXT, AT(out), 0, 0, "FILE.npz", "the file that --predict writes",
     .needs = {"--predict"}},
    {"--generate", RT_WHOLE, AT(generate), 1, RT_MAX_STEPS, "N",
     "print N more tokens after the prompt"},
    {"--prompt", RT_TEXT, AT(prompt), 0, 0, "TEXT",
     "the text to continue; numbers of tokens if the vocabulary is larger than 256",
     .needs = {"--generate"}},
    {"--temperature", RT_REAL, AT(temperature), 0, 0, "T",
     "how freely to sample (1); 0: always the likeliest token"},
    {"--no-overlap", RT_FLAG, AT(no_overlap), 0, 0, NULL,
     "finish each collective before going on, instead of computing meanwhile"},
    {"--spawn", RT_WHOLE, AT(spawn), 1, 4096, "N",
     "start N ranks on this host, and end them together: all, or those from --rank on",
     RT_CAN_SPAWN, true},
    {"--rank", RT_WHOLE, AT(rank), 0, 1 << 20, "N",
     "the number of this rank, from 0, where no launcher tells it (torchrun, srun and mpirun do)",
     RT_CAN_SPAWN, true, .needs = {"--size", "--master"}},
    {"--size", RT_WHOLE, AT(size), 1, 1 << 20, "N", "how many ranks there are, with --rank",
     RT_CAN_SPAWN, .needs = {"--rank"}},
    {"--master", RT_TEXT, AT(master), 0, 0, "HOST:PORT",
     "where rank 0 is, and a port that is free there: all ranks meet there", RT_CAN_SPAWN, true},
    {"--interface", RT_TEXT, AT(interface), 0, 0, "NAME",
     "the network interface by which other ranks reach this one (the one that leads to rank 0)",
     RT_CAN_SPAWN, true},
    {"--stdin-signals", RT_FLAG, AT(stdin_signals), 0, 0, NULL,
     "each byte of stdin is the number of a signal, and the program ends when stdin does: so "
     "shardcc run reaches it by ssh",
     RT_CAN_FOLLOW, true},
    {"--timeout", RT_WHOLE, AT(timeout), 1, RT_MAX_STEPS, "SECONDS",
     "how long a rank may wait for another one before it ends the job (60)"},
    {"--info", RT_FLAG, AT(info), 0, 0, NULL, "describe the program and exit", 0, true},
    {"--check-arena", RT_FLAG, AT(check_arena), 0, 0, NULL,
     "fill unused memory with NaN, to find reads and writes outside live ranges", RT_CAN_WATCH},
    {"--profile", RT_FLAG, AT(profile), 0, 0, NULL,
     "print at the end how long each module and each call takes in a step", 0, true,
     .needs = {"--data"}},
    {"--trace", RT_TEXT, AT(trace), 0, 0, "FILE.json",
     "write the calls of the last step as Chrome trace events (ui.perfetto.dev shows them)", 0,
     true, .needs = {"--data"}},
    {"--quiet", RT_FLAG, AT(quiet), 0, 0, NULL, "print errors only", 0, true},
    {"--help", RT_FLAG, AT(help), 0, 0, NULL, "print this text", 0, true},
};
const int rt_n_options = sizeof rt_options / sizeof *rt_options;

bool rt_has_option(const RtModel *m, const RtOption *x)
{
    const RtTransportRow *row = m->transport ? rt_transport_find(m->transport->name) : NULL;
    unsigned can = m->device->can | (row && row->can_spawn ? RT_CAN_SPAWN : 0) |
                   (!row || row->can_spawn ? RT_CAN_FOLLOW : 0) |
                   (m->collectives ? RT_CAN_EXCHANGE : 0);

    return !x->of || can & x->of;
}
