update webhooks set next_attempt_at = pg_temp.at(5), staged_secret_sealed = 'sealed staged secret',
  staged_secret_hint = 'whsec_new1...new2', secret_changed_at = pg_temp.at(4);
