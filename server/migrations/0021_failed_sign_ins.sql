-- Failed sign-ins of a person within an hour. The first ones have an audit entry each; the others are only counted here,
-- and one entry says how many there were.
create table failed_sign_ins (
  person_id uuid primary key references people on delete cascade,
  began_at timestamptz not null,
  failures int not null
);

-- The audit log has triggers that refuse changes. Without the privilege, the service cannot even try. Takes no lock on the
-- table.
revoke update, delete, truncate on audit_entries from current_user;
