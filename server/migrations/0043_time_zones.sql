-- The time zone in which a person sees the console. Null: that of the browser.

-- step: transaction
alter table people add column time_zone text;
