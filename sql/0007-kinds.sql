-- SPDX-License-Identifier: MIT
-- Why something ended or waits, for programs: a kind beside each sentence.

PRAGMA user_version = 7;

-- NULL exactly where cause is; of a task, where reason is.
ALTER TABLE run ADD COLUMN end_kind TEXT;
ALTER TABLE slot ADD COLUMN end_kind TEXT;
ALTER TABLE task ADD COLUMN end_kind TEXT;
ALTER TABLE attempt ADD COLUMN end_kind TEXT;

-- NULL exactly where reason is.
ALTER TABLE run ADD COLUMN wait_kind TEXT;
ALTER TABLE slot ADD COLUMN wait_kind TEXT;

-- Who accepted what no verdict has passed.
ALTER TABLE slot ADD COLUMN accepted TEXT;

-- What nothing holds up has no kind here either.
ALTER TABLE run RENAME COLUMN wait TO wait_was;
ALTER TABLE run ADD COLUMN wait TEXT;
UPDATE run SET wait = wait_was WHERE wait_was <> 'nothing';
ALTER TABLE run DROP COLUMN wait_was;
ALTER TABLE slot RENAME COLUMN wait TO wait_was;
ALTER TABLE slot ADD COLUMN wait TEXT;
UPDATE slot SET wait = wait_was WHERE wait_was <> 'nothing';
ALTER TABLE slot DROP COLUMN wait_was;

-- How the sentences of earlier versions begin. The first that fits counts; a cause that none fits is an error, a reason 'other'.
CREATE TEMP TABLE end_pattern (pattern TEXT NOT NULL, kind TEXT NOT NULL);
INSERT INTO end_pattern VALUES
	('accepted: human:*', 'approved'),
	('accepted: *', 'waived'),
	('known issues: *', 'known-issues'),
	('rejected by *', 'rejected'),
	('not reviewed: *', 'not-reviewed'),
	('reviewer contract violation: *', 'violation'),
	('limit: *', 'limit'),
	('lost*', 'lost'),
	('host: *', 'host'),
	('stalled: *', 'stalled'),
	('check `*', 'check'),
	('the conflict with another task is not resolved*', 'conflict'),
	('this work conflicts with that of another task*', 'conflict'),
	('* is checked out in *, so nothing is put on it*', 'conflict'),
	('the commit was refused by a hook of the repository*', 'commit-refused'),
	('the implementer changed nothing and did not say *', 'no-change'),
	('cancelled*', 'cancelled'),
	('run [0-9]*, which it comes after, *', 'after'),
	('retried as run *', 'retried'),
	('stop-marker: *', 'stop-marker'),
	('nothing was picked: *', 'not-picked'),
	('[0-9]* task(s) left*', 'tasks-left'),
	('git * failed: *', 'git'),
	('load of * failed: *', 'source'),
	('claim of * failed: *', 'source'),
	('close of * failed: *', 'source'),
	('release of * failed: *', 'source'),
	('taken: *', 'taken'),
	('run [0-9]* works on it', 'taken'),
	('it passed in run *', 'done'),
	('its source *', 'source'),
	('depends on *', 'dependency'),
	('waits for *', 'dependency'),
	('given back: *', 'stop-marker'),
	('not started: *', 'not-begun'),
	('[a-z]* process was denied permissions and changed nothing*', 'denied'),
	('[a-z]* process could not be started: *', 'not-started'),
	('[a-z]* process timed out after *', 'timeout'),
	('[a-z]* process printed nothing for *', 'timeout'),
	('[a-z]* process made no progress for *', 'timeout'),
	('[a-z]* process *', 'error'),
	('max review rounds *', 'exhausted'),
	('Review failed after *', 'exhausted'),
	('[^ ]* unresolved after *', 'exhausted');
UPDATE run SET end_kind = ifnull((SELECT kind FROM end_pattern WHERE run.cause GLOB pattern ORDER BY rowid LIMIT 1), 'error')
WHERE cause IS NOT NULL;
UPDATE slot SET end_kind = ifnull((SELECT kind FROM end_pattern WHERE slot.cause GLOB pattern ORDER BY rowid LIMIT 1), 'error')
WHERE cause IS NOT NULL;
UPDATE task SET end_kind = ifnull((SELECT kind FROM end_pattern WHERE task.reason GLOB pattern ORDER BY rowid LIMIT 1), 'error')
WHERE reason IS NOT NULL;
UPDATE attempt SET end_kind = ifnull((SELECT kind FROM end_pattern WHERE attempt.cause GLOB pattern ORDER BY rowid LIMIT 1), 'error')
WHERE cause IS NOT NULL;
DROP TABLE end_pattern;

CREATE TEMP TABLE wait_pattern (pattern TEXT NOT NULL, kind TEXT NOT NULL);
INSERT INTO wait_pattern VALUES
	('all slots of the daemon are in use', 'permit'),
	('workdir busy: *', 'workspace'),
	('waits for run *', 'after'),
	('group * is paused', 'group-paused'),
	('group *', 'group'),
	('account *', 'account'),
	('retry * of * at *', 'retry'),
	('budget: *', 'budget'),
	('host: *', 'host'),
	('source: *', 'source'),
	('waiting for disk space: *', 'space'),
	('waiting to spawn *', 'pick'),
	('paused', 'paused'),
	('paused by *', 'paused'),
	('the daemon is draining', 'draining'),
	('preparing', 'preparing'),
	('pausing between iterations', 'pause'),
	('waits for *', 'loading'),
	('cancelling', 'cancelling'),
	('not reviewed: *', 'not-reviewed'),
	('given back: *', 'released'),
	('no task: *', 'taken'),
	('not started: *', 'unassigned'),
	('accepted: *', 'decision'),
	('known issues: *', 'decision');
UPDATE run SET wait_kind = CASE state WHEN 'held' THEN 'decision'
	ELSE ifnull((SELECT kind FROM wait_pattern WHERE run.reason GLOB pattern ORDER BY rowid LIMIT 1), 'other') END
WHERE reason IS NOT NULL;
UPDATE slot SET wait_kind = ifnull((SELECT kind FROM wait_pattern WHERE slot.reason GLOB pattern ORDER BY rowid LIMIT 1), 'other')
WHERE reason IS NOT NULL;
DROP TABLE wait_pattern;

-- A slot whose commit agent is lost keeps in its reason that it was accepted.
UPDATE slot SET accepted = CASE
	WHEN end_kind = 'approved' OR (stage = 'held' AND reason GLOB 'accepted: human:*') THEN 'human'
	WHEN end_kind = 'waived' OR (stage = 'held' AND reason GLOB 'accepted: *') THEN 'policy'
	WHEN end_kind = 'known-issues' OR (stage = 'held' AND reason GLOB 'known issues: *') THEN 'known-issues' END;
