import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Scope } from './scope.ts'

test('what was started last ends first, and everything ends although one end fails', async () => {
  const ended: string[] = []
  const scope = new Scope(() => {})
  const folder = scope.newFolder()
  scope.defer(() => ended.push(existsSync(folder) ? 'first' : 'too late'))
  scope.defer(() => Promise.reject(new Error('no such process')))
  scope.defer(() => ended.push('last'))
  await scope.end()
  await scope.end()
  expect(ended).toEqual(['last', 'first'])
  expect(existsSync(folder)).toBe(false)
  expect(scope.faults).toEqual(['ending failed: no such process'])
})

test('a part ends when it is done, if it fails too, and its faults are those of the whole', async () => {
  const ended: string[] = []
  const scope = new Scope(() => {})
  const work = scope.part(async (part) => {
    part.defer(() => ended.push('part'))
    part.fault('2 events missing')
    throw new Error('failed')
  })
  await expect(work).rejects.toThrow('failed')
  expect(ended).toEqual(['part'])
  expect(scope.faults).toEqual(['2 events missing'])
})
