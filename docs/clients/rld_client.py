# SPDX-License-Identifier: MIT
# Made of docs/openrpc.json by `make openrpc`: do not edit.
"""Types and methods of the protocol of rld, for Python 3.11 or later.

Rld takes a function that calls a method: call("run.get", {"id": 1}) returns the result, or
raises. Parameters that are None are not sent; a parameter that is a word of Python has a "_" at
its end. docs/protocol.md says how a call reaches the daemon.
"""
from __future__ import annotations

from typing import Any, Callable, Literal, NotRequired, TypedDict, Union

# state of a run
RunState = Literal["queued", "running", "paused", "held", "succeeded", "failed", "cancelled"]


# state of a task
TaskState = Literal["open", "claimed", "implemented", "passed", "failed", "cancelled", "done", "taken", "released"]


# state of an iteration
IterationState = Literal["running", "passed", "failed", "cancelled"]


# what a slot does
Phase = Literal["waiting", "implementing", "checking", "reviewing", "fixing", "committing", "setting-up", "held", "cooling", "passed", "failed", "cancelled"]


# what an attempt is for
Role = Literal["implement", "check", "review", "fix", "commit", "setup"]


# state of an attempt; lost: gone, and its exit cannot be known
AttemptState = Literal["starting", "running", "exited", "lost"]


# how a process ended
ProcessResult = Literal["none", "exited", "signalled", "timeout", "idle", "lingered", "refused", "cancelled", "not-started", "lost"]


# how the service answered
ProviderResult = Literal["none", "ok", "limit", "throttled", "auth", "error", "unknown"]


# what an attempt came to
TaskResult = Literal["none", "done", "denied", "no-change", "stop-marker", "failed"]


# a finding beside earlier reviews
FindingState = Literal["new", "repeated", "resolved", "dismissed", "disputed", "outvoted"]


# what a tree is
ProductKind = Literal["base", "work", "merged", "result"]


# what judged
EvidenceKind = Literal["check", "review", "human", "vote"]


# what a check came to
EvidenceResult = Literal["green", "red", "flaky", "none"]


# where a check or a reviewer judged
JudgedIn = Literal["same", "clone", "reuse"]


# what follows a bad end of a review
BadEnd = Literal["fail", "hold", "accept", "known_issues"]


# what follows a review that gives no evidence
OnMalformed = Literal["fail", "hold", "accept", "known_issues", "ask"]


# what fixes findings
Fixer = Literal["fresh", "implementer", "corrector", "resume", "per_finding"]


# what one review is about
Scope = Literal["task", "run"]


# what commits
CommitMode = Literal["none", "auto", "agent"]


# what picks the task of a slot
Assign = Literal["daemon", "agent"]


# what exhausted an account
CooldownKind = Literal["limit", "budget", "operator"]


# who accepted work without a passing verdict
Accepted = Literal["policy", "human", "known-issues"]


# how far a merge has come, or what is known of the merged tree
Merge = Literal["judging", "sent_back", "unchanged", "checked", "not_checked", "suspected", "again", "checked_together"]


# why something is held
HoldKind = Literal["lost", "exhausted", "stalled", "violation", "reviewer-error", "conflict", "commit-refused", "reviewer-changed", "cut", "ref-moved", "setup", "protected", "dismissed", "question"]


# what was decided
HoldState = Literal["open", "approved", "rejected", "rework", "reworked", "cancelled"]


# why something waits
WaitKind = Literal["host", "source", "permit", "slots", "workspace", "after", "group", "group-paused", "account", "retry", "budget", "launcher", "space", "pick", "paused", "draining", "preparing", "pause", "loading", "decision", "cancelling", "task", "limit", "not-reviewed", "released", "taken", "unassigned", "other"]


# why something ended
EndKind = Literal["waived", "approved", "known-issues", "rejected", "exhausted", "stalled", "check", "setup", "base", "violation", "conflict", "commit-refused", "reviewer-changed", "protected", "cut", "question", "ref-moved", "not-reviewed", "limit", "lost", "host", "timeout", "not-started", "denied", "no-change", "git", "source", "error", "cancelled", "after", "retried", "partial", "differs", "stop-marker", "not-picked", "tasks-left", "taken", "done", "dependency", "not-begun"]


# why there is no review
SkipKind = Literal["off", "prompt", "flag", "by-task", "no-change", "failed", "stop-marker", "not-picked", "other"]


# format of the output of an agent
Reader = Literal["text", "claude", "codex", "gemini", "opencode", "copilot", "qwen", "pi"]


# said: words of the agent; piece: a part of them, continued by the next piece; tool: a tool and its main argument, one line; failed: the end of the result of a tool that failed; error: of the program or its service; skipped: what is left out
TranscriptKind = Literal["said", "piece", "tool", "failed", "error", "skipped"]


# which result of an attempt kept it from succeeding
Fault = Literal["none", "process", "provider", "task"]


# what a budget limits
BudgetKind = Literal["cost", "tokens", "wall"]


# what a user may do, each more than those before it; agent: a process of an attempt
CallerRole = Literal["agent", "read", "submit", "admin"]


# limit of [keep]
RetentionLimit = Literal["age", "failures", "number", "size"]


# why a run stays
RetentionNeed = Literal["running", "held", "hook", "needed", "unmerged", "unreadable", "salvage"]


# result of a check of the host
DoctorState = Literal["ok", "warning", "failed"]


class Run(TypedDict):
    """a run"""
    id: int  # of the run
    owner: int  # uid that submitted it
    workdir: str  # as submitted
    workspace: str  # what the run occupies: the top of the repository, else the workdir
    has_git: int  # 1: the workspace is a git repository
    source: str  # where its tasks come from
    source_path: str | None  # the directory that holds .beads, or the file of the tasks
    project: str | None  # name of the project, if the source has one
    state: RunState  # queued, running, paused, held, succeeded, failed or cancelled
    reason: str | None  # why the run waits
    wait_kind: WaitKind | None  # kind of the reason, for programs
    cause: str | None  # why the run ended
    end_kind: EndKind | None  # kind of the cause, for programs
    priority: int  # higher starts first
    group: str  # group whose slots the run uses
    after: int | None  # run that this run waits for
    paused: bool  # true: paused by a user; the run starts nothing
    next_at: str | None  # time of the next try, while it waits for one
    wait: WaitKind | None  # external cause of the wait: host or source
    wait_since: str | None  # since when
    iteration: int  # iteration, 0 before the first
    iterations: int | None  # maximum number of iterations; null: until no task remains
    base_tree: str | None  # git tree at the start
    base_commit: str | None  # commit that work trees start from
    result_branch: str | None  # branch with the commits of all tasks
    result_ref: str | None  # git ref of what passed; when tasks are merged, of their branch
    result_commit: str | None  # git commit of the result
    review_count: int  # length of the review log
    review_head: str | None  # hash of its newest row
    product_count: int | None  # number of its products
    product_head: str | None  # hash of the newest product
    evidence_count: int | None  # length of its evidence
    evidence_head: str | None  # hash of the newest evidence
    entry_count: int | None  # number of entries of its record
    entry_head: str | None  # hash of the newest entry
    warnings: list[str]  # sentences
    known_issues: list[str]  # findings left open when the run succeeded under on_exhausted = known_issues
    retry_of: int | None  # run that this run retries
    judge_hash: str | None  # SHA-256 of what judges it, as it was at its submit
    labels: dict[str, str]  # what its submitter filed it under
    created_at: str  # time of the submit
    started_at: str | None  # time of the start
    ended_at: str | None  # time of the end
    bytes: int | None  # bytes on the disk of what is kept of it; null: it has not ended, or they are not measured yet
    pruned_at: str | None  # since when its outputs are removed; null: they are not
    title: str | None  # first line of the first task
    overview: Overview  # what passed, what failed, and how to take the result
    slots: list[Slot]  # slots of the current iteration: those at work, and those that are free
    tasks: list[Task]  # in the order in which they are offered
    disk_bytes: int | None  # size of the work trees of its tasks, when they were last measured
    attempts: int  # number of attempts so far
    totals: Totals  # use of all attempts
    checks: CheckCounts  # how often each was the result of a check
    budget: Budget | None  # limits and use; null: no limit
    holds: list[HoldSummary]  # its open holds
    dismissed: list[Dismissal]  # findings that users dismissed, also in the runs that it retries
    disputed: list[Dispute]  # findings that fixers disputed, also in the runs whose work it continues
    pruned: Pruned | None  # what prune has removed of it; null: nothing
    history: list[Iteration]  # iterations so far
    result: RunResult | None  # the accepted answer; null: none yet
    agents: dict[str, AgentChoice]  # the agent of each role
    parallel: int  # number of slots
    assign: Assign  # what picks the task of a slot
    review: ReviewSettings  # how its tasks are reviewed


class RunSummary(TypedDict):
    """a run without its slots, tasks and settings"""
    id: int  # of the run
    owner: int  # uid that submitted it
    workdir: str  # as submitted
    workspace: str  # what the run occupies: the top of the repository, else the workdir
    has_git: int  # 1: the workspace is a git repository
    source: str  # where its tasks come from
    source_path: str | None  # the directory that holds .beads, or the file of the tasks
    project: str | None  # name of the project, if the source has one
    state: RunState  # queued, running, paused, held, succeeded, failed or cancelled
    reason: str | None  # why the run waits
    wait_kind: WaitKind | None  # kind of the reason, for programs
    cause: str | None  # why the run ended
    end_kind: EndKind | None  # kind of the cause, for programs
    priority: int  # higher starts first
    group: str  # group whose slots the run uses
    after: int | None  # run that this run waits for
    paused: bool  # true: paused by a user; the run starts nothing
    next_at: str | None  # time of the next try, while it waits for one
    wait: WaitKind | None  # external cause of the wait: host or source
    wait_since: str | None  # since when
    iteration: int  # iteration, 0 before the first
    iterations: int | None  # maximum number of iterations; null: until no task remains
    base_tree: str | None  # git tree at the start
    base_commit: str | None  # commit that work trees start from
    result_branch: str | None  # branch with the commits of all tasks
    result_ref: str | None  # git ref of what passed; when tasks are merged, of their branch
    result_commit: str | None  # git commit of the result
    review_count: int  # length of the review log
    review_head: str | None  # hash of its newest row
    product_count: int | None  # number of its products
    product_head: str | None  # hash of the newest product
    evidence_count: int | None  # length of its evidence
    evidence_head: str | None  # hash of the newest evidence
    entry_count: int | None  # number of entries of its record
    entry_head: str | None  # hash of the newest entry
    warnings: list[str]  # sentences
    known_issues: list[str]  # findings left open when the run succeeded under on_exhausted = known_issues
    retry_of: int | None  # run that this run retries
    judge_hash: str | None  # SHA-256 of what judges it, as it was at its submit
    labels: dict[str, str]  # what its submitter filed it under
    created_at: str  # time of the submit
    started_at: str | None  # time of the start
    ended_at: str | None  # time of the end
    bytes: int | None  # bytes on the disk of what is kept of it; null: it has not ended, or they are not measured yet
    pruned_at: str | None  # since when its outputs are removed; null: they are not
    title: str | None  # first line of the first task
    overview: Overview  # what passed, what failed, and how to take the result


