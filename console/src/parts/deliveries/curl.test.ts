import { execFileSync } from 'node:child_process'
import type { Attempt } from '@parley/contract/console/deliveries'
import { expect, test } from 'vitest'
import { attemptToCurl } from './curl.ts'

const attempt = {
  at: '2026-11-16T09:00:00.900Z',
  signatures: { service_signature: 't=1794819600,v1=abc', webhook_signature: 'v1,def=' },
} as Attempt
const delivery = {
  event_id: '0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d',
  event_type: 'message.received',
  webhook_url: 'https://example.com/hook?a=1&b=$(id)',
  custom_headers: ['x-api-key'],
}

/** The arguments that a shell passes to curl. */
const argumentsOf = (command: string): string[] =>
  execFileSync('sh', ['-c', `curl() { for each in "$@"; do printf '%s\\0' "$each"; done; }\n${command}`])
    .toString()
    .split('\0')
    .slice(0, -1)

test('the command has the URL, the headers as they were sent and the body, whatever the shell would do with them', () => {
  const body = `{"text":"it's $HOME \`id\` \\" \\\\ !! @file\n"}`
  expect(argumentsOf(attemptToCurl(delivery, body, attempt))).toEqual([
    'https://example.com/hook?a=1&b=$(id)',
    ...[
      'Content-Type: application/json',
      'Service-Event: message.received',
      'Service-Delivery: 0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d',
      'Service-Signature: t=1794819600,v1=abc',
      'Webhook-Id: 0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d',
      'Webhook-Timestamp: 1794819600',
      'Webhook-Signature: v1,def=',
      'x-api-key: <value>',
    ].flatMap((header) => ['-H', header]),
    '--data-raw',
    body,
  ])
})

test('curl must not read brackets in a URL as a pattern', () => {
  const command = attemptToCurl({ ...delivery, webhook_url: 'http://[::1]:80/{a}' }, '{}', attempt)
  expect(argumentsOf(command).slice(0, 2)).toEqual(['--globoff', 'http://[::1]:80/{a}'])
})
