-- SPDX-License-Identifier: MIT
-- Findings that fixers disputed: a JSON array, see core/dispute.h; NULL: none. What the agent of a slot asks a human, the
-- attempt that asked, and the answer.

PRAGMA user_version = 25;

ALTER TABLE run ADD COLUMN disputed TEXT;

ALTER TABLE slot ADD COLUMN question TEXT;
ALTER TABLE slot ADD COLUMN question_attempt INTEGER;
ALTER TABLE slot ADD COLUMN reply TEXT;
