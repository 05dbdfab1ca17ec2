<?php

declare(strict_types=1);

require __DIR__ . '/verify.php';

$all = json_decode((string) file_get_contents(__DIR__ . '/../vectors.json'), true, 512, JSON_THROW_ON_ERROR);
$failures = [];
foreach ($all['service_signature'] as $each) {
    $result = 'valid';
    try {
        $header = $each['headers']['service-signature'] ?? null;
        $body = (string) base64_decode($each['body_base64'], true);
        Parley\verify($body, $header, $each['secrets'], $all['tolerance_seconds'], $all['now']);
    } catch (Parley\InvalidDelivery $error) {
        $result = $error->reason;
    }
    if ($result !== $each['result']) {
        $failures[] = "{$each['name']}: $result instead of {$each['result']}";
    }
}

foreach ([[], '', ['whsec_x', '']] as $none) {
    try {
        Parley\verify('', 't=1', $none);
        $failures[] = 'a missing secret was accepted';
    } catch (InvalidArgumentException) {
    }
}

$now = time();
Parley\verify('{}', "t=$now,v1=" . hash_hmac('sha256', "$now.{}", 'whsec_x'), 'whsec_x');

if (count($all['service_signature']) < 40) {
    $failures[] = 'vectors are missing';
}
echo $failures === [] ? count($all['service_signature']) . " vectors passed\n" : implode("\n", $failures) . "\n";
exit($failures === [] ? 0 : 1);
