/* SPDX-License-Identifier: MIT */
/* Names of the files in an attempt's directory, <state>/attempts/<id>/. */
#ifndef RECORD_LAYOUT_H
#define RECORD_LAYOUT_H

#define RECORD_LOCK "lock"		/* flock of rld, passed to the shim as fd 3 */
#define RECORD_JOB "job"
/* version, pid, boot id of the shim; renamed into place before the fork */
#define RECORD_SHIM "shim"
#define RECORD_EXIT "exit"
#define RECORD_PROMPT "prompt"		/* stdin of an agent */
#define RECORD_OPERATION "operation"	/* stdin of rl-git */
#define RECORD_RESULT "result"		/* output of rl-git */
#define RECORD_ANSWER "answer"		/* final text, written by the daemon after the exit */
/* the answer without secrets, for reports; exists only if it differs */
#define RECORD_MASKED "answer.masked"
#define RECORD_PREVIEW "preview.masked"	/* redacted last lines, if they contain a secret */
#define RECORD_VERDICT "verdict.json"	/* RL_VERDICT_FILE */
/* the review file, as it was when it was read */
#define RECORD_CARRIER "carrier"
#define RECORD_LARGE "carrier.large"	/* one that was too large to read */
#define RECORD_MISNAMED "carrier.misnamed"	/* a file with nearly that name */
#define RECORD_FINDINGS "findings.json"	/* RL_FINDINGS_FILE */
#define RECORD_DIFF "diff"		/* RL_DIFF_FILE */
/* what a reviewer was given besides, except its template: a verdict in it may be a copy */
#define RECORD_GIVEN "given"
/* written where a launcher placed the agent: that it began, and its exit status */
#define RECORD_FAR "far"
/* a directory for what is written there besides, and who may start the agent, see
 * record/far_status.h */
#define RECORD_PLACE "place"
#define RECORD_CLAIM RECORD_PLACE "/claim"
/* scripts that start it, look how it is, and end it, see job/placed_scripts.h. The first has its
 * environment: it is removed when it has begun, or becomes the second */
#define RECORD_START RECORD_PLACE "/start"
#define RECORD_AGAIN RECORD_PLACE "/again"
#define RECORD_END RECORD_PLACE "/end"
/* where that machine has a copy: takes it there and back, see job/copy_script.h; what rsync calls;
 * the text of the task */
#define RECORD_COPY RECORD_PLACE "/copy"
#define RECORD_SHELL RECORD_PLACE "/shell"
#define RECORD_TASK RECORD_PLACE "/task"
#define RECORD_SAID RECORD_PLACE "/said"	/* what did not come back; for a person */
#define RECORD_STDOUT "stdout"		/* segments: stdout.<offset, 16 hex digits> */
#define RECORD_STDERR "stderr"

#define RECORD_LOCK_FD 3

#endif
