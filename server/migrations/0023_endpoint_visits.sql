-- Claims take from every endpoint in turn, and a workspace has a limit on its endpoints.
--
-- Locks: workspaces exclusively, for a moment (a new column with a constant default).

-- When a claim looks at an endpoint. The statement that makes a delivery due adds a visit, unless one with step 0 is
-- planned by then. Rows are only added and deleted, so no transaction waits for another. A claim deletes the visits it
-- makes, oldest first, and adds the next one of each endpoint. An endpoint without open deliveries, or with held ones
-- only, has no visits.
create table endpoint_visits (
  webhook_id uuid not null,
  workspace_id uuid not null,
  visit_at timestamptz not null,
  -- 0: the next visit. 1 and 2: a claim found nothing more and looks again, for deliveries that were not committed yet.
  step smallint not null default 0
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
create index endpoint_visits_by_time on endpoint_visits (visit_at);
create index endpoint_visits_next on endpoint_visits (webhook_id, visit_at) where step = 0;
select isolate_workspace('endpoint_visits', 'workspace_id');

alter table workspaces add column endpoints_max int not null default 100 check (endpoints_max > 0);
