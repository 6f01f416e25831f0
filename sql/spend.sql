-- SPDX-License-Identifier: MIT

-- name: spend.put
INSERT INTO spend (account, day, attempts, cost_usd, tokens, wall_ms)
VALUES (:account, :day, :attempts, :cost_usd, :tokens, :wall_ms)
ON CONFLICT (account, day) DO UPDATE SET attempts = excluded.attempts, cost_usd = excluded.cost_usd, tokens = excluded.tokens,
    wall_ms = excluded.wall_ms

-- Of each account the newest days, also those that have not come: a clock may be wrong when they are read, and is right later.
-- name: spend.recent rows: spend
SELECT account, day, attempts, cost_usd, tokens, wall_ms
FROM (SELECT *, row_number() OVER (PARTITION BY account ORDER BY day DESC) AS place FROM spend)
WHERE place <= 8
ORDER BY account, day
