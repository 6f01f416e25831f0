// SPDX-License-Identifier: MIT
// Made of docs/openrpc.json by `make openrpc`: do not edit.
// Types and methods of the protocol of rld. Rld takes a function that calls a method:
// call("run.get", { id: 1 }) promises the result. docs/protocol.md says how a call reaches
// the daemon.

/** state of a run */
export type RunState = "queued" | "running" | "paused" | "held" | "succeeded" | "failed" | "cancelled";

/** state of a task */
export type TaskState = "open" | "claimed" | "implemented" | "passed" | "failed" | "cancelled" | "done" | "taken" | "released";

/** state of an iteration */
export type IterationState = "running" | "passed" | "failed" | "cancelled";

/** what a slot does */
export type Phase = "waiting" | "implementing" | "checking" | "reviewing" | "fixing" | "committing" | "setting-up" | "held" | "cooling" | "passed" | "failed" | "cancelled";

/** what an attempt is for */
export type Role = "implement" | "check" | "review" | "fix" | "commit" | "setup";

/** state of an attempt; lost: gone, and its exit cannot be known */
export type AttemptState = "starting" | "running" | "exited" | "lost";

/** how a process ended */
export type ProcessResult = "none" | "exited" | "signalled" | "timeout" | "idle" | "lingered" | "refused" | "cancelled" | "not-started" | "lost";

/** how the service answered */
export type ProviderResult = "none" | "ok" | "limit" | "throttled" | "auth" | "error" | "unknown";

/** what an attempt came to */
export type TaskResult = "none" | "done" | "denied" | "no-change" | "stop-marker" | "failed";

/** a finding beside earlier reviews */
export type FindingState = "new" | "repeated" | "resolved" | "dismissed" | "disputed" | "outvoted";

/** what a tree is */
export type ProductKind = "base" | "work" | "merged" | "result";

/** what judged */
export type EvidenceKind = "check" | "review" | "human" | "vote";

/** what a check came to */
export type EvidenceResult = "green" | "red" | "flaky" | "none";

/** where a check or a reviewer judged */
export type JudgedIn = "same" | "clone" | "reuse";

/** what follows a bad end of a review */
export type BadEnd = "fail" | "hold" | "accept" | "known_issues";

/** what follows a review that gives no evidence */
export type OnMalformed = "fail" | "hold" | "accept" | "known_issues" | "ask";

/** what fixes findings */
export type Fixer = "fresh" | "implementer" | "corrector" | "resume" | "per_finding";

/** what one review is about */
export type Scope = "task" | "run";

/** what commits */
export type CommitMode = "none" | "auto" | "agent";

/** what picks the task of a slot */
export type Assign = "daemon" | "agent";

/** what exhausted an account */
export type CooldownKind = "limit" | "budget" | "operator";

/** who accepted work without a passing verdict */
export type Accepted = "policy" | "human" | "known-issues";

/** how far a merge has come, or what is known of the merged tree */
export type Merge = "judging" | "sent_back" | "unchanged" | "checked" | "not_checked" | "suspected" | "again" | "checked_together";

/** why something is held */
export type HoldKind = "lost" | "exhausted" | "stalled" | "violation" | "reviewer-error" | "conflict" | "commit-refused" | "reviewer-changed" | "cut" | "ref-moved" | "setup" | "protected" | "dismissed" | "question";

/** what was decided */
export type HoldState = "open" | "approved" | "rejected" | "rework" | "reworked" | "cancelled";

/** why something waits */
export type WaitKind = "host" | "source" | "permit" | "slots" | "workspace" | "after" | "group" | "group-paused" | "account" | "retry" | "budget" | "launcher" | "space" | "pick" | "paused" | "draining" | "preparing" | "pause" | "loading" | "decision" | "cancelling" | "task" | "limit" | "not-reviewed" | "released" | "taken" | "unassigned" | "other";

/** why something ended */
export type EndKind = "waived" | "approved" | "known-issues" | "rejected" | "exhausted" | "stalled" | "check" | "setup" | "base" | "violation" | "conflict" | "commit-refused" | "reviewer-changed" | "protected" | "cut" | "question" | "ref-moved" | "not-reviewed" | "limit" | "lost" | "host" | "timeout" | "not-started" | "denied" | "no-change" | "git" | "source" | "error" | "cancelled" | "after" | "retried" | "partial" | "differs" | "stop-marker" | "not-picked" | "tasks-left" | "taken" | "done" | "dependency" | "not-begun";

/** why there is no review */
export type SkipKind = "off" | "prompt" | "flag" | "by-task" | "no-change" | "failed" | "stop-marker" | "not-picked" | "other";

/** format of the output of an agent */
export type Reader = "text" | "claude" | "codex" | "gemini" | "opencode" | "copilot" | "qwen" | "pi";

/** said: words of the agent; piece: a part of them, continued by the next piece; tool: a tool and its main argument, one line; failed: the end of the result of a tool that failed; error: of the program or its service; skipped: what is left out */
export type TranscriptKind = "said" | "piece" | "tool" | "failed" | "error" | "skipped";

/** which result of an attempt kept it from succeeding */
export type Fault = "none" | "process" | "provider" | "task";

/** what a budget limits */
export type BudgetKind = "cost" | "tokens" | "wall";

/** what a user may do, each more than those before it; agent: a process of an attempt */
export type CallerRole = "agent" | "read" | "submit" | "admin";

/** limit of [keep] */
export type RetentionLimit = "age" | "failures" | "number" | "size";

/** why a run stays */
export type RetentionNeed = "running" | "held" | "hook" | "needed" | "unmerged" | "unreadable" | "salvage";

/** result of a check of the host */
export type DoctorState = "ok" | "warning" | "failed";

/** a run */
export interface Run {
	/** of the run */
	id: number;
	/** uid that submitted it */
	owner: number;
	/** as submitted */
	workdir: string;
	/** what the run occupies: the top of the repository, else the workdir */
	workspace: string;
	/** 1: the workspace is a git repository */
	has_git: number;
	/** where its tasks come from */
	source: string;
	/** the directory that holds .beads, or the file of the tasks */
	source_path: string | null;
	/** name of the project, if the source has one */
	project: string | null;
	/** queued, running, paused, held, succeeded, failed or cancelled */
	state: RunState;
	/** why the run waits */
	reason: string | null;
	/** kind of the reason, for programs */
	wait_kind: WaitKind | null;
	/** why the run ended */
	cause: string | null;
	/** kind of the cause, for programs */
	end_kind: EndKind | null;
	/** higher starts first */
	priority: number;
	/** group whose slots the run uses */
	group: string;
	/** run that this run waits for */
	after: number | null;
	/** true: paused by a user; the run starts nothing */
	paused: boolean;
	/** time of the next try, while it waits for one */
	next_at: string | null;
	/** external cause of the wait: host or source */
	wait: WaitKind | null;
	/** since when */
	wait_since: string | null;
	/** iteration, 0 before the first */
	iteration: number;
	/** maximum number of iterations; null: until no task remains */
	iterations: number | null;
	/** git tree at the start */
	base_tree: string | null;
	/** commit that work trees start from */
	base_commit: string | null;
	/** branch with the commits of all tasks */
	result_branch: string | null;
	/** git ref of what passed; when tasks are merged, of their branch */
	result_ref: string | null;
	/** git commit of the result */
	result_commit: string | null;
	/** length of the review log */
	review_count: number;
	/** hash of its newest row */
	review_head: string | null;
	/** number of its products */
	product_count: number | null;
	/** hash of the newest product */
	product_head: string | null;
	/** length of its evidence */
	evidence_count: number | null;
	/** hash of the newest evidence */
	evidence_head: string | null;
	/** number of entries of its record */
	entry_count: number | null;
	/** hash of the newest entry */
	entry_head: string | null;
	/** sentences */
	warnings: Array<string>;
	/** findings left open when the run succeeded under on_exhausted = known_issues */
	known_issues: Array<string>;
	/** run that this run retries */
	retry_of: number | null;
	/** SHA-256 of what judges it, as it was at its submit */
	judge_hash: string | null;
	/** what its submitter filed it under */
	labels: { [key: string]: string };
	/** time of the submit */
	created_at: string;
	/** time of the start */
	started_at: string | null;
	/** time of the end */
	ended_at: string | null;
	/** bytes on the disk of what is kept of it; null: it has not ended, or they are not measured yet */
	bytes: number | null;
	/** since when its outputs are removed; null: they are not */
	pruned_at: string | null;
	/** first line of the first task */
	title: string | null;
	/** what passed, what failed, and how to take the result */
	overview: Overview;
	/** slots of the current iteration: those at work, and those that are free */
	slots: Array<Slot>;
	/** in the order in which they are offered */
	tasks: Array<Task>;
	/** size of the work trees of its tasks, when they were last measured */
	disk_bytes: number | null;
	/** number of attempts so far */
	attempts: number;
	/** use of all attempts */
	totals: Totals;
	/** how often each was the result of a check */
	checks: CheckCounts;
	/** limits and use; null: no limit */
	budget: Budget | null;
	/** its open holds */
	holds: Array<HoldSummary>;
	/** findings that users dismissed, also in the runs that it retries */
	dismissed: Array<Dismissal>;
	/** findings that fixers disputed, also in the runs whose work it continues */
	disputed: Array<Dispute>;
	/** what prune has removed of it; null: nothing */
	pruned: Pruned | null;
	/** iterations so far */
	history: Array<Iteration>;
	/** the accepted answer; null: none yet */
	result: RunResult | null;
	/** the agent of each role */
	agents: { [key: string]: AgentChoice };
	/** number of slots */
	parallel: number;
	/** what picks the task of a slot */
	assign: Assign;
	/** how its tasks are reviewed */
	review: ReviewSettings;
}

