-- Statuses change messages without changing their indexes.
--
-- PostgreSQL writes a new version of a row into the same page, without an entry in any index (a heap-only update), if no
-- indexed column has changed. A column counts as indexed if an index only includes it or has it in its condition. The
-- status was in these two, so each status added an entry to every index of messages.
--
-- While a process of the version before runs, its results are correct. It counts the messages of the overview by reading
-- them, and so it finds queued messages.
--
-- Locks: none that stop reading or writing.

-- step: concurrently
drop index concurrently messages_by_workspace;

-- step: concurrently
drop index concurrently messages_by_rare_status;
