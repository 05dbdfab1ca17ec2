update people set disabled_at = pg_temp.at(2);

update challenges set link_id = pg_temp.id('link invite', 1);

insert into account_tries (person_id, opened_at, failures) values (pg_temp.id('person', 1), pg_temp.at(1), 3);