class Overview(TypedDict):
    """a run in a few numbers"""
    tasks: int  # number of tasks
    states: dict[str, int]  # number of tasks by TaskState
    held: int  # number of tasks with an open hold
    task: str | None  # id of the task that why is about; null: of all, or of the only one
    why: str | None  # why the run ended or waits, beginning with that task: "T-07: ..."
    cost_usd: float | None  # of all attempts; null: no agent reported any
    branch: str | None  # short branch name of the result of a run that ended or is held; null: not one
    branches: int  # number of branches that have what passed
    take: str | None  # command that takes the result; null: there is no branch, or not a single one
    pick: str | None  # takes it without what was uncommitted at the start; null: likewise
    show: str | None  # command that shows a commit that take does not: not passed, or there already


class Slot(TypedDict):
    """a slot of the iteration; slot 0 reviews the run as a whole, 65535 checks its base"""
    run: int  # its run
    iteration: int  # iteration
    slot: int  # number of the slot; 0 reviews the whole run
    task: str | None  # id of its task; null: none yet, or none at all
    worktree: str | None  # path of its work tree
    branch: str | None  # short name of the work tree's branch
    base_commit: str | None  # commit that the work tree starts from
    commit: str | None  # git commit of its work
    round: int  # reviews so far
    fix: int  # fix rounds so far
    fixes: int  # fix rounds allowed
    stalled: int  # fixes in a row without progress
    attempt: int | None  # id of the attempt that its phase belongs to
    answer: int | None  # id of the attempt whose answer is under review
    tree: str | None  # git tree under review
    product: int | None  # number of its newest product
    diff: int | None  # id of the step whose output is the diff of that tree
    check: int | None  # number of the check that runs
    red_check: int | None  # id of the failed attempt of a check that is run once more
    setup: int  # number of the set-up command that runs; 0: none
    merge: Merge | None  # its merge: judging, suspected, again or sent_back; or the merged tree is unchanged, checked, checked_together, not_checked
    failed_check: int | None  # id of the attempt whose output a fixer is given
    item: int | None  # number of the finding that has a fixer of its own
    asked: int | None  # id of the review attempt whose malformed answer the reviewer is asked about
    question: str | None  # what its agent asks or has asked a human; null: nothing
    retries: int  # tries in a row after failures of the service
    retry_at: str | None  # time of the next one
    cooling: str | None  # account that it waits for
    wait: WaitKind | None  # external cause of the wait: host or source
    wait_since: str | None  # since when
    reason: str | None  # why it waits, was not reviewed, or gave its task back
    wait_kind: WaitKind | None  # kind of the reason, for programs
    cause: str | None  # why it ended, or before that why its work is accepted
    end_kind: EndKind | None  # kind of the cause, for programs
    accepted: Accepted | None  # who accepted it without a passing verdict: policy, human or known-issues
    phase: Phase  # what it does
    next_at: NotRequired[str]  # time of the next try, while something from outside holds it up


class Task(TypedDict):
    """a task of a run"""
    run: int  # its run
    id: str  # of the task, as its source has it; t1 for a prompt
    title: str  # first line
    size: int  # bytes of its text
    text_hash: str | None  # SHA-256 of its text
    position: int  # place in the order in which tasks are offered, from 1
    priority: int | None  # in the numbers of its source, 0 first
    status: str | None  # its source's own word
    depends_on: list[str] | None  # ids of the tasks that it waits for
    state: TaskState  # open, claimed, passed, failed, cancelled, done, taken, released or implemented
    reason: str | None  # why it ended so, waits or is not for this run
    end_kind: EndKind | None  # the kind of reason of one that has ended or is not for this run, for programs
    disk_bytes: int | None  # of its work tree, when it was last looked at
    locked_ref: str | None  # git ref of the tree that a verdict passed
    locked_tree: str | None  # that tree
    continues: int | None  # run whose work on it is continued; null: none
    wait_kind: WaitKind | None  # the kind of reason of one that waits, for programs
    branch: str | None  # short name of the branch that its last slot left in git
    commit: str | None  # git commit of that slot's work
    merge: Merge | None  # how far the merge of that commit has come
    rounds: int  # number of its reviews
    attempts: int  # number of its attempts
    wall_ms: int  # of those that have ended, together
    cost_usd: float | None  # of its attempts; null: no agent reported any


class Iteration(TypedDict):
    """one pass of the outer loop"""
    run: int  # its run
    number: int  # pass of the outer loop, from 1
    state: IterationState  # running, passed, failed or cancelled
    started_at: str  # time of the start
    ended_at: str | None  # time of the end


class Totals(TypedDict):
    """use of all attempts of a run"""
    tokens: int | None  # null: no agent reported any
    cost_usd: float | None  # null: no agent reported any
    wall_ms: int | None  # since its start, up to its end


class CheckCounts(TypedDict):
    """results of the checks of a run"""
    green: int  # passed
    red: int  # failed
    flaky: int  # failed, and passed when it was run once more
    reused: int  # not run, because its result on that tree was known


class Budget(TypedDict):
    """limits of a run, and their use"""
    max_cost_usd: float | None  # null: no limit
    spent_usd: float  # reported by agents, or reserved for those that reported nothing
    reserved_usd: float  # for running attempts
    max_tokens: int | None  # null: no limit
    spent_tokens: int  # as spent_usd
    reserved_tokens: int  # for running attempts
    max_wall_ms: int | None  # null: no limit
    wall_ms: int  # since its start


class RunResult(TypedDict):
    """what a run came to"""
    attempt: int  # id of the attempt with the accepted answer
    tree: str | None  # git tree that passed
    ref: str | None  # git ref of that tree
    commit: str | None  # git commit of the result


class AgentChoice(TypedDict):
    """an agent and its model"""
    agent: str  # name of the agent
    model: str | None  # null: the agent's own default


class ReviewSettings(TypedDict):
    """settings of the reviews of a run"""
    enabled: bool  # whether results are reviewed
    skip_reason: str | None  # why they are not
    skip_kind: SkipKind | None  # kind of that reason, for programs
    profile: str  # as chosen
    base_profile: str  # the built-in profile that it is or extends
    reviewers: list[str]  # agents of a panel, which review each work together; empty: one reviewer
    quorum: str | None  # how many of them must pass: all, majority, or a number; null: no panel
    escalate: list[str]  # models of the implementer and then of each fixer; empty: their own
    max_fixes: int  # fix rounds allowed
    stall_limit: int  # stalled rounds allowed; 0: any number
    fixer: Fixer  # what fixes findings
    scope: Scope  # each task, or the run as a whole
    commit: CommitMode  # what commits the result
    on_exhausted: BadEnd  # what follows when the fixes are used up
    checks: int  # number of checks before each review


class Checked(TypedDict):
    """the answer to a call with "check": true"""
    id: None  # nothing was changed
    state: Literal["checked"]  # the call is valid


class Attempt(TypedDict):
    """one process of an agent, a check or a set-up command"""
    id: int  # of the attempt
    run: int  # its run
    number: int  # number within the run: the 3 of 42/3
    iteration: int  # iteration
    slot: int  # number of the slot
    task: str | None  # id of the task
    role: Role  # implement, check, review or fix
    round: int  # review or fix round; 0 for implement
    agent: str  # name of the agent
    reviewer: str | None  # reviewer of the panel that it votes for; null: no panel
    model: str | None  # null: the agent's own default
    uuid: str  # environment mark of all processes of the attempt
    state: AttemptState  # starting, running, exited or lost
    exit_code: int | None  # exit status, if it exited
    signal: int | None  # signal, if it was killed by one
    cause: str | None  # why it ended
    end_kind: EndKind | None  # kind of the cause, for programs
    process: ProcessResult | None  # outcome of the process
    provider: ProviderResult | None  # report of the provider
    outcome: TaskResult | None  # outcome of the task
    cost_usd: float | None  # as reported by the agent
    account: str | None  # account billed; null for checks
    reserved_usd: float | None  # cost reserved for it until it ends
    reserved_tokens: int | None  # tokens reserved for it until it ends
    resumes: int | None  # id of the attempt whose conversation it resumes
    denials: int | None  # tool calls denied for lack of permission
    tool_errors: int | None  # tool calls that failed otherwise
    says_no_change: bool  # true: its answer declares that no change is needed
    left_out: list[LeftOut] | None  # changed files that the reviewer's prompt does not show in full, at most 100; null: it shows all of the diff
    left_out_files: int | None  # number of such files
    diff_bytes: int | None  # size of the diff, if a part is left out
    diff_shown: int | None  # bytes of it in the prompt
    sandbox: str | None  # what confined it: landlock N, or none; null: no confinement requested
    session: str | None  # conversation id
    output_hash: str | None  # SHA-256 of its standard output
    stderr_hash: str | None  # SHA-256 of its standard error
    carrier_hash: str | None  # of a reviewer: SHA-256 of the file in which it handed over its answer, as it was judged
    carrier_fault: str | None  # why that file is no answer
    output_size: int | None  # bytes of standard output that output_hash is about
    prompt_hash: str | None  # SHA-256 of the prompt that it was given
    diff_hash: str | None  # SHA-256 of the diff that it was given
    diff: int | None  # id of the step that measured that diff
    task_hash: str | None  # SHA-256 of the text of the task that it was given
    judge_hash: str | None  # of an agent: judge_hash of its run when it started
    program: str | None  # path of its program
    program_hash: str | None  # SHA-256 of that file at the start
    program_version: str | None  # version that its output names, else that of its npm package
    answered_by: str | None  # model that answered, as its output names it
    launcher: str | None  # launcher that placed it
    node: str | None  # machine on which its launcher places it; one that the launcher chooses is known at its end
    bytes: int | None  # stdout and stderr as the agent wrote them
    started_at: str | None  # time of the start
    ended_at: str | None  # time of the end
    fault: Fault | None  # which of process, provider and outcome kept it from succeeding
    tokens: Tokens  # as the agent reports them


