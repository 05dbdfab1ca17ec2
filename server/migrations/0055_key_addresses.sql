-- An invalid key is matched by its hint only, not by the IP address that it came from.

-- step: concurrently
drop index concurrently key_usage_by_address;
