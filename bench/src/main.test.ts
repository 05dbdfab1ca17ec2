import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { benches } from './benches.ts'

function run(args: readonly string[], env: Record<string, string> = {}) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const options = { env: { ...process.env, ...env } }
    execFile(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], options, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })
}

test('--list prints every benchmark, and --help the environment too', async () => {
  const list = await run(['--list'])
  expect(list.code).toBe(0)
  for (const { name } of benches) expect(list.stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
  const help = await run(['--help'])
  expect(help.code).toBe(0)
  expect(help.stdout).toContain(list.stdout)
  expect(help.stdout).toContain('BENCH_EVENTS')
})

test('a benchmark that does not exist, no benchmark and an unknown option end with 1', async () => {
  expect(await run(['nothing'])).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('nothing') })
  expect(await run([])).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('lifecycle') })
  expect(await run(['--fiel', 'x', 'api'])).toMatchObject({ code: 1, stderr: expect.stringContaining('--fiel') })
})

test('a benchmark that fails is in the printed table and in the file, and the command ends with 1', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'table.md')
  const peers = join(folder, 'no-peers')
  const { code, stdout } = await run(['peers', '--file', file], { BENCH_PEERS: peers })
  expect(code).toBe(1)
  expect(stdout).toContain(`NOT VALID: peers: it failed: ${peers} does not exist`)
  expect(stdout).toContain(`Node ${process.versions.node}`)
  expect(readFileSync(file, 'utf8')).toBe(stdout)
})
