import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { blocksOf } from '../../../../scripts/docs-blocks.ts'
import { newFolder, removeFolder } from '../../../testing/data-dir.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'

/** Runs the programs of docs/quickstart.md, in the languages that this machine has. */
const server = useTestServer()
const sending = useSending(server)

const languages = [
  { tab: 'curl', file: 'send.sh', command: ['bash'], probe: ['bash', '--version'] },
  { tab: 'TypeScript', file: 'send.ts', command: [process.execPath], probe: [process.execPath, '--version'] },
  { tab: 'Python', file: 'send.py', command: ['python3'], probe: ['python3', '--version'] },
  { tab: 'Go', file: 'send.go', command: ['go', 'run'], probe: ['go', 'version'] },
  { tab: 'PHP', file: 'send.php', command: ['php'], probe: ['php', '--version'] },
]

test('every program of the quickstart is run', () => {
  const tabs = blocksOf('docs/quickstart.md').flatMap(({ words }) => words.filter((word) => word.startsWith('tab=')))
  expect(tabs).toEqual(languages.map(({ tab }) => `tab=${tab}`))
})

test.for(languages)(
  'the quickstart in $tab sends a message that arrives, and the same one if it is run again',
  { timeout: 240_000 },
  async ({ tab, file, command, probe }, { skip }) => {
    skip(spawnSync(probe[0] ?? '', probe.slice(1)).status !== 0, `${tab} is not installed`)
    const source = blocksOf('docs/quickstart.md').find(({ words }) => words.includes(`tab=${tab}`))?.text ?? ''
    const folder = newFolder()
    onTestFinished(() => removeFolder(folder))
    writeFileSync(join(folder, file), source)
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    const shop = await sending.newShop(5)
    const run = async () => {
      const { PATH = '', HOME = folder } = process.env
      const env = { PATH, HOME, PARLEY_URL: server.url, PARLEY_API_KEY: shop.workspace.secret }
      const [program = '', ...args] = command
      const child = spawn(program, [...args, file], { cwd: folder, env })
      const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
      expect(code, err).toBe(0)
      return { id: /msg_[0-9a-f-]{36}/.exec(out)?.[0], out }
    }
    const first = await run()
    expect(first.out).toContain('queued')
    expect((await run()).id).toBe(first.id)
    await sending.drain()
    expect(shop.taken('16505550123')).toMatchObject([{ content: { body: `Hello from ${tab}` } }])
    expect((await shop.look(first.id ?? '')).status).toBe('read')
  },
)
