import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodes } from '@parley/contract/errors'
import { receivedEventSchemas } from '@parley/contract/events'
import { expect, test } from 'vitest'
import { useTestServer } from '../../../testing/test-server.ts'
import { upcomingAttempts } from '../../domain/deliveries/engine/attempt/retry-policy.ts'
import { docsPages } from './catalogue.ts'
import type { OpenApi } from './reference.ts'

const server = useTestServer({ trustProxy: ['127.0.0.1'] })
const names = docsPages.map(({ name }) => name)

async function get(path: string, headers: Record<string, string> = {}, redirect: 'follow' | 'manual' = 'follow') {
  const response = await fetch(server.url + path, { headers, redirect })
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    headers: response.headers,
    text: await response.text(),
  }
}

const loaded = new Map<string, ReturnType<typeof get>>()

/** The same for tests that read many pages: each is requested once. */
function read(path: string): ReturnType<typeof get> {
  const known = loaded.get(path) ?? get(path)
  loaded.set(path, known)
  return known
}

const idsIn = (html: string) => new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id))
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, '').replaceAll('&#34;', '"')
const linksIn = (html: string) =>
  [...html.matchAll(/\s(?:href|src)="([^"]+)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'))

test.each(names)('/docs/%s is a page, and Markdown with .md', async (name) => {
  const page = await get(`/docs/${name}`)
  expect([page.status, page.type]).toEqual([200, 'text/html; charset=utf-8'])
  expect(page.text.match(/<h1>/g)).toHaveLength(1)
  expect(page.text).toContain(`<a href="/docs/${name}" aria-current="page">`)
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("script-src 'self'; connect-src 'self'")
  expect(policy).not.toContain('unsafe')
  expect(page.text).not.toMatch(/<script(?![^>]*src=)|<style|\sstyle=|\son[a-z]+=/)
  expect(page.text).toContain(`<link rel="canonical" href="http://parley.test/docs/${name}">`)
  expect(page.text).toContain(`<link rel="alternate" type="text/markdown" href="/docs/${name}.md">`)
  const [main = ''] = /<main.*<\/main>/s.exec(page.text) ?? []
  const levels = [...main.matchAll(/<h(\d)/g)].map(([, level]) => Number(level))
  expect(levels.filter((level, at) => level > (levels[at - 1] ?? 0) + 1)).toEqual([])
  const markdown = await get(`/docs/${name}.md`)
  expect([markdown.status, markdown.type]).toEqual([200, 'text/markdown; charset=utf-8'])
  expect(markdown.text).toMatch(/^# \S/)
  expect(markdown.headers.get('link')).toBe(`<http://parley.test/docs/${name}>; rel="canonical"`)
})

test('every page has its own title and description', async () => {
  const pages = await Promise.all(
    ['', ...names, 'project/decisions/tracing'].map((name) => read(`/docs/${name}`.replace(/\/$/, ''))),
  )
  const of = (pattern: RegExp) => pages.map(({ text }) => pattern.exec(text)?.[1] ?? '')
  const [titles, descriptions] = [
    of(/<title>([^<]+) · Parley docs<\/title>/),
    of(/<meta name="description" content="([^"]+)">/),
  ]
  for (const texts of [titles, descriptions]) expect(new Set(texts.filter(Boolean)).size).toBe(pages.length)
  expect(descriptions.filter((text) => text.length > 200)).toEqual([])
})

test('every page of the folder docs is in the navigation, except single decisions', () => {
  const files = globSync('**/*.md', { cwd: join(import.meta.dirname, '../../../../docs') })
  const shown = files.filter((file) => !/^project\/decisions\/(?!README)/.test(file))
  expect(shown.length).toBeGreaterThan(40)
  expect(docsPages.flatMap(({ file }) => file ?? [])).toEqual(
    expect.arrayContaining(shown.map((file) => `docs/${file}`)),
  )
})

test('no page has more than 200 lines', () => {
  const files = docsPages.flatMap(({ file }) => (file?.endsWith('.md') && file !== 'CHANGELOG.md' ? file : []))
  const linesOf = (file: string) =>
    readFileSync(join(import.meta.dirname, '../../../..', file), 'utf8').split('\n').length - 1
  expect(files.length).toBeGreaterThan(40)
  expect(files.filter((file) => linesOf(file) > 200)).toEqual([])
})

