update messages set pricing = '{"category":"utility","type":"regular","model":"PMP"}'
where id in (select id from messages order by id limit 2);
update early_statuses set pricing = '{"category":"service","type":null,"model":"CBP"}';

insert into unknown_numbers (app_id, waba_id, phone_number_id, updates, first_seen_at, last_seen_at)
select id, 'account 9', 'number 9', 3, pg_temp.at(4), pg_temp.at(5) from apps;
