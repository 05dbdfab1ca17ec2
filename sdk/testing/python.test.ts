import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { pythonTypes, pythonTypesFile } from '../build/python-types.ts'

const sdk = join(import.meta.dirname, '..')
const python = join(sdk, 'python')

const run = (program: string, args: readonly string[], env: Record<string, string> = {}) =>
  promisify(execFile)(program, args, { cwd: join(python, 'tests'), env: { ...process.env, ...env } }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, output: String(stdout) + stderr }),
  )

test('the tests of the Python SDK pass', { timeout: 300_000 }, async ({ skip }) => {
  const recent = 'import sys; sys.exit(sys.version_info < (3, 9))'
  skip((await run('python3', ['-c', recent])).code !== 0, 'python3 (3.9 or later) is not installed')
  const env = { PYTHONPATH: join(python, 'src'), PYTHONDONTWRITEBYTECODE: '1' }
  const { code, output } = await run('python3', ['-m', 'unittest', '-v'], env)
  expect(code, output).toBe(0)
  expect(output).toMatch(/test_every_vector_has_its_result .*ok\n[\s\S]*Ran [3-9]\d tests[\s\S]*OK/)
})

test('the types of the Python SDK are those of the contract', () => {
  const isCurrent = readFileSync(pythonTypesFile, 'utf8') === pythonTypes()
  expect(isCurrent, 'sdk/python/src/parley/types.py is out of date: run npm run openapi').toBe(true)
})

test('the SDKs have the same version', () => {
  const { version } = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8'))
  expect(readFileSync(join(python, 'pyproject.toml'), 'utf8')).toContain(`\nversion = "${version}"\n`)
  expect(readFileSync(join(python, 'src', 'parley', 'version.py'), 'utf8')).toBe(`__version__ = "${version}"\n`)
})
