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

test('curl sends the very request, whatever is in it', () => {
  const script = `curl() { for last; do :; done; printf %s "$last"; }\n${curl?.code}`
  expect(JSON.parse(execFileSync('sh', ['-c', script], { encoding: 'utf8' }))).toEqual(request)
})

test('so does Node', async () => {
  let sent = ''
  const fetch = async (_url: string, { body }: { body: string }) => {
    sent = body
    return { status: 202, json: async () => ({}) }
  }
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor
  await new AsyncFunction('fetch', 'console', 'process', node?.code)(fetch, { log() {} }, { env: {} })
  expect(JSON.parse(sent)).toEqual(request)
})

test('Python writes its own words for true, false and null', () => {
  expect(python?.code).toContain('"flag": True')
  expect(python?.code).toContain('"none": None')
})
