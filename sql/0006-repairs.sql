-- SPDX-License-Identifier: MIT
-- Repairs of what a run's result is and of what its parts are called.

PRAGMA user_version = 6;

-- Eight hex digits, made once: refs of the runs of this state directory have it in their names.
INSERT INTO setting (name, value) VALUES ('instance', lower(hex(randomblob(4)))) ON CONFLICT (name) DO NOTHING;

-- NULL: the run began before there were any, and its refs have no such part.
ALTER TABLE run ADD COLUMN instance TEXT;

-- What appeared in the work tree during reviews: a tree of such files.
ALTER TABLE slot ADD COLUMN beside TEXT;

-- HEAD of a shared work tree where the run, and where the work of a slot, began.
ALTER TABLE run ADD COLUMN head TEXT;
ALTER TABLE slot ADD COLUMN head TEXT;

-- What a source says of its tasks as a whole.
ALTER TABLE run ADD COLUMN feature TEXT;

-- What holds a run or a slot up from outside: a fault of the host, a source that fails for a while.
ALTER TABLE run ADD COLUMN wait TEXT NOT NULL DEFAULT 'nothing';
ALTER TABLE run ADD COLUMN wait_reason TEXT;
ALTER TABLE run ADD COLUMN wait_since INTEGER;
ALTER TABLE run ADD COLUMN wait_until INTEGER;
ALTER TABLE slot ADD COLUMN wait TEXT NOT NULL DEFAULT 'nothing';
ALTER TABLE slot ADD COLUMN wait_reason TEXT;
ALTER TABLE slot ADD COLUMN wait_since INTEGER;
ALTER TABLE slot ADD COLUMN wait_until INTEGER;

-- What its file HEAD had in it then: the branch.
ALTER TABLE run ADD COLUMN head_at TEXT;
ALTER TABLE slot ADD COLUMN head_at TEXT;
