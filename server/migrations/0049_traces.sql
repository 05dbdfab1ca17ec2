-- The trace that the request of a message belongs to, if its client sent one. See docs/decisions/tracing.md.
--
-- Locks: messages against everything, for a moment (a new column without a value).

-- step: transaction
alter table messages add column traceparent text;
