/* SPDX-License-Identifier: MIT */
/* Files for people: review logs and reports. */
#ifndef RUN_PUBLICATION_H
#define RUN_PUBLICATION_H

struct run;
struct slot;

void review_write_log(struct run *run, struct slot *slot);
void run_write_report(struct run *run);

#endif
