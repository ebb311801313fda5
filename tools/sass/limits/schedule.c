#include "limits/schedule.h"

#include "list.h"

enum { WARP = 32, REGISTERS_TOGETHER = 256 };

/* A multiprocessor: what is left of its blocks at time `at`; which of them ends next, and when. */
typedef struct Room {
    double at, next_end;
    double *left;
    int blocks, resident, next;
    double alone;
} Room;

/* Time in which each of its blocks does a unit of work. */
static double pace(const Room *room) {
    const int others = room->resident - 1;
    const double speed = others ? room->alone + (1 - room->alone) * (room->blocks - 1) / others : 1;
    return room->blocks / speed;
}

static void find_next(Room *room) {
    room->next = 0;
    for (int i = 1; i < room->blocks; i++)
        if (room->left[i] < room->left[room->next]) room->next = i;
    room->next_end = room->at + room->left[room->next] * pace(room);
}

static void begin_one(Room *room, double cost) {
    room->left[room->blocks++] = cost;
    find_next(room);
}

/* Goes on until its next block has ended, and takes that away. */
static void end_one(Room *room) {
    const double done = room->left[room->next];
    room->at = room->next_end;
    for (int i = 0; i < room->blocks; i++) room->left[i] -= done;
    room->left[room->next] = room->left[--room->blocks];
    find_next(room);
}

static int first_to_end(const Room *room, int sms) {
    int first = 0;
    for (int s = 1; s < sms; s++)
        if (room[s].next_end < room[first].next_end) first = s;
    return first;
}

double schedule_end(const double *cost, int blocks, int sms, int resident, double alone) {
    Room *room = list_zeroed((size_t)sms, sizeof *room);
    double *left = list_zeroed((size_t)sms * (size_t)resident, sizeof *left), end = 0;
    for (int s = 0; s < sms; s++)
        room[s] = (Room){.left = &left[s * resident], .resident = resident, .alone = alone};
    for (int b = 0; b < blocks; b++) {
        /* First one block on each, then a second one, and so on. */
        int s = b % sms;
        if (b >= sms * resident) {
            s = first_to_end(room, sms);
            end_one(&room[s]);
        }
        begin_one(&room[s], cost[b]);
    }
    for (int s = 0; s < sms; s++) {
        while (room[s].blocks > 0) end_one(&room[s]);
        if (room[s].at > end) end = room[s].at;
    }
    free(room);
    free(left);
    return end;
}

static int least(int a, int b) { return a < b ? a : b; }

/* Registers are given out to warps, 256 at a time. */
int schedule_residents(const Residents *r) {
    const int warps = (r->threads + WARP - 1) / WARP,
              of_warp = (r->registers * WARP + REGISTERS_TOGETHER - 1) / REGISTERS_TOGETHER *
                        REGISTERS_TOGETHER,
              shared = r->shared_bytes + r->reserved_shared;
    int fit = r->most_blocks;
    if (warps > 0) fit = least(fit, r->most_threads / (warps * WARP));
    if (warps > 0 && of_warp > 0) fit = least(fit, r->most_registers / (warps * of_warp));
    if (shared > 0) fit = least(fit, r->most_shared_bytes / shared);
    return fit > 0 ? fit : 1;
}
