insert into health_samples (at, deliveries_waiting, deliveries_overdue, messages_waiting, events, connections,
  transaction_ms, database_bytes, disk_free_bytes)
values (pg_temp.at(4), 3, 1, 2, 40, 12, 1.5, 17000000, 90000000000);
