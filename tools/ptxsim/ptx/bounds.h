/* What a program may ask of the simulator at most, all in one place. A program that asks for more
 * is refused in one sentence, before the host pays for it. */
#ifndef PTXSIM_BOUNDS_H
#define PTXSIM_BOUNDS_H

enum {
    /* The code of one kernel, its calls replaced by bodies. The largest stage has 2,700
     * instructions. */
    MAX_INSTRUCTIONS = 1 << 16,
    MAX_REGISTERS = 1 << 16,
    MAX_REGISTER_FILE = 4 << 20, /* bytes per warp: what is alive at one time, and the constants */

    MAX_BLOCK_THREADS = 1024, /* CUDA's limit */

    /* Memory. */
    MAX_SHARED = 227 * 1024,        /* bytes per block: compute capability 9.0 */
    MAX_PARAMETERS = 32764,         /* bytes a kernel: CUDA's limit */
    MAX_LOCAL = 512 * 1024,         /* bytes per thread: CUDA's limit */
    MAX_LIVENESS = 1 << 28,         /* bytes of one set of values a basic block */
    MAX_LAUNCH_LOCAL = 1 << 30,     /* bytes of all threads that run at one time */
    MAX_MODULE_VARIABLES = 1 << 28, /* bytes of .global and .const */

    /* Time and output. */
    MAX_IN_FLIGHT = 1 << 15,    /* asynchronous operations of a warp that nobody has waited for */
    MAX_FIELD = 4096,           /* characters of one value that printf prints */
    MAX_SOURCE_FILE = 16 << 20, /* bytes of a file that .file names */
};

#endif
