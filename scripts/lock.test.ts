import { spawn } from 'node:child_process'
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../server/testing/temp-folder.ts'
import { withLock } from './lock.mjs'

const noPid = 2 ** 22 + 1

function newSleeper(): number {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child.pid as number
}

/** Whether the lock is free, or held by another process. */
async function tryLock(file: string): Promise<'free' | 'held'> {
  let waited = false
  const onWait = () => {
    waited = true
    writeFileSync(file, String(noPid))
  }
  await withLock(file, onWait, async () => {})
  return waited ? 'held' : 'free'
}

test('the lock file exists while the work runs, and has the PID of a registered child', async () => {
  const file = join(tempFolder(), 'lock')
  await withLock(
    file,
    () => {},
    async (registerChild) => {
      expect(readFileSync(file, 'utf8')).toBe(String(process.pid))
      registerChild(4711)
      expect(readFileSync(file, 'utf8')).toBe(`${process.pid} 4711`)
    },
  )
  expect(existsSync(file)).toBe(false)
})

test('the lock is released when the work fails', async () => {
  const file = join(tempFolder(), 'lock')
  const failing = withLock(
    file,
    () => {},
    () => Promise.reject(new Error('no')),
  )
  await expect(failing).rejects.toThrow('no')
  expect(existsSync(file)).toBe(false)
})

test.each([
  ['a process that has ended', () => String(noPid), 0, 'free'],
  ['a running process', () => String(newSleeper()), 0, 'held'],
  ['a PID whose lock was not touched for long', () => String(newSleeper()), 60, 'free'],
  ['our own PID, from an earlier process', () => String(process.pid), 0, 'free'],
  ['an ended process with a running child', () => `${noPid} ${newSleeper()}`, 60, 'held'],
  ['an ended process with a child that is too old', () => `${noPid} ${newSleeper()}`, 3600, 'free'],
  ['a process that has not written its PID yet', () => '', 0, 'held'],
])('a lock of %s', async (_name, content, ageSeconds, outcome) => {
  const file = join(tempFolder(), 'lock')
  writeFileSync(file, content())
  const then = new Date(Date.now() - ageSeconds * 1000)
  utimesSync(file, then, then)
  expect(await tryLock(file)).toBe(outcome)
})
