import type { DeliveryDetail } from '@parley/contract/console/deliveries'
import { expect, test } from 'vitest'
import { deliveryStateText } from './labels.ts'

test.each([
  [8, 8, 'All 8 attempts failed. There are no more automatic retries.'],
  [1, 1, 'Failed after 1 attempt. There are no more automatic retries.'],
  [3, 8, 'Failed after 3 attempts. There are no more automatic retries.'],
])('a delivery that failed after %s of %s attempts says so', (attempts, attempts_max, text) => {
  const delivery = { state: 'failed', attempts, attempts_max, under_way: false } as DeliveryDetail
  expect(deliveryStateText(delivery)).toBe(text)
})
