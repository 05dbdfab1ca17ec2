-- A message or a row of the contact list finds the choice that a person made under a user ID. Without the index, it reads
-- every choice that was made for the sender.
-- step: concurrently
create index concurrently marketing_preferences_by_user on marketing_preferences (sender_id, user_id) where user_id is not null;
