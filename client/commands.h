/* SPDX-License-Identifier: MIT */
/* The functions of the commands. Each returns the exit code. */
#ifndef CLIENT_COMMANDS_H
#define CLIENT_COMMANDS_H

struct client;

int submit_command(struct client *c);
int run_command(struct client *c);
int list_command(struct client *c);
int show_command(struct client *c);
int wait_command(struct client *c);
int watch_command(struct client *c);
int logs_command(struct client *c);
int diff_command(struct client *c);
int evidence_command(struct client *c);
int attest_command(struct client *c);
int verify_command(struct client *c);
int cancel_command(struct client *c);
int pause_command(struct client *c);
int resume_command(struct client *c);
int change_command(struct client *c);
int retry_command(struct client *c);
int review_command(struct client *c);
int finding_command(struct client *c);
int hold_command(struct client *c);
int group_command(struct client *c);
int cooldown_command(struct client *c);
int salvage_command(struct client *c);
int relay_command(struct client *c);
int report_command(struct client *c);
int web_command(struct client *c);
int metrics_command(struct client *c);
int backup_command(struct client *c);
int prune_command(struct client *c);
int events_command(struct client *c);
int status_command(struct client *c);
int stop_command(struct client *c);
int doctor_command(struct client *c);
int init_command(struct client *c);
int config_command(struct client *c);
int prompt_command(struct client *c);
int rpc_command(struct client *c);
int mcp_command(struct client *c);
int completion_command(struct client *c);
int help_command(struct client *c);

#endif