/** a run without its slots, tasks and settings */
export interface RunSummary {
	/** of the run */
	id: number;
	/** uid that submitted it */
	owner: number;
	/** as submitted */
	workdir: string;
	/** what the run occupies: the top of the repository, else the workdir */
	workspace: string;
	/** 1: the workspace is a git repository */
	has_git: number;
	/** where its tasks come from */
	source: string;
	/** the directory that holds .beads, or the file of the tasks */
	source_path: string | null;
	/** name of the project, if the source has one */
	project: string | null;
	/** queued, running, paused, held, succeeded, failed or cancelled */
	state: RunState;
	/** why the run waits */
	reason: string | null;
	/** kind of the reason, for programs */
	wait_kind: WaitKind | null;
	/** why the run ended */
	cause: string | null;
	/** kind of the cause, for programs */
	end_kind: EndKind | null;
	/** higher starts first */
	priority: number;
	/** group whose slots the run uses */
	group: string;
	/** run that this run waits for */
	after: number | null;
	/** true: paused by a user; the run starts nothing */
	paused: boolean;
	/** time of the next try, while it waits for one */
	next_at: string | null;
	/** external cause of the wait: host or source */
	wait: WaitKind | null;
	/** since when */
	wait_since: string | null;
	/** iteration, 0 before the first */
	iteration: number;
	/** maximum number of iterations; null: until no task remains */
	iterations: number | null;
	/** git tree at the start */
	base_tree: string | null;
	/** commit that work trees start from */
	base_commit: string | null;
	/** branch with the commits of all tasks */
	result_branch: string | null;
	/** git ref of what passed; when tasks are merged, of their branch */
	result_ref: string | null;
	/** git commit of the result */
	result_commit: string | null;
	/** length of the review log */
	review_count: number;
	/** hash of its newest row */
	review_head: string | null;
	/** number of its products */
	product_count: number | null;
	/** hash of the newest product */
	product_head: string | null;
	/** length of its evidence */
	evidence_count: number | null;
	/** hash of the newest evidence */
	evidence_head: string | null;
	/** number of entries of its record */
	entry_count: number | null;
	/** hash of the newest entry */
	entry_head: string | null;
	/** sentences */
	warnings: Array<string>;
	/** findings left open when the run succeeded under on_exhausted = known_issues */
	known_issues: Array<string>;
	/** run that this run retries */
	retry_of: number | null;
	/** SHA-256 of what judges it, as it was at its submit */
	judge_hash: string | null;
	/** what its submitter filed it under */
	labels: { [key: string]: string };
	/** time of the submit */
	created_at: string;
	/** time of the start */
	started_at: string | null;
	/** time of the end */
	ended_at: string | null;
	/** bytes on the disk of what is kept of it; null: it has not ended, or they are not measured yet */
	bytes: number | null;
	/** since when its outputs are removed; null: they are not */
	pruned_at: string | null;
	/** first line of the first task */
	title: string | null;
	/** what passed, what failed, and how to take the result */
	overview: Overview;
}

/** a run in a few numbers */
export interface Overview {
	/** number of tasks */
	tasks: number;
	/** number of tasks by TaskState */
	states: { [key: string]: number };
	/** number of tasks with an open hold */
	held: number;
	/** id of the task that why is about; null: of all, or of the only one */
	task: string | null;
	/** why the run ended or waits, beginning with that task: "T-07: ..." */
	why: string | null;
	/** of all attempts; null: no agent reported any */
	cost_usd: number | null;
	/** short branch name of the result of a run that ended or is held; null: not one */
	branch: string | null;
	/** number of branches that have what passed */
	branches: number;
	/** command that takes the result; null: there is no branch, or not a single one */
	take: string | null;
	/** takes it without what was uncommitted at the start; null: likewise */
	pick: string | null;
	/** command that shows a commit that take does not: not passed, or there already */
	show: string | null;
}

/** a slot of the iteration; slot 0 reviews the run as a whole, 65535 checks its base */
export interface Slot {
	/** its run */
	run: number;
	/** iteration */
	iteration: number;
	/** number of the slot; 0 reviews the whole run */
	slot: number;
	/** id of its task; null: none yet, or none at all */
	task: string | null;
	/** path of its work tree */
	worktree: string | null;
	/** short name of the work tree's branch */
	branch: string | null;
	/** commit that the work tree starts from */
	base_commit: string | null;
	/** git commit of its work */
	commit: string | null;
	/** reviews so far */
	round: number;
	/** fix rounds so far */
	fix: number;
	/** fix rounds allowed */
	fixes: number;
	/** fixes in a row without progress */
	stalled: number;
	/** id of the attempt that its phase belongs to */
	attempt: number | null;
	/** id of the attempt whose answer is under review */
	answer: number | null;
	/** git tree under review */
	tree: string | null;
	/** number of its newest product */
	product: number | null;
	/** id of the step whose output is the diff of that tree */
	diff: number | null;
	/** number of the check that runs */
	check: number | null;
	/** id of the failed attempt of a check that is run once more */
	red_check: number | null;
	/** number of the set-up command that runs; 0: none */
	setup: number;
	/** its merge: judging, suspected, again or sent_back; or the merged tree is unchanged, checked, checked_together, not_checked */
	merge: Merge | null;
	/** id of the attempt whose output a fixer is given */
	failed_check: number | null;
	/** number of the finding that has a fixer of its own */
	item: number | null;
	/** id of the review attempt whose malformed answer the reviewer is asked about */
	asked: number | null;
	/** what its agent asks or has asked a human; null: nothing */
	question: string | null;
	/** tries in a row after failures of the service */
	retries: number;
	/** time of the next one */
	retry_at: string | null;
	/** account that it waits for */
	cooling: string | null;
	/** external cause of the wait: host or source */
	wait: WaitKind | null;
	/** since when */
	wait_since: string | null;
	/** why it waits, was not reviewed, or gave its task back */
	reason: string | null;
	/** kind of the reason, for programs */
	wait_kind: WaitKind | null;
	/** why it ended, or before that why its work is accepted */
	cause: string | null;
	/** kind of the cause, for programs */
	end_kind: EndKind | null;
	/** who accepted it without a passing verdict: policy, human or known-issues */
	accepted: Accepted | null;
	/** what it does */
	phase: Phase;
	/** time of the next try, while something from outside holds it up */
	next_at?: string;
}

/** a task of a run */
export interface Task {
	/** its run */
	run: number;
	/** of the task, as its source has it; t1 for a prompt */
	id: string;
	/** first line */
	title: string;
	/** bytes of its text */
	size: number;
	/** SHA-256 of its text */
	text_hash: string | null;
	/** place in the order in which tasks are offered, from 1 */
	position: number;
	/** in the numbers of its source, 0 first */
	priority: number | null;
	/** its source's own word */
	status: string | null;
	/** ids of the tasks that it waits for */
	depends_on: Array<string> | null;
	/** open, claimed, passed, failed, cancelled, done, taken, released or implemented */
	state: TaskState;
	/** why it ended so, waits or is not for this run */
	reason: string | null;
	/** the kind of reason of one that has ended or is not for this run, for programs */
	end_kind: EndKind | null;
	/** of its work tree, when it was last looked at */
	disk_bytes: number | null;
	/** git ref of the tree that a verdict passed */
	locked_ref: string | null;
	/** that tree */
	locked_tree: string | null;
	/** run whose work on it is continued; null: none */
	continues: number | null;
	/** the kind of reason of one that waits, for programs */
	wait_kind: WaitKind | null;
	/** short name of the branch that its last slot left in git */
	branch: string | null;
	/** git commit of that slot's work */
	commit: string | null;
	/** how far the merge of that commit has come */
	merge: Merge | null;
	/** number of its reviews */
	rounds: number;
	/** number of its attempts */
	attempts: number;
	/** of those that have ended, together */
	wall_ms: number;
	/** of its attempts; null: no agent reported any */
	cost_usd: number | null;
}

/** one pass of the outer loop */
export interface Iteration {
	/** its run */
	run: number;
	/** pass of the outer loop, from 1 */
	number: number;
	/** running, passed, failed or cancelled */
	state: IterationState;
	/** time of the start */
	started_at: string;
	/** time of the end */
	ended_at: string | null;
}

/** use of all attempts of a run */
export interface Totals {
	/** null: no agent reported any */
	tokens: number | null;
	/** null: no agent reported any */
	cost_usd: number | null;
	/** since its start, up to its end */
	wall_ms: number | null;
}

/** results of the checks of a run */
export interface CheckCounts {
	/** passed */
	green: number;
	/** failed */
	red: number;
	/** failed, and passed when it was run once more */
	flaky: number;
	/** not run, because its result on that tree was known */
	reused: number;
}

/** limits of a run, and their use */
export interface Budget {
	/** null: no limit */
	max_cost_usd: number | null;
	/** reported by agents, or reserved for those that reported nothing */
	spent_usd: number;
	/** for running attempts */
	reserved_usd: number;
	/** null: no limit */
	max_tokens: number | null;
	/** as spent_usd */
	spent_tokens: number;
	/** for running attempts */
	reserved_tokens: number;
	/** null: no limit */
	max_wall_ms: number | null;
	/** since its start */
	wall_ms: number;
}

/** what a run came to */
export interface RunResult {
	/** id of the attempt with the accepted answer */
	attempt: number;
	/** git tree that passed */
	tree: string | null;
	/** git ref of that tree */
	ref: string | null;
	/** git commit of the result */
	commit: string | null;
}

/** an agent and its model */
export interface AgentChoice {
	/** name of the agent */
	agent: string;
	/** null: the agent's own default */
	model: string | null;
}

/** settings of the reviews of a run */
export interface ReviewSettings {
	/** whether results are reviewed */
	enabled: boolean;
	/** why they are not */
	skip_reason: string | null;
	/** kind of that reason, for programs */
	skip_kind: SkipKind | null;
	/** as chosen */
	profile: string;
	/** the built-in profile that it is or extends */
	base_profile: string;
	/** agents of a panel, which review each work together; empty: one reviewer */
	reviewers: Array<string>;
	/** how many of them must pass: all, majority, or a number; null: no panel */
	quorum: string | null;
	/** models of the implementer and then of each fixer; empty: their own */
	escalate: Array<string>;
	/** fix rounds allowed */
	max_fixes: number;
	/** stalled rounds allowed; 0: any number */
	stall_limit: number;
	/** what fixes findings */
	fixer: Fixer;
	/** each task, or the run as a whole */
	scope: Scope;
	/** what commits the result */
	commit: CommitMode;
	/** what follows when the fixes are used up */
	on_exhausted: BadEnd;
	/** number of checks before each review */
	checks: number;
}

/** the answer to a call with "check": true */
export interface Checked {
	/** nothing was changed */
	id: null;
	/** the call is valid */
	state: "checked";
}

/** one process of an agent, a check or a set-up command */
export interface Attempt {
	/** of the attempt */
	id: number;
	/** its run */
	run: number;
	/** number within the run: the 3 of 42/3 */
	number: number;
	/** iteration */
	iteration: number;
	/** number of the slot */
	slot: number;
	/** id of the task */
	task: string | null;
	/** implement, check, review or fix */
	role: Role;
	/** review or fix round; 0 for implement */
	round: number;
	/** name of the agent */
	agent: string;
	/** reviewer of the panel that it votes for; null: no panel */
	reviewer: string | null;
	/** null: the agent's own default */
	model: string | null;
	/** environment mark of all processes of the attempt */
	uuid: string;
	/** starting, running, exited or lost */
	state: AttemptState;
	/** exit status, if it exited */
	exit_code: number | null;
	/** signal, if it was killed by one */
	signal: number | null;
	/** why it ended */
	cause: string | null;
	/** kind of the cause, for programs */
	end_kind: EndKind | null;
	/** outcome of the process */
	process: ProcessResult | null;
	/** report of the provider */
	provider: ProviderResult | null;
	/** outcome of the task */
	outcome: TaskResult | null;
	/** as reported by the agent */
	cost_usd: number | null;
	/** account billed; null for checks */
	account: string | null;
	/** cost reserved for it until it ends */
	reserved_usd: number | null;
	/** tokens reserved for it until it ends */
	reserved_tokens: number | null;
	/** id of the attempt whose conversation it resumes */
	resumes: number | null;
	/** tool calls denied for lack of permission */
	denials: number | null;
	/** tool calls that failed otherwise */
	tool_errors: number | null;
	/** true: its answer declares that no change is needed */
	says_no_change: boolean;
	/** changed files that the reviewer's prompt does not show in full, at most 100; null: it shows all of the diff */
	left_out: Array<LeftOut> | null;
	/** number of such files */
	left_out_files: number | null;
	/** size of the diff, if a part is left out */
	diff_bytes: number | null;
	/** bytes of it in the prompt */
	diff_shown: number | null;
	/** what confined it: landlock N, or none; null: no confinement requested */
	sandbox: string | null;
	/** conversation id */
	session: string | null;
	/** SHA-256 of its standard output */
	output_hash: string | null;
	/** SHA-256 of its standard error */
	stderr_hash: string | null;
	/** of a reviewer: SHA-256 of the file in which it handed over its answer, as it was judged */
	carrier_hash: string | null;
	/** why that file is no answer */
	carrier_fault: string | null;
	/** bytes of standard output that output_hash is about */
	output_size: number | null;
	/** SHA-256 of the prompt that it was given */
	prompt_hash: string | null;
	/** SHA-256 of the diff that it was given */
	diff_hash: string | null;
	/** id of the step that measured that diff */
	diff: number | null;
	/** SHA-256 of the text of the task that it was given */
	task_hash: string | null;
	/** of an agent: judge_hash of its run when it started */
	judge_hash: string | null;
	/** path of its program */
	program: string | null;
	/** SHA-256 of that file at the start */
	program_hash: string | null;
	/** version that its output names, else that of its npm package */
	program_version: string | null;
	/** model that answered, as its output names it */
	answered_by: string | null;
	/** launcher that placed it */
	launcher: string | null;
	/** machine on which its launcher places it; one that the launcher chooses is known at its end */
	node: string | null;
	/** stdout and stderr as the agent wrote them */
	bytes: number | null;
	/** time of the start */
	started_at: string | null;
	/** time of the end */
	ended_at: string | null;
	/** which of process, provider and outcome kept it from succeeding */
	fault: Fault | null;
	/** as the agent reports them */
	tokens: Tokens;
}

