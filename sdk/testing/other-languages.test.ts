import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const sdk = join(import.meta.dirname, '..')

const verifiers = [
  { language: 'Go', folder: 'go', probe: ['go', 'version'], command: ['go', 'test', '-count=1', './...'] },
  { language: 'PHP', folder: 'php', probe: ['php', '--version'], command: ['php', 'verify_test.php'] },
  { language: 'Ruby', folder: 'ruby', probe: ['ruby', '--version'], command: ['ruby', '-w', 'verify_test.rb'] },
]

// The first run of Go compiles its standard library.
test.for(verifiers)(
  'the verifier in $language passes the vectors',
  { timeout: 300_000 },
  async (verifier, { skip }) => {
    const { folder, probe, command } = verifier
    const run = ([program = '', ...args]: readonly string[]) =>
      promisify(execFile)(program, args, { cwd: join(sdk, folder) }).then(
        ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
        ({ code, stdout, stderr }) => ({ code, output: String(stdout) + stderr }),
      )
    skip((await run(probe)).code !== 0, `${probe[0]} is not installed`)
    expect(await run(command)).toEqual({ code: 0, output: expect.stringMatching(/^(ok\s|\d+ vectors passed\n$)/) })
  },
)
