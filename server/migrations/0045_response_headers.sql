-- The headers of a receiver's response, and the signatures that it was sent.
--
-- Processes of the version before leave both null. If one of them erases a person, it removes the bodies of the responses
-- and leaves the headers of attempts that processes of this version made. Those are deleted with the attempts, after
-- PARLEY_RETENTION_DAYS.

-- step: transaction
-- Null columns without a default: the table is locked for milliseconds and not rewritten.
alter table delivery_attempts
  -- One in a line, at most 4 KiB, without the values of cookies. Null if there was no response, and once a person is erased.
  add column response_headers text,
  -- The values of Service-Signature and Webhook-Signature, one in a line.
  add column signatures text;
