update people set email_verified_at = pg_temp.at(2);
update links set mailed = true where kind = 'invite';