class TranscriptItem(TypedDict):
    """a part of the conversation of an attempt"""
    kind: TranscriptKind  # what it is
    text: str  # UTF-8 without control characters but newlines and tabs, at most 64 KiB


class Tokens(TypedDict):
    """tokens of one or more attempts; null: not reported"""
    input: int | None  # sent, without those read from a cache
    cached: int | None  # read from a cache
    cache_write: int | None  # written to a cache
    output: int | None  # received
    reasoning: int | None  # those of the output that were reasoning


class LeftOut(TypedDict):
    """a changed file that a reviewer's prompt does not show in full"""
    file: str  # path in the tree
    why: Literal["size", "binary", "large"]  # size: the diff is too long; large: the file is
    bytes: int  # size of its diff


class Review(TypedDict):
    """a row of the review log"""
    run: int  # its run
    number: int  # number within the run, from 1
    task_id: str  # id of the task
    reviewer_agent: str  # name of the reviewer, or human:<user>
    reviewer: str | None  # a vote: the reviewer of the panel that it is of; null: none
    votes: list[int] | None  # a decision of a panel: the numbers of its votes; null: none
    coder_agent: str | None  # agent whose work was reviewed
    iteration: int  # round
    decision: str  # in the words of the profile
    feedback: str | None  # what the reviewer said
    quality_checks: dict[str, Any] | list[Any] | str | float | bool | None  # as the reviewer gave them
    source: str | None  # what gave the decision
    attempt: int | None  # id of the attempt that reviewed
    from_run: int | None  # run from which it was taken over; null: of this run
    from_review: int | None  # its number in that run
    tree: str | None  # git tree that was reviewed
    findings: list[Finding]  # what it found, and what it resolved
    timestamp: str  # time of the decision
    previous_hash: str | None  # hash of the row before it
    hash: str  # of this row, its findings and previous_hash
    final: bool  # true: no further review of the task follows


class Finding(TypedDict):
    """one item of a review"""
    run: int  # its run
    review: int  # number of its review
    number: int  # number within the review, from 1
    id: str  # the same for the same finding in each review of a task
    file: str | None  # where
    line: int | None  # where
    severity: str | None  # in the words of the profile
    text: str  # what was found
    reviewers: list[str] | None  # in a decision of a panel: the reviewers that have it; null: no panel
    state: FindingState  # new, repeated, resolved, dismissed or outvoted
    dismissed: Dismissal | None  # the decision of a user that it need not be fixed; null: there is none
    disputed: Dispute | None  # the newest dispute by a fixer; null: there is none


class OpenFinding(TypedDict):
    """a finding that must be fixed"""
    run: int  # its run
    review: int  # number of its review
    number: int  # number within the review, from 1
    id: str  # the same for the same finding in each review of a task
    file: str | None  # where
    line: int | None  # where
    severity: str | None  # in the words of the profile
    text: str  # what was found
    reviewers: list[str] | None  # in a decision of a panel: the reviewers that have it; null: no panel
    state: FindingState  # new, repeated, resolved, dismissed or outvoted
    dismissed: Dismissal | None  # the decision of a user that it need not be fixed; null: there is none
    disputed: Dispute | None  # the newest dispute by a fixer; null: there is none
    task: str  # id of its task


class Dispute(TypedDict):
    """what a fixer says against a finding"""
    task: str  # id of the task
    finding: str  # id of the finding
    text: str  # the finding with its place, shortened
    by: str  # name of the agent
    reason: str  # why the finding is mistaken
    at: str  # when
    answer: str | None  # what the next verdict made of it: repeated or dropped; null: there is none yet
    run: int  # run in which it was disputed: this one, or one whose work it continues
    attempt: int  # id of the fix attempt


class Dismissal(TypedDict):
    """the decision of a user that a finding need not be fixed"""
    task: str  # id of the task
    finding: str  # id of the finding
    text: str  # the finding with its place, shortened
    by: str  # human:<user>
    by_uid: int  # uid of the process that asked for it
    by_pid: int  # pid of that process
    reason: str  # why
    at: str  # when
    run: int  # run in which the finding was dismissed: this one, or one that it retries
    review: int  # number of the newest review of that run then; 0: none


class Hold(TypedDict):
    """a question to a human, with the reviews of its task"""
    id: int  # of the hold
    run: int  # its run
    task: str  # what is held
    iteration: int  # iteration
    slot: int  # number of the slot
    kind: HoldKind  # lost, exhausted, stalled, violation, reviewer-error, conflict, commit-refused or reviewer-changed
    reason: str | None  # why it is held
    attempt: int | None  # the attempt that was lost or failed, else the reviewer's
    state: HoldState  # open, approved, rejected, rework (decided; its run waits for a slot), reworked or cancelled
    decided_by: str | None  # human:<user>
    by_uid: int | None  # uid of the process that decided
    by_pid: int | None  # its pid
    by_attempt: int | None  # id of the attempt that it belongs to; null: none
    message: str | None  # message of the user
    created_at: str  # time when it was opened
    decided_at: str | None  # time of the decision
    reviews: list[Review]  # all reviews of the task


class HoldSummary(TypedDict):
    """a question to a human"""
    id: int  # of the hold
    run: int  # its run
    task: str  # what is held
    iteration: int  # iteration
    slot: int  # number of the slot
    kind: HoldKind  # lost, exhausted, stalled, violation, reviewer-error, conflict, commit-refused or reviewer-changed
    reason: str | None  # why it is held
    attempt: int | None  # the attempt that was lost or failed, else the reviewer's
    state: HoldState  # open, approved, rejected, rework (decided; its run waits for a slot), reworked or cancelled
    decided_by: str | None  # human:<user>
    by_uid: int | None  # uid of the process that decided
    by_pid: int | None  # its pid
    by_attempt: int | None  # id of the attempt that it belongs to; null: none
    message: str | None  # message of the user
    created_at: str  # time when it was opened
    decided_at: str | None  # time of the decision


class Product(TypedDict):
    """a tree of the run"""
    run: int  # its run
    number: int  # number within the run, from 1
    kind: ProductKind  # base, work, merged or result
    task_id: str | None  # id of the task; null: of the run
    tree: str  # git tree
    parent: int | None  # number of the product that it was made of
    attempt: int | None  # id of the attempt that made it
    from_run: int | None  # run from which it was taken over; null: of this run
    from_product: int | None  # its number in that run
    diff: int | None  # id of the step that measured it
    diff_hash: str | None  # SHA-256 of the diff with what the work began with
    created_at: str  # time when it was recorded
    previous_hash: str | None  # hash of the product before it
    hash: str  # of this row and previous_hash
    attempt_number: int | None  # number of that attempt within the run


class Evidence(TypedDict):
    """one judgement about a product"""
    run: int  # its run
    number: int  # number within the run, from 1
    product: int | None  # number of the product that was judged; null: none, or no git
    task_id: str | None  # id of the task
    kind: EvidenceKind  # check, review, vote or human
    subject: str  # command of the check, name of the reviewer, or human:<user>
    tree: str | None  # git tree of the product
    room: JudgedIn | None  # where it was judged: clone, a clean room; reuse, a room of earlier trees; same, the work itself
    setup_hash: str | None  # SHA-256 of what prepared the place of a check
    env_hash: str | None  # SHA-256 of the environment of a check
    attempt: int | None  # id of the attempt that judged
    review: int | None  # number of its review
    exit_code: int | None  # exit status, if it exited
    output_hash: str | None  # SHA-256 of its standard output
    result: EvidenceResult  # green, red, flaky or none
    from_run: int | None  # run of the attempt that was green on this tree before; null: the check was run
    from_attempt: int | None  # its number within that run
    policy_hash: str | None  # SHA-256 of the plan it was judged by
    submitter: int | None  # uid that submitted the run
    daemon: str | None  # version of rld
    by_uid: int | None  # uid of the process that gave a human's judgement
    by_pid: int | None  # its pid
    by_attempt: int | None  # id of the attempt that it belongs to; null: none
    created_at: str  # time when it was recorded
    previous_hash: str | None  # hash of the evidence before it
    hash: str  # of this row and previous_hash
    attempt_number: int | None  # number of that attempt within the run


class Salvage(TypedDict):
    """the saved content of a work tree"""
    id: int  # of the salvage
    run: int  # its run
    task: str | None  # slot that owned the work tree
    workspace: str  # top of the repository that contains it
    ref: str  # git ref, refs/rl/<instance>/salvage/<run>/<task>
    commit: str  # git commit of everything in the work tree
    path: str | None  # where the work tree was
    created_at: str  # time of the removal


class ReviewLog(TypedDict):
    """the review log of a task, in the form of the decision profile"""
    task_id: str  # id of the task
    overlay: Literal["agentic_review"]  # always
    iterations: list[LogRound]  # its reviews
    final_decision: str | None  # null: its reviews are not complete
    completed_at: str | None  # time of the last one, in whole seconds; null: likewise


class LogRound(TypedDict):
    """one review of that log"""
    iteration: int  # round
    decision: str  # in the words of the profile
    feedback: str  # of the reviewer
    timestamp: str  # time, in whole seconds


class ReviewProof(TypedDict):
    """the tree and the hashes of a review"""
    number: int  # of the review
    task_id: str  # id of the task
    iteration: int  # round
    tree: str | None  # git tree under review
    previous_hash: str | None  # hash of the review before it
    hash: str  # of the review
    prompt_hash: str | None  # SHA-256 of the prompt that the reviewer was given
    diff_hash: str | None  # SHA-256 of the diff that it was given
    output_hash: str | None  # SHA-256 of its standard output
    program: str | None  # path of its program
    program_hash: str | None  # SHA-256 of that file
    program_version: str | None  # version that its output names
    answered_by: str | None  # model that its output names


class Statement(TypedDict):
    """an in-toto statement about a commit that passed"""
    _type: Literal["https://in-toto.io/Statement/v1"]  # always
    subject: list[AttestedSubject]  # one: the commit
    predicateType: Literal["urn:rld:pass:v1"]  # always
    predicate: PassPredicate  # what passed, and what judged it


