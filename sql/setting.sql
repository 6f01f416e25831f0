-- SPDX-License-Identifier: MIT

-- name: setting.put
INSERT INTO setting (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: setting.get rows: setting
SELECT * FROM setting WHERE name = :name
