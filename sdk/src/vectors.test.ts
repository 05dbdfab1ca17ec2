import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Vector, Vectors } from '../../scripts/webhook-vectors.ts'
import { verifyWebhook } from './verify.ts'

const vectors: Vectors = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'vectors.json'), 'utf8'))
const { now, tolerance_seconds: toleranceSeconds } = vectors

const resultOf = ({ body_base64, headers, secrets }: Vector) =>
  verifyWebhook(Buffer.from(body_base64, 'base64'), headers, secrets, { nowMs: now * 1000, toleranceSeconds }).then(
    () => 'valid',
    ({ reason }) => reason,
  )

test.each([
  ['Service-Signature', vectors.service_signature],
  ['Standard Webhooks', vectors.standard_webhooks],
])('verifyWebhook passes the vectors of %s', async (_scheme, each) => {
  const results = await Promise.all(each.map(async (one) => [one.name, await resultOf(one)]))
  const expected = each.map(({ name, result, is_event }) => [
    name,
    result === 'valid' && !is_event ? 'invalid_json' : result,
  ])
  expect(results).toEqual(expected)
})
