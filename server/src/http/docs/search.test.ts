import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodes } from '@parley/contract/errors'
import { receivedEventSchemas } from '@parley/contract/events'
import { expect, test, vi } from 'vitest'
import { docsPages, searchTerms } from './catalogue.ts'
import { newSearch } from './search.ts'
import { newDocsSite } from './site.ts'
import { synonyms } from './synonyms.ts'

const openapi = readFileSync(join(import.meta.dirname, '../../../../docs/openapi.json'), 'utf8')
const site = newDocsSite({ publicUrl: 'http://parley.test', document: () => JSON.parse(openapi) })
const find = async (query: string) => (await site.suggestions(query)).map(({ href }) => href)

test.each([
  // A title, its plural and singular, and its beginning.
  ['templates', '/docs/messages/templates'],
  ['template', '/docs/messages/templates'],
  ['quick', '/docs/start/quickstart'],
  // Typing mistakes: a letter that is missing, wrong, or swapped with the next.
  ['tamplates', '/docs/messages/templates'],
  ['quikstart', '/docs/start/quickstart'],
  ['benhcmarks', '/docs/project/benchmarks'],
  ['etmplates', '/docs/messages/templates'],
  ['Verifying signatures', '/docs/events/verify#verify-the-signature'],
  ['how do I verify the signature?', '/docs/events/verify#verify-the-signature'],
  ['retrys', '/docs/events/retries'],
  ['verify the sign', '/docs/events/verify#verify-the-signature'],
  ['webhok', '/docs/events/webhooks'],
  ['429', '/docs/errors#rate_limited'],
  ['POST /v1/messages', '/docs/api/messages#send-a-message'],
  ['send a message', '/docs/api/messages#send-a-message'],
  ['PUBLIC_URL', '/docs/run/configuration#variables'],
  ['rate limit', '/docs/errors#rate_limited'],
])('%s', async (query, href) => {
  expect((await find(query)).slice(0, 3)).toContain(href)
})

test.each([
  ['pagination', '/docs/api/pagination'],
  ['gdpr', '/docs/reference/personal-data'],
  ['golang', '/docs/tools/verify.go'],
  ['php', '/docs/tools/verify.php'],
  ['ruby', '/docs/tools/verify.rb'],
  ['python', '/docs/tools/python'],
  ['rate limit', '/docs/api/rate-limits'],
  ['retry schedule', '/docs/events/retries'],
  ['dead letter queue', '/docs/events/retries#when-an-endpoint-keeps-failing'],
  ['dlq', '/docs/events/retries#when-an-endpoint-keeps-failing'],
  ['read receipt', '/docs/messages/inbound#mark-a-message-as-read'],
  ['k8s', '/docs/run/requirements'],
  ['scopes', '/docs/api/authentication'],
  ['price', '/docs/start/concepts#credits'],
  ['test key', '/docs/start/simulator'],
  ['orders', '/docs/messages/orders'],
  ['roles', '/docs/run/accounts#roles'],
])('the first result of "%s" is the page about it', async (query, href) => {
  expect((await find(query))[0]).toBe(href)
})

test.each([
  ['api token', '/docs/api/authentication'],
  ['attachment', '/docs/messages/media'],
  ['balance', '/docs/start/concepts#credits'],
  ['bulk send', '/docs/api/messages#send-a-batch-of-messages'],
  ['cluster', '/docs/run/scaling'],
  ['dedupe events', '/docs/events/ordering#expect-duplicates-and-any-order'],
  ['docker', '/docs/run/requirements#containers'],
  ['hmac', '/docs/events/verify#verify-the-signature'],
  ['incoming messages', '/docs/messages/inbound'],
  ['install', '/docs/run/requirements'],
  ['llm', '/docs/tools/agents'],
  ['login', '/docs/run/accounts#sign-in-limits'],
  ['monitoring', '/docs/reference/metrics'],
  ['resend failed events', '/docs/events/replays'],
  ['settings', '/docs/run/configuration'],
  ['smtp', '/docs/run/email#mail-server'],
  ['survey', '/docs/messages/forms'],
  ['swagger', '/docs/api/openapi'],
])('"%s" is found though the page has another word for it', async (query, href) => {
  expect((await find(query)).slice(0, 3)).toContain(href)
})

test('a synonym means the word that pages use, and that word is not lost', async () => {
  const entries = ['paint', 'lacquer'].map((text) => ({ href: text, title: 'T', heading: '', text }))
  const search = newSearch(entries, { lacquer: 'paint' })
  const found = (query: string) => search(query, 8).map(({ href }) => href)
  expect(found('lacquer').sort()).toEqual(['lacquer', 'paint'])
  expect(found('paint')).toEqual(['paint'])
  expect(newSearch(entries)('constructor', 8)).toEqual([])
  const text = (await Promise.all(docsPages.map(({ name }) => site.markdown(name)))).join('\n').toLowerCase()
  for (const word of Object.values(synonyms)) expect(text, word).toContain(word)
})

test('every search term finds its page or section first', async () => {
  for (const [target, terms] of Object.entries(searchTerms))
    for (const term of terms) expect((await find(term))[0], term).toBe(`/docs/${target}`)
})

