update messages set pricing = '{"category":"utility","type":"regular","model":"PMP"}'
where id in (select id from messages order by id limit 2);
update early_statuses set pricing = '{"category":"service","type":null,"model":"CBP"}';
