-- SPDX-License-Identifier: MIT

-- name: spend.put
INSERT INTO spend (account, day, attempts, cost_usd, tokens, wall_ms)
VALUES (:account, :day, :attempts, :cost_usd, :tokens, :wall_ms)
ON CONFLICT (account, day) DO UPDATE SET attempts = excluded.attempts, cost_usd = excluded.cost_usd, tokens = excluded.tokens,
    wall_ms = excluded.wall_ms

-- Of each account the newest day that is none of the future: an older one is no day's budget any more.
-- name: spend.last rows: spend
SELECT * FROM spend
WHERE day = (SELECT max(day) FROM spend AS other WHERE other.account = spend.account AND other.day <= unixepoch() / 86400 + 1)
ORDER BY account