/** a part of the conversation of an attempt */
export interface TranscriptItem {
	/** what it is */
	kind: TranscriptKind;
	/** UTF-8 without control characters but newlines and tabs, at most 64 KiB */
	text: string;
}

/** tokens of one or more attempts; null: not reported */
export interface Tokens {
	/** sent, without those read from a cache */
	input: number | null;
	/** read from a cache */
	cached: number | null;
	/** written to a cache */
	cache_write: number | null;
	/** received */
	output: number | null;
	/** those of the output that were reasoning */
	reasoning: number | null;
}

/** a changed file that a reviewer's prompt does not show in full */
export interface LeftOut {
	/** path in the tree */
	file: string;
	/** size: the diff is too long; large: the file is */
	why: "size" | "binary" | "large";
	/** size of its diff */
	bytes: number;
}

/** a row of the review log */
export interface Review {
	/** its run */
	run: number;
	/** number within the run, from 1 */
	number: number;
	/** id of the task */
	task_id: string;
	/** name of the reviewer, or human:<user> */
	reviewer_agent: string;
	/** a vote: the reviewer of the panel that it is of; null: none */
	reviewer: string | null;
	/** a decision of a panel: the numbers of its votes; null: none */
	votes: Array<number> | null;
	/** agent whose work was reviewed */
	coder_agent: string | null;
	/** round */
	iteration: number;
	/** in the words of the profile */
	decision: string;
	/** what the reviewer said */
	feedback: string | null;
	/** as the reviewer gave them */
	quality_checks: { [key: string]: unknown } | unknown[] | string | number | boolean | null;
	/** what gave the decision */
	source: string | null;
	/** id of the attempt that reviewed */
	attempt: number | null;
	/** run from which it was taken over; null: of this run */
	from_run: number | null;
	/** its number in that run */
	from_review: number | null;
	/** git tree that was reviewed */
	tree: string | null;
	/** what it found, and what it resolved */
	findings: Array<Finding>;
	/** time of the decision */
	timestamp: string;
	/** hash of the row before it */
	previous_hash: string | null;
	/** of this row, its findings and previous_hash */
	hash: string;
	/** true: no further review of the task follows */
	final: boolean;
}

/** one item of a review */
export interface Finding {
	/** its run */
	run: number;
	/** number of its review */
	review: number;
	/** number within the review, from 1 */
	number: number;
	/** the same for the same finding in each review of a task */
	id: string;
	/** where */
	file: string | null;
	/** where */
	line: number | null;
	/** in the words of the profile */
	severity: string | null;
	/** what was found */
	text: string;
	/** in a decision of a panel: the reviewers that have it; null: no panel */
	reviewers: Array<string> | null;
	/** new, repeated, resolved, dismissed or outvoted */
	state: FindingState;
	/** the decision of a user that it need not be fixed; null: there is none */
	dismissed: Dismissal | null;
	/** the newest dispute by a fixer; null: there is none */
	disputed: Dispute | null;
}

/** a finding that must be fixed */
export interface OpenFinding {
	/** its run */
	run: number;
	/** number of its review */
	review: number;
	/** number within the review, from 1 */
	number: number;
	/** the same for the same finding in each review of a task */
	id: string;
	/** where */
	file: string | null;
	/** where */
	line: number | null;
	/** in the words of the profile */
	severity: string | null;
	/** what was found */
	text: string;
	/** in a decision of a panel: the reviewers that have it; null: no panel */
	reviewers: Array<string> | null;
	/** new, repeated, resolved, dismissed or outvoted */
	state: FindingState;
	/** the decision of a user that it need not be fixed; null: there is none */
	dismissed: Dismissal | null;
	/** the newest dispute by a fixer; null: there is none */
	disputed: Dispute | null;
	/** id of its task */
	task: string;
}

/** what a fixer says against a finding */
export interface Dispute {
	/** id of the task */
	task: string;
	/** id of the finding */
	finding: string;
	/** the finding with its place, shortened */
	text: string;
	/** name of the agent */
	by: string;
	/** why the finding is mistaken */
	reason: string;
	/** when */
	at: string;
	/** what the next verdict made of it: repeated or dropped; null: there is none yet */
	answer: string | null;
	/** run in which it was disputed: this one, or one whose work it continues */
	run: number;
	/** id of the fix attempt */
	attempt: number;
}

/** the decision of a user that a finding need not be fixed */
export interface Dismissal {
	/** id of the task */
	task: string;
	/** id of the finding */
	finding: string;
	/** the finding with its place, shortened */
	text: string;
	/** human:<user> */
	by: string;
	/** uid of the process that asked for it */
	by_uid: number;
	/** pid of that process */
	by_pid: number;
	/** why */
	reason: string;
	/** when */
	at: string;
	/** run in which the finding was dismissed: this one, or one that it retries */
	run: number;
	/** number of the newest review of that run then; 0: none */
	review: number;
}

/** a question to a human, with the reviews of its task */
export interface Hold {
	/** of the hold */
	id: number;
	/** its run */
	run: number;
	/** what is held */
	task: string;
	/** iteration */
	iteration: number;
	/** number of the slot */
	slot: number;
	/** lost, exhausted, stalled, violation, reviewer-error, conflict, commit-refused or reviewer-changed */
	kind: HoldKind;
	/** why it is held */
	reason: string | null;
	/** the attempt that was lost or failed, else the reviewer's */
	attempt: number | null;
	/** open, approved, rejected, rework (decided; its run waits for a slot), reworked or cancelled */
	state: HoldState;
	/** human:<user> */
	decided_by: string | null;
	/** uid of the process that decided */
	by_uid: number | null;
	/** its pid */
	by_pid: number | null;
	/** id of the attempt that it belongs to; null: none */
	by_attempt: number | null;
	/** message of the user */
	message: string | null;
	/** time when it was opened */
	created_at: string;
	/** time of the decision */
	decided_at: string | null;
	/** all reviews of the task */
	reviews: Array<Review>;
}

/** a question to a human */
export interface HoldSummary {
	/** of the hold */
	id: number;
	/** its run */
	run: number;
	/** what is held */
	task: string;
	/** iteration */
	iteration: number;
	/** number of the slot */
	slot: number;
	/** lost, exhausted, stalled, violation, reviewer-error, conflict, commit-refused or reviewer-changed */
	kind: HoldKind;
	/** why it is held */
	reason: string | null;
	/** the attempt that was lost or failed, else the reviewer's */
	attempt: number | null;
	/** open, approved, rejected, rework (decided; its run waits for a slot), reworked or cancelled */
	state: HoldState;
	/** human:<user> */
	decided_by: string | null;
	/** uid of the process that decided */
	by_uid: number | null;
	/** its pid */
	by_pid: number | null;
	/** id of the attempt that it belongs to; null: none */
	by_attempt: number | null;
	/** message of the user */
	message: string | null;
	/** time when it was opened */
	created_at: string;
	/** time of the decision */
	decided_at: string | null;
}

/** a tree of the run */
export interface Product {
	/** its run */
	run: number;
	/** number within the run, from 1 */
	number: number;
	/** base, work, merged or result */
	kind: ProductKind;
	/** id of the task; null: of the run */
	task_id: string | null;
	/** git tree */
	tree: string;
	/** number of the product that it was made of */
	parent: number | null;
	/** id of the attempt that made it */
	attempt: number | null;
	/** run from which it was taken over; null: of this run */
	from_run: number | null;
	/** its number in that run */
	from_product: number | null;
	/** id of the step that measured it */
	diff: number | null;
	/** SHA-256 of the diff with what the work began with */
	diff_hash: string | null;
	/** time when it was recorded */
	created_at: string;
	/** hash of the product before it */
	previous_hash: string | null;
	/** of this row and previous_hash */
	hash: string;
	/** number of that attempt within the run */
	attempt_number: number | null;
}

/** one judgement about a product */
export interface Evidence {
	/** its run */
	run: number;
	/** number within the run, from 1 */
	number: number;
	/** number of the product that was judged; null: none, or no git */
	product: number | null;
	/** id of the task */
	task_id: string | null;
	/** check, review, vote or human */
	kind: EvidenceKind;
	/** command of the check, name of the reviewer, or human:<user> */
	subject: string;
	/** git tree of the product */
	tree: string | null;
	/** where it was judged: clone, a clean room; reuse, a room of earlier trees; same, the work itself */
	room: JudgedIn | null;
	/** SHA-256 of what prepared the place of a check */
	setup_hash: string | null;
	/** SHA-256 of the environment of a check */
	env_hash: string | null;
	/** id of the attempt that judged */
	attempt: number | null;
	/** number of its review */
	review: number | null;
	/** exit status, if it exited */
	exit_code: number | null;
	/** SHA-256 of its standard output */
	output_hash: string | null;
	/** green, red, flaky or none */
	result: EvidenceResult;
	/** run of the attempt that was green on this tree before; null: the check was run */
	from_run: number | null;
	/** its number within that run */
	from_attempt: number | null;
	/** SHA-256 of the plan it was judged by */
	policy_hash: string | null;
	/** uid that submitted the run */
	submitter: number | null;
	/** version of rld */
	daemon: string | null;
	/** uid of the process that gave a human's judgement */
	by_uid: number | null;
	/** its pid */
	by_pid: number | null;
	/** id of the attempt that it belongs to; null: none */
	by_attempt: number | null;
	/** time when it was recorded */
	created_at: string;
	/** hash of the evidence before it */
	previous_hash: string | null;
	/** of this row and previous_hash */
	hash: string;
	/** number of that attempt within the run */
	attempt_number: number | null;
}

