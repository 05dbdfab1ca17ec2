import { escapeHtml } from './escape-html.ts'

/**
 * The Markdown of the manual as HTML: headings, paragraphs, lists, tables, code blocks, bold, code and links. Everything
 * else stays text.
 */
export function markdownToHtml(markdown: string): string {
  const lines = markdown.split('\n')
  const blocks: string[] = []
  while (lines.length > 0) {
    const [line = ''] = lines
    if (line.trim() === '') lines.shift()
    else blocks.push(blockOf(line)(lines))
  }
  return blocks.join('\n')
}

/** The ID of a heading, as links in the manual name it. */
export const headingId = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\d -]/gu, '')
    .replaceAll(' ', '-')

type Block = (lines: string[]) => string

function blockOf(line: string): Block {
  if (line.startsWith('```')) return codeBlock
  if (/^#{1,4} /.test(line)) return heading
  if (line.startsWith('|')) return table
  if (line.startsWith('- ')) return list
  return paragraph
}

const codeBlock: Block = (lines) => {
  lines.shift()
  const code = takeWhile(lines, (line) => !line.startsWith('```'))
  lines.shift()
  return `<pre tabindex="0"><code>${escapeHtml(code.join('\n'))}</code></pre>`
}

const heading: Block = (lines) => {
  const [, marks = '', text = ''] = /^(#+) (.*)$/.exec(lines.shift() ?? '') ?? []
  return `<h${marks.length} id="${headingId(text)}">${inline(text)}</h${marks.length}>`
}

const table: Block = (lines) => {
  const [head = [], , ...rows] = takeWhile(lines, (line) => line.startsWith('|')).map(cellsOf)
  const cells = (tag: 'th' | 'td', row: string[]) => row.map((cell) => `<${tag}>${inline(cell)}</${tag}>`).join('')
  const body = rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('')
  return `<div class="table" tabindex="0"><table><thead><tr>${cells('th', head)}</tr></thead><tbody>${body}</tbody></table></div>`
}

const list: Block = (lines) => {
  const items: string[] = []
  for (const line of takeWhile(lines, (each) => /^(- | {2}\S)/.test(each))) {
    if (line.startsWith('- ')) items.push(line.slice(2))
    else items.push(`${items.pop() ?? ''} ${line.trim()}`)
  }
  return `<ul>${items.map((item) => `<li>${inline(item)}</li>`).join('')}</ul>`
}

const paragraph: Block = (lines) => {
  const text = takeWhile(lines, (line) => line.trim() !== '' && blockOf(line) === paragraph)
  return `<p>${inline(text.join(' '))}</p>`
}

function takeWhile(lines: string[], isPart: (line: string) => boolean): string[] {
  const end = lines.findIndex((line) => !isPart(line))
  return lines.splice(0, end < 0 ? lines.length : end)
}

/** A bar in code does not end a cell. */
const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replaceAll(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))

/** Code first: what is in it is not formatted. */
function inline(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part) => (/^`.+`$/.test(part) ? `<code>${escapeHtml(part.slice(1, -1))}</code>` : formatted(part)))
    .join('')
}

const formatted = (text: string): string =>
  escapeHtml(text)
    .replaceAll(/\*\*(.+?)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/\[([^\]]+)\]\((#[\w-]+|https?:[^)\s]+)\)/g, '<a href="$2">$1</a>')
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
