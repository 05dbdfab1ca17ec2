import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../testing/temp-folder.ts'
import { StartupError } from '../../lib/refuse.ts'
import { explain, lastLogLines } from './faults.ts'

const withCode = (code: string, message = code) => Object.assign(new Error(message), { code })

test.each([
  [withCode('ENOSPC'), 'The disk that holds /data is full.'],
  [
    withCode('53100', 'could not extend file "base/1/2": No space left on device'),
    'The disk that holds /data is full.',
  ],
  [new Error('initdb failed: could not write to file: No space left on device'), 'The disk that holds /data is full.'],
  [withCode('EACCES'), 'The data directory /data cannot be written (EACCES).'],
  [withCode('EROFS', 'EROFS: read-only file system, open'), 'The data directory /data cannot be written (EROFS: '],
  [withCode('ENOTDIR'), 'PARLEY_DATA_DIR is /data, but that is not a folder (ENOTDIR).'],
  [withCode('28P01'), '/data/database-password is not the password of the database beside it.'],
  [new Error('first\nsecond'), 'The embedded PostgreSQL in /data does not start: first'],
  [new StartupError('as it is'), 'as it is'],
])('%s becomes one line that says what to do', (error, line) => {
  const { message } = explain(error, '/data')
  expect(message.startsWith(line), message).toBe(true)
  expect(message).not.toContain('\n')
})

test('the last words are those of this start, also in a log with letters of several bytes', () => {
  const log = join(tempFolder(), 'postgres.log')
  const before = '2026 UTC [1] FATAL:  größer als früher\n'
  writeFileSync(log, `${before}2026 UTC [2] LOG:  hello\n2026 UTC [2] FATAL:  no\n2026 UTC [2] LOG:  bye\n`)
  expect(lastLogLines(log, Buffer.byteLength(before), 2)).toBe('no')
  writeFileSync(log, before)
  expect(lastLogLines(log, Buffer.byteLength(before), 2)).toBe('it wrote nothing')
})

test('the last words are not those of a server that was killed and is still ending', () => {
  const log = join(tempFolder(), 'postgres.log')
  const own = '2026-11-15 04:50:47.523 UTC [20] FATAL:  lock file "postmaster.pid" already exists\n'
  const other = '2026-11-15 04:50:47.524 UTC [13] FATAL:  terminating connection due to unexpected postmaster exit\n'
  writeFileSync(log, own + other)
  expect(lastLogLines(log, 0, 20)).toBe('lock file "postmaster.pid" already exists')
  writeFileSync(log, `postgres: error while loading shared libraries: libicu\n${other}`)
  expect(lastLogLines(log, 0, 20)).toBe('postgres: error while loading shared libraries: libicu')
})
