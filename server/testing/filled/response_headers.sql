update delivery_attempts set response_headers = 'content-type: text/plain', signatures = E't=1,v1=a\nv1,b';
