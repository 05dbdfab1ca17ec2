insert into failed_sign_ins (person_id, began_at, failures)
select pg_temp.id('person', w), pg_temp.at(1), 7 from generate_series(1, 2) as w;
