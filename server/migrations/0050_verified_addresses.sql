-- Whether the owner of an email address set the password of its account, with a link that was sent to the address and shown to no one.
-- Accounts and links without a value count as unverified, also those of processes that do not write it.
--
-- Locks: people and links against everything, for a moment (new columns without a value or with a constant).

-- step: transaction
alter table people add column email_verified_at timestamptz;

-- step: transaction
alter table links add column mailed boolean not null default false;
