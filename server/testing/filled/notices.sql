update templates set sub_category = 'CUSTOM';