class AttestedSubject(TypedDict):
    """what a statement is about"""
    name: Literal["commit"]  # always
    digest: GitDigest  # which one


class GitDigest(TypedDict):
    """the id of a commit"""
    gitCommit: str  # id of the commit


class PassPredicate(TypedDict):
    """what passed, and what judged it"""
    instance: str  # of the daemon, as in daemon.hello
    run: int  # id of the run
    task: str | None  # id of the task; null: of the run
    tree: str  # git tree that passed
    products: list[Product]  # that tree and what it was made of, newest first
    evidence: list[Evidence]  # all that judged that tree, in order
    policy_hash: str | None  # SHA-256 of the settings that it was judged by last
    daemon: str  # version of rld
    submitter: int  # uid that submitted the run
    ended_at: str | None  # when the run ended
    record: AttestedEntry  # where the record of the run ended
    heads: ChainHeads  # the other hash chains of the run


class AttestedEntry(TypedDict):
    """an entry of the record"""
    entry: int  # number of the newest entry
    hash: str  # its hash, which covers all of the record


class ChainHeads(TypedDict):
    """the newest hashes of the chains of a run"""
    reviews: str | None  # hash of the newest review
    products: str | None  # hash of the newest product
    evidence: str | None  # hash of the newest row of evidence


class NotAttested(TypedDict):
    """a commit without a statement"""
    commit: str  # id of the commit
    reason: str  # why there is no statement about it


class ReportSettings(TypedDict):
    """settings of a run"""
    agents: dict[str, AgentChoice]  # the agent of each role
    review: bool  # whether results are reviewed
    skip_reason: str | None  # why they are not
    skip_kind: SkipKind | None  # kind of that reason, for programs
    profile: str  # as chosen
    base_profile: str  # the built-in profile that it is or extends
    max_fixes: int  # fix rounds allowed
    max_review_rounds: int  # reviews allowed
    stall_limit: int  # stalled rounds allowed; 0: any number
    on_malformed: OnMalformed  # what follows a malformed verdict
    on_reviewer_error: BadEnd  # what follows a failed reviewer
    on_exhausted: BadEnd  # what follows when the fixes are used up
    fixer: Fixer  # what fixes findings
    scope: Scope  # each task, or the run as a whole
    commit: CommitMode  # what commits the result
    checks: list[str]  # commands, in order, before each review
    timeout_ms: int  # of an implementer
    review_timeout_ms: int  # of a reviewer
    clocks: dict[str, Clocks]  # limits of each role


class Clocks(TypedDict):
    """limits of an attempt"""
    wall_ms: int  # for the attempt; 0: none
    idle_ms: int  # without progress; 0: none
    post_result_ms: int  # between its result and its end; 0: none


class ReportResult(TypedDict):
    """what a run came to"""
    outcome: str | None  # class of the end; null: it has not ended
    exit_code: int | None  # of `rlctl run`; null: likewise
    answer: str | None  # the accepted answer, or its end
    attempt: int | None  # id of the attempt that gave it
    ref: str | None  # git ref of what passed
    tree: str | None  # that git tree
    commit: str | None  # git commit of the result


class Stats(TypedDict):
    """what a run took"""
    review_rounds: int  # number of reviews
    fix_rounds: int  # of all tasks
    checks: int  # number of checks that were run
    turns: int  # number of attempts
    attempts: int  # likewise
    wall_ms: int | None  # from the start to the end
    tokens: Tokens  # of all attempts
    cost_usd: float | None  # null: no agent reported any
    unpriced_attempts: int  # number of ended attempts without a cost
    faults: dict[str, int]  # number of attempts without success, by the result that says so
    denials: int | None  # tool calls denied for lack of permission
    tool_errors: int | None  # tool calls that failed otherwise


class Turn(TypedDict):
    """an attempt in the timeline of a report"""
    turn: int  # from 1, over all rounds
    type: Role  # role of the attempt
    attempt: int  # its id
    number: int  # its number within the run
    slot: int | None  # number of its slot
    task: str | None  # id of its task
    round: int | None  # of reviews or of fixes
    agent: str | None  # name of the agent
    model: str | None  # null: the agent's own default
    state: AttemptState  # of the attempt
    exit_code: int | None  # exit status, if it exited
    signal: int | None  # signal, if it was killed by one
    cause: str | None  # why it ended
    end_kind: EndKind | None  # kind of the cause, for programs
    started_at: str | None  # time of the start
    ended_at: str | None  # time of the end
    tokens: Tokens  # as the agent reports them
    cost_usd: float | None  # as the agent reports
    process: ProcessResult | None  # outcome of the process
    provider: ProviderResult | None  # report of the provider
    outcome: TaskResult | None  # outcome of the task
    fault: Fault | None  # which of these three kept it from succeeding
    account: str | None  # account billed
    resumes: int | None  # id of the attempt whose conversation it resumes
    denials: int | None  # tool calls denied for lack of permission
    tool_errors: int | None  # tool calls that failed otherwise
    decision: NotRequired[str]  # of a review
    feedback: NotRequired[str | None]  # of a review
    findings: NotRequired[list[str]]  # ids of what a review wants fixed


class ReusedCheck(TypedDict):
    """a check that was not run, because its result was known"""
    task: str | None  # id of the task
    command: str  # of the check
    tree: str | None  # git tree
    from_run: int  # run of the attempt that says what it comes to
    from_attempt: int  # its number within that run


class Account(TypedDict):
    """an account of a service"""
    account: str  # its name
    agents: list[str]  # agents that use the account
    in_force: bool  # true: exhausted; the account's agents are not started
    kind: CooldownKind | None  # what exhausted it
    until: str | None  # end of the cooldown
    reason: str | None  # message of the service or of the user
    attempt: int | None  # attempt that reported it
    set_by: str | None  # human:<user>
    created_at: str | None  # since when
    waiting: int  # number of slots waiting for it
    spent: Spent  # on this day
    reserved: Reserved  # by attempts that have not ended
    limits: AccountLimits  # of rld.toml


class Cooldown(TypedDict):
    """an exhausted account"""
    account: str  # its name
    kind: CooldownKind  # what exhausted it
    until: str  # end of the cooldown
    reason: str | None  # message of the service or of the user
    attempt: int | None  # attempt that reported it
    set_by: str | None  # human:<user>
    created_at: str  # since when
    in_force: bool  # true


class Spent(TypedDict):
    """what an account has spent"""
    day: str | None  # the day, in the daemon's time zone; null: nothing was spent
    attempts: int  # number of attempts
    cost_usd: float  # as reported
    tokens: int  # as reported
    wall_ms: int  # of all attempts together


class Reserved(TypedDict):
    """what is reserved of an account"""
    cost_usd: float  # expected cost
    tokens: int  # expected tokens


class AccountLimits(TypedDict):
    """limits of an account"""
    cooldown_max_ms: int  # longest cooldown
    budget_day_usd: float | None  # null: no limit
    budget_day_tokens: int | None  # null: no limit
    budget_day_wall_ms: int | None  # null: no limit


class Group(TypedDict):
    """a group of runs"""
    name: str  # name of the group
    slots: int | None  # slots of the daemon that its runs may use together; null: any number
    live: bool  # true: slots was set here, not in rld.toml
    used: int  # slots of the daemon in use by its runs
    queued: int  # number of its queued runs
    paused: bool  # true: its runs start nothing


class Metric(TypedDict):
    """a number that a monitoring system reads"""
    name: str  # its name, with its unit
    type: Literal["gauge", "counter"]  # a counter begins at 0 with each start
    help: str  # what it says
    samples: list[Sample]  # one for each set of labels


class Sample(TypedDict):
    """a value of a metric"""
    labels: dict[str, str]  # names and values
    value: float  # the number


class RunCounts(TypedDict):
    """number of unfinished runs by state"""
    queued: int  # runs
    running: int  # runs
    paused: int  # runs
    held: int  # runs


class Pruned(TypedDict):
    """what prune has removed of a run"""
    why: RetentionLimit  # the limit by which it went
    by_uid: int | None  # who asked for it; null: the daemon, by [keep]
    bytes: int | None  # bytes that were kept of it
    at: str  # when


class PrunedRun(TypedDict):
    """a run that goes"""
    run: int  # its id
    state: RunState  # of the run
    ended_at: str | None  # time of its end; null: it has not ended
    bytes: int | None  # what is, or was, kept of it; null: not measured
    why: RetentionLimit  # the limit that it is beyond


class KeptRun(TypedDict):
    """a run that stays, though it is beyond a limit"""
    run: int  # its id
    state: RunState  # of the run
    ended_at: str | None  # time of its end; null: it has not ended
    bytes: int | None  # what is, or was, kept of it; null: not measured
    why: RetentionLimit  # the limit that it is beyond
    need: RetentionNeed  # why it stays, for programs
    reason: str  # the same as a sentence
    remedy: str | None  # what lets it go; null: only time, or the run that needs it


class KeptTotal(TypedDict):
    """what is kept of ended runs"""
    runs: int  # number of ended runs of which something is kept
    bytes: int  # that they use on the disk


class EventRange(TypedDict):
    """events that are kept"""
    first: int  # number of the oldest event that is kept
    last: int  # number of the newest event


Setting = TypedDict("Setting", {
    "path": "str",
    "value": "str | float | bool | list[Any] | dict[str, Any] | None",
    "from": "str",
    "help": "str | None",
})


class DoctorCheck(TypedDict):
    """the result of one check of the host"""
    name: str  # what was checked; a name can occur more than once
    state: DoctorState  # the result
    text: str  # what was found
    remedy: str | None  # null: there is nothing to do


class DoctorAgent(TypedDict):
    """what a submitter has to check of an agent"""
    name: str  # name of the agent
    program: str | None  # first word of its command
    preset: str | None  # the preset that it is
    account: str | None  # account that it uses
    reader: str | None  # how its output is read
    env: list[str]  # variables that it takes from a submitter
    set: list[str]  # variables that rld.toml sets
    used_by: list[str]  # roles that use it by default
    measured: str | None  # version that the preset was measured with
    node: str | None  # version of Node.js that it needs
    login: list[str] | None  # arguments of the program that tell whether it is logged in
    login_help: str | None  # how to log in
    package: str | None  # package that npm installs it from
    caveat: str | None  # why it cannot work as this user


