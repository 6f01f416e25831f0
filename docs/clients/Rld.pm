# SPDX-License-Identifier: MIT
# Made of docs/openrpc.json by `make openrpc`: do not edit.
# The methods of the protocol of rld. Rld->new takes a function that calls a method:
# $function->("run.get", { id => 1 }) returns the result, or dies. docs/protocol.md says how a
# call reaches the daemon.
package Rld;
use strict;
use warnings;

sub new {
    my ($class, $function) = @_;
    return bless { function => $function }, $class;
}

sub _call {
    my ($self, $method, $known, $required, $params) = @_;
    my %known = map { $_ => 1 } @$known;
    for (sort keys %$params) {
        die "$method has no parameter $_\n" unless $known{$_};
    }
    for (@$required) {
        die "$method needs the parameter $_\n" unless defined $params->{$_};
    }
    return $self->{function}->($method, $params);
}

# describe all methods as an OpenRPC document
sub rpc_discover {
    my ($self, %params) = @_;
    return $self->_call('rpc.discover', [qw()], [qw()], \%params);
}

# agree on a protocol version
#   client: name of the client, for people who read the conversation
#   min: oldest protocol version supported by the client
#   max: newest protocol version supported by the client
sub daemon_hello {
    my ($self, %params) = @_;
    return $self->_call('daemon.hello', [qw(client min max)], [qw()], \%params);
}

# return the state of the daemon
sub daemon_status {
    my ($self, %params) = @_;
    return $self->_call('daemon.status', [qw()], [qw()], \%params);
}

# stop the daemon
#   drain: accept no new work and exit when running attempts have ended; otherwise exit now and leave the agents running
#   check: validate only; make no changes (dry run)
sub daemon_stop {
    my ($self, %params) = @_;
    return $self->_call('daemon.stop', [qw(drain check)], [qw()], \%params);
}

# reload the settings; applies to new runs
#   check: validate only; make no changes (dry run)
sub daemon_reload {
    my ($self, %params) = @_;
    return $self->_call('daemon.reload', [qw(check)], [qw()], \%params);
}

# return the effective settings and their origin
#   workdir: absolute path: settings of a run there, with the project's own
#   profile: settings of a run reviewed under this profile
sub config_show {
    my ($self, %params) = @_;
    return $self->_call('config.show', [qw(workdir profile)], [qw()], \%params);
}

# copy the database to a file, while work continues
#   path (required): absolute path of a new file, written by the daemon's user with mode 0600
sub daemon_backup {
    my ($self, %params) = @_;
    return $self->_call('daemon.backup', [qw(path)], [qw(path)], \%params);
}

# return numbers for a monitoring system
sub daemon_metrics {
    my ($self, %params) = @_;
    return $self->_call('daemon.metrics', [qw()], [qw()], \%params);
}

# check the daemon and its host, with remedies
#   deep: also run slow checks: the whole database, the review logs and the refs of the newest 1000 runs, the directories of all attempts
sub daemon_doctor {
    my ($self, %params) = @_;
    return $self->_call('daemon.doctor', [qw(deep)], [qw()], \%params);
}

# upload a piece of a text that is too large for one frame
#   blob (required): name chosen by the client: letters, digits, '_' and '-'
#   offset (required): current size of the blob; 0 starts again
#   data (required): text to append
#   check: validate only; make no changes (dry run)
sub blob_put {
    my ($self, %params) = @_;
    return $self->_call('blob.put', [qw(blob offset data check)], [qw(blob offset data)], \%params);
}

