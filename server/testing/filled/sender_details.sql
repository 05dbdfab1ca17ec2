update senders set messaging_limit = 'TIER_2K', name_status = 'APPROVED', requested_name = 'Shop Two',
  requested_name_status = 'PENDING_REVIEW', verification_status = 'VERIFIED', has_pin = true;
