-- How long an access token lasts, to say in time that it expires.

-- step: transaction
-- When this expiry was first seen. Null if that was before this version, or if the token does not expire.
alter table connections add column token_seen_at timestamptz;