# queue a run
#   task: description of the task; instead of task_blob, beads, stories or workflow
#   workdir (required): absolute path of the workdir
#   task_blob: name of a blob with the description of the task, instead of task
#   agent: agent of runs that name none
#   reviewer_agent: agent that reviews; unset: the implementer's
#   fixer_agent: agent that fixes; unset: the implementer's
#   model: model of the implementer
#   reviewer_model: model of the reviewer
#   fixer_model: model of the fixer
#   review: settings of the review
#   skip_review: do not review, whatever other settings say
#   timeout: time limit of one attempt; applies to reviews only if set by a submit
#   idle_timeout: time limit without progress; 0: no limit
#   on_lost: what to do with a run whose attempt was lost
#   env: variables for all agents of the run
#   priority: higher starts first; default 0
#   environment: the submitter's variables; only those that agents may get are used
#   key: the same key returns the first result again
#   check: validate only; make no changes (dry run)
#   reviewer: reviewing program, for profiles that use its exit status
#   checks: shell commands that must succeed before each review
#   commit: whether to commit the result, and how
#   report: file for the report, written when the run ends or is held
#   beads: absolute path of the directory that contains .beads, or true for the workdir: the beads are the tasks
#   stories: text of a JSON PRD: its user stories are the tasks
#   stories_path: absolute path of that file; stories that pass are marked in it
#   workflow: text of a YAML workflow: its tasks are the tasks
#   workflow_path: absolute path of that file, for messages
#   assign: whether the daemon or the agent picks the bead of a slot
#   stop_markers: lines with which an agent declares that no work is left
#   iterations: maximum number of iterations; unset: until no task remains
#   parallel: slots: tasks at work at a time
#   pause_ms: pause between iterations, in milliseconds
#   on_failure: whether to start another iteration after a failed task
#   isolation: where tasks are worked on: in the directory itself, or each in its own git work tree
#   base: branch or commit to compare the work with
#   integrate: whether to merge the commits of the work trees into one branch
#   group: group whose limits apply to the run; default "default"
#   after: run that must succeed before this one starts
#   max_cost: cost limit of a run in US dollars, over all attempts; unset: no limit
#   max_tokens: token limit of a run, over all attempts; unset: no limit
#   max_wall: time limit of a run, counted from its start; unset: no limit
#   strict_budget: whether an attempt starts only if what it is expected to use is left
#   on_no_change: what to do when an implementer changed nothing and did not declare it
#   evidence_age: age up to which a check that was green in another run is not run again; 0: never
#   no_change_markers: lines with which an implementer declares that no change is needed
#   retries: maximum number of consecutive tries after temporary failures of a service
#   setup: shell commands that set up each new work tree and room
#   copy: patterns of ignored files to copy into each new work tree and room
#   setup_inputs: patterns of files on which the setup depends: it runs again where they are not as on the base
#   check_on_base: whether the checks also run on the base, and what to do when they fail there
#   labels: labels of the run: names and texts to find it by
#   launcher: launcher that places the agents; local: they run on this host
sub run_submit {
    my ($self, %params) = @_;
    return $self->_call('run.submit', [qw(task workdir task_blob agent reviewer_agent fixer_agent model reviewer_model fixer_model review skip_review timeout idle_timeout on_lost env priority environment key check reviewer checks commit report beads stories stories_path workflow workflow_path assign stop_markers iterations parallel pause_ms on_failure isolation base integrate group after max_cost max_tokens max_wall strict_budget on_no_change evidence_age no_change_markers retries setup copy setup_inputs check_on_base labels launcher)], [qw(workdir)], \%params);
}

# return a run in detail
#   id (required): of the run
sub run_get {
    my ($self, %params) = @_;
    return $self->_call('run.get', [qw(id)], [qw(id)], \%params);
}

# list runs in pages, newest first
#   state: only runs in this state
#   owner: only runs of this uid
#   limit: runs per page; default 50
#   cursor: next of the previous page
#   workdir: only runs in this directory or below it; an absolute path, as the runs have it
#   group: only runs of this group
#   text: only runs with a task whose title contains this; case is ignored in ASCII
#   labels: only runs with all of these labels
#   since: only runs submitted at this RFC 3339 time or later
#   source: only runs whose tasks come from this source
sub run_list {
    my ($self, %params) = @_;
    return $self->_call('run.list', [qw(state owner limit cursor workdir group text labels since source)], [qw()], \%params);
}

# cancel a run and end its processes
#   id (required): of the run
#   check: validate only; make no changes (dry run)
sub run_cancel {
    my ($self, %params) = @_;
    return $self->_call('run.cancel', [qw(id check)], [qw(id)], \%params);
}

# finish running attempts, start no new ones
#   id (required): of the run
#   check: validate only; make no changes (dry run)
sub run_pause {
    my ($self, %params) = @_;
    return $self->_call('run.pause', [qw(id check)], [qw(id)], \%params);
}

# undo run.pause
#   id (required): of the run
#   check: validate only; make no changes (dry run)
sub run_resume {
    my ($self, %params) = @_;
    return $self->_call('run.resume', [qw(id check)], [qw(id)], \%params);
}

