-- SPDX-License-Identifier: MIT
-- What reviewers hand over in files, and the rest of what an attempt was given and wrote.

PRAGMA user_version = 16;

ALTER TABLE attempt ADD COLUMN given_hash TEXT;
ALTER TABLE attempt ADD COLUMN stderr_hash TEXT;
ALTER TABLE attempt ADD COLUMN carrier_hash TEXT;
ALTER TABLE attempt ADD COLUMN carrier_fault TEXT;
