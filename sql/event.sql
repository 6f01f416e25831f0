-- SPDX-License-Identifier: MIT

-- seq is given by the store inside the transaction.
-- name: event.put
INSERT INTO event (seq, time, type, run, body) VALUES (:seq, :time, :type, :run, :body)

-- Above :since, at most :limit.
-- name: event.since rows: event
SELECT * FROM event WHERE seq > :since ORDER BY seq LIMIT :limit

-- Likewise, of :run and of :types, an array; NULL: any.
-- name: event.list rows: event
SELECT * FROM event WHERE seq > :since AND (:run IS NULL OR run = :run)
    AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
ORDER BY seq LIMIT :limit

-- name: event.first rows: event
SELECT seq FROM event ORDER BY seq LIMIT 1

-- name: event.last rows: event
SELECT seq FROM event ORDER BY seq DESC LIMIT 1

-- name: event.trim
DELETE FROM event WHERE seq < :first
