/* Where this program's device cannot run what was asked: the same command on the simulator, which
 * is the program beside this one whose name ends in "-sim". `arguments` are those of main, ended by
 * NULL; `why` is a sentence without its full stop. */
#ifndef HANDOVER_H
#define HANDOVER_H

/* Replaces this program by the simulator's. Returns only if that is impossible: says so and returns
 * the exit code. */
int become_simulator(char *const arguments[], const char *why);

/* Runs the simulator's program to its end and returns its exit code; says so if that is impossible.
 */
int ask_simulator(char *const arguments[], const char *why);

#endif