class RunStateEvent(TypedDict):
    """state, reason or cause of a run changed"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["run.state"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    state: RunState  # of the run
    reason: NotRequired[str]  # why it waits
    wait_kind: NotRequired[WaitKind]  # kind of the reason, for programs
    cause: NotRequired[str]  # why it ended
    end_kind: NotRequired[EndKind]  # kind of the cause, for programs


class RunChangedEvent(TypedDict):
    """a run has new settings"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["run.changed"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    by: str  # who changed it: uid N
    changes: list[str]  # names of the settings


class RunPrunedEvent(TypedDict):
    """outputs, directories and refs of a run are removed"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["run.pruned"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    why: RetentionLimit  # the limit by which it went
    by_uid: int | None  # who asked for it; null: the daemon
    bytes: int | None  # what was kept of it; null: not measured


class IterationStartedEvent(TypedDict):
    """an iteration begins"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["iteration.started"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    iteration: int  # its number


class IterationEndedEvent(TypedDict):
    """all slots of an iteration have ended"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["iteration.ended"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    iteration: int  # its number
    state: IterationState  # passed, failed or cancelled


class SlotPhaseEvent(TypedDict):
    """the phase of a slot, or why it waits, changed"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["slot.phase"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    slot: int  # number of the slot
    phase: Phase  # what it does
    task: NotRequired[str]  # id of its task
    round: int  # reviews so far
    fix: int  # fix rounds so far
    max_reviews: int  # reviews allowed
    reason: NotRequired[str]  # why it waits
    wait_kind: NotRequired[WaitKind]  # kind of the reason, for programs
    cause: NotRequired[str]  # why it ended
    end_kind: NotRequired[EndKind]  # kind of the cause, for programs
    obstacle: NotRequired[str]  # what prevents git from taking the work, while that is fixed


class SlotPickedEvent(TypedDict):
    """the agent chose its task"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["slot.picked"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    slot: int  # number of the slot
    task: str  # id of the task
    title: NotRequired[str]  # first line of the task


class SlotContinuedEvent(TypedDict):
    """the slot begins with the work of an earlier run"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["slot.continued"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    slot: int  # number of the slot
    task: str  # id of the task
    continues: int  # run whose work it is
    tree: str  # git tree of that work


class SlotMergedEvent(TypedDict):
    """the result of a slot is on the run's branch"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["slot.merged"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    slot: int  # number of the slot
    task: str  # id of the task
    commit: NotRequired[str]  # git commit on the run's branch
    merge: NotRequired[Merge]  # what is known of the merged tree


class AttemptStartedEvent(TypedDict):
    """the process of an attempt runs"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["attempt.started"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    attempt: int  # id of the attempt
    number: int  # number within the run
    role: Role  # of the attempt
    agent: NotRequired[str]  # name of the agent
    slot: int  # number of the slot
    round: int  # of reviews or of fixes


class AttemptEndedEvent(TypedDict):
    """an attempt ended"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["attempt.ended"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    attempt: int  # id of the attempt
    number: int  # number within the run
    role: Role  # of the attempt
    agent: NotRequired[str]  # name of the agent
    slot: int  # number of the slot
    round: int  # of reviews or of fixes
    state: AttemptState  # exited or lost
    exit_code: NotRequired[int]  # exit status, if it exited
    signal: NotRequired[int]  # signal, if it was killed by one
    process: ProcessResult  # outcome of the process
    provider: NotRequired[ProviderResult]  # report of the provider
    outcome: TaskResult  # outcome of the task
    cause: NotRequired[str]  # why it ended
    end_kind: NotRequired[EndKind]  # kind of the cause, for programs
    tokens_input: NotRequired[int]  # as the agent reports
    tokens_output: NotRequired[int]  # as the agent reports
    cost_usd: NotRequired[float]  # as the agent reports
    wall_ms: NotRequired[int]  # from its start to its end


class AgentRefusedEvent(TypedDict):
    """an agent asked for something that it may not do"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["agent.refused"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    attempt: int  # id of the attempt whose process asked
    method: str  # what it asked for
    uid: int  # of that process
    pid: int  # of that process


class CheckReusedEvent(TypedDict):
    """a check is not run: its result on this tree is known"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["check.reused"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    slot: int  # number of the slot
    task: str  # id of the task
    check: int  # number of the check, from 1
    command: str  # of the check
    result: EvidenceResult  # what the check comes to on this tree
    from_run: int  # run of the attempt that says so
    from_attempt: int  # its number within that run


class ReviewDecidedEvent(TypedDict):
    """a row of the review log was written"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["review.decided"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    review: int  # number of the row in the review log
    task: str  # id of the task
    slot: int  # number of the slot
    round: int  # of reviews
    decision: str  # in the words of the profile
    feedback: NotRequired[str]  # of the reviewer
    findings: int  # number of findings
    new: int  # number of findings of no earlier review
    repeated: int  # number of findings of an earlier review
    resolved: int  # number of earlier findings that are gone
    dismissed: int  # number of findings that users dismissed
    by: str  # name of the reviewer, or human:<user>
    attempt: NotRequired[int]  # id of the attempt that reviewed


class ReviewVotedEvent(TypedDict):
    """a reviewer of a panel has voted; its decision follows"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["review.voted"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    review: int  # number of the row in the review log
    task: str  # id of the task
    slot: int  # number of the slot
    round: int  # of reviews
    decision: str  # in the words of the profile
    feedback: NotRequired[str]  # of the reviewer
    findings: int  # number of findings
    reviewer: str  # name of the reviewer of the panel
    by: str  # name of the agent: the reviewer, or its fallback
    attempt: int  # id of the attempt that reviewed


class ReviewAskedEvent(TypedDict):
    """a reviewer is asked about a malformed answer"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["review.asked"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    slot: int  # number of the slot
    task: str  # id of the task
    round: int  # of reviews
    attempt: int  # id of the attempt that gave the answer
    by: str  # name of the reviewer
    reason: str  # what is wrong with the answer


class ReviewSkippedEvent(TypedDict):
    """a result was not reviewed"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["review.skipped"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    slot: int  # number of the slot
    task: NotRequired[str]  # id of the task
    reason: str  # why there is no review
    skip_kind: SkipKind  # kind of the reason, for programs


class FindingEvent(TypedDict):
    """a finding of a review, or one that a fixer marked as fixed or disputes"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["finding"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    review: int  # number of the review
    id: str  # the same for the same finding
    file: NotRequired[str]  # where
    line: NotRequired[int]  # where
    severity: NotRequired[str]  # in the words of the profile
    text: str  # what was found
    state: FindingState  # since the review before
    by: str  # who says so
    reason: NotRequired[str]  # why a fixer disputes it


class FindingDismissedEvent(TypedDict):
    """a user decided that a finding need not be fixed"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["finding.dismissed"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    task: str  # id of the task
    finding: str  # id of the finding
    text: str  # the finding with its place, shortened
    by: str  # human:<user>
    reason: str  # why it need not be fixed


class QuestionEvent(TypedDict):
    """an agent asks a human something"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["question"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    slot: int  # number of the slot
    task: str  # id of the task
    attempt: int  # id of the attempt
    by: str  # name of the agent
    question: str  # what it asks


class HoldOpenedEvent(TypedDict):
    """a human has to decide"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["hold.opened"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    hold: int  # id of the hold
    task: str  # id of the task
    slot: int  # number of the slot
    kind: HoldKind  # what a human has to decide
    reason: NotRequired[str]  # why it is held


class HoldClosedEvent(TypedDict):
    """a human decided, or the run was cancelled"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["hold.closed"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    hold: int  # id of the hold
    task: str  # id of the task
    slot: int  # number of the slot
    state: HoldState  # the decision
    by: NotRequired[str]  # human:<user>
    message: NotRequired[str]  # of the user


class SalvagedEvent(TypedDict):
    """the content of a work tree was saved"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["salvaged"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    salvage: int  # id of the salvage
    task: str  # id of the task
    ref: str  # git ref of the content


class CooldownEvent(TypedDict):
    """an account is exhausted, or available again"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["cooldown"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    account: str  # its name
    kind: CooldownKind  # what exhausted it
    in_force: bool  # false: it is available again
    until: str  # end of the cooldown
    reason: str | None  # message of the service or of the user
    set_by: str | None  # human:<user>


class BudgetEvent(TypedDict):
    """four fifths of a limit are reached"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["budget"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    kind: BudgetKind  # what is limited
    spent: float  # US dollars, tokens or milliseconds
    limit: float  # likewise
    account: NotRequired[str]  # the account, on this day; absent: the run


class GroupEvent(TypedDict):
    """a group was changed"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["group"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    group: str  # its name
    paused: bool  # true: its runs start nothing


