-- What a sync reads about a number besides its status and quality rating. Null until the next sync, or if WhatsApp does not say.
alter table senders
  add column messaging_limit text,
  add column name_status text,
  add column requested_name text,
  add column requested_name_status text,
  add column verification_status text,
  add column has_pin boolean;