/** the saved content of a work tree */
export interface Salvage {
	/** of the salvage */
	id: number;
	/** its run */
	run: number;
	/** slot that owned the work tree */
	task: string | null;
	/** top of the repository that contains it */
	workspace: string;
	/** git ref, refs/rl/<instance>/salvage/<run>/<task> */
	ref: string;
	/** git commit of everything in the work tree */
	commit: string;
	/** where the work tree was */
	path: string | null;
	/** time of the removal */
	created_at: string;
}

/** the review log of a task, in the form of the decision profile */
export interface ReviewLog {
	/** id of the task */
	task_id: string;
	/** always */
	overlay: "agentic_review";
	/** its reviews */
	iterations: Array<LogRound>;
	/** null: its reviews are not complete */
	final_decision: string | null;
	/** time of the last one, in whole seconds; null: likewise */
	completed_at: string | null;
}

/** one review of that log */
export interface LogRound {
	/** round */
	iteration: number;
	/** in the words of the profile */
	decision: string;
	/** of the reviewer */
	feedback: string;
	/** time, in whole seconds */
	timestamp: string;
}

/** the tree and the hashes of a review */
export interface ReviewProof {
	/** of the review */
	number: number;
	/** id of the task */
	task_id: string;
	/** round */
	iteration: number;
	/** git tree under review */
	tree: string | null;
	/** hash of the review before it */
	previous_hash: string | null;
	/** of the review */
	hash: string;
	/** SHA-256 of the prompt that the reviewer was given */
	prompt_hash: string | null;
	/** SHA-256 of the diff that it was given */
	diff_hash: string | null;
	/** SHA-256 of its standard output */
	output_hash: string | null;
	/** path of its program */
	program: string | null;
	/** SHA-256 of that file */
	program_hash: string | null;
	/** version that its output names */
	program_version: string | null;
	/** model that its output names */
	answered_by: string | null;
}

/** an in-toto statement about a commit that passed */
export interface Statement {
	/** always */
	_type: "https://in-toto.io/Statement/v1";
	/** one: the commit */
	subject: Array<AttestedSubject>;
	/** always */
	predicateType: "urn:rld:pass:v1";
	/** what passed, and what judged it */
	predicate: PassPredicate;
}

/** what a statement is about */
export interface AttestedSubject {
	/** always */
	name: "commit";
	/** which one */
	digest: GitDigest;
}

/** the id of a commit */
export interface GitDigest {
	/** id of the commit */
	gitCommit: string;
}

/** what passed, and what judged it */
export interface PassPredicate {
	/** of the daemon, as in daemon.hello */
	instance: string;
	/** id of the run */
	run: number;
	/** id of the task; null: of the run */
	task: string | null;
	/** git tree that passed */
	tree: string;
	/** that tree and what it was made of, newest first */
	products: Array<Product>;
	/** all that judged that tree, in order */
	evidence: Array<Evidence>;
	/** SHA-256 of the settings that it was judged by last */
	policy_hash: string | null;
	/** version of rld */
	daemon: string;
	/** uid that submitted the run */
	submitter: number;
	/** when the run ended */
	ended_at: string | null;
	/** where the record of the run ended */
	record: AttestedEntry;
	/** the other hash chains of the run */
	heads: ChainHeads;
}

/** an entry of the record */
export interface AttestedEntry {
	/** number of the newest entry */
	entry: number;
	/** its hash, which covers all of the record */
	hash: string;
}

/** the newest hashes of the chains of a run */
export interface ChainHeads {
	/** hash of the newest review */
	reviews: string | null;
	/** hash of the newest product */
	products: string | null;
	/** hash of the newest row of evidence */
	evidence: string | null;
}

/** a commit without a statement */
export interface NotAttested {
	/** id of the commit */
	commit: string;
	/** why there is no statement about it */
	reason: string;
}

/** settings of a run */
export interface ReportSettings {
	/** the agent of each role */
	agents: { [key: string]: AgentChoice };
	/** whether results are reviewed */
	review: boolean;
	/** why they are not */
	skip_reason: string | null;
	/** kind of that reason, for programs */
	skip_kind: SkipKind | null;
	/** as chosen */
	profile: string;
	/** the built-in profile that it is or extends */
	base_profile: string;
	/** fix rounds allowed */
	max_fixes: number;
	/** reviews allowed */
	max_review_rounds: number;
	/** stalled rounds allowed; 0: any number */
	stall_limit: number;
	/** what follows a malformed verdict */
	on_malformed: OnMalformed;
	/** what follows a failed reviewer */
	on_reviewer_error: BadEnd;
	/** what follows when the fixes are used up */
	on_exhausted: BadEnd;
	/** what fixes findings */
	fixer: Fixer;
	/** each task, or the run as a whole */
	scope: Scope;
	/** what commits the result */
	commit: CommitMode;
	/** commands, in order, before each review */
	checks: Array<string>;
	/** of an implementer */
	timeout_ms: number;
	/** of a reviewer */
	review_timeout_ms: number;
	/** limits of each role */
	clocks: { [key: string]: Clocks };
}

/** limits of an attempt */
export interface Clocks {
	/** for the attempt; 0: none */
	wall_ms: number;
	/** without progress; 0: none */
	idle_ms: number;
	/** between its result and its end; 0: none */
	post_result_ms: number;
}

/** what a run came to */
export interface ReportResult {
	/** class of the end; null: it has not ended */
	outcome: string | null;
	/** of `rlctl run`; null: likewise */
	exit_code: number | null;
	/** the accepted answer, or its end */
	answer: string | null;
	/** id of the attempt that gave it */
	attempt: number | null;
	/** git ref of what passed */
	ref: string | null;
	/** that git tree */
	tree: string | null;
	/** git commit of the result */
	commit: string | null;
}

/** what a run took */
export interface Stats {
	/** number of reviews */
	review_rounds: number;
	/** of all tasks */
	fix_rounds: number;
	/** number of checks that were run */
	checks: number;
	/** number of attempts */
	turns: number;
	/** likewise */
	attempts: number;
	/** from the start to the end */
	wall_ms: number | null;
	/** of all attempts */
	tokens: Tokens;
	/** null: no agent reported any */
	cost_usd: number | null;
	/** number of ended attempts without a cost */
	unpriced_attempts: number;
	/** number of attempts without success, by the result that says so */
	faults: { [key: string]: number };
	/** tool calls denied for lack of permission */
	denials: number | null;
	/** tool calls that failed otherwise */
	tool_errors: number | null;
}

/** an attempt in the timeline of a report */
export interface Turn {
	/** from 1, over all rounds */
	turn: number;
	/** role of the attempt */
	type: Role;
	/** its id */
	attempt: number;
	/** its number within the run */
	number: number;
	/** number of its slot */
	slot: number | null;
	/** id of its task */
	task: string | null;
	/** of reviews or of fixes */
	round: number | null;
	/** name of the agent */
	agent: string | null;
	/** null: the agent's own default */
	model: string | null;
	/** of the attempt */
	state: AttemptState;
	/** exit status, if it exited */
	exit_code: number | null;
	/** signal, if it was killed by one */
	signal: number | null;
	/** why it ended */
	cause: string | null;
	/** kind of the cause, for programs */
	end_kind: EndKind | null;
	/** time of the start */
	started_at: string | null;
	/** time of the end */
	ended_at: string | null;
	/** as the agent reports them */
	tokens: Tokens;
	/** as the agent reports */
	cost_usd: number | null;
	/** outcome of the process */
	process: ProcessResult | null;
	/** report of the provider */
	provider: ProviderResult | null;
	/** outcome of the task */
	outcome: TaskResult | null;
	/** which of these three kept it from succeeding */
	fault: Fault | null;
	/** account billed */
	account: string | null;
	/** id of the attempt whose conversation it resumes */
	resumes: number | null;
	/** tool calls denied for lack of permission */
	denials: number | null;
	/** tool calls that failed otherwise */
	tool_errors: number | null;
	/** of a review */
	decision?: string;
	/** of a review */
	feedback?: string | null;
	/** ids of what a review wants fixed */
	findings?: Array<string>;
}

/** a check that was not run, because its result was known */
export interface ReusedCheck {
	/** id of the task */
	task: string | null;
	/** of the check */
	command: string;
	/** git tree */
	tree: string | null;
	/** run of the attempt that says what it comes to */
	from_run: number;
	/** its number within that run */
	from_attempt: number;
}

/** an account of a service */
export interface Account {
	/** its name */
	account: string;
	/** agents that use the account */
	agents: Array<string>;
	/** true: exhausted; the account's agents are not started */
	in_force: boolean;
	/** what exhausted it */
	kind: CooldownKind | null;
	/** end of the cooldown */
	until: string | null;
	/** message of the service or of the user */
	reason: string | null;
	/** attempt that reported it */
	attempt: number | null;
	/** human:<user> */
	set_by: string | null;
	/** since when */
	created_at: string | null;
	/** number of slots waiting for it */
	waiting: number;
	/** on this day */
	spent: Spent;
	/** by attempts that have not ended */
	reserved: Reserved;
	/** of rld.toml */
	limits: AccountLimits;
}

/** an exhausted account */
export interface Cooldown {
	/** its name */
	account: string;
	/** what exhausted it */
	kind: CooldownKind;
	/** end of the cooldown */
	until: string;
	/** message of the service or of the user */
	reason: string | null;
	/** attempt that reported it */
	attempt: number | null;
	/** human:<user> */
	set_by: string | null;
	/** since when */
	created_at: string;
	/** true */
	in_force: boolean;
}

/** what an account has spent */
export interface Spent {
	/** the day, in the daemon's time zone; null: nothing was spent */
	day: string | null;
	/** number of attempts */
	attempts: number;
	/** as reported */
	cost_usd: number;
	/** as reported */
	tokens: number;
	/** of all attempts together */
	wall_ms: number;
}

/** what is reserved of an account */
export interface Reserved {
	/** expected cost */
	cost_usd: number;
	/** expected tokens */
	tokens: number;
}

/** limits of an account */
export interface AccountLimits {
	/** longest cooldown */
	cooldown_max_ms: number;
	/** null: no limit */
	budget_day_usd: number | null;
	/** null: no limit */
	budget_day_tokens: number | null;
	/** null: no limit */
	budget_day_wall_ms: number | null;
}

/** a group of runs */
export interface Group {
	/** name of the group */
	name: string;
	/** slots of the daemon that its runs may use together; null: any number */
	slots: number | null;
	/** true: slots was set here, not in rld.toml */
	live: boolean;
	/** slots of the daemon in use by its runs */
	used: number;
	/** number of its queued runs */
	queued: number;
	/** true: its runs start nothing */
	paused: boolean;
}

/** a number that a monitoring system reads */
export interface Metric {
	/** its name, with its unit */
	name: string;
	/** a counter begins at 0 with each start */
	type: "gauge" | "counter";
	/** what it says */
	help: string;
	/** one for each set of labels */
	samples: Array<Sample>;
}

/** a value of a metric */
export interface Sample {
	/** names and values */
	labels: { [key: string]: string };
	/** the number */
	value: number;
}

