import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { snippetsFor } from './snippets.ts'

const request = {
  to: '491701234567',
  template: {
    variables: { 'body.1': `O'Hara $(date) \`x\` "q" \\ ü`, flag: true, none: null, empty: {}, list: [1, 'a'] },
  },
}
const [curl, node, python] = snippetsFor('https://api.example', request)

test('the curl snippet quotes every character of the request', () => {
  const script = `curl() { for last; do :; done; printf %s "$last"; }\n${curl?.code}`
  expect(JSON.parse(execFileSync('sh', ['-c', script], { encoding: 'utf8' }))).toEqual(request)
})

test('the Node snippet sends the request unchanged', async () => {
  let sent = ''
  const fetch = async (_url: string, { body }: { body: string }) => {
    sent = body
    return { status: 202, json: async () => ({}) }
  }
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor
  await new AsyncFunction('fetch', 'console', 'process', node?.code)(fetch, { log() {} }, { env: {} })
  expect(JSON.parse(sent)).toEqual(request)
})

test('the Python snippet writes True, False and None', () => {
  expect(python?.code).toContain('"flag": True')
  expect(python?.code).toContain('"none": None')
})
