-- SPDX-License-Identifier: MIT
-- Texts that many rows have, see store/shared_text.h.

-- name: plan.add
INSERT INTO plan (hash, text) VALUES (:hash, :text) ON CONFLICT DO NOTHING

-- name: plan.text
SELECT text FROM plan WHERE hash = :hash
