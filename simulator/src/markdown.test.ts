import { expect, test } from 'vitest'
import { markdownToHtml } from './markdown.ts'

test.each([
  ['## The control API', '<h2 id="the-control-api">The control API</h2>'],
  ['one\ntwo', '<p>one two</p>'],
  ['- one\n  more\n- `a **b**`', '<ul><li>one more</li><li><code>a **b**</code></li></ul>'],
  ['```\na < b\n# no heading\n```', '<pre tabindex="0"><code>a &lt; b\n# no heading</code></pre>'],
  ['**bold** and [text](#there)', '<p><strong>bold</strong> and <a href="#there">text</a></p>'],
  ['[file](../README.md), [x](javascript:alert)', '<p>file, x</p>'],
  ['<script>alert(1)</script>', '<p>&lt;script>alert(1)&lt;/script></p>'],
])('%j', (markdown, html) => {
  expect(markdownToHtml(markdown)).toBe(html)
})

test('a table has a head and rows', () => {
  const html = markdownToHtml('| a | b |\n| - | - |\n| `c` | d \\| e |')
  expect(html).toContain('<thead><tr><th>a</th><th>b</th></tr></thead>')
  expect(html).toContain('<tbody><tr><td><code>c</code></td><td>d | e</td></tr></tbody>')
})
