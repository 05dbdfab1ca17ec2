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

/** Whether the work is done at once, or somebody has to be waited for first. */
async function tryLock(file: string): Promise<'done' | 'waits'> {
  let waited = false
  const onWait = () => {
    waited = true
    writeFileSync(file, String(noPid))
  }
  await withLock(file, onWait, async () => {})
  return waited ? 'waits' : 'done'
}

test('the lock is there while the work is done, and names a child that would outlive us', async () => {
  const file = join(tempFolder(), 'lock')
  await withLock(
    file,
    () => {},
    async (nameChild) => {
      expect(readFileSync(file, 'utf8')).toBe(String(process.pid))
      nameChild(4711)
      expect(readFileSync(file, 'utf8')).toBe(`${process.pid} 4711`)
    },
  )
  expect(existsSync(file)).toBe(false)
})

test('the lock is given back when the work fails', async () => {
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
  ['a process that is gone', () => String(noPid), 0, 'done'],
  ['a process that runs', () => String(newSleeper()), 0, 'waits'],
  ['a process that has long stopped touching it: another program by now', () => String(newSleeper()), 60, 'done'],
  ['our own number, of an earlier life', () => String(process.pid), 0, 'done'],
  ['a process that is gone, whose child works on', () => `${noPid} ${newSleeper()}`, 60, 'waits'],
  ['a process that is gone, whose child is another program by now', () => `${noPid} ${newSleeper()}`, 3600, 'done'],
  ['somebody who has yet to write a number', () => '', 0, 'waits'],
])('held by %s', async (_whom, content, ageSeconds, outcome) => {
  const file = join(tempFolder(), 'lock')
  writeFileSync(file, content())
  const then = new Date(Date.now() - ageSeconds * 1000)
  utimesSync(file, then, then)
  expect(await tryLock(file)).toBe(outcome)
})
