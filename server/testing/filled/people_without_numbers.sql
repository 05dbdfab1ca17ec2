update messages set recipient_user_id = 'US.1';

insert into early_statuses (sender_id, workspace_id, wa_message_id, status, occurred_at, recorded_at, recipient_user_id)
select pg_temp.id('sender', w), pg_temp.id('workspace', w), 'wamid.early.2', 'sent', pg_temp.at(1), pg_temp.at(1), 'US.1'
from generate_series(1, 2) as w;

insert into user_id_changes (workspace_id, old_user_id, new_user_id, changed_number, number, changed_at)
select pg_temp.id('workspace', w), 'US.1', 'US.2', true, '16505550999', pg_temp.at(1) from generate_series(1, 2) as w;
