import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startSimulator } from './start.ts'

test('a start that fails because the port is in use does not write the state file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'simulator-'))
  const stateFile = join(folder, 'state.json')
  const first = await startSimulator({ dataset: 'empty', stateFile })
  await expect(startSimulator({ stateFile, port: Number(new URL(first.url).port) })).rejects.toThrow(/EADDRINUSE/)
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect(existsSync(stateFile)).toBe(false)
  await first.stop()
  rmSync(folder, { recursive: true })
})
