insert into announced_expiries (subject_id, expires_at, workspace_id)
select pg_temp.id('key', w), pg_temp.at(9), pg_temp.id('workspace', w) from generate_series(1, 2) as w;

insert into mails (id, kind, recipient, workspace_id, data, secret_sealed, created_at, due_at, expires_at, attempts, error)
select pg_temp.id('mail', w), 'invitation', 'bea@example.com', pg_temp.id('workspace', w), '{}', 'k1:sealed', pg_temp.at(1),
  pg_temp.at(1), pg_temp.at(8), 1, 'timeout'
from generate_series(1, 2) as w;

insert into mail_counts (subject, kind, hour, count) values ('\x01', 'invitation', pg_temp.at(1), 1);

insert into mail_choices (person_id, kind, wanted) values (pg_temp.id('person', 1), 'credits_low', false);

update connections set token_expires_at = pg_temp.at(60);