/** number of unfinished runs by state */
export interface RunCounts {
	/** runs */
	queued: number;
	/** runs */
	running: number;
	/** runs */
	paused: number;
	/** runs */
	held: number;
}

/** what prune has removed of a run */
export interface Pruned {
	/** the limit by which it went */
	why: RetentionLimit;
	/** who asked for it; null: the daemon, by [keep] */
	by_uid: number | null;
	/** bytes that were kept of it */
	bytes: number | null;
	/** when */
	at: string;
}

/** a run that goes */
export interface PrunedRun {
	/** its id */
	run: number;
	/** of the run */
	state: RunState;
	/** time of its end; null: it has not ended */
	ended_at: string | null;
	/** what is, or was, kept of it; null: not measured */
	bytes: number | null;
	/** the limit that it is beyond */
	why: RetentionLimit;
}

/** a run that stays, though it is beyond a limit */
export interface KeptRun {
	/** its id */
	run: number;
	/** of the run */
	state: RunState;
	/** time of its end; null: it has not ended */
	ended_at: string | null;
	/** what is, or was, kept of it; null: not measured */
	bytes: number | null;
	/** the limit that it is beyond */
	why: RetentionLimit;
	/** why it stays, for programs */
	need: RetentionNeed;
	/** the same as a sentence */
	reason: string;
	/** what lets it go; null: only time, or the run that needs it */
	remedy: string | null;
}

/** what is kept of ended runs */
export interface KeptTotal {
	/** number of ended runs of which something is kept */
	runs: number;
	/** that they use on the disk */
	bytes: number;
}

/** events that are kept */
export interface EventRange {
	/** number of the oldest event that is kept */
	first: number;
	/** number of the newest event */
	last: number;
}

/** a setting in force */
export interface Setting {
	/** its name */
	path: string;
	/** in force; null: unset */
	value: string | number | boolean | unknown[] | { [key: string]: unknown } | null;
	/** what set it */
	from: string;
	/** what it does */
	help: string | null;
}

/** the result of one check of the host */
export interface DoctorCheck {
	/** what was checked; a name can occur more than once */
	name: string;
	/** the result */
	state: DoctorState;
	/** what was found */
	text: string;
	/** null: there is nothing to do */
	remedy: string | null;
}

/** what a submitter has to check of an agent */
export interface DoctorAgent {
	/** name of the agent */
	name: string;
	/** first word of its command */
	program: string | null;
	/** the preset that it is */
	preset: string | null;
	/** account that it uses */
	account: string | null;
	/** how its output is read */
	reader: string | null;
	/** variables that it takes from a submitter */
	env: Array<string>;
	/** variables that rld.toml sets */
	set: Array<string>;
	/** roles that use it by default */
	used_by: Array<string>;
	/** version that the preset was measured with */
	measured: string | null;
	/** version of Node.js that it needs */
	node: string | null;
	/** arguments of the program that tell whether it is logged in */
	login: Array<string> | null;
	/** how to log in */
	login_help: string | null;
	/** package that npm installs it from */
	package: string | null;
	/** why it cannot work as this user */
	caveat: string | null;
}

/** state, reason or cause of a run changed */
export interface RunStateEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "run.state";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** of the run */
	state: RunState;
	/** why it waits */
	reason?: string;
	/** kind of the reason, for programs */
	wait_kind?: WaitKind;
	/** why it ended */
	cause?: string;
	/** kind of the cause, for programs */
	end_kind?: EndKind;
}

/** a run has new settings */
export interface RunChangedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "run.changed";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** who changed it: uid N */
	by: string;
	/** names of the settings */
	changes: Array<string>;
}

/** outputs, directories and refs of a run are removed */
export interface RunPrunedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "run.pruned";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** the limit by which it went */
	why: RetentionLimit;
	/** who asked for it; null: the daemon */
	by_uid: number | null;
	/** what was kept of it; null: not measured */
	bytes: number | null;
}

/** an iteration begins */
export interface IterationStartedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "iteration.started";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** its number */
	iteration: number;
}

/** all slots of an iteration have ended */
export interface IterationEndedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "iteration.ended";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** its number */
	iteration: number;
	/** passed, failed or cancelled */
	state: IterationState;
}

/** the phase of a slot, or why it waits, changed */
export interface SlotPhaseEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "slot.phase";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** number of the slot */
	slot: number;
	/** what it does */
	phase: Phase;
	/** id of its task */
	task?: string;
	/** reviews so far */
	round: number;
	/** fix rounds so far */
	fix: number;
	/** reviews allowed */
	max_reviews: number;
	/** why it waits */
	reason?: string;
	/** kind of the reason, for programs */
	wait_kind?: WaitKind;
	/** why it ended */
	cause?: string;
	/** kind of the cause, for programs */
	end_kind?: EndKind;
	/** what prevents git from taking the work, while that is fixed */
	obstacle?: string;
}

/** the agent chose its task */
export interface SlotPickedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "slot.picked";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** number of the slot */
	slot: number;
	/** id of the task */
	task: string;
	/** first line of the task */
	title?: string;
}

/** the slot begins with the work of an earlier run */
export interface SlotContinuedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "slot.continued";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** number of the slot */
	slot: number;
	/** id of the task */
	task: string;
	/** run whose work it is */
	continues: number;
	/** git tree of that work */
	tree: string;
}

/** the result of a slot is on the run's branch */
export interface SlotMergedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "slot.merged";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** number of the slot */
	slot: number;
	/** id of the task */
	task: string;
	/** git commit on the run's branch */
	commit?: string;
	/** what is known of the merged tree */
	merge?: Merge;
}

/** the process of an attempt runs */
export interface AttemptStartedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "attempt.started";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** id of the attempt */
	attempt: number;
	/** number within the run */
	number: number;
	/** of the attempt */
	role: Role;
	/** name of the agent */
	agent?: string;
	/** number of the slot */
	slot: number;
	/** of reviews or of fixes */
	round: number;
}

/** an attempt ended */
export interface AttemptEndedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "attempt.ended";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** id of the attempt */
	attempt: number;
	/** number within the run */
	number: number;
	/** of the attempt */
	role: Role;
	/** name of the agent */
	agent?: string;
	/** number of the slot */
	slot: number;
	/** of reviews or of fixes */
	round: number;
	/** exited or lost */
	state: AttemptState;
	/** exit status, if it exited */
	exit_code?: number;
	/** signal, if it was killed by one */
	signal?: number;
	/** outcome of the process */
	process: ProcessResult;
	/** report of the provider */
	provider?: ProviderResult;
	/** outcome of the task */
	outcome: TaskResult;
	/** why it ended */
	cause?: string;
	/** kind of the cause, for programs */
	end_kind?: EndKind;
	/** as the agent reports */
	tokens_input?: number;
	/** as the agent reports */
	tokens_output?: number;
	/** as the agent reports */
	cost_usd?: number;
	/** from its start to its end */
	wall_ms?: number;
}

/** an agent asked for something that it may not do */
export interface AgentRefusedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "agent.refused";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** id of the attempt whose process asked */
	attempt: number;
	/** what it asked for */
	method: string;
	/** of that process */
	uid: number;
	/** of that process */
	pid: number;
}

/** a check is not run: its result on this tree is known */
export interface CheckReusedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "check.reused";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** number of the slot */
	slot: number;
	/** id of the task */
	task: string;
	/** number of the check, from 1 */
	check: number;
	/** of the check */
	command: string;
	/** what the check comes to on this tree */
	result: EvidenceResult;
	/** run of the attempt that says so */
	from_run: number;
	/** its number within that run */
	from_attempt: number;
}

/** a row of the review log was written */
export interface ReviewDecidedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "review.decided";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** number of the row in the review log */
	review: number;
	/** id of the task */
	task: string;
	/** number of the slot */
	slot: number;
	/** of reviews */
	round: number;
	/** in the words of the profile */
	decision: string;
	/** of the reviewer */
	feedback?: string;
	/** number of findings */
	findings: number;
	/** number of findings of no earlier review */
	new: number;
	/** number of findings of an earlier review */
	repeated: number;
	/** number of earlier findings that are gone */
	resolved: number;
	/** number of findings that users dismissed */
	dismissed: number;
	/** name of the reviewer, or human:<user> */
	by: string;
	/** id of the attempt that reviewed */
	attempt?: number;
}

/** a reviewer of a panel has voted; its decision follows */
export interface ReviewVotedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "review.voted";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** number of the row in the review log */
	review: number;
	/** id of the task */
	task: string;
	/** number of the slot */
	slot: number;
	/** of reviews */
	round: number;
	/** in the words of the profile */
	decision: string;
	/** of the reviewer */
	feedback?: string;
	/** number of findings */
	findings: number;
	/** name of the reviewer of the panel */
	reviewer: string;
	/** name of the agent: the reviewer, or its fallback */
	by: string;
	/** id of the attempt that reviewed */
	attempt: number;
}

/** a reviewer is asked about a malformed answer */
export interface ReviewAskedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "review.asked";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** number of the slot */
	slot: number;
	/** id of the task */
	task: string;
	/** of reviews */
	round: number;
	/** id of the attempt that gave the answer */
	attempt: number;
	/** name of the reviewer */
	by: string;
	/** what is wrong with the answer */
	reason: string;
}

/** a result was not reviewed */
export interface ReviewSkippedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "review.skipped";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** number of the slot */
	slot: number;
	/** id of the task */
	task?: string;
	/** why there is no review */
	reason: string;
	/** kind of the reason, for programs */
	skip_kind: SkipKind;
}

/** a finding of a review, or one that a fixer marked as fixed or disputes */
export interface FindingEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "finding";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** number of the review */
	review: number;
	/** the same for the same finding */
	id: string;
	/** where */
	file?: string;
	/** where */
	line?: number;
	/** in the words of the profile */
	severity?: string;
	/** what was found */
	text: string;
	/** since the review before */
	state: FindingState;
	/** who says so */
	by: string;
	/** why a fixer disputes it */
	reason?: string;
}

/** a user decided that a finding need not be fixed */
export interface FindingDismissedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "finding.dismissed";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** id of the task */
	task: string;
	/** id of the finding */
	finding: string;
	/** the finding with its place, shortened */
	text: string;
	/** human:<user> */
	by: string;
	/** why it need not be fixed */
	reason: string;
}

/** an agent asks a human something */
export interface QuestionEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "question";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** number of the slot */
	slot: number;
	/** id of the task */
	task: string;
	/** id of the attempt */
	attempt: number;
	/** name of the agent */
	by: string;
	/** what it asks */
	question: string;
}

/** a human has to decide */
export interface HoldOpenedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "hold.opened";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** id of the hold */
	hold: number;
	/** id of the task */
	task: string;
	/** number of the slot */
	slot: number;
	/** what a human has to decide */
	kind: HoldKind;
	/** why it is held */
	reason?: string;
}

/** a human decided, or the run was cancelled */
export interface HoldClosedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "hold.closed";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** id of the hold */
	hold: number;
	/** id of the task */
	task: string;
	/** number of the slot */
	slot: number;
	/** the decision */
	state: HoldState;
	/** human:<user> */
	by?: string;
	/** of the user */
	message?: string;
}