test('what reads as the name of an endpoint is a link, where a section names it first', async () => {
  for (const name of names) {
    const [main = ''] = /<main.*<\/main>/s.exec((await read(`/docs/${name}`)).text) ?? []
    const sections = main
      .replaceAll(/<pre.*?<\/pre>|<summary>.*?<\/summary>|<h1>.*?<\/h1>/gs, '')
      .split(/<h2.*?<\/h2>/s)
    for (const section of sections) {
      const linked = new Set([...section.matchAll(/<a href[^>]*><code>([^<]*)<\/code><\/a>/g)].map(([, code]) => code))
      const codes = [...section.matchAll(/<code>((?:GET|POST|PUT|PATCH|DELETE) \/v1[^<]*)<\/code>/g)].map(
        ([, code]) => code,
      )
      expect([name, codes.filter((code) => !linked.has(code))]).toEqual([name, []])
    }
  }
  const { text } = await get('/docs/messages/sending')
  expect(text).toContain('<a href="/docs/api/messages#send-a-message"><code>POST /v1/messages</code></a>')
  expect(text).toContain('<a href="/docs/errors"><code>/docs/errors</code></a>')
  // A file that is not a page.
  const webhooks = (await get('/docs/events/webhooks')).text
  expect(webhooks).toContain('Go (<code>examples/receiver-go</code>)')
  expect(webhooks).toContain('<a href="/v1/openapi.json">openapi.json</a>')
  // Not inside of another link.
  expect(text).not.toMatch(/<a [^>]*>(?:(?!<\/a>).)*<a /s)
})

test('every page leads to its sections, and to the page before and after it', async () => {
  for (const [at, name] of names.entries()) {
    const { text } = await read(`/docs/${name}`)
    const of = (rel: string) => new RegExp(`<a rel="${rel}" href="/docs/([^"]+)">`).exec(text)?.[1]
    expect([name, of('prev'), of('next')]).toEqual([name, names[at - 1], names[at + 1]])
    const [main = ''] = /<main.*<\/main>/s.exec(text) ?? []
    const [contents = ''] = /<nav class="contents".*?<\/nav>/s.exec(text) ?? []
    const sections = [...main.matchAll(/<h2 id="([^"]+)"/g)].map(([, id]) => `#${id}`)
    expect([name, linksIn(contents)]).toEqual([name, sections])
  }
  expect((await get('/docs/project/decisions/tracing')).text).toContain('<a rel="prev" href="/docs/project/decisions">')
})

test('pictures are part of their page, in its colors, with a text', async () => {
  const folder = join(import.meta.dirname, '../../../../docs')
  const shown = globSync('**/*.md', { cwd: folder }).flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/!\[([^\]]+)\]\(([^)]+\.svg)\)/g)].map(
      ([, label = '', path = '']) => ({
        name: file.slice(0, -'.md'.length),
        label,
        picture: join(file, '..', path),
      }),
    ),
  )
  expect(shown.map(({ picture }) => picture).sort()).toEqual(globSync('pictures/*', { cwd: folder }).sort())
  for (const { name, label } of shown) {
    const { text } = await get(`/docs/${name}`)
    expect(text).toContain(`<figure class="picture"><svg role="img" aria-label="${label}"`)
    const markdown = await get(`/docs/${name}.md`)
    expect(markdown.text).toContain(`\n${label}\n`)
  }
})

test('the picture of the retries has the schedule of the deliveries', () => {
  const file = join(import.meta.dirname, '../../../../docs/pictures/retries.svg')
  const texts = [...readFileSync(file, 'utf8').matchAll(/<text[^>]*text-anchor="end">([\d][^<]*)<\/text>/g)].map(
    ([, text]) => text,
  )
  const start = new Date(0)
  const attempts = upcomingAttempts(null, 1, start).map(({ at }) => at.getTime() / 1000)
  const shown = texts.map((text = '') =>
    [...text.matchAll(/(\d+) (h|min|s)/g)].reduce(
      (sum, [, n, unit]) => sum + Number(n) * { h: 3600, min: 60, s: 1 }[unit as 's'],
      0,
    ),
  )
  expect(shown).toEqual(attempts)
})

