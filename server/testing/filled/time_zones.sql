update people set time_zone = 'Asia/Kolkata' where id = pg_temp.id('person', 1);
