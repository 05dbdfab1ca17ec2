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

/** The images of docs/pictures, by their files. */
export async function readPictures(): Promise<ReadonlyMap<string, string>> {
  const files = (await readdir(join(root, 'docs/pictures'))).map((file) => `docs/pictures/${file}`)
  return new Map(
    await Promise.all(files.map(async (file) => [file, await readFile(join(root, file), 'utf8')] as const)),
  )
}

/** Files of the repository that are served under another address. */
const served: Readonly<Record<string, string>> = { 'docs/openapi.json': '/v1/openapi.json' }

const codeOrLink = /^```[\s\S]*?^```$|`[^`\n]+`|(!?)\[((?:[^\]`]|`[^`]*`)*)\]\(([^)\s]+)\)/gm

/**
 * The Markdown of a page with its links changed, but not its code. `suffix` is `.md` for links between the Markdown versions of
 * pages, which have the text of an image instead of it. A link to any other file of the repository becomes its path.
 */
export function withLinks(markdown: string, page: DocsPage, all: readonly DocsPage[], suffix: '' | '.md'): string {
  const linkTo = (text: string, href: string): string => {
    const [path = '', anchor] = href.split('#')
    const file = posix.join(posix.dirname(page.file ?? 'docs/x.md'), path)
    // The README is the page of the repository, and the quickstart that of the docs.
    if (file === 'README.md') return `[${text}](/docs/${docsPages[0]?.name}${suffix})`
    if (Object.hasOwn(served, file)) return `[${text}](${served[file]})`
    if (file.endsWith('.svg')) return suffix === '' ? `![${text}](${file})` : text
    const target = all.find((each) => each.file === file)
    if (target) return `[${text}](/docs/${target.name}${suffix}${anchor === undefined ? '' : `#${anchor}`})`
    return /[`/]/.test(text) ? `\`${file}\`` : `${text} (\`${file}\`)`
  }
  return markdown.replaceAll(codeOrLink, (all, _image, text?: string, href?: string) =>
    text === undefined || href === undefined || /^(https?:|mailto:|#|\/)/.test(href) ? all : linkTo(text, href),
  )
}
