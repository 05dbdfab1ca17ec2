-- Two set-ups at the same time stored a Meta app twice. The oldest keeps the ID; the others are as apps without one.
-- few rows: one for each app
update apps a set meta_app_id = null where meta_app_id is not null and exists (
  select from apps b
  where b.graph_url = a.graph_url and b.meta_app_id = a.meta_app_id and (b.created_at, b.id) < (a.created_at, a.id));

-- step: concurrently
create unique index concurrently apps_by_meta_app_id on apps (graph_url, meta_app_id) where meta_app_id is not null;
