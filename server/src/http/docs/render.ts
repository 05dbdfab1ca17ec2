import type { Token, Tokens } from 'marked'
import { escapeHtml } from '../../lib/escape-html.ts'
import { highlight } from './highlight.ts'
import { slugOf } from './markdown.ts'

export interface Heading {
  id: string
  text: string
  depth: number
}

export interface Section {
  /** Null for the text before the first heading. */
  heading: Heading | null
  text: string
  /** What it defines: the first columns of its tables, such as environment variables and codes, and its endpoint. */
  terms: string[]
}

export interface RenderedPage {
  title: string
  html: string
  headings: Heading[]
  sections: Section[]
}

export interface RenderOptions {
  /** A page of the API reference has sections of level 2 only, and its nested lists are folded. */
  isReference?: boolean
  /** The address of a name in code, such as `GET /v1/messages`. Its first occurrence in a section becomes a link. */
  linkOf?(code: string): string | undefined
  /** SVG images by their file. */
  pictures?: ReadonlyMap<string, string>
}

/** Renders a page. marked is loaded by the first one. */
export async function render(
  markdown: string,
  { isReference = false, linkOf, pictures }: RenderOptions = {},
): Promise<RenderedPage> {
  const { Marked } = await import('marked')
  const slug = newSlugs()
  const tables = new Map<string, number>()
  /** Tables with the same columns get a number. */
  const nameOf = (label: string) => {
    const count = (tables.get(label) ?? 0) + 1
    tables.set(label, count)
    return count === 1 ? label : `${label} (${count})`
  }
  const headings: Heading[] = []
  const linked = new Set<string>()
  /** Parses text that is already in a link or a heading, so it gets no links. */
  const withoutLinks = (parse: () => string): string => {
    const before = canLink
    canLink = false
    const html = parse()
    canLink = before
    return html
  }
  let canLink = true
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const inner = withoutLinks(() => this.parser.parseInline(tokens))
        linked.clear()
        if (isReference && depth > 2) return `<h${depth}>${inner}</h${depth}>\n`
        const id = slug(text)
        const plain = plainText(text)
        headings.push({ id, text: plain, depth })
        if (depth === 1) return `<h1>${inner}</h1>\n`
        return `<h${depth} id="${id}">${inner} <a class="anchor" href="#${id}" aria-label="Link to ${escapeHtml(plain)}">#</a></h${depth}>\n`
      },
      code: (token) => codeBlock(token),
      codespan({ text }) {
        const html = `<code>${escapeHtml(text)}</code>`
        const href = canLink && !linked.has(text) ? linkOf?.(text) : undefined
        if (href === undefined || href === `#${headings.at(-1)?.id}`) return html
        linked.add(text)
        return `<a href="${href}">${html}</a>`
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(href)}">${withoutLinks(() => this.parser.parseInline(tokens))}</a>`
      },
      image: ({ href, text }) => pictureOf(pictures?.get(href) ?? '', text),
      listitem({ tokens, text }) {
        const nested = tokens.filter(({ type }) => type === 'list' || type === 'code')
        if (!isReference || nested.length === 0) return false
        const [, field] = /^\*\*`([^`]+)`/.exec(text) ?? []
        const parseOwn = () => this.parser.parse(tokens.filter((token) => !nested.includes(token)))
        const own = field === undefined ? withoutLinks(parseOwn) : parseOwn()
        const fold = (title: string) => `<details><summary>${title}</summary>${this.parser.parse(nested)}</details>`
        // A field stays visible. Anything else is the title of what is folded.
        return `<li>${field === undefined ? fold(own) : own + fold(foldTitle(field, nested))}</li>\n`
      },
      table({ header, rows }) {
        const cells = (row: Tokens.TableCell[], tag: 'td' | 'th') =>
          row
            .map((cell) => {
              // An empty header would be announced as one.
              const name = cell.text === '' ? 'td' : tag
              return `<${name}>${this.parser.parseInline(cell.tokens)}</${name}>`
            })
            .join('')
        const head = `<thead><tr>${cells(header, 'th')}</tr></thead>`
        const body = `<tbody>${rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('')}</tbody>`
        const names = header.map(({ text }) => plainText(text)).filter(Boolean)
        const label = escapeHtml(nameOf(names.length > 0 ? `Table: ${names.join(', ')}` : 'Table'))
        return `<div class="table" role="region" tabindex="0" aria-label="${label}"><table>${head}${body}</table></div>\n`
      },
      // The pages are our own, but HTML in them would be a mistake.
      html: ({ text }) => escapeHtml(text),
    },
  })
  const tokens = marked.lexer(markdown)
  let tabs = 0
  const parts = groupTabs(tokens).map((group) =>
    group.kind === 'tabs' ? tabsOf(group.blocks, ++tabs) : marked.parser(group.tokens),
  )
  const title = headings.find(({ depth }) => depth === 1)?.text ?? ''
  const html = isReference ? `<div class="reference">${parts.join('')}</div>` : parts.join('')
  return { title, html, headings, sections: sectionsOf(tokens, headings) }
}

type Group = { kind: 'tokens'; tokens: Token[] } | { kind: 'tabs'; blocks: Tokens.Code[] }

/** Code blocks in a row with `tab=Name` after their language are shown as tabs. */
function groupTabs(tokens: readonly Token[]): Group[] {
  const groups: Group[] = []
  for (const token of tokens) {
    const last = groups.at(-1)
    if (tabNameOf(token) !== null) {
      if (last?.kind === 'tabs') last.blocks.push(token as Tokens.Code)
      else groups.push({ kind: 'tabs', blocks: [token as Tokens.Code] })
    } else if (token.type === 'space' && last?.kind === 'tabs') {
      // Between two tabs.
    } else if (last?.kind === 'tokens') last.tokens.push(token)
    else groups.push({ kind: 'tokens', tokens: [token] })
  }
  return groups
}

const tabNameOf = (token: Token): string | null =>
  token.type === 'code' ? (/\btab=(\S+)/.exec((token as Tokens.Code).lang ?? '')?.[1] ?? null) : null

/** Radio buttons, so that they work without a script. */
function tabsOf(blocks: readonly Tokens.Code[], number: number): string {
  const items = blocks.map((block, index) => {
    const id = `tab-${number}-${index + 1}`
    const name = escapeHtml(tabNameOf(block) ?? '')
    return `<input type="radio" name="tabs-${number}" id="${id}" value="${name}"${index === 0 ? ' checked' : ''}><label for="${id}">${name}</label>`
  })
  return `<fieldset class="tabs"><legend>Language</legend>${items.join('')}${blocks.map(codeBlock).join('')}</fieldset>\n`
}

/** A reader of the keyboard can scroll it. */
function codeBlock({ text, lang = '' }: Pick<Tokens.Code, 'text' | 'lang'>): string {
  const language = escapeHtml(lang.split(/\s/, 1)[0] ?? '')
  return `<pre tabindex="0"><code${language && ` class="language-${language}"`}>${highlight(text, language)}</code></pre>\n`
}

/** An image as part of the page, so that its colors are those of the page. Its own style and title are for other viewers. */
const pictureOf = (svg: string, text: string): string =>
  `<figure class="picture">${svg
    .replaceAll(/<(style|title)>[\s\S]*?<\/\1>\s*/g, '')
    .replace('<svg ', `<svg role="img" aria-label="${escapeHtml(text)}" `)}</figure>\n`

/** The title above nested fields, or above the variants of a field. */
function foldTitle(field: string, nested: readonly Token[]): string {
  const items = nested.flatMap((token) => (token as Tokens.List).items)
  const kind = items[0]?.text.startsWith('**') ? 'field' : 'variant'
  return `${items.length} ${kind}${items.length === 1 ? '' : 's'} <span class="unseen">of ${escapeHtml(field)}</span>`
}

/** A repeated heading gets a number. */
function newSlugs(): (text: string) => string {
  const seen = new Map<string, number>()
  return (text) => {
    const base = slugOf(text)
    const count = seen.get(base) ?? 0
    seen.set(base, count + 1)
    return count === 0 ? base : `${base}-${count}`
  }
}

const plainText = (markdown: string): string =>
  markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]|(?<!\w)_(?=\w)|(?<=\w)_(?!\w)/g, '')

/** How much text of a section the search knows: all of it, except of very long tables. */
const sectionTextMax = 20_000

function sectionsOf(tokens: readonly Token[], headings: readonly Heading[]): Section[] {
  const sections: Section[] = [{ heading: null, text: '', terms: [] }]
  let next = 0
  for (const token of tokens) {
    const heading = headings[next]
    if (token.type === 'heading' && heading?.text === plainText((token as Tokens.Heading).text)) {
      next++
      if (heading.depth > 1) sections.push({ heading, text: '', terms: [] })
    } else {
      const section = sections.at(-1) as Section
      section.terms.push(...termsOf(token))
      const words = plainText(token.raw.replaceAll(/^```.*$|\|[ -]*(?=\|)|[|#>]/gm, ' '))
      section.text = `${section.text} ${words}`.replaceAll(/\s+/g, ' ').trim().slice(0, sectionTextMax)
    }
  }
  return sections
}

function termsOf(token: Token): string[] {
  if (token.type === 'code') return /^[A-Z]+ \/\S+$/.exec((token as Tokens.Code).text) ?? []
  if (token.type !== 'table') return []
  return (token as Tokens.Table).rows.flatMap(([first]) => (first?.text.startsWith('`') ? [plainText(first.text)] : []))
}
