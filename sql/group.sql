-- SPDX-License-Identifier: MIT

-- name: group.put
INSERT INTO "group" (name, slots, paused) VALUES (:name, :slots, :paused)
ON CONFLICT (name) DO UPDATE SET slots = excluded.slots, paused = excluded.paused

-- name: group.all rows: group
SELECT * FROM "group" ORDER BY name
