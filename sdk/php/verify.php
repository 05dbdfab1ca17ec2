<?php

declare(strict_types=1);

namespace Parley;

/*
 * Verifies Parley's webhooks. It is one file without dependencies: copy it into your project. PHP 8.0 or later.
 *
 *   $rawBody = (string) file_get_contents('php://input');
 *   try {
 *       Parley\verify($rawBody, $_SERVER['HTTP_SERVICE_SIGNATURE'] ?? null, (string) getenv('PARLEY_WEBHOOK_SECRET'));
 *   } catch (Parley\InvalidDelivery $error) {
 *       http_response_code(400);
 *       exit($error->getMessage());
 *   }
 *   http_response_code(204); // respond first, then process the event
 *   $event = json_decode($rawBody, true);
 */

final class InvalidDelivery extends \RuntimeException
{
    /** @param string $reason missing_header, malformed_header, timestamp_too_old, timestamp_in_future or no_match */
    public function __construct(public string $reason, string $message)
    {
        parent::__construct($message);
    }
}

/**
 * Throws InvalidDelivery unless the delivery is genuine and recent. $rawBody is the unparsed body: JSON that was parsed and
 * serialized again does not match. $header is the value of Service-Signature. While you rotate the secret, pass both.
 *
 * @param string|list<string> $secrets
 */
function verify(string $rawBody, ?string $header, string|array $secrets, int $tolerance = 300, ?int $now = null): void
{
    $secrets = (array) $secrets;
    if ($secrets === [] || in_array('', $secrets, true)) {
        throw new \InvalidArgumentException('The signing secret is not set.');
    }
    if ($header === null) {
        throw new InvalidDelivery('missing_header', 'The header Service-Signature is missing.');
    }
    $times = [];
    $signatures = [];
    foreach (explode(',', $header) as $part) {
        if (preg_match('/^t=([0-9]{1,12})$/D', trim($part), $match)) {
            $times[] = $match[1];
        } elseif (preg_match('/^v1=([0-9a-f]{64})$/D', trim($part), $match)) {
            $signatures[] = $match[1];
        }
    }
    // Eight signatures are more than a sender needs, and few enough that checking each is cheap.
    if (count($times) !== 1 || $signatures === [] || count($signatures) > 8) {
        throw new InvalidDelivery('malformed_header', 'The header Service-Signature is malformed. Expected "t=<seconds>,v1=<hex>".');
    }
    $age = ($now ?? time()) - (int) $times[0];
    if ($age > $tolerance) {
        throw new InvalidDelivery('timestamp_too_old', 'The delivery was signed too long ago.');
    }
    if ($age < -$tolerance) {
        throw new InvalidDelivery('timestamp_in_future', 'The delivery was signed in the future. Check the clock of this machine.');
    }
    // There are two signatures during a staged rotation. One of them has to match.
    foreach ($secrets as $secret) {
        $expected = hash_hmac('sha256', $times[0] . '.' . $rawBody, $secret);
        foreach ($signatures as $signature) {
            if (hash_equals($expected, $signature)) {
                return;
            }
        }
    }
    throw new InvalidDelivery('no_match', 'The signature does not match the body and the secret.');
}