test('the code of an error and the type of an event find their section first, in any spelling', async () => {
  for (const code of errorCodes) {
    expect((await find(code))[0], code).toBe(`/docs/errors#${code}`)
    expect((await find(code.toUpperCase().replaceAll('_', ' '))).slice(0, 3), code).toContain(`/docs/errors#${code}`)
  }
  for (const type of Object.keys(receivedEventSchemas)) expect((await find(type))[0]).toBe(`/docs/events/types#${type}`)
})

test('every environment variable is found', async () => {
  const page = (await site.markdown('run/configuration')) ?? ''
  const names = new Set([...page.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name = '']) => name))
  expect(names.size).toBeGreaterThan(20)
  for (const name of names) {
    const pages = (await find(name)).map((href) => href.split('#')[0])
    expect(pages, name).toContain('/docs/run/configuration')
  }
})

test('a query without words or without meaning finds nothing', async () => {
  for (const query of ['', '   ', '"\'<>&()[]', 'zzqx', 'a b c d e f g h', 'qwrtzpsdf'.repeat(10)])
    expect(await find(query)).toEqual([])
})

test('if no section has all words, the sections with the most words are found', async () => {
  expect((await find('verify signature zzqx')).slice(0, 3)).toContain('/docs/events/verify#verify-the-signature')
  expect(await find('zzqx signature')).toEqual([])
})

test('the results of a repeated query are kept, also with other spaces and capitals', async () => {
  let reads = 0
  const document = () => {
    reads++
    return JSON.parse(openapi)
  }
  const counted = newDocsSite({ publicUrl: 'http://parley.test', document })
  const spy = vi.spyOn(String.prototype, 'startsWith')
  const compared = async (query: string) => {
    spy.mockClear()
    await counted.suggestions(query)
    return spy.mock.calls.length
  }
  await compared('first')
  expect(await compared('verify signature')).toBeGreaterThan(100)
  expect(await compared('Verify  Signature ')).toBe(0)
  expect(reads).toBe(1)
  spy.mockRestore()
})

test('the excerpt is around the first word that was found', () => {
  const text = `${'before '.repeat(100)}needle ${'after '.repeat(100)}`
  const [found] = newSearch([{ href: '/a', title: 'A', heading: '', text }])('needles', 1)
  expect(found?.excerpt).toMatch(/^… before .*before needle after .* …$/)
  expect(found?.excerpt.length).toBeLessThan(200)
})

test('typing mistakes are looked for in three words of a query, and not in the first letter', () => {
  const search = newSearch([{ href: '/a', title: 'Alpha', heading: '', text: 'bravo charlie delta golf' }])
  const found = (query: string) => search(query, 8).length
  expect(found('brovo chorlie dolta')).toBe(1)
  // Those after it are not corrected: three of six words are not enough.
  expect(found('brovo chorlie dolta gulf brova charloe')).toBe(0)
  expect(found('bravo xharlie')).toBe(0)
  expect(found('bravo hcarlie')).toBe(1)
})

test('a word counts most in the title of a page, then in its summary, a heading, a defined term and the text', () => {
  const entry = { title: 'Other', heading: 'Other', text: 'other' }
  const search = newSearch([
    { ...entry, href: '/long', text: `other needle ${'other '.repeat(500)}` },
    { ...entry, href: '/about', heading: 'Needle part', weight: 0.4 },
    { ...entry, href: '/short', text: 'other needle' },
    { ...entry, href: '/page', title: 'Needle page' },
    { ...entry, href: '/term', terms: ['needle_size'] },
    { ...entry, href: '/heading', heading: 'Needle part' },
    { ...entry, href: '/summary', heading: '', summary: 'About needle.' },
    { ...entry, href: '/title', heading: '', title: 'Needle page' },
  ])
  expect(search('needle', 8).map(({ href }) => href)).toEqual([
    '/title',
    '/summary',
    '/heading',
    '/term',
    '/page',
    '/about',
    '/short',
    '/long',
  ])
})

test('the word itself counts more than another form of it, its beginning, and a part; a name or a term counts most', () => {
  const of = (...words: string[]) => newSearch(words.map((text) => ({ href: text, title: 'T', heading: '', text })))
  const order = of('unsigned', 'signing', 'signatory', 'sign')('sign', 8).map(({ href }) => href)
  expect(order).toEqual(['sign', 'signing', 'signatory', 'unsigned'])
  const entry = { title: 'Sign the page', heading: '', summary: 'Sign', text: 'sign' }
  const named = newSearch([
    { ...entry, href: '/title' },
    { href: '/term', title: 'T', heading: 'H', text: '', terms: ['sign'] },
  ])
  expect(named('sign', 8)[0]?.href).toBe('/term')
  // All words of a heading, also before the last one is typed to its end.
  const headings = newSearch([
    { href: '/more', title: 'T', heading: 'Verify the signature of a delivery', text: '' },
    { href: '/all', title: 'T', heading: 'Verify a signature', text: '' },
  ])
  expect(headings('verify signat', 8)[0]?.href).toBe('/all')
})
