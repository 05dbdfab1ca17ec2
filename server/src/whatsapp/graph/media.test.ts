import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { checkFile } from './media.ts'

const pieces = [Buffer.from('four'), Buffer.from('more')]
const sha256 = createHash('sha256').update('fourmore').digest('hex')
const checked = (expected: Parameters<typeof checkFile>[0]) =>
  buffer(Readable.from(pieces).compose(checkFile(expected)))

test('a file passes through up to the limit, whatever size the network reports', async () => {
  expect(String(await checked({ sha256, maxBytes: 8 }))).toBe('fourmore')
  await expect(checked({ sha256, maxBytes: 7 })).rejects.toMatchObject({ why: 'too_large' })
})

test('a file with another hash fails at its end', async () => {
  await expect(checked({ sha256: '0'.repeat(64), maxBytes: 8 })).rejects.toMatchObject({ why: 'wrong_hash' })
})
