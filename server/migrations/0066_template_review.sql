-- WhatsApp's words about the status of a template, `{reason, recommendation}`: why it was rejected or paused. Null if it sent none.
alter table templates add column status_info json;