test('every link of every page leads to a page, a section or a file', async () => {
  const ids = new Map<string, Set<string | undefined>>()
  const idsOf = (path: string, text: string) => {
    const known = ids.get(path) ?? idsIn(text)
    ids.set(path, known)
    return known
  }
  const waiting = ['/docs']
  const broken: string[] = []
  for (const path of waiting) {
    const { text } = await read(path)
    for (const href of new Set(linksIn(text))) {
      if (/^(https?:|mailto:)/.test(href) || href === '/') continue
      const [target = '', anchor] = href.startsWith('#') ? [path, href.slice(1)] : href.split('#')
      const found = await read(target)
      const isMissing =
        anchor !== undefined && found.type?.startsWith('text/html') && !idsOf(target, found.text).has(anchor)
      if (found.status !== 200 || isMissing) broken.push(`${path} → ${href}`)
      if (target.startsWith('/docs/') && found.type?.startsWith('text/html') && !waiting.includes(target)) {
        waiting.push(target)
      }
    }
  }
  expect(broken).toEqual([])
  // All pages, and decisions that they link to.
  const linked = ['project/decisions/mcp', 'tools/verify.go', 'tools/verify.php', 'tools/verify.rb', 'tools/verify.py']
  expect(waiting).toEqual(expect.arrayContaining([...names, ...linked].map((name) => `/docs/${name}`)))
})

test('every link of the Markdown versions leads to a file', async () => {
  const broken: string[] = []
  for (const name of names) {
    const { text } = await read(`/docs/${name}.md`)
    const outsideCode = text.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '')
    for (const [, href = ''] of outsideCode.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?:|#)/.test(href) || href === '/v1/openapi.json') continue
      const { status } = await read(href.split('#')[0] ?? '')
      if (status !== 200 || !/^\/.*\.(md|txt)(#|$)/.test(href)) broken.push(`${name}.md → ${href}`)
    }
  }
  expect(broken).toEqual([])
})

test('/llms.txt and /llms-full.txt describe the API, and their links respond', async () => {
  const index = await get('/llms.txt')
  expect([index.status, index.type]).toEqual([200, 'text/plain; charset=utf-8'])
  expect(index.text).toMatch(/^# Parley\n\n> /)
  const links = [...index.text.matchAll(/\]\((http:\/\/parley\.test[^)]*)\)/g)].map(
    ([, url = '']) => new URL(url).pathname,
  )
  expect(links).toEqual(
    expect.arrayContaining(['/docs/api.md', '/v1/openapi.json', '/llms-full.txt', '/docs/events/webhooks.md']),
  )
  for (const path of links) expect((await get(path)).status, path).toBe(200)
  const full = await get('/llms-full.txt')
  expect(full.status).toBe(200)
  for (const part of ['POST /v1/messages', '# Webhooks', 'Service-Signature', 'insufficient_scope', '/mcp']) {
    expect(full.text).toContain(part)
  }
})

test('the API as Markdown has every endpoint of the OpenAPI document, and an example', async () => {
  const { text } = await get('/docs/api.md')
  const document = (await (await fetch(`${server.url}/v1/openapi.json`)).json()) as { paths: Record<string, object> }
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const method of Object.keys(methods)) expect(text).toContain(`\`\`\`http\n${method.toUpperCase()} ${path}\n`)
  }
  expect(text).toContain('"object": "message"')
  expect(text).toMatch(/- \*\*`Idempotency-Key`\*\* \*string\*/)
})

test('the page of an endpoint has its scope, fields with types and limits, folded variants, responses and errors', async () => {
  const { text } = await get('/docs/api/messages')
  const [, section = ''] = /<h2 id="send-a-message">(.*?)<h2/s.exec(text) ?? []
  const words = section.replaceAll(/<[^>]*>|\s+/g, ' ').replaceAll(/ +/g, ' ')
  for (const part of [
    'POST /v1/messages',
    'Requires the scope messages:send .',
    'type string required The message type.',
    'One of text , template , image ,',
    'body string, 1 to 4096 characters required',
    'contacts array of objects, 1 to 257 items 7 fields of contacts',
    'interactive object An interactive message',
    '16 variants of interactive',
    'insufficient_credits 402',
    'Idempotent-Replayed string true if this is the response of an earlier request.',
  ])
    expect(words).toContain(part)
  expect(section).toContain('<details><summary>2 fields <span class="unseen">of text</span></summary><ul>')
  expect(section).toMatch(/<details><summary>Example: <code>template<\/code><\/summary><pre/)
  expect(section).toContain('with a <a href="/docs/api/messages#the-message-object">Message</a>')
  expect(section).toContain('<a href="/docs/errors#insufficient_credits">')
  expect(section).not.toContain('#rate_limited')
  const list = textOf((await get('/docs/api/inbound-messages')).text)
  for (const part of ['limit integer, 1 to 100, default 20', 'array of InboundMessage', 'text string or null'])
    expect(list).toContain(part)
  expect(textOf((await get('/docs/api')).text)).toContain('rate_limited 429')
  // A union of events is not repeated.
  expect((await get('/docs/api/events')).text).toContain('array of <a href="/docs/events/types">events</a>')
})

