-- How the network billed a message: {category, type, model}. Adding a nullable column takes a lock for an instant only.
alter table messages add column pricing json;
alter table early_statuses add column pricing json;