/** the content of a work tree was saved */
export interface SalvagedEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "salvaged";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** id of the salvage */
	salvage: number;
	/** id of the task */
	task: string;
	/** git ref of the content */
	ref: string;
}

/** an account is exhausted, or available again */
export interface CooldownEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "cooldown";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** its name */
	account: string;
	/** what exhausted it */
	kind: CooldownKind;
	/** false: it is available again */
	in_force: boolean;
	/** end of the cooldown */
	until: string;
	/** message of the service or of the user */
	reason: string | null;
	/** human:<user> */
	set_by: string | null;
}

/** four fifths of a limit are reached */
export interface BudgetEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "budget";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** what is limited */
	kind: BudgetKind;
	/** US dollars, tokens or milliseconds */
	spent: number;
	/** likewise */
	limit: number;
	/** the account, on this day; absent: the run */
	account?: string;
}

/** a group was changed */
export interface GroupEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "group";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** its name */
	group: string;
	/** true: its runs start nothing */
	paused: boolean;
}

/** the daemon started */
export interface DaemonEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "daemon";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** what happened */
	what: "started";
	/** of the daemon */
	version: string;
}

/** a fault of the host delays a run, or is over */
export interface HostEvent {
	/** number of the event, from 1, without a gap */
	seq: number;
	/** of the decision */
	time: string;
	/** type of the event */
	type: "host";
	/** its run; null: of the daemon */
	run: number | null;
	/** name of the subscription that it was sent for */
	subscription?: string;
	/** over: the fault is gone */
	what: "waits" | "over";
	/** number of the slot */
	slot?: number;
	/** name of the error, such as ENOSPC */
	error?: string;
	/** what failed */
	reason?: string;
	/** since when */
	since?: string;
	/** time of the next try */
	next_at?: string;
}

/** one event, after event.subscribe */
export type Event = RunStateEvent | RunChangedEvent | RunPrunedEvent | IterationStartedEvent | IterationEndedEvent | SlotPhaseEvent | SlotPickedEvent | SlotContinuedEvent | SlotMergedEvent | AttemptStartedEvent | AttemptEndedEvent | AgentRefusedEvent | CheckReusedEvent | ReviewDecidedEvent | ReviewVotedEvent | ReviewAskedEvent | ReviewSkippedEvent | FindingEvent | FindingDismissedEvent | QuestionEvent | HoldOpenedEvent | HoldClosedEvent | SalvagedEvent | CooldownEvent | BudgetEvent | GroupEvent | DaemonEvent | HostEvent;

export interface Gap {
	/** number of the first event that is no longer kept */
	from: number;
	/** number of the last one */
	to: number;
	/** name of the subscription */
	subscription?: string;
}

export interface RpcDiscoverResult {
	/** version of OpenRPC */
	openrpc: string;
	/** title and version */
	info: { [key: string]: unknown };
	/** all methods with their parameters, results and errors */
	methods: Array<{ [key: string]: unknown }>;
	/** the schemas of what methods answer with */
	components: { [key: string]: unknown };
	/** the notifications of a subscription */
	"x-notifications": Array<{ [key: string]: unknown }>;
	/** what clients may send beside calls */
	"x-client-notifications": Array<{ [key: string]: unknown }>;
}

export interface DaemonHelloResult {
	/** version of the daemon */
	version: string;
	/** protocol version */
	protocol: number;
	/** eight hex digits that identify the state directory; part of ref names */
	instance: string;
	/** what the caller may do */
	role: CallerRole;
	/** names of the methods, and event:TYPE of each type of events */
	capabilities: Array<string>;
	/** variables that agents get from the submitter's environment, according to the settings */
	agent_env: Array<string>;
}

export interface DaemonStatusResult {
	/** draining: it takes no new work and stops soon */
	state: "running" | "draining";
	/** version of the daemon */
	version: string;
	/** eight hex digits that identify the state directory; part of ref names */
	instance: string;
	/** process ID */
	pid: number;
	/** user ID */
	uid: number;
	/** what the caller may do */
	role: CallerRole;
	/** state directory */
	state_dir: string;
	/** time of the start */
	started_at: string;
	/** time since the start of the daemon */
	uptime_ms: number;
	/** settings file in use */
	config: string | null;
	/** number of unfinished runs by state */
	runs: RunCounts;
	/** exhausted accounts */
	cooling: Array<Cooldown>;
	/** number of slots of the daemon */
	parallel: number;
	/** number of running attempts */
	attempts: number;
	/** number of running runs, submits and commits in progress; at 0 a draining daemon exits */
	busy: number;
	/** connections */
	clients: number;
	/** number of event subscriptions */
	followers: number;
	/** events that are kept */
	events: EventRange;
	/** what prune could remove of ended runs, as measured at their end */
	kept: KeptTotal;
	/** number of commits since the start */
	commits: number;
}

export interface DaemonStopResult {
	/** draining: it waits for running attempts first */
	state: "stopping" | "draining";
	/** number of running attempts */
	attempts: number;
}

export interface DaemonReloadResult {
	/** settings file in use */
	config: string | null;
}

export interface ConfigShowResult {
	/** settings file in use */
	config: string | null;
	/** all of them */
	settings: Array<Setting>;
}

export interface DaemonBackupResult {
	/** the file */
	path: string;
	/** its size */
	bytes: number;
}

export interface DaemonMetricsResult {
	/** all of them, in a fixed order */
	metrics: Array<Metric>;
}

export interface DaemonDoctorResult {
	/** worst result of the checks */
	state: DoctorState;
	/** version of the daemon */
	version: string;
	/** user that the agents run as */
	uid: number;
	/** as requested */
	deep: boolean;
	/** in the order of the checks */
	checks: Array<DoctorCheck>;
	/** each agent that a run may name, for checks by the client */
	agents: Array<DoctorAgent>;
}

export interface BlobPutResult {
	/** its name */
	blob: string;
	/** current size in bytes */
	size: number;
}

export interface RunSubmitResult {
	/** id of the new run; null for check */
	id: number | null;
	/** of the run; 'checked' for check */
	state: RunState | "checked";
	/** what was accepted, but may be a mistake */
	warnings: Array<string>;
	/** number of an event before the first one of the run: event.subscribe with this since misses none; 0 where a key returns an earlier run */
	seq: number;
}

export interface RunSubmitReviewGuidelinesItem {
	file: string;
	section: string;
}

export interface RunSubmitReview {
	/** whether to review results */
	enabled?: boolean;
	/** review profile */
	profile?: string;
	/** agent that reviews; unset: the implementer's */
	agent?: string;
	/** model of the reviewer */
	model?: string;
	/** agent that fixes; unset: the implementer's */
	fixer_agent?: string;
	/** model of the fixer */
	fixer_model?: string;
	/** maximum number of fix rounds; 0: one review, no fix */
	max_fixes?: number;
	/** number of fixes in a row without progress that end the loop; 0: no limit */
	stall_limit?: number;
	/** time limit of one review */
	timeout?: number | string;
	/** what to do when a review gives no evidence */
	on_malformed?: "fail" | "hold" | "accept" | "known_issues" | "ask";
	/** what to do when the reviewer fails */
	on_reviewer_error?: "fail" | "hold" | "accept" | "known_issues";
	/** what to do when findings remain after the last round */
	on_exhausted?: "fail" | "hold" | "accept" | "known_issues";
	/** which agent fixes the findings */
	fixer?: "fresh" | "implementer" | "corrector" | "resume" | "per_finding";
	/** review each task, or the run as a whole */
	scope?: "task" | "run";
	/** how strict later reviews are */
	strictness?: "same" | "by_round";
	/** shell commands that must succeed before each review */
	checks?: Array<string>;
	/** which checks that fail count: all, or only those that are green on the base */
	checks_mode?: "all" | "new_failures";
	/** when merged work is reviewed: on_conflict, or always when the merge changed it */
	review_merged?: "on_conflict" | "always";
	/** file sections with the review criteria, used where the file exists */
	guidelines?: Array<RunSubmitReviewGuidelinesItem>;
	/** files with the project's conventions, used where they exist */
	conventions?: Array<string>;
	/** reviewing program, for profiles that use its exit status */
	reviewer?: string;
	/** submitter's variables to pass to a reviewing program, in addition to the implementer's */
	env?: Array<string>;
	/** name of the file that the reviewer writes */
	review_file?: string;
	/** directory for a review log per task; empty: none */
	review_log?: string;
	/** whether to confine the reviewer so that it cannot write what it judges */
	read_only?: boolean;
	/** what to do when the kernel cannot confine a read_only review */
	sandbox?: "off" | "try" | "require";
	/** what to do with a pass when the prompt left out a part of the diff */
	on_cut?: "warn" | "hold";
	/** what to do when an implementer or a fixer asks a question */
	on_question?: "ignore" | "hold";
	/** what a review without issues is if its text does not end with the line that its prompt asks for */
	silence?: "pass" | "violation";
	/** where reviewers and checks work */
	workspace?: "same" | "room";
	/** whether each tree gets a clean room, or all trees of a task share one */
	room?: "clone" | "reuse";
	/** patterns of paths: work that touches one is held for a human */
	protect?: Array<string>;
	/** models of the implementer and then of each fixer, in place of their own */
	escalate?: Array<string>;
	/** agents that review each work together, in place of agent */
	reviewers?: Array<string>;
	/** how many of reviewers must pass the work: all, majority, or a number */
	quorum?: number | string;
	/** patterns of files that a reviewer may change in its room */
	reviewer_may_change?: Array<string>;
	/** prompt template for the implementer */
	developer_prompt?: string;
	/** prompt template for the reviewer; none: no review */
	reviewer_prompt?: string;
}

export interface RunListResult {
	/** newest first */
	runs: Array<RunSummary>;
	/** cursor of the next page; null: no more pages */
	next: number | null;
}

export interface RunDiffResult {
	/** offset of the first byte of diff; greater than the requested one where bytes were dropped */
	offset: number;
	/** offset to continue with */
	next: number;
	/** of a run: the branch with the commits of all tasks, or the review of the whole run, compared with the start; otherwise the changes of each task, in order */
	diff: string;
	/** of diff */
	encoding: "utf-8" | "base64";
	/** whether this is the end */
	eof: boolean;
	/** number of bytes missing before offset */
	dropped: number;
	/** git tree at the start; of a task, that its work is compared with */
	base_tree: string | null;
	/** git tree that is compared with it; null: more than one */
	tree: string | null;
}

export interface RunWaitResult {
	/** in the order of ids */
	runs: Array<RunSummary>;
	/** true: the time is up and some runs continue */
	timed_out: boolean;
}

export interface AttemptListResult {
	/** in starting order */
	attempts: Array<Attempt>;
	/** cursor of the next page; null: no more pages */
	next: number | null;
}

export interface AttemptOutputResult {
	/** offset of the first byte of data; greater than the requested one where bytes were dropped */
	offset: number;
	/** offset to continue with */
	next: number;
	/** content */
	data: string;
	/** of data */
	encoding: "utf-8" | "base64";
	/** whether this is the end */
	eof: boolean;
	/** number of bytes missing before offset */
	dropped: number;
}

