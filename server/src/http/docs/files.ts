import { readdir, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { type DocsPage, docsPages } from './catalogue.ts'

/** The folder that contains docs/ and the sources. */
const root = join(import.meta.dirname, '../../../..')

/** Pages that docs/project/decisions/README.md lists, and the navigation does not. */
export async function linkedPages(): Promise<DocsPage[]> {
  const files = (await readdir(join(root, 'docs/project/decisions'))).filter((file) => /^[^R].*\.md$/.test(file)).sort()
  return files.map((file) => {
    const path = `project/decisions/${file}`
    return { name: path.slice(0, -'.md'.length), title: '', summary: '', file: `docs/${path}` }
  })
}

/** The Markdown of a page. A file in another language is a page with a code block. */
export async function readSource(file: string, { title, summary }: DocsPage): Promise<string> {
  const text = await readFile(join(root, file), 'utf8')
  const extension = posix.extname(file).slice(1)
  return extension === 'md'
    ? text
    : `# ${title}\n\n${summary} This is \`${file}\`.\n\n\`\`\`${extension}\n${text}\`\`\`\n`
}

/** Finds the target of a link in a file of the repository. Null if it is not a page. */
export type ResolveLink = (href: string) => string | null

/** `suffix` is `.md` for links between the Markdown versions of pages. */
export function linkResolver(page: DocsPage, all: readonly DocsPage[], suffix: '' | '.md'): ResolveLink {
  return (href) => {
    if (/^(https?:|mailto:|#|\/)/.test(href)) return href
    const [path = '', anchor] = href.split('#')
    const file = posix.join(posix.dirname(page.file ?? 'docs/x.md'), path)
    // The README is the page of the repository, and the quickstart that of the docs.
    const target = file === 'README.md' ? docsPages[0] : all.find((each) => each.file === file)
    if (!target) return null
    return `/docs/${target.name}${suffix}${anchor === undefined || file === 'README.md' ? '' : `#${anchor}`}`
  }
}

const codeOrLink = /^```[\s\S]*?^```$|`[^`\n]+`|(!?)\[((?:[^\]`]|`[^`]*`)*)\]\(([^)\s]+)\)/gm

/** A Markdown file with its links changed, but not its code. A link to a file that is not a page becomes text. */
export const withLinks = (markdown: string, resolve: ResolveLink): string =>
  markdown.replaceAll(codeOrLink, (all, image?: string, text?: string, href?: string) => {
    if (text === undefined || href === undefined) return all
    const target = image === '' ? resolve(href) : null
    return target === null ? text : `[${text}](${target})`
  })
