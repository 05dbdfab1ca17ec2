update templates set status_info = '{"reason": "The content does not fit the category.", "recommendation": "Choose MARKETING."}';
