-- The state of the installation every few minutes, for the charts of the health page.
create table health_samples (
  at timestamptz primary key,
  deliveries_waiting int not null,
  deliveries_overdue int not null,
  messages_waiting int not null,
  -- Published since the sample before.
  events int not null,
  -- To the database, by any program.
  connections int not null,
  -- How long a short transaction took.
  transaction_ms real not null,
  database_bytes bigint not null,
  -- Null: the database is not on the machine of the service.
  disk_free_bytes bigint
);
