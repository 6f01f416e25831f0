-- SPDX-License-Identifier: MIT

-- name: cooldown.put
INSERT INTO cooldown (account, kind, until, reason, attempt, set_by, created_at)
VALUES (:account, :kind, :until, :reason, :attempt, :set_by, :created_at)
ON CONFLICT (account) DO UPDATE SET kind = excluded.kind, until = excluded.until, reason = excluded.reason,
    attempt = excluded.attempt, set_by = excluded.set_by, created_at = excluded.created_at

-- name: cooldown.all rows: cooldown
SELECT * FROM cooldown ORDER BY account
