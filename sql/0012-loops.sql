-- SPDX-License-Identifier: MIT
-- Whether a round comes back to an earlier one.

PRAGMA user_version = 12;

-- The rounds whose work was sent back: JSON, see core/rounds.h.
ALTER TABLE slot ADD COLUMN rounds TEXT;

-- Id of the finding that a failed check is.
ALTER TABLE attempt ADD COLUMN finding TEXT;
