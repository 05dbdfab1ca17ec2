import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { tempFolder } from '../server/testing/temp-folder.ts'
import { until } from '../server/testing/until.ts'
import { useSignedIn } from './signed-in.ts'

/** The code of the console's pages, as a reader copies it, in the demo workspace. */
const console = useSignedIn()

const run = (command: string, args: readonly string[]) =>
  promisify(execFile)(command, args, { env: { ...process.env, PARLEY_API_KEY: console.place.key } })

const isInstalled = (command: string, ...args: string[]) =>
  run(command, args).then(
    () => true,
    () => false,
  )

/** A folder in which the SDK is installed. */
function newProject(): string {
  const folder = tempFolder()
  mkdirSync(join(folder, 'node_modules/@parley'), { recursive: true })
  symlinkSync(join(import.meta.dirname, '../sdk/src'), join(folder, 'node_modules/@parley/sdk'))
  return folder
}

test('the request of the empty list of messages works as pasted', async () => {
  const page = await console.open('messages')
  await page.getByText('"sender_id"').waitFor()
  const [code = ''] = await page.locator('pre code').allTextContents()
  expect(JSON.parse((await run('sh', ['-c', code])).stdout)).toMatchObject({ object: 'message', status: 'queued' })
})

test('every request of the quickstart works as pasted in a workspace with two senders', async () => {
  const page = await console.open('docs')
  await page.getByText('"sender_id"').first().waitFor()
  const codes = await page.locator('pre code').allTextContents()
  const [exported, me, send, list, ...more] = codes
  expect([exported, more]).toEqual([expect.stringMatching(/^export PARLEY_API_KEY=/), []])
  const shell = async (code = '') => JSON.parse((await run('sh', ['-c', code])).stdout)
  expect(await shell(me)).toMatchObject({ account_id: console.place.workspaceId })
  const sent = await shell(send)
  expect(sent).toMatchObject({ object: 'message', status: 'queued' })
  await until('the message is delivered', async () => {
    const { data } = await shell(list)
    return data[0].id === sent.id && ['delivered', 'read'].includes(data[0].status)
  })

  const codeIn = async (language: string) => {
    await page.getByRole('tab', { name: language, exact: true }).click()
    await page.getByRole('tab', { name: language, exact: true, selected: true }).waitFor()
    return (await page.locator('pre code').allTextContents())[2] ?? ''
  }
  const program = join(newProject(), 'send.ts')
  writeFileSync(program, await codeIn('TypeScript'))
  expect((await run(process.execPath, [program])).stdout).toMatch(/^msg_\S+ queued\n$/)
  await page.getByText('npm pack').waitFor()
  const python = await codeIn('Python')
  if (await isInstalled('python3', '-c', 'import requests')) {
    // The same request with the same Idempotency-Key as the one of curl: it is sent once.
    expect((await run('python3', ['-c', python])).stdout).toBe(`${sent.id}\n`)
  }
})

test('every request of the dialog of a new key works as pasted, with the key and without', async () => {
  const page = await console.open('keys?new=1')
  const form = page.getByRole('dialog', { name: 'Create key' })
  await form.getByLabel('Name').fill('Pasted')
  await form.getByRole('button', { name: 'Read only' }).click()
  await form.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Your new key' })
  await dialog.getByText('Waiting for the first request…').waitFor()
  const me = expect.stringContaining(console.place.workspaceId)
  const runs: Record<string, (code: string) => Promise<{ stdout: string }>> = {
    curl: (code) => run('sh', ['-c', code]),
    // As a module, in which await works outside of functions.
    Node: (code) => run(process.execPath, ['--input-type=module', '-e', code]),
    ...((await isInstalled('python3', '-c', '')) && { Python: (code) => run('python3', ['-c', code]) }),
  }
  const runAll = async () => {
    for (const [language, paste] of Object.entries(runs)) {
      await dialog.getByRole('tab', { name: language, exact: true }).click()
      const code = (await dialog.locator('pre code').first().textContent()) ?? ''
      expect(await paste(code), `${language}: ${code}`).toMatchObject({ stdout: me })
    }
  }
  // With the key in the environment, which is that of the demo workspace.
  await runAll()
  expect(await dialog.getByText('Waiting for the first request…').count()).toBe(1)
  await dialog.getByRole('switch', { name: 'Insert the key' }).check()
  await until('the code has the key', async () =>
    /prl_live_/.test((await dialog.locator('pre code').first().textContent()) ?? ''),
  )
  await runAll()
  await dialog.getByText('The key works.').waitFor()
})