# retry a run as a new run of the tasks that did not pass, from the phase that failed
#   id (required): of the run
#   environment: the submitter's variables, as in run.submit
#   new_judge: read the reviewer's prompt, guidelines, conventions and program again; default: those of the first run
#   new_setup: read run.setup, run.copy, run.setup_inputs and review.workspace again; default: those of the first run
#   from_scratch: take over no work: implement everything again
#   check: validate only; make no changes (dry run)
sub run_retry {
    my ($self, %params) = @_;
    return $self->_call('run.retry', [qw(id environment new_judge new_setup from_scratch check)], [qw(id)], \%params);
}

# judge once more what a run has made, as a new run
#   run (required): that made it
#   task: id of the task; default: each that has been worked on
#   reviewer_agent: default: the reviewer of the run
#   environment: the submitter's variables, as in run.submit
#   check: validate only; make no changes (dry run)
sub review_again {
    my ($self, %params) = @_;
    return $self->_call('review.again', [qw(run task reviewer_agent environment check)], [qw(run)], \%params);
}

# change the limits, priority or number of slots of an unfinished run, or add stories
#   id (required): of the run
#   priority: higher starts first
#   parallel: slots: tasks at work at a time
#   max_cost: cost limit of a run in US dollars, over all attempts; unset: no limit
#   max_tokens: token limit of a run, over all attempts; unset: no limit
#   max_wall: time limit of a run, counted from its start; unset: no limit
#   max_fixes: maximum number of fix rounds; 0: one review, no fix
#   timeout: time limit of one attempt; applies to reviews only if set by a submit
#   idle_timeout: time limit without progress; 0: no limit
#   disk_floor: free space below which no attempt starts; 0: no check
#   stories: the PRD by now: stories with new ids become tasks of a run of stories
#   check: validate only; make no changes (dry run)
sub run_change {
    my ($self, %params) = @_;
    return $self->_call('run.change', [qw(id priority parallel max_cost max_tokens max_wall max_fixes timeout idle_timeout disk_floor stories check)], [qw(id)], \%params);
}

# return the changes of a run or of one of its tasks
#   id (required): of the run
#   task: only what this task changed, compared with the base that it was judged on
#   offset: first byte to return
#   limit: maximum number of bytes
sub run_diff {
    my ($self, %params) = @_;
    return $self->_call('run.diff', [qw(id task offset limit)], [qw(id)], \%params);
}

# wait until all runs have ended or are held and their reports are written
#   ids (required): ids of the runs
#   timeout_ms: maximum time to wait; default: no limit
sub run_wait {
    my ($self, %params) = @_;
    return $self->_call('run.wait', [qw(ids timeout_ms)], [qw(ids)], \%params);
}

# list the attempts of a run
#   run (required): id of the run
#   limit: attempts per page; default: all
#   cursor: next of the previous page
sub attempt_list {
    my ($self, %params) = @_;
    return $self->_call('attempt.list', [qw(run limit cursor)], [qw(run)], \%params);
}

# return an attempt in detail
#   id (required): of the attempt
sub attempt_get {
    my ($self, %params) = @_;
    return $self->_call('attempt.get', [qw(id)], [qw(id)], \%params);
}

# return the output or input of an attempt
#   id (required): of the attempt
#   stream: stream to read; default stdout
#   offset: first byte to return, in the agent's original output
#   limit: maximum number of bytes
#   wait_ms: maximum time to wait for output where there is none at offset; default 0
sub attempt_output {
    my ($self, %params) = @_;
    return $self->_call('attempt.output', [qw(id stream offset limit wait_ms)], [qw(id)], \%params);
}

# return the last lines of an attempt, as interpreted by its reader
#   id (required): of the attempt
#   lines: maximum number of lines; default 3
sub attempt_preview {
    my ($self, %params) = @_;
    return $self->_call('attempt.preview', [qw(id lines)], [qw(id)], \%params);
}

# return output of an attempt as a conversation, as interpreted by its reader
#   id (required): of the attempt
#   offset: first byte of stdout to read; in the middle of a line: after that line
sub attempt_transcript {
    my ($self, %params) = @_;
    return $self->_call('attempt.transcript', [qw(id offset)], [qw(id)], \%params);
}