test('every endpoint and every object of the OpenAPI document is on one page of the reference', async () => {
  const document = (await (await fetch(`${server.url}/v1/openapi.json`)).json()) as OpenApi
  const pages = await Promise.all(
    docsPages
      .filter(({ name, file }) => /^api/.test(name) && file === undefined)
      .map(({ name }) => get(`/docs/${name}`)),
  )
  const texts = pages.map(({ text }) => text.replaceAll(/<[^>]*>/g, ''))
  const count = (part: string) => texts.filter((text) => text.includes(part)).length
  for (const methods of Object.values(document.paths))
    for (const { summary } of Object.values(methods)) expect([summary, count(`${summary} #`)]).toEqual([summary, 1])
  for (const name of Object.keys(document.components.schemas))
    expect([name, count(`The ${name} object #`)]).toEqual([name, 1])
})

test('the pages of errors and events have every one of them, also as Markdown', async () => {
  const [errors, events] = await Promise.all([get('/docs/errors.md'), get('/docs/events/types')])
  for (const code of errorCodes) expect(errors.text).toContain(`## ${code}\n`)
  for (const type of Object.keys(receivedEventSchemas)) {
    expect(idsIn(events.text)).toContain(type)
    expect(textOf(events.text)).toContain(`"type": "${type}"`)
  }
})

test('the page of errors has an example of each, and the errors of the console', async () => {
  const { text } = await get('/docs/errors')
  for (const code of errorCodes) {
    expect(idsIn(text)).toContain(code)
    expect(textOf(text)).toContain(`"code": "${code}"`)
  }
  const refused = await fetch(`${server.url}/console/api/session`)
  const { error } = (await refused.json()) as { error: { code: string; doc_url: string } }
  expect(error).toMatchObject({ code: 'not_signed_in', doc_url: 'http://parley.test/docs/errors#console-errors' })
  expect(idsIn(text)).toContain('console-errors')
  expect(text).toContain('<code>not_signed_in</code>')
})

test('unknown pages, files and paths outside of the documentation are 404', async () => {
  for (const path of ['/docs/nothing', '/docs/nothing.md', '/docs/assets/site.ts', '/docs/project/decisions/nothing']) {
    expect((await get(path)).status, path).toBe(404)
  }
  for (const path of [
    '/docs/..%2fpackage.json',
    '/docs/..%2f..%2fREADME.md',
    '/docs/project/decisions/..%2f..%2fREADME.md',
  ]) {
    expect((await get(path)).status, path).toBe(404)
  }
})

test('an unknown page shows a browser which pages there are', async () => {
  for (const path of ['/docs/webhoks', '/docs/guides/webhooks', '/docs/%3Cscript%3Ewebhooks']) {
    const { status, type, text } = await get(path, { accept: 'text/html' })
    expect([path, status, type]).toEqual([path, 404, 'text/html; charset=utf-8'])
    expect(text).toContain('<h1>Page not found</h1>')
    expect(text).toContain('<a href="/docs/events/webhooks')
    expect(text).toContain('<meta name="robots" content="noindex">')
    expect(text).not.toContain('<script>')
  }
})

test('each page has one address, and others lead to it', async () => {
  for (const [path, to] of [
    ['/docs/', '/docs'],
    ['/docs/messages/sending/', '/docs/messages/sending'],
    ['/docs/api/', '/docs/api'],
    ['/docs/project/decisions/', '/docs/project/decisions'],
    ['/docs/search/?q=a', '/docs/search?q=a'],
  ] as const) {
    const { status, headers } = await get(path, {}, 'manual')
    expect([path, status, headers.get('location')]).toEqual([path, 308, to])
  }
  // Not to another site.
  expect((await get('/docs//example.com/')).status).toBe(404)
})

