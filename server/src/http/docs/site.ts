import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { deleteOldest } from '../../lib/delete-oldest.ts'
import { aboutTheProgram, docsPages, referencePages, searchTerms } from './catalogue.ts'
import { type DocsOptions, newContent } from './content.ts'
import { docsLayout, indexHtml, notFoundHtml, resultsHtml } from './layout.ts'
import { llmsFull, llmsIndex } from './llms.ts'
import { type RenderedPage, render } from './render.ts'
import { newSearch, type SearchEntry, type SearchResult } from './search.ts'
import { synonyms } from './synonyms.ts'

const resultsMax = 30
const suggestionsMax = 8
const nearestMax = 5
const queriesMax = 200

/** The documentation. Pages are rendered when they are first opened, and kept: the start does not wait for them. */
export function newDocsSite(options: DocsOptions) {
  const { publicUrl } = options
  const content = newContent(options)
  const keep = newCache()
  const folder = join(import.meta.dirname, 'assets')
  const files = Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
  const addressOf = (file: string) => `/docs/assets/${file}?v=${versionOf(files[file] ?? '')}`
  const assets = { style: addressOf('docs.css'), script: addressOf('docs.mjs'), icon: addressOf('mark.svg') }

  const find = async (name: string) => (await content.pages()).find((page) => page.name === name)
  const rendered = (name: string): Promise<RenderedPage> =>
    keep(`rendered ${name}`, async () => {
      const linkOf = (code: string) => content.linkOf(code)?.replace(`/docs/${name}#`, '#')
      const [source, pictures] = await Promise.all([content.source(name), content.pictures()])
      return render(source, { isReference: referencePages.has(name), linkOf, pictures })
    })

  async function build(name: string): Promise<string> {
    if (name === '') {
      const description = 'How to send and receive WhatsApp messages with Parley, and how to run it.'
      return docsLayout({ title: 'Documentation', description, name, html: indexHtml(), publicUrl, assets })
    }
    const { title, html, headings, sections } = await rendered(name)
    const description = (await find(name))?.summary || (sections[0]?.text ?? '')
    return docsLayout({ title, description, name, html, headings, publicUrl, assets })
  }

  async function entries(): Promise<SearchEntry[]> {
    const found: SearchEntry[] = []
    for (const page of docsPages) {
      const { sections } = await rendered(page.name)
      // Rendering takes the processor for a while each time, and other requests wait.
      await setImmediate()
      for (const { heading, text, terms } of sections) {
        const address = `${page.name}${heading ? `#${heading.id}` : ''}`
        found.push({
          href: `/docs/${address}`,
          title: page.title,
          heading: heading?.text ?? '',
          ...(!heading && { summary: page.summary }),
          text: heading ? text : `${page.summary} ${text}`,
          terms: [...terms, ...(searchTerms[address] ?? [])],
          weight: aboutTheProgram.has(page.name) ? 0.4 : 1,
        })
      }
    }
    return found
  }
  const found = new Map<string, SearchResult[]>()
  /** Finds sections. Recent results are cached. */
  async function search(query: string, max: number): Promise<SearchResult[]> {
    const find = await keep('search', async () => newSearch(await entries(), synonyms))
    const key = `${max} ${query.trim().toLowerCase().replaceAll(/\s+/g, ' ')}`
    const results = found.get(key) ?? find(query, max)
    found.set(key, results)
    deleteOldest(found, queriesMax)
    return results
  }

  return {
    /** Null if there is no such page. The name of the first page is empty. */
    page: async (name: string) => (name === '' || (await find(name)) ? keep(`page ${name}`, () => build(name)) : null),
    async markdown(name: string) {
      if (name === '') return llmsIndex(publicUrl)
      return (await find(name)) ? keep(`markdown ${name}`, () => content.markdown(name)) : null
    },
    async results(query: string) {
      const html = resultsHtml(query, await search(query, resultsMax))
      return docsLayout({ title: 'Search', name: null, html, query, publicUrl, assets })
    },
    /** Shown while a reader types. */
    async suggestions(query: string) {
      const results = await search(query, suggestionsMax)
      return results.map(({ href, title, heading }) => ({ href, title, heading }))
    },
    async notFound(path: string) {
      const words = path.replace(/^\/docs\//, '').replaceAll(/[^\p{L}\d]+/gu, ' ')
      const html = notFoundHtml(path, await search(words.slice(0, 100), nearestMax))
      return docsLayout({ title: 'Page not found', name: null, html, publicUrl, assets })
    },
    asset: async (file: string) => (Object.hasOwn(files, file) ? (files[file] ?? null) : null),
    llms: () => llmsIndex(publicUrl),
    llmsFull: () => keep('llms', () => llmsFull(content, publicUrl)),
  }
}

const versionOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)

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
