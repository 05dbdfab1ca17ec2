import { apiPages, type DocsPage, docsPages } from './catalogue.ts'
import { errorsMarkdown } from './errors-page.ts'
import { linkedPages, readPictures, readSource, withLinks } from './files.ts'
import { newReference, type OpenApi, type Reference } from './reference.ts'

/** The Markdown of every page, read when it is first asked for. */
export interface DocsContent {
  pages(): Promise<readonly DocsPage[]>
  /** As a file for readers: its links lead to the Markdown of other pages. Throws for an unknown page. */
  markdown(name: string): Promise<string>
  /** As a source for the HTML page: its links lead to other pages. */
  source(name: string): Promise<string>
  /** The address of an endpoint, an error, an event type or a page that is named in code. */
  linkOf(code: string): string | undefined
  /** The images of pages, by their files. */
  pictures(): Promise<ReadonlyMap<string, string>>
}

export interface DocsOptions {
  publicUrl: string
  document(): object
}

export function newContent({ publicUrl, document }: DocsOptions): DocsContent {
  let listing: Promise<readonly DocsPage[]> | undefined
  const pages = () => {
    listing ??= linkedPages().then((linked) => [...docsPages, ...linked])
    // After a failure, for example because no more files could be opened, the next request tries again.
    listing.catch(() => {
      listing = undefined
    })
    return listing
  }
  let made: Reference | undefined
  const reference = () => {
    made ??= newReference(document() as OpenApi, publicUrl)
    return made
  }
  const generated: Record<string, () => string> = {
    errors: errorsMarkdown,
    'events/types': () => reference().events(),
    api: () => reference().overview(),
    ...Object.fromEntries(apiPages.map((page) => [page.name, () => reference().page(page)])),
  }
  const read = async (name: string, suffix: '' | '.md') => {
    const all = await pages()
    const page = all.find((each) => each.name === name)
    if (page?.file !== undefined) return withLinks(await readSource(page.file, page), page, all, suffix)
    const make = generated[name]
    if (!make) throw new Error(`there is no page ${name}`)
    return make().replaceAll(/\]\((\/docs\/[\w/-]+)/g, `]($1${suffix}`)
  }
  /** The API reference is one file. */
  const markdown = async (name: string) => {
    const names = name === 'api' ? [name, ...apiPages.map((page) => page.name)] : [name]
    return (await Promise.all(names.map((each) => read(each, '.md')))).join('\n')
  }
  const linkOf = (code: string) => {
    const page = docsPages.find(({ name }) => code === `/docs/${name}`)
    return page ? code : reference().linkOf(code)
  }
  return { pages, markdown, source: (name) => read(name, ''), linkOf, pictures: readPictures }
}
