import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodes } from '@parley/contract/errors'
import { receivedEventSchemas } from '@parley/contract/events'
import { expect, test } from 'vitest'
import { useTestServer } from '../../../testing/test-server.ts'
import { docsPages } from './catalogue.ts'

const server = useTestServer()
const names = docsPages.map(({ name }) => name)

async function get(path: string) {
  const response = await fetch(server.url + path)
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    headers: response.headers,
    text: await response.text(),
  }
}

const idsIn = (html: string) => new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id))
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
  const markdown = await get(`/docs/${name}.md`)
  expect([markdown.status, markdown.type]).toEqual([200, 'text/markdown; charset=utf-8'])
  expect(markdown.text).toMatch(/^# \S/)
})

test('every page of the folder docs is in the navigation', () => {
  const files = readdirSync(join(import.meta.dirname, '../../../../docs')).filter((file) => file.endsWith('.md'))
  expect(docsPages.flatMap(({ file }) => file ?? [])).toEqual(
    expect.arrayContaining(files.map((file) => `docs/${file}`)),
  )
})

test('every link of every page leads to a page, a section or a file', async () => {
  const pages = new Map<string, Awaited<ReturnType<typeof get>>>()
  const load = async (path: string) => {
    const known = pages.get(path) ?? (await get(path))
    pages.set(path, known)
    return known
  }
  const waiting = ['/docs']
  const broken: string[] = []
  for (const path of waiting) {
    const { text } = await load(path)
    for (const href of linksIn(text)) {
      if (/^(https?:|mailto:)/.test(href) || href === '/') continue
      const [target = '', anchor] = href.startsWith('#') ? [path, href.slice(1)] : href.split('#')
      const found = await load(target)
      const isMissing = anchor !== undefined && found.type?.startsWith('text/html') && !idsIn(found.text).has(anchor)
      if (found.status !== 200 || isMissing) broken.push(`${path} → ${href}`)
      if (target.startsWith('/docs/') && found.type?.startsWith('text/html') && !waiting.includes(target)) {
        if (!target.startsWith('/docs/api')) waiting.push(target)
      }
    }
  }
  expect(broken).toEqual([])
  // All pages, and decisions that they link to.
  expect(waiting).toEqual(expect.arrayContaining([...names.map((name) => `/docs/${name}`), '/docs/decisions/mcp']))
})

test('every link of the Markdown versions leads to a file', async () => {
  const broken: string[] = []
  for (const name of [...names, 'api']) {
    const { text } = await get(`/docs/${name}.md`)
    const outsideCode = text.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '')
    for (const [, href = ''] of outsideCode.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?:|#)/.test(href)) continue
      const { status } = await get(href.split('#')[0] ?? '')
      if (status !== 200 || !href.startsWith('/')) broken.push(`${name}.md → ${href}`)
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
    expect.arrayContaining(['/docs/api.md', '/v1/openapi.json', '/llms-full.txt', '/docs/receiving.md']),
  )
  for (const path of links) expect((await get(path)).status, path).toBe(200)
  const full = await get('/llms-full.txt')
  expect(full.status).toBe(200)
  for (const part of ['POST /v1/messages', '# Receiving events', 'Service-Signature', 'insufficient_scope', '/mcp']) {
    expect(full.text).toContain(part)
  }
})

test('the API as Markdown has every endpoint of the OpenAPI document, and an example', async () => {
  const { text } = await get('/docs/api.md')
  const document = (await (await fetch(`${server.url}/v1/openapi.json`)).json()) as { paths: Record<string, object> }
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const method of Object.keys(methods)) expect(text).toContain(`## ${method.toUpperCase()} ${path}\n`)
  }
  expect(text).toContain('"object": "message"')
  expect(text).toMatch(/- `Idempotency-Key` \(header\): /)
})

test('the pages of errors and events have every one of them, also as Markdown', async () => {
  const [errors, events] = await Promise.all([get('/docs/errors.md'), get('/docs/events')])
  for (const code of errorCodes) expect(errors.text).toContain(`## ${code}\n`)
  for (const type of Object.keys(receivedEventSchemas)) {
    expect(idsIn(events.text)).toContain(type.replace('.', ''))
    expect(events.text).toContain(`&#34;type&#34;: &#34;${type}&#34;`)
  }
})

test('unknown pages, files and paths outside of the documentation are 404', async () => {
  for (const path of ['/docs/nothing', '/docs/nothing.md', '/docs/assets/site.ts', '/docs/decisions/nothing']) {
    expect((await get(path)).status, path).toBe(404)
  }
  for (const path of ['/docs/..%2fpackage.json', '/docs/..%2f..%2fREADME.md', '/docs/decisions/..%2f..%2fREADME.md']) {
    expect((await get(path)).status, path).toBe(404)
  }
  expect((await fetch(`${server.url}/docs/`)).url).toBe(`${server.url}/docs`)
})

test('the search finds sections, without a script too', async () => {
  const found = await get('/docs/search?q=verify%20signature')
  expect(found.status).toBe(200)
  expect(found.text).toContain('<a href="/docs/receiving#verify-the-signature">')
  const nothing = await get('/docs/search?q=%3Cscript%3Ezzqx')
  expect(nothing.text).toContain('No results for “&#60;script&#62;zzqx”.')
  expect((await get('/docs/search')).text).toContain('Enter what you are looking for.')
  expect((await get('/docs/search?q=a&q=b')).status).toBe(200)
  const index = await get('/docs/search.json')
  expect(index.type).toBe('application/json; charset=utf-8')
  expect(Buffer.byteLength(index.text)).toBeLessThan(400_000)
})

test('code blocks with tabs are radio buttons, of which one is chosen', async () => {
  const { text } = await get('/docs/quickstart')
  const [tabs = ''] = /<fieldset class="tabs">.*?<\/fieldset>/s.exec(text) ?? []
  const labels = [...tabs.matchAll(/<label for="[^"]+">([^<]+)</g)].map(([, name]) => name)
  expect(labels).toEqual(['curl', 'TypeScript', 'Python', 'Go', 'PHP'])
  expect(tabs.match(/ checked>/g)).toHaveLength(1)
  expect(tabs.match(/<pre/g)).toHaveLength(5)
})
