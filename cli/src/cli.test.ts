import { expect, test, vi } from 'vitest'
import { runCli } from './cli.ts'

/** What the command line says, to standard output and to standard error, and how it ends. */
async function say(words: readonly string[], env: Record<string, string> = {}) {
  const lines = { out: '', err: '' }
  const keep = (where: 'out' | 'err') => (line: unknown) => {
    lines[where] += `${line}\n`
  }
  const out = vi.spyOn(console, 'log').mockImplementation(keep('out'))
  const err = vi.spyOn(console, 'error').mockImplementation(keep('err'))
  try {
    return { code: await runCli(words, { PARLEY_DATA_DIR: '/dev/null/nowhere', ...env }), ...lines }
  } finally {
    out.mockRestore()
    err.mockRestore()
  }
}

test.each([
  [['fly'], /^There is no command "fly"\.\n\nParley: /],
  [['webhok', 'list'], /^There is no command "webhok list"\. Did you mean "webhook list"\?\n/],
  [['webhook', 'liist'], /^There is no command "webhook liist"\. Did you mean "webhook list"\?\n/],
  [['strat'], /^There is no command "strat"\. Did you mean "start"\?\n/],
  [['webhook'], /^webhook create --workspace ID/],
  [['workspace', 'fly'], /^There is no command "workspace fly"\.\n\n[\s\S]*workspace create --name N/],
  [['workspace', 'create'], /^--name N is missing\.\n\nUsage: npx parley workspace create --name N\n/],
  [['workspace', 'create', '--nmae', 'x'], /^Unknown option '--nmae'\. Did you mean --name\?\n\nUsage: /],
  [['key', 'revoke', 'a', 'b'], /^"b" is one word too many\.\n\nUsage: npx parley key revoke ID\n/],
  [['--json', 'key', 'revoke'], /^ID is missing\.\n\nUsage: npx parley key revoke ID\n/],
])('%j is helped', async (words, said) => {
  const { code, out, err } = await say(words)
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(said)
})

test('the help and the version need no database', async () => {
  const help = await say([])
  expect(help).toMatchObject({ code: 0, err: '' })
  expect(help.out).toMatch(/^ {2}workspace create +Make a workspace$/m)
  expect((await say(['help'])).out).toBe(help.out)
  expect((await say(['--help'])).out).toBe(help.out)
  const noun = await say(['webhook', '--help'])
  expect(noun).toMatchObject({ code: 0, err: '' })
  expect(noun.out).toContain('webhook rotate ID\n')
  expect((await say(['help', 'webhook'])).out).toBe(noun.out)
  expect((await say(['help', 'key', 'create'])).out).toBe((await say(['key', 'create', '--help'])).out)
  expect((await say(['key', 'create', '--help'])).out).toContain('--expires-at T')
  expect((await say(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/)
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
])('a bad %s is told in one line on standard error, also with --json', async (_what, env, line) => {
  const { code, out, err } = await say(['workspace', 'list', '--json'], env)
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(line)
  expect(err).not.toContain('pass-word')
})

test('what the command line prints into a pipe has no colour, and no listener is left behind', async () => {
  const count = () => ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => process.listenerCount(signal))
  const before = count()
  const taken = { DATABASE_URL: 'postgresql://a:b@127.0.0.1:1/b', PARLEY_SECRET_KEYS: `k:${'A'.repeat(43)}=` }
  await say(['workspace', 'list'], taken)
  await say(['start'], { ...taken, LOG_LEVEL: 'silent' })
  const listening = say(['listen', '--port', '0'])
  await vi.waitFor(() => expect(count()).not.toEqual(before))
  process.emit('SIGTERM')
  expect((await listening).code).toBe(0)
  expect(count()).toEqual(before)
  expect((await say(['help'])).out).not.toContain('\u001b')
})
