import { apiMarkdown, type OpenApi } from './api-markdown.ts'
import { type DocsPage, docsPages } from './catalogue.ts'
import { decisionPages, linkResolver, readSource, withLinks } from './files.ts'
import { errorsMarkdown, eventsMarkdown } from './generated.ts'

/** The Markdown of every page, read when it is first asked for. */
export interface DocsContent {
  pages(): Promise<readonly DocsPage[]>
  /** As a file for readers: its links lead to the Markdown of other pages. Throws for an unknown page. */
  markdown(name: string): Promise<string>
  /** As a source for the HTML page: its links lead to other pages. */
  source(name: string): Promise<string>
}

export interface DocsOptions {
  publicUrl: string
  /** The OpenAPI document. */
  document(): object
}

export function newContent({ publicUrl, document }: DocsOptions): DocsContent {
  let listing: Promise<readonly DocsPage[]> | undefined
  const pages = () => {
    listing ??= decisionPages().then((decisions) => [...docsPages, ...decisions])
    // After a failure, for example because no more files could be opened, the next request tries again.
    listing.catch(() => {
      listing = undefined
    })
    return listing
  }
  const generated: Record<string, () => string> = {
    errors: errorsMarkdown,
    events: eventsMarkdown,
    api: () => apiMarkdown(document() as OpenApi, publicUrl),
  }
  const read = async (name: string, suffix: '' | '.md') => {
    const all = await pages()
    const page = all.find((each) => each.name === name)
    if (page?.file !== undefined) return withLinks(await readSource(page.file), linkResolver(page, all, suffix))
    const make = generated[name]
    if (!make) throw new Error(`there is no page ${name}`)
    return make().replaceAll(/\]\((\/docs\/[\w-]+)\)/g, `]($1${suffix})`)
  }
  return { pages, markdown: (name) => read(name, '.md'), source: (name) => read(name, '') }
}
