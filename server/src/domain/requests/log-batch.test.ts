import { expect, test } from 'vitest'
import type { RequestRecord } from '../../lib/access-check.ts'
import { newUuid } from '../../lib/ids.ts'
import { dayOf, LogBatch } from './log-batch.ts'

const at = new Date('2026-11-15T09:00:00.000Z')
const recordOf = (more: Partial<RequestRecord> = {}): RequestRecord => ({
  id: newUuid(),
  at,
  caller: { workspaceId: newUuid(), keyId: null },
  method: 'GET',
  route: '/v1/me',
  status: 200,
  code: null,
  durationUs: 12,
  address: '192.0.2.1',
  userAgent: 'longer than the limit for byte-by-byte encoding, and not ASCII: ☺',
  ...more,
})

const batchOf = (records: readonly RequestRecord[]): LogBatch => {
  const batch = new LogBatch(dayOf(at))
  for (const record of records) batch.add(record)
  return batch
}

test('filtering a batch gives the same bytes as a new batch of those records', () => {
  const records = Array.from({ length: 7 }, (_, index) => recordOf({ code: index % 3 === 0 ? 'not_found' : null }))
  const batch = batchOf(records)
  const parts = [...batch.halves(), batch.filter((index) => index % 2 === 1)]
  const expected = [records.slice(0, 3), records.slice(3), records.filter((_, index) => index % 2 === 1)]
  for (const [index, part] of parts.entries()) {
    const partRecords = expected[index] as RequestRecord[]
    expect(part.bytes.equals(batchOf(partRecords).bytes)).toBe(true)
    expect(part.failed).toEqual(partRecords.filter(({ code }) => code !== null))
    expect([...part.countByWorkspace()]).toEqual(partRecords.map(({ caller }) => [caller?.workspaceId, 1]))
    expect(partRecords.map((_, row) => part.idOf(row))).toEqual(partRecords.map(({ id }) => id))
  }
})

test('a record that cannot be encoded leaves the batch unchanged', () => {
  const record = recordOf()
  const batch = batchOf([record])
  expect(() => batch.add(recordOf({ status: 70_000, code: 'not_found' }))).toThrow(RangeError)
  expect([batch.size, batch.failed.length, batch.bytes.equals(batchOf([record]).bytes)]).toEqual([1, 0, true])
})