export interface AttemptPreviewResult {
	/** last human-readable lines, oldest first: no control characters, at most 220 characters each, none twice in a row */
	lines: Array<string>;
	/** time of its last output; null: none yet */
	updated_at: string | null;
}

export interface AttemptTranscriptResult {
	/** format of the output; text: one piece, as it was printed */
	reader: Reader;
	/** in order; none: there is no whole line yet, or nothing in it for people */
	items: Array<TranscriptItem>;
	/** offset of the first byte that was read */
	offset: number;
	/** offset to continue with */
	next: number;
	/** whether this is the end */
	eof: boolean;
	/** number of bytes missing before offset */
	dropped: number;
}

export interface ReviewListResult {
	/** in order */
	reviews: Array<Review>;
	/** cursor of the next page; null: no more pages */
	next: number | null;
}

export interface ReviewExportResult {
	/** one per task */
	logs: Array<ReviewLog>;
	/** one per review, in order */
	proofs: Array<ReviewProof>;
	/** hash of the newest review */
	head: string | null;
	/** hash of the newest entry of the record */
	record: string | null;
}

export interface ReviewVerifyResult {
	/** id of the run */
	run: number;
	/** whether log, products, evidence and record are intact, and the files of the attempts and the refs of the results are as recorded */
	ok: boolean;
	/** whether log, products, evidence and record are intact, and each row that has ended is as it entered the record; and the attested entry is in it */
	chain: boolean;
	/** whether the record has that entry; null: none was given */
	attested: boolean | null;
	/** ... and the files of the attempts are as recorded */
	kept: boolean;
	/** number of rows in the log */
	reviews: number;
	/** hash of the newest row */
	head: string | null;
	/** number of products */
	products: number;
	/** number of rows of evidence */
	evidence: number;
	/** number of entries of the record */
	entries: number;
	/** hash of the newest entry: it covers all others, and when the run has ended, the heads of the other chains */
	record: string | null;
	/** number of files that were hashed again */
	files: number;
	/** files and refs that are gone because prune has removed them; null: none */
	pruned: Pruned | null;
	/** what an earlier version has not recorded */
	not_covered: string | null;
	/** the first difference: a row, a file of an attempt, or the refs that were moved or removed */
	message: string | null;
}

export interface FindingListResult {
	/** findings of the newest verdict on each task that must be fixed */
	open: Array<OpenFinding>;
	/** findings that users dismissed, also in the runs that this one retries */
	dismissed: Array<Dismissal>;
	/** findings that fixers disputed, also in the runs whose work this one continues */
	disputed: Array<Dispute>;
	/** cursor of the next page; null: no more pages */
	next: number | null;
}

export interface FindingDismissResult {
	/** id of the run */
	run: number;
	/** id of the task */
	task: string;
	/** id of the finding */
	finding: string;
	/** ids of the findings of the task that stay open */
	open: Array<string>;
	/** id of the open hold of the task, which the dismissal does not decide; null: none */
	hold: number | null;
}

export interface ProductListResult {
	/** in order */
	products: Array<Product>;
	/** cursor of the next page; null: no more pages */
	next: number | null;
}

export interface EvidenceListResult {
	/** in order */
	evidence: Array<Evidence>;
	/** cursor of the next page; null: no more pages */
	next: number | null;
}

export interface RunAttestResult {
	/** id of the run */
	run: number;
	/** top of its repository */
	workspace: string;
	/** file of the key that signs; it may not exist yet */
	key: string;
	/** whether attest_key of rld.toml names it */
	key_is_set: boolean;
	/** one per commit whose tree has passed */
	statements: Array<Statement>;
	/** commits of the run that nothing proves */
	left_out: Array<NotAttested>;
}

export interface HoldListResult {
	/** newest first */
	holds: Array<Hold>;
	/** cursor of the next page; null: no more pages */
	next: number | null;
}

export interface GroupListResult {
	/** by name: groups in rld.toml, groups that were set, and groups of unfinished runs */
	groups: Array<Group>;
}

export interface CooldownListResult {
	/** by name: the accounts of agents and of rld.toml, and those with a cooldown or spending on record */
	accounts: Array<Account>;
}

export interface SalvageListResult {
	/** newest first */
	salvage: Array<Salvage>;
	/** cursor of the next page; null: no more pages */
	next: number | null;
}

export interface RunReportResult {
	/** version of this format: 1 */
	version: number;
	/** id of the run */
	run: number;
	/** what passed, what failed, and how to take the result */
	overview: Overview;
	/** first line of the first task */
	task: string | null;
	/** agent that implements */
	agent: string | null;
	/** its model; null: the agent's default */
	model: string | null;
	/** agent or program that reviews; null: no review */
	reviewer: string | null;
	/** as submitted */
	workdir: string;
	/** of the run */
	state: RunState;
	/** why the run waits */
	reason: string | null;
	/** kind of the reason, for programs */
	wait_kind: WaitKind | null;
	/** why the run ended */
	cause: string | null;
	/** kind of the cause, for programs */
	end_kind: EndKind | null;
	/** time of the submit */
	created_at: string;
	/** time of the start */
	started_at: string | null;
	/** time of the end */
	ended_at: string | null;
	/** of the run; null: they cannot be read */
	settings: ReportSettings | null;
	/** what the run came to */
	result: ReportResult;
	/** what it took */
	stats: Stats;
	/** one per attempt */
	timeline: Array<Turn>;
	/** in the order of their source */
	tasks: Array<Task>;
	/** in order */
	reviews: Array<Review>;
	/** each finding once, with its final state */
	findings: Array<Finding>;
	/** findings left open when the run succeeded under on_exhausted = known_issues */
	known_issues: Array<string>;
	/** sentences */
	warnings: Array<string>;
	/** checks that were not run, because they had been green on the same tree */
	reused_checks: Array<ReusedCheck>;
	/** holds and their decisions */
	holds: Array<HoldSummary>;
}

export interface EventListResult {
	/** in order: what a notification of each has as params */
	events: Array<{ [key: string]: unknown }>;
	/** value of since for the next page */
	next: number;
}

export interface EventSubscribeResult {
	/** number of the newest event */
	seq: number;
}

export interface EventUnsubscribeResult {
	/** number of the newest event */
	seq: number;
}

export interface PromptShowResult {
	/** the prompt; the nonce of a review is XXXXXXXX */
	prompt: string;
	/** files that are missing or empty */
	warnings: Array<string>;
}

export interface StatePruneResult {
	/** true: nothing was removed */
	check: boolean;
	/** that went, or would go, oldest first: at most 1000 */
	runs: Array<PrunedRun>;
	/** their number */
	count: number;
	/** what was kept of them */
	bytes: number;
	/** likewise of prepared rooms that nothing uses */
	prepared_bytes: number;
	/** runs beyond the limits that stay, oldest first: at most 1000 */
	kept: Array<KeptRun>;
	/** their number */
	kept_count: number;
	/** what could not be removed; the next start or prune tries again */
	left: Array<string>;
}

export class Rld {
	constructor(private call: (method: string, params: object) => Promise<unknown>) {}

	/** describe all methods as an OpenRPC document */
	rpcDiscover(): Promise<RpcDiscoverResult> {
		return this.call("rpc.discover", {}) as Promise<RpcDiscoverResult>;
	}

	/** agree on a protocol version */
	daemonHello(params: { client?: string; min?: number; max?: number; } = {}): Promise<DaemonHelloResult> {
		return this.call("daemon.hello", params) as Promise<DaemonHelloResult>;
	}

	/** return the state of the daemon */
	daemonStatus(): Promise<DaemonStatusResult> {
		return this.call("daemon.status", {}) as Promise<DaemonStatusResult>;
	}

	/** stop the daemon */
	daemonStop(params: { drain?: boolean; check?: boolean; } = {}): Promise<DaemonStopResult> {
		return this.call("daemon.stop", params) as Promise<DaemonStopResult>;
	}

	/** reload the settings; applies to new runs */
	daemonReload(params: { check?: boolean; } = {}): Promise<DaemonReloadResult> {
		return this.call("daemon.reload", params) as Promise<DaemonReloadResult>;
	}

	/** return the effective settings and their origin */
	configShow(params: { workdir?: string; profile?: string; } = {}): Promise<ConfigShowResult> {
		return this.call("config.show", params) as Promise<ConfigShowResult>;
	}

	/** copy the database to a file, while work continues */
	daemonBackup(params: { path: string; }): Promise<DaemonBackupResult> {
		return this.call("daemon.backup", params) as Promise<DaemonBackupResult>;
	}

	/** return numbers for a monitoring system */
	daemonMetrics(): Promise<DaemonMetricsResult> {
		return this.call("daemon.metrics", {}) as Promise<DaemonMetricsResult>;
	}

	/** check the daemon and its host, with remedies */
	daemonDoctor(params: { deep?: boolean; } = {}): Promise<DaemonDoctorResult> {
		return this.call("daemon.doctor", params) as Promise<DaemonDoctorResult>;
	}

	/** upload a piece of a text that is too large for one frame */
	blobPut(params: { blob: string; offset: number; data: string; check?: boolean; }): Promise<BlobPutResult> {
		return this.call("blob.put", params) as Promise<BlobPutResult>;
	}

	/** queue a run */
	runSubmit(params: { task?: string; workdir: string; task_blob?: string; agent?: string; reviewer_agent?: string; fixer_agent?: string; model?: string; reviewer_model?: string; fixer_model?: string; review?: RunSubmitReview; skip_review?: boolean; timeout?: number | string; idle_timeout?: number | string; on_lost?: "hold" | "retry" | "fail"; env?: { [key: string]: string }; priority?: number; environment?: Array<string> | { [key: string]: string }; key?: string; check?: boolean; reviewer?: string; checks?: Array<string>; commit?: "none" | "auto" | "agent"; report?: string; beads?: string | boolean; stories?: string; stories_path?: string; workflow?: string; workflow_path?: string; assign?: "daemon" | "agent"; stop_markers?: Array<string>; iterations?: number; parallel?: number; pause_ms?: number; on_failure?: "stop" | "continue"; isolation?: "auto" | "shared" | "worktree"; base?: string; integrate?: "auto" | "none" | "merge"; group?: string; after?: number; max_cost?: number; max_tokens?: number; max_wall?: number | string; strict_budget?: boolean; on_no_change?: "review" | "fail" | "pass"; evidence_age?: number | string; no_change_markers?: Array<string>; retries?: number; setup?: Array<string>; copy?: Array<string>; setup_inputs?: Array<string>; check_on_base?: "skip" | "warn" | "require"; labels?: { [key: string]: string }; launcher?: string; }): Promise<RunSubmitResult> {
		return this.call("run.submit", params) as Promise<RunSubmitResult>;
	}

	/** return a run in detail */
	runGet(params: { id: number; }): Promise<Run> {
		return this.call("run.get", params) as Promise<Run>;
	}

	/** list runs in pages, newest first */
	runList(params: { state?: "queued" | "running" | "paused" | "held" | "succeeded" | "failed" | "cancelled"; owner?: number; limit?: number; cursor?: number; workdir?: string; group?: string; text?: string; labels?: { [key: string]: string }; since?: string; source?: "prompt" | "beads" | "stories" | "workflow"; } = {}): Promise<RunListResult> {
		return this.call("run.list", params) as Promise<RunListResult>;
	}

