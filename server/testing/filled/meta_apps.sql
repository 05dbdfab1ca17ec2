insert into apps (id, name, graph_url, meta_app_id, app_secret_sealed, verify_token_sealed, created_at)
values
  (pg_temp.id('app', 2), 'App with ID', 'https://graph.example.com', '600000000000001', 'k1:sealed', 'k1:sealed', pg_temp.at(1));