# return the review log of a run
#   run (required): id of the run
#   task: only reviews of this task
#   limit: reviews per page; default: all
#   cursor: next of the previous page
sub review_list {
    my ($self, %params) = @_;
    return $self->_call('review.list', [qw(run task limit cursor)], [qw(run)], \%params);
}

# export the review logs of a run
#   run (required): id of the run
sub review_export {
    my ($self, %params) = @_;
    return $self->_call('review.export', [qw(run)], [qw(run)], \%params);
}

# verify that the record of a run was not altered: rows, files, refs
#   run (required): id of the run
#   entry: number of an entry that an attestation names; with entry_hash
#   entry_hash: the hash of that entry, by the attestation
sub review_verify {
    my ($self, %params) = @_;
    return $self->_call('review.verify', [qw(run entry entry_hash)], [qw(run)], \%params);
}

# return the open findings of a run or a directory, and the dismissed and disputed ones
#   run: id of the run; this or workdir
#   task: only open findings of this task
#   workdir: of the runs in this directory or below it, newest first; an absolute path
#   state: only this list; the others are empty
#   limit: with workdir: runs per page; default 20
#   cursor: next of the previous page
sub finding_list {
    my ($self, %params) = @_;
    return $self->_call('finding.list', [qw(run task workdir state limit cursor)], [qw()], \%params);
}

# decide that a finding need not be fixed
#   run (required): id of the run
#   task: task of the finding; needed if several tasks have it
#   finding (required): id of an open finding
#   reason (required): why it need not be fixed: recorded, and given to fixers and reviewers
#   check: validate only; make no changes (dry run)
sub finding_dismiss {
    my ($self, %params) = @_;
    return $self->_call('finding.dismiss', [qw(run task finding reason check)], [qw(run finding reason)], \%params);
}

# return the products of a run: its base, its work, its results
#   run (required): id of the run
#   task: only this task, and what the tasks share
#   limit: rows per page; default: all
#   cursor: next of the previous page
sub product_list {
    my ($self, %params) = @_;
    return $self->_call('product.list', [qw(run task limit cursor)], [qw(run)], \%params);
}

# return what judged the products of a run
#   run (required): id of the run
#   task: only this task, and what the tasks share
#   limit: rows per page; default: all
#   cursor: next of the previous page
sub evidence_list {
    my ($self, %params) = @_;
    return $self->_call('evidence.list', [qw(run task limit cursor)], [qw(run)], \%params);
}

# return what rlctl attest signs: a statement for each commit that passed
#   id (required): id of the run
sub run_attest {
    my ($self, %params) = @_;
    return $self->_call('run.attest', [qw(id)], [qw(id)], \%params);
}

# list holds in pages
#   run: only holds of this run
#   state: only holds in this state
#   limit: holds per page; default 20
#   cursor: next of the previous page
sub hold_list {
    my ($self, %params) = @_;
    return $self->_call('hold.list', [qw(run state limit cursor)], [qw()], \%params);
}

# return a hold with the reviews that led to it
#   id (required): of the hold
sub hold_get {
    my ($self, %params) = @_;
    return $self->_call('hold.get', [qw(id)], [qw(id)], \%params);
}

# accept the work as it is
#   id (required): of the hold
#   message: reason; for rework: instructions
#   check: validate only; make no changes (dry run)
sub hold_approve {
    my ($self, %params) = @_;
    return $self->_call('hold.approve', [qw(id message check)], [qw(id)], \%params);
}

# fail the task
#   id (required): of the hold
#   message: reason; for rework: instructions
#   check: validate only; make no changes (dry run)
sub hold_reject {
    my ($self, %params) = @_;
    return $self->_call('hold.reject', [qw(id message check)], [qw(id)], \%params);
}

# fix the work and review it again
#   id (required): of the hold
#   message: reason; for rework: instructions
#   check: validate only; make no changes (dry run)
sub hold_rework {
    my ($self, %params) = @_;
    return $self->_call('hold.rework', [qw(id message check)], [qw(id)], \%params);
}

# answer what an agent asks; it continues with that
#   id (required): of the hold
#   message (required): the answer
#   check: validate only; make no changes (dry run)
sub hold_answer {
    my ($self, %params) = @_;
    return $self->_call('hold.answer', [qw(id message check)], [qw(id message)], \%params);
}

# list groups of runs and their slots
sub group_list {
    my ($self, %params) = @_;
    return $self->_call('group.list', [qw()], [qw()], \%params);
}

