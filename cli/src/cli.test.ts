import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { childEnv } from '../../server/testing/child-env.ts'
import { until } from '../../server/testing/until.ts'
import { runParley, startCommand } from '../testing/run-parley.ts'
import type { Command } from './command.ts'
import { commands } from './commands.ts'

/** Runs a command without a service and without a database. */
const run = (words: readonly string[], env: Record<string, string> = {}) =>
  runParley(words, { PARLEY_DATA_DIR: '/dev/null/nowhere', ...env })

test.each([
  [['fly'], /^Unknown command "fly"\. Run "\.\/parley --help" to see all commands\.\n$/],
  [['webhok', 'list'], /^Unknown command "webhok list"\. Did you mean "webhook list"\?\n$/],
  [['webhook', 'liist'], /^Unknown command "webhook liist"\. Did you mean "webhook list"\?\n$/],
  [['strat'], /^Unknown command "strat"\. Did you mean "start"\?\n$/],
  [['webhook'], /^Usage: \.\/parley webhook <command> [\s\S]*\n {2}webhook create --name NAME --url URL/],
  [
    ['workspace', 'fly'],
    /^Unknown command "workspace fly"\. Run "\.\/parley workspace --help" to see all commands\.\n$/,
  ],
  [
    ['workspace', 'create'],
    /^Missing required option: --name NAME\.\n\nUsage: \.\/parley workspace create --name NAME\n/,
  ],
  [['workspace', 'create', '--nmae', 'x'], /^Unknown option "--nmae"\. Did you mean --name\?\n\nUsage: /],
  [['key', 'revoke', 'a', 'b'], /^Unexpected argument: "b"\.\n\nUsage: \.\/parley key revoke ID\n/],
  [['key', 'revoke'], /^Missing argument: ID\.\n\nUsage: \.\/parley key revoke ID\n/],
])('%j prints the error and how to fix it', async (words, message) => {
  const { code, out, err } = await run(words)
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(message)
})

