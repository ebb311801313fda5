/* Host code that somebody else wrote: a stage's functions, and what its library does as it is
 * loaded. It may end the program, with any exit code, or crash. */
#ifndef STAGE_CODE_H
#define STAGE_CODE_H

/* Between the two, code of the stage of this name runs, this function of it. If it ends the program
 * by exit or _exit, a sentence says so, and the exit code is STATUS_FAIL; if it crashes, another
 * one does, and the signal ends the program. */
void stage_code_enter(const char *stage, const char *function);
void stage_code_leave(void);

#endif
