import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../testing/temp-folder.ts'
import { StartupError } from '../../lib/refuse.ts'
import { lastLogLine, toStartupError } from './explain-error.ts'

const withCode = (code: string, message = code) => Object.assign(new Error(message), { code })

test.each([
  [withCode('ENOSPC'), 'The disk with /data is full.'],
  [withCode('53100', 'could not extend file "base/1/2": No space left on device'), 'The disk with /data is full.'],
  [new Error('initdb failed: could not write to file: No space left on device'), 'The disk with /data is full.'],
  [withCode('EACCES'), 'Cannot write to the data directory /data (EACCES).'],
  [withCode('EROFS', 'EROFS: read-only file system, open'), 'Cannot write to the data directory /data (EROFS: '],
  [withCode('ENOTDIR'), 'The data directory /data is not a directory (ENOTDIR).'],
  [withCode('28P01'), 'The password in /data/database-password does not match the database in /data/postgres.'],
  [new Error('first\nsecond'), 'The embedded PostgreSQL in /data did not start: first.'],
  [new StartupError('as it is'), 'as it is'],
])('%s is explained in one line', (error, line) => {
  const { message } = toStartupError(error, '/data')
  expect(message.startsWith(line), message).toBe(true)
  expect(message).not.toContain('\n')
})

test('lastLogLine ignores lines from before this start, also in a log with multi-byte characters', () => {
  const log = join(tempFolder(), 'postgres.log')
  const before = '2026 UTC [1] FATAL:  größer als früher\n'
  writeFileSync(log, `${before}2026 UTC [2] LOG:  hello\n2026 UTC [2] FATAL:  no\n2026 UTC [2] LOG:  bye\n`)
  expect(lastLogLine(log, Buffer.byteLength(before), 2)).toBe('no')
  writeFileSync(log, before)
  expect(lastLogLine(log, Buffer.byteLength(before), 2)).toBe('it exited without a log message')
})

test('lastLogLine ignores lines of another server process', () => {
  const log = join(tempFolder(), 'postgres.log')
  const current = '2026-11-15 04:50:47.523 UTC [20] FATAL:  lock file "postmaster.pid" already exists\n'
  const other = '2026-11-15 04:50:47.524 UTC [13] FATAL:  terminating connection due to unexpected postmaster exit\n'
  writeFileSync(log, current + other)
  expect(lastLogLine(log, 0, 20)).toBe('lock file "postmaster.pid" already exists')
  writeFileSync(log, `postgres: error while loading shared libraries: libicu\n${other}`)
  expect(lastLogLine(log, 0, 20)).toBe('postgres: error while loading shared libraries: libicu')
})
