-- Turns on row-level security for a table: a connection sees only the rows of the workspace in the setting
-- parley.workspace, or all rows if the setting is 'all'. It was named wall_off before.
alter function wall_off(regclass, text) rename to isolate_workspace;