test('a client that has a page does not get it again, and pages are compressed', async () => {
  for (const path of [
    '/docs',
    '/docs/messages/sending',
    '/docs/messages/sending.md',
    '/llms.txt',
    '/docs/search?q=key',
    '/docs/errors',
  ]) {
    const first = await get(path, { 'accept-encoding': 'gzip' })
    expect([path, first.headers.get('content-encoding'), first.headers.get('cache-control')]).toEqual([
      path,
      'gzip',
      'no-cache',
    ])
    expect(Number(first.headers.get('content-length'))).toBeLessThan(first.text.length / 1.5)
    const tag = first.headers.get('etag') ?? ''
    const again = await get(path, { 'accept-encoding': 'gzip', 'if-none-match': `"other", W/${tag}` })
    expect([path, again.status, again.text]).toEqual([path, 304, ''])
    const plain = await get(path, { 'accept-encoding': 'identity', 'if-none-match': tag })
    expect([plain.status, plain.headers.get('content-encoding'), plain.text]).toEqual([200, null, first.text])
    expect(plain.headers.get('vary')).toContain('Accept-Encoding')
  }
  // Their addresses change with their contents.
  const { text } = await get('/docs')
  const assets = linksIn(text).filter((href) => href.startsWith('/docs/assets/'))
  expect(assets.map((href) => href.split('?')[0])).toEqual([
    '/docs/assets/mark.svg',
    '/docs/assets/docs.css',
    '/docs/assets/docs.mjs',
  ])
  for (const asset of assets)
    expect((await get(asset)).headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect((await get('/docs/assets/docs.css')).headers.get('cache-control')).toBe('no-cache')
})

test.each([
  ['text/markdown', true],
  ['text/markdown, text/html, */*', true],
  ['text/html;q=0.8, text/markdown', true],
  ['text/html,application/xhtml+xml,*/*;q=0.8', false],
  ['text/html, text/markdown;q=0.9', false],
  ['text/markdown;q=0', false],
  ['*/*', false],
])('Accept: %s', async (accept, isMarkdown) => {
  for (const path of ['/docs', '/docs/messages/sending', '/docs/project/decisions']) {
    const { status, type, headers } = await get(path, { accept })
    expect([path, status, type]).toEqual([path, 200, `text/${isMarkdown ? 'markdown' : 'html'}; charset=utf-8`])
    expect(headers.get('vary')).toContain('Accept,')
  }
})

test('the search finds sections, without a script too', async () => {
  const found = await get('/docs/search?q=verify%20signature')
  expect(found.status).toBe(200)
  expect(found.text).toContain('<a href="/docs/events/verify#verify-the-signature">')
  const nothing = await get('/docs/search?q=%3Cscript%3Ezzqx')
  expect(nothing.text).toContain('No results for “&#60;script&#62;zzqx”.')
  expect((await get('/docs/search')).text).toContain('Enter what you are looking for.')
  expect((await get('/docs/search?q=a&q=b')).status).toBe(200)
  const typed = await get('/docs/search.json?q=verify%20signature')
  expect(typed.type).toBe('application/json; charset=utf-8')
  expect(JSON.parse(typed.text)[0]).toEqual({
    href: '/docs/events/verify',
    title: 'Verifying signatures',
    heading: '',
  })
  expect((await get('/docs/search.json')).text).toBe('[]')
})

test('code blocks with tabs are radio buttons, of which one is chosen', async () => {
  const { text } = await get('/docs/start/quickstart')
  const [tabs = ''] = /<fieldset class="tabs">.*?<\/fieldset>/s.exec(text) ?? []
  const labels = [...tabs.matchAll(/<label for="[^"]+">([^<]+)</g)].map(([, name]) => name)
  expect(labels).toEqual(['curl', 'JavaScript', 'Python', 'Go', 'PHP'])
  expect(tabs.match(/ checked>/g)).toHaveLength(1)
  expect(tabs.match(/<pre/g)).toHaveLength(5)
})

test('a client address may search 300 times in a minute; its other pages and other addresses are not limited', async () => {
  server.clock.forward({ minutes: 2 })
  const from = (address: string) => ({ 'x-forwarded-for': address, accept: 'text/html' })
  const search = async (path: string, address: string) => (await get(path, from(address))).status
  const paths = ['/docs/search?q=key', '/docs/search.json?q=key', '/docs/kye']
  const allowed = [200, 200, 404]
  for (let round = 0; round < 100; round++) {
    const statuses = await Promise.all(paths.map((path) => search(path, '2001:db8::1')))
    expect(statuses).toEqual(allowed)
  }
  // One /64 is one client.
  for (const path of paths) expect(await search(path, '2001:db8::2')).toBe(429)
  expect((await get('/docs/search?q=key', from('2001:db8::1'))).headers.get('retry-after')).toBe('60')
  expect(await search('/docs/start/quickstart', '2001:db8::1')).toBe(200)
  expect(await search('/docs/search?q=key', '2001:db8:0:1::1')).toBe(200)
  server.clock.forward({ minutes: 1 })
  expect(await search('/docs/search?q=key', '2001:db8::1')).toBe(200)
})
