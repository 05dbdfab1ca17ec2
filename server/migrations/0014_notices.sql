-- What the network reports about templates.

-- Adding a column without a default takes a short exclusive lock and rewrites nothing.
alter table templates
  -- The network's kind of template, such as ORDER_STATUS. Null until the next sync, or if the network names none.
  add column sub_category text;