class DaemonEvent(TypedDict):
    """the daemon started"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["daemon"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    what: Literal["started"]  # what happened
    version: str  # of the daemon


class HostEvent(TypedDict):
    """a fault of the host delays a run, or is over"""
    seq: int  # number of the event, from 1, without a gap
    time: str  # of the decision
    type: Literal["host"]  # type of the event
    run: int | None  # its run; null: of the daemon
    subscription: NotRequired[str]  # name of the subscription that it was sent for
    what: Literal["waits", "over"]  # over: the fault is gone
    slot: NotRequired[int]  # number of the slot
    error: NotRequired[str]  # name of the error, such as ENOSPC
    reason: NotRequired[str]  # what failed
    since: NotRequired[str]  # since when
    next_at: NotRequired[str]  # time of the next try


Gap = TypedDict("Gap", {
    "from": "int",
    "to": "int",
    "subscription": "NotRequired[str]",
})


RpcDiscoverResult = TypedDict("RpcDiscoverResult", {
    "openrpc": "str",
    "info": "dict[str, Any]",
    "methods": "list[dict[str, Any]]",
    "components": "dict[str, Any]",
    "x-notifications": "list[dict[str, Any]]",
    "x-client-notifications": "list[dict[str, Any]]",
})


class DaemonHelloResult(TypedDict):
    version: str  # version of the daemon
    protocol: int  # protocol version
    instance: str  # eight hex digits that identify the state directory; part of ref names
    role: CallerRole  # what the caller may do
    capabilities: list[str]  # names of the methods, and event:TYPE of each type of events
    agent_env: list[str]  # variables that agents get from the submitter's environment, according to the settings


class DaemonStatusResult(TypedDict):
    state: Literal["running", "draining"]  # draining: it takes no new work and stops soon
    version: str  # version of the daemon
    instance: str  # eight hex digits that identify the state directory; part of ref names
    pid: int  # process ID
    uid: int  # user ID
    role: CallerRole  # what the caller may do
    state_dir: str  # state directory
    started_at: str  # time of the start
    uptime_ms: int  # time since the start of the daemon
    config: str | None  # settings file in use
    runs: RunCounts  # number of unfinished runs by state
    cooling: list[Cooldown]  # exhausted accounts
    parallel: int  # number of slots of the daemon
    attempts: int  # number of running attempts
    busy: int  # number of running runs, submits and commits in progress; at 0 a draining daemon exits
    clients: int  # connections
    followers: int  # number of event subscriptions
    events: EventRange  # events that are kept
    kept: KeptTotal  # what prune could remove of ended runs, as measured at their end
    commits: int  # number of commits since the start


class DaemonStopResult(TypedDict):
    state: Literal["stopping", "draining"]  # draining: it waits for running attempts first
    attempts: int  # number of running attempts


class DaemonReloadResult(TypedDict):
    config: str | None  # settings file in use


class ConfigShowResult(TypedDict):
    config: str | None  # settings file in use
    settings: list[Setting]  # all of them


class DaemonBackupResult(TypedDict):
    path: str  # the file
    bytes: int  # its size


class DaemonMetricsResult(TypedDict):
    metrics: list[Metric]  # all of them, in a fixed order


class DaemonDoctorResult(TypedDict):
    state: DoctorState  # worst result of the checks
    version: str  # version of the daemon
    uid: int  # user that the agents run as
    deep: bool  # as requested
    checks: list[DoctorCheck]  # in the order of the checks
    agents: list[DoctorAgent]  # each agent that a run may name, for checks by the client


class BlobPutResult(TypedDict):
    blob: str  # its name
    size: int  # current size in bytes


class RunSubmitResult(TypedDict):
    id: int | None  # id of the new run; null for check
    state: RunState | Literal["checked"]  # of the run; 'checked' for check
    warnings: list[str]  # what was accepted, but may be a mistake
    seq: int  # number of an event before the first one of the run: event.subscribe with this since misses none; 0 where a key returns an earlier run


class RunSubmitReviewGuidelinesItem(TypedDict):
    file: str
    section: str


class RunSubmitReview(TypedDict):
    enabled: NotRequired[bool]  # whether to review results
    profile: NotRequired[str]  # review profile
    agent: NotRequired[str]  # agent that reviews; unset: the implementer's
    model: NotRequired[str]  # model of the reviewer
    fixer_agent: NotRequired[str]  # agent that fixes; unset: the implementer's
    fixer_model: NotRequired[str]  # model of the fixer
    max_fixes: NotRequired[int]  # maximum number of fix rounds; 0: one review, no fix
    stall_limit: NotRequired[int]  # number of fixes in a row without progress that end the loop; 0: no limit
    timeout: NotRequired[int | str]  # time limit of one review
    on_malformed: NotRequired[Literal["fail", "hold", "accept", "known_issues", "ask"]]  # what to do when a review gives no evidence
    on_reviewer_error: NotRequired[Literal["fail", "hold", "accept", "known_issues"]]  # what to do when the reviewer fails
    on_exhausted: NotRequired[Literal["fail", "hold", "accept", "known_issues"]]  # what to do when findings remain after the last round
    fixer: NotRequired[Literal["fresh", "implementer", "corrector", "resume", "per_finding"]]  # which agent fixes the findings
    scope: NotRequired[Literal["task", "run"]]  # review each task, or the run as a whole
    strictness: NotRequired[Literal["same", "by_round"]]  # how strict later reviews are
    checks: NotRequired[list[str]]  # shell commands that must succeed before each review
    checks_mode: NotRequired[Literal["all", "new_failures"]]  # which checks that fail count: all, or only those that are green on the base
    review_merged: NotRequired[Literal["on_conflict", "always"]]  # when merged work is reviewed: on_conflict, or always when the merge changed it
    guidelines: NotRequired[list[RunSubmitReviewGuidelinesItem]]  # file sections with the review criteria, used where the file exists
    conventions: NotRequired[list[str]]  # files with the project's conventions, used where they exist
    reviewer: NotRequired[str]  # reviewing program, for profiles that use its exit status
    env: NotRequired[list[str]]  # submitter's variables to pass to a reviewing program, in addition to the implementer's
    review_file: NotRequired[str]  # name of the file that the reviewer writes
    review_log: NotRequired[str]  # directory for a review log per task; empty: none
    read_only: NotRequired[bool]  # whether to confine the reviewer so that it cannot write what it judges
    sandbox: NotRequired[Literal["off", "try", "require"]]  # what to do when the kernel cannot confine a read_only review
    on_cut: NotRequired[Literal["warn", "hold"]]  # what to do with a pass when the prompt left out a part of the diff
    on_question: NotRequired[Literal["ignore", "hold"]]  # what to do when an implementer or a fixer asks a question
    silence: NotRequired[Literal["pass", "violation"]]  # what a review without issues is if its text does not end with the line that its prompt asks for
    workspace: NotRequired[Literal["same", "room"]]  # where reviewers and checks work
    room: NotRequired[Literal["clone", "reuse"]]  # whether each tree gets a clean room, or all trees of a task share one
    protect: NotRequired[list[str]]  # patterns of paths: work that touches one is held for a human
    escalate: NotRequired[list[str]]  # models of the implementer and then of each fixer, in place of their own
    reviewers: NotRequired[list[str]]  # agents that review each work together, in place of agent
    quorum: NotRequired[int | str]  # how many of reviewers must pass the work: all, majority, or a number
    reviewer_may_change: NotRequired[list[str]]  # patterns of files that a reviewer may change in its room
    developer_prompt: NotRequired[str]  # prompt template for the implementer
    reviewer_prompt: NotRequired[str]  # prompt template for the reviewer; none: no review


class RunListResult(TypedDict):
    runs: list[RunSummary]  # newest first
    next: int | None  # cursor of the next page; null: no more pages


class RunDiffResult(TypedDict):
    offset: int  # offset of the first byte of diff; greater than the requested one where bytes were dropped
    next: int  # offset to continue with
    diff: str  # of a run: the branch with the commits of all tasks, or the review of the whole run, compared with the start; otherwise the changes of each task, in order
    encoding: Literal["utf-8", "base64"]  # of diff
    eof: bool  # whether this is the end
    dropped: int  # number of bytes missing before offset
    base_tree: str | None  # git tree at the start; of a task, that its work is compared with
    tree: str | None  # git tree that is compared with it; null: more than one


class RunWaitResult(TypedDict):
    runs: list[RunSummary]  # in the order of ids
    timed_out: bool  # true: the time is up and some runs continue


class AttemptListResult(TypedDict):
    attempts: list[Attempt]  # in starting order
    next: int | None  # cursor of the next page; null: no more pages


class AttemptOutputResult(TypedDict):
    offset: int  # offset of the first byte of data; greater than the requested one where bytes were dropped
    next: int  # offset to continue with
    data: str  # content
    encoding: Literal["utf-8", "base64"]  # of data
    eof: bool  # whether this is the end
    dropped: int  # number of bytes missing before offset


class AttemptPreviewResult(TypedDict):
    lines: list[str]  # last human-readable lines, oldest first: no control characters, at most 220 characters each, none twice in a row
    updated_at: str | None  # time of its last output; null: none yet


class AttemptTranscriptResult(TypedDict):
    reader: Reader  # format of the output; text: one piece, as it was printed
    items: list[TranscriptItem]  # in order; none: there is no whole line yet, or nothing in it for people
    offset: int  # offset of the first byte that was read
    next: int  # offset to continue with
    eof: bool  # whether this is the end
    dropped: int  # number of bytes missing before offset


class ReviewListResult(TypedDict):
    reviews: list[Review]  # in order
    next: int | None  # cursor of the next page; null: no more pages


class ReviewExportResult(TypedDict):
    logs: list[ReviewLog]  # one per task
    proofs: list[ReviewProof]  # one per review, in order
    head: str | None  # hash of the newest review
    record: str | None  # hash of the newest entry of the record


class ReviewVerifyResult(TypedDict):
    run: int  # id of the run
    ok: bool  # whether log, products, evidence and record are intact, and the files of the attempts and the refs of the results are as recorded
    chain: bool  # whether log, products, evidence and record are intact, and each row that has ended is as it entered the record; and the attested entry is in it
    attested: bool | None  # whether the record has that entry; null: none was given
    kept: bool  # ... and the files of the attempts are as recorded
    reviews: int  # number of rows in the log
    head: str | None  # hash of the newest row
    products: int  # number of products
    evidence: int  # number of rows of evidence
    entries: int  # number of entries of the record
    record: str | None  # hash of the newest entry: it covers all others, and when the run has ended, the heads of the other chains
    files: int  # number of files that were hashed again
    pruned: Pruned | None  # files and refs that are gone because prune has removed them; null: none
    not_covered: str | None  # what an earlier version has not recorded
    message: str | None  # the first difference: a row, a file of an attempt, or the refs that were moved or removed


class FindingListResult(TypedDict):
    open: list[OpenFinding]  # findings of the newest verdict on each task that must be fixed
    dismissed: list[Dismissal]  # findings that users dismissed, also in the runs that this one retries
    disputed: list[Dispute]  # findings that fixers disputed, also in the runs whose work this one continues
    next: int | None  # cursor of the next page; null: no more pages


class FindingDismissResult(TypedDict):
    run: int  # id of the run
    task: str  # id of the task
    finding: str  # id of the finding
    open: list[str]  # ids of the findings of the task that stay open
    hold: int | None  # id of the open hold of the task, which the dismissal does not decide; null: none


class ProductListResult(TypedDict):
    products: list[Product]  # in order
    next: int | None  # cursor of the next page; null: no more pages


class EvidenceListResult(TypedDict):
    evidence: list[Evidence]  # in order
    next: int | None  # cursor of the next page; null: no more pages


class RunAttestResult(TypedDict):
    run: int  # id of the run
    workspace: str  # top of its repository
    key: str  # file of the key that signs; it may not exist yet
    key_is_set: bool  # whether attest_key of rld.toml names it
    statements: list[Statement]  # one per commit whose tree has passed
    left_out: list[NotAttested]  # commits of the run that nothing proves


class HoldListResult(TypedDict):
    holds: list[Hold]  # newest first
    next: int | None  # cursor of the next page; null: no more pages


class GroupListResult(TypedDict):
    groups: list[Group]  # by name: groups in rld.toml, groups that were set, and groups of unfinished runs


class CooldownListResult(TypedDict):
    accounts: list[Account]  # by name: the accounts of agents and of rld.toml, and those with a cooldown or spending on record


class SalvageListResult(TypedDict):
    salvage: list[Salvage]  # newest first
    next: int | None  # cursor of the next page; null: no more pages


class RunReportResult(TypedDict):
    version: int  # version of this format: 1
    run: int  # id of the run
    overview: Overview  # what passed, what failed, and how to take the result
    task: str | None  # first line of the first task
    agent: str | None  # agent that implements
    model: str | None  # its model; null: the agent's default
    reviewer: str | None  # agent or program that reviews; null: no review
    workdir: str  # as submitted
    state: RunState  # of the run
    reason: str | None  # why the run waits
    wait_kind: WaitKind | None  # kind of the reason, for programs
    cause: str | None  # why the run ended
    end_kind: EndKind | None  # kind of the cause, for programs
    created_at: str  # time of the submit
    started_at: str | None  # time of the start
    ended_at: str | None  # time of the end
    settings: ReportSettings | None  # of the run; null: they cannot be read
    result: ReportResult  # what the run came to
    stats: Stats  # what it took
    timeline: list[Turn]  # one per attempt
    tasks: list[Task]  # in the order of their source
    reviews: list[Review]  # in order
    findings: list[Finding]  # each finding once, with its final state
    known_issues: list[str]  # findings left open when the run succeeded under on_exhausted = known_issues
    warnings: list[str]  # sentences
    reused_checks: list[ReusedCheck]  # checks that were not run, because they had been green on the same tree
    holds: list[HoldSummary]  # holds and their decisions


class EventListResult(TypedDict):
    events: list[dict[str, Any]]  # in order: what a notification of each has as params
    next: int  # value of since for the next page


class EventSubscribeResult(TypedDict):
    seq: int  # number of the newest event


class EventUnsubscribeResult(TypedDict):
    seq: int  # number of the newest event


class PromptShowResult(TypedDict):
    prompt: str  # the prompt; the nonce of a review is XXXXXXXX
    warnings: list[str]  # files that are missing or empty


class StatePruneResult(TypedDict):
    check: bool  # true: nothing was removed
    runs: list[PrunedRun]  # that went, or would go, oldest first: at most 1000
    count: int  # their number
    bytes: int  # what was kept of them
    prepared_bytes: int  # likewise of prepared rooms that nothing uses
    kept: list[KeptRun]  # runs beyond the limits that stay, oldest first: at most 1000
    kept_count: int  # their number
    left: list[str]  # what could not be removed; the next start or prune tries again


# one event, after event.subscribe
Event = Union[
    RunStateEvent, RunChangedEvent, RunPrunedEvent, IterationStartedEvent, IterationEndedEvent, SlotPhaseEvent, SlotPickedEvent, SlotContinuedEvent, SlotMergedEvent, AttemptStartedEvent, AttemptEndedEvent, AgentRefusedEvent, CheckReusedEvent, ReviewDecidedEvent, ReviewVotedEvent, ReviewAskedEvent, ReviewSkippedEvent, FindingEvent, FindingDismissedEvent, QuestionEvent, HoldOpenedEvent, HoldClosedEvent, SalvagedEvent, CooldownEvent, BudgetEvent, GroupEvent, DaemonEvent, HostEvent]


class Rld:
    def __init__(self, call: Callable[[str, dict[str, Any]], Any]) -> None:
        self._function = call

    def _call(self, method: str, params: dict[str, Any]) -> Any:
        return self._function(method, {k: v for k, v in params.items() if v is not None})

    def rpc_discover(self) -> RpcDiscoverResult:
        """describe all methods as an OpenRPC document"""
        return self._call("rpc.discover", {})

    def daemon_hello(self, *, client: str | None = None, min: int | None = None, max: int | None = None) -> DaemonHelloResult:
        """agree on a protocol version"""
        return self._call("daemon.hello", {"client": client, "min": min, "max": max})

    def daemon_status(self) -> DaemonStatusResult:
        """return the state of the daemon"""
        return self._call("daemon.status", {})

    def daemon_stop(self, *, drain: bool | None = None, check: bool | None = None) -> DaemonStopResult:
        """stop the daemon"""
        return self._call("daemon.stop", {"drain": drain, "check": check})

    def daemon_reload(self, *, check: bool | None = None) -> DaemonReloadResult:
        """reload the settings; applies to new runs"""
        return self._call("daemon.reload", {"check": check})

    def config_show(self, *, workdir: str | None = None, profile: str | None = None) -> ConfigShowResult:
        """return the effective settings and their origin"""
        return self._call("config.show", {"workdir": workdir, "profile": profile})

    def daemon_backup(self, *, path: str) -> DaemonBackupResult:
        """copy the database to a file, while work continues"""
        return self._call("daemon.backup", {"path": path})

    def daemon_metrics(self) -> DaemonMetricsResult:
        """return numbers for a monitoring system"""
        return self._call("daemon.metrics", {})

    def daemon_doctor(self, *, deep: bool | None = None) -> DaemonDoctorResult:
        """check the daemon and its host, with remedies"""
        return self._call("daemon.doctor", {"deep": deep})

    def blob_put(self, *, blob: str, offset: int, data: str, check: bool | None = None) -> BlobPutResult:
        """upload a piece of a text that is too large for one frame"""
        return self._call("blob.put", {"blob": blob, "offset": offset, "data": data, "check": check})

    def run_submit(self, *, workdir: str, task: str | None = None, task_blob: str | None = None, agent: str | None = None, reviewer_agent: str | None = None, fixer_agent: str | None = None, model: str | None = None, reviewer_model: str | None = None, fixer_model: str | None = None, review: RunSubmitReview | None = None, skip_review: bool | None = None, timeout: int | str | None = None, idle_timeout: int | str | None = None, on_lost: Literal["hold", "retry", "fail"] | None = None, env: dict[str, str] | None = None, priority: int | None = None, environment: list[str] | dict[str, str] | None = None, key: str | None = None, check: bool | None = None, reviewer: str | None = None, checks: list[str] | None = None, commit: Literal["none", "auto", "agent"] | None = None, report: str | None = None, beads: str | bool | None = None, stories: str | None = None, stories_path: str | None = None, workflow: str | None = None, workflow_path: str | None = None, assign: Literal["daemon", "agent"] | None = None, stop_markers: list[str] | None = None, iterations: int | None = None, parallel: int | None = None, pause_ms: int | None = None, on_failure: Literal["stop", "continue"] | None = None, isolation: Literal["auto", "shared", "worktree"] | None = None, base: str | None = None, integrate: Literal["auto", "none", "merge"] | None = None, group: str | None = None, after: int | None = None, max_cost: float | None = None, max_tokens: int | None = None, max_wall: int | str | None = None, strict_budget: bool | None = None, on_no_change: Literal["review", "fail", "pass"] | None = None, evidence_age: int | str | None = None, no_change_markers: list[str] | None = None, retries: int | None = None, setup: list[str] | None = None, copy: list[str] | None = None, setup_inputs: list[str] | None = None, check_on_base: Literal["skip", "warn", "require"] | None = None, labels: dict[str, str] | None = None, launcher: str | None = None) -> RunSubmitResult:
        """queue a run"""
        return self._call("run.submit", {"task": task, "workdir": workdir, "task_blob": task_blob, "agent": agent, "reviewer_agent": reviewer_agent, "fixer_agent": fixer_agent, "model": model, "reviewer_model": reviewer_model, "fixer_model": fixer_model, "review": review, "skip_review": skip_review, "timeout": timeout, "idle_timeout": idle_timeout, "on_lost": on_lost, "env": env, "priority": priority, "environment": environment, "key": key, "check": check, "reviewer": reviewer, "checks": checks, "commit": commit, "report": report, "beads": beads, "stories": stories, "stories_path": stories_path, "workflow": workflow, "workflow_path": workflow_path, "assign": assign, "stop_markers": stop_markers, "iterations": iterations, "parallel": parallel, "pause_ms": pause_ms, "on_failure": on_failure, "isolation": isolation, "base": base, "integrate": integrate, "group": group, "after": after, "max_cost": max_cost, "max_tokens": max_tokens, "max_wall": max_wall, "strict_budget": strict_budget, "on_no_change": on_no_change, "evidence_age": evidence_age, "no_change_markers": no_change_markers, "retries": retries, "setup": setup, "copy": copy, "setup_inputs": setup_inputs, "check_on_base": check_on_base, "labels": labels, "launcher": launcher})

    def run_get(self, *, id: int) -> Run:
        """return a run in detail"""
        return self._call("run.get", {"id": id})

    def run_list(self, *, state: Literal["queued", "running", "paused", "held", "succeeded", "failed", "cancelled"] | None = None, owner: int | None = None, limit: int | None = None, cursor: int | None = None, workdir: str | None = None, group: str | None = None, text: str | None = None, labels: dict[str, str] | None = None, since: str | None = None, source: Literal["prompt", "beads", "stories", "workflow"] | None = None) -> RunListResult:
        """list runs in pages, newest first"""
        return self._call("run.list", {"state": state, "owner": owner, "limit": limit, "cursor": cursor, "workdir": workdir, "group": group, "text": text, "labels": labels, "since": since, "source": source})

    def run_cancel(self, *, id: int, check: bool | None = None) -> Run | Checked:
        """cancel a run and end its processes"""
        return self._call("run.cancel", {"id": id, "check": check})

    def run_pause(self, *, id: int, check: bool | None = None) -> Run | Checked:
        """finish running attempts, start no new ones"""
        return self._call("run.pause", {"id": id, "check": check})

    def run_resume(self, *, id: int, check: bool | None = None) -> Run | Checked:
        """undo run.pause"""
        return self._call("run.resume", {"id": id, "check": check})

    def run_retry(self, *, id: int, environment: list[str] | dict[str, str] | None = None, new_judge: bool | None = None, new_setup: bool | None = None, from_scratch: bool | None = None, check: bool | None = None) -> Run | Checked:
        """retry a run as a new run of the tasks that did not pass, from the phase that failed"""
        return self._call("run.retry", {"id": id, "environment": environment, "new_judge": new_judge, "new_setup": new_setup, "from_scratch": from_scratch, "check": check})

    def review_again(self, *, run: int, task: str | None = None, reviewer_agent: str | None = None, environment: list[str] | dict[str, str] | None = None, check: bool | None = None) -> Run | Checked:
        """judge once more what a run has made, as a new run"""
        return self._call("review.again", {"run": run, "task": task, "reviewer_agent": reviewer_agent, "environment": environment, "check": check})

    def run_change(self, *, id: int, priority: int | None = None, parallel: int | None = None, max_cost: float | None = None, max_tokens: int | None = None, max_wall: int | str | None = None, max_fixes: int | None = None, timeout: int | str | None = None, idle_timeout: int | str | None = None, disk_floor: int | str | None = None, stories: str | None = None, check: bool | None = None) -> Run | Checked:
        """change the limits, priority or number of slots of an unfinished run, or add stories"""
        return self._call("run.change", {"id": id, "priority": priority, "parallel": parallel, "max_cost": max_cost, "max_tokens": max_tokens, "max_wall": max_wall, "max_fixes": max_fixes, "timeout": timeout, "idle_timeout": idle_timeout, "disk_floor": disk_floor, "stories": stories, "check": check})

    def run_diff(self, *, id: int, task: str | None = None, offset: int | None = None, limit: int | None = None) -> RunDiffResult:
        """return the changes of a run or of one of its tasks"""
        return self._call("run.diff", {"id": id, "task": task, "offset": offset, "limit": limit})

    def run_wait(self, *, ids: list[int], timeout_ms: int | None = None) -> RunWaitResult:
        """wait until all runs have ended or are held and their reports are written"""
        return self._call("run.wait", {"ids": ids, "timeout_ms": timeout_ms})

    def attempt_list(self, *, run: int, limit: int | None = None, cursor: int | None = None) -> AttemptListResult:
        """list the attempts of a run"""
        return self._call("attempt.list", {"run": run, "limit": limit, "cursor": cursor})

    def attempt_get(self, *, id: int) -> Attempt:
        """return an attempt in detail"""
        return self._call("attempt.get", {"id": id})

    def attempt_output(self, *, id: int, stream: Literal["stdout", "stderr", "answer", "prompt"] | None = None, offset: int | None = None, limit: int | None = None, wait_ms: int | None = None) -> AttemptOutputResult:
        """return the output or input of an attempt"""
        return self._call("attempt.output", {"id": id, "stream": stream, "offset": offset, "limit": limit, "wait_ms": wait_ms})

    def attempt_preview(self, *, id: int, lines: int | None = None) -> AttemptPreviewResult:
        """return the last lines of an attempt, as interpreted by its reader"""
        return self._call("attempt.preview", {"id": id, "lines": lines})

    def attempt_transcript(self, *, id: int, offset: int | None = None) -> AttemptTranscriptResult:
        """return output of an attempt as a conversation, as interpreted by its reader"""
        return self._call("attempt.transcript", {"id": id, "offset": offset})

    def review_list(self, *, run: int, task: str | None = None, limit: int | None = None, cursor: int | None = None) -> ReviewListResult:
        """return the review log of a run"""
        return self._call("review.list", {"run": run, "task": task, "limit": limit, "cursor": cursor})

    def review_export(self, *, run: int) -> ReviewExportResult:
        """export the review logs of a run"""
        return self._call("review.export", {"run": run})

    def review_verify(self, *, run: int, entry: int | None = None, entry_hash: str | None = None) -> ReviewVerifyResult:
        """verify that the record of a run was not altered: rows, files, refs"""
        return self._call("review.verify", {"run": run, "entry": entry, "entry_hash": entry_hash})

    def finding_list(self, *, run: int | None = None, task: str | None = None, workdir: str | None = None, state: Literal["open", "dismissed", "disputed"] | None = None, limit: int | None = None, cursor: int | None = None) -> FindingListResult:
        """return the open findings of a run or a directory, and the dismissed and disputed ones"""
        return self._call("finding.list", {"run": run, "task": task, "workdir": workdir, "state": state, "limit": limit, "cursor": cursor})

    def finding_dismiss(self, *, run: int, finding: str, reason: str, task: str | None = None, check: bool | None = None) -> FindingDismissResult:
        """decide that a finding need not be fixed"""
        return self._call("finding.dismiss", {"run": run, "task": task, "finding": finding, "reason": reason, "check": check})

    def product_list(self, *, run: int, task: str | None = None, limit: int | None = None, cursor: int | None = None) -> ProductListResult:
        """return the products of a run: its base, its work, its results"""
        return self._call("product.list", {"run": run, "task": task, "limit": limit, "cursor": cursor})

    def evidence_list(self, *, run: int, task: str | None = None, limit: int | None = None, cursor: int | None = None) -> EvidenceListResult:
        """return what judged the products of a run"""
        return self._call("evidence.list", {"run": run, "task": task, "limit": limit, "cursor": cursor})

    def run_attest(self, *, id: int) -> RunAttestResult:
        """return what rlctl attest signs: a statement for each commit that passed"""
        return self._call("run.attest", {"id": id})

    def hold_list(self, *, run: int | None = None, state: Literal["open", "approved", "rejected", "rework", "reworked", "cancelled"] | None = None, limit: int | None = None, cursor: int | None = None) -> HoldListResult:
        """list holds in pages"""
        return self._call("hold.list", {"run": run, "state": state, "limit": limit, "cursor": cursor})

    def hold_get(self, *, id: int) -> Hold:
        """return a hold with the reviews that led to it"""
        return self._call("hold.get", {"id": id})

    def hold_approve(self, *, id: int, message: str | None = None, check: bool | None = None) -> Hold | Checked:
        """accept the work as it is"""
        return self._call("hold.approve", {"id": id, "message": message, "check": check})

    def hold_reject(self, *, id: int, message: str | None = None, check: bool | None = None) -> Hold | Checked:
        """fail the task"""
        return self._call("hold.reject", {"id": id, "message": message, "check": check})

    def hold_rework(self, *, id: int, message: str | None = None, check: bool | None = None) -> Hold | Checked:
        """fix the work and review it again"""
        return self._call("hold.rework", {"id": id, "message": message, "check": check})

    def hold_answer(self, *, id: int, message: str, check: bool | None = None) -> Hold | Checked:
        """answer what an agent asks; it continues with that"""
        return self._call("hold.answer", {"id": id, "message": message, "check": check})

    def group_list(self) -> GroupListResult:
        """list groups of runs and their slots"""
        return self._call("group.list", {})

    def group_set(self, *, name: str, slots: int | None = None, check: bool | None = None) -> Group | Checked:
        """set the number of slots of a group"""
        return self._call("group.set", {"name": name, "slots": slots, "check": check})

    def group_pause(self, *, name: str, check: bool | None = None) -> Group | Checked:
        """finish running attempts of a group, start no new ones"""
        return self._call("group.pause", {"name": name, "check": check})

    def group_resume(self, *, name: str, check: bool | None = None) -> Group | Checked:
        """undo group.pause"""
        return self._call("group.resume", {"name": name, "check": check})

    def cooldown_list(self) -> CooldownListResult:
        """list provider accounts with their cooldowns and spending"""
        return self._call("cooldown.list", {})

    def cooldown_set(self, *, account: str, until: str | None = None, for_: int | str | None = None, reason: str | None = None, check: bool | None = None) -> Account | Checked:
        """put an account on cooldown: its agents wait"""
        return self._call("cooldown.set", {"account": account, "until": until, "for": for_, "reason": reason, "check": check})

    def cooldown_clear(self, *, account: str, check: bool | None = None) -> Account | Checked:
        """end the cooldown of an account: its agents continue"""
        return self._call("cooldown.clear", {"account": account, "check": check})

    def salvage_list(self, *, run: int | None = None, limit: int | None = None, cursor: int | None = None) -> SalvageListResult:
        """list the work saved from removed work trees, in pages"""
        return self._call("salvage.list", {"run": run, "limit": limit, "cursor": cursor})

    def salvage_get(self, *, id: int) -> Salvage:
        """return where git has the content of a removed work tree"""
        return self._call("salvage.get", {"id": id})

    def run_report(self, *, id: int) -> RunReportResult:
        """return a full report of a run, for programs and archives"""
        return self._call("run.report", {"id": id})

    def event_list(self, *, since: int | None = None, limit: int | None = None, run: int | None = None, types: list[Literal["run.state", "run.changed", "run.pruned", "iteration.started", "iteration.ended", "slot.phase", "slot.picked", "slot.continued", "slot.merged", "attempt.started", "attempt.ended", "agent.refused", "check.reused", "review.decided", "review.voted", "review.asked", "review.skipped", "finding", "finding.dismissed", "question", "hold.opened", "hold.closed", "salvaged", "cooldown", "budget", "group", "daemon", "host"]] | None = None) -> EventListResult:
        """list events in pages"""
        return self._call("event.list", {"since": since, "limit": limit, "run": run, "types": types})

    def event_subscribe(self, *, since: int | None = None, run: int | None = None, types: list[Literal["run.state", "run.changed", "run.pruned", "iteration.started", "iteration.ended", "slot.phase", "slot.picked", "slot.continued", "slot.merged", "attempt.started", "attempt.ended", "agent.refused", "check.reused", "review.decided", "review.voted", "review.asked", "review.skipped", "finding", "finding.dismissed", "question", "hold.opened", "hold.closed", "salvaged", "cooldown", "budget", "group", "daemon", "host"]] | None = None, subscription: str | None = None) -> EventSubscribeResult:
        """subscribe to events, sent as notifications `event`; `gap` {from, to} where events are no longer kept; replaces an earlier subscription of the same name"""
        return self._call("event.subscribe", {"since": since, "run": run, "types": types, "subscription": subscription})

    def event_unsubscribe(self, *, subscription: str | None = None) -> EventUnsubscribeResult:
        """end subscriptions"""
        return self._call("event.unsubscribe", {"subscription": subscription})

    def prompt_show(self, *, workdir: str, role: Literal["implement", "review", "fix", "commit"], task: str | None = None, review: str | None = None) -> PromptShowResult:
        """return the prompt that a role would get, before anything is paid"""
        return self._call("prompt.show", {"workdir": workdir, "role": role, "task": task, "review": review})

    def state_prune(self, *, check: bool | None = None, older: int | str | None = None, failures: int | str | None = None, number: int | None = None, size: int | str | None = None, unmerged: bool | None = None) -> StatePruneResult:
        """remove outputs, directories and refs of old runs; their rows and reviews stay"""
        return self._call("state.prune", {"check": check, "older": older, "failures": failures, "number": number, "size": size, "unmerged": unmerged})