# set the number of slots of a group
#   name (required): name of the group
#   slots: maximum number of attempts at a time, over all its runs; default: from rld.toml
#   check: validate only; make no changes (dry run)
sub group_set {
    my ($self, %params) = @_;
    return $self->_call('group.set', [qw(name slots check)], [qw(name)], \%params);
}

# finish running attempts of a group, start no new ones
#   name (required): name of the group
#   check: validate only; make no changes (dry run)
sub group_pause {
    my ($self, %params) = @_;
    return $self->_call('group.pause', [qw(name check)], [qw(name)], \%params);
}

# undo group.pause
#   name (required): name of the group
#   check: validate only; make no changes (dry run)
sub group_resume {
    my ($self, %params) = @_;
    return $self->_call('group.resume', [qw(name check)], [qw(name)], \%params);
}

# list provider accounts with their cooldowns and spending
sub cooldown_list {
    my ($self, %params) = @_;
    return $self->_call('cooldown.list', [qw()], [qw()], \%params);
}

# put an account on cooldown: its agents wait
#   account (required): name of the account, such as anthropic or openai
#   until: end of the cooldown, an RFC 3339 time
#   for: length of the cooldown
#   reason: reason, shown to users whose runs wait
#   check: validate only; make no changes (dry run)
sub cooldown_set {
    my ($self, %params) = @_;
    return $self->_call('cooldown.set', [qw(account until for reason check)], [qw(account)], \%params);
}

# end the cooldown of an account: its agents continue
#   account (required): name of the account, such as anthropic or openai
#   check: validate only; make no changes (dry run)
sub cooldown_clear {
    my ($self, %params) = @_;
    return $self->_call('cooldown.clear', [qw(account check)], [qw(account)], \%params);
}

# list the work saved from removed work trees, in pages
#   run: only entries of this run
#   limit: entries per page; default 50
#   cursor: next of the previous page
sub salvage_list {
    my ($self, %params) = @_;
    return $self->_call('salvage.list', [qw(run limit cursor)], [qw()], \%params);
}

# return where git has the content of a removed work tree
#   id (required): of the salvage
sub salvage_get {
    my ($self, %params) = @_;
    return $self->_call('salvage.get', [qw(id)], [qw(id)], \%params);
}

# return a full report of a run, for programs and archives
#   id (required): of the run
sub run_report {
    my ($self, %params) = @_;
    return $self->_call('run.report', [qw(id)], [qw(id)], \%params);
}

# list events in pages
#   since: number of the last event already seen, 0 for all
#   limit: events per page; default 100
#   run: only events of this run
#   types: only events of these types
sub event_list {
    my ($self, %params) = @_;
    return $self->_call('event.list', [qw(since limit run types)], [qw()], \%params);
}

# subscribe to events, sent as notifications `event`; `gap` {from, to} where events are no longer kept; replaces an earlier subscription of the same name
#   since: number of the last event already seen, 0 for all; default: only new events
#   run: only events of this run
#   types: only events of these types
#   subscription: name of the subscription, sent with each of its notifications
sub event_subscribe {
    my ($self, %params) = @_;
    return $self->_call('event.subscribe', [qw(since run types subscription)], [qw()], \%params);
}

# end subscriptions
#   subscription: name of the subscription to end; default: all of this connection
sub event_unsubscribe {
    my ($self, %params) = @_;
    return $self->_call('event.unsubscribe', [qw(subscription)], [qw()], \%params);
}

# return the prompt that a role would get, before anything is paid
#   workdir (required): absolute path of the directory where the run would work
#   role (required): of the attempt that would get it
#   task: text of the task
#   review: review profile; default: as configured
sub prompt_show {
    my ($self, %params) = @_;
    return $self->_call('prompt.show', [qw(workdir role task review)], [qw(workdir role)], \%params);
}

# remove outputs, directories and refs of old runs; their rows and reviews stay
#   check: say what would go; make no changes (dry run)
#   older: instead of keep.age
#   failures: instead of keep.failures
#   number: instead of keep.number
#   size: instead of keep.size
#   unmerged: also runs whose results are on no branch but rld's; these branches stay
sub state_prune {
    my ($self, %params) = @_;
    return $self->_call('state.prune', [qw(check older failures number size unmerged)], [qw()], \%params);
}

1;
