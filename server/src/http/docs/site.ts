import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { escapeHtml } from '../../lib/escape-html.ts'
import { errorsBody } from '../errors-page.ts'
import { type SearchEntry, search } from './assets/search.mjs'
import { docsPages } from './catalogue.ts'
import { type DocsOptions, newContent } from './content.ts'
import { docsLayout, indexHtml } from './layout.ts'
import { llmsFull, llmsIndex } from './llms.ts'
import { type RenderedPage, render } from './render.ts'
import { pageStyle } from './style.ts'

export interface DocsSite {
  /** Null if there is no such page. */
  page(name: string): Promise<string | null>
  /** The Markdown of a page. */
  markdown(name: string): Promise<string | null>
  results(query: string): Promise<string>
  searchIndex(): Promise<string>
  asset(file: string): Promise<string | null>
  llms(): string
  llmsFull(): Promise<string>
}

const scripts = ['docs.mjs', 'search.mjs']

const resultsMax = 30

/** The documentation. Pages are rendered when they are first opened, and kept: the start does not wait for them. */
export function newDocsSite(options: DocsOptions): DocsSite {
  const { publicUrl } = options
  const content = newContent(options)
  const keep = newCache()
  const styleVersion = createHash('sha256').update(pageStyle).digest('hex').slice(0, 12)
  const assets = { style: `/docs/assets/docs.css?v=${styleVersion}`, script: '/docs/assets/docs.mjs' }

  const isKnown = async (name: string) => (await content.pages()).some((page) => page.name === name)
  const rendered = (name: string): Promise<RenderedPage> =>
    keep(`rendered ${name}`, async () => render(await content.source(name)))

  async function build(name: string): Promise<string> {
    if (name === '') return docsLayout({ title: 'Documentation', name: null, html: indexHtml(), assets })
    const { title, html, headings } = await rendered(name)
    const body = name === 'errors' ? errorsBody() : html
    return docsLayout({ title, name, html: body, headings, hasMarkdown: true, assets })
  }

  async function index(): Promise<SearchEntry[]> {
    const pages = await Promise.all(
      docsPages.map(async (page) => {
        const { sections } = await rendered(page.name)
        return sections.map(({ heading, text }) => ({
          href: `/docs/${page.name}${heading ? `#${heading.id}` : ''}`,
          title: page.title,
          heading: heading?.text ?? '',
          text: heading ? text : `${page.summary} ${text}`,
        }))
      }),
    )
    return pages.flat()
  }

  return {
    page: async (name) => (name === '' || (await isKnown(name)) ? keep(`page ${name}`, () => build(name)) : null),
    markdown: async (name) =>
      name === 'api' || (await isKnown(name)) ? keep(`markdown ${name}`, () => content.markdown(name)) : null,
    async results(query) {
      const found = search(await keep('index', index), query, resultsMax)
      const html = resultsHtml(query, found)
      return docsLayout({ title: 'Search', name: null, html, query, assets })
    },
    searchIndex: () => keep('index json', async () => JSON.stringify(await keep('index', index))),
    async asset(file) {
      if (file === 'docs.css') return pageStyle
      if (!scripts.includes(file)) return null
      return keep(`asset ${file}`, () => readFile(join(import.meta.dirname, 'assets', file), 'utf8'))
    },
    llms: () => llmsIndex(publicUrl),
    llmsFull: () => keep('llms', () => llmsFull(content, publicUrl)),
  }
}

/** Keeps what is made once, except after a failure. */
function newCache() {
  const made = new Map<string, Promise<unknown>>()
  return <T>(key: string, make: () => Promise<T>): Promise<T> => {
    const known = made.get(key)
    if (known) return known as Promise<T>
    const making = make()
    made.set(key, making)
    making.catch(() => made.delete(key))
    return making
  }
}

function resultsHtml(query: string, found: readonly SearchEntry[]): string {
  const wanted = escapeHtml(query.trim())
  if (wanted === '') return '<h1>Search</h1><p>Enter what you are looking for.</p>'
  if (found.length === 0) {
    return `<h1>Search</h1><p>No results for “${wanted}”. Try another word, or look at <a href="/docs">all pages</a>.</p>`
  }
  const items = found.map(({ href, title, heading, text }) => {
    const name = heading === '' ? title : `${title}: ${heading}`
    return `<li><a href="${escapeHtml(href)}">${escapeHtml(name)}</a><p>${escapeHtml(text.slice(0, 160))}…</p></li>`
  })
  return `<h1>Search</h1><p>Results for “${wanted}”</p><ul class="found">${items.join('')}</ul>`
}