test('--help and --version work without a database', async () => {
  const help = await run([])
  expect(help).toMatchObject({ code: 0, err: '' })
  expect(help.out).toMatch(/^ {2}workspace create +Create a workspace$/m)
  expect((await run(['help'])).out).toBe(help.out)
  expect((await run(['--help'])).out).toBe(help.out)
  const group = await run(['webhook', '--help'])
  expect(group).toMatchObject({ code: 0, err: '' })
  expect(group.out).toContain('webhook enable ID\n')
  expect((await run(['help', 'webhook'])).out).toBe(group.out)
  expect((await run(['help', 'key', 'create'])).out).toBe((await run(['key', 'create', '--help'])).out)
  expect((await run(['key', 'create', '--help'])).out).toContain('--expires-at TIME')
  expect((await run(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect((await run(['-v'])).out).toBe((await run(['--version'])).out)
})

test('every command is listed, and its help has an example and --json', async () => {
  const folder = join(import.meta.dirname, 'commands')
  const files = await Promise.all(readdirSync(folder).map((file) => import(join(folder, file))))
  const defined = files.flatMap((file: { commands?: readonly Command[] }) => file.commands ?? [])
  expect(commands.map(({ name }) => name).sort()).toEqual(defined.map(({ name }) => name).sort())
  for (const { name } of commands) {
    const { out } = await run([...name.split(' '), '--help'])
    expect(out).toMatch(new RegExp(`^Examples:\\n  \\$ \\./parley ${name}\\b`, 'm'))
    expect(out).toMatch(/^ {2}--json +Print/m)
  }
})

/** The modules that these commands load together, in a process of its own. */
function loadedBy(typed: readonly (readonly string[])[], env: Record<string, string> = {}): string[] {
  const program = `
    import { registerHooks } from 'node:module'
    const urls = []
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
    const [first, ...others] = ${JSON.stringify(typed)}
    process.argv.push('parley', ...first)
    await import(${JSON.stringify(join(import.meta.dirname, 'main.ts'))})
    const { runCli } = await import(${JSON.stringify(join(import.meta.dirname, 'cli.ts'))})
    for (const words of others) await runCli(words, process.env)
    console.log('Loaded: ' + JSON.stringify(urls))`
  const args = ['--input-type=module', '-e', program]
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env: { ...childEnv, ...env } })
  return JSON.parse(/^Loaded: (.*)$/m.exec(stdout)?.[1] ?? '[]') as string[]
}

test('help, the version and an unknown command load no package and nothing of the database', () => {
  const tooMuch = /\/node_modules\/|\/server\/src\/(db|domain)\/|\/cli\/src\/commands\//
  const loaded = loadedBy([['--help'], ['-v'], ['wrkspace']])
  expect(loaded.filter((url) => url.endsWith('/cli/src/commands.ts'))).toHaveLength(1)
  expect(loaded.filter((url) => tooMuch.test(url))).toEqual([])
})

test('commands load only the packages that they need', () => {
  const unreachable = { DATABASE_URL: 'postgresql://a:b@127.0.0.1:1/b', PARLEY_SECRET_KEYS: `k:${'A'.repeat(43)}=` }
  const loaded = loadedBy(
    [
      ['workspace', 'list'],
      ['key', 'list'],
      ['user', 'list'],
      ['delivery', 'list'],
    ],
    unreachable,
  )
  for (const needed of ['/node_modules/pg/', '/commands/workspace.ts', '/commands/delivery.ts'])
    expect(loaded.filter((url) => url.includes(needed))).not.toEqual([])
  expect(loaded.filter((url) => /\/node_modules\/(ajv|pino|fastify)\//.test(url))).toEqual([])
})

test.each([
  ['PORT', { PORT: 'eighty' }, /^Invalid PORT: "eighty"\. Use a whole number from 0 to 65535\.\n$/],
  [
    'DATABASE_URL',
    { DATABASE_URL: 'postgresql://a:pass-word@127.0.0.1:1/b' },
    /^PARLEY_SECRET_KEYS is required when DATABASE_URL is set\. .*\n$/,
  ],
  [
    'database',
    { DATABASE_URL: 'postgresql://a:pass-word@127.0.0.1:1/b', PARLEY_SECRET_KEYS: `k:${'A'.repeat(43)}=` },
    /^Cannot connect to the database in DATABASE_URL .*\n$/,
  ],
  ['PARLEY_DATA_DIR', {}, /^The data directory \/dev\/null\/nowhere is not a directory .*\n$/],
])('a bad %s prints one line on standard error, and one JSON document with --json', async (_setting, env, line) => {
  const { code, out, err } = await run(['workspace', 'list'], env)
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(line)
  const json = await run(['--json', 'workspace', 'list'], env)
  expect({ code: json.code, out: json.out }).toEqual({ code: 1, out: '' })
  expect(JSON.parse(json.err)).toEqual({
    error: { type: 'api_error', code: 'command_failed', message: err.trimEnd() },
  })
  expect(err + json.err).not.toContain('pass-word')
})

test.each([['fly'], ['key', 'revoke'], ['key', 'list', '--all'], ['send', '--text']])(
  'with --json, the error of "%s %s" is one JSON document on standard error',
  async (...words) => {
    const { code, out, err } = await run([...words, '--json'])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(JSON.parse(err)).toEqual({
      error: { type: 'invalid_request_error', code: 'invalid_usage', message: expect.any(String) },
    })
  },
)

test('piped output has no color codes, and a command that ends removes its signal listeners', async () => {
  const unreachable = { DATABASE_URL: 'postgresql://a:b@127.0.0.1:1/b', PARLEY_SECRET_KEYS: `k:${'A'.repeat(43)}=` }
  const listening = startCommand(['listen', '--port', '0'], {})
  await until('it listens', () => listening.out().includes('Listening'))
  expect(listening.signals()).toEqual(['SIGINT', 'SIGTERM', 'SIGHUP'])
  listening.kill()
  expect((await listening.ended).code).toBe(0)
  const failed = startCommand(['workspace', 'list'], unreachable)
  const start = startCommand(['start'], { ...unreachable, LOG_LEVEL: 'silent' })
  for (const each of [failed, start]) expect((await each.ended).code).toBe(1)
  for (const each of [listening, failed, start]) expect(each.signals()).toEqual([])
  expect((await run(['help'])).out).not.toContain('\u001b')
})

test('user create --help says that the command sends no email, and that the console does', async () => {
  const { out } = await run(['user', 'create', '--help'])
  expect(out.replaceAll(/\s+/g, ' ')).toContain(
    'This command sends no email: share the link. Invitations from the console are sent by email if PARLEY_SMTP_URL is set.',
  )
})
