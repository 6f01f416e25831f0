-- SPDX-License-Identifier: MIT

-- Once only, like a review.
-- name: judge.put
INSERT INTO judge (run, profile, reviewer, guidelines, conventions, files, kept_from)
VALUES (:run, :profile, :reviewer, :guidelines, :conventions, :files, :kept_from)

-- name: judge.get rows: judge
SELECT * FROM judge WHERE run = :run
