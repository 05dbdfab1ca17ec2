import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blocksOf } from '../../scripts/docs-blocks.ts'
import { compile } from '../../sdk/build/compiler.ts'
import { newFolder, removeFolder } from '../../server/testing/data-dir.ts'
import { preparedParley } from '../../server/testing/prepared-data-dir.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')

/** The code blocks of the guide in a language. */
const blocksIn = (language: string): string[] =>
  blocksOf('docs/tools/testing.md').flatMap((block) => (block.language === language ? [block.text] : []))

const folder = newFolder()
afterAll(() => removeFolder(folder))
const subfolder = (name: string): string => {
  mkdirSync(join(folder, name))
  return join(folder, name)
}

const env: NodeJS.ProcessEnv = { ...process.env, PARLEY_COMMAND: preparedParley(folder), TMPDIR: folder }

/** An empty project with the two packages, as npm installs them, and vitest. */
const project = subfolder('project')
beforeAll(async () => {
  writeFileSync(join(project, 'package.json'), '{ "name": "bot", "type": "module", "private": true }')
  // Packing the first builds both.
  for (const name of ['testing', 'sdk']) {
    const packed = subfolder(name)
    const isBuilt = name === 'sdk'
    await run('npm', ['pack', `--ignore-scripts=${isBuilt}`, '--pack-destination', packed], { cwd: join(root, name) })
    const installed = join(project, 'node_modules', '@parley', name)
    mkdirSync(installed, { recursive: true })
    const [tarball = ''] = readdirSync(packed)
    await run('tar', ['xzf', join(packed, tarball), '-C', installed, '--strip-components', '1'])
  }
  for (const name of ['vitest', '@types']) {
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name))
  }
}, 240_000)

test('the guide for vitest works in an empty project', async () => {
  const [bot = '', booking = ''] = blocksIn('ts')
  const [scenario = ''] = blocksIn('json')
  writeFileSync(join(project, 'bot.test.ts'), bot)
  writeFileSync(join(project, 'booking.test.ts'), booking)
  writeFileSync(join(project, 'booking.json'), scenario)
  const strict = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--target',
    'es2022',
  ]
  expect(
    await compile(...strict, '--types', 'node', join(project, 'bot.test.ts'), join(project, 'booking.test.ts')),
  ).toBe('')
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  // A busy machine takes longer than the default.
  const args = [vitest, 'run', '--testTimeout', '60000', '--no-color']
  const { stdout } = await run(process.execPath, args, { cwd: project, env })
  expect(stdout).toContain('3 passed')
})

test('the guide for pytest works in an empty folder', async ({ skip }) => {
  const hasPytest = await run('python3', ['-c', 'import pytest']).then(
    () => true,
    () => false,
  )
  skip(!hasPytest, 'pytest is not installed')
  const python = subfolder('python')
  for (const [index, text] of blocksIn('python').entries()) {
    writeFileSync(join(python, ['conftest.py', 'test_bot.py'][index] ?? ''), text)
  }
  // What the guide says about scenarios.
  copyFileSync(join(import.meta.dirname, 'test_play.py'), join(python, 'test_play.py'))
  const settings = {
    ...env,
    PYTHONPATH: [join(root, 'sdk', 'python', 'src'), env.PYTHONPATH].filter(Boolean).join(delimiter),
    PYTHONDONTWRITEBYTECODE: '1',
  }
  const { stdout } = await run('python3', ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], {
    cwd: python,
    env: settings,
  }).catch((error: { stdout: string }) => error)
  expect(stdout).toContain('6 passed')
})
