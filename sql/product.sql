-- SPDX-License-Identifier: MIT
-- Inserts only, as in review.sql.

-- name: product.put
INSERT INTO product (run, number, kind, task_id, tree, parent, attempt, from_run, from_product, created_at, previous_hash, hash,
    diff, diff_hash)
VALUES (:run, :number, :kind, :task_id, :tree, :parent, :attempt, :from_run, :from_product, :created_at, :previous_hash, :hash,
    :diff, :diff_hash)

-- name: product.unfinished rows: product
SELECT product.* FROM run CROSS JOIN product ON product.run = run.id
WHERE run.state NOT IN ('succeeded', 'failed', 'cancelled')
ORDER BY run.id, number

-- Pages by :after. Also numbers below 1, as in run.reviews.
-- name: run.products rows: product
SELECT number AS after, * FROM product
WHERE run = :run AND number >= ifnull(:after + 1, -9223372036854775808)
ORDER BY number
