-- SPDX-License-Identifier: MIT
-- Where the agent of an attempt was placed: the launcher, NULL: none; and the machine, as the launcher's side calls it, NULL: not
-- known.

PRAGMA user_version = 29;

ALTER TABLE attempt ADD COLUMN launcher TEXT;
ALTER TABLE attempt ADD COLUMN node TEXT;
