update templates set sub_category = 'CUSTOM';
update connections set status = 'RESTRICTED', status_reason = 'restricted', status_until = pg_temp.at(3), status_at = pg_temp.at(2);
update senders set status_reason = 'restricted';

insert into marketing_preferences (sender_id, person, workspace_id, user_id, marketing, changed_at)
select pg_temp.id('sender', w), '16505550123', pg_temp.id('workspace', w), 'US.1', 'stop', pg_temp.at(1)
from generate_series(1, 2) as w;
