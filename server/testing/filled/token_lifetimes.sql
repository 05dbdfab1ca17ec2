update connections set token_seen_at = pg_temp.at(1);