	/** cancel a run and end its processes */
	runCancel(params: { id: number; check?: boolean; }): Promise<Run | Checked> {
		return this.call("run.cancel", params) as Promise<Run | Checked>;
	}

	/** finish running attempts, start no new ones */
	runPause(params: { id: number; check?: boolean; }): Promise<Run | Checked> {
		return this.call("run.pause", params) as Promise<Run | Checked>;
	}

	/** undo run.pause */
	runResume(params: { id: number; check?: boolean; }): Promise<Run | Checked> {
		return this.call("run.resume", params) as Promise<Run | Checked>;
	}

	/** retry a run as a new run of the tasks that did not pass, from the phase that failed */
	runRetry(params: { id: number; environment?: Array<string> | { [key: string]: string }; new_judge?: boolean; new_setup?: boolean; from_scratch?: boolean; check?: boolean; }): Promise<Run | Checked> {
		return this.call("run.retry", params) as Promise<Run | Checked>;
	}

	/** judge once more what a run has made, as a new run */
	reviewAgain(params: { run: number; task?: string; reviewer_agent?: string; environment?: Array<string> | { [key: string]: string }; check?: boolean; }): Promise<Run | Checked> {
		return this.call("review.again", params) as Promise<Run | Checked>;
	}

	/** change the limits, priority or number of slots of an unfinished run, or add stories */
	runChange(params: { id: number; priority?: number; parallel?: number; max_cost?: number; max_tokens?: number; max_wall?: number | string; max_fixes?: number; timeout?: number | string; idle_timeout?: number | string; disk_floor?: number | string; stories?: string; check?: boolean; }): Promise<Run | Checked> {
		return this.call("run.change", params) as Promise<Run | Checked>;
	}

	/** return the changes of a run or of one of its tasks */
	runDiff(params: { id: number; task?: string; offset?: number; limit?: number; }): Promise<RunDiffResult> {
		return this.call("run.diff", params) as Promise<RunDiffResult>;
	}

	/** wait until all runs have ended or are held and their reports are written */
	runWait(params: { ids: Array<number>; timeout_ms?: number; }): Promise<RunWaitResult> {
		return this.call("run.wait", params) as Promise<RunWaitResult>;
	}

	/** list the attempts of a run */
	attemptList(params: { run: number; limit?: number; cursor?: number; }): Promise<AttemptListResult> {
		return this.call("attempt.list", params) as Promise<AttemptListResult>;
	}

	/** return an attempt in detail */
	attemptGet(params: { id: number; }): Promise<Attempt> {
		return this.call("attempt.get", params) as Promise<Attempt>;
	}

	/** return the output or input of an attempt */
	attemptOutput(params: { id: number; stream?: "stdout" | "stderr" | "answer" | "prompt"; offset?: number; limit?: number; wait_ms?: number; }): Promise<AttemptOutputResult> {
		return this.call("attempt.output", params) as Promise<AttemptOutputResult>;
	}

	/** return the last lines of an attempt, as interpreted by its reader */
	attemptPreview(params: { id: number; lines?: number; }): Promise<AttemptPreviewResult> {
		return this.call("attempt.preview", params) as Promise<AttemptPreviewResult>;
	}

	/** return output of an attempt as a conversation, as interpreted by its reader */
	attemptTranscript(params: { id: number; offset?: number; }): Promise<AttemptTranscriptResult> {
		return this.call("attempt.transcript", params) as Promise<AttemptTranscriptResult>;
	}

	/** return the review log of a run */
	reviewList(params: { run: number; task?: string; limit?: number; cursor?: number; }): Promise<ReviewListResult> {
		return this.call("review.list", params) as Promise<ReviewListResult>;
	}

	/** export the review logs of a run */
	reviewExport(params: { run: number; }): Promise<ReviewExportResult> {
		return this.call("review.export", params) as Promise<ReviewExportResult>;
	}

	/** verify that the record of a run was not altered: rows, files, refs */
	reviewVerify(params: { run: number; entry?: number; entry_hash?: string; }): Promise<ReviewVerifyResult> {
		return this.call("review.verify", params) as Promise<ReviewVerifyResult>;
	}

	/** return the open findings of a run or a directory, and the dismissed and disputed ones */
	findingList(params: { run?: number; task?: string; workdir?: string; state?: "open" | "dismissed" | "disputed"; limit?: number; cursor?: number; } = {}): Promise<FindingListResult> {
		return this.call("finding.list", params) as Promise<FindingListResult>;
	}

	/** decide that a finding need not be fixed */
	findingDismiss(params: { run: number; task?: string; finding: string; reason: string; check?: boolean; }): Promise<FindingDismissResult> {
		return this.call("finding.dismiss", params) as Promise<FindingDismissResult>;
	}

	/** return the products of a run: its base, its work, its results */
	productList(params: { run: number; task?: string; limit?: number; cursor?: number; }): Promise<ProductListResult> {
		return this.call("product.list", params) as Promise<ProductListResult>;
	}

	/** return what judged the products of a run */
	evidenceList(params: { run: number; task?: string; limit?: number; cursor?: number; }): Promise<EvidenceListResult> {
		return this.call("evidence.list", params) as Promise<EvidenceListResult>;
	}

	/** return what rlctl attest signs: a statement for each commit that passed */
	runAttest(params: { id: number; }): Promise<RunAttestResult> {
		return this.call("run.attest", params) as Promise<RunAttestResult>;
	}

	/** list holds in pages */
	holdList(params: { run?: number; state?: "open" | "approved" | "rejected" | "rework" | "reworked" | "cancelled"; limit?: number; cursor?: number; } = {}): Promise<HoldListResult> {
		return this.call("hold.list", params) as Promise<HoldListResult>;
	}

	/** return a hold with the reviews that led to it */
	holdGet(params: { id: number; }): Promise<Hold> {
		return this.call("hold.get", params) as Promise<Hold>;
	}

	/** accept the work as it is */
	holdApprove(params: { id: number; message?: string; check?: boolean; }): Promise<Hold | Checked> {
		return this.call("hold.approve", params) as Promise<Hold | Checked>;
	}

	/** fail the task */
	holdReject(params: { id: number; message?: string; check?: boolean; }): Promise<Hold | Checked> {
		return this.call("hold.reject", params) as Promise<Hold | Checked>;
	}

	/** fix the work and review it again */
	holdRework(params: { id: number; message?: string; check?: boolean; }): Promise<Hold | Checked> {
		return this.call("hold.rework", params) as Promise<Hold | Checked>;
	}

	/** answer what an agent asks; it continues with that */
	holdAnswer(params: { id: number; message: string; check?: boolean; }): Promise<Hold | Checked> {
		return this.call("hold.answer", params) as Promise<Hold | Checked>;
	}

	/** list groups of runs and their slots */
	groupList(): Promise<GroupListResult> {
		return this.call("group.list", {}) as Promise<GroupListResult>;
	}

	/** set the number of slots of a group */
	groupSet(params: { name: string; slots?: number; check?: boolean; }): Promise<Group | Checked> {
		return this.call("group.set", params) as Promise<Group | Checked>;
	}

	/** finish running attempts of a group, start no new ones */
	groupPause(params: { name: string; check?: boolean; }): Promise<Group | Checked> {
		return this.call("group.pause", params) as Promise<Group | Checked>;
	}

	/** undo group.pause */
	groupResume(params: { name: string; check?: boolean; }): Promise<Group | Checked> {
		return this.call("group.resume", params) as Promise<Group | Checked>;
	}

	/** list provider accounts with their cooldowns and spending */
	cooldownList(): Promise<CooldownListResult> {
		return this.call("cooldown.list", {}) as Promise<CooldownListResult>;
	}

	/** put an account on cooldown: its agents wait */
	cooldownSet(params: { account: string; until?: string; for?: number | string; reason?: string; check?: boolean; }): Promise<Account | Checked> {
		return this.call("cooldown.set", params) as Promise<Account | Checked>;
	}

	/** end the cooldown of an account: its agents continue */
	cooldownClear(params: { account: string; check?: boolean; }): Promise<Account | Checked> {
		return this.call("cooldown.clear", params) as Promise<Account | Checked>;
	}

	/** list the work saved from removed work trees, in pages */
	salvageList(params: { run?: number; limit?: number; cursor?: number; } = {}): Promise<SalvageListResult> {
		return this.call("salvage.list", params) as Promise<SalvageListResult>;
	}

	/** return where git has the content of a removed work tree */
	salvageGet(params: { id: number; }): Promise<Salvage> {
		return this.call("salvage.get", params) as Promise<Salvage>;
	}

	/** return a full report of a run, for programs and archives */
	runReport(params: { id: number; }): Promise<RunReportResult> {
		return this.call("run.report", params) as Promise<RunReportResult>;
	}

	/** list events in pages */
	eventList(params: { since?: number; limit?: number; run?: number; types?: Array<"run.state" | "run.changed" | "run.pruned" | "iteration.started" | "iteration.ended" | "slot.phase" | "slot.picked" | "slot.continued" | "slot.merged" | "attempt.started" | "attempt.ended" | "agent.refused" | "check.reused" | "review.decided" | "review.voted" | "review.asked" | "review.skipped" | "finding" | "finding.dismissed" | "question" | "hold.opened" | "hold.closed" | "salvaged" | "cooldown" | "budget" | "group" | "daemon" | "host">; } = {}): Promise<EventListResult> {
		return this.call("event.list", params) as Promise<EventListResult>;
	}

	/** subscribe to events, sent as notifications `event`; `gap` {from, to} where events are no longer kept; replaces an earlier subscription of the same name */
	eventSubscribe(params: { since?: number; run?: number; types?: Array<"run.state" | "run.changed" | "run.pruned" | "iteration.started" | "iteration.ended" | "slot.phase" | "slot.picked" | "slot.continued" | "slot.merged" | "attempt.started" | "attempt.ended" | "agent.refused" | "check.reused" | "review.decided" | "review.voted" | "review.asked" | "review.skipped" | "finding" | "finding.dismissed" | "question" | "hold.opened" | "hold.closed" | "salvaged" | "cooldown" | "budget" | "group" | "daemon" | "host">; subscription?: string; } = {}): Promise<EventSubscribeResult> {
		return this.call("event.subscribe", params) as Promise<EventSubscribeResult>;
	}

	/** end subscriptions */
	eventUnsubscribe(params: { subscription?: string; } = {}): Promise<EventUnsubscribeResult> {
		return this.call("event.unsubscribe", params) as Promise<EventUnsubscribeResult>;
	}

	/** return the prompt that a role would get, before anything is paid */
	promptShow(params: { workdir: string; role: "implement" | "review" | "fix" | "commit"; task?: string; review?: string; }): Promise<PromptShowResult> {
		return this.call("prompt.show", params) as Promise<PromptShowResult>;
	}

	/** remove outputs, directories and refs of old runs; their rows and reviews stay */
	statePrune(params: { check?: boolean; older?: number | string; failures?: number | string; number?: number; size?: number | string; unmerged?: boolean; } = {}): Promise<StatePruneResult> {
		return this.call("state.prune", params) as Promise<StatePruneResult>;
	}
}
