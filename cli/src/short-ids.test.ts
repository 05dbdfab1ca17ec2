import { expect, test } from 'vitest'
import { useTestServer } from '../../server/testing/test-server.ts'
import { newWorkspace } from '../../server/testing/workspace.ts'
import { completeIds } from './short-ids.ts'

const server = useTestServer()

test('a part of an ID is enough if only one has it, and several are listed', async () => {
  const [first, second] = [await newWorkspace(server, 'Part one'), await newWorkspace(server, 'Part two')]
  const complete = async (text: string) => {
    const parsed = { args: [text], values: { workspace: [text] }, flags: new Set<string>() }
    const options = { workspace: { value: 'ID', help: '', idOf: 'workspace' as const } }
    const command = { name: 'x', args: ['ID'], idOf: 'workspace' as const, options, run: async () => undefined }
    await completeIds(command, parsed, async () => server.db)
    expect(parsed.values.workspace).toEqual(parsed.args)
    return parsed.args[0]
  }
  expect(await complete(first.id.slice(-12))).toBe(first.id)
  expect(await complete(second.id.slice(-12).toUpperCase())).toBe(second.id)
  expect(await complete(second.id.slice(0, -1))).toBe(second.id)
  expect(await complete('Part two')).toBe(second.id)
  expect(await complete(first.id)).toBe(first.id)
  for (const text of ['none such', first.id.slice(-3)]) {
    await expect(complete(text)).rejects.toThrow(
      `No workspace has the ID or name "${text}". Run "./parley workspace list" to see all workspaces.`,
    )
  }
  // IDs that were made together begin alike.
  const shared = [...first.id].findIndex((letter, index) => letter !== second.id[index])
  await expect(complete(first.id.slice(0, Math.min(shared, 8)))).rejects.toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/fits \d+ workspaces\. Enter more of the ID:\n {2}\S+ {2}/),
    }),
  )
})
